/* The command line of tact run and tact sim. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "command.h"
#include "contact/compare/tractions.h"
#include "contact/number.h"
#include "run.h"
#include "words.h"

static const char help[] =
    "usage: tact %s SCENE [OPTION]...\n\n"
    "Runs a scene %s, and prints a table of what became of it.\n\n"
    "  --duration S        seconds of the scene's time; default: the scene's\n"
    "  --record FILE       write every tick to FILE, an MCAP log (see tact replay); %%n in its "
    "name\n"
    "                      becomes the next number that is free: --record trial-%%n.mcap\n"
    "  --force             replace FILE where it exists, and what --record-devices keeps\n"
    "  --record-devices DIR  keep the raw events of input devices in DIR/NAME.evemu, the raw "
    "words\n"
    "                      of measurement cards in DIR/NAME.csv, to be played by the setting\n"
    "                      recording: FILE of the device\n"
    "  --split-seconds S   continue in FILE.2, FILE.3, ... (before its ending) every S seconds\n"
    "  --split-mb M        ... or every M megabytes; default: as the scene says\n"
    "  --moments SOURCE    auto, opencl, host or thread; default: the scene's\n"
    "  --view[=PORT]       show it in a browser: prints the address of a page that only this "
    "machine\n"
    "                      can open%s\n"
    "  --no-browser        open none by itself\n"
    "  --allow-origin URL  with --view, a page of this origin may watch as well, by\n"
    "                      foxglove.sdk.v1: --allow-origin https://app.foxglove.dev\n"
    "  --plugins DIR       folder of device types beside those built in, TYPE.so each; then come\n"
    "                      $TACT_PLUGINS and the installed folder (see devices/DEVICES.md)\n"
    "  --require-rt        fail where any part of real time is refused (see tact doctor)\n"
    "%s"
    "  --json              one JSON object on stdout instead of the table\n"
    "  --quiet             no live line, no messages but warnings\n"
    "  --help              this text\n\n"
    "Ctrl-C ends the run as its end would: outputs go to zero, the log is closed, the table "
    "printed.\n\n"
    "exit codes:\n"
    "  0  ran to its end, or was stopped by SIGINT, SIGTERM or SIGHUP\n"
    "  1  ended in a fault (a state that is not finite or faster than max_speed, a pair that\n"
    "     cannot be measured), was stopped before its first tick, or the log is not complete\n"
    "  2  bad usage, or a scene, device or log file that cannot be used, or FILE exists\n"
    "  3  --require-rt, and something was refused\n\n"
    "example:\n"
    "  tact %s examples/scenes/ruler.yaml --duration 10 --record ruler.mcap\n";

static const char comparison_help[] =
    "  --reduced[=LAW]     one rigid smooth body on a fixed one by the method of Kry and Pai "
    "(2003),\n"
    "                      reduced coordinates, instead of the solver; LAW of impacts:\n"
    "                      chatterjee-ruina (default) or newton\n"
    "  --static MU, --dynamic MU  with --reduced: coefficients of friction at rest and in slip,\n"
    "                      MU at rest at least that in slip; default: the scene's friction\n"
    "  --spin LENGTH       with --reduced: torque about the normal up to which the contact does "
    "not\n"
    "                      spin, over the normal force, in metres; default: 0, no torque\n"
    "  --tangential-restitution E  with --reduced: of Chatterjee and Ruina's law, -1 to 1;\n"
    "                      default: 0\n"
    "  --tractions[=SPEED] free bodies whose pairs are all by the model field, by the method of "
    "Elandt\n"
    "                      (2019), pressure and regularised friction as forces of an explicit "
    "step,\n"
    "                      instead of the solver; SPEED of the regularisation in m/s, default "
    "0.001\n";

static void print_run_help(const struct run *run)
{
    int is_real_time_clock = run->options.clock == TACT_LOOP_REAL;
    const char *subcommand_word = run->name + strlen("tact ");
    printf(help, subcommand_word, is_real_time_clock ? "in real time" : "as fast as it computes",
           is_real_time_clock
               ? ""
               : "; runs at the pace that the page asks for, real time at\n"
                 "                      first, and shows its end until it is stopped",
           is_real_time_clock ? "" : comparison_help, subcommand_word);
}

static int parse_run_duration(struct run *run, const char *text)
{
    char *end;
    run->duration = tact_number_read(text, &end);
    if (end == text || *end || !isfinite(run->duration) || run->duration <= 0.0) {
        return command_print_usage_error(
            run->name, "--duration %s: a positive number of seconds is expected", text);
    }
    return 0;
}

static int set_log_split_limit(struct run *run, int seconds, const char *text)
{
    char *end;
    double value = tact_number_read(text, &end), least = seconds ? 0.1 : 0.065536;
    if (end == text || *end || !(value >= least && value <= 1e6)) {
        return command_print_usage_error(run->name,
                                         "--split-%s %s: a number from %g to 1e6 is expected",
                                         seconds ? "seconds" : "mb", text, least);
    }
    if (seconds) {
        run->options.split_seconds = value;
    } else {
        run->options.split_bytes = (uint64_t)(value * 1e6);
    }
    return 0;
}

static int set_reduced_impact_law(struct run *run, const char *law)
{
    run->reduced = 1;
    run->is_newton_impact_law_used = law && !strcmp(law, "newton");
    if (run->options.clock == TACT_LOOP_REAL) {
        return command_print_usage_error(run->name,
                                         "--reduced: only tact sim supports this option");
    }
    return law && !run->is_newton_impact_law_used && strcmp(law, "chatterjee-ruina")
               ? command_print_usage_error(
                     run->name, "--reduced=%s: newton or chatterjee-ruina is expected", law)
               : 0;
}

static int set_tractions_option(struct run *run, const char *speed)
{
    char *end = NULL;
    run->tractions = 1;
    if (run->options.clock == TACT_LOOP_REAL) {
        return command_print_usage_error(run->name,
                                         "--tractions: only tact sim supports this option");
    }
    run->slip_speed = speed ? tact_number_read(speed, &end) : run->slip_speed;
    return speed && (end == speed || *end)
               ? command_print_usage_error(run->name,
                                           "--tractions=%s: a slip speed in m/s is expected", speed)
               : 0;
}

static int has_reduced_coefficient(const struct run *run)
{
    return !isnan(run->static_friction_coefficient) || !isnan(run->dynamic_friction_coefficient) ||
           !isnan(run->spin_limit) || !isnan(run->tangential_restitution);
}

static int set_log_folder(struct run *run, const char *path)
{
    if (mkdir(path, 0777) && errno != EEXIST) {
        return command_print_usage_error(run->name, "--record-devices %s: %s", path,
                                         strerror(errno));
    }
    run->options.record_devices = path;
    return 0;
}

static int set_moments_options(struct run *run, const char *text)
{
    run->moments = text;
    if (strcmp(text, "auto") && strcmp(text, "opencl") && strcmp(text, "host") &&
        strcmp(text, "thread")) {
        return command_print_usage_error(
            run->name, "--moments %s: auto, opencl, host or thread is expected", text);
    }
    return 0;
}

static int set_viewer_port_option(struct run *run, const char *text)
{
    return parse_port_number(text, &run->viewer_page_options.port)
               ? command_print_usage_error(run->name,
                                           "--view=%s: a port from 1 to 65535 is expected", text)
               : 0;
}

static const struct option long_options[] = {
    {"duration", required_argument, NULL, 'd'},
    {"record", required_argument, NULL, 'o'},
    {"record-devices", required_argument, NULL, 'e'},
    {"moments", required_argument, NULL, 'm'},
    {"plugins", required_argument, NULL, 'p'},
    {"require-rt", no_argument, NULL, 'r'},
    {"view", optional_argument, NULL, 'v'},
    {"no-browser", no_argument, NULL, 'n'},
    {"allow-origin", required_argument, NULL, 'O'},
    {"split-seconds", required_argument, NULL, 's'},
    {"split-mb", required_argument, NULL, 'b'},
    {"force", no_argument, NULL, 'F'},
    {"reduced", optional_argument, NULL, 'R'},
    {"tractions", optional_argument, NULL, 'X'},
    {"static", required_argument, NULL, 'S'},
    {"dynamic", required_argument, NULL, 'D'},
    {"spin", required_argument, NULL, 'T'},
    {"tangential-restitution", required_argument, NULL, 'E'},
    {"json", no_argument, NULL, 'j'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

static double *reduced_coefficient_of_option(struct run *run, int option)
{
    switch (option) {
    case 'S':
        return &run->static_friction_coefficient;
    case 'D':
        return &run->dynamic_friction_coefficient;
    case 'T':
        return &run->spin_limit;
    default:
        return &run->tangential_restitution;
    }
}

/* Reads a coefficient of the reduced coordinates; its range is checked when it is used. */
static int set_reduced_coefficient(struct run *run, int option, const char *text)
{
    char *end;
    double *value = reduced_coefficient_of_option(run, option);
    const struct option *option_entry = long_options;
    while (option_entry->val != option) {
        option_entry++;
    }
    *value = tact_number_read(text, &end);
    return end == text || *end || !isfinite(*value)
               ? command_print_usage_error(run->name, "--%s %s: a number is expected",
                                           option_entry->name, text)
               : 0;
}

