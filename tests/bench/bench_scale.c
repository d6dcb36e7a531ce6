/* Many bodies in a world of tact, moments and all: what tests/bench/scale compares with a peer. */
#include "scale_scene.h"

#include "contact/world/world.h"

#define EXIT_ON_FAILURE(call)                                                                      \
    do {                                                                                           \
        if ((call) < 0) {                                                                          \
            fprintf(stderr, "bench_scale: %s fails\n", #call);                                     \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

struct bench {
    struct scaling_bench_options options;
    struct tact_world *world;
    struct tact_moments_scratch *scratch;
    struct tact_solve_stats stats;
};

static void add_bodies_of_scaling_bench(struct bench *b, const struct tact_shape *shape)
{
    const struct scaling_bench_options *o = &b->options;
    double mass = is_scaling_bench_scene_of_balls(o->which) ? SCALING_BENCH_BALL_MASS
                                                            : SCALING_BENCH_CUBE_MASS;
    double i =
        is_scaling_bench_scene_of_balls(o->which)
            ? 0.4 * SCALING_BENCH_BALL_MASS * SCALING_BENCH_BALL_RADIUS * SCALING_BENCH_BALL_RADIUS
            : SCALING_BENCH_CUBE_MASS * SCALING_BENCH_CUBE_EDGE * SCALING_BENCH_CUBE_EDGE / 6.0;
    const double inertia[6] = {i, i, i, 0.0, 0.0, 0.0};
    const struct tact_pose here = tact_pose_identity();
    for (int k = 0; k < o->bodies; k++) {
        struct tact_body body = {.pose = tact_pose_identity()};
        EXIT_ON_FAILURE(tact_body_set_mass(&body, mass, inertia));
        scaling_bench_body_position(o->which, k, o->bodies, body.pose.position);
        body.pose.position[2] -= is_scaling_bench_scene_of_balls(o->which) ? 0.0 : 2e-5;
        body.twist[0] =
            o->which == SCALING_BENCH_SEPARATE_BALLS ? SCALING_BENCH_SEPARATE_BALL_SPEED : 0.0;
        int index = tact_world_add_body(b->world, &body);
        EXIT_ON_FAILURE(index);
        EXIT_ON_FAILURE(tact_world_add_shape(
            b->world, (struct tact_owner){TACT_OWNER_BODY, index, 0}, shape, &here, 0));
    }
}

static void add_ground_of_scaling_bench(struct bench *b)
{
    const struct tact_owner fixed = {TACT_OWNER_FIXED, 0, 0};
    const struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    for (int k = 0; k < 4; k++) {
        struct tact_pose pose = tact_pose_identity();
        double turn[3] = {0.0, 0.0, 0.0};
        if (b->options.which == SCALING_BENCH_BALL_HEAP) {
            turn[k / 2] = k % 2 ? SCALING_BENCH_PIT_SLOPE : -SCALING_BENCH_PIT_SLOPE;
            tact_quat_from_rotvec(pose.quat_wxyz, turn);
        }
        if (k == 0 || b->options.which == SCALING_BENCH_BALL_HEAP) {
            EXIT_ON_FAILURE(tact_world_add_shape(b->world, fixed, &plane, &pose, 0));
        }
    }
}

static void make_world_of_scaling_bench(struct bench *b)
{
    struct tact_world_options options = tact_world_options_default();
    struct tact_shape shape = {.kind = TACT_SHAPE_BOX,
                               .size = {SCALING_BENCH_CUBE_EDGE / 2, SCALING_BENCH_CUBE_EDGE / 2,
                                        SCALING_BENCH_CUBE_EDGE / 2}};
    const struct tact_contact_law law = {.friction = SCALING_BENCH_FRICTION, .overlap = 2e-5};
    options.gravity[2] =
        b->options.which == SCALING_BENCH_SEPARATE_BALLS ? 0.0 : -SCALING_BENCH_GRAVITY;
    if (is_scaling_bench_scene_of_balls(b->options.which)) {
        shape = (struct tact_shape){.kind = TACT_SHAPE_SPHERE, .size = {SCALING_BENCH_BALL_RADIUS}};
    } else {
        EXIT_ON_FAILURE(tact_shape_tessellate(&shape));
    }
    EXIT_ON_FAILURE(tact_world_create(&options, &b->world));
    EXIT_ON_FAILURE(tact_world_set_law(b->world, 0, 0, &law));
    add_ground_of_scaling_bench(b);
    add_bodies_of_scaling_bench(b, &shape);
    EXIT_ON_FAILURE(tact_world_finish(b->world));
    b->scratch = tact_moments_scratch_create(4096);
    EXIT_ON_FAILURE(tact_world_start(b->world, b->scratch));
}

static void step_world_and_time(struct bench *b, int tick)
{
    for (int i = 0; i < b->options.bodies && b->options.which == SCALING_BENCH_PUSHED_CUBES; i++) {
        tact_world_body(b->world, i)->twist[0] +=
            scaling_bench_push_force(tick) * SCALING_BENCH_PERIOD / SCALING_BENCH_CUBE_MASS;
    }
    EXIT_ON_FAILURE(tact_world_step(b->world, b->scratch, &b->stats));
}

/* Largest displacement of a cube from its initial position [m]; 0 for balls. */
static double largest_body_displacement(const struct bench *b)
{
    double worst = 0.0;
    for (int i = 0; i < b->options.bodies && !is_scaling_bench_scene_of_balls(b->options.which);
         i++) {
        double at[3], d[3];
        scaling_bench_body_position(b->options.which, i, b->options.bodies, at);
        tact_v3_sub(d, tact_world_body(b->world, i)->pose.position, at);
        worst = fmax(worst, tact_v3_norm(d));
    }
    return worst;
}

int main(int argc, char **argv)
{
    struct bench b = {.options = parse_scaling_bench_arguments(argc, argv)};
    const struct scaling_bench_options *o = &b.options;
    double *tick_times = calloc((size_t)o->ticks, sizeof *tick_times), residual = 0.0,
           contacts = 0.0;
    double setup_start_us = scaling_bench_clock_us();
    if (!tick_times) {
        return 2;
    }
    make_world_of_scaling_bench(&b);
    double setup_seconds = 1e-6 * (scaling_bench_clock_us() - setup_start_us);
    for (int k = 0; k < o->skipped; k++) {
        step_world_and_time(&b, k);
    }
    for (int k = 0; k < o->ticks; k++) {
        double start = scaling_bench_clock_us();
        step_world_and_time(&b, o->skipped + k);
        tick_times[k] = scaling_bench_clock_us() - start;
        residual = fmax(residual, b.stats.residual);
        contacts += (double)b.stats.contacts / o->ticks;
    }
    print_scaling_result("tact", o, tick_times, setup_seconds, scaling_bench_resident_memory_mb(),
                         residual, contacts, largest_body_displacement(&b));
    tact_world_destroy(b.world);
    tact_moments_scratch_destroy(b.scratch);
    free(tick_times);
    return 0;
}
