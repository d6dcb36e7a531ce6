/*
 * Surfaces of Bezier and B-spline patches: an exact torus of NURBS against the closed form, split
 * into more patches, in motion; files that are refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/number.h"
#include "contact/pair/models_internal.h"
#include "contact/pair/smooth/contacts_internal.h"
#include "contact/pair/smooth/search_internal.h"
#include "contact/shape/charts_internal.h"
#include "support/bicubic_torus.h"
#include "support/random.h"
#include "support/replays.h"
#include "support/smooth_known.h"
#include "support/torus_patches.h"
#include "support/world_scene.h"

#define PI 3.14159265358979323846

/* Compares points, normals and curvatures of a torus of 16 patches with those of the closed form,
 * and steps along it, which cross the edges of patches. */
static void compare_torus_patches_with_torus(const struct tact_charts *charts, int places)
{
    const struct tact_shape torus = {.kind = TACT_SHAPE_TORUS,
                                     .size = {TORUS_RING_RADIUS_M, TORUS_TUBE_RADIUS_M}};
    double worst[4] = {0.0};
    int crossed_patch_edge_count = 0;
    for (int i = 0; i < places; i++) {
        struct tact_surface_point p, q;
        double place[3] = {(int)uniform(0.0, 15.999), uniform(0.0, 1.0), uniform(0.0, 1.0)};
        if (i % 10 == 0) {
            place[1 + i / 10 % 2] = i / 20 % 2;
        }
        for (int k = 0; k < 2; k++) {
            double step[3], moved[3], t[2][3], first = place[0];
            assert_int_equal(tact_charts_point(charts, place, &p), 0);
            assert_int_equal(tact_shape_surface(&torus, p.at, &q), 0);
            for (int m = 0; m < 9; m++) {
                worst[0] = fmax(worst[0], fabs(p.at[m % 3] - q.at[m % 3]) / TORUS_RING_RADIUS_M);
                worst[1] = fmax(worst[1], fabs(p.normal[m % 3] - q.normal[m % 3]));
                worst[2] = fmax(worst[2], fabs(p.bend[m] - q.bend[m]) * TORUS_TUBE_RADIUS_M);
            }
            tact_v3_tangents(p.normal, t[0], t[1]);
            tact_v3_scale(step, t[0], 1e-6 * cos(i));
            tact_v3_axpy(step, 1e-6 * sin(i), t[1]);
            tact_charts_move(charts, place, step);
            crossed_patch_edge_count += place[0] != first;
            assert_int_equal(tact_charts_point(charts, place, &q), 0);
            tact_v3_sub(moved, q.at, p.at);
            tact_v3_sub(moved, moved, step);
            worst[3] = fmax(worst[3], tact_v3_norm(moved) / 1e-6);
        }
    }
    printf("points to %.1e, normals to %.1e, curvature to %.1e, steps to %.1e, %d crossings\n",
           worst[0], worst[1], worst[2], worst[3], crossed_patch_edge_count);
    assert_true(worst[0] < 1e-14 && worst[1] < 1e-13 && worst[2] < 1e-11 && worst[3] < 1e-3);
    assert_true(crossed_patch_edge_count > places / 40);
}

/* A torus of patches of degrees 2 and 3, equal and unequal, is the torus. */
static void torus_patches_have_the_surface_of_the_torus(void **state)
{
    (void)state;
    static const int patch_degrees[4][2] = {{2, 2}, {3, 2}, {2, 3}, {3, 3}};
    const struct tact_shape torus = {.kind = TACT_SHAPE_TORUS,
                                     .size = {TORUS_RING_RADIUS_M, TORUS_TUBE_RADIUS_M}};
    struct tact_shape_mass mass, exact;
    tact_shape_mass(&torus, &exact);
    for (int k = 0; k < 4; k++) {
        struct tact_charts *charts = load_torus_surface_patches_of_degrees(4, patch_degrees[k]);
        struct tact_shape shape = {.kind = TACT_SHAPE_PATCHES, .charts = charts};
        printf("degrees %d and %d: ", patch_degrees[k][0], patch_degrees[k][1]);
        compare_torus_patches_with_torus(charts, campaign_trial_count(2000, 100000));
        assert_int_equal(tact_shape_tessellate(&shape), 0);
        tact_shape_mass(&shape, &mass);
        double off = fabs(mass.volume / exact.volume - 1.0);
        for (int i = 0; i < 9; i += 4) {
            off = fmax(off, fabs(mass.inertia[i] / exact.inertia[i] - 1.0));
            off = fmax(off, fabs(mass.centroid[i / 4]) / TORUS_RING_RADIUS_M);
        }
        printf("mass properties to %.1e, the triangulation's volume to %.1e\n", off,
               fabs(shape.mesh->volume / exact.volume - 1.0));
        assert_true(off < 1e-12 && fabs(shape.mesh->volume / exact.volume - 1.0) < 0.01);
        tact_charts_free(charts);
    }
}

