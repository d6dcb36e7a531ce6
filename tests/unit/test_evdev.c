/* evdev input from a pad simulated by umockdev: values, silence, unplugging and return. */
#include <errno.h>
#include <linux/input.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>
#include "devices/evdev/evdev.h"
#include "support/device_config.h"
#include "support/mock_pad.h"

static struct mock_pad *pad;

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct tact_device open_device_of_mock_pad(struct device_config *c,
                                                  const struct tact_device_setting *settings,
                                                  int count)
{
    struct tact_device device = {0};
    device_config_init(c, settings, count);
    if (tact_evdev_type.open(&c->config, &device, &c->err)) {
        fail_msg("%s: %s", c->err.key, c->err.text);
    }
    return device;
}

static struct tact_device_input read_device_at_present(struct tact_device *device)
{
    struct tact_device_input in = {.state = -1};
    device->ops->read(device->self, 0, 0.0, monotonic_ns(), &in);
    return in;
}

static int find_input_channel(const struct tact_device *device, const char *name)
{
    for (int i = 0; i < device->info.input_count; i++) {
        if (strcmp(device->info.input[i].name, name) == 0) {
            return i;
        }
    }
    fail_msg("no channel %s", name);
    return -1;
}

static double read_channel_by_name(struct tact_device *device, const char *name)
{
    struct tact_device_input in = read_device_at_present(device);
    assert_int_equal(in.state, TACT_DEVICE_OK);
    return in.channel[find_input_channel(device, name)];
}

static void send_single_event(int type, int code, int raw)
{
    const int event[1][3] = {{type, code, raw}};
    mock_pad_send_events(pad, event, 1);
}

static void every_evdev_channel_has_a_name(void **state)
{
    static const char *const expected[] = {
        "abs_x",      "abs_y",     "abs_z",    "abs_rx",     "abs_ry",    "abs_rz", "abs_hat0x",
        "abs_hat0y",  "btn_south", "btn_east", "btn_north",  "btn_west",  "btn_tl", "btn_tr",
        "btn_select", "btn_start", "btn_mode", "btn_thumbl", "btn_thumbr"};
    const struct tact_device_setting s[] = {SETTING("match", "X-Box 360")};
    struct device_config c;
    (void)state;
    struct tact_device device = open_device_of_mock_pad(&c, s, 1);
    assert_int_equal(device.info.input_count, 19);
    for (int i = 0; i < 19; i++) {
        assert_string_equal(device.info.input[i].name, expected[i]);
        assert_true(read_device_at_present(&device).channel[i] == 0.0);
    }
    assert_int_equal(device.info.output_count, 0);
    assert_non_null(strstr(c.messages, "'Microsoft X-Box 360 pad' at /dev/input/event"));
    assert_non_null(strstr(c.messages, "abs_z 0..1"));
    assert_non_null(strstr(c.messages, "abs_x -1..1"));
    device.ops->close(device.self);
}

