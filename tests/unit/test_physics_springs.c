/* A patch with a tangential compliance, an elastic foundation: deflection, rotation and tilt,
 * oscillation, onset of sliding, no creep, and no gain of energy. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/random.h"
#include "support/world_scene.h"

static const double G = 9.81, MU = 0.6, PLATE_MASS = 0.5;

struct plate_scene {
    struct world_scene scene;
    struct tact_contact_law law;
    double side[3];
    int box;
};

/* A box that rests on the ground. */
static void open_plate_on_springs(struct plate_scene *s, double compliance,
                                  double tangential_patch_compliance, double overlap)
{
    struct tact_shape box = box_of_sides(s->side[0], s->side[1], s->side[2]);
    double overlap_at_rest = overlap + compliance * PLATE_MASS * G;
    const double at[3] = {0, 0, 0.5 * s->side[2] - overlap_at_rest};
    s->law = make_rigid_law(MU);
    s->law.compliance = compliance;
    s->law.tangential_compliance = tangential_patch_compliance;
    s->law.overlap = overlap;
    open_empty_scene(&s->scene, NULL);
    add_scene_ground(&s->scene);
    s->box = add_scene_solid(&s->scene, &box, PLATE_MASS, at, 0);
    set_scene_contact_law(&s->scene, 0, 1, &s->law);
    finish_scene_building(&s->scene);
}

/* Simulates ticks under a wrench on the box's centre of mass [N, N m], world axes; the box must be
 * aligned with them but for small angles. */
static void run_under_wrench(struct plate_scene *s, const double wrench[6], double seconds)
{
    struct tact_body *body = tact_world_body(s->scene.world, s->box);
    double h = s->scene.options.period;
    const double *side = s->side;
    for (long i = lround(seconds / h); i > 0; i--) {
        for (int k = 0; k < 3; k++) {
            double square = side[(k + 1) % 3] * side[(k + 1) % 3];
            square += side[(k + 2) % 3] * side[(k + 2) % 3];
            body->twist[k] += h * wrench[k] / PLATE_MASS;
            body->twist[3 + k] += h * wrench[3 + k] / (PLATE_MASS * square / 12);
        }
        step_scene(&s->scene);
    }
}

/* Position of the box's point at the patch's centre, half of the overlap above its bottom. */
static void find_plate_point_at_patch_centre(struct plate_scene *s, double foot_position[3])
{
    double overlap_at_rest = s->law.overlap + s->law.compliance * PLATE_MASS * G;
    const double bottom_point_in_body_frame[3] = {0, 0, 0.5 * (overlap_at_rest - s->side[2])};
    tact_pose_point(foot_position, &tact_world_body(s->scene.world, s->box)->pose,
                    bottom_point_in_body_frame);
}

static double rotation_about_axis(struct plate_scene *s, int axis)
{
    const double *q = tact_world_body(s->scene.world, s->box)->pose.quat_wxyz;
    return 2 * q[1 + axis] * (q[0] < 0 ? -1 : 1);
}

/* The contact deflects by c F under a horizontal force, immediately and a minute later, and returns
 * to zero once the force is removed. */
static void contact_spring_deflection_is_compliance_times_force(void **state)
{
    (void)state;
    struct plate_scene s = {.side = {0.08, 0.06, 0.02}};
    const double tangential_pull_force = 0.3 * MU * PLATE_MASS * G, t = 2e-4;
    const double on[6] = {tangential_pull_force}, off[6] = {0};
    double foot_position[3], later[3], back[3];
    open_plate_on_springs(&s, 1e-4, t, 2e-5);
    run_under_wrench(&s, on, 2);
    find_plate_point_at_patch_centre(&s, foot_position);
    run_under_wrench(&s, on, 60);
    find_plate_point_at_patch_centre(&s, later);
    run_under_wrench(&s, off, 2);
    find_plate_point_at_patch_centre(&s, back);
    print_message("is displaced by %.6f mm under %.3f N, exact %.6f; a minute later %.1e m more; "
                  "without it %.1e m\n",
                  1e3 * foot_position[0], tangential_pull_force, 1e3 * t * tangential_pull_force,
                  later[0] - foot_position[0], back[0]);
    assert_true(fabs(foot_position[0] / (t * tangential_pull_force) - 1) < 7e-5);
    assert_true(fabs(later[0] - foot_position[0]) < 1e-12 &&
                fabs(back[0]) < 1e-4 * t * tangential_pull_force);
    close_scene(&s.scene);
}

/* The contact rotates about its normal by T t / <x^2 + y^2>; about an axis of the patch by T c /
 * <x^2>, whether the overlap is due to the load or present without one, corrected for the torque of
 * the tilted weight. */
