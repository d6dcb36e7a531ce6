#include "contact/world/carry_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/moments/moments_internal.h"
#include "contact/pair/field/field_model_internal.h"
#include "contact/pair/models_internal.h"
#include "contact/world/world_internal.h"

/* Largest change of a contact as it is carried: of its force, relative to it, and of the places of
 * its patch and its centre of pressure, relative to the size of the patch. */
#define MAX_FORCE_CHANGE_OF_CARRIED_CONTACT 0.5
#define MAX_PATCH_SHIFT_OF_CARRIED_CONTACT 0.25

/* Rows of a wrench that are elastic: the force along the normal, the torques about t1 and t2. */
static const int rows_of_elastic_wrench[3] = {0, 4, 5};

void tact_rotation_vector_between_poses(const struct tact_pose *from, const struct tact_pose *to,
                                        double rotation_vector[3])
{
    const double *f = from->quat_wxyz, back[4] = {f[0], -f[1], -f[2], -f[3]};
    double q[4];
    tact_quat_mul(q, to->quat_wxyz, back);
    tact_quat_normalize(q);
    double s = tact_v3_norm(q + 1), scale = s > 1e-12 ? 2.0 * tact_atan2(s, fabs(q[0])) / s : 2.0;
    tact_v3_scale(rotation_vector, q + 1, q[0] < 0.0 ? -scale : scale);
}

void tact_point_displacement_between_poses(const struct tact_pose *from, const struct tact_pose *to,
                                           const double rotation_vector[3], const double point[3],
                                           double shift[3])
{
    double arm[3], q[4], after[3];
    tact_quat_from_rotvec(q, rotation_vector);
    tact_v3_sub(arm, point, from->position);
    tact_quat_rotate(after, q, arm);
    tact_v3_sub(after, after, arm);
    tact_v3_sub(shift, to->position, from->position);
    tact_v3_add(shift, shift, after);
}

/* Radius of a ball, or of the bounding box of a mesh; 1e9 m for a half-space. */
static double radius_of_ball_or_bounds(const struct tact_shape *shape)
{
    if (shape->kind == TACT_SHAPE_SPHERE) {
        return shape->size[0];
    }
    if (!shape->mesh) {
        return 1e9;
    }
    const struct tact_mesh_node *all = &shape->mesh->nodes[0];
    double d[3];
    tact_v3_sub(d, all->upper, all->lower);
    return 0.5 * tact_v3_norm(d);
}

static int are_surfaces_entirely_curved(const struct tact_world *world, int a, int b)
{
    return tact_shape_faces(&world->shapes[a].shape) == TACT_FACES_CURVED ||
           tact_shape_faces(&world->shapes[b].shape) == TACT_FACES_CURVED;
}

/* Displacements and rotations of two shapes from earlier poses to the present ones, at the point of
 * a contact between them, half the sum of which is the motion of the contact. gradient: along its
 * normal, of any length. do_balls_roll: 1: the rotations of two balls count. */