/* Axis x: -32768 .. 32767 with flat 128; trigger z: 0 .. 255. */
static void sticks_and_triggers_are_scaled(void **state)
{
    const struct tact_device_setting s[] = {SETTING("path", mock_pad_node(pad))};
    struct device_config c;
    (void)state;
    struct tact_device device = open_device_of_mock_pad(&c, s, 1);
    static const struct {
        int raw;
        double x;
    } sticks[] = {{32767, 1.0},   {-32768, -1.0},         {128, 0.0},
                  {-128, 0.0},    {129, 1.0 / 32639.0},   {999999, 1.0},
                  {-99999, -1.0}, {-129, -1.0 / 32640.0}, {0, 0.0}};
    for (size_t i = 0; i < sizeof sticks / sizeof *sticks; i++) {
        send_single_event(EV_ABS, ABS_X, sticks[i].raw);
        assert_true(fabs(read_channel_by_name(&device, "abs_x") - sticks[i].x) < 1e-15);
    }
    for (int raw = 255; raw >= 0; raw -= 5) {
        send_single_event(EV_ABS, ABS_Z, raw);
        assert_true(fabs(read_channel_by_name(&device, "abs_z") - raw / 255.0) < 1e-15);
    }
    static const int simultaneous_events[3][3] = {
        {EV_ABS, ABS_HAT0Y, -1}, {EV_KEY, BTN_SOUTH, 1}, {EV_KEY, BTN_THUMBR, 1}};
    mock_pad_send_events(pad, simultaneous_events, 3);
    assert_true(read_channel_by_name(&device, "abs_hat0y") == -1.0);
    assert_true(read_channel_by_name(&device, "btn_south") == 1.0);
    assert_true(read_channel_by_name(&device, "btn_thumbr") == 1.0);
    assert_true(read_channel_by_name(&device, "btn_east") == 0.0);
    send_single_event(EV_KEY, BTN_SOUTH, 0);
    assert_true(read_channel_by_name(&device, "btn_south") == 0.0);
    send_single_event(EV_KEY, BTN_THUMBR, 0);
    send_single_event(EV_ABS, ABS_HAT0Y, 0);
    device.ops->close(device.self);
}

static void stick_without_events_keeps_its_value(void **state)
{
    const struct tact_device_setting s[] = {SETTING("path", mock_pad_node(pad)),
                                            SETTING("timeout", "0.001")};
    struct device_config c;
    (void)state;
    struct tact_device device = open_device_of_mock_pad(&c, s, 2);
    int64_t before = monotonic_ns();
    send_single_event(EV_ABS, ABS_RY, 20000);
    int64_t time_after_event_ns = monotonic_ns();
    struct tact_device_input first = read_device_at_present(&device);
    assert_true(first.stamp_ns >= before - 1000 && first.stamp_ns <= time_after_event_ns);
    for (int i = 0; i < 50; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        /* the value is unchanged, so that the kernel drops the event */
        send_single_event(EV_ABS, ABS_RY, 20000);
        struct tact_device_input in = read_device_at_present(&device);
        assert_int_equal(in.state, TACT_DEVICE_OK);
        assert_memory_equal(in.channel, first.channel, 19 * sizeof *in.channel);
        assert_int_equal(in.stamp_ns, first.stamp_ns);
    }
    device.ops->close(device.self);
    /* A device that is opened while axes are deflected starts from their present values. */
    device = open_device_of_mock_pad(&c, s, 2);
    assert_true(read_channel_by_name(&device, "abs_ry") > 0.6);
    send_single_event(EV_ABS, ABS_RY, 0);
    device.ops->close(device.self);
}

static void evdev_settings_choose_and_scale_channels(void **state)
{
    const struct tact_device_setting s[] = {
        SETTING("match", "Microsoft X-Box 360 pad"), SETTING("channels", "btn_a abs_rz abs_x"),
        SETTING("unsigned", "abs_x"), SETTING("inverted", "abs_rz"), SETTING("deadzone", "0.5")};
    struct device_config c;
    (void)state;
    struct tact_device device = open_device_of_mock_pad(&c, s, 5);
    assert_int_equal(device.info.input_count, 3);
    send_single_event(EV_KEY, BTN_A, 1);
    assert_true(read_channel_by_name(&device, "btn_a") == 1.0);
    send_single_event(EV_KEY, BTN_A, 0);
    send_single_event(EV_ABS, ABS_RZ, 255);
    assert_true(read_channel_by_name(&device, "abs_rz") == -1.0);
    send_single_event(EV_ABS, ABS_RZ, 0);
    assert_true(read_channel_by_name(&device, "abs_rz") == 1.0);
    assert_true(read_channel_by_name(&device, "abs_x") < 1e-4);
    /* a deflection of 0.75 with a dead zone of 0.5: (0.75 - 0.5) / 0.5 */
    send_single_event(EV_ABS, ABS_X, 16384);
    assert_true(fabs(read_channel_by_name(&device, "abs_x") - 0.5) < 1e-4);
    send_single_event(EV_ABS, ABS_X, 0);
    device.ops->close(device.self);
}

