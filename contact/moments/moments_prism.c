/* Signed prism pairs: the integrals over each pair of triangles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contact/moments/moments_cache_internal.h"
#include "contact/moments/moments_columns_internal.h"
#include "contact/moments/moments_near_internal.h"
#include "contact/moments/moments_tets_internal.h"

/** Room for a polygon. Exact clipping of a triangle by four lines leaves 7 corners; where all is
 * within rounding of a line, signs may alternate and leave 13; six more lines of a box add two each
 * at most, and one more corner is written in vain. */
enum { CORNERS = 28 };

/** Volume against the columns that it is the difference of, below which columns cancel too many
 *  digits, and below which the centroid is rounding too. */
static const double CANCELLED = 1e-4, LOST = 1e-12;

/** Square of the overlap's size against that of its distance from the frame's origin, below which
 *  the second moment is lost in the shift to its own centroid. */
static const double FAR = 1e-6;

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

/** A polygon, in one of two rooms: clipping goes to the other. */
struct polygon {
    int n, room;
    tact_d4 corner[2][CORNERS];
};

/** Keeps the part of the polygon where value >= 0 (Sutherland-Hodgman), where its rim crosses 0
 * more than twice, by rounding. value is linear over the polygon. kept: values of what is kept, 0
 * to the bit where it is cut. */
static void clip_ragged(struct polygon *p, const double *value, double *kept)
{
    const tact_d4 *in = p->corner[p->room];
    tact_d4 *out = p->corner[!p->room];
    int m = 0;
    for (int i = 0; i < p->n; i++) {
        int j = i + 1 < p->n ? i + 1 : 0;
        double vi = value[i], vj = value[j];
        if (vi >= 0.0) {
            kept[m] = vi;
            out[m++] = in[i];
        }
        if ((vi > 0.0 && vj < 0.0) || (vi < 0.0 && vj > 0.0)) {
            kept[m] = 0.0;
            out[m++] = in[i] + vi / (vi - vj) * (in[j] - in[i]);
        }
    }
    p->n = m;
    p->room = !p->room;
}

/** Keeps the part of the polygon where value >= 0; inside has a bit for each corner where it is. */
TACT_INLINE void clip(struct polygon *p, const double *value, unsigned inside, double *kept)
{
    const tact_d4 *in = p->corner[p->room];
    tact_d4 *out = p->corner[!p->room];
    int n = p->n, m = 0;
    if (!inside) {
        p->n = 0;
        return;
    }
    /* Bit i: where corner i + 1 is. */
    unsigned next = inside >> 1 | (inside & 1U) << (n - 1);
    unsigned leaving = inside & ~next, entering = ~inside & next;
    if (leaving & (leaving - 1)) {
        clip_ragged(p, value, kept);
        return;
    }
    int last = __builtin_ctz(leaving), before = __builtin_ctz(entering);
    if (last >= n || before >= n) {
        __builtin_unreachable(); /* some corners are inside, some outside */
    }
    int past = last + 1 < n ? last + 1 : 0, first = before + 1 < n ? before + 1 : 0;
    double in_share = value[last] / (value[last] - value[past]);
    double out_share = value[before] / (value[before] - value[first]);
    tact_d4 leave = in[last] + in_share * (in[past] - in[last]);
    tact_d4 enter = in[before] + out_share * (in[first] - in[before]);
    /* Corners keep their order, whichever is the first. */
    int wraps = inside & 1U, from = wraps ? 0 : first;
    if (!wraps) {
        kept[m] = 0.0;
        out[m] = enter;
        m += value[first] > 0.0;
    }
    for (int i = from; i <= last; i++) {
        kept[m] = value[i];
        out[m++] = in[i];
    }
    kept[m] = 0.0;
    out[m] = leave;
    m += value[last] > 0.0;
    if (wraps) {
        kept[m] = 0.0;
        out[m] = enter;
        m += value[first] > 0.0;
        for (int i = first; i < n && first; i++) {
            kept[m] = value[i];
            out[m++] = in[i];
        }
    }
    p->n = m;
    p->room = !p->room;
}

