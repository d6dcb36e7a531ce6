/* The model `smooth` in scenes: replays from any tick, soft surfaces, and refused shapes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/counts.h"
#include "contact/pair/models_internal.h"
#include "rt/session/replay.h"
#include "support/bicubic_torus.h"
#include "support/campaign.h"
#include "support/replays.h"
#include "support/world_scene.h"

#define G 9.81
#define PI 3.14159265358979323846

/* Two ellipsoids, one on the other, on a floor, and a ball that hits them: all slide, roll and
 * collide. */
static const char heap_scene_text[] =
    "name: heap\nduration: 0.6\ncontact: {model: smooth}\n"
    "materials: [{name: stone}, {name: ground}]\n"
    "pairs:\n"
    "  - {materials: [stone, ground], friction: 0.4, restitution: 0.3}\n"
    "  - {materials: [stone, stone], friction: 0.3}\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: ground}]}\n"
    "  - name: low\n    mass: 0.2\n    position: [0, 0, 0.013]\n    angular_velocity: [0, 0, 9]\n"
    "    shapes: [{type: ellipsoid, size: [0.08, 0.05, 0.025], material: stone}]\n"
    "  - name: high\n    mass: 0.1\n    position: [0.004, 0.002, 0.037]\n"
    "    shapes: [{type: ellipsoid, size: [0.03, 0.05, 0.022], material: stone}]\n"
    "  - name: ball\n    mass: 0.05\n    position: [-0.15, 0, 0.0105]\n    velocity: [0.6, 0, 0]\n"
    "    shapes: [{type: sphere, radius: 0.01, material: stone}]\n";

/* Two ellipsoids with a torus, boxes and a soft lid: one island with four contact models. */
static const char scene_of_four_models[] =
    "name: mixed\nduration: 0.6\ncontact: {model: smooth}\n"
    "materials: [{name: stone}, {name: crate}, {name: ground},\n"
    "  {name: rubber, field: {modulus: 1e6, thickness: 0.01}}]\n"
    "pairs:\n"
    "  - {materials: [stone, ground], friction: 0.4, restitution: 0.3}\n"
    "  - {materials: [stone, stone], friction: 0.3}\n"
    "  - {materials: [crate, ground], friction: 0.5, model: features}\n"
    "  - {materials: [crate, rubber], friction: 0.5, model: field}\n"
    "  - {materials: [rubber, ground], friction: 0.5, model: field}\n"
    "  - {materials: [stone, crate], friction: 0.2, model: volume}\n"
    "  - {materials: [stone, rubber], friction: 0.2, model: volume}\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: ground}]}\n"
    "  - name: crate\n    mass: 0.3\n    position: [0, 0, 0.02]\n"
    "    shapes: [{type: box, size: [0.1, 0.1, 0.04], material: crate}]\n"
    "  - name: lid\n    mass: 0.1\n    position: [0, 0, 0.045]\n"
    "    shapes: [{type: box, size: [0.08, 0.08, 0.01], material: rubber}]\n"
    "  - name: stone\n    mass: 0.1\n    position: [0.004, 0.002, 0.064]\n"
    "    angular_velocity: [0, 0, 9]\n"
    "    shapes: [{type: ellipsoid, size: [0.04, 0.05, 0.026], material: stone}]\n"
    "  - name: ring\n    mass: 0.05\n    position: [0.12, 0, 0.0051]\n"
    "    angular_velocity: [0, 0, 15]\n    velocity: [-0.3, 0, 0]\n"
    "    shapes: [{type: torus, radius: 0.03, tube: 0.005, material: stone}]\n"
    "  - name: ball\n    mass: 0.05\n    position: [0.2, 0.01, 0.0105]\n"
    "    velocity: [-0.8, 0, 0]\n"
    "    shapes: [{type: sphere, radius: 0.01, material: stone}]\n";

static void smooth_session_replays_from_any_tick(void **state)
{
    (void)state;
    check_replays_from_any_tick(heap_scene_text);
    check_replays_from_any_tick(scene_of_four_models);
}

/* A soft ball rolls over the rim of a cone, where the pair is measured by `volume`: its patch has
 * no rolling loss, whatever the smooth patch before it had, and a replay may start there. */
