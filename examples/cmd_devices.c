/* tact devices: the attached devices, a scene line for each, and how to get access to them. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "contact/number.h"
#include "devices.h"
#include "text.h"

static const char help[] =
    "usage: tact devices [OPTION]...\n\n"
    "Lists which input devices (pads, joysticks, wheels, pucks, ...) and measurement cards are\n"
    "attached: their axes, buttons, forces, channels and ranges, the entry of a scene that finds\n"
    "each, and for what is closed to you the group or the udev rule that opens it. Looks only:\n"
    "nothing is moved but by --test.\n\n"
    "  --test NAME    live values of one device, by its name, a part of it, or its path; after\n"
    "                 that, where it has forces, and once you say yes, a gentle one for 1.5 s, a\n"
    "                 fifth of its strongest, which any key or button ends\n"
    "  --seconds S    how long the values; default 5\n"
    "  --force WHEN   ask (default; without a terminal nothing is played), yes or no\n"
    "  --output NAME  which force: force_x, strong, ...; of a card: ao0, which gets 0.5 V\n"
    "  --json         one JSON object on stdout: {inputs: [...], boards: [...]}, each with path,\n"
    "                 name, access: {error, force_error, why, fix, rule}, scene; inputs with\n"
    "                 channels and forces, boards with subdevices. With --test: {name, path,\n"
    "                 seconds, channels: [{name, unit, lowest, highest}], force: {output, level,\n"
    "                 unit, seconds, ended_by}, or null where none was played}\n"
    "  --help         this text\n\n"
    "exit codes:\n"
    "  0  listed, also where nothing is attached or all is closed\n"
    "  1  --test: no such device, closed, gone meanwhile, or it took no force\n"
    "  2  bad usage, or no memory\n\n"
    "examples:\n"
    "  tact devices\n"
    "  tact devices --test SpaceNavigator\n"
    "  tact devices --json | jq -r '.inputs[].scene'\n";

static void print_device_property_unless_empty(const char *key, const char *text)
{
    char printable_property_value[4096];
    if (text[0]) {
        printf("  %-8s %s\n", key,
               text_replace_control_characters(text, printable_property_value,
                                               sizeof printable_property_value));
    }
}

static void print_device_access(const struct tact_attached_access *access)
{
    print_device_property_unless_empty("closed", access->why);
    print_device_property_unless_empty("fix", access->fix);
    print_device_property_unless_empty(access->fix[0] ? "or" : "fix", access->rule);
}

static void print_axes_of_input_device(const struct tact_attached_input *input)
{
    int axes = 0;
    for (int i = 0; i < input->channel_count; i++) {
        const struct tact_attached_channel *c = &input->channel[i];
        if (!c->axis) {
            continue;
        }
        printf("  %-8s %-13s %s", axes++ ? "" : "axes", c->name,
               c->span[0] == '?' ? "(closed: range unknown)" : c->span);
        if (c->high > c->low) {
            printf("  (%d .. %d", c->low, c->high);
            if (c->flat) {
                printf(", dead zone %d", c->flat);
            }
            printf(")");
        }
        puts("");
    }
}

/* Prints one of several words under a key, in lines of a screen's width; *column: 0 before the
 * first word. */
static void print_word_wrapped(const char *key, const char *text, int *column)
{
    if (*column == 0 || *column + (int)strlen(text) > 85) {
        printf("%s  %-8s", *column ? "\n" : "", *column ? "" : key);
        *column = 10;
    }
    *column += printf(" %s", text);
}

static void print_buttons_of_input_device(const struct tact_attached_input *input)
{
    int column = 0;
    for (int i = 0; i < input->channel_count; i++) {
        if (!input->channel[i].axis) {
            print_word_wrapped("buttons", input->channel[i].name, &column);
        }
    }
    if (column) {
        puts("");
    }
}

