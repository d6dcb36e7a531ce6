/* The broad phase of a frame: which triangles the device integrates for each pair, and in which
 * frame, so that the device's numbers are small. */
#include "kernels/batch_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define STACK 128 /* nodes waiting in a descent: far more than a balanced tree is deep */

/* Point of the world in the frame of a pose. */
static void to_local(double *r, const struct tact_pose *pose, const double *point)
{
    double m[9], d[3];
    tact_quat_to_m3(m, pose->quat_wxyz);
    tact_v3_sub(d, point, pose->position);
    tact_m3_tmul_v3(r, m, d);
}

/* How the device takes vertices of a pose to the contact's frame: 12 values. */
static void set_transform(double *values, const struct tact_contact *c,
                          const struct tact_pose *pose)
{
    double m[9];
    tact_quat_to_m3(m, pose->quat_wxyz);
    tact_m3_mul(values, c->axes, m);
    to_local(values + 9, pose, c->origin);
}

/* Makes z the frame's third axis. */
static void set_axes(struct tact_contact *c, const double *z)
{
    tact_v3_tangents(z, c->axes, c->axes + 3);
    tact_v3_copy(c->axes + 6, z);
}

static int append(struct tact_items *to, uint32_t a, uint32_t b, uint32_t contact)
{
    if (to->count == to->capacity) {
        return -ENOSPC;
    }
    to->items[to->count++] = (struct tact_item){a, b, contact, 0};
    return 0;
}

void tact_collect_prisms(struct tact_contact *c, const struct tact_batch_mesh *meshes,
                         const double direction[3], uint32_t contact, struct tact_items *to)
{
    const struct tact_batch_mesh *a = &meshes[c->first_mesh], *b = &meshes[c->second_mesh];
    const struct tact_prism_pair *pairs = NULL;
    struct tact_prism_frame frame;
    c->status = 0;
    if (!tact_prism_frame(a->mesh, c->first_pose, b->mesh, c->second_pose, direction, &frame)) {
        return;
    }
    memcpy(c->axes, frame.axes, sizeof c->axes);
    tact_v3_copy(c->origin, frame.origin);
    long n = tact_prism_pairs(a->mesh, c->first_pose, b->mesh, c->second_pose, &frame, to->scratch,
                              &pairs);
    if (n <= 0) {
        c->status = (int32_t)n;
        return;
    }
    if ((unsigned long)n > to->capacity - to->count) {
        c->status = -ENOSPC;
        return;
    }
    set_transform(c->values, c, c->first_pose);
    set_transform(c->values + 12, c, c->second_pose);
    c->values[24] = tact_prism_slack(a->mesh, c->first_pose, b->mesh, c->second_pose);
    for (long i = 0; i < n; i++) {
        append(to, a->first_triangle + pairs[i].a, b->first_triangle + pairs[i].b, contact);
    }
    c->status = 1;
}

/* A descent of a mesh's tree: leaves that `keep` does not rule out are appended, and the box about
 * them is kept. */
struct descent {
    int (*keep)(const void *what, const struct tact_mesh_node *node);
    const void *what;
    double lower[3], upper[3];
};

static int descend(struct descent *d, const struct tact_batch_mesh *mesh, uint32_t contact,
                   struct tact_items *to)
{
    uint32_t stack[STACK];
    int depth = 0;
    stack[depth++] = 0;
    tact_v3_set(d->lower, INFINITY, INFINITY, INFINITY);
    tact_v3_set(d->upper, -INFINITY, -INFINITY, -INFINITY);
    while (depth > 0) {
        const struct tact_mesh_node *node = &mesh->mesh->nodes[stack[--depth]];
        if (!d->keep(d->what, node)) {
            continue;
        }
        if (node->count == 0) {
            if (depth + 2 > STACK) {
                return -ENOSPC;
            }
            stack[depth++] = node->first + 1;
            stack[depth++] = node->first;
            continue;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            if (append(to, mesh->first_triangle + node->first + i, 0, contact) < 0) {
                return -ENOSPC;
            }
        }
        for (int i = 0; i < 3; i++) {
            d->lower[i] = fmin(d->lower[i], node->lower[i]);
            d->upper[i] = fmax(d->upper[i], node->upper[i]);
        }
    }
    return 0;
}

