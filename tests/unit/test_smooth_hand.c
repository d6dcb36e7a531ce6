/*
 * A hand whose link touches the ground with a smooth surface: the motion against that of one
 * coordinate, to the second order of the tick by the term h/2 Jdot qdot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/pair/models_internal.h"
#include "support/world_scene.h"

#define G 9.81
#define FIRST_LINK_LENGTH                                                                          \
    0.03 /* length of the first link, from the base to the second hinge [m]                        \
          */
#define ARM_SLANT_ANGLE                                                                            \
    0.6 /* downward slope of the first link where the ellipsoid lies flat [rad] */
#define ELLIPSOID_ANGLE_AT_START 0.8 /* angle of the ellipsoid at the start, at rest [rad] */
#define ANGLE_STEP_OF_DERIVATIVES                                                                  \
    1e-4 /* difference of the ellipsoid's angle for numerical derivatives [rad] */

static const double size[3] = {0.03, 0.02, 0.015};

/* An arm of two hinges about y, above the ground: the first link is horizontal at 0, the second is
 * an ellipsoid about its hinge, with its mass at `offset` along its longest axis. */
struct arm {
    struct tact_link_def link[2];
    double height; /* of the base [m] */
};

/* The first joint value where the ellipsoid touches the ground at an angle: its centre is at hypot(
 * a sin, c cos). */
static double joint_angle_at_which_link_touches(const struct arm *arm, double angle)
{
    return asin((arm->height - hypot(size[0] * sin(angle), size[2] * cos(angle))) /
                FIRST_LINK_LENGTH);
}

static struct arm make_arm_of_two_ellipsoids(double offset)
{
    const struct tact_link_def link = {.parent = -1,
                                       .joint = TACT_JOINT_HINGE,
                                       .axis = {0.0, 1.0, 0.0},
                                       .origin = tact_pose_identity(),
                                       .mass = 0.05,
                                       .center = {0.5 * FIRST_LINK_LENGTH, 0.0, 0.0},
                                       .inertia = {2e-4, 1e-5, 2e-4, 0.0, 0.0, 0.0}};
    struct arm arm = {{link, link}, size[2] + FIRST_LINK_LENGTH * sin(ARM_SLANT_ANGLE)};
    arm.link[1].parent = 0;
    arm.link[1].origin.position[0] = FIRST_LINK_LENGTH;
    arm.link[1].mass = 0.1;
    arm.link[1].inertia[1] = 2e-4;
    tact_v3_set(arm.link[1].center, offset, 0.0, 0.0);
    arm.link[0].start = joint_angle_at_which_link_touches(&arm, ELLIPSOID_ANGLE_AT_START);
    arm.link[1].start = ELLIPSOID_ANGLE_AT_START - arm.link[0].start;
    return arm;
}

/* Position x and z of a link's centre of mass, and its angle, for an angle of the ellipsoid. */
static void find_link_position(const struct arm *arm, int link, double angle, double out[3])
{
    const double first = joint_angle_at_which_link_touches(arm, angle), *c = arm->link[link].center;
    out[2] = link ? angle : first;
    out[0] =
        cos(out[2]) * c[0] + sin(out[2]) * c[2] + (link ? FIRST_LINK_LENGTH * cos(first) : 0.0);
    out[1] =
        cos(out[2]) * c[2] - sin(out[2]) * c[0] - (link ? FIRST_LINK_LENGTH * sin(first) : 0.0);
}

/* Effective mass of the coordinate q, the ellipsoid's angle; *potential_energy: potential energy.
 */
static double effective_arm_mass(const struct arm *arm, double q, double *potential_energy)
{
    double mass = 0.0;
    *potential_energy = 0.0;
    for (int i = 0; i < 2; i++) {
        double low[3], high[3], now[3], rate[3];
        find_link_position(arm, i, q - ANGLE_STEP_OF_DERIVATIVES, low);
        find_link_position(arm, i, q + ANGLE_STEP_OF_DERIVATIVES, high);
        find_link_position(arm, i, q, now);
        for (int k = 0; k < 3; k++) {
            rate[k] = (high[k] - low[k]) / (2.0 * ANGLE_STEP_OF_DERIVATIVES);
        }
        mass += arm->link[i].mass * (rate[0] * rate[0] + rate[1] * rate[1]) +
                arm->link[i].inertia[1] * rate[2] * rate[2];
        *potential_energy += arm->link[i].mass * G * now[1];
    }
    return mass;
}

