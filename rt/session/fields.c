/*
 * The record of a tick: its fields, and the conversion to and from the session.
 *
 * A record contains the inputs (devices, moments and their age) and the results (state at the end
 * of the tick, warm start, wrenches, outputs), so that a replay can start from any record and
 * compare every later one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "contact/record_code_internal.h"
#include "rt/session/admittance_internal.h"
#include "rt/session/grip_internal.h"
#include "rt/session/hold_internal.h"
#include "rt/session/position_internal.h"
#include "rt/session/remote_internal.h"
#include "rt/session/session_internal.h"

enum {
    COUPLING_STATE_NUMBER_COUNT = sizeof(struct session_coupling_state) / sizeof(double),
    TOOL_STATE_NUMBER_COUNT = sizeof(struct session_tool_state) / sizeof(double),
    REMOTE_STATE_NUMBER_COUNT = sizeof(struct session_remote_state) / sizeof(double),
    REMOTE_MODEL_NUMBERS = sizeof(struct session_remote_wall_model) / sizeof(double)
};

/* Adds a field prefix_name_suffix; *at is set to its offset. */
static int add_layout_field_of_name(struct tact_session *s, uint32_t *at, enum tact_field_kind kind,
                                    const char *name, const char *suffix, const char *unit,
                                    int count)
{
    char field_name_with_suffix[TACT_FIELD_NAME * 4];
    snprintf(field_name_with_suffix, sizeof field_name_with_suffix, "%s%s", name, suffix);
    long offset =
        count > 0 ? tact_layout_add(&s->layout, kind, field_name_with_suffix, unit, (uint32_t)count)
                  : 0;
    *at = offset > 0 ? (uint32_t)offset : 0;
    return offset < 0 ? (int)offset : 0;
}

/* The field of the replayed log at the position where the next field will be added, or NULL. */
static const struct tact_field *find_next_replayed_field(const struct tact_session *s,
                                                         const struct tact_log *log)
{
    const struct tact_layout *layout = log ? tact_log_layout(log) : NULL;
    const uint32_t at = s->layout.field_count;
    return layout && at < layout->field_count ? &layout->fields[at] : NULL;
}

static int add_device_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->device_count; i++) {
        struct session_device *d = &s->devices[i];
        rc = add_layout_field_of_name(s, &d->field, TACT_FIELD_INPUT, s->scene->devices[i].name,
                                      "_input", "state, stamp ns, then one value a channel",
                                      2 + d->device.info.input_count);
    }
    return rc;
}

/* Adds the last positions of measured joints, from which their rates are computed. */
static int add_sensor_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->input_count; i++) {
        struct session_input *in = &s->inputs[i];
        if (in->sets_measured_joint_state) {
            rc = add_layout_field_of_name(s, &in->field, TACT_FIELD_OUTPUT,
                                          s->hands[in->hand].joint_names[in->link], "_measured",
                                          "rad or m, rad/s or m/s, ticks until then, 0: lost", 3);
        }
    }
    return rc;
}

static int add_coupling_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->coupling_count; i++) {
        struct session_coupling *c = &s->couplings[i];
        rc = add_layout_field_of_name(
            s, &c->field, TACT_FIELD_OUTPUT, s->hands[c->hand].joint_names[c->link], "_coupling",
            "target, sum of inputs rad or m; its rate rad/s or m/s; offset rad or "
            "m; ticks until then, 0: disengaged; force on the person N m or N; "
            "energy absorbed, least of it, since the hand touched nothing J; "
            "ticks limited so far",
            COUPLING_STATE_NUMBER_COUNT);
    }
    for (int i = 0; !rc && i < s->coupling_count; i++) {
        struct session_coupling *c = &s->couplings[i];
        rc = tact_session_has_port_field(s, c)
                 ? add_layout_field_of_name(
                       s, &c->port.delay.field, TACT_FIELD_OUTPUT,
                       s->hands[c->hand].joint_names[c->link], "_port",
                       "ticks since the hand touched, at most one more than the forces "
                       "that follow; these, on the person, sent before the last tick, "
                       "newest first, up to the one that acts N m or N",
                       c->port.delay.count + 1)
                 : 0;
        rc = rc || !c->port.has_own_input_sum
                 ? rc
                 : add_layout_field_of_name(s, &c->port.input_sum_field, TACT_FIELD_OUTPUT,
                                            s->hands[c->hand].joint_names[c->link], "_unclamped",
                                            "last good sum of inputs without clamps rad or m", 1);
    }
    return rc;
}

