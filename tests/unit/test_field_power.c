/*
 * Pressure laws p = q^m of pressure fields, Hertz's among them, against exact answers.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/pair/field/field_model_internal.h"
#include "support/field_bodies.h"
#include "support/random.h"
#include "support/world_scene.h"

#define G 9.81
#define PI 3.14159265358979323846

static const double pressure_exponents[] = {0.5, 0.75, 1.5, 2.0, 5.0};
enum { POWERS = sizeof pressure_exponents / sizeof *pressure_exponents };

static void assert_relatively_close(double is, double expected, double relative_tolerance)
{
    if (!(fabs(is - expected) <= relative_tolerance * fabs(expected))) {
        fail_msg("%.12g in place of %.12g: off by %.2e of it", is, expected, is / expected - 1.0);
    }
}

/* Field material with the pressure E d^m of a layer of thickness T = 1. */
static struct tact_field_material make_layer_material(double modulus, double power)
{
    return (struct tact_field_material){.modulus = modulus, .thickness = 1.0, .power = power};
}

/* The quadrature nodes integrate powers of u exactly; the library's limit surfaces have the
 * parameters that other quadratures gave for uniform, Hertz's and paraboloidal pressure. */
static void triangle_quadrature_rules_are_exact(void **state)
{
    (void)state;
    struct field_quadrature_rule rule;
    for (int i = 0; i < POWERS; i++) {
        tact_field_make_quadrature_rule(pressure_exponents[i], &rule);
        for (int k = 0; k < 2 * TACT_FIELD_NODES; k++) {
            double sum = 0.0, root = 0.0;
            for (int n = 0; n < TACT_FIELD_NODES; n++) {
                sum += rule.weight[n] * pow(rule.node[n], k);
                root += rule.root_weight[n] * pow(1.0 - rule.root[n] * rule.root[n], k / 4.0);
            }
            assert_relatively_close(sum, pressure_exponents[i] / (pressure_exponents[i] + k),
                                    1e-12);
            if (k % 4 == 0) {
                assert_relatively_close(
                    root, pressure_exponents[i] / (pressure_exponents[i] + k / 4.0), 1e-6);
            }
        }
    }
    static const double hertz_surface_coefficients[3] = {0.4458, -0.0049, 0.2988},
                        paraboloid[3] = {0.4139, -0.0359, 0.3370};
    for (int i = 0; i < 2; i++) {
        const double *known = i ? paraboloid : hertz_surface_coefficients;
        tact_field_make_quadrature_rule(i ? 1.0 : 0.5, &rule);
        for (double c = 0.1; c < 0.95; c += 0.1) {
            double is = rule.fit[0] + c * (rule.fit[1] + c * rule.fit[2]);
            double was = known[0] + c * (known[1] + c * known[2]);
            assert_true(fabs(is - was) < 0.01);
        }
    }
}

/* Integrals over a triangle of q^e, and of q^e times a coordinate x, by repeated halving; q and x
 * are linear, given at the corners. */
static void integrate_by_repeated_halving(double e, const double *q, const double *x, int depth,
                                          double area, double *sum, double *first)
{
    if (!depth) {
        double p = pow((q[0] + q[1] + q[2]) / 3.0, e);
        *sum += area * p;
        *first += area * p * (x[0] + x[1] + x[2]) / 3.0;
        return;
    }
    for (int k = 0; k < 4; k++) {
        double a[3], b[3];
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, of = k < 3 ? k : i;
            a[i] = 0.5 * (q[i] + q[k < 3 ? of : j]);
            b[i] = 0.5 * (x[i] + x[k < 3 ? of : j]);
        }
        integrate_by_repeated_halving(e, a, b, depth - 1, 0.25 * area, sum, first);
    }
}

/* Load and first moment of random polygons against integration by halving; exponent 1 against the
 * closed form. */
