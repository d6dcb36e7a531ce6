/* tact devices --test: a gentle force on a device, after asking. */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include "command.h"
#include "devices.h"
#include "devices/comedi/comedi.h"
#include "devices/evdev/evdev.h"
#include "rt/clock.h"
#include "rt/safety.h"

static const double period = 0.01; /* [s] */
static const double length = 1.5,
                    fade = 0.3; /* [s] duration of the force, and of its rise and fall */
static const double share = 0.2,
                    volts = 0.5; /* peak of the force: fraction of the maximum, or [V] */

/* The device and output of the test. */
struct push {
    const struct devices_test_target *target;
    char output[TACT_DEVICE_NAME];
    double level;
    const char *unit;
    struct tact_device device;
    struct tact_safety safety;
    double last_button_values[TACT_DEVICE_CHANNELS];
    double largest_force_age_seconds; /* maximum reported age of the force [s] */
    struct termios terminal;
    int keys; /* 1: a key of the terminal ends the test */
};

/* Chooses the output: the named one, or the strongest kind. */
static int choose_force_output(struct push *push, const char *output)
{
    static const char *const order[] = {"force_x", "force_y", "vibration", "weak",
                                        "strong",  "spring",  "damper",    "friction"};
    const struct tact_attached_input *input = push->target->input;
    const char *best = output;
    for (size_t i = 0; input && !best && i < sizeof order / sizeof *order; i++) {
        for (int k = 0; k < input->force_count; k++) {
            best = strcmp(input->force[k].name, order[i]) ? best : order[i];
        }
    }
    if (!best) {
        return 0;
    }
    snprintf(push->output, sizeof push->output, "%s", best);
    push->level = input ? share : volts;
    push->unit = input ? "of its strongest" : "V";
    return 1;
}

/* Asks the user. Without a terminal no force is played. */
static int has_user_agreed(const struct push *push, enum devices_force_consent force)
{
    char line[16] = "";
    if (force == DEVICES_FORCE_YES) {
        return 1;
    }
    if (force == DEVICES_FORCE_NO) {
        return 0;
    }
    if (!isatty(STDIN_FILENO)) {
        fprintf(stderr, "tact: no force was played: there is no terminal to ask for consent "
                        "(--force yes needs none)\n");
        return 0;
    }
    fprintf(
        stderr,
        "\nPlay %s, rising to %g %s, for %g s? Hold the device loosely; any key or button stops "
        "it. [y/N] ",
        push->output, push->level, push->unit, length);
    return fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y');
}

static int open_force_output(struct push *push)
{
    const struct tact_attached_input *input = push->target->input;
    char outputs[2 * TACT_DEVICE_NAME];
    snprintf(outputs, sizeof outputs, "force=%s", push->output);
    const struct tact_device_setting settings[] = {
        {.key = input ? "path" : "board", .text = input ? input->path : push->target->board->path},
        {.key = input ? "forces" : "outputs", .text = input ? push->output : outputs}};
    const struct tact_device_config config = {.name = "force",
                                              .directory = "",
                                              .file = "",
                                              .settings = settings,
                                              .setting_count = 2,
                                              .period = period,
                                              .messages = {command_print_message, &(int){1}}};
    const struct tact_safety_channel channel = {push->level, push->level / fade, 0.0, 0};
    struct tact_safety_options options = tact_safety_default();
    struct tact_error err = {.line = 0};
    const struct tact_device_type *type = input ? &tact_evdev_type : &tact_comedi_type;
    options.period = period;
    if (tact_safety_init(&push->safety, &channel, 1, &options)) {
        return EXIT_BAD;
    }
    return type->open(&config, &push->device, &err) ? command_print_error(&err) : 0;
}

/* Reads keys at the terminal immediately and without echo. */
static void read_keys_unbuffered(struct push *push)
{
    push->keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &push->terminal) == 0;
    if (push->keys) {
        struct termios raw = push->terminal;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
}

