/* Joints of mechanisms: their definition and their errors; constraint_solve.c solves them. */
#include "contact/world/constraint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/record_code_internal.h"
#include "contact/elementary.h"
#include "contact/world/world_internal.h"

static const double pi = 3.14159265358979323846;

struct tact_body *tact_constraint_body_of_owner(const struct tact_world *world,
                                                struct tact_owner owner)
{
    return owner.kind == TACT_OWNER_BODY ? &world->bodies[owner.index].body : NULL;
}

struct tact_body *tact_constraint_body_on_side(const struct tact_world *world,
                                               const struct world_constraint *w, int side)
{
    return tact_constraint_body_of_owner(world, side ? w->constraint.b : w->constraint.a);
}

const struct tact_pose *tact_constraint_pose_of_owner(const struct tact_world *world,
                                                      struct tact_owner owner)
{
    static const struct tact_pose fixed = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    const struct tact_body *body = tact_constraint_body_of_owner(world, owner);
    return body ? &body->pose : &fixed;
}

static int is_existing_body_or_fixed(const struct tact_world *world, struct tact_owner owner)
{
    return owner.index >= 0 && (owner.kind == TACT_OWNER_FIXED ||
                                (owner.kind == TACT_OWNER_BODY && owner.index < world->body_count));
}

static int can_constrain_bodies(const struct tact_world *world, struct tact_owner a,
                                struct tact_owner b)
{
    return is_existing_body_or_fixed(world, a) && is_existing_body_or_fixed(world, b) &&
           (a.kind == TACT_OWNER_BODY || b.kind == TACT_OWNER_BODY) &&
           (a.kind != b.kind || a.index != b.index);
}

static int is_valid_pose(const struct tact_pose *pose)
{
    double sum = 0.0, size = 0.0;
    for (int i = 0; i < 4; i++) {
        sum += i < 3 ? pose->position[i] : 0.0;
        size += pose->quat_wxyz[i] * pose->quat_wxyz[i];
    }
    return isfinite(sum) && isfinite(size) && size > 0.0;
}

/* Pose of `frame` relative to the pose `from`, both in the world. */
static struct tact_pose pose_relative_to(const struct tact_pose *from,
                                         const struct tact_pose *frame)
{
    struct tact_pose out;
    const double *q = from->quat_wxyz, inverse[4] = {q[0], -q[1], -q[2], -q[3]};
    double offset[3];
    tact_v3_sub(offset, frame->position, from->position);
    tact_quat_rotate(out.position, inverse, offset);
    tact_quat_mul(out.quat_wxyz, inverse, frame->quat_wxyz);
    tact_quat_normalize(out.quat_wxyz);
    return out;
}

int tact_constraint_between(struct tact_world *world, enum tact_constraint_kind kind,
                            struct tact_owner a, struct tact_owner b, const struct tact_pose *frame,
                            struct tact_constraint *out)
{
    memset(out, 0, sizeof *out);
    if (!can_constrain_bodies(world, a, b) || !is_valid_pose(frame)) {
        return -EINVAL;
    }
    out->kind = kind;
    out->a = a;
    out->b = b;
    out->in_a = pose_relative_to(tact_constraint_pose_of_owner(world, a), frame);
    out->in_b = pose_relative_to(tact_constraint_pose_of_owner(world, b), frame);
    return 0;
}

int tact_world_add_constraint(struct tact_world *world, const struct tact_constraint *constraint)
{
    int is_hinge_constraint = constraint->kind == TACT_CONSTRAINT_HINGE;
    if (world->is_world_definition_finished || (unsigned)constraint->kind > TACT_CONSTRAINT_FIXED ||
        !can_constrain_bodies(world, constraint->a, constraint->b) ||
        !is_valid_pose(&constraint->in_a) || !is_valid_pose(&constraint->in_b) ||
        !isfinite(constraint->lower + constraint->upper) || !(constraint->damping >= 0.0) ||
        !(constraint->friction >= 0.0) || !isfinite(constraint->damping + constraint->friction) ||
        (is_hinge_constraint && constraint->lower < constraint->upper &&
         (constraint->lower < -pi || constraint->upper > pi))) {
        return -EINVAL;
    }
    struct world_constraint *resized_world_constraints = realloc(
        world->constraints, ((size_t)world->constraint_count + 1) * sizeof *world->constraints);
    if (!resized_world_constraints) {
        return -ENOMEM;
    }
    world->constraints = resized_world_constraints;
    struct world_constraint *w = &resized_world_constraints[world->constraint_count];
    memset(w, 0, sizeof *w);
    w->constraint = *constraint;
    tact_quat_normalize(w->constraint.in_a.quat_wxyz);
    tact_quat_normalize(w->constraint.in_b.quat_wxyz);
    return world->constraint_count++;
}

