/*
 * The normal of a pair with a curved core, exact to rounding. The search ends with an error of the
 * normal of about the square root of its relative error of the distance. The features that
 * determine the normal are then known: a face, two lines that cross, a line and a curved surface,
 * or two curved surfaces. Each such combination defines a candidate normal, with curved surfaces by
 * Newton's method. The candidate with the largest width between the cores along it is the normal.
 *
 * The point w(n) of A - B that is farthest along -n must be parallel to n. On curved surfaces dw =
 * -K dn, where K is the sum of the cores' radii of curvature; with a line e on one core, n stays
 * perpendicular to e.
 */
#include <math.h>
#include <string.h>
#include "contact/pair/features/curved_internal.h"
#include "contact/pair/features/difference_internal.h"

#define NEAR 2e-2      /* [rad] largest angle between a candidate and the normal of the search */
#define ROUNDING 4e-16 /* relative to the size: widths that differ by less are equal */

enum { MOST_CANDIDATES = 24, MOST_NEWTON = 12 };

struct candidate {
    double n[3], bound;
};

struct settling {
    struct tact_core_pair *pair;
    const struct tact_nearest *found;
    int count;
    struct candidate candidate[MOST_CANDIDATES];
};

static const double AXIS[3] = {0.0, 0.0, 1.0};

/* Computes w(n) and, where bend is not NULL, K. Returns n.w, the width along n [m]. */
static double width(const struct tact_core_pair *pair, const double n[3], double w[3], double *bend)
{
    double back[3], in_b[3], of_a[3], of_b[3], moved[3], bend_b[9], turned[9];
    tact_v3_scale(back, n, -1.0);
    tact_m3_tmul_v3(in_b, pair->turn, n);
    tact_curved_point(pair->a, back, of_a, bend);
    tact_curved_point(pair->b, in_b, of_b, bend ? bend_b : NULL);
    tact_m3_mul_v3(moved, pair->turn, of_b);
    tact_v3_add(moved, moved, pair->shift);
    tact_v3_sub(w, of_a, moved);
    if (bend) {
        tact_m3_mul(turned, pair->turn, bend_b);
        tact_m3_mul_t(bend_b, turned, pair->turn);
        for (int i = 0; i < 9; i++) {
            bend[i] += bend_b[i];
        }
    }
    return tact_v3_dot(n, w);
}

static int is_near(const struct settling *s, const double n[3])
{
    double off[3];
    tact_v3_sub(off, n, s->found->normal);
    return tact_v3_norm(off) < NEAR;
}

/* Adds a unit vector or its opposite as a candidate, where it is near the normal that was found. */
static void add_direction(struct settling *s, const double direction[3])
{
    double n[3], w[3];
    tact_v3_scale(n, direction, copysign(1.0, tact_v3_dot(direction, s->found->normal)));
    if (s->count < MOST_CANDIDATES && is_near(s, n)) {
        struct candidate *c = &s->candidate[s->count++];
        tact_v3_copy(c->n, n);
        c->bound = width(s->pair, n, w, NULL);
    }
}

static void from_side(const struct settling *s, int of_b, const double in[3], double out[3])
{
    if (of_b) {
        tact_m3_mul_v3(out, s->pair->turn, in);
    } else {
        tact_v3_copy(out, in);
    }
}

static const struct tact_core *side_of(const struct settling *s, int of_b)
{
    return of_b ? s->pair->b : s->pair->a;
}

/* The vertex of a core that is farthest in the direction of the other core. */
static int64_t outmost(const struct settling *s, int of_b)
{
    double out[3], towards[3];
    tact_v3_scale(out, s->found->normal, of_b ? 1.0 : -1.0);
    if (of_b) {
        tact_m3_tmul_v3(towards, s->pair->turn, out);
    } else {
        tact_v3_copy(towards, out);
    }
    return tact_core_support(side_of(s, of_b), towards, -1);
}

/* Adds the normals of faces: those of a hull at its outermost vertex, or the ends of a cylinder. */
static void add_faces(struct settling *s, int of_b)
{
    const struct tact_core *core = side_of(s, of_b);
    double n[3];
    if (core->kind == TACT_SHAPE_CYLINDER) {
        from_side(s, of_b, AXIS, n);
        add_direction(s, n);
    }
    int64_t v = core->faces ? outmost(s, of_b) : 0;
    for (int k = core->faces ? core->at_first[v] : 0; core->faces && k < core->at_first[v + 1];
         k++) {
        from_side(s, of_b, core->normal[core->at[k]], n);
        add_direction(s, n);
    }
}

/* Direction of the k-th line of a core at its outermost vertex: an edge of a hull, or the axis of a
 * capsule or a cylinder. Returns 0 where there is none. */
static int line_of(const struct settling *s, int of_b, int k, double out[3])
{
    const struct tact_core *core = side_of(s, of_b);
    if (core->kind == TACT_SHAPE_CYLINDER || core->kind == TACT_SHAPE_CAPSULE) {
        from_side(s, of_b, AXIS, out);
        return k == 0;
    }
    int64_t v = core->faces ? outmost(s, of_b) : 0;
    if (!core->faces || k >= core->next_first[v + 1] - core->next_first[v]) {
        return 0;
    }
    double d[3];
    tact_v3_sub(d, core->vertex[core->next[core->next_first[v] + k]], core->vertex[v]);
    tact_v3_normalize(d, d);
    from_side(s, of_b, d, out);
    return 1;
}

