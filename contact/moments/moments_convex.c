/* Moments of the overlap of a solid with a small convex one, from the overlap's surface. */
#include <string.h>

#include "contact/moments/moments_internal.h"
#include "contact/moments/overlap_internal.h"

/** Triangles of a closed surface that wait for their integrals, and sums over those that had
 *  theirs: a lane each. All zero to start with. */
struct surface {
    int waiting, started;
    tact_d4 origin;
    tact_d4 corner[3][3]; /* [corner][coordinate], from origin */
    tact_d4 share;        /* of the gradient */
    tact_d4 volume, area, first[3], second[6], gradient[3], torque[3];
};

/** Integrates the triangles that wait: tetrahedra from the origin, by the divergence theorem. */
TACT_INLINE void fold(struct surface *s)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const tact_d4 *a = s->corner[0], *b = s->corner[1], *c = s->corner[2];
    tact_d4 u[3], w[3], n[3], sum[3], size;
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        w[k] = c[k] - a[k];
        sum[k] = a[k] + b[k] + c[k];
    }
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        n[k] = 0.5 * (u[y] * w[z] - u[z] * w[y]);
    }
    /* Its greatest coordinate is a measure of the area, good to a factor of sqrt(3). */
    size = TACT_D4_MAX(TACT_D4_ABS(n[0]), TACT_D4_ABS(n[1]));
    s->area += TACT_D4_MAX(size, TACT_D4_ABS(n[2]));
    tact_d4 v = (1.0 / 3.0) * (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]);
    s->volume += v;
    tact_d4 quarter = 0.25 * v, twentieth = 0.05 * v;
    for (int k = 0; k < 6; k++) {
        int i = row[k], j = column[k];
        tact_d4 product = sum[i] * sum[j] + a[i] * a[j] + b[i] * b[j] + c[i] * c[j];
        s->second[k] += twentieth * product;
    }
    for (int k = 0; k < 3; k++) {
        n[k] *= s->share;
    }
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        s->first[k] += quarter * sum[k];
        s->gradient[k] += n[k];
        s->torque[k] += (1.0 / 3.0) * (sum[y] * n[z] - sum[z] * n[y]);
    }
    s->waiting = 0;
}

/** Adds a face of the overlap, in triangles about its first corner. */
TACT_INLINE void add_face(void *user, const tact_d4 *corner, int n, double share)
{
    struct surface *s = user;
    if (!s->started) {
        s->started = 1;
        s->origin = corner[0];
    }
    for (int i = 1; i + 1 < n; i++) {
        const int at[3] = {0, i, i + 1};
        int lane = s->waiting;
        for (int k = 0; k < 3; k++) {
            tact_d4 p = corner[at[k]] - s->origin;
            ((double *)&s->corner[k][0])[lane] = p[0];
            ((double *)&s->corner[k][1])[lane] = p[1];
            ((double *)&s->corner[k][2])[lane] = p[2];
        }
        ((double *)&s->share)[lane] = share;
        if (++s->waiting == 4) {
            fold(s);
        }
    }
}

TACT_INLINE double total(const tact_d4 *lanes)
{
    const tact_d4 l = *lanes;
    return (l[0] + l[1]) + (l[2] + l[3]);
}

/** Integrates what still waits and adds the lanes up. */
TACT_INLINE void finish_surface(struct surface *s, double size, struct tact_moment_sums *sums)
{
    for (int lane = s->waiting; lane < 4; lane++) {
        for (int k = 0; k < 9; k++) {
            ((double *)&s->corner[k / 3][k % 3])[lane] = 0.0;
        }
    }
    fold(s);
    sums->volume = total(&s->volume);
    /* Planes moved outward by 4 roundings of the size add up to 4 areas of them. */
    sums->magnitude = 0.1 * size * total(&s->area);
    for (int k = 0; k < 3; k++) {
        sums->first[k] = total(&s->first[k]);
        sums->second[k] = total(&s->second[k]);
        sums->second[3 + k] = total(&s->second[3 + k]);
        sums->gradient[k] = total(&s->gradient[k]);
        sums->torque[k] = total(&s->torque[k]);
    }
}

/** Cuts a mesh by the cutter's planes, as facets where it has them. */
TACT_CLONES static int cut_out(struct tact_cutter *c, const struct tact_mesh *mesh,
                               double origin[3], struct tact_moment_sums *sums)
{
    struct surface s;
    memset(&s, 0, sizeof s);
    int rc = mesh->facets ? tact_cut_facets(c, mesh->facets, add_face, &s)
                          : tact_cut_mesh(c, mesh, add_face, &s);
    if (rc == 1) {
        finish_surface(&s, c->size, sums);
        for (int k = 0; k < 3; k++) {
            origin[k] = s.origin[k];
        }
    }
    return rc;
}

int tact_moments_convex(const struct tact_mesh *a, const struct tact_pose *pa,
                        const struct tact_mesh *b, const struct tact_pose *pb,
                        struct tact_moments *out)
{
    return tact_moments_within(a, pa, b, pb, NULL, 0, out);
}

int tact_moments_within(const struct tact_mesh *a, const struct tact_pose *pa,
                        const struct tact_mesh *b, const struct tact_pose *pb,
                        const double (*plane)[4], int planes, struct tact_moments *out)
{
    /* Fewer planes are fewer cuts. */
    int swapped = b && (!b->facets || (a->facets && b->facets->count > a->facets->count));
    const struct tact_mesh *first = swapped ? b : a, *second = swapped ? a : b;
    const struct tact_pose *pose = swapped ? pb : pa;
    struct tact_cutter cutter;
    struct tact_moment_sums sums;
    double r[9], axes[9], origin[3], world[3];
    tact_cutter_place(&cutter, tact_mesh_size(first), pose, second ? second->facets : NULL,
                      swapped ? pa : pb);
    int rc = tact_cutter_add(&cutter, pose, plane, planes);
    rc = rc ? rc : cut_out(&cutter, first, origin, &sums);
    if (rc != 1) {
        return rc;
    }
    tact_quat_to_m3(r, pose->quat_wxyz);
    for (int i = 0; i < 9; i++) {
        axes[i] = r[3 * (i % 3) + i / 3];
    }
    tact_pose_point(world, pose, origin);
    rc = tact_sums_finish(&sums, axes, world, out);
    for (int i = 0; swapped && i < 6; i++) {
        out->gradient[i] = -out->gradient[i];
    }
    return rc;
}
