/* tact info: the content of a log, and how it ended. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "command.h"
#include "contact_state.h"
#include "info.h"
#include "rt/safety.h"
#include "text.h"

typedef unsigned long long ull;

static const char help[] =
    "usage: tact info FILE [OPTION]...\n"
    "       tact info --hash[=results] FILE...\n\n"
    "Lists what is in a log: how long it is, how it ended, what was lost, faults and events, "
    "timing,\n"
    "pairs, holds, stops, bodies, devices, topics with their number of messages, and where it was "
    "made.\n\n"
    "  --json          one JSON object on stdout\n"
    "  --hash          one line a log: a hash of what is the same whenever and however fast the\n"
    "                  session is run: every value of every tick but stamps and measured times\n"
    "  --hash=results  a hash of poses, rates, values of devices and contacts that touch, which "
    "is\n"
    "                  the same whatever the layout of the log (rt/log/LOG.md)\n"
    "  --help          this text\n\n"
    "exit codes:\n"
    "  0  the log is whole: closed by its recorder, every byte checked\n"
    "  2  bad usage, or a file that is no log of tact or cannot be read\n"
    "  3  the log is damaged, cut or still being recorded; what can be read of it is described\n\n"
    "example:\n"
    "  tact run examples/scenes/ruler.yaml --record ruler.mcap\n"
    "  tact info ruler.mcap\n";

static const char *get_log_fact_or_unknown(const struct tact_log *log, const char *key)
{
    const char *value = tact_log_fact(log, key);
    return value ? value : "unknown";
}

static void print_how_log_ended(const struct info *i)
{
    const struct tact_log_state *st = tact_log_state(i->log);
    const int64_t start_wall_ns = info_start_wall_clock_ns(i);
    const time_t wall = (time_t)(start_wall_ns / 1000000000);
    struct tm tm;
    char start_time_text[64] = "";
    if (start_wall_ns >= 0 && localtime_r(&wall, &tm)) {
        strftime(start_time_text, sizeof start_time_text, ", recorded %Y-%m-%d %H:%M:%S", &tm);
    }
    printf("%s: %.3f s%s, %s\n\n", text_make_printable(i->path), info_recorded_duration(i),
           start_time_text, text_make_printable(get_log_fact_or_unknown(i->log, "realtime")));
    if (st->complete) {
        puts("  end        complete: closed by its recorder, every byte checked");
    } else if (st->recording) {
        printf("  end        not yet: %s\n", text_make_printable(st->why));
    } else {
        printf("  end        not complete: %s\n             at byte %llu of %llu; %llu bytes "
               "lost\n",
               text_make_printable(st->why), (ull)st->damage_at, (ull)st->file_bytes,
               (ull)st->bytes_lost);
    }
    printf("  ticks      %llu (%llu to %llu), %llu missing in %llu gaps\n", (ull)st->ticks,
           (ull)st->first_tick, (ull)st->last_tick, (ull)st->missing, (ull)i->log_survey.gaps);
    if (i->scene_log.session && st->missing) {
        printf("             %llu skipped by the loop, which was late; %llu lost, for which the "
               "disk was "
               "too slow\n",
               (ull)i->log_survey.skipped_tick_count, (ull)i->log_survey.lost);
    }
    for (uint64_t k = 0; k < i->log_survey.gaps && k < SURVEY_MAX_GAPS; k++) {
        printf("             %llu after tick %llu\n", (ull)i->log_survey.gap[k].missing,
               (ull)i->log_survey.gap[k].tick_before_gap);
    }
    printf("  size       %.2f MB in %u file(s)", (double)st->file_bytes * 1e-6,
           tact_log_parts(i->log));
    if (st->ticks) {
        printf(", %.0f bytes a tick", (double)st->file_bytes / (double)st->ticks);
    }
    puts("");
}

static void print_latency_percentiles(const char *name, const struct tact_histogram *h)
{
    struct tact_histogram_summary s = tact_histogram_summarise(h);
    printf("  %-10s p50 %.1f us, p99 %.1f, p99.9 %.1f, max %.1f\n", name, (double)s.p50 * 1e-3,
           (double)s.p99 * 1e-3, (double)s.p999 * 1e-3, (double)s.max * 1e-3);
}

/* Prints the counts and delays of the link to another site at the end of the log. */
static void print_final_link_state(const struct info *i)
{
    for (int k = 0; k < i->scene_log.device_count; k++) {
        const struct tact_device_info *device = &i->scene_log.devices[k];
        const double *values = i->log_survey.last + i->scene_log.device_inputs[k] + 2;
        int printed_input_count = 0;
        for (int m = 0; m < device->input_count; m++) {
            if (survey_is_link_quality_input(device, m)) {
                const int is_input_dimensionless = !strcmp(device->input[m].unit, "1");
                if (!printed_input_count++) {
                    printf("  link       %s:", text_make_printable(device->name));
                }
                printf("%s %s %.6g%s%s", printed_input_count > 1 ? "," : "",
                       text_make_printable(device->input[m].name), values[m],
                       is_input_dimensionless ? "" : " ",
                       is_input_dimensionless ? "" : text_make_printable(device->input[m].unit));
            }
        }
        printf("%s", printed_input_count ? "\n" : "");
    }
}

