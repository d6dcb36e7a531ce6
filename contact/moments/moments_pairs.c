/* Signed prism pairs: the broad phase that lists the pairs.
 *
 * Both trees are cut down level by level to the nodes that reach the other's; what is left is
 * matched all with all, and below nodes that are no leaves yet the two trees are descended
 * together. Boxes are held in single precision and are a little too large for it: a node is ruled
 * out only where every pair of triangles below it would be. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contact/moments/moments_internal.h"
#include "contact/moments/moments_near_internal.h"

/** Nodes that a cut may hold. Past that, pairs of its nodes are descended one by one. */
enum { CUT = 512 };

/** Pairs of nodes that a descent may hold: each step replaces one by two, a level deeper in one of
 *  the trees, and a tree split at the median has at most 32 levels. */
enum { STACK_PAIRS = 2 * 33 + 2 };

/** Leaves kept ready, by the lowest digits of their node's number. */
enum { SLOTS = 64 };

/** Leaves of one mesh up to which each is held against every node of the other: what large
 *  triangles do not reach, their boxes often do. */
enum { FEW_LEAVES = 8 };

/** What a box spans along the frame's axes and its normal, in the unit of the pair. */
struct bounds {
    tact_f4 centre, half;
};

/** Nodes of one tree that no longer overlap and hold all that may count, in the tree's order. */
struct cut {
    uint32_t count, inner; /* all of them, those that are no leaves */
    uint32_t node[CUT];
    struct bounds bounds[CUT];
};

/** One mesh of a pair. */
struct side {
    struct tact_placed placed;
    float size;        /* of the mesh's unit in the unit of the pair */
    struct cut cut[2]; /* the one in use, and room for the next */
    int current;
    uint32_t ready[SLOTS];
    struct tact_leaf leaf[SLOTS];
};

struct node_pair {
    struct bounds bounds_a, bounds_b;
    uint32_t a, b;
};

struct tact_prism_work {
    struct tact_near near;
    struct side a, b;
    double unit; /* of the pair [m] */
    struct tact_moments_scratch *scratch;
    size_t count;
    tact_f8 span[6][CUT / 8]; /* of B's cut: lower x y, upper x y z normal */
    int top;
    struct node_pair stack[STACK_PAIRS];
};

struct tact_prism_work *tact_prism_work_create(void)
{
    /* Stated, because the alignment that the compiler gives short vectors is the processor's. */
    size_t size = (sizeof(struct tact_prism_work) + 63) / 64 * 64;
    struct tact_prism_work *work = aligned_alloc(64, size);
    if (work) {
        memset(work, 0, sizeof *work);
    }
    return work;
}

/** Puts a mesh in the frame; returns the size of its unit in the unit of the pair [m]. */
static float place(const struct tact_mesh *mesh, const struct tact_prism_frame *frame,
                   const struct tact_pose *pose, double unit, struct tact_placed *p)
{
    double middle[3], seen[3], normal[3], along[3], own = tact_mesh_box_unit(mesh, middle);
    p->mesh = mesh;
    tact_prism_place(frame, pose, p->rot, p->shift);
    tact_m3_mul_v3(seen, p->rot, middle);
    tact_v3_add(seen, seen, p->shift);
    tact_m3_mul_v3(normal, frame->axes, frame->normal);
    tact_m3_tmul_v3(along, p->rot, normal);
    p->middle[3] = (float)(tact_v3_dot(normal, seen) / unit);
    for (int j = 0; j < 3; j++) {
        p->column[j][3] = (float)(along[j] * (own / unit));
        for (int i = 0; i < 3; i++) {
            p->column[j][i] = (float)(p->rot[3 * i + j] * (own / unit));
        }
        p->middle[j] = (float)(seen[j] / unit);
    }
    return (float)(own / unit);
}

TACT_INLINE void node_bounds(const struct side *side, uint32_t node, struct bounds *out)
{
    const struct tact_mesh_box *box = &side->placed.mesh->boxes[node];
    const tact_f4 *c = side->placed.column;
    out->centre =
        c[0] * box->centre[0] + c[1] * box->centre[1] + c[2] * box->centre[2] + side->placed.middle;
    tact_f4 half = {0.0F};
    for (int k = 0; k < 3; k++) {
        const float *axis = box->axis[k];
        half += TACT_F4_ABS(c[0] * axis[0] + c[1] * axis[1] + c[2] * axis[2]);
    }
    out->half = half;
}

/** Whether anything of b may stand above something of a: the columns meet and b's top is above a's
 *  bottom, along z and along the normal. */
