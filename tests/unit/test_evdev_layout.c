/* Channels, kinds and scaling of real devices, from their recorded capabilities. */
#include <errno.h>
#include <libevdev/libevdev.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "devices/evdev/evdev_internal.h"
#include "support/device_config.h"

static struct tact_evdev_layout layout;
static struct tact_evdev_source source;
static struct device_config c;

static void add_libevdev_axis(struct libevdev *dev, unsigned int code, int minimum, int maximum,
                              int flat, int value)
{
    const struct input_absinfo info = {
        .minimum = minimum, .maximum = maximum, .flat = flat, .value = value};
    libevdev_enable_event_code(dev, EV_ABS, code, &info);
}

static struct libevdev *make_libevdev_device(const char *name)
{
    struct libevdev *dev = libevdev_new();
    assert_non_null(dev);
    libevdev_set_name(dev, name);
    return dev;
}

static void choose_channel_layout(struct libevdev *dev, const struct tact_device_setting *settings,
                                  int count)
{
    device_config_init(&c, settings, count);
    if (tact_evdev_choose_channels(&c.config, dev, &layout, &c.err)) {
        fail_msg("%s: %s", c.err.key, c.err.text);
    }
    source.dev = dev;
    assert_true(tact_evdev_compute_channel_ranges(&layout, &source));
}

static double channel_value_of_raw(const char *name, int raw)
{
    for (int i = 0; i < layout.count; i++) {
        if (strcmp(layout.channel[i].name, name) == 0) {
            return tact_evdev_scaled_value(&layout.channel[i], &source.range[i], raw);
        }
    }
    fail_msg("no channel %s", name);
    return NAN;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.17g, expected %.17g", value, expected);
    }
}

/* The axes of a puck are relative by type but report displacements. */
static void six_axis_puck_has_its_channels(void **state)
{
    struct libevdev *dev = make_libevdev_device("3Dconnexion SpaceNavigator");
    (void)state;
    for (unsigned int code = REL_X; code <= REL_RZ; code++) {
        libevdev_enable_event_code(dev, EV_REL, code, NULL);
    }
    libevdev_enable_event_code(dev, EV_KEY, BTN_0, NULL);
    libevdev_enable_event_code(dev, EV_KEY, BTN_1, NULL);
    choose_channel_layout(dev, NULL, 0);
    assert_int_equal(layout.count, 8);
    assert_string_equal(layout.channel[5].name, "rel_rz");
    assert_string_equal(layout.channel[6].name, "btn_0");
    assert_int_equal(layout.channel[0].kind, TACT_EVDEV_RELATIVE_DISPLACEMENT);
    assert_near(channel_value_of_raw("rel_x", 350), 1.0, 0.0);
    assert_near(channel_value_of_raw("rel_x", -175), -0.5, 0.0);
    assert_near(channel_value_of_raw("rel_rz", -351), -1.0, 0.0);
    const struct tact_device_setting s[] = {SETTING("relative", "increment"),
                                            SETTING("inverted", "rel_y")};
    choose_channel_layout(dev, s, 2);
    assert_int_equal(layout.channel[0].kind, TACT_EVDEV_RELATIVE_INCREMENT);
    assert_near(channel_value_of_raw("rel_x", -30), -30.0, 0.0);
    assert_near(channel_value_of_raw("rel_y", -30), 30.0, 0.0);
    libevdev_free(dev);
}

static void mouse_axes_are_increments(void **state)
{
    struct libevdev *dev = make_libevdev_device("mouse");
    (void)state;
    libevdev_enable_event_code(dev, EV_REL, REL_X, NULL);
    libevdev_enable_event_code(dev, EV_REL, REL_WHEEL, NULL);
    libevdev_enable_event_code(dev, EV_REL, REL_WHEEL_HI_RES, NULL);
    libevdev_enable_event_code(dev, EV_KEY, BTN_LEFT, NULL);
    libevdev_enable_event_code(dev, EV_KEY, KEY_A, NULL);
    choose_channel_layout(dev, NULL, 0);
    assert_int_equal(layout.count, 3);
    assert_int_equal(layout.channel[0].kind, TACT_EVDEV_RELATIVE_INCREMENT);
    const struct tact_device_setting s[] = {SETTING("channels", "key_a rel_wheel_hi_res")};
    choose_channel_layout(dev, s, 1);
    assert_int_equal(layout.count, 2);
    assert_int_equal(layout.channel[0].code, KEY_A);
    libevdev_free(dev);
}

/* Pedals rest at 255; a brake on ABS_Y is taken for a stick unless the scene sets it as
 * one-sided. */
static void wheel_with_pedals_has_its_channels(void **state)
{
    struct libevdev *dev = make_libevdev_device("Logitech G923");
    (void)state;
    add_libevdev_axis(dev, ABS_X, 0, 65535, 4095, 32839);
    add_libevdev_axis(dev, ABS_Y, 0, 255, 15, 255);
    add_libevdev_axis(dev, ABS_Z, 0, 255, 15, 255);
    add_libevdev_axis(dev, ABS_RZ, 0, 255, 15, 255);
    choose_channel_layout(dev, NULL, 0);
    assert_near(channel_value_of_raw("abs_x", 32839), 0.0, 0.0);
    assert_near(channel_value_of_raw("abs_x", 65535), 1.0, 0.0);
    assert_near(channel_value_of_raw("abs_x", 0), -1.0, 0.0);
    assert_near(channel_value_of_raw("abs_z", 255), 0.0, 0.0);
    assert_near(channel_value_of_raw("abs_z", 240), 0.0, 0.0);
    assert_near(channel_value_of_raw("abs_z", 239), 1.0 / 240.0, 1e-15);
    assert_near(channel_value_of_raw("abs_z", 0), 1.0, 0.0);
    assert_near(channel_value_of_raw("abs_y", 255), 1.0, 0.0);
    const struct tact_device_setting s[] = {SETTING("unsigned", "abs_y abs_z abs_rz"),
                                            SETTING("inverted", "abs_y abs_z abs_rz")};
    choose_channel_layout(dev, s, 2);
    assert_near(channel_value_of_raw("abs_y", 255), 0.0, 0.0);
    assert_near(channel_value_of_raw("abs_rz", 0), 1.0, 0.0);
    libevdev_free(dev);
}

