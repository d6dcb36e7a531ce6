/* Force feedback through the kernel's evdev, on a stick made with uinput: the effects follow the
 * contact force of a session, with the age that the session reports; a slow driver, a long run and
 * a stick that is unplugged a hundred times change no tick. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "board.h"
#include "devices/evdev/evdev.h"
#include "rt/clock.h"
#include "rt/session/session.h"
#include "stick.h"
#include "unit/support/campaign.h"
#include "unit/support/device_config.h"
#include "unit/support/run_scene.h"
#include "unit/support/script_device.h"

enum { TICKS = 2000, MOST_TICKS = 120000 };
enum {
    UPLOADS_NS = 2000000
}; /* time within which a driver that answers at once has got all effects [ns] */
#define REPLUG_ROUNDS campaign_trial_count(8, 100)
#define UPLOAD_REPLUG_ROUNDS campaign_trial_count(3, 20)
enum {
    FORCE_X_OUTPUT,
    SPRING_OUTPUT,
    DAMPER_OUTPUT,
    STRONG_RUMBLE_OUTPUT,
    OUTPUTS
};                /* output channels, in the order of the scene's `forces` */
enum { AGE = 3 }; /* input channel of the force's age, after abs_x, abs_y, btn_trigger */

static const int all_force_feedback_effects[] = {FF_CONSTANT, FF_SPRING, FF_DAMPER,
                                                 FF_RUMBLE,   FF_GAIN,   0};

/* The evdev device, wrapped so that its values and forces are recorded tick by tick. */
static struct tact_device inner;
static struct tact_device_ops wrapped_device_ops;
static struct {
    uint64_t tick;
    int state[MOST_TICKS];
    int64_t read_times_ns[MOST_TICKS];
    int64_t sent_ns[MOST_TICKS];
    float age[MOST_TICKS];
    double out[MOST_TICKS][OUTPUTS];
    atomic_uint_fast64_t ticks;
    atomic_int steady; /* 1: the script keeps a constant press */
} observed;

static void read_joystick_and_log_call(void *self, uint64_t tick, double t, int64_t now,
                                       struct tact_device_input *in)
{
    inner.ops->read(self, tick, t, now, in);
    observed.tick = tick;
    observed.state[tick] = in->state;
    observed.read_times_ns[tick] = now;
    observed.age[tick] = (float)in->channel[AGE];
}

static void write_joystick_and_log_call(void *self, const double *out, int64_t now)
{
    uint64_t tick = observed.tick;
    if (tick + 1 > atomic_load(&observed.ticks)) { /* the last write of a session, which sends
                                                      zeros, is not recorded */
        memcpy(observed.out[tick], out, sizeof observed.out[tick]);
        observed.sent_ns[tick] = now;
        atomic_store(&observed.ticks, tick + 1);
    }
    inner.ops->write(self, out, now);
}

static int open_joystick_with_logged_calls(const struct tact_device_config *config,
                                           struct tact_device *out, struct tact_error *err)
{
    int rc = tact_evdev_type.open(config, &inner, err);
    *out = inner;
    if (!rc) {
        wrapped_device_ops = *inner.ops;
        wrapped_device_ops.read = read_joystick_and_log_call;
        wrapped_device_ops.write = write_joystick_and_log_call;
        out->ops = &wrapped_device_ops;
        strcpy(out->info.type, "stick");
    }
    return rc;
}

/* The scripted device's read: a target angle with which the hand presses a wall, periodically or
 * constantly. */
static void read_press_script(void *self, uint64_t tick, double t, int64_t now,
                              struct tact_device_input *in)
{
    (void)self, (void)tick;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[0] = atomic_load(&observed.steady) ? 0.55 : 0.45 - 0.2 * cos(12.0 * t);
}

static int open_press_script(const struct tact_device_config *config, struct tact_device *out,
                             struct tact_error *err)
{
    (void)config, (void)err;
    return open_script_device(read_press_script, "angle", out);
}

