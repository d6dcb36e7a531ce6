/*
 * The record of a tick: what it holds, and its way to and from the session.
 *
 * A record holds what came in (devices, moments and their age) and what followed (state at the end
 * of the tick, warm start, wrenches, outputs), so that a replay can start from any record and
 * compare every later one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "rt/session/session_internal.h"

static const char *moments_unit =
    "volume m^3, centroid m (3), second moment m^5 xx yy zz xy xz yz, "
    "grad m^2 m^3 (6)";

/* Adds a field called prefix_name_suffix; *at gets its offset. */
static int add(struct tact_session *s, uint32_t *at, enum tact_field_kind kind, const char *name,
               const char *suffix, const char *unit, int count)
{
    char full[TACT_FIELD_NAME * 4];
    snprintf(full, sizeof full, "%s%s", name, suffix);
    long offset = count > 0 ? tact_layout_add(&s->layout, kind, full, unit, (uint32_t)count) : 0;
    *at = offset > 0 ? (uint32_t)offset : 0;
    return offset < 0 ? (int)offset : 0;
}

static int device_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->device_count; i++) {
        struct session_device *d = &s->devices[i];
        rc = add(s, &d->field, TACT_FIELD_INPUT, s->scene->devices[i].name, "_input",
                 "state, stamp ns, then one value a channel", 2 + d->device.info.input_count);
    }
    return rc;
}

/* Where measured joints were seen last: their rates go by it. */
static int sensor_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->input_count; i++) {
        struct session_input *in = &s->inputs[i];
        if (in->measures) {
            rc = add(s, &in->field, TACT_FIELD_OUTPUT, s->hands[in->hand].names[in->link],
                     "_measured", "rad or m, rad/s or m/s, ticks until then, 0: lost", 3);
        }
    }
    return rc;
}

static int pair_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < tact_world_pair_count(s->world); i++) {
        struct session_pair *p = &s->pairs[i];
        const char *name = p->name;
        rc = add(s, &p->status, TACT_FIELD_INPUT, name, "_status",
                 "1 overlap, 0 none, negative errno; age in ticks, 0 host", 2);
        rc = rc ? rc : add(s, &p->moments, TACT_FIELD_INPUT, name, "_moments", moments_unit, 16);
        rc = rc ? rc
                : add(s, &p->wrench, TACT_FIELD_OUTPUT, name, "_wrench",
                      "N, N m on the first, world, about the patch's centre", 6);
        rc = rc ? rc
                : add(s, &p->patch, TACT_FIELD_OUTPUT, name, "_patch",
                      "centre m (3), normal (3), depth m, spin arm m", 8);
        rc = rc ? rc
                : add(s, &p->warm, TACT_FIELD_OUTPUT, name, "_warm",
                      "warm start: impulse N s, N m s (6), about the point m (3)", 9);
        rc = rc ? rc
                : add(s, &p->direction, TACT_FIELD_OUTPUT, name, "_direction", "last normal", 3);
        rc = rc ? rc
                : add(s, &p->limits, TACT_FIELD_OUTPUT, name, "_limits",
                      "1 open, 2 friction, 4 edge, 8 spin, 16 joint", 1);
        rc = rc ? rc
                : add(s, &p->margins, TACT_FIELD_OUTPUT, name, "_margins",
                      "left of each limit, -1 to 1: normal, slip, friction, spin, edge, joint",
                      TACT_MARGIN_COUNT);
        if (!rc && tact_world_piece(s->world, i, 0)) {
            rc = add(s, &p->pieces, TACT_FIELD_OUTPUT, name, "_pieces",
                     "each: centre m, normal, impulse on the first N s, N m s", 12 * TACT_PIECES);
        }
        if (!rc && p->preloaded) {
            rc = add(s, &p->preload, TACT_FIELD_OUTPUT, name, "_preload", SESSION_PRELOAD_UNIT, 1);
        }
        if (!rc && tact_world_law(s->world, i)->tangential_compliance > 0.0) {
            rc = add(s, &p->springs, TACT_FIELD_OUTPUT, name, "_springs",
                     "each: impulse N s, N m s, angle rad, world; of the patch, then its pieces",
                     9 * (tact_world_piece(s->world, i, 0) ? 1 + TACT_PIECES : 1));
        }
    }
    return rc;
}

