/* Contacts of pressure fields that are measured beside the tick: those of the tick's own poses are
 * the same as without it, and earlier ones are carried to it by their stiffness. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/number.h"
#include "contact/pair/field/field_model_internal.h"
#include "contact/world/carry_internal.h"
#include "support/campaign.h"
#include "support/random.h"
#include "support/replays.h"

#define GRAVITY 9.81     /* [m/s^2] */
#define TICK_PERIOD 1e-3 /* [s] */

/* A rigid box over a soft floor. */
static const char box_over_soft_floor_scene_text[] =
    "name: fall\nduration: %g\nmoments: {source: %s, max_age: %d}\n"
    "materials:\n"
    "  - {name: foam, field: {modulus: %g, thickness: 0.01}}\n"
    "  - {name: steel}\n"
    "pairs:\n"
    "  - {materials: [foam, steel], friction: %g, model: field, dissipation: 0}\n"
    "  - {materials: [steel, steel], friction: 0.5}\n"
    "bodies:\n"
    "  - {name: box, mass: 0.1, position: [0, 0, %g], quat_wxyz: [%.17g, %.17g, %.17g, %.17g],\n"
    "     angular_velocity: [%g, %g, %g],\n"
    "     shapes: [{type: box, size: [0.04, 0.03, 0.02], material: steel}]}\n"
    "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: foam}]}\n";

struct box_scene {
    const char *source;
    int max_age;
    double modulus, friction, height, spin;
    double quat_wxyz[4];
};

static void print_box_scene(char *text, size_t size, const struct box_scene *of)
{
    const double *q = of->quat_wxyz;
    tact_number_print(text, size, box_over_soft_floor_scene_text, 0.5, of->source, of->max_age,
                      of->modulus, of->friction, of->height, q[0], q[1], q[2], q[3],
                      uniform(-of->spin, of->spin), uniform(-of->spin, of->spin),
                      uniform(-of->spin, of->spin));
}

/* Kinetic and gravity energy of the first body [J], less m g h v_z / 2, which is constant in the
 * steps of a free fall. */
static double energy_of_first_body(struct tact_session *session)
{
    const struct tact_body *body = tact_world_body(tact_session_world(session), 0);
    return tact_body_energy(body) +
           body->mass * GRAVITY * (body->pose.position[2] - 0.5 * TICK_PERIOD * body->twist[2]);
}

