/*
 * A hand of five sliding fingers, four against the thumb, with four rigid pads each, that lifts a
 * plate and moves it to and fro: twenty rigid contacts of one body, which carry its weight and five
 * forces in many ways. At most 1 % of the ticks may be unsolved, and the plate stays in the grip.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/number.h"
#include "rt/session/session.h"
#include "support/run_scene.h"

enum { FINGERS = 5, TICKS = 3000, CLOSED = 700 };

#define PLATE_MASS 0.2   /* mass of the plate [kg] */
#define FINGER_FORCE 4.0 /* force of each finger but the thumb, which carries the sum [N] */
#define PLATE_HALF_THICKNESS 0.01    /* half of the plate's thickness [m] */
#define PAD 0.003                    /* half of a pad's edge, and a ball's radius [m] */
#define INITIAL_PAD_GAP 0.001        /* distance of the pads from the plate at the start [m] */
#define FINGER_DRIVE_STIFFNESS 500.0 /* of a finger's drive [N/m] */

static const double finger_positions_along_plate[FINGERS] = {0.0, -0.06, -0.02, 0.02, 0.06};

/* Appends a finger: a slide along y with four pads in front of it. */
static size_t append_finger_yaml(char *text, size_t room, int i, const char *pad)
{
    const double side = i ? 1.0 : -1.0;
    int n =
        tact_number_print(text, room,
                          "      - name: finger_%d\n"
                          "        parent: lift\n"
                          "        joint: {type: slide, axis: [0, %g, 0], position: [%g, %g, 0], "
                          "stiffness: %g, damping: 10, limit: %g}\n"
                          "        mass: 0.03\n"
                          "        inertia: [1e-5, 1e-5, 1e-5, 0, 0, 0]\n"
                          "        shapes:\n",
                          i, -side, finger_positions_along_plate[i],
                          side * (PLATE_HALF_THICKNESS + PAD + INITIAL_PAD_GAP),
                          FINGER_DRIVE_STIFFNESS, i ? FINGER_FORCE : (FINGERS - 1) * FINGER_FORCE);
    for (int k = 0; k < 4; k++) {
        n += tact_number_print(text + n, room - (size_t)n,
                               "          - {%s, position: [%g, 0, %g], material: pad}\n", pad,
                               (k & 1 ? 1 : -1) * 0.008, (k & 2 ? 1 : -1) * 0.008);
    }
    assert_true(n > 0 && (size_t)n < room);
    return (size_t)n;
}

static struct tact_session *open_hand_session(const char *pad, struct tact_scene **scene)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_session *session;
    char text[8192];
    size_t n = (size_t)tact_number_print(
        text, sizeof text,
        "name: pads\n"
        "materials: [{name: pad}, {name: wood}]\n"
        "pairs: [{materials: [pad, wood], friction: 0.5}, {materials: [wood, wood], friction: "
        "0.5}]\n"
        "bodies:\n"
        "  - {name: plate, mass: %g, shapes: [{type: box, size: [0.2, %g, 0.05], material: "
        "wood}]}\n"
        "  - {name: floor, fixed: true, position: [0, 0, -0.025], "
        "shapes: [{type: halfspace, material: wood}]}\n"
        "hands:\n"
        "  - name: hand\n"
        "    weightless: true\n"
        "    links:\n"
        "      - name: lift\n"
        "        joint: {type: slide, axis: [0, 0, 1], stiffness: 5000, damping: 100}\n"
        "        mass: 0.3\n"
        "        inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0]\n",
        PLATE_MASS, 2.0 * PLATE_HALF_THICKNESS);
    for (int i = 0; i < FINGERS; i++) {
        n += append_finger_yaml(text + n, sizeof text - n, i, pad);
    }
    options.clock = TACT_LOOP_FREE;
    open_session_of_scene_text(text, &options, scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    return session;
}

/* Targets of the fingers: close, lift by 20 mm, then go up and down by 5 mm 1.4 times a second. */
static void set_pad_finger_drive_targets(const struct tact_hand_state *s, int tick)
{
    const double seconds_since_pads_closed = tick > CLOSED ? 1e-3 * (tick - CLOSED) : 0.0;
    const double up = seconds_since_pads_closed < 0.5
                          ? 0.5 - 0.5 * cos(6.283185307179586 * seconds_since_pads_closed)
                          : 1.0;
    s->target[0] = 0.02 * up + 5e-3 * (seconds_since_pads_closed > 0.5
                                           ? sin(8.8 * (seconds_since_pads_closed - 0.5))
                                           : 0.0);
    for (int i = 1; i <= FINGERS; i++) {
        s->target[i] =
            fmin(1.0, tick / 500.0) *
            (INITIAL_PAD_GAP + (i > 1 ? 2.0 : 8.0) * FINGER_FORCE / FINGER_DRIVE_STIFFNESS);
    }
}

static void grip_plate_with_pads(const char *pad)
{
    struct tact_scene *scene;
    struct tact_session_report report;
    struct tact_session *session = open_hand_session(pad, &scene);
    struct tact_world *world = tact_session_world(session);
    const struct tact_hand_state s = tact_hand_state(tact_world_hand(world, 0));
    double slip = 0.0, held = 0.0;
    for (int tick = 0; tick < TICKS; tick++) {
        set_pad_finger_drive_targets(&s, tick);
        assert_int_equal(tact_session_step(session, 0, NULL), 0);
        const double plate_height_in_hand = tact_world_body(world, 0)->pose.position[2] - s.q[0];
        held = tick <= CLOSED ? plate_height_in_hand : held;
        slip = fmax(slip, fabs(plate_height_in_hand - held));
    }
    assert_int_equal(tact_session_end(session, &report), 0);
    const unsigned long unsolved_ticks = (unsigned long)report.counts[TACT_COUNT_UNSOLVED];
    print_message(
        "%s: %lu of %d ticks unsolved, at most %d contacts, moved in the grip by %.1e m\n", pad,
        unsolved_ticks, TICKS, report.contacts_max, slip);
    assert_true(report.contacts_max >= 4 * FINGERS);
    assert_true(100 * unsolved_ticks <= TICKS);
    assert_true(slip < 1e-6);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

static void box_pads_hold_a_plate(void **state)
{
    (void)state;
    grip_plate_with_pads("type: box, size: [0.006, 0.006, 0.006]");
}

static void ball_pads_hold_a_plate(void **state)
{
    (void)state;
    grip_plate_with_pads("type: sphere, radius: 0.003");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_pads_hold_a_plate),
        cmocka_unit_test(ball_pads_hold_a_plate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
