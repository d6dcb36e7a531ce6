/* The survey of attached devices: pads simulated by umockdev, a wheel described by /sys alone,
 * selectors of equal devices, and what grants access where it is denied. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <jansson.h>
#include <linux/input.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/attached/attached_internal.h"
#include "devices/evdev/evdev.h"
#include "support/device_config.h"
#include "support/mock_pad.h"
#ifdef TACT_UMOCKDEV
#include <umockdev.h>
#endif

static struct tact_attached attached;
static const char
    *umockdev_unusable_reason; /* reason for which umockdev is not usable; NULL: it is */

static void survey_attached_devices(void)
{
    struct tact_error err = {.line = 0};
    assert_int_equal(tact_attached_survey(&attached, &err), 0);
}

static struct mock_pad *plug_in_mock_pad(const char *device)
{
    struct mock_pad *pad =
        umockdev_unusable_reason ? NULL : mock_pad_new(device, &umockdev_unusable_reason);
    if (!pad) {
        print_message("skipped: %s\n", umockdev_unusable_reason);
        skip();
    }
    return pad;
}

static void attached_pad_is_described(void **state)
{
    (void)state;
    struct mock_pad *pad = plug_in_mock_pad("Xbox 360 wired USB controller");
    survey_attached_devices();
    assert_int_equal(attached.input_count, 1);
    const struct tact_attached_input *input = &attached.input[0];
    assert_string_equal(input->path, mock_pad_node(pad));
    assert_string_equal(input->name, "Microsoft X-Box 360 pad");
    assert_string_equal(input->kind, "pad");
    assert_int_equal(input->bus, BUS_USB);
    assert_int_equal(input->vendor, 0x045e);
    assert_int_equal(input->product, 0x028e);
    assert_int_equal(input->channel_count, 19);
    assert_string_equal(input->channel[0].name, "abs_x");
    assert_string_equal(input->channel[0].span, "-1..1");
    assert_true(input->channel[0].axis && !input->channel[8].axis);
    assert_int_equal(input->channel[0].low, -32768);
    assert_int_equal(input->channel[0].high, 32767);
    assert_int_equal(input->channel[0].flat, 128);
    assert_string_equal(input->channel[2].span, "0..1");
    assert_string_equal(input->channel[8].name, "btn_south");
    assert_int_equal(input->force_count, 0);
    assert_string_equal(input->access.why, "");
    assert_string_equal(input->scene,
                        "- {name: pad, type: evdev, settings: {match: \"Microsoft X-Box 360 "
                        "pad\"}}");
    mock_pad_unplug(pad, true);
    tact_attached_free(&attached);
    survey_attached_devices();
    assert_int_equal(attached.input_count, 0);
    tact_attached_free(&attached);
    mock_pad_plug(pad);
    mock_pad_free(pad);
}

static void attached_puck_is_described(void **state)
{
    (void)state;
    struct mock_pad *pad = plug_in_mock_pad(MOCK_PUCK);
    survey_attached_devices();
    assert_int_equal(attached.input_count, 1);
    assert_string_equal(attached.input[0].kind, "puck");
    assert_string_equal(attached.input[0].channel[5].name, "rel_rz");
    assert_string_equal(attached.input[0].channel[5].span, "-1..1 displacement");
    tact_attached_free(&attached);
    mock_pad_free(pad);
}

/* Keyboards, receivers and switches are listed by their kind, not as haptic devices; the scene line
 * that the survey suggests for one opens it, a keyboard by one of its keys. */
