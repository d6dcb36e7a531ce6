/* Grasps by pressure fields: a pencil that turns in the fingers, a cow between two of
 * them, chopsticks, a spoon, a mug. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../unit/support/quadrature.h"
#include "simulation.h"
#include "scenes.h"

#define G 9.81

/* The fingertips of pencil.yaml: radius [m], and slope of the pressure [Pa/m]. */
#define PENCIL_FINGERTIP_RADIUS 0.008
#define PENCIL_FINGERTIP_PRESSURE_SLOPE (4e5 / 0.008)

/* Sets the pressure of a tip that presses on a flat with a force [N]: on its disc, whose depth is
 * found by Newton's method. */
static void set_fingertip_pressure(double force, struct pressure_quadrature *q)
{
    enum { FINE = 24 };
    double depth = sqrt(force / (M_PI * PENCIL_FINGERTIP_RADIUS * PENCIL_FINGERTIP_PRESSURE_SLOPE)),
           height;
    for (int i = 0; i < 4; i++) {
        double now = 2.0 * M_PI * PENCIL_FINGERTIP_PRESSURE_SLOPE * depth * depth *
                     (PENCIL_FINGERTIP_RADIUS / 2.0 - depth / 3.0);
        depth += (force - now) / (2.0 * M_PI * PENCIL_FINGERTIP_PRESSURE_SLOPE * depth *
                                  (PENCIL_FINGERTIP_RADIUS - depth));
    }
    height = PENCIL_FINGERTIP_RADIUS - depth;
    const double radius = sqrt(PENCIL_FINGERTIP_RADIUS * PENCIL_FINGERTIP_RADIUS - height * height);
    q->count = 0;
    for (int i = 0; i < FINE * FINE; i++) {
        double x = radius * (2.0 * (i % FINE + 0.5) / FINE - 1.0);
        double y = radius * (2.0 * (i / FINE + 0.5) / FINE - 1.0);
        double load = PENCIL_FINGERTIP_RADIUS - sqrt(x * x + y * y + height * height);
        if (load > 0.0) {
            q->x[q->count] = x;
            q->y[q->count] = y;
            q->load[q->count++] = load;
        }
    }
    normalize_quadrature(q);
}

/* The pencil in the plane across its fingers: x, z, angle, and their rates. */
struct pencil_state {
    double x[3], v[3];
};

static struct pencil_state pencil_state_at(const struct simulation *p, double time)
{
    const struct body_state *b = simulation_body_at(p, "pencil", time);
    const double angle = -2.0 * atan2(b->quat_wxyz[2], b->quat_wxyz[0]); /* from x to z */
    return (struct pencil_state){{b->position[0], b->position[2], angle},
                                 {b->twist[0], b->twist[2], -b->twist[4]}};
}

/* Acceleration of the pencil: gravity, and Coulomb friction of the two fingertips at the origin. */
static void pencil_acceleration(const struct pencil_state *s, const struct pressure_quadrature *q,
                                double limit, double mass, double inertia, double out[3])
{
    const double v[2] = {s->v[0] + s->v[2] * s->x[1], s->v[1] - s->v[2] * s->x[0]};
    double f[3];
    compute_friction_and_power_by_quadrature(q, v, s->v[2], f);
    out[0] = -limit * f[0] / mass;
    out[1] = -limit * f[1] / mass - G;
    out[2] = -limit * (f[2] - s->x[0] * f[1] + s->x[1] * f[0]) / inertia;
}

/* Advances the pencil by a tick, in which the force of the fingertips is constant, by the midpoint
 * rule. */
