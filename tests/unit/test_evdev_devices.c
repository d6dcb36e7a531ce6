/* Real devices by their recorded capabilities, and those of tests/data: each is opened by its name,
 * described, every axis and button is moved, and all of them are mapped to a joint.
 *
 * Names are those of the kernel's input-event-codes.h, written down here. The files have no ranges:
 * those that are not a common pad's are of the kernel's drivers. */
#include <jansson.h>
#include <linux/input.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>
#include "devices/evdev/evdev.h"
#include "devices/registry.h"
#include "rt/session/session.h"
#include "support/device_config.h"
#include "support/mock_pad.h"

static const struct {
    int code;
    const char *name;
} names[] = {
    {0x00, "abs_x"},          {0x01, "abs_y"},
    {0x02, "abs_z"},          {0x03, "abs_rx"},
    {0x04, "abs_ry"},         {0x05, "abs_rz"},
    {0x06, "abs_throttle"},   {0x09, "abs_gas"},
    {0x0a, "abs_brake"},      {0x10, "abs_hat0x"},
    {0x11, "abs_hat0y"},      {0x12, "abs_hat1x"},
    {0x13, "abs_hat1y"},      {0x14, "abs_hat2x"},
    {0x15, "abs_hat2y"},      {0x28, "abs_misc"},
    {0x29, "abs_0x29"},       {0x110, "btn_left"},
    {0x120, "btn_trigger"},   {0x121, "btn_thumb"},
    {0x122, "btn_thumb2"},    {0x123, "btn_top"},
    {0x124, "btn_top2"},      {0x125, "btn_pinkie"},
    {0x126, "btn_base"},      {0x127, "btn_base2"},
    {0x128, "btn_base3"},     {0x129, "btn_base4"},
    {0x12a, "btn_base5"},     {0x12b, "btn_base6"},
    {0x12c, "btn_0x12c"},     {0x12d, "btn_0x12d"},
    {0x12e, "btn_0x12e"},     {0x12f, "btn_dead"},
    {0x130, "btn_south"},     {0x131, "btn_east"},
    {0x132, "btn_c"},         {0x133, "btn_north"},
    {0x134, "btn_west"},      {0x135, "btn_z"},
    {0x136, "btn_tl"},        {0x137, "btn_tr"},
    {0x138, "btn_tl2"},       {0x139, "btn_tr2"},
    {0x13a, "btn_select"},    {0x13b, "btn_start"},
    {0x13c, "btn_mode"},      {0x13d, "btn_thumbl"},
    {0x13e, "btn_thumbr"},    {0x145, "btn_tool_finger"},
    {0x14a, "btn_touch"},     {0x14d, "btn_tool_doubletap"},
    {0x220, "btn_dpad_up"},   {0x221, "btn_dpad_down"},
    {0x222, "btn_dpad_left"}, {0x223, "btn_dpad_right"},
};

/* Axis range of devices whose name begins with `device`; one-sided axes rest at `low`, or, where
 * `low` is above `high`, at their maximum. */
static const struct {
    const char *device;
    int first, last; /* codes */
    int low, high, flat;
    bool is_one_sided_axis;
} ranges[] = {
    {"DualS", ABS_X, ABS_Y, 0, 255, 15, false},
    {"DualS", ABS_RX, ABS_RY, 0, 255, 15, false},
    {"DualShock 4 - touchpad", ABS_X, ABS_X, 0, 1919, 0, false},
    {"DualShock 4 - touchpad", ABS_Y, ABS_Y, 0, 941, 0, false},
    {"DualShock 4 - accelerometer", ABS_X, ABS_Z, -32768, 32767, 0, false},
    {"DualShock 4 - accelerometer", ABS_RX, ABS_RZ, -2097152, 2097152, 0, false},
    {"DualShock 3 - accelerometer", ABS_X, ABS_Z, -512, 511, 0, false},
    {"X-Box One", ABS_GAS, ABS_BRAKE, 0, 1023, 63, true},
    {"X-Box One S", ABS_Z, ABS_Z, 0, 1023, 63, true},
    {"X-Box One S", ABS_RZ, ABS_RZ, 0, 1023, 63, true},
    {"X-Box One Elite 2 via Bluetooth", ABS_Z, ABS_RZ, 0, 65535, 4095, false},
    {"Steam Deck", ABS_HAT0X, ABS_HAT1Y, -32767, 32767, 0, false},
    {"Steam Deck", ABS_HAT2X, ABS_HAT2Y, 0, 32767, 0, true},
    {"G27", ABS_X, ABS_X, 0, 16383, 0, false},
    {"G27", ABS_Z, ABS_Z, 255, 0, 0, true},
    {"G27", ABS_RZ, ABS_RZ, 255, 0, 0, true},
    {"Saitek ST290", ABS_RZ, ABS_RZ, 0, 255, 15, false},
    {"Saitek X52", ABS_X, ABS_Y, 0, 1023, 63, false},
    {"Saitek X52", ABS_RZ, ABS_RZ, 0, 1023, 63, false},
    {"Logitech Extreme", ABS_RZ, ABS_RZ, 0, 255, 15, false},
    {"Thrustmaster T.Flight", ABS_RZ, ABS_RZ, 0, 255, 15, false},
    {"Wiimote", ABS_HAT0X, ABS_HAT1Y, 0, 65535, 4, true},
};

