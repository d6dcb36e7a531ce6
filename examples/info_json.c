/* tact info --json: prints the contents of a log for machines. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "contact_state.h"
#include "info.h"
#include "contact/number.h"
#include "text.h"

double info_recorded_duration(const struct info *i)
{
    const char *period = tact_log_fact(i->log, "period_s");
    double last = period ? tact_number_read(period, NULL) : 0.0;
    if (!tact_log_state(i->log)->ticks) {
        return 0.0;
    }
    return (double)(i->log_survey.last_ns - i->log_survey.first_ns) * 1e-9 + last;
}

int64_t info_start_wall_clock_ns(const struct info *i)
{
    return tact_log_state(i->log)->ticks
               ? compute_wall_clock_time_ns(i->log, i->log_survey.first_ns)
               : -1;
}

static json_t *number_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *latency_json(const struct tact_histogram *h)
{
    struct tact_histogram_summary s = tact_histogram_summarise(h);
    return json_pack("{s:f, s:f, s:f, s:f}", "p50", (double)s.p50 * 1e-3, "p99",
                     (double)s.p99 * 1e-3, "p99.9", (double)s.p999 * 1e-3, "max",
                     (double)s.max * 1e-3);
}

static json_t *gaps_json(const struct info *i)
{
    json_t *list = json_array();
    for (uint64_t k = 0; k < i->log_survey.gaps && k < SURVEY_MAX_GAPS; k++) {
        json_array_append_new(list, json_pack("{s:I, s:I}", "after",
                                              (json_int_t)i->log_survey.gap[k].tick_before_gap,
                                              "missing", (json_int_t)i->log_survey.gap[k].missing));
    }
    return json_pack("{s:I, s:o}", "count", (json_int_t)i->log_survey.gaps, "first", list);
}

static json_t *topics_json(const struct info *i)
{
    const struct tact_log_topic *t;
    json_t *list = json_object();
    for (size_t k = 0; (t = tact_log_topic(i->log, k)); k++) {
        json_object_set_new(list, t->name,
                            json_pack("{s:s, s:I, s:I, s:I}", "type", t->type, "messages",
                                      (json_int_t)t->messages, "first_wall_ns",
                                      (json_int_t)t->first_ns, "last_wall_ns",
                                      (json_int_t)t->last_ns));
    }
    return list;
}

static json_t *events_json(const struct info *i)
{
    const struct tact_log_event *e;
    json_t *list = json_array();
    for (size_t k = 0; (e = tact_log_event(i->log, k)); k++) {
        json_array_append_new(list, json_pack("{s:I, s:I, s:s, s:s}", "tick", (json_int_t)e->tick,
                                              "stamp_ns", (json_int_t)e->stamp_ns, "name", e->name,
                                              "text", e->text));
    }
    return list;
}

static json_t *facts_json(const struct info *i)
{
    const struct tact_log_fact *f;
    json_t *list = json_object();
    for (size_t k = 0; (f = tact_log_fact_at(i->log, k)); k++) {
        json_object_set_new(list, f->key, json_string(f->value));
    }
    return list;
}

/* Statistics of why a pair slipped: number of ticks at each limit, and least margins. */
static json_t *pair_json(const struct tact_scene_log_pair *v, const struct survey_pair *p)
{
    json_t *ticks = json_object(), *least = json_object(), *modes = json_object();
    for (int i = 0; i < TACT_LIMIT_COUNT; i++) {
        json_object_set_new(ticks, tact_limit_name(i), json_integer((json_int_t)p->tally.at[i]));
    }
    for (int i = 0; i < TACT_MARGIN_COUNT; i++) {
        json_object_set_new(least, tact_margin_name(i),
                            p->tally.touching ? number_json(p->tally.least[i]) : json_null());
    }
    for (int i = 0; i < TACT_FRICTION_MODES; i++) {
        json_object_set_new(modes, tact_friction_mode_name(i),
                            json_integer((json_int_t)p->tally.modes[i]));
    }
    char state[CONTACT_STATE_TEXT_BYTES];
    return json_pack(
        "{s:s, s:s, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:s*}", "name", v->name, "model",
        v->model, "friction", number_json(v->friction), "touching_ticks",
        (json_int_t)p->tally.touching, "limited_ticks", (json_int_t)p->limited, "unmeasured_ticks",
        (json_int_t)p->unmeasured_tick_count, "limit_ticks", ticks, "mode_ticks", modes,
        "least_margin", least, "normal_max_N", number_json(p->normal), "torsion_max_Nm",
        number_json(p->torsion), "at_end",
        p->touches_at_end ? describe_contact_state(p->limits_at_end, p->normal_force_at_end,
                                                   &p->friction_margins_at_end, state)
                          : NULL);
}