static void rolling_loss_ends_at_an_edge(void **state)
{
    (void)state;
    static const char text[] =
        "name: rim\nduration: 0.3\n"
        "materials: [{name: cone}, {name: rubber, modulus: 2e5}]\n"
        "pairs: [{materials: [cone, rubber], friction: 0.8, model: smooth, rolling_loss: 0.9}]\n"
        "bodies:\n"
        "  - {name: table, fixed: true, position: [0, 0, -0.05], quat_wxyz: [0, 1, 0, 0],\n"
        "     shapes: [{type: cone, radius: 0.1, length: 0.1, material: cone}]}\n"
        "  - {name: ball, mass: 0.05, position: [0.075, 0, 0.03], velocity: [0.2, 0, 0],\n"
        "     angular_velocity: [0, 13, 0],\n"
        "     shapes: [{type: sphere, radius: 0.015, material: rubber}]}\n";
    const struct tact_session_report report = check_replays_of_scene(text, 300, 13, 0);
    assert_true(report.counts[TACT_COUNT_EDGES] > 50);
}

static void smooth_model_refuses_shapes_with_edges(void **state)
{
    (void)state;
    static const char text[] =
        "name: edges\nduration: 0.1\n"
        "materials: [{name: stone}, {name: ground}]\n"
        "pairs:\n  - {materials: [stone, ground], friction: 0.4, model: smooth}\n"
        "bodies:\n"
        "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: ground}]}\n"
        "  - name: crate\n    mass: 0.2\n    position: [0, 0, 0.1]\n"
        "    shapes: [{type: box, size: [0.1, 0.1, 0.1], material: stone}]\n";
    struct tact_session_options options = {.clock = TACT_LOOP_FREE};
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    struct tact_error err = {.line = 0};
    assert_int_equal(tact_scene_parse(text, strlen(text), "edges.yaml", NULL, &scene, &err), 0);
    assert_int_equal(tact_session_create(scene, &options, &session, &err), -ENOTSUP);
    assert_int_equal(err.line, 5);
    assert_non_null(strstr(err.text, "floor"));
    assert_non_null(strstr(err.text, "crate"));
    tact_scene_free(scene);
}

/* Ratio of the principal relative curvatures at which Hertz's ellipse has semi-axes of that ratio:
 * (r^2 E - K) / (K - E), with the complete elliptic integrals by the trapezoidal rule, which is
 * exact to rounding for them. */
static double curvature_ratio_of_hertz_ellipse(double ratio)
{
    enum { STEPS = 200 };
    double first_elliptic_integral_sum = 0.0, second_elliptic_integral_sum = 0.0;
    for (int i = 0; i < STEPS; i++) {
        const double s = sin(0.5 * PI * (i + 0.5) / STEPS);
        const double root = sqrt(1.0 - (1.0 - 1.0 / (ratio * ratio)) * s * s);
        first_elliptic_integral_sum += 1.0 / root;
        second_elliptic_integral_sum += root;
    }
    return (ratio * ratio * second_elliptic_integral_sum - first_elliptic_integral_sum) /
           (first_elliptic_integral_sum - second_elliptic_integral_sum);
}

/* A soft ellipsoid on a plane has Hertz's ellipse: its torsion arm is 3/8 of the perimeter's mean,
 * of a ball 3 pi / 16 a with a^3 = 3 N R / (4 E*). */
static void soft_smooth_surfaces_have_the_patch_of_hertz(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct tact_shape shape = {.kind = TACT_SHAPE_SPHERE, .size = {0.02, 0.02, 0.02}};
        struct tact_contact_law law = make_rigid_law(0.5);
        const double place[3] = {0.0, 0.0, 0.02}, modulus = 1e6;
        struct world_scene s;
        if (i) {
            shape = (struct tact_shape){.kind = TACT_SHAPE_ELLIPSOID, .size = {0.02, 0.06, 0.02}};
        }
        law.model = &tact_model_smooth;
        law.modulus = modulus;
        open_empty_scene(&s, NULL);
        add_scene_ground(&s);
        add_scene_solid(&s, &shape, 0.3, place, 0.0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        run_scene_for_seconds(&s, 0.1);
        const struct tact_contact *c = tact_world_contact(s.world, 0);
        double n = c->impulse[0] / s.options.period;
        double a = cbrt(0.75 * n * 0.02 / modulus);
        assert_true(fabs(n / (0.3 * G) - 1.0) < 1e-9);
        assert_int_equal(c->patch.kind, TACT_PATCH_ELASTIC);
        if (!i) {
            assert_true(fabs(c->spin_arm / (3.0 * PI / 16.0 * a) - 1.0) < 1e-9);
        } else { /* the patch is long along y, where the ellipsoid is flat: radii 0.02 and 0.18 m */
            double ratio = c->patch.stretch[0] / c->patch.stretch[1];
            assert_true(fabs(fabs(c->patch.frame[4]) - 1.0) < 1e-12);
            assert_true(fabs(curvature_ratio_of_hertz_ellipse(ratio) / 9.0 - 1.0) < 1e-6);
        }
        close_scene(&s);
    }
}

