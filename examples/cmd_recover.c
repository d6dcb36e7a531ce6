/* tact recover: completes the log of a killed session from the rings of its recorder. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "log_part.h"
#include "rt/log/log_reader.h"
#include "rt/log/recover.h"
#include "text.h"

#define EXIT_TICKS_LOST 3

typedef unsigned long long ull;

static const char help[] =
    "usage: tact recover FILE [OPTION]...\n\n"
    "Finishes the log of a session that was killed: the ticks that are not yet in the file are\n"
    "taken from the memory in which its recorder keeps them (/dev/shm), and the index is written.\n"
    "Everything is checked before the file is changed. A log that is whole is left as it is.\n"
    "Damage in the middle of a killed log costs the chunks that it hits; it is covered, so that "
    "the\n"
    "rest is read, and named. A log that has its end is never changed.\n\n"
    "  --json     one JSON object on stdout\n"
    "  --help     this text\n\n"
    "exit codes:\n"
    "  0  the log is whole: every tick that was completed before the kill is in it\n"
    "  1  the result cannot be printed\n"
    "  2  bad usage, or the file is no log of tact, is being recorded, or is damaged otherwise\n"
    "  3  the log is finished, but ticks are lost, or nothing was left to take them from\n\n"
    "example:\n"
    "  tact run examples/scenes/ruler.yaml --record ruler.mcap   # and kill -9 it\n"
    "  tact recover ruler.mcap\n"
    "  tact replay ruler.mcap --verify\n";

/* Whether every completed tick is in the log. Without the recorder's rings it is unknown which were
 * the last. */
static int is_fully_recovered(const struct tact_recover_report *r)
{
    return !r->damage[0] && (r->was_complete || (r->rings && !r->ticks_lost && !r->events_lost &&
                                                 !r->counters_damaged));
}

static void print_log_damage(const struct tact_recover_report *r)
{
    if (r->damage[0]) {
        printf("  the log is damaged: %s\n", text_make_printable(r->damage));
    }
}

static void print_recovery_text(const char *path, const struct tact_recover_report *r)
{
    if (r->was_complete && !r->ticks_added) {
        printf("%s: %s already, %llu ticks\n", text_make_printable(path),
               r->damage[0] ? "finished" : "whole", (ull)r->ticks);
        print_log_damage(r);
        return;
    }
    printf("%s: %llu ticks and %llu events; %llu and %llu of them recovered from memory\n",
           text_make_printable(path), (ull)r->ticks, (ull)r->events, (ull)r->ticks_added,
           (ull)r->events_added);
    if (r->bytes_cut) {
        printf("  %llu bytes of an incomplete record were removed from the end of the log\n",
               (ull)r->bytes_cut);
    }
    if (!r->rings) {
        printf("  the log's recorder left no ticks in memory: the last ticks may be missing\n");
    }
    print_log_damage(r);
    if (r->ticks_lost || r->events_lost || r->counters_damaged) {
        printf("  the ticks in memory are damaged: %llu ticks and %llu events lost%s\n",
               (ull)r->ticks_lost, (ull)r->events_lost, r->counters_damaged ? ", or more" : "");
    }
}

static int print_recovery_json(const struct tact_recover_report *r)
{
    json_t *all = json_pack(
        "{s:b, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "whole",
        is_fully_recovered(r), "was_complete", r->was_complete, "from_memory", r->rings, "ticks",
        (json_int_t)r->ticks, "ticks_added", (json_int_t)r->ticks_added, "ticks_lost",
        (json_int_t)r->ticks_lost, "events", (json_int_t)r->events, "events_added",
        (json_int_t)r->events_added, "events_lost", (json_int_t)r->events_lost, "bytes_cut",
        (json_int_t)r->bytes_cut, "bytes_covered", (json_int_t)r->bytes_covered, "ticks_damaged",
        (json_int_t)r->ticks_damaged, "damage", text_json(r->damage));
    return text_print_json(all);
}