/* Logs of results before 62 have no fields of the ports of drives; their replays have no ports. */
static int add_drive_port_fields(struct tact_session *s, const struct tact_log *log)
{
    const struct tact_field *logged_field = find_next_replayed_field(s, log);
    const size_t length = logged_field ? strlen(logged_field->name) : 0,
                 suffix_length = strlen(DRIVE_PORT_FIELD_SUFFIX);
    int rc = 0;
    if (log && (length < suffix_length || strcmp(logged_field->name + length - suffix_length,
                                                 DRIVE_PORT_FIELD_SUFFIX) != 0)) {
        tact_session_free_drive_ports(s);
    }
    for (int i = 0; !rc && i < s->drive_port_count; i++) {
        struct session_drive_port *p = &s->drive_ports[i];
        char name[TACT_FIELD_NAME];
        /* long names are cut, so that the suffix is whole */
        snprintf(name, sizeof name, "%.48s", p->name);
        rc = add_layout_field_of_name(
            s, &p->field, TACT_FIELD_OUTPUT, name, DRIVE_PORT_FIELD_SUFFIX,
            "device, by its inputs rad or m; ticks until then, 0: lost; force on "
            "the person N m or N; energy absorbed, least of it J; forces sent "
            "before the last tick, newest first, up to the one that acts",
            DRIVE_PORT_STATE_NUMBERS + p->delay.count);
    }
    return rc;
}

static int add_admittance_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->admittance_count && !s->precedes_results_37; i++) {
        struct session_admittance *a = &s->admittances[i];
        rc = add_layout_field_of_name(
            s, &a->field, TACT_FIELD_OUTPUT, s->hands[a->hand].joint_names[a->link], "_admittance",
            "force of the person N m or N; ticks until its last value, until now; "
            "rate sent rad/s or m/s; energy absorbed, least of it J; ticks held, "
            "missing so far",
            ADMITTANCE_STATE_NUMBER_COUNT);
    }
    return rc;
}

static int add_position_output_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->positions->count; i++) {
        struct session_position_output *p = &s->positions->position[i];
        char name[TACT_FIELD_NAME];
        /* long names are cut, so that the suffix is whole */
        snprintf(name, sizeof name, "%.24s_%.24s", s->scene->devices[p->device].name,
                 s->devices[p->device].device.info.output[p->channel].name);
        rc = add_layout_field_of_name(
            s, &p->field, TACT_FIELD_OUTPUT, name, "_place",
            "sent, anchor rad or m; joint there rad or m; 1: measured since the "
            "start or a loss; 1: at its limit",
            POSITION_STATE_NUMBER_COUNT);
    }
    return rc;
}

static int add_tool_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->tool_count; i++) {
        struct session_tool *tool = &s->tools[i];
        rc = add_layout_field_of_name(
            s, &tool->field, TACT_FIELD_OUTPUT, s->scene->hands[tool->hand].name, "_tool",
            "device's displacement m, attitude quat_wxyz, world axes; ticks until "
            "then; share of the force that goes out; 1: the device does not lead",
            TOOL_STATE_NUMBER_COUNT);
    }
    return rc;
}

/* Logs of results before 45 lack the last two numbers. */
size_t tact_session_remote_state_number_count(const struct tact_session *s)
{
    return REMOTE_STATE_NUMBER_COUNT - (s->precedes_results_45 ? 2 : 0);
}