/** Clips the polygon by the projection of triangle t, oriented by tau. */
TACT_INLINE void clip_by_triangle(struct polygon *p, const tact_d4 t[3], double tau)
{
    for (int k = 0; k < 3 && p->n > 2; k++) {
        const tact_d4 *a = &t[k], *b = &t[(k + 1) % 3], *corner = p->corner[p->room];
        double ax = (*a)[0], ay = (*a)[1], dx = tau * ((*b)[0] - ax), dy = tau * ((*b)[1] - ay);
        double value[CORNERS], kept[CORNERS];
        unsigned inside = 0;
        for (int i = 0; i < p->n; i++) {
            value[i] = dx * (corner[i][1] - ay) - dy * (corner[i][0] - ax);
            inside |= (unsigned)(value[i] >= 0.0) << i;
        }
        if (inside != (1U << p->n) - 1) {
            clip(p, value, inside, kept);
        }
    }
}

/** Keeps the part of the polygon where height >= 0, and its heights. */
TACT_INLINE void keep_below(struct polygon *p, double *height)
{
    double kept[CORNERS];
    unsigned inside = 0;
    for (int i = 0; i < p->n; i++) {
        inside |= (unsigned)(height[i] >= 0.0) << i;
    }
    clip(p, height, inside, kept);
    memcpy(height, kept, sizeof kept);
}

TACT_INLINE double square(const tact_d4 *a)
{
    tact_d4 squares = *a * *a;
    return squares[0] + squares[1] + squares[2];
}

/** Height of t's plane above each corner of a polygon within t's projection; returns how many of
 *  them it is below, or -1 where the polygon lies in the plane, within slack [m]. */
TACT_INLINE int measure_heights(const tact_d4 t[3], const tact_d4 *p, int n, double slack,
                                double *height)
{
    tact_d4 e[3] = {t[2] - t[1], t[0] - t[2], t[1] - t[0]};
    double l0 = square(&e[0]), l1 = square(&e[1]), l2 = square(&e[2]);
    /* The two shorter edges: of a sliver, the two long ones tell the plane badly. */
    int at = l0 >= l1 ? (l0 >= l2 ? 0 : 2) : (l1 >= l2 ? 1 : 2);
    tact_d4 base = t[at], u = e[(at + 2) % 3], w = -e[(at + 1) % 3];
    double nz = u[0] * w[1] - u[1] * w[0];
    double slope_x = -(u[1] * w[2] - u[2] * w[1]) / nz, slope_y = -(u[2] * w[0] - u[0] * w[2]) / nz;
    double lowest = tact_min(t[0][2], tact_min(t[1][2], t[2][2]));
    double highest = tact_max(t[0][2], tact_max(t[1][2], t[2][2]));
    double most = 0.0;
    int below = 0;
    for (int i = 0; i < n; i++) {
        double z = base[2] + slope_x * (p[i][0] - base[0]) + slope_y * (p[i][1] - base[1]);
        /* Beyond t's corners z is only rounding, on a steep t. */
        height[i] = tact_min(tact_max(z, lowest), highest) - p[i][2];
        below += height[i] < 0.0;
        most = tact_max(fabs(height[i]), most);
    }
    return most <= TACT_HEIGHT_SLACK(slack, slope_x, slope_y) ? -1 : below;
}

/** Clips the polygon by a body's box. */
static void clip_by_box(struct polygon *p, const struct tact_tets_box *box)
{
    for (int side = 0; side < 6; side++) {
        const double *row = box->row[side / 2];
        double value[CORNERS], kept[CORNERS];
        for (int i = 0; i < p->n; i++) {
            const tact_d4 *r = &p->corner[p->room][i];
            double x = row[0] * (*r)[0] + row[1] * (*r)[1] + row[2] * (*r)[2];
            value[i] = side % 2 ? box->upper[side / 2] - x : x - box->lower[side / 2];
        }
        clip_ragged(p, value, kept);
    }
}

