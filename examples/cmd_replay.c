/* tact replay: runs the session of a log again and compares every output bit for bit. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "contact/number.h"
#include "devices/registry.h"
#include "difference.h"
#include "kernels/source.h"
#include "range.h"
#include "rt/session/replay.h"
#include "rt/session/report.h"
#include "text.h"
#include "viewer/replayed.h"
#include "viewer/server.h"
#include "words.h"

#define EXIT_DAMAGED_LOG 3

typedef unsigned long long ull;

static const char help[] =
    "usage: tact replay FILE [OPTION]...\n\n"
    "Runs the session of a log again, from the log alone: the recorded inputs go through the same\n"
    "loop, and every output is compared to the log's, bit for bit.\n\n"
    "  --verify         compare; what replay always does, for scripts that say what they "
    "mean\n" RANGE_OPTIONS_HELP
    "  --recompute HOW  instead of what the log says, moments from host or opencl, or the local\n"
    "                   solver cone or bouchard, and report how far every field goes its own way;\n"
    "                   may be given once for each\n"
    "  --each           every tick begins in the log's state, so that each shows what it alone "
    "does\n"
    "  --view[=PORT]    shows it in a browser, at the pace of the page: pause, step, speed and a "
    "time\n"
    "                   line; the report follows once it is ended by Ctrl-C. A tick that the page\n"
    "                   goes to begins in the log's state. PORT: default: the first free one from "
    "8765\n"
    "  --no-browser     with --view: opens none\n"
    "  --allow-origin URL  with --view: a page of this origin may watch as well, by\n"
    "                   foxglove.sdk.v1: --allow-origin https://app.foxglove.dev\n"
    "  --realtime       at the pace it was recorded at, tick by tick, until the end or a signal\n"
    "  --onto DEVICE    the recorded outputs of this device of the scene go to the device itself, "
    "at\n"
    "                   that pace, through a safety chain that ramps in and ends at rest\n"
    "  --scene FILE     with --onto, needed: the scene of this place, which says how the device "
    "is\n"
    "                   opened, its deadman, without which nothing goes out, and its limits, "
    "rates\n"
    "                   and filters; what the log says of these is not used\n"
    "  --json           one JSON object on stdout, with why each pair slipped\n"
    "  --quiet          no messages but errors\n"
    "  --help           this text\n\n"
    "exit codes:\n"
    "  0  the log is whole and every value is the same\n"
    "  1  values differ; the first one is named\n"
    "  2  bad usage, or a file that is no log of tact or cannot be read\n"
    "  3  the log is damaged or cut: what is left of it was replayed, and is the same\n\n"
    "example:\n"
    "  tact run examples/scenes/ruler.yaml --record ruler.mcap\n"
    "  tact replay ruler.mcap --verify\n"
    "  tact replay ruler.mcap --recompute host --from 0.5s --to 2s\n"
    "  tact replay wheel.mcap --onto wheel --scene examples/scenes/wheel.yaml\n";

static void print_replay_table(const char *path, const struct tact_replay_report *r)
{
    struct tact_histogram_summary computation_latency = tact_histogram_summarise(&r->compute);
    printf("%s: %llu ticks replayed, %llu values compared, %llu differing\n",
           text_make_printable(path), (ull)r->ticks, (ull)r->values, (ull)r->differing);
    if (r->differing) {
        printf("  the first difference at tick %llu, %s[%u]: %.17g in the log, %.17g now\n",
               (ull)r->first_tick, r->first_field, r->first_element, r->logged, r->replayed);
    }
    if (r->differing && r->mismatch[0]) {
        printf("  recorded with another %s\n", text_make_printable(r->mismatch));
    }
    if (!r->complete) {
        printf("  the log is incomplete: %s; %llu bytes lost\n", text_make_printable(r->damage),
               (ull)r->bytes_lost);
    }
    if (r->resyncs) {
        printf("  %llu gaps of lost ticks, after each of which the state was read from the log\n",
               (ull)r->resyncs);
    }
    printf("  compute p50 %.1f us, p99 %.1f us\n", (double)computation_latency.p50 * 1e-3,
           (double)computation_latency.p99 * 1e-3);
    if (r->playback_ticks) {
        printf("  onto the device: %llu of %llu ticks with the deadman held, zero in the others; "
               "%llu values limited\n",
               (ull)r->playback_armed, (ull)r->playback_ticks, (ull)r->playback_limited);
    }
    printf(
        "  took %.3f s, checking and reading the log included; the session computed for %.3f s\n",
        (double)r->took_ns * 1e-9, (double)r->session_ns * 1e-9);
}

static int print_replay_json(const struct tact_replay_report *r, const char *slip_reasons_json)
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
        "{s:I, s:I, s:I, s:o, s:I, s:b, s:I, s:o, s:i, s:o, s:{s:f, s:f}, s:f, s:f}", "ticks",
        (json_int_t)r->ticks, "values", (json_int_t)r->values, "differing",
        (json_int_t)r->differing, "first", first, "resyncs", (json_int_t)r->resyncs, "complete",
        r->complete, "bytes_lost", (json_int_t)r->bytes_lost, "damage", text_json(r->damage),
        "results_version", r->results_version, "mismatch", text_json(r->mismatch), "compute_us",
        "p50", (double)tact_histogram_quantile(&r->compute, 0.5) * 1e-3, "p99",
        (double)tact_histogram_quantile(&r->compute, 0.99) * 1e-3, "took_s",
        (double)r->took_ns * 1e-9, "session_s", (double)r->session_ns * 1e-9);
    if (all && slip_reasons_json) {
        json_object_set_new(all, "pairs", json_loads(slip_reasons_json, 0, NULL));
    }
    return text_print_json(all);
}

struct replay_command {
    const char *name;
    struct tact_replay_options options;
    struct range range;
    int json, quiet, recompute;
    const char *scene;                    /* scene of --onto */
    struct log_difference log_difference; /* difference of the recomputed part */
    char *slip_report_json;               /* why the pairs slipped, JSON */
    int view;
    struct replayed replay_view;
};