/* Two tori of patches have the contacts of two tori in closed form. */
static void contacts_of_torus_patches_are_those_of_tori(void **state)
{
    (void)state;
    const struct tact_shape torus = {.kind = TACT_SHAPE_TORUS,
                                     .size = {TORUS_RING_RADIUS_M, TORUS_TUBE_RADIUS_M}};
    struct tact_charts *charts = load_torus_surface_patches(4),
                       *split = load_torus_surface_patches(8);
    const struct tact_shape a = {.kind = TACT_SHAPE_PATCHES,
                                 .charts = charts,
                                 .mesh = charts->mesh},
                            b = {.kind = TACT_SHAPE_PATCHES, .charts = split, .mesh = split->mesh};
    const int poses = campaign_trial_count(800, 20000);
    int found_contact_count = 0, missed_contact_count = 0, after = 0;
    double worst = 0.0, spent = 0.0;
    for (int i = 0; i < poses; i++) {
        struct tact_pose pa = random_pose(0.03), pb = random_pose(0.02);
        struct smooth_pair pair, tori;
        struct smooth_contact c[TACT_PIECES], d[TACT_PIECES];
        int lost;
        tact_smooth_set_pair(&a, &pa, &b, &pb, &pair);
        tact_smooth_set_pair(&torus, &pa, &torus, &pb, &tori);
        double search_start_cpu_seconds = cpu_seconds();
        int found = tact_smooth_search_contacts(&pair, 2e-3, 0, c, &lost);
        spent += cpu_seconds() - search_start_cpu_seconds;
        after += count_contacts_missed_by_warm_search(&pair, 2e-3, c, found, 1e-6);
        int known = tact_smooth_find_contacts(&tori, 2e-3, d, &lost);
        for (int k = 0; k < known && k < TACT_PIECES; k++) {
            double best = 1.0;
            if (d[k].gap > 1e-3 || d[k].gap < -0.001) {
                continue;
            }
            for (int n = 0; n < found && n < TACT_PIECES; n++) {
                best = fmin(best, fabs(c[n].gap - d[k].gap));
            }
            found_contact_count++;
            missed_contact_count += best > 1e-7;
            worst = best > 1e-7 ? worst : fmax(worst, best / TORUS_RING_RADIUS_M);
        }
    }
    printf("%d contacts: %d missed, gaps to %.1e of size; a cold search takes %.1f us; %d missed "
           "after others\n",
           found_contact_count, missed_contact_count, worst, 1e6 * spent / poses, after);
    assert_true(found_contact_count > poses / 20 && missed_contact_count == 0 && after == 0 &&
                worst < 1e-12);
    tact_charts_free(charts);
    tact_charts_free(split);
}

/* A ring that swings on a ball, which it encloses: where it is after a second. */
static void position_after_ring_swings_on_ball(const struct tact_shape *ring, double at[3])
{
    struct tact_contact_law law = make_rigid_law(0.5);
    const struct tact_shape ball = make_sphere(0.006);
    const struct tact_pose fixed = tact_pose_identity();
    const double place[3] = {0.0, 0.0, 0.0};
    struct world_scene s;
    law.model = &tact_model_smooth;
    open_empty_scene(&s, NULL);
    add_scene_shape(&s, -1, &ball, &fixed, 0);
    add_scene_solid(&s, ring, 0.05, place, 0.0);
    set_scene_contact_law(&s, 0, 1, &law);
    struct tact_body *body = tact_world_body(s.world, 0);
    const double turn[3] = {0.5 * PI, 0.0, 0.0},
                 d = TORUS_RING_RADIUS_M - TORUS_TUBE_RADIUS_M - 0.006, angle = 0.5;
    tact_quat_from_rotvec(body->pose.quat_wxyz, turn);
    tact_v3_set(body->pose.position, d * sin(angle), 0.0, -d * cos(angle));
    tact_v3_set(body->twist, 0.0, 0.05, 0.0);
    finish_scene_building(&s);
    run_scene_for_seconds(&s, 1.0);
    assert_true(s.unsolved_ticks == 0);
    tact_v3_copy(at, body->pose.position);
    close_scene(&s);
}