/** Adds what a polygon of A and B's surface above it enclose together towards the origin. */
static void add_enclosed(struct tact_tets *tets, const struct polygon *of_a, const double *height,
                         double tau)
{
    struct polygon p = *of_a;
    clip_by_box(&p, &tets->box[1]);
    tact_tets_over(tets, p.corner[p.room], p.n, tau);
    p = *of_a;
    for (int i = 0; i < p.n; i++) {
        p.corner[p.room][i][2] += height[i];
    }
    clip_by_box(&p, &tets->box[0]);
    tact_tets_over(tets, p.corner[p.room], p.n, -tau);
}

/** Adds a pair to the columns or, where tets is not NULL, to that. */
TACT_INLINE void add_pair(struct tact_columns *columns, struct tact_tets *tets, const tact_d4 s[3],
                          const tact_d4 t[3], double slack)
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
    int below = measure_heights(t, p.corner[p.room], p.n, slack, height);
    if (below == p.n) {
        return;
    }
    if (below < 0) {
        tau *= 0.5;
        memset(height, 0, sizeof height);
    } else if (below) {
        keep_below(&p, height);
        if (p.n < 3) {
            return;
        }
    }
    if (tets) {
        add_enclosed(tets, &p, height, tau);
    } else {
        tact_columns_add(columns, p.corner[p.room], height, p.n, tau);
    }
}

TACT_CLONES static void add_pairs(const struct view *a, const struct view *b,
                                  const struct tact_prism_pair *pairs, size_t count, double slack,
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
        add_pair(&columns, NULL, s, t, slack);
    }
    tact_columns_finish(&columns, sums);
}

static void see_box(const struct view *view, double slack, struct tact_tets_box *box)
{
    const struct tact_mesh_node *root = &view->mesh->nodes[0];
    for (int k = 0; k < 3; k++) {
        double wider = 4.0 * slack + 1e-3 * (root->upper[k] - root->lower[k]), middle = 0.0;
        for (int j = 0; j < 3; j++) {
            box->row[k][j] = view->column[k][j];
            middle += view->column[k][j] * view->shift[j];
        }
        box->lower[k] = root->lower[k] + middle - wider;
        box->upper[k] = root->upper[k] + middle + wider;
    }
}

/** Whether columns about the frame's origin leave too few digits. */
static int is_lost(const struct tact_moment_sums *sums)
{
    double v = sums->volume, away = tact_v3_dot(sums->first, sums->first) / v;
    double size = sums->second[0] + sums->second[1] + sums->second[2];
    return fabs(v) < CANCELLED * sums->magnitude || (v > 0.0 && size - away < FAR * away);
}

/** Measures volume, first and second again, as tetrahedra about a point in the overlap, which
 *  becomes the origin of all sums. */
static void add_tets(const struct view *a, const struct view *b,
                     const struct tact_prism_pair *pairs, size_t count, double slack,
                     struct tact_moment_sums *sums, double origin[3])
{
    struct tact_tets tets;
    memset(&tets, 0, sizeof tets);
    see_box(a, slack, &tets.box[0]);
    see_box(b, slack, &tets.box[1]);
    if (sums->volume > LOST * sums->magnitude) {
        tact_v3_scale(tets.origin, sums->first, 1.0 / sums->volume);
    }
    for (size_t i = 0; i < count; i++) {
        tact_d4 s[3], t[3];
        see_triangle(a, pairs[i].a, s);
        see_triangle(b, pairs[i].b, t);
        add_pair(NULL, &tets, s, t, slack);
    }
    tact_tets_replace(&tets, sums);
    tact_v3_copy(origin, tets.origin);
}

