/*
 * Commanded grips: the mean of the forces with which two fingers press toward each other, along the
 * line between their points, is a number and not the result of targets.
 *
 * The drives of a finger at rest exert the torques K (target - q), which balance a force f at its
 * point: J^T f = K (target - q), so that f = C^-1 J (target - q) with C = J K^-1 J^T. The mean of
 * the two f along the line is what the targets give; a push along the line, equal and opposite at
 * the two points, adds what is missing: its torques J^T n push are targets moved by K^-1 J^T n
 * push. What the drives do across the line, and for both fingers together along it, stays that of
 * their targets: they hold the object in place. This is the internal force of two contacts
 * (Yoshikawa and Nagai 1991). Real-time safe but for tact_session_connect_grips() and
 * tact_session_free_grips().
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/session/grip_internal.h"
#include "rt/session/session_internal.h"

/* distance of the two finger centres below which no grip line is defined [m] */
#define MIN_GRIP_LINE_LENGTH 1e-4
/* smallest fraction of a force along the grip line that counts as borne by the drives of a finger,
 * whose part of the force is divided by it [1] */
#define MIN_DRIVE_FORCE_FRACTION 1e-3
/* added to C, relative to its trace, for directions in which a finger does not move [1] */
#define COMPLIANCE_REGULARIZATION 1e-9

/* Point at which a finger presses before it has touched anything: the centre of its last shape, or
 * of its link. */
static void find_finger_center(const struct tact_scene_link *link, double point[3])
{
    const double *from =
        link->shapes_count ? link->shapes[link->shapes_count - 1].position : link->center_of_mass;
    tact_v3_copy(point, from);
}

int tact_session_connect_grips(struct tact_session *s, struct tact_error *err)
{
    const struct tact_scene *scene = s->scene;
    s->grips = calloc(scene->grips_count + 1, sizeof *s->grips);
    if (!s->grips) {
        return -ENOMEM;
    }
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->grips_count; i++) {
        const struct tact_scene_grip *def = &scene->grips[i];
        const struct tact_scene_hand *hand = &scene->hands[def->hand];
        struct session_grip *g = &s->grips[s->grip_count++];
        char key[48];
        snprintf(key, sizeof key, "grips[%u].from", i);
        g->def = def;
        g->commanded_joint_count = (int)(def->joint_count[0] + def->joint_count[1]);
        for (int k = 0; k < 2; k++) {
            find_finger_center(&hand->links[def->link[k]], g->center[k]);
            tact_v3_copy(g->state.point[k], g->center[k]);
        }
        for (int k = 0; k < g->commanded_joint_count; k++) {
            g->state.target[k] = hand->links[def->joint[k]].joint.start;
        }
        g->jacobian = calloc(6 * (size_t)hand->links_count, sizeof *g->jacobian);
        rc = g->jacobian
                 ? tact_session_find_channel(s, def->from, 0, key, &g->device, &g->channel, err)
                 : -ENOMEM;
    }
    return rc;
}

void tact_session_free_grips(struct tact_session *s)
{
    for (int i = 0; i < s->grip_count; i++) {
        free(s->grips[i].jacobian);
    }
    free(s->grips);
}

static int finger_index_of_joint(const struct session_grip *g, int k)
{
    return k >= (int)g->def->joint_count[0];
}

void tact_session_remove_grip_force(struct tact_session *s)
{
    for (int i = 0; i < s->grip_count && s->is_deadman_held; i++) {
        struct session_grip *g = &s->grips[i];
        double *target = tact_hand_state(tact_world_hand(s->world, (int)g->def->hand)).target;
        for (int k = 0; k < g->commanded_joint_count; k++) {
            target[g->def->joint[k]] = g->state.target[k];
        }
    }
}

/* Computes the finger points, and the line along which the fingers press: between the centres of
 * the two shapes. The line between the points may be as short as the object is thin: it would turn
 * with every small motion, and the added force with it, a tick late. Returns 0 where the centres
 * coincide. */
