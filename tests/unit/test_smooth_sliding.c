/*
 * Bodies that slide and spin on their smooth surfaces: tippe tops against their equations of
 * motion, integrated by themselves, a ball on a slope, and impacts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/pair/models_internal.h"
#include "support/random.h"
#include "support/world_scene.h"

#define G 9.81
#define PI 3.14159265358979323846
#define MU 0.3
#define TIPPE_TOP_MASS 0.02
#define TIPPE_TOP_RADIUS 0.02
#define CENTRE_OF_MASS_OFFSET                                                                      \
    0.006 /* distance of the centre of mass below the ball's centre [m]                            \
           */
#define SLIP_OF_HALF_FRICTION                                                                      \
    1e-5 /* slip at which the regularised friction of the equations is half of its limit [m/s] */

/* A ball whose centre of mass is off its centre, with the friction of an ellipsoid limit surface of
 * that coefficient and torsion arm. Quaternion, w in body axes, centre of mass, its velocity. */
struct top {
    double friction, arm, y[13];
};

static const double inertia[3] = {
    131.0 / 350.0 * TIPPE_TOP_MASS * TIPPE_TOP_RADIUS * TIPPE_TOP_RADIUS,
    131.0 / 350.0 * TIPPE_TOP_MASS *TIPPE_TOP_RADIUS *TIPPE_TOP_RADIUS,
    0.4 * TIPPE_TOP_MASS *TIPPE_TOP_RADIUS *TIPPE_TOP_RADIUS};

/* Angular acceleration in body axes due to a torque: I^-1 of it. */
static void angular_acceleration(const double *turn, const double *torque,
                                 double *angular_acceleration_vector)
{
    double body[3];
    tact_m3_tmul_v3(body, turn, torque);
    for (int i = 0; i < 3; i++) {
        body[i] /= inertia[i];
    }
    tact_m3_mul_v3(angular_acceleration_vector, turn, body);
}

/* Force and torque about the contact of a unit normal force, at that slip and spin. */
static void friction_wrench(const struct top *top, const double *slip, double spin, double *force,
                            double *torque)
{
    const double mu = top->friction, arm = top->arm;
    double size = sqrt(slip[0] * slip[0] + slip[1] * slip[1] + arm * arm * spin * spin);
    size = sqrt(size * size + SLIP_OF_HALF_FRICTION * SLIP_OF_HALF_FRICTION);
    tact_v3_set(force, -mu * slip[0] / size, -mu * slip[1] / size, 1.0);
    tact_v3_set(torque, 0.0, 0.0, -mu * arm * arm * spin / size);
}

/* The normal force keeps the ball's centre at its height: n.(a + alpha x d + w x (w x d)) = 0 with
 * d from the centre of mass to that centre. */
static void tippe_top_state_derivative(const struct top *top, const double *y, double *rate)
{
    double turn[9], w[3], l[3], d[3], r[3], t[3], u[3], slip[3], force[3], torque[3];
    double free[3], per[3], local[3] = {0.0, 0.0, CENTRE_OF_MASS_OFFSET}, iw[3];
    tact_quat_to_m3(turn, y);
    tact_m3_mul_v3(w, turn, y + 4);
    tact_m3_mul_v3(d, turn, local);
    tact_v3_copy(r, d);
    r[2] -= TIPPE_TOP_RADIUS;
    tact_v3_cross(slip, w, r);
    tact_v3_add(slip, slip, y + 10);
    friction_wrench(top, slip, w[2], force, torque);
    for (int i = 0; i < 3; i++) {
        iw[i] = inertia[i] * y[4 + i];
    }
    tact_m3_mul_v3(l, turn, iw);
    tact_v3_cross(t, l, w);
    angular_acceleration(turn, t, free); /* without contact */
    tact_v3_cross(t, r, force);
    tact_v3_add(t, t, torque);
    angular_acceleration(
        turn, t,
        per); /* angular acceleration by a unit normal force with its friction and torsion */
    double normal_acceleration_without_force = -G,
           normal_acceleration_per_force = 1.0 / TIPPE_TOP_MASS;
    tact_v3_cross(t, free, d);
    normal_acceleration_without_force += t[2];
    tact_v3_cross(t, w, d);
    tact_v3_cross(u, w, t);
    normal_acceleration_without_force += u[2];
    tact_v3_cross(t, per, d);
    normal_acceleration_per_force += t[2];
    double n = -normal_acceleration_without_force / normal_acceleration_per_force;
    tact_v3_axpy(free, n, per);
    /* free is alpha in the world: in body axes w changes by the same, as w x w = 0. */
    tact_m3_tmul_v3(rate + 4, turn, free);
    const double half[4] = {0.0, 0.5 * y[4], 0.5 * y[5], 0.5 * y[6]};
    tact_quat_mul(rate, y, half);
    tact_v3_copy(rate + 7, y + 10);
    tact_v3_scale(rate + 10, force, n / TIPPE_TOP_MASS);
    rate[12] -= G;
}

