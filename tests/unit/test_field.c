/*
 * Pressure fields: contact surfaces against exact answers, and what is refused.
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
#include "contact/moments/moments.h"
#include "support/field_bodies.h"
#include "support/random.h"

#define PI 3.14159265358979323846

static void assert_close(double is, double expected, double relative_tolerance)
{
    if (!(fabs(is - expected) <= relative_tolerance * fabs(expected))) {
        fail_msg("%.15g in place of %.15g: off by %.2e of it", is, expected, is / expected - 1.0);
    }
}

/* A soft half-space exerts the force k V at the centroid of the displaced volume, as in
 * hydrostatics. */
static void box_in_a_soft_halfspace_floats_as_in_water(void **state)
{
    (void)state;
    struct tact_mesh *mesh;
    struct tact_pressure_field *box = make_rigid_box_field(0.02, 0.03, 0.01, &mesh),
                               *plane = make_halfspace_field(1e6);
    struct tact_pose floor = tact_pose_identity();
    struct tact_pose pose = pose_from_position_and_rotation(0.01, 0.02, -0.004, 0.3, -0.2, 0.5);
    struct tact_shape shape = {.kind = TACT_SHAPE_MESH, .mesh = mesh};
    struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_field_contact c, other;
    struct tact_moments m;
    double w[6], zero[3] = {0.0};
    assert_int_equal(find_field_contact(box, &pose, plane, &floor, &c), 1);
    field_wrench_about_point(&c, zero, w);
    assert_close(w[2], 33.31348957497, 1e-12);
    assert_close(w[3], 0.52542853, 1e-7);
    assert_close(w[4], -0.35469073, 1e-7);
    assert_true(fabs(w[0]) + fabs(w[1]) + fabs(w[5]) < 1e-13);
    assert_int_equal(tact_moments_pair(&shape, &pose, &ground, &floor, NULL, NULL, &m), 1);
    assert_close(w[2], 1e6 * m.volume, 1e-13);
    assert_close(w[3], 1e6 * m.volume * m.centroid[1], 1e-13);
    assert_close(tact_field_energy(box, &pose, plane, &floor), -1e6 * m.volume * m.centroid[2],
                 1e-12);
    assert_int_equal(find_field_contact(plane, &floor, box, &pose, &other), 1); /* either order */
    for (int k = 0; k < 6; k++) {
        assert_true(fabs(other.wrench[k] + c.wrench[k]) < 1e-12 * w[2]);
    }
    tact_field_free(box);
    tact_field_free(plane);
    tact_mesh_free(mesh);
}

/* The exact force between two balls with pressure p = E (1 - r / R), as an integral over
 * polynomials of the pressure: section 6 of the paper. */
static double exact_force_of_two_soft_balls(double r1, double r2, double e1, double e2,
                                            double distance)
{
    const int n = 20000; /* Simpson's rule: rho^2 is a polynomial of degree 4 */
    double most = (r1 + r2 - distance) / (r1 / e1 + r2 / e2), sum = 0.0;
    for (int i = 0; i <= n; i++) {
        double p = most * i / n, a = r1 * (1.0 - p / e1), b = r2 * (1.0 - p / e2);
        double x = (a * a - b * b + distance * distance) / (2.0 * distance);
        sum += (i % n ? 2.0 + 2.0 * (i % 2) : 1.0) * (a * a - x * x);
    }
    return PI * sum * most / (3.0 * n);
}

/* The energy of two such balls: the work of their force until they part, by Simpson's rule. */
static double exact_energy_of_two_soft_balls(double r1, double r2, double e1, double e2,
                                             double distance)
{
    const int n = 40;
    double way = r1 + r2 - distance, sum = 0.0;
    for (int i = 0; i <= n; i++) {
        double force = exact_force_of_two_soft_balls(r1, r2, e1, e2, distance + way * i / n);
        sum += (i % n ? 2.0 + 2.0 * (i % 2) : 1.0) * force;
    }
    return sum * way / (3.0 * n);
}

/* Polyhedra inscribed in balls: the error of their force and energy falls with the square of their
 * edge length. */
