#include "contact/shape/shape.h"

#include <errno.h>
#include <string.h>
#include "contact/shape/charts_internal.h"
#include "contact/shape/kinds_internal.h"

#define TACT_SHAPE_ENTRY(name, word) &tact_shape_##word##_type,
static const struct tact_shape_type *const types[] = {TACT_SHAPE_KINDS(TACT_SHAPE_ENTRY)};

const struct tact_shape_type *tact_shape_type(enum tact_shape_kind kind)
{
    return (unsigned)kind < TACT_SHAPE_COUNT ? types[kind] : NULL;
}

int tact_shape_kind_find(const char *name)
{
    for (int i = 0; i < TACT_SHAPE_COUNT; i++) {
        if (!strcmp(types[i]->name, name)) {
            return i;
        }
    }
    return -1;
}

struct tact_shape tact_shape_sized(enum tact_shape_kind kind,
                                   const struct tact_shape_lengths *lengths)
{
    struct tact_shape shape = {.kind = kind};
    const char *keys = types[kind]->keys;
    if (strstr(keys, "size")) {
        tact_v3_scale(shape.size, lengths->size, 0.5);
    }
    if (strstr(keys, "radius")) {
        shape.size[0] = lengths->radius;
    }
    if (strstr(keys, "length")) {
        shape.size[1] = 0.5 * lengths->length;
    }
    if (strstr(keys, "tube")) {
        shape.size[1] = lengths->tube;
    }
    return shape;
}

int tact_shape_tessellate(struct tact_shape *shape)
{
    const struct tact_shape_type *type = types[shape->kind];
    for (int i = 0; i < type->lengths; i++) {
        double s = shape->size[i];
        if (!isfinite(s) || !(s > 0.0 || (s == 0.0 && type->may_vanish >> i & 1))) {
            return -EINVAL;
        }
    }
    if (shape->kind == TACT_SHAPE_REVOLUTION || shape->kind == TACT_SHAPE_PATCHES ||
        shape->kind == TACT_SHAPE_SUBDIVISION) {
        shape->mesh = shape->charts ? shape->charts->mesh : NULL;
        return shape->mesh ? 0 : -EINVAL;
    }
    if (!type->make) {
        return !strcmp(type->keys, "file") && !shape->mesh ? -EINVAL : 0;
    }
    tact_shape_release(shape);
    int rc = type->make(shape->size, &shape->owned);
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

void tact_shape_set_mass(struct tact_shape_mass *out, double volume, double xx, double yy,
                         double zz)
{
    out->volume = volume;
    out->inertia[0] = xx;
    out->inertia[4] = yy;
    out->inertia[8] = zz;
}

double tact_shape_first_size_as_radius(const double size[3])
{
    return size[0];
}

double tact_shape_sum_of_sizes_as_radius(const double size[3])
{
    return size[0] + size[1];
}

void tact_shape_mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    memset(out, 0, sizeof *out);
    types[shape->kind]->mass(shape, out);
}

double tact_shape_radius(const struct tact_shape *shape)
{
    double reach = shape->charts ? shape->charts->radius : types[shape->kind]->reach(shape->size);
    double r2 = reach * reach;
    /* The vertices of a curved surface's triangulation are slightly outside of it. */
    for (size_t i = 0; shape->mesh && i < shape->mesh->vertex_count; i++) {
        const double *v = shape->mesh->vertices + 3 * i;
        r2 = tact_max(r2, tact_v3_dot(v, v));
    }
    return sqrt(r2);
}

double tact_shape_thickness(const struct tact_shape *shape)
{
    double least = INFINITY;
    if (shape->kind == TACT_SHAPE_SPHERE || shape->kind == TACT_SHAPE_CAPSULE) {
        return 2.0 * shape->size[0];
    }
    for (int k = 0; k < 3 && shape->mesh; k++) {
        const struct tact_mesh_node *all = &shape->mesh->nodes[0];
        least = tact_min(least, all->upper[k] - all->lower[k]);
    }
    return least;
}

enum tact_shape_faces tact_shape_faces(const struct tact_shape *shape)
{
    return types[shape->kind]->faces;
}

double tact_shape_rolling_radius(const struct tact_shape *shape)
{
    const struct tact_shape_type *type = types[shape->kind];
    return type->rolling_radius ? type->rolling_radius(shape->size) : INFINITY;
}
