// The driver's functions that are looked at on their way: each calls the driver's own. Programs reach them by name (this library comes
// first), by dlsym, or by cuGetProcAddress, as CUDA's runtime does, static or shared.
#include "driver.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *(*real_dlsym)(void *, const char *);
int driver_used;

static void find_dlsym(void) {
  static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", NULL};
  for (int k = 0; versions[k] && !real_dlsym; k++) real_dlsym = dlvsym(RTLD_NEXT, "dlsym", versions[k]);
}

void *driver(const char *name) {
  static void *library;
  if (!real_dlsym) find_dlsym();
  if (!library) {
    library = dlopen(DRIVER_PATH, RTLD_LAZY | RTLD_GLOBAL);
    driver_used = library != NULL;
    say(library ? "driver" : "no driver");
  }
  return library ? real_dlsym(library, name) : NULL;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))driver(#name); if (!real) return 500

#define LAUNCH(call, ...) do { \
    Launch launch = {__VA_ARGS__}; \
    Record *record = begin(&launch); \
    CUresult result; \
    do result = call; while (record && again(record, result)); \
    if (record) end(record); \
    return result; } while (0)

#define LAUNCH_KERNEL(name) \
CUresult name(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, \
              void **parameters, void **extra) { \
  REAL(name); \
  LAUNCH(real(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra), \
         f, {gx, gy, gz}, {bx, by, bz}, {1, 1, 1}, shared, stream, parameters, extra, 0); }
LAUNCH_KERNEL(cuLaunchKernel)
LAUNCH_KERNEL(cuLaunchKernel_ptsz)

#define LAUNCH_COOPERATIVE(name) \
CUresult name(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, \
              void **parameters) { \
  REAL(name); \
  LAUNCH(real(f, gx, gy, gz, bx, by, bz, shared, stream, parameters), \
         f, {gx, gy, gz}, {bx, by, bz}, {1, 1, 1}, shared, stream, parameters, NULL, 1); }
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz)

static Launch of_config(const LaunchConfig *c, void *f, void **parameters, void **extra) {
  Launch launch = {f, {c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]}, {1, 1, 1}, c->shared, c->stream,
                   parameters, extra, 0};
  for (unsigned k = 0; k < c->count; k++) {
    const LaunchAttribute *one = c->attributes + k;
    if (one->id == ATTRIBUTE_CLUSTER) for (int d = 0; d < 3; d++) launch.cluster[d] = one->value.words[d];
    if (one->id == ATTRIBUTE_COOPERATIVE) launch.cooperative = one->value.number;
  }
  return launch;
}
#define LAUNCH_EX(name) \
CUresult name(const LaunchConfig *c, void *f, void **parameters, void **extra) { \
  REAL(name); \
  Launch given = of_config(c, f, parameters, extra); \
  Record *record = begin(&given); \
  CUresult result; \
  do result = real(c, f, parameters, extra); while (record && again(record, result)); \
  if (record) end(record); \
  return result; }
LAUNCH_EX(cuLaunchKernelEx)
LAUNCH_EX(cuLaunchKernelEx_ptsz)

CUresult cuModuleLoad(void **module, const char *path) {
  REAL(cuModuleLoad); CUresult result = real(module, path);
  if (!result) add_handle(*module, NULL, add_image_file(path));
  return result; }
CUresult cuModuleLoadData(void **module, const void *image) {
  REAL(cuModuleLoadData); CUresult result = real(module, image);
  if (!result) add_handle(*module, NULL, add_image(image));
  return result; }
CUresult cuModuleLoadDataEx(void **module, const void *image, unsigned n, void *options, void *values) {
  REAL(cuModuleLoadDataEx); CUresult result = real(module, image, n, options, values);
  if (!result) add_handle(*module, NULL, add_image(image));
  return result; }
CUresult cuModuleLoadFatBinary(void **module, const void *image) {
  REAL(cuModuleLoadFatBinary); CUresult result = real(module, image);
  if (!result) add_handle(*module, NULL, add_image(image));
  return result; }
CUresult cuLibraryLoadData(void **library, const void *code, void *jit, void *jit_values, unsigned n, void *options, void *values, unsigned m) {
  REAL(cuLibraryLoadData); CUresult result = real(library, code, jit, jit_values, n, options, values, m);
  if (!result) add_handle(*library, NULL, add_image(code));
  return result; }
