// A CUDA driver of a few functions, without a GPU: its memory is the host's, and its one kernel is scale_rows (scale_rows.cu), in C.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct { float *data; unsigned n; } View;
static float scale[4];
static unsigned total;
static int failed;
static char module, function;

int cuInit(unsigned flags) { (void)flags; return 0; }
int cuModuleLoadData(void **made, const void *image) { (void)image; *made = &module; return 0; }
int cuModuleGetFunction(void **made, void *of, const char *name) { (void)of; *made = &function; return strcmp(name, "scale_rows") ? 500 : 0; }
int cuModuleGetGlobal_v2(uint64_t *address, size_t *size, void *of, const char *name) {
  (void)of;
  *address = (uint64_t)(strcmp(name, "scale") ? (void *)&total : (void *)scale);
  *size = strcmp(name, "scale") ? sizeof total : sizeof scale;
  return 0;
}
int cuMemAlloc_v2(uint64_t *address, size_t size) {
  *address = (uint64_t)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return 0;
}
int cuMemFree_v2(uint64_t address) { (void)address; return 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) { memcpy((void *)to, from, size); return 0; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) { memcpy(to, (void *)from, size); return 0; }
int cuCtxSynchronize(void) { return failed; }
int cuCtxGetDevice(int *device) { *device = 0; return 0; }
int cuDeviceGetName(char *name, int size, int device) { (void)device; strncpy(name, "NVIDIA H200", size); return 0; }
int cuDeviceGetAttribute(int *value, int which, int device) { (void)device; *value = which == 75 ? 9 : which == 76 ? 0 : 132; return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuFuncGetAttribute(int *value, int which, void *of) { (void)of; *value = which == 6 ? 90 : which == 4 ? 12 : 0; return 0; }
int cuFuncGetModule(void **of, void *f) { (void)f; *of = &module; return 0; }
int cuFuncGetParamInfo(void *f, size_t k, size_t *offset, size_t *size) {
  (void)f;
  *offset = 16 * k;
  *size = k ? 8 : 16;
  return k > 1;
}
static int scale_rows(unsigned threads, View view, float **rows) {
  if (view.n > 1u << 30) failed = 700;  // what a GPU answers to an address that is none
  for (unsigned i = 0; i < threads && i < view.n && !failed; i++) {
    rows[i & 1][i >> 1] = scale[i & 3] * view.data[i];
    total++;
  }
  return 0;
}
static struct { unsigned threads; View view; float **rows; } graph;  // its one node
int cuStreamIsCapturing(void *stream, int *status) { *status = stream != NULL; return 0; }
int cuGraphLaunch(void *which, void *stream) { (void)which, (void)stream; return scale_rows(graph.threads, graph.view, graph.rows); }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                   void **parameters, void **extra) {
  (void)f, (void)gy, (void)gz, (void)by, (void)bz, (void)shared, (void)extra;
  if (!stream) return scale_rows(gx * bx, *(View *)parameters[0], *(float ***)parameters[1]);
  graph.threads = gx * bx, graph.view = *(View *)parameters[0], graph.rows = *(float ***)parameters[1];
  return 0;
}
void *cuGetProcAddress_names[] = {"cuInit", cuInit, "cuModuleLoadData", cuModuleLoadData, "cuModuleGetFunction", cuModuleGetFunction,
  "cuModuleGetGlobal", cuModuleGetGlobal_v2, "cuMemAlloc", cuMemAlloc_v2, "cuMemFree", cuMemFree_v2, "cuMemcpyHtoD", cuMemcpyHtoD_v2,
  "cuMemcpyDtoH", cuMemcpyDtoH_v2, "cuLaunchKernel", cuLaunchKernel, "cuCtxSynchronize", cuCtxSynchronize, NULL};
int cuGetProcAddress_v2(const char *symbol, void **found, int version, uint64_t flags, void *status) {
  (void)version, (void)flags, (void)status;
  *found = NULL;
  for (void **one = cuGetProcAddress_names; *one; one += 2) if (!strcmp(*one, symbol)) *found = one[1];
  return *found ? 0 : 500;
}