static void contact_of_polyhedra_converges_to_that_of_balls(void **state)
{
    (void)state;
    const double radius[3] = {0.03, 0.02, 0.02}, apart[3] = {0.054, 0.046, 0.046};
    const double modulus[3] = {1e5, 1e5, 4e5}, exact[3] = {2.63893783, 1.13631436, 1.63324750};
    struct tact_pose at = tact_pose_identity();
    assert_close(exact_energy_of_two_soft_balls(0.03, 0.03, 1e5, 1e5, 0.054), 5.3721234e-3, 1e-8);
    for (int i = 0; i < 3; i++) {
        double off[3], energy_off[3];
        double energy = exact_energy_of_two_soft_balls(0.03, radius[i], 1e5, modulus[i], apart[i]);
        assert_close(exact_force_of_two_soft_balls(0.03, radius[i], 1e5, modulus[i], apart[i]),
                     exact[i], 1e-8);
        for (int level = 2; level < 5; level++) {
            struct tact_pressure_field *a = make_ball_field(0.03, 1e5, level),
                                       *b = make_ball_field(radius[i], modulus[i], level);
            struct tact_pose place =
                pose_from_position_and_rotation(0.0, 0.0, apart[i], 0.31, 0.17, 0.05);
            struct tact_field_contact c;
            assert_int_equal(find_field_contact(a, &at, b, &place, &c), 1);
            off[level - 2] = 1.0 + c.wrench[2] / exact[i];
            energy_off[level - 2] = 1.0 - tact_field_energy(a, &at, b, &place) / energy;
            printf("balls %d, level %d: %zu polygons, force %.2f %% off, energy %.2f %%\n", i,
                   level, c.polygons, 100.0 * off[level - 2], 100.0 * energy_off[level - 2]);
            tact_field_free(a);
            tact_field_free(b);
        }
        assert_true(off[2] > 0.0 && off[1] < 0.3 * off[0] && off[2] < 0.3 * off[1]);
        assert_true(energy_off[2] > 0.0 && energy_off[1] < 0.35 * energy_off[0] &&
                    energy_off[2] < 0.3 * energy_off[1]);
        /* of two levels, without the part that falls with the square of the edges */
        assert_true(fabs(4.0 * energy_off[2] - energy_off[1]) < 3.0 * 0.01);
    }
}

/* Force and stiffness in closed form: slabs face to face, a box on its edge, a flat punch. */
static void flat_field_contacts_agree_with_closed_forms(void **state)
{
    (void)state;
    struct tact_mesh *mesh;
    struct tact_pose at = tact_pose_identity();
    struct tact_pressure_field *cube = field_box(0.03, 0.03, 0.03, 1e5, 4),
                               *plane = make_halfspace_field(2e6);
    struct tact_pressure_field *rigid_punch_field = make_rigid_box_field(0.01, 0.01, 0.02, &mesh);
    struct tact_field_contact c;
    double k1 = 1e5 / 0.03, k2 = 2e6, d = 1e-3, s = 0.02;
    struct tact_pose pose_above_plane =
        pose_from_position_and_rotation(0.0, 0.0, 0.03 - d, 0.0, 0.0, 0.4);
    assert_int_equal(find_field_contact(cube, &pose_above_plane, plane, &at, &c), 1);
    /* The two layers are springs in series, except near the rim, where the cube's sides are nearer
     * than its face. */
    double series_stiffness = k1 * k2 / (k1 + k2),
           rimless_width = 0.06 - 2.0 * d * series_stiffness / k1;
    assert_close(c.wrench[2], k1 / 6.0 * (pow(0.06, 3) - pow(rimless_width, 3)), 1e-12);
    assert_close(c.stiffness[14], rimless_width * rimless_width * series_stiffness, 1e-12);
    assert_true(c.wrench[2] > 0.9 * 0.06 * 0.06 * d * series_stiffness);
    pose_above_plane = pose_from_position_and_rotation(0.0, 0.0, 0.02 - d, 0.0, 0.0, 0.0);
    assert_int_equal(find_field_contact(rigid_punch_field, &pose_above_plane, plane, &at, &c), 1);
    const double box_bottom_centre[3] = {0.0, 0.0, -d};
    double w[6];
    field_wrench_about_point(&c, box_bottom_centre, w);
    assert_close(c.wrench[2], 0.8, 1e-13);
    assert_close(c.stiffness[14], 800.0, 1e-13);
    assert_close(c.peak, k2 * d, 1e-13);
    /* Rolling stiffness about the centre of the punch's bottom, its sides included. */
    double z = c.centre[2] - box_bottom_centre[2];
    assert_close(c.stiffness[21] - 2.0 * z * c.stiffness[19] + z * z * c.stiffness[7],
                 k2 * pow(s, 4) / 12.0 + w[2] * d / 2.0, 1e-12);
    assert_true(fabs(c.stiffness[35]) < 1e-16);
    /* A box on its edge is a wedge of depth t. */
    double t = 2e-3, half = 0.01;
    tact_field_free(rigid_punch_field);
    tact_mesh_free(mesh);
    rigid_punch_field = make_rigid_box_field(half, 0.03, half, &mesh);
    pose_above_plane =
        pose_from_position_and_rotation(0.0, 0.0, half * sqrt(2.0) - t, 0.0, PI / 4.0, 0.0);
    assert_int_equal(find_field_contact(rigid_punch_field, &pose_above_plane, plane, &at, &c), 1);
    assert_close(c.wrench[2], k2 * t * t * 0.06, 1e-12);
    assert_close(c.stiffness[14], 2.0 * k2 * t * 0.06, 1e-12);
    tact_field_free(cube);
    tact_field_free(rigid_punch_field);
    tact_field_free(plane);
    tact_mesh_free(mesh);
}