static void evdev_state_is_exact_after_lost_events(void **state)
{
    const struct tact_device_setting s[] = {SETTING("match", "X-Box 360")};
    struct device_config c;
    (void)state;
    struct tact_device device = open_device_of_mock_pad(&c, s, 1);
    static const int events_before_loss[2][3] = {{EV_ABS, ABS_X, 32767}, {EV_KEY, BTN_TL, 1}};
    static const int lost_events[3][3] = {
        {EV_ABS, ABS_X, -32768}, {EV_ABS, ABS_RZ, 255}, {EV_KEY, BTN_TL, 0}};
    mock_pad_send_events(pad, events_before_loss, 2);
    assert_true(read_channel_by_name(&device, "btn_tl") == 1.0);
    mock_pad_drop_events(pad, lost_events, 3);
    assert_true(read_channel_by_name(&device, "btn_tl") == 0.0);
    assert_true(read_channel_by_name(&device, "abs_x") == -1.0);
    assert_true(read_channel_by_name(&device, "abs_rz") == 1.0);
    send_single_event(EV_ABS, ABS_X, 0);
    assert_true(read_channel_by_name(&device, "abs_x") == 0.0);
    send_single_event(EV_ABS, ABS_RZ, 0);
    /* waits for the monitor thread to report the lost events */
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    device.ops->close(device.self);
    assert_non_null(strstr(c.messages, "lost events 1 times"));
}

static void unplugged_pad_is_lost_and_returns(void **state)
{
    const struct tact_device_setting s[] = {SETTING("match", "X-Box 360")};
    struct device_config c;
    (void)state;
    for (int error = 1; error >= 0; error--) {
        struct tact_device device = open_device_of_mock_pad(&c, s, 1);
        static const int held[2][3] = {{EV_ABS, ABS_Y, 32767}, {EV_KEY, BTN_TR, 1}};
        mock_pad_send_events(pad, held, 2);
        assert_true(read_channel_by_name(&device, "btn_tr") == 1.0);
        mock_pad_unplug(pad, error);
        struct tact_device_input in = read_device_at_present(&device);
        if (error) {
            assert_int_equal(in.state, TACT_DEVICE_LOST); /* the loss is read in the tick in which
                                                             the device is unplugged */
        }
        for (int i = 0; i < 500 && in.state != TACT_DEVICE_LOST; i++) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            in = read_device_at_present(&device);
        }
        assert_int_equal(in.state, TACT_DEVICE_LOST);
        assert_true(in.channel[find_input_channel(&device, "abs_y")] == 1.0);
        assert_true(in.channel[find_input_channel(&device, "btn_tr")] == 0.0);
        mock_pad_plug(pad);
        for (int i = 0; i < 1000 && in.state == TACT_DEVICE_LOST; i++) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            in = read_device_at_present(&device);
        }
        assert_int_equal(in.state, TACT_DEVICE_OK);
        assert_true(in.channel[find_input_channel(&device, "abs_y")] == 0.0);
        send_single_event(EV_ABS, ABS_Y, -32768);
        assert_true(read_channel_by_name(&device, "abs_y") == -1.0);
        send_single_event(EV_ABS, ABS_Y, 0);
        device.ops->close(device.self);
        assert_non_null(strstr(c.messages, "was disconnected"));
        assert_non_null(strstr(c.messages, "is connected again at /dev/input/event"));
    }
}