static json_t *json_named_counts(const uint64_t *values, int count, const char *(*name)(int))
{
    json_t *all = json_object();
    for (int i = 0; i < count; i++) {
        json_object_set_new(all, name(i), json_integer((json_int_t)values[i]));
    }
    return all;
}

static json_t *ports_json(const struct info *i)
{
    json_t *all = json_object();
    for (int k = 0; k < i->scene_log.port_count; k++) {
        const struct survey_port *port = &i->log_survey.ports[k];
        json_t *json =
            json_pack("{s:o, s:o, s:o, s:I}", "force_max", number_json(port->force), "energy_J",
                      number_json(port->energy), "least_energy_J", number_json(port->least_energy),
                      "limited_ticks", (json_int_t)port->limited);
        if (i->scene_log.ports[k].is_admittance) {
            json_object_set_new(json, "held_ticks", json_integer((json_int_t)port->held));
            json_object_set_new(json, "missing_ticks", json_integer((json_int_t)port->missing));
        }
        json_object_set_new(all, i->scene_log.ports[k].name, json);
    }
    return all;
}

/* Output channels that send a force whose energy is not in the log, and why. */
static json_t *outputs_without_energy_json(const struct info *i)
{
    char why[INFO_REASON_TEXT_BYTES];
    json_t *all = json_object();
    for (uint32_t k = 0; k < i->scene_log.scene->outputs_count; k++) {
        if (info_reason_without_port_energy(&i->scene_log, k, why, sizeof why)) {
            json_object_set_new(all, i->scene_log.scene->outputs[k].to, text_json(why));
        }
    }
    return all;
}

/* Counts and delays of the link to another site at the end of the log; NULL for other devices. */
static json_t *link_json(const struct info *i, int k)
{
    const struct tact_device_info *device = &i->scene_log.devices[k];
    json_t *all = NULL;
    for (int m = 0; m < device->input_count; m++) {
        const double value = i->log_survey.last[i->scene_log.device_inputs[k] + 2 + (uint32_t)m];
        if (survey_is_link_quality_input(device, m)) {
            all = all ? all : json_object();
            json_object_set_new(all, device->input[m].name, number_json(value));
        }
    }
    return all;
}

/* Bodies that a hand has touched. */
static json_t *holds_json(const struct info *i)
{
    json_t *all = json_array();
    for (int k = 0; k < i->scene_log.hold_count; k++) {
        const struct survey_hold *h = &i->log_survey.holds[k];
        if (h->touching) {
            json_array_append_new(
                all, json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "body",
                               i->scene_log.holds[k].body, "hand", i->scene_log.holds[k].hand,
                               "touching_ticks", (json_int_t)h->touching, "grip_force_max_N",
                               number_json(h->grip_force), "load_force_max_N",
                               number_json(h->load_force), "grip_over_load_least",
                               h->ratio > 0.0 ? number_json(h->ratio) : json_null(), "slip_m",
                               number_json(h->slip), "turn_rad", number_json(h->turn)));
        }
    }
    return all;
}

/* JSON object of the joints that were at a stop. */
static json_t *stops_json(const struct info *i)
{
    json_t *all = json_object();
    for (int k = 0; k < i->scene_log.joint_count + i->scene_log.constraint_count; k++) {
        const struct survey_joint_stop *stop = &i->log_survey.joint_stops[k];
        if (stop->lower || stop->upper) {
            json_object_set_new(all, survey_joint_name(&i->scene_log, k),
                                json_pack("{s:I, s:I, s:o}", "lower_ticks", (json_int_t)stop->lower,
                                          "upper_ticks", (json_int_t)stop->upper, "reaction_max",
                                          k < i->scene_log.joint_count ? number_json(stop->reaction)
                                                                       : json_null()));
        }
    }
    return all;
}

