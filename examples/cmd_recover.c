/* tact recover: the log of a session that was killed, finished from what its recorder left. */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include "command.h"
#include "rt/log/recover.h"

#define EXIT_LOST 3

typedef unsigned long long ull;

static const char help[] =
    "usage: tact recover FILE [OPTION]...\n\n"
    "Finishes the log of a session that was killed: the ticks that are not yet in the file are\n"
    "taken from the memory in which its recorder keeps them (/dev/shm), and the index is written.\n"
    "Everything is checked before the file is changed. A log that is whole is left as it is.\n\n"
    "  --json     one JSON object on stdout\n"
    "  --help     this text\n\n"
    "exit codes:\n"
    "  0  the log is whole: every tick that was completed before the kill is in it\n"
    "  1  the result cannot be printed\n"
    "  2  bad usage, or the file is no log of tact, is being recorded, or is damaged otherwise\n"
    "  3  the log was finished, but ticks are lost, or nothing was left to take them from\n\n"
    "example:\n"
    "  tact run examples/scenes/ruler.yaml --record ruler.mcap   # and kill -9 it\n"
    "  tact recover ruler.mcap\n"
    "  tact replay ruler.mcap --verify\n";

/* Without the rings nobody knows what the last moments held. */
static int is_whole(const struct tact_recover_report *r)
{
    return r->was_complete ||
           (r->rings && !r->ticks_lost && !r->events_lost && !r->counters_damaged);
}

static void print_text(const char *path, const struct tact_recover_report *r)
{
    if (r->was_complete && !r->ticks_added) {
        printf("%s: whole already, %llu ticks\n", path, (ull)r->ticks);
        return;
    }
    printf("%s: %llu ticks and %llu events; %llu and %llu of them recovered from memory\n", path,
           (ull)r->ticks, (ull)r->events, (ull)r->ticks_added, (ull)r->events_added);
    if (r->bytes_cut) {
        printf("  %llu bytes of an unfinished record cut\n", (ull)r->bytes_cut);
    }
    if (!r->rings) {
        printf("  its recorder left nothing in memory: the last moments may be missing\n");
    }
    if (r->ticks_lost || r->events_lost || r->counters_damaged) {
        printf("  memory is damaged: %llu ticks and %llu events lost%s\n", (ull)r->ticks_lost,
               (ull)r->events_lost, r->counters_damaged ? ", or more" : "");
    }
}

static int print_json(const struct tact_recover_report *r)
{
    json_t *all = json_pack(
        "{s:b, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "whole", is_whole(r), "was_complete",
        r->was_complete, "from_memory", r->rings, "ticks", (json_int_t)r->ticks, "ticks_added",
        (json_int_t)r->ticks_added, "ticks_lost", (json_int_t)r->ticks_lost, "events",
        (json_int_t)r->events, "events_added", (json_int_t)r->events_added, "events_lost",
        (json_int_t)r->events_lost, "bytes_cut", (json_int_t)r->bytes_cut);
    int rc = all ? json_dumpf(all, stdout, JSON_INDENT(1)) : -1;
    json_decref(all);
    puts("");
    return rc;
}

int cmd_recover(int argc, char **argv)
{
    static const struct option longs[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    int c, json = 0;
    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        if (c == '?') {
            return EXIT_USAGE;
        }
        json |= c == 'j';
    }
    if (argc - optind != 1) {
        return command_usage(argv[0], "one log is expected, not %d", argc - optind);
    }
    struct tact_error err = {.line = 0};
    struct tact_recover_report report;
    if (tact_log_recover(argv[optind], NULL, &report, &err)) {
        return command_error(&err);
    }
    int rc = 0;
    if (json) {
        rc = print_json(&report);
    } else {
        print_text(argv[optind], &report);
    }
    return rc ? EXIT_BAD : (is_whole(&report) ? EXIT_GOOD : EXIT_LOST);
}