static void pressure_integrals_over_polygons_are_exact(void **state)
{
    (void)state;
    double worst = 0.0, linear = 0.0;
    for (int n = 0; n < campaign_trial_count(60, 2000); n++) {
        struct contact_surface_polygon p = {.corners = 3, .normal = {0, 0, 1}, .power = 1.0};
        double q[3], load = 0.0, lever = 0.0, at[3];
        tact_v3_set(p.gradient_a, uniform(-5, 5), uniform(-5, 5), uniform(-5, 5));
        for (int k = 0; k < 3; k++) {
            tact_v3_set(p.corner[k], uniform(-1, 1), uniform(-1, 1), 0.0);
        }
        double least = INFINITY;
        for (int k = 0; k < 3; k++) {
            q[k] = tact_v3_dot(p.gradient_a, p.corner[k]);
            least = fmin(least, q[k]);
        }
        /* pressures from 0 on, or well above 0 */
        p.value_at_origin = -least + (n % 3 ? uniform(0, n % 3 == 1 ? 1 : 30) : 0.0);
        for (int k = 0; k < 3; k++) {
            q[k] += p.value_at_origin;
            at[k] = p.corner[k][0] - p.corner[0][0];
        }
        tact_field_integrate_polygon(&p);
        if (p.area_moments.area < 1e-3) {
            continue;
        }
        struct contact_surface_polygon polygon_by_power_law = p;
        tact_field_integrate_pressure_law(&polygon_by_power_law);
        linear = fmax(linear, fabs(polygon_by_power_law.load / p.load - 1.0));
        linear = fmax(
            linear, fabs(polygon_by_power_law.stiffness_moments.area / p.area_moments.area - 1.0));
        for (int k = 0; k < 9; k++) {
            linear = fmax(linear, fabs(polygon_by_power_law.stiffness_moments.second[k] -
                                       p.area_moments.second[k]) /
                                      p.area_moments.area);
        }
        p.power = pressure_exponents[n % POWERS];
        tact_field_integrate_polygon(&p);
        integrate_by_repeated_halving(p.power, q, at, 6, p.area_moments.area, &load, &lever);
        worst = fmax(worst, fabs(p.load / load - 1.0));
        assert_true(fabs(p.load / load - 1.0) < 2e-3);
        assert_true(fabs(p.lever[0] - lever) < 2e-3 * load);
        if (p.power > 1.0) {
            double spring = 0.0, unused = 0.0;
            integrate_by_repeated_halving(p.power - 1.0, q, at, 6, p.area_moments.area, &spring,
                                          &unused);
            assert_true(fabs(p.stiffness_moments.area / (p.power * spring) - 1.0) < 2e-3);
        }
    }
    printf("linear: %.1e; others: %.1e off halving six times\n", linear, worst);
    assert_true(linear < 1e-12);
}

/* A rigid punch of half side s, tilted about y in a half-space of pressure kappa d^m: exact force,
 * torque and stiffness. */
