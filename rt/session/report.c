#include "rt/session/report.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "rt/session/hold_internal.h"
#include "rt/session/remote_internal.h"
#include "rt/session/session_internal.h"

/* JSON has no representation for numbers that are not finite: null. */
static json_t *json_number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *json_number_list(const double *v, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, json_number(v[i]));
    }
    return list;
}

static json_t *json_latency(const struct tact_histogram *h)
{
    struct tact_histogram_summary s = tact_histogram_summarise(h);
    return json_pack("{s:f, s:f, s:f, s:f}", "p50", (double)s.p50 * 1e-3, "p99",
                     (double)s.p99 * 1e-3, "p99.9", (double)s.p999 * 1e-3, "max",
                     (double)s.max * 1e-3);
}

static json_t *json_counts(const uint64_t *values, int count, const char *(*name)(int))
{
    json_t *all = json_object();
    for (int i = 0; i < count; i++) {
        json_object_set_new(all, name(i), json_integer((json_int_t)values[i]));
    }
    return all;
}

static json_t *json_moments(const struct tact_session_report *r)
{
    json_t *ages = json_array();
    for (int i = 0; i < TACT_SESSION_AGES; i++) {
        json_array_append_new(ages, json_integer((json_int_t)r->ages[i]));
    }
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:o}", "source",
                     r->source, "age", (json_int_t)r->age, "age_max", (json_int_t)r->age_max,
                     "fallbacks", (json_int_t)r->fallbacks, "fallback_ticks",
                     (json_int_t)r->fallback_ticks, "source_pairs", (json_int_t)r->source_pairs,
                     "host_pairs", (json_int_t)r->host_pairs, "unmeasured",
                     (json_int_t)r->unmeasured, "ages", ages, "time_us", json_latency(&r->moments),
                     "missed", (json_int_t)r->missed_moments, "methods",
                     json_counts(r->methods, TACT_MOMENTS_COUNTS, tact_moments_count_name));
}

/* Adds which device computed polygons of pressure fields beside the tick, if one could. */
static void add_polygon_device_to_report(const struct tact_session *s, json_t *moments)
{
    struct tact_session_polygons p;
    tact_session_polygons(s, &p);
    if (p.device[0]) {
        json_object_set_new(moments, "polygons",
                            json_pack("{s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:b}", "device",
                                      p.device, "device_polygons", (json_int_t)p.device_polygons,
                                      "host_polygons", (json_int_t)p.host_polygons, "device_frames",
                                      (json_int_t)p.device_frames, "host_frames",
                                      (json_int_t)p.host_frames, "device_us", 1e6 * p.device_time,
                                      "host_us", 1e6 * p.host_time, "failed", p.has_failed));
    }
}

static json_t *json_bodies(struct tact_session *s)
{
    json_t *all = json_object();
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        struct tact_pose pose;
        tact_session_body_pose(s, i, &pose);
        json_object_set_new(all, s->bodies[i].name,
                            json_pack("{s:o, s:o, s:o}", "position",
                                      json_number_list(pose.position, 3), "quat_wxyz",
                                      json_number_list(pose.quat_wxyz, 4), "twist",
                                      json_number_list(tact_world_body(s->world, i)->twist, 6)));
    }
    return all;
}

static json_t *json_joints(struct tact_session *s)
{
    json_t *all = json_object();
    for (int i = 0; i < tact_world_hand_count(s->world); i++) {
        struct tact_hand *hand = tact_world_hand(s->world, i);
        struct tact_hand_state state = tact_hand_state(hand);
        for (int k = 0; k < tact_hand_count(hand); k++) {
            json_t *joint =
                json_pack("{s:o, s:o, s:o, s:o}", "position", json_number(state.q[k]), "velocity",
                          json_number(state.v[k]), "target", json_number(state.target[k]), "torque",
                          json_number(state.torque[k]));
            if (tact_session_joint_has_stops(&s->scene->hands[i], (uint32_t)k)) {
                json_object_set_new(joint, "reaction", json_number(state.reaction[k]));
                json_object_set_new(joint, "stop", json_integer((json_int_t)state.stop[k]));
            }
            if (s->hands[i].clamped_target_tick_counts) {
                json_object_set_new(
                    joint, "clamped_ticks",
                    json_integer((json_int_t)s->hands[i].clamped_target_tick_counts[k]));
            }
            json_object_set_new(all, s->hands[i].joint_names[k], joint);
        }
    }
    return all;
}

