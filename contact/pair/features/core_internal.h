/* Convex cores with a radius: what the features model derives from each shape in prepare(). */
#ifndef TACT_CONTACT_CORE_INTERNAL_H
#define TACT_CONTACT_CORE_INTERNAL_H

#include <stdint.h>
#include "contact/pair/model.h"

/* Capacity for the corners of a face in a manifold. Of a face with more corners, this many are
 * used, evenly spaced along its rim. */
enum { TACT_MAX_CORE_FACE_CORNERS = 64 };

/*
 * The convex core of a shape: a polytope (a hull, the segment of a capsule, the point of a ball), a
 * cylinder or an ellipsoid, see curved_internal.h. The shape consists of all points within `radius`
 * of its core. Coordinates are in the frame of the shape. A half-space has a radius of 0 and no
 * vertices: it is identified by its kind.
 */
struct tact_convex_core {
    enum tact_shape_kind kind;
    double radius;    /* [m] */
    double size;      /* largest absolute coordinate of the core's vertices [m] */
    double thickness; /* smallest width of the shape: distance of a face from the vertex opposite to
                         it, plus the radius on both sides [m] */
    double middle[3]; /* centre of the inscribed ball [m] */
    double inscribed_ball_radius; /* radius of the inscribed ball, including `radius` [m] */
    double half[3]; /* lengths of a cylinder or an ellipsoid, as in struct tact_shape [m] */
    int64_t vertices;
    double (*vertex)[3];                  /* [m]; NULL: a curved surface */
    int *first_neighbour_index_of_vertex; /* index in `next` of the first neighbour of each vertex;
                                       one more entry at the end */
    int *next; /* neighbours of the vertices along edges of the triangulation */
    double shortest_hull_edge_length; /* length of the shortest edge of a hull; infinite for other
                                         cores [m] */
    int faces;
    double (*normal)[3]; /* outward unit normals of faces; coplanar triangles are one face */
    double *offset;      /* offsets of the faces' planes, at the farthest of their corners [m] */
    int *first_corner_index_of_face; /* index in `rim` of the first corner of each face; one more
                                  entry at the end */
    int *rim;                        /* vertices of the faces, counter-clockwise from outside */
    int *first_face_index_of_vertex; /* index in `at` of the first face of each vertex; one more
                                  entry at the end */
    int *at;                         /* faces */
    int *start; /* a far vertex for each of the 6 * 8 * 8 direction cells of a cube map; NULL: few
                   vertices */
};

/* 1 for kinds of shape that have a core. */
static inline int tact_has_shape_kind_convex_core(enum tact_shape_kind kind)
{
    return kind == TACT_SHAPE_HALFSPACE || kind == TACT_SHAPE_SPHERE ||
           kind == TACT_SHAPE_CAPSULE || kind == TACT_SHAPE_BOX || kind == TACT_SHAPE_CONVEX ||
           kind == TACT_SHAPE_CYLINDER || kind == TACT_SHAPE_ELLIPSOID;
}

/* Creates the core of a shape. -ENOMEM, -ENOTSUP for a kind without one, -EINVAL for a box or
 * convex solid without its triangulation. */
int tact_convex_core_create(const struct tact_shape *shape, struct tact_convex_core **out);
void tact_convex_core_free(struct tact_convex_core *core);

/* The vertex of a core that is farthest along d (shape frame, of any length). The search walks
 * along edges from the vertex `from` or, where that is negative, from the table of directions.
 * Real-time safe. */
int64_t tact_convex_core_support_vertex(const struct tact_convex_core *core, const double d[3],
                                        int64_t from);

/* Position of a vertex of a core with a curved surface (curved_internal.h), shape frame [m]. */
void tact_curved_core_vertex(const struct tact_convex_core *core, int64_t vertex, double out[3]);

/* Position of a vertex of a core (shape frame) [m]. Real-time safe. */
static inline void tact_convex_core_vertex_position(const struct tact_convex_core *core,
                                                    int64_t vertex, double out[3])
{
    if (core->vertex) {
        tact_v3_copy(out, core->vertex[vertex]);
    } else {
        tact_curved_core_vertex(core, vertex, out);
    }
}

#endif