static void print_bodies_in_hands(const struct info *i)
{
    const struct tact_scene_log *v = &i->scene_log;
    int any = 0;
    for (int k = 0; k < v->hold_count; k++) {
        const struct survey_hold *h = &i->log_survey.holds[k];
        char ratio[32] = "-";
        if (!h->touching) {
            continue;
        }
        if (!any++) {
            printf("\n  %-32s %9s %9s %9s %9s %10s %11s\n", "in the hand", "ticks", "grip [N]",
                   "load [N]", "grip/load", "slip [mm]", "turn [deg]");
        }
        if (h->ratio > 0.0) {
            snprintf(ratio, sizeof ratio, "%.3g", h->ratio);
        }
        printf("  %-32s %9llu %9.3f %9.3f %9s %10.3f %11.3f\n",
               text_hold_name(v->holds[k].body, v->holds[k].hand), (ull)h->touching, h->grip_force,
               h->load_force, ratio, h->slip * 1e3, h->turn * 180.0 / acos(-1.0));
    }
    if (any) {
        puts("  (grip and load: the largest force; grip/load: the least ratio; slip and turn: in "
             "all)");
    }
}

static void print_joint_stops(const struct info *i)
{
    const struct tact_scene_log *v = &i->scene_log;
    int any = 0;
    for (int k = 0; k < v->joint_count + v->constraint_count; k++) {
        const struct survey_joint_stop *stop = &i->log_survey.joint_stops[k];
        if (!stop->lower && !stop->upper) {
            continue;
        }
        if (!any++) {
            printf("\n  %-32s %9s %9s %20s\n", "joint at its stop", "lower", "upper",
                   "largest reaction");
        }
        printf("  %-32s %9llu %9llu", text_make_printable(survey_joint_name(v, k)),
               (ull)stop->lower, (ull)stop->upper);
        if (k < v->joint_count) {
            printf(" %16.4g %s", stop->reaction, v->joints[k].slides ? "N" : "N m");
        }
        puts("");
    }
}

static void print_port_energies(const struct info *i)
{
    const struct tact_scene_log *v = &i->scene_log;
    char why[INFO_REASON_TEXT_BYTES];
    for (int k = 0; k < v->port_count; k++) {
        const struct survey_port *port = &i->log_survey.ports[k];
        text_print_port_energy(v->ports[k].name, port->energy, port->least_energy, port->limited);
        text_print_stale_force(port->held, port->missing);
    }
    for (uint32_t k = 0; k < v->scene->outputs_count; k++) {
        if (info_reason_without_port_energy(v, k, why, sizeof why)) {
            printf("  port       %s: energy not known, as %s\n",
                   text_make_printable(v->scene->outputs[k].to), text_make_printable(why));
        }
    }
}

static void print_pair_summaries(const struct info *i)
{
    const struct tact_scene_log *v = &i->scene_log;
    char state[CONTACT_STATE_TEXT_BYTES];
    printf("\n  %-32s %-8s %6s %9s %9s %9s %9s %12s %12s\n", "pair", "model", "mu", "ticks", "slid",
           "spun", "tipped", "normal [N]", "torsion [mN m]");
    for (int k = 0; k < v->pair_count; k++) {
        const struct survey_pair *p = &i->log_survey.pairs[k];
        printf("  %-32s %-8s %6.3g %9llu %9llu %9llu %9llu %12.3f %12.3f\n",
               text_make_printable(v->pairs[k].name), v->pairs[k].model, v->pairs[k].friction,
               p->tally.touching, p->tally.at[1], p->tally.at[3], p->tally.at[2], p->normal,
               p->torsion * 1e3);
        if (p->touches_at_end) {
            printf("  %-32s at the end: %s\n", "",
                   describe_contact_state(p->limits_at_end, p->normal_force_at_end,
                                          &p->friction_margins_at_end, state));
        }
        if (!strcmp(v->pairs[k].model, "smooth") && p->tally.touching) {
            printf("  %-32s sliding in %llu ticks, rolling in %llu, rolling without spin in %llu\n",
                   "", p->tally.modes[TACT_FRICTION_SLIDING], p->tally.modes[TACT_FRICTION_ROLLING],
                   p->tally.modes[TACT_FRICTION_NO_SPIN]);
        }
        if (p->tally.at[5]) {
            printf("  %-32s resistance to rolling at its limit in %llu ticks\n", "",
                   p->tally.at[5]);
        }
        if (p->unmeasured_tick_count) {
            printf("  %-32s could not be measured in %llu ticks: its last overlap was used\n", "",
                   (ull)p->unmeasured_tick_count);
        }
    }
}