/* Lists parts of one hand that overlapped at the start, so that their contacts are disabled. */
static json_t *json_self_overlaps(const struct tact_session *s)
{
    json_t *all = json_array();
    for (int i = 0; i < s->self_overlap_count; i++) {
        const struct session_self_overlap *o = &s->self_overlaps[i];
        json_array_append_new(all, json_pack("{s:[s, s], s:o}", "objects", o->part[0], o->part[1],
                                             "depth", json_number(o->depth)));
    }
    return all;
}

/* Lists the ports of coupled joints, of joints that forces move, and of drives. */
static json_t *json_ports(const struct tact_session *s)
{
    json_t *all = json_object();
    for (int i = 0; i < tact_session_port_count(s); i++) {
        const struct tact_session_port port = tact_session_port(s, i);
        json_t *json =
            json_pack("{s:b, s:o, s:o, s:o, s:I}", "engaged", port.engaged, "force",
                      json_number_list(port.force, port.components), "energy_J",
                      json_number(port.energy), "least_energy_J", json_number(port.least_energy),
                      "limited_ticks", (json_int_t)port.limited);
        if (port.is_admittance) {
            json_object_set_new(json, "rate", json_number(port.rate));
            json_object_set_new(json, "held_ticks", json_integer((json_int_t)port.held));
            json_object_set_new(json, "missing_ticks", json_integer((json_int_t)port.missing));
        }
        json_object_set_new(all, port.name, json);
    }
    return all;
}

/* Lists touch, slip and release events of a body in a hand. */
static json_t *json_hold_events(const struct tact_session *s, const struct session_hold *hold)
{
    json_t *all = json_array();
    for (int i = 0; i < hold->events && i < SESSION_MAX_HOLD_EVENTS; i++) {
        json_array_append_new(
            all, json_pack("{s:s, s:o}", "event", tact_session_hold_event_name(hold->event[i].kind),
                           "time", json_number((double)hold->event[i].tick * s->period)));
    }
    return all;
}

/* Bodies that a hand has touched. */
static json_t *json_holds(const struct tact_session *s)
{
    json_t *all = json_array();
    for (int i = 0; i < s->hold_count; i++) {
        const struct session_hold *h = &s->holds[i];
        if (!h->count[SESSION_HOLD_EVENT_TOUCH]) {
            continue;
        }
        json_array_append_new(
            all,
            json_pack("{s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:I}", "body",
                      s->bodies[h->body].name, "hand", s->scene->hands[h->hand].name, "touching",
                      h->touches, "slip", json_number(h->slip), "turn", json_number(h->turn),
                      "grip_force", json_number(h->tick_sums.normal), "load_force",
                      json_number(h->tick_sums.friction), "grip_over_load",
                      json_number(h->tick_sums.normal / h->tick_sums.friction), "touches",
                      (json_int_t)h->count[SESSION_HOLD_EVENT_TOUCH], "slips",
                      (json_int_t)h->count[SESSION_HOLD_EVENT_SLIP], "releases",
                      (json_int_t)h->count[SESSION_HOLD_EVENT_RELEASE], "events",
                      json_hold_events(s, h), "events_left_out", (json_int_t)h->events_left_out));
    }
    return all;
}

/* Commanded grips. */
static json_t *json_grips(const struct tact_session *s)
{
    json_t *all = json_array();
    for (int i = 0; i < tact_session_grip_count(s); i++) {
        const struct tact_session_grip g = tact_session_grip(s, i);
        json_array_append_new(all, json_pack("{s:[s, s], s:o, s:o, s:I}", "links", g.links[0],
                                             g.links[1], "commanded", json_number(g.commanded),
                                             "force", json_number(g.force), "short_ticks",
                                             (json_int_t)g.short_ticks));
    }
    return all;
}

/* Lists the inputs by which a remote joint's device describes its network link. */
static json_t *json_remote_link(const struct tact_session *s, const struct session_remote *r)
{
    const struct session_device *d = &s->devices[r->device];
    json_t *all = json_object();
    for (int i = 0; i < d->device.info.input_count; i++) {
        const char *name = d->device.info.input[i].name, *axis = strrchr(name, '_');
        if (i != r->in.held && !(axis && axis[1] >= '0' && axis[1] <= '9')) {
            json_object_set_new(all, name, json_number(d->input.channel[i]));
        }
    }
    return all;
}

