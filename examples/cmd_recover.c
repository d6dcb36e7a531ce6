/* tact recover: the log of a session that was killed, finished from what its recorder left. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "rt/log/log_reader.h"
#include "rt/log/recover.h"
#include "text.h"

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
        printf("%s: whole already, %llu ticks\n", text_shown(path), (ull)r->ticks);
        return;
    }
    printf("%s: %llu ticks and %llu events; %llu and %llu of them recovered from memory\n",
           text_shown(path), (ull)r->ticks, (ull)r->events, (ull)r->ticks_added,
           (ull)r->events_added);
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
    return text_print_json(all);
}

/* Adds up what was done to the files of a session. */
static void add(struct tact_recover_report *all, const struct tact_recover_report *one)
{
    all->was_complete = all->was_complete && one->was_complete;
    all->rings = one->rings; /* only the last file's end can be missing: see answer() */
    all->ticks += one->ticks;
    all->ticks_added += one->ticks_added;
    all->ticks_lost += one->ticks_lost;
    all->events += one->events;
    all->events_added += one->events_added;
    all->events_lost += one->events_lost;
    all->bytes_cut += one->bytes_cut;
    all->counters_damaged = all->counters_damaged || one->counters_damaged;
}

/* Whether a file is the part of that number of a session; an empty name takes the file's. */
static int is_part(const char *path, unsigned number, char *session, size_t size)
{
    struct tact_error unused = {.line = 0};
    struct tact_log *log;
    if (tact_log_open(path, &log, &unused)) {
        return 0;
    }
    const char *name = tact_log_fact(log, "session"), *part = tact_log_fact(log, "part");
    int same =
        name && part && strtoul(part, NULL, 10) == number && (!*session || !strcmp(name, session));
    if (same) {
        snprintf(session, size, "%s", name);
    }
    tact_log_close(log);
    return same;
}

/* A recorder removes the rings of a file only once that is finished, so that each file of a session
 * that was split is recovered by itself. */
static int answer(const char *path, int json)
{
    struct tact_error err = {.line = 0};
    struct tact_recover_report all, one;
    char session[64] = "";
    if (tact_log_recover(path, NULL, &all, &err)) {
        return command_error(&err);
    }
    int more = is_part(path, 1, session, sizeof session);
    for (unsigned k = 2; more; k++) {
        char *next = tact_log_part_path(path, k);
        more = next && !access(next, F_OK);
        int rc = more ? tact_log_recover(next, NULL, &one, &err) : 0;
        if (rc == -ENODATA && !unlink(next)) { /* made in time, and never needed */
            fprintf(stderr, "tact: %s: removed: it was begun, and held no tick\n",
                    text_shown(next));
            more = rc = 0;
        }
        if (rc) {
            free(next);
            return command_error(&err);
        }
        more = more && is_part(next, k, session, sizeof session);
        if (more) {
            add(&all, &one);
        }
        free(next);
    }
    if (json && print_json(&all)) {
        return EXIT_BAD;
    }
    if (!json) {
        print_text(path, &all);
    }
    return is_whole(&all) ? EXIT_GOOD : EXIT_LOST;
}

int cmd_recover(int argc, char **argv)
{
    int json = 0, end = command_takes_json(argc, argv, help, &json);
    if (end >= 0) {
        return end;
    }
    if (argc - optind != 1) {
        return command_usage(argv[0], "one log is expected, not %d", argc - optind);
    }
    return answer(argv[optind], json);
}