static void find_shape_displacements_at_contact(const struct tact_world *world, const int shape[2],
                                                const struct tact_pose *pose_a_at_measurement,
                                                const struct tact_pose *pose_b_at_measurement,
                                                const double *point, const double *gradient,
                                                int do_balls_roll, double a[6], double b[6])
{
    const struct tact_pose *pose_a_in_tick = &world->poses[shape[0]],
                           *pose_b_in_tick = &world->poses[shape[1]];
    const struct tact_shape *shape_a = &world->shapes[shape[0]].shape;
    const struct tact_shape *shape_b = &world->shapes[shape[1]].shape;
    int is_shape_a_ball = shape_a->kind == TACT_SHAPE_SPHERE,
        is_shape_b_ball = shape_b->kind == TACT_SHAPE_SPHERE;
    tact_rotation_vector_between_poses(pose_a_at_measurement, pose_a_in_tick, a + 3);
    tact_rotation_vector_between_poses(pose_b_at_measurement, pose_b_in_tick, b + 3);
    /* The contact of a ball is where the other body faces the ball; the ball's own rotation has no
     * effect. */
    if (is_shape_a_ball != is_shape_b_ball) {
        tact_v3_copy(is_shape_a_ball ? a + 3 : b + 3, is_shape_a_ball ? b + 3 : a + 3);
    } else if (is_shape_a_ball && !do_balls_roll) {
        memset(a + 3, 0, 3 * sizeof *a);
        memset(b + 3, 0, 3 * sizeof *b);
    }
    tact_point_displacement_between_poses(pose_a_at_measurement, pose_a_in_tick, a + 3, point, a);
    tact_point_displacement_between_poses(pose_b_at_measurement, pose_b_in_tick, b + 3, point, b);
    /* Along its tangent plane a patch between curved bodies moves with the more curved one, here
     * the smaller one. */
    double area = tact_v3_norm(gradient);
    if (area > 0.0) {
        double n[3], sliding_displacement[3];
        double ka = 1.0 / radius_of_ball_or_bounds(shape_a),
               kb = 1.0 / radius_of_ball_or_bounds(shape_b);
        double curvature_fraction_of_a_less_half = ka / (ka + kb) - 0.5;
        tact_v3_scale(n, gradient, 1.0 / area);
        tact_v3_sub(sliding_displacement, a, b);
        tact_v3_axpy(sliding_displacement, -tact_v3_dot(n, sliding_displacement), n);
        tact_v3_axpy(a, curvature_fraction_of_a_less_half, sliding_displacement);
        tact_v3_axpy(b, curvature_fraction_of_a_less_half, sliding_displacement);
    }
}

void tact_world_carry(const struct tact_world *world, int pair,
                      const struct tact_pose *pose_a_at_measurement,
                      const struct tact_pose *pose_b_at_measurement, const struct tact_moments *in,
                      struct tact_moments *out)
{
    int shape[2];
    double a[6], b[6];
    tact_world_pair_shapes(world, pair, &shape[0], &shape[1]);
    find_shape_displacements_at_contact(world, shape, pose_a_at_measurement, pose_b_at_measurement,
                                        in->centroid, in->gradient, 1, a, b);
    tact_moments_advance(
        in, a, b, 1.0,
        are_surfaces_entirely_curved(world, shape[0], shape[1]) ? 2.0 : tact_moments_exponent(in),
        out);
}

/* Rotation of a patch: its normal turns with the flatter of its two shapes, here the larger one,
 * and its tangents with the other. On a half-space both are exact. */
static void find_patch_rotation(const struct tact_world *world, const int shape[2],
                                const double *normal, const double a[3], const double b[3],
                                double out[3])
{
    const double radius_of_shape_a = radius_of_ball_or_bounds(&world->shapes[shape[0]].shape),
                 radius_of_shape_b = radius_of_ball_or_bounds(&world->shapes[shape[1]].shape);
    const double rotation_fraction_of_a =
        radius_of_shape_a / (radius_of_shape_a + radius_of_shape_b);
    tact_v3_scale(out, a, rotation_fraction_of_a);
    tact_v3_axpy(out, 1.0 - rotation_fraction_of_a, b);
    const double spin = (1.0 - rotation_fraction_of_a) * tact_v3_dot(normal, a) +
                        rotation_fraction_of_a * tact_v3_dot(normal, b);
    tact_v3_axpy(out, spin - tact_v3_dot(normal, out), normal);
}

/* Rotates the frame of a patch by a rotation vector. */
static void rotate_patch_frame(const double rotation_vector[3], double frame[9])
{
    double q[4];
    tact_quat_from_rotvec(q, rotation_vector);
    for (int i = 0; i < 9; i += 3) {
        double row[3];
        tact_v3_copy(row, frame + i);
        tact_quat_rotate(frame + i, q, row);
    }
}

/* Motion of the two shapes of a patch since it was measured, and its wrench after it. */
struct carried_motion_and_wrench {
    double a[6], b[6]; /* displacements and rotations of the shapes at the centre [m, rad] */
    double apart[6];   /* motion of the first shape relative to the second [m, rad] */
    double wrench[3];  /* normal force, torques about t1 and t2 [N, N m] */
};

/* Carries the wrench of an elastic patch: it decreases by the stiffness times the motion of the
 * shapes relative to each other. */