/* Describes the wall that a remote joint of mode model has found or renders; NULL: of another mode.
 */
static json_t *json_remote_wall(const struct session_remote *r)
{
    const struct tact_wall *wall = r->stiffness > 0.0 ? &r->model.wall_found_at_robot.wall
                                                      : &r->model.wall_rendered_at_person.wall;
    return r->mode == REMOTE_MODEL
               ? json_pack("{s:o, s:o, s:o}", "place", json_number(wall->position), "stiffness",
                           json_number(wall->stiffness), "limited_ticks",
                           json_number(r->model.limited))
               : NULL;
}

/* Lists the joints that are tied to another site. */
static json_t *json_remotes(const struct tact_session *s)
{
    json_t *all = json_object();
    for (int i = 0; i < s->remote_count; i++) {
        const struct session_remote *r = &s->remotes[i];
        json_object_set_new(
            all, s->hands[r->hand].joint_names[r->link],
            json_pack("{s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o*}", "engaged", r->state.ticks > 0.0,
                      "lost_since", r->state.must_release_deadman_to_reengage > 0.0, "force",
                      json_number(r->state.force), "end_of_line", json_number(r->state.target),
                      "energy_energy_tank_J", json_number(r->state.remaining_tank_energy), "work_J",
                      json_number(r->state.work), "link", json_remote_link(s, r), "wall",
                      json_remote_wall(r)));
    }
    return all;
}

/* Lists the joints of mechanisms: load, position, error. */
static json_t *json_mechanism(struct tact_session *s)
{
    json_t *all = json_object();
    for (int i = 0; i < tact_world_constraint_count(s->world); i++) {
        const struct tact_constraint *constraint = tact_world_constraint(s->world, i);
        double e[2];
        tact_world_constraint_error(s->world, i, e);
        json_object_set_new(all, s->scene->joints[i].name,
                            json_pack("{s:o, s:o, s:i, s:o, s:o}", "wrench",
                                      json_number_list(constraint->wrench, 6), "value",
                                      json_number(constraint->value), "stop", constraint->stop,
                                      "error_m", json_number(e[0]), "error_rad",
                                      json_number(e[1])));
    }
    return all;
}

/* Lists the names of the active limits of a contact. */
static json_t *json_limits(int active_limit_bits)
{
    json_t *list = json_array();
    for (int i = 0; i < TACT_LIMIT_COUNT; i++) {
        if (active_limit_bits >> i & 1) {
            json_array_append_new(list, json_string(tact_limit_name(i)));
        }
    }
    return list;
}

static json_t *json_margins(const double *values)
{
    json_t *all = json_object();
    for (int i = 0; i < TACT_MARGIN_COUNT; i++) {
        json_object_set_new(all, tact_margin_name(i), json_number(values[i]));
    }
    return all;
}

/* Adds the ticks that a pair spent at each limit, and its smallest margins. */
static void add_contact_limit_statistics(json_t *pair, const struct tact_contact *c,
                                         const struct tact_limit_tally *tally)
{
    double now[TACT_MARGIN_COUNT];
    memcpy(now, &c->margins, sizeof now);
    json_t *ticks = json_pack("{s:I}", "touching", (json_int_t)tally->touching);
    for (int i = 0; i < TACT_LIMIT_COUNT; i++) {
        json_object_set_new(ticks, tact_limit_name(i), json_integer((json_int_t)tally->at[i]));
    }
    json_t *modes = json_object();
    for (int i = 0; i < TACT_FRICTION_MODES; i++) {
        json_object_set_new(modes, tact_friction_mode_name(i),
                            json_integer((json_int_t)tally->modes[i]));
    }
    json_object_set_new(pair, "mode_ticks", modes);
    json_object_set_new(pair, "limits", json_limits(c->touching ? c->limits : TACT_LIMIT_OPEN));
    json_object_set_new(pair, "margin", c->touching ? json_margins(now) : json_null());
    json_object_set_new(pair, "ticks", ticks);
    json_object_set_new(pair, "least_margin",
                        tally->touching ? json_margins(tally->least) : json_null());
}

