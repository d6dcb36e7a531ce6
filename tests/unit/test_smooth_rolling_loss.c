/*
 * Soft smooth bodies whose rolling is resisted by hysteresis (Johnson, Contact Mechanics, 1985,
 * section 9.4): the law of one contact, and balls that roll out, against the exact answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/local/local_internal.h"
#include "contact/counts.h"
#include "contact/pair/models_internal.h"
#include "contact/world/world_internal.h"
#include "support/random.h"
#include "support/replays.h"
#include "support/world_scene.h"

#define G 9.81
#define PI 3.14159265358979323846
#define BALL_RADIUS 0.02
#define BALL_MASS 0.25
#define CONTACT_MODULUS 1e7
#define ROLLING_LOSS 0.2

static struct tact_contact_law make_rolling_loss_law(double loss_coefficient)
{
    struct tact_contact_law law = make_rigid_law(0.5);
    law.model = &tact_model_smooth;
    law.modulus = CONTACT_MODULUS;
    law.rolling_loss = loss_coefficient;
    return law;
}

/* Rolling torque over the normal force of Hertz's patch of a ball on a plane. */
static double exact_rolling_arm_of_ball(double force)
{
    return 3.0 / 16.0 * ROLLING_LOSS * cbrt(0.75 * force * BALL_RADIUS / CONTACT_MODULUS);
}

/* Work of the pressure ahead of the centre of Hertz's ellipse, per radian of rolling along the
 * direction, over the force: the mean of the distance ahead. By quadrature. */
static double pressure_moment_ahead_of_centre(const double semi[2], double direction)
{
    enum { RINGS = 200, ANGLES = 800 };
    double moment = 0.0, force = 0.0;
    for (int i = 0; i < RINGS; i++) { /* r = sin(t): the pressure cos(t) is smooth at the edge */
        double t = 0.5 * PI * (i + 0.5) / RINGS, weight = cos(t) * sin(t) * cos(t);
        for (int k = 0; k < ANGLES; k++) {
            double angle = 2.0 * PI * (k + 0.5) / ANGLES;
            double x = semi[0] * sin(t) * cos(angle), y = semi[1] * sin(t) * sin(angle);
            double distance_ahead_of_centre = x * cos(direction) + y * sin(direction);
            moment += distance_ahead_of_centre > 0.0 ? weight * distance_ahead_of_centre : 0.0;
            force += weight;
        }
    }
    return moment / force;
}

static void rolling_resistance_arms_follow_from_the_pressure(void **state)
{
    (void)state;
    struct tact_patch patch = {.rolling_loss = ROLLING_LOSS};
    double arm[2], n = 7.0;
    assert_int_equal(tact_patch_hertz(&patch, CONTACT_MODULUS, 10.0, 90.0), 0);
    double radius = tact_patch_elastic_radius(&patch, n);
    const double semi[2] = {radius * patch.stretch[0], radius * patch.stretch[1]};
    tact_patch_rolling_arms(&patch, n, arm);
    assert_true(semi[0] > 2.0 * semi[1]);
    for (int i = 0; i <= 6; i++) { /* a body that rolls in direction d turns about n x d */
        double direction = PI / 6.0 * i;
        double power = hypot(arm[0] * sin(direction), arm[1] * cos(direction));
        double exact = ROLLING_LOSS * pressure_moment_ahead_of_centre(semi, direction);
        assert_true(fabs(power / exact - 1.0) < 1e-4);
    }
    patch.rolling_loss = 0.0;
    tact_patch_rolling_arms(&patch, n, arm);
    assert_true(arm[0] == 0.0 && arm[1] == 0.0);
}

/* A contact of a random body that approaches or rolls. */
static struct tact_local_problem make_random_local_problem(void)
{
    struct tact_local_problem p = {.mu = 0.5, .spin_arm = 1e-3, .surface = TACT_SURFACE_HERTZ};
    double root[36];
    for (int i = 0; i < 36; i++) { /* contact Jacobian of a body of a few centimetres and 1 kg */
        root[i] = uniform(-1.0, 1.0) * (i / 6 < 3 ? 1.0 : 50.0);
    }
    for (int i = 0; i < 36; i++) {
        for (int k = 0; k < 6; k++) {
            p.s[i] += root[i / 6 * 6 + k] * root[i % 6 * 6 + k];
        }
    }
    for (int i = 0; i < 6; i++) {
        p.b[i] = uniform(-1.0, 1.0) * (i < 3 ? 0.1 : 5.0);
    }
    p.b[0] -= 0.05;
    p.rolling_arm[0] = pow(10.0, uniform(-6.0, -1.5));
    p.rolling_arm[1] = p.rolling_arm[0] * uniform(0.2, 5.0);
    tact_local_prepare(&p);
    return p;
}

