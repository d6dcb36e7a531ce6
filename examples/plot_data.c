/* Reads a session from its log into columns of values to be drawn, in two passes. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "contact/local/local.h"
#include "contact/vec.h"
#include "plot.h"
#include "rt/session/replay.h"

int plot_pair_column(int pair, int which)
{
    return pair * PAIR_COLUMNS + which;
}

int plot_joint_column(const struct plot_session *s, int joint)
{
    return s->pair_count * PAIR_COLUMNS + 2 * joint;
}

int plot_body_column(const struct plot_session *s, int body)
{
    return plot_joint_column(s, s->joint_count) + 2 * body;
}

int plot_channel_column(const struct plot_session *s, int channel)
{
    return plot_body_column(s, s->body_count) + channel;
}

int plot_joint_stop_column(const struct plot_session *s, int joint)
{
    return plot_channel_column(s, s->channel_count) + joint;
}

int plot_hold_column(const struct plot_session *s, int hold, int which)
{
    return plot_joint_stop_column(s, s->joint_count) + HOLD_COLUMNS * hold + which;
}

int plot_tie_column(const struct plot_session *s, int tie, int which)
{
    return plot_hold_column(s, s->hold_count, 0) + TIE_COLUMNS * tie + which;
}

int plot_link_column(const struct plot_session *s, int which)
{
    return plot_tie_column(s, s->tie_count, 0) + which;
}

int plot_port_column(const struct plot_session *s, int port, int which)
{
    return plot_link_column(s, s->tie_count > 0 ? LINK_COLUMNS : 0) + PORT_COLUMNS * port + which;
}

int plot_find_in_first_session(const struct plot_session *s, int count, int session, int index,
                               const char *(*name_of)(const struct plot_session *s, int index))
{
    for (int i = 0; i < count; i++) {
        if (!strcmp(name_of(s, i), name_of(&s[session], index))) {
            return i;
        }
    }
    return -1;
}

int plot_latency_column(const struct plot_session *s)
{
    return plot_port_column(s, s->port_count, 0);
}

/* Chooses the indices with the largest weights, and keeps them in ascending order. */
static int choose_indices_of_largest_weights(const double *weight, int count, int most, int *out)
{
    int used = 0;
    for (int i = 0; i < count && used < most; i++) {
        int higher_ranked_index_count = 0;
        for (int k = 0; k < count; k++) {
            higher_ranked_index_count += weight[k] > weight[i] || (weight[k] == weight[i] && k < i);
        }
        if (weight[i] > 0.0 && higher_ranked_index_count < most) {
            out[used++] = i;
        }
    }
    return used;
}

static void fill_plot_columns_of_pair(const struct tact_scene_log_pair *pair, const double *v,
                                      double *out)
{
    struct survey_wrench w = survey_wrench_of_pair(pair, v);
    int64_t limits = w.normal > 0.0 ? survey_round_to_integer(v[pair->limits]) : 0;
    out[PAIR_NORMAL_FORCE] = w.normal;
    out[PAIR_FRICTION] = w.friction;
    out[PAIR_FRICTION_LIMIT] = pair->friction * w.normal;
    out[PAIR_TORSION] = w.torsion;
    out[PAIR_TORSION_LIMIT] = pair->friction * w.normal * v[pair->patch + 7];
    out[PAIR_SLIDING_FRICTION] = limits & TACT_LIMIT_CONE ? w.friction : NAN;
    out[PAIR_SPINNING_TORSION] = limits & TACT_LIMIT_SPIN ? w.torsion : NAN;
}

/* Tracks the rotation from the initial orientation: its angle about the axis of the last one,
 * continuous over whole turns. NaN, which changes nothing, for an orientation that is not finite.
 */
static double track_hinge_angle(struct plot_body_rotation *turn, const double start[4],
                                const double now[4])
{
    const double inverse_start_rotation[4] = {start[0], -start[1], -start[2], -start[3]};
    double q[4], period = 2.0 * acos(-1.0);
    tact_quat_mul(q, now, inverse_start_rotation);
    double size = tact_v3_norm(q + 1), sign = tact_v3_dot(q + 1, turn->axis) < 0.0 ? -1.0 : 1.0;
    double angle = 2.0 * atan2(sign * size, q[0]);
    if (!isfinite(angle)) {
        return NAN;
    }
    turn->angle = angle + period * round((turn->angle - angle) / period);
    if (size > 0.5) { /* near whole turns the computed axis is not that of the main rotation */
        tact_v3_scale(turn->axis, q + 1, sign / size);
    }
    return turn->angle;
}