/* A square punch of side s, d deep in a soft half-space, that is tilted by theta about the centre
 * of its bottom: the centre of pressure moves along the bottom by s^2 sin(theta) / (12 d), and the
 * line of the whole force, with that on the sides, goes through the centroid of the displaced
 * volume. */
static void tilt_of_a_punch_moves_its_pressure_centre(void **state)
{
    (void)state;
    const double s = 0.02, d = 1e-3, half = 0.02;
    struct tact_mesh *mesh;
    struct tact_pose at = tact_pose_identity();
    struct tact_pressure_field *plane = make_halfspace_field(2e6),
                               *punch = make_rigid_box_field(0.5 * s, 0.5 * s, half, &mesh);
    for (double tilt = 1e-3; tilt < 0.07; tilt *= 4.0) {
        double sn = sin(tilt), cs = cos(tilt);
        struct tact_pose up =
            pose_from_position_and_rotation(half * sn, 0.0, half * cs - d, 0.0, tilt, 0.0);
        const double bottom[3] = {0.0, 0.0, -d}, along[3] = {cs, 0.0, -sn}, out[3] = {sn, 0.0, cs};
        struct tact_field_contact c;
        struct contact_surface_of_fields of;
        double w[6], load = 0.0, first = 0.0;
        assert_int_equal(find_field_contact(punch, &up, plane, &at, &c), 1);
        field_wrench_about_point(&c, bottom, w);
        assert_int_equal(
            tact_field_find_contact_surface(plane, &at, punch, &up, shared_field_scratch(), &of),
            1);
        for (size_t i = 0; i < of.count; i++) {
            const struct contact_surface_polygon *p = &of.polygon[i];
            double arm[3];
            if (fabs(tact_v3_dot(p->normal, out)) > 0.99) { /* those of the bottom */
                tact_v3_sub(arm, p->corner[0], bottom);
                load += p->load;
                first += p->load * tact_v3_dot(arm, along) + tact_v3_dot(p->lever, along);
            }
        }
        /* height and centroid of the water line over the tilted bottom */
        double deep = d / cs, slope = sn / cs, spread = s * s / 12.0;
        double x = slope * spread / deep, z = 0.5 * (deep * deep + slope * slope * spread) / deep;
        printf("tilt %g: centre of pressure moves by %.9g m, s^2 theta / (12 d) is %.9g\n", tilt,
               first / load, spread * tilt / d);
        assert_close(first / load, spread * sn / d, 1e-11);
        assert_close(-w[4] / w[2], x * cs + z * sn, 1e-11);
        assert_close(w[2], 2e6 * s * s * deep, 1e-12);
    }
    tact_field_free(plane);
    tact_field_free(punch);
    tact_mesh_free(mesh);
}

/* Equal aligned cubes: where the two fields are equal in a whole volume there is no contact
 * surface, and the force jumps by a known amount. */
static void equal_pressure_gradients_make_a_known_force_jump(void **state)
{
    (void)state;
    const double h = 0.03, k = 1e5 / 0.03, delta = 0.002;
    struct tact_pressure_field *a = field_box(h, h, h, 1e5, 4), *b = field_box(h, h, h, 1e5, 4);
    struct tact_pose at = tact_pose_identity();
    const double exact_force_jump =
        k * (2.0 * h * delta * delta - 2.0 / 3.0 * delta * delta * delta);
    const double normal = k / 6.0 * (pow(2.0 * h, 3) - pow(2.0 * (h - delta), 3));
    struct tact_field_contact c;
    assert_close(exact_force_jump, 0.782222, 1e-6);
    for (int s = -1; s <= 1; s++) {
        struct tact_pose pose_above_plane =
            pose_from_position_and_rotation(s * 1e-7, 0.0, 2.0 * h - 2.0 * delta, 0.0, 0.0, 0.0);
        assert_int_equal(find_field_contact(a, &at, b, &pose_above_plane, &c), 1);
        printf("shifted by %+.0e m: side force %.9f N of %.9f, %zu pairs alike\n", s * 1e-7,
               c.wrench[0], exact_force_jump, c.alike);
        assert_close(c.wrench[2], -normal, 1e-4);
        if (s) {
            assert_close(c.wrench[0], -s * exact_force_jump, 1e-3);
        } else {
            assert_true(fabs(c.wrench[0]) < 1e-12 && c.alike > 0);
        }
    }
    tact_field_free(a);
    tact_field_free(b);
}

/* A rigid triangle in the face between two tetrahedra is assigned to exactly one of them, at any
 * rotation and in both poses. */