static int find_grip_line(struct session_grip *g, const struct tact_hand *hand, double point[2][3])
{
    double line[3], center[2][3];
    for (int k = 0; k < 2; k++) {
        const struct tact_pose *pose = tact_hand_link_pose(hand, (int)g->def->link[k]);
        tact_pose_point(point[k], pose, g->state.point[k]);
        tact_pose_point(center[k], pose, g->center[k]);
    }
    tact_v3_sub(line, center[1], center[0]);
    return tact_v3_normalize(g->normal, line) > MIN_GRIP_LINE_LENGTH;
}

/* Computes the grip line, and how joints and drives move the finger points. Returns 0 if there is
 * no grip line. */
static int update_grip_kinematics(struct tact_session *s, struct session_grip *g)
{
    struct tact_hand *hand = tact_world_hand(s->world, (int)g->def->hand);
    double point[2][3];
    memset(g->compliance, 0, sizeof g->compliance);
    memset(g->finger_point_jacobian, 0, sizeof g->finger_point_jacobian);
    if (!find_grip_line(g, hand, point)) {
        return 0;
    }
    for (int k = 0, finger_index = -1; k < g->commanded_joint_count; k++) {
        const uint32_t joint = g->def->joint[k];
        if (finger_index_of_joint(g, k) != finger_index) {
            finger_index = finger_index_of_joint(g, k);
            tact_hand_jacobian(hand, (int)g->def->link[finger_index], point[finger_index],
                               g->jacobian);
        }
        const double stiffness = s->scene->hands[g->def->hand].links[joint].joint.stiffness;
        double *row = g->finger_point_jacobian[k], *c = g->compliance[finger_index];
        tact_v3_copy(row, g->jacobian + 6 * (size_t)joint);
        for (int i = 0; i < 9; i++) {
            c[i] += row[i / 3] * row[i % 3] / stiffness;
        }
    }
    return 1;
}

/* Solves (C + e I) x = b by Cholesky factors, with C symmetric and positive semidefinite. Returns 0
 * where C is 0. */
static void solve_compliance_matrix(const double c[9], const double b[3], double x[3])
{
    const double e = COMPLIANCE_REGULARIZATION * (c[0] + c[4] + c[8]);
    if (!(e > 0.0)) {
        tact_v3_set(x, 0.0, 0.0, 0.0);
        return;
    }
    const double l00 = sqrt(c[0] + e), l10 = c[1] / l00, l20 = c[2] / l00;
    const double l11 = sqrt(c[4] + e - l10 * l10), l21 = (c[5] - l20 * l10) / l11;
    const double l22 = sqrt(c[8] + e - l20 * l20 - l21 * l21);
    const double y0 = b[0] / l00, y1 = (b[1] - l10 * y0) / l11,
                 y2 = (b[2] - l20 * y0 - l21 * y1) / l22;
    x[2] = y2 / l22;
    x[1] = (y1 - l21 * x[2]) / l11;
    x[0] = (y0 - l10 * x[1] - l20 * x[2]) / l00;
}

/* Mean force of the two fingers toward each other, where the drives displace the points by
 * `finger_drive_displacement`: [finger] sum of J K^-1 torque [m]. What a finger bears across all
 * motions of its joints is not known to its drives: it is taken as if its whole force were along
 * the line, but where they bear next to nothing of it. */
static double compute_mean_grip_force(const struct session_grip *g,
                                      double finger_drive_displacement[2][3])
{
    double mean = 0.0;
    for (int k = 0; k < 2; k++) {
        double force[3], displacement_by_unit_force[3], force_borne_by_drives[3];
        solve_compliance_matrix(g->compliance[k], finger_drive_displacement[k], force);
        tact_m3_mul_v3(displacement_by_unit_force, g->compliance[k], g->normal);
        solve_compliance_matrix(g->compliance[k], displacement_by_unit_force,
                                force_borne_by_drives);
        const double grip_force_fraction_of_drives = tact_v3_dot(force_borne_by_drives, g->normal);
        mean += (k ? -0.5 : 0.5) * tact_v3_dot(force, g->normal) /
                fmax(grip_force_fraction_of_drives, MIN_DRIVE_FORCE_FRACTION);
    }
    return mean;
}

