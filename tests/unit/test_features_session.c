/* The model of features in scenes: replays from any tick, and pairs that pass each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "support/replays.h"
#include "support/world_scene.h"

/* Scene in which solids of every kind that the model `features` accepts fall on a plate, some fast
 * and turning by a large angle in a tick; an egg has the model `smooth`, two crates `volume`, all
 * in one island. */
static const char falling_solids_scene_text[] =
    "name: heap\nduration: 0.6\ncontact: {model: features}\n"
    "materials: [{name: hard}, {name: crate}, {name: egg}, {name: ground}]\n"
    "pairs:\n"
    "  - {materials: [hard, ground], friction: 0.4}\n"
    "  - {materials: [hard, hard], friction: 0.3}\n"
    "  - {materials: [egg, ground], friction: 0.3}\n"
    "  - {materials: [egg, egg], friction: 0.3, model: smooth}\n"
    "  - {materials: [egg, hard], friction: 0.3}\n"
    "  - {materials: [egg, crate], friction: 0.3}\n"
    "  - {materials: [crate, ground], friction: 0.5, model: volume}\n"
    "  - {materials: [crate, crate], friction: 0.5, model: volume}\n"
    "  - {materials: [hard, crate], friction: 0.5}\n"
    "bodies:\n"
    "  - {name: plate, fixed: true, position: [0, 0, -0.001],\n"
    "     shapes: [{type: box, size: [1, 1, 0.002], material: ground}]}\n"
    "  - name: crate\n    mass: 0.3\n    position: [0, 0, 0.02]\n"
    "    shapes: [{type: box, size: [0.1, 0.1, 0.04], material: crate}]\n"
    "  - name: lid\n    mass: 0.1\n    position: [0, 0, 0.045]\n"
    "    shapes: [{type: box, size: [0.08, 0.08, 0.01], material: crate}]\n"
    "  - name: can\n    mass: 0.1\n    position: [0.004, 0.002, 0.10]\n"
    "    angular_velocity: [0, 4, 9]\n"
    "    shapes: [{type: cylinder, radius: 0.02, length: 0.05, material: hard}]\n"
    "  - name: rod\n    mass: 0.1\n    position: [0.12, 0, 0.08]\n"
    "    angular_velocity: [6, 3, 0]\n"
    "    shapes: [{type: capsule, radius: 0.01, length: 0.06, material: hard}]\n"
    "  - name: first\n    mass: 0.05\n    position: [-0.1, 0, 0.02]\n"
    "    shapes: [{type: ellipsoid, size: [0.04, 0.05, 0.03], material: egg}]\n"
    "  - name: second\n    mass: 0.05\n    position: [-0.16, 0.01, 0.02]\n"
    "    velocity: [0.5, 0, 0]\n"
    "    shapes: [{type: ellipsoid, size: [0.03, 0.04, 0.03], material: egg}]\n"
    "  - name: bullet\n    mass: 0.02\n    position: [0.2, 0.1, 0.15]\n    fast: true\n"
    "    velocity: [-1, -1, -60]\n    angular_velocity: [300, 200, 100]\n"
    "    shapes: [{type: box, size: [0.02, 0.03, 0.02], material: hard}]\n";

static void features_session_replays_from_any_tick(void **state)
{
    (void)state;
    struct tact_session_report report = check_replays_from_any_tick(falling_solids_scene_text);
    printf("%llu pairs of fast bodies moved apart after the drift\n",
           (unsigned long long)report.counts[TACT_COUNT_OVERSHOT]);
    assert_true(report.counts[TACT_COUNT_OVERSHOT] > 0);
}

/* A tower of five that falls over, each of whose joints has another model: its foot is soft and
 * measured by pressure field, then volume, features and points; and a ball hits it. */