static void print_force_outputs(const struct tact_attached_input *input)
{
    int column = 0;
    if (!input->effects[0]) {
        return;
    }
    printf("  %-8s %s", "effects", input->effects);
    if (input->effect_most) {
        printf("; %d at a time", input->effect_most);
    }
    puts("");
    for (int i = 0; i < input->force_count; i++) {
        char text[96];
        snprintf(text, sizeof text, "%s as %s%s", input->force[i].name, input->force[i].effect,
                 i + 1 < input->force_count ? "," : "");
        print_word_wrapped("forces", text, &column);
    }
    puts("");
}

static void print_input_device(const struct tact_attached_input *input)
{
    printf("\n%s (%s) at %s\n",
           input->name[0] ? text_make_printable(input->name) : "an input device", input->kind,
           input->path);
    print_device_property_unless_empty("also", input->link);
    print_device_property_unless_empty("serial", input->serial);
    print_device_property_unless_empty("phys", input->phys);
    print_axes_of_input_device(input);
    print_buttons_of_input_device(input);
    print_device_property_unless_empty("note", input->note);
    print_force_outputs(input);
    print_device_access(&input->access);
    print_device_property_unless_empty("scene", input->scene);
}

static void print_board_subdevice(const struct tact_attached_subdevice *s)
{
    printf("  %-8d %s", s->number, s->type);
    if (s->input[0] || s->output[0]) {
        printf(": %s%s%s", s->input, s->input[0] && s->output[0] ? ", or " : "", s->output);
    } else {
        printf(", %d channels", s->channels);
    }
    for (int i = 0; i < s->range_count; i++) {
        printf("%s[%g, %g]%s%s", i ? ", " : "; ", s->range[i].low, s->range[i].high,
               s->range[i].unit[0] ? " " : "", s->range[i].unit);
    }
    if (s->range_count) {
        printf("; %llu steps", (unsigned long long)s->maxdata + 1);
    }
    printf("%s%s%s\n", s->streams ? "; can stream" : "",
           s->calibrates ? "; calibrated by software" : "",
           s->busy ? "; in use by another process" : "");
}

static void print_measurement_board(const struct tact_attached_board *board)
{
    printf("\n%s at %s\n", board->name[0] ? text_make_printable(board->name) : "a measurement card",
           board->path);
    print_device_property_unless_empty("driver", board->driver);
    for (int i = 0; i < board->subdevice_count; i++) {
        print_board_subdevice(&board->subdevice[i]);
    }
    print_device_access(&board->access);
    print_device_property_unless_empty("scene", board->scene);
}

/* Whether a comedi node has no card: a card can be attached to it. */
static int is_board_node_without_card(const struct tact_attached_board *board)
{
    return board->access.error == -ENODEV;
}

/* Prints a line for each device that is not listed in full: keyboards, power buttons, lids, nodes
 * without a card. */
static void print_incompletely_listed_devices(const struct tact_attached *attached)
{
    int before = 0;
    for (int i = 0; i < attached->input_count; i++) {
        const struct tact_attached_input *input = &attached->input[i];
        if (!input->channel_count) {
            printf("%s%s at %s: %s\n", before++ ? "" : "\n", text_make_printable(input->name),
                   input->path, input->note[0] ? input->note : input->access.why);
            print_device_property_unless_empty("scene", input->scene);
        }
    }
    for (int i = 0; i < attached->board_count; i++) {
        const struct tact_attached_board *board = &attached->board[i];
        if (is_board_node_without_card(board)) {
            printf("%s%s: %s; to attach one: %s\n", before++ ? "" : "\n", board->path,
                   board->access.why, board->access.fix);
        }
    }
}