/** A triangle of a leaf, corner by corner. */
TACT_INLINE void take_triangle(const struct tact_leaf *leaf, uint32_t lane, tact_d4 t[3])
{
    for (int k = 0; k < 3; k++) {
        t[k] = (tact_d4){leaf->p[k][0][lane], leaf->p[k][1][lane], leaf->z[k][lane], 0.0};
    }
}

/** Pairs past which there are cheaper ways than one by one. */
enum { FOUND = 512 };

/** Columns of the pairs as they are found. */
struct found {
    struct tact_columns columns;
    double slack;
    int count;
};

TACT_INLINE int add_found(void *user, const struct tact_leaf *s, uint32_t i, uint32_t first_a,
                          const struct tact_leaf *t, uint32_t j, uint32_t first_b)
{
    struct found *found = user;
    tact_d4 of_a[3] = {{0.0}}, of_b[3] = {{0.0}};
    (void)first_a;
    (void)first_b;
    if (found->count++ == FOUND) {
        return -EAGAIN;
    }
    take_triangle(s, i, of_a);
    take_triangle(t, j, of_b);
    add_pair(&found->columns, NULL, of_a, of_b, found->slack);
    return 0;
}

TACT_CLONES static int add_near(struct tact_near *near, struct tact_cache_list *list, double slack,
                                struct tact_moment_sums *sums)
{
    struct found found;
    int rc = 0;
    memset(&found, 0, sizeof found);
    found.slack = slack;
    if (list && !list->ready) {
        tact_cache_make(list, near);
    }
    if (list && list->ready) {
        rc = tact_cache_match(list, near, add_found, &found);
    } else {
        rc = tact_near_cut_trees(near, TACT_NEAR);
        rc = rc > 0 ? tact_near_match(near, add_found, &found) : rc;
    }
    tact_columns_finish(&found.columns, sums);
    return rc ? -EAGAIN : 0;
}

struct tact_cache *tact_prism_cache_create(void)
{
    return calloc(1, sizeof(struct tact_cache));
}

int tact_prism_near(const struct tact_mesh *a, const struct tact_pose *pa,
                    const struct tact_mesh *b, const struct tact_pose *pb,
                    const struct tact_prism_frame *frame, struct tact_moments_scratch *scratch,
                    struct tact_moments *out)
{
    struct tact_moment_sums sums;
    double slack = tact_prism_slack(a, pa, b, pb);
    struct tact_near *near = tact_near_place(a, pa, b, pb, frame, scratch);
    double normal[3];
    tact_m3_mul_v3(normal, frame->axes, frame->normal);
    if (add_near(near, tact_cache_find(scratch->cache, near, normal), slack, &sums)) {
        return -EAGAIN;
    }
    /* Measured again from a list of the pairs. */
    if (sums.magnitude > 0.0 && is_lost(&sums)) {
        return -EAGAIN;
    }
    return tact_sums_finish(&sums, frame->axes, frame->origin, out);
}

int tact_prism_sum(const struct tact_mesh *a, const struct tact_pose *pa, const struct tact_mesh *b,
                   const struct tact_pose *pb, const struct tact_prism_frame *frame,
                   const struct tact_prism_pair *pairs, size_t count, struct tact_moments *out)
{
    struct view view_a, view_b;
    struct tact_moment_sums sums;
    look(a, frame, pa, &view_a);
    look(b, frame, pb, &view_b);
    double slack = tact_prism_slack(a, pa, b, pb);
    add_pairs(&view_a, &view_b, pairs, count, slack, &sums);
    double local[3] = {0.0}, origin[3];
    if (is_lost(&sums)) {
        add_tets(&view_a, &view_b, pairs, count, slack, &sums, local);
    }
    tact_m3_tmul_v3(origin, frame->axes, local);
    tact_v3_add(origin, origin, frame->origin);
    return tact_sums_finish(&sums, frame->axes, origin, out);
}
