/* Mechanisms of bodies and joints against exact answers: pendulums, loops, welds, levers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/world/constraint.h"
#include "support/campaign.h"
#include "support/world_scene.h"

static const double pi = 3.14159265358979323846, g = 9.81;
static const struct tact_owner ground = {TACT_OWNER_FIXED, 7, 0};

static struct tact_owner body_owner(int index)
{
    return (struct tact_owner){TACT_OWNER_BODY, index, 0};
}

static struct tact_body *body_of(struct world_scene *s, int index)
{
    return tact_world_body(s->world, index);
}

/* A joint's frame: its z axis along y of the world, so that hinges turn in the x-z plane. */
static struct tact_pose hinge_frame(double x, double y, double z)
{
    struct tact_pose p = {{x, y, z}, {sqrt(0.5), -sqrt(0.5), 0.0, 0.0}};
    return p;
}

static struct tact_constraint *add_joint(struct world_scene *s, enum tact_constraint_kind kind,
                                         struct tact_owner a, struct tact_owner b,
                                         struct tact_pose frame)
{
    struct tact_constraint constraint;
    assert_int_equal(tact_constraint_between(s->world, kind, a, b, &frame, &constraint), 0);
    int index = tact_world_add_constraint(s->world, &constraint);
    assert_true(index >= 0);
    return tact_world_constraint(s->world, index);
}

/* A thin rod from (x, z) of length l, hanging at `angle` from straight down in the x-z plane. */
static int add_rod(struct world_scene *s, double x, double z, double l, double angle, double mass)
{
    struct tact_shape shape = box_of_sides(0.02, 0.02, l);
    const double at[3] = {x + 0.5 * l * sin(angle), 0.0, z - 0.5 * l * cos(angle)};
    int index = add_scene_solid(s, &shape, mass, at, 0.0);
    struct tact_body *body = body_of(s, index);
    tact_v3_copy(body->pose.position, at);
    const double turn[4] = {cos(0.5 * angle), 0.0, -sin(0.5 * angle), 0.0};
    memcpy(body->pose.quat_wxyz, turn, sizeof turn);
    tact_body_refresh(body);
    return index;
}

static double rod_inertia(double l, double mass)
{
    return mass * (l * l + 0.02 * 0.02) / 12.0 + mass * 0.25 * l * l;
}

/* Complete elliptic integral of the first kind of modulus k, by the arithmetic-geometric mean. */
static double elliptic_integral(double k)
{
    double a = 1.0, b = sqrt(1.0 - k * k);
    for (int i = 0; i < 30; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 0.5 * pi / a;
}

/* Energy at the start, least and most [J]; largest errors of mechanism joints, so far. */
struct joint_and_energy_errors {
    double start_energy, least_energy, most_energy, error_m, error_rad;
};

/* Makes a tick. The potential energy is the mean over it, as velocities are those between poses. */
static void step_and_track_energy(struct world_scene *s, struct joint_and_energy_errors *w)
{
    double mean_total_energy = 0.0, e[2];
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < tact_world_body_count(s->world); i++) {
            struct tact_body *b = body_of(s, i);
            mean_total_energy -= 0.5 * b->mass * tact_v3_dot(s->options.gravity, b->pose.position);
        }
        if (!half) {
            step_scene(s);
        }
    }
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        mean_total_energy += tact_body_energy(body_of(s, i));
    }
    if (s->ticks == 1) {
        w->start_energy = w->least_energy = w->most_energy = mean_total_energy;
    }
    w->least_energy = tact_min(w->least_energy, mean_total_energy);
    w->most_energy = tact_max(w->most_energy, mean_total_energy);
    for (int i = 0; i < tact_world_constraint_count(s->world); i++) {
        tact_world_constraint_error(s->world, i, e);
        w->error_m = tact_max(w->error_m, e[0]);
        w->error_rad = tact_max(w->error_rad, e[1]);
    }
}

