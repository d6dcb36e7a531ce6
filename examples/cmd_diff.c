/* tact diff: the first difference of two sessions, and its size. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "difference.h"
#include "rt/log/log_reader.h"

#define EXIT_DAMAGED_LOG 3

static const char help[] =
    "usage: tact diff A B [OPTION]...\n\n"
    "Compares two logs tick by tick and bit by bit: the first tick, field and element that "
    "differ,\n"
    "and for every field how many values differ, by how much at most, and where. Fields are "
    "matched\n"
    "by name; stamps and measured times (timing, device stamps) are left out.\n\n"
    "  --json   one JSON object on stdout\n"
    "  --help   this text\n\n"
    "exit codes:\n"
    "  0  the ticks that both have are the same, and both have the same ticks and fields\n"
    "  1  they differ\n"
    "  2  bad usage, or a file that is no log of tact or cannot be read\n"
    "  3  a log is damaged or cut; what is left of both is the same\n\n"
    "example:\n"
    "  tact diff before.mcap after.mcap\n";

struct compared_logs {
    struct tact_log *log[2];
    struct tact_record *record[2];
};

/* Steps both logs to the next tick that both have; counts those that only one has. */
static int step_to_next_common_tick(struct compared_logs *s, struct log_difference *d)
{
    int rc[2] = {tact_log_next(s->log[0], s->record[0]), tact_log_next(s->log[1], s->record[1])};
    while (rc[0] > 0 && rc[1] > 0 && s->record[0]->tick != s->record[1]->tick) {
        int earlier_log_index = s->record[1]->tick < s->record[0]->tick;
        d->unmatched_tick_counts[earlier_log_index]++;
        rc[earlier_log_index] =
            tact_log_next(s->log[earlier_log_index], s->record[earlier_log_index]);
    }
    for (int i = 0; i < 2 && rc[0] >= 0 && rc[1] >= 0; i++) {
        while (rc[i] > 0 && rc[!i] == 0) {
            d->unmatched_tick_counts[i]++;
            rc[i] = tact_log_next(s->log[i], s->record[i]);
        }
    }
    return rc[0] < 0 ? rc[0] : (rc[1] < 0 ? rc[1] : rc[0] && rc[1]);
}

static int compare_two_logs(char **log_paths, struct compared_logs *s, struct log_difference *d,
                            struct tact_error *err)
{
    for (int i = 0; i < 2; i++) {
        int rc = tact_log_open(log_paths[i], &s->log[i], err);
        if (rc) {
            return rc;
        }
        s->record[i] = malloc(tact_layout_bytes(tact_log_layout(s->log[i])));
    }
    int rc = s->record[0] && s->record[1]
                 ? difference_create(tact_log_layout(s->log[0]), tact_log_layout(s->log[1]), d)
                 : -ENOMEM;
    rc = rc ? rc : 1;
    while (rc > 0 && (rc = step_to_next_common_tick(s, d)) > 0) {
        difference_compare_records(d, s->record[0], s->record[1]);
    }
    return rc ? tact_error_set(err, rc, "%s", strerror(-rc)) : 0;
}

int cmd_diff(int argc, char **argv)
{
    int json = 0, end = command_parse_only_json(argc, argv, help, &json);
    if (end >= 0) {
        return end;
    }
    if (argc - optind != 2) {
        return command_print_usage_error(argv[0], "two logs are expected, not %d", argc - optind);
    }
    struct compared_logs s = {{NULL, NULL}, {NULL, NULL}};
    struct log_difference d = {0};
    struct tact_error err = {.line = 0};
    int code;
    if (compare_two_logs(argv + optind, &s, &d, &err)) {
        code = command_print_error(&err);
    } else {
        int whole = tact_log_state(s.log[0])->complete && tact_log_state(s.log[1])->complete;
        int are_logs_same = !d.differing_value_count && !d.unmatched_field_count &&
                            !d.unmatched_tick_counts[0] && !d.unmatched_tick_counts[1];
        int differ_only_by_truncation =
            !whole && !d.differing_value_count && !d.unmatched_field_count;
        code = are_logs_same && whole ? EXIT_GOOD
                                      : (differ_only_by_truncation ? EXIT_DAMAGED_LOG : EXIT_BAD);
        if (json && difference_print_json(&d)) {
            code = EXIT_BAD;
        } else if (!json) {
            difference_print_table(&d, "A", "B");
        }
    }
    for (int i = 0; i < 2; i++) {
        free(s.record[i]);
        if (s.log[i]) {
            tact_log_close(s.log[i]);
        }
    }
    difference_release_fields(&d);
    return code;
}