static void carry_elastic_wrench(const struct tact_world *world, const int shape[2],
                                 const struct tact_pose then[2], const struct tact_patch *patch,
                                 struct carried_motion_and_wrench *out)
{
    double motion[3];
    find_shape_displacements_at_contact(world, shape, &then[0], &then[1], patch->center,
                                        patch->frame, 0, out->a, out->b);
    for (int i = 0; i < 6; i++) {
        out->apart[i] = out->a[i] - out->b[i];
    }
    motion[0] = tact_v3_dot(patch->frame, out->apart);
    motion[1] = tact_v3_dot(patch->frame + 3, out->apart + 3);
    motion[2] = tact_v3_dot(patch->frame + 6, out->apart + 3);
    /* The stiffness includes the damping of Hunt and Crossley, the depth does not. */
    const double elastic_fraction_of_stiffness =
        tact_min(patch->wrench[0] / (patch->depth * patch->stiffness[0]), 1.0);
    for (int i = 0; i < 3; i++) {
        const double *k = patch->stiffness + 6 * (size_t)rows_of_elastic_wrench[i];
        out->wrench[i] = patch->wrench[rows_of_elastic_wrench[i]] -
                         elastic_fraction_of_stiffness *
                             (k[0] * motion[0] + k[4] * motion[1] + k[5] * motion[2]);
    }
}

/* Carries a patch with an elastic wrench, which moves with its two shapes. */
static void carry_patch_with_elastic_wrench(const struct tact_world *world, const int shape[2],
                                            const struct tact_pose then[2],
                                            struct tact_patch *patch)
{
    struct carried_motion_and_wrench now;
    double rotation_vector[3];
    carry_elastic_wrench(world, shape, then, patch, &now);
    /* the torque about the normal comes with the normal force */
    const double normal_force_ratio = now.wrench[0] / patch->wrench[0];
    patch->depth *= normal_force_ratio;
    patch->wrench[3] *= normal_force_ratio;
    for (int i = 0; i < 3; i++) {
        patch->wrench[rows_of_elastic_wrench[i]] = now.wrench[i];
    }
    tact_v3_axpy(patch->center, 0.5, now.a);
    tact_v3_axpy(patch->center, 0.5, now.b);
    find_patch_rotation(world, shape, patch->frame, now.a + 3, now.b + 3, rotation_vector);
    rotate_patch_frame(rotation_vector, patch->frame);
}

static int are_measured_poses_current(const struct tact_world *world, const int shape[2],
                                      const struct tact_pose then[2])
{
    return !memcmp(&then[0], &world->poses[shape[0]], sizeof *then) &&
           !memcmp(&then[1], &world->poses[shape[1]], sizeof *then);
}

/* 1 where a contact is nearly linear in the motion since it was measured: its force changes little
 * and its patch moves little, and no point of the smaller shape comes much closer to the other by
 * the rotation, where it might begin to touch it. */
static int is_motion_since_measurement_small(const struct tact_world *world, const int shape[2],
                                             const struct tact_pose then[2],
                                             const struct tact_patch *patch)
{
    struct carried_motion_and_wrench now;
    const double force = patch->wrench[0],
                 size =
                     MAX_PATCH_SHIFT_OF_CARRIED_CONTACT * tact_max(patch->semi[0], patch->semi[1]),
                 radius = tact_min(radius_of_ball_or_bounds(&world->shapes[shape[0]].shape),
                                   radius_of_ball_or_bounds(&world->shapes[shape[1]].shape));
    carry_elastic_wrench(world, shape, then, patch, &now);
    const double rolling_torque_change =
        tact_hypot(now.wrench[1] - patch->wrench[4], now.wrench[2] - patch->wrench[5]);
    const double sliding_displacement = tact_hypot(tact_v3_dot(patch->frame + 3, now.apart),
                                                   tact_v3_dot(patch->frame + 6, now.apart));
    const double tilt = tact_hypot(tact_v3_dot(patch->frame + 3, now.apart + 3),
                                   tact_v3_dot(patch->frame + 6, now.apart + 3));
    return fabs(now.wrench[0] - force) <= MAX_FORCE_CHANGE_OF_CARRIED_CONTACT * force &&
           rolling_torque_change <= force * size && sliding_displacement <= size &&
           tilt * radius <= MAX_FORCE_CHANGE_OF_CARRIED_CONTACT * patch->depth;
}