/* Mean period between rises of body 0's x through 0, over at least `seconds`. */
static double measure_swing_period_of_first_body(struct world_scene *s, double pivot,
                                                 double seconds, struct joint_and_energy_errors *w)
{
    double first = -1.0, last = -1.0;
    int count = 0;
    memset(w, 0, sizeof *w);
    while ((double)s->ticks * s->options.period < seconds) {
        double before = body_of(s, 0)->pose.position[0] - pivot;
        step_and_track_energy(s, w);
        double after = body_of(s, 0)->pose.position[0] - pivot;
        if (before < 0.0 && after >= 0.0) {
            last = ((double)s->ticks - after / (after - before)) * s->options.period;
            first = count++ ? first : last;
        }
    }
    return (last - first) / (count - 1);
}

static void pendulum_period(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const double amplitude = (i + 1) * pi / 4.0, l = 0.4, mass = 0.3;
        struct world_scene s;
        struct joint_and_energy_errors w;
        open_empty_scene(&s, NULL);
        add_rod(&s, 0.1, 1.0, l, amplitude, mass);
        add_joint(&s, TACT_CONSTRAINT_HINGE, body_owner(0), ground, hinge_frame(0.1, 0.0, 1.0));
        finish_scene_building(&s);
        double period = measure_swing_period_of_first_body(&s, 0.1, 20.0, &w);
        double exact = 4.0 * sqrt(rod_inertia(l, mass) / (mass * g * 0.5 * l)) *
                       elliptic_integral(sin(0.5 * amplitude));
        printf(
            "pendulum of %3.0f degrees: period %.8f s, exact %.8f s (%.1e); energy within %.1e J "
            "of %.3f; hinge off by %.1e m, %.1e rad; %d sweeps\n",
            amplitude * 180.0 / pi, period, exact, period / exact - 1.0,
            tact_max(w.most_energy - w.start_energy, w.start_energy - w.least_energy), mass * g * l,
            w.error_m, w.error_rad, s.max_tick_iterations);
        assert_true(fabs(period / exact - 1.0) < 2e-5);
        assert_true(w.most_energy - w.least_energy < 4e-5 * mass * g * l);
        assert_true(w.error_m < 1e-14 && w.error_rad < 1e-14);
        assert_true(s.unsolved_ticks == 0);
        close_scene(&s);
    }
}

static void double_pendulum_keeps_energy(void **state)
{
    (void)state;
    const double l = 0.3;
    struct world_scene s;
    struct joint_and_energy_errors w;
    open_empty_scene(&s, NULL);
    add_rod(&s, 0.0, 1.0, l, 0.75 * pi, 0.2);
    double x = l * sin(0.75 * pi), z = 1.0 - l * cos(0.75 * pi);
    add_rod(&s, x, z, l, 0.5 * pi, 0.2);
    add_joint(&s, TACT_CONSTRAINT_HINGE, body_owner(0), ground, hinge_frame(0.0, 0.0, 1.0));
    add_joint(&s, TACT_CONSTRAINT_HINGE, body_owner(1), body_owner(0), hinge_frame(x, 0.0, z));
    finish_scene_building(&s);
    assert_int_equal(tact_world_next_pair(s.world, -1), -1);
    memset(&w, 0, sizeof w);
    double least_energy_before_last_second = 0.0;
    for (int i = 0; i < 30000; i++) {
        if (i == 29000) {
            least_energy_before_last_second = w.least_energy;
            w.least_energy = INFINITY;
        }
        step_and_track_energy(&s, &w);
    }
    double scale = 0.4 * g * l, late = (w.least_energy - w.start_energy) / scale;
    w.least_energy = tact_min(w.least_energy, least_energy_before_last_second);
    printf("double pendulum, 30 s: energy from %.1e to %.1e of %.3f J, in the last second from "
           "%.1e; joints off by %.1e m, %.1e rad; %d sweeps\n",
           (w.least_energy - w.start_energy) / scale, (w.most_energy - w.start_energy) / scale,
           scale, late, w.error_m, w.error_rad, s.max_tick_iterations);
    /* The energy error has one sign in the fast part of a swing, and vanishes in the slow part. */
    assert_true(w.most_energy - w.least_energy < 2e-3 * scale && fabs(late) < 1e-4);
    assert_true(w.error_m < 1e-13 && w.error_rad < 1e-13);
    assert_true(s.unsolved_ticks == 0);
    close_scene(&s);
}