static void add_crossings(struct settling *s)
{
    double u[3], v[3], n[3];
    for (int i = 0; line_of(s, 0, i, u); i++) {
        for (int k = 0; line_of(s, 1, k, v); k++) {
            tact_v3_cross(n, u, v);
            if (tact_v3_normalize(n, n) > 0.0) {
                add_direction(s, n);
            }
        }
    }
}

/* Adds the normal of a line and a curved surface: rotates n about the line until w has no component
 * perpendicular to both. */
static void add_across(struct settling *s, const double line[3])
{
    double n[3], t[3], w[3], bend[9], bent[3];
    tact_v3_copy(n, s->found->normal);
    tact_v3_axpy(n, -tact_v3_dot(n, line), line);
    if (!(tact_v3_normalize(n, n) > 0.0) || !is_near(s, n)) {
        return;
    }
    for (int step = 0; step < MOST_NEWTON; step++) {
        double f = width(s->pair, n, w, bend);
        tact_v3_cross(t, line, n);
        tact_m3_mul_v3(bent, bend, t);
        double slope = tact_v3_dot(t, bent) + f, turn = tact_v3_dot(t, w) / slope;
        if (!(fabs(turn) < NEAR)) {
            return;
        }
        tact_v3_axpy(n, turn, t);
        tact_v3_normalize(n, n);
        if (fabs(turn) < 1e-15) {
            break;
        }
    }
    add_direction(s, n);
}

/* Adds the normal of two curved surfaces: rotates n until w has no component perpendicular to it.
 */
static void add_free(struct settling *s)
{
    double n[3], t[2][3], w[3], bend[9], bent[3], k[3];
    tact_v3_copy(n, s->found->normal);
    for (int step = 0; step < MOST_NEWTON; step++) {
        double f = width(s->pair, n, w, bend);
        tact_v3_tangents(n, t[0], t[1]);
        for (int i = 0; i < 3; i++) { /* entries 00, 11 and 01 of the 2 x 2 matrix */
            tact_m3_mul_v3(bent, bend, t[i % 2]);
            k[i] = tact_v3_dot(t[i > 0], bent) + (i < 2 ? f : 0.0);
        }
        double x = tact_v3_dot(t[0], w), y = tact_v3_dot(t[1], w);
        double det = k[0] * k[1] - k[2] * k[2];
        double dx = (k[1] * x - k[2] * y) / det, dy = (k[0] * y - k[2] * x) / det;
        if (!(fabs(dx) < NEAR && fabs(dy) < NEAR)) {
            return;
        }
        tact_v3_axpy(n, dx, t[0]);
        tact_v3_axpy(n, dy, t[1]);
        tact_v3_normalize(n, n);
        if (fabs(dx) + fabs(dy) < 1e-15) {
            break;
        }
    }
    add_direction(s, n);
}

/* The first candidate with the largest width, except for rounding; NULL: that of the search is
 * larger. */
static const struct candidate *choose(const struct settling *s)
{
    double best = s->found->bound, spare = ROUNDING * s->pair->size;
    for (int i = 0; i < s->count; i++) {
        best = tact_max(best, s->candidate[i].bound);
    }
    for (int i = 0; i < s->count; i++) {
        if (s->candidate[i].bound >= best - spare) {
            return &s->candidate[i];
        }
    }
    return NULL;
}

/* Sets the nearest points of the cores for the normal n, from the simplex whose vertices on curved
 * surfaces are moved to the points that are farthest along n. */
static void place_points(const struct tact_core_pair *pair, const double n[3], double distance,
                         struct tact_nearest *found)
{
    double back[3], in_b[3], of_a[3][3], of_b[3], weight[3], moved[3];
    struct tact_simplex s = found->from;
    tact_v3_scale(back, n, -1.0);
    tact_m3_tmul_v3(in_b, pair->turn, n);
    for (int i = 0; i < s.count; i++) {
        tact_curved_along(pair->a, s.point[i].a, back, of_a[i]);
        tact_curved_along(pair->b, s.point[i].b, in_b, of_b);
        tact_m3_mul_v3(moved, pair->turn, of_b);
        tact_v3_add(moved, moved, pair->shift);
        tact_v3_sub(s.point[i].w, of_a[i], moved);
        tact_v3_axpy(s.point[i].w, -distance, n);
    }
    tact_simplex_weights(&s, weight);
    memset(found->on_a, 0, sizeof found->on_a);
    for (int i = 0; i < s.count; i++) {
        tact_v3_axpy(found->on_a, weight[i], of_a[i]);
    }
    tact_v3_copy(found->on_b, found->on_a);
    tact_v3_axpy(found->on_b, -distance, n);
}

void tact_settle_normal(struct tact_core_pair *pair, struct tact_nearest *found)
{
    struct settling s = {.pair = pair, .found = found};
    double line[3];
    for (int side = 0; side < 2; side++) {
        add_faces(&s, side);
    }
    add_crossings(&s);
    for (int side = 0; side < 2; side++) {
        for (int k = 0; line_of(&s, side, k, line); k++) {
            add_across(&s, line);
        }
    }
    add_free(&s);
    const struct candidate *c = choose(&s);
    if (c) {
        tact_v3_copy(found->normal, c->n);
        found->bound = found->distance = c->bound;
        place_points(pair, c->n, c->bound, found);
    }
}
