// One launch on disk: what the GPU runs, memory before it, memory after it. What is written is there at once: a program may crash later.
#include "driver.h"
#include <regex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_PARAMETERS = 32768, ARCHITECTURE = 6, INVALID = 1 };
typedef struct { CUdeviceptr address; size_t size; const char *kind, *name; char *before, *after; } Piece;
struct Record { char folder[4096]; Piece *pieces; size_t count, room, bytes; int tries; int repeat, differs; CUresult result; };

static char base[3072];
static size_t most, skip, wanted, number, matching, recorded, graph_noted;
static regex_t pattern;

const char *setting(const char *name) {
  char full[64];
  snprintf(full, sizeof full, "SIMTLAB_CAPTURE_%s", name);
  const char *value = getenv(full);
  return value ? value : "";
}

void say(const char *format, ...) {
  if (!*base) return;
  char path[4096];
  snprintf(path, sizeof path, "%s/log", base);
  FILE *log = fopen(path, "a");
  if (!log) return;
  va_list values;
  va_start(values, format);
  vfprintf(log, format, values);
  va_end(values);
  fputc('\n', log);
  fclose(log);
}

__attribute__((constructor)) void simtlab_capture_settings(void) {
  pthread_mutex_lock(&lock);
  if (*base) regfree(&pattern);
  snprintf(base, sizeof base, "%s", setting("FOLDER"));
  most = strtoull(setting("MOST_BYTES"), NULL, 10);
  skip = strtoull(setting("SKIP"), NULL, 10);
  wanted = strtoull(setting("COUNT"), NULL, 10);
  number = matching = recorded = 0;
  graph_noted = 0;
  forget_choices();
  say("loaded %d", (int)getpid());
  if (driver_used) say("driver");
  char why[256];
  int mistake = *base ? regcomp(&pattern, setting("KERNEL"), REG_EXTENDED | REG_NOSUB) : 0;
  if (mistake) {
    regerror(mistake, &pattern, why, sizeof why);
    say("no pattern %s", why);
    *base = 0;
  }
  pthread_mutex_unlock(&lock);
}

void note_graph(void) {
  pthread_mutex_lock(&lock);
  if (*base && recorded < wanted && !graph_noted++) say("graph");
  pthread_mutex_unlock(&lock);
}

static CUresult copy_out(void *to, CUdeviceptr from, size_t size) {
  return DRIVER("cuMemcpyDtoH_v2", void *, CUdeviceptr, size_t)(to, from, size);
}

// Add a piece of memory once, with what it holds. Return 0 when there is too much.
static int add_piece(Record *r, CUdeviceptr address, size_t size, const char *kind, const char *name) {
  for (size_t k = 0; k < r->count; k++) if (r->pieces[k].address == address) return 1;
  r->bytes += size;
  if (r->bytes > most) return 0;
  if (r->count == r->room) r->pieces = realloc(r->pieces, (r->room = 2 * r->room + 16) * sizeof *r->pieces);
  char *before = malloc(size + 8);
  if (!before || copy_out(before, address, size)) { free(before); r->bytes -= size; return 1; }
  r->pieces[r->count++] = (Piece){address, size, kind, name, before, NULL};
  return 1;
}

// Add the allocations that numbers of 8 bytes point to.
static int add_reached(Record *r, const char *data, size_t size) {
  for (size_t at = 0; at + 8 <= size; at += 8) {
    uint64_t value;
    memcpy(&value, data + at, 8);
    const Allocation *found = value > 0xffff ? allocation_of(value) : NULL;
    if (found && !add_piece(r, found->address, found->size, "memory", "")) return 0;
  }
  return 1;
}

static size_t parameters_of(const Launch *l, void *function, unsigned char *bytes) {
  size_t end = 0;
  if (l->extra) {
    const void *buffer = NULL;
    for (void **one = l->extra; *one; one += 2) {
      if ((uintptr_t)*one == 1) buffer = one[1];
      if ((uintptr_t)*one == 2) memcpy(&end, one[1], sizeof end);
    }
    if (buffer && end <= MOST_PARAMETERS) memcpy(bytes, buffer, end);
    return end;
  }
  CUresult (*about)(void *, size_t, size_t *, size_t *) = driver("cuFuncGetParamInfo");
  if (!about) return (size_t)-1;
  for (size_t k = 0, offset, size; !about(function, k, &offset, &size); k++) {
    if (offset + size > MOST_PARAMETERS) return (size_t)-1;
    memcpy(bytes + offset, l->parameters[k], size);
    end = offset + size;
  }
  return end;
}