static const char scene_text[] =
    "name: stick\n"
    "materials: [{name: skin}]\n"
    "pairs: [{materials: [skin, skin], friction: 0, compliance: 1e-3}]\n"
    "bodies:\n"
    "  - name: wall\n"
    "    fixed: true\n"
    "    shapes: [{type: box, size: [0.1, 0.1, 0.1], position: [0.1, 0.1, 0], material: skin}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 0.1\n"
    "        center_of_mass: [0, 0, 0]\n"
    "        inertia: [2e-3, 2e-3, 2e-3, 0, 0, 0]\n"
    "        joint: {type: hinge, axis: [0, 0, 1], stiffness: 8, damping: 0.2}\n"
    "        shapes: [{type: sphere, radius: 0.01, position: [0.1, 0, 0], material: skin}]\n"
    "devices:\n"
    "  - {name: script, type: script}\n"
    "  - name: stick\n"
    "    type: stick\n"
    "    settings: {match: " JOYSTICK_NAME ", forces: force_x spring damper strong, gain: 0.8}\n"
    "inputs: [{from: script.angle, to: hand.tip}]\n"
    "outputs:\n"
    "  - {from: hand.tip, to: stick.force_x, what: force, along: [0, -1, 0], scale: 0.1,\n"
    "     limit: 1, rate: 1000}\n"
    "  - {from: hand.tip, to: stick.spring, what: force, scale: 0.05, limit: 1, rate: 1000}\n"
    "  - {from: hand.tip, to: stick.damper, what: moment, scale: 0.2, limit: 1, rate: 1000}\n"
    "  - {from: hand.tip, to: stick.strong, scale: 0.5, limit: 1, rate: 1000}\n";

static struct tact_scene *scene;
static struct tact_session *session;
static struct tact_session_report report;
static struct tact_stop stop;

static void keep_message(void *user, enum tact_message_level level, const char *text)
{
    (void)user;
    if (level == TACT_MESSAGE_ERROR) {
        print_message("  %s\n", text);
    }
}

static void open_session_with_joystick(uint64_t ticks)
{
    static const struct tact_device_type script = {TACT_ABI(struct tact_device_type), "script",
                                                   "a hand", open_press_script, NULL};
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "stick",
                                                 "evdev, wrapped", open_joystick_with_logged_calls,
                                                 NULL};
    static const struct tact_device_type *const types[] = {&script, &type};
    struct tact_session_options options = tact_session_options_default();
    atomic_store(&observed.ticks, 0);
    atomic_store(&observed.steady, 0);
    stop = (struct tact_stop){0};
    options.types = types;
    options.type_count = 2;
    options.ticks = ticks;
    options.stop = &stop;
    options.messages = (struct tact_messages){keep_message, NULL};
    options.require_realtime = 1;
    open_session_of_scene_text(scene_text, &options, &scene, &session);
}

static void close_session_with_joystick(void)
{
    tact_session_destroy(session);
    tact_scene_free(scene);
    assert_int_equal(report.loop.missed, 0);
}

/* Checks that the force played at a tick is the one sent as long ago as the reported age. Returns
 * that age, or a negative number before the first force. */
static double check_age_of_played_force(int tick)
{
    int64_t now = observed.read_times_ns[tick];
    double age = (double)observed.age[tick];
    int then = tick;
    if (age == 0.0) {
        return -1.0;
    }
    while (then > 0 && fabs((double)(now - observed.sent_ns[then]) * 1e-9 - age) > 1e-6) {
        then--;
    }
    const double *out = observed.out[then];
    const struct ff_effect *push = joystick_effect_playing_at_time(FF_CONSTANT, now);
    const struct ff_effect *spring = joystick_effect_playing_at_time(FF_SPRING, now);
    const struct ff_effect *damper_effect = joystick_effect_playing_at_time(FF_DAMPER, now);
    const struct ff_effect *playing_rumble_effect = joystick_effect_playing_at_time(FF_RUMBLE, now);
    /* The played force may be newer than the reported age says, as effects are uploaded one after
     * the other. */
    int is_played_force_found_in_outputs = 0;
    for (; then < tick && !is_played_force_found_in_outputs; then++) {
        out = observed.out[then];
        is_played_force_found_in_outputs =
            (push ? push->u.constant.level : 0) == -lrint(out[FORCE_X_OUTPUT] * 0x7fff);
    }
    assert_true(is_played_force_found_in_outputs);
    assert_int_equal(push != NULL, out[FORCE_X_OUTPUT] != 0.0);
    assert_true(!push || push->direction == 0x4000);
    /* Where a press begins the push plays alone until the other effects are uploaded. */
    if (push && joystick_effect_playing_at_time(FF_CONSTANT, now - UPLOADS_NS)) {
        assert_non_null(spring);
        assert_non_null(damper_effect);
        assert_non_null(playing_rumble_effect);
        assert_int_equal(joystick_gain_at_time(now), lrint(0.8 * 65535));
        assert_true(fabs(spring->u.condition[0].right_coeff / 32767.0 - out[SPRING_OUTPUT]) < 0.05);
        assert_true(fabs(damper_effect->u.condition[1].left_coeff / 32767.0 - out[DAMPER_OUTPUT]) <
                    0.05);
        assert_true(fabs(playing_rumble_effect->u.rumble.strong_magnitude / 65535.0 -
                         fabs(out[STRONG_RUMBLE_OUTPUT])) < 0.05);
    }
    return age;
}

