/* Compares every kernel with the host's moments on fixed pairs: some drivers miscompile. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contact/elementary.h"
#include "contact/number.h"
#include "kernels/batch_internal.h"
#include "kernels/opencl_internal.h"

enum { BOX, PLATE, CAPSULE, WEDGE, GROUND, SHAPES };

/* Lengths of the tested shapes, as in a grip: millimetres to centimetres [m]. */
static const struct tact_source_pair pairs[] = {
    {CAPSULE, BOX}, {PLATE, CAPSULE}, {WEDGE, CAPSULE},  {WEDGE, BOX},
    {WEDGE, PLATE}, {WEDGE, GROUND},  {GROUND, CAPSULE}, {BOX, PLATE},
};
#define SELFTEST_PAIR_COUNT (sizeof pairs / sizeof pairs[0])
#define SELFTEST_FRAME_COUNT 6

static int make_selftest_shapes(struct tact_shape *s, struct tact_mesh **wedge_mesh,
                                struct tact_error *err)
{
    static const double corners[] = {
        -0.01, -0.01, -0.006, 0.013, -0.009, -0.006, 0.002,  0.014, -0.006,
        0.001, 0.002, 0.009,  0.008, 0.004,  0.007,  -0.004, 0.001, 0.002,
    };
    memset(s, 0, SHAPES * sizeof *s);
    s[BOX] = (struct tact_shape){.kind = TACT_SHAPE_BOX, .size = {0.01, 0.012, 0.008}};
    s[PLATE] = (struct tact_shape){.kind = TACT_SHAPE_BOX, .size = {0.05, 0.001, 0.015}};
    s[CAPSULE] = (struct tact_shape){.kind = TACT_SHAPE_CAPSULE, .size = {0.006, 0.01}};
    s[WEDGE] = (struct tact_shape){.kind = TACT_SHAPE_CONVEX};
    s[GROUND] = (struct tact_shape){.kind = TACT_SHAPE_HALFSPACE};
    int rc = tact_mesh_hull(corners, 6, wedge_mesh, err);
    s[WEDGE].mesh = *wedge_mesh;
    for (int i = 0; i < SHAPES && rc == 0; i++) {
        if (s[i].kind == TACT_SHAPE_BOX || s[i].kind == TACT_SHAPE_CAPSULE) {
            rc = tact_shape_tessellate(&s[i]);
        }
    }
    /* the capsule is tested as its mesh, as the host measures a capsule in closed form */
    s[CAPSULE].kind = TACT_SHAPE_CONVEX;
    return rc;
}

/* Poses of frame `k`: all shapes near one point, so that most pairs overlap, some deeply. */
static void set_selftest_poses(struct tact_pose *poses, int k)
{
    for (int i = 0; i < SHAPES; i++) {
        double phase = 1.3 * k + 0.7 * i;
        double turn[3] = {tact_sin(phase), tact_cos(1.7 * phase), tact_sin(2.3 * phase + 1.0)};
        tact_quat_from_rotvec(poses[i].quat_wxyz, turn);
        double reach = 0.0015 * (k + 1);
        tact_v3_set(poses[i].position, 0.4 + reach * tact_cos(2.1 * i),
                    -0.2 + reach * tact_sin(2.1 * i), 0.1 + reach * tact_cos(3.7 * i + k));
    }
}

static double find_max_difference(const double *a, const double *b, int n)
{
    double d = 0.0;
    for (int i = 0; i < n; i++) {
        d = fmax(d, fabs(a[i] - b[i]));
    }
    return d;
}

/* Largest relative error over the moments; lengths are relative to the overlap's size. */
static double compute_moments_error(const struct tact_moments *a, const struct tact_moments *b)
{
    double size = tact_cbrt(b->volume), area = size * size + tact_v3_norm(b->gradient);
    double second_moment_trace = b->second[0] + b->second[1] + b->second[2];
    double e = fabs(a->volume - b->volume) / b->volume;
    e = fmax(e, find_max_difference(a->centroid, b->centroid, 3) / size);
    e = fmax(e, find_max_difference(a->second, b->second, 6) / second_moment_trace);
    e = fmax(e, find_max_difference(a->gradient, b->gradient, 3) / area);
    return fmax(e, find_max_difference(a->gradient + 3, b->gradient + 3, 3) /
                       (area * sqrt(second_moment_trace / b->volume)));
}

