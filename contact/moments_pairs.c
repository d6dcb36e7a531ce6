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
        middle[k] = 0.5 * (fmax(ca - ra, cb - rb) + fmin(ca + ra, cb + rb));
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

struct placed_triangle {
    double p[3][3];
    double turn; /* +1 counter-clockwise in the projection, -1 clockwise, 0 edge-on */
    struct bounds bounds;
};

static int place_leaf(const struct placed *p, const struct tact_mesh_node *node,
                      struct placed_triangle *out)
{
    for (uint32_t i = 0; i < node->count; i++) {
        struct placed_triangle *t = &out[i];
        const uint32_t *v = p->mesh->triangles + 3 * (size_t)(node->first + i);
        for (int k = 0; k < 3; k++) {
            tact_m3_mul_v3(t->p[k], p->rot, p->mesh->vertices + 3 * (size_t)v[k]);
            tact_v3_add(t->p[k], t->p[k], p->shift);
        }
        for (int k = 0; k < 3; k++) {
            t->bounds.lower[k] = fmin(t->p[0][k], fmin(t->p[1][k], t->p[2][k]));
            t->bounds.upper[k] = fmax(t->p[0][k], fmax(t->p[1][k], t->p[2][k]));
        }
        double area = (t->p[1][0] - t->p[0][0]) * (t->p[2][1] - t->p[0][1]) -
                      (t->p[1][1] - t->p[0][1]) * (t->p[2][0] - t->p[0][0]);
        t->turn = area > 0.0 ? 1.0 : area < 0.0 ? -1.0 : 0.0;
    }
    return (int)node->count;
}

/** Whether an edge of s has all of t on its outer side (separating axis in the projection). */
static int separated_by_edge(const struct placed_triangle *s, const struct placed_triangle *t)
{
    if (s->turn == 0.0) {
        return 0;
    }
    for (int k = 0; k < 3; k++) {
        const double *a = s->p[k], *b = s->p[(k + 1) % 3];
        double dx = s->turn * (b[0] - a[0]), dy = s->turn * (b[1] - a[1]);
        if (dx * (t->p[0][1] - a[1]) - dy * (t->p[0][0] - a[0]) <= 0.0 &&
            dx * (t->p[1][1] - a[1]) - dy * (t->p[1][0] - a[0]) <= 0.0 &&
            dx * (t->p[2][1] - a[1]) - dy * (t->p[2][0] - a[0]) <= 0.0) {
            return 1;
        }
    }
    return 0;
}

/** Lists the pairs of two leaves that count; returns -ENOSPC where the scratch is full. */
static int pair_leaves(const struct placed *a, uint32_t leaf_a, const struct placed *b,
                       uint32_t leaf_b, struct tact_moments_scratch *scratch, size_t *count)
{
    enum { LEAF_MAX = 8 };
    struct placed_triangle s[LEAF_MAX], t[LEAF_MAX];
    const struct tact_mesh_node *node_a = &a->mesh->nodes[leaf_a];
    const struct tact_mesh_node *node_b = &b->mesh->nodes[leaf_b];
    int ns = place_leaf(a, node_a, s), nt = place_leaf(b, node_b, t);
    for (int i = 0; i < ns; i++) {
        for (int j = 0; j < nt; j++) {
            /* A triangle of B seen edge-on stands above nothing; one of A still has a gradient. */
            if (t[j].turn == 0.0 || !may_count(&s[i].bounds, &t[j].bounds) ||
                separated_by_edge(&s[i], &t[j]) || separated_by_edge(&t[j], &s[i])) {
                continue;
            }
            if (*count == scratch->capacity) {
                return -ENOSPC;
            }
            scratch->pairs[*count].a = node_a->first + (uint32_t)i;
            scratch->pairs[*count].b = node_b->first + (uint32_t)j;
            ++*count;
        }
    }
    return 0;
}

struct node_pair {
    uint32_t a, b;
    struct bounds bounds_a, bounds_b;
};

static double extent(const struct bounds *b)
{
    return b->upper[0] - b->lower[0] + b->upper[1] - b->lower[1] + b->upper[2] - b->lower[2];
}

/** Pushes those children pairs of p that may count; returns the new size of the stack. */
static int descend(const struct placed *a, const struct placed *b, const struct node_pair *p,
                   struct node_pair *stack, int top)
{
    const struct tact_mesh_node *node_a = &a->mesh->nodes[p->a], *node_b = &b->mesh->nodes[p->b];
    int split_a = node_b->count || (!node_a->count && extent(&p->bounds_a) > extent(&p->bounds_b));
    for (uint32_t child = 0; child < 2; child++) {
        struct node_pair *next = &stack[top];
        *next = *p;
        if (split_a) {
            next->a = node_a->first + child;
            node_bounds(a, next->a, &next->bounds_a);
        } else {
            next->b = node_b->first + child;
            node_bounds(b, next->b, &next->bounds_b);
        }
        top += may_count(&next->bounds_a, &next->bounds_b);
    }
    return top;
}

long tact_prism_pairs(const struct tact_mesh *a, const struct tact_pose *pa,
                      const struct tact_mesh *b, const struct tact_pose *pb,
                      const struct tact_prism_frame *frame, struct tact_moments_scratch *scratch,
                      const struct tact_prism_pair **pairs)
{
    struct placed placed_a, placed_b;
    place(a, frame, pa, &placed_a);
    place(b, frame, pb, &placed_b);
    struct node_pair stack[STACK_PAIRS];
    stack[0].a = stack[0].b = 0;
    node_bounds(&placed_a, 0, &stack[0].bounds_a);
    node_bounds(&placed_b, 0, &stack[0].bounds_b);
    int top = may_count(&stack[0].bounds_a, &stack[0].bounds_b);
    size_t count = 0;
    *pairs = scratch->pairs;
    while (top > 0) {
        struct node_pair p = stack[--top];
        if (a->nodes[p.a].count && b->nodes[p.b].count) {
            int rc = pair_leaves(&placed_a, p.a, &placed_b, p.b, scratch, &count);
            if (rc) {
                return rc;
            }
        } else {
            top = descend(&placed_a, &placed_b, &p, stack, top);
        }
    }
    return (long)count;
}