/* A parallelogram swings as a pendulum, its coupler level; its four hinges are redundant. */
static void four_bar_swings_exactly(void **state)
{
    (void)state;
    const double l = 0.25, wide = 0.3, crank = 0.1, coupler = 0.5, amplitude = 1.2;
    struct world_scene s;
    struct joint_and_energy_errors w;
    open_empty_scene(&s, NULL);
    add_rod(&s, 0.0, 1.0, l, amplitude, crank);
    add_rod(&s, wide, 1.0, l, amplitude, crank);
    double x = l * sin(amplitude), z = 1.0 - l * cos(amplitude);
    const double middle[3] = {x + 0.5 * wide, 0.0, z};
    struct tact_shape bar = box_of_sides(wide, 0.02, 0.02);
    add_scene_solid(&s, &bar, coupler, middle, 0.0);
    add_joint(&s, TACT_CONSTRAINT_HINGE, body_owner(0), ground, hinge_frame(0.0, 0.0, 1.0));
    add_joint(&s, TACT_CONSTRAINT_HINGE, body_owner(1), ground, hinge_frame(wide, 0.0, 1.0));
    add_joint(&s, TACT_CONSTRAINT_HINGE, body_owner(2), body_owner(0), hinge_frame(x, 0.0, z));
    add_joint(&s, TACT_CONSTRAINT_HINGE, body_owner(2), body_owner(1),
              hinge_frame(x + wide, 0.0, z));
    finish_scene_building(&s);
    double period = measure_swing_period_of_first_body(&s, 0.0, 20.0, &w);
    double inertia = 2.0 * rod_inertia(l, crank) + coupler * l * l;
    double exact =
        4.0 * sqrt(inertia / ((crank + coupler) * g * l)) * elliptic_integral(sin(0.5 * amplitude));
    printf("four-bar, 20 s: period %.8f s, exact %.8f s (%.1e); loop open by %.1e m, %.1e rad; %d "
           "sweeps\n",
           period, exact, period / exact - 1.0, w.error_m, w.error_rad, s.max_tick_iterations);
    assert_true(fabs(period / exact - 1.0) < 2e-5);
    assert_true(w.error_m < 1e-12 && w.error_rad < 1e-12);
    assert_true(s.unsolved_ticks == 0);
    close_scene(&s);
}

/* A rod on a ball joint moves on a cone at w^2 = m g d / ((I1 - I3) cos theta). */
static void rod_on_ball_joint_precesses(void **state)
{
    (void)state;
    const double l = 0.4, angle = 0.7, mass = 0.3;
    struct world_scene s;
    open_empty_scene(&s, NULL);
    add_rod(&s, 0.0, 1.0, l, angle, mass);
    add_joint(&s, TACT_CONSTRAINT_BALL, body_owner(0), ground, hinge_frame(0.0, 0.0, 1.0));
    finish_scene_building(&s);
    double inertia_difference = rod_inertia(l, mass) - mass * 2.0 * 0.02 * 0.02 / 12.0;
    double rate = sqrt(mass * g * 0.5 * l / (inertia_difference * cos(angle)));
    struct tact_body *b = body_of(&s, 0);
    b->twist[1] = rate * 0.5 * l * sin(angle);
    b->twist[5] = rate;
    double most = 0.0, turned = 0.0, e[2], last = 0.0;
    for (int i = 0; i < 10000; i++) {
        step_scene(&s);
        double tilt = acos((1.0 - b->pose.position[2]) / (0.5 * l));
        most = tact_max(most, fabs(tilt - angle));
        double now = atan2(b->pose.position[1], b->pose.position[0]);
        turned += remainder(now - last, 2.0 * pi);
        last = now;
    }
    tact_world_constraint_error(s.world, 0, e);
    printf("cone: %.6f rad/s, exact %.6f; tilt within %.1e rad; ball off by %.1e m\n",
           turned / 10.0, rate, most, e[0]);
    assert_true(fabs(turned / 10.0 / rate - 1.0) < 1e-4 && most < 2e-3 && e[0] < 1e-14);
    close_scene(&s);
}

