/* tact replay: the session of a log run again, every output compared to the last bit. */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include "command.h"
#include "rt/session/replay.h"

#define EXIT_DAMAGED 3

typedef unsigned long long ull;

static const char help[] =
    "usage: tact replay FILE [OPTION]...\n\n"
    "Runs the session of a log again, from the log alone: the recorded inputs go through the same\n"
    "loop, and every output is compared to the log's, to the last bit.\n\n"
    "  --verify   compare; what replay always does, for scripts that say what they mean\n"
    "  --json     one JSON object on stdout\n"
    "  --quiet    no messages but errors\n"
    "  --help     this text\n\n"
    "exit codes:\n"
    "  0  the log is whole and every value is the same\n"
    "  1  values differ; the first one is named\n"
    "  2  bad usage, or a file that is no log of tact or cannot be read\n"
    "  3  the log is damaged or cut: what is left of it was replayed, and is the same\n\n"
    "example:\n"
    "  tact run examples/scenes/ruler.yaml --record ruler.mcap\n"
    "  tact replay ruler.mcap --verify\n";

static void print_table(const char *path, const struct tact_replay_report *r)
{
    struct tact_histogram_summary compute = tact_histogram_summarise(&r->compute);
    printf("%s: %llu ticks replayed, %llu values compared, %llu differing\n", path, (ull)r->ticks,
           (ull)r->values, (ull)r->differing);
    if (r->differing) {
        printf("  first at tick %llu, %s[%u]: %.17g in the log, %.17g now\n", (ull)r->first_tick,
               r->first_field, r->first_element, r->logged, r->replayed);
    }
    if (r->differing && r->mismatch[0]) {
        printf("  recorded with another %s\n", r->mismatch);
    }
    if (!r->complete) {
        printf("  the log is not whole: %s; %llu bytes lost\n", r->damage, (ull)r->bytes_lost);
    }
    if (r->resyncs) {
        printf("  %llu gaps, after which the state was taken from the log\n", (ull)r->resyncs);
    }
    printf("  compute p50 %.1f us, p99 %.1f us\n", (double)compute.p50 * 1e-3,
           (double)compute.p99 * 1e-3);
}

static int print_json(const struct tact_replay_report *r)
{
    json_t *first = json_null();
    if (r->differing) {
        /* Values that are not finite have no form in JSON: as text, all have. */
        first = json_pack("{s:I, s:s, s:I, s:o, s:o}", "tick", (json_int_t)r->first_tick, "field",
                          r->first_field, "element", (json_int_t)r->first_element, "logged",
                          json_sprintf("%.17g", r->logged), "replayed",
                          json_sprintf("%.17g", r->replayed));
    }
    json_t *all = json_pack(
        "{s:I, s:I, s:I, s:o, s:I, s:b, s:I, s:s, s:s, s:{s:f, s:f}}", "ticks",
        (json_int_t)r->ticks, "values", (json_int_t)r->values, "differing",
        (json_int_t)r->differing, "first", first, "resyncs", (json_int_t)r->resyncs, "complete",
        r->complete, "bytes_lost", (json_int_t)r->bytes_lost, "damage", r->damage, "mismatch",
        r->mismatch, "compute_us", "p50", (double)tact_histogram_quantile(&r->compute, 0.5) * 1e-3,
        "p99", (double)tact_histogram_quantile(&r->compute, 0.99) * 1e-3);
    int rc = all ? json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : -1;
    json_decref(all);
    puts("");
    return rc;
}

int cmd_replay(int argc, char **argv)
{
    static const struct option longs[] = {{"verify", no_argument, NULL, 'v'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int c, json = 0, quiet = 0;
    while ((c = getopt_long(argc, argv, "hq", longs, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        if (c == '?') {
            return EXIT_USAGE;
        }
        json |= c == 'j';
        quiet |= c == 'q';
    }
    if (argc - optind != 1) {
        return command_usage(argv[0], "one log is expected, not %d", argc - optind);
    }
    struct tact_error err = {.line = 0};
    struct tact_messages messages = {command_message, &quiet};
    struct tact_replay_report *report = malloc(sizeof *report);
    if (!report) {
        fprintf(stderr, "%s: no memory\n", argv[0]);
        return EXIT_BAD;
    }
    int code = EXIT_USAGE;
    if (tact_replay_run(argv[optind], messages, report, &err)) {
        command_error(&err);
    } else {
        code = report->differing ? EXIT_BAD : (report->complete ? EXIT_GOOD : EXIT_DAMAGED);
        if (json) {
            code = print_json(report) ? EXIT_BAD : code;
        } else {
            print_table(argv[optind], report);
        }
    }
    free(report);
    return code;
}