CUresult cuLibraryLoadFromFile(void **library, const char *path, void *jit, void *jit_values, unsigned n, void *options, void *values, unsigned m) {
  REAL(cuLibraryLoadFromFile); CUresult result = real(library, path, jit, jit_values, n, options, values, m);
  if (!result) add_handle(*library, NULL, add_image_file(path));
  return result; }

static void belongs(void *handle, const char *name, void *owner, int is_kernel) {
  pthread_mutex_lock(&lock);
  Handle *of = handle_of(owner);
  add_handle(handle, name ? name : of ? of->name : NULL, of ? of->image : NULL)->is_kernel = is_kernel;
  pthread_mutex_unlock(&lock);
}
CUresult cuModuleGetFunction(void **function, void *module, const char *name) {
  REAL(cuModuleGetFunction); CUresult result = real(function, module, name);
  if (!result) belongs(*function, name, module, 0);
  return result; }
CUresult cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  REAL(cuLibraryGetKernel); CUresult result = real(kernel, library, name);
  if (!result) belongs(*kernel, name, library, 1);
  return result; }
CUresult cuLibraryGetModule(void **module, void *library) {
  REAL(cuLibraryGetModule); CUresult result = real(module, library);
  if (!result) belongs(*module, NULL, library, 0);
  return result; }
CUresult cuKernelGetFunction(void **function, void *kernel) {
  REAL(cuKernelGetFunction); CUresult result = real(function, kernel);
  if (!result) belongs(*function, NULL, kernel, 0);
  return result; }

#define ALLOCATES(name, ...) CUresult name(CUdeviceptr *p, size_t size, ##__VA_ARGS__)
#define NOTE(call) CUresult result = call; if (!result) add_allocation(*p, size); return result
ALLOCATES(cuMemAlloc_v2) { REAL(cuMemAlloc_v2); NOTE(real(p, size)); }
ALLOCATES(cuMemAllocManaged, unsigned flags) { REAL(cuMemAllocManaged); NOTE(real(p, size, flags)); }
ALLOCATES(cuMemAllocAsync, void *stream) { REAL(cuMemAllocAsync); NOTE(real(p, size, stream)); }
ALLOCATES(cuMemAllocAsync_ptsz, void *stream) { REAL(cuMemAllocAsync_ptsz); NOTE(real(p, size, stream)); }
ALLOCATES(cuMemAllocFromPoolAsync, void *pool, void *stream) { REAL(cuMemAllocFromPoolAsync); NOTE(real(p, size, pool, stream)); }
ALLOCATES(cuMemAllocFromPoolAsync_ptsz, void *pool, void *stream) { REAL(cuMemAllocFromPoolAsync_ptsz); NOTE(real(p, size, pool, stream)); }
CUresult cuMemAllocPitch_v2(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned element) {
  REAL(cuMemAllocPitch_v2); CUresult result = real(p, pitch, width, height, element);
  if (!result) add_allocation(*p, *pitch * height);
  return result; }
CUresult cuMemHostAlloc(void **p, size_t size, unsigned flags) {
  REAL(cuMemHostAlloc); CUresult result = real(p, size, flags);
  if (!result) add_allocation((CUdeviceptr)*p, size);
  return result; }
CUresult cuMemAllocHost_v2(void **p, size_t size) {
  REAL(cuMemAllocHost_v2); CUresult result = real(p, size);
  if (!result) add_allocation((CUdeviceptr)*p, size);
  return result; }
CUresult cuMemMap(CUdeviceptr p, size_t size, size_t offset, uint64_t handle, uint64_t flags) {
  REAL(cuMemMap); CUresult result = real(p, size, offset, handle, flags);
  if (!result) add_allocation(p, size);
  return result; }
CUresult cuMemUnmap(CUdeviceptr p, size_t size) { REAL(cuMemUnmap); drop_allocation(p); return real(p, size); }
CUresult cuMemFree_v2(CUdeviceptr p) { REAL(cuMemFree_v2); drop_allocation(p); return real(p); }
CUresult cuMemFreeAsync(CUdeviceptr p, void *stream) { REAL(cuMemFreeAsync); drop_allocation(p); return real(p, stream); }
CUresult cuMemFreeAsync_ptsz(CUdeviceptr p, void *stream) { REAL(cuMemFreeAsync_ptsz); drop_allocation(p); return real(p, stream); }
CUresult cuMemFreeHost(void *p) { REAL(cuMemFreeHost); drop_allocation((CUdeviceptr)p); return real(p); }