/* Torques of random contacts: within their limit, and where they do not stop rolling, at it and
 * opposed to it in the sense of maximal dissipation; the rest of the impulse is the solution with
 * the torques given, so that these make no force. Of 1e5 contacts about one has no solution on the
 * branch that is followed from rest: its force jumps with the multiplier. It is counted. */
static void rolling_torques_dissipate_maximally(void **state)
{
    (void)state;
    int rolling_contact_count = 0, stuck_contact_count = 0, open_contact_count = 0,
        not_found_count = 0;
    for (int i = 0; i < 3000; i++) {
        struct tact_local_problem p = make_random_local_problem(), rest = p;
        double r[6] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0}, w[2], z[2], v[2];
        int by, limits = tact_local_cone_by(&p, r, &by);
        if (by == TACT_COUNT_ROLLING_NOT_FOUND) {
            assert_true(hypot(r[4] / p.rolling_arm[0], r[5] / p.rolling_arm[1]) <=
                        r[0] * (1.0 + 1e-12));
            not_found_count++;
            continue;
        }
        assert_true(tact_local_residual(&p, r) < 1e-9);
        for (int k = 0; k < 2; k++) {
            w[k] = p.b[4 + k];
            for (int m = 0; m < 6; m++) {
                w[k] += p.s[6 * (4 + k) + m] * r[m];
            }
            z[k] = r[4 + k] / p.rolling_arm[k];
            v[k] = w[k] * p.rolling_arm[k];
        }
        for (int k = 0; k < 6; k++) {
            rest.b[k] += p.s[6 * k + 4] * r[4] + p.s[6 * k + 5] * r[5];
        }
        rest.rolling_arm[0] = rest.rolling_arm[1] = 0.0;
        double impulse_without_torques[6] = {r[0], r[1], r[2], r[3], 0.0, 0.0}, off = 0.0;
        tact_local_cone(&rest, impulse_without_torques);
        for (int k = 0; k < 4; k++) {
            off = fmax(off, fabs(impulse_without_torques[k] - r[k]) / (k < 3 ? 1.0 : 1e-3));
        }
        double size = hypot(z[0], z[1]);
        assert_true(size <= r[0] * (1.0 + 1e-12));
        open_contact_count += limits == TACT_LIMIT_OPEN;
        if (limits & TACT_LIMIT_ROLLING) {
            rolling_contact_count++;
            assert_true(size > r[0] * (1.0 - 1e-9));
            double power = z[0] * v[0] + z[1] * v[1];
            assert_true(fabs(power / (size * hypot(v[0], v[1])) + 1.0) < 1e-6);
        } else if (!(limits & TACT_LIMIT_OPEN)) {
            stuck_contact_count++;
            assert_true(hypot(w[0], w[1]) < 1e-9);
        }
        if (!(limits & TACT_LIMIT_OPEN)) {
            assert_true(off < 1e-6 * r[0]);
        }
    }
    printf("%d roll, %d are held, %d open, %d were not found\n", rolling_contact_count,
           stuck_contact_count, open_contact_count, not_found_count);
    assert_true(not_found_count <= 2);
    assert_true(rolling_contact_count > 500 && stuck_contact_count > 100 &&
                open_contact_count > 100);
}

