/* Time of moments queries: prints the least, median and 99.9th percentile over many poses, and
 * whether the median is within its bound. Cold: every query has a new pose, and only the normal of
 * the last is passed on. Frame to frame: bodies move at up to 20 mm/s and 1 rad/s through the same
 * poses, as from tick to tick. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contact/moments/moments.h"
#include "tests/unit/support/random.h"
#include "timing.h"

enum { QUERIES = 20001 };

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A pair of shapes and the box that the position of a against b is drawn from. */
struct scene {
    const char *name;
    struct tact_shape *a, *b;
    double at[3], spread[3];
    int query_count;
    /* number of queries that are timed together, like the contacts of one tick */
    int queries_per_tick;
    double allowed_median_query_time_us; /* upper bound of the median time [us]; 0: no bound */
    int do_bodies_move_each_frame; /* 1: the bodies move from frame to frame; 0: each query starts
                                      cold */
};

/* Pose of a at a tick: it moves back and forth within the same box. */
static void set_moving_pose_at_tick(const struct scene *s, const struct tact_pose *start, int tick,
                                    struct tact_pose *pa)
{
    double spin[3], q[4];
    for (int k = 0; k < 3; k++) {
        double rate = 2e-5 / s->spread[k] < 0.02 ? 2e-5 / s->spread[k] : 0.02;
        pa->position[k] = s->at[k] + s->spread[k] * sin(rate * tick + k);
        spin[k] = 0.02 * sin(0.03 * tick + k);
    }
    tact_quat_from_rotvec(q, spin);
    tact_quat_mul(pa->quat_wxyz, q, start->quat_wxyz);
}

static void print_query_time_of_scene(const struct scene *s, struct tact_moments_scratch *scratch)
{
    static double query_times[QUERIES];
    struct tact_pose pa = tact_pose_identity(), pb = pa;
    /* Round meshes touch at their equators, where triangles are regular; at the poles they form
     * fans. */
    if (s->b->kind == TACT_SHAPE_MESH) {
        tact_v3_set(pb.quat_wxyz + 1, sqrt(0.5), 0.0, 0.0);
        pb.quat_wxyz[0] = sqrt(0.5);
        pa = pb;
    }
    double warm_start_normals[5][3] = {{0}}, touching = 0.0;
    const struct tact_pose start_pose_a = pa;
    for (int i = 0; i < s->query_count; i++) {
        query_times[i] = 0.0;
        for (int contact = 0; contact < s->queries_per_tick; contact++) {
            struct tact_moments m;
            double *normal = warm_start_normals[contact];
            if (s->do_bodies_move_each_frame) {
                set_moving_pose_at_tick(s, &start_pose_a, i + 100000 * contact, &pa);
            } else {
                for (int k = 0; k < 3; k++) {
                    pa.position[k] = s->at[k] + uniform(-1.0, 1.0) * s->spread[k];
                }
            }
            double start = now_seconds();
            int rc = tact_moments_pair(s->a, &pa, s->b, &pb, normal, scratch, &m);
            query_times[i] += now_seconds() - start;
            if (rc == 1) {
                touching += 1.0 / s->queries_per_tick;
                tact_v3_scale(normal, m.gradient, -1.0 / tact_v3_norm(m.gradient));
            }
        }
    }
    qsort(query_times, (size_t)s->query_count, sizeof *query_times, compare_durations_ascending);
    double median_query_time_us = 1e6 * query_times[s->query_count / 2];
    printf("%-34s least %9.2f us  median %9.2f us  p99.9 %9.2f us  (%.0f %% touching)", s->name,
           1e6 * query_times[0], median_query_time_us,
           1e6 * query_times[s->query_count * 999 / 1000], 100.0 * touching / s->query_count);
    if (s->allowed_median_query_time_us > 0.0) {
        printf("  bar %g us: %s", s->allowed_median_query_time_us,
               median_query_time_us <= s->allowed_median_query_time_us ? "ok" : "short");
    }
    printf("\n");
}

static struct tact_shape make_ball_mesh_shape(double radius, size_t triangles)
{
    struct tact_shape s = {.kind = TACT_SHAPE_MESH};
    if (tact_mesh_capsule(radius, 0.0, triangles, &s.owned)) {
        exit(1);
    }
    s.mesh = s.owned;
    return s;
}

