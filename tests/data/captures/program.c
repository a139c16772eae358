// A program that launches scale_rows N times: program HOW WHAT CUBIN [N]. HOW it finds the driver: linked, dlsym, address (cuGetProcAddress,
// as CUDA's runtime). WHAT: fine; threads, two of them at once; crash, after the first launch; fault, an address that is none;
// processes, two of them; graph, the launch goes into a graph, which is launched.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { float *data; unsigned n; } View;
typedef int (*Function)();
enum { N = 1000 };
extern int cuInit(), cuModuleLoadData(), cuModuleGetFunction(), cuModuleGetGlobal_v2(), cuMemAlloc_v2(), cuMemcpyHtoD_v2(), cuMemcpyDtoH_v2(),
    cuLaunchKernel(), cuCtxSynchronize(), cuGraphLaunch(), cuDevicePrimaryCtxRetain(), cuCtxSetCurrent();
#pragma weak cuGraphLaunch
#pragma weak cuDevicePrimaryCtxRetain
#pragma weak cuCtxSetCurrent
static Function module_load, module_function, module_global, allocate, to_device, to_host, launch, synchronize;
static const char *what;
static int launches = 1;
static void *function;

static Function by_address(const char *name) {
  static int (*find)(const char *, void **, int, uint64_t, void *);
  void *found = NULL;
  if (!find) find = (int (*)(const char *, void **, int, uint64_t, void *))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGetProcAddress_v2");
  find(name, &found, 13000, 0, NULL);
  return (Function)found;
}
static Function by_name(const char *name) { return (Function)dlsym(dlopen("libcuda.so.1", RTLD_NOW), name); }

static void find_functions(const char *how) {
  if (!strcmp(how, "linked")) {
    module_load = cuModuleLoadData, module_function = cuModuleGetFunction, module_global = cuModuleGetGlobal_v2, allocate = cuMemAlloc_v2;
    to_device = cuMemcpyHtoD_v2, to_host = cuMemcpyDtoH_v2, launch = cuLaunchKernel, synchronize = cuCtxSynchronize;
    return;
  }
  int new = !strcmp(how, "address");
  Function (*find)(const char *) = new ? by_address : by_name;
  module_load = find("cuModuleLoadData"), module_function = find("cuModuleGetFunction"), launch = find("cuLaunchKernel");
  module_global = find(new ? "cuModuleGetGlobal" : "cuModuleGetGlobal_v2"), allocate = find(new ? "cuMemAlloc" : "cuMemAlloc_v2");
  to_device = find(new ? "cuMemcpyHtoD" : "cuMemcpyHtoD_v2"), to_host = find(new ? "cuMemcpyDtoH" : "cuMemcpyDtoH_v2");
  synchronize = find("cuCtxSynchronize");
}

static void *context;

static void *work(void *unused) {
  if (cuCtxSetCurrent) cuCtxSetCurrent(context);
  uint64_t data, pair[2], rows, spare;
  float values[N], scaled[N / 2];
  allocate(&data, sizeof values), allocate(pair, sizeof scaled), allocate(pair + 1, sizeof scaled), allocate(&rows, sizeof pair);
  allocate(&spare, (size_t)1 << 20);  // that no kernel reaches
  for (int i = 0; i < N; i++) values[i] = 0.25f * i;
  memset(scaled, 0, sizeof scaled);
  to_device(pair[0], scaled, sizeof scaled), to_device(pair[1], scaled, sizeof scaled);
  to_device(data, values, sizeof values), to_device(rows, pair, sizeof pair);
  View view = {(float *)data, !strcmp(what, "fault") ? 1u << 31 : N};
  void *parameters[] = {&view, &rows};
  for (int k = 0; k < launches; k++) {
    int is_graph = !strcmp(what, "graph");
    launch(function, (N + 127) / 128, 1, 1, 128, 1, 1, 0, is_graph ? what : NULL, parameters, NULL);
    if (is_graph) cuGraphLaunch(NULL, NULL);
    synchronize();
    if (!strcmp(what, "crash")) abort();
  }
  to_host(scaled, pair[1], sizeof scaled);
  return scaled[1] == 4.0f * values[3] ? NULL : unused;
}

int main(int count, char **arguments) {
  static char cubin[1 << 20];
  if (count < 4) return 3;
  what = arguments[2];
  FILE *file = fopen(arguments[3], "rb");
  if (!file || !fread(cubin, 1, sizeof cubin, file)) return 4;
  fclose(file);
  if (count > 4) launches = atoi(arguments[4]);
  if (!strcmp(what, "processes") && fork()) wait(NULL);
  find_functions(arguments[1]);
  void *module;
  cuInit(0);
  if (cuDevicePrimaryCtxRetain && cuCtxSetCurrent) cuDevicePrimaryCtxRetain(&context, 0), cuCtxSetCurrent(context);
  if (module_load(&module, cubin) || module_function(&function, module, "scale_rows")) return 5;
  uint64_t address;
  size_t size;
  float scale[] = {1, 2, 3, 4};
  module_global(&address, &size, module, "scale");
  to_device(address, scale, sizeof scale);
  if (strcmp(what, "threads")) return work(main) != NULL;
  pthread_t first, second;
  void *one, *other;
  pthread_create(&first, NULL, work, main), pthread_create(&second, NULL, work, main);
  pthread_join(first, &one), pthread_join(second, &other);
  return one || other;
}