/* The motion of a torus of patches is that of the torus, however it is split into patches and of
 * whatever degrees they are, and where their charts are turned against each other. */
static void torus_moves_alike_however_split_into_patches(void **state)
{
    (void)state;
    static const int patch_degrees[7][2] = {{2, 2}, {2, 2}, {2, 2}, {2, 2}, {3, 2}, {2, 3}, {3, 3}};
    static const int tested_arcs_per_circle[7] = {3, 4, 5, 8, 4, 4, 4};
    const struct tact_shape torus = {.kind = TACT_SHAPE_TORUS,
                                     .size = {TORUS_RING_RADIUS_M, TORUS_TUBE_RADIUS_M}};
    double exact[3], at[3], worst = 0.0;
    position_after_ring_swings_on_ball(&torus, exact);
    for (int i = 0; i < 9; i++) {
        struct tact_charts *charts =
            i < 7
                ? load_torus_surface_patches_of_degrees(tested_arcs_per_circle[i], patch_degrees[i])
                : load_surface_patches_and_free_text(
                      turned_torus_surface_patch_obj_text(i == 7 ? 4 : 8));
        struct tact_shape ring = {.kind = TACT_SHAPE_PATCHES, .charts = charts};
        assert_int_equal(tact_shape_tessellate(&ring), 0);
        position_after_ring_swings_on_ball(&ring, at);
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs(at[k] - exact[k]));
        }
        tact_charts_free(charts);
    }
    printf("after 1 s within %.1e m of the torus in closed form\n", worst);
    assert_true(worst < 1e-14);
}

/* A periodic B-spline of degree 3 is Catmull and Clark's surface of its control points: points,
 * normals, curvatures, mass properties and motion. */
static void bicubic_patches_are_the_surface_of_catmull_and_clark(void **state)
{
    (void)state;
    enum { N = BICUBIC_SIDE };
    struct tact_charts *charts[2] = {load_bicubic_torus(0.03), load_catmull_clark_torus(0.03)};
    struct tact_shape ring[2] = {{.kind = TACT_SHAPE_PATCHES, .charts = charts[0]},
                                 {.kind = TACT_SHAPE_SUBDIVISION, .charts = charts[1]}};
    struct tact_shape_mass mass[2];
    double worst[4] = {0.0}, at[2][3];
    for (int i = 0; i < 1000; i++) {
        /* a square lies between the second and third of its four rows and columns */
        const int x = i % N, y = i / N % N, square = (y + 1) % N * N + (x + 1) % N;
        const double u = uniform(0.0, 1.0), v = uniform(0.0, 1.0);
        const double place[2][3] = {{x * N + y, u, v}, {square, u, v}};
        struct tact_surface_point p[2];
        for (int k = 0; k < 2; k++) {
            assert_int_equal(tact_charts_point(charts[k], place[k], &p[k]), 0);
        }
        for (int m = 0; m < 9; m++) {
            worst[0] = fmax(worst[0], fabs(p[0].at[m % 3] - p[1].at[m % 3]) / 0.03);
            worst[1] = fmax(worst[1], fabs(p[0].normal[m % 3] - p[1].normal[m % 3]));
            worst[2] = fmax(worst[2], fabs(p[0].bend[m] - p[1].bend[m]) * 0.01);
        }
    }
    for (int k = 0; k < 2; k++) {
        assert_int_equal(tact_shape_tessellate(&ring[k]), 0);
        tact_shape_mass(&ring[k], &mass[k]);
        position_after_ring_swings_on_ball(&ring[k], at[k]);
        tact_charts_free(charts[k]);
    }
    for (int i = 0; i < 9; i++) {
        worst[3] = fmax(worst[3], fabs(mass[0].inertia[i] - mass[1].inertia[i]));
    }
    worst[3] /= mass[0].inertia[0];
    tact_v3_sub(at[1], at[1], at[0]);
    printf("points to %.1e, normals to %.1e, curvature to %.1e, inertia to %.1e; after 1 s within "
           "%.1e m\n",
           worst[0], worst[1], worst[2], worst[3], tact_v3_norm(at[1]));
    assert_true(worst[0] < 1e-14 && worst[1] < 1e-13 && worst[2] < 1e-12 && worst[3] < 1e-12);
    assert_true(tact_v3_norm(at[1]) < 1e-13);
}