static void store_slips_of_replayed_pairs(void *user, struct tact_session *session)
{
    struct replay_command *r = user;
    r->slip_report_json = tact_session_slips_json(session);
}

static int choose_next_replay_tick(void *user, struct tact_scene_log *view,
                                   const struct tact_log *log, uint64_t *next)
{
    return replay_view_choose_tick(&((struct replay_command *)user)->replay_view, view, log, next);
}

static void add_replayed_tick(void *user, const struct tact_layout *layout,
                              const struct tact_record *logged_record,
                              const struct tact_record *replayed_record)
{
    struct replay_command *r = user;
    struct log_difference *d = &r->log_difference;
    if (r->recompute && (d->fields || !difference_create(layout, layout, d))) {
        difference_compare_records(d, logged_record, replayed_record);
    }
    if (r->view) {
        replay_view_add_tick(&r->replay_view, logged_record, replayed_record);
    }
}

static int set_recompute_option(struct replay_command *r, const char *how)
{
    r->recompute = 1;
    r->options.source = tact_opencl_source_factory;
    if (!strcmp(how, "host")) {
        r->options.moments = TACT_REPLAY_HOST;
    } else if (!strcmp(how, "opencl")) {
        r->options.moments = TACT_REPLAY_SOURCE;
    } else if (!strcmp(how, "cone") || !strcmp(how, "bouchard")) {
        r->options.local = how;
    } else {
        return command_print_usage_error(
            r->name, "--recompute %s: host, opencl, cone or bouchard is expected", how);
    }
    return 0;
}

static int set_replay_viewer_port(struct replay_command *r, const char *port)
{
    r->view = 1;
    return port && parse_port_number(port, &r->replay_view.port)
               ? command_print_usage_error(r->name, "--view=%s: a port from 1 to 65535 is expected",
                                           port)
               : 0;
}

