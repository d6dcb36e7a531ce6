/* Shapes: mass properties compared with independent integrals, and refused sizes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "contact/shape/shape.h"

static void assert_near(double value, double exact, double tolerance)
{
    if (!(fabs(value - exact) <= tolerance * fabs(exact) + 1e-300)) {
        fail_msg("%.17g is not %.17g to %.1e", value, exact, tolerance);
    }
}

/* A capsule cut into thin discs: each adds its own inertia and that of its distance. */
static void mass_properties_of_a_capsule_are_exact(void **unused)
{
    (void)unused;
    const double pi = 3.14159265358979323846, r = 0.008, l = 0.02;
    struct tact_shape capsule = {.kind = TACT_SHAPE_CAPSULE, .size = {r, l, 0.0}};
    struct tact_shape_mass mass;
    double v = 0.0, inertia_across_axis = 0.0, inertia_about_axis = 0.0;
    const int n = 200000;
    for (int i = 0; i < n; i++) {
        double dz = 2.0 * (r + l) / n, z = -r - l + (i + 0.5) * dz;
        double axial_distance_beyond_cylinder = fmax(fabs(z) - l, 0.0),
               r2 = r * r - axial_distance_beyond_cylinder * axial_distance_beyond_cylinder;
        double m = pi * r2 * dz;
        v += m;
        inertia_about_axis += m * r2 / 2.0;
        inertia_across_axis += m * (r2 / 4.0 + z * z);
    }
    tact_shape_mass(&capsule, &mass);
    assert_near(mass.volume, v, 1e-8);
    assert_near(mass.inertia[0], inertia_across_axis, 1e-8);
    assert_near(mass.inertia[4], inertia_across_axis, 1e-8);
    assert_near(mass.inertia[8], inertia_about_axis, 1e-8);
    assert_true(mass.inertia[1] == 0.0 && mass.centroid[2] == 0.0);
}

static void mass_properties_of_shapes_agree_with_integrals(void **unused)
{
    (void)unused;
    const double pi = 3.14159265358979323846;
    struct tact_shape_mass mass;
    struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {2.0}};
    tact_shape_mass(&ball, &mass);
    assert_near(mass.volume, 32.0 / 3.0 * pi, 1e-15);
    assert_near(mass.inertia[8], 0.4 * 4.0 * mass.volume, 1e-15);
    struct tact_shape box = {.kind = TACT_SHAPE_BOX, .size = {1.0, 2.0, 3.0}}, same = box;
    struct tact_shape_mass mass_properties_of_mesh;
    tact_shape_mass(&box, &mass);
    assert_near(mass.volume, 48.0, 1e-15);
    assert_near(mass.inertia[0], 48.0 * 13.0 / 3.0, 1e-15);
    assert_int_equal(tact_shape_tessellate(&same), 0);
    same.kind = TACT_SHAPE_CONVEX;
    tact_shape_mass(&same, &mass_properties_of_mesh);
    for (int i = 0; i < 9; i += 4) {
        assert_near(mass_properties_of_mesh.inertia[i], mass.inertia[i], 1e-14);
    }
    tact_shape_release(&same);
    struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};
    tact_shape_mass(&ground, &mass);
    assert_true(isinf(mass.volume) && isinf(tact_shape_radius(&ground)));
}

static void invalid_shape_sizes_are_refused(void **unused)
{
    (void)unused;
    static const struct tact_shape bad[] = {
        {.kind = TACT_SHAPE_SPHERE, .size = {0.0}},
        {.kind = TACT_SHAPE_SPHERE, .size = {NAN}},
        {.kind = TACT_SHAPE_CAPSULE, .size = {0.1, -1.0}},
        {.kind = TACT_SHAPE_BOX, .size = {1.0, 1.0, 0.0}},
        {.kind = TACT_SHAPE_BOX, .size = {1.0, INFINITY, 1.0}},
        {.kind = TACT_SHAPE_MESH},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tact_shape s = bad[i];
        assert_int_equal(tact_shape_tessellate(&s), -EINVAL);
    }
    struct tact_shape capsule = {.kind = TACT_SHAPE_CAPSULE, .size = {0.1, 0.2}};
    assert_int_equal(tact_shape_faces(&capsule), TACT_FACES_CURVED);
    assert_near(tact_shape_radius(&capsule), 0.3, 1e-15);
    assert_int_equal(tact_shape_tessellate(&capsule), 0);
    /* tessellating a second time frees the first mesh */
    assert_int_equal(tact_shape_tessellate(&capsule), 0);
    assert_true(capsule.mesh == capsule.owned && capsule.mesh->triangle_count > 1500);
    double radius = tact_shape_radius(&capsule);
    assert_true(radius >= capsule.mesh->radius - 1e-12 && radius < 0.302);
    tact_shape_release(&capsule);
    assert_null(capsule.mesh);
    struct tact_shape box = {.kind = TACT_SHAPE_BOX, .size = {2.0, 3.0, 6.0}};
    assert_int_equal(tact_shape_faces(&box), TACT_FACES_FLAT);
    assert_near(tact_shape_radius(&box), 7.0, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_properties_of_a_capsule_are_exact),
        cmocka_unit_test(mass_properties_of_shapes_agree_with_integrals),
        cmocka_unit_test(invalid_shape_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