char *tact_session_slips_json(struct tact_session *s)
{
    json_t *list = json_array();
    struct session_pair **pairs = tact_session_sorted_pairs(s);
    for (int i = 0; i < s->pair_count; i++) {
        const struct session_pair *p = pairs[i];
        if (!p->did_pair_come_near) {
            continue;
        }
        json_t *pair = json_pack("{s:s}", "name", tact_session_pair_name(s, p->number));
        add_contact_limit_statistics(pair, tact_world_contact(s->world, p->number),
                                     &p->contact_limit_tally);
        json_array_append_new(list, pair);
    }
    char *text = json_dumps(list, JSON_REAL_PRECISION(17));
    json_decref(list);
    return text;
}

/* Which of source and host measured a pair's moments, and its cost on the host. */
static json_t *pair_moments_json(const struct tact_session *s, int i)
{
    struct tact_session_pair_report r = tact_session_pair_report(s, i);
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I}", "by", r.by_source ? "source" : "host",
                     "cost_us", json_number(1e6 * r.cost), "host_ticks", (json_int_t)r.host_ticks,
                     "source_ticks", (json_int_t)r.source_ticks, "unmeasured_ticks",
                     (json_int_t)r.unmeasured_ticks, "age_max", (json_int_t)r.age_max);
}

/* Lists the planar pieces of a contact that is split. */
static json_t *json_pieces(struct tact_session *s, int pair)
{
    json_t *list = json_array();
    for (int k = 0; k < tact_world_contact(s->world, pair)->split; k++) {
        const struct tact_contact *c = tact_world_piece(s->world, pair, k);
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "normal_force",
                                              json_number(c->impulse[0] / s->period), "center",
                                              json_number_list(c->patch.center, 3), "normal",
                                              json_number_list(c->patch.frame, 3), "wrench",
                                              json_number_list(c->wrench, 6), "limits",
                                              json_limits(c->limits)));
    }
    return list;
}

static json_t *json_pairs(struct tact_session *s)
{
    json_t *list = json_array();
    double impulse_to_force_factor = 1.0 / s->period;
    struct session_pair **pairs_in_number_order = tact_session_sorted_pairs(s);
    for (int k = 0; k < s->pair_count; k++) {
        const struct session_pair *p = pairs_in_number_order[k];
        const int i = p->number;
        if (!p->did_pair_come_near) {
            continue;
        }
        const struct tact_contact *c = tact_world_contact(s->world, i);
        double n = c->touching ? c->impulse[0] * impulse_to_force_factor : 0.0;
        json_t *pair = json_pack(
            "{s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "name", tact_session_pair_name(s, i),
            "model", tact_world_model(s->world, i)->name, "touching", c->touching, "normal_force",
            json_number(n), "friction_force",
            json_number(c->touching
                            ? tact_hypot(c->impulse[1], c->impulse[2]) * impulse_to_force_factor
                            : 0.0),
            "spin_torque", json_number(c->touching ? c->impulse[3] * impulse_to_force_factor : 0.0),
            "spin_arm", json_number(c->touching ? c->spin_arm : 0.0), "depth",
            json_number(c->touching ? c->patch.depth : 0.0));
        add_contact_limit_statistics(pair, c, &p->contact_limit_tally);
        json_object_set_new(pair, "start_depth", json_number(p->start.depth));
        json_object_set_new(pair, "stuck_ticks",
                            json_integer((json_int_t)p->stuck_overlap_tick_count));
        json_object_set_new(pair, "outrun_ticks",
                            json_integer((json_int_t)p->tunnelled_tick_count));
        if (p->inside_overlap.pressed_body_name) {
            json_object_set_new(pair, "meets_inside",
                                json_pack("{s:s, s:f}", "body", p->inside_overlap.pressed_body_name,
                                          "time", (double)p->inside_overlap.tick * s->period));
        }
        json_object_set_new(pair, "moments", pair_moments_json(s, i));
        if (c->touching && c->split) {
            json_object_set_new(pair, "pieces", json_pieces(s, i));
        }
        json_array_append_new(list, pair);
    }
    return list;
}

