#include "kernels/opencl_internal.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "kernels/batch_internal.h"
#include "kernels/cache_internal.h"
#include "kernels/field_batch_internal.h"
#include "kernels/probe_internal.h"
#include "moments_cl.h"

#define MAX_LISTED_OPENCL_PLATFORMS 16
#define MAX_LISTED_OPENCL_DEVICES 32

static const char *const kernel_names[TACT_CL_KERNEL_COUNT] = {
    [TACT_CL_PRISM_PAIR_KERNEL] = "prism_pairs",
    [TACT_CL_PLANE_TRIANGLE_KERNEL] = "plane_triangles",
    [TACT_CL_SUM_KERNEL] = "sum_partial_rows",
};

int tact_cl_set_error(struct tact_error *err, cl_int code, const char *opencl_call_name)
{
    return tact_error_set(err, -EIO, "OpenCL error %d while %s", (int)code, opencl_call_name);
}

/* PoCL takes the memory size from hwloc and aborts if hwloc finds none because /sys is not mounted,
 * as in a bare chroot: there a synthetic topology is set. */
static void set_hwloc_topology(void)
{
    char text[96];
    long long bytes = (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    if (access("/sys/devices/system/cpu/cpu0/topology", F_OK)) {
        snprintf(text, sizeof text, "numa:1(memory=%lld) pu:%ld", bytes,
                 sysconf(_SC_NPROCESSORS_ONLN));
        setenv("HWLOC_SYNTHETIC", text, 0);
    }
}

static struct {
    pthread_once_t once;
    int cache; /* 0, or the negative errno of creating the cache folder */
} environment = {.once = PTHREAD_ONCE_INIT};

static void set_driver_environment(void)
{
    char path[PATH_MAX];
    set_hwloc_topology();
    if (!getenv("POCL_CACHE_DIR")) {
        environment.cache = tact_cl_choose_cache_folder(path, sizeof path);
        if (!environment.cache) {
            setenv("POCL_CACHE_DIR", path, 0);
        }
    }
    setenv("POCL_WORK_GROUP_METHOD", "loops", 0);
    setenv("POCL_DEVICES", "basic", 0);
    /* for users of PoCL's threaded device: one thread wakes up sooner than several */
    setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
}

int tact_opencl_prepare(struct tact_error *err)
{
    pthread_once(&environment.once, set_driver_environment);
    return environment.cache ? tact_error_set(err, environment.cache,
                                              "no cache folder for PoCL: %s; set POCL_CACHE_DIR "
                                              "to a folder that only you can write to",
                                              strerror(-environment.cache))
                             : 0;
}

static size_t list_opencl_devices(cl_device_id *devices, size_t capacity)
{
    cl_platform_id platforms[MAX_LISTED_OPENCL_PLATFORMS];
    cl_uint platform_count = 0;
    size_t count = 0;
    if (clGetPlatformIDs(MAX_LISTED_OPENCL_PLATFORMS, platforms, &platform_count) != CL_SUCCESS) {
        return 0;
    }
    for (cl_uint p = 0; p < platform_count && p < MAX_LISTED_OPENCL_PLATFORMS && count < capacity;
         p++) {
        cl_uint n = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, (cl_uint)(capacity - count),
                           devices + count, &n) == CL_SUCCESS) {
            count += n < capacity - count ? n : capacity - count;
        }
    }
    return count;
}

/* Runs in a child process: see probe_internal.h. */
static void list_devices_in_child(void)
{
    cl_device_id devices[MAX_LISTED_OPENCL_DEVICES];
    list_opencl_devices(devices, MAX_LISTED_OPENCL_DEVICES);
}

/* Lists the devices of all platforms; *count may be 0. Returns 0, or -ENODEV if a driver ends or
 * blocks the process that lists its devices. */
static int list_devices_safely(cl_device_id *devices, size_t capacity, size_t *count,
                               struct tact_error *err)
{
    tact_opencl_prepare(NULL);
    int rc = tact_cl_probe_driver(list_devices_in_child, err);
    *count = rc ? 0 : list_opencl_devices(devices, capacity);
    return rc;
}

static void read_device_string(cl_device_id device, cl_device_info property, char *out, size_t size)
{
    char text[4096] = "";
    if (clGetDeviceInfo(device, property, sizeof text, text, NULL) != CL_SUCCESS) {
        text[0] = '\0';
    }
    snprintf(out, size, "%.*s", (int)size - 1, text);
}

static void describe_opencl_device(cl_device_id device, struct tact_opencl_device *info)
{
    cl_platform_id platform = NULL;
    cl_device_type type = 0;
    cl_uint units = 0;
    char device_extensions[4096];
    memset(info, 0, sizeof *info);
    clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof info->platform, info->platform, NULL);
    clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    read_device_string(device, CL_DEVICE_NAME, info->name, sizeof info->name);
    read_device_string(device, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    read_device_string(device, CL_DEVICE_EXTENSIONS, device_extensions, sizeof device_extensions);
    info->gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
    info->fp64 = strstr(device_extensions, "cl_khr_fp64") != NULL;
    info->compute_units = units;
    info->status = -EAGAIN;
    snprintf(info->verdict, sizeof info->verdict, "not tested");
}