static void force_under_flat_punches_follows_the_pressure_power(void **state)
{
    (void)state;
    const double s = 0.01, kappa = 1e6, d = 1e-3;
    for (int i = 0; i < POWERS; i++) {
        for (int tilted = 0; tilted < 3; tilted++) {
            double m = pressure_exponents[i], tilt = tilted == 2 ? 0.15 : 0.02 * tilted;
            struct tact_pose at = tact_pose_identity(), up = at;
            struct tact_pressure_field *soft, *hard;
            struct tact_mesh *mesh;
            struct tact_field_contact c;
            const struct tact_shape floor = {.kind = TACT_SHAPE_HALFSPACE};
            const struct tact_field_material of = make_layer_material(kappa, m);
            assert_int_equal(tact_field_of_shape(&floor, &of, &soft, NULL), 0);
            hard = make_rigid_box_field(s, s, s, &mesh);
            up = pose_from_position_and_rotation(0, 0, 0, 0, tilt,
                                                 0); /* the tilt lowers the punch's edge at x = s */
            up.position[0] = -s * sin(tilt);
            up.position[2] = s * cos(tilt) - d;
            assert_int_equal(find_field_contact(hard, &up, soft, &at, &c), 1);
            /* Along the bottom the depth is d + l sin(tilt); the pressure on the two tilted sides
             * adds the vertical force `side`, and the horizontal forces cancel. */
            double slope = sin(tilt), lowest = fmax(0.0, d - s * slope), deepest = d + s * slope;
            double force = tilted
                               ? 2.0 * s * cos(tilt) * (pow(deepest, m + 1) - pow(lowest, m + 1)) /
                                     (slope * (m + 1))
                               : 4.0 * s * s * pow(d, m);
            double side = 2.0 * s * sin(tilt) * (pow(deepest, m + 1) - pow(lowest, m + 1)) /
                          (cos(tilt) * (m + 1));
            force = kappa * (force + side);
            double stiffness = tilted ? 2.0 * s * (1.0 / tan(tilt) + tan(tilt)) * kappa *
                                            (pow(deepest, m) - pow(lowest, m))
                                      : 4.0 * s * s * kappa * m * pow(d, m - 1);
            assert_relatively_close(c.wrench[2], force, 1e-11);
            /* Rounding of the rim by 1e-17 m leaves out the part (1e-17 / d)^m of the force, which
             * matters on the sides. */
            assert_relatively_close(c.stiffness[14], stiffness, m < 1.0 ? 1e-7 : 1e-10);
            assert_true(fabs(c.wrench[0]) < 1e-11 * force && fabs(c.wrench[1]) < 1e-11 * force);
            assert_relatively_close(c.peak, kappa * pow(deepest, m), 1e-11);
            tact_field_free(soft);
            tact_field_free(hard);
            tact_mesh_free(mesh);
        }
    }
}

/* Stiffness of two soft boxes of one power against differences of the wrench, and the work of the
 * force round a closed path. */
static void field_force_has_its_stiffness_and_no_net_work(void **state)
{
    (void)state;
    for (int i = 0; i < POWERS; i++) {
        const struct tact_field_material of = make_layer_material(1e5, pressure_exponents[i]);
        struct tact_shape a = box_of_sides(0.04, 0.06, 0.02), b = box_of_sides(0.03, 0.03, 0.03);
        struct tact_pressure_field *fa, *fb;
        struct tact_pose pa = tact_pose_identity();
        struct tact_field_contact c;
        double worst = 0.0, net = 0.0, moved = 0.0, last[3] = {0, 0, 0}, before[3] = {0, 0, 0};
        assert_int_equal(tact_shape_tessellate(&a), 0);
        assert_int_equal(tact_shape_tessellate(&b), 0);
        assert_int_equal(tact_field_of_shape(&a, &of, &fa, NULL), 0);
        assert_int_equal(tact_field_of_shape(&b, &of, &fb, NULL), 0);
        for (int k = 0; k < 3; k++) {
            struct tact_pose pb =
                pose_from_position_and_rotation(0.003, 0.002, 0.021, 0.3, 0.2, 0.4);
            struct tact_field_contact up, down;
            const double h = 1e-7;
            assert_int_equal(find_field_contact(fb, &pb, fa, &pa, &c), 1);
            pb.position[k] += h;
            find_field_contact(fb, &pb, fa, &pa, &up);
            pb.position[k] -= 2.0 * h;
            find_field_contact(fb, &pb, fa, &pa, &down);
            for (int r = 0; r < 3; r++) {
                double is = -(up.wrench[r] - down.wrench[r]) / (2.0 * h);
                worst = fmax(worst, fabs(is - c.stiffness[6 * r + k]) / fabs(c.stiffness[14]));
            }
        }
        const int steps = 1600;
        for (int n = 0; n <= steps; n++) {
            double t = 2.0 * PI * n / steps;
            struct tact_pose pb = pose_from_position_and_rotation(
                0.004 * cos(t), 0.003 * sin(t), 0.0225 + 0.002 * sin(t), 0.3, 0.2, 0.4);
            assert_int_equal(find_field_contact(fb, &pb, fa, &pa, &c), 1);
            for (int k = 0; n && k < 3; k++) {
                double work = 0.5 * (c.wrench[k] + last[k]) * (pb.position[k] - before[k]);
                net += work;
                moved += fabs(work);
            }
            memcpy(last, c.wrench, sizeof last);
            memcpy(before, pb.position, sizeof before);
        }
        printf("power %g: stiffness %.1e off differences, net work %.1e of the work moved\n",
               pressure_exponents[i], worst, fabs(net) / moved);
        /* For an exponent below 1, much of the stiffness is within rounding distance of the rim. */
        assert_true(worst < (pressure_exponents[i] < 1.0 ? 1e-5 : 1e-6) &&
                    fabs(net) < 1e-7 * moved);
        tact_field_free(fa);
        tact_field_free(fb);
        tact_shape_release(&a);
        tact_shape_release(&b);
    }
}