static void integrate_tippe_top_step(struct top *top, double h)
{
    double k[4][13], at[13];
    tippe_top_state_derivative(top, top->y, k[0]);
    for (int s = 1; s < 4; s++) {
        for (int i = 0; i < 13; i++) {
            at[i] = top->y[i] + (s == 3 ? h : 0.5 * h) * k[s - 1][i];
        }
        tippe_top_state_derivative(top, at, k[s]);
    }
    for (int i = 0; i < 13; i++) {
        top->y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
    }
    tact_quat_normalize(top->y);
}

/* A top that spins at 155 rad/s about its tilted axis, or about the vertical. */
static struct top make_tippe_top(double tilt, int spins_about_vertical, double arm)
{
    struct top top = {.friction = MU, .arm = arm};
    const double turn[3] = {0.0, tilt, 0.0};
    tact_quat_from_rotvec(top.y, turn);
    double m[9], w[3] = {0.0, 0.0, 155.0};
    tact_quat_to_m3(m, top.y);
    tact_m3_tmul_v3(top.y + 4, m, w);
    if (!spins_about_vertical) {
        tact_v3_set(top.y + 4, 0.0, 0.0, 155.0);
    }
    double d[3]; /* from the centre of mass, which starts at rest, to the ball's centre */
    tact_v3_set(w, 0.0, 0.0, CENTRE_OF_MASS_OFFSET);
    tact_m3_mul_v3(d, m, w);
    tact_v3_set(top.y + 7, -d[0], -d[1], TIPPE_TOP_RADIUS - d[2]);
    return top;
}

static void start_tippe_top_in_world(struct world_scene *s, const struct top *top, double a,
                                     enum tact_spin_kind spin, double h)
{
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_rigid_law(top->friction);
    struct tact_body body = {.pose = tact_pose_identity()};
    struct tact_pose local = tact_pose_identity();
    const double packed_inertia[6] = {inertia[0], inertia[1], inertia[2], 0.0, 0.0, 0.0};
    const struct tact_shape ball = make_sphere(TIPPE_TOP_RADIUS);
    o.period = h;
    o.spin = spin;
    law.model = &tact_model_smooth;
    law.tip_radius = a; /* the patch is a disc of that radius, whatever the force */
    local.position[2] = CENTRE_OF_MASS_OFFSET;
    assert_int_equal(tact_body_set_mass(&body, TIPPE_TOP_MASS, packed_inertia), 0);
    memcpy(body.pose.quat_wxyz, top->y, 4 * sizeof *top->y);
    tact_v3_copy(body.pose.position, top->y + 7);
    tact_v3_copy(body.twist, top->y + 10);
    tact_quat_rotate(body.twist + 3, top->y, top->y + 4);
    open_empty_scene(s, &o);
    add_scene_ground(s);
    assert_int_equal(tact_world_add_body(s->world, &body), 0);
    add_scene_shape(s, 0, &ball, &local, 1);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
}

/* Cosine of the angle between the top's axis and the vertical. */
static double cosine_of_top_axis_to_vertical(const double *quat)
{
    const double z[3] = {0.0, 0.0, 1.0};
    double up[3];
    tact_quat_rotate(up, quat, z);
    return up[2];
}

/* Jellett's integral, -L.r with r from the centre of mass to the contact: kept by any force at the
 * contact. */