static void other_attached_inputs_are_listed_by_kind(void **state)
{
    static const struct {
        const char *device, *kind, *scene;
    } cases[] = {
        {MOCK_KEYBOARD, "keyboard",
         "- {name: keyboard, type: evdev, settings: {match: \"" MOCK_KEYBOARD
         "\", channels: key_space}}"},
        {MOCK_WIRELESS_RECEIVER, "keyboard",
         "- {name: keyboard, type: evdev, settings: {match: \"" MOCK_WIRELESS_RECEIVER "\"}}"},
        {MOCK_HEADSET, "other",
         "- {name: other, type: evdev, settings: {match: \"" MOCK_HEADSET "\"}}"},
        {MOCK_LID_SWITCH, "other", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mock_pad *pad = plug_in_mock_pad(cases[i].device);
        survey_attached_devices();
        assert_int_equal(attached.input_count, 1);
        const struct tact_attached_input *input = &attached.input[0];
        assert_string_equal(input->kind, cases[i].kind);
        assert_string_equal(input->scene, cases[i].scene);
        if (input->scene[0]) { /* opens with the settings of the scene line that the survey suggests
                                */
            struct device_config c;
            struct tact_device device = {0};
            const struct tact_device_setting s[] = {SETTING("match", cases[i].device),
                                                    SETTING("channels", input->named)};
            device_config_init(&c, s, input->named[0] ? 2 : 1);
            if (tact_evdev_type.open(&c.config, &device, &c.err)) {
                fail_msg("%s", c.err.text);
            }
            assert_true(device.info.input_count > 0);
            device.ops->close(device.self);
        }
        tact_attached_free(&attached);
        mock_pad_free(pad);
    }
}

/* Every device of the tests' list is reported, and a scene that selects it by the reported name
 * opens it with the reported channels. */
static void every_listed_device_opens(void **state)
{
    size_t i;
    json_t *entry;
    (void)state;
    if (umockdev_unusable_reason) {
        print_message("skipped: %s\n", umockdev_unusable_reason);
        skip();
    }
    json_t *devices = mock_pad_devices();
    json_array_foreach(devices, i, entry)
    {
        struct mock_pad *pad = plug_in_mock_pad(json_string_value(json_object_get(entry, "name")));
        struct device_config c;
        struct tact_device device = {0};
        survey_attached_devices();
        assert_int_equal(attached.input_count, 1);
        const struct tact_attached_input *input = &attached.input[0];
        print_message("%-9s %2d channels  %s\n", input->kind, input->channel_count, input->scene);
        const struct tact_device_setting s[] = {SETTING("match", input->name)};
        device_config_init(&c, s, 1);
        int rc = tact_evdev_type.open(&c.config, &device, &c.err);
        assert_int_equal(rc == 0, input->channel_count > 0);
        if (rc == 0) {
            assert_int_equal(device.info.input_count, input->channel_count);
            for (int k = 0; k < input->channel_count; k++) {
                assert_string_equal(device.info.input[k].name, input->channel[k].name);
            }
            device.ops->close(device.self);
        }
        assert_true(rc == 0 || input->note[0]);
        tact_attached_free(&attached);
        mock_pad_free(pad);
    }
    assert_true(i >= 4 && i == json_array_size(devices));
    json_decref(devices);
}

/* The ioctls of this node fail, as without permission: the description comes from /sys. */
static void a_wheel_without_access_is_described_from_sys(void **state)
{
    (void)state;
#ifndef TACT_UMOCKDEV
    skip();
#else
    /* Capability bits in /sys of a wheel: buttons 0x120 to 0x12f, abs_x abs_y abs_z abs_rz; effects
     * constant, spring, friction, damper. */
    static const char *const text =
        "P: /devices/virtual/input/input9\nE: SUBSYSTEM=input\n"
        "A: name=Logitech G923 Racing Wheel\nA: phys=usb-0000:00:14.0-1/input0\nA: uniq=\n"
        "A: id/bustype=0003\nA: id/vendor=046d\nA: id/product=c266\n"
        "A: capabilities/key=ffff00000000 0 0 0 0\nA: capabilities/rel=0\n"
        "A: capabilities/abs=27\nA: capabilities/ff=3c0000 0\n\n"
        "P: /devices/virtual/input/input9/event9\nN: input/event9\n"
        "S: input/by-path/pci-0-event-joystick\nS: input/by-id/usb-G923-event-joystick\n"
        "E: DEVNAME=/dev/input/event9\nE: SUBSYSTEM=input\nE: MAJOR=13\nE: MINOR=73\n"
        "A: dev=13:73\n";
    if (umockdev_unusable_reason) {
        skip();
    }
    UMockdevTestbed *testbed = umockdev_testbed_new();
    assert_true(umockdev_testbed_add_from_string(testbed, text, NULL));
    survey_attached_devices();
    assert_int_equal(attached.input_count, 1);
    const struct tact_attached_input *input = &attached.input[0];
    assert_string_equal(input->name, "Logitech G923 Racing Wheel");
    assert_string_equal(input->kind, "wheel");
    assert_string_equal(input->phys, "usb-0000:00:14.0-1/input0");
    assert_string_equal(input->link, "/dev/input/by-id/usb-G923-event-joystick");
    assert_int_equal(input->product, 0xc266);
    assert_int_equal(input->channel_count, 20);
    assert_string_equal(input->channel[3].name, "abs_rz");
    assert_string_equal(input->channel[3].span, "?");
    assert_string_equal(input->channel[4].name, "btn_trigger");
    assert_string_equal(input->channel[4].span, "0 or 1");
    assert_string_equal(input->effects, "constant, spring, friction, damper");
    assert_int_equal(input->force_count, 7);
    assert_string_equal(input->force[0].name, "force_x");
    assert_string_equal(input->force[0].effect, "constant");
    assert_true(input->access.error < 0 && input->access.why[0]);
    assert_string_equal(input->scene, "- {name: wheel, type: evdev, settings: {match: \"Logitech "
                                      "G923 Racing Wheel\", forces: force_x}}");
    tact_attached_free(&attached);
    g_object_unref(testbed);
#endif
}

static struct tact_attached_input make_description_of_attached_input(const char *name,
                                                                     const char *serial,
                                                                     const char *phys,
                                                                     const char *path)
{
    struct tact_attached_input input = {.kind = "pad"};
    snprintf(input.name, sizeof input.name, "%s", name);
    snprintf(input.serial, sizeof input.serial, "%s", serial);
    snprintf(input.phys, sizeof input.phys, "%s", phys);
    snprintf(input.path, sizeof input.path, "%s", path);
    return input;
}

static void match_settings_distinguish_equal_devices(void **state)
{
    (void)state;
    struct tact_attached_input all[] = {
        make_description_of_attached_input(
            "Pad", "", "", "/dev/input/event0"), /* a device of exactly the selected name is found
                                                    before one whose name contains it */
        make_description_of_attached_input("Pad \"2\" \\", "", "",
                                           "/dev/input/event1"), /* quoted */
        make_description_of_attached_input("Twin", "a1", "usb-1", "/dev/input/event2"),
        make_description_of_attached_input("Twin", "a2", "usb-2", "/dev/input/event3"),
        make_description_of_attached_input("Twin", "a2", "usb-3", "/dev/input/event4"),
        make_description_of_attached_input("Same", "", "", "/dev/input/event5"),
        make_description_of_attached_input("Same", "", "", "/dev/input/event6"),
        make_description_of_attached_input("", "", "", "/dev/input/event7"),
    };
    static const char *const expected[] = {
        "- {name: pad, type: evdev, settings: {match: \"Pad\"}}",
        "- {name: pad2, type: evdev, settings: {match: \"Pad \\\"2\\\" \\\\\"}}",
        "- {name: pad3, type: evdev, settings: {match: \"Twin\", serial: \"a1\"}}",
        "- {name: pad4, type: evdev, settings: {match: \"Twin\", phys: \"usb-2\"}}",
        "- {name: pad5, type: evdev, settings: {match: \"Twin\", phys: \"usb-3\"}}",
        "- {name: pad6, type: evdev, settings: {path: \"/dev/input/event5\"}}",
        "- {name: pad7, type: evdev, settings: {path: \"/dev/input/event6\"}}",
        "- {name: pad8, type: evdev, settings: {path: \"/dev/input/event7\"}}",
    };
    const int count = sizeof all / sizeof *all;
    tact_attached_write_input_scene_entries(all, count);
    for (int i = 0; i < count; i++) {
        assert_string_equal(all[i].scene, expected[i]);
    }
}

/* A file takes the place of the device node: changing its group and mode needs root. */
static void denied_device_access_is_explained(void **state)
{
    char path[] = "/tmp/tact-attached-XXXXXX";
    const char *const rule = "KERNEL==\"event7\"";
    struct tact_attached_access access = {.error = -EACCES};
    const struct group *group = getgrnam("input");
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    /* 0600: no group */
    tact_attached_explain_access(path, -EACCES, "reading", rule, false, &access);
    assert_non_null(strstr(access.why, "reading: permission denied"));
    assert_string_equal(access.fix, "");
    assert_non_null(strstr(access.rule, "'KERNEL==\"event7\", TAG+=\"uaccess\"' | sudo tee"));
    assert_null(strstr(access.rule, "0666"));
    if (geteuid() == 0 && group && fchown(fd, 0, group->gr_gid) == 0 && fchmod(fd, 0660) == 0) {
        access = (struct tact_attached_access){.error = -EACCES};
        tact_attached_explain_access(path, -EACCES, "forces", rule, true, &access);
        assert_non_null(strstr(access.why, "has group input and mode 0660"));
        assert_non_null(strstr(access.why, "who sits at the machine"));
        assert_string_equal(access.fix, "sudo usermod -aG input \"$USER\"; then log in again");
        assert_string_equal(access.rule, "");
    }
    close(fd);
    unlink(path);
    access = (struct tact_attached_access){.error = -EPERM};
    tact_attached_explain_access("/dev/input/event7", -EPERM, "reading", rule, false, &access);
    assert_non_null(strstr(access.fix, "docker run --device /dev/input/event7"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attached_pad_is_described),
        cmocka_unit_test(attached_puck_is_described),
        cmocka_unit_test(other_attached_inputs_are_listed_by_kind),
        cmocka_unit_test(every_listed_device_opens),
        cmocka_unit_test(a_wheel_without_access_is_described_from_sys),
        cmocka_unit_test(match_settings_distinguish_equal_devices),
        cmocka_unit_test(denied_device_access_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
