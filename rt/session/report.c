#include "rt/session/report.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include "contact/local.h"
#include "rt/session/session_internal.h"

/* JSON has no form for what is not finite: null. */
static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *numbers(const double *v, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, number(v[i]));
    }
    return list;
}

static json_t *latency(const struct tact_histogram *h)
{
    struct tact_histogram_summary s = tact_histogram_summarise(h);
    return json_pack("{s:f, s:f, s:f, s:f}", "p50", (double)s.p50 * 1e-3, "p99",
                     (double)s.p99 * 1e-3, "p99.9", (double)s.p999 * 1e-3, "max",
                     (double)s.max * 1e-3);
}

static json_t *moments(const struct tact_session_report *r)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "source", r->source, "age",
                     (json_int_t)r->age, "age_max", (json_int_t)r->age_max, "fallbacks",
                     (json_int_t)r->fallbacks, "fallback_ticks", (json_int_t)r->fallback_ticks,
                     "source_pairs", (json_int_t)r->source_pairs, "host_pairs",
                     (json_int_t)r->host_pairs);
}

static json_t *bodies(struct tact_session *s)
{
    json_t *all = json_object();
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        struct tact_pose pose;
        tact_session_body_pose(s, i, &pose);
        json_object_set_new(all, s->bodies[i].name,
                            json_pack("{s:o, s:o, s:o}", "position", numbers(pose.position, 3),
                                      "quat_wxyz", numbers(pose.quat_wxyz, 4), "twist",
                                      numbers(tact_world_body(s->world, i)->twist, 6)));
    }
    return all;
}

static json_t *joints(struct tact_session *s)
{
    json_t *all = json_object();
    for (int i = 0; i < tact_world_hand_count(s->world); i++) {
        struct tact_hand *hand = tact_world_hand(s->world, i);
        struct tact_hand_state state = tact_hand_state(hand);
        for (int k = 0; k < tact_hand_count(hand); k++) {
            json_object_set_new(all, s->hands[i].names[k],
                                json_pack("{s:o, s:o, s:o, s:o}", "position", number(state.q[k]),
                                          "velocity", number(state.v[k]), "target",
                                          number(state.target[k]), "torque",
                                          number(state.torque[k])));
        }
    }
    return all;
}

/* Names of the active limits of a contact. */
static json_t *limits(int bits)
{
    static const struct {
        int bit;
        const char *name;
    } names[] = {{TACT_LIMIT_OPEN, "open"},
                 {TACT_LIMIT_CONE, "friction"},
                 {TACT_LIMIT_EDGE, "edge"},
                 {TACT_LIMIT_SPIN, "spin"}};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (bits & names[i].bit) {
            json_array_append_new(list, json_string(names[i].name));
        }
    }
    return list;
}

static json_t *pairs(struct tact_session *s)
{
    json_t *list = json_array();
    double per_h = 1.0 / s->period;
    for (int i = 0; i < tact_world_pair_count(s->world); i++) {
        const struct tact_contact *c = tact_world_contact(s->world, i);
        double n = c->touching ? c->impulse[0] * per_h : 0.0;
        json_array_append_new(
            list,
            json_pack("{s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "name", s->pairs[i].name,
                      "touching", c->touching, "normal_force", number(n), "friction_force",
                      number(c->touching ? hypot(c->impulse[1], c->impulse[2]) * per_h : 0.0),
                      "spin_torque", number(c->touching ? c->impulse[3] * per_h : 0.0), "spin_arm",
                      number(c->touching ? tact_patch_spin_arm(&c->patch, n) : 0.0), "depth",
                      number(c->touching ? c->patch.depth : 0.0), "limits", limits(c->limits)));
    }
    return list;
}

static json_t *realtime(const struct tact_session *s, const struct tact_session_report *r)
{
    json_t *granted = json_array(), *refused = json_array(), *why = json_object();
    if (s->options.clock != TACT_LOOP_REAL) {
        json_object_set_new(why, "clock", json_string("free-wheeling: real time is not asked for"));
    }
    for (int i = 0; i < r->loop.realtime.count; i++) {
        const struct tact_realtime_item *item = &r->loop.realtime.item[i];
        json_array_append_new(item->granted ? granted : refused, json_string(item->name));
        if (!item->granted) {
            json_object_set_new(why, item->name,
                                json_sprintf("%s; to get it: %s", item->why, item->fix));
        }
    }
    return json_pack("{s:o, s:o, s:o}", "granted", granted, "refused", refused, "why", why);
}

static void add_log(json_t *all, const struct tact_session *s, const struct tact_session_report *r)
{
    if (s->options.record) {
        json_object_set_new(all, "log",
                            json_pack("{s:s, s:I, s:I, s:I}", "file", s->options.record, "records",
                                      (json_int_t)r->recorder.records, "bytes",
                                      (json_int_t)r->recorder.bytes, "overruns",
                                      (json_int_t)r->recorder.overruns));
    }
}

char *tact_session_report_json(struct tact_session *s, const struct tact_session_report *r)
{
    json_t *all =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:i, s:i}", "scene",
                  s->scene->name, "ticks", (json_int_t)r->loop.ticks, "executed",
                  (json_int_t)r->loop.executed, "skipped", (json_int_t)r->loop.skipped, "late",
                  (json_int_t)r->loop.late, "missed", (json_int_t)r->loop.missed, "wake_latency_us",
                  latency(&r->loop.wake_latency), "compute_us", latency(&r->loop.compute),
                  "moments", moments(r), "contacts", r->contacts, "contacts_max", r->contacts_max);
    if (!all) {
        return NULL;
    }
    json_object_set_new(all, "solver",
                        json_pack("{s:o, s:i, s:o, s:o, s:I}", "iterations",
                                  number(r->iterations_mean), "iterations_max", r->iterations_max,
                                  "residual", number(r->residual), "residual_max",
                                  number(r->residual_max), "unconverged",
                                  (json_int_t)r->unconverged));
    json_object_set_new(all, "bodies", bodies(s));
    json_object_set_new(all, "joints", joints(s));
    json_object_set_new(all, "pairs", pairs(s));
    json_object_set_new(all, "safety",
                        json_pack("{s:s, s:I}", "state", tact_safety_state_name(r->safety), "trips",
                                  (json_int_t)r->trips));
    json_object_set_new(all, "realtime", realtime(s, r));
    add_log(all, s, r);
    char *text = json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(all);
    return text;
}