static double jellett_integral(const struct tact_body *body)
{
    const double d[3] = {0.0, 0.0, CENTRE_OF_MASS_OFFSET};
    double l[3], r[3];
    tact_body_momentum(body, l);
    tact_quat_rotate(r, body->pose.quat_wxyz, d);
    r[2] -= TIPPE_TOP_RADIUS;
    return -tact_v3_dot(l, r);
}

/* Time at which the axis is level [s], 0 if never. *time_of_negative_normal_force: time at which
 * the normal force first becomes negative, which the equations permit. */
static double exact_time_of_level_axis(struct top *top, double seconds,
                                       double *time_of_negative_normal_force)
{
    const double h = 2e-5;
    double last = 1.0, level = 0.0, rate[13];
    *time_of_negative_normal_force = 0.0;
    for (long i = 1; i <= lround(seconds / h); i++) {
        integrate_tippe_top_step(top, h);
        double now = cosine_of_top_axis_to_vertical(top->y);
        if (!(level > 0.0) && now < 0.0) {
            level = h * ((double)i - now / (now - last));
        }
        tippe_top_state_derivative(top, top->y, rate);
        if (!(*time_of_negative_normal_force > 0.0) && rate[12] < -G) {
            *time_of_negative_normal_force = h * (double)i;
        }
        last = now;
    }
    return level;
}

/* Time at which the axis of the top is level [s], 0 if never; its angle at the end [degrees], and
 * the largest change of Jellett's integral from `start`, relative to it. */
static double world_time_of_level_axis(struct world_scene *s, double seconds, double start,
                                       double *angle, double *kept)
{
    struct tact_body *body = tact_world_body(s->world, 0);
    double last = 1.0, level = 0.0;
    *kept = 0.0;
    for (long i = 1; i <= lround(seconds / s->options.period); i++) {
        step_scene(s);
        double now = cosine_of_top_axis_to_vertical(body->pose.quat_wxyz);
        if (!(level > 0.0) && now < 0.0) {
            level = s->options.period * ((double)i - now / (now - last));
        }
        last = now;
        *kept = fmax(*kept, fabs(jellett_integral(body) / start - 1.0));
    }
    *angle = acos(last) * 180.0 / PI;
    return level;
}

/* Speed of the point of the top at the contact [m/s]. */
static double slip_speed(const struct tact_body *body)
{
    const double d[3] = {0.0, 0.0, CENTRE_OF_MASS_OFFSET};
    double r[3], v[3];
    tact_quat_rotate(r, body->pose.quat_wxyz, d);
    r[2] -= TIPPE_TOP_RADIUS;
    tact_v3_cross(v, body->twist + 3, r);
    tact_v3_add(v, v, body->twist);
    return hypot(v[0], v[1]);
}

/* With friction at a point the top does not invert: after 0.04 s it rolls, at 2 degrees. Jellett's
 * integral is that before the first tick while the top slips too. */
static void tippe_top_with_point_contact_does_not_invert(void **state)
{
    (void)state;
    const struct top top = make_tippe_top(0.1, 0, 0.0);
    struct world_scene s;
    double angle, kept, kept_in_slip = 0.0, slips = 0.0;
    start_tippe_top_in_world(&s, &top, 0.0, TACT_SPIN_LIMIT_SURFACE, 1e-3);
    const struct tact_body *body = tact_world_body(s.world, 0);
    const double start = jellett_integral(body);
    for (int i = 1; i <= 100; i++) {
        step_scene(&s);
        slips = slip_speed(body) > 1e-3 ? 1e-3 * i : slips;
        kept_in_slip = fmax(kept_in_slip, fabs(jellett_integral(body) / start - 1.0));
    }
    double level = world_time_of_level_axis(&s, 1.9, start, &angle, &kept);
    printf("point: slips for %.3f s, level at %.3f s, %.2f degrees after 2 s, Jellett's integral "
           "kept to %.1e, in the first 0.1 s to %.1e\n",
           slips, level, angle, kept, kept_in_slip);
    assert_true(fabs(slips - 0.04) < 0.005 && !(level > 0.0));
    assert_true(fabs(angle - 2.0) < 0.2 && kept < 1e-9 && kept_in_slip < 1e-9);
    close_scene(&s);
}

