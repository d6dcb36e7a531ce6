/* Joints of mechanisms: what they are and where they stand; bond_solve.c solves them. */
#include "contact/world/bond.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/world/world_internal.h"

static const double pi = 3.14159265358979323846;

struct tact_body *tact_bond_body(const struct tact_world *world, struct tact_owner owner)
{
    return owner.kind == TACT_OWNER_BODY ? &world->bodies[owner.index].body : NULL;
}

struct tact_body *tact_bond_side(const struct tact_world *world, const struct world_bond *w,
                                 int side)
{
    return tact_bond_body(world, side ? w->bond.b : w->bond.a);
}

const struct tact_pose *tact_bond_pose(const struct tact_world *world, struct tact_owner owner)
{
    static const struct tact_pose fixed = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    const struct tact_body *body = tact_bond_body(world, owner);
    return body ? &body->pose : &fixed;
}

static int is_owner(const struct tact_world *world, struct tact_owner owner)
{
    return owner.index >= 0 && (owner.kind == TACT_OWNER_FIXED ||
                                (owner.kind == TACT_OWNER_BODY && owner.index < world->body_count));
}

static int can_join(const struct tact_world *world, struct tact_owner a, struct tact_owner b)
{
    return is_owner(world, a) && is_owner(world, b) &&
           (a.kind == TACT_OWNER_BODY || b.kind == TACT_OWNER_BODY) &&
           (a.kind != b.kind || a.index != b.index);
}

static int is_pose(const struct tact_pose *pose)
{
    double sum = 0.0, size = 0.0;
    for (int i = 0; i < 4; i++) {
        sum += i < 3 ? pose->position[i] : 0.0;
        size += pose->quat_wxyz[i] * pose->quat_wxyz[i];
    }
    return isfinite(sum) && isfinite(size) && size > 0.0;
}

/* `frame`, a pose in the world, as seen from `from`. */
static struct tact_pose pose_from(const struct tact_pose *from, const struct tact_pose *frame)
{
    struct tact_pose out;
    const double *q = from->quat_wxyz, back[4] = {q[0], -q[1], -q[2], -q[3]};
    double apart[3];
    tact_v3_sub(apart, frame->position, from->position);
    tact_quat_rotate(out.position, back, apart);
    tact_quat_mul(out.quat_wxyz, back, frame->quat_wxyz);
    tact_quat_normalize(out.quat_wxyz);
    return out;
}

int tact_bond_between(struct tact_world *world, enum tact_bond_kind kind, struct tact_owner a,
                      struct tact_owner b, const struct tact_pose *frame, struct tact_bond *out)
{
    memset(out, 0, sizeof *out);
    if (!can_join(world, a, b) || !is_pose(frame)) {
        return -EINVAL;
    }
    out->kind = kind;
    out->a = a;
    out->b = b;
    out->in_a = pose_from(tact_bond_pose(world, a), frame);
    out->in_b = pose_from(tact_bond_pose(world, b), frame);
    return 0;
}

int tact_world_add_bond(struct tact_world *world, const struct tact_bond *bond)
{
    int turns = bond->kind == TACT_BOND_HINGE;
    if (world->finished || (unsigned)bond->kind > TACT_BOND_FIXED ||
        !can_join(world, bond->a, bond->b) || !is_pose(&bond->in_a) || !is_pose(&bond->in_b) ||
        !isfinite(bond->lower + bond->upper) || !(bond->damping >= 0.0) ||
        !(bond->friction >= 0.0) || !isfinite(bond->damping + bond->friction) ||
        (turns && bond->lower < bond->upper && (bond->lower < -pi || bond->upper > pi))) {
        return -EINVAL;
    }
    struct world_bond *more =
        realloc(world->bonds, ((size_t)world->bond_count + 1) * sizeof *world->bonds);
    if (!more) {
        return -ENOMEM;
    }
    world->bonds = more;
    struct world_bond *w = &more[world->bond_count];
    memset(w, 0, sizeof *w);
    w->bond = *bond;
    tact_quat_normalize(w->bond.in_a.quat_wxyz);
    tact_quat_normalize(w->bond.in_b.quat_wxyz);
    return world->bond_count++;
}

