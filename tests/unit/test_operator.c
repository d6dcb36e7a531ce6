/* The simulated operator, the registry of device types, and refused settings. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "devices/scripted/operator.h"
#include "devices/registry.h"
#include "support/device_config.h"

static const double script[] = {
    0.5, 0.0, 0.0, 0.0,  /* */
    1.5, 1.0, 0.0, 0.0,  /* closes */
    2.0, 1.0, 0.0, 0.0,  /* holds */
    4.0, 1.0, 0.8, 0.05, /* turns and lifts */
    5.0, 0.0, 0.8, 0.05, /* releases */
};
static const struct tact_device_setting valid_script_settings[] = {NUMBERS("script", 5, 4, script)};

static struct tact_device open_scripted_operator_device(const struct tact_device_setting *settings,
                                                        int count)
{
    struct device_config c;
    struct tact_device device = {0};
    device_config_init(&c, settings, count);
    if (tact_operator_type.open(&c.config, &device, &c.err)) {
        fail_msg("%s", c.err.text);
    }
    return device;
}

static struct tact_device_input read_operator_device_at_time(struct tact_device *device, double t)
{
    struct tact_device_input in = {.state = -1};
    device->ops->read(device->self, (uint64_t)(t * 1000.0), t, 77, &in);
    assert_int_equal(in.state, TACT_DEVICE_OK);
    assert_int_equal(in.stamp_ns, 77);
    return in;
}

static void operator_script_is_interpolated(void **state)
{
    (void)state;
    struct tact_device device = open_scripted_operator_device(valid_script_settings, 1);
    assert_int_equal(device.info.input_count, 4);
    assert_string_equal(device.info.input[0].name, "grip");
    assert_string_equal(device.info.input[3].name, "deadman");
    assert_string_equal(device.info.input[1].unit, "rad");
    for (int row = 0; row < 5; row++) {
        struct tact_device_input in = read_operator_device_at_time(&device, script[4 * row]);
        for (int i = 0; i < 3; i++) {
            assert_true(in.channel[i] == script[4 * row + 1 + i]);
        }
    }
    assert_true(read_operator_device_at_time(&device, 0.0).channel[0] == 0.0);
    assert_true(read_operator_device_at_time(&device, 99.0).channel[1] == 0.8);
    /* 10 u^3 - 15 u^4 + 6 u^5 at u = 1/4 and 1/2, exact in binary. */
    assert_true(read_operator_device_at_time(&device, 0.75).channel[0] == 0.103515625);
    assert_true(read_operator_device_at_time(&device, 1.0).channel[0] == 0.5);
    assert_true(read_operator_device_at_time(&device, 1.75).channel[0] == 1.0);
    assert_true(fabs(read_operator_device_at_time(&device, 3.0).channel[2] - 0.025) < 1e-17);
    device.ops->close(device.self);
}

/* Peak speed of a minimum-jerk motion is 15/8 of the mean one, peak acceleration 10/sqrt(3). */
static void scripted_operator_motions_have_minimum_jerk(void **state)
{
    (void)state;
    struct tact_device device = open_scripted_operator_device(valid_script_settings, 1);
    const double h = 1e-4;
    double peak_rate_of_scripted_channel = 0.0;
    double largest_acceleration_of_scripted_channel = 0.0;
    for (int i = 0; i <= 10000; i++) {
        double t = 0.5 + i * h;
        double a = read_operator_device_at_time(&device, t - h).channel[0];
        double b = read_operator_device_at_time(&device, t).channel[0];
        double c = read_operator_device_at_time(&device, t + h).channel[0];
        peak_rate_of_scripted_channel =
            fmax(peak_rate_of_scripted_channel, fabs(c - a) / (2.0 * h));
        largest_acceleration_of_scripted_channel =
            fmax(largest_acceleration_of_scripted_channel, fabs(c - 2.0 * b + a) / (h * h));
    }
    assert_true(fabs(peak_rate_of_scripted_channel - 1.875) < 1e-6);
    assert_true(fabs(largest_acceleration_of_scripted_channel - 10.0 / sqrt(3.0)) < 1e-3);
    device.ops->close(device.self);
}

static void operator_holds_the_deadman_in_its_interval(void **state)
{
    (void)state;
    const struct tact_device_setting s[] = {NUMBERS("script", 5, 4, script),
                                            SETTING("deadman_from", "0.25"),
                                            SETTING("deadman_until", "4.5")};
    struct tact_device device = open_scripted_operator_device(s, 3);
    assert_true(read_operator_device_at_time(&device, 0.249).channel[3] == 0.0);
    assert_true(read_operator_device_at_time(&device, 0.25).channel[3] == 1.0);
    assert_true(read_operator_device_at_time(&device, 4.499).channel[3] == 1.0);
    assert_true(read_operator_device_at_time(&device, 4.5).channel[3] == 0.0);
    device.ops->close(device.self);
    device = open_scripted_operator_device(valid_script_settings, 1);
    assert_true(read_operator_device_at_time(&device, 0.0).channel[3] == 1.0);
    assert_true(read_operator_device_at_time(&device, 1e6).channel[3] == 1.0);
    device.ops->close(device.self);
}