/* Spun about the vertical with a large tilt, the top inverts with friction at a point: the
 * simulation follows the equations until the top lifts off, which those do not model. They have it
 * at 158.7 degrees after 1 s, the simulation at 164. */
static void tilted_tippe_top_with_point_contact_inverts(void **state)
{
    (void)state;
    const struct top top = make_tippe_top(0.5, 1, 0.0);
    struct top moved = top;
    double time_of_negative_normal_force,
        exact = exact_time_of_level_axis(&moved, 1.0, &time_of_negative_normal_force), angle, kept;
    const double end = acos(cosine_of_top_axis_to_vertical(moved.y)) * 180.0 / PI;
    printf("exact: level at %.4f s, %.2f degrees after 1 s\n", exact, end);
    assert_true(fabs(exact - 0.496) < 0.002 && time_of_negative_normal_force > 0.4 &&
                time_of_negative_normal_force < 0.6);
    assert_true(fabs(end - 158.7) < 0.5);
    for (int i = 0; i < 2; i++) {
        struct world_scene s;
        start_tippe_top_in_world(&s, &top, 0.0, TACT_SPIN_LIMIT_SURFACE, 1e-3 / (1 << i));
        const double start = jellett_integral(tact_world_body(s.world, 0));
        assert_true(fabs(start / 7.161736e-6 - 1.0) < 1e-6);
        double level = world_time_of_level_axis(&s, 1.0, start, &angle, &kept);
        printf("point, h %.1f ms: level at %.4f s, exact %.4f, lifts at %.4f; after 1 s %.1f "
               "degrees; Jellett's integral kept to %.1e\n",
               1e3 * s.options.period, level, exact, time_of_negative_normal_force, angle, kept);
        assert_true(fabs(level / exact - 1.0) < 0.01 && fabs(angle - 164.0) < 1.0 && kept < 1e-5);
        close_scene(&s);
    }
}

/* Jellett's integral depends on no friction: it is kept with a third of that and with twice it,
 * with which the top inverts later and earlier. With twice it does so as the equations say; with a
 * third it lifts off before it is level, which they do not model. */
static void tippe_top_keeps_jellett_integral_whatever_the_friction(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct top top = make_tippe_top(0.5, 1, 0.0);
        struct world_scene s;
        double time_of_negative_normal_force, angle, kept;
        top.friction = i ? 0.6 : 0.1;
        struct top moved = top;
        const double exact = exact_time_of_level_axis(&moved, 1.5, &time_of_negative_normal_force);
        start_tippe_top_in_world(&s, &top, 0.0, TACT_SPIN_LIMIT_SURFACE, 1e-3);
        const double start = jellett_integral(tact_world_body(s.world, 0));
        assert_true(fabs(start / 7.161736e-6 - 1.0) < 1e-6);
        const double level = world_time_of_level_axis(&s, 2.0, start, &angle, &kept);
        printf("friction %.1f: level at %.4f s, exact %.4f, lifts at %.4f; after 2 s %.1f degrees; "
               "Jellett's integral kept to %.1e\n",
               top.friction, level, exact, time_of_negative_normal_force, angle, kept);
        assert_true(kept < 1e-5 && fabs(level / exact - 1.0) < 0.01);
        assert_true(fabs(exact - (i ? 0.2688 : 1.3894)) < 1e-3);
        close_scene(&s);
    }
}

/* With a patch, whose torsion and slip are coupled, the tippe top inverts: by the law of the
 * equations, an ellipsoid, within 5 % of the known times at 1 ms and 0.5 % at 0.1 ms. The axis
 * nutates by 12 degrees in 57 ms as it comes to the level, so that a small difference may cost it
 * one nutation. */
