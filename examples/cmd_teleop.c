/* tact teleop: one end of a teleoperation, both of which one file describes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "contact/number.h"
#include "link.h"
#include "output.h"
#include "run.h"
#include "teleop.h"

/* exit code of --check: the link does not support the mode of a tie */
#define EXIT_NOT_SUPPORTED 3

static const char help[] =
    "usage: tact teleop FILE --site local|remote [--check|--print] [OPTION]...\n\n"
    "Runs one end of a teleoperation: the person's (local) or the robot's (remote). One file\n"
    "describes both, and is the same at both machines: the scene of each end, addresses, keys,\n"
    "and the mode of the ties, which are put in place of what the scenes have.\n\n"
    "  name: a ruler at a distance\n"
    "  local:  {scene: person.yaml, connect: \"robot.example.org:4710\", key: a.key, peer: "
    "b.key.pub}\n"
    "  remote: {scene: robot.yaml, listen: 4710, key: b.key, peer: a.key.pub}\n"
    "  mode: waves      # or position_force, position_position, model\n"
    "  impedance: 10    # of waves [N s/m]: 3 is light, 30 firm\n"
    "  jitter: 0.005    # [s], repeats: 10, hold: 0 [s], tank: 1 [J]\n"
    "  link: {delay: 0.05}    # a simulated link, of what each end sends\n\n"
    "Scenes and keys are relative to its folder; an end may have stiffness and damping of its "
    "ties.\n\n"
    "  --site SITE     this end: local or remote\n"
    "  --check         measure the link instead, run at both ends, and say how stiff a wall each\n"
    "                  mode renders over it, and which is best; a simulated link is left out\n"
    "  --seconds S     with --check: duration, 0.1 to 600; default 10\n"
    "  --wait S        with --check: how long to wait for the other end, 0 to 3600; default 60\n"
    "  --print         print the scene of this end as it is run\n"
    "  --json          one JSON object on stdout\n"
    "  --help          this text\n"
    "  --record FILE, --force, --duration S, --view, and others of tact run, see tact run "
    "--help\n\n"
    "exit codes:\n"
    "  0  ran to its end or was stopped; --check: the link supports the mode\n"
    "  1  ended in a fault, or the log is not complete; --check: the other end did not come, has\n"
    "     another key, or stopped at once\n"
    "  2  bad usage, or a file, scene, key or address that cannot be used\n"
    "  3  --check: the link does not support the mode of a tie\n\n"
    "example: a ruler lifted at a distance, in two terminals\n"
    "  tact teleop examples/teleop.yaml --site remote\n"
    "  tact teleop examples/teleop.yaml --site local\n";

struct options {
    const char *site_name;
    int is_link_check_requested, print;
    double seconds, wait;
};

static int parse_duration_option(const char *command, const char *option, const char *text,
                                 double least, double most, double *out)
{
    char *end;
    const double value = tact_number_read(text, &end);
    if (end == text || *end || !(value >= least && value <= most)) {
        return command_print_usage_error(command, "%s %s: expected a number from %g to %g", option,
                                         text, least, most);
    }
    *out = value;
    return EXIT_GOOD;
}

/* Whether the word is this option, of which the value follows in the word ("--site=local") or is
 * the next one. */
static int is_option_with_value(const char *word, const char *next, const char *option,
                                const char **value)
{
    const size_t length = strlen(option);
    if (strncmp(word, option, length) || (word[length] && word[length] != '=')) {
        return 0;
    }
    *value = word[length] ? word + length + 1 : next;
    return 1;
}

/* Parses the options of this command and removes them from argv; the rest are options of tact run.
 */
static int parse_teleop_options(int *argc, char **argv, struct options *o)
{
    int kept_argument_count = 1, rc = EXIT_GOOD;
    for (int i = 1; !rc && i < *argc; i++) {
        const char *word = argv[i], *next = i + 1 < *argc ? argv[i + 1] : NULL, *value = NULL;
        const int is_site_option = is_option_with_value(word, next, "--site", &value);
        const int is_seconds_option = is_option_with_value(word, next, "--seconds", &value);
        const int does_option_take_value = is_site_option || is_seconds_option ||
                                           is_option_with_value(word, next, "--wait", &value);
        if (does_option_take_value && !value) {
            return command_print_usage_error(argv[0], "%s: expected a value", word);
        }
        if (is_site_option) {
            o->site_name = value;
        } else if (is_seconds_option) {
            rc = parse_duration_option(argv[0], "--seconds", value, 0.1, 600.0, &o->seconds);
        } else if (does_option_take_value) {
            rc = parse_duration_option(argv[0], "--wait", value, 0.0, 3600.0, &o->wait);
        } else if (!strcmp(word, "--check")) {
            o->is_link_check_requested = 1;
        } else if (!strcmp(word, "--print")) {
            o->print = 1;
        } else {
            argv[kept_argument_count++] = argv[i];
        }
        i += does_option_take_value && value == next;
    }
    argv[kept_argument_count] = NULL;
    *argc = kept_argument_count;
    return rc;
}