#define LAUNCH_GRAPH(name) CUresult name(void *graph, void *stream) { REAL(name); note_graph(); return real(graph, stream); }
LAUNCH_GRAPH(cuGraphLaunch)
LAUNCH_GRAPH(cuGraphLaunch_ptsz)

CUresult cuGetProcAddress(const char *symbol, void **found, int version, uint64_t flags);
CUresult cuGetProcAddress_v2(const char *symbol, void **found, int version, uint64_t flags, void *status);

static const struct { const char *name; void *ours; } HOOKS[] = {
#define HOOK(name) {#name, (void *)name}
  HOOK(cuLaunchKernel), HOOK(cuLaunchKernel_ptsz), HOOK(cuLaunchKernelEx), HOOK(cuLaunchKernelEx_ptsz), HOOK(cuLaunchCooperativeKernel),
  HOOK(cuLaunchCooperativeKernel_ptsz), HOOK(cuModuleLoad), HOOK(cuModuleLoadData), HOOK(cuModuleLoadDataEx), HOOK(cuModuleLoadFatBinary),
  HOOK(cuLibraryLoadData), HOOK(cuLibraryLoadFromFile), HOOK(cuModuleGetFunction), HOOK(cuLibraryGetKernel), HOOK(cuLibraryGetModule),
  HOOK(cuKernelGetFunction), HOOK(cuMemAlloc_v2), HOOK(cuMemAllocManaged), HOOK(cuMemAllocAsync), HOOK(cuMemAllocAsync_ptsz),
  HOOK(cuMemAllocFromPoolAsync), HOOK(cuMemAllocFromPoolAsync_ptsz), HOOK(cuMemAllocPitch_v2), HOOK(cuMemHostAlloc),
  HOOK(cuMemAllocHost_v2), HOOK(cuMemMap), HOOK(cuMemUnmap), HOOK(cuMemFree_v2), HOOK(cuMemFreeAsync), HOOK(cuMemFreeAsync_ptsz),
  HOOK(cuMemFreeHost), HOOK(cuGraphLaunch), HOOK(cuGraphLaunch_ptsz), HOOK(cuGetProcAddress), HOOK(cuGetProcAddress_v2), {NULL, NULL}};

static void *ours(const char *name, const char *ending) {
  size_t length = strlen(name), end = strlen(ending);
  for (int k = 0; HOOKS[k].name; k++)
    if (!strncmp(HOOKS[k].name, name, length) && !strcmp(HOOKS[k].name + length, ending) && strlen(HOOKS[k].name) == length + end)
      return HOOKS[k].ours;
  return NULL;
}

// What a program is given in place of the driver's function: ours where there is one of its name and version.
static void *in_place(const char *symbol, void *found, int version, uint64_t flags) {
  if (!strcmp(symbol, "cuGetProcAddress")) return ours(symbol, version >= 12000 ? "_v2" : "");
  void *hook = flags & PER_THREAD_STREAM ? ours(symbol, "_ptsz") : NULL;
  if (!hook && version >= 3020) hook = ours(symbol, "_v2");
  if (!hook) hook = ours(symbol, "");
  return hook ? hook : found;
}
CUresult cuGetProcAddress(const char *symbol, void **found, int version, uint64_t flags) {
  REAL(cuGetProcAddress); CUresult result = real(symbol, found, version, flags);
  if (!result && *found) *found = in_place(symbol, *found, version, flags);
  return result; }
CUresult cuGetProcAddress_v2(const char *symbol, void **found, int version, uint64_t flags, void *status) {
  REAL(cuGetProcAddress_v2); CUresult result = real(symbol, found, version, flags, status);
  if (!result && *found) *found = in_place(symbol, *found, version, flags);
  return result; }

void *dlsym(void *restrict library, const char *restrict name) {
  if (!real_dlsym) find_dlsym();
  if (name[0] == 'c' && name[1] == 'u') {
    void *hook = ours(name, "");
    if (hook && real_dlsym(library, name)) return hook;
  }
  return real_dlsym(library, name);  // a jump, not a call: RTLD_NEXT looks at who called
}