static int bond_fields(struct tact_session *s)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < s->scene->joints_count; i++) {
        struct session_bond *b = &s->bonds[i];
        const char *name = s->scene->joints[i].name;
        rc = add(s, &b->wrench, TACT_FIELD_OUTPUT, name, "_wrench",
                 "N, N m on the first body, world, about the joint", 6);
        rc = rc ? rc
                : add(s, &b->joint, TACT_FIELD_OUTPUT, name, "_joint",
                      "value rad or m; stop -1, 0, 1; joint m, world (3)", 5);
        rc = rc ? rc
                : add(s, &b->warm, TACT_FIELD_OUTPUT, name, "_warm",
                      "warm start: impulse N s, N m s, joint's axes", 6);
    }
    return rc;
}

static int motion_fields(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < tact_world_hand_count(s->world); i++) {
        struct session_hand *h = &s->hands[i];
        const char *name = s->scene->hands[i].name;
        int n = tact_hand_count(tact_world_hand(s->world, i));
        rc = add(s, &h->q, TACT_FIELD_OUTPUT, name, "_position", "rad or m, by link", n);
        rc = rc ? rc
                : add(s, &h->v, TACT_FIELD_OUTPUT, name, "_velocity", "rad/s or m/s, by link", n);
        rc = rc ? rc
                : add(s, &h->target, TACT_FIELD_OUTPUT, name, "_target", "rad or m, by link", n);
        rc = rc ? rc
                : add(s, &h->torque, TACT_FIELD_OUTPUT, name, "_torque", "of the drives, N m or N",
                      n);
    }
    for (int i = 0; !rc && i < tact_world_body_count(s->world); i++) {
        struct session_body *b = &s->bodies[i];
        rc = add(s, &b->center, TACT_FIELD_OUTPUT, b->name, "_center",
                 "centre of mass m, quat_wxyz, world", 7);
        rc = rc ? rc
                : add(s, &b->twist, TACT_FIELD_OUTPUT, b->name, "_twist",
                      "m/s, rad/s at the centre of mass, world", 6);
        rc = rc ? rc
                : add(s, &b->pose, TACT_FIELD_OUTPUT, b->name, "_pose",
                      "body frame m, quat_wxyz, world", 7);
    }
    return rc;
}

static int all_fields(struct tact_session *s)
{
    int rc = device_fields(s);
    rc = rc ? rc : sensor_fields(s);
    rc = rc ? rc : pair_fields(s);
    rc = rc ? rc : bond_fields(s);
    rc = rc ? rc : motion_fields(s);
    rc = rc ? rc
            : add(s, &s->wanted_field, TACT_FIELD_OUTPUT, "outputs", "_wanted",
                  "channel units, before the safety chain", s->output_count);
    rc = rc ? rc
            : add(s, &s->sent_field, TACT_FIELD_OUTPUT, "outputs", "_sent",
                  "channel units, after the safety chain", s->output_count);
    rc = rc ? rc
            : add(s, &s->gate_field, TACT_FIELD_OUTPUT, "outputs", "_gate",
                  "share let through: 0 while the device or the joint's sensor is lost",
                  s->output_count);
    rc = rc ? rc
            : add(s, &s->safety_field, TACT_FIELD_OUTPUT, "safety", "_state", "of the safety chain",
                  tact_safety_state_size(s->output_count));
    rc = rc ? rc
            : add(s, &s->solver_field, TACT_FIELD_OUTPUT, "solver", "",
                  "contacts, iterations, residual, update, deadman", 5);
    return rc ? rc
              : add(s, &s->timing_field, TACT_FIELD_TIMING, "timing", "",
                    "wake latency ns, compute of the tick before ns, skipped, lost", 4);
}

int tact_session_layout_fields(struct tact_session *s, struct tact_error *err)
{
    int rc = all_fields(s);
    if (rc != -EINVAL) {
        return rc;
    }
    return tact_error_set(err, -E2BIG,
                          "a tick's record would be longer than %u numbers: %d pairs of shapes may "
                          "touch; expected fewer bodies, links, shapes or devices",
                          TACT_LAYOUT_MOST, tact_world_pair_count(s->world));
}

/* Of each piece where it was, which way it faced, what it transmitted: its warm start. */
static void fill_pieces(struct tact_session *s, int pair, double *v)
{
    for (int k = 0; k < TACT_PIECES && tact_world_piece(s->world, pair, 0); k++, v += 12) {
        const struct tact_contact *piece = tact_world_piece(s->world, pair, k);
        tact_v3_copy(v, piece->warm_point);
        tact_v3_copy(v + 3, piece->patch.frame);
        memcpy(v + 6, piece->warm, sizeof piece->warm);
    }
}