/* Rings of patches in a scene: one swings on a ball and meets another that rolls; the log has
 * places of patches, from which every tick is replayed. */
static void patch_surface_session_replays_from_any_tick(void **state)
{
    (void)state;
    static const char scene[] =
        "name: rings\nduration: 0.6\ncontact: {model: smooth}\nmaterials: [{name: steel}]\n"
        "pairs: [{materials: [steel, steel], friction: 0.2}]\nbodies:\n"
        "  - name: hook\n    fixed: true\n    position: [0, 0, 0.06]\n"
        "    shapes: [{type: sphere, radius: 0.006, material: steel}]\n"
        "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}\n"
        "  - name: hangs\n    mass: 0.05\n    position: [0.008, 0, 0.0468]\n"
        "    quat_wxyz: [0.7071067811865476, 0.7071067811865476, 0, 0]\n"
        "    shapes: [{type: patches, file: %s, material: steel}]\n"
        "  - name: rolls\n    mass: 0.05\n    position: [0.1, 0.002, 0.0381]\n"
        "    velocity: [-0.3, 0, 0]\n"
        "    quat_wxyz: [0.7071067811865476, 0.7071067811865476, 0, 0]\n"
        "    shapes: [{type: patches, file: %s, material: steel}]\n";
    char folder[] = "/tmp/tact-patches-XXXXXX", path[64], text[2048];
    char *torus = torus_surface_patch_obj_text(4, 0);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/torus.obj", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(torus, file) >= 0 && fclose(file) == 0);
    snprintf(text, sizeof text, scene, path, path);
    check_replays_from_any_tick(text);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
    free(torus);
}

/* Replaces the first occurrence of a text. */
static void replace_in_text(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    assert_non_null(at);
    memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
    memcpy(at, to, strlen(to));
}

static void bad_surface_patch_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *expected_message;
    } bad[] = {
        {"cstype rat bspline", "cstype rat cardinal", "type of surface that is not read"},
        {"deg 2 2", "deg 4 2", "degrees along u and v, each from 1 to 3"},
        {"deg 2 2", "deg 2", "degrees along u and v, each from 1 to 3"},
        {"surf 0 4 0 4 1 ", "surf 0 4 0 4 ", "number of control points"},
        {"surf 0 4 0 4 1 ", "surf 0 4 0 4 1000 ", "not in the file"},
        {"surf 0 4 0 4 1 ", "surf 0 4 0 4 1.5 ", "not in the file"},
        {"surf 0 4 0 4", "surf 0 3 0 4", "trimmed"},
        {"\nend", "\ntrim 0 1 1\nend", "trimmed"},
        {"\nend", "\nf 1 2 3\nend", "polygon"},
        {"\nend", "\n", "without end"},
        {"parm u 0 0 0 1 1", "parm u 0 0 0 1 0.5", "the knots are degenerate: they decrease"},
        {"parm u 0 0 0 1 1 2 2", "parm u 0 0 0 1 1 1 1",
         "the knots are degenerate: one is repeated"},
        {"parm v 0 0 0 1 1 2 2 3 3 4 4 4", "parm w 1 2", "expected u or v"},
        {"parm v 0 0 0 1 1 2 2 3 3 4 4 4", "", "parm of u and v"},
        {"v 0.03", "v nan", "expected a number"},
        {"v 0.03", "v 0.04", "borders on no patch: the surface is open"},
        {"0.70710678", "-0.7071067", "a weight above 0"},
    };
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        struct tact_charts *charts = NULL;
        struct tact_error err = {.line = 0};
        int are_patches_flipped = i == sizeof bad / sizeof *bad;
        char *text = torus_surface_patch_obj_text(4, are_patches_flipped);
        if (!are_patches_flipped) {
            replace_in_text(text, bad[i].from, bad[i].to);
        }
        int rc = tact_charts_patches(text, strlen(text), "torus.obj", 1.0, &charts, &err);
        const char *expected_message =
            are_patches_flipped ? "point into the solid" : bad[i].expected_message;
        if (rc != -EINVAL || charts || !strstr(err.text, expected_message) ||
            strcmp(err.file, "torus.obj") || (!are_patches_flipped && err.line <= 0)) {
            fail_msg("%zu: %d, line %d, \"%s\" has no \"%s\"", i, rc, err.line, err.text,
                     expected_message);
        }
        free(text);
    }
}