/* A right stick on ABS_Z and ABS_RZ rests in the middle. */
static void sticks_of_pad_without_stick_codes_are_found(void **state)
{
    struct libevdev *dev = make_libevdev_device("old pad");
    (void)state;
    add_libevdev_axis(dev, ABS_Z, 0, 255, 0, 128);
    add_libevdev_axis(dev, ABS_RZ, 0, 255, 0, 127);
    add_libevdev_axis(dev, ABS_GAS, 0, 1023, 63, 0);
    add_libevdev_axis(dev, ABS_BRAKE, -100, 300, 500, 0);
    choose_channel_layout(dev, NULL, 0);
    assert_near(channel_value_of_raw("abs_z", 0), -1.0, 0.0);
    assert_near(channel_value_of_raw("abs_z", 255), 1.0, 0.0);
    assert_near(channel_value_of_raw("abs_rz", 127), -0.5 / 127.5, 1e-15);
    assert_near(channel_value_of_raw("abs_gas", 63), 0.0, 0.0);
    assert_near(channel_value_of_raw("abs_gas", 543), 0.5, 1e-15);
    /* a dead zone (flat) wider than the axis' range is ignored */
    assert_near(channel_value_of_raw("abs_brake", 100), 0.0, 0.0);
    assert_near(channel_value_of_raw("abs_brake", 200), 0.5, 0.0);
    const struct tact_device_setting s[] = {SETTING("deadzone", "0.2")};
    choose_channel_layout(dev, s, 1);
    assert_near(channel_value_of_raw("abs_z", 150), 0.0, 0.0);
    assert_near(channel_value_of_raw("abs_z", 204), (76.5 / 127.5 - 0.2) / 0.8, 1e-15);
    assert_near(channel_value_of_raw("abs_gas", 1023), 1.0, 0.0);
    libevdev_free(dev);
}

/* For any raw value a channel is finite, within its span, and rises with the raw value. */
static void evdev_channels_stay_in_their_span(void **state)
{
    struct libevdev *dev = make_libevdev_device("any");
    (void)state;
    add_libevdev_axis(dev, ABS_X, INT32_MIN, INT32_MAX, 0, 0);
    add_libevdev_axis(dev, ABS_Y, 5, 5, 0, 5);
    add_libevdev_axis(dev, ABS_Z, 0, INT32_MAX, INT32_MAX, 0);
    add_libevdev_axis(dev, ABS_RX, 100, -100, 10, 0);
    choose_channel_layout(dev, NULL, 0);
    for (int i = 0; i < layout.count; i++) {
        double before = -1.0;
        for (int64_t raw = INT32_MIN; raw <= INT32_MAX; raw += 9999991) {
            double x = tact_evdev_scaled_value(&layout.channel[i], &source.range[i], (int)raw);
            assert_true(x >= -1.0 && x <= 1.0);
            assert_true(x >= before || layout.channel[i].code == ABS_RX);
            before = x;
        }
    }
    libevdev_free(dev);
}

static void evdev_channels_beyond_the_limit_are_dropped(void **state)
{
    struct libevdev *dev = make_libevdev_device("button box");
    (void)state;
    add_libevdev_axis(dev, ABS_X, -1, 1, 0, 0);
    add_libevdev_axis(dev, ABS_MT_POSITION_X, 0, 1000, 0, 0);
    for (unsigned int i = 0; i < 40; i++) {
        libevdev_enable_event_code(dev, EV_KEY, BTN_TRIGGER_HAPPY + i, NULL);
    }
    for (unsigned int code = BTN_JOYSTICK; code <= BTN_THUMBR; code++) {
        libevdev_enable_event_code(dev, EV_KEY, code, NULL);
    }
    libevdev_enable_event_code(dev, EV_KEY, 0x10a, NULL);
    choose_channel_layout(dev, NULL, 0);
    assert_int_equal(layout.count, 64);
    assert_string_equal(layout.channel[0].name, "abs_x");
    assert_string_equal(layout.channel[1].name, "btn_0x10a");
    assert_string_equal(layout.channel[63].name, "btn_trigger_happy31");
    assert_non_null(strstr(c.messages, "9 left out, from btn_trigger_happy32 on"));
    const struct tact_device_setting s[] = {SETTING("channels", "btn_trigger_happy40 btn_0x10a")};
    choose_channel_layout(dev, s, 1);
    assert_int_equal(layout.count, 2);
    libevdev_free(dev);
    dev = make_libevdev_device("lid");
    libevdev_enable_event_code(dev, EV_SW, SW_LID, NULL);
    device_config_init(&c, NULL, 0);
    assert_int_equal(tact_evdev_choose_channels(&c.config, dev, &layout, &c.err), -EINVAL);
    libevdev_free(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(six_axis_puck_has_its_channels),
        cmocka_unit_test(mouse_axes_are_increments),
        cmocka_unit_test(wheel_with_pedals_has_its_channels),
        cmocka_unit_test(sticks_of_pad_without_stick_codes_are_found),
        cmocka_unit_test(evdev_channels_stay_in_their_span),
        cmocka_unit_test(evdev_channels_beyond_the_limit_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
