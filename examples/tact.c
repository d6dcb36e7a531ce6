/* tact: the command. Dispatches to the subcommands, and contains their common functions. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "contact/version.h"
#include "text.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"run", cmd_run, "run a scene in real time"},
    {"sim", cmd_sim, "run a scene as fast as it computes: the same loop on a free-wheeling clock"},
    {"replay", cmd_replay, "run the session of a log again and compare it bit for bit"},
    {"recover", cmd_recover, "finish the log of a session that was killed"},
    {"info", cmd_info, "list what is in a log, and how it ended"},
    {"plot", cmd_plot, "draw a log on one page, or two over each other"},
    {"picture", cmd_picture, "draw moments of a log: solids, patches, forces"},
    {"view", cmd_view, "show a log in a browser"},
    {"export", cmd_export, "write the records of a log as CSV or HDF5"},
    {"import", cmd_import,
     "take over a recording (CSV), a hand (MJCF, URDF) or a mesh (PLY, GLB, DAE)"},
    {"diff", cmd_diff, "find where two sessions differ, and how far"},
    {"moments", cmd_moments, "measure the overlap of two solids"},
    {"distance", cmd_distance, "measure the distance or the depth of two convex solids"},
    {"field", cmd_field, "compute the pressure field of a mesh, check it and draw a section"},
    {"bench", cmd_bench, "measure the contact solver beside contact points and published numbers"},
    {"devices", cmd_devices,
     "list attached devices, their capabilities and how to get access to them"},
    {"calibrate", cmd_calibrate, "measure a device, and write its calibration file for a scene"},
    {"keygen", cmd_keygen, "make the keys of one end of a link between two machines"},
    {"link", cmd_link, "measure the link between two machines, and what it supports"},
    {"teleop", cmd_teleop, "run one end of a teleoperation, or measure what its link supports"},
    {"doctor", cmd_doctor, "check what this machine lacks for real time, and how to get it"},
};

static void print_command_list(FILE *to)
{
    fputs("usage: tact SUBCOMMAND [OPTION]...\n\n"
          "6D frictional contact in a 1 kHz haptic loop.\n\nsubcommands:\n",
          to);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n"
          "  tact SUBCOMMAND --help   options, exit codes and an example\n"
          "  tact --version           the version\n\n"
          "example: hold a ruler between two fingers, and check that the session can be replayed\n"
          "  tact run examples/scenes/ruler.yaml --record ruler.mcap\n"
          "  tact replay ruler.mcap --verify\n",
          to);
}

int command_print_error(const struct tact_error *err)
{
    char line[1024], printable_line[1024];
    tact_error_format(err, line, sizeof line);
    fprintf(stderr, "tact: %s\n",
            text_replace_control_characters(line, printable_line, sizeof printable_line));
    return EXIT_USAGE;
}

int command_print_usage_error(const char *command, const char *format, ...)
{
    char text[512], printable_line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "%s: %s (see %s --help)\n", command,
            text_replace_control_characters(text, printable_line, sizeof printable_line), command);
    return EXIT_USAGE;
}

int command_parse_only_json(int argc, char **argv, const char *command_help, int *json)
{
    static const struct option long_options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "h", long_options, NULL)) == 'j') {
        *json = 1;
    }
    if (c == 'h') {
        fputs(command_help, stdout);
        return EXIT_GOOD;
    }
    return c == '?' ? EXIT_USAGE : -1;
}

void command_print_message(void *user, enum tact_message_level level, const char *text)
{
    static const char *const names[] = {"", "warning: ", "error: "};
    const int *quiet = user;
    if (level == TACT_MESSAGE_INFO && quiet && *quiet) {
        return;
    }
    char printable_line[1024]; /* the buffer is local, as messages come from several threads */
    live_clear_status_line();
    fprintf(stderr, "tact: %s%s\n", names[level],
            text_replace_control_characters(text, printable_line, sizeof printable_line));
}

/* Returns the exit code, which is a failure where stdout could not be written (a full disk, a
 * closed pipe). */
static int flush_stdout_or_fail(int code)
{
    errno = 0;
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "tact: cannot write to the standard output: %s\n",
                strerror(errno ? errno : EIO));
        return code ? code : EXIT_BAD;
    }
    return code;
}

/* A closed reader or a limit of file sizes makes a write fail, which is reported, instead of
 * killing the process. A closed standard stream is opened again, as otherwise the next opened file
 * would get its number, and the output with it. */
static void prepare_standard_streams(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) {
            _exit(EXIT_BAD);
        }
    }
}

int main(int argc, char **argv)
{
    prepare_standard_streams();
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
        print_command_list(stdout);
        return flush_stdout_or_fail(EXIT_GOOD);
    }
    if (!strcmp(name, "--version")) {
        puts("tact " TACT_VERSION);
        return flush_stdout_or_fail(EXIT_GOOD);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!strcmp(name, commands[i].name)) {
            char program[32];
            snprintf(program, sizeof program, "tact %s", name);
            argv[1] = program;
            return flush_stdout_or_fail(commands[i].run(argc - 1, argv + 1));
        }
    }
    if (!*name) {
        print_command_list(stderr);
        return EXIT_USAGE;
    }
    return command_print_usage_error("tact", "there is no subcommand \"%s\"", name);
}
