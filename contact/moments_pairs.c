/* Signed prism pairs: the frame, and the dual descent that lists the pairs. */
#include <errno.h>

#include "contact/moments_internal.h"

/** Turn of the frame's z away from the given direction [rad], and the azimuth of that turn. */
static const double TILT = 0.05, AZIMUTH = 0.7;

/** Pairs of nodes that a descent may hold: each step replaces one by two, a level deeper in one of
 *  the trees, and a tree split at the median has at most 32 levels. */
enum { STACK_PAIRS = 2 * 33 + 2 };

/** A box with axes of its own: centre and half extents along them. */
struct oriented_box {
    double axes[9]; /* columns are the axes, world */
    double centre[3];
    double half[3];
};

static void root_box(const struct tact_mesh *mesh, const struct tact_pose *pose,
                     struct oriented_box *box)
{
    const struct tact_mesh_node *root = &mesh->nodes[0];
    double middle[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (root->lower[k] + root->upper[k]);
        box->half[k] = 0.5 * (root->upper[k] - root->lower[k]);
    }
    tact_quat_to_m3(box->axes, pose->quat_wxyz);
    tact_m3_mul_v3(box->centre, box->axes, middle);
    tact_v3_add(box->centre, box->centre, pose->position);
}

/** Half width of the box along the unit vector u. */
static double reach(const struct oriented_box *box, const double u[3])
{
    double local[3];
    tact_m3_tmul_v3(local, box->axes, u);
    return fabs(local[0]) * box->half[0] + fabs(local[1]) * box->half[1] +
           fabs(local[2]) * box->half[2];
}

/** Finds the axis of either box along which they overlap least; returns that overlap. */
static double least_overlap(const struct oriented_box *a, const struct oriented_box *b,
                            double direction[3])
{
    double least = INFINITY, apart[3];
    tact_v3_set(direction, 0.0, 0.0, 1.0);
    tact_v3_sub(apart, a->centre, b->centre);
    for (int i = 0; i < 6; i++) {
        const double *axes = i < 3 ? b->axes : a->axes;
        double u[3] = {axes[i % 3], axes[3 + i % 3], axes[6 + i % 3]};
        double distance = tact_v3_dot(u, apart);
        double overlap = reach(a, u) + reach(b, u) - fabs(distance);
        if (overlap < least) {
            least = overlap;
            tact_v3_scale(direction, u, distance < 0.0 ? -1.0 : 1.0);
        }
    }
    return least;
}

int tact_prism_frame(const struct tact_mesh *a, const struct tact_pose *pa,
                     const struct tact_mesh *b, const struct tact_pose *pb,
                     const double direction[3], struct tact_prism_frame *frame)
{
    struct oriented_box box_a, box_b;
    double d[3], t1[3], t2[3];
    root_box(a, pa, &box_a);
    root_box(b, pb, &box_b);
    if (!(least_overlap(&box_a, &box_b, d) > 0.0)) {
        return 0;
    }
    if (direction && tact_v3_dot(direction, direction) > 0.0) {
        tact_v3_normalize(d, direction);
    }
    tact_v3_tangents(d, t1, t2);
    tact_v3_scale(d, d, cos(TILT));
    tact_v3_axpy(d, sin(TILT) * cos(AZIMUTH), t1);
    tact_v3_axpy(d, sin(TILT) * sin(AZIMUTH), t2);
    double *axes = frame->axes;
    tact_v3_normalize(axes + 6, d);
    tact_v3_tangents(axes + 6, axes, axes + 3);

    double middle[3];
    for (int k = 0; k < 3; k++) {
        const double *u = axes + 3 * k;
        double ca = tact_v3_dot(u, box_a.centre), cb = tact_v3_dot(u, box_b.centre);
        double ra = reach(&box_a, u), rb = reach(&box_b, u);
        middle[k] = 0.5 * (tact_max(ca - ra, cb - rb) + tact_min(ca + ra, cb + rb));
    }
    tact_m3_tmul_v3(frame->origin, axes, middle);
    return 1;
}