TACT_INLINE int may_count(const struct bounds *a, const struct bounds *b)
{
    const tact_i4 turned = {0, 0, INT32_MIN, INT32_MIN};
    const tact_i4 kept = {INT32_MAX, INT32_MAX, -1, -1};
    tact_f4 apart = (tact_f4)(((tact_i4)(b->centre - a->centre) ^ turned) & kept);
    tact_i4 out = apart >= a->half + b->half;
    tact_l2 any = (tact_l2)out;
    return !(any[0] | any[1]);
}

TACT_INLINE const struct tact_leaf *ready_leaf(struct side *side, uint32_t node, int of_a)
{
    uint32_t slot = node % SLOTS;
    if (side->ready[slot] != node) {
        tact_leaf_place(&side->placed, side->placed.mesh->boxes[node].leaf, of_a,
                        &side->leaf[slot]);
        side->ready[slot] = node;
    }
    return &side->leaf[slot];
}

TACT_INLINE int leaf_may_count(double unit, const struct tact_leaf *leaf, int of_a,
                               const struct bounds *b)
{
    double centre[3], half[3];
    for (int k = 0; k < 3; k++) {
        centre[k] = unit * (double)b->centre[k];
        half[k] = unit * (double)b->half[k];
    }
    return tact_leaf_may_count(leaf, of_a, centre, half);
}

/** Bounds of a whole cut. */
TACT_INLINE void cut_bounds(const struct cut *cut, struct bounds *out)
{
    tact_f4 lower = cut->bounds[0].centre - cut->bounds[0].half;
    tact_f4 upper = cut->bounds[0].centre + cut->bounds[0].half;
    for (uint32_t i = 1; i < cut->count; i++) {
        tact_f4 low = cut->bounds[i].centre - cut->bounds[i].half;
        tact_f4 high = cut->bounds[i].centre + cut->bounds[i].half;
        lower = TACT_F4_MIN(low, lower);
        upper = TACT_F4_MAX(high, upper);
    }
    out->centre = 0.5F * (lower + upper);
    out->half = 0.5F * (upper - lower);
}

/** Whether a node of one side (A, or else B) may count against the other side's cut. */
TACT_INLINE int node_may_count(struct tact_prism_work *w, int of_a, const struct bounds *node,
                               const struct bounds *whole)
{
    if (!(of_a ? may_count(node, whole) : may_count(whole, node))) {
        return 0;
    }
    struct side *other = of_a ? &w->b : &w->a;
    const struct cut *cut = &other->cut[other->current];
    if (cut->inner || cut->count > FEW_LEAVES) {
        return 1;
    }
    for (uint32_t i = 0; i < cut->count; i++) {
        if (leaf_may_count(w->unit, ready_leaf(other, cut->node[i], !of_a), !of_a, node)) {
            return 1;
        }
    }
    return 0;
}

/** Replaces the inner nodes of a side's cut by those children that may count against the other's;
 *  returns 0 where its room is short, with the rest left as it was. */
TACT_INLINE int refine(struct tact_prism_work *w, int of_a)
{
    struct side *side = of_a ? &w->a : &w->b, *other = of_a ? &w->b : &w->a;
    const struct cut *from = &side->cut[side->current];
    struct cut *to = &side->cut[!side->current];
    const struct tact_mesh_box *boxes = side->placed.mesh->boxes;
    struct bounds whole;
    cut_bounds(&other->cut[other->current], &whole);
    int room = 1;
    to->count = to->inner = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        const struct tact_mesh_box *box = &boxes[from->node[i]];
        room = room && to->count + (from->count - i) < CUT;
        if (box->count || !room) {
            if (node_may_count(w, of_a, &from->bounds[i], &whole)) {
                to->node[to->count] = from->node[i];
                to->bounds[to->count++] = from->bounds[i];
                to->inner += !box->count;
            }
            continue;
        }
        for (uint32_t child = box->first; child < box->first + 2; child++) {
            node_bounds(side, child, &to->bounds[to->count]);
            if (node_may_count(w, of_a, &to->bounds[to->count], &whole)) {
                to->node[to->count++] = child;
                to->inner += !boxes[child].count;
            }
        }
    }
    side->current = !side->current;
    return room;
}

/** Refines both cuts until they are of leaves or full. Returns 0 where nothing is left. */
TACT_INLINE int cut_trees(struct tact_prism_work *w)
{
    for (int i = 0; i < 2; i++) {
        struct side *side = i ? &w->b : &w->a;
        struct cut *cut = &side->cut[side->current];
        cut->count = 1;
        cut->node[0] = 0;
        cut->inner = !side->placed.mesh->boxes[0].count;
        node_bounds(side, 0, &cut->bounds[0]);
    }
    int room = may_count(&w->a.cut[w->a.current].bounds[0], &w->b.cut[w->b.current].bounds[0]);
    uint32_t left = (uint32_t)room;
    while (left && room && (w->a.cut[w->a.current].inner || w->b.cut[w->b.current].inner)) {
        room = refine(w, 1);
        left = w->a.cut[w->a.current].count;
        if (left) {
            room = refine(w, 0) && room;
            left = w->b.cut[w->b.current].count;
        }
    }
    return left != 0;
}