/* Two boxes joined by a fixed constraint tumble and land as one body with both shapes does. */
static void welded_boxes_move_as_one(void **state)
{
    (void)state;
    const double spin[3] = {3.0, -2.0, 5.0}, side = 0.1;
    struct world_scene s[2];
    struct tact_contact_law law = make_rigid_law(0.5);
    struct tact_shape box = box_of_sides(side, side, side),
                      pair = box_of_sides(2.0 * side, side, side);
    for (int i = 0; i < 2; i++) {
        open_empty_scene(&s[i], NULL);
        add_scene_ground(&s[i]);
        const double at[3] = {i ? -0.05 : 0.0, 0.0, 2.0}, next[3] = {0.05, 0.0, 2.0};
        add_scene_solid(&s[i], i ? &box : &pair, i ? 0.4 : 0.8, at, 0.0);
        if (i) {
            add_scene_solid(&s[i], &box, 0.4, next, 0.0);
            add_joint(&s[i], TACT_CONSTRAINT_FIXED, body_owner(0), body_owner(1),
                      hinge_frame(0.0, 0.02, 2.03));
        }
        for (int k = 0; k <= i; k++) {
            struct tact_body *b = body_of(&s[i], k);
            const double arm[3] = {i ? (k ? 0.05 : -0.05) : 0.0, 0.0, 0.0};
            tact_v3_cross(b->twist, spin, arm);
            tact_v3_copy(b->twist + 3, spin);
        }
        set_scene_contact_law(&s[i], 0, 1, &law);
        finish_scene_building(&s[i]);
        run_scene_for_seconds(&s[i], 0.5);
    }
    double middle[3], apart = 0.0, e[2];
    tact_v3_add(middle, body_of(&s[1], 0)->pose.position, body_of(&s[1], 1)->pose.position);
    tact_v3_scale(middle, middle, 0.5);
    tact_v3_sub(middle, middle, body_of(&s[0], 0)->pose.position);
    for (int i = 0; i < 4; i++) {
        apart = tact_max(apart, fabs(body_of(&s[0], 0)->pose.quat_wxyz[i] -
                                     body_of(&s[1], 0)->pose.quat_wxyz[i]));
    }
    printf("weld, 0.5 s of free flight: off the single body by %.1e m and %.1e\n",
           tact_v3_norm(middle), apart);
    assert_true(tact_v3_norm(middle) < 1e-12 && apart < 1e-4);
    run_scene_for_seconds(&s[1], 3.5);
    tact_world_constraint_error(s[1].world, 0, e);
    double rest = tact_v3_norm(body_of(&s[1], 0)->twist), weight = 0.0;
    for (int i = 0; i < 2; i++) {
        weight += tact_world_contact(s[1].world, i)->wrench[2];
    }
    printf(
        "after landing: at %.1e m/s, joint off by %.1e m, %.1e rad, on the ground %.9f N of %.9f\n",
        rest, e[0], e[1], fabs(weight), 0.8 * g);
    assert_true(rest < 1e-9 && e[0] < 1e-12 && e[1] < 1e-12);
    assert_true(fabs(fabs(weight) - 0.8 * g) < 1e-6);
    close_scene(&s[0]);
    close_scene(&s[1]);
}

