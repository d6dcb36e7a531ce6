/* One pass over the records of a log. */
#include "survey.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "contact/vec.h"
#include "rt/safety.h"

struct survey_wrench survey_wrench_of_pair(const struct tact_scene_log_pair *pair,
                                           const double *values)
{
    const double *force = values + pair->wrench, *n = values + pair->patch + 3;
    struct survey_wrench w = {.normal = tact_v3_dot(force, n),
                              .torsion = tact_v3_dot(force + 3, n)};
    if (w.normal > 0.0) {
        double arm[3], moment[3];
        tact_v3_cross(arm, n, force + 3);
        tact_v3_scale(arm, arm, 1.0 / w.normal);
        tact_v3_cross(moment, arm, force);
        w.torsion -= tact_v3_dot(n, moment);
    }
    double squared_tangential_force = tact_v3_dot(force, force) - w.normal * w.normal;
    w.friction = squared_tangential_force > 0.0 ? sqrt(squared_tangential_force) : 0.0;
    return w;
}

int64_t survey_round_to_integer(double value)
{
    const double limit = 9e18; /* largest accepted number, below the largest 64-bit integer */
    return isnan(value) ? 0 : (int64_t)fmin(fmax(value, -limit), limit);
}

static uint64_t round_to_unsigned_count(double value)
{
    return (uint64_t)survey_round_to_integer(fmax(value, 0.0));
}

static int round_to_small_integer(double value)
{
    return isnan(value) ? 0 : (int)fmin(fmax(value, INT_MIN), INT_MAX);
}

const char *survey_safety_state_name(int state)
{
    static const char *const names[] = {[TACT_SAFETY_DISARMED] = "disarmed",
                                        [TACT_SAFETY_ARMED] = "armed",
                                        [TACT_SAFETY_FAULT] = "fault"};
    return state >= TACT_SAFETY_DISARMED && state <= TACT_SAFETY_FAULT ? names[state] : "unknown";
}

static void add_pairs_of_tick_to_survey(const struct tact_scene_log *scene_log, const double *v,
                                        struct log_survey *out)
{
    for (int i = 0; i < scene_log->pair_count; i++) {
        struct survey_pair *p = &out->pairs[i];
        struct survey_wrench w = survey_wrench_of_pair(&scene_log->pairs[i], v);
        int touching = tact_v3_norm(v + scene_log->pairs[i].patch + 3) >
                       0.0; /* the patch of a touching pair has a normal */
        int limits = round_to_small_integer(v[scene_log->pairs[i].limits]);
        p->unmeasured_tick_count += v[scene_log->pairs[i].status] < 0.0;
        p->limited += touching && (limits & (TACT_LIMIT_CONE | TACT_LIMIT_SPIN));
        p->touches_at_end = touching;
        if (touching) {
            memcpy(&p->friction_margins_at_end, v + scene_log->pairs[i].margins,
                   sizeof p->friction_margins_at_end);
            tact_limit_tally_add(&p->tally, limits, v[scene_log->pairs[i].patch + 7],
                                 &p->friction_margins_at_end);
            p->limits_at_end = limits;
            p->normal_force_at_end = w.normal;
        }
        p->normal = fmax(p->normal, w.normal);
        p->torsion = fmax(p->torsion, fabs(w.torsion));
    }
}

static void survey_coupling_ports(const struct tact_scene_log *scene_log, const double *v,
                                  struct log_survey *out)
{
    for (int i = 0; i < scene_log->port_count; i++) {
        const struct tact_scene_log_port *port = &scene_log->ports[i];
        double force = 0.0;
        for (int k = 0; k < port->components; k++) {
            force = hypot(force, v[port->force + (uint32_t)k * port->stride]);
        }
        out->ports[i].force = fmax(out->ports[i].force, force);
        out->ports[i].energy = v[port->energy];
        out->ports[i].least_energy = v[port->least_energy];
        if (port->is_admittance) {
            out->ports[i].held = round_to_unsigned_count(v[port->held]);
            out->ports[i].missing = round_to_unsigned_count(v[port->missing]);
        } else if (port->limited) {
            out->ports[i].limited = round_to_unsigned_count(v[port->limited]);
        }
    }
}

static void add_holds_to_survey(const struct tact_scene_log *scene_log, const double *v,
                                struct log_survey *out)
{
    for (int i = 0; i < scene_log->hold_count; i++) {
        const double *hold = v + scene_log->holds[i].hold;
        struct survey_hold *h = &out->holds[i];
        if (hold[0] > 0.0 && survey_is_hold_loaded(hold[0], hold[1])) {
            h->ratio = h->ratio > 0.0 ? fmin(h->ratio, hold[0] / hold[1]) : hold[0] / hold[1];
        }
        h->touching += hold[0] > 0.0;
        h->grip_force = fmax(h->grip_force, hold[0]);
        h->load_force = fmax(h->load_force, hold[1]);
        h->slip = hold[2];
        h->turn = hold[3];
    }
}

double survey_reached_stop_of_joint(const struct tact_scene_log *scene_log, int joint,
                                    const double *v)
{
    if (joint >= scene_log->joint_count) {
        return v[scene_log->constraints[joint - scene_log->joint_count].joint + 1];
    }
    return scene_log->joints[joint].resists ? v[scene_log->joints[joint].stop] : 0.0;
}