/* Measures the patch that the model makes of a ball and a half-space. Returns what the model does.
 */
static int measure_ball_on_halfspace(const struct tact_material *ball_material, double radius,
                                     double depth, const struct tact_material *floor_material,
                                     struct tact_patch *patch)
{
    const struct tact_contact_model *model = tact_contact_model_find("field");
    const struct tact_shape ball = make_sphere(radius), floor = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_pose at = tact_pose_identity(), up = at;
    const struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_rigid_law(0.5);
    struct tact_pair_piece piece[TACT_PIECES];
    void *a = NULL, *b = NULL;
    up.position[2] = radius - depth;
    assert_int_equal(model->prepare(model, &ball, ball_material, &a, NULL), 0);
    assert_int_equal(model->prepare(model, &floor, floor_material, &b, NULL), 0);
    struct tact_pair_query q = {.model = model,
                                .a = &ball,
                                .b = &floor,
                                .data_a = a,
                                .data_b = b,
                                .pose_a = &up,
                                .pose_b = &at,
                                .law = &law,
                                .options = &o,
                                .most = 1};
    const int rc = model->measure(&q, patch, piece);
    model->release(a);
    model->release(b);
    return rc;
}

static void measure_patch_of_soft_ball(const struct tact_material *ball_material, double radius,
                                       double depth, const struct tact_material *floor_material,
                                       struct tact_patch *patch)
{
    assert_int_equal(measure_ball_on_halfspace(ball_material, radius, depth, floor_material, patch),
                     0);
}

/* Two soft solids whose pressures have different powers have no surface of equal pressure in closed
 * form: a caller's pair of them is refused, as in a scene. */
static void pressures_of_different_powers_are_refused(void **state)
{
    (void)state;
    const struct tact_material ball = {.field = {.modulus = 1e5, .thickness = 0.01, .power = 1.0}},
                               floor = {.field = {.modulus = 1e5, .thickness = 0.01, .power = 0.5}};
    struct tact_patch patch;
    assert_int_equal(measure_ball_on_halfspace(&ball, 0.01, 1e-3, &floor, &patch), -ERANGE);
    assert_int_equal(measure_ball_on_halfspace(&ball, 0.01, 1e-3, &ball, &patch), 0);
}

/* A rigid ball in a soft half-space: F = 2 pi kappa (d^(m + 2) / (m + 2) + (R - d) d^(m + 1) / (m +
 * 1)), K its derivative, arm by quadrature. A modulus alone: Hertz's force, patch and torsion arm.
 */