static void rotation_on_contact_springs_follows_their_stiffness(void **state)
{
    (void)state;
    const double overlap[3] = {2e-5, 2e-4, 2e-3}, t = 2e-4, c = 1e-4, torque = 0.002;
    for (int i = 0; i < 3; i++) {
        struct plate_scene s = {.side = {0.08, 0.06, 0.02}};
        const double twist[6] = {0, 0, 0, 0, 0, torque}, tilt[6] = {0, 0, 0, 0, torque, 0};
        double x2 = s.side[0] * s.side[0] / 12, y2 = s.side[1] * s.side[1] / 12;
        open_plate_on_springs(&s, c, t, overlap[i]);
        run_under_wrench(&s, twist, 2);
        double yaw = rotation_about_axis(&s, 2), exact_yaw = torque * t / (x2 + y2);
        close_scene(&s.scene);
        open_plate_on_springs(&s, c, t, overlap[i]);
        run_under_wrench(&s, tilt, 2);
        double tipping_stiffness_of_weight = PLATE_MASS * G * 0.5 * s.side[2];
        double pitch = rotation_about_axis(&s, 1),
               exact_pitch = torque / (x2 / c - tipping_stiffness_of_weight);
        print_message("overlap %.0e: turns by %.3e of %.3e rad, tilts by %.4e of %.4e rad\n",
                      overlap[i], yaw, exact_yaw, pitch, exact_pitch);
        assert_true(fabs(yaw / exact_yaw - 1) < 2e-4);
        assert_true(fabs(pitch / exact_pitch - 1) < 0.01);
        close_scene(&s.scene);
    }
}

/* A flat plate oscillates along the ground at w = 1 / sqrt(m t), by the implicit rule: in each
 * tick its phase advances by atan(w h) and its amplitude is divided by sqrt(1 + (w h)^2). */
static void plate_on_contact_springs_swings_at_its_frequency(void **state)
{
    (void)state;
    struct plate_scene s = {.side = {0.1, 0.1, 0.0004}};
    const double t = 2e-3, none[6] = {0};
    open_plate_on_springs(&s, 1e-6, t, 2e-5);
    s.law.dissipation = 0;
    set_scene_contact_law(&s.scene, 0, 1, &s.law);
    double h = s.scene.options.period, w = 1 / sqrt(PLATE_MASS * t), foot_position[3],
           first[2] = {0}, last = 0;
    run_under_wrench(&s, none, 0.2);
    tact_world_body(s.scene.world, s.box)->twist[0] = 0.005;
    int rotation_on_contact_springs_follows_their_stiffness = 0;
    for (int i = 0; i < 4000 && rotation_on_contact_springs_follows_their_stiffness < 11; i++) {
        run_under_wrench(&s, none, h);
        find_plate_point_at_patch_centre(&s, foot_position);
        if (last < 0 && foot_position[0] >= 0) {
            first[rotation_on_contact_springs_follows_their_stiffness ? 1 : 0] =
                i + last / (last - foot_position[0]);
            rotation_on_contact_springs_follows_their_stiffness++;
        }
        last = foot_position[0];
    }
    double period = (first[1] - first[0]) /
                    (rotation_on_contact_springs_follows_their_stiffness - 1) * h,
           exact = 2 * M_PI * h / atan(w * h);
    print_message("swings in %.5f s, exact %.5f\n", period, exact);
    assert_true(rotation_on_contact_springs_follows_their_stiffness == 11 &&
                fabs(period / exact - 1) < 5e-3);
    close_scene(&s.scene);
}

/* A block on springs does not creep under an alternating load of 0.95 of the friction limit, and
 * slides at 1.03. */
static void plate_on_contact_springs_slides_at_the_friction_limit(void **state)
{
    (void)state;
    struct plate_scene s = {.side = {0.08, 0.06, 0.004}};
    const double most = MU * PLATE_MASS * G;
    double a[3], b[3];
    open_plate_on_springs(&s, 1e-5, 1e-4, 2e-5);
    for (int i = 0; i < 200; i++) {
        const double load[6] = {0.95 * most * sin(0.01 * M_PI * i)};
        run_under_wrench(&s, load, 0.002);
    }
    find_plate_point_at_patch_centre(&s, a);
    for (int i = 0; i < 20000; i++) {
        const double load[6] = {0.95 * most * sin(0.01 * M_PI * i)};
        run_under_wrench(&s, load, 0.002);
    }
    find_plate_point_at_patch_centre(&s, b);
    const double pull_wrench_over_friction_limit[6] = {1.03 * most}, none[6] = {0};
    print_message("after 100 more cycles of 0.95: %.1e m\n", b[0] - a[0]);
    assert_true(fabs(b[0] - a[0]) < 1e-9);
    run_under_wrench(&s, none, 0.5);
    run_under_wrench(&s, pull_wrench_over_friction_limit, 0.5);
    double before = tact_world_body(s.scene.world, s.box)->twist[0];
    run_under_wrench(&s, pull_wrench_over_friction_limit, 0.5);
    double rate = (tact_world_body(s.scene.world, s.box)->twist[0] - before) / 0.5;
    print_message("at 1.03: %.5f m/s^2, exact %.5f\n", rate, 0.03 * MU * G);
    assert_true(fabs(rate / (0.03 * MU * G) - 1) < 1e-5);
    close_scene(&s.scene);
}

/* A box on a turntable under a force that turns with it: the spring's impulse turns with the
 * bodies, and the box stays at its place on the table. Straight steps of h would carry it outward
 * by w^2 h / 2 of the radius a second; the spring, which measures the relative displacement of the
 * two bodies, undoes that. */