/* A ball that rolls, on a half-space with gravity tilted by the slope. */
static void open_rolling_ball(struct world_scene *s, double h, double slope, double speed,
                              const struct tact_contact_law *law)
{
    struct tact_world_options o = options_with_tilted_gravity(slope);
    const struct tact_shape ball = make_sphere(BALL_RADIUS);
    const double place[3] = {0.0, 0.0, BALL_RADIUS};
    o.period = h;
    open_empty_scene(s, &o);
    add_scene_ground(s);
    add_scene_solid(s, &ball, BALL_MASS, place, 0.0);
    set_scene_contact_law(s, 0, 1, law);
    finish_scene_building(s);
    tact_world_body(s->world, 0)->twist[0] = speed;
    tact_world_body(s->world, 0)->twist[4] = speed / BALL_RADIUS;
}

/* A rolling ball obeys (7/5) m v' = -M / R: it stops after (7/10) m v^2 R / M, and loses M / R of
 * energy over each distance. */
static void ball_with_rolling_loss_stops_at_the_exact_distance(void **state)
{
    (void)state;
    const double speed = 0.02, torque = BALL_MASS * G * exact_rolling_arm_of_ball(BALL_MASS * G);
    const double exact = 0.7 * BALL_MASS * speed * speed * BALL_RADIUS / torque;
    const struct tact_contact_law law = make_rolling_loss_law(ROLLING_LOSS);
    for (int i = 0; i < 3; i++) {
        struct world_scene s;
        const double h = 4e-3 / (1 << i);
        open_rolling_ball(&s, h, 0.0, speed, &law);
        const struct tact_body *body = tact_world_body(s.world, 0);
        const struct tact_contact *c = tact_world_contact(s.world, 0);
        double energy = tact_body_energy(body);
        run_scene_for_seconds(&s, 0.4);
        double lost = energy - tact_body_energy(body), way = body->pose.position[0];
        assert_int_equal(c->limits, TACT_LIMIT_ROLLING);
        /* sign of the wrench, which is that on body A; the ground is shape 0 */
        double sign_of_wrench_on_roller = c->a == 0 ? 1.0 : -1.0;
        assert_true(fabs(sign_of_wrench_on_roller * c->wrench[4] / torque - 1.0) < 1e-6);
        assert_true(fabs(c->wrench[3]) < 1e-12);
        assert_true(fabs(sign_of_wrench_on_roller * c->wrench[2] / (BALL_MASS * G) + 1.0) < 1e-6);
        run_scene_for_seconds(&s, 1.0);
        printf("h %.0f ms: lost %.5f of M/R a distance, stops after %.6f mm, exact %.6f\n", 1e3 * h,
               lost / way * BALL_RADIUS / torque, 1e3 * body->pose.position[0], 1e3 * exact);
        assert_true(fabs(lost / way * BALL_RADIUS / torque - 1.0) < 0.7 * h * speed / way);
        assert_true(fabs(body->pose.position[0] - exact) < 0.6 * h * speed);
        assert_true(tact_v3_norm(body->twist) < 1e-12 && tact_v3_norm(body->twist + 3) < 1e-10);
        assert_int_equal(c->limits, 0);
        assert_int_equal(s.unsolved_ticks, 0);
        close_scene(&s);
    }
}

/* A ball on a slope stands still where the slope is at most the arm over the radius, and else rolls
 * down with (5/7) (g sin - M / (m R)). */
static void ball_with_rolling_loss_stands_on_a_gentle_slope(void **state)
{
    (void)state;
    const struct tact_contact_law law = make_rolling_loss_law(ROLLING_LOSS),
                                  plain = make_rolling_loss_law(0.0);
    for (int i = 0; i < 3; i++) {
        double ratio = i ? 1.2 : 0.9,
               slope = ratio * exact_rolling_arm_of_ball(BALL_MASS * G) / BALL_RADIUS;
        struct world_scene s;
        open_rolling_ball(&s, 1e-3, slope, 0.0, i == 2 ? &plain : &law);
        run_scene_for_seconds(&s, 1.0);
        const struct tact_body *body = tact_world_body(s.world, 0);
        double arm = i == 2 ? 0.0 : exact_rolling_arm_of_ball(BALL_MASS * G * cos(slope));
        double exact = i ? 5.0 / 7.0 * G * (sin(slope) - cos(slope) * arm / BALL_RADIUS) : 0.0;
        printf("at %.1f of the threshold: %.6e m/s after 1 s, exact %.6e\n", ratio, body->twist[0],
               exact);
        assert_true(fabs(body->twist[0] - exact) < 1e-3 * exact + 1e-12);
        assert_int_equal(s.unsolved_ticks, 0);
        close_scene(&s);
    }
}