static int is_plotted_joint_a_constraint(const struct plot_session *s, int joint)
{
    return s->joint[joint] >= s->scene_log.joint_count;
}

const char *plot_joint_name(const struct plot_session *s, int joint)
{
    return survey_joint_name(&s->scene_log, s->joint[joint]);
}

int plot_is_joint_prismatic(const struct plot_session *s, int joint)
{
    int of = s->joint[joint], hands = s->scene_log.joint_count;
    return of < hands ? s->scene_log.joints[of].slides
                      : !strcmp(s->scene_log.scene->joints[of - hands].type, "slider");
}

/* The value of a mechanism's joint; a hinge's, which the log has from -pi to pi, continuous over
 * whole turns. */
static double get_constraint_coordinate(struct plot_session *s, int joint, const double *v)
{
    double value = v[s->scene_log.constraints[s->joint[joint] - s->scene_log.joint_count].joint];
    if (!plot_is_joint_prismatic(s, joint)) {
        const double period = 2.0 * acos(-1.0);
        value += period * round((s->last_hinge_angle[joint] - value) / period);
        s->last_hinge_angle[joint] = isfinite(value) ? value : s->last_hinge_angle[joint];
    }
    return value;
}

static void fill_joint_columns(struct plot_session *s, int joint, const double *v, double *out)
{
    double scale = plot_is_joint_prismatic(s, joint) ? 1e3 : 180.0 / acos(-1.0);
    if (is_plotted_joint_a_constraint(s, joint)) {
        out[0] = scale * get_constraint_coordinate(s, joint, v);
        out[1] = NAN; /* nothing drives it */
        return;
    }
    out[0] = scale * v[s->scene_log.joints[s->joint[joint]].position];
    out[1] = scale * v[s->scene_log.joints[s->joint[joint]].target];
}

static void fill_hold_columns(const double *hold, double *out)
{
    out[HOLD_GRIP_FORCE] = hold[0];
    out[HOLD_LOAD_FORCE] = hold[1];
    out[HOLD_GRIP_TO_LOAD_RATIO] =
        survey_is_hold_loaded(hold[0], hold[1]) ? hold[0] / hold[1] : NAN;
    out[HOLD_SLIP_DISTANCE] = 1e3 * hold[2];
    out[HOLD_SLIP_ANGLE] = 180.0 / acos(-1.0) * hold[3];
}

static void fill_plot_values_of_tick(struct plot_session *s, const double *start, const double *v,
                                     double *out)
{
    for (int i = 0; i < s->pair_count; i++) {
        fill_plot_columns_of_pair(&s->scene_log.pairs[s->pair[i].pair], v,
                                  out + plot_pair_column(i, 0));
    }
    for (int i = 0; i < s->joint_count; i++) {
        double *joint = out + plot_joint_column(s, i);
        fill_joint_columns(s, i, v, joint);
        out[plot_joint_stop_column(s, i)] =
            survey_reached_stop_of_joint(&s->scene_log, s->joint[i], v) != 0.0 ? joint[0] : NAN;
    }
    for (int i = 0; i < s->hold_count; i++) {
        fill_hold_columns(v + s->scene_log.holds[s->hold[i]].hold, out + plot_hold_column(s, i, 0));
    }
    plot_fill_tie_columns(s, v, out);
    for (int i = 0; i < s->port_count; i++) {
        plot_fill_port_columns(s, i, v, out + plot_port_column(s, i, 0));
    }
    for (int i = 0; i < s->body_count; i++) {
        const struct tact_scene_log_body *body = &s->scene_log.bodies[s->body[i]];
        uint32_t pose = body->pose, center = body->center;
        double moved[3];
        tact_v3_sub(moved, v + center, start + center);
        const double angle =
            track_hinge_angle(&s->body_rotation[i], start + pose + 3, v + pose + 3);
        out[plot_body_column(s, i)] = fabs(angle) * 180.0 / acos(-1.0);
        out[plot_body_column(s, i) + 1] = 1e3 * sqrt(tact_v3_dot(moved, moved));
    }
    for (int i = 0; i < s->channel_count; i++) {
        out[plot_channel_column(s, i)] = v[s->channel[i].offset];
    }
    out[plot_latency_column(s)] = v[s->scene_log.timing] * 1e-3;
    out[plot_latency_column(s) + 1] = v[s->scene_log.timing + 1] * 1e-3;
}