static const char tower_scene_text[] =
    "name: tower\nduration: 0.6\ncontact: {iterations: 400}\n" /* the four contact points need 400
                                                                  sweeps */
    "materials: [{name: floor}, {name: soft, field: {modulus: 1e+6, thickness: 0.02}},\n"
    "  {name: oak}, {name: ash}, {name: elm}, {name: fir}]\n"
    "pairs:\n"
    "  - {materials: [soft, floor], friction: 0.5, model: field}\n"
    "  - {materials: [oak, soft], friction: 0.5, model: field}\n"
    "  - {materials: [ash, oak], friction: 0.5, model: volume}\n"
    "  - {materials: [elm, ash], friction: 0.5, model: features}\n"
    "  - {materials: [fir, elm], friction: 0.5, model: points}\n"
    "  - {materials: [oak, floor], friction: 0.5, model: features}\n"
    "  - {materials: [ash, floor], friction: 0.5, model: volume}\n"
    "  - {materials: [elm, floor], friction: 0.5, model: points}\n"
    "  - {materials: [fir, floor], friction: 0.5, model: features}\n"
    "  - {materials: [fir, fir], friction: 0.3, model: features}\n"
    "  - {materials: [fir, ash], friction: 0.3, model: volume}\n"
    "  - {materials: [fir, oak], friction: 0.3, model: features}\n"
    "  - {materials: [fir, soft], friction: 0.3, model: field}\n"
    "  - {materials: [elm, oak], friction: 0.3, model: volume}\n"
    "  - {materials: [elm, soft], friction: 0.3, model: field}\n"
    "  - {materials: [ash, soft], friction: 0.3, model: field}\n"
    "bodies:\n"
    "  - {name: ground, fixed: true, shapes: [{type: halfspace, material: floor}]}\n"
    "  - {name: foot, mass: 0.5, position: [0, 0, 0.02],\n"
    "     shapes: [{type: box, size: [0.08, 0.08, 0.04], material: soft}]}\n"
    "  - {name: second, mass: 0.3, position: [0, 0, 0.055],\n"
    "     shapes: [{type: box, size: [0.06, 0.06, 0.03], material: oak}]}\n"
    "  - {name: third, mass: 0.2, position: [0.002, 0, 0.08498],\n"
    "     shapes: [{type: box, size: [0.05, 0.05, 0.03], material: ash}]}\n"
    "  - {name: fourth, mass: 0.1, position: [0, 0.002, 0.11498],\n"
    "     shapes: [{type: box, size: [0.04, 0.05, 0.03], material: elm}]}\n"
    "  - {name: top, mass: 0.1, position: [0, 0, 0.14497],\n"
    "     shapes: [{type: box, size: [0.04, 0.04, 0.03], material: fir}]}\n"
    "  - {name: ball, mass: 0.1, position: [-0.4, 0.004, 0.2], velocity: [2.5, 0, 0.2],\n"
    "     shapes: [{type: sphere, radius: 0.02, material: fir}]}\n";

/* Number of the models by which bodies touch. While the tower stands it is one island. */
static int count_contact_models_in_touch(struct tact_session *session)
{
    static const char *const names[] = {"field", "volume", "features", "points"};
    struct tact_world *world = tact_session_world(session);
    int touching_model_count = 0;
    for (int m = 0; m < 4; m++) {
        int found = 0;
        for (int i = tact_world_next_pair(world, -1); i >= 0; i = tact_world_next_pair(world, i)) {
            const struct tact_contact_law *law = tact_world_law(world, i);
            found |= tact_world_contact(world, i)->touching && law->model &&
                     !strcmp(law->model->name, names[m]);
        }
        touching_model_count += found;
    }
    return touching_model_count;
}

static void count_warnings(void *user, enum tact_message_level level, const char *text)
{
    *(int *)user += level == TACT_MESSAGE_WARNING && strstr(text, "points") != NULL;
}

/* Replays the tower from tick 0, bit for bit, and from a later one, which warns: the impulses of
 * contact points are not in the log. */
