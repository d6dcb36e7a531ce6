/*
 * Moments of all pairs of a scene at one tick ("frame"): the host lists candidate triangles, the
 * device integrates. Not installed.
 *
 * One batch for all pairs: three uploads, at most two item kernels, two summations, one read-back
 * of TACT_SUMS_PER_PAIR values per pair. Everything is allocated at creation.
 */
#ifndef TACT_KERNELS_BATCH_INTERNAL_H
#define TACT_KERNELS_BATCH_INTERNAL_H

#include <stdint.h>

#include "contact/error.h"
#include "contact/moments/moments.h"
#include "rt/source.h"

#define TACT_SUMS_PER_PAIR 17   /* values per item, per chunk and per pair: sums_t in moments.cl */
#define TACT_PAIR_VALUES 25     /* values uploaded per pair: values[] of struct tact_batch_pair */
#define TACT_ITEMS_PER_CHUNK 64 /* items summed by one work-item */

struct tact_cl_opened_device;

/* The input of one work-item; its layout is that of an OpenCL uint4. */
struct tact_work_item {
    uint32_t a, b; /* triangles, numbered over all meshes; b only for prism pairs */
    uint32_t pair; /* index into the scene's pairs */
    uint32_t padding;
};

struct tact_summation_range {
    uint32_t first, count;
};

/* A pair in the current frame. */
struct tact_batch_pair {
    enum tact_moments_method method;
    /* 1: the first shape of the kernel's method is shape b of the scene's pair */
    int swapped;
    int is_computed_on_host; /* 1: no kernel for these shapes (a ball): tact_moments_pair() on the
                                host */
    int32_t status;          /* result of the pair, as tact_moments_pair() returns it */
    const struct tact_shape *first, *second;
    uint32_t first_mesh_index,
        second_mesh_index; /* indices into tact_opencl_moments_batch.meshes */
    const struct tact_pose *pose_of_first_shape, *pose_of_second_shape;
    double axes[9];                  /* rows: axes of the pair's summation frame, in the world */
    double origin[3];                /* origin of the summation frame [m], in the world */
    double values[TACT_PAIR_VALUES]; /* 0-8: rotation from the first shape's frame to
                                    the summation frame, row by row; 9-11: origin in the first
                                    shape's frame [m]; 12-23: the same for the second shape; 24:
                                    distance up to which two faces count as coplanar [m] */
    struct tact_summation_range items;
    double estimated_host_time_ns; /* estimated time to measure this pair on the host [ns] */
};

struct tact_batch_mesh {
    const struct tact_mesh *mesh;
    uint32_t first_vertex_index, first_triangle_index;
};

/* Items of a frame, filled by the broad phase. */
struct tact_work_items {
    struct tact_work_item *items;
    uint32_t count, capacity;
    struct tact_moments_scratch *scratch;
};

struct tact_opencl_moments_batch;

/* Creates the buffers for a scene and `capacity` items, and launches every kernel once.
 * Returns 0, -ENOMEM, -EIO or -EINVAL (a shape without the triangulation it needs). */
int tact_batch_create(struct tact_cl_opened_device *cl, const struct tact_source_scene *scene,
                      uint32_t capacity, struct tact_opencl_moments_batch **out,
                      struct tact_error *err);
void tact_batch_destroy(struct tact_opencl_moments_batch *batch);

/* Moments of every active pair; out has one entry per pair. Returns 0, or -EIO with that status in
 * every entry if the driver failed. directions: last normal, 3 values per pair, zero if unknown. */
int tact_batch_run(struct tact_opencl_moments_batch *batch, const struct tact_pose *poses,
                   const uint8_t *active, const double *directions,
                   struct tact_source_moments *out);

/* Choose the summation frame of a pair and append its items; set status to 1 (may overlap),
 * 0 (no overlap) or -ENOSPC (items are full). In collect.c. */
void tact_collect_prism_items(struct tact_batch_pair *c, const struct tact_batch_mesh *meshes,
                              const double direction[3], uint32_t pair, struct tact_work_items *to);
void tact_collect_plane_items(struct tact_batch_pair *c, const struct tact_batch_mesh *meshes,
                              uint32_t pair, struct tact_work_items *to);

/* Converts sums in the pair's frame (overwritten) to moments in the world. Returns 1, or 0 if the
 * volume does not exceed the rounding error of its terms. In finish.c. */
int tact_batch_pair_finish(const struct tact_batch_pair *c, double *sums, struct tact_moments *out);

#endif
