/* One overlap measured: by the function that the host has, and through a moment source. */
#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "kernels/source.h"
#include "rt/clock.h"

#define FIRST_PAIRS 65536   /* room for triangle pairs, doubled until it is enough */
#define MOST_PAIRS 16777216 /* 16 million: more than a gigabyte of candidates is a mistake */
#define WAIT_NS 30000000000 /* for one frame: a large mesh on a slow device */

static int unmeasured(int rc, struct tact_error *err)
{
    if (rc == -ENOTSUP) {
        return tact_error_set(err, rc, "two half-spaces have no finite overlap");
    }
    if (rc == -ENOSPC) {
        return tact_error_set(err, rc, "the meshes have too many triangles near the overlap");
    }
    return tact_error_set(err, rc, "the overlap cannot be measured: %s", strerror(-rc));
}

int measure_exact(const struct tact_shape shape[2], const struct tact_pose pose[2],
                  struct measured *out, struct tact_error *err)
{
    int rc = -ENOSPC;
    snprintf(out->device, sizeof out->device, "host");
    for (size_t pairs = FIRST_PAIRS; rc == -ENOSPC && pairs <= MOST_PAIRS; pairs *= 2) {
        struct tact_moments_scratch *scratch = tact_moments_scratch_create(pairs);
        if (!scratch) {
            return tact_error_set(err, -ENOMEM, "out of memory");
        }
        for (int warm = 0; warm < 2; warm++) {
            int64_t began = tact_clock_now();
            rc = tact_moments_pair(&shape[0], &pose[0], &shape[1], &pose[1], NULL, scratch,
                                   &out->moments);
            out->time_us = (double)(tact_clock_now() - began) * 1e-3;
        }
        tact_moments_scratch_destroy(scratch);
    }
    out->status = rc > 0;
    return rc < 0 ? unmeasured(rc, err) : 0;
}

/* Hands over one frame and waits for its result. */
static int frame(struct tact_source *source, uint64_t tick, const struct tact_pose pose[2],
                 struct measured *out)
{
    const uint8_t active = 1;
    const double direction[3] = {0.0, 0.0, 0.0};
    struct tact_source_result result;
    int64_t began = tact_clock_now();
    source->ops->submit(source->self, tick, pose, &active, direction);
    int rc = source->ops->wait(source->self, tick, WAIT_NS);
    out->time_us = (double)(tact_clock_now() - began) * 1e-3;
    rc = rc ? rc : source->ops->latest(source->self, &result);
    if (rc) {
        return rc;
    }
    out->moments = result.pairs[0].moments;
    return result.pairs[0].status;
}

int measure_opencl(const struct tact_shape shape[2], const struct tact_pose pose[2],
                   struct measured *out, struct tact_error *err)
{
    const struct tact_source_pair pair = {0, 1};
    const struct tact_source_scene scene = {shape, 2, &pair, 1};
    struct tact_opencl_options options = tact_opencl_options_default();
    int rc = -ENOSPC;
    for (uint32_t pairs = FIRST_PAIRS; rc == -ENOSPC && pairs <= MOST_PAIRS; pairs *= 2) {
        struct tact_source source;
        options.capacity = pairs;
        rc = tact_opencl_source_create(&scene, &options, &source, err);
        if (rc) {
            return rc;
        }
        snprintf(out->device, sizeof out->device, "%s", source.name);
        for (uint64_t tick = 0; tick < 2; tick++) {
            rc = frame(&source, tick, pose, out);
        }
        source.ops->close(source.self);
    }
    out->status = rc > 0;
    return rc < 0 ? unmeasured(rc, err) : 0;
}