/* A plane in mesh coordinates: the solid is where normal . r <= offset. */
struct plane {
    double normal[3];
    double offset;
    double slack; /* what is higher by no more than this may lie in the plane [m] */
};

static int below_plane(const void *what, const struct tact_mesh_node *node)
{
    const struct plane *p = what;
    double lowest = -p->offset;
    for (int i = 0; i < 3; i++) {
        lowest += p->normal[i] * (p->normal[i] > 0.0 ? node->lower[i] : node->upper[i]);
    }
    return lowest < p->slack;
}

void tact_collect_plane(struct tact_contact *c, const struct tact_batch_mesh *meshes,
                        uint32_t contact, struct tact_items *to)
{
    const struct tact_batch_mesh *mesh = &meshes[c->first_mesh];
    double up[3] = {0.0, 0.0, 1.0}, z[3], m[9], middle[3], d[3];
    struct plane plane;
    struct descent descent = {.keep = below_plane, .what = &plane};
    uint32_t before = to->count;
    tact_quat_rotate(z, c->second_pose->quat_wxyz, up);
    tact_quat_to_m3(m, c->first_pose->quat_wxyz);
    tact_m3_tmul_v3(plane.normal, m, z);
    tact_v3_sub(d, c->second_pose->position, c->first_pose->position);
    plane.offset = tact_v3_dot(z, d);
    plane.slack = tact_prism_slack(mesh->mesh, c->first_pose, NULL, c->second_pose);
    c->status = descend(&descent, mesh, contact, to);
    if (c->status < 0 || to->count == before) {
        to->count = before;
        return;
    }
    /* the origin: the middle of what lies below, dropped onto the plane */
    for (int i = 0; i < 3; i++) {
        d[i] = 0.5 * (descent.lower[i] + descent.upper[i]);
    }
    tact_pose_point(middle, c->first_pose, d);
    tact_v3_sub(d, middle, c->second_pose->position);
    tact_v3_copy(c->origin, middle);
    tact_v3_axpy(c->origin, -tact_v3_dot(z, d), z);
    set_axes(c, z);
    set_transform(c->values, c, c->first_pose);
    c->values[24] = plane.slack;
    c->status = 1;
}

struct ball {
    double centre[3]; /* mesh frame */
    double radius;
};

static int near_ball(const void *what, const struct tact_mesh_node *node)
{
    const struct ball *b = what;
    double d2 = 0.0;
    for (int i = 0; i < 3; i++) {
        double d = fmax(fmax(node->lower[i] - b->centre[i], b->centre[i] - node->upper[i]), 0.0);
        d2 += d * d;
    }
    return d2 < b->radius * b->radius;
}

void tact_collect_ball(struct tact_contact *c, const struct tact_batch_mesh *meshes,
                       uint32_t contact, struct tact_items *to)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const struct tact_batch_mesh *mesh = &meshes[c->second_mesh];
    struct ball ball = {.radius = c->first->size[0]};
    struct descent descent = {.keep = near_ball, .what = &ball};
    uint32_t before = to->count;
    tact_v3_copy(c->origin, c->first_pose->position);
    memcpy(c->axes, identity, sizeof c->axes);
    set_transform(c->values, c, c->second_pose);
    tact_v3_copy(ball.centre, c->values + 9);
    c->values[24] = ball.radius;
    if (!near_ball(&ball, &mesh->mesh->nodes[0])) {
        c->status = 0;
        return;
    }
    c->status = descend(&descent, mesh, contact, to);
    if (c->status < 0) {
        to->count = before;
        return;
    }
    c->status = 1; /* without a triangle near, the ball may still be inside the mesh */
}