static int compare_frame_moments(const struct tact_shape *shapes, const struct tact_pose *poses,
                                 const struct tact_source_moments *got,
                                 struct tact_moments_scratch *scratch, double *worst,
                                 int *overlapping_pair_count)
{
    for (size_t i = 0; i < SELFTEST_PAIR_COUNT; i++) {
        struct tact_moments expected;
        uint32_t a = pairs[i].a, b = pairs[i].b;
        int status = tact_moments_pair(&shapes[a], &poses[a], &shapes[b], &poses[b], NULL, scratch,
                                       &expected);
        if (status < 0 || got[i].status < 0) {
            return status < 0 ? status : got[i].status;
        }
        if (status != got[i].status) {
            *worst = 1.0;
        } else if (status == 1) {
            double e = compute_moments_error(&got[i].moments, &expected);
            *worst = e <= *worst ? *worst : e; /* NaN propagates */
            ++*overlapping_pair_count;
        }
    }
    return 0;
}

static int run_selftest_frames(struct tact_cl_opened_device *cl, const struct tact_shape *shapes,
                               double *worst, int *overlapping_pair_count, struct tact_error *err)
{
    const struct tact_source_scene scene = {shapes, SHAPES, pairs, SELFTEST_PAIR_COUNT};
    struct tact_opencl_moments_batch *batch = NULL;
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(16384);
    int rc = scratch ? tact_batch_create(cl, &scene, 16384, &batch, err)
                     : tact_error_set(err, -ENOMEM, "no memory");
    for (int k = 0; k < SELFTEST_FRAME_COUNT && rc == 0; k++) {
        struct tact_pose poses[SHAPES];
        struct tact_source_moments got[SELFTEST_PAIR_COUNT];
        uint8_t active[SELFTEST_PAIR_COUNT];
        double directions[3 * SELFTEST_PAIR_COUNT] = {0.0};
        memset(active, 1, sizeof active);
        set_selftest_poses(poses, k);
        rc = tact_batch_run(batch, poses, active, directions, got);
        if (rc == 0) {
            rc = compare_frame_moments(shapes, poses, got, scratch, worst, overlapping_pair_count);
        }
        if (rc < 0) {
            tact_error_set(err, rc,
                           "the self-test of the OpenCL device %s could not be run (error %d)",
                           cl->info.name, rc);
        }
    }
    tact_batch_destroy(batch);
    tact_moments_scratch_destroy(scratch);
    return rc;
}

int tact_cl_selftest(struct tact_cl_opened_device *cl, struct tact_error *err)
{
    struct tact_shape shapes[SHAPES];
    struct tact_mesh *wedge_mesh = NULL;
    double worst = 0.0, limit = cl->bytes_per_real == sizeof(double) ? 1e-9 : 1e-4;
    int overlapping_pair_count = 0;
    int rc = make_selftest_shapes(shapes, &wedge_mesh, err);
    if (rc == 0) {
        rc = run_selftest_frames(cl, shapes, &worst, &overlapping_pair_count, err);
    }
    for (int i = 0; i < SHAPES; i++) {
        tact_shape_release(&shapes[i]);
    }
    tact_mesh_free(wedge_mesh);
    if (rc == 0 && !(worst <= limit)) {
        rc = tact_error_set(err, -EDOM,
                            "the OpenCL device %s computes wrong moments: relative error %.1e "
                            "against the host, at most %.0e expected (its driver may compile "
                            "wrongly: with PoCL try POCL_WORK_GROUP_METHOD=loops)",
                            cl->info.name, worst, limit);
    }
    cl->info.status = rc;
    cl->info.error = worst;
    if (rc == 0) {
        tact_number_print(cl->info.verdict, sizeof cl->info.verdict,
                          "self-test passed, %d overlaps, largest relative error %.1e",
                          overlapping_pair_count, worst);
    }
    return rc;
}
