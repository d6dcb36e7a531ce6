/*
 * A contact of pressure fields with a tangential compliance, an elastic layer along its patch:
 * deflection and rotation against exact values, no creep, onset of sliding, and no gain of energy.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "support/field_patch.h"
#include "support/random.h"
#include "support/world_scene.h"

#define G 9.81
#define PI 3.14159265358979323846

static const double MU = 0.6, MASS = 0.5, MODULUS = 1e6, THICKNESS = 0.01;

/* The solids of the tests: a rigid box and a rigid body on two feet on a soft half-space, a soft
 * box and a soft ball on a rigid one. */
enum layer_body_kind { RIGID_BOX, TWO_FEET, SOFT_BOX, SOFT_BALL, LAYER_BODY_KINDS };

static const char *const case_names[] = {"rigid box", "two feet", "soft box", "soft ball"};

struct layer_scene {
    struct world_scene scene;
    struct tact_contact_law law;
    double height; /* of the centre of mass over the lowest points [m] */
    int body;
};

static void open_layer_scene(struct layer_scene *s, enum layer_body_kind kind,
                             double tangential_compliance)
{
    const double feet[12] = {-0.03, 0, 0, 0.02, 0.04, 0.02, 0.03, 0, 0, 0.02, 0.04, 0.02};
    int is_body_soft = kind == SOFT_BOX || kind == SOFT_BALL;
    s->height = kind == SOFT_BALL ? 0.02 : 0.01;
    open_empty_scene(&s->scene, NULL);
    struct tact_shape solid = kind == SOFT_BALL  ? make_sphere(0.02)
                              : kind == TWO_FEET ? make_shape_of_boxes(&s->scene, feet, 2)
                                                 : box_of_sides(0.08, 0.06, 0.02);
    /* close to rest, where the layer is at its depth */
    const double area = kind == TWO_FEET ? 0.0016 : 0.0048;
    const double sunk = kind == SOFT_BALL ? 0.9e-3 : MASS * G * THICKNESS / (MODULUS * area);
    const double at[3] = {0.0, 0.0, s->height - sunk};
    set_pressure_field_material(&s->scene, is_body_soft, MODULUS, THICKNESS);
    add_scene_ground(&s->scene);
    s->body = add_scene_solid(&s->scene, &solid, MASS, at, 0);
    s->law = make_friction_law(MU, 0.003, 0.0);
    s->law.tangential_compliance = tangential_compliance;
    set_scene_contact_law(&s->scene, 0, 1, &s->law);
    finish_scene_building(&s->scene);
}

/* Simulates ticks under a wrench on the body [N, N m], world axes: a force at the height of the
 * patch's centre and a torque about the vertical. */
static void run_layer_scene_under_wrench(struct layer_scene *s, double force, double torque,
                                         double seconds)
{
    struct tact_body *body = tact_world_body(s->scene.world, s->body);
    const double h = s->scene.options.period;
    for (long i = lround(seconds / h); i > 0; i--) {
        const struct tact_contact *c = tact_world_contact(s->scene.world, 0);
        const double below = c->touching ? c->patch.center[2] - body->pose.position[2] : 0.0;
        const double wrench[3] = {0.0, below * force, torque};
        double turn[3];
        tact_m3_mul_v3(turn, body->inverse_world, wrench);
        body->twist[0] += h * force / MASS;
        tact_v3_axpy(body->twist + 3, h, turn);
        step_scene(&s->scene);
    }
}

/* Position of the body's point that is in the ground's surface where the body is not tilted. */
static double foot_position(struct layer_scene *s)
{
    const struct tact_pose *pose = &tact_world_body(s->scene.world, s->body)->pose;
    const double foot[3] = {0.0, 0.0, -pose->position[2]};
    double at[3];
    tact_pose_point(at, pose, foot);
    return at[0];
}

static double rotation_angle_about_normal(struct layer_scene *s)
{
    const double *q = tact_world_body(s->scene.world, s->body)->pose.quat_wxyz;
    return 2.0 * asin(q[3] * (q[0] < 0.0 ? -1.0 : 1.0));
}

/* The patch moves by c F under a horizontal force, as much ten seconds later (in .ci/long a
 * minute), and back to zero without it. */
static void layer_deflection_is_compliance_times_force(void **state)
{
    (void)state;
    const double force = 0.3 * MU * MASS * G, t = 2e-4;
    const double later = is_long_campaign() ? 60.0 : is_quick_sanitizer_run() ? 1.0 : 10.0;
    for (int kind = 0; kind < SOFT_BALL; kind++) {
        struct layer_scene s;
        open_layer_scene(&s, (enum layer_body_kind)kind, t);
        run_layer_scene_under_wrench(&s, force, 0.0, 3.0);
        double moved = foot_position(&s);
        run_layer_scene_under_wrench(&s, force, 0.0, later);
        double creep_distance = foot_position(&s) - moved;
        run_layer_scene_under_wrench(&s, 0.0, 0.0, 3.0);
        double back = foot_position(&s);
        printf("%s: moved by c F %+.1e, later %.1e m more, without force %.1e m\n",
               case_names[kind], moved / (t * force) - 1.0, creep_distance, back);
        assert_true(fabs(moved / (t * force) - 1.0) < 1e-6);
        assert_true(fabs(creep_distance) < 1e-12 && fabs(back) < 1e-6 * t * force);
        assert_true(s.scene.unsolved_ticks == 0);
        close_scene(&s.scene);
    }
}

