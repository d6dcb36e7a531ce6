/* A convex pair: volume, first and second moments by tact, by qhull's halfspace intersection or by
 * r3d. The input of each is prepared outside of the timed part: meshes with their trees, planes, a
 * point inside, r3d's polyhedron. CPU time of this thread, medians.
 *
 *   peers_convex VERTICES shallow|deep tact|qhull|r3d   measures, one JSON object
 *   peers_convex VERTICES shallow|deep FOLDER/          writes a.obj and b.obj there and prints
 *                                                       the position of b */
#include "peers.h"

#include <stdlib.h>
#include <string.h>

#include <libqhull_r/qhull_ra.h>

#ifdef TACT_R3D
#include <r3d.h>
#endif

#include "contact/moments/moments.h"

enum { MOST_REPEATS = 101 };

struct body {
    struct tact_shape shape;
    size_t planes;
    double (*plane)[4]; /* n.r <= d */
};

static void make_convex_body_for_comparison(struct body *b, int n, int second)
{
    double *p = calloc(3 * (size_t)n, sizeof *p);
    for (int i = 0; i < n; i++) {
        double *r = p + 3 * i;
        if (n == 8) {
            tact_v3_set(r, i & 1 ? 0.57735 : -0.57735, i & 2 ? 0.57735 : -0.57735,
                        i & 4 ? 0.57735 : -0.57735);
            double c = second ? cos(0.3) : 1.0, s = second ? sin(0.3) : 0.0, x = r[0];
            r[0] = c * x - s * r[1];
            r[1] = s * x + c * r[1];
        } else {
            for (int k = 0; k < 3; k++) {
                r[k] = next_normal_random_number();
            }
            tact_v3_normalize(r, r);
        }
    }
    if (tact_mesh_hull(p, (size_t)n, &b->shape.owned, NULL)) {
        exit(2);
    }
    free(p);
    const struct tact_mesh *m = b->shape.mesh = b->shape.owned;
    b->shape.kind = TACT_SHAPE_CONVEX;
    b->plane = calloc(m->triangle_count, sizeof *b->plane);
    for (size_t t = 0; t < m->triangle_count; t++) {
        double u[3], w[3], *plane = b->plane[b->planes], twice = 0.0;
        const double *a = m->vertices + 3 * (size_t)m->triangles[3 * t];
        tact_v3_sub(u, m->vertices + 3 * (size_t)m->triangles[3 * t + 1], a);
        tact_v3_sub(w, m->vertices + 3 * (size_t)m->triangles[3 * t + 2], a);
        tact_v3_cross(plane, u, w);
        tact_v3_normalize(plane, plane);
        plane[3] = tact_v3_dot(plane, a);
        /* Only a cube has triangles in one plane. */
        for (size_t k = 0; n == 8 && k < b->planes; k++) {
            twice += tact_v3_dot(b->plane[k], plane) > 1.0 - 1e-12;
        }
        b->planes += twice == 0.0;
    }
}

/* Volume and moments about the origin of tetrahedra that have a vertex in the origin. */
struct raw {
    double v, first[3], second[6];
};

static void add_tetrahedron_moments(struct raw *m, const double *a, const double *b,
                                    const double *c)
{
    double n[3], s[3];
    tact_v3_cross(n, b, c);
    double v = tact_v3_dot(a, n) / 6.0;
    for (int i = 0, k = 0; i < 3; i++) {
        s[i] = a[i] + b[i] + c[i];
        m->first[i] += v * s[i] / 4.0;
        for (int j = 0; j <= i; j++, k++) {
            double sj = a[j] + b[j] + c[j];
            m->second[k] += v / 20.0 * (s[i] * sj + a[i] * a[j] + b[i] * b[j] + c[i] * c[j]);
        }
    }
    m->v += v;
}

static double intersection_volume_by_qhull(const struct body *a, const struct body *b,
                                           const double at[3], const double inner[3])
{
    char first[] = "qhull ", second[] = "qhull Qt";
    qhT qh_qh, *qh = &qh_qh;
    facetT *facet;
    struct raw m = {0};
    size_t count = a->planes + b->planes, n = 0;
    int kept, blocks;
    double *dual_points = malloc(3 * count * sizeof *dual_points);
    for (size_t i = 0; i < count; i++) {
        const double *plane = i < a->planes ? a->plane[i] : b->plane[i - a->planes];
        double d = plane[3] - tact_v3_dot(plane, inner);
        d += i < a->planes ? 0.0 : tact_v3_dot(plane, at);
        tact_v3_scale(dual_points + 3 * i, plane, 1.0 / d);
    }
    qh_zero(qh, stderr);
    if (qh_new_qhull(qh, 3, (int)count, dual_points, False, first, NULL, NULL)) {
        exit(2);
    }
    double *intersection_vertices =
        malloc(3 * (size_t)qh->num_facets * sizeof *intersection_vertices);
    FORALLfacets
    {
        tact_v3_scale(intersection_vertices + 3 * n++, facet->normal, -1.0 / facet->offset);
    }
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &kept, &blocks);
    qh_zero(qh, stderr);
    if (qh_new_qhull(qh, 3, (int)n, intersection_vertices, False, second, NULL, NULL)) {
        exit(2);
    }
    FORALLfacets
    {
        vertexT *vertex, **vertexp;
        const double *q[3] = {NULL, NULL, NULL};
        int k = 0;
        double u[3], w[3], normal[3];
        FOREACHvertex_(facet->vertices)
        {
            if (k < 3) {
                q[k++] = vertex->point;
            }
        }
        tact_v3_sub(u, q[1], q[0]);
        tact_v3_sub(w, q[2], q[0]);
        tact_v3_cross(normal, u, w);
        int turned = tact_v3_dot(normal, q[0]) < 0.0;
        add_tetrahedron_moments(&m, q[0], q[turned ? 2 : 1], q[turned ? 1 : 2]);
    }
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &kept, &blocks);
    free(dual_points);
    free(intersection_vertices);
    return m.v;
}