/* Adds the values of a tick to the time interval in which it lies. */
static void add_sample_to_time_interval(struct plot_session *s, double time, int gap,
                                        const double *value)
{
    int count = plot_latency_column(s) + 2;
    double index = floor(PLOT_MAX_TIME_INTERVALS * (time - s->from) / (s->to - s->from));
    struct plot_time_interval *b =
        &s->values_by_time_interval[(int)fmin(fmax(index, 0.0), PLOT_MAX_TIME_INTERVALS - 1)];
    for (int i = 0; i < count; i++) {
        b->low[i] = b->used ? fmin(b->low[i], value[i]) : value[i];
        b->high[i] = b->used ? fmax(b->high[i], value[i]) : value[i];
    }
    b->gap |= gap;
    b->time = (b->time * b->used + time) / (b->used + 1);
    b->used++;
}

static void count_duration_in_histogram(uint64_t *histogram_bins, double us)
{
    double bin = us > 0.1 ? floor(20.0 * log10(us / 0.1)) : 0.0;
    histogram_bins[(int)fmin(bin, PLOT_HISTOGRAM_BINS - 1)]++;
}

static int add_pressure_centres(struct plot_session *s, const struct tact_record *before,
                                const struct tact_record *now)
{
    struct tact_world *world = tact_session_world(s->scene_log.session);
    int rc = 0;
    tact_session_request_pressure(s->scene_log.session, s->pressure);
    tact_scene_log_step(&s->scene_log, before, now);
    for (int i = 0; !rc && i < s->pair_count; i++) {
        struct plot_pair *p = &s->pair[i];
        const struct tact_contact *c = tact_world_contact(world, s->scene_log.pairs[p->pair].pair);
        if (!c->touching || c->impulse[0] <= 0.0 ||
            p->pressure_centre_count == PLOT_MAX_DRAWN_PRESSURE_CENTRES) {
            continue;
        }
        p->corner_count = tact_patch_polygon(&c->patch, c->impulse[0] / s->scene_log.scene->period,
                                             TACT_PATCH_CORNERS, p->corner);
        plot_add_pressure_centre(p, c);
        rc = plot_pressure_store(s, p, &c->patch);
    }
    return rc;
}

/* Adds one record: its columns and, at intervals, the centre of pressure. */
static int add_record_to_columns(struct plot_session *s, const struct tact_record *start,
                                 const struct tact_record *before, const struct tact_record *now,
                                 double *first_touch_times)
{
    double value[PLOT_MAX_COLUMNS], time = (double)now->tick * s->scene_log.scene->period;
    uint64_t ticks_between_drawn_centres =
        (uint64_t)((s->to - s->from) / s->scene_log.scene->period /
                   PLOT_MAX_DRAWN_PRESSURE_CENTRES) +
        1;
    int follows_previous_tick = before && now->tick == before->tick + 1,
        compute_column = plot_latency_column(s) + 1;
    fill_plot_values_of_tick(s, start->values, now->values, value);
    for (int i = 0; i < s->pair_count; i++) {
        first_touch_times[i] = first_touch_times[i] < 0.0 && value[plot_pair_column(i, 0)] > 0.0
                                   ? time
                                   : first_touch_times[i];
    }
    if (now->tick < s->ticks[0] || now->tick >= s->ticks[1]) {
        return 0;
    }
    count_duration_in_histogram(s->wake_latency_bins, value[compute_column - 1]);
    tact_histogram_add(&s->wake_latency, survey_round_to_integer(now->values[s->scene_log.timing]));
    if (before) {
        count_duration_in_histogram(s->compute_time_bins, value[compute_column]);
        tact_histogram_add(&s->compute,
                           survey_round_to_integer(now->values[s->scene_log.timing + 1]));
    } else {
        /* no tick precedes this one, so that no interval between ticks is known */
        value[compute_column] = NAN;
    }
    add_sample_to_time_interval(s, time, before && !follows_previous_tick, value);
    return follows_previous_tick && now->tick % ticks_between_drawn_centres == 0
               ? add_pressure_centres(s, before, now)
               : 0;
}

