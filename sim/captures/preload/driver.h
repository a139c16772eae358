// What is used of the CUDA driver's interface, as its documentation gives it; no header of CUDA is needed. And what the files here share.
#pragma once
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef int CUresult;  // 0: success
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct { int id; char pad[4]; union { unsigned words[16]; int number; } value; } LaunchAttribute;
typedef struct { unsigned grid[3], block[3], shared; void *stream; LaunchAttribute *attributes; unsigned count; } LaunchConfig;
enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4, INPUT_PTX = 1, PER_THREAD_STREAM = 2 };

#ifndef DRIVER_PATH  // of the real one; a library that stands in for it, under its name, is built with a path
#define DRIVER_PATH "libcuda.so.1"
#endif

// The driver's own function of a name, NULL where it has none; never one of ours.
void *driver(const char *name);
extern int driver_used;
#define DRIVER(name, ...) ((CUresult (*)(__VA_ARGS__))driver(name))

// tables.c: what lives. `lock` guards it, and recording.
typedef struct { CUdeviceptr address; size_t size; } Allocation;
typedef struct { const void *data; size_t size; char kind; char *elf; size_t elf_size; } Image;  // kind: e ELF, f fat binary, p PTX
typedef struct { void *handle; char *name; Image *image; char is_kernel, chosen, asked; } Handle;
extern pthread_mutex_t lock;
void add_allocation(CUdeviceptr address, size_t size);
void drop_allocation(CUdeviceptr address);
const Allocation *allocation_of(uint64_t address);
Handle *handle_of(void *handle);                      // NULL: not known
Handle *add_handle(void *handle, const char *name, Image *image);
Image *add_image(const void *data);                   // of cuModuleLoadData and its like
Image *add_image_file(const char *path);
void forget_choices(void);                            // which kernels are chosen

// image.c: machine code of an image for this GPU; 0 when there is none.
int find_code(Image *image, const char *kernel, int architecture);
typedef struct { const char *name; uint64_t size; int is_constant; } Symbol;
size_t symbols_of(const Image *image, Symbol **found);  // `__device__` and `__constant__` variables; free(*found)

// record.c
typedef struct {
  void *function; unsigned grid[3], block[3], cluster[3], shared; void *stream; void **parameters, **extra; int cooperative;
} Launch;
typedef struct Record Record;
Record *begin(const Launch *launch);                  // NULL: not one that is wanted. Else holds `lock` until `end`
int again(Record *record, CUresult result);           // whether to launch once more; memory is then as it was
void end(Record *record);
void note_graph(void);                                // a CUDA graph is launched: its kernels are not seen
void simtlab_capture_settings(void);                  // reads them (again), and counts launches from 0: a new window
void say(const char *format, ...);                    // a line into the log that the command reads
const char *setting(const char *name);                // an environment variable SIMTLAB_CAPTURE_..., "" when not set
