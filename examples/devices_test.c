/* tact devices --test: the values of a device as it is moved. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "devices.h"
#include "devices/comedi/comedi.h"
#include "devices/evdev/evdev.h"
#include "rt/clock.h"

enum { PERIOD_NS = 10000000, BOARD_CHANNELS = 16 };

/* Extremes and reported values of each channel. */
struct channel_observations {
    double low[TACT_DEVICE_CHANNELS];
    double high[TACT_DEVICE_CHANNELS];
    double reported[TACT_DEVICE_CHANNELS];
};

const struct tact_attached_input *devices_find_input_device(const struct tact_attached *attached,
                                                            const char *name,
                                                            int *matching_device_count)
{
    const struct tact_attached_input *found = NULL;
    *matching_device_count = 0;
    for (int i = 0; i < attached->input_count; i++) {
        const struct tact_attached_input *input = &attached->input[i];
        if (!strcmp(input->path, name) || !strcmp(input->link, name) ||
            !strcmp(input->name, name)) {
            *matching_device_count = 1;
            return input;
        }
        if (strstr(input->name, name)) {
            found = input;
            ++*matching_device_count;
        }
    }
    return *matching_device_count == 1 ? found : NULL;
}

static const struct tact_attached_board *find_board_of_name(const struct tact_attached *attached,
                                                            const char *name,
                                                            int *matching_device_count)
{
    const struct tact_attached_board *found = NULL;
    *matching_device_count = 0;
    for (int i = 0; i < attached->board_count; i++) {
        const struct tact_attached_board *board = &attached->board[i];
        if (!strcmp(board->path, name)) {
            *matching_device_count = 1;
            return board;
        }
        if (strstr(board->name, name)) {
            found = board;
            ++*matching_device_count;
        }
    }
    return *matching_device_count == 1 ? found : NULL;
}

/* Opens the board with its analog inputs, or with the digital ones if there are none. */
static void list_board_inputs(const struct tact_attached_board *board, char *text, size_t size)
{
    const struct tact_attached_subdevice *from = NULL;
    for (int i = 0; i < board->subdevice_count; i++) {
        const struct tact_attached_subdevice *s = &board->subdevice[i];
        if (s->input[0] && !strchr(s->input, '@') && (!from || strncmp(s->input, "ai", 2) == 0)) {
            from = s;
        }
    }
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; from && i < from->channels && i < BOARD_CHANNELS && used < size; i++) {
        int n = (int)strcspn(from->input, "0");
        used += (size_t)snprintf(text + used, size - used, "%s%.*s%d=%.*s%d", i ? " " : "", n,
                                 from->input, i, n, from->input, i);
    }
}

static int open_tested_device(const struct tact_attached_input *input,
                              const struct tact_attached_board *board, struct tact_device *device)
{
    char inputs[512] = "";
    struct tact_device_setting settings[2] = {
        {.key = input ? "path" : "board", .text = input ? input->path : board->path},
        {.key = "inputs", .text = inputs}};
    const struct tact_device_config config = {.name = "test",
                                              .directory = "",
                                              .file = "",
                                              .settings = settings,
                                              .setting_count = input ? 1 : 2,
                                              .period = PERIOD_NS * 1e-9,
                                              .messages = {command_print_message, NULL}};
    struct tact_error err = {.line = 0};
    if (board) {
        list_board_inputs(board, inputs, sizeof inputs);
    }
    const struct tact_device_type *type = input ? &tact_evdev_type : &tact_comedi_type;
    return type->open(&config, device, &err) ? command_print_error(&err) : EXIT_GOOD;
}

/* Unit of a channel for display: none for plain numbers. */
static const char *unit_of_channel(const struct tact_device *device, int channel)
{
    const char *unit = device->info.input[channel].unit;
    return strcmp(unit, "1") == 0 ? "" : unit;
}

/* Reports each channel that has changed by a twentieth of its range, or of a unit, since its last
 * report. */