static void restore_terminal(struct push *push)
{
    if (push->keys) {
        tcflush(STDIN_FILENO, TCIFLUSH);
        tcsetattr(STDIN_FILENO, TCSANOW, &push->terminal);
    }
}

/* Returns the reason for which the test's force must end now, or NULL. */
static const char *find_reason_to_end_test_force(struct push *push, uint64_t tick,
                                                 const struct tact_device_input *in)
{
    const struct tact_device_info *info = &push->device.info;
    struct pollfd key = {.fd = STDIN_FILENO, .events = POLLIN};
    if (tact_stop_requested(command_stop_flag())) {
        return "a signal";
    }
    if (in->state != TACT_DEVICE_OK) {
        return in->state == TACT_DEVICE_LOST ? "its going away" : "a fault of the device";
    }
    if (push->keys && poll(&key, 1, 0) > 0) {
        return "a key";
    }
    for (int i = 0; i < info->input_count; i++) {
        if (!strncmp(info->input[i].name, "btn_", 4)) {
            if (tick > 0 && in->channel[i] != push->last_button_values[i]) {
                return "a button";
            }
            push->last_button_values[i] = in->channel[i];
        } else if (!strcmp(info->input[i].name, "force_age")) {
            push->largest_force_age_seconds = fmax(push->largest_force_age_seconds, in->channel[i]);
        }
    }
    return NULL;
}

/* Plays the force; *seconds: its duration. Returns the reason of an early end, or NULL. */
static const char *play_force_test(struct push *push, double *seconds)
{
    const int64_t start = tact_clock_now();
    const char *why = NULL;
    for (uint64_t tick = 0; !why; tick++) {
        struct tact_device_input in = {.state = TACT_DEVICE_OK};
        const double t = (double)tick * period;
        const double wanted = t < length - fade ? push->level : 0.0;
        double out = 0.0;
        *seconds = t;
        if (t > length) {
            break;
        }
        tact_clock_sleep_until(start + (int64_t)(t * 1e9));
        push->device.ops->read(push->device.self, tick, t, tact_clock_now(), &in);
        why = find_reason_to_end_test_force(push, tick, &in);
        tact_safety_step(&push->safety, &wanted, why == NULL, tick, &out);
        push->device.ops->write(push->device.self, &out, tact_clock_now());
    }
    return why;
}

/* Reports the result of the test of a device's forces, as text or JSON. */
static void print_force_test(const struct push *push, double seconds, const char *why,
                             json_t *report)
{
    if (report) {
        json_object_set_new(report, "force",
                            json_pack("{s:s, s:f, s:s, s:f, s:s?}", "output", push->output, "level",
                                      push->level, "unit", push->unit, "seconds",
                                      why ? seconds : length, "ended_by", why));
    } else if (why) {
        printf("%s: %g %s, ended after %.2f s by %s\n", push->output, push->level, push->unit,
               seconds, why);
    } else {
        printf("%s: %g %s, %g s\n", push->output, push->level, push->unit, length);
    }
}

int devices_test_force_output(const struct devices_test_target *target,
                              enum devices_force_consent force, const char *output, json_t *report)
{
    struct push push = {.target = target};
    double seconds = 0.0;
    if (!choose_force_output(&push, output) || !has_user_agreed(&push, force)) {
        return EXIT_GOOD;
    }
    if (open_force_output(&push)) {
        return EXIT_BAD;
    }
    command_install_stop_signals();
    read_keys_unbuffered(&push);
    const char *why = play_force_test(&push, &seconds);
    push.device.ops->close(push.device.self);
    restore_terminal(&push);
    print_force_test(&push, seconds, why, report);
    if (target->input && push.largest_force_age_seconds == 0.0 && !why) {
        fprintf(stderr, "tact: the device %s accepted no force command\n", target->input->path);
        return EXIT_BAD;
    }
    return why && strcmp(why, "a key") && strcmp(why, "a button") && strcmp(why, "a signal")
               ? EXIT_BAD
               : EXIT_GOOD;
}
