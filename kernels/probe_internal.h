/** Whether asking the OpenCL drivers for their devices is survived. Not installed. */
#ifndef TACT_KERNELS_PROBE_INTERNAL_H
#define TACT_KERNELS_PROBE_INTERNAL_H

#include "contact/error.h"

/* Some drivers end the process where they cannot run, as PoCL 3.1 does where hwloc tells it of too
 * little memory. So the first look is a child's, once a process: look() is called there and may
 * do what it wants. 0, or -ENODEV with *err filled (may be NULL) where the child did not come back
 * from it. */
int tact_cl_probe(void (*look)(void), struct tact_error *err);

#endif
