/*
 * Friction of a field's patch against quadrature of Coulomb's law over the exact pressure: its
 * limit at many slips, and bodies that slide and spin until they rest.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/field_bodies.h"
#include "support/field_patch.h"
#include "support/friction_parts.h"
#include "support/quadrature.h"

#define G 9.81
#define PI 3.14159265358979323846
#define TORSION_ARM_TOLERANCE_OF_FLAT_PUNCH                                                        \
    0.0025 /* of the torsion arm of flat punches, 0.002 of a rectangle of 4:1                      \
            */

/* Compares the friction limit of a patch's parts with the quadrature at 64 slip directions; t1, t2:
 * axes of the patch in those of the quadrature. torsion_arm_tolerance: largest relative error of
 * the torsion arm, which the parts have from their own. */
static void compare_limit_with_quadrature(const char *name, const struct tact_patch *patch,
                                          const struct pressure_quadrature *q, const double *t1,
                                          const double *t2, double torsion_arm_tolerance)
{
    const double sliding_velocity_of_pure_spin[2] = {0.0, 0.0};
    double power = 0.0, force = 0.0, torque = 0.0, spin[3];
    double arm =
        compute_friction_and_power_by_quadrature(q, sliding_velocity_of_pure_spin, 1.0, spin);
    for (int n = 0; n < 64; n++) {
        double way = PI * (n % 8) / 4.0, mix = 0.5 * PI * (n / 8) / 7.0;
        const double v[2] = {cos(mix) * cos(way), cos(mix) * sin(way)}, w = sin(mix) / arm;
        const double turned[2] = {t1[0] * v[0] + t1[1] * v[1], t2[0] * v[0] + t2[1] * v[1]};
        double exact[3], is[3];
        double friction_power_by_quadrature =
            compute_friction_and_power_by_quadrature(q, v, w, exact);
        double friction_power_of_points =
            friction_force_and_power_of_points(&patch->points, turned, w, is);
        power = fmax(power, fabs(friction_power_of_points / friction_power_by_quadrature - 1.0));
        force = fmax(force, hypot(t1[0] * is[0] + t2[0] * is[1] - exact[0],
                                  t1[1] * is[0] + t2[1] * is[1] - exact[1]));
        torque = fmax(torque, fabs(is[2] - exact[2]) / arm);
    }
    print_message("%-28s %2d parts: arm %.4f of exact, power within %.2f %%, force and torque "
                  "within %.2f and %.2f %% of their limits\n",
                  name, patch->points.count, patch->spin_arm / arm, 100.0 * power, 100.0 * force,
                  100.0 * torque);
    assert_int_equal(patch->surface, TACT_SURFACE_POINTS);
    assert_true(fabs(patch->spin_arm / arm - 1.0) < torsion_arm_tolerance);
    assert_true(power < 0.015 && force < 0.04 && torque < 0.04);
}

/* A rigid punch in a soft half-space, turned about the vertical. */
static void compare_punch_limit_with_quadrature(const char *name,
                                                const struct tact_shape *punch_shape,
                                                double torsion_arm_tolerance, double height,
                                                double tilt, const struct pressure_quadrature *q)
{
    const struct tact_shape floor = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_pose at = tact_pose_identity(), up = at;
    struct tact_patch patch;
    up.position[2] = height;
    up.quat_wxyz[0] = cos(0.5 * tilt);
    up.quat_wxyz[2] = sin(0.5 * tilt);
    measure_field_patch(punch_shape, &up, INFINITY, &floor, &at, 1e8, &patch);
    compare_limit_with_quadrature(name, &patch, q, patch.frame + 3, patch.frame + 6,
                                  torsion_arm_tolerance);
}