int tact_world_can_carry_measurement(const struct tact_world *world, int pair,
                                     const struct pair_measurement *measurement)
{
    int shape[2];
    tact_world_pair_shapes(world, pair, &shape[0], &shape[1]);
    if (are_measured_poses_current(world, shape, measurement->pose)) {
        return 1;
    }
    int can_carry_measurement = measurement->result >= 0;
    if (!measurement->result) {
        return is_motion_since_measurement_small(world, shape, measurement->pose,
                                                 &measurement->patch);
    }
    for (int i = 0; i < measurement->result; i++) {
        can_carry_measurement = can_carry_measurement &&
                                is_motion_since_measurement_small(world, shape, measurement->pose,
                                                                  &measurement->piece[i].patch);
    }
    return can_carry_measurement;
}

int tact_carry_measurement_to_poses(const struct tact_world *world, int a, int b,
                                    const struct pair_measurement *measurement, int *counts,
                                    struct tact_patch *patch, struct tact_pair_piece *piece)
{
    const int shape[2] = {a, b}, pieces = measurement->result;
    for (int i = 0; i < TACT_SOLVE_COUNTS; i++) {
        counts[i] += measurement->counts[i];
    }
    *patch = measurement->patch;
    if (pieces > 0) {
        memcpy(piece, measurement->piece, (size_t)pieces * sizeof *piece);
    }
    if (pieces < 0 || are_measured_poses_current(world, shape, measurement->pose)) {
        return pieces;
    }
    carry_patch_with_elastic_wrench(world, shape, measurement->pose, patch);
    for (int i = 0; i < pieces; i++) {
        carry_patch_with_elastic_wrench(world, shape, measurement->pose, &piece[i].patch);
    }
    return pieces;
}

int tact_world_has_fields(const struct tact_world *world)
{
    const struct prepared_models *p = &world->prepared_models;
    int has_pressure_field_model = 0;
    for (int i = 0; i < p->count; i++) {
        has_pressure_field_model |= p->of[i].model == &tact_model_field;
    }
    return has_pressure_field_model;
}

size_t tact_world_list_fields(const struct tact_world *world,
                              const struct tact_pressure_field **fields, size_t capacity)
{
    size_t count = 0;
    for (int i = 0; i < tact_world_shape_count(world) && count < capacity; i++) {
        const struct field_shape_data *data = tact_prepared_data(world, &tact_model_field, i);
        size_t k = 0;
        while (data && k < count && fields[k] != data->field) {
            k++;
        }
        if (data && k == count) {
            fields[count++] = data->field;
        }
    }
    return count;
}

int tact_world_must_measure_pair_fields(const struct tact_world *world, int pair)
{
    int slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    return slot >= 0 && world->near.pairs[slot].is_field_measurement_required;
}

void tact_world_make_query_of_pair_fields(const struct tact_world *world, int pair,
                                          struct tact_pair_query *query)
{
    const int slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    const struct tact_contact *c = &world->contacts[slot];
    *query = (struct tact_pair_query){
        .model = &tact_model_field,
        .a = &world->shapes[c->a].shape,
        .b = &world->shapes[c->b].shape,
        .data_a = tact_prepared_data(world, &tact_model_field, c->a),
        .data_b = tact_prepared_data(world, &tact_model_field, c->b),
        .law = tact_world_pair_law(world, c->a, c->b),
        .options = &world->options,
        .planar = NAN,
        .most = world->near.pairs[slot].max_patches_of_pair,
    };
}

void tact_world_set_measurement(struct tact_world *world, int pair,
                                const struct pair_measurement *measurement)
{
    world->near.pairs[tact_broad_phase_slot_of_pair(&world->near, pair)].measurement = measurement;
}

void tact_world_set_measurement_clock(struct tact_world *world, int64_t (*now)(void))
{
    world->now = now;
}

int64_t tact_world_measurement_ns(const struct tact_world *world, int pair)
{
    int slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    return slot < 0 ? 0 : world->near.pairs[slot].pair_measurement_time_ns;
}