/* A free chain with every kind of joint conserves its linear and angular momentum. */
static void free_chain_keeps_momenta(void **state)
{
    (void)state;
    struct tact_world_options o = tact_world_options_default();
    memset(o.gravity, 0, sizeof o.gravity);
    struct world_scene s;
    open_empty_scene(&s, &o);
    struct tact_shape box = box_of_sides(0.1, 0.06, 0.04);
    for (int i = 0; i < 5; i++) {
        const double at[3] = {0.12 * i, 0.0, 0.0};
        add_scene_solid(&s, &box, 0.1 + 0.2 * i, at, 0.1 * i);
        body_of(&s, i)->twist[1] = 0.3 * i * i;
        body_of(&s, i)->twist[3] = 2.0 - i;
        body_of(&s, i)->twist[5] = 1.0 + i;
    }
    for (int i = 0; i < 4; i++) {
        add_joint(&s, (enum tact_constraint_kind)i, body_owner(i), body_owner(i + 1),
                  hinge_frame(0.12 * i + 0.06, 0.01, 0.02));
    }
    finish_scene_building(&s);
    double sum[2][6] = {{0.0}}, e[2], worst = 0.0;
    for (int is_sum_at_end_of_run = 0; is_sum_at_end_of_run < 2; is_sum_at_end_of_run++) {
        for (int i = 0; i < 5; i++) {
            const struct tact_body *b = body_of(&s, i);
            double spin[3], orbit[3];
            tact_body_momentum(b, spin);
            tact_v3_cross(orbit, b->pose.position, b->twist);
            tact_v3_axpy(sum[is_sum_at_end_of_run], b->mass, b->twist);
            tact_v3_axpy(sum[is_sum_at_end_of_run] + 3, b->mass, orbit);
            tact_v3_add(sum[is_sum_at_end_of_run] + 3, sum[is_sum_at_end_of_run] + 3, spin);
        }
        if (!is_sum_at_end_of_run) {
            run_scene_for_seconds(&s, 5.0);
        }
    }
    for (int i = 0; i < 6; i++) {
        worst = tact_max(worst, fabs(sum[1][i] - sum[0][i]));
    }
    printf("free chain, 5 s: momenta kept within %.1e of %.2f and %.2f; %d sweeps, residual %.1e\n",
           worst, tact_v3_norm(sum[0]), tact_v3_norm(sum[0] + 3), s.max_tick_iterations,
           s.worst_residual);
    assert_true(worst < 1e-11);
    for (int i = 0; i < 4; i++) {
        tact_world_constraint_error(s.world, i, e);
        assert_true(e[0] < 1e-10 && e[1] < 1e-10);
    }
    close_scene(&s);
}

