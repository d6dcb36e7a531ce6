/* One overlap measured, by the host or by an OpenCL device. */
#ifndef TACT_EXAMPLES_MEASURE_H
#define TACT_EXAMPLES_MEASURE_H

#include "contact/error.h"
#include "contact/moments.h"

struct measured {
    int status; /* 1 overlap, 0 none */
    struct tact_moments moments;
    double time_us; /* of one measurement, everything being warm */
    char device[64];
};

/* 0, or a negative errno with *err filled. */
int measure_exact(const struct tact_shape shape[2], const struct tact_pose pose[2],
                  struct measured *out, struct tact_error *err);
int measure_opencl(const struct tact_shape shape[2], const struct tact_pose pose[2],
                   struct measured *out, struct tact_error *err);

#endif