static void check_forces_were_played(const char *what, double allowed_age_of_played_force)
{
    double worst = 0.0, sum = 0.0, most = 0.0;
    int count = 0, touching = 0;
    for (int tick = 300; tick < TICKS; tick += 7) {
        double age = check_age_of_played_force(tick);
        assert_true(age > 0.0);
        worst = fmax(worst, age);
        sum += age;
        count++;
        most = fmax(most, fabs(observed.out[tick][FORCE_X_OUTPUT]));
        touching += observed.out[tick][FORCE_X_OUTPUT] != 0.0;
    }
    print_message(
        "%s: push to %.2f, touching in %d of %d, its age mean %.1f, most %.1f ms; %d "
        "events at the stick; wake max %.1f us, compute p50 %.1f, max %.1f us, missed %d\n",
        what, most, touching, count, 1e3 * sum / count, 1e3 * worst, joystick_event_count(),
        (double)report.loop.wake_latency.max / 1e3,
        (double)tact_histogram_quantile(&report.loop.compute, 0.5) / 1e3,
        (double)report.loop.compute.max / 1e3, (int)report.loop.missed);
    assert_true(worst < allowed_age_of_played_force);
    assert_true(most > 0.2);
    assert_in_range(touching, count / 5, count - 1);
}

static double outputs_of_first_run[TICKS][OUTPUTS];

static void joystick_force_follows_contact(void **unused)
{
    (void)unused;
    plug_in_joystick(all_force_feedback_effects);
    open_session_with_joystick(TICKS);
    assert_int_equal(tact_session_run(session, &report), 0);
    close_session_with_joystick();
    check_forces_were_played("prompt driver", 0.0065);
    memcpy(outputs_of_first_run, observed.out, sizeof outputs_of_first_run);
    assert_true(joystick_force_at_time(tact_clock_now()) == 0.0);
    assert_int_equal(find_guard_process(), 0);
    unplug_joystick();
}

/* With a driver that takes 50 ms for each upload forces are older, but ticks are equal bit for bit.
 */
static void slow_joystick_driver_changes_no_tick(void **unused)
{
    (void)unused;
    plug_in_joystick(all_force_feedback_effects);
    set_joystick_upload_delay(50000);
    open_session_with_joystick(TICKS);
    assert_int_equal(tact_session_run(session, &report), 0);
    set_joystick_upload_delay(0);
    close_session_with_joystick();
    double worst = 0.0;
    for (int tick = 600; tick < TICKS; tick++) {
        worst = fmax(worst, (double)observed.age[tick]);
    }
    print_message(
        "slow driver: age most %.1f ms, compute max %.1f us, wake max %.1f us, %d events\n",
        1e3 * worst, (double)report.loop.compute.max / 1e3,
        (double)report.loop.wake_latency.max / 1e3, joystick_event_count());
    assert_memory_equal(outputs_of_first_run, observed.out, sizeof outputs_of_first_run);
    assert_true(worst > 0.05 && worst < 0.5); /* four effects are uploaded one after the other */
    unplug_joystick();
}

static struct device_config config;