/* Time of a chain of 2000 divisions, each of which waits for the one before [s]: 12 us at 3 GHz. */
static double time_of_division_chain(void)
{
    const double timing_start_cpu_seconds = cpu_seconds();
    double x = 1.0;
    for (int i = 0; i < 2000; i++) {
        x = 1.0 / (1.0 + x);
    }
    const double processor_time = cpu_seconds() - timing_start_cpu_seconds;
    assert_true(x > 0.6 && x < 0.7);
    return processor_time;
}

/* Two smooth bodies, the first above the second and beside it, and a query of them. */
struct warm_started_smooth_pair {
    struct tact_pose pose[2];
    void *data[2];
    double kept[128];
    int counts[TACT_SOLVE_COUNTS];
    struct tact_contact_law law;
    struct tact_world_options options;
    struct tact_pair_query query;
};

/* Makes a query of two bodies, of which the first is lowered until they touch and by `overlap` [m]
 * more. initial_lateral_offset: x of the second one [m] */
static void open_warm_started_smooth_pair(const struct tact_shape *a, const struct tact_shape *b,
                                          double initial_lateral_offset, double overlap,
                                          struct warm_started_smooth_pair *p)
{
    static struct tact_pair_piece piece[TACT_PIECES];
    struct tact_patch patch;
    memset(p, 0, sizeof *p);
    p->pose[0] = p->pose[1] = tact_pose_identity();
    p->law.friction = 0.5;
    p->options = tact_world_options_default();
    p->query = (struct tact_pair_query){.model = &tact_model_smooth,
                                        .a = a,
                                        .b = b,
                                        .pose_a = &p->pose[0],
                                        .pose_b = &p->pose[1],
                                        .law = &p->law,
                                        .options = &p->options,
                                        .most = a->charts ? TACT_PIECES : 1,
                                        .twist = {{0.3, 0.0, 0.0, 2.0, 4.0, 0.0}},
                                        .pressed = 1.0,
                                        .counts = p->counts,
                                        .state = p->kept};
    assert_true((int)(sizeof p->kept / sizeof *p->kept) >= tact_model_smooth.state);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(
            tact_model_smooth.prepare(&tact_model_smooth, k ? b : a, NULL, &p->data[k], NULL), 0);
    }
    p->query.data_a = p->data[0];
    p->query.data_b = p->data[1];
    p->pose[1].position[0] = initial_lateral_offset;
    p->pose[0].position[2] = 0.1;
    while (tact_model_smooth.measure(&p->query, &patch, piece) < 0) {
        p->pose[0].position[2] -= 2e-4;
        assert_true(p->pose[0].position[2] > 0.0);
    }
    p->pose[0].position[2] -= overlap;
}

static void close_warm_started_smooth_pair(struct warm_started_smooth_pair *p)
{
    tact_model_smooth.release(p->data[0]);
    tact_model_smooth.release(p->data[1]);
}

/* The least mean time [s] of a measurement in 5 rounds, or more until it is below
 * `sufficient_time`, as the first body rocks by `angle` [rad]. */