/* Largest energy of the first body in a run, over that at its start. */
static double largest_energy_ratio_of_run(const char *text, struct tact_session_report *report)
{
    const struct tact_session_options options = {.clock = TACT_LOOP_FREE};
    struct tact_session *session;
    struct tact_scene *scene;
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    const double start = energy_of_first_body(session);
    double largest_energy_ratio = 0.0;
    for (int i = 0; i < 500; i++) {
        assert_int_equal(tact_session_step(session, 0, NULL), 0);
        largest_energy_ratio = fmax(largest_energy_ratio, energy_of_first_body(session) / start);
    }
    assert_int_equal(tact_session_end(session, report), 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
    return largest_energy_ratio;
}

static void carried_contacts_of_falling_boxes_add_no_energy(void **state)
{
    static const int ages[] = {2, 4, 10, 20};
    (void)state;
    const int trial_count = is_quick_sanitizer_run() ? 4 : 12;
    for (double modulus = 1e4; modulus < 2e9; modulus *= 10.0) {
        struct box_scene scene = {
            .source = "thread", .modulus = modulus, .height = 0.06, .spin = 20.0};
        uint64_t carried_contact_count = 0;
        double largest_energy_ratio = 0.0;
        for (int i = 0; i < trial_count; i++) {
            struct tact_session_report report;
            char text[2048];
            random_unit_quaternion(scene.quat_wxyz);
            scene.max_age = ages[i % 4];
            scene.friction = i / 4 % 2 ? 0.5 : 0.0;
            print_box_scene(text, sizeof text, &scene);
            largest_energy_ratio =
                fmax(largest_energy_ratio, largest_energy_ratio_of_run(text, &report));
            assert_int_equal(report.faults, 0);
            assert_true(report.age_max == (uint32_t)scene.max_age || !report.source_pairs);
            carried_contact_count += report.source_pairs;
        }
        print_message("modulus %g: at most %.9f of the start's energy, %llu carried\n", modulus,
                      largest_energy_ratio, (unsigned long long)carried_contact_count);
        assert_true(largest_energy_ratio <= 1.0 + 1e-6);
        assert_true(carried_contact_count > (uint64_t)trial_count);
    }
}

/* Wrench of a measurement on the first shape, world axes, about the world's origin. */
static void wrench_in_world(const struct tact_patch *p, double out[6])
{
    double moment[3];
    tact_v3_scale(out, p->frame, p->wrench[0]);
    tact_v3_cross(out + 3, p->center, out);
    tact_m3_tmul_v3(moment, p->frame, p->wrench + 3);
    tact_v3_add(out + 3, out + 3, moment);
}

/* Moves the box by a twist, carries its contact there, and measures it there. Returns the distance
 * of the two wrenches, with torques over 2 cm, relative to the force. */
static double error_of_carried_wrench(struct tact_world *world, int pair, const double twist[6],
                                      double size, const struct field_workspace *workspace)
{
    struct tact_body *body = tact_world_body(world, 0);
    const struct tact_pose start = body->pose;
    struct pair_measurement then, now;
    struct tact_pair_query query;
    struct tact_patch carried_patch;
    struct tact_pair_piece piece[TACT_PIECES];
    double turn[3], q[4], w[2][6], e = 0.0;
    int counts[TACT_SOLVE_COUNTS], a, b;
    tact_world_pair_shapes(world, pair, &a, &b);
    tact_world_begin(world);
    tact_world_make_query_of_pair_fields(world, pair, &query);
    const struct tact_pose *poses = tact_world_shape_poses(world);
    tact_field_measure_pair_at_poses(&query, (const struct tact_pose[]){poses[a], poses[b]},
                                     workspace, &then);
    tact_v3_axpy(body->pose.position, size, twist);
    tact_v3_scale(turn, twist + 3, size);
    tact_quat_from_rotvec(q, turn);
    tact_quat_mul(body->pose.quat_wxyz, q, start.quat_wxyz);
    tact_world_refresh(world);
    tact_world_begin(world);
    tact_field_measure_pair_at_poses(&query, (const struct tact_pose[]){poses[a], poses[b]},
                                     workspace, &now);
    assert_int_equal(
        tact_carry_measurement_to_poses(world, a, b, &then, counts, &carried_patch, piece), 0);
    wrench_in_world(&carried_patch, w[0]);
    wrench_in_world(&now.patch, w[1]);
    for (int i = 0; i < 6; i++) {
        double scale = i < 3 ? 1.0 : 50.0;
        e += scale * scale * (w[0][i] - w[1][i]) * (w[0][i] - w[1][i]);
    }
    body->pose = start;
    tact_world_refresh(world);
    return sqrt(e) / now.patch.wrench[0];
}

/* The error of a carried wrench falls as the square of the motion. */
static void carried_wrenches_are_exact_to_first_order(void **state)
{
    (void)state;
    const struct tact_session_options options = {.clock = TACT_LOOP_FREE};
    struct box_scene of = {"host", 1, 1e6, 0.5, 0.011, 0.0, {1.0, 0.02, 0.03, 0.0}};
    struct field_workspace workspace;
    struct tact_session *session;
    struct tact_scene *scene;
    char text[2048];
    tact_quat_normalize(of.quat_wxyz);
    print_box_scene(text, sizeof text, &of);
    open_session_of_scene_text(text, &options, &scene, &session);
    struct tact_world *world = tact_session_world(session);
    assert_int_equal(tact_field_workspace_create(&workspace), 0);
    const int pair = tact_world_next_pair(world, -1);
    for (int k = 0; k < 6; k++) {
        double twist[6] = {0.0}, e[2];
        twist[k] = k < 3 ? 1.0 : 50.0;
        for (int i = 0; i < 2; i++) {
            e[i] = error_of_carried_wrench(world, pair, twist, 1e-5 / (1 + i), &workspace);
        }
        print_message("motion %d: %.3e, half of it %.3e\n", k, e[0], e[1]);
        assert_true(e[1] < 0.3 * e[0] || e[0] < 1e-8);
    }
    tact_field_workspace_free(&workspace);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

/* At the poses of the tick itself a measurement is that of the tick, bit for bit. */
static void results_of_the_same_tick_have_the_same_bits(void **state)
{
    (void)state;
    struct run_options o = {
        .scene = "fingertips.yaml", .seconds = 0.5, .clock = TACT_LOOP_FREE, .source = "thread"};
    struct run_result result_by_thread, result_by_host;
    run_scene(&o, &result_by_thread);
    o.source = "host";
    run_scene(&o, &result_by_host);
    assert_int_equal(result_by_thread.report.age_max, 1);
    assert_true(result_by_thread.report.source_pairs >= 2000);
    assert_int_equal(result_by_host.report.source_pairs, 0);
    assert_memory_equal(result_by_thread.position, result_by_host.position,
                        sizeof result_by_host.position);
    assert_memory_equal(result_by_thread.quat_wxyz, result_by_host.quat_wxyz,
                        sizeof result_by_host.quat_wxyz);
}

/* Contacts of four ticks ago hold a ruler whose torsion is 3 % below that of its patches, and not
 * one that is 3 % above it. */
static void carried_pinch_holds_up_to_its_torsion(void **state)
{
    static const struct edit edits[] = {
        {"name: fingertips", "name: fingertips\nmoments: {source: thread, max_age: 4}"}, {0}};
    (void)state;
    SKIP_IN_QUICK_SANITIZER_RUN();
    char *text = load_scene_text_with_edits("fingertips.yaml", edits);
    struct tact_session_report report;
    struct tact_pose at[2];
    double fallen_distances[2];
    for (int body = 0; body < 2; body++) {
        run_scene_text_to_pose(text, body, &report, &at[body]);
        fallen_distances[body] = -at[body].position[2];
    }
    free(text);
    print_message("held %.1e m, turning %.1e m; %llu carried, age %u\n", fallen_distances[0],
                  fallen_distances[1], (unsigned long long)report.source_pairs, report.age_max);
    assert_int_equal(report.age_max, 4);
    assert_true(report.source_pairs > 7000);
    assert_true(fabs(fallen_distances[0]) < 1e-10);
    assert_true(fallen_distances[1] > 1e-2);
}

/* Steps a session until its first pair touches. Returns the number of ticks. */
static int ticks_until_touch(const char *text, struct tact_pose *at)
{
    const struct tact_session_options options = {.clock = TACT_LOOP_FREE};
    struct tact_session_report report;
    struct tact_session *session;
    struct tact_scene *scene;
    int ticks = 0, touches = 0;
    open_session_of_scene_text(text, &options, &scene, &session);
    struct tact_world *world = tact_session_world(session);
    const int pair = tact_world_next_pair(world, -1);
    assert_int_equal(tact_session_begin(session), 0);
    while (!touches && ticks < 400) {
        assert_int_equal(tact_session_step(session, 0, NULL), 0);
        touches = tact_world_contact(world, pair)->touching;
        ticks++;
    }
    *at = tact_world_body(world, 0)->pose;
    assert_int_equal(tact_session_end(session, &report), 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
    return ticks;
}

/* A measurement without a contact is not carried: contacts begin in the tick in which they do
 * without it. */
static void no_carried_contact_begins_late(void **state)
{
    (void)state;
    struct box_scene scene = {"host", 20, 1e6, 0.5, 0.06, 0.0, {1.0, 0.3, 0.2, 0.1}};
    struct tact_pose at[2];
    int ticks[2];
    tact_quat_normalize(scene.quat_wxyz);
    for (int i = 0; i < 2; i++) {
        char text[2048];
        scene.source = i ? "thread" : "host";
        print_box_scene(text, sizeof text, &scene);
        ticks[i] = ticks_until_touch(text, &at[i]);
    }
    print_message("first touch in tick %d and %d\n", ticks[0], ticks[1]);
    assert_true(ticks[0] > 50 && ticks[0] < 400);
    assert_int_equal(ticks[0], ticks[1]);
    assert_memory_equal(&at[0], &at[1], sizeof *at);
}

/* Soft and rigid bodies that slide, roll and press; one contact has several patches. */
static const char soft_shapes_scene[] =
    "name: soft\nduration: %g\nrecorder: {pressure_rate: 100}\nmoments: {%s}\n"
    "materials:\n"
    "  - {name: rubber, field: {modulus: 2e5, thickness: 0.01}}\n"
    "  - {name: steel}\n"
    "pairs:\n"
    "  - {materials: [rubber, rubber], friction: 0.6, model: field, hunt_crossley: 5}\n"
    "  - {materials: [rubber, steel], friction: 0.6, model: field}\n"
    "  - {materials: [steel, steel], friction: 0.6}\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: rubber}]}\n"
    "  - {name: wall, fixed: true, shapes: [{type: box, size: [0.02, 0.2, 0.2],\n"
    "     position: [0.129, 0, 0], material: rubber}]}\n"
    "  - {name: ball, mass: 0.1, position: [0, 0.1, 0.019], angular_velocity: [3, 0, 5],\n"
    "     shapes: [{type: sphere, radius: 0.02, material: rubber}]}\n"
    "  - {name: box, mass: 0.1, position: [0.1, 0, 0.009], velocity: [0.05, 0, 0],\n"
    "     shapes: [{type: box, size: [0.04, 0.03, 0.02], material: rubber}]}\n"
    "  - {name: egg, mass: 0.1, position: [0.1, 0, 0.038], velocity: [0, 0.02, 0],\n"
    "     shapes: [{type: ellipsoid, size: [0.06, 0.05, 0.04], material: rubber}]}\n"
    "  - {name: rod, mass: 0.1, position: [-0.1, 0, 0.019], angular_velocity: [0, 2, 0],\n"
    "     shapes: [{type: cylinder, radius: 0.02, length: 0.04, material: steel}]}\n";

static void carried_sessions_replay_from_any_tick(void **state)
{
    (void)state;
    const int ticks = is_quick_sanitizer_run() ? 90 : 240;
    char text[4096];
    tact_number_print(text, sizeof text, soft_shapes_scene, 1e-3 * ticks,
                      "source: thread, max_age: 3");
    const struct tact_session_report report = check_replays_of_scene(text, ticks, 37, 1);
    print_message("%llu of age %u, %llu in the tick, %llu pressure maps\n",
                  (unsigned long long)report.source_pairs, report.age_max,
                  (unsigned long long)report.host_pairs,
                  (unsigned long long)report.recorder.pressures);
    assert_int_equal(report.faults, 0);
    assert_int_equal(report.age_max, 3);
    assert_true(report.source_pairs > (uint64_t)ticks);
    assert_int_equal(report.ages[0], report.host_pairs);
    assert_int_equal(report.ages[3], report.source_pairs);
    assert_int_equal(report.recorder.pressures, (ticks + 9) / 10);
}

/* Runs a scene in real time, and checks that its log replays bit for bit. Returns how many contacts
 * the thread measured. */
static uint64_t count_contacts_measured_by_thread(const char *text)
{
    struct tact_session_options options = {.clock = TACT_LOOP_REAL};
    struct tact_replay_options how = tact_replay_options_default();
    struct tact_session_report report;
    struct tact_replay_report replay_report;
    struct tact_error err = {.line = 0};
    char folder[] = "/tmp/tact-carried-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.mcap", folder);
    options.record = path;
    run_session_of_scene_text(text, &options, &report);
    print_message("%llu beside the tick, median age %u, at most %u; %llu in the tick\n",
                  (unsigned long long)report.source_pairs, report.age, report.age_max,
                  (unsigned long long)report.host_pairs);
    for (how.from = 0; how.from < 200; how.from += 101) {
        assert_int_equal(tact_replay_run_with(path, &how, &replay_report, &err), 0);
        assert_true(replay_report.differing == 0 && replay_report.ticks > 0);
    }
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
    return report.source_pairs;
}

/* In real time a thread measures: all pairs, or those that exceed the time of the tick. Whatever
 * the ages of its results, the log replays bit for bit. On a busy machine the thread may not run in
 * the short time of a session: then another one is run. */
static void real_time_sessions_with_a_thread_replay(void **state)
{
    static const char *const sources[] = {"source: thread, max_age: 1000",
                                          "source: auto, host_time: 0, max_age: 1000"};
    enum { MAX_RUNS = 10 };
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t contact_count_measured_by_thread = 0;
        char text[4096];
        tact_number_print(text, sizeof text, soft_shapes_scene, 0.4, sources[i]);
        for (int run = 0; run < MAX_RUNS && !contact_count_measured_by_thread; run++) {
            contact_count_measured_by_thread = count_contacts_measured_by_thread(text);
        }
        assert_true(contact_count_measured_by_thread > 0);
    }
}

/* The report of a pair has the time that its measurement takes, and how often it was measured. */
static void pressure_field_pairs_have_their_measured_cost(void **state)
{
    (void)state;
    const struct tact_session_options options = {.clock = TACT_LOOP_FREE};
    struct tact_session_report report;
    struct tact_session *session;
    struct tact_scene *scene;
    char text[4096];
    tact_number_print(text, sizeof text, soft_shapes_scene, 0.1, "source: host");
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(tact_session_run(session, &report), 0);
    uint64_t ticks = 0;
    struct tact_world *world = tact_session_world(session);
    for (int i = tact_world_next_pair(world, -1); i >= 0; i = tact_world_next_pair(world, i)) {
        const struct tact_session_pair_report pair = tact_session_pair_report(session, i);
        ticks += pair.host_ticks;
        assert_true(!pair.source_ticks && !pair.by_source);
        if (tact_world_contact(world, i)->touching) {
            assert_int_equal(pair.host_ticks, 100);
            assert_true(pair.cost > 1e-8 && pair.cost < 0.1);
        }
    }
    assert_true(ticks >= 400);
    assert_int_equal(report.host_pairs, ticks);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carried_wrenches_are_exact_to_first_order),
        cmocka_unit_test(carried_contacts_of_falling_boxes_add_no_energy),
        cmocka_unit_test(results_of_the_same_tick_have_the_same_bits),
        cmocka_unit_test(carried_pinch_holds_up_to_its_torsion),
        cmocka_unit_test(no_carried_contact_begins_late),
        cmocka_unit_test(carried_sessions_replay_from_any_tick),
        cmocka_unit_test(real_time_sessions_with_a_thread_replay),
        cmocka_unit_test(pressure_field_pairs_have_their_measured_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