void tact_prism_place(const struct tact_prism_frame *frame, const struct tact_pose *pose,
                      double rot[9], double shift[3])
{
    double r[9], offset[3];
    tact_quat_to_m3(r, pose->quat_wxyz);
    tact_m3_mul(rot, frame->axes, r);
    tact_v3_sub(offset, pose->position, frame->origin);
    tact_m3_mul_v3(shift, frame->axes, offset);
}

/** A mesh seen in the frame. */
struct placed {
    const struct tact_mesh *mesh;
    double rot[9], size[9]; /* size: absolute values of rot, for half extents */
    double shift[3];
};

struct bounds {
    double lower[3], upper[3];
};

static void place(const struct tact_mesh *mesh, const struct tact_prism_frame *frame,
                  const struct tact_pose *pose, struct placed *out)
{
    out->mesh = mesh;
    tact_prism_place(frame, pose, out->rot, out->shift);
    for (int i = 0; i < 9; i++) {
        out->size[i] = fabs(out->rot[i]);
    }
}

static void node_bounds(const struct placed *p, uint32_t index, struct bounds *out)
{
    const struct tact_mesh_node *node = &p->mesh->nodes[index];
    double middle[3], half[3], c[3], r[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (node->lower[k] + node->upper[k]);
        half[k] = 0.5 * (node->upper[k] - node->lower[k]);
    }
    tact_m3_mul_v3(c, p->rot, middle);
    tact_m3_mul_v3(r, p->size, half);
    for (int k = 0; k < 3; k++) {
        out->lower[k] = c[k] + p->shift[k] - r[k];
        out->upper[k] = c[k] + p->shift[k] + r[k];
    }
}

/** Whether anything of b may stand above something of a: the columns meet and b's top is above a's
 *  bottom. */
static int may_count(const struct bounds *a, const struct bounds *b)
{
    return a->lower[0] < b->upper[0] && b->lower[0] < a->upper[0] && a->lower[1] < b->upper[1] &&
           b->lower[1] < a->upper[1] && a->lower[2] < b->upper[2];
}

/** A triangle in the frame, with what rejects need. turn is +1 where it is counter-clockwise in the
 *  projection, -1 clockwise, 0 edge-on (then it has no edges and no plane). */
struct placed_triangle {
    double p[3][3];
    double edge[3][3]; /* edge[k] . (x, y, 1) > 0 on the inner side of edge k */
    double plane[3];   /* z = plane . (x, y, 1) */
    double turn;
    struct bounds bounds;
};

enum { LEAF_MAX = 8 };

/** The triangles of the leaf that was looked at last: a descent stays in one leaf for long. */
struct placed_leaf {
    const struct placed *body;
    uint32_t node;
    int count; /* 0: none yet */
    struct placed_triangle t[LEAF_MAX];
};

static void prepare_triangle(struct placed_triangle *t)
{
    for (int k = 0; k < 3; k++) {
        t->bounds.lower[k] = tact_min(t->p[0][k], tact_min(t->p[1][k], t->p[2][k]));
        t->bounds.upper[k] = tact_max(t->p[0][k], tact_max(t->p[1][k], t->p[2][k]));
    }
    double e1[3], e2[3], n[3];
    tact_v3_sub(e1, t->p[1], t->p[0]);
    tact_v3_sub(e2, t->p[2], t->p[0]);
    tact_v3_cross(n, e1, e2);
    t->turn = n[2] > 0.0 ? 1.0 : n[2] < 0.0 ? -1.0 : 0.0;
    if (t->turn == 0.0) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        const double *a = t->p[k], *b = t->p[(k + 1) % 3];
        t->edge[k][0] = -t->turn * (b[1] - a[1]);
        t->edge[k][1] = t->turn * (b[0] - a[0]);
        t->edge[k][2] = -(t->edge[k][0] * a[0] + t->edge[k][1] * a[1]);
    }
    t->plane[0] = -n[0] / n[2];
    t->plane[1] = -n[1] / n[2];
    t->plane[2] = t->p[0][2] - t->plane[0] * t->p[0][0] - t->plane[1] * t->p[0][1];
}