static double mean_time_of_warm_started_query(struct warm_started_smooth_pair *p, double angle,
                                              double sufficient_time)
{
    enum { TICKS = 400, ROUNDS = 5, MOST_ROUNDS = 1000 };
    static struct tact_pair_piece piece[TACT_PIECES];
    struct tact_patch patch;
    double best = 1.0;
    for (int i = 0; i < ROUNDS || (i < MOST_ROUNDS && best > sufficient_time); i++) {
        double timing_start_cpu_seconds = cpu_seconds();
        for (int k = 0; k < TICKS; k++) {
            const double turn[3] = {angle * sin(0.03 * k), angle * cos(0.04 * k), 0.0};
            tact_quat_from_rotvec(p->pose[0].quat_wxyz, turn);
            assert_true(tact_model_smooth.measure(&p->query, &patch, piece) >= 0);
        }
        best = fmin(best, (cpu_seconds() - timing_start_cpu_seconds) / TICKS);
    }
    assert_true(p->counts[TACT_COUNT_NOT_FOUND] == 0 && p->counts[TACT_COUNT_EDGES] == 0);
    return best;
}

/* Two ellipsoids that roll on each other, followed from tick to tick, take less than 2 us, other
 * than under a sanitizer or on a machine that is much slower. */
static void warm_started_smooth_query_is_fast(void **state)
{
    (void)state;
    const struct tact_shape a = {.kind = TACT_SHAPE_ELLIPSOID, .size = {0.05, 0.03, 0.02}};
    const struct tact_shape b = {.kind = TACT_SHAPE_ELLIPSOID, .size = {0.04, 0.06, 0.03}};
    struct warm_started_smooth_pair p;
    double shortest_division_chain_time = 1.0;
    for (int i = 0; i < 20; i++) {
        shortest_division_chain_time = fmin(shortest_division_chain_time, time_of_division_chain());
    }
    const int is_machine_slow = IS_SANITIZER_BUILD || shortest_division_chain_time > 20e-6;
    const double bound = is_machine_slow ? 1e-3 : 2e-6;
    open_warm_started_smooth_pair(&a, &b, 0.0, 1e-4, &p);
    const double best = mean_time_of_warm_started_query(&p, 0.1, bound);
    printf("a warm pair of ellipsoids takes %.2f us, under %g us; 2000 divisions %.1f us\n",
           1e6 * best, 1e6 * bound, 1e6 * shortest_division_chain_time);
    assert_true(best < bound);
    close_warm_started_smooth_pair(&p);
}

/* Surfaces of patches and control meshes are searched in each tick: a torus of patches of degree 3,
 * and Loop's pebble, on a ball and on another of their kind. */
static void warm_chart_queries_take_microseconds(void **state)
{
    (void)state;
    struct tact_charts *charts[2] = {load_bicubic_torus(0.03), NULL};
    struct tact_error err = {.line = 0};
    char *control_mesh_text = load_scene_text_with_edits("pebble.obj", NULL);
    const struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {0.01, 0.01, 0.01}};
    assert_int_equal(tact_charts_subdivision(control_mesh_text, strlen(control_mesh_text),
                                             "pebble.obj", 1.0, &charts[1], &err),
                     0);
    for (int i = 0; i < 4; i++) {
        const struct tact_shape solid = {.kind =
                                             i / 2 ? TACT_SHAPE_SUBDIVISION : TACT_SHAPE_PATCHES,
                                         .charts = charts[i / 2],
                                         .mesh = tact_charts_mesh(charts[i / 2])};
        struct warm_started_smooth_pair p;
        open_warm_started_smooth_pair(&solid, i % 2 ? &solid : &ball, i / 2 ? 0.0 : 0.03, 3e-4, &p);
        const double best = mean_time_of_warm_started_query(&p, 0.01, 1.0);
        printf("a warm pair of %s takes %.1f us\n",
               (const char *const[]){"a bicubic torus on a ball", "bicubic tori",
                                     "Loop's pebble on a ball", "Loop's pebbles"}[i],
               1e6 * best);
        assert_true(best < (IS_SANITIZER_BUILD ? 0.1 : 2e-3));
        close_warm_started_smooth_pair(&p);
    }
    tact_charts_free(charts[0]);
    tact_charts_free(charts[1]);
    free(control_mesh_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_session_replays_from_any_tick),
        cmocka_unit_test(rolling_loss_ends_at_an_edge),
        cmocka_unit_test(smooth_model_refuses_shapes_with_edges),
        cmocka_unit_test(soft_smooth_surfaces_have_the_patch_of_hertz),
        cmocka_unit_test(warm_started_smooth_query_is_fast),
        cmocka_unit_test(warm_chart_queries_take_microseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