static int check_teleop_link(const char *command, const struct link_options *options,
                             struct link_scene *link)
{
    static struct link_measurement measurement;
    measurement.endpoint.socket = -1;
    int code = link_measure(command, options, &measurement);
    code = code ? code : link_print(options, link, &measurement);
    free(measurement.packet_arrivals);
    if (measurement.endpoint.socket >= 0) {
        tact_network_endpoint_close(&measurement.endpoint);
    }
    return code ? code : link->has_unstable_tie ? EXIT_NOT_SUPPORTED : EXIT_GOOD;
}

/* Checks that the log replaces neither the file of the teleoperation nor the scene of either end.
 * Returns an exit code. */
static int check_teleop_record_path(const struct run *run, const struct teleop *teleop)
{
    char *local = teleop_resolve_path(run->scene, teleop->local->scene, 0);
    char *remote_scene_path = teleop_resolve_path(run->scene, teleop->remote->scene, 0);
    const char *inputs[] = {run->scene, local, remote_scene_path};
    const int code = run->options.record
                         ? is_output_allowed(run->name, run->options.record, 1, inputs, 3)
                         : EXIT_GOOD;
    free(local);
    free(remote_scene_path);
    return code;
}

/* Callback that moves an error in the generated scene to the line where the user wrote it. */
struct generated_scene {
    const struct teleop *teleop;
    struct teleop_node_locations node_locations;
};

static void locate_error_in_teleop_file(void *user, struct tact_error *err)
{
    const struct generated_scene *p = user;
    teleop_relocate_error(p->teleop, &p->node_locations, err);
}

/* Prints the scene, or measures the link. */
static int print_scene_or_measure_link(const struct run *run, const struct options *o,
                                       const struct generated_scene *generated_scene,
                                       struct link_scene *link)
{
    struct link_options options = {
        .scene = run->scene, .seconds = o->seconds, .wait = o->wait, .json = run->json};
    struct tact_error err = {.line = 0}, unused;
    struct teleop_node_locations other_scene_locations;
    if (link_scene_read(&options, link, &err)) {
        teleop_relocate_error(generated_scene->teleop, &generated_scene->node_locations, &err);
        return command_print_error(&err);
    }
    if (o->print) {
        fputs(link->scene->text, stdout);
        return EXIT_GOOD;
    }
    teleop_scene(generated_scene->teleop, strcmp(o->site_name, "local") != 0, &link->other,
                 &other_scene_locations,
                 &unused); /* the other end's scene may not be on this machine */
    teleop_node_locations_free(&other_scene_locations);
    return check_teleop_link(run->name, &options, link);
}

static int run_session_of_site(struct run *run, const struct options *o,
                               const struct teleop *teleop)
{
    static struct link_scene link;
    struct generated_scene generated_scene = {.teleop = teleop};
    struct tact_error err = {.line = 0};
    int code;
    if (teleop_scene(teleop, !strcmp(o->site_name, "local"), &link.scene,
                     &generated_scene.node_locations, &err)) {
        code = command_print_error(&err);
    } else if (o->is_link_check_requested || o->print) {
        code = print_scene_or_measure_link(run, o, &generated_scene, &link);
        tact_scene_free(link.other);
        tact_scene_free(link.scene);
    } else if ((code = check_teleop_record_path(run, teleop)) != EXIT_GOOD) {
        tact_scene_free(link.scene);
    } else {
        run->relocate_error = locate_error_in_teleop_file;
        run->relocate_error_user_data = &generated_scene;
        code = run_loaded_scene(run, link.scene);
    }
    teleop_node_locations_free(&generated_scene.node_locations);
    return code;
}

int cmd_teleop(int argc, char **argv)
{
    struct options o = {.wait = -1.0};
    struct run run = {.name = argv[0], .options = tact_session_options_default()};
    struct teleop *teleop;
    struct tact_error err = {.line = 0};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
    }
    run.options.clock = TACT_LOOP_REAL;
    int code = parse_teleop_options(&argc, argv, &o);
    code = code ? code : run_parse_options(&run, argc, argv);
    if (code) {
        return code;
    }
    if (!o.site_name || (strcmp(o.site_name, "local") != 0 && strcmp(o.site_name, "remote") != 0)) {
        return command_print_usage_error(argv[0], "expected --site local or --site remote");
    }
    if (o.is_link_check_requested && o.print) {
        return command_print_usage_error(argv[0], "expected --check or --print, not both");
    }
    if (o.print && run.json) {
        return command_print_usage_error(argv[0], "--print cannot be combined with --json");
    }
    if ((o.is_link_check_requested || o.print) && run.options.record) {
        return command_print_usage_error(argv[0], "%s records nothing",
                                         o.is_link_check_requested ? "--check" : "--print");
    }
    if (!o.is_link_check_requested && (o.seconds > 0.0 || o.wait >= 0.0)) {
        return command_print_usage_error(argv[0], "--seconds and --wait are only for --check");
    }
    o.seconds = o.seconds > 0.0 ? o.seconds : 10.0;
    o.wait = o.wait >= 0.0 ? o.wait : 60.0;
    if (teleop_read(run.scene, &teleop, &err)) {
        return command_print_error(&err);
    }
    code = run_session_of_site(&run, &o, teleop);
    teleop_free(teleop);
    return code;
}