static void expect_evdev_settings_refused(const struct tact_device_setting *settings, int count,
                                          int rc, const char *key, const char *word)
{
    struct device_config c;
    struct tact_device device = {0};
    device_config_init(&c, settings, count);
    assert_int_equal(tact_evdev_type.open(&c.config, &device, &c.err), rc);
    assert_string_equal(c.err.file, "scene.yaml");
    if (strcmp(c.err.key, key) != 0 || !strstr(c.err.text, word)) {
        fail_msg("%s: %s", c.err.key, c.err.text);
    }
}

static void bad_evdev_settings_are_refused(void **state)
{
    (void)state;
#define WITH_PAD_SETTINGS(...)                                                                     \
    (const struct tact_device_setting[]){SETTING("match", "X-Box 360"), __VA_ARGS__}
    expect_evdev_settings_refused(WITH_PAD_SETTINGS(SETTING("deadzon", "0")), 2, -22, "deadzon",
                                  "unknown key");
    expect_evdev_settings_refused(WITH_PAD_SETTINGS(SETTING("deadzone", "1")), 2, -22, "deadzone",
                                  "0 .. 0.9");
    expect_evdev_settings_refused(WITH_PAD_SETTINGS(SETTING("deadzone", "nan")), 2, -22, "deadzone",
                                  "finite");
    expect_evdev_settings_refused(WITH_PAD_SETTINGS(SETTING("timeout", "0")), 2, -22, "timeout",
                                  "above 0");
    expect_evdev_settings_refused(WITH_PAD_SETTINGS(SETTING("relative", "absolute")), 2, -22,
                                  "relative", "displacement");
    expect_evdev_settings_refused(WITH_PAD_SETTINGS(SETTING("channels", "abs_x abs_w")), 2, -22,
                                  "channels", "abs_w");
    expect_evdev_settings_refused(WITH_PAD_SETTINGS(SETTING("channels", "btn_a btn_south")), 2, -22,
                                  "channels", "twice");
    expect_evdev_settings_refused(WITH_PAD_SETTINGS(SETTING("unsigned", "btn_south")), 2, -22,
                                  "unsigned", "btn_south");
    expect_evdev_settings_refused(WITH_PAD_SETTINGS(SETTING("inverted", "abs_w")), 2, -22,
                                  "inverted", "abs_w");
    const struct tact_device_setting absent[] = {SETTING("match", "No Such Pad")};
    expect_evdev_settings_refused(absent, 1, -ENODEV, "match", "among 1 that can be read");
    const struct tact_device_setting node[] = {SETTING("path", "/dev/input/event99")};
    expect_evdev_settings_refused(node, 1, -ENOENT, "path", "event99");
    const struct tact_device_setting file[] = {SETTING("path", "/etc/passwd")};
    expect_evdev_settings_refused(file, 1, -ENOTTY, "path", "passwd");
    expect_evdev_settings_refused(NULL, 0, -22, "device", "no input device is selected");
}

/* A relative axis is at rest when no event has come for `timeout` since the kernel's stamp of the
 * last; the test sets the time of reading. */
static void a_silent_puck_is_at_rest_after_the_timeout(void **state)
{
    const struct tact_device_setting s[] = {SETTING("match", "SpaceNavigator"),
                                            SETTING("timeout", "100")};
    struct device_config c;
    struct tact_device_input in;
    (void)state;
    for (int has_long_timeout = 0; has_long_timeout < 2; has_long_timeout++) {
        const int64_t stale_timeout_ns = has_long_timeout ? 100000000000 : 40000000; /* [ns] */
        struct tact_device device = open_device_of_mock_pad(&c, s, 1 + has_long_timeout);
        assert_int_equal(device.info.input_count, 8);
        for (int i = 0; i < 5; i++) {
            send_single_event(EV_REL, REL_X, 175);
            device.ops->read(device.self, 0, 0.0, 0, &in);
            assert_true(in.channel[0] == 0.5);
            device.ops->read(device.self, 0, 0.0, in.stamp_ns + stale_timeout_ns, &in);
            assert_true(in.channel[0] == 0.5);
        }
        device.ops->read(device.self, 0, 0.0, in.stamp_ns + stale_timeout_ns + 1, &in);
        assert_true(in.channel[0] == 0.0);
        assert_int_equal(in.state, TACT_DEVICE_OK);
        device.ops->close(device.self);
    }
}