static int choose_opencl_device(const struct tact_cl_device_request *device_request,
                                struct tact_cl_opened_device *cl, struct tact_error *err)
{
    cl_device_id devices[MAX_LISTED_OPENCL_DEVICES];
    size_t count;
    int best = -1, rc = list_devices_safely(devices, MAX_LISTED_OPENCL_DEVICES, &count, err);
    if (rc) {
        return rc;
    }
    if (count == 0 && tact_opencl_prepare(err)) {
        return -ENODEV; /* PoCL has no device without a cache folder */
    }
    if (count == 0) {
        return tact_error_set(err, -ENODEV,
                              "no OpenCL device: install a driver for the GPU, or "
                              "pocl-opencl-icd for the CPU (clinfo lists what is found)");
    }
    for (size_t i = 0; i < count; i++) {
        struct tact_opencl_device info;
        describe_opencl_device(devices[i], &info);
        int named = !device_request->device || strcasestr(info.name, device_request->device) ||
                    strcasestr(info.platform, device_request->device);
        int device_score = info.gpu ? 1 : 0;
        if (named && (device_request->exact ? i == device_request->index : device_score > best)) {
            best = device_score;
            cl->device = devices[i];
            cl->info = info;
        }
    }
    if (best < 0) {
        return tact_error_set(
            err, -ENODEV, "no OpenCL device or platform has \"%s\" in its name (%zu devices found)",
            device_request->device ? device_request->device : "", count);
    }
    return 0;
}