/* A cylinder of 0.1 m on its side on the half-space, that rolls on a slope. */
static void open_rolling_cylinder(struct world_scene *s, double h, double slope, double speed,
                                  double loss_coefficient)
{
    struct tact_world_options o = options_with_tilted_gravity(slope);
    const struct tact_shape roller_shape = {.kind = TACT_SHAPE_CYLINDER,
                                            .size = {BALL_RADIUS, 0.05}};
    const struct tact_contact_law law = make_rolling_loss_law(loss_coefficient);
    const double place[3] = {0.0, 0.0, BALL_RADIUS}, turn[3] = {0.5 * PI, 0.0, 0.0};
    o.period = h;
    open_empty_scene(s, &o);
    add_scene_ground(s);
    add_scene_solid(s, &roller_shape, BALL_MASS, place, 0.0);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
    struct tact_body *body = tact_world_body(s->world, 0);
    tact_quat_from_rotvec(body->pose.quat_wxyz, turn);
    tact_body_refresh(body);
    body->twist[0] = speed;
    body->twist[4] = speed / BALL_RADIUS;
}

/* Rolling torque over the normal force of a line of 0.1 m, by quadrature of p sqrt(1 - x^2 / a^2)
 * ahead of the middle over that of all, with Hertz's half width a. */
static double exact_rolling_arm_of_line_contact(double force)
{
    enum { STRIPS = 4000 };
    const double a = sqrt(4.0 * force / 0.1 * BALL_RADIUS / (PI * CONTACT_MODULUS));
    double moment = 0.0, all = 0.0;
    for (int i = 0; i < STRIPS; i++) { /* x = a sin(t) */
        double t = 0.5 * PI * (i + 0.5) / STRIPS;
        moment += a * sin(t) * cos(t) * cos(t);
        all += 2.0 * cos(t) * cos(t);
    }
    return ROLLING_LOSS * moment / all;
}

/* A rolling cylinder obeys (3/2) m v' = -M / R: it stops after (3/4) m v^2 R / M; without loss it
 * rolls on. */
static void cylinder_with_rolling_loss_stops_at_the_exact_distance(void **state)
{
    (void)state;
    const double speed = 0.01,
                 torque = BALL_MASS * G * exact_rolling_arm_of_line_contact(BALL_MASS * G);
    const double exact = 0.75 * BALL_MASS * speed * speed * BALL_RADIUS / torque;
    struct world_scene s;
    for (int i = 0; i < 3; i++) {
        const double h = 4e-3 / (1 << i);
        open_rolling_cylinder(&s, h, 0.0, speed, ROLLING_LOSS);
        const struct tact_body *body = tact_world_body(s.world, 0);
        const struct tact_contact *c = tact_world_contact(s.world, 0);
        run_scene_for_seconds(&s, 0.4);
        double rolling_torque_over_exact = (c->a == 0 ? 1.0 : -1.0) * c->wrench[4] / torque;
        run_scene_for_seconds(&s, 2.8);
        double way = body->pose.position[0];
        printf("line, h %.0f ms: torque %.7f of the exact one, stops after %.6f mm, exact %.6f\n",
               1e3 * h, rolling_torque_over_exact, 1e3 * way, 1e3 * exact);
        assert_true(fabs(rolling_torque_over_exact - 1.0) < 1e-5);
        assert_true(fabs(way - exact) < 0.6 * h * speed);
        assert_true(tact_v3_norm(body->twist) < 1e-9 && tact_v3_norm(body->twist + 3) < 1e-7);
        assert_int_equal(s.unsolved_ticks, 0);
        close_scene(&s);
    }
    open_rolling_cylinder(&s, 1e-3, 0.0, speed, 0.0);
    run_scene_for_seconds(&s, 1.0);
    assert_true(fabs(tact_world_body(s.world, 0)->pose.position[0] / speed - 1.0) < 1e-3);
    close_scene(&s);
    /* slopes below and above the threshold at which the cylinder rolls */
    for (int i = 0; i < 2; i++) {
        const double slope =
            (i ? 1.2 : 0.9) * exact_rolling_arm_of_line_contact(BALL_MASS * G) / BALL_RADIUS;
        const double downhill_speed =
            i ? 2.0 / 3.0 * (G * sin(slope) - torque / (BALL_MASS * BALL_RADIUS)) : 0.0;
        open_rolling_cylinder(&s, 1e-3, slope, 0.0, ROLLING_LOSS);
        run_scene_for_seconds(&s, 1.0);
        double rolls = tact_world_body(s.world, 0)->twist[0];
        printf("line at %.1f of the threshold: %.6e m/s after 1 s, exact %.6e\n", i ? 1.2 : 0.9,
               rolls, downhill_speed);
        assert_true(fabs(rolls - downhill_speed) < 1e-2 * downhill_speed + 1e-9);
        close_scene(&s);
    }
}

