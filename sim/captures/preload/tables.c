// What lives: allocations by address, modules' images, and which image a module, a library, a kernel or a function belongs to.
#include "driver.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static Allocation *allocations;  // by address
static size_t allocated, allocation_room;
static Handle *handles;
static size_t handled, handle_room;

static void *grown(void *table, size_t used, size_t *room, size_t one) {
  if (used < *room) return table;
  *room = *room ? 2 * *room : 64;
  return realloc(table, *room * one);
}

static size_t position(uint64_t address) {  // of the first allocation above `address`
  size_t low = 0, high = allocated;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (allocations[middle].address <= address) low = middle + 1; else high = middle;
  }
  return low;
}

void add_allocation(CUdeviceptr address, size_t size) {
  if (!address || !size) return;
  drop_allocation(address);  // freed in a way that was not seen
  pthread_mutex_lock(&lock);
  allocations = grown(allocations, allocated, &allocation_room, sizeof *allocations);
  size_t at = position(address);
  memmove(allocations + at + 1, allocations + at, (allocated - at) * sizeof *allocations);
  allocations[at] = (Allocation){address, size};
  allocated++;
  pthread_mutex_unlock(&lock);
}

void drop_allocation(CUdeviceptr address) {
  pthread_mutex_lock(&lock);
  size_t at = position(address);
  if (at && allocations[at - 1].address == address) {
    memmove(allocations + at - 1, allocations + at, (allocated - at) * sizeof *allocations);
    allocated--;
  }
  pthread_mutex_unlock(&lock);
}

const Allocation *allocation_of(uint64_t address) {
  size_t at = position(address);
  return at && address - allocations[at - 1].address <= allocations[at - 1].size ? allocations + at - 1 : NULL;  // an end counts
}

Handle *handle_of(void *handle) {
  for (size_t k = handled; k--;) if (handles[k].handle == handle) return handles + k;
  return NULL;
}

Handle *add_handle(void *handle, const char *name, Image *image) {
  pthread_mutex_lock(&lock);
  Handle *known = handle_of(handle);  // a handle may come again, for something else
  if (!known) {
    handles = grown(handles, handled, &handle_room, sizeof *handles);
    known = handles + handled++;
    *known = (Handle){0};
  }
  if (!known->name || !name || strcmp(known->name, name)) {
    free(known->name);
    known->name = name ? strdup(name) : NULL;
    known->asked = known->is_kernel = 0;
  }
  known->handle = handle;
  known->image = image;
  pthread_mutex_unlock(&lock);
  return known;
}

void forget_choices(void) {
  for (size_t k = 0; k < handled; k++) handles[k].asked = 0;
}

static size_t elf_size(const unsigned char *data) {  // the end of the last table or section
  uint64_t sections, segments; uint16_t each, count, segment, segment_count;
  memcpy(&segments, data + 32, 8); memcpy(&sections, data + 40, 8);
  memcpy(&segment, data + 54, 2); memcpy(&segment_count, data + 56, 2);
  memcpy(&each, data + 58, 2); memcpy(&count, data + 60, 2);
  uint64_t end = sections + (uint64_t)each * count, other = segments + (uint64_t)segment * segment_count;
  if (other > end) end = other;
  for (unsigned k = 0; k < count; k++) {
    uint32_t kind; uint64_t offset, size;
    memcpy(&kind, data + sections + (uint64_t)each * k + 4, 4);
    memcpy(&offset, data + sections + (uint64_t)each * k + 24, 8);
    memcpy(&size, data + sections + (uint64_t)each * k + 32, 8);
    if (kind != 8 && offset + size > end) end = offset + size;  // 8: SHT_NOBITS
  }
  return end;
}

Image *add_image(const void *data) {
  if (!data) return NULL;
  uint32_t magic;
  memcpy(&magic, data, 4);
  if (magic == 0x466243b1) {  // a wrapper, which the compiler puts into host programs: version, then where the fat binary is
    memcpy(&data, (const char *)data + 8, 8);
    memcpy(&magic, data, 4);
  }
  Image *image = calloc(1, sizeof *image);
  if (magic == 0x464c457f) {
    image->kind = 'e'; image->size = elf_size(data);
  } else if (magic == 0xba55ed50) {
    uint16_t head; uint64_t size;
    memcpy(&head, (const char *)data + 6, 2); memcpy(&size, (const char *)data + 8, 8);
    image->kind = 'f'; image->size = head + size;
  } else {
    image->kind = 'p'; image->size = strlen(data) + 1;
  }
  Dl_info where;
  if (image->size > 65536 && dladdr(data, &where)) {  // part of a program or library: it stays
    image->data = data;
  } else {
    void *copy = malloc(image->size);
    memcpy(copy, data, image->size);
    image->data = copy;
  }
  return image;
}

Image *add_image_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *data = calloc(1, size + 1);
  size_t got = fread(data, 1, size, file);
  fclose(file);
  Image *image = got == (size_t)size && size > 64 ? add_image(data) : NULL;
  free(data);
  return image;
}