static void integrate_pencil_step(struct pencil_state *s, double force, double tick, double mass,
                                  double inertia, struct pressure_quadrature *q)
{
    enum { STEPS = 50 };
    const double h = tick / STEPS, limit = 2.0 * 0.6 * force;
    set_fingertip_pressure(force, q);
    for (int n = 0; n < STEPS; n++) {
        struct pencil_state middle = *s;
        double a[3];
        for (int half = 1; half <= 2; half++) {
            pencil_acceleration(&middle, q, limit, mass, inertia, a);
            for (int i = 0; i < 3 && half == 1; i++) {
                middle.x[i] = s->x[i] + 0.5 * h * s->v[i];
                middle.v[i] = s->v[i] + 0.5 * h * a[i];
            }
        }
        for (int i = 0; i < 3; i++) {
            s->x[i] += h * middle.v[i];
            s->v[i] += h * a[i];
        }
    }
}

void check_pencil_scene(void)
{
    const double mass = 0.006, inertia = mass * (0.17 * 0.17 + 0.014 * 0.014) / 12.0;
    struct pressure_quadrature *q = malloc(sizeof *q);
    struct simulation p;
    struct pencil_state exact = {{0.0}, {0.0}}, is;
    int first = 0, last = 0;
    simulate_scene("pencil", 0.8, &p);
    for (int t = 0; t < p.ticks; t++) {
        is = pencil_state_at(&p, t * p.period);
        if (!first && is.v[2] < -1.0) {
            first = t;
            exact = is;
        } else if (first && is.v[2] < -1.0 && t == (last ? last : first) + 1) {
            integrate_pencil_step(&exact, 0.5 * p.force[t], p.period, mass, inertia, q);
            last = t;
        }
    }
    is = pencil_state_at(&p, last * p.period);
    const struct pencil_state half = pencil_state_at(&p, 0.6), end = pencil_state_at(&p, -1);
    const double degrees_per_radian = 180.0 / M_PI,
                 start = pencil_state_at(&p, first * p.period).x[2];
    print_message("    from %.3f s to %.3f s turns by %.3f deg, to %.3f, %.3f mm; exact %.3f deg, "
                  "%.3f, %.3f mm; in all by %.2f deg, and by %.1e deg from 0.6 s on\n",
                  first * p.period, last * p.period, degrees_per_radian * (start - is.x[2]),
                  1e3 * is.x[0], 1e3 * is.x[1], degrees_per_radian * (start - exact.x[2]),
                  1e3 * exact.x[0], 1e3 * exact.x[1], -degrees_per_radian * end.x[2],
                  degrees_per_radian * fabs(end.x[2] - half.x[2]));
    assert_true(last > first + 100);
    assert_true(fabs((start - is.x[2]) / (start - exact.x[2]) - 1.0) < 0.02);
    assert_true(hypot(is.x[0] - exact.x[0], is.x[1] - exact.x[1]) < 5e-4);
    assert_true(fabs(end.x[2] - half.x[2]) < 1e-6);
    simulation_free(&p);
    free(q);
}

/* Wrench of the fingers on the cow about its centre of mass, and the forces of the drives, in the
 * latest tick. */
struct cow_grasp {
    /* squeeze_force: force of each finger on the cow along the line across it [N] */
    double wrench[6], squeeze_force[2], drive[2];
};

static void sum_finger_wrench_on_cow(void *user, struct tact_session *session,
                                     const struct tact_session_status *status)
{
    static const char *const pairs[2] = {"cow/fingers.left", "cow/fingers.right"};
    struct cow_grasp *out = user;
    struct tact_world *world = tact_session_world(session);
    (void)status;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < 2; i++) {
        const struct tact_contact *c =
            tact_world_contact(world, tact_session_find_pair(session, pairs[i]));
        const struct tact_owner cow = tact_world_owner(world, c->a);
        const struct tact_owner finger = tact_world_owner(world, c->b);
        const struct tact_pose *link =
            tact_hand_link_pose(tact_world_hand(world, finger.index), finger.link);
        double arm[3], moment[3];
        tact_v3_sub(arm, c->patch.center, tact_world_body(world, cow.index)->pose.position);
        tact_v3_cross(moment, arm, c->wrench);
        for (int k = 0; c->touching && k < 3; k++) {
            out->wrench[k] += c->wrench[k];
            out->wrench[3 + k] += c->wrench[3 + k] + moment[k];
        }
        out->squeeze_force[i] = fabs(c->wrench[1]);
        out->drive[i] = 2000.0 * (0.014 - (0.031 - fabs(link->position[1])));
    }
}