/* Two balls on one axle and, with a third, that one on top of one of them: rolling. */
static void open_balls_on_axle(struct world_scene *s, int has_scene_third_ball_on_top)
{
    const struct tact_shape ball = make_sphere(BALL_RADIUS);
    const double place[3] = {0.0, -0.03, BALL_RADIUS}, top[3] = {0.001, -0.03, 3.0 * BALL_RADIUS};
    struct tact_pose other = tact_pose_identity();
    const struct tact_contact_law law = make_rolling_loss_law(ROLLING_LOSS);
    open_empty_scene(s, NULL);
    add_scene_ground(s);
    add_scene_solid(s, &ball, BALL_MASS, place, 0.0);
    other.position[1] = 0.06;
    add_scene_shape(s, 0, &ball, &other, 1);
    if (has_scene_third_ball_on_top) {
        add_scene_solid(s, &ball, BALL_MASS, top, 0.0);
        set_scene_contact_law(s, 1, 1, &law);
    }
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
    tact_world_body(s->world, 0)->twist[0] = 0.02;
    tact_world_body(s->world, 0)->twist[4] = 0.02 / BALL_RADIUS;
}

/* Contacts with rolling loss of one island are solved together. */
static void island_of_contacts_with_rolling_loss_is_solved(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world_scene s;
        open_balls_on_axle(&s, i);
        run_scene_for_seconds(&s, 0.3);
        printf("%s: %ld ticks unsolved, at most %d sweeps\n", i ? "with a third" : "two on an axle",
               s.unsolved_ticks, s.max_tick_iterations);
        assert_int_equal(s.unsolved_ticks, 0);
        close_scene(&s);
    }
}

/* The interior-point method finds, from none, the impulses of such an island that sweeps and
 * Newton's method found: two of its contacts roll, one is open. */
static void interior_point_method_finds_the_rolling_torques(void **state)
{
    (void)state;
    struct world_scene s;
    open_balls_on_axle(&s, 1);
    run_scene_for_seconds(&s, 0.1);
    solve_scene_velocities(&s);
    assert_int_equal(s.world->islands.count, 1);
    const struct island *island = &s.world->islands.list[0];
    double impulses_found_by_sweeps[3][6], most = 0.0, worst = 0.0;
    int contacts_at_rolling_limit = 0;
    assert_int_equal(island->blocks.count, 3);
    for (int i = 0; i < 3; i++) {
        const struct tact_contact *c = &s.world->contacts[s.world->blocks[i].contact];
        memcpy(impulses_found_by_sweeps[i], c->impulse, sizeof impulses_found_by_sweeps[i]);
        most = fmax(most, impulses_found_by_sweeps[i][0]);
        contacts_at_rolling_limit += !!(c->limits & TACT_LIMIT_ROLLING);
    }
    int steps = tact_barrier_solve_island(s.world, island, 60);
    for (int i = 0; i < 18; i++) {
        const struct block *block = &s.world->blocks[i / 6];
        double arm = i % 6 > 3 ? block->local.rolling_arm[i % 6 - 4] : block->local.spin_arm;
        double unit = i % 6 < 3 ? 1.0 : arm > 0.0 ? 1.0 / arm : 0.0;
        double found = s.world->contacts[block->contact].impulse[i % 6];
        worst = fmax(worst, unit * fabs(found - impulses_found_by_sweeps[i / 6][i % 6]) / most);
    }
    printf("%d of 3 roll: impulses within %.1e of those of the sweeps after %d steps\n",
           contacts_at_rolling_limit, worst, steps);
    assert_true(contacts_at_rolling_limit == 2 && steps > 5 && worst < 1e-7);
    close_scene(&s);
}

