/* Functions common to the subcommands of tact. Data is written to stdout, messages to stderr. */
#ifndef TACT_EXAMPLES_COMMAND_H
#define TACT_EXAMPLES_COMMAND_H

#include "contact/error.h"
#include "rt/message.h"
#include "rt/session/session.h"

/* Exit codes with the same meaning in every subcommand; the help of each lists its own. */
enum { EXIT_GOOD = 0, EXIT_BAD = 1, EXIT_USAGE = 2 };

/* One subcommand: argv[0] is "tact NAME", for messages. Returns the exit code. */
int cmd_run(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_picture(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_moments(int argc, char **argv);
int cmd_distance(int argc, char **argv);
int cmd_field(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_devices(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_keygen(int argc, char **argv);
int cmd_link(int argc, char **argv);
int cmd_teleop(int argc, char **argv);

/* tact.c: one line on stderr, "tact: file:line:column: key: text". Returns EXIT_USAGE. */
int command_print_error(const struct tact_error *err);
/* Prints one line about an error in the arguments, with a reference to the help. Returns
 * EXIT_USAGE. */
int command_print_usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Parses the options of a subcommand that has only --json and --help. Returns the exit code if the
 * command ends here, or -1. */
int command_parse_only_json(int argc, char **argv, const char *help, int *json);
/* Messages of the library to stderr, without those of level INFO where *(int *)user is not 0. */
void command_print_message(void *user, enum tact_message_level level, const char *text);

/* signals.c: the stop flag that a session reads before every tick. */
struct tact_stop *command_stop_flag(void);
/* The first SIGINT, SIGTERM or SIGHUP requests a clean end, which zeroes the forces; a second one
 * of its kind kills the process. A closed output pipe does not. */
void command_install_stop_signals(void);

/* live.c: the status line of a running session. */
struct live_status {
    double period;                        /* period of the loop [s] */
    int is_real_time;                     /* 1: real time; 0: free-wheeling */
    uint64_t tick;                        /* tick of the previous line */
    int64_t previous_status_line_time_ns; /* time of the previous line [ns] */
};
/* A watch callback of a session; user is a struct live_status. */
void live_print_status_line(void *user, const struct tact_session_status *status);
/* Clears the status line, so that other text can be printed. */
void live_clear_status_line(void);

/* table.c: the summary of a run as text. start: poses of the bodies at the start. */
void table_print_session(struct tact_session *session, const struct tact_session_report *report,
                         const struct tact_scene *scene, const struct tact_pose *start,
                         const struct tact_session_options *options);

#endif
