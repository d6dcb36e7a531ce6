/* The summary of a run as a table of text. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "contact_loads.h"
#include "survey.h"
#include "text.h"

typedef unsigned long long ull;

static void print_duration_rows(const char *name, const struct tact_histogram *h)
{
    struct tact_histogram_summary s = tact_histogram_summarise(h);
    if (s.count) {
        printf("  %-20s %9.1f %9.1f %9.1f %9.1f\n", name, (double)s.p50 * 1e-3,
               (double)s.p99 * 1e-3, (double)s.p999 * 1e-3, (double)s.max * 1e-3);
    }
}

static void print_timing_table(const struct tact_session_report *r, const struct tact_scene *scene,
                               int is_real_time_clock)
{
    const struct tact_loop_stats *l = &r->loop;
    printf("%s: %llu ticks of %g ms, %s%s\n",
           text_make_printable(scene->name ? scene->name : "scene"), (ull)l->ticks,
           scene->period * 1e3, is_real_time_clock ? "in real time" : "free-wheeling",
           l->stopped ? ", stopped before its end" : "");
    if (is_real_time_clock) {
        printf("  ticks that missed their deadline %llu (of these skipped %llu), that began late "
               "by over a tenth of the period %llu\n",
               (ull)l->missed, (ull)l->skipped, (ull)l->late);
    }
    printf("\n  %-20s %9s %9s %9s %9s\n", "microseconds", "p50", "p99", "p99.9", "max");
    print_duration_rows("wake latency", &l->wake_latency);
    print_duration_rows("compute", &l->compute);
}

static void print_contact_table(const struct tact_session_report *r)
{
    printf("\n  moments    %s", r->source);
    if (r->source_pairs || r->fallbacks) {
        printf(", %u (at most %u) ticks old; %llu late pairs measured by the loop itself in %llu "
               "ticks",
               r->age, r->age_max, (ull)r->fallbacks, (ull)r->fallback_ticks);
    }
    if (r->unmeasured) {
        printf(", %llu overlaps (one per pair and tick) NOT MEASURED", (ull)r->unmeasured);
    }
    printf("\n  contacts   %d at the end, at most %d\n", r->contacts, r->contacts_max);
    printf("  solver     %.1f sweeps a tick (at most %d), residual %.1e (at most %.1e)",
           r->iterations_mean, r->iterations_max, r->residual, r->residual_max);
    if (r->unconverged) {
        printf(", %llu ticks stopped at the limit of sweeps", (ull)r->unconverged);
    }
    printf("\n");
    text_print_counts("  solved by  ", r->counts, TACT_SOLVE_COUNTS, tact_solve_count_name);
    text_print_counts("  measured   ", r->methods, TACT_MOMENTS_COUNTS, tact_moments_count_name);
    printf("  safety     %s, %llu trips%s%s\n", tact_safety_state_name(r->safety), (ull)r->trips,
           r->fault.text[0] ? "; last fault: " : "", r->fault.text);
}

/* What a device computed for pressure fields, if it could. */
static void print_contact_polygons(const struct tact_session *session)
{
    struct tact_session_polygons p;
    tact_session_polygons(session, &p);
    if (p.device_frames || p.host_frames || p.has_failed) {
        printf("  polygons   %llu by %s", (ull)p.device_polygons, p.device);
        if (p.device_frames) {
            printf(" (%.0f us a frame)", 1e6 * p.device_time);
        }
        printf(", %llu by the host", (ull)p.host_polygons);
        if (p.host_frames) {
            printf(" (without the device %.0f us a frame)", 1e6 * p.host_time);
        }
        printf("%s\n", p.has_failed ? ", DRIVER FAILED" : "");
    }
}

static void print_port_table(const struct tact_session *session)
{
    for (int i = 0; i < tact_session_port_count(session); i++) {
        const struct tact_session_port port = tact_session_port(session, i);
        text_print_port_energy(port.name, port.energy, port.least_energy, port.limited);
        text_print_stale_force(port.held, port.missing);
    }
}

/* Angle of the rotation between two attitudes [deg]. */
static double rotation_angle_deg(const double *a, const double *b)
{
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3], apart = 0.0;
    for (int i = 0; i < 4; i++) {
        apart += pow(b[i] - copysign(1.0, dot) * a[i], 2);
    }
    return 4.0 * asin(fmin(1.0, 0.5 * sqrt(apart))) * 180.0 / acos(-1.0);
}

static void print_body_table(struct tact_session *session, const struct tact_pose *start)
{
    int count = tact_world_body_count(tact_session_world(session));
    if (count) {
        printf("\n  %-20s %9s %9s %9s %12s %12s\n", "bodies", "x [mm]", "y", "z", "moved [mm]",
               "turned [deg]");
    }
    for (int i = 0; i < count; i++) {
        struct tact_pose p;
        double way[3];
        tact_session_body_pose(session, i, &p);
        tact_v3_sub(way, p.position, start[i].position);
        printf("  %-20s %9.3f %9.3f %9.3f %12.3f %12.3f\n",
               text_make_printable(tact_session_body_name(session, i)),
               text_drop_sign_of_zero(p.position[0] * 1e3),
               text_drop_sign_of_zero(p.position[1] * 1e3),
               text_drop_sign_of_zero(p.position[2] * 1e3), tact_v3_norm(way) * 1e3,
               rotation_angle_deg(start[i].quat_wxyz, p.quat_wxyz));
    }
}