static void friction_limits_of_flat_punches_equal_quadrature(void **state)
{
    (void)state;
    static const int sides[] = {12, 48, 250};
    struct pressure_quadrature *q = malloc(sizeof *q);
    struct world_scene s;
    open_empty_scene(&s, NULL);
    q->count = 0;
    add_quadrature_pressure(q, DISC, QUADRATURE_FINE, 0.0, 0.0, 0.02, 0.02);
    normalize_quadrature(q);
    for (int i = 0; i < 3; i++) {
        double half = PI / sides[i]; /* a mesh disc with the area of the exact disc */
        double radius = 0.02 * sqrt(half / (sin(half) * cos(half)));
        const struct tact_shape disc = make_cylinder_mesh_shape(&s, radius, 0.02, sides[i]);
        char name[40];
        snprintf(name, sizeof name, "disc of %d sides", sides[i]);
        compare_punch_limit_with_quadrature(name, &disc, TORSION_ARM_TOLERANCE_OF_FLAT_PUNCH,
                                            0.01 - 1e-5, 0.0, q);
    }
    const double square[6] = {0, 0, 0, 0.04, 0.04, 0.02}, rect[6] = {0, 0, 0, 0.08, 0.02, 0.02};
    const double two_feet_boxes[12] = {-0.02, 0, 0, 0.01, 0.01, 0.02, 0.02, 0, 0, 0.01, 0.01, 0.02};
    const struct tact_shape punch_shape[3] = {make_shape_of_boxes(&s, square, 1),
                                              make_shape_of_boxes(&s, rect, 1),
                                              make_shape_of_boxes(&s, two_feet_boxes, 2)};
    q->count = 0;
    add_quadrature_pressure(q, UNIFORM, QUADRATURE_FINE, 0.0, 0.0, 0.02, 0.02);
    normalize_quadrature(q);
    const double slip_velocity_of_pure_spin[2] = {0.0, 0.0};
    double unused[3],
        square_arm =
            compute_friction_and_power_by_quadrature(q, slip_velocity_of_pure_spin, 1.0, unused);
    assert_true(fabs(square_arm / (0.3825978 * 0.04) - 1.0) < 2e-5);
    compare_punch_limit_with_quadrature("square", &punch_shape[0],
                                        TORSION_ARM_TOLERANCE_OF_FLAT_PUNCH, 0.01 - 1e-5, 0.0, q);
    q->count = 0;
    add_quadrature_pressure(q, LIFTING, QUADRATURE_FINE, 0.0, 0.0, 0.02, 0.02);
    /* punch 1e-5 deep at its middle, tilted about y so that one edge has no pressure */
    normalize_quadrature(q);
    compare_punch_limit_with_quadrature("square, one edge lifting", &punch_shape[0],
                                        TORSION_ARM_TOLERANCE_OF_FLAT_PUNCH, 0.01 - 1e-5, 0.5e-3,
                                        q);
    q->count = 0;
    add_quadrature_pressure(q, UNIFORM, QUADRATURE_FINE, 0.0, 0.0, 0.04, 0.01);
    normalize_quadrature(q);
    compare_punch_limit_with_quadrature("rectangle 4:1", &punch_shape[1],
                                        TORSION_ARM_TOLERANCE_OF_FLAT_PUNCH, 0.01 - 1e-5, 0.0, q);
    q->count = 0;
    add_quadrature_pressure(q, UNIFORM, QUADRATURE_FINE, -0.02, 0.0, 0.005, 0.005);
    add_quadrature_pressure(q, UNIFORM, QUADRATURE_FINE, 0.02, 0.0, 0.005, 0.005);
    normalize_quadrature(q);
    compare_punch_limit_with_quadrature("two feet", &punch_shape[2],
                                        TORSION_ARM_TOLERANCE_OF_FLAT_PUNCH, 0.01 - 1e-5, 0.0, q);
    close_scene(&s);
    free(q);
}