static int open_joystick_device(struct tact_device *device, const char *forces, const char *guard)
{
    const struct tact_device_setting settings[] = {
        SETTING("match", JOYSTICK_NAME), SETTING("forces", forces), SETTING("rate", "50"),
        SETTING("guard", guard), SETTING("guard_timeout", "0.2")};
    device_config_init(&config, settings, 5);
    return tact_evdev_type.open(&config.config, device, &config.err);
}

/* The stick plays a constant force for two minutes without a pause, with and without the guard,
 * although its effects have a limited length. */
static void joystick_force_outlasts_its_effects_length(void **unused)
{
    struct tact_device device;
    struct tact_device_input in;
    (void)unused;
    for (int round = 0; round < 2; round++) {
        plug_in_joystick(all_force_feedback_effects);
        assert_int_equal(open_joystick_device(&device, "force_x", round ? "false" : "true"), 0);
        const double out[] = {0.5};
        for (int tick = 0; tick < (round ? 200 : 6250); tick++) {
            int64_t now = tact_clock_now();
            device.ops->read(device.self, (uint64_t)tick, 0.02 * tick, now, &in);
            device.ops->write(device.self, out, now);
            tact_clock_sleep_until(now + 20000000);
            if (tick > 10) {
                double force = joystick_force_at_time(tact_clock_now());
                if (!(fabs(force - 16384) < 1.0)) {
                    fail_msg("%g after %.1f s", force, 0.02 * tick);
                }
            }
        }
        print_message("%s: %d events in %d s\n", round ? "thread" : "guard", joystick_event_count(),
                      round ? 4 : 125);
        device.ops->close(device.self);
        assert_true(joystick_force_at_time(tact_clock_now()) == 0.0);
        unplug_joystick();
    }
}

static int count_open_descriptors(int pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *dir = opendir(path);
    int count = 0;
    while (readdir(dir)) {
        count++;
    }
    closedir(dir);
    return count;
}

static void *run_joystick_session_in_thread(void *result)
{
    *(int *)result = tact_session_run(session, &report);
    return NULL;
}

/* Waits until the device is in a state; returns the first tick of that state from the tick `from`
 * on. */
static uint64_t wait_for_device_state(uint64_t from, int state)
{
    uint64_t tick = from;
    for (int i = 0; i < 3000; i++) {
        for (; tick < atomic_load(&observed.ticks); tick++) {
            if (observed.state[tick] == state) {
                return tick;
            }
        }
        usleep(1000);
    }
    fail_msg("state %d does not come", state);
    return 0;
}

/* The session's outputs are zero in the tick that detects the unplugged stick, at most two ticks
 * after its removal, and ramp over 0.2 s once it is back, also at the stick. */