static int add_remote_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->remote_count; i++) {
        struct session_remote *r = &s->remotes[i];
        rc = add_layout_field_of_name(
            s, &r->field, TACT_FIELD_OUTPUT, s->hands[r->hand].joint_names[r->link], "_remote",
            "end of the line rad or m; target rate, correction rad/s or m/s; "
            "force N m or N; waves used, sent sqrt(W); offset, other position rad "
            "or m; ticks engaged; met; latched; share; tank, work J; wait s; "
            "zeroes its offset",
            (int)tact_session_remote_state_number_count(s));
        if (!rc && r->mode == REMOTE_MODEL) {
            rc = add_layout_field_of_name(
                s, &r->wall_model_field, TACT_FIELD_OUTPUT, s->hands[r->hand].joint_names[r->link],
                "_wall",
                "found: place m, stiffness N/m, sign of the force; place, force, both of the last "
                "sample, sums dq^2, dq dF, touching; felt: place, stiffness, late force, joint, "
                "last stiffness; ticks limited",
                REMOTE_MODEL_NUMBERS);
        }
    }
    return rc;
}

static int add_grip_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->grip_count; i++) {
        struct session_grip *g = &s->grips[i];
        rc = add_layout_field_of_name(
            s, &g->field, TACT_FIELD_OUTPUT, s->hands[g->def->hand].joint_names[g->def->link[0]],
            "_grip",
            "push, force of the drives N; ticks short of the command; points (3, "
            "3) m, frames of the links; targets without the push rad or m",
            GRIP_STATE_NUMBERS + g->commanded_joint_count);
    }
    return rc;
}

static int add_hold_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->hold_count; i++) {
        const char *body = s->bodies[s->holds[i].body].name;
        const char *hand = s->scene->hands[s->holds[i].hand].name;
        char name[TACT_FIELD_NAME];
        /* long names are cut, so that the suffix is whole */
        const int max_characters_of_each_name =
            strlen(body) + strlen(hand) + sizeof "__hold" > TACT_FIELD_NAME
                ? (int)(TACT_FIELD_NAME - sizeof "__hold") / 2
                : TACT_FIELD_NAME;
        snprintf(name, sizeof name, "%.*s_%.*s", max_characters_of_each_name, body,
                 max_characters_of_each_name, hand);
        rc = add_layout_field_of_name(s, &s->holds[i].field, TACT_FIELD_OUTPUT, name, "_hold",
                                      "grip force, load force N; slip m, turn rad so far",
                                      SESSION_HOLD_NUMBER_COUNT);
    }
    return rc;
}

static int add_constraint_fields(struct tact_session *s)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < s->scene->joints_count; i++) {
        struct session_constraint *b = &s->constraints[i];
        const char *name = s->scene->joints[i].name;
        rc = add_layout_field_of_name(s, &b->wrench, TACT_FIELD_OUTPUT, name, "_wrench",
                                      "N, N m on the first body, world, about the joint", 6);
        rc = rc ? rc
                : add_layout_field_of_name(s, &b->joint, TACT_FIELD_OUTPUT, name, "_joint",
                                           "value rad or m; stop -1, 0, 1; joint m, world (3)", 5);
        rc = rc ? rc
                : add_layout_field_of_name(s, &b->warm, TACT_FIELD_OUTPUT, name, "_warm",
                                           "warm start: impulse N s, N m s, joint's axes", 6);
    }
    return rc;
}

/* Targets set by a program's controller are inputs. */
static enum tact_field_kind target_field_kind(struct tact_session *s, const struct tact_log *log)
{
    const struct tact_field *logged_field = find_next_replayed_field(s, log);
    s->are_targets_inputs =
        log ? logged_field && logged_field->kind == TACT_FIELD_INPUT : s->options.control != NULL;
    return s->are_targets_inputs ? TACT_FIELD_INPUT : TACT_FIELD_OUTPUT;
}