void check_cow_scene(void)
{
    struct cow_grasp grasp_forces;
    struct simulation p;
    simulate_scene_observed(
        "cow", 0.4, &(struct simulation_observer){sum_finger_wrench_on_cow, &grasp_forces}, &p);
    const double weight = 0.15 * G, *force = grasp_forces.wrench, *torque = grasp_forces.wrench + 3;
    const struct body_state *held = simulation_body_at(&p, "cow", 0.3);
    const struct body_state *end = simulation_body_at(&p, "cow", -1);
    double creep[3];
    tact_v3_sub(creep, end->position, held->position);
    print_message("    pressed by %.4f N and %.4f N, drives %.4f N and %.4f N; carried by %.6f, "
                  "%.6f, %.6f N, weight %.6f N; torque %.1e N m; creeps %.1e m in 0.1 s\n",
                  grasp_forces.squeeze_force[0], grasp_forces.squeeze_force[1],
                  grasp_forces.drive[0], grasp_forces.drive[1], force[0], force[1], force[2],
                  weight, tact_v3_norm(torque), tact_v3_norm(creep));
    for (int i = 0; i < 2; i++) {
        assert_true(fabs(grasp_forces.squeeze_force[i] / grasp_forces.drive[i] - 1.0) < 1e-3);
    }
    /* 23.685 N is the force of a pressure field with cells of 1.25 mm */
    assert_true(fabs(p.force[p.ticks - 1] / 23.685 - 1.0) < 0.01);
    assert_true(hypot(force[0], force[1]) < 1e-3 * weight);
    assert_true(fabs(force[2] / weight - 1.0) < 1e-3);
    assert_true(tact_v3_norm(creep) < 1e-6);
    simulation_free(&p);
}

/* Two links that hold a body: distances of its centre of mass from theirs along their y axes [m],
 * and their angles about the vertical [rad], in the latest tick. */
struct pinch_forces {
    const char *const pairs[2];
    double across[2], angle[2];
};

static void measure_pinch_forces(void *user, struct tact_session *session,
                                 const struct tact_session_status *status)
{
    struct pinch_forces *out = user;
    struct tact_world *world = tact_session_world(session);
    (void)status;
    for (int i = 0; i < 2; i++) {
        const struct tact_contact *c =
            tact_world_contact(world, tact_session_find_pair(session, out->pairs[i]));
        const struct tact_owner held = tact_world_owner(world, c->a);
        const struct tact_owner by = tact_world_owner(world, c->b);
        const struct tact_pose *link =
            tact_hand_link_pose(tact_world_hand(world, by.index), by.link);
        double way[3], at[3], m[9];
        tact_v3_sub(way, tact_world_body(world, held.index)->pose.position, link->position);
        tact_quat_to_m3(m, link->quat_wxyz);
        tact_m3_tmul_v3(at, m, way);
        out->across[i] = fabs(at[1]);
        out->angle[i] = 2.0 * fabs(link->quat_wxyz[3]);
    }
}

