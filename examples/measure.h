/* One overlap measured, by the host or by an OpenCL device. */
#ifndef TACT_EXAMPLES_MEASURE_H
#define TACT_EXAMPLES_MEASURE_H

#include "contact/error.h"
#include "contact/moments/moments.h"
#include "contact/compare/moments_rays.h"

struct measured_overlap {
    int status; /* 1 overlap, 0 none */
    struct tact_moments moments;
    double measuring_time_us; /* time of one measurement, after a first one [us] */
    char device[64];
    long pairs; /* number of triangle pairs near the overlap of two meshes, otherwise 0 */
    struct tact_rays_report rays; /* set by measure_overlap_by_rays() */
};

/* Measures the overlap of two shapes by the host's or the OpenCL device's function. Returns 0, or a
 * negative errno with *err filled. */
int measure_overlap_exactly(const struct tact_shape shape[2], const struct tact_pose pose[2],
                            struct measured_overlap *out, struct tact_error *err);
int measure_overlap_with_opencl(const struct tact_shape shape[2], const struct tact_pose pose[2],
                                struct measured_overlap *out, struct tact_error *err);

/* Two convex shapes through their duals; -EDOM where one is not convex. */
int measure_overlap_of_convex_shapes(const struct tact_shape shape[2],
                                     const struct tact_pose pose[2], struct measured_overlap *out,
                                     struct tact_error *err);
/* Measures by casting rays; a shape without a mesh is represented by its unchecked triangles. */
int measure_overlap_by_rays(const struct tact_shape shape[2], const struct tact_soup *const soup[2],
                            const struct tact_pose pose[2], int resolution,
                            struct measured_overlap *out, struct tact_error *err);

#endif