static int add_motion_fields(struct tact_session *s, const struct tact_log *log)
{
    int rc = 0;
    for (int i = 0; !rc && i < tact_world_hand_count(s->world); i++) {
        struct session_hand *h = &s->hands[i];
        const char *name = s->scene->hands[i].name;
        int n = tact_hand_count(tact_world_hand(s->world, i));
        rc = add_layout_field_of_name(s, &h->q, TACT_FIELD_OUTPUT, name, "_position",
                                      "rad or m, by link", n);
        rc = rc ? rc
                : add_layout_field_of_name(s, &h->v, TACT_FIELD_OUTPUT, name, "_velocity",
                                           "rad/s or m/s, by link", n);
        rc = rc ? rc
                : add_layout_field_of_name(s, &h->target, target_field_kind(s, log), name,
                                           "_target", "rad or m, by link", n);
        rc = rc ? rc
                : add_layout_field_of_name(s, &h->torque, TACT_FIELD_OUTPUT, name, "_torque",
                                           "of the drives, N m or N", n);
        if (!rc && h->has_joint_stops_or_friction) {
            rc = add_layout_field_of_name(s, &h->reaction, TACT_FIELD_OUTPUT, name, "_reaction",
                                          "of stops and dry friction, N m or N, by link", n);
            rc = rc ? rc
                    : add_layout_field_of_name(s, &h->stop, TACT_FIELD_OUTPUT, name, "_stop",
                                               "stop -1 lower, 1 upper, 0 none, by link", n);
        }
    }
    for (int i = 0; !rc && i < tact_world_body_count(s->world); i++) {
        struct session_body *b = &s->bodies[i];
        rc = add_layout_field_of_name(s, &b->center, TACT_FIELD_OUTPUT, b->name, "_center",
                                      "centre of mass m, quat_wxyz, world", 7);
        rc = rc ? rc
                : add_layout_field_of_name(s, &b->twist, TACT_FIELD_OUTPUT, b->name, "_twist",
                                           "m/s, rad/s at the centre of mass, world", 6);
        rc = rc ? rc
                : add_layout_field_of_name(s, &b->pose, TACT_FIELD_OUTPUT, b->name, "_pose",
                                           "body frame m, quat_wxyz, world", 7);
    }
    return rc;
}

static int add_all_session_fields(struct tact_session *s, const struct tact_log *log,
                                  struct tact_error *err)
{
    int rc = add_device_fields(s);
    rc = rc ? rc : add_sensor_fields(s);
    rc = rc ? rc : add_coupling_fields(s);
    rc = rc ? rc : add_drive_port_fields(s, log);
    rc = rc ? rc : add_admittance_fields(s);
    rc = rc ? rc : add_position_output_fields(s);
    rc = rc ? rc : add_tool_fields(s);
    rc = rc ? rc : add_remote_fields(s);
    rc = rc ? rc : add_grip_fields(s);
    if (log && !tact_log_element(log)) {
        rc = rc ? rc : tact_session_layout_contacts(s, log, err);
    }
    rc = rc ? rc : add_constraint_fields(s);
    rc = rc ? rc : add_motion_fields(s, log);
    rc = rc ? rc
            : add_layout_field_of_name(s, &s->requested_outputs_field, TACT_FIELD_OUTPUT, "outputs",
                                       "_wanted", "channel units, before the safety chain",
                                       s->output_count);
    rc = rc ? rc
            : add_layout_field_of_name(s, &s->sent_outputs_field, TACT_FIELD_OUTPUT, "outputs",
                                       "_sent", "channel units, after the safety chain",
                                       s->output_count);
    rc = rc ? rc
            : add_layout_field_of_name(
                  s, &s->output_gate_field, TACT_FIELD_OUTPUT, "outputs", "_gate",
                  "share let through: 0 while the device or the joint's sensor is lost",
                  s->output_count);
    rc = rc ? rc
            : add_layout_field_of_name(s, &s->safety_field, TACT_FIELD_OUTPUT, "safety", "_state",
                                       "of the safety chain",
                                       tact_safety_state_size(s->output_count));
    rc = rc ? rc
            : add_layout_field_of_name(s, &s->solver_field, TACT_FIELD_OUTPUT, "solver", "",
                                       "contacts, iterations, residual, update, deadman", 5);
    rc = rc ? rc
            : add_layout_field_of_name(
                  s, &s->tick_timing_field, TACT_FIELD_TIMING, "timing", "",
                  "wake latency ns, compute of the tick before ns, skipped, lost", 4);
    /* records without contact lists had contacts before joints, and no counts */
    if (rc || (log && !tact_log_element(log))) {
        return rc;
    }
    char order[TACT_FIELD_UNIT]; /* the text is shortened as all count names would not fit */
    snprintf(order, sizeof order, "%s to %s, in the order of enum tact_solve_count",
             tact_solve_count_name(0), tact_solve_count_name(TACT_SOLVE_COUNTS - 1));
    rc = add_layout_field_of_name(s, &s->solver_counts_field, TACT_FIELD_OUTPUT, "solver",
                                  "_counts", order, TACT_SOLVE_COUNTS);
    rc =
        rc ? rc
           : add_layout_field_of_name(
                 s, &s->methods_field, TACT_FIELD_TIMING, "moments", "_methods",
                 "pairs measured on the host by closed_form, sphere_mesh, half_space, convex, rim, "
                 "prisms, all_prisms, turned",
                 TACT_MOMENTS_COUNTS);
    const struct tact_field *logged_field = find_next_replayed_field(s, log);
    if (!log || (logged_field && !strcmp(logged_field->name, "program_requests"))) {
        rc = rc ? rc
                : add_layout_field_of_name(
                      s, &s->requests_field, TACT_FIELD_INPUT, "program", "_requests",
                      "sum of 1: fault cleared, 2: outputs armed, 4: a target that is not finite",
                      1);
    }
    /* logs of earlier versions have no such fields */
    if (!log || find_next_replayed_field(s, log)) {
        rc = rc ? rc : add_hold_fields(s);
    }
    return rc ? rc : tact_session_layout_contacts(s, log, err);
}