static double read_commanded_grip_force(const struct tact_session *s, const struct session_grip *g)
{
    const double force =
        g->def->offset + g->def->scale * s->devices[g->device].input.channel[g->channel];
    return g->def->limit > 0.0 && isfinite(force) ? fmin(force, g->def->limit) : force;
}

/* Changes the added force toward the missing force, no faster than the finger points may approach
 * each other. */
static void update_added_grip_force(struct tact_session *s, struct session_grip *g)
{
    const double *q = tact_hand_state(tact_world_hand(s->world, (int)g->def->hand)).q;
    double finger_drive_displacement[2][3] = {{0.0}}, displacement_by_unit_force[3],
           max_force_change = 0.0;
    for (int k = 0; k < g->commanded_joint_count; k++) {
        tact_v3_axpy(finger_drive_displacement[finger_index_of_joint(g, k)],
                     g->state.target[k] - q[g->def->joint[k]], g->finger_point_jacobian[k]);
    }
    for (int k = 0; k < 2; k++) {
        tact_m3_mul_v3(displacement_by_unit_force, g->compliance[k], g->normal);
        max_force_change += tact_v3_dot(displacement_by_unit_force, g->normal);
    }
    max_force_change =
        s->period * g->def->speed /
        max_force_change; /* infinite where the fingers cannot close: no force is added then */
    const double missing_grip_force =
        g->commanded > 0.0 ? g->commanded - compute_mean_grip_force(g, finger_drive_displacement)
                           : 0.0;
    const double added_grip_force_change = fmin(
        fmax(missing_grip_force - g->state.added_grip_force, -max_force_change), max_force_change);
    g->state.added_grip_force += isfinite(max_force_change) && isfinite(added_grip_force_change)
                                     ? added_grip_force_change
                                     : 0.0;
}

/* Stores the targets without the grip's added force. In a replay of a session with a controller,
 * the logged targets contain that force: those without it are read from the grip's field. */
static void store_targets_without_grip_force(struct tact_session *s, struct session_grip *g,
                                             const double *target)
{
    const int has_targets_of_log = s->replayed_input_record && s->are_targets_inputs;
    for (int k = 0; k < g->commanded_joint_count; k++) {
        g->state.target[k] =
            has_targets_of_log
                ? s->replayed_input_record->values[g->field + GRIP_STATE_NUMBERS + (uint32_t)k]
                : target[g->def->joint[k]];
    }
}

/* Applies the commanded grip. While the deadman is released, or the command is not finite, added
 * force and targets stay. */
static void apply_grip_force_to_targets(struct tact_session *s, struct session_grip *g)
{
    double *target = tact_hand_state(tact_world_hand(s->world, (int)g->def->hand)).target;
    const double commanded_grip_force = read_commanded_grip_force(s, g);
    const int has_grip_line = update_grip_kinematics(s, g);
    g->commanded = 0.0;
    if (!s->is_deadman_held) {
        return;
    }
    store_targets_without_grip_force(s, g, target);
    if (has_grip_line && isfinite(commanded_grip_force)) {
        g->commanded = commanded_grip_force;
        update_added_grip_force(s, g);
    }
    for (int k = 0; k < g->commanded_joint_count; k++) {
        const uint32_t joint = g->def->joint[k];
        const double stiffness = s->scene->hands[g->def->hand].links[joint].joint.stiffness,
                     signed_force = finger_index_of_joint(g, k) ? -g->state.added_grip_force
                                                                : g->state.added_grip_force;
        target[joint] =
            g->state.target[k] +
            signed_force * tact_v3_dot(g->finger_point_jacobian[k], g->normal) / stiffness;
    }
}

