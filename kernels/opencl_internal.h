/* An open OpenCL device with its queue and built kernels. Not installed. */
#ifndef TACT_KERNELS_OPENCL_INTERNAL_H
#define TACT_KERNELS_OPENCL_INTERNAL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "kernels/opencl.h"

enum tact_cl_kernel {
    TACT_CL_PRISM_PAIR_KERNEL,
    TACT_CL_PLANE_TRIANGLE_KERNEL,
    TACT_CL_ITEM_KERNEL_COUNT, /* number of kernels above, which have the same arguments */
    TACT_CL_SUM_KERNEL = TACT_CL_ITEM_KERNEL_COUNT,
    TACT_CL_KERNEL_COUNT,
};

struct tact_cl_opened_device {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernels[TACT_CL_KERNEL_COUNT];
    size_t group;          /* work-group size of every launch */
    size_t bytes_per_real; /* 8 or 4 */
    struct tact_opencl_device info;
};

struct tact_cl_device_request {
    const char *device; /* substring of a device's or platform's name; NULL: any */
    size_t index;       /* with device NULL and exact != 0: index in the list of devices */
    int exact;
    enum tact_opencl_precision precision;
    int fault; /* 1: build kernels with wrong results, to test the self-test */
};

/* Opens a device and builds the kernels. Returns 0, -ENODEV, -EIO or -ENOTSUP (no double); sets
 * err. */
int tact_cl_open(const struct tact_cl_device_request *request, struct tact_cl_opened_device *cl,
                 struct tact_error *err);
void tact_cl_close(struct tact_cl_opened_device *cl);

/* The two steps of tact_cl_open(), for other kernels than those of moments: opens a device, and
 * builds cl->program. On failure of the second the device remains open. */
int tact_cl_open_device(const struct tact_cl_device_request *request,
                        struct tact_cl_opened_device *cl, struct tact_error *err);
int tact_cl_build_program(struct tact_cl_opened_device *cl, const char *text, const char *options,
                          struct tact_error *err);

/* Enqueues `count` work-items, rounded up to whole groups. Returns the OpenCL code. */
cl_int tact_cl_launch_kernel(const struct tact_cl_opened_device *cl, enum tact_cl_kernel kernel,
                             size_t count);

/* Sets err from an OpenCL code and returns -EIO. */
int tact_cl_set_error(struct tact_error *err, cl_int code, const char *opencl_call_name);

/* Compares every kernel with the host's moments on fixed pairs. Returns 0, -EDOM (a wrong result),
 * or the error of setting the test up; sets status, verdict and error of cl->info. */
int tact_cl_selftest(struct tact_cl_opened_device *cl, struct tact_error *err);

#endif
