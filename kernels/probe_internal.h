/* Tests in a child process that listing the OpenCL devices returns. Not installed. */
#ifndef TACT_KERNELS_PROBE_INTERNAL_H
#define TACT_KERNELS_PROBE_INTERNAL_H

#include "contact/error.h"

/* Some drivers terminate the process if they cannot run, as PoCL 3.1 does if hwloc reports too
 * little memory. So query() is first called in a child, once per process. Returns 0, or -ENODEV
 * with *err set (may be NULL) if the child did not return from it. */
int tact_cl_probe_driver(void (*query)(void), struct tact_error *err);

#endif