/* An axis or button of the tested device. */
struct kernel_axis_or_button {
    int type, code;
    int low, high, flat; /* ends and dead zone of an axis; a one-sided axis rests at `low` */
    bool is_one_sided_axis;
};

static json_t *devices;
static struct mock_pad *pad;
static struct kernel_axis_or_button axes_and_buttons_of_tested_device[TACT_DEVICE_CHANNELS];
static int axis_and_button_count;
static int axis_count_of_all_devices,
    button_count_of_all_devices; /* number of axes and of buttons of all devices */

static void add_expected_axis_of_device(const char *device, int code)
{
    struct kernel_axis_or_button p = {EV_ABS, code, 0, 255, 0, true};
    if (code == ABS_X || code == ABS_Y || code == ABS_RX || code == ABS_RY) {
        p = (struct kernel_axis_or_button){EV_ABS, code, -32768, 32767, 128, false};
    } else if (code >= ABS_HAT0X && code <= ABS_HAT3Y) {
        p = (struct kernel_axis_or_button){EV_ABS, code, -1, 1, 0, false};
    } else if (code != ABS_Z && code != ABS_RZ && code != ABS_THROTTLE) {
        /* whether the axis is one-sided is unknown without the driver's range */
        p.is_one_sided_axis = false;
    }
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (strncmp(device, ranges[i].device, strlen(ranges[i].device)) == 0 &&
            code >= ranges[i].first && code <= ranges[i].last) {
            p = (struct kernel_axis_or_button){EV_ABS,         code,
                                               ranges[i].low,  ranges[i].high,
                                               ranges[i].flat, ranges[i].is_one_sided_axis};
        }
    }
    axes_and_buttons_of_tested_device[axis_and_button_count++] = p;
}

/* The raw value at rest that follows from the range that the device declares, without calibration.
 */
static int expected_raw_value_at_rest(const struct kernel_axis_or_button *p)
{
    return p->type == EV_KEY || p->low == -p->high - 1 ? 0
           : p->is_one_sided_axis                      ? p->low
                                                       : (p->low + p->high) / 2;
}

/* The channel value that is expected for a raw value of the axis or button. */
static double expected_channel_value(const struct kernel_axis_or_button *p, int raw)
{
    double middle = p->low == -p->high - 1 ? 0.0 : 0.5 * ((double)p->low + p->high);
    double rest = p->is_one_sided_axis ? p->low : middle;
    double end = raw > rest ? fmax(p->low, p->high) : fmin(p->low, p->high);
    double off = fabs(raw - rest) - p->flat;
    double sign = p->is_one_sided_axis || raw > rest ? 1.0 : -1.0;
    if (p->type == EV_KEY) {
        return raw;
    }
    return off > 0.0 ? sign * off / (fabs(end - rest) - p->flat) : 0.0;
}

static bool is_channel_code(int type, int code)
{
    return type == EV_ABS ? code < ABS_MT_SLOT : code >= BTN_MISC;
}

