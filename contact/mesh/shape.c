#include "contact/mesh/shape.h"

#include <errno.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/** Triangles of a capsule's surface: its chord error is then about 0.3 % of the radius. */
enum { CAPSULE_TRIANGLES = 2000 };

int tact_shape_tessellate(struct tact_shape *shape)
{
    const double *s = shape->size;
    int rc = 0;
    switch (shape->kind) {
    case TACT_SHAPE_SPHERE:
        return s[0] > 0.0 && isfinite(s[0]) ? 0 : -EINVAL;
    case TACT_SHAPE_CAPSULE:
        if (!(s[0] > 0.0 && s[1] >= 0.0 && isfinite(s[0] + s[1]))) {
            return -EINVAL;
        }
        tact_shape_release(shape);
        rc = tact_mesh_capsule(s[0], s[1], CAPSULE_TRIANGLES, &shape->owned);
        break;
    case TACT_SHAPE_BOX:
        if (!(s[0] > 0.0 && s[1] > 0.0 && s[2] > 0.0 && isfinite(s[0] + s[1] + s[2]))) {
            return -EINVAL;
        }
        tact_shape_release(shape);
        rc = tact_mesh_box(s, &shape->owned);
        break;
    case TACT_SHAPE_HALFSPACE:
        return 0;
    case TACT_SHAPE_CONVEX:
    case TACT_SHAPE_MESH:
        return shape->mesh ? 0 : -EINVAL;
    }
    shape->mesh = shape->owned;
    return rc;
}

void tact_shape_release(struct tact_shape *shape)
{
    if (shape->owned) {
        tact_mesh_free(shape->owned);
        shape->owned = NULL;
        shape->mesh = NULL;
    }
}

static void diagonal(double *inertia, double xx, double yy, double zz)
{
    memset(inertia, 0, 9 * sizeof *inertia);
    inertia[0] = xx;
    inertia[4] = yy;
    inertia[8] = zz;
}

/** A cylinder of radius r and length 2 l between two half balls. */
static void capsule_mass(double r, double l, struct tact_shape_mass *out)
{
    double cylinder = 2.0 * PI * r * r * l, ball = 4.0 / 3.0 * PI * r * r * r;
    out->volume = cylinder + ball;
    /* A half ball's centroid is 3/8 r beyond the end of the axis; 2/5 r^2 is about its flat side.
     */
    double across =
        cylinder * (r * r / 4.0 + l * l / 3.0) + ball * (2.0 / 5.0 * r * r + l * l + 0.75 * r * l);
    double axial = cylinder * r * r / 2.0 + ball * 2.0 / 5.0 * r * r;
    diagonal(out->inertia, across, across, axial);
}

static void mesh_mass(const struct tact_mesh *mesh, struct tact_shape_mass *out)
{
    const double *s = mesh->second;
    double trace = s[0] + s[4] + s[8];
    out->volume = mesh->volume;
    tact_v3_copy(out->centroid, mesh->centroid);
    for (int i = 0; i < 9; i++) {
        out->inertia[i] = (i % 4 == 0 ? trace : 0.0) - s[i];
    }
}

void tact_shape_mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    const double *s = shape->size;
    memset(out, 0, sizeof *out);
    switch (shape->kind) {
    case TACT_SHAPE_SPHERE:
        capsule_mass(s[0], 0.0, out);
        break;
    case TACT_SHAPE_CAPSULE:
        capsule_mass(s[0], s[1], out);
        break;
    case TACT_SHAPE_BOX: {
        double v = 8.0 * s[0] * s[1] * s[2], xx = s[0] * s[0], yy = s[1] * s[1], zz = s[2] * s[2];
        out->volume = v;
        diagonal(out->inertia, v / 3.0 * (yy + zz), v / 3.0 * (zz + xx), v / 3.0 * (xx + yy));
        break;
    }
    case TACT_SHAPE_HALFSPACE:
        out->volume = INFINITY;
        diagonal(out->inertia, INFINITY, INFINITY, INFINITY);
        break;
    case TACT_SHAPE_CONVEX:
    case TACT_SHAPE_MESH:
        mesh_mass(shape->mesh, out);
        break;
    }
}

double tact_shape_radius(const struct tact_shape *shape)
{
    if (shape->kind == TACT_SHAPE_HALFSPACE) {
        return INFINITY;
    }
    const double *s = shape->size;
    double r2 = 0.0;
    if (shape->kind == TACT_SHAPE_SPHERE || shape->kind == TACT_SHAPE_CAPSULE) {
        double reach = s[0] + (shape->kind == TACT_SHAPE_CAPSULE ? s[1] : 0.0);
        r2 = reach * reach;
    } else if (shape->kind == TACT_SHAPE_BOX) {
        r2 = tact_v3_dot(s, s);
    }
    /* Corners of a capsule's triangulation stand out a little beyond its surface. */
    for (size_t i = 0; shape->mesh && i < shape->mesh->vertex_count; i++) {
        const double *v = shape->mesh->vertices + 3 * i;
        r2 = fmax(r2, tact_v3_dot(v, v));
    }
    return sqrt(r2);
}

int tact_shape_is_curved(const struct tact_shape *shape)
{
    return shape->kind == TACT_SHAPE_SPHERE || shape->kind == TACT_SHAPE_CAPSULE;
}