void tact_session_apply_grips(struct tact_session *s)
{
    for (int i = 0; i < s->grip_count; i++) {
        apply_grip_force_to_targets(s, &s->grips[i]);
    }
}

/* Updates the point at which a finger presses: the centre of pressure of its link's contacts;
 * without contact the last one stays. */
static void update_finger_point(struct tact_session *s, struct session_grip *g, int finger_index)
{
    struct tact_hand *hand = tact_world_hand(s->world, (int)g->def->hand);
    const int link = (int)g->def->link[finger_index];
    double sum[3] = {0.0}, weight = 0.0;
    int count;
    const int *near = tact_world_near(s->world, &count);
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(s->world, near[i]);
        const struct tact_owner a = tact_world_owner(s->world, c->a),
                                b = tact_world_owner(s->world, c->b);
        const int is_shape_a_of_finger =
                      a.kind == TACT_OWNER_HAND && a.index == (int)g->def->hand && a.link == link,
                  is_finger_side_b =
                      b.kind == TACT_OWNER_HAND && b.index == (int)g->def->hand && b.link == link;
        const double f = c->impulse[0];
        if (!c->touching || is_shape_a_of_finger == is_finger_side_b || !(f > 0.0)) {
            continue;
        }
        /* the tilting torques move the force along the patch: r x f n = tau */
        tact_v3_axpy(sum, f, c->patch.center);
        tact_v3_axpy(sum, -c->impulse[5], c->patch.frame + 3);
        tact_v3_axpy(sum, c->impulse[4], c->patch.frame + 6);
        weight += f;
    }
    if (weight > 0.0) {
        const struct tact_pose *pose = tact_hand_link_pose(hand, link);
        double rotation[9], arm[3];
        tact_v3_scale(sum, sum, 1.0 / weight);
        tact_v3_sub(arm, sum, pose->position);
        tact_quat_to_m3(rotation, pose->quat_wxyz);
        tact_m3_tmul_v3(g->state.point[finger_index], rotation, arm);
    }
}

void tact_session_find_grip_points(struct tact_session *s)
{
    for (int i = 0; i < s->grip_count; i++) {
        update_finger_point(s, &s->grips[i], 0);
        update_finger_point(s, &s->grips[i], 1);
    }
}

void tact_session_measure_grips(struct tact_session *s)
{
    for (int i = 0; i < s->grip_count; i++) {
        struct session_grip *g = &s->grips[i];
        const struct tact_scene_link *links = s->scene->hands[g->def->hand].links;
        const struct tact_hand_state hand =
            tact_hand_state(tact_world_hand(s->world, (int)g->def->hand));
        double finger_drive_displacement[2][3] = {{0.0}};
        int is_any_joint_limited = 0;
        for (int k = 0; k < g->commanded_joint_count; k++) {
            const uint32_t joint = g->def->joint[k];
            const struct tact_scene_joint *def = &links[joint].joint;
            tact_v3_axpy(finger_drive_displacement[finger_index_of_joint(g, k)],
                         hand.torque[joint] / def->stiffness, g->finger_point_jacobian[k]);
            is_any_joint_limited |=
                hand.saturated[joint] != 0.0 || (def->target_lower < def->target_upper &&
                                                 (hand.target[joint] == def->target_lower ||
                                                  hand.target[joint] == def->target_upper));
        }
        g->state.force = compute_mean_grip_force(g, finger_drive_displacement);
        g->state.grip_limited_tick_count += is_any_joint_limited && g->commanded > 0.0;
    }
}

int tact_session_grip_count(const struct tact_session *session)
{
    return session->grip_count;
}

struct tact_session_grip tact_session_grip(const struct tact_session *session, int index)
{
    const struct session_grip *g = &session->grips[index];
    return (struct tact_session_grip){.links = {g->def->links[0], g->def->links[1]},
                                      .commanded = g->commanded,
                                      .force = g->state.force,
                                      .short_ticks = (uint64_t)g->state.grip_limited_tick_count};
}