int tact_session_layout_record_fields(struct tact_session *s, const struct tact_log *log,
                                      struct tact_error *err)
{
    int rc = add_all_session_fields(s, log, err);
    rc = rc ? rc : tact_session_list_record_copies(s);
    if (rc != -EINVAL || (err && err->text[0])) {
        return rc;
    }
    return tact_error_set(err, -E2BIG,
                          "the record of a tick would be longer than %u numbers: reduce the number "
                          "of bodies, links or devices",
                          TACT_LAYOUT_MAX);
}

TACT_IN_TICK_RECORD_SECTION void tact_session_fill_record(struct tact_session *s,
                                                          struct tact_record *record)
{
    double *v = record->values;
    tact_session_copy_state_to_record(s, v);
    for (int i = 0; i < s->device_count; i++) {
        const struct session_device *d = &s->devices[i];
        v[d->field] = d->input.state;
        v[d->field + 1] = (double)d->input.stamp_ns;
    }
    tact_session_fill_hold_fields(s, v);
    tact_session_fill_contacts(s, v);
    for (int i = 0; i < tact_world_constraint_count(s->world); i++) {
        v[s->constraints[i].joint + 1] = tact_world_constraint(s->world, i)->stop;
    }
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        tact_session_body_pose(s, i, (struct tact_pose *)(v + s->bodies[i].pose));
    }
    tact_safety_save(&s->safety, v + s->safety_field);
    v[s->solver_field] = s->solve_stats.contacts;
    v[s->solver_field + 1] = s->solve_stats.iterations;
    v[s->solver_field + 4] = s->is_deadman_held;
    for (int i = 0; s->solver_counts_field && i < TACT_SOLVE_COUNTS; i++) {
        v[s->solver_counts_field + (uint32_t)i] = s->solve_stats.counts[i];
    }
    for (int i = 0; s->methods_field && i < TACT_MOMENTS_COUNTS; i++) {
        v[s->methods_field + (uint32_t)i] =
            (double)(s->report.methods[i] - s->moment_method_counts_before_tick[i]);
    }
    if (s->requests_field) {
        v[s->requests_field] = s->requests_of_tick;
    }
}

void tact_session_replay_inputs(struct tact_session *s, const struct tact_record *record)
{
    const double *v = record->values;
    for (int i = 0; i < s->device_count; i++) {
        struct session_device *d = &s->devices[i];
        d->input.state = (int32_t)v[d->field];
        d->input.stamp_ns = (int64_t)v[d->field + 1];
        memcpy(d->input.channel, v + d->field + 2, sizeof *v * (size_t)d->device.info.input_count);
    }
}

void tact_session_restore_state(struct tact_session *s, const struct tact_record *record)
{
    const double *v = record->values;
    tact_session_replay_inputs(s, record);
    tact_session_copy_record_to_state(s, v);
    tact_session_restore_holds(s, record);
    tact_world_refresh(s->world);
    tact_session_restore_contacts(s, v);
    tact_safety_load(&s->safety, v + s->safety_field);
    tact_world_begin(s->world);
}