/* The pressure of a rigid ball as a mesh of more or fewer triangles in a soft half-space. */
static void friction_limits_of_soft_balls_equal_quadrature(void **state)
{
    (void)state;
    struct pressure_quadrature *q = malloc(sizeof *q);
    q->count = 0;
    double semi =
        sqrt(SPHERICAL_CAP_DEPTH_M * (2.0 * SPHERICAL_CAP_BALL_RADIUS_M - SPHERICAL_CAP_DEPTH_M));
    add_quadrature_pressure(q, CAP, QUADRATURE_FINE, 0.0, 0.0, semi, semi);
    normalize_quadrature(q);
    for (int level = 5; level <= 6; level++) {
        struct surface_mesh surface = make_ball_surface(level);
        struct tact_shape ball = {.kind = TACT_SHAPE_MESH};
        struct tact_mesh *mesh;
        char name[40];
        scale_surface_mesh(&surface, SPHERICAL_CAP_BALL_RADIUS_M, SPHERICAL_CAP_BALL_RADIUS_M,
                           SPHERICAL_CAP_BALL_RADIUS_M);
        assert_int_equal(tact_mesh_create(surface.vertices, surface.vertex_count, surface.triangles,
                                          surface.triangle_count, &mesh, NULL),
                         0);
        ball.mesh = mesh;
        snprintf(name, sizeof name, "ball of %zu triangles", surface.triangle_count);
        compare_punch_limit_with_quadrature(
            name, &ball, 0.006, SPHERICAL_CAP_BALL_RADIUS_M - SPHERICAL_CAP_DEPTH_M, 0.0, q);
        tact_mesh_free(mesh);
        free_surface_mesh(&surface);
    }
    free(q);
}

/* A soft ball on a rigid plane of triangles, which are not in one plane to rounding, of 18 to 800
 * polygons. The quadrature is that of Hertz's pressure over the same disc, with other loads. */
static void friction_limits_of_a_soft_ball_on_triangles_equal_quadrature(void **state)
{
    (void)state;
    static const int counts[5] = {7, 12, 16, 24, 50};
    const double radius = 0.02, depth = 0.001, rim = sqrt(depth * (2.0 * radius - depth));
    const struct tact_shape ball = make_sphere(radius);
    struct pressure_quadrature *q = malloc(sizeof *q);
    struct tact_pose at = tact_pose_identity(), up = at;
    q->count = 0;
    add_quadrature_pressure(q, HERTZ, QUADRATURE_FINE, 0.0, 0.0, rim, rim);
    for (int i = 0; i < q->count; i++) {
        double square = q->x[i] * q->x[i] + q->y[i] * q->y[i];
        double pressure = radius - sqrt((radius - depth) * (radius - depth) + square);
        q->load[i] *= fmax(pressure, 0.0) / sqrt(fmax(1.0 - square / (rim * rim), 1e-12));
    }
    normalize_quadrature(q);
    up.position[2] = radius - depth;
    for (int i = 0; i < 5; i++) {
        int patch_solve_counts[TACT_SOLVE_COUNTS] = {0};
        struct tact_shape plane = {.kind = TACT_SHAPE_MESH};
        struct tact_mesh *mesh = make_triangulated_plane(0.015, counts[i], 1e-8);
        struct tact_patch patch;
        char name[40];
        plane.mesh = mesh;
        measure_field_patch_with_counts(&ball, &up, 1e6, &plane, &at, INFINITY, patch_solve_counts,
                                        &patch);
        snprintf(name, sizeof name, "ball on %d triangles",
                 patch_solve_counts[TACT_COUNT_POLYGONS]);
        compare_limit_with_quadrature(name, &patch, q, patch.frame + 3, patch.frame + 6, 0.002);
        tact_mesh_free(mesh);
    }
    free(q);
}