static void print_scene_info(const struct info *i)
{
    const struct tact_scene_log *v = &i->scene_log;
    print_latency_percentiles("wake", &i->log_survey.wake_latency);
    print_latency_percentiles("compute", &i->log_survey.computation_latency);
    printf("  safety     %s at the end, %d faults", survey_safety_state_name(i->log_survey.safety),
           i->log_survey.faults);
    if (i->log_survey.faults) {
        printf(", the first at tick %llu", (ull)i->log_survey.first_fault_tick);
    }
    printf("\n  contacts   at most %d\n", i->log_survey.contacts_max);
    text_print_counts("  solved by  ", i->log_survey.counts, TACT_SOLVE_COUNTS,
                      tact_solve_count_name);
    text_print_counts("  measured   ", i->log_survey.methods, TACT_MOMENTS_COUNTS,
                      tact_moments_count_name);
    print_port_energies(i);
    print_pair_summaries(i);
    print_bodies_in_hands(i);
    print_joint_stops(i);
    for (int k = 0; k < v->body_count; k++) {
        printf("%s%s", k ? ", " : "\n  bodies     ", text_make_printable(v->bodies[k].name));
    }
    for (int k = 0; k < v->joint_count; k++) {
        printf("%s%s", k ? ", " : "\n  joints     ", text_make_printable(v->joints[k].name));
    }
    for (int k = 0; k < v->device_count; k++) {
        printf("%s%s (%s)", k ? ", " : "\n  devices    ", text_make_printable(v->devices[k].name),
               text_make_printable(v->devices[k].type));
    }
    puts("");
    print_final_link_state(i);
}

static void print_info_details(const struct info *i)
{
    const struct tact_log_topic *t;
    const struct tact_log_event *e;
    const struct tact_log_fact *f;
    printf("\n  %-18s %-32s %10s\n", "topic", "type", "messages");
    for (size_t k = 0; (t = tact_log_topic(i->log, k)); k++) {
        printf("  %-18s %-32s %10llu\n", text_make_printable(t->name), text_make_printable(t->type),
               (ull)t->messages);
    }
    for (size_t k = 0; (e = tact_log_event(i->log, k)); k++) {
        printf("%s  tick %-8llu %s: %s\n", k ? "" : "\n", (ull)e->tick,
               text_make_printable(e->name), text_make_printable(e->text));
    }
    puts("");
    for (size_t k = 0; (f = tact_log_fact_at(i->log, k)); k++) {
        printf("  %-15s %s\n", text_make_printable(f->key), text_make_printable(f->value));
    }
}

/* A log whose scene needs another version of tact is described without the scene. */
static int print_log_info(struct info *i, int json)
{
    struct tact_error err = {.line = 0};
    struct tact_messages messages = {command_print_message, NULL};
    if (tact_log_open(i->path, &i->log, &err)) {
        return command_print_error(&err);
    }
    if (tact_scene_log_open(i->log, messages, &i->scene_log, &err)) {
        tact_message(messages, TACT_MESSAGE_WARNING,
                     "%s: pairs, bodies and devices of the log are not listed", err.text);
        tact_scene_log_close(&i->scene_log);
    }
    int rc = survey_log_records(i->log, &i->scene_log, &i->log_survey);
    if (rc < 0) {
        err = (struct tact_error){.line = 0};
        tact_error_at(&err, i->path, 0, 0, NULL);
        tact_error_set(&err, rc, "%s", strerror(-rc));
        return command_print_error(&err);
    }
    int code = tact_log_state(i->log)->complete ? EXIT_GOOD : EXIT_DAMAGED_LOG;
    if (json) {
        return info_print_json(i) ? EXIT_BAD : code;
    }
    print_how_log_ended(i);
    if (i->scene_log.session) {
        print_scene_info(i);
    }
    print_info_details(i);
    return code;
}

int cmd_info(int argc, char **argv)
{
    static const struct option long_options[] = {{"json", no_argument, NULL, 'j'},
                                                 {"hash", optional_argument, NULL, 'x'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    int c, json = 0, hash = 0, is_digest_of_results = 0;
    while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        if (c == '?') {
            return EXIT_USAGE;
        }
        if (c == 'x' && optarg && strcmp(optarg, "results") != 0) {
            return command_print_usage_error(argv[0],
                                             "--hash=%s: --hash or --hash=results is expected",
                                             text_make_printable(optarg));
        }
        is_digest_of_results |= c == 'x' && optarg;
        *(c == 'x' ? &hash : &json) = 1;
    }
    if (hash && argc > optind) {
        return info_print_digests(argv + optind, argc - optind, is_digest_of_results);
    }
    if (argc - optind != 1) {
        return command_print_usage_error(argv[0], "one log is expected, not %d", argc - optind);
    }
    struct info *info = calloc(1, sizeof *info);
    if (!info) {
        fprintf(stderr, "%s: no memory\n", argv[0]);
        return EXIT_BAD;
    }
    info->path = argv[optind];
    int code = print_log_info(info, json);
    survey_free(&info->log_survey);
    tact_scene_log_close(&info->scene_log);
    tact_log_close(info->log);
    free(info);
    return code;
}