static void plug_in_mock_of_known_device(const json_t *entry)
{
    const char *device = json_string_value(json_object_get(entry, "name"));
    const char *why;
    size_t i;
    json_t *code;
    pad = mock_pad_new(device, &why);
    if (!pad) {
        printf("skipped: %s\n", why);
        exit(77);
    }
    axis_and_button_count = 0;
    json_array_foreach(json_object_get(entry, "abs"), i, code)
    {
        if (is_channel_code(EV_ABS, (int)json_integer_value(code))) {
            add_expected_axis_of_device(device, (int)json_integer_value(code));
            struct kernel_axis_or_button *p =
                &axes_and_buttons_of_tested_device[axis_and_button_count - 1];
            mock_pad_set_axis(pad, p->code, p->low < p->high ? p->low : p->high,
                              p->low < p->high ? p->high : p->low, p->flat,
                              expected_raw_value_at_rest(p));
            axis_count_of_all_devices++;
        }
    }
    json_array_foreach(json_object_get(entry, "keys"), i, code)
    {
        if (is_channel_code(EV_KEY, (int)json_integer_value(code))) {
            axes_and_buttons_of_tested_device[axis_and_button_count++] =
                (struct kernel_axis_or_button){EV_KEY, (int)json_integer_value(code), 0, 1, 0,
                                               true};
            button_count_of_all_devices++;
        }
    }
}

static struct tact_device_input read_device_at_present_time(struct tact_device *device)
{
    struct timespec now;
    struct tact_device_input in = {.state = -1};
    clock_gettime(CLOCK_MONOTONIC, &now);
    device->ops->read(device->self, 0, 0.0, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, &in);
    assert_int_equal(in.state, TACT_DEVICE_OK);
    return in;
}

static void assert_near(double value, double wanted, const struct kernel_axis_or_button *p, int raw)
{
    if (!(fabs(value - wanted) < 1e-12)) {
        fail_msg("code 0x%x at %d is %.17g, expected %.17g", (unsigned int)p->code, raw, value,
                 wanted);
    }
}