static int read_plotted_records(struct plot_session *s)
{
    size_t bytes = tact_layout_bytes(tact_log_layout(s->log));
    struct tact_record *now = malloc(bytes), *before = malloc(bytes), *start = malloc(bytes);
    double first_touch_times[PLOT_MAX_PAIRS];
    int rc = now && before && start ? tact_log_seek(s->log, 0) : -ENOMEM, first = 1;
    for (int i = 0; i < PLOT_MAX_PAIRS; i++) {
        first_touch_times[i] = -1.0;
    }
    for (rc = rc ? rc : 1; rc > 0 && (rc = tact_log_next(s->log, now)) > 0; first = 0) {
        if (first) {
            memcpy(start, now, bytes);
        }
        int failed = add_record_to_columns(s, start, first ? NULL : before, now, first_touch_times);
        rc = failed ? failed : rc;
        memcpy(before, now, bytes);
    }
    free(now);
    free(before);
    free(start);
    plot_collect_time_marks(s, first_touch_times);
    for (int i = 0; i < s->pair_count; i++) {
        plot_scale_pressure_centres(&s->pair[i]);
    }
    return rc;
}

/* Chooses the device channels whose values change. */
static int choose_plotted_channels(struct plot_session *s)
{
    struct tact_record *r = malloc(tact_layout_bytes(tact_log_layout(s->log)));
    double *start = calloc(tact_log_layout(s->log)->size, sizeof *start);
    uint8_t *value_change_flags = calloc(tact_log_layout(s->log)->size, 1);
    int rc = r && start && value_change_flags ? tact_log_seek(s->log, 0) : -ENOMEM, ticks = 0;
    for (rc = rc ? rc : 1; rc > 0 && (rc = tact_log_next(s->log, r)) > 0; ticks++) {
        for (uint32_t k = 0; k < tact_log_layout(s->log)->size; k++) {
            start[k] = ticks ? start[k] : r->values[k];
            value_change_flags[k] |= memcmp(&start[k], &r->values[k], sizeof *start) != 0;
        }
    }
    for (int d = 0; !rc && d < s->scene_log.device_count; d++) {
        for (int c = 0; c < s->scene_log.devices[d].input_count; c++) {
            uint32_t offset = s->scene_log.device_inputs[d] + 2 + (uint32_t)c;
            if (value_change_flags[offset] && s->channel_count < PLOT_MAX_CHANNELS) {
                int k = s->channel_count++;
                s->channel[k].device = d;
                s->channel[k].channel = c;
                s->channel[k].offset = offset;
            }
        }
    }
    free(r);
    free(start);
    free(value_change_flags);
    return rc;
}

/* Value of a joint of a hand, then of a mechanism: [rad], or tenths of a metre [0.1 m]. */
static double get_joint_coordinate(const struct tact_scene_log *v, const double *values, int joint)
{
    if (joint >= v->joint_count) {
        int constraint = joint - v->joint_count;
        int slides = !strcmp(v->scene->joints[constraint].type, "slider");
        return values[v->constraints[constraint].joint] * (slides ? 10.0 : 1.0);
    }
    return values[v->joints[joint].position] * (v->joints[joint].slides ? 10.0 : 1.0);
}

/* Whether a joint has a value: a ball or fixed joint of a mechanism has none. */
static int has_joint_scalar_value(const struct tact_scene_log *v, int joint)
{
    const char *type =
        joint < v->joint_count ? "hinge" : v->scene->joints[joint - v->joint_count].type;
    return !strcmp(type, "hinge") || !strcmp(type, "slider");
}

