/* Measures one overlap: by the host's function, and through a moment source. */
#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "contact/compare/moments_dual.h"
#include "kernels/source.h"
#include "rt/clock.h"

#define INITIAL_TRIANGLE_PAIR_CAPACITY                                                             \
    65536 /* initial capacity of triangle pairs, doubled until it is enough */
/* maximum capacity: 16 million triangle pairs take more than a gigabyte */
#define MAX_TRIANGLE_PAIR_CAPACITY 16777216
/* longest wait for one frame: a large mesh on a slow device */
#define OVERLAP_MEASURING_TIMEOUT_NS 30000000000

static int set_reason_overlap_is_unmeasured(int rc, struct tact_error *err)
{
    if (rc == -ENOTSUP) {
        return tact_error_set(err, rc, "two half-spaces have no finite overlap");
    }
    if (rc == -ENOSPC) {
        return tact_error_set(err, rc,
                              "more triangle pairs lie near the overlap of the meshes than can be "
                              "measured: use coarser meshes");
    }
    return tact_error_set(err, rc, "the overlap cannot be measured: %s", strerror(-rc));
}

/* Counts the triangle pairs near the overlap of two meshes. */
static long count_near_triangle_pairs(const struct tact_shape shape[2],
                                      const struct tact_pose pose[2],
                                      struct tact_moments_scratch *scratch)
{
    const struct tact_prism_pair *pairs;
    struct tact_prism_frame frame;
    const struct tact_mesh *a = shape[0].mesh, *b = shape[1].mesh;
    int swapped;
    if (tact_moments_method(&shape[0], &shape[1], &swapped) != TACT_MOMENTS_MESH_MESH ||
        !tact_prism_frame(a, &pose[0], b, &pose[1], NULL, &frame)) {
        return 0;
    }
    long count = tact_prism_pairs(a, &pose[0], b, &pose[1], &frame, scratch, &pairs);
    return count > 0 ? count : 0;
}

int measure_overlap_exactly(const struct tact_shape shape[2], const struct tact_pose pose[2],
                            struct measured_overlap *out, struct tact_error *err)
{
    int rc = -ENOSPC;
    snprintf(out->device, sizeof out->device, "host");
    for (size_t pairs = INITIAL_TRIANGLE_PAIR_CAPACITY;
         rc == -ENOSPC && pairs <= MAX_TRIANGLE_PAIR_CAPACITY; pairs *= 2) {
        struct tact_moments_scratch *scratch = tact_moments_scratch_create(pairs);
        if (!scratch) {
            return tact_error_set(err, -ENOMEM, "out of memory");
        }
        for (int warm = 0; warm < 2; warm++) {
            int64_t start_ns = tact_clock_now();
            rc = tact_moments_pair(&shape[0], &pose[0], &shape[1], &pose[1], NULL, scratch,
                                   &out->moments);
            out->measuring_time_us = (double)(tact_clock_now() - start_ns) * 1e-3;
        }
        out->pairs = rc == -ENOSPC ? 0 : count_near_triangle_pairs(shape, pose, scratch);
        tact_moments_scratch_destroy(scratch);
    }
    out->status = rc > 0;
    return rc < 0 ? set_reason_overlap_is_unmeasured(rc, err) : 0;
}

int measure_overlap_of_convex_shapes(const struct tact_shape shape[2],
                                     const struct tact_pose pose[2], struct measured_overlap *out,
                                     struct tact_error *err)
{
    snprintf(out->device, sizeof out->device, "host");
    for (int i = 0; i < 2; i++) {
        double ratio = 1.0;
        if (shape[i].kind == TACT_SHAPE_SPHERE) {
            return tact_error_set(
                err, -ENOTSUP,
                "--method convex is only for polyhedra and half-spaces: a sphere has no faces");
        }
        int concave = tact_shape_type(shape[i].kind)->concave;
        int rc = concave ? tact_mesh_convexity(shape[i].mesh, &ratio) : 0;
        if (rc || ratio < 1.0 - 1e-9) {
            return tact_error_set(err, -EDOM,
                                  "%s is not convex: it fills %.6g of its hull; use another "
                                  "--method",
                                  i ? "B" : "A", ratio);
        }
    }
    int64_t start_ns = tact_clock_now();
    int rc = tact_moments_dual(&shape[0], &pose[0], &shape[1], &pose[1], &out->moments);
    out->measuring_time_us = (double)(tact_clock_now() - start_ns) * 1e-3;
    out->status = rc > 0;
    return rc < 0 ? set_reason_overlap_is_unmeasured(rc, err) : 0;
}

int measure_overlap_by_rays(const struct tact_shape shape[2], const struct tact_soup *const soup[2],
                            const struct tact_pose pose[2], int resolution,
                            struct measured_overlap *out, struct tact_error *err)
{
    struct tact_rays_body body[2];
    snprintf(out->device, sizeof out->device, "host");
    for (int i = 0; i < 2; i++) {
        body[i] = tact_rays_body(&shape[i], &pose[i]);
        if (soup[i]->triangle_count) {
            body[i].vertices = soup[i]->vertices;
            body[i].triangles = soup[i]->triangles;
            body[i].triangle_count = soup[i]->triangle_count;
        }
    }
    int64_t start_ns = tact_clock_now();
    int rc = tact_moments_rays(&body[0], &body[1], resolution, &out->moments, &out->rays);
    out->measuring_time_us = (double)(tact_clock_now() - start_ns) * 1e-3;
    out->status = rc > 0;
    return rc < 0 ? set_reason_overlap_is_unmeasured(rc, err) : 0;
}

/* Submits one frame and waits for its result. */
static int measure_frame_by_source(struct tact_source *source, uint64_t tick,
                                   const struct tact_pose pose[2], struct measured_overlap *out)
{
    const uint8_t is_pair_requested = 1;
    const double direction[3] = {0.0, 0.0, 0.0};
    struct tact_source_result result;
    int64_t start_ns = tact_clock_now();
    source->ops->submit(source->self, tick, pose, &is_pair_requested, direction);
    int rc = source->ops->wait(source->self, tick, OVERLAP_MEASURING_TIMEOUT_NS);
    out->measuring_time_us = (double)(tact_clock_now() - start_ns) * 1e-3;
    rc = rc ? rc : source->ops->latest(source->self, &result);
    if (rc) {
        return rc;
    }
    out->moments = result.pairs[0].moments;
    return result.pairs[0].status;
}

int measure_overlap_with_opencl(const struct tact_shape shape[2], const struct tact_pose pose[2],
                                struct measured_overlap *out, struct tact_error *err)
{
    const struct tact_source_pair pair = {0, 1};
    const struct tact_source_scene scene = {shape, 2, &pair, 1};
    struct tact_opencl_options options = tact_opencl_options_default();
    int rc = -ENOSPC;
    for (uint32_t pairs = INITIAL_TRIANGLE_PAIR_CAPACITY;
         rc == -ENOSPC && pairs <= MAX_TRIANGLE_PAIR_CAPACITY; pairs *= 2) {
        struct tact_source source;
        options.capacity = pairs;
        rc = tact_opencl_source_create(&scene, &options, &source, err);
        if (rc) {
            return rc;
        }
        snprintf(out->device, sizeof out->device, "%s", source.name);
        for (uint64_t tick = 0; tick < 2; tick++) {
            rc = measure_frame_by_source(&source, tick, pose, out);
        }
        source.ops->close(source.self);
    }
    out->status = rc > 0;
    return rc < 0 ? set_reason_overlap_is_unmeasured(rc, err) : 0;
}