/* A puck reports translation and rotation in turn, so each of the two has a timeout of its own. */
static void translation_and_rotation_of_a_puck_have_separate_timeouts(void **state)
{
    const struct tact_device_setting s[] = {SETTING("match", "SpaceNavigator"),
                                            SETTING("timeout", "100")};
    struct device_config c;
    struct tact_device_input in;
    (void)state;
    struct tact_device device = open_device_of_mock_pad(&c, s, 2);
    send_single_event(EV_REL, REL_X, 175);
    device.ops->read(device.self, 0, 0.0, 0, &in);
    int64_t x = in.stamp_ns;
    nanosleep(&(struct timespec){.tv_nsec = 8000000}, NULL);
    send_single_event(EV_REL, REL_RZ, -350);
    device.ops->read(device.self, 0, 0.0, x + 100000000000, &in);
    assert_true(in.channel[0] == 0.5);
    assert_true(in.channel[5] == -1.0);
    assert_true(in.stamp_ns >= x + 8000000);
    device.ops->read(device.self, 0, 0.0, in.stamp_ns + 100000000000, &in);
    assert_true(in.channel[0] == 0.0);
    assert_true(in.channel[5] == -1.0);
    device.ops->read(device.self, 0, 0.0, in.stamp_ns + 100000000001, &in);
    assert_true(in.channel[5] == 0.0);
    device.ops->close(device.self);
}

static void puck_gives_events_as_counts_where_set(void **state)
{
    const struct tact_device_setting s[] = {SETTING("path", mock_pad_node(pad)),
                                            SETTING("relative", "increment")};
    struct device_config c;
    (void)state;
    struct tact_device device = open_device_of_mock_pad(&c, s, 2);
    assert_string_equal(device.info.input[1].unit, "count");
    send_single_event(EV_REL, REL_Y, -30);
    send_single_event(EV_REL, REL_Y, -12);
    assert_true(read_channel_by_name(&device, "rel_y") == -42.0);
    send_single_event(EV_REL, REL_Y, 2);
    assert_true(read_channel_by_name(&device, "rel_y") == -40.0);
    mock_pad_unplug(pad, true);
    struct tact_device_input in = read_device_at_present(&device);
    assert_int_equal(in.state, TACT_DEVICE_LOST);
    assert_true(in.channel[1] == -40.0);
    mock_pad_plug(pad);
    device.ops->close(device.self);
}

static void plug_in_mock_device(const char *name)
{
    const char *why;
    pad = mock_pad_new(name, &why);
    if (!pad) {
        printf("skipped: %s\n", why);
        exit(77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_evdev_channel_has_a_name),
        cmocka_unit_test(sticks_and_triggers_are_scaled),
        cmocka_unit_test(stick_without_events_keeps_its_value),
        cmocka_unit_test(evdev_settings_choose_and_scale_channels),
        cmocka_unit_test(evdev_state_is_exact_after_lost_events),
        cmocka_unit_test(unplugged_pad_is_lost_and_returns),
        cmocka_unit_test(bad_evdev_settings_are_refused),
    };
    const struct CMUnitTest puck_tests[] = {
        cmocka_unit_test(a_silent_puck_is_at_rest_after_the_timeout),
        cmocka_unit_test(translation_and_rotation_of_a_puck_have_separate_timeouts),
        cmocka_unit_test(puck_gives_events_as_counts_where_set),
    };
    plug_in_mock_device("Xbox 360 wired USB controller");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mock_pad_free(pad);
    plug_in_mock_device(MOCK_PUCK);
    failed += cmocka_run_group_tests(puck_tests, NULL, NULL);
    mock_pad_free(pad);
    return failed;
}