/* A lever on a hinge lies on a box that stands on the ground: moments about the hinge. */
static void lever_on_box_is_balanced(void **state)
{
    (void)state;
    const double l = 0.5, mass = 0.6, box_mass = 0.2;
    struct world_scene s;
    struct tact_contact_law law = make_rigid_law(0.6);
    open_empty_scene(&s, NULL);
    add_scene_ground(&s);
    struct tact_shape bar = box_of_sides(l, 0.04, 0.02), box = box_of_sides(0.06, 0.06, 0.1);
    const double at[3] = {0.5 * l, 0.0, 0.11 - 4e-5}, under[3] = {0.8 * l, 0.0, 0.05 - 2e-5};
    int lever = add_scene_solid(&s, &bar, mass, at, 0.0),
        block = add_scene_solid(&s, &box, box_mass, under, 0.0);
    struct tact_constraint *hinge = add_joint(&s, TACT_CONSTRAINT_HINGE, body_owner(lever), ground,
                                              hinge_frame(0.0, 0.0, 0.11 - 4e-5));
    set_scene_contact_law(&s, 1, 1, &law);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    hinge = tact_world_constraint(s.world, 0);
    run_scene_for_seconds(&s, 4.0);
    const struct tact_contact *box_contact = NULL, *ground_contact = NULL;
    for (int i = tact_world_next_pair(s.world, -1); i >= 0; i = tact_world_next_pair(s.world, i)) {
        const struct tact_contact *c = tact_world_contact(s.world, i);
        box_contact = c->a == 1 ? c : box_contact;
        ground_contact = c->b == 2 && c->a == 0 ? c : ground_contact;
    }
    assert_non_null(box_contact);
    assert_non_null(ground_contact);
    const double *f = box_contact->wrench;
    double arm[3], torque[3];
    tact_v3_sub(arm, box_contact->patch.center, hinge->point);
    tact_v3_cross(torque, arm, f);
    double hinge_moment = torque[1] + f[4],
           exact = mass * g * (body_of(&s, lever)->pose.position[0] - hinge->point[0]);
    double below = fabs(ground_contact->wrench[2]), shared = f[2] + box_mass * g;
    printf(
        "lever: moment of the box about the hinge %.9f N m, weight's %.9f; hinge bears %.9f N of "
        "%.9f; ground %.9f N of %.9f; residual %.1e\n",
        -hinge_moment, exact, hinge->wrench[2], mass * g - f[2], below, shared, s.stats.residual);
    assert_true(fabs(hinge_moment + exact) < 1e-8);
    assert_true(fabs(hinge->wrench[2] + f[2] - mass * g) < 1e-8);
    assert_true(fabs(hinge->wrench[0] + f[0]) < 1e-8);
    assert_true(fabs(below - shared) < 1e-8);
    assert_true(tact_v3_norm(body_of(&s, block)->twist) < 1e-9);
    close_scene(&s);
}

/* A slider along a slope with dry friction, then damping, then a stop. */
static void slider_motion_is_exact(void **state)
{
    (void)state;
    const double slope = 0.5, mass = 0.4, friction = 0.8, damping = 0.9, end = 0.3;
    for (int kind = 0; kind < 2; kind++) {
        struct world_scene s;
        struct tact_world_options o = options_with_tilted_gravity(slope);
        open_empty_scene(&s, &o);
        struct tact_shape box = box_of_sides(0.1, 0.1, 0.1);
        const double at[3] = {0.0, 0.0, 0.0};
        add_scene_solid(&s, &box, mass, at, 0.0);
        /* z along x */
        struct tact_pose frame = {{0.0, 0.0, 0.2}, {sqrt(0.5), 0.0, sqrt(0.5), 0.0}};
        struct tact_constraint *slider =
            add_joint(&s, TACT_CONSTRAINT_SLIDER, body_owner(0), ground, frame);
        slider->friction = kind ? 0.0 : friction;
        slider->damping = kind ? damping : 0.0;
        slider->lower = -0.1;
        slider->upper = end;
        finish_scene_building(&s);
        double t = 0.3, drive = g * sin(slope), h = o.period, exact;
        run_scene_for_seconds(&s, t);
        if (kind) {
            double decay_rate = damping / mass;
            exact = drive / decay_rate * (1.0 - exp(-decay_rate * t));
        } else {
            exact = (drive - friction / mass) * t;
        }
        double v = body_of(&s, 0)->twist[0];
        printf("slider with %s: %.6f m/s, exact %.6f\n", kind ? "damping" : "friction", v, exact);
        assert_true(fabs(v / exact - 1.0) < (kind ? h : 1e-12));
        run_scene_for_seconds(&s, 2.0);
        printf("    at its stop: %.9f m, %.1e m/s, pushed back by %.6f N\n",
               body_of(&s, 0)->pose.position[0], body_of(&s, 0)->twist[0], slider->wrench[0]);
        assert_true(fabs(body_of(&s, 0)->pose.position[0] - end) < 1e-9);
        assert_true(fabs(slider->wrench[0] + mass * drive) < 1e-6);
        assert_int_equal(slider->stop, 1);
        close_scene(&s);
    }
}

