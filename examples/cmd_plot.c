/* tact plot: one page of a session, or of two superimposed. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "drawing.h"
#include "plot.h"

#define EXIT_DAMAGED_LOG 3

static const char help[] =
    "usage: tact plot FILE [FILE] [OPTION]...\n\n"
    "Draws a log on one page: normal force, friction and torsion of each contact with their\n"
    "limits shaded (torsion about the centre of pressure), the last patch of each with its\n"
    "centres of pressure, each as far from the edge as it was in the patch of its tick, joints\n"
    "and their targets, bodies, bodies in hands, the time of each tick, and of each port at which\n"
    "a person holds a device the energy that it has absorbed (below 0: generated; red points: its\n"
    "force is limited for passivity) and the force, where any port has one; touches, faults and\n"
    "lost ticks are marked. Of joints that are tied to another site the force, the delay of the\n"
    "link, the packets and waves that it lost, and the energy of its channel and of the tanks. A\n"
    "second log is laid over the first; where the two are of both ends of a link, by one clock,\n"
    "with how much later it begins, and with the force of one end negated, so that both are equal\n"
    "at rest. What is missing in the record is computed from the scene in the log.\n\n"
    "  -o, --output OUT  OUT.png, .svg or .pdf, or OUT.gp: the script that gnuplot would be "
    "given;\n"
    "                    default: FILE with .png for its ending\n" RANGE_OPTIONS_HELP
    "  --force           replace OUT where it exists\n"
    "  --help            this text\n\n"
    "Needs the program gnuplot (Debian: gnuplot-nox), but no display. Each curve shows the least "
    "and\n"
    "the largest value of every stretch of time, so that no spike is lost.\n\n"
    "exit codes:\n"
    "  0  drawn\n"
    "  1  gnuplot is missing or failed, or OUT cannot be written: then it is not there\n"
    "  2  bad usage, a file that is no log of tact or cannot be read, or OUT exists\n"
    "  3  a log is damaged or cut: what is left of it was drawn\n\n"
    "example:\n"
    "  tact sim examples/scenes/ruler.yaml --record ruler.mcap\n"
    "  tact plot ruler.mcap -o ruler.png\n";

static int draw_plot_of_sessions(const char *command, const struct plot_session *sessions,
                                 int count, const char *out, int force)
{
    struct drawing d;
    int code = drawing_open(&d, command, out, force);
    if (code) {
        return code;
    }
    plot_write_page(d.to, sessions, count, d.terminal);
    return drawing_close(&d);
}

static int plot_logs(const char *command, char **log_paths, int count, const struct range *range,
                     const char *out, int force)
{
    struct plot_session *sessions = calloc(2, sizeof *sessions);
    struct tact_error err = {.line = 0};
    int code = 0, whole = 1;
    if (!sessions) {
        fprintf(stderr, "%s: no memory\n", command);
        return EXIT_BAD;
    }
    for (int i = 0; i < count && !code; i++) {
        sessions[i].range = *range;
        code = plot_open_session(&sessions[i], log_paths[i], &err) ? command_print_error(&err) : 0;
        whole = whole && !code && tact_log_state(sessions[i].log)->complete;
    }
    if (!code && count == 2 && plot_align_session_clocks(sessions)) {
        fprintf(stderr,
                "%s: %s and %s are of two ends that were not connected with each other, so that no "
                "clock is common to them: each begins at its own 0 s\n",
                command, log_paths[0], log_paths[1]);
    }
    code = code ? code : draw_plot_of_sessions(command, sessions, count, out, force);
    for (int i = 0; i < 2; i++) {
        plot_close_session(&sessions[i]);
    }
    free(sessions);
    return code || whole ? code : EXIT_DAMAGED_LOG;
}

int cmd_plot(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"output", required_argument, NULL, 'o'}, {"from", required_argument, NULL, 'f'},
        {"to", required_argument, NULL, 't'},     {"force", no_argument, NULL, 'F'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    const char *out = NULL;
    char default_picture_path[4096];
    struct range range = {.in_seconds = 0};
    int c, force = 0;
    while ((c = getopt_long(argc, argv, "ho:", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        if (c == '?') {
            return EXIT_USAGE;
        }
        if (c == 'o') {
            out = optarg;
        } else if (c == 'F') {
            force = 1;
        } else if (range_parse_end(&range, argv[0], c == 't', optarg)) {
            return EXIT_USAGE;
        }
    }
    int count = argc - optind;
    if (count != 1 && count != 2) {
        return command_print_usage_error(argv[0], "one or two logs are expected, not %d", count);
    }
    if (!out) {
        const char *path = argv[optind];
        int path_length_without_suffix =
            (int)strlen(path) - (text_ends_with(path, ".mcap") ? 5 : 0);
        snprintf(default_picture_path, sizeof default_picture_path, "%.*s.png",
                 path_length_without_suffix, path);
        out = default_picture_path;
    }
    if (!text_ends_with(out, ".png") && !text_ends_with(out, ".svg") &&
        !text_ends_with(out, ".pdf") && !text_ends_with(out, ".gp")) {
        return command_print_usage_error(
            argv[0], "-o %s: .png, .svg, .pdf or .gp is expected at its end", out);
    }
    if (range_check_not_empty(&range, argv[0])) {
        return EXIT_USAGE;
    }
    const char *const logs[] = {argv[optind], argv[argc - 1]};
    int code = is_output_allowed(argv[0], out, force, logs, 2);
    return code ? code : plot_logs(argv[0], argv + optind, count, &range, out, force);
}
