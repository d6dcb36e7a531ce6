/* An ellipsoid. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/shape/kinds_internal.h"

#define PI 3.14159265358979323846

/* Makes an ellipsoid's triangulation: that of a ball, stretched, so that the volume is exact. */
static int make_ellipsoid_mesh(const double size[3], struct tact_mesh **out)
{
    struct tact_mesh *ball;
    int rc = tact_mesh_capsule(1.0, 0.0, TACT_CURVED_TRIANGLES, &ball);
    if (rc) {
        return rc;
    }
    double *v = malloc(3 * ball->vertex_count * sizeof *v);
    for (size_t i = 0; v && i < 3 * ball->vertex_count; i++) {
        v[i] = ball->vertices[i] * size[i % 3];
    }
    rc = v ? tact_mesh_create(v, ball->vertex_count, ball->triangles, ball->triangle_count, out,
                              NULL)
           : -ENOMEM;
    free(v);
    tact_mesh_free(ball);
    return rc;
}

static void compute_ellipsoid_mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    const double *s = shape->size;
    double v = 4.0 / 3.0 * PI * s[0] * s[1] * s[2];
    double xx = s[0] * s[0], yy = s[1] * s[1], zz = s[2] * s[2];
    tact_shape_set_mass(out, v, v / 5.0 * (yy + zz), v / 5.0 * (zz + xx), v / 5.0 * (xx + yy));
}

static double longest_ellipsoid_semi_axis(const double size[3])
{
    return tact_max(size[0], tact_max(size[1], size[2]));
}

static double ellipsoid_rolling_radius(const double size[3])
{
    double most = longest_ellipsoid_semi_axis(size);
    return most * most / tact_min(size[0], tact_min(size[1], size[2]));
}

/* A row of the ellipsoid's Weingarten map L, from the diagonal entry of W,
 * ellipsoid_normal_component, (W n)_r and n.W n. Written out, which takes a third of the
 * instructions of a loop. */
static inline void compute_weingarten_row(const double own[3], double ellipsoid_normal_component,
                                          double metric_normal_component, double nwn,
                                          const double n[3], const double wn[3], double slope,
                                          double *out)
{
    const double normal_curvature_term = nwn * ellipsoid_normal_component;
    out[0] = (own[0] - ellipsoid_normal_component * wn[0] - metric_normal_component * n[0] +
              normal_curvature_term * n[0]) /
             slope;
    out[1] = (own[1] - ellipsoid_normal_component * wn[1] - metric_normal_component * n[1] +
              normal_curvature_term * n[1]) /
             slope;
    out[2] = (own[2] - ellipsoid_normal_component * wn[2] - metric_normal_component * n[2] +
              normal_curvature_term * n[2]) /
             slope;
}

/* Surface point of the ellipsoid p'Wp = 1, W = diag(1 / s^2), along the radius through a point:
 * normal Wp / |Wp|, L = P W P / |Wp| with the projection P = 1 - n n'. */
static int find_ellipsoid_surface_point(const struct tact_shape *shape, const double near[3],
                                        struct tact_surface_point *out)
{
    double w[3], f = 0.0, wn[3];
    for (int i = 0; i < 3; i++) {
        w[i] = 1.0 / (shape->size[i] * shape->size[i]);
        f += w[i] * near[i] * near[i];
    }
    if (!(f > 0.0) || !isfinite(f)) {
        return -EDOM;
    }
    tact_v3_scale(out->at, near, 1.0 / sqrt(f));
    for (int i = 0; i < 3; i++) {
        out->normal[i] = w[i] * out->at[i];
    }
    double slope = tact_v3_normalize(out->normal, out->normal), nwn = 0.0;
    const double *n = out->normal;
    for (int i = 0; i < 3; i++) {
        wn[i] = w[i] * n[i];
        nwn += n[i] * wn[i];
    }
    const double own[3][3] = {{w[0], 0.0, 0.0}, {0.0, w[1], 0.0}, {0.0, 0.0, w[2]}};
    compute_weingarten_row(own[0], n[0], wn[0], nwn, n, wn, slope, out->bend);
    compute_weingarten_row(own[1], n[1], wn[1], nwn, n, wn, slope, out->bend + 3);
    compute_weingarten_row(own[2], n[2], wn[2], nwn, n, wn, slope, out->bend + 6);
    return 0;
}

/* Support point of an ellipsoid: the gradient of its support function h(n) = |S n|. */
static void find_ellipsoid_support_point(const struct tact_shape *shape, const double normal[3],
                                         double out[3])
{
    double sn[3];
    for (int i = 0; i < 3; i++) {
        sn[i] = shape->size[i] * normal[i];
    }
    double h = tact_v3_norm(sn);
    for (int i = 0; i < 3; i++) {
        out[i] = shape->size[i] * sn[i] / h;
    }
}

const struct tact_shape_type tact_shape_ellipsoid_type = {
    .name = "ellipsoid",
    .faces = TACT_FACES_CURVED,
    .keys = "size",
    .lengths = 3,
    .make = make_ellipsoid_mesh,
    .mass = compute_ellipsoid_mass,
    .reach = longest_ellipsoid_semi_axis,
    .rolling_radius = ellipsoid_rolling_radius,
    .surface = find_ellipsoid_surface_point,
    .support = find_ellipsoid_support_point,
};
