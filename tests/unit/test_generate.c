/* Generated solids: closed, of the requested size, and the same at each call. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "contact/mesh/generate.h"

static struct tact_mesh *generate_mesh(const struct tact_generate *parameters)
{
    struct tact_soup soup;
    struct tact_mesh *mesh = NULL;
    struct tact_error err = {.line = 0};
    assert_int_equal(tact_soup_generate(parameters, &soup, NULL), 0);
    if (tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles, soup.triangle_count,
                         &mesh, &err)) {
        fail_msg("%s: %s", tact_generate_names[parameters->kind], err.text);
    }
    tact_soup_free(&soup);
    return mesh;
}

/* Generates a solid, and compares its volume with the exact one. */
static void check_mesh_volume(const struct tact_generate *parameters, double volume,
                              double relative_tolerance)
{
    struct tact_mesh *mesh = generate_mesh(parameters);
    print_message("%-10s %6zu triangles, volume %.6e m^3, exact %.6e: off by %.4f %%\n",
                  tact_generate_names[parameters->kind], mesh->triangle_count, mesh->volume, volume,
                  100 * (mesh->volume / volume - 1));
    assert_true(fabs(mesh->volume / volume - 1) < relative_tolerance);
    if (parameters->kind != TACT_GENERATE_PRISM) {
        assert_true(fabs((double)mesh->triangle_count / parameters->triangles - 1) < 0.1);
    }
    tact_mesh_free(mesh);
}

static void volumes_of_generated_solids_are_exact(void **state)
{
    (void)state;
    struct tact_generate g = {
        .kind = TACT_GENERATE_PRISM, .radius = 0.1, .height = 0.02, .count = 8};
    double exact_volume_of_octagon_prism = 4 * sin(M_PI / 4) * 0.01;
    check_mesh_volume(&g, exact_volume_of_octagon_prism * 0.02, 1e-12);
    g = (struct tact_generate){
        .kind = TACT_GENERATE_TORUS, .radius = 0.03, .tube = 0.01, .triangles = 20000};
    check_mesh_volume(&g, 2 * M_PI * M_PI * 0.03 * 1e-4, 5e-3);
    g = (struct tact_generate){
        .kind = TACT_GENERATE_BLOB, .radius = 0.03, .count = 4, .triangles = 30000};
    check_mesh_volume(&g, 4.0 / 3 * M_PI * 0.03 * 0.03 * 0.03, 2e-3);
    g = (struct tact_generate){
        .kind = TACT_GENERATE_BUMPY_CUBE, .edge = 0.1, .count = 8, .triangles = 12 * 128 * 128};
    /* without bumps, the generated solid is a cube, of 196608 triangles */
    check_mesh_volume(&g, 1e-3, 1e-12);
    g = (struct tact_generate){
        .kind = TACT_GENERATE_GEAR, .radius = 0.03, .height = 0.01, .count = 12, .triangles = 5000};
    /* in each 48th part of the turn three triangles of 1/8 part at the tip, three at the root, two
     * between */
    double part = 0.5 * 9e-4 * sin(M_PI / 48), root = 0.75;
    check_mesh_volume(&g, 12 * part * (3 + 3 * root * root + 2 * root) * 0.01, 1e-9);
}

/* A tube's volume is its section by the length of its middle line (Pappus), however it winds. */
static void generated_knot_has_its_exact_volume(void **state)
{
    (void)state;
    const struct tact_generate g = {
        .kind = TACT_GENERATE_KNOT, .radius = 0.03, .tube = 0.004, .triangles = 20000};
    double length = 0;
    for (int i = 0; i < 100000; i++) {
        double v = 6 * M_PI * i / 100000.0, r = 2 + cos(v);
        length += 2 * M_PI * 0.01 * sqrt(9 + 4 * r * r) / 100000.0;
    }
    check_mesh_volume(&g, M_PI * 0.004 * 0.004 * length, 1e-2);
}

/* Every seed and number of bumps gives a closed solid whose volume is between that of the smooth
 * solid and that of the solid enlarged by the bump height. */
static void every_generated_bumpy_solid_is_closed(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct tact_generate g = {.kind = seed & 1 ? TACT_GENERATE_BLOB : TACT_GENERATE_BUMPY_CUBE,
                                  .edge = 0.1,
                                  .radius = 0.05,
                                  .bump = 0.01,
                                  .count = 1 + seed,
                                  .triangles = 3000,
                                  .seed = seed};
        double low = seed & 1 ? 4.0 / 3 * M_PI * 1.25e-4 : 1e-3;
        double largest_bumpy_over_plain_volume = pow(seed & 1 ? 0.06 / 0.05 : 0.06 / 0.05, 3);
        struct tact_mesh *one = generate_mesh(&g), *two = generate_mesh(&g);
        assert_true(one->volume > 0.99 * low &&
                    one->volume < low * largest_bumpy_over_plain_volume);
        assert_int_equal(one->vertex_count, two->vertex_count);
        assert_memory_equal(one->vertices, two->vertices,
                            3 * one->vertex_count * sizeof *one->vertices);
        tact_mesh_free(two);
        g.seed += 1000;
        two = generate_mesh(&g);
        /* another seed gives another solid */
        assert_true(fabs(one->volume - two->volume) > 1e-9 * low);
        tact_mesh_free(one);
        tact_mesh_free(two);
    }
}

static void invalid_mesh_generation_parameters_are_refused(void **state)
{
    (void)state;
    const struct tact_generate valid_knot = {.kind = TACT_GENERATE_KNOT,
                                             .edge = 1,
                                             .radius = 1,
                                             .height = 1,
                                             .tube = 0.2,
                                             .count = 12,
                                             .triangles = 1000};
    struct tact_generate bad[8];
    static const char *const names[8] = {"kind", "radius",    "radius",    "tube",
                                         "tube", "triangles", "triangles", "bump"};
    for (int i = 0; i < 8; i++) {
        bad[i] = valid_knot;
    }
    bad[0].kind = TACT_GENERATE_KINDS;
    bad[1].radius = -1;
    bad[2].radius = NAN;
    bad[3].tube = 0.25;
    bad[4].tube = 0;
    bad[5].triangles = 11;
    bad[6].triangles = (1 << 20) + 1;
    bad[7].kind = TACT_GENERATE_BLOB;
    bad[7].bump = 1.01;
    for (int i = 0; i < 8; i++) {
        struct tact_soup soup;
        const char *bad_parameter_name = "";
        assert_int_equal(tact_soup_generate(&bad[i], &soup, &bad_parameter_name), -EINVAL);
        assert_string_equal(bad_parameter_name, names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_of_generated_solids_are_exact),
        cmocka_unit_test(generated_knot_has_its_exact_volume),
        cmocka_unit_test(every_generated_bumpy_solid_is_closed),
        cmocka_unit_test(invalid_mesh_generation_parameters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