/* The patch turns by T c / <x^2 + y^2>, the mean over the area on which there is pressure. */
static void body_on_layer_turns_by_torque_over_stiffness(void **state)
{
    (void)state;
    const double t = 2e-4, torque = 0.002;
    const double squares[] = {(0.08 * 0.08 + 0.06 * 0.06) / 12.0,
                              0.03 * 0.03 + (0.02 * 0.02 + 0.04 * 0.04) / 12.0,
                              (0.08 * 0.08 + 0.06 * 0.06) / 12.0};
    for (int kind = 0; kind < LAYER_BODY_KINDS; kind++) {
        struct layer_scene s;
        open_layer_scene(&s, (enum layer_body_kind)kind, t);
        run_layer_scene_under_wrench(&s, 0.0, 0.0, 1.0);
        run_layer_scene_under_wrench(&s, 0.0, torque, kind == SOFT_BALL ? 12.0 : 3.0);
        const struct tact_contact *c = tact_world_contact(s.scene.world, 0);
        double depth = s.height - tact_world_body(s.scene.world, s.body)->pose.position[2];
        /* the pressure of the ball is on a disc of radius^2 = d (2 R - d) */
        double square = kind == SOFT_BALL ? 0.5 * depth * (0.04 - depth) : squares[kind];
        double turned = rotation_angle_about_normal(&s), exact = torque * t / square;
        printf("%s: turned by %.4e rad, exact %.4e, off by %.1e\n", case_names[kind], turned, exact,
               turned / exact - 1.0);
        assert_true(c->touching && torque < 0.9 * MU * MASS * G * c->spin_arm);
        /* the sides of what is in the ground have a layer too; a soft box has less area at its rim
         */
        assert_true(fabs(turned / exact - 1.0) < (kind == SOFT_BALL ? 1e-6 : 2e-3));
        close_scene(&s.scene);
    }
}

/* A box on its layer does not creep under an alternating load of 0.95 of the friction limit, and
 * slides at 1.03 of it with the acceleration of the rest. */
static void body_on_layer_slides_at_friction_limit_only(void **state)
{
    (void)state;
    struct layer_scene s;
    const double most = MU * MASS * G;
    double before = 0.0, after = 0.0;
    open_layer_scene(&s, RIGID_BOX, 1e-5);
    for (int i = 0; i < (is_quick_sanitizer_run() ? 1000 : 20200); i++) {
        before = i == 200 ? foot_position(&s) : before;
        run_layer_scene_under_wrench(&s, 0.95 * most * sin(0.01 * PI * i), 0.0, 0.002);
    }
    after = foot_position(&s);
    printf("after cycles of 0.95 of the limit: %.1e m\n", after - before);
    assert_true(fabs(after - before) < 1e-9);
    run_layer_scene_under_wrench(&s, 0.0, 0.0, 0.5);
    run_layer_scene_under_wrench(&s, 1.03 * most, 0.0, 0.5);
    before = tact_world_body(s.scene.world, s.body)->twist[0];
    run_layer_scene_under_wrench(&s, 1.03 * most, 0.0, 0.5);
    double rate = (tact_world_body(s.scene.world, s.body)->twist[0] - before) / 0.5;
    printf("at 1.03 of it: %.5f m/s^2, exact %.5f\n", rate, 0.03 * MU * G);
    /* the pressure on the sides of what is in the ground has friction too */
    assert_true(fabs(rate - 0.03 * MU * G) < 1e-3 * MU * G);
    close_scene(&s.scene);
}

/* A throw of a box of 40 x 30 x 20 mm and 0.1 kg; either the box or the ground is soft. */
struct box_throw {
    struct tact_contact_law law;
    double period, modulus, seconds;
    int is_box_soft;
    int is_ground_mesh; /* 1: the ground is a mesh of a box, 0: a half-space */
};

/* What throws have shown. */
struct throw_results {
    double worst; /* largest rise of the energy over that at the start, relative to it */
    int touching_ticks;
    int damped_islands; /* sum of the count of damped rebounds */
};

static void add_ground_of_throw(struct world_scene *s, int is_mesh)
{
    const double box[6] = {0, 0, 0, 1, 1, 0.1};
    const struct tact_pose pose = {{0, 0, -0.05}, {1, 0, 0, 0}};
    if (is_mesh) {
        struct tact_shape ground = make_shape_of_boxes(s, box, 1);
        add_scene_shape(s, -1, &ground, &pose, 0);
    } else {
        add_scene_ground(s);
    }
}

