/* Computes the faces of four triangles, one a lane. */
#include "contact/moments/moments_face_internal.h"

/* Transposes four vectors with a lane for each of four triangles to one vector for each triangle.
 */
static void tact_faces_transpose_lanes(const tact_d4 *p, const tact_d4 *q, const tact_d4 *r,
                                       const tact_d4 *s, tact_d4 *const out[4])
{
    tact_d4 pq = __builtin_shufflevector(*p, *q, 0, 4, 2, 6);
    tact_d4 pq_odd = __builtin_shufflevector(*p, *q, 1, 5, 3, 7);
    tact_d4 rs = __builtin_shufflevector(*r, *s, 0, 4, 2, 6);
    tact_d4 rs_odd = __builtin_shufflevector(*r, *s, 1, 5, 3, 7);
    *out[0] = __builtin_shufflevector(pq, rs, 0, 1, 4, 5);
    *out[1] = __builtin_shufflevector(pq_odd, rs_odd, 0, 1, 4, 5);
    *out[2] = __builtin_shufflevector(pq, rs, 2, 3, 6, 7);
    *out[3] = __builtin_shufflevector(pq_odd, rs_odd, 2, 3, 6, 7);
}

/* Sets one row of four triangles' data from the lanes of four vectors. */
#define TACT_FACE_STORE_ROW_OF_FOUR_FACES(faces, row, p, q, r, s)                                  \
    do {                                                                                           \
        tact_d4 *const rows[4] = {&(faces)[0].row, &(faces)[1].row, &(faces)[2].row,               \
                                  &(faces)[3].row};                                                \
        tact_faces_transpose_lanes(p, q, r, s, rows);                                              \
    } while (0)

/* Planes of four triangles: a point of each, slopes, and the normal's z; 0 where one is projected
 * to a line, with undefined slopes. */
struct tact_planes_of_four_faces {
    tact_d4 base[3], slope_x, slope_y, nz;
};

/* Planes of four triangles through a corner, base, along two edges u and w. */
static void tact_faces_plane_of_edges(const tact_d4 base[3], const tact_d4 u[3], const tact_d4 w[3],
                                      struct tact_planes_of_four_faces *out)
{
    const tact_d4 one = {1.0, 1.0, 1.0, 1.0};
    tact_d4 nx = u[1] * w[2] - u[2] * w[1], ny = u[2] * w[0] - u[0] * w[2];
    out->nz = u[0] * w[1] - u[1] * w[0];
    tact_d4 by = TACT_D4_SELECT(out->nz == 0.0, one, out->nz);
    out->slope_x = -nx / by;
    out->slope_y = -ny / by;
    for (int c = 0; c < 3; c++) {
        out->base[c] = base[c];
    }
}

/* Planes from the two shorter edges: the two long edges of a sliver define its plane badly. */
static void tact_faces_plane_of_short_edges(const tact_d4 p[3][3], const tact_d4 edge[3][3],
                                            struct tact_planes_of_four_faces *out)
{
    tact_d4 length[3], base[3], u[3], w[3];
    for (int k = 0; k < 3; k++) {
        const tact_d4 *e = edge[k];
        length[k] = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    }
    /* Edge 1 is opposite to corner 0, edge 2 to corner 1, edge 0 to corner 2. */
    tact_l4 at_0 = (length[1] >= length[2]) & (length[1] >= length[0]);
    tact_l4 at_1 = length[2] >= length[0];
    for (int c = 0; c < 3; c++) {
        tact_d4 corner = TACT_D4_SELECT(at_1, p[1][c], p[2][c]);
        tact_d4 leaving = TACT_D4_SELECT(at_1, edge[1][c], edge[2][c]);
        tact_d4 coming = TACT_D4_SELECT(at_1, edge[0][c], edge[1][c]);
        base[c] = TACT_D4_SELECT(at_0, p[0][c], corner);
        u[c] = TACT_D4_SELECT(at_0, edge[0][c], leaving);
        w[c] = -TACT_D4_SELECT(at_0, edge[2][c], coming);
    }
    tact_faces_plane_of_edges(base, u, w, out);
}

/* The data of four triangles, besides the coordinates of their corners, that a face holds. */
struct tact_planes_and_heights_of_faces {
    struct tact_planes_of_four_faces planes_of_faces;
    tact_d4 tested[3];    /* heights of the corners that the tests of pairs compare */
    tact_d4 dx[4], dy[4]; /* coefficients of the edges' and the plane's equations */
    tact_d4 edge_at, at;  /* constant terms of the equations of the edges and of the plane */
    tact_d4 lower[3], upper[3], tau;
};