/** Lists the pairs of two leaves that count; returns -ENOSPC where the scratch is full. */
TACT_INLINE int pair_leaves(struct tact_prism_work *w, const struct node_pair *p)
{
    const struct tact_leaf *s = ready_leaf(&w->a, p->a, 1);
    if (!leaf_may_count(w->unit, s, 1, &p->bounds_b)) {
        return 0;
    }
    const struct tact_leaf *t = ready_leaf(&w->b, p->b, 0);
    const struct tact_mesh_box *box_a = &w->a.placed.mesh->boxes[p->a];
    const struct tact_mesh_box *box_b = &w->b.placed.mesh->boxes[p->b];
    for (uint32_t i = 0; i < box_a->count; i++) {
        uint32_t keep = tact_leaf_pairs(s, (int)i, t);
        for (; keep; keep &= keep - 1) {
            uint32_t j = (uint32_t)__builtin_ctz(keep);
            if (w->count == w->scratch->capacity) {
                return -ENOSPC;
            }
            w->scratch->pairs[w->count++] =
                (struct tact_prism_pair){box_a->first + i, box_b->first + j};
        }
    }
    return 0;
}

/** Pushes those children pairs of p that may count. */
TACT_INLINE void descend(struct tact_prism_work *w, const struct node_pair *p)
{
    const struct tact_mesh_box *box_a = &w->a.placed.mesh->boxes[p->a];
    const struct tact_mesh_box *box_b = &w->b.placed.mesh->boxes[p->b];
    int split_a =
        box_b->count || (!box_a->count && box_a->size * w->a.size > box_b->size * w->b.size);
    const struct tact_leaf *leaf = box_a->count   ? ready_leaf(&w->a, p->a, 1)
                                   : box_b->count ? ready_leaf(&w->b, p->b, 0)
                                                  : NULL;
    for (uint32_t child = 0; child < 2; child++) {
        struct node_pair *next = &w->stack[w->top];
        *next = *p;
        if (split_a) {
            next->a = box_a->first + child;
            node_bounds(&w->a, next->a, &next->bounds_a);
        } else {
            next->b = box_b->first + child;
            node_bounds(&w->b, next->b, &next->bounds_b);
        }
        w->top += may_count(&next->bounds_a, &next->bounds_b) &&
                  (!leaf || leaf_may_count(w->unit, leaf, !split_a,
                                           split_a ? &next->bounds_a : &next->bounds_b));
    }
}

/** Lists the pairs of triangles below a pair of nodes. */
TACT_INLINE int pair_nodes(struct tact_prism_work *w, const struct node_pair *p)
{
    const struct tact_mesh_box *boxes_a = w->a.placed.mesh->boxes;
    const struct tact_mesh_box *boxes_b = w->b.placed.mesh->boxes;
    if (boxes_a[p->a].count && boxes_b[p->b].count) {
        return pair_leaves(w, p);
    }
    w->stack[0] = *p;
    w->top = 1;
    while (w->top > 0) {
        struct node_pair next = w->stack[--w->top];
        if (!boxes_a[next.a].count || !boxes_b[next.b].count) {
            descend(w, &next);
        } else if (pair_leaves(w, &next)) {
            return -ENOSPC;
        }
    }
    return 0;
}

/** Lays out what the nodes of B's cut span, eight side by side; returns the number of eights. */
TACT_INLINE uint32_t lay_out(struct tact_prism_work *w)
{
    const struct cut *cut = &w->b.cut[w->b.current];
    uint32_t eights = (cut->count + 7) / 8;
    for (uint32_t i = 0; i < 8 * eights; i++) {
        /* Past the end: a top that is above nothing. */
        tact_f4 lower = {0.0F}, upper = {0.0F, 0.0F, -INFINITY, 0.0F};
        if (i < cut->count) {
            lower = cut->bounds[i].centre - cut->bounds[i].half;
            upper = cut->bounds[i].centre + cut->bounds[i].half;
        }
        for (int k = 0; k < 4; k++) {
            w->span[2 + k][i / 8][i % 8] = upper[k];
            if (k < 2) {
                w->span[k][i / 8][i % 8] = lower[k];
            }
        }
    }
    return eights;
}

/** Lanes of an eight of B's cut that a node of A may count against; returns 0 where none. */
TACT_INLINE int meets(const struct tact_prism_work *w, uint32_t eight, const struct bounds *a,
                      tact_i8 *lanes)
{
    tact_f4 lower = a->centre - a->half, upper = a->centre + a->half;
    *lanes = (w->span[0][eight] < upper[0]) & (w->span[1][eight] < upper[1]) &
             (w->span[2][eight] > lower[0]) & (w->span[3][eight] > lower[1]) &
             (w->span[4][eight] > lower[2]) & (w->span[5][eight] > lower[3]);
    tact_l4 any = (tact_l4)*lanes;
    return (any[0] | any[1] | any[2] | any[3]) != 0;
}