static void restore_pieces(struct tact_session *s, int pair, const double *v)
{
    for (int k = 0; k < TACT_PIECES && tact_world_piece(s->world, pair, 0); k++, v += 12) {
        struct tact_contact *piece = tact_world_piece(s->world, pair, k);
        tact_v3_copy(piece->warm_point, v);
        tact_v3_copy(piece->patch.frame, v + 3);
        memcpy(piece->warm, v + 6, sizeof piece->warm);
    }
}

/* The springs of a pair's patch, k = 0, or of its pieces from 1 on; NULL after the last. */
static struct tact_springs *springs_of(struct tact_session *s, int pair, int k)
{
    struct tact_contact *c = k == 0             ? tact_world_contact(s->world, pair)
                             : k <= TACT_PIECES ? tact_world_piece(s->world, pair, k - 1)
                                                : NULL;
    int any = tact_world_law(s->world, pair)->tangential_compliance > 0.0;
    return any && c ? &c->springs : NULL;
}

static void fill_springs(struct tact_session *s, int pair, double *v)
{
    const struct tact_springs *springs;
    for (int k = 0; (springs = springs_of(s, pair, k)); k++, v += 9) {
        memcpy(v, springs->impulse, sizeof springs->impulse);
        tact_v3_copy(v + 6, springs->angle);
    }
}

static void restore_springs(struct tact_session *s, int pair, const double *v)
{
    struct tact_springs *springs;
    for (int k = 0; (springs = springs_of(s, pair, k)); k++, v += 9) {
        memcpy(springs->impulse, v, sizeof springs->impulse);
        tact_v3_copy(springs->angle, v + 6);
    }
}

static void fill_pairs(struct tact_session *s, double *v)
{
    for (int i = 0; i < tact_world_pair_count(s->world); i++) {
        const struct session_pair *p = &s->pairs[i];
        const struct tact_contact *c = tact_world_contact(s->world, i);
        const struct tact_patch *patch = &c->patch;
        v[p->status] = p->got;
        v[p->status + 1] = p->age;
        memcpy(v + p->moments, &c->moments, 16 * sizeof *v);
        memcpy(v + p->wrench, c->wrench, sizeof c->wrench);
        memset(v + p->patch, 0, 8 * sizeof *v);
        if (c->touching) {
            tact_v3_copy(v + p->patch, patch->center);
            tact_v3_copy(v + p->patch + 3, patch->frame);
            v[p->patch + 6] = patch->depth;
            v[p->patch + 7] = c->spin_arm;
        }
        memcpy(v + p->warm, c->warm, sizeof c->warm);
        tact_v3_copy(v + p->warm + 6, c->warm_point);
        tact_v3_copy(v + p->direction, tact_world_directions(s->world) + 3 * i);
        v[p->limits] = c->limits;
        memcpy(v + p->margins, &c->margins, sizeof c->margins);
        fill_pieces(s, i, v + p->pieces);
        fill_springs(s, i, v + p->springs);
        if (p->preloaded) {
            v[p->preload] = c->preload;
        }
    }
}

static void fill_bonds(struct tact_session *s, double *v)
{
    for (int i = 0; i < tact_world_bond_count(s->world); i++) {
        const struct session_bond *b = &s->bonds[i];
        const struct tact_bond *bond = tact_world_bond(s->world, i);
        memcpy(v + b->wrench, bond->wrench, sizeof bond->wrench);
        v[b->joint] = bond->value;
        v[b->joint + 1] = bond->stop;
        tact_v3_copy(v + b->joint + 2, bond->point);
        memcpy(v + b->warm, bond->impulse, sizeof bond->impulse);
    }
}

static void fill_motion(struct tact_session *s, double *v)
{
    for (int i = 0; i < tact_world_hand_count(s->world); i++) {
        const struct session_hand *h = &s->hands[i];
        struct tact_hand *hand = tact_world_hand(s->world, i);
        struct tact_hand_state state = tact_hand_state(hand);
        size_t bytes = sizeof *v * (size_t)tact_hand_count(hand);
        memcpy(v + h->q, state.q, bytes);
        memcpy(v + h->v, state.v, bytes);
        memcpy(v + h->target, state.target, bytes);
        memcpy(v + h->torque, state.torque, bytes);
    }
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const struct session_body *b = &s->bodies[i];
        const struct tact_body *body = tact_world_body(s->world, i);
        struct tact_pose pose;
        tact_session_body_pose(s, i, &pose);
        memcpy(v + b->center, &body->pose, 7 * sizeof *v);
        memcpy(v + b->twist, body->twist, sizeof body->twist);
        memcpy(v + b->pose, &pose, 7 * sizeof *v);
    }
}