/* Chooses the pairs with the largest force. Returns 0 or -ENOMEM. */
static int choose_plotted_pairs(struct plot_session *s)
{
    const struct tact_scene_log *v = &s->scene_log;
    int pairs[PLOT_MAX_PAIRS], touched = 0;
    double *weight = calloc((size_t)v->pair_count + 1, sizeof *weight);
    if (!weight) {
        return -ENOMEM;
    }
    for (int i = 0; i < v->pair_count; i++) {
        weight[i] = s->log_survey.pairs[i].normal;
        touched += weight[i] > 0.0;
    }
    s->pair_count = choose_indices_of_largest_weights(weight, v->pair_count, PLOT_MAX_PAIRS, pairs);
    for (int i = 0; i < s->pair_count; i++) {
        s->pair[i].pair = pairs[i];
    }
    s->undrawn_object_counts[0] = touched - s->pair_count;
    free(weight);
    return 0;
}

/* Chooses the bodies in hands with the largest grip force. Returns 0 or -ENOMEM. */
static int choose_plotted_holds(struct plot_session *s)
{
    double *weight = calloc((size_t)s->scene_log.hold_count + 1, sizeof *weight);
    if (!weight) {
        return -ENOMEM;
    }
    for (int i = 0; i < s->scene_log.hold_count; i++) {
        weight[i] = s->log_survey.holds[i].grip_force;
        s->undrawn_object_counts[3] += weight[i] > 0.0;
    }
    s->hold_count =
        choose_indices_of_largest_weights(weight, s->scene_log.hold_count, PLOT_MAX_HOLDS, s->hold);
    s->undrawn_object_counts[3] -= s->hold_count;
    free(weight);
    return 0;
}

/* Chooses the ports with the largest forces; none where no port has any force, as of a puck.
 * Returns 0 or -ENOMEM. */
static int choose_plotted_ports(struct plot_session *s)
{
    int chosen_ports[PLOT_MAX_PORTS];
    double largest_force = 0.0;
    double *weight = calloc((size_t)s->scene_log.port_count + 1, sizeof *weight);
    if (!weight) {
        return -ENOMEM;
    }
    for (int i = 0; i < s->scene_log.port_count; i++) {
        /* where there is room, ports without force are drawn too */
        weight[i] = fmax(s->log_survey.ports[i].force, 1e-12);
        largest_force = fmax(largest_force, s->log_survey.ports[i].force);
    }
    if (!(largest_force > 0.0)) {
        free(weight);
        return 0;
    }
    s->port_count = choose_indices_of_largest_weights(weight, s->scene_log.port_count,
                                                      PLOT_MAX_PORTS, chosen_ports);
    for (int i = 0; i < s->port_count; i++) {
        s->port[i].port = chosen_ports[i];
    }
    s->undrawn_object_counts[4] = s->scene_log.port_count - s->port_count;
    free(weight);
    return 0;
}

/* Updates the largest motion of joints and bodies since `start`; a thousandth of a radian counts
 * as a tenth of a millimetre. */
static void update_largest_motions(const struct tact_scene_log *v, const double *start,
                                   const double *now, double *joint, double *body)
{
    for (int i = 0; i < v->joint_count + v->constraint_count; i++) {
        double q = get_joint_coordinate(v, now, i) - get_joint_coordinate(v, start, i);
        joint[i] = has_joint_scalar_value(v, i) ? fmax(joint[i], fabs(q)) : 0.0;
    }
    for (int i = 0; i < v->body_count; i++) {
        const double *a = start + v->bodies[i].center, *b = now + v->bodies[i].center;
        double way[3], dot = 0.0;
        tact_v3_sub(way, b, a);
        for (int k = 3; k < 7; k++) {
            dot += a[k] * b[k];
        }
        body[i] = fmax(body[i], 10.0 * tact_v3_norm(way) + 2.0 * acos(fmin(fabs(dot), 1.0)));
    }
}