void check_chopsticks_scene(void)
{
    const double ball = 0.01, slope = 4e5 / 0.01, mass = 0.005;
    struct pinch_forces pinch_forces = {.pairs = {"ball/sticks.left", "ball/sticks.right"}};
    struct simulation p;
    simulate_scene_observed("chopsticks", 0.9,
                            &(struct simulation_observer){measure_pinch_forces, &pinch_forces}, &p);
    const double *held = simulation_body_at(&p, "ball", 0.8)->position;
    const double *end = simulation_body_at(&p, "ball", -1)->position;
    const double lifted_height = end[2] - simulation_body_at(&p, "ball", 0.2)->position[2];
    double exact = 0.0, drives = 0.0, creep[3];
    for (int i = 0; i < 2; i++) {
        double d = ball + 0.003 - pinch_forces.across[i];
        exact += 2.0 * M_PI * slope * d * d * (ball / 2.0 - d / 3.0);
        /* force of a drive: its torque divided by its lever arm */
        drives += 2.0 * (0.0334 - pinch_forces.angle[i]) / 0.15;
    }
    tact_v3_sub(creep, end, held);
    print_message(
        "    lifted by %.4f mm, of 30 less %.4f; pressed by %.5f N, by the depths %.5f N, "
        "by the drives %.5f N; creeps %.1e m in 0.1 s\n",
        1e3 * lifted_height, 1e3 * mass * G / 2000.0, p.force[p.ticks - 1], exact, drives,
        tact_v3_norm(creep));
    assert_true(fabs(lifted_height / (0.03 - mass * G / 2000.0) - 1.0) < 0.01);
    assert_true(fabs(p.force[p.ticks - 1] / exact - 1.0) < 1e-4);
    assert_true(fabs(p.force[p.ticks - 1] / drives - 1.0) < 0.005);
    assert_true(tact_v3_norm(creep) < 1e-7);
    simulation_free(&p);
}

void check_spoon_scene(void)
{
    const double slope = 2e5 / 0.008, wide = 0.008, length = 0.02, mass = 0.03,
                 degrees_per_radian = 180.0 / M_PI;
    struct pinch_forces pinch_forces = {.pairs = {"spoon/boxes.left", "spoon/boxes.right"}};
    struct simulation p;
    simulate_scene_observed("spoon", 0.9,
                            &(struct simulation_observer){measure_pinch_forces, &pinch_forces}, &p);
    const struct body_state *end = simulation_body_at(&p, "spoon", -1);
    const double turned = 2.0 * atan2(-end->quat_wxyz[2], end->quat_wxyz[0]);
    double exact = 0.0, drives = 0.0, level = 0.8;
    for (int i = 0; i < 2; i++) {
        double d = 0.008 + 0.002 - pinch_forces.across[i];
        /* near the ends of a box its sides are nearer than its face */
        exact += slope * wide * d * (length - d);
        drives += 2000.0 * (0.0026 - (0.0105 - pinch_forces.across[i]));
    }
    /* iterates the angle at which the compliant drive carries the weight */
    for (int i = 0; i < 4; i++) {
        level = 0.8 - mass * G * 0.02 * cos(level) / 20.0;
    }
    print_message("    pressed by %.5f N, by the depths %.5f N, by the drives %.5f N; turned by "
                  "%.4f deg, exact %.4f deg; moves at %.1e\n",
                  p.force[p.ticks - 1], exact, drives, degrees_per_radian * turned,
                  degrees_per_radian * level, largest_final_speed(&p));
    assert_true(fabs(p.force[p.ticks - 1] / exact - 1.0) < 1e-4);
    assert_true(fabs(p.force[p.ticks - 1] / drives - 1.0) < 1e-4);
    assert_true(fabs(turned - level) < 2e-4 && largest_final_speed(&p) < 1e-6);
    simulation_free(&p);
}

#define MUG_FINGERTIP_RADIUS 0.008 /* radius of the fingertips of mug_pads.yaml [m] */
#define MUG_WALL_RADIUS 0.022      /* outer radius of the mug's wall [m] */

/* Force [N] of a soft ball on a rigid cylinder across the line from its axis to the centre, at
 * `distance_from_axis` [m]: its pressure over the part of the wall in the ball. */