/* A loss so small that the multiplier is out of range of the search: its torques, at their limit,
 * are found. */
static void tiny_rolling_torques_are_found(void **state)
{
    (void)state;
    const struct tact_contact_law law = make_rolling_loss_law(1e-150);
    struct world_scene s;
    open_rolling_ball(&s, 1e-3, 0.0, 0.02, &law);
    step_scene(&s);
    run_scene_for_seconds(&s, 0.01);
    assert_int_equal(s.stats.counts[TACT_COUNT_ROLLING_NOT_FOUND], 0);
    assert_true(tact_world_contact(s.world, 0)->wrench[4] == 0.0 ||
                fabs(tact_world_contact(s.world, 0)->wrench[4]) < 1e-140);
    close_scene(&s);
}

/* Two of the random contacts whose torques are not found: named, with torques inside their limit.
 */
static void rolling_torques_that_are_not_found_are_named(void **state)
{
    static const uint64_t random_start_states[2] = {7832852066191066848u, 8404766453218722018u};
    const uint64_t saved_random_state = random_state;
    (void)state;
    for (int i = 0; i < 2; i++) {
        double r[6] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        int by;
        random_state = random_start_states[i];
        const struct tact_local_problem p = make_random_local_problem();
        tact_local_cone_by(&p, r, &by);
        assert_int_equal(by, TACT_COUNT_ROLLING_NOT_FOUND);
        assert_true(hypot(r[4] / p.rolling_arm[0], r[5] / p.rolling_arm[1]) <=
                    r[0] * (1.0 + 1e-12));
    }
    random_state = saved_random_state;
}

/* The torques are part of the wrench, from which a replay starts. */
static void rolling_loss_session_replays_from_any_tick(void **state)
{
    (void)state;
    check_replays_from_any_tick(
        "name: roll\nduration: 0.6\ncontact: {model: smooth}\n"
        "materials: [{name: rubber, modulus: 1e7}, {name: ground}]\n"
        "pairs:\n"
        "  - {materials: [rubber, ground], friction: 0.5, rolling_loss: 0.2}\n"
        "  - {materials: [rubber, rubber], friction: 0.3, rolling_loss: 0.1}\n"
        "bodies:\n"
        "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: ground}]}\n"
        "  - name: ball\n    mass: 0.25\n    position: [0, 0, 0.02]\n    velocity: [0.1, 0, 0]\n"
        "    shapes: [{type: sphere, radius: 0.02, material: rubber}]\n"
        "  - name: egg\n    mass: 0.25\n    position: [0.05, 0.01, 0.02]\n"
        "    angular_velocity: [1, 0, 9]\n"
        "    shapes: [{type: ellipsoid, size: [0.06, 0.04, 0.04], material: rubber}]\n"
        "  - name: roller\n    mass: 0.25\n    position: [0.2, 0, 0.02]\n"
        "    quat_wxyz: [0.7071067811865476, 0.7071067811865476, 0, 0]\n"
        "    velocity: [0.1, 0, 0]\n    angular_velocity: [0, 5, 0]\n"
        "    shapes: [{type: cylinder, radius: 0.02, length: 0.1, material: rubber}]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rolling_resistance_arms_follow_from_the_pressure),
        cmocka_unit_test(rolling_torques_dissipate_maximally),
        cmocka_unit_test(ball_with_rolling_loss_stops_at_the_exact_distance),
        cmocka_unit_test(ball_with_rolling_loss_stands_on_a_gentle_slope),
        cmocka_unit_test(cylinder_with_rolling_loss_stops_at_the_exact_distance),
        cmocka_unit_test(island_of_contacts_with_rolling_loss_is_solved),
        cmocka_unit_test(interior_point_method_finds_the_rolling_torques),
        cmocka_unit_test(tiny_rolling_torques_are_found),
        cmocka_unit_test(rolling_torques_that_are_not_found_are_named),
        cmocka_unit_test(rolling_loss_session_replays_from_any_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