static void update_channel_extremes(const struct tact_device *device,
                                    const struct tact_device_input *in, double t,
                                    int must_report_changes,
                                    struct channel_observations *channel_observations)
{
    for (int i = 0; i < device->info.input_count; i++) {
        double value = in->channel[i];
        if (t == 0.0) {
            channel_observations->low[i] = channel_observations->high[i] =
                channel_observations->reported[i] = value;
        }
        channel_observations->low[i] = fmin(channel_observations->low[i], value);
        channel_observations->high[i] = fmax(channel_observations->high[i], value);
        if (must_report_changes && fabs(value - channel_observations->reported[i]) >= 0.05) {
            printf("%7.2f s  %-14s %9.3f %s\n", t, device->info.input[i].name, value,
                   unit_of_channel(device, i));
            channel_observations->reported[i] = value;
        }
    }
    fflush(stdout);
}

static void report_channel_extremes(const struct tact_device *device,
                                    const struct channel_observations *channel_observations,
                                    json_t *report)
{
    json_t *all = json_array();
    for (int i = 0; i < device->info.input_count; i++) {
        const struct tact_device_channel *channel = &device->info.input[i];
        json_array_append_new(all, json_pack("{s:s, s:s, s:f, s:f}", "name", channel->name, "unit",
                                             channel->unit, "lowest", channel_observations->low[i],
                                             "highest", channel_observations->high[i]));
    }
    json_object_set_new(report, "channels", all);
}

static void print_test_summary(const struct tact_device *device,
                               const struct channel_observations *channel_observations)
{
    puts("\nchannel          lowest   highest  unit");
    for (int i = 0; i < device->info.input_count; i++) {
        printf(
            "%-14s %9.3f %9.3f  %s%s\n", device->info.input[i].name, channel_observations->low[i],
            channel_observations->high[i], unit_of_channel(device, i),
            channel_observations->high[i] > channel_observations->low[i] ? "" : "  (did not move)");
    }
}

int devices_find_by_name(const struct tact_attached *attached, const char *name,
                         struct devices_test_target *target)
{
    int matching_board_count, inputs;
    target->board = find_board_of_name(attached, name, &matching_board_count);
    target->input = devices_find_input_device(attached, name, &inputs);
    if (matching_board_count + inputs != 1) {
        fprintf(stderr, "tact: --test %s: %d devices have that name (see tact devices)\n", name,
                matching_board_count + inputs);
        return EXIT_BAD;
    }
    return EXIT_GOOD;
}

int devices_report_no_access(const struct tact_attached_access *access)
{
    if (access->error) {
        fprintf(stderr, "tact: %s\n", access->why);
    }
    if (access->error && (access->fix[0] || access->rule[0])) {
        fprintf(stderr, "tact: to get access to the device: %s%s%s\n", access->fix,
                access->fix[0] && access->rule[0] ? ", or: " : "", access->rule);
    }
    return access->error;
}

int devices_show_live_values(const struct devices_test_target *target, double seconds,
                             json_t *report)
{
    int code = EXIT_GOOD;
    struct tact_device device = {.ops = NULL};
    struct channel_observations channel_observations = {.low = {0.0}};
    const struct tact_attached_board *board = target->board;
    const struct tact_attached_input *input = target->input;
    if (devices_report_no_access(input ? &input->access : &board->access) ||
        open_tested_device(input, board, &device)) {
        return EXIT_BAD;
    }
    const char *name = input ? input->name : board->name;
    const char *path = input ? input->path : board->path;
    fprintf(report ? stderr : stdout, "%s for %g s: move it, press its buttons\n", name, seconds);
    const int64_t start = tact_clock_now();
    for (uint64_t tick = 0; (double)tick * PERIOD_NS * 1e-9 <= seconds; tick++) {
        struct tact_device_input in = {.state = TACT_DEVICE_OK};
        const double t = (double)tick * PERIOD_NS * 1e-9;
        tact_clock_sleep_until(start + (int64_t)tick * PERIOD_NS);
        device.ops->read(device.self, tick, t, tact_clock_now(), &in);
        update_channel_extremes(&device, &in, t, !report, &channel_observations);
        if (in.state == TACT_DEVICE_LOST) {
            fprintf(stderr, "tact: %s was disconnected\n", path);
            code = EXIT_BAD;
            break;
        }
    }
    device.ops->close(device.self);
    if (report) {
        json_object_set_new(report, "name", devices_text(name));
        json_object_set_new(report, "path", devices_text(path));
        json_object_set_new(report, "seconds", json_real(seconds));
        report_channel_extremes(&device, &channel_observations, report);
    } else {
        print_test_summary(&device, &channel_observations);
    }
    return code;
}