/** Lists the pairs of triangles below all pairs of nodes of the two cuts. */
TACT_INLINE int match_cuts(struct tact_prism_work *w)
{
    const struct cut *a = &w->a.cut[w->a.current], *b = &w->b.cut[w->b.current];
    uint32_t eights = lay_out(w);
    for (uint32_t i = 0; i < a->count; i++) {
        for (uint32_t e = 0; e < eights; e++) {
            tact_i8 lanes;
            if (!meets(w, e, &a->bounds[i], &lanes)) {
                continue;
            }
            for (uint32_t j = 0; j < 8; j++) {
                if (!lanes[j]) {
                    continue;
                }
                uint32_t k = 8 * e + j;
                struct node_pair p = {a->bounds[i], b->bounds[k], a->node[i], b->node[k]};
                if (pair_nodes(w, &p)) {
                    return -ENOSPC;
                }
            }
        }
    }
    return 0;
}

TACT_CLONES static int find_pairs(struct tact_prism_work *w)
{
    return cut_trees(w) ? match_cuts(w) : 0;
}

/** Unit of a pair [m]. */
static double pair_unit(const struct tact_mesh *a, const struct tact_mesh *b)
{
    double middle[3];
    return fmax(tact_mesh_box_unit(a, middle), tact_mesh_box_unit(b, middle));
}

struct tact_near *tact_near_place(const struct tact_mesh *a, const struct tact_pose *pa,
                                  const struct tact_mesh *b, const struct tact_pose *pb,
                                  const struct tact_prism_frame *frame,
                                  struct tact_moments_scratch *scratch)
{
    struct tact_near *near = &scratch->work->near;
    double unit = pair_unit(a, b);
    near->per_unit = (float)(1.0 / unit);
    place(a, frame, pa, unit, &near->a.placed);
    place(b, frame, pb, unit, &near->b.placed);
    /* Twice: what the sum takes to lie in a plane is found, whatever the rounding here. */
    near->b.placed.slack = 2.0 * tact_prism_slack(a, pa, b, pb);
    return near;
}

/** Lists those of the pairs found near that count. */
TACT_INLINE int list_pairs(void *user, struct tact_near *near, uint32_t leaf_a,
                           const struct tact_near_pair *pairs, uint32_t count)
{
    struct tact_prism_work *w = user;
    const struct tact_mesh_leaf *leaves_b = near->b.placed.mesh->wide->leaves;
    uint32_t first_a = near->a.placed.mesh->wide->leaves[leaf_a].first;
    for (uint32_t i = 0; i < count; i++) {
        tact_d4 value[3];
        uint32_t a = pairs[i].a, b = pairs[i].b;
        if (!tact_faces_meet(&near->face_a[a], &near->face_b[b], value)) {
            continue;
        }
        if (w->count == w->scratch->capacity) {
            return -ENOSPC;
        }
        w->scratch->pairs[w->count++] =
            (struct tact_prism_pair){first_a + a, leaves_b[near->b.leaf[b / 4]].first + b % 4};
    }
    return 0;
}

/** Lists the pairs of a small overlap; returns -EAGAIN where it is large. */
TACT_CLONES static int find_near(struct tact_prism_work *w)
{
    int rc = tact_near_cut_trees(&w->near, TACT_NEAR);
    return rc < 0 ? -EAGAIN : rc ? tact_near_match(&w->near, 0.0, list_pairs, w) : 0;
}

long tact_prism_pairs(const struct tact_mesh *a, const struct tact_pose *pa,
                      const struct tact_mesh *b, const struct tact_pose *pb,
                      const struct tact_prism_frame *frame, struct tact_moments_scratch *scratch,
                      const struct tact_prism_pair **pairs)
{
    struct tact_prism_work *w = scratch->work;
    *pairs = scratch->pairs;
    w->scratch = scratch;
    w->count = 0;
    tact_near_place(a, pa, b, pb, frame, scratch);
    int rc = find_near(w);
    if (rc == -EAGAIN) {
        w->unit = pair_unit(a, b);
        w->a.size = place(a, frame, pa, w->unit, &w->a.placed);
        w->b.size = place(b, frame, pb, w->unit, &w->b.placed);
        w->b.placed.slack = w->near.b.placed.slack;
        memset(w->a.ready, 0xFF, sizeof w->a.ready);
        memset(w->b.ready, 0xFF, sizeof w->b.ready);
        rc = find_pairs(w) ? -ENOSPC : 0;
    }
    return rc ? rc : (long)w->count;
}