/* Reads an option of the methods that are kept to compare with; text: NULL where it has no value.
 */
static int set_comparison_option(struct run *run, int option, const char *text)
{
    return option == 'R'   ? set_reduced_impact_law(run, text)
           : option == 'X' ? set_tractions_option(run, text)
                           : set_reduced_coefficient(run, option, text);
}

int run_parse_options(struct run *run, int argc, char **argv)
{
    int c, rc = 0;
    run->slip_speed = tact_tractions_options_default().slip_speed;
    run->static_friction_coefficient = run->dynamic_friction_coefficient = run->spin_limit =
        run->tangential_restitution = NAN;
    while (!rc && (c = getopt_long(argc, argv, "hq", long_options, NULL)) != -1) {
        const char *text = optarg ? optarg : "";
        switch (c) {
        case 'd':
            rc = parse_run_duration(run, text);
            break;
        case 'm':
            rc = set_moments_options(run, text);
            break;
        case 's':
        case 'b':
            rc = set_log_split_limit(run, c == 's', text);
            break;
        case 'o':
            run->options.record = optarg;
            break;
        case 'e':
            rc = set_log_folder(run, text);
            break;
        case 'p':
            run->plugins = optarg;
            break;
        case 'F':
            run->options.replace = 1;
            break;
        case 'r':
            run->options.require_realtime = 1;
            break;
        case 'v':
            run->view = 1;
            rc = optarg ? set_viewer_port_option(run, optarg) : 0;
            break;
        case 'n':
            run->must_not_open_browser = 1;
            break;
        case 'O':
            rc = parse_allowed_origin(run->name, optarg, &run->viewer_page_options.allowed_origin);
            break;
        case 'R':
        case 'X':
        case 'S':
        case 'D':
        case 'T':
        case 'E':
            rc = set_comparison_option(run, c, optarg);
            break;
        case 'j':
            run->json = 1;
            break;
        case 'q':
            run->quiet = 1;
            break;
        case 'h':
            print_run_help(run);
            run->help = 1;
            return 0;
        default:
            return EXIT_USAGE;
        }
    }
    if (rc) {
        return rc;
    }
    if (has_reduced_coefficient(run) && !run->reduced) {
        return command_print_usage_error(
            run->name, "--static, --dynamic, --spin and --tangential-restitution need --reduced");
    }
    if (argc - optind != 1) {
        return command_print_usage_error(run->name, "one scene is expected, not %d", argc - optind);
    }
    run->scene = argv[optind];
    return 0;
}
