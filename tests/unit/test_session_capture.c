/* A pad's raw events, recorded beside a session and played into a second one: with the same
 * mapping the sessions have the same bits, with another mapping the inputs are those of that
 * mapping. */
#include <linux/input.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "support/mock_pad.h"
#include "support/run_scene.h"

enum { TICKS = 3000, PULLED = 1500, PLUGGED = 1600, WAITED = 1900 };

static struct mock_pad *pad;
static char folder[] = "/tmp/tact_capture_XXXXXX";

/* Events of the pad by tick; `dropped` ones are lost by an overrun of the kernel's buffer. */
static const struct {
    uint64_t tick;
    int dropped;
    int events[2][3];
    int count;
} script[] = {
    {100, 0, {{EV_KEY, BTN_SOUTH, 1}}, 1},
    {200, 0, {{EV_ABS, ABS_RZ, 128}}, 1},
    {400, 0, {{EV_ABS, ABS_RZ, 255}, {EV_ABS, ABS_Y, -9000}}, 2},
    {700, 1, {{EV_ABS, ABS_Y, -12000}, {EV_ABS, ABS_X, 32767}}, 2},
    {2000, 0, {{EV_KEY, BTN_SOUTH, 1}, {EV_ABS, ABS_RZ, 200}}, 2},
    {2500, 0, {{EV_KEY, BTN_SOUTH, 0}}, 1},
};

static struct tact_device inner;
static struct tact_device_ops ops_of_wrapped_pad;

/* The pad's device, wrapped so that the events are sent at given ticks of a free-wheeling run. */
static void move_pad_and_read(void *self, uint64_t tick, double t, int64_t now,
                              struct tact_device_input *in)
{
    for (size_t i = 0; i < sizeof script / sizeof *script; i++) {
        if (script[i].tick == tick) {
            (script[i].dropped ? mock_pad_drop_events : mock_pad_send_events)(pad, script[i].events,
                                                                              script[i].count);
        }
    }
    if (tick == PULLED) {
        mock_pad_unplug(pad, true);
    } else if (tick == PLUGGED) {
        mock_pad_plug(pad);
    }
    inner.ops->read(self, tick, t, now, in);
    if (tick >= PLUGGED && tick < WAITED && in->state == TACT_DEVICE_LOST) {
        usleep(2000); /* the search for the device depends on real time, not on ticks */
    }
}

static int open_wrapped_pad(const struct tact_device_config *config, struct tact_device *out,
                            struct tact_error *err)
{
    size_t count;
    const struct tact_device_type *const *types = tact_devices_builtin(&count);
    int rc = tact_device_type_find(types, count, "evdev")->open(config, &inner, err);
    if (!rc) {
        ops_of_wrapped_pad = *inner.ops;
        ops_of_wrapped_pad.read = move_pad_and_read;
        *out = inner;
        out->ops = &ops_of_wrapped_pad;
    }
    return rc;
}

/* Runs pad.yaml; records the events, or plays them where `settings` names a recording. */
static void run_and_log_pad_scene(const char *settings, int are_device_events_recorded,
                                  const char *log)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "evdev",
                                                 "wrapped", open_wrapped_pad, NULL};
    static const struct tact_device_type *const types[] = {&type};
    const struct edit edits[] = {{"match: pad", settings}, {NULL, NULL}};
    char *text = load_scene_text_with_edits("pad.yaml", edits);
    struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    options.types = are_device_events_recorded ? types : tact_devices_builtin(&options.type_count);
    options.type_count = are_device_events_recorded ? 1 : options.type_count;
    options.clock = TACT_LOOP_FREE;
    options.ticks = TICKS;
    options.record = log;
    options.replace = 1;
    options.record_devices = are_device_events_recorded ? folder : NULL;
    run_session_of_scene_text(text, &options, &report);
    free(text);
}

/* All records of a log; the device's stamp follows from the tick's. */
static double *read_records_of_log(const char *path, struct tact_log **log, size_t *size)
{
    assert_int_equal(tact_log_open(path, log, NULL), 0);
    *size = tact_log_layout(*log)->size;
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(*log)));
    double *values = calloc(TICKS * *size, sizeof *values);
    for (size_t i = 0; i < TICKS && tact_log_next(*log, record) > 0; i++) {
        memcpy(values + i * *size, record->values, *size * sizeof *values);
        values[i * *size + 1] -= (double)record->stamp_ns;
    }
    free(record);
    return values;
}