/* A surface of 3871 patches, twice: the first surface is refused, with its line. */
static void surface_of_too_many_patches_is_refused_where_it_is_read(void **state)
{
    (void)state;
    enum { SPANS_U = 79, SPANS_V = 49 };
    const size_t room = 1 << 16;
    struct tact_charts *charts = NULL;
    struct tact_error err = {.line = 0};
    char *text = malloc(room);
    int used = snprintf(text, room, "v 0 0 0\ncstype bspline\ndeg 1 1\n");
    for (int twice = 0; twice < 2; twice++) {
        used += snprintf(text + used, room - (size_t)used, "surf 0 %d 0 %d", SPANS_U, SPANS_V);
        for (int i = 0; i < (SPANS_U + 1) * (SPANS_V + 1); i++) {
            used += snprintf(text + used, room - (size_t)used, " 1");
        }
        for (int k = 0; k < 2; k++) {
            int span_count = k ? SPANS_V : SPANS_U;
            used += snprintf(text + used, room - (size_t)used, "\nparm %s 0", k ? "v" : "u");
            for (int i = 0; i <= span_count; i++) {
                used += snprintf(text + used, room - (size_t)used, " %d", i);
            }
            used += snprintf(text + used, room - (size_t)used, " %d", span_count);
        }
        used += snprintf(text + used, room - (size_t)used, "\nend\n");
    }
    int rc = tact_charts_patches(text, (size_t)used, "many.obj", 1.0, &charts, &err);
    assert_int_equal(rc, -EINVAL);
    assert_string_equal(err.text, "the file has more than 2048 surface patches");
    assert_string_equal(err.file, "many.obj");
    assert_int_equal(err.line, 4);
    free(text);
}

/* Flat patches of control points, four each; the first meets the others at its side v = 0. */
static void bad_joints_of_surface_patches_are_refused_with_reason(void **state)
{
    (void)state;
    static const char vertices[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n"
                                   "v 0 -1 0\nv 1 -1 0\nv 0 0 -1\nv 1 0 -1\n";
    static const struct {
        const char *control_point_lines[3], *expected_message;
    } bad[] = {
        {{"1 2 3 4"},
         "patch 0, side v = 0, borders on no patch: the surface is open, or patches of other "
         "lengths "
         "meet"},
        {{"1 2 3 4", "1 2 5 6"},
         "patch 0, side v = 0, borders on a patch whose normals point to the other side of the "
         "surface: reverse u or v of the patch whose normals point into the solid"},
        {{"1 2 3 4", "2 1 6 5", "2 1 8 7"},
         "patch 0, side v = 0, borders on two patches; expected a manifold"},
        {{"1 2 3 4", "2 1 8 7"},
         "patch 0, side v = 0, is a crease: the normal jumps there; expected a smooth surface"},
        {{"1 1 3 4"},
         "patch 0, side u = 1, borders on no patch: the surface is open, or patches of other "
         "lengths "
         "meet"},
        {{"1 1 1 4"},
         "patch 0, side v = 0, has a point without a normal; expected a regular patch"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tact_charts *charts = NULL;
        struct tact_error err = {.line = 0};
        char text[1024];
        int size = snprintf(text, sizeof text, "%scstype bezier\ndeg 1 1\n", vertices);
        for (int k = 0; k < 3 && bad[i].control_point_lines[k]; k++) {
            size += snprintf(text + size, sizeof text - (size_t)size,
                             "surf 0 1 0 1 %s\nparm u 0 1\nparm v 0 1\nend\n",
                             bad[i].control_point_lines[k]);
        }
        assert_int_equal(tact_charts_patches(text, (size_t)size, "flat.obj", 1.0, &charts, &err),
                         -EINVAL);
        assert_null(charts);
        assert_string_equal(err.text, bad[i].expected_message);
        assert_int_equal(err.line, 11); /* line of the statement of patch 0 */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torus_patches_have_the_surface_of_the_torus),
        cmocka_unit_test(contacts_of_torus_patches_are_those_of_tori),
        cmocka_unit_test(torus_moves_alike_however_split_into_patches),
        cmocka_unit_test(bicubic_patches_are_the_surface_of_catmull_and_clark),
        cmocka_unit_test(patch_surface_session_replays_from_any_tick),
        cmocka_unit_test(bad_surface_patch_files_are_refused),
        cmocka_unit_test(surface_of_too_many_patches_is_refused_where_it_is_read),
        cmocka_unit_test(bad_joints_of_surface_patches_are_refused_with_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
