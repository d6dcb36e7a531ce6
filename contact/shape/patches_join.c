/* The neighbours of patches across their edges, and the faults for which a surface is refused. */
#include <errno.h>
#include <stdlib.h>
#include "contact/shape/patches_internal.h"

#define SAME_POINT_TOLERANCE                                                                       \
    1e-7 /* distance within which two edges of patches count as one, over the size of the surface  \
          */
#define CREASE_NORMAL_SINE                                                                         \
    1e-3 /* largest sine of the angle between the normals of two patches at an edge that is no     \
            crease */

enum { CHECKS = 5 }; /* number of points at which an edge is compared */

/* An edge of a patch: points and normals along it. */
struct edge {
    double at[CHECKS][3], normal[CHECKS][3];
};

static int describe_open_edge(const struct bezier_patch *patch, int edge, struct edge *out)
{
    int is_regular = 1;
    for (int i = 0; i < CHECKS; i++) {
        double uv[2], c[6][3];
        tact_square_point_on_side(edge, (double)i / (CHECKS - 1), uv);
        tact_patch_evaluate(patch, uv[0], uv[1], SECOND_ORDER, c);
        tact_v3_copy(out->at[i], c[0]);
        tact_v3_cross(out->normal[i], c[1], c[2]);
        double sides = tact_v3_norm(c[1]) * tact_v3_norm(c[2]);
        double area = tact_v3_normalize(out->normal[i], out->normal[i]);
        is_regular &= area > 1e-6 * sides;
    }
    return is_regular;
}

/* Compares the control points of two edges. 1: the same edge, in opposite directions; -1: in the
 * same direction; 0: different edges. */
static int compare_edge_control_points(const struct edge *a, const struct edge *b, double same)
{
    int matches_reversed = 1, equal = 1;
    for (int i = 0; i < CHECKS && (matches_reversed || equal); i++) {
        double d[3], e[3];
        tact_v3_sub(d, a->at[i], b->at[CHECKS - 1 - i]);
        tact_v3_sub(e, a->at[i], b->at[i]);
        matches_reversed &= tact_v3_norm(d) <= same;
        equal &= tact_v3_norm(e) <= same;
    }
    return matches_reversed ? 1 : equal ? -1 : 0;
}

static int report_edge_error(const struct patch_list *list, int patch, int edge,
                             struct tact_error *err, const char *what)
{
    static const char *const sides[PATCH_EDGES] = {"v = 0", "u = 1", "v = 1", "u = 0"};
    tact_error_at(err, NULL, list->patch[patch].line, 0, NULL);
    return tact_error_set(err, -EINVAL, "patch %d, side %s, %s", patch, sides[edge], what);
}

static int check_crease(const struct patch_list *list, int at, const struct edge *a,
                        const struct edge *b, struct tact_error *err)
{
    for (int i = 0; i < CHECKS; i++) {
        double cross[3];
        const double *n = b->normal[CHECKS - 1 - i];
        tact_v3_cross(cross, a->normal[i], n);
        if (tact_v3_norm(cross) > CREASE_NORMAL_SINE || tact_v3_dot(a->normal[i], n) < 0.0) {
            return report_edge_error(
                list, at / PATCH_EDGES, at % PATCH_EDGES, err,
                "is a crease: the normal jumps there; expected a smooth surface");
        }
    }
    return 0;
}

/* Finds the neighbour of a patch over one edge, among all edges. */
static int find_neighbour_over_edge(struct patch_list *list, const struct edge *edge, int at,
                                    double same, struct tact_error *err)
{
    int found = -1, p = at / PATCH_EDGES, e = at % PATCH_EDGES;
    for (int i = 0; i < list->count * PATCH_EDGES; i++) {
        int edge_match = i == at ? 0 : compare_edge_control_points(&edge[at], &edge[i], same);
        if (edge_match < 0) {
            return report_edge_error(list, p, e, err,
                                     "borders on a patch of the opposite orientation");
        }
        if (edge_match && found >= 0) {
            return report_edge_error(list, p, e, err,
                                     "borders on two patches; expected a manifold");
        }
        found = edge_match ? i : found;
    }
    if (found < 0) {
        return report_edge_error(
            list, p, e, err,
            "borders on no patch: the surface is open, or patches of other lengths meet");
    }
    list->patch[p].neighbour_over_edge[e] = found;
    return check_crease(list, at, &edge[at], &edge[found], err);
}

int tact_patches_find_neighbours(struct patch_list *list, double size, struct tact_error *err)
{
    int rc = 0, edges = list->count * PATCH_EDGES;
    struct edge *edge = calloc((size_t)edges + 1, sizeof *edge);
    if (!edge) {
        return -ENOMEM;
    }
    for (int i = 0; !rc && i < edges; i++) {
        if (!describe_open_edge(&list->patch[i / PATCH_EDGES], i % PATCH_EDGES, &edge[i])) {
            rc = report_edge_error(
                list, i / PATCH_EDGES, i % PATCH_EDGES, err,
                "is collapsed or has no normal, as at a pole; expected a regular one");
        }
    }
    for (int i = 0; !rc && i < edges; i++) {
        rc = find_neighbour_over_edge(list, edge, i, SAME_POINT_TOLERANCE * size, err);
    }
    free(edge);
    return rc;
}