/* Dry friction of a hinge stops a wheel; a torque below it does not move the hinge. */
static void friction_locks_a_hinge(void **state)
{
    (void)state;
    const double mass = 0.5, torque = 0.02;
    struct world_scene s;
    open_empty_scene(&s, NULL);
    struct tact_shape wheel_shape = box_of_sides(0.2, 0.2, 0.02);
    const double at[3] = {0.0, 0.0, 0.0};
    add_scene_solid(&s, &wheel_shape, mass, at, 0.0);
    struct tact_pose up = tact_pose_identity();
    struct tact_constraint *hinge = add_joint(&s, TACT_CONSTRAINT_HINGE, body_owner(0), ground, up);
    hinge->friction = torque;
    finish_scene_building(&s);
    double inertia = mass * (0.04 + 0.04) / 12.0, start = 5.0;
    body_of(&s, 0)->twist[5] = start;
    run_scene_for_seconds(&s, 0.5);
    double exact = start - torque * 0.5 / inertia, w = body_of(&s, 0)->twist[5];
    printf("wheel after 0.5 s: %.12f rad/s, exact %.12f\n", w, exact);
    assert_true(fabs(w - exact) < 1e-9);
    run_scene_for_seconds(&s, 1.0);
    assert_true(body_of(&s, 0)->twist[5] == 0.0 || fabs(body_of(&s, 0)->twist[5]) < 1e-12);
    close_scene(&s);
}

static uint64_t seed;

static double rand_in(double lo, double hi)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

/* Random trees and loops of jointed boxes, thrown with velocities that violate the joints. */
static void make_thrown_random_mechanism(struct world_scene *s, double *energy)
{
    int bodies = 2 + (int)rand_in(0.0, 5.0), joints = bodies - 1 + (int)rand_in(0.0, 1.5);
    struct tact_contact_law law = make_rigid_law(rand_in(0.0, 1.0));
    open_empty_scene(s, NULL);
    add_scene_ground(s);
    *energy = 0.0;
    for (int i = 0; i < bodies; i++) {
        const double size[3] = {rand_in(0.03, 0.12), rand_in(0.03, 0.12), rand_in(0.03, 0.12)};
        struct tact_shape box = box_of_sides(size[0], size[1], size[2]);
        const double at[3] = {0.12 * i, rand_in(-0.02, 0.02), rand_in(0.2, 0.4)};
        double mass = exp(rand_in(-2.0, 2.0)), yaw = rand_in(0.0, 6.0);
        add_scene_solid(s, &box, mass, at, yaw);
        for (int k = 0; k < 6; k++) {
            body_of(s, i)->twist[k] = rand_in(-1.0, 1.0) * (k < 3 ? 1.0 : 5.0);
        }
        *energy += tact_body_energy(body_of(s, i)) + body_of(s, i)->mass * g * 0.5;
    }
    for (int i = 0; i < joints; i++) {
        int a = i < bodies - 1 ? i + 1 : (int)rand_in(0.0, bodies);
        struct tact_owner other = i < bodies - 1 ? body_owner((int)rand_in(0.0, i + 1)) : ground;
        struct tact_pose frame = {{0.12 * a - 0.06, rand_in(-0.02, 0.02), 0.3}, {0.0}};
        for (int k = 0; k < 4; k++) {
            frame.quat_wxyz[k] = rand_in(-1.0, 1.0);
        }
        enum tact_constraint_kind kind = (enum tact_constraint_kind)(int)rand_in(0.0, 4.0);
        struct tact_constraint *constraint = add_joint(s, kind, body_owner(a), other, frame);
        if (rand_in(0.0, 1.0) < 0.5) {
            constraint->lower = -0.3;
            constraint->upper = 0.4;
            constraint->friction = rand_in(0.0, 0.05);
            constraint->damping = rand_in(0.0, 0.01);
        }
    }
    set_scene_contact_law(s, 0, 1, &law);
    set_scene_contact_law(s, 1, 1, &law);
    finish_scene_building(s);
}