/* M q'' + M' q'^2 / 2 + V' = 0. */
static double exact_angular_acceleration(const struct arm *arm, double q, double rate)
{
    double v[3], low = effective_arm_mass(arm, q - ANGLE_STEP_OF_DERIVATIVES, &v[0]),
                 now = effective_arm_mass(arm, q, &v[1]),
                 high = effective_arm_mass(arm, q + ANGLE_STEP_OF_DERIVATIVES, &v[2]);
    double slope = (high - low) / (2.0 * ANGLE_STEP_OF_DERIVATIVES),
           force = (v[2] - v[0]) / (2.0 * ANGLE_STEP_OF_DERIVATIVES);
    return -(0.5 * slope * rate * rate + force) / now;
}

/* The exact joint values after a time, by the method of Runge and Kutta. */
static void integrate_exact_motion(const struct arm *arm, double time, double out[2])
{
    enum { STEPS = 600 };
    const double h = time / STEPS;
    double y[2] = {ELLIPSOID_ANGLE_AT_START, 0.0};
    for (int n = 0; n < STEPS; n++) {
        static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
        double k[2] = {0.0, 0.0}, sum[2] = {0.0, 0.0};
        for (int i = 0; i < 4; i++) {
            double q = y[0] + at[i] * h * k[0], v = y[1] + at[i] * h * k[1];
            k[0] = v;
            k[1] = exact_angular_acceleration(arm, q, v);
            sum[0] += weight[i] * k[0];
            sum[1] += weight[i] * k[1];
        }
        y[0] += h / 6.0 * sum[0];
        y[1] += h / 6.0 * sum[1];
    }
    out[0] = joint_angle_at_which_link_touches(arm, y[0]);
    out[1] = y[0] - out[0];
}

/* Largest error of the joint values after that time [rad]. */
static double largest_joint_value_error_after_motion(const struct arm *arm, double h, double time)
{
    const struct tact_owner tip = {TACT_OWNER_HAND, 0, 1};
    const struct tact_pose here = tact_pose_identity();
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_rigid_law(0.0);
    struct tact_pose base = here;
    struct world_scene s;
    struct tact_hand *hand;
    double exact[2], slope, rate;
    o.period = h;
    law.model = &tact_model_smooth;
    base.position[2] = arm->height;
    open_empty_scene(&s, &o);
    add_scene_ground(&s);
    assert_int_equal(tact_hand_create(arm->link, 2, &base, &hand), 0);
    assert_int_equal(tact_world_add_hand(s.world, hand, 0), 0);
    /* the shapes of a scene are freed with it */
    struct tact_shape *shape = &s.shapes[s.shape_count++];
    *shape = (struct tact_shape){.kind = TACT_SHAPE_ELLIPSOID};
    tact_v3_copy(shape->size, size);
    assert_int_equal(tact_shape_tessellate(shape), 0);
    assert_true(tact_world_add_shape(s.world, tip, shape, &here, 1) >= 0);
    set_scene_contact_law(&s, 0, 1, &law);
    struct tact_hand_state state = tact_hand_state(tact_world_hand(s.world, 0));
    slope = (joint_angle_at_which_link_touches(arm, ELLIPSOID_ANGLE_AT_START +
                                                        ANGLE_STEP_OF_DERIVATIVES) -
             joint_angle_at_which_link_touches(arm, ELLIPSOID_ANGLE_AT_START -
                                                        ANGLE_STEP_OF_DERIVATIVES)) /
            (2.0 * ANGLE_STEP_OF_DERIVATIVES);
    rate = -0.5 * h *
           exact_angular_acceleration(arm, ELLIPSOID_ANGLE_AT_START, 0.0); /* half a tick before */
    state.v[0] = slope * rate;
    state.v[1] = rate - state.v[0];
    finish_scene_building(&s);
    run_scene_for_seconds(&s, time);
    assert_int_equal(s.unsolved_ticks, 0);
    integrate_exact_motion(arm, time, exact);
    double off = fmax(fabs(state.q[0] - exact[0]), fabs(state.q[1] - exact[1]));
    close_scene(&s);
    return off;
}

/* With the mass in the hinge the mass matrix is constant, and all that changes with the joints is
 * the contact. With the mass beside it the hand has Coriolis torques. */
static void motion_of_a_touching_link_is_of_second_order(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        const struct arm arm = make_arm_of_two_ellipsoids(i ? 0.004 : 0.0);
        double off[3];
        for (int k = 0; k < 3; k++) {
            off[k] = largest_joint_value_error_after_motion(&arm, 2e-3 / (1 << k), 0.6);
        }
        printf("mass at %.0f mm: joints off by %.2e, %.2e, %.2e rad after 0.6 s at 2, 1, 0.5 ms\n",
               1e3 * arm.link[1].center[0], off[0], off[1], off[2]);
        assert_true(off[0] < 1e-4);
        for (int k = 1; k < 3; k++) {
            assert_true(off[k] < 0.35 * off[k - 1]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motion_of_a_touching_link_is_of_second_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
