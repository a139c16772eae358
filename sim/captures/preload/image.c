// An image -> machine code for this GPU: an ELF file as it is; out of a fat binary by cuobjdump; PTX by the driver's own compiler.
#include "driver.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int bytes_of_file(const char *path, char **data, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  struct stat about;
  fstat(fileno(file), &about);
  *size = about.st_size;
  *data = calloc(1, *size + 1);
  int whole = fread(*data, 1, *size, file) == *size;
  fclose(file);
  return whole;
}

static void run(const char *folder, const char *tool, const char *what, const char *file) {
  char *arguments[] = {(char *)tool, (char *)what, "all", (char *)file, NULL};
  char **quiet = calloc(1, sizeof *quiet * 4096);  // the environment without this library
  size_t n = 0;
  for (char **one = environ; *one && n < 4094; one++) if (strncmp(*one, "LD_PRELOAD=", 11)) quiet[n++] = *one;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child;
  int status;
  if (!posix_spawn(&child, tool, &actions, NULL, arguments, quiet)) while (waitpid(child, &status, 0) < 0 && errno == EINTR);
  posix_spawn_file_actions_destroy(&actions);
  free(quiet);
}

static int compile(Image *image, const char *ptx, size_t size) {
  void *state = NULL, *code = NULL;
  size_t bytes = 0;
  CUresult (*create)(unsigned, void *, void *, void **) = driver("cuLinkCreate_v2");
  CUresult (*add)(void *, int, const void *, size_t, const char *, unsigned, void *, void *) = driver("cuLinkAddData_v2");
  CUresult (*complete)(void *, void **, size_t *) = driver("cuLinkComplete");
  if (!create || !add || !complete || create(0, NULL, NULL, &state)) return 0;
  if (!add(state, INPUT_PTX, ptx, size, "capture.ptx", 0, NULL, NULL) && !complete(state, &code, &bytes)) {
    image->elf = malloc(bytes);
    memcpy(image->elf, code, bytes);
    image->elf_size = bytes;
  }
  DRIVER("cuLinkDestroy", void *)(state);
  return image->elf != NULL;
}

// Take from `folder` the file of this ending that names the kernel; of machine code, that for the architecture.
static int take(Image *image, const char *folder, const char *ending, const char *kernel, int architecture) {
  char path[4096], wanted[16];
  snprintf(wanted, sizeof wanted, "sm_%d", architecture);
  DIR *open = opendir(folder);
  int found = 0;
  for (struct dirent *one; open && !found && (one = readdir(open));) {
    size_t length = strlen(one->d_name), end = strlen(ending);
    const char *named = strstr(one->d_name, wanted);
    int fits = strcmp(ending, ".cubin") || (named && (named[strlen(wanted)] < '0' || named[strlen(wanted)] > '9'));
    if (length <= end || strcmp(one->d_name + length - end, ending) || !fits) continue;
    char *data;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
    if (!bytes_of_file(path, &data, &size)) continue;
    if (memmem(data, size, kernel, strlen(kernel))) {
      if (strcmp(ending, ".cubin")) found = compile(image, data, size + 1);
      else image->elf = data, image->elf_size = size, found = 1;
    }
    if (image->elf != data) free(data);
  }
  if (open) closedir(open);
  return found;
}

static int unpack(Image *image, const char *kernel, int architecture) {
  char folder[] = "/tmp/simtlab-capture-XXXXXX", file[64], path[4096];
  const char *tool = setting("CUOBJDUMP");
  if (!*tool || !mkdtemp(folder)) return 0;
  snprintf(file, sizeof file, "%s/image.fatbin", folder);
  FILE *out = fopen(file, "wb");
  int written = out && fwrite(image->data, 1, image->size, out) == image->size;
  if (out) fclose(out);
  if (written) {
    run(folder, tool, "-xelf", file);
    if (!take(image, folder, ".cubin", kernel, architecture)) {
      run(folder, tool, "-xptx", file);
      take(image, folder, ".ptx", kernel, architecture);
    }
  }
  DIR *open = opendir(folder);
  for (struct dirent *one; open && (one = readdir(open));) {
    snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
    if (one->d_name[0] != '.') unlink(path);
  }
  if (open) closedir(open);
  rmdir(folder);
  return image->elf != NULL;
}

int find_code(Image *image, const char *kernel, int architecture) {
  if (image->elf) return 1;
  if (image->kind == 'p') return compile(image, image->data, image->size);
  if (image->kind == 'f') return unpack(image, kernel, architecture);
  image->elf = (char *)image->data;
  image->elf_size = image->size;
  return 1;
}

typedef struct { uint32_t name, kind; uint64_t flags, address, offset, size; uint32_t link, information; uint64_t alignment, each; } Section;
typedef struct { uint32_t name; unsigned char information, other; uint16_t section; uint64_t value, size; } Entry;

size_t symbols_of(const Image *image, Symbol **found) {
  const char *data = image->elf;
  uint64_t start;
  uint16_t count, names;
  *found = NULL;
  memcpy(&start, data + 40, 8);
  memcpy(&count, data + 60, 2);
  memcpy(&names, data + 62, 2);
  if (start + count * sizeof(Section) > image->elf_size || names >= count) return 0;
  const Section *sections = (const Section *)(data + start);
  size_t n = 0;
  for (unsigned k = 0; k < count; k++) {
    if (sections[k].kind != 2 || sections[k].link >= count) continue;  // SHT_SYMTAB
    const Entry *entries = (const Entry *)(data + sections[k].offset);
    size_t all = sections[k].size / sizeof *entries;
    *found = realloc(*found, (n + all + 1) * sizeof **found);
    for (size_t i = 0; i < all; i++) {
      if (entries[i].section >= count || !entries[i].size) continue;
      const char *place = data + sections[names].offset + sections[entries[i].section].name;
      int constant = !strcmp(place, ".nv.constant3"), device = !strcmp(place, ".nv.global") || !strcmp(place, ".nv.global.init");
      const char *name = data + sections[sections[k].link].offset + entries[i].name;
      if (constant || device) (*found)[n++] = (Symbol){name, entries[i].size, constant};
    }
  }
  return n;
}