/* Friction limit of Hertz's pressure, given as points of a grid. */
static void friction_limit_of_hertz_patch_equals_quadrature(void **state)
{
    (void)state;
    static const int fine[] = {24, 36, 48};
    struct pressure_quadrature *q = malloc(sizeof *q);
    struct patch_pressure_points *points = calloc(1, sizeof *points);
    const double t1[3] = {1.0, 0.0, 0.0}, t2[3] = {0.0, 1.0, 0.0};
    for (int i = 0; i < 3; i++) {
        struct tact_patch patch;
        char name[40];
        memset(&patch, 0, sizeof patch);
        q->count = 0;
        add_quadrature_pressure(q, HERTZ, fine[i], 0.0, 0.0, 0.002, 0.002);
        normalize_quadrature(q);
        points->count = q->count;
        memcpy(points->x, q->x, (size_t)q->count * sizeof *q->x);
        memcpy(points->y, q->y, (size_t)q->count * sizeof *q->y);
        memcpy(points->load, q->load, (size_t)q->count * sizeof *q->load);
        for (int k = 0; k < q->count; k++) { /* of a square cell */
            points->own[k] = 0.004 * 0.004 / (6.0 * fine[i] * fine[i]);
        }
        tact_field_set_friction_limit(points, 1.0, &patch);
        q->count = 0;
        add_quadrature_pressure(q, HERTZ, QUADRATURE_FINE, 0.0, 0.0, 0.002, 0.002);
        normalize_quadrature(q);
        snprintf(name, sizeof name, "Hertz on %d cells", points->count);
        compare_limit_with_quadrature(name, &patch, q, t1, t2, 0.002);
    }
    free(points);
    free(q);
}

/* Twist, at a point, of the ground (shape A of the pair) relative to the body. */
static void ground_twist_at_point(const struct tact_body *body, const double *point, double out[6])
{
    double arm[3], turn[3];
    tact_v3_sub(arm, point, body->pose.position);
    tact_v3_cross(turn, body->twist + 3, arm);
    tact_v3_add(out, body->twist, turn);
    tact_v3_scale(out, out, -1.0);
    tact_v3_scale(out + 3, body->twist + 3, -1.0);
}

/* Deviation of the contact's friction from that of its parts at the slip velocity after the solve,
 * over mu N; the work of the contact's impulse [J] is added to *work. */
static double friction_deviation_from_points(struct world_scene *s, const struct tact_body *start,
                                             double mu, double *work)
{
    const struct tact_contact *c = tact_world_contact(s->world, 0);
    double before[6], after[6], at[6], f[3];
    ground_twist_at_point(start, c->patch.center, before);
    ground_twist_at_point(tact_world_body(s->world, 0), c->patch.center, after);
    for (int i = 0; i < 6; i++) {
        *work += 0.5 * s->options.period * c->wrench[i] * (before[i] + after[i]);
    }
    tact_m3_mul_v3(at, c->patch.frame, after);
    tact_m3_mul_v3(at + 3, c->patch.frame, after + 3);
    double d[2] = {-c->impulse[5] / c->impulse[0], c->impulse[4] / c->impulse[0]};
    const double v[2] = {d[1] * at[3] - at[1], -at[2] - d[0] * at[3]};
    friction_force_and_power_of_points(&c->patch.points, v, -at[3], f);
    double force = mu * c->impulse[0], speed = hypot(hypot(v[0], v[1]), at[3] * c->spin_arm);
    return speed < 1e-3 ? 0.0
                        : hypot(c->impulse[1] - force * f[0], c->impulse[2] - force * f[1]) / force;
}

/* Slides a body of the shape, whose contact face is at the origin; returns the state in which it
 * comes to rest. */