/* Index of a device's channel in the record, by its name. */
static size_t device_channel_index(const struct tact_device *device, const char *name)
{
    for (int i = 0; i < device->info.input_count; i++) {
        if (!strcmp(device->info.input[i].name, name)) {
            return 2 + (size_t)i;
        }
    }
    fail_msg("no %s", name);
    return 0;
}

static void played_event_recording_gives_the_same_bits(void **state)
{
    (void)state;
    char live_log_path[64], replayed_log[64], other[64], match[128], play[128];
    struct tact_log *live_and_played_logs[3];
    double *values[3];
    size_t size[3];
    snprintf(live_log_path, sizeof live_log_path, "%s/live.mcap", folder);
    snprintf(replayed_log, sizeof replayed_log, "%s/again.mcap", folder);
    snprintf(other, sizeof other, "%s/other.mcap", folder);
    snprintf(match, sizeof match, "match: X-Box #");
    for (int i = 0; i < 2; i++) { /* the second run replaces the device recording of the first */
        run_and_log_pad_scene(match, 1, live_log_path);
    }
    const size_t rz = device_channel_index(&inner, "abs_rz"),
                 x = device_channel_index(&inner, "abs_x");
    const size_t y = device_channel_index(&inner, "abs_y"),
                 south = device_channel_index(&inner, "btn_south");
    snprintf(play, sizeof play, "recording: %s/pad.evemu #", folder);
    run_and_log_pad_scene(play, 0, replayed_log);
    snprintf(play, sizeof play,
             "recording: %s/pad.evemu\n      deadzone: 0.3\n      inverted: abs_x #", folder);
    run_and_log_pad_scene(play, 0, other);
    const char *paths[] = {live_log_path, replayed_log, other};
    for (int i = 0; i < 3; i++) {
        values[i] = read_records_of_log(paths[i], &live_and_played_logs[i], &size[i]);
        assert_int_equal(size[i], size[0]);
    }
    const size_t timing = (size_t)tact_log_field(live_and_played_logs[0], "timing", NULL);
    int lost = 0;
    for (size_t tick = 0; tick < TICKS; tick++) {
        double *a = values[0] + tick * size[0], *b = values[1] + tick * size[0];
        const double *c = values[2] + tick * size[0];
        if (tick < 100) {
            /* stamps of the first events, which differ with the time of opening */
            a[1] = b[1] = 0.0;
        }
        assert_memory_equal(a, b, timing * sizeof *a);
        assert_true(c[0] == a[0] && c[south] == a[south]);
        /* a dead zone of 0.3, then 0 to 1 over the rest; x inverted */
        const double raw_y_axis_value = a[0] != TACT_DEVICE_OK || a[y] == 0.0 ? NAN
                                        : tick < 700                          ? 9000
                                                                              : 12000;
        if (isfinite(raw_y_axis_value) && tick < PULLED) {
            double wanted = fmax(0.0, (raw_y_axis_value - 0.3 * 32767.0) / (0.7 * 32767.0));
            assert_true(fabs(c[y] + wanted) < 1e-4);
        }
        assert_true(c[x] == -a[x] || a[x] == 0.0);
        assert_true(tick < 400 || tick >= PULLED || (a[rz] == 1.0 && c[rz] == 1.0));
        lost += a[0] == TACT_DEVICE_LOST;
    }
    print_message("played to the bit, with %d ticks unplugged\n", lost);
    assert_true(lost >= PLUGGED - PULLED && lost < WAITED - PULLED);
    assert_true(values[0][TICKS / 3 * size[0] + x] == 1.0);
    for (int i = 0; i < 3; i++) {
        tact_log_close(live_and_played_logs[i]);
        free(values[i]);
        unlink(paths[i]);
    }
}

static int make_test_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_test_folder(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "%s/pad.evemu", folder);
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(played_event_recording_gives_the_same_bits)};
    const char *why;
    pad = mock_pad_new("Xbox 360 wired USB controller", &why);
    if (!pad) {
        printf("skipped: %s\n", why);
        return 77;
    }
    int failed = cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
    mock_pad_free(pad);
    return failed;
}