static double soft_ball_force_on_wall(double distance_from_axis)
{
    enum { STEPS = 400 };
    const double slope = 8e5 / 0.008,
                 /* slope of the pressure [Pa/m]; half of the angle of integration, which contains
                  * the patch [rad] */
        half_angle = 0.3;
    double sum = 0.0;
    for (int i = 0; i < STEPS; i++) {
        double angle = half_angle * (i + 0.5) / STEPS;
        double square = distance_from_axis * distance_from_axis +
                        MUG_WALL_RADIUS * MUG_WALL_RADIUS -
                        2.0 * distance_from_axis * MUG_WALL_RADIUS * cos(angle);
        for (int k = 0; k < STEPS; k++) {
            double z = MUG_FINGERTIP_RADIUS * (k + 0.5) / STEPS;
            sum += fmax(MUG_FINGERTIP_RADIUS - sqrt(square + z * z), 0.0) * cos(angle);
        }
    }
    return 4.0 * slope * sum * MUG_WALL_RADIUS * half_angle * MUG_FINGERTIP_RADIUS /
           (STEPS * (double)STEPS);
}

/* State of the fingers on the mug in the latest tick. */
struct mug_grasp {
    double force[3]; /* sum of the fingers' forces on the mug [N] */
    double squeeze_force[3],
        /* for each finger: force across the wall [N], and distance of its tip from the mug's axis
         * [m] */
        distance_from_axis[3];
};

static void measure_mug_grasp(void *user, struct tact_session *session,
                              const struct tact_session_status *status)
{
    static const char *const pairs[3] = {"mug/hand.thumb", "mug/hand.left", "mug/hand.right"};
    static const double tip[3] = {0.0, 0.0, -0.05};
    struct mug_grasp *out = user;
    struct tact_world *world = tact_session_world(session);
    (void)status;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < 3; i++) {
        const struct tact_contact *c =
            tact_world_contact(world, tact_session_find_pair(session, pairs[i]));
        const struct tact_owner by = tact_world_owner(world, c->b);
        const struct tact_pose *at = &tact_world_shape_poses(world)[c->a]; /* of its wall */
        double centre[3], way[3], m[9];
        tact_pose_point(centre, tact_hand_link_pose(tact_world_hand(world, by.index), by.link),
                        tip);
        tact_v3_sub(way, centre, at->position);
        tact_quat_to_m3(m, at->quat_wxyz);
        tact_m3_tmul_v3(centre, m, way);
        out->distance_from_axis[i] = hypot(centre[0], centre[1]);
        out->squeeze_force[i] = c->touching ? tact_v3_dot(c->wrench, c->patch.frame) : 0.0;
        for (int k = 0; k < 3 && c->touching; k++) {
            out->force[k] += c->wrench[k];
        }
    }
}

void check_mug_pads_scene(void)
{
    const double weight = 0.05 * G;
    struct mug_grasp grasp_forces;
    struct simulation p;
    simulate_scene_observed("mug_pads", 0.95,
                            &(struct simulation_observer){measure_mug_grasp, &grasp_forces}, &p);
    const struct body_state *held = simulation_body_at(&p, "mug", 0.9);
    const struct body_state *end = simulation_body_at(&p, "mug", -1);
    double creep[3];
    tact_v3_sub(creep, end->position, held->position);
    for (int i = 0; i < 3; i++) {
        const double exact = soft_ball_force_on_wall(grasp_forces.distance_from_axis[i]);
        print_message("    a finger presses by %.4f N, by its depth in the wall %.4f N\n",
                      grasp_forces.squeeze_force[i], exact);
        assert_true(fabs(grasp_forces.squeeze_force[i] / exact - 1.0) < 0.02);
    }
    print_message("    carry %.6f, %.6f, %.6f N of %.6f N; tilted by %.4f deg; creeps %.1e m\n",
                  grasp_forces.force[0], grasp_forces.force[1], grasp_forces.force[2], weight,
                  body_tilt_deg(end), tact_v3_norm(creep));
    assert_true(hypot(grasp_forces.force[0], grasp_forces.force[1]) < 1e-3 * weight);
    assert_true(fabs(grasp_forces.force[2] / weight - 1.0) < 1e-3);
    assert_true(fabs(body_tilt_deg(end) - 45.84) < 0.2);
    assert_true(tact_v3_norm(creep) < 1e-6);
    simulation_free(&p);
}