/* Throws a box at the ground at a random pose with a random twist, up to 2 m/s down. */
static void throw_box(const struct box_throw *t, struct throw_results *results)
{
    struct tact_world_options o = tact_world_options_default();
    struct tact_shape box = box_of_sides(0.04, 0.03, 0.02);
    const double at[3] = {0.0, 0.0, 0.05};
    struct world_scene s;
    o.period = t->period;
    open_empty_scene(&s, &o);
    set_pressure_field_material(&s, t->is_box_soft, t->modulus, THICKNESS);
    add_ground_of_throw(&s, t->is_ground_mesh);
    add_scene_solid(&s, &box, 0.1, at, 0.0);
    struct tact_body *body = tact_world_body(s.world, 0);
    random_unit_quaternion(body->pose.quat_wxyz);
    for (int k = 0; k < 3; k++) {
        body->twist[k] = uniform(-1.0, 1.0) - (k == 2);
        body->twist[3 + k] = uniform(-20.0, 20.0);
    }
    set_scene_contact_law(&s, 0, 1, &t->law);
    finish_scene_building(&s);
    double start = compute_phase_corrected_energy(&s);
    for (int i = 0; i < (int)(t->seconds / o.period); i++) {
        step_scene(&s);
        results->touching_ticks += tact_world_contact(s.world, 0)->touching;
        results->damped_islands += s.stats.counts[TACT_COUNT_DAMPED];
        results->worst = fmax(results->worst, compute_phase_corrected_energy(&s) / start - 1.0);
    }
    close_scene(&s);
}

/* Rigid boxes thrown at a layer that is soft along it too, with spin: their energy never exceeds
 * that at the start. */
static void layer_does_not_add_energy(void **state)
{
    (void)state;
    static const double tick_periods[] = {5e-4, 1e-3, 2e-3, 5e-3};
    struct throw_results results = {.worst = -INFINITY};
    int throw_count = campaign_trial_count(60, 20000);
    for (int n = 0; n < throw_count; n++) {
        struct box_throw t = {.period = tick_periods[n % 4], .seconds = 0.4};
        t.law = make_friction_law(2.0 * pow(uniform(0.0, 1.0), 2.0), n / 4 % 2 ? 0.003 : 0.0, 0.0);
        t.modulus = pow(10.0, uniform(4.0, 9.0));
        t.law.tangential_compliance =
            pow(10.0, uniform(-1.0, 1.0)) * THICKNESS / (t.modulus * 1.2e-3);
        throw_box(&t, &results);
    }
    printf("%d throws, %d ticks in contact: energy at most %.1e over the start\n", throw_count,
           results.touching_ticks, results.worst);
    assert_true(results.touching_ticks > 50 * throw_count && results.worst < 1e-6);
}

/* Stiff soft boxes on a rigid ground, which a tick of 2 or 5 ms moves up to half of their thickness
 * into it: the impact returns no more than it absorbed, with a layer along the patch and without.
 * Without that bound one of a hundred rises, up to 70 times over the start. */
static void soft_box_moved_deep_by_a_tick_gains_no_energy(void **state)
{
    (void)state;
    struct throw_results results = {.worst = -INFINITY};
    int throw_count = campaign_trial_count(400, 20000);
    for (int n = 0; n < throw_count; n++) {
        struct box_throw t = {.period = n % 2 ? 5e-3 : 2e-3,
                              .seconds = 0.1,
                              .is_box_soft = 1,
                              .is_ground_mesh = n / 2 % 2};
        double friction = n % 5 ? 2.0 * pow(uniform(0.0, 1.0), 2.0) : 0.0;
        t.law = make_friction_law(friction, n / 4 % 4 ? 0.0 : 0.003, 0.0);
        t.modulus = pow(10.0, uniform(7.0, 9.0));
        t.law.tangential_compliance =
            n / 4 % 2 ? pow(10.0, uniform(-1.0, 1.0)) * THICKNESS / (t.modulus * 1.2e-3) : 0.0;
        throw_box(&t, &results);
    }
    printf("%d throws, %d ticks in contact: energy at most %.1e over the start, %d times damped\n",
           throw_count, results.touching_ticks, results.worst, results.damped_islands);
    assert_true(results.worst < 1e-6 && results.damped_islands > 0);
    assert_true(results.damped_islands < throw_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layer_deflection_is_compliance_times_force),
        cmocka_unit_test(body_on_layer_turns_by_torque_over_stiffness),
        cmocka_unit_test(body_on_layer_slides_at_friction_limit_only),
        cmocka_unit_test(layer_does_not_add_energy),
        cmocka_unit_test(soft_box_moved_deep_by_a_tick_gains_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
