/* Signed prism pairs: the integrals over each pair of triangles. */
#include <string.h>

#include "contact/moments_columns_internal.h"
#include "contact/moments_internal.h"

/** Room for a polygon. Exact clipping of a triangle by four lines leaves 7 corners; where all is
 * within rounding of a line, signs may alternate and leave 13, and one more is written in vain. */
enum { CORNERS = 16 };

/** Vertices of a mesh to the frame. */
struct view {
    const struct tact_mesh *mesh;
    tact_d4 column[3], shift;
};

static void look(const struct tact_mesh *mesh, const struct tact_prism_frame *frame,
                 const struct tact_pose *pose, struct view *out)
{
    double rot[9], shift[3];
    tact_prism_place(frame, pose, rot, shift);
    out->mesh = mesh;
    for (int k = 0; k < 3; k++) {
        out->column[k] = (tact_d4){rot[k], rot[3 + k], rot[6 + k], 0.0};
    }
    out->shift = (tact_d4){shift[0], shift[1], shift[2], 0.0};
}

TACT_INLINE void see_triangle(const struct view *view, uint32_t index, tact_d4 t[3])
{
    const uint32_t *corner = view->mesh->triangles + 3 * (size_t)index;
    for (int k = 0; k < 3; k++) {
        const double *v = view->mesh->vertices + 3 * (size_t)corner[k];
        t[k] =
            view->column[0] * v[0] + view->column[1] * v[1] + view->column[2] * v[2] + view->shift;
    }
}

/** Keeps the part of in where value >= 0 (Sutherland-Hodgman); returns its number of corners. value
 *  is linear over the polygon. What is not kept is written over: no branch to guess. */
TACT_INLINE int clip(const tact_d4 *in, const double *value, int n, tact_d4 *out)
{
    int m = 0;
    for (int i = 0; i < n; i++) {
        int j = i + 1 < n ? i + 1 : 0;
        double vi = value[i], vj = value[j];
        out[m] = in[i];
        m += vi >= 0.0;
        out[m] = in[i] + vi / (vi - vj) * (in[j] - in[i]);
        m += ((vi > 0.0) & (vj < 0.0)) | ((vi < 0.0) & (vj > 0.0));
    }
    return m;
}

/** A polygon, in one of two rooms: clipping goes to the other. */
struct polygon {
    int n, room;
    tact_d4 corner[2][CORNERS];
};

TACT_INLINE void keep_positive(struct polygon *p, const double *value)
{
    p->n = clip(p->corner[p->room], value, p->n, p->corner[!p->room]);
    p->room = !p->room;
}

/** Clips the polygon by the projection of triangle t, oriented by tau. */
TACT_INLINE void clip_by_triangle(struct polygon *p, const tact_d4 t[3], double tau)
{
    for (int k = 0; k < 3; k++) {
        const tact_d4 *a = &t[k], *b = &t[(k + 1) % 3], *corner = p->corner[p->room];
        double ax = (*a)[0], ay = (*a)[1], dx = tau * ((*b)[0] - ax), dy = tau * ((*b)[1] - ay);
        double value[CORNERS];
        int outside = 0;
        for (int i = 0; i < p->n; i++) {
            value[i] = dx * (corner[i][1] - ay) - dy * (corner[i][0] - ax);
            outside += value[i] < 0.0;
        }
        if (outside) {
            keep_positive(p, value);
        }
    }
}

/** Height of t's plane above each corner of a polygon within t's projection; returns how many of
 *  them it is below. */
TACT_INLINE int measure_heights(const tact_d4 t[3], const tact_d4 *p, int n, double *height)
{
    tact_d4 u = t[1] - t[0], w = t[2] - t[0];
    double nz = u[0] * w[1] - u[1] * w[0];
    double slope_x = -(u[1] * w[2] - u[2] * w[1]) / nz, slope_y = -(u[2] * w[0] - u[0] * w[2]) / nz;
    double lowest = tact_min(t[0][2], tact_min(t[1][2], t[2][2]));
    double highest = tact_max(t[0][2], tact_max(t[1][2], t[2][2]));
    int below = 0;
    for (int i = 0; i < n; i++) {
        double z = t[0][2] + slope_x * (p[i][0] - t[0][0]) + slope_y * (p[i][1] - t[0][1]);
        /* Beyond t's corners z is only rounding, on a steep t. */
        height[i] = tact_min(tact_max(z, lowest), highest) - p[i][2];
        below += height[i] < 0.0;
    }
    return below;
}

TACT_INLINE void add_pair(struct tact_columns *columns, const tact_d4 s[3], const tact_d4 t[3])
{
    double nz =
        (t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) - (t[1][1] - t[0][1]) * (t[2][0] - t[0][0]);
    if (nz == 0.0) {
        return;
    }
    double tau = nz > 0.0 ? 1.0 : -1.0, height[CORNERS];
    struct polygon p;
    p.n = 3;
    p.room = 0;
    for (int k = 0; k < 3; k++) {
        p.corner[0][k] = s[k];
    }
    clip_by_triangle(&p, t, tau);
    if (p.n < 3) {
        return;
    }
    int below = measure_heights(t, p.corner[p.room], p.n, height);
    if (below == p.n) {
        return;
    }
    if (below) {
        keep_positive(&p, height);
        if (measure_heights(t, p.corner[p.room], p.n, height) == p.n) {
            return;
        }
        for (int i = 0; i < p.n; i++) {
            height[i] = tact_max(height[i], 0.0);
        }
    }
    tact_columns_add(columns, p.corner[p.room], height, p.n, tau);
}

TACT_CLONES static void add_pairs(const struct view *a, const struct view *b,
                                  const struct tact_prism_pair *pairs, size_t count,
                                  struct tact_moment_sums *sums)
{
    struct tact_columns columns;
    tact_d4 s[3] = {{0.0}}, t[3];
    memset(&columns, 0, sizeof columns);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || pairs[i].a != pairs[i - 1].a) {
            see_triangle(a, pairs[i].a, s);
        }
        see_triangle(b, pairs[i].b, t);
        add_pair(&columns, s, t);
    }
    tact_columns_finish(&columns, sums);
}

int tact_prism_sum(const struct tact_mesh *a, const struct tact_pose *pa, const struct tact_mesh *b,
                   const struct tact_pose *pb, const struct tact_prism_frame *frame,
                   const struct tact_prism_pair *pairs, size_t count, struct tact_moments *out)
{
    struct view view_a, view_b;
    struct tact_moment_sums sums;
    look(a, frame, pa, &view_a);
    look(b, frame, pb, &view_b);
    add_pairs(&view_a, &view_b, pairs, count, &sums);
    return tact_sums_finish(&sums, frame->axes, frame->origin, out);
}