static void force_of_balls_with_any_pressure_power_is_exact(void **state)
{
    (void)state;
    const double r = 0.02, kappa = 1e6;
    static const struct tact_material rigid_material;
    struct tact_patch p;
    for (int i = 0; i < POWERS; i++) {
        double m = pressure_exponents[i];
        const struct tact_material soft = {.field = make_layer_material(kappa, m)};
        for (double d = 0.001; d < 0.02; d *= 3.0) {
            double arm = 0.0;
            measure_patch_of_soft_ball(&rigid_material, r, d, &soft, &p);
            double force = 2.0 * PI * kappa * pow(d, m + 1) * (d / (m + 2) + (r - d) / (m + 1));
            /* derivative of the force by d; the ball's centre moves with d */
            double slope = 2.0 * PI * kappa * pow(d, m) * (d + (r - d) - d / (m + 1));
            assert_relatively_close(p.wrench[0], force, 1e-12);
            assert_relatively_close(p.stiffness[0], slope, 1e-12);
            enum { FINE = 20000 };
            /* integrand of the torsion moment: p rho 2 pi rho d rho */
            for (int k = 0; k < FINE; k++) {
                double rho = p.semi[0] * (k + 0.5) / FINE,
                       depth = sqrt(r * r - rho * rho) - (r - d);
                arm += 2.0 * PI * rho * rho * kappa * pow(fmax(depth, 0.0), m) * p.semi[0] / FINE;
            }
            assert_relatively_close(p.spin_arm, arm / force, 1e-5);
        }
    }
    const double effective_modulus = 1e6, approach = 1e-5;
    const struct tact_material hertz_material = {.modulus = effective_modulus};
    measure_patch_of_soft_ball(&hertz_material, r, 0.5 * approach, &rigid_material, &p);
    double force = 4.0 / 3.0 * effective_modulus * sqrt(r) * pow(approach, 1.5),
           a = sqrt(r * approach);
    assert_relatively_close(p.wrench[0], force, approach / r);
    assert_relatively_close(p.semi[0], a, approach / r);
    assert_relatively_close(p.spin_arm, 3.0 * PI / 16.0 * a, approach / r);
    /* the ball is deformed by half of the approach */
    assert_relatively_close(p.stiffness[0], 4.0 * effective_modulus * a, approach / r);
}

/* A cylinder on its side with a modulus alone: half width of Hertz's line contact under its weight,
 * 2 sqrt(N R / (pi E* L)). */
static void resting_depth_of_a_ball_is_that_of_hertz(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_shape rod = {.kind = TACT_SHAPE_CYLINDER, .size = {0.02, 0.03}};
    const struct tact_material hertz_material = {.modulus = 2e4};
    struct tact_contact_law law = make_rigid_law(0.5);
    const double place[3] = {0.0, 0.0, 0.019}, mass = 1.0;
    law.model = tact_contact_model_find("field");
    law.dissipation = 0.01;
    open_empty_scene(&s, NULL);
    add_scene_ground(&s);
    add_scene_solid(&s, &rod, mass, place, 0.0);
    assert_int_equal(tact_world_set_material(s.world, 1, &hertz_material), 0);
    struct tact_body *body = tact_world_body(s.world, 0);
    body->pose.quat_wxyz[0] = body->pose.quat_wxyz[1] = sqrt(0.5);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    run_scene_for_seconds(&s, 1.0);
    const struct tact_contact *c = tact_world_contact(s.world, 0);
    double exact = 2.0 * sqrt(mass * G * 0.02 / (PI * 2e4 * 0.06));
    double is = fmin(c->patch.semi[0], c->patch.semi[1]) * sqrt(3.0) / 2.0; /* of a rectangle */
    printf("half width %.5f mm, Hertz %.5f mm\n", 1e3 * is, 1e3 * exact);
    assert_relatively_close(is, exact, 0.03);
    close_scene(&s);
}

/* Boxes and balls dropped on a soft half-space: kinetic and gravity energy never pass the start's.
 */