/* Raises triangles of B so that triangles of A in their plane are below them. */
static void tact_faces_raise_heights_of_b(double slack, struct tact_planes_and_heights_of_faces *f)
{
    const tact_d4 steepest = {TACT_MAX_FACE_SLOPE, TACT_MAX_FACE_SLOPE, TACT_MAX_FACE_SLOPE,
                              TACT_MAX_FACE_SLOPE};
    tact_d4 slope =
        TACT_D4_ABS(f->planes_of_faces.slope_x) + TACT_D4_ABS(f->planes_of_faces.slope_y);
    tact_d4 by = slack * (1.0 + TACT_D4_MIN(slope, steepest));
    f->at = f->planes_of_faces.base[2] + by;
    for (int k = 0; k < 3; k++) {
        f->tested[k] = -(f->tested[k] + by);
    }
}

static void tact_faces_compute_planes(const tact_d4 p[3][3], int is_face_of_mesh_a, double slack,
                                      struct tact_planes_and_heights_of_faces *f)
{
    const tact_d4 zero = {0.0}, one = zero + 1.0, ever = zero + INFINITY;
    tact_d4 edge[3][3], w[3];
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++) {
            edge[k][c] = p[(k + 1) % 3][c] - p[k][c];
        }
        w[c] = -edge[2][c];
        f->tested[c] = p[c][2];
    }
    tact_faces_bounds(p, f->lower, f->upper);
    tact_d4 nz = edge[0][0] * w[1] - edge[0][1] * w[0];
    if (is_face_of_mesh_a) {
        tact_faces_plane_of_edges(p[0], edge[0], w, &f->planes_of_faces);
        f->at = -f->planes_of_faces.base[2];
    } else {
        tact_faces_plane_of_short_edges(p, edge, &f->planes_of_faces);
        tact_faces_raise_heights_of_b(slack, f);
    }
    tact_l4 edge_on = (nz == 0.0) | (f->planes_of_faces.nz == 0.0);
    f->tau = TACT_D4_SELECT(nz > 0.0, one, -one);
    f->tau = TACT_D4_SELECT(edge_on, zero, f->tau);
    for (int k = 0; k < 3; k++) {
        f->dx[k] = f->tau * edge[k][0];
        f->dy[k] = f->tau * edge[k][1];
    }
    f->dx[3] = is_face_of_mesh_a ? -f->planes_of_faces.slope_y : f->planes_of_faces.slope_y;
    f->dy[3] = is_face_of_mesh_a ? f->planes_of_faces.slope_x : -f->planes_of_faces.slope_x;
    f->dx[3] = TACT_D4_SELECT(edge_on, zero, f->dx[3]);
    f->dy[3] = TACT_D4_SELECT(edge_on, zero, f->dy[3]);
    f->edge_at = TACT_D4_SELECT(edge_on, one, zero);
    f->at = TACT_D4_SELECT(edge_on, ever, f->at);
    for (int c = 0; !is_face_of_mesh_a && c < 2; c++) {
        f->lower[c] = TACT_D4_SELECT(edge_on, ever, f->lower[c]);
    }
}

void tact_faces_set_from_corners(const tact_d4 p[3][3], int is_face_of_mesh_a, double slack,
                                 struct tact_face face[4])
{
    struct tact_planes_and_heights_of_faces f;
    tact_faces_compute_planes(p, is_face_of_mesh_a, slack, &f);
    const struct tact_planes_of_four_faces *planes_of_faces = &f.planes_of_faces;
    for (int k = 0; k < 3; k++) {
        TACT_FACE_STORE_ROW_OF_FOUR_FACES(face, corner[k], &p[k][0], &p[k][1], &p[k][2],
                                          &f.tested[k]);
    }
    TACT_FACE_STORE_ROW_OF_FOUR_FACES(face, ax, &p[0][0], &p[1][0], &p[2][0],
                                      &planes_of_faces->base[0]);
    TACT_FACE_STORE_ROW_OF_FOUR_FACES(face, ay, &p[0][1], &p[1][1], &p[2][1],
                                      &planes_of_faces->base[1]);
    TACT_FACE_STORE_ROW_OF_FOUR_FACES(face, dx, &f.dx[0], &f.dx[1], &f.dx[2], &f.dx[3]);
    TACT_FACE_STORE_ROW_OF_FOUR_FACES(face, dy, &f.dy[0], &f.dy[1], &f.dy[2], &f.dy[3]);
    TACT_FACE_STORE_ROW_OF_FOUR_FACES(face, at, &f.edge_at, &f.edge_at, &f.edge_at, &f.at);
    const tact_d4 *near = is_face_of_mesh_a ? f.upper : f.lower,
                  *far = is_face_of_mesh_a ? f.lower : f.upper;
    tact_d4 back[2] = {-far[0], -far[1]};
    TACT_FACE_STORE_ROW_OF_FOUR_FACES(face, span, &near[0], &near[1], &back[0], &back[1]);
    if (!is_face_of_mesh_a) {
        TACT_FACE_STORE_ROW_OF_FOUR_FACES(face, height, &planes_of_faces->base[2], &f.lower[2],
                                          &f.upper[2], &f.tau);
    }
}