static void force_felt_by_the_operator_is_recorded(void **state)
{
    (void)state;
    struct tact_device device = open_scripted_operator_device(valid_script_settings, 1);
    const double out[8] = {1.0, -2.0, 3.0, 4.0, 5.0, 6.0, 7.0, -8.0};
    assert_int_equal(device.info.output_count, 8);
    assert_string_equal(device.info.output[7].name, "felt_7");
    assert_true(tact_operator_felt(&device)[1] == 0.0);
    device.ops->write(device.self, out, 0);
    assert_true(tact_operator_felt(&device)[1] == -2.0);
    assert_true(tact_operator_felt(&device)[7] == -8.0);
    device.ops->close(device.self);
}

/* Opening fails with the line and key in the message, and does not write to the device. */
static void expect_operator_refused(const struct tact_device_setting *settings, int count, int line,
                                    const char *key, const char *word)
{
    struct device_config c;
    struct tact_device device = {0};
    device_config_init(&c, settings, count);
    assert_int_equal(tact_operator_type.open(&c.config, &device, &c.err), -22);
    assert_string_equal(c.err.file, "scene.yaml");
    assert_int_equal(c.err.line, line);
    assert_string_equal(c.err.key, key);
    if (!strstr(c.err.text, word)) {
        fail_msg("'%s' lacks '%s'", c.err.text, word);
    }
    assert_null(device.self);
}

static void bad_operator_settings_are_refused(void **state)
{
    (void)state;
    static const double script_with_time_backwards[] = {0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0};
    static const double wide[] = {0, 1.5, 0, 0};
    const double script_with_nan[] = {0, 0, 0, 0, 1, 0, (double)NAN, 0};
    const struct tact_device_setting settings_with_unknown_key[] = {valid_script_settings[0],
                                                                    SETTING("scirpt", "1")};
    const struct tact_device_setting twice[] = {valid_script_settings[0], valid_script_settings[0]};
    const struct tact_device_setting text[] = {SETTING("script", "close")};
    const struct tact_device_setting script_with_wrong_width[] = {NUMBERS("script", 4, 5, script)};
    const struct tact_device_setting script_setting_with_time_backwards[] = {
        NUMBERS("script", 3, 4, script_with_time_backwards)};
    const struct tact_device_setting script_setting_with_grip_over_one[] = {
        NUMBERS("script", 1, 4, wide)};
    const struct tact_device_setting settings_with_nan[] = {
        NUMBERS("script", 2, 4, script_with_nan)};
    const struct tact_device_setting word[] = {valid_script_settings[0],
                                               SETTING("deadman_from", "soon")};
    const struct tact_device_setting inf[] = {valid_script_settings[0],
                                              SETTING("deadman_from", "inf")};
    const struct tact_device_setting order[] = {
        valid_script_settings[0], SETTING("deadman_from", "2"), SETTING("deadman_until", "1")};
    expect_operator_refused(settings_with_unknown_key, 2, 11, "scirpt", "unknown key");
    expect_operator_refused(twice, 2, 11, "script", "twice");
    expect_operator_refused(NULL, 0, 0, "device", "script");
    expect_operator_refused(text, 1, 10, "script", "rows of 4");
    expect_operator_refused(script_with_wrong_width, 1, 10, "script", "rows of 4");
    expect_operator_refused(script_setting_with_time_backwards, 1, 10, "script", "row 3: time 1 s");
    expect_operator_refused(script_setting_with_grip_over_one, 1, 10, "script", "row 1: grip 1.5");
    expect_operator_refused(settings_with_nan, 1, 10, "script", "row 2: number 3");
    expect_operator_refused(word, 2, 11, "deadman_from", "a number, not 'soon'");
    expect_operator_refused(inf, 2, 11, "deadman_from", "finite");
    expect_operator_refused(order, 3, 12, "deadman_until", "must be later than deadman_from");
}

static void registry_lists_device_types(void **state)
{
    (void)state;
    size_t count = 0;
    const struct tact_device_type *const *types = tact_devices_builtin(&count);
    assert_true(count >= 2);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(types[i]->open);
        assert_true(strlen(types[i]->summary) > 0);
        assert_ptr_equal(tact_device_type_find(types, count, types[i]->name), types[i]);
    }
    assert_ptr_equal(tact_device_type_find(types, count, "operator"), &tact_operator_type);
    assert_null(tact_device_type_find(types, count, "oprator"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operator_script_is_interpolated),
        cmocka_unit_test(scripted_operator_motions_have_minimum_jerk),
        cmocka_unit_test(operator_holds_the_deadman_in_its_interval),
        cmocka_unit_test(force_felt_by_the_operator_is_recorded),
        cmocka_unit_test(bad_operator_settings_are_refused),
        cmocka_unit_test(registry_lists_device_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