static json_t *json_realtime(const struct tact_session *s, const struct tact_session_report *r)
{
    json_t *granted = json_array(), *refused = json_array(), *why = json_object();
    if (s->options.clock != TACT_LOOP_REAL) {
        json_object_set_new(why, "clock",
                            json_string("free-wheeling clock: real time was not requested"));
    }
    for (int i = 0; i < r->loop.realtime.count; i++) {
        const struct tact_realtime_item *item = &r->loop.realtime.item[i];
        json_array_append_new(item->granted ? granted : refused, json_string(item->name));
        if (item->why[0]) {
            json_object_set_new(why, item->name,
                                json_sprintf("%s; to get it: %s", item->why, item->fix));
        }
    }
    return json_pack("{s:o, s:o, s:o}", "granted", granted, "refused", refused, "why", why);
}

/* A path as text, with ? for each byte beyond ASCII where it is no UTF-8. */
static json_t *json_path(const char *path)
{
    json_t *path_json = json_string(path);
    char *ascii_log_path = path_json ? NULL : strdup(path);
    for (char *at = ascii_log_path; at && *at; at++) {
        *at = (unsigned char)*at < 0x80 ? *at : '?';
    }
    path_json = ascii_log_path ? json_string(ascii_log_path) : path_json;
    free(ascii_log_path);
    return path_json;
}

static void add_log_to_report(json_t *all, const struct tact_session *s,
                              const struct tact_session_report *r)
{
    if (s->log_path) {
        json_object_set_new(
            all, "log",
            json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "file", json_path(s->log_path),
                      "records", (json_int_t)r->recorder.records, "bytes",
                      (json_int_t)r->recorder.bytes, "overruns", (json_int_t)r->recorder.overruns,
                      "event_overruns", (json_int_t)r->recorder.event_overruns, "pressure_maps",
                      (json_int_t)r->recorder.pressures, "pressure_maps_lost",
                      (json_int_t)r->recorder.pressure_overruns, "polygons_left_out",
                      (json_int_t)r->recorder.polygons_left_out));
    }
}

char *tact_session_report_json(struct tact_session *s, const struct tact_session_report *r)
{
    json_t *all = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:i, s:i}", "scene",
                            s->scene->name, "ticks", (json_int_t)r->loop.ticks, "executed",
                            (json_int_t)r->loop.executed, "skipped", (json_int_t)r->loop.skipped,
                            "late", (json_int_t)r->loop.late, "missed", (json_int_t)r->loop.missed,
                            "wake_latency_us", json_latency(&r->loop.wake_latency), "compute_us",
                            json_latency(&r->loop.compute), "moments", json_moments(r), "contacts",
                            r->contacts, "contacts_max", r->contacts_max);
    if (!all) {
        return NULL;
    }
    add_polygon_device_to_report(s, json_object_get(all, "moments"));
    json_object_set_new(
        all, "solver",
        json_pack("{s:o, s:i, s:o, s:o, s:I, s:o}", "iterations", json_number(r->iterations_mean),
                  "iterations_max", r->iterations_max, "residual", json_number(r->residual),
                  "residual_max", json_number(r->residual_max), "unconverged",
                  (json_int_t)r->unconverged, "counts",
                  json_counts(r->counts, TACT_SOLVE_COUNTS, tact_solve_count_name)));
    json_object_set_new(all, "bodies", json_bodies(s));
    json_object_set_new(all, "joints", json_joints(s));
    json_object_set_new(all, "self_overlaps", json_self_overlaps(s));
    json_object_set_new(all, "ports", json_ports(s));
    json_object_set_new(all, "grips", json_grips(s));
    json_object_set_new(all, "holds", json_holds(s));
    json_object_set_new(all, "holds_left_out", json_integer((json_int_t)s->omitted_hold_count));
    json_object_set_new(all, "remotes", json_remotes(s));
    json_object_set_new(all, "mechanism", json_mechanism(s));
    json_object_set_new(all, "pairs", json_pairs(s));
    json_object_set_new(all, "safety",
                        json_pack("{s:s, s:I, s:s?}", "state", tact_safety_state_name(r->safety),
                                  "trips", (json_int_t)r->trips, "fault",
                                  r->fault.text[0] ? r->fault.text : NULL));
    json_object_set_new(all, "realtime", json_realtime(s, r));
    add_log_to_report(all, s, r);
    char *text = json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(all);
    return text;
}