static void joystick_unplugged_in_contact_is_lost(void **unused)
{
    pthread_t thread;
    int result = -1;
    int descriptor_count_of_test = 0;
    int guard_descriptor_count = 0;
    uint64_t longest = 0;
    (void)unused;
    plug_in_joystick(all_force_feedback_effects);
    open_session_with_joystick(MOST_TICKS - 1);
    atomic_store(&observed.steady, 1);
    assert_int_equal(pthread_create(&thread, NULL, run_joystick_session_in_thread, &result), 0);
    for (int round = 0; round < REPLUG_ROUNDS; round++) {
        usleep(300000);
        uint64_t before = atomic_load(&observed.ticks);
        assert_true(before > 200);
        double full = observed.out[before - 1][FORCE_X_OUTPUT];
        assert_true(full > 0.2);
        assert_true(fabs(joystick_force_at_time(tact_clock_now()) - full * 0.8 * 32767) < 3.0);
        descriptor_count_of_test =
            round == 1 ? count_open_descriptors(getpid()) : descriptor_count_of_test;
        guard_descriptor_count =
            round == 1 ? count_open_descriptors(find_guard_process()) : guard_descriptor_count;
        int64_t unplug_start_ns = tact_clock_now();
        unplug_joystick();
        int64_t removal_end_ns =
            joystick_removal_time_ns(); /* the stick was removed between these times */
        uint64_t lost = wait_for_device_state(before, TACT_DEVICE_LOST);
        assert_true(observed.read_times_ns[lost] > unplug_start_ns &&
                    observed.read_times_ns[lost] < removal_end_ns + 2000000);
        usleep(20000);
        for (uint64_t tick = lost; tick < atomic_load(&observed.ticks); tick++) {
            assert_true(observed.out[tick][FORCE_X_OUTPUT] == 0.0 &&
                        observed.out[tick][STRONG_RUMBLE_OUTPUT] == 0.0);
        }
        plug_in_joystick(all_force_feedback_effects);
        uint64_t back = wait_for_device_state(lost, TACT_DEVICE_OK);
        longest = back - lost > longest ? back - lost : longest;
        usleep(100000);
        for (uint64_t tick = back; tick < back + 90; tick++) {
            double share = (double)(tick - back + 1) / 200.0;
            assert_true(fabs(observed.out[tick][FORCE_X_OUTPUT] - share * full) < 0.01 * full);
        }
        for (int i = 0; i < joystick_event_count(); i++) {
            const struct joystick_event *e = get_joystick_event(i);
            double share = (double)(e->ns - observed.read_times_ns[back]) / 2e8;
            if (e->kind == STICK_UPLOAD && e->effect.type == FF_CONSTANT) {
                assert_true(-e->effect.u.constant.level <= lrint((share + 0.01) * full * 32767));
            }
        }
    }
    usleep(300000);
    assert_int_equal(count_open_descriptors(getpid()), descriptor_count_of_test);
    assert_int_equal(count_open_descriptors(find_guard_process()), guard_descriptor_count);
    tact_stop_request(&stop);
    pthread_join(thread, NULL);
    assert_int_equal(result, 0);
    print_message(
        "unplugged %d times: %llu ticks, %llu missed, wake max %.1f us, back after at most "
        "%llu ms, %d and %d descriptors\n",
        REPLUG_ROUNDS, (unsigned long long)report.loop.ticks,
        (unsigned long long)report.loop.missed, (double)report.loop.wake_latency.max / 1e3,
        (unsigned long long)longest, descriptor_count_of_test, guard_descriptor_count);
    close_session_with_joystick();
    unplug_joystick();
}

/* The stick is unplugged while its driver sleeps in an upload: the guard is not blocked, the loop
 * detects the loss without delay, and the next stick gets the same forces. */
static void joystick_unplugged_during_an_upload_is_lost(void **unused)
{
    pthread_t thread;
    int result = -1, guard_descriptor_count = 0;
    (void)unused;
    plug_in_joystick(all_force_feedback_effects);
    set_joystick_upload_delay(60000);
    open_session_with_joystick(MOST_TICKS - 1);
    assert_int_equal(pthread_create(&thread, NULL, run_joystick_session_in_thread, &result), 0);
    for (int round = 0; round < UPLOAD_REPLUG_ROUNDS; round++) {
        /* the hand presses the wall at most of these moments */
        usleep(700000 + (unsigned int)round * 7000);
        while (!pending_joystick_upload_count()) {
            usleep(1000);
        }
        uint64_t before = atomic_load(&observed.ticks);
        guard_descriptor_count =
            round == 1 ? count_open_descriptors(find_guard_process()) : guard_descriptor_count;
        int64_t unplug_start_ns = tact_clock_now();
        unplug_joystick();
        int64_t time_of_joystick_removal_ns = joystick_removal_time_ns();
        uint64_t lost = wait_for_device_state(before, TACT_DEVICE_LOST);
        assert_true(observed.read_times_ns[lost] > unplug_start_ns &&
                    observed.read_times_ns[lost] < time_of_joystick_removal_ns + 2000000);
        for (uint64_t tick = lost; tick < atomic_load(&observed.ticks); tick++) {
            assert_true(observed.out[tick][FORCE_X_OUTPUT] == 0.0 &&
                        observed.out[tick][STRONG_RUMBLE_OUTPUT] == 0.0);
        }
        plug_in_joystick(all_force_feedback_effects);
        wait_for_device_state(lost, TACT_DEVICE_OK);
    }
    set_joystick_upload_delay(0);
    atomic_store(&observed.steady, 1);
    usleep(1000000);
    double full = observed.out[atomic_load(&observed.ticks) - 1][FORCE_X_OUTPUT];
    assert_true(full > 0.2 &&
                fabs(joystick_force_at_time(tact_clock_now()) - full * 0.8 * 32767) < 3.0);
    assert_int_equal(count_open_descriptors(find_guard_process()), guard_descriptor_count);
    tact_stop_request(&stop);
    pthread_join(thread, NULL);
    assert_int_equal(result, 0);
    print_message("unplugged in an upload %d times: %llu ticks, %llu missed, wake max %.1f us\n",
                  UPLOAD_REPLUG_ROUNDS, (unsigned long long)report.loop.ticks,
                  (unsigned long long)report.loop.missed,
                  (double)report.loop.wake_latency.max / 1e3);
    close_session_with_joystick();
    unplug_joystick();
}