static void random_joints_stay_satisfied(void **state)
{
    (void)state;
    const int world_count = campaign_trial_count(40, 40), ticks = 500;
    long unsolved_ticks = 0;
    double worst[2] = {0.0, 0.0}; /* worst errors in solved ticks and in unsolved ones */
    for (int n = 0; n < world_count; n++) {
        struct world_scene s;
        double start, most = 0.0, e[2];
        seed = (77 + (uint64_t)n) ^ campaign_seed_offset();
        make_thrown_random_mechanism(&s, &start);
        for (int i = 0; i < ticks; i++) {
            long before = s.unsolved_ticks;
            step_scene(&s);
            double energy = compute_scene_energy(&s), *off = &worst[s.unsolved_ticks > before];
            assert_true(isfinite(energy));
            most = tact_max(most, energy);
            for (int k = 0; k < tact_world_constraint_count(s.world); k++) {
                tact_world_constraint_error(s.world, k, e);
                *off = tact_max(*off, e[0]);
            }
        }
        assert_true(most < 1.5 * start);
        unsolved_ticks += s.unsolved_ticks;
        close_scene(&s);
    }
    printf(
        "%d random mechanisms: %.1f %% of ticks unsolved; joints off by %.1e m at most, %.1e where "
        "unsolved\n",
        world_count, 100.0 * (double)unsolved_ticks / (world_count * ticks), worst[0], worst[1]);
    assert_true(unsolved_ticks < world_count * ticks / 20);
    assert_true(worst[0] < 3e-4 && worst[1] < 5e-4);
}

static void bad_constraints_refused(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_constraint constraint;
    struct tact_pose here = tact_pose_identity();
    struct tact_shape box = box_of_sides(0.1, 0.1, 0.1);
    const double at[3] = {0.0, 0.0, 0.0};
    open_empty_scene(&s, NULL);
    add_scene_solid(&s, &box, 1.0, at, 0.0);
    assert_true(tact_constraint_between(s.world, TACT_CONSTRAINT_BALL, ground, ground, &here,
                                        &constraint) < 0);
    assert_true(tact_constraint_between(s.world, TACT_CONSTRAINT_BALL, body_owner(0), body_owner(0),
                                        &here, &constraint) < 0);
    assert_true(tact_constraint_between(s.world, TACT_CONSTRAINT_BALL, body_owner(0), body_owner(1),
                                        &here, &constraint) < 0);
    assert_int_equal(tact_constraint_between(s.world, TACT_CONSTRAINT_HINGE, body_owner(0), ground,
                                             &here, &constraint),
                     0);
    constraint.friction = -1.0;
    assert_true(tact_world_add_constraint(s.world, &constraint) < 0);
    constraint.friction = 0.0;
    constraint.lower = -4.0;
    assert_true(tact_world_add_constraint(s.world, &constraint) < 0);
    constraint.lower = NAN;
    assert_true(tact_world_add_constraint(s.world, &constraint) < 0);
    constraint.lower = 0.0;
    assert_int_equal(tact_world_add_constraint(s.world, &constraint), 0);
    finish_scene_building(&s);
    assert_true(tact_world_add_constraint(s.world, &constraint) < 0);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_period),          cmocka_unit_test(double_pendulum_keeps_energy),
        cmocka_unit_test(four_bar_swings_exactly),  cmocka_unit_test(rod_on_ball_joint_precesses),
        cmocka_unit_test(welded_boxes_move_as_one), cmocka_unit_test(free_chain_keeps_momenta),
        cmocka_unit_test(lever_on_box_is_balanced), cmocka_unit_test(slider_motion_is_exact),
        cmocka_unit_test(friction_locks_a_hinge),   cmocka_unit_test(random_joints_stay_satisfied),
        cmocka_unit_test(bad_constraints_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