static void contact_springs_turn_with_the_bodies(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_rigid_law(MU);
    struct tact_shape table = box_of_sides(0.5, 0.5, 0.1), box = box_of_sides(0.08, 0.06, 0.02);
    const double low[3] = {0, 0, -0.05}, high[3] = {0, 0, 0.01 - 7e-5}, spin = 2, t = 1e-4;
    const double bottom_point_in_body_frame[3] = {0, 0, -high[2]};
    const double press_force = 5, pull = 0.4 * MU * press_force;
    tact_v3_set(o.gravity, 0, 0, 0);
    law.compliance = 1e-5;
    law.tangential_compliance = t;
    open_empty_scene(&s, &o);
    int a = add_scene_solid(&s, &table, 1e6, low, 0),
        b = add_scene_solid(&s, &box, PLATE_MASS, high, 0);
    set_scene_contact_law(&s, 1, 1, &law);
    finish_scene_building(&s);
    struct tact_body *base = tact_world_body(s.world, a), *body = tact_world_body(s.world, b);
    base->twist[5] = body->twist[5] = spin;
    double h = s.options.period, first = 0, furthest = 0;
    for (int i = 0; i < 10000; i++) {
        double at = spin * h * (i + 0.5);
        const double force[3] = {pull * cos(at), pull * sin(at), -press_force};
        tact_v3_axpy(body->twist, h / PLATE_MASS, force);
        step_scene(&s);
        double p[3];
        tact_pose_point(p, &body->pose, bottom_point_in_body_frame);
        tact_v3_sub(p, p, base->pose.position);
        at = spin * h * (i + 1);
        double along = p[0] * cos(at) + p[1] * sin(at),
               lateral_offset = p[1] * cos(at) - p[0] * sin(at);
        first = i == 1000 ? along : first;
        furthest = i > 1000 ? fmax(furthest, hypot(along - first, lateral_offset)) : 0;
    }
    print_message("on a turntable, 3 turns: %.5f mm along, exact %.5f; it moves by %.1e mm\n",
                  1e3 * first, 1e3 * t * pull, 1e3 * furthest);
    assert_true(fabs(first / (t * pull) - 1) < 0.005 && furthest < 2e-3 * t * pull);
    close_scene(&s);
}

/* Energy in the springs of the contact with the ground [J]. */
static double contact_spring_energy(struct world_scene *s, const struct tact_contact_law *law)
{
    const struct tact_contact *c = tact_world_contact(s->world, 0);
    double h = s->options.period, force[3];
    if (!c->touching) {
        return 0;
    }
    double excess_overlap_depth = fmax(c->patch.depth - law->overlap, 0);
    tact_v3_scale(force, c->springs.impulse, 1 / h);
    return 0.5 * law->tangential_compliance * tact_v3_dot(force, force) +
           0.5 * tact_v3_dot(c->springs.impulse + 3, c->springs.angle) / h +
           0.5 * excess_overlap_depth * excess_overlap_depth / law->compliance;
}

/* Boxes thrown at soft ground, turning: their energy never exceeds that at the start. Together
 * with the springs' energy it may: a tick that carries a corner 2 mm into ground of 1 um/N strains
 * the springs by more than the kinetic energy, which is not returned to the bodies. */
static void contact_springs_do_not_add_energy(void **state)
{
    (void)state;
    double largest_energy_excess = -1, rebound = -1;
    for (int run = 0; run < 60; run++) {
        struct world_scene s;
        double root = uniform(0, 1), box[THROWN_BOX_DRAW_COUNT];
        for (int i = 0; i < THROWN_BOX_DRAW_COUNT; i++) {
            box[i] = uniform(0, 1);
        }
        struct tact_contact_law law = make_rigid_law(3 * root * root);
        law.compliance = pow(10, uniform(-6, -4));
        law.tangential_compliance = law.compliance * pow(10, uniform(-1, 1));
        start_thrown_box_scene(&s, NULL, box, PLATE_MASS, &law);
        double start = compute_scene_energy(&s);
        for (int i = 0; i < 1500; i++) {
            step_scene(&s);
            double mechanical_energy = compute_scene_energy(&s),
                   now = mechanical_energy + contact_spring_energy(&s, &law);
            largest_energy_excess = fmax(largest_energy_excess, (now - start) / start);
            rebound = fmax(rebound, (mechanical_energy - start) / start);
        }
        close_scene(&s);
    }
    print_message("highest energy over the start: %.1e of it, with the springs' %.1e\n", rebound,
                  largest_energy_excess);
    assert_true(rebound < 1e-6 && largest_energy_excess < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contact_spring_deflection_is_compliance_times_force),
        cmocka_unit_test(rotation_on_contact_springs_follows_their_stiffness),
        cmocka_unit_test(plate_on_contact_springs_swings_at_its_frequency),
        cmocka_unit_test(plate_on_contact_springs_slides_at_the_friction_limit),
        cmocka_unit_test(contact_springs_turn_with_the_bodies),
        cmocka_unit_test(contact_springs_do_not_add_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