static void tippe_top_with_a_contact_patch_inverts(void **state)
{
    (void)state;
    static const double known[3] = {1.108, 0.976, 0.948};
    /* by the default limit surface at 1 ms and 0.1 ms, as METHOD.md states */
    static const double stated_times_of_level_axis[3][2] = {
        {1.073, 1.036}, {1.021, 0.981}, {0.987, 0.997}};
    for (int i = 0; i < 3; i++) {
        double a = 1e-4 * (i + 1), angle, kept;
        const struct top top = make_tippe_top(0.1, 0, 3.0 * PI / 16.0 * a);
        struct top moved = top;
        double time_of_negative_normal_force,
            exact = exact_time_of_level_axis(&moved, 1.5, &time_of_negative_normal_force);
        assert_true(fabs(exact / known[i] - 1.0) < 5e-3);
        for (int k = 0; k < 4; k++) {
            const int uses_limit_surface_spin_law = k / 2;
            const double h = k % 2 ? 1e-4 : 1e-3, bound = k % 2 ? 0.005 : 0.05;
            struct world_scene s;
            start_tippe_top_in_world(
                &s, &top, a,
                uses_limit_surface_spin_law ? TACT_SPIN_LIMIT_SURFACE : TACT_SPIN_HERTZ, h);
            const double start = jellett_integral(tact_world_body(s.world, 0));
            double level = world_time_of_level_axis(&s, 1.5, start, &angle, &kept);
            printf("a = %.1f mm, %s, h %.1f ms: level at %.4f s, the equations at %.4f\n", 1e3 * a,
                   uses_limit_surface_spin_law ? "Coulomb and Contensou" : "ellipsoid", 1e3 * h,
                   level, exact);
            assert_true(level > 0.0 &&
                        (uses_limit_surface_spin_law || fabs(level / exact - 1.0) < bound));
            assert_true(uses_limit_surface_spin_law || fabs(level / known[i] - 1.0) < bound);
            assert_true(!uses_limit_surface_spin_law ||
                        fabs(level / stated_times_of_level_axis[i][k % 2] - 1.0) < 0.03);
            close_scene(&s);
        }
    }
}

/* A ball on a slope of angle A rolls with 5/7 g sin A where the coefficient of friction is at least
 * (2/7) tan A; below, it slides with g (sin A - mu cos A) and turns at (5/2) mu g cos A / r. */