/* The channel name of an event code, also of buttons that have no name of their own. */
static const char *name_of_event_code(int code)
{
    static char made[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    assert_in_range(code, BTN_TRIGGER_HAPPY1, BTN_TRIGGER_HAPPY40);
    snprintf(made, sizeof made, "btn_trigger_happy%d", code - BTN_TRIGGER_HAPPY1 + 1);
    return made;
}

static void check_device_description(const struct tact_device *device,
                                     const struct device_config *c, const char *name)
{
    char text[300];
    snprintf(text, sizeof text, "'%s' at %s: ", name, mock_pad_node(pad));
    assert_non_null(strstr(c->messages, text));
    assert_null(strstr(c->messages, "left out"));
    assert_string_equal(device->info.type, "evdev");
    assert_int_equal(device->info.input_count, axis_and_button_count);
    assert_int_equal(device->info.output_count, 0);
    for (int i = 0; i < axis_and_button_count; i++) {
        assert_string_equal(device->info.input[i].name,
                            name_of_event_code(axes_and_buttons_of_tested_device[i].code));
        assert_string_equal(device->info.input[i].unit, "1");
        snprintf(text, sizeof text, "%s %s", device->info.input[i].name,
                 axes_and_buttons_of_tested_device[i].is_one_sided_axis ? "0..1" : "-1..1");
        assert_true(axes_and_buttons_of_tested_device[i].type == EV_KEY ||
                    strstr(c->messages, text));
    }
}

/* Moves one axis or button after the other, and checks that no other channel changes. */
static void check_channels_follow_events(struct tact_device *device)
{
    struct tact_device_input in = read_device_at_present_time(device);
    for (int i = 0; i < axis_and_button_count; i++) {
        const struct kernel_axis_or_button *p = &axes_and_buttons_of_tested_device[i];
        const int raw[] = {p->low, p->low + (p->high - p->low) / 3, p->high,
                           expected_raw_value_at_rest(p)};
        double before[TACT_DEVICE_CHANNELS];
        assert_near(in.channel[i], expected_channel_value(p, expected_raw_value_at_rest(p)), p,
                    expected_raw_value_at_rest(p));
        memcpy(before, in.channel, sizeof before);
        for (int k = p->type == EV_KEY ? 2 : 0; k < 4; k++) {
            mock_pad_send_events(pad, (const int[1][3]){{p->type, p->code, raw[k]}}, 1);
            in = read_device_at_present_time(device);
            assert_near(in.channel[i], expected_channel_value(p, raw[k]), p, raw[k]);
            before[i] = in.channel[i];
            assert_memory_equal(before, in.channel, (size_t)axis_and_button_count * sizeof *before);
        }
        double value_at_axis_maximum = expected_channel_value(p, p->high);
        assert_true(value_at_axis_maximum == 1.0 &&
                    (p->is_one_sided_axis || expected_channel_value(p, p->low) == -1.0));
    }
}

/* Opens a session in which all channels of the device are mapped to one joint. */
static void check_all_channels_map_to_one_joint(const char *name)
{
    char scene_text[8192];
    int used = snprintf(scene_text, sizeof scene_text,
                        "name: all\n"
                        "hands:\n"
                        "  - name: hand\n"
                        "    links:\n"
                        "      - name: finger\n"
                        "        mass: 0.1\n"
                        "        inertia: [1, 1, 1, 0, 0, 0]\n"
                        "        joint: {type: hinge, axis: [0, 0, 1], stiffness: 2}\n"
                        "devices:\n"
                        "  - name: pad\n"
                        "    type: evdev\n"
                        "    settings: {match: \"%s\"}\n"
                        "inputs:\n",
                        name);
    for (int i = 0; i < axis_and_button_count; i++) {
        used += snprintf(scene_text + used, sizeof scene_text - (size_t)used,
                         "  - {from: pad.%s, to: hand.finger, scale: 0.01}\n",
                         name_of_event_code(axes_and_buttons_of_tested_device[i].code));
    }
    if (axes_and_buttons_of_tested_device[axis_and_button_count - 1].type == EV_KEY) {
        used += snprintf(
            scene_text + used, sizeof scene_text - (size_t)used, "deadman: pad.%s\n",
            name_of_event_code(axes_and_buttons_of_tested_device[axis_and_button_count - 1].code));
    }
    struct tact_scene *scene;
    struct tact_session *session = NULL;
    struct tact_session_options options = tact_session_options_default();
    struct tact_error err = {0};
    options.types = tact_devices_builtin(&options.type_count);
    int rc = tact_scene_parse(scene_text, (size_t)used, "all.yaml", NULL, &scene, &err);
    rc = rc ? rc : tact_session_create(scene, &options, &session, &err);
    if (rc) {
        fail_msg("%s:%d: %s: %s", err.file, err.line, err.key, err.text);
    }
    tact_session_destroy(session);
    tact_scene_free(scene);
}

static void each_known_device_opens_and_maps_to_a_joint(void **state)
{
    size_t i;
    json_t *entry;
    (void)state;
    json_array_foreach(devices, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "eviocgname"));
        name = name ? name : json_string_value(json_object_get(entry, "name"));
        const struct tact_device_setting settings[] = {SETTING("match", name)};
        struct device_config c;
        struct tact_device device = {0};
        plug_in_mock_of_known_device(entry);
        device_config_init(&c, settings, 1);
        if (tact_evdev_type.open(&c.config, &device, &c.err)) {
            fail_msg("%s: %s: %s", name, c.err.key, c.err.text);
        }
        print_message("%s", strchr(c.messages, '\''));
        check_device_description(&device, &c, name);
        check_channels_follow_events(&device);
        device.ops->close(device.self);
        check_all_channels_map_to_one_joint(name);
        mock_pad_free(pad);
    }
    print_message("%zu devices: %d axes, %d buttons\n", json_array_size(devices),
                  axis_count_of_all_devices, button_count_of_all_devices);
    assert_true(json_array_size(devices) >= 4);
}

static const json_t *device_named(const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach(devices, i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "name")), name) == 0) {
            return entry;
        }
    }
    fail_msg("no device %s", name);
    return NULL;
}

/* Inputs that are no channels by default can be asked for: keys, and the axes of the first finger
 * on a touchpad. */
static void requested_evdev_channels_are_opened(void **state)
{
    static const struct {
        const char *device, *channels;
    } asked[] = {
        {"Pad with a recording key", "key_record key_unknown abs_gas"},
        {"Touchpad", "abs_mt_position_x abs_mt_position_y abs_mt_tracking_id"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct device_config c;
        struct tact_device device = {0};
        plug_in_mock_of_known_device(device_named(asked[i].device));
        const struct tact_device_setting settings[] = {SETTING("path", mock_pad_node(pad)),
                                                       SETTING("channels", asked[i].channels)};
        device_config_init(&c, settings, 2);
        if (tact_evdev_type.open(&c.config, &device, &c.err)) {
            fail_msg("%s: %s", c.err.key, c.err.text);
        }
        assert_int_equal(device.info.input_count, 3);
        device.ops->close(device.self);
        mock_pad_free(pad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_known_device_opens_and_maps_to_a_joint),
        cmocka_unit_test(requested_evdev_channels_are_opened),
    };
    devices = mock_pad_devices();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(devices);
    return failed;
}