static void place_leaf(struct placed_leaf *leaf, uint32_t index)
{
    if (leaf->count && leaf->node == index) {
        return;
    }
    const struct placed *body = leaf->body;
    const struct tact_mesh_node *node = &body->mesh->nodes[index];
    for (uint32_t i = 0; i < node->count; i++) {
        const uint32_t *v = body->mesh->triangles + 3 * (size_t)(node->first + i);
        for (int k = 0; k < 3; k++) {
            double *p = leaf->t[i].p[k];
            tact_m3_mul_v3(p, body->rot, body->mesh->vertices + 3 * (size_t)v[k]);
            tact_v3_add(p, p, body->shift);
        }
        prepare_triangle(&leaf->t[i]);
    }
    leaf->node = index;
    leaf->count = (int)node->count;
}

/** Largest value of f . (x, y, 1) over the box. */
static double greatest(const double f[3], const struct bounds *b)
{
    return f[2] + tact_max(f[0] * b->lower[0], f[0] * b->upper[0]) +
           tact_max(f[1] * b->lower[1], f[1] * b->upper[1]);
}

static double least(const double f[3], const struct bounds *b)
{
    return f[2] + tact_min(f[0] * b->lower[0], f[0] * b->upper[0]) +
           tact_min(f[1] * b->lower[1], f[1] * b->upper[1]);
}

/** Whether the box lies beside t in the projection. */
static int beside(const struct placed_triangle *t, const struct bounds *box)
{
    return greatest(t->edge[0], box) <= 0.0 || greatest(t->edge[1], box) <= 0.0 ||
           greatest(t->edge[2], box) <= 0.0;
}

/** Whether a triangle of the leaf (of A, or else of B) may count against something in the box. */
static int leaf_may_count(const struct placed_leaf *leaf, int of_a, const struct bounds *box)
{
    for (int i = 0; i < leaf->count; i++) {
        const struct placed_triangle *t = &leaf->t[i];
        if (!(of_a ? may_count(&t->bounds, box) : may_count(box, &t->bounds))) {
            continue;
        }
        if (t->turn == 0.0) {
            if (of_a) {
                return 1;
            }
            continue;
        }
        int clear =
            of_a ? least(t->plane, box) >= box->upper[2] : greatest(t->plane, box) <= box->lower[2];
        if (!clear && !beside(t, box)) {
            return 1;
        }
    }
    return 0;
}

static double at(const double f[3], const double *p)
{
    return f[0] * p[0] + f[1] * p[1] + f[2];
}

/** Whether an edge of s has all of t on its outer side (separating axis in the projection). */
static int separated_by_edge(const struct placed_triangle *s, const struct placed_triangle *t)
{
    for (int k = 0; s->turn != 0.0 && k < 3; k++) {
        const double *e = s->edge[k];
        if (at(e, t->p[0]) <= 0.0 && at(e, t->p[1]) <= 0.0 && at(e, t->p[2]) <= 0.0) {
            return 1;
        }
    }
    return 0;
}

/** Whether t of B is nowhere above s of A, by the plane of either. */
static int nowhere_above(const struct placed_triangle *s, const struct placed_triangle *t)
{
    if (s->p[0][2] >= at(t->plane, s->p[0]) && s->p[1][2] >= at(t->plane, s->p[1]) &&
        s->p[2][2] >= at(t->plane, s->p[2])) {
        return 1;
    }
    return s->turn != 0.0 && t->p[0][2] <= at(s->plane, t->p[0]) &&
           t->p[1][2] <= at(s->plane, t->p[1]) && t->p[2][2] <= at(s->plane, t->p[2]);
}

struct node_pair {
    uint32_t a, b;
    struct bounds bounds_a, bounds_b;
};

/** A dual descent under way. */
struct descent {
    struct placed a, b;
    struct placed_leaf leaf_a, leaf_b;
    struct tact_moments_scratch *scratch;
    size_t count;
    int top;
    struct node_pair stack[STACK_PAIRS];
};