void tact_collect_lens(struct tact_contact *c, uint32_t contact, struct tact_items *to)
{
    double up[3] = {0.0, 0.0, 1.0}, z[3], d[3];
    double ra = c->first->size[0], *v = c->values;
    v[24] = ra;
    v[26] = v[27] = 0.0;
    tact_v3_sub(d, c->second_pose->position, c->first_pose->position);
    if (c->method == TACT_MOMENTS_SPHERE_HALFSPACE) {
        tact_quat_rotate(z, c->second_pose->quat_wxyz, up);
        tact_v3_scale(z, z, -1.0);
        v[25] = fmin(ra - tact_v3_dot(z, d), 2.0 * ra);
    } else {
        double rb = c->second->size[0], distance = tact_v3_normalize(z, d);
        double depth = ra + rb - distance;
        v[26] = rb;
        if (distance > fabs(ra - rb)) {
            v[25] = depth * (2.0 * rb - depth) / (2.0 * distance);
            v[27] = depth * (2.0 * ra - depth) / (2.0 * distance);
        } else { /* one inside the other */
            v[25] = ra <= rb ? 2.0 * ra : 0.0;
            v[27] = ra <= rb ? 0.0 : 2.0 * rb;
            tact_v3_copy(z, distance > 0.0 ? z : up);
        }
    }
    if (!(v[25] > 0.0 || v[27] > 0.0)) {
        c->status = 0;
        return;
    }
    set_axes(c, z);
    tact_v3_copy(c->origin, v[25] > 0.0 ? c->first_pose->position : c->second_pose->position);
    tact_v3_axpy(c->origin, v[25] > 0.0 ? ra - v[25] : v[27] - v[26], z);
    c->status = append(to, 0, 0, contact) < 0 ? -ENOSPC : 1;
}

/* Ray from `point` along a fixed direction through the box of a node. */
static int ray_meets(const double *point, const double *direction,
                     const struct tact_mesh_node *node)
{
    double enter = 0.0, leave = INFINITY;
    for (int i = 0; i < 3; i++) {
        double t0 = (node->lower[i] - point[i]) / direction[i];
        double t1 = (node->upper[i] - point[i]) / direction[i];
        enter = fmax(enter, fmin(t0, t1));
        leave = fmin(leave, fmax(t0, t1));
    }
    return enter <= leave;
}

/* +1 or -1 where the ray leaves or enters through the triangle, else 0. Triangles that share an
 * edge compute the same product for it, with opposite signs. */
static int crossing(const struct tact_mesh *mesh, uint32_t triangle, const double *point,
                    const double *direction)
{
    double r[3][3], n[3], e[3];
    for (int k = 0; k < 3; k++) {
        tact_v3_sub(r[k], mesh->vertices + 3 * mesh->triangles[3 * triangle + (uint32_t)k], point);
    }
    for (int k = 0; k < 3; k++) {
        tact_v3_cross(n, r[k], r[(k + 1) % 3]);
        e[k] = tact_v3_dot(n, direction);
    }
    int out = e[0] >= 0.0 && e[1] >= 0.0 && e[2] >= 0.0;
    int in = e[0] < 0.0 && e[1] < 0.0 && e[2] < 0.0;
    if (!out && !in) {
        return 0;
    }
    double ab[3], ac[3];
    tact_v3_sub(ab, r[1], r[0]);
    tact_v3_sub(ac, r[2], r[0]);
    tact_v3_cross(n, ab, ac);
    double ahead = tact_v3_dot(n, r[0]); /* of one sign with n . direction where ahead */
    return out ? ahead > 0.0 : -(ahead < 0.0);
}

int tact_point_inside(const struct tact_mesh *mesh, const double point[3])
{
    static const double direction[3] = {0.4472135954999579, 0.3651483716701107, 0.8164965809277260};
    uint32_t stack[STACK];
    int depth = 0, winding = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const struct tact_mesh_node *node = &mesh->nodes[stack[--depth]];
        if (!ray_meets(point, direction, node)) {
            continue;
        }
        if (node->count == 0 && depth + 2 <= STACK) {
            stack[depth++] = node->first + 1;
            stack[depth++] = node->first;
            continue;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            winding += crossing(mesh, node->first + i, point, direction);
        }
    }
    return winding > 0;
}