/* How the surfaces of a pair of model smooth move over each other; "" for other models. */
static const char *get_motion_of_smooth_pair(struct tact_world *world, int pair)
{
    const struct tact_contact *c = tact_world_contact(world, pair);
    const int mode = tact_friction_mode_from_limits(c->limits, c->spin_arm);
    const int uses_smooth_model = !strcmp(tact_world_model(world, pair)->name, "smooth");
    return uses_smooth_model && mode >= 0 ? tact_friction_mode_name(mode) : "";
}

static void print_pair_table(struct tact_session *session, double period)
{
    struct tact_world *world = tact_session_world(session);
    int any = 0, count;
    const int *near = tact_world_near(world, &count);
    for (int k = 0; k < count; k++) {
        const int i = near[k];
        const struct tact_contact *c = tact_world_contact(world, i);
        if (!c->touching) {
            continue;
        }
        if (!any++) {
            printf("\n  %-30s %12s %12s %15s\n", "touching", "normal [N]", "friction [N]",
                   "torsion [mN m]");
        }
        struct contact_loads contact_loads = compute_contact_loads(c->impulse, period);
        const char *mode = get_motion_of_smooth_pair(world, i);
        printf("  %-30s %12.3f %12.3f %15.3f%s%s\n",
               text_make_printable(tact_session_pair_name(session, i)), contact_loads.normal,
               contact_loads.friction, text_drop_sign_of_zero(contact_loads.torsion * 1e3),
               *mode ? "  " : "", mode);
    }
}

/* Bodies that a hand has touched: how they are held, and what happened to them. */
static void print_hold_table(const struct tact_session *session)
{
    int any = 0;
    for (int i = 0; i < tact_session_hold_count(session); i++) {
        const struct tact_session_hold h = tact_session_hold(session, i);
        if (!h.touches) {
            continue;
        }
        if (!any++) {
            printf("\n  %-30s %9s %9s %9s %10s %11s  %s\n", "in the hand", "grip [N]", "load [N]",
                   "grip/load", "slip [mm]", "turn [deg]", "touches, slips, releases");
        }
        char ratio[32] = "-";
        if (survey_is_hold_loaded(h.grip_force, h.load_force)) {
            snprintf(ratio, sizeof ratio, "%.3g", h.grip_force / h.load_force);
        }
        printf("  %-30s %9.3f %9.3f %9s %10.3f %11.3f  %llu, %llu, %llu\n",
               text_hold_name(h.body, h.hand), h.grip_force, h.load_force, ratio, h.slip * 1e3,
               h.turn * 180.0 / acos(-1.0), (ull)h.touches, (ull)h.slips, (ull)h.releases);
    }
}

static void print_realtime_refusals(const struct tact_realtime_report *r)
{
    const char *json_item_separator = "";
    printf("\n  real time  granted: ");
    for (int i = 0; i < r->count; i++) {
        if (r->item[i].granted) {
            printf("%s%s", json_item_separator, r->item[i].name);
            json_item_separator = ", ";
        }
    }
    printf("%s\n", *json_item_separator ? "" : "nothing");
    for (int i = 0; i < r->count; i++) {
        const struct tact_realtime_item *item = &r->item[i];
        if (item->why[0]) {
            printf("             %s: %s: %s\n", item->granted ? "limited" : "refused", item->name,
                   item->why);
            printf("               to get it: %s\n", item->fix);
        }
    }
}

void table_print_session(struct tact_session *session, const struct tact_session_report *report,
                         const struct tact_scene *scene, const struct tact_pose *start,
                         const struct tact_session_options *options)
{
    int is_real_time_clock = options->clock == TACT_LOOP_REAL;
    print_timing_table(report, scene, is_real_time_clock);
    print_contact_table(report);
    print_contact_polygons(session);
    print_port_table(session);
    print_body_table(session, start);
    print_pair_table(session, scene->period);
    print_hold_table(session);
    if (is_real_time_clock) {
        print_realtime_refusals(&report->loop.realtime);
    }
    if (tact_session_log_path(session)) {
        printf("\n  log        %s: %llu ticks, %.1f MB",
               text_make_printable(tact_session_log_path(session)), (ull)report->recorder.records,
               (double)report->recorder.bytes * 1e-6);
        if (report->recorder.overruns) {
            printf(", %llu ticks lost", (ull)report->recorder.overruns);
        }
        if (report->recorder.event_overruns) {
            printf(", %llu events lost", (ull)report->recorder.event_overruns);
        }
        puts("");
    }
}