static struct sliding_state slide_body_to_rest(struct world_scene *s,
                                               const struct tact_shape *shape, double area,
                                               double height, double mu, double inertia,
                                               const double *v)
{
    const double mass = 0.1, k = 1e9,
                 start_kinetic_energy =
                     0.5 * mass * (v[0] * v[0] + v[1] * v[1] + inertia * v[2] * v[2]);
    const double of[6] = {inertia * mass, inertia * mass, inertia * mass, 0.0, 0.0, 0.0};
    struct tact_body body = {.pose = tact_pose_identity()};
    struct tact_pose local = tact_pose_identity();
    struct tact_contact_law law = make_friction_law(mu, 0.003, 0.0);
    double work = 0.0, worst = 0.0;
    set_pressure_field_material(s, 0, k * 0.01, 0.01);
    add_scene_ground(s);
    assert_int_equal(tact_body_set_mass(&body, mass, of), 0);
    body.pose.position[2] = -mass * G / (k * area);
    assert_int_equal(tact_world_add_body(s->world, &body), 0);
    local.position[2] = height;
    add_scene_shape(s, 0, shape, &local, 1);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
    struct tact_body *b = tact_world_body(s->world, 0);
    tact_v3_set(b->twist, v[0], v[1], 0.0);
    b->twist[5] = v[2];
    struct sliding_state end = {{0.0}, {0.0}};
    for (int n = 0;
         n < 4000 &&
         tact_v3_dot(b->twist, b->twist) + tact_v3_dot(b->twist + 3, b->twist + 3) > 1e-16;
         n++) {
        double spin = b->twist[5];
        const struct tact_body start = *b;
        solve_scene_velocities(s);
        worst = fmax(worst, friction_deviation_from_points(s, &start, mu, &work));
        tact_world_integrate(s->world);
        end.x[2] += 0.5 * s->options.period * (spin + b->twist[5]);
    }
    end.x[0] = b->pose.position[0];
    end.x[1] = b->pose.position[1];
    double left = 0.5 * mass * tact_v3_dot(b->twist, b->twist);
    print_message("   friction within %.1e of its parts', work %.9f of the energy lost\n", worst,
                  -work / (start_kinetic_energy - left));
    assert_true(worst < 1e-8 && fabs(-work / (start_kinetic_energy - left) - 1.0) < 1e-6);
    assert_true(s->unsolved_ticks == 0 && left < 1e-12 * start_kinetic_energy);
    return end;
}

/* A disc and two feet that slide and spin: where they come to rest. */
static void soft_body_slides_and_spins_to_rest_as_by_quadrature(void **state)
{
    (void)state;
    static const double start_velocities[3][3] = {
        {0.5, 0.0, 15.0}, {0.6, 0.2, 5.0}, {0.05, 0.1, 25.0}};
    const double two_feet_boxes[12] = {-0.02, 0, 0, 0.01, 0.01, 0.02, 0.02, 0, 0, 0.01, 0.01, 0.02};
    const double mu = 0.4;
    struct pressure_quadrature *q = malloc(sizeof *q);
    for (int i = 0; i < 6; i++) {
        struct tact_world_options o = tact_world_options_default();
        struct sliding_state exact = {{0.0}, {0.0}};
        struct world_scene s;
        int disc = i % 2 == 0;
        double inertia = disc ? 0.5 * 4e-4 : 4e-4 + 1e-4 / 6.0;
        o.period = 2.5e-4;
        open_empty_scene(&s, &o);
        q->count = 0;
        if (disc) {
            add_quadrature_pressure(q, DISC, 24, 0.0, 0.0, 0.02, 0.02);
        } else {
            add_quadrature_pressure(q, UNIFORM, 12, -0.02, 0.0, 0.005, 0.005);
            add_quadrature_pressure(q, UNIFORM, 12, 0.02, 0.0, 0.005, 0.005);
        }
        normalize_quadrature(q);
        struct tact_shape shape = disc ? make_cylinder_mesh_shape(&s, 0.02, 0.02, 96)
                                       : make_shape_of_boxes(&s, two_feet_boxes, 2);
        memcpy(exact.v, start_velocities[i / 2], sizeof exact.v);
        slide_to_rest_by_quadrature(q, mu * G, inertia, &exact);
        struct sliding_state is = slide_body_to_rest(&s, &shape, disc ? PI * 4e-4 : 2e-4, 0.01, mu,
                                                     inertia, start_velocities[i / 2]);
        double far = hypot(exact.x[0], exact.x[1]);
        double off = hypot(is.x[0] - exact.x[0], is.x[1] - exact.x[1]) / far;
        print_message("%s %d: rests at (%.3f, %.3f) mm turned %.4f, exact (%.3f, %.3f) mm %.4f: "
                      "%.2f %% of the distance, %.2f %% of the angle\n",
                      disc ? "disc" : "feet", i / 2, 1e3 * is.x[0], 1e3 * is.x[1], is.x[2],
                      1e3 * exact.x[0], 1e3 * exact.x[1], exact.x[2], 100.0 * off,
                      100.0 * (is.x[2] / exact.x[2] - 1.0));
        assert_true(off < 0.01 && fabs(is.x[2] / exact.x[2] - 1.0) < 0.01);
        close_scene(&s);
    }
    free(q);
}