#ifdef TACT_R3D
static r3d_poly r3d_start, r3d_work;

static void make_r3d_polyhedron(const struct body *b)
{
    const struct tact_mesh *m = b->shape.mesh;
    r3d_rvec3 *v = calloc(m->vertex_count, sizeof *v);
    r3d_int **face = calloc(m->triangle_count, sizeof *face);
    r3d_int *corners = calloc(m->triangle_count, sizeof *corners);
    for (size_t i = 0; i < m->vertex_count; i++) {
        memcpy(&v[i], m->vertices + 3 * i, sizeof v[i]);
    }
    for (size_t t = 0; t < m->triangle_count; t++) {
        face[t] = calloc(3, sizeof **face);
        corners[t] = 3;
        for (size_t k = 0; k < 3; k++) {
            face[t][k] = (r3d_int)m->triangles[3 * t + k];
        }
    }
    r3d_init_poly(&r3d_start, v, (r3d_int)m->vertex_count, face, corners,
                  (r3d_int)m->triangle_count);
    for (size_t t = 0; t < m->triangle_count; t++) {
        free(face[t]);
    }
    free(face);
    free(corners);
    free(v);
}

static double clipped_volume_by_r3d(const struct body *b, const double at[3])
{
    static r3d_plane planes[20000];
    double m[10];
    r3d_work.nverts = r3d_start.nverts;
    memcpy(r3d_work.verts, r3d_start.verts, sizeof(r3d_vertex) * (size_t)r3d_start.nverts);
    for (size_t i = 0; i < b->planes; i++) {
        const double *p = b->plane[i];
        planes[i].n.x = -p[0];
        planes[i].n.y = -p[1];
        planes[i].n.z = -p[2];
        planes[i].d = p[3] + tact_v3_dot(p, at);
    }
    r3d_clip(&r3d_work, planes, (r3d_int)b->planes);
    r3d_reduce(&r3d_work, m, 2);
    return m[0];
}
#endif

/* A pair of overlapping bodies, and the position of the second one. */
struct overlap {
    struct body a, b;
    double at[3];
};

static double overlap_volume_by_tact(const struct overlap *o, struct tact_moments_scratch *scratch,
                                     double normal[3])
{
    struct tact_pose pa = tact_pose_identity(), pb = pa;
    struct tact_moments m;
    tact_v3_copy(pb.position, o->at);
    if (tact_moments_pair(&o->a.shape, &pa, &o->b.shape, &pb, normal, scratch, &m) != 1) {
        exit(2);
    }
    tact_v3_scale(normal, m.gradient, -1.0 / tact_v3_norm(m.gradient));
    return m.volume;
}

static double overlap_volume_by_library(const char *peer, const struct overlap *o,
                                        struct tact_moments_scratch *scratch, double normal[3])
{
    if (!strcmp(peer, "tact")) {
        return overlap_volume_by_tact(o, scratch, normal);
    }
    if (!strcmp(peer, "qhull")) {
        const double inner[3] = {0.5 * o->at[0], 0.025, 0.015};
        return intersection_volume_by_qhull(&o->a, &o->b, o->at, inner);
    }
#ifdef TACT_R3D
    if (!strcmp(peer, "r3d")) {
        return clipped_volume_by_r3d(&o->b, o->at);
    }
#endif
    exit(3);
}

int main(int argc, char **argv)
{
    static double query_times[MOST_REPEATS];
    struct overlap o = {.at = {0.0, 0.05, 0.03}};
    double normal[3] = {0.0}, volume = 0.0;
    if (argc != 4) {
        fputs("usage: peers_convex VERTICES shallow|deep tact|qhull|r3d|FOLDER\n", stderr);
        return 2;
    }
    const int n = atoi(argv[1]), shallow = !strcmp(argv[2], "shallow");
    o.at[0] = n == 8 ? (shallow ? 1.05 : 0.5) : shallow ? 1.7 : 0.9;
    seed_benchmark_random(1);
    make_convex_body_for_comparison(&o.a, n, 0);
    make_convex_body_for_comparison(&o.b, n, 1);
    if (strchr(argv[3], '/')) {
        write_mesh_as_obj_file(argv[3], "a", o.a.shape.mesh);
        write_mesh_as_obj_file(argv[3], "b", o.b.shape.mesh);
        printf("%.17g %.17g %.17g\n", o.at[0], o.at[1], o.at[2]);
        return 0;
    }
#ifdef TACT_R3D
    make_r3d_polyhedron(&o.a);
#endif
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(1u << 22);
    const int repeats = n >= 5000 ? 3 : n >= 1000 ? 11 : MOST_REPEATS;
    for (int r = 0; r < repeats; r++) {
        o.at[1] = 0.05 + 1e-6 * r;
        double start = thread_cpu_time_seconds();
        volume = overlap_volume_by_library(argv[3], &o, scratch, normal);
        query_times[r] = thread_cpu_time_seconds() - start;
    }
    printf("{\"time\": %.9g, \"volume\": %.17g, \"repeats\": %d}\n",
           median_of_durations(query_times, repeats), volume, repeats);
    tact_moments_scratch_destroy(scratch);
    tact_shape_release(&o.a.shape);
    tact_shape_release(&o.b.shape);
    free(o.a.plane);
    free(o.b.plane);
    return 0;
}