static void print_attached_devices(const struct tact_attached *attached)
{
    int force_feedback_device_count = 0, cards = 0;
    for (int i = 0; i < attached->board_count; i++) {
        cards += !is_board_node_without_card(&attached->board[i]);
    }
    for (int i = 0; i < attached->input_count; i++) {
        force_feedback_device_count += attached->input[i].force_count > 0;
    }
    printf("%d input device%s (%d with forces), %d measurement card%s\n", attached->input_count,
           attached->input_count == 1 ? "" : "s", force_feedback_device_count, cards,
           cards == 1 ? "" : "s");
    if (!attached->input_count) {
        puts("  nothing at /dev/input/event*: plug a pad, joystick, wheel or puck in; in a "
             "container:\n  docker run --device /dev/input");
    }
    if (!attached->board_count) {
        puts("  nothing at /dev/comedi*: load the driver of the card; to try without one:\n"
             "  sudo modprobe comedi_test");
    }
    for (int i = 0; i < attached->input_count; i++) {
        if (attached->input[i].channel_count) {
            print_input_device(&attached->input[i]);
        }
    }
    for (int i = 0; i < attached->board_count; i++) {
        if (!is_board_node_without_card(&attached->board[i])) {
            print_measurement_board(&attached->board[i]);
        }
    }
    print_incompletely_listed_devices(attached);
}

struct device_test_options {
    const char *name; /* name of the device, or NULL */
    double seconds;
    enum devices_force_consent force;
    const char *output;
};

/* Parses an option of the test. Not 0 if it is invalid. */
static int parse_device_test_option(struct device_test_options *device_test_options, int option,
                                    const char *command_name)
{
    static const char *const words[] = {"ask", "yes", "no"};
    char *end;
    switch (option) {
    case 't':
        device_test_options->name = optarg;
        return 0;
    case 'o':
        device_test_options->output = optarg;
        return 0;
    case 's':
        device_test_options->seconds = tact_number_read(optarg, &end);
        return *end || end == optarg ||
                       !(device_test_options->seconds > 0.0 &&
                         device_test_options->seconds <= 3600.0)
                   ? command_print_usage_error(
                         command_name, "--seconds %s: expected a number above 0, at most 3600",
                         optarg)
                   : 0;
    default:
        for (int i = 0; i < 3; i++) {
            if (!strcmp(optarg, words[i])) {
                device_test_options->force = (enum devices_force_consent)i;
                return 0;
            }
        }
        return command_print_usage_error(command_name, "--force %s: expected ask, yes or no",
                                         optarg);
    }
}

static int run_device_test(const struct tact_attached *attached,
                           const struct device_test_options *device_test_options, int json)
{
    struct devices_test_target target;
    int code = devices_find_by_name(attached, device_test_options->name, &target);
    json_t *report = json && !code ? json_pack("{s:n}", "force") : NULL;
    code = code ? code : devices_show_live_values(&target, device_test_options->seconds, report);
    code = code ? code
                : devices_test_force_output(&target, device_test_options->force,
                                            device_test_options->output, report);
    return report && devices_print_json(report) && !code ? EXIT_USAGE : code;
}

int cmd_devices(int argc, char **argv)
{
    static const struct option long_options[] = {{"json", no_argument, NULL, 'j'},
                                                 {"test", required_argument, NULL, 't'},
                                                 {"seconds", required_argument, NULL, 's'},
                                                 {"force", required_argument, NULL, 'f'},
                                                 {"output", required_argument, NULL, 'o'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    struct device_test_options device_test_options = {.name = NULL, .seconds = 5.0};
    int c, json = 0;
    while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        if (c == '?') {
            return EXIT_USAGE;
        }
        if (c == 'j') {
            json = 1;
        } else if (parse_device_test_option(&device_test_options, c, argv[0])) {
            return EXIT_USAGE;
        }
    }
    if (argc != optind) {
        return command_print_usage_error(argv[0], "no argument is expected, not \"%s\"",
                                         argv[optind]);
    }
    struct tact_attached attached;
    struct tact_error err = {.line = 0};
    if (tact_attached_survey(&attached, &err)) {
        return command_print_error(&err);
    }
    int code = EXIT_GOOD;
    if (device_test_options.name) {
        code = run_device_test(&attached, &device_test_options, json);
    } else if (!json) {
        print_attached_devices(&attached);
    } else if (devices_json(&attached)) {
        code = EXIT_USAGE;
    }
    tact_attached_free(&attached);
    return code;
}