static void check_replays_of_tower(const char *path)
{
    int warning_count = 0;
    struct tact_replay_options how = tact_replay_options_default();
    struct tact_replay_report report;
    struct tact_error err = {.line = 0};
    how.messages.fn = count_warnings;
    how.messages.user = &warning_count;
    for (int from = 0; from <= 100; from += 100) {
        how.from = from;
        assert_int_equal(tact_replay_run_with(path, &how, &report, &err), 0);
        assert_true(from || report.differing == 0);
        assert_true(report.ticks == (uint64_t)(600 - from) && warning_count == (from > 0));
    }
}

/* The contact models volume, features, field and points in one island, a tower that a ball then
 * knocks over. */
static void island_of_four_contact_models_replays_bit_for_bit(void **state)
{
    (void)state;
    char folder[] = "/tmp/tact-tower-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.mcap", folder);
    const struct tact_session_options options = {.clock = TACT_LOOP_FREE, .record = path};
    struct tact_session_report report;
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    int ticks = 0;
    open_session_of_scene_text(tower_scene_text, &options, &scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    for (int i = 0; i < 600; i++) {
        assert_int_equal(tact_session_step(session, 0, NULL), 0);
        ticks += count_contact_models_in_touch(session) == 4;
    }
    assert_int_equal(tact_session_end(session, &report), 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
    printf("four models touch in %d of 600 ticks, %llu of which are not solved\n", ticks,
           (unsigned long long)report.counts[TACT_COUNT_UNSOLVED]);
    assert_true(ticks > 100 && report.counts[TACT_COUNT_UNSOLVED] <= 6);
    assert_int_equal(report.counts[TACT_COUNT_CROWDED],
                     0); /* no contact is crowded, whatever the memory held before */
    check_replays_of_tower(path);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* The same island without contact points replays from any tick. */
static void island_of_three_contact_models_replays_from_any_tick(void **state)
{
    (void)state;
    static char text[sizeof tower_scene_text + 64];
    const char *from = tower_scene_text, *at;
    char *to = text;
    while ((at = strstr(from, "points"))) {
        to += sprintf(to, "%.*sfeatures", (int)(at - from), from);
        from = at + strlen("points");
    }
    strcpy(to, from);
    check_replays_from_any_tick(text);
}

/* A slow ball is stopped by a small plate if the contact is measured before touch, its bounding
 * sphere within the plate's; if the ball passes from one side to the other in one tick, that is
 * counted. */
static void bodies_that_pass_through_in_a_tick_are_counted(void **state)
{
    (void)state;
    int stopped = 0, counted = 0;
    for (int speed = 5; speed <= 100; speed += 5) {
        const struct tact_shape plate = box_of_sides(0.03, 0.03, 1e-3), ball = make_sphere(0.003);
        const double place[3] = {0.0, 0.0, 0.3};
        const struct tact_pose origin_pose = tact_pose_identity();
        struct tact_world_options o = tact_world_options_default();
        struct tact_contact_law law = make_rigid_law(0.3);
        struct world_scene s;
        int passed_through_contact_count = 0, count;
        o.model = tact_contact_model_find("features");
        open_empty_scene(&s, &o);
        add_scene_shape(&s, -1, &plate, &origin_pose, 0);
        const int body = add_scene_solid(&s, &ball, 0.001, place, 0.0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        tact_world_body(s.world, body)->twist[2] = -speed;
        for (int k = 0; k < 100; k++) {
            step_scene(&s);
            const int *near = tact_world_near(s.world, &count);
            passed_through_contact_count += count && tact_world_contact(s.world, near[0])->outrun;
        }
        const int has_ball_passed_plate = tact_world_body(s.world, body)->pose.position[2] < 0.0;
        assert_true(!has_ball_passed_plate || passed_through_contact_count > 0);
        stopped += !has_ball_passed_plate;
        counted += has_ball_passed_plate;
        close_scene(&s);
    }
    printf("%d stopped, %d passed and were counted\n", stopped, counted);
    assert_true(stopped > 0 && counted > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_session_replays_from_any_tick),
        cmocka_unit_test(island_of_four_contact_models_replays_bit_for_bit),
        cmocka_unit_test(island_of_three_contact_models_replays_from_any_tick),
        cmocka_unit_test(bodies_that_pass_through_in_a_tick_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