static void surface_along_a_cell_face_is_counted_once(void **state)
{
    (void)state;
    struct tact_mesh *mesh;
    struct tact_pressure_field *cube = field_box(0.03, 0.03, 0.03, 1e5, 4);
    struct tact_pressure_field *hard = make_rigid_box_field(0.02, 0.02, 0.02, &mesh);
    double worst = 0.0;
    for (int n = 0; n < 200; n++) {
        struct tact_pose pa = n ? random_pose(0.5) : tact_pose_identity(), pb, local;
        struct tact_field_contact c;
        /* A face of the rigid box in the plane x = 0, edges in the planes between the soft box's
         * tetrahedra. */
        local = pose_from_position_and_rotation(0.02, 0.0, n % 2 ? 0.02 : 0.0, 0.0, 0.0, 0.0);
        tact_pose_mul(&pb, &pa, &local);
        assert_int_equal(find_field_contact(cube, &pa, hard, &pb, &c), 1);
        double energy = tact_field_energy(cube, &pa, hard, &pb), exact = 0.0;
        const double step = 1e-5;
        for (int s = -1; s < 2; s += 2) {
            local.position[0] = 0.02 + s * step;
            tact_pose_mul(&pb, &pa, &local);
            exact -= s * tact_field_energy(cube, &pa, hard, &pb) / (2.0 * step);
        }
        double along[3] = {1.0, 0.0, 0.0}, x[3];
        tact_quat_rotate(x, pa.quat_wxyz, along);
        double is = -tact_v3_dot(x, c.wrench);
        worst = tact_max(worst, fabs(is - exact) * 0.02 / energy);
    }
    printf("faces in faces: force within %.1e of the energy's slope\n", worst);
    assert_true(worst < 1e-5);
    tact_field_free(cube);
    tact_field_free(hard);
    tact_mesh_free(mesh);
}

/* Invalid data of a pressure field is refused with a message that says what is wrong and where.
 */
static void invalid_pressure_fields_are_refused(void **state)
{
    (void)state;
    const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    const uint32_t one[4] = {0, 1, 2, 3}, two[8] = {0, 1, 2, 3, 1, 2, 3, 4};
    const uint32_t flat[4] = {0, 1, 2, 2}, thrice[12] = {0, 1, 2, 3, 1, 2, 3, 4, 1, 2, 3, 0};
    const uint32_t far[4] = {0, 1, 2, 9};
    const double none[5] = {0}, high[5] = {0, 0, 0, 0, 1}, not [5] = {0, NAN, 0, 0, 0};
    struct tact_pressure_field *field;
    struct tact_error err;
    const struct {
        const uint32_t *tets;
        size_t count;
        const double *p;
        const char *part;
    } bad[] = {
        {one, 1, none, "no pressure"}, {two, 2, high, "no pressure"},
        {flat, 1, high, "flat"},       {far, 1, high, "vertex 9"},
        {one, 1, not, "vertex 1"},     {two + 4, 1, high, "on the surface"},
        {thrice, 3, high, "pressure"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int rc = tact_field_tets(x, 5, bad[i].tets, bad[i].count, bad[i].p, &field, &err);
        printf("%s\n", err.text);
        assert_int_equal(rc, -EINVAL);
        assert_null(field);
        assert_non_null(strstr(err.text, bad[i].part));
    }
    struct tact_field_contact c;
    struct tact_field_scratch *small_field_scratch = tact_field_scratch_create(4);
    struct tact_pressure_field *a = make_ball_field(0.03, 1e5, 2),
                               *floor = make_halfspace_field(INFINITY);
    struct tact_pose at = tact_pose_identity(),
                     up = pose_from_position_and_rotation(0.0, 0.0, 0.02, 0.0, 0.0, 0.0);
    assert_int_equal(tact_field_touch(a, &at, a, &up, small_field_scratch, &c), -ENOSPC);
    assert_int_equal(tact_field_touch(floor, &at, floor, &up, shared_field_scratch(), &c),
                     -ENOTSUP);
    assert_true(isnan(tact_field_energy(floor, &at, floor, &up)));
    assert_int_equal(tact_field_halfspace(-1.0, &field), -EINVAL);
    tact_field_free(a);
    tact_field_free(floor);
    tact_field_scratch_destroy(small_field_scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_in_a_soft_halfspace_floats_as_in_water),
        cmocka_unit_test(contact_of_polyhedra_converges_to_that_of_balls),
        cmocka_unit_test(flat_field_contacts_agree_with_closed_forms),
        cmocka_unit_test(tilt_of_a_punch_moves_its_pressure_centre),
        cmocka_unit_test(equal_pressure_gradients_make_a_known_force_jump),
        cmocka_unit_test(surface_along_a_cell_face_is_counted_once),
        cmocka_unit_test(invalid_pressure_fields_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
