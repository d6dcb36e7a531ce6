/* Convex cores with a radius: what the features model derives from a shape in prepare(). */
#ifndef TACT_CONTACT_CORE_INTERNAL_H
#define TACT_CONTACT_CORE_INTERNAL_H

#include <stdint.h>
#include "contact/pair/model.h"

/* Largest number of corners of a face in a manifold. Of a face with more corners, this many are
 * used, evenly spaced along its rim. */
enum { TACT_CORE_RIM = 64 };

/*
 * A convex polytope: a hull, the segment of a capsule, the point of a ball; or a cylinder or an
 * ellipsoid, see curved_internal.h. The shape consists of all points within `radius` of it.
 * Coordinates are in the frame of the shape. A half-space has a radius of 0 and no vertices: it is
 * identified by its kind.
 */
struct tact_core {
    enum tact_shape_kind kind;
    double radius;    /* [m] */
    double size;      /* largest coordinate of a vertex [m] */
    double thickness; /* smallest distance of a face from the vertex opposite to it, plus the radius
                         on both sides [m] */
    double middle[3]; /* centre of a ball inside the solid [m] */
    double inner;     /* radius of that ball, including `radius` [m] */
    double half[3];   /* lengths of a cylinder or an ellipsoid, as in the shape [m] */
    int64_t vertices;
    double (*vertex)[3];            /* [m]; NULL: a curved surface */
    int *first_neighbour_of_vertex; /* index in `next` of the first neighbour of each vertex; one
                                       more entry */
    int *next;                      /* neighbours along edges of the triangulation */
    int faces;
    double (*normal)[3];       /* outward unit normals of faces; coplanar triangles are one face */
    double *offset;            /* offset of their planes, at the farthest of their corners [m] */
    int *first_corner_of_face; /* index in `rim` of the first corner of each face; one more entry */
    int *rim;                  /* vertices, counter-clockwise from outside */
    int *first_face_of_vertex; /* index in `at` of the first face of each vertex; one more entry */
    int *at;                   /* faces */
    int *start; /* a far vertex for each of the 6 * 8 * 8 cells of a cube map; NULL: few vertices */
};

/* 1 for kinds that have a core. */
static inline int tact_core_exists_for_kind(enum tact_shape_kind kind)
{
    return kind == TACT_SHAPE_HALFSPACE || kind == TACT_SHAPE_SPHERE ||
           kind == TACT_SHAPE_CAPSULE || kind == TACT_SHAPE_BOX || kind == TACT_SHAPE_CONVEX ||
           kind == TACT_SHAPE_CYLINDER || kind == TACT_SHAPE_ELLIPSOID;
}

/* Creates the core of a shape. -ENOMEM, -ENOTSUP for a kind without one, -EINVAL for a box or
 * convex solid without its triangulation. */
int tact_core_create(const struct tact_shape *shape, struct tact_core **out);
void tact_core_free(struct tact_core *core);

/* The farthest vertex along d (shape frame, of any length). The search walks along edges from the
 * vertex `from` or, where that is negative, from the table of directions. Real-time safe. */
int64_t tact_core_support(const struct tact_core *core, const double d[3], int64_t from);

/* Position of a vertex of a curved surface (curved_internal.h). */
void tact_curved_vertex(const struct tact_core *core, int64_t vertex, double out[3]);

/* Position of a vertex (shape frame) [m]. Real-time safe. */
static inline void tact_core_vertex(const struct tact_core *core, int64_t vertex, double out[3])
{
    if (core->vertex) {
        tact_v3_copy(out, core->vertex[vertex]);
    } else {
        tact_curved_vertex(core, vertex, out);
    }
}

#endif