void tact_session_fill(struct tact_session *s, struct tact_record *record)
{
    double *v = record->values;
    for (int i = 0; i < s->device_count; i++) {
        const struct session_device *d = &s->devices[i];
        v[d->field] = d->input.state;
        v[d->field + 1] = (double)d->input.stamp_ns;
        memcpy(v + d->field + 2, d->input.channel, sizeof *v * (size_t)d->device.info.input_count);
    }
    for (int i = 0; i < s->input_count; i++) {
        if (s->inputs[i].measures) {
            memcpy(v + s->inputs[i].field, &s->inputs[i].state, sizeof s->inputs[i].state);
        }
    }
    fill_pairs(s, v);
    fill_bonds(s, v);
    fill_motion(s, v);
    memcpy(v + s->wanted_field, s->wanted, sizeof *v * (size_t)s->output_count);
    memcpy(v + s->sent_field, s->sent, sizeof *v * (size_t)s->output_count);
    for (int i = 0; i < s->output_count; i++) {
        v[s->gate_field + (uint32_t)i] = s->outputs[i].gate;
    }
    tact_safety_save(&s->safety, v + s->safety_field);
    v[s->solver_field] = s->solve.contacts;
    v[s->solver_field + 1] = s->solve.iterations;
    v[s->solver_field + 2] = s->solve.residual;
    v[s->solver_field + 3] = s->solve.update;
    v[s->solver_field + 4] = s->deadman;
}

void tact_session_feed(struct tact_session *s, const struct tact_record *record)
{
    const double *v = record->values;
    for (int i = 0; i < s->device_count; i++) {
        struct session_device *d = &s->devices[i];
        d->input.state = (int32_t)v[d->field];
        d->input.stamp_ns = (int64_t)v[d->field + 1];
        memcpy(d->input.channel, v + d->field + 2, sizeof *v * (size_t)d->device.info.input_count);
    }
}

static void restore_motion(struct tact_session *s, const double *v)
{
    for (int i = 0; i < tact_world_hand_count(s->world); i++) {
        const struct session_hand *h = &s->hands[i];
        struct tact_hand *hand = tact_world_hand(s->world, i);
        struct tact_hand_state state = tact_hand_state(hand);
        size_t bytes = sizeof *v * (size_t)tact_hand_count(hand);
        memcpy(state.q, v + h->q, bytes);
        memcpy(state.v, v + h->v, bytes);
        memcpy(state.target, v + h->target, bytes);
        memcpy(state.torque, v + h->torque, bytes);
    }
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const struct session_body *b = &s->bodies[i];
        struct tact_body *body = tact_world_body(s->world, i);
        memcpy(&body->pose, v + b->center, 7 * sizeof *v);
        memcpy(body->twist, v + b->twist, sizeof body->twist);
    }
}

void tact_session_restore(struct tact_session *s, const struct tact_record *record)
{
    const double *v = record->values;
    tact_session_feed(s, record);
    for (int i = 0; i < s->input_count; i++) {
        if (s->inputs[i].measures) {
            memcpy(&s->inputs[i].state, v + s->inputs[i].field, sizeof s->inputs[i].state);
        }
    }
    for (int i = 0; i < s->output_count; i++) {
        s->outputs[i].gate = v[s->gate_field + (uint32_t)i];
    }
    restore_motion(s, v);
    tact_world_refresh(s->world);
    for (int i = 0; i < tact_world_pair_count(s->world); i++) {
        const struct session_pair *p = &s->pairs[i];
        tact_world_keep_near(s->world, i);
        struct tact_contact *c = tact_world_contact(s->world, i);
        memcpy(c->warm, v + p->warm, sizeof c->warm);
        tact_v3_copy(c->warm_point, v + p->warm + 6);
        tact_world_set_direction(s->world, i, v + p->direction);
        restore_pieces(s, i, v + p->pieces);
        restore_springs(s, i, v + p->springs);
        c->preload = p->preloaded ? v[p->preload] : 0.0;
        c->starting = 0;
        c->touching = 0;
    }
    for (int i = 0; i < tact_world_bond_count(s->world); i++) {
        struct tact_bond *bond = tact_world_bond(s->world, i);
        memcpy(bond->impulse, v + s->bonds[i].warm, sizeof bond->impulse);
    }
    tact_safety_load(&s->safety, v + s->safety_field);
    tact_world_begin(s->world);
}