static void add_scene_to_info_json(const struct info *i, json_t *all)
{
    json_t *pairs = json_array(), *bodies = json_array(), *joints = json_array(),
           *devices = json_array();
    const struct tact_scene_log *v = &i->scene_log;
    for (int k = 0; k < v->pair_count; k++) {
        json_array_append_new(pairs, pair_json(&v->pairs[k], &i->log_survey.pairs[k]));
    }
    for (int k = 0; k < v->body_count; k++) {
        json_array_append_new(bodies, json_string(v->bodies[k].name));
    }
    for (int k = 0; k < v->joint_count; k++) {
        json_array_append_new(joints, json_string(v->joints[k].name));
    }
    for (int k = 0; k < v->device_count; k++) {
        json_array_append_new(devices,
                              json_pack("{s:s, s:s, s:o*}", "name", v->devices[k].name, "type",
                                        v->devices[k].type, "link", link_json(i, k)));
    }
    json_t *safety = json_pack("{s:s, s:i}", "end", survey_safety_state_name(i->log_survey.safety),
                               "faults", i->log_survey.faults);
    if (i->log_survey.faults) {
        json_object_set_new(safety, "first_fault",
                            json_integer((json_int_t)i->log_survey.first_fault_tick));
    }
    json_object_set_new(all, "wake_latency_us", latency_json(&i->log_survey.wake_latency));
    json_object_set_new(all, "compute_us", latency_json(&i->log_survey.computation_latency));
    json_object_set_new(all, "safety", safety);
    json_object_set_new(all, "ports", ports_json(i));
    json_object_set_new(all, "outputs_without_energy", outputs_without_energy_json(i));
    json_object_set_new(all, "holds", holds_json(i));
    json_object_set_new(all, "stops", stops_json(i));
    json_object_set_new(all, "contacts_max", json_integer(i->log_survey.contacts_max));
    json_object_set_new(
        all, "solver_counts",
        json_named_counts(i->log_survey.counts, TACT_SOLVE_COUNTS, tact_solve_count_name));
    json_object_set_new(
        all, "moments_methods",
        json_named_counts(i->log_survey.methods, TACT_MOMENTS_COUNTS, tact_moments_count_name));
    json_object_set_new(all, "pairs", pairs);
    json_object_set_new(all, "bodies", bodies);
    json_object_set_new(all, "joints", joints);
    json_object_set_new(all, "devices", devices);
}

int info_print_json(const struct info *i)
{
    const struct tact_log_state *st = tact_log_state(i->log);
    json_t *all = json_pack(
        "{s:o, s:I, s:b, s:b, s:I, s:o, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:o, "
        "s:o, "
        "s:o, s:o}",
        "file", text_json(i->path), "files", (json_int_t)tact_log_parts(i->log), "complete",
        st->complete, "recording", st->recording, "lost_to_damage", (json_int_t)st->lost, "why",
        text_json(st->why), "file_bytes", (json_int_t)st->file_bytes, "bytes_lost",
        (json_int_t)st->bytes_lost, "damage_at", (json_int_t)st->damage_at, "duration_s",
        number_json(info_recorded_duration(i)), "start_wall_ns",
        (json_int_t)info_start_wall_clock_ns(i), "ticks", (json_int_t)st->ticks, "first_tick",
        (json_int_t)st->first_tick, "last_tick", (json_int_t)st->last_tick, "missing",
        (json_int_t)st->missing, "skipped", (json_int_t)i->log_survey.skipped_tick_count, "lost",
        (json_int_t)i->log_survey.lost, "gaps", gaps_json(i), "topics", topics_json(i), "events",
        events_json(i), "facts", facts_json(i));
    if (all && i->scene_log.session) {
        add_scene_to_info_json(i, all);
    }
    return text_print_json(all);
}