TACT_IN_TICK_RECORD_SECTION int tact_world_constraint_count(const struct tact_world *world)
{
    return world->constraint_count;
}

TACT_IN_TICK_RECORD_SECTION struct tact_constraint *tact_world_constraint(struct tact_world *world,
                                                                          int index)
{
    return &world->constraints[index].constraint;
}

static int is_constraint_side_of_owner(const struct tact_owner *side,
                                       const struct tact_owner *owner)
{
    return side->kind == owner->kind && side->index == owner->index;
}

int tact_constraint_exists_between(const struct tact_world *world, const struct tact_owner *a,
                                   const struct tact_owner *b)
{
    for (int i = 0; i < world->constraint_count; i++) {
        const struct tact_constraint *constraint = &world->constraints[i].constraint;
        if ((is_constraint_side_of_owner(&constraint->a, a) &&
             is_constraint_side_of_owner(&constraint->b, b)) ||
            (is_constraint_side_of_owner(&constraint->a, b) &&
             is_constraint_side_of_owner(&constraint->b, a))) {
            return 1;
        }
    }
    return 0;
}

/* Rotation vector of frame a relative to frame b, by at most half a turn. */
static void rotation_vector_between_joint_frames(const struct tact_pose *fa,
                                                 const struct tact_pose *fb, double q[4])
{
    const double *b = fb->quat_wxyz, inverse[4] = {b[0], -b[1], -b[2], -b[3]};
    tact_quat_mul(q, inverse, fa->quat_wxyz);
    for (int i = 3; i >= 0; i--) {
        q[i] = q[0] < 0.0 ? -q[i] : q[i];
    }
}

void tact_constraint_joint_error(const struct tact_constraint *constraint,
                                 const struct tact_pose *a, const struct tact_pose *b, double e[6])
{
    struct tact_pose fa, fb;
    double ra[9], rb[9], offset[3], q[4];
    tact_pose_mul(&fa, a, &constraint->in_a);
    tact_pose_mul(&fb, b, &constraint->in_b);
    tact_quat_to_m3(rb, fb.quat_wxyz);
    tact_v3_sub(offset, fa.position, fb.position);
    tact_m3_tmul_v3(e, rb, offset);
    if (constraint->kind == TACT_CONSTRAINT_HINGE) {
        /* angular error of a hinge: the z axis of a against the y and x axes of b, at any hinge
         * angle */
        tact_quat_to_m3(ra, fa.quat_wxyz);
        e[3] = -(ra[2] * rb[1] + ra[5] * rb[4] + ra[8] * rb[7]);
        e[4] = ra[2] * rb[0] + ra[5] * rb[3] + ra[8] * rb[6];
        e[5] = 0.0;
        return;
    }
    rotation_vector_between_joint_frames(&fa, &fb, q);
    for (int i = 0; i < 3; i++) {
        e[3 + i] = 2.0 * q[1 + i];
    }
}

double tact_constraint_joint_value(const struct tact_constraint *constraint,
                                   const struct tact_pose *a, const struct tact_pose *b)
{
    struct tact_pose fa, fb;
    double rb[9], offset[3], q[4];
    tact_pose_mul(&fa, a, &constraint->in_a);
    tact_pose_mul(&fb, b, &constraint->in_b);
    if (constraint->kind == TACT_CONSTRAINT_HINGE) {
        rotation_vector_between_joint_frames(&fa, &fb, q);
        return 2.0 * tact_atan2(q[3], q[0]);
    }
    if (constraint->kind != TACT_CONSTRAINT_SLIDER) {
        return 0.0;
    }
    tact_quat_to_m3(rb, fb.quat_wxyz);
    tact_v3_sub(offset, fa.position, fb.position);
    return rb[2] * offset[0] + rb[5] * offset[1] + rb[8] * offset[2];
}

void tact_world_constraint_error(const struct tact_world *world, int index, double out[2])
{
    const struct tact_constraint *constraint = &world->constraints[index].constraint;
    double e[6];
    tact_constraint_joint_error(constraint, tact_constraint_pose_of_owner(world, constraint->a),
                                tact_constraint_pose_of_owner(world, constraint->b), e);
    out[0] =
        tact_hypot(tact_hypot(e[0], e[1]), constraint->kind == TACT_CONSTRAINT_SLIDER ? 0.0 : e[2]);
    out[1] = constraint->kind == TACT_CONSTRAINT_BALL ? 0.0 : tact_v3_norm(e + 3);
}