static void write_memory(const char *folder, const char *name, const Record *r, int after) {
  char path[4200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  static const char zeros[PAGE];
  off_t at = 0;
  for (size_t k = 0; file && k < r->count; k++) {
    const char *data = after ? r->pieces[k].after : r->pieces[k].before;
    for (size_t done = 0; data && done < r->pieces[k].size; done += PAGE) {  // pages of zeros are holes
      size_t part = r->pieces[k].size - done < PAGE ? r->pieces[k].size - done : PAGE;
      if (memcmp(data + done, zeros, part) && (fseeko(file, at + done, SEEK_SET) || fwrite(data + done, 1, part, file) != part)) say("disk full");
    }
    at += r->pieces[k].size;
  }
  if (!file || fflush(file) || ftruncate(fileno(file), at)) say("cannot write %s", path);
  if (file) fclose(file);
}

static void write_code(const char *folder, const Image *image) {
  char path[4200];
  snprintf(path, sizeof path, "%s/kernel.cubin", folder);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(image->elf, 1, image->elf_size, file) != image->elf_size) say("cannot write %s", path);
  if (file) fclose(file);
}

static void describe(const Record *r, const Launch *l, void *function, const char *name, const unsigned char *bytes, size_t size) {
  static const char *const known[] = {"threads", "shared_static", "constant", "local", "registers", "ptx", "binary", "cache", "shared_most",
                                      "carveout"};
  char path[4200], device_name[256] = "";
  int value = 0, device = 0, major = 0, minor = 0, version = 0;
  snprintf(path, sizeof path, "%s/launch.txt", r->folder);
  FILE *f = fopen(path, "w");
  if (!f) { say("cannot write %s", path); return; }
  fprintf(f, "record 1\nkernel %s\nlaunch %zu\n", name, number - 1);
  fprintf(f, "grid %u %u %u\nblock %u %u %u\n", l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
  fprintf(f, "cluster %u %u %u\nshared_dynamic %u\ncooperative %d\n", l->cluster[0], l->cluster[1], l->cluster[2], l->shared, !!l->cooperative);
  for (int k = 0; k < 10; k++)
    if (!DRIVER("cuFuncGetAttribute", int *, int, void *)(&value, k, function)) fprintf(f, "attribute %s %d\n", known[k], value);
  DRIVER("cuCtxGetDevice", CUdevice *)(&device);
  DRIVER("cuDeviceGetName", char *, int, CUdevice)(device_name, sizeof device_name, device);
  CUresult (*about)(int *, int, CUdevice) = driver("cuDeviceGetAttribute");
  about(&major, 75, device), about(&minor, 76, device);
  DRIVER("cuDriverGetVersion", int *)(&version);
  fprintf(f, "gpu %s\narchitecture sm_%d%d\ndriver %d\n", device_name, major, minor, version);
  if (!about(&value, 16, device)) fprintf(f, "sms %d\n", value);
  if (!about(&value, 13, device)) fprintf(f, "core_khz %d\n", value);
  if (!about(&value, 36, device)) fprintf(f, "memory_khz %d\n", value);
  fprintf(f, "parameters ");
  for (size_t k = 0; k < size; k++) fprintf(f, "%02x", bytes[k]);
  fputc('\n', f);
  for (size_t k = 0; k < r->count; k++)
    fprintf(f, "allocation %s %llx %zu %s\n", r->pieces[k].kind, (unsigned long long)r->pieces[k].address, r->pieces[k].size, r->pieces[k].name);
  fclose(f);
}

static void finish_description(const Record *r) {
  char path[4200];
  snprintf(path, sizeof path, "%s/launch.txt", r->folder);
  FILE *f = fopen(path, "a");
  if (!f) return;
  if (r->repeat) fprintf(f, "repeatable %d\n", !r->differs);
  fprintf(f, "result %d\n", r->result);
  fclose(f);
}

static void drop(Record *r) {
  for (size_t k = 0; k < r->count; k++) { free(r->pieces[k].before); free(r->pieces[k].after); }
  free(r->pieces);
  free(r);
}

// The name and the function behind what is launched, a function or a kernel of a library.
static Handle *resolve(void *given, void **function) {
  Handle *known = handle_of(given);
  *function = given;
  if (known && known->is_kernel) DRIVER("cuKernelGetFunction", void **, void *)(function, given);
  if (known && known->name && known->image) return known;
  CUresult (*name_of)(const char **, void *) = driver("cuFuncGetName");
  CUresult (*module_of)(void **, void *) = driver("cuFuncGetModule");
  const char *name = known ? known->name : NULL;
  void *module = NULL;
  if (!name && name_of) name_of(&name, *function);
  if (module_of && !module_of(&module, *function) && handle_of(module)) {
    known = add_handle(given, name, handle_of(module)->image);
  }
  return known;
}

static int is_wanted(Handle *known) {
  if (!known->asked) {
    known->asked = 1;
    known->chosen = !regexec(&pattern, known->name, 0, NULL, 0);
    say("kernel %s", known->name);
  }
  if (!known->chosen) return 0;
  matching++;
  return matching > skip && recorded < wanted;
}

static int is_in_graph(void *stream) {
  int status = 0;
  CUresult (*asked)(void *, int *) = driver("cuStreamIsCapturing");
  return asked && !asked(stream, &status) && status;
}

static int gather(Record *r, const Image *image, void *function, const unsigned char *bytes, size_t size) {
  void *module = NULL;
  CUresult (*module_of)(void **, void *) = driver("cuFuncGetModule");
  Symbol *symbols;
  size_t n = symbols_of(image, &symbols);
  int fits = 1;
  if (module_of && !module_of(&module, function)) {
    for (size_t k = 0; k < n && fits; k++) {
      CUdeviceptr address;
      size_t length;
      if (!DRIVER("cuModuleGetGlobal_v2", CUdeviceptr *, size_t *, void *, const char *)(&address, &length, module, symbols[k].name))
        fits = add_piece(r, address, length, symbols[k].is_constant ? "constant" : "device", symbols[k].name);
    }
  }
  free(symbols);
  fits = fits && add_reached(r, (const char *)bytes, size);
  for (size_t k = 0; k < r->count && fits; k++) fits = add_reached(r, r->pieces[k].before, r->pieces[k].size);  // grows while it is read
  return fits;
}

Record *begin(const Launch *l) {
  if (!*base) return NULL;  // the common case, without the lock
  pthread_mutex_lock(&lock);
  if (!*base) { pthread_mutex_unlock(&lock); return NULL; }  // the window was closed meanwhile
  number++;
  void *function;
  Handle *known = resolve(l->function, &function);
  if (!known || !known->name) say("unknown kernel");
  if (!known || !known->name || !is_wanted(known)) { pthread_mutex_unlock(&lock); return NULL; }
  static unsigned char bytes[MOST_PARAMETERS];
  Record *r = calloc(1, sizeof *r);
  int architecture = 0;
  size_t size = 0;
  const char *problem = NULL;
  memset(bytes, 0, sizeof bytes);
  DRIVER("cuFuncGetAttribute", int *, int, void *)(&architecture, ARCHITECTURE, function);
  if (is_in_graph(l->stream)) problem = "it goes into a graph";
  else if (!known->image || !find_code(known->image, known->name, architecture)) problem = "its machine code was not found";
  else if (DRIVER("cuCtxSynchronize", void)()) problem = "work before it failed";
  else if ((size = parameters_of(l, function, bytes)) > MOST_PARAMETERS) problem = "its parameters cannot be read, which needs a driver from 12.4 on";
  else if (!gather(r, known->image, function, bytes, size)) problem = "it reaches more memory than --max-bytes allows";
  if (problem) {
    say("passed %zu %s: %s", number - 1, known->name, problem);
    drop(r);
    pthread_mutex_unlock(&lock);
    return NULL;
  }
  recorded++;
  r->repeat = *setting("REPEAT") == '1';
  snprintf(r->folder, sizeof r->folder, "%s/%d-%06zu", base, (int)getpid(), number - 1);
  mkdir(r->folder, 0700);
  write_code(r->folder, known->image);
  write_memory(r->folder, "before", r, 0);
  describe(r, l, function, known->name, bytes, size);
  return r;
}

int again(Record *r, CUresult result) {
  r->result = result ? result : DRIVER("cuCtxSynchronize", void)();
  for (size_t k = 0; k < r->count && !r->result; k++) {
    Piece *one = r->pieces + k;
    char *after = malloc(one->size + 8);
    r->result = after ? copy_out(after, one->address, one->size) : INVALID;
    if (one->after && memcmp(one->after, after, one->size)) r->differs = 1;
    if (one->after) free(after); else one->after = after;
  }
  if (!r->repeat || r->result || r->tries++) return 0;
  for (size_t k = 0; k < r->count; k++)
    if (strcmp(r->pieces[k].kind, "constant"))
      DRIVER("cuMemcpyHtoD_v2", CUdeviceptr, const void *, size_t)(r->pieces[k].address, r->pieces[k].before, r->pieces[k].size);
  return 1;
}

void end(Record *r) {
  if (!r->result) write_memory(r->folder, "after", r, 1);
  finish_description(r);
  drop(r);
  pthread_mutex_unlock(&lock);
}