/* Sums the reports of a session's files. */
static void add_recovery_report_of_file(struct tact_recover_report *all,
                                        const struct tact_recover_report *one, int first)
{
    all->was_complete = (first || all->was_complete) && one->was_complete;
    all->rings = one->rings; /* only the last file can lack its end, so that its rings decide */
    all->ticks += one->ticks;
    all->ticks_added += one->ticks_added;
    all->ticks_lost += one->ticks_lost;
    all->events += one->events;
    all->events_added += one->events_added;
    all->events_lost += one->events_lost;
    all->bytes_cut += one->bytes_cut;
    all->counters_damaged = all->counters_damaged || one->counters_damaged;
    all->bytes_covered += one->bytes_covered;
    all->ticks_damaged += one->ticks_damaged;
    if (!all->damage[0]) {
        memcpy(all->damage, one->damage, sizeof all->damage);
    }
}

/* Result of recovering the files of a session. */
struct recovery_outcome {
    struct tact_recover_report report;
    int session_file_count; /* number of files of the session */
    char session[64];
    int is_continued_in_next_file; /* 1: the last of these files states that another file continues
                                  the session */
    int code;
};

/* Whether a file is the part with that number of the session; the first file names the session. */
static int is_numbered_part_of_session(struct recovery_outcome *all, const char *path,
                                       unsigned number)
{
    struct tact_error unused = {.line = 0};
    struct tact_log *log;
    all->is_continued_in_next_file = 0;
    if (tact_log_open(path, &log, &unused)) {
        return 0;
    }
    const char *name = tact_log_fact(log, "session"), *part = tact_log_fact(log, "part");
    int is_expected_log_file = name && part && strtoul(part, NULL, 10) == number &&
                               (!*all->session || !strcmp(name, all->session));
    if (is_expected_log_file) {
        snprintf(all->session, sizeof all->session, "%s", name);
        all->is_continued_in_next_file = tact_log_fact(log, "continued_in") != NULL;
    }
    tact_log_close(log);
    return is_expected_log_file;
}

/* Recovers a file; returns whether it is the part of that number, which another may follow. A
 * damaged file that has its end is not changed, and does not prevent the recovery of others. A
 * file that has the name of a later part and does not state that it is one is not touched. */
static int recover_log_part(struct recovery_outcome *all, const char *path, unsigned number)
{
    struct tact_error err = {.line = 0};
    struct tact_recover_report one;
    if (number > 1 && !is_log_part(path, all->session, number)) {
        fprintf(stderr,
                "tact: %s: not changed: the file does not state that it is file %u of this "
                "session's log\n",
                text_make_printable(path), number);
        return 0;
    }
    int rc = tact_log_recover(path, NULL, &one, &err);
    if (rc == -ENODATA && number > 1 && !unlink(path)) { /* created ahead, but not used yet */
        fprintf(stderr,
                "tact: %s: removed: the recorder had created this file, but it contained no tick\n",
                text_make_printable(path));
        return 0;
    }
    if (rc) {
        all->code = command_print_error(&err);
    }
    int part = (!rc || rc == -EBADMSG) && is_numbered_part_of_session(all, path, number);
    if (!rc && (part || number == 1)) {
        add_recovery_report_of_file(&all->report, &one, !all->session_file_count++);
    }
    return part;
}

/* A recorder removes the rings of a file only once that is finished, so that each file of a session
 * that was split is recovered by itself. */
static int recover_session_parts(const char *path, int json)
{
    struct recovery_outcome all = {.code = EXIT_GOOD};
    int more = recover_log_part(&all, path, 1);
    for (unsigned k = 2; more; k++) {
        char *next = tact_log_part_path(path, k);
        more = next && !access(next, F_OK) && recover_log_part(&all, next, k);
        free(next);
    }
    if (all.is_continued_in_next_file && !all.report.damage[0]) {
        snprintf(all.report.damage, sizeof all.report.damage,
                 "the file of the session's log that follows file %d is missing or damaged",
                 all.session_file_count);
    }
    if (all.session_file_count && json && print_recovery_json(&all.report)) {
        return EXIT_BAD;
    }
    if (all.session_file_count && !json) {
        print_recovery_text(path, &all.report);
    }
    return all.code ? all.code : is_fully_recovered(&all.report) ? EXIT_GOOD : EXIT_TICKS_LOST;
}

int cmd_recover(int argc, char **argv)
{
    int json = 0, end = command_parse_only_json(argc, argv, help, &json);
    if (end >= 0) {
        return end;
    }
    if (argc - optind != 1) {
        return command_print_usage_error(argv[0], "one log is expected, not %d", argc - optind);
    }
    return recover_session_parts(argv[optind], json);
}