static void print_query_times_of_primitives(struct tact_moments_scratch *scratch)
{
    struct tact_shape sphere = {.kind = TACT_SHAPE_SPHERE, .size = {0.008}};
    struct tact_shape ruler = {.kind = TACT_SHAPE_BOX, .size = {0.15, 0.001, 0.015}};
    struct tact_shape finger = {.kind = TACT_SHAPE_CAPSULE, .size = {0.008, 0.01}};
    struct tact_shape cube = {.kind = TACT_SHAPE_BOX, .size = {0.03, 0.03, 0.03}};
    struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};
    if (tact_shape_tessellate(&ruler) || tact_shape_tessellate(&finger) ||
        tact_shape_tessellate(&cube)) {
        exit(1);
    }
    const struct scene scenes[] = {
        {"sphere - ruler, face",
         &sphere,
         &ruler,
         {0, 0.00895, 0},
         {0.1, 4e-5, 0.01},
         20001,
         1,
         0,
         0},
        {"sphere - ruler, edges",
         &sphere,
         &ruler,
         {0, 0.0085, 0.015},
         {0.15, 4e-4, 0.002},
         20001,
         1,
         0,
         0},
        {"sphere - half-space",
         &sphere,
         &ground,
         {0, 0, 0.0079},
         {1e-3, 1e-3, 1e-4},
         20001,
         1,
         0,
         0},
        {"capsule - ruler, face",
         &finger,
         &ruler,
         {0, 0.0088, 0},
         {0.1, 1e-4, 0.01},
         20001,
         1,
         10,
         0},
        {"box - box", &cube, &cube, {0, 0, 0.0599}, {0.01, 0.01, 1e-4}, 20001, 1, 1.5, 0},
        {"box - half-space", &cube, &ground, {0, 0, 0.0299}, {0.01, 0.01, 1e-4}, 20001, 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        print_query_time_of_scene(&scenes[i], scratch);
    }
    tact_shape_release(&ruler);
    tact_shape_release(&finger);
    tact_shape_release(&cube);
}

static struct tact_shape ball, five, other, large, other_large;

static const struct scene mesh_scenes[] = {
    {"sphere - sphere mesh 5,000",
     &ball,
     &five,
     {0, 0, 0.0379},
     {1e-3, 1e-3, 1e-4},
     20001,
     1,
     0,
     0},
    {"mesh 5,000 - mesh 5,000, 0.2 mm",
     &five,
     &other,
     {0, 0, 0.0698},
     {2e-3, 2e-3, 5e-5},
     5001,
     1,
     0,
     0},
    {"the same, frame to frame", &five, &other, {0, 0, 0.0698}, {2e-3, 2e-3, 5e-5}, 5001, 1, 10, 1},
    {"the same, five in a tick", &five, &other, {0, 0, 0.0698}, {2e-3, 2e-3, 5e-5}, 1001, 5, 60, 1},
    {"mesh 5,000 - mesh 5,000, 2 mm",
     &five,
     &other,
     {0, 0, 0.068},
     {2e-3, 2e-3, 5e-4},
     2001,
     1,
     0,
     0},
    {"mesh 100k - mesh 100k, 1 mm",
     &large,
     &other_large,
     {0, 0, 0.199},
     {2e-3, 2e-3, 1e-4},
     501,
     1,
     200,
     0},
    {"the same, frame to frame",
     &large,
     &other_large,
     {0, 0, 0.199},
     {2e-3, 2e-3, 1e-4},
     501,
     1,
     150,
     1},
    {"mesh 100k - mesh 100k, 80 mm",
     &large,
     &other_large,
     {0, 0, 0.12},
     {2e-3, 2e-3, 1e-4},
     11,
     1,
     5000,
     0},
};

static void print_query_times_of_meshes(struct tact_moments_scratch *scratch)
{
    ball = (struct tact_shape){.kind = TACT_SHAPE_SPHERE, .size = {0.008}};
    five = make_ball_mesh_shape(0.03, 5000);
    other = make_ball_mesh_shape(0.04, 5000);
    large = make_ball_mesh_shape(0.1, 100000);
    other_large = make_ball_mesh_shape(0.1, 100000);
    for (size_t i = 0; i < sizeof mesh_scenes / sizeof mesh_scenes[0]; i++) {
        print_query_time_of_scene(&mesh_scenes[i], scratch);
    }
    struct tact_shape *owned[] = {&five, &other, &large, &other_large};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) {
        tact_shape_release(owned[i]);
    }
}

int main(void)
{
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(1u << 20);
    if (!scratch) {
        return 1;
    }
    print_query_times_of_primitives(scratch);
    print_query_times_of_meshes(scratch);
    tact_moments_scratch_destroy(scratch);
    return 0;
}