int tact_cl_build_program(struct tact_cl_opened_device *cl, const char *text, const char *options,
                          struct tact_error *err)
{
    cl_int code = CL_SUCCESS;
    cl->program = clCreateProgramWithSource(cl->context, 1, &text, NULL, &code);
    if (code != CL_SUCCESS) {
        return tact_cl_set_error(err, code, "reading the kernels");
    }
    code = clBuildProgram(cl->program, 1, &cl->device, options, NULL, NULL);
    if (code != CL_SUCCESS) {
        char log[256] = "";
        size_t size = 0;
        clGetProgramBuildInfo(cl->program, cl->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
        char *whole = calloc(1, size + 1);
        if (whole) {
            clGetProgramBuildInfo(cl->program, cl->device, CL_PROGRAM_BUILD_LOG, size, whole, NULL);
            snprintf(log, sizeof log, "%.*s", (int)sizeof log - 1, whole);
            free(whole);
        }
        return tact_error_set(err, -EIO,
                              "the OpenCL kernels cannot be compiled on %s (error %d): %s",
                              cl->info.name, (int)code, log);
    }
    return 0;
}

static int build_moment_kernels(const struct tact_cl_device_request *device_request,
                                struct tact_cl_opened_device *cl, struct tact_error *err)
{
    char options[160];
    cl_int code = CL_SUCCESS;
    snprintf(options, sizeof options,
             "-cl-std=CL1.2 -DTACT_SUMS_PER_PAIR=%d -DTACT_PAIR_VALUES=%d %s %s",
             TACT_SUMS_PER_PAIR, TACT_PAIR_VALUES, cl->bytes_per_real == 8 ? "-DTACT_DOUBLE" : "",
             device_request->fault ? "-DTACT_FAULT" : "");
    int rc = tact_cl_build_program(cl, moments_cl, options, err);
    for (int i = 0; i < TACT_CL_KERNEL_COUNT && !rc; i++) {
        cl->kernels[i] = clCreateKernel(cl->program, kernel_names[i], &code);
        if (code != CL_SUCCESS) {
            rc = tact_cl_set_error(err, code, kernel_names[i]);
        }
    }
    return rc;
}

int tact_cl_open_device(const struct tact_cl_device_request *device_request,
                        struct tact_cl_opened_device *cl, struct tact_error *err)
{
    cl_int code = CL_SUCCESS;
    memset(cl, 0, sizeof *cl);
    int rc = choose_opencl_device(device_request, cl, err);
    if (rc < 0) {
        return rc;
    }
    if (device_request->precision == TACT_OPENCL_DOUBLE && !cl->info.fp64) {
        return tact_error_set(err, -ENOTSUP, "the OpenCL device %s has no double precision",
                              cl->info.name);
    }
    cl->bytes_per_real = cl->info.fp64 && device_request->precision != TACT_OPENCL_SINGLE ? 8 : 4;
    cl->group = cl->info.gpu ? 64 : 16;
    cl->context = clCreateContext(NULL, 1, &cl->device, NULL, NULL, &code);
    if (code == CL_SUCCESS) {
        cl->queue = clCreateCommandQueue(cl->context, cl->device, 0, &code);
    }
    if (code != CL_SUCCESS) {
        tact_cl_close(cl);
        return tact_cl_set_error(err, code, "opening a context");
    }
    return 0;
}

int tact_cl_open(const struct tact_cl_device_request *device_request,
                 struct tact_cl_opened_device *cl, struct tact_error *err)
{
    int rc = tact_cl_open_device(device_request, cl, err);
    if (rc < 0) {
        return rc;
    }
    rc = build_moment_kernels(device_request, cl, err);
    if (rc < 0) {
        tact_cl_close(cl);
    }
    return rc;
}

void tact_cl_close(struct tact_cl_opened_device *cl)
{
    for (int i = 0; i < TACT_CL_KERNEL_COUNT; i++) {
        if (cl->kernels[i]) {
            clReleaseKernel(cl->kernels[i]);
        }
    }
    if (cl->program) {
        clReleaseProgram(cl->program);
    }
    if (cl->queue) {
        clReleaseCommandQueue(cl->queue);
    }
    if (cl->context) {
        clReleaseContext(cl->context);
    }
    struct tact_opencl_device info = cl->info;
    memset(cl, 0, sizeof *cl);
    cl->info = info;
}

cl_int tact_cl_launch_kernel(const struct tact_cl_opened_device *cl, enum tact_cl_kernel kernel,
                             size_t count)
{
    size_t global_work_size = (count + cl->group - 1) / cl->group * cl->group;
    return clEnqueueNDRangeKernel(cl->queue, cl->kernels[kernel], 1, NULL, &global_work_size,
                                  &cl->group, 0, NULL, NULL);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median time of an empty launch (count 0) and clFinish() [us]. */
static double median_launch_us(const struct tact_cl_opened_device *cl)
{
    double us[101];
    cl_mem nothing = clCreateBuffer(cl->context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    cl_uint zero = 0;
    cl_kernel kernel = cl->kernels[TACT_CL_SUM_KERNEL];
    for (cl_uint i = 0; i < 5; i++) {
        int is_count_argument = i == 1 || i == 2;
        clSetKernelArg(kernel, i, is_count_argument ? sizeof zero : sizeof(cl_mem),
                       is_count_argument ? (const void *)&zero : (const void *)&nothing);
    }
    for (int i = 0; i < 101; i++) {
        struct timespec t0, t1;
        clock_gettime(CLOCK_MONOTONIC, &t0);
        tact_cl_launch_kernel(cl, TACT_CL_SUM_KERNEL, 1);
        clFinish(cl->queue);
        clock_gettime(CLOCK_MONOTONIC, &t1);
        us[i] = 1e6 * (double)(t1.tv_sec - t0.tv_sec) + 1e-3 * (double)(t1.tv_nsec - t0.tv_nsec);
    }
    clReleaseMemObject(nothing);
    qsort(us, 101, sizeof us[0], compare_doubles);
    return us[50];
}

/* Adds to a device's verdict whether it computes pressure fields with the bits of the host. */
static void append_field_selftest_outcome(const struct tact_cl_device_request *device_request,
                                          struct tact_opencl_device *info)
{
    struct tact_cl_device_request request = *device_request;
    struct tact_field_program program;
    struct tact_error why = {0};
    const size_t used = strlen(info->verdict);
    request.precision = TACT_OPENCL_DOUBLE;
    int rc = tact_field_program_open(&request, &program, &why);
    if (!rc) {
        rc = tact_field_selftest(&program, &why);
        tact_field_program_close(&program);
    }
    snprintf(info->verdict + used, sizeof info->verdict - used, "; %s%s",
             rc ? "pressure fields would be computed on the host: " : "",
             rc ? why.text : program.cl.info.verdict);
}

int tact_opencl_list(struct tact_opencl_device *devices, size_t capacity, size_t *count, int probe,
                     struct tact_error *err)
{
    cl_device_id ids[MAX_LISTED_OPENCL_DEVICES];
    int rc = list_devices_safely(ids, MAX_LISTED_OPENCL_DEVICES, count, err);
    if (rc) {
        return rc;
    }
    if (*count == 0) {
        struct tact_cl_opened_device unused_device;
        return choose_opencl_device(&(struct tact_cl_device_request){0}, &unused_device, err);
    }
    for (size_t i = 0; i < *count && i < capacity; i++) {
        describe_opencl_device(ids[i], &devices[i]);
        if (!probe) {
            continue;
        }
        struct tact_cl_opened_device cl;
        struct tact_error why = {0};
        struct tact_cl_device_request device_request = {.index = i, .exact = 1};
        int rc = tact_cl_open(&device_request, &cl, &why);
        if (rc == 0 && (rc = tact_cl_selftest(&cl, &why)) == 0) {
            cl.info.launch_us = median_launch_us(&cl);
        }
        devices[i] = cl.info;
        devices[i].status = rc;
        if (rc < 0) {
            snprintf(devices[i].verdict, sizeof devices[i].verdict, "%s", why.text);
        } else {
            append_field_selftest_outcome(&device_request, &devices[i]);
        }
        tact_cl_close(&cl);
    }
    return 0;
}