/* A soft ball on a face of a rigid box, which it touches in a disc of 1 mm, 0.2 mm or 0.04 mm:
 * where a body on it comes to rest that slides, v^2 / (2 mu g), or spins, I w^2 / (2 mu N k) with k
 * = 8/15 of the radius of the disc; both less half of a tick's way. */
static void bodies_on_tiny_patches_slide_and_spin_to_rest(void **state)
{
    (void)state;
    const double elastic_moduli_pa[3] = {5e6, 5e9, 5e12}, r = 0.008, mass = 0.01, mu = 0.3,
                 inertia = 1e-6;
    const double of[6] = {inertia, inertia, inertia, 0.0, 0.0, 0.0};
    for (int i = 0; i < 6; i++) {
        struct world_scene s;
        struct tact_world_options o = tact_world_options_default();
        struct tact_shape ball = make_sphere(r), block = box_of_sides(1.0, 1.0, 0.02);
        struct tact_pose pose_of_lower_block = tact_pose_identity(),
                         ball_above = pose_of_lower_block;
        struct tact_body body = {.pose = tact_pose_identity()};
        const struct tact_contact_law law = make_friction_law(mu, 0.003, 0.0);
        double depth = sqrt(mass * G / (PI * elastic_moduli_pa[i / 2])),
               arm = 8.0 / 15.0 * sqrt(2.0 * r * depth);
        double spin = i % 2 ? sqrt(2.0 * mu * mass * G * arm / inertia) : 0.0, turned = 0.0;
        open_empty_scene(&s, &o);
        set_pressure_field_material(&s, 1, elastic_moduli_pa[i / 2], r);
        pose_of_lower_block.position[2] = -0.01;
        add_scene_shape(&s, -1, &block, &pose_of_lower_block, 0);
        assert_int_equal(tact_body_set_mass(&body, mass, of), 0);
        body.pose.position[2] = -depth; /* the body's centre of mass is in its contact face */
        assert_int_equal(tact_world_add_body(s.world, &body), 0);
        ball_above.position[2] = r;
        add_scene_shape(&s, 0, &ball, &ball_above, 1);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        struct tact_body *b = tact_world_body(s.world, 0);
        b->twist[0] = i % 2 ? 0.0 : 0.3;
        b->twist[5] = spin;
        for (int n = 0; n < 2000 && (b->twist[0] > 1e-9 || b->twist[5] > 1e-9); n++) {
            step_scene(&s);
            turned += b->twist[5] * s.options.period;
        }
        double exact = i % 2 ? 1.0 - 0.5 * spin * s.options.period
                             : 0.09 / (2.0 * mu * G) - 0.15 * s.options.period;
        double is = i % 2 ? turned : b->pose.position[0];
        print_message("disc of %.3f mm %s %.6g, exact %.6g\n", 1e3 * sqrt(2.0 * r * depth),
                      i % 2 ? "turns by" : "slides by", is, exact);
        assert_true(fabs(is / exact - 1.0) < 0.01 && s.unsolved_ticks == 0);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_limits_of_flat_punches_equal_quadrature),
        cmocka_unit_test(friction_limits_of_soft_balls_equal_quadrature),
        cmocka_unit_test(friction_limits_of_a_soft_ball_on_triangles_equal_quadrature),
        cmocka_unit_test(friction_limit_of_hertz_patch_equals_quadrature),
        cmocka_unit_test(soft_body_slides_and_spins_to_rest_as_by_quadrature),
        cmocka_unit_test(bodies_on_tiny_patches_slide_and_spin_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