/** Lists the pairs of two leaves that count; returns -ENOSPC where the scratch is full. */
static int pair_leaves(struct descent *d, const struct node_pair *p)
{
    place_leaf(&d->leaf_a, p->a);
    place_leaf(&d->leaf_b, p->b);
    for (int i = 0; i < d->leaf_a.count; i++) {
        const struct placed_triangle *s = &d->leaf_a.t[i];
        for (int j = 0; j < d->leaf_b.count; j++) {
            const struct placed_triangle *t = &d->leaf_b.t[j];
            /* A triangle of B seen edge-on stands above nothing; one of A still has a gradient. */
            if (t->turn == 0.0 || !may_count(&s->bounds, &t->bounds) || nowhere_above(s, t) ||
                separated_by_edge(s, t) || separated_by_edge(t, s)) {
                continue;
            }
            if (d->count == d->scratch->capacity) {
                return -ENOSPC;
            }
            struct tact_prism_pair *pair = &d->scratch->pairs[d->count++];
            pair->a = d->a.mesh->nodes[p->a].first + (uint32_t)i;
            pair->b = d->b.mesh->nodes[p->b].first + (uint32_t)j;
        }
    }
    return 0;
}

static double extent(const struct bounds *b)
{
    return b->upper[0] - b->lower[0] + b->upper[1] - b->lower[1] + b->upper[2] - b->lower[2];
}

/** Pushes those children pairs of p that may count. */
static void descend(struct descent *d, const struct node_pair *p)
{
    const struct tact_mesh_node *node_a = &d->a.mesh->nodes[p->a];
    const struct tact_mesh_node *node_b = &d->b.mesh->nodes[p->b];
    int split_a = node_b->count || (!node_a->count && extent(&p->bounds_a) > extent(&p->bounds_b));
    if (node_a->count) {
        place_leaf(&d->leaf_a, p->a);
    }
    if (node_b->count) {
        place_leaf(&d->leaf_b, p->b);
    }
    for (uint32_t child = 0; child < 2; child++) {
        struct node_pair *next = &d->stack[d->top];
        *next = *p;
        int counts;
        if (split_a) {
            next->a = node_a->first + child;
            node_bounds(&d->a, next->a, &next->bounds_a);
            counts = may_count(&next->bounds_a, &next->bounds_b) &&
                     (!node_b->count || leaf_may_count(&d->leaf_b, 0, &next->bounds_a));
        } else {
            next->b = node_b->first + child;
            node_bounds(&d->b, next->b, &next->bounds_b);
            counts = may_count(&next->bounds_a, &next->bounds_b) &&
                     (!node_a->count || leaf_may_count(&d->leaf_a, 1, &next->bounds_b));
        }
        d->top += counts;
    }
}

long tact_prism_pairs(const struct tact_mesh *a, const struct tact_pose *pa,
                      const struct tact_mesh *b, const struct tact_pose *pb,
                      const struct tact_prism_frame *frame, struct tact_moments_scratch *scratch,
                      const struct tact_prism_pair **pairs)
{
    struct descent d;
    place(a, frame, pa, &d.a);
    place(b, frame, pb, &d.b);
    d.leaf_a.body = &d.a;
    d.leaf_b.body = &d.b;
    d.leaf_a.count = d.leaf_b.count = 0;
    d.scratch = scratch;
    d.count = 0;
    d.stack[0].a = d.stack[0].b = 0;
    node_bounds(&d.a, 0, &d.stack[0].bounds_a);
    node_bounds(&d.b, 0, &d.stack[0].bounds_b);
    d.top = may_count(&d.stack[0].bounds_a, &d.stack[0].bounds_b);
    *pairs = scratch->pairs;
    while (d.top > 0) {
        struct node_pair p = d.stack[--d.top];
        if (a->nodes[p.a].count && b->nodes[p.b].count) {
            int rc = pair_leaves(&d, &p);
            if (rc) {
                return rc;
            }
        } else {
            descend(&d, &p);
        }
    }
    return (long)d.count;
}