static void drops_with_any_pressure_power_gain_no_energy(void **state)
{
    (void)state;
    int energy_gaining_run_count = 0, runs = 0;
    for (int n = 0; n < campaign_trial_count(60, 2000); n++) {
        struct tact_world_options o = tact_world_options_default();
        struct tact_contact_law law = make_rigid_law(n % 2 ? 0.5 : 0.0);
        struct tact_shape box = box_of_sides(0.04, 0.03, 0.02), ball = make_sphere(0.015);
        double power = pressure_exponents[n / 4 % POWERS];
        const struct tact_material soft = {
            .field = {.modulus = pow(10.0, uniform(4, 8)), .thickness = 0.01, .power = power}};
        const double place[3] = {0.0, 0.0, 0.075};
        struct world_scene s;
        double most = -INFINITY;
        law.model = tact_contact_model_find("field");
        law.dissipation = n / 2 % 2 ? 0.003 : 0.0;
        o.period = n % 3 ? 1e-3 : 2.5e-4;
        open_empty_scene(&s, &o);
        assert_int_equal(tact_world_set_material(s.world, 0, &soft), 0);
        add_scene_ground(&s);
        add_scene_solid(&s, n % 5 ? &box : &ball, 0.1, place, 0.0);
        struct tact_body *body = tact_world_body(s.world, 0);
        random_unit_quaternion(body->pose.quat_wxyz);
        for (int k = 0; k < 3; k++) {
            body->twist[3 + k] = uniform(-8.0, 8.0);
        }
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        double start = compute_phase_corrected_energy(&s);
        for (int i = 0; i < (int)(0.3 / o.period); i++) {
            step_scene(&s);
            most = fmax(most, compute_phase_corrected_energy(&s) / start - 1.0);
        }
        if (most > 1e-6) {
            printf("power %g, E %g, h %g: %.1e over the start\n", power, soft.field.modulus,
                   o.period, most);
        }
        energy_gaining_run_count += most > 1e-6;
        runs++;
        close_scene(&s);
    }
    printf("%d drops, %d rose\n", runs, energy_gaining_run_count);
    assert_int_equal(energy_gaining_run_count, 0);
}

/* Two soft fields of different power have no contact; materials out of range are refused. */
static void invalid_pressure_powers_are_refused(void **state)
{
    (void)state;
    const struct tact_shape floor = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_shape box = box_of_sides(0.04, 0.04, 0.04);
    const struct tact_field_material of[2] = {make_layer_material(1e5, 1.0),
                                              make_layer_material(1e5, 0.5)};
    struct tact_pressure_field *a, *b;
    struct tact_field_contact c;
    struct tact_pose at = tact_pose_identity();
    struct tact_world_options o = tact_world_options_default();
    struct tact_world *world;
    assert_int_equal(tact_shape_tessellate(&box), 0);
    assert_int_equal(tact_field_of_shape(&floor, &of[0], &a, NULL), 0);
    assert_int_equal(tact_field_of_shape(&box, &of[1], &b, NULL), 0);
    assert_int_equal(tact_field_touch(a, &at, b, &at, shared_field_scratch(), &c), -ENOTSUP);
    assert_true(isnan(tact_field_energy(a, &at, b, &at)));
    tact_field_free(a);
    tact_field_free(b);
    tact_shape_release(&box);
    assert_int_equal(tact_world_create(&o, &world), 0);
    static const double bad[] = {-1.0, 0.49, 6.0, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct tact_material soft = {.field = make_layer_material(1e5, bad[i])};
        assert_int_equal(tact_world_set_material(world, 0, &soft), -EINVAL);
    }
    tact_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangle_quadrature_rules_are_exact),
        cmocka_unit_test(pressure_integrals_over_polygons_are_exact),
        cmocka_unit_test(force_under_flat_punches_follows_the_pressure_power),
        cmocka_unit_test(field_force_has_its_stiffness_and_no_net_work),
        cmocka_unit_test(force_of_balls_with_any_pressure_power_is_exact),
        cmocka_unit_test(resting_depth_of_a_ball_is_that_of_hertz),
        cmocka_unit_test(drops_with_any_pressure_power_gain_no_energy),
        cmocka_unit_test(pressures_of_different_powers_are_refused),
        cmocka_unit_test(invalid_pressure_powers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