int tact_world_bond_count(const struct tact_world *world)
{
    return world->bond_count;
}

struct tact_bond *tact_world_bond(struct tact_world *world, int index)
{
    return &world->bonds[index].bond;
}

static int is_side(const struct tact_owner *side, const struct tact_owner *owner)
{
    return side->kind == owner->kind && side->index == owner->index;
}

int tact_bonds_join(const struct tact_world *world, const struct tact_owner *a,
                    const struct tact_owner *b)
{
    for (int i = 0; i < world->bond_count; i++) {
        const struct tact_bond *bond = &world->bonds[i].bond;
        if ((is_side(&bond->a, a) && is_side(&bond->b, b)) ||
            (is_side(&bond->a, b) && is_side(&bond->b, a))) {
            return 1;
        }
    }
    return 0;
}

/* Turn of a's frame as seen from b's, the short way. */
static void turn_between(const struct tact_pose *fa, const struct tact_pose *fb, double q[4])
{
    const double *b = fb->quat_wxyz, back[4] = {b[0], -b[1], -b[2], -b[3]};
    tact_quat_mul(q, back, fa->quat_wxyz);
    for (int i = 3; i >= 0; i--) {
        q[i] = q[0] < 0.0 ? -q[i] : q[i];
    }
}

void tact_bond_error(const struct tact_bond *bond, const struct tact_pose *a,
                     const struct tact_pose *b, double e[6])
{
    struct tact_pose fa, fb;
    double ra[9], rb[9], apart[3], q[4];
    tact_pose_mul(&fa, a, &bond->in_a);
    tact_pose_mul(&fb, b, &bond->in_b);
    tact_quat_to_m3(rb, fb.quat_wxyz);
    tact_v3_sub(apart, fa.position, fb.position);
    tact_m3_tmul_v3(e, rb, apart);
    if (bond->kind == TACT_BOND_HINGE) { /* a's z axis against b's y and x, whatever the angle */
        tact_quat_to_m3(ra, fa.quat_wxyz);
        e[3] = -(ra[2] * rb[1] + ra[5] * rb[4] + ra[8] * rb[7]);
        e[4] = ra[2] * rb[0] + ra[5] * rb[3] + ra[8] * rb[6];
        e[5] = 0.0;
        return;
    }
    turn_between(&fa, &fb, q);
    for (int i = 0; i < 3; i++) {
        e[3 + i] = 2.0 * q[1 + i];
    }
}

double tact_bond_value(const struct tact_bond *bond, const struct tact_pose *a,
                       const struct tact_pose *b)
{
    struct tact_pose fa, fb;
    double rb[9], apart[3], q[4];
    tact_pose_mul(&fa, a, &bond->in_a);
    tact_pose_mul(&fb, b, &bond->in_b);
    if (bond->kind == TACT_BOND_HINGE) {
        turn_between(&fa, &fb, q);
        return 2.0 * tact_atan2(q[3], q[0]);
    }
    if (bond->kind != TACT_BOND_SLIDER) {
        return 0.0;
    }
    tact_quat_to_m3(rb, fb.quat_wxyz);
    tact_v3_sub(apart, fa.position, fb.position);
    return rb[2] * apart[0] + rb[5] * apart[1] + rb[8] * apart[2];
}

void tact_world_bond_error(const struct tact_world *world, int index, double out[2])
{
    const struct tact_bond *bond = &world->bonds[index].bond;
    double e[6];
    tact_bond_error(bond, tact_bond_pose(world, bond->a), tact_bond_pose(world, bond->b), e);
    out[0] = tact_hypot(tact_hypot(e[0], e[1]), bond->kind == TACT_BOND_SLIDER ? 0.0 : e[2]);
    out[1] = bond->kind == TACT_BOND_BALL ? 0.0 : tact_v3_norm(e + 3);
}