static void ball_on_a_slope_rolls_from_the_exact_friction_on(void **state)
{
    (void)state;
    for (int i = 0; i < 9; i++) {
        static const double tested_shares_of_rolling_friction_limit[3] = {0.5, 0.999, 1.001};
        const double angle = PI / 180.0 * (15.0 + 20.0 * (i / 3)), seconds = 0.3;
        const double friction =
            2.0 / 7.0 * tan(angle) * tested_shares_of_rolling_friction_limit[i % 3];
        const double place[3] = {0.0, 0.0, TIPPE_TOP_RADIUS};
        const double rolling_acceleration = 5.0 / 7.0 * G * sin(angle);
        const double exact[2] = {i % 3 == 2 ? rolling_acceleration
                                            : G * (sin(angle) - friction * cos(angle)),
                                 i % 3 == 2 ? rolling_acceleration / TIPPE_TOP_RADIUS
                                            : 2.5 * friction * G * cos(angle) / TIPPE_TOP_RADIUS};
        const struct tact_world_options o = options_with_tilted_gravity(angle);
        const struct tact_shape shape = make_sphere(TIPPE_TOP_RADIUS);
        struct tact_contact_law law = make_rigid_law(friction);
        struct world_scene s;
        law.model = &tact_model_smooth;
        open_empty_scene(&s, &o);
        add_scene_ground(&s);
        add_scene_solid(&s, &shape, TIPPE_TOP_MASS, place, 0.0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        run_scene_for_seconds(&s, seconds);
        const struct tact_body *ball = tact_world_body(s.world, 0);
        const double is[2] = {ball->twist[0] / seconds, ball->twist[4] / seconds};
        printf("%.0f degrees, friction %.3f of the limit: %.9f m/s^2 (%.9f), %.6f rad/s^2 (%.6f)\n",
               180.0 / PI * angle, tested_shares_of_rolling_friction_limit[i % 3], is[0], exact[0],
               is[1], exact[1]);
        assert_true(fabs(is[0] / exact[0] - 1.0) < 1e-8 && fabs(is[1] / exact[1] - 1.0) < 1e-8);
        close_scene(&s);
    }
}

/* Kinetic energy of both bodies. */
static double kinetic_energy(struct world_scene *s)
{
    return tact_body_energy(tact_world_body(s->world, 0)) +
           tact_body_energy(tact_world_body(s->world, 1));
}

/* Two ellipsoids thrown at each other without gravity: no impact gains energy, nor do they in the
 * end; they sink into each other by what they turn over in a tick, which is of the second order in
 * its period. Those that rebound little roll on each other after the impact. */
static void collisions_of_smooth_bodies_gain_no_energy(void **state)
{
    (void)state;
    double deepest[2] = {0.0}, gained = -1.0; /* deepest gap at 0.25 and 1 ms [m] */
    int hits = 0;
    const int pairs = campaign_trial_count(40, 2000);
    for (int i = 0; i < pairs; i++) {
        struct tact_world_options o = tact_world_options_default();
        struct tact_contact_law law = make_rigid_law(uniform(-0.5, 1.0));
        struct world_scene s;
        double apart[3], last;
        law.friction = fmax(law.friction, 0.0);
        law.restitution = fmax(uniform(-1.0, 1.0), 0.0);
        law.restitution *= i % 8 < 4 ? 0.03 : 1.0;
        law.model = &tact_model_smooth;
        o.period = i % 2 ? 1e-3 : 2.5e-4;
        tact_v3_set(o.gravity, 0.0, 0.0, 0.0);
        open_empty_scene(&s, &o);
        for (int k = 0; k < 2; k++) {
            const struct tact_shape shape = {
                .kind = TACT_SHAPE_ELLIPSOID,
                .size = {uniform(0.01, 0.03), uniform(0.01, 0.03), uniform(0.01, 0.03)}};
            const double place[3] = {k ? 0.07 : 0.0, uniform(-0.01, 0.01), uniform(-0.01, 0.01)};
            add_scene_solid(&s, &shape, uniform(0.05, 0.2), place, 0.0);
        }
        set_scene_contact_law(&s, 1, 1, &law);
        finish_scene_building(&s);
        for (int k = 0; k < 2; k++) {
            struct tact_body *body = tact_world_body(s.world, k);
            random_unit_quaternion(body->pose.quat_wxyz);
            tact_v3_set(body->twist, (k ? -1.0 : 1.0) * uniform(0.2, 1.0), 0.0, 0.0);
            tact_v3_set(body->twist + 3, uniform(-20.0, 20.0), uniform(-20.0, 20.0),
                        uniform(-20.0, 20.0));
        }
        tact_world_refresh(s.world);
        const double start = last = kinetic_energy(&s);
        int hit = 0, pressed = 0;
        for (int k = 0; k < (i % 2 ? 150 : 600); k++) {
            step_scene(&s);
            const struct tact_contact *c = tact_world_contact(s.world, 0);
            double now = kinetic_energy(&s);
            int does_tippe_top_push_plane = c->touching && c->impulse[0] > 0.0;
            gained =
                does_tippe_top_push_plane && !pressed ? fmax(gained, now / last - 1.0) : gained;
            deepest[i % 2] = c->touching ? fmin(deepest[i % 2], c->patch.gap[0]) : deepest[i % 2];
            pressed = does_tippe_top_push_plane;
            hit |= does_tippe_top_push_plane;
            last = now;
        }
        assert_true(last <= start * (1.0 + 1e-9));
        hits += hit;
        tact_v3_sub(apart, tact_world_body(s.world, 0)->pose.position,
                    tact_world_body(s.world, 1)->pose.position);
        assert_true(s.unsolved_ticks == 0 && isfinite(tact_v3_norm(apart)));
        close_scene(&s);
    }
    printf("%d collisions: an impact gains at most %.1e of the energy, deepest overlap %.1e m at "
           "0.25 ms, %.1e m at 1 ms\n",
           hits, gained, -deepest[0], -deepest[1]);
    assert_true(hits > pairs / 2 && gained < 1e-9);
    assert_true(deepest[0] > -2e-4 / 16.0 && deepest[1] > -2e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tippe_top_with_point_contact_does_not_invert),
        cmocka_unit_test(tilted_tippe_top_with_point_contact_inverts),
        cmocka_unit_test(tippe_top_keeps_jellett_integral_whatever_the_friction),
        cmocka_unit_test(tippe_top_with_a_contact_patch_inverts),
        cmocka_unit_test(ball_on_a_slope_rolls_from_the_exact_friction_on),
        cmocka_unit_test(collisions_of_smooth_bodies_gain_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