/* Chooses the joints and bodies that move most. */
static int choose_moving_bodies_and_joints(struct plot_session *s)
{
    const struct tact_scene_log *v = &s->scene_log;
    int joints = v->joint_count + v->constraint_count, moving = 0;
    size_t bytes = tact_layout_bytes(tact_log_layout(s->log));
    struct tact_record *r = malloc(bytes), *start = malloc(bytes);
    double *joint = calloc((size_t)joints + 1, sizeof *joint);
    double *body = calloc((size_t)v->body_count + 1, sizeof *body);
    int rc = r && start && joint && body ? tact_log_seek(s->log, 0) : -ENOMEM;
    for (int i = 0; !rc && i < joints; i++) {
        /* where there is room, bodies and joints that do not move are drawn too */
        joint[i] = 1e-12;
        moving += has_joint_scalar_value(v, i);
    }
    for (int i = 0; !rc && i < v->body_count; i++) {
        body[i] = 1e-12;
    }
    rc = rc ? rc : tact_log_next(s->log, start);
    while (rc > 0 && (rc = tact_log_next(s->log, r)) > 0) {
        update_largest_motions(v, start->values, r->values, joint, body);
    }
    s->joint_count =
        rc ? 0 : choose_indices_of_largest_weights(joint, joints, PLOT_MAX_JOINTS, s->joint);
    s->body_count =
        rc ? 0 : choose_indices_of_largest_weights(body, v->body_count, PLOT_MAX_BODIES, s->body);
    s->undrawn_object_counts[1] = moving - s->joint_count;
    s->undrawn_object_counts[2] = v->body_count - s->body_count;
    free(r);
    free(start);
    free(joint);
    free(body);
    return rc;
}

/* Determines the requested range of ticks, of which the log must contain some. */
static int choose_plotted_tick_range(struct plot_session *s, struct tact_error *err)
{
    const struct tact_log_state *state = tact_log_state(s->log);
    const double period = s->scene_log.scene->period;
    for (int i = 0; i < 2; i++) {
        s->ticks[i] = tact_replay_tick(s->range.at[i], s->range.in_seconds >> i & 1, period);
    }
    if (!s->range.is_end_set_by_user[1] || s->ticks[1] > state->last_tick) {
        s->ticks[1] = state->last_tick + 1;
    }
    s->from = (double)s->ticks[0] * period;
    s->to = (double)s->ticks[1] * period;
    if (s->ticks[0] >= s->ticks[1] || s->ticks[1] <= state->first_tick) {
        return tact_error_set(
            err, -EINVAL, "no tick of the log, %llu to %llu, is in the range of --from and --to",
            (unsigned long long)state->first_tick, (unsigned long long)state->last_tick);
    }
    return 0;
}

int plot_open_session(struct plot_session *s, const char *path, struct tact_error *err)
{
    struct tact_messages messages = {command_print_message, NULL};
    s->path = path;
    int rc = tact_log_open(path, &s->log, err);
    rc = rc ? rc : tact_scene_log_open(s->log, messages, &s->scene_log, err);
    if (!rc && tact_log_state(s->log)->ticks == 0) {
        tact_error_at(err, path, 0, 0, NULL);
        rc = tact_error_set(err, -EINVAL, "the log has no tick");
    }
    if (rc) {
        return rc;
    }
    const char *clock = tact_log_fact(s->log, "realtime");
    s->duration = (double)(tact_log_state(s->log)->last_tick + 1) * s->scene_log.scene->period;
    rc = choose_plotted_tick_range(s, err);
    if (rc) {
        return rc;
    }
    s->is_real_time = clock && !strcmp(clock, "real");
    tact_histogram_reset(&s->wake_latency);
    tact_histogram_reset(&s->compute);
    rc = survey_log_records(s->log, &s->scene_log, &s->log_survey);
    rc = rc ? rc : choose_plotted_pairs(s);
    rc = rc ? rc : choose_plotted_holds(s);
    rc = rc ? rc : choose_plotted_ports(s);
    rc = rc ? rc : choose_moving_bodies_and_joints(s);
    plot_choose_ties(s);
    if (!rc && s->scene_log.pair_count + s->scene_log.joint_count + s->scene_log.body_count == 0) {
        rc = choose_plotted_channels(s);
    }
    s->pressure = calloc(1, sizeof *s->pressure);
    rc = rc || s->pressure ? rc : -ENOMEM;
    rc = rc ? rc : read_plotted_records(s);
    return rc ? tact_error_set(err, rc, "%s", strerror(-rc)) : 0;
}

void plot_close_session(struct plot_session *s)
{
    for (int i = 0; i < PLOT_MAX_PAIRS; i++) {
        free(s->pair[i].pressure);
    }
    free(s->pressure);
    survey_free(&s->log_survey);
    tact_scene_log_close(&s->scene_log);
    tact_log_close(s->log);
}