static void add_joint_stops_to_survey(const struct tact_scene_log *scene_log, const double *v,
                                      struct log_survey *out)
{
    for (int i = 0; i < scene_log->joint_count + scene_log->constraint_count; i++) {
        const double stop = survey_reached_stop_of_joint(scene_log, i, v);
        out->joint_stops[i].lower += stop < 0.0;
        out->joint_stops[i].upper += stop > 0.0;
        if (stop != 0.0 && i < scene_log->joint_count) {
            out->joint_stops[i].reaction =
                fmax(out->joint_stops[i].reaction, fabs(v[scene_log->joints[i].reaction]));
        }
    }
}

const char *survey_joint_name(const struct tact_scene_log *scene_log, int joint)
{
    return joint < scene_log->joint_count
               ? scene_log->joints[joint].name
               : scene_log->constraints[joint - scene_log->joint_count].name;
}

static void add_record_to_survey(const struct tact_scene_log *scene_log,
                                 const struct tact_record *r, struct log_survey *out)
{
    const double *v = r->values;
    int safety = round_to_small_integer(v[scene_log->safety]);
    if (safety == TACT_SAFETY_FAULT && out->safety != TACT_SAFETY_FAULT && !out->faults++) {
        out->first_fault_tick = r->tick;
    }
    out->safety = safety;
    out->skipped_tick_count = round_to_unsigned_count(v[scene_log->timing + 2]);
    out->lost = round_to_unsigned_count(v[scene_log->timing + 3]);
    out->contacts_max = round_to_small_integer(fmax(out->contacts_max, v[scene_log->solver]));
    tact_histogram_add(&out->wake_latency, survey_round_to_integer(v[scene_log->timing]));
    if (r->tick > 0) {
        tact_histogram_add(&out->computation_latency,
                           survey_round_to_integer(v[scene_log->timing + 1]));
    }
    for (int i = 0; scene_log->counts && i < TACT_SOLVE_COUNTS; i++) {
        out->counts[i] += round_to_unsigned_count(v[scene_log->counts + (uint32_t)i]);
    }
    for (int i = 0; scene_log->methods && i < TACT_MOMENTS_COUNTS; i++) {
        out->methods[i] += round_to_unsigned_count(v[scene_log->methods + (uint32_t)i]);
    }
    add_pairs_of_tick_to_survey(scene_log, v, out);
    survey_coupling_ports(scene_log, v, out);
    add_holds_to_survey(scene_log, v, out);
    add_joint_stops_to_survey(scene_log, v, out);
}

int survey_log_records(struct tact_log *log, const struct tact_scene_log *scene_log,
                       struct log_survey *out)
{
    struct tact_record *r = malloc(tact_layout_bytes(tact_log_layout(log)));
    uint64_t before = 0, count = 0;
    int rc;
    memset(out, 0, sizeof *out);
    tact_histogram_reset(&out->wake_latency);
    tact_histogram_reset(&out->computation_latency);
    const size_t bytes =
        tact_layout_bytes(tact_log_layout(log)) - offsetof(struct tact_record, values);
    out->last = calloc(1, bytes + 1);
    out->pairs = calloc((size_t)scene_log->pair_count + 1, sizeof *out->pairs);
    out->ports = calloc((size_t)scene_log->port_count + 1, sizeof *out->ports);
    out->holds = calloc((size_t)scene_log->hold_count + 1, sizeof *out->holds);
    out->joint_stops =
        calloc((size_t)scene_log->joint_count + (size_t)scene_log->constraint_count + 1,
               sizeof *out->joint_stops);
    rc = r && out->pairs && out->ports && out->holds && out->joint_stops && out->last ? 1 : -ENOMEM;
    while (rc > 0 && (rc = tact_log_next(log, r)) > 0) {
        if (!count++) {
            out->first_ns = r->stamp_ns;
        } else if (r->tick > before + 1 && out->gaps++ < SURVEY_MAX_GAPS) {
            out->gap[out->gaps - 1].tick_before_gap = before;
            out->gap[out->gaps - 1].missing = r->tick - before - 1;
        }
        before = r->tick;
        out->last_ns = r->stamp_ns;
        if (scene_log->session) {
            add_record_to_survey(scene_log, r, out);
            memcpy(out->last, r->values, bytes);
        }
    }
    free(r);
    return rc;
}

int survey_is_link_quality_input(const struct tact_device_info *device, int input)
{
    const char *name = device->input[input].name, *axis = strrchr(name, '_');
    return !strcmp(device->type, "network") && strcmp(name, "held") != 0 &&
           !(axis && axis[1] >= '0' && axis[1] <= '9');
}

void survey_free(struct log_survey *log_survey)
{
    free(log_survey->pairs);
    free(log_survey->ports);
    free(log_survey->holds);
    free(log_survey->joint_stops);
    free(log_survey->last);
}

int64_t compute_wall_clock_time_ns(const struct tact_log *log, int64_t stamp_ns)
{
    const char *wall_clock_anchor_text = tact_log_fact(log, "wall_anchor_ns");
    return wall_clock_anchor_text ? strtoll(wall_clock_anchor_text, NULL, 10) + stamp_ns : -1;
}