static int replay_log(struct replay_command *r, const char *path)
{
    struct tact_error err = {.line = 0};
    struct tact_replay_report *report = malloc(sizeof *report);
    int code = EXIT_USAGE;
    if (!report) {
        fprintf(stderr, "%s: no memory\n", r->name);
        return EXIT_BAD;
    }
    struct tact_scene *scene = NULL;
    int rc = r->scene ? tact_scene_load(r->scene, &scene, &err) : 0;
    r->options.scene = scene;
    rc = rc ? rc : tact_replay_run_with(path, &r->options, report, &err);
    if (r->replay_view.err.text[0]) {
        rc = -EIO;
        err = r->replay_view.err;
    }
    replay_view_close(&r->replay_view);
    tact_scene_free(scene);
    r->options.scene = NULL;
    if (rc) {
        command_print_error(&err);
    } else {
        code = report->differing ? EXIT_BAD : (report->complete ? EXIT_GOOD : EXIT_DAMAGED_LOG);
        int failed = 0;
        if (r->json) {
            failed = r->recompute ? difference_print_json(&r->log_difference)
                                  : print_replay_json(report, r->slip_report_json);
        } else {
            print_replay_table(path, report);
            if (r->recompute) {
                puts("");
                difference_print_table(&r->log_difference, "the log", "the replay");
            }
        }
        code = failed ? EXIT_BAD : code;
    }
    free(report);
    return code;
}

int cmd_replay(int argc, char **argv)
{
    static const struct option long_options[] = {{"verify", no_argument, NULL, 'v'},
                                                 {"from", required_argument, NULL, 'f'},
                                                 {"to", required_argument, NULL, 't'},
                                                 {"recompute", required_argument, NULL, 'r'},
                                                 {"each", no_argument, NULL, 'e'},
                                                 {"realtime", no_argument, NULL, 'R'},
                                                 {"onto", required_argument, NULL, 'o'},
                                                 {"scene", required_argument, NULL, 's'},
                                                 {"view", optional_argument, NULL, 'V'},
                                                 {"no-browser", no_argument, NULL, 'B'},
                                                 {"allow-origin", required_argument, NULL, 'O'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"quiet", no_argument, NULL, 'q'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    struct replay_command r = {
        .name = argv[0],
        .options = tact_replay_options_default(),
        .replay_view = {.must_open_browser = 1, .stop = command_stop_flag()}};
    int c, code = 0;
    while (!code && (c = getopt_long(argc, argv, "hq", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        code = c == '?' ? EXIT_USAGE : code;
        code = c == 'f' || c == 't' ? range_parse_end(&r.range, argv[0], c == 't', optarg) : code;
        code = c == 'r' ? set_recompute_option(&r, optarg) : code;
        r.options.playback_device = c == 'o' ? optarg : r.options.playback_device;
        r.scene = c == 's' ? optarg : r.scene;
        code = c == 'V' ? set_replay_viewer_port(&r, optarg) : code;
        code =
            c == 'O' ? parse_allowed_origin(r.name, optarg, &r.replay_view.allowed_origin) : code;
        r.replay_view.must_open_browser &= c != 'B';
        r.options.each |= c == 'e';
        r.options.realtime |= c == 'R';
        r.json |= c == 'j';
        r.quiet |= c == 'q';
    }
    if (!code && argc - optind != 1) {
        code = command_print_usage_error(argv[0], "one log is expected, not %d", argc - optind);
    }
    if (!code && !r.options.playback_device != !r.scene) {
        code = command_print_usage_error(
            argv[0], r.scene ? "--scene is only for a replay with --onto DEVICE"
                             : "--onto needs --scene FILE: a local scene with the "
                               "deadman and the limits of the outputs");
    }
    if (!code && r.view && (r.options.playback_device || r.options.realtime)) {
        code = command_print_usage_error(
            argv[0], "--view cannot be combined with %s: the page sets the pace of the replay",
            r.options.playback_device ? "--onto" : "--realtime");
    }
    code = code ? code : range_check_not_empty(&r.range, argv[0]);
    r.options.from = r.range.at[0];
    r.options.to = r.range.at[1];
    r.options.in_seconds = r.range.in_seconds;
    r.options.ended = store_slips_of_replayed_pairs;
    r.options.user = &r;
    r.options.types = tact_devices_builtin(&r.options.type_count);
    r.options.compared = r.view || r.recompute ? add_replayed_tick : NULL;
    r.options.turn = r.view ? choose_next_replay_tick : NULL;
    if (r.options.playback_device || r.options.realtime || r.view) {
        r.options.stop = command_stop_flag();
        command_install_stop_signals();
    }
    r.options.messages = (struct tact_messages){command_print_message, &r.quiet};
    code = code ? code : replay_log(&r, argv[optind]);
    difference_release_fields(&r.log_difference);
    free(r.slip_report_json);
    return code;
}