/* Effects that the device lacks are replaced by others; devices without usable effects are refused.
 */
static void unusable_force_devices_are_refused(void **unused)
{
    static const struct {
        int effects[6];
        const char *forces;
        int rc;
        const char *text;
    } cases[] = {
        {{FF_RUMBLE, FF_PERIODIC, FF_SINE, FF_GAIN, 0}, "force_x", 0, "force_x as periodic"},
        {{FF_RUMBLE, FF_GAIN, 0}, "force_x weak", 0, "force_x as rumble, weak as rumble"},
        {{FF_SPRING, FF_GAIN, 0}, "force_x force_y", 0, "force_x as spring, force_y as spring"},
        {{FF_RUMBLE, 0}, "damper", -EINVAL, "cannot render damper; its effects: rumble"},
        {{0}, "force_x", -EINVAL, "its effects: none"},
        {{FF_CONSTANT, FF_GAIN, 0}, "push", -EINVAL, "'push' is none of"},
        {{FF_CONSTANT, FF_GAIN, 0}, "force_x force_x", -EINVAL, "given twice"},
        {{FF_CONSTANT, FF_GAIN, 0}, "spring_center", -EINVAL, "without 'spring'"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tact_device device;
        static const int none[] = {FF_GAIN, 0};
        plug_in_joystick(cases[i].effects[0] ? cases[i].effects : none);
        assert_int_equal(open_joystick_device(&device, cases[i].forces, "true"), cases[i].rc);
        const char *message_of_refusal = cases[i].rc ? config.err.text : config.messages;
        if (!strstr(message_of_refusal, cases[i].text)) {
            fail_msg("case %zu: \"%s\" does not say \"%s\"", i, message_of_refusal, cases[i].text);
        }
        if (!cases[i].rc) {
            const double out[] = {0.75, 0.25};
            for (int tick = 0; tick < 10; tick++) {
                device.ops->write(device.self, out, tact_clock_now());
                usleep(10000);
            }
            int64_t now = tact_clock_now();
            const struct ff_effect *e = joystick_effect_playing_at_time(cases[i].effects[0], now);
            if (cases[i].effects[1] == FF_PERIODIC) {
                e = joystick_effect_playing_at_time(FF_PERIODIC, now);
                assert_non_null(e);
                assert_int_equal(e->u.periodic.magnitude, lrint(0.75 * 32767));
            } else if (cases[i].effects[0] == FF_RUMBLE) {
                assert_non_null(e);
                assert_int_equal(e->u.rumble.strong_magnitude, lrint(0.75 * 65535));
                assert_int_equal(e->u.rumble.weak_magnitude, lrint(0.25 * 65535));
            } else {
                assert_non_null(e);
                assert_int_equal(e->u.condition[1].right_saturation, lrint(0.25 * 65535));
                assert_int_equal(e->u.condition[0].center, 0x7fff);
            }
            device.ops->close(device.self);
        }
        unplug_joystick();
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joystick_force_follows_contact),
        cmocka_unit_test(slow_joystick_driver_changes_no_tick),
        cmocka_unit_test(joystick_force_outlasts_its_effects_length),
        cmocka_unit_test(joystick_unplugged_in_contact_is_lost),
        cmocka_unit_test(joystick_unplugged_during_an_upload_is_lost),
        cmocka_unit_test(unusable_force_devices_are_refused),
    };
    set_up_boards();
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
