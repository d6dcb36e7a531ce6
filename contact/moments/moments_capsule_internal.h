/*
 * A capsule cut by planes: shared by the files of its moments.
 *
 * A capsule is a cylinder between two half balls. Each part has an origin of its own on the axis
 * (z): the half balls their centres, the cylinder a point near the overlap. Positions here are
 * relative to the part's origin, in the capsule's axes.
 */
#ifndef TACT_CONTACT_MOMENTS_CAPSULE_INTERNAL_H
#define TACT_CONTACT_MOMENTS_CAPSULE_INTERNAL_H

#include "contact/moments/moments_internal.h"
#include "contact/simd_internal.h"

enum { TACT_CAPSULE_UPPER, TACT_CAPSULE_LOWER, TACT_CAPSULE_MIDDLE, TACT_CAPSULE_PARTS };

/* Integrals over the faces of the other solid within one part, outward normals n. h = (x, y, z, 1)
 * is the homogeneous position; the weight w is r.n, in the cylinder without the axial term. */
struct tact_capsule_face_sums {
    tact_d4 weighted[4];              /* sum of w h h^T over the faces, by rows [m^3, m^4, m^5] */
    double area[3];                   /* area of n [m^2] */
    double normal_position_moment[9]; /* integral of n r^T over the faces [m^3], row-major */
    double volume_term_magnitude;     /* sum of the magnitudes of the terms of the volume [m^3] */
    double surface_contour_integrals[3]; /* line integrals around the faces where they end on the
                       capsule's surface: in the cylinder of z^k/k dtheta, k = 1, 2, 3, theta the
                       angle about the axis; in a half ball surface_contour_integrals[0], of (1 -
                       |z|/R) dtheta, along the outward axis */
};

/* Section of the other solid with the plane between the cylinder and a half ball, within the disc:
 * sums over the segments p q, with the solid on the left as seen from +z. */
struct tact_capsule_end_plane_section {
    double circle_angle; /* angle about the axis */
    double twice_area;   /* component of p x q [m^2] */
    double first[2];     /* component of (p x q) (p + q) / 2 [m^3] */
    double along[2];     /* component of q - p [m] */
};

/* One face of the other solid in one part of a capsule. */
struct tact_capsule_face_cut {
    int part;                 /* TACT_CAPSULE_UPPER ... */
    double radius;            /* radius of the capsule that the face is cut by [m] */
    double normal[3];         /* outward, unit */
    double distance;          /* distance of the face's plane from the part's origin [m] */
    double face_conic_radius; /* radius of the conic in which the face's plane cuts the capsule: in
                    the cylinder projected along the axis, in a half ball in the plane itself [m] */
    tact_d4 first;            /* integral of h over the face's area in the part [m^3, m^2] */
    struct tact_capsule_face_sums *faces;
};

/* Product r.n of a position and the face's normal, in the cylinder without the axial term; in a
 * half ball the distance of the plane. */
static inline double tact_capsule_dot_normal(const struct tact_capsule_face_cut *c,
                                             const double r[3])
{
    return c->part == TACT_CAPSULE_MIDDLE ? c->normal[0] * r[0] + c->normal[1] * r[1] : c->distance;
}

/* Product p.q in the metric of the capsule part's surface: in the cylinder without the axial term.
 */
static inline double tact_capsule_dot(const struct tact_capsule_face_cut *c, const double *p,
                                      const double *q)
{
    double dot_product_of_part_components = p[0] * q[0] + p[1] * q[1];
    return c->part == TACT_CAPSULE_MIDDLE ? dot_product_of_part_components
                                          : dot_product_of_part_components + p[2] * q[2];
}

/* Triple product n.(p x q) in the metric of tact_capsule_dot(): positive where q is
 * counter-clockwise of p about the conic's centre. */
static inline double tact_capsule_cross(const struct tact_capsule_face_cut *c, const double *p,
                                        const double *q)
{
    const double *n = c->normal;
    double axial_component_of_cross_product = n[2] * (p[0] * q[1] - p[1] * q[0]);
    if (c->part == TACT_CAPSULE_MIDDLE) {
        return axial_component_of_cross_product;
    }
    return axial_component_of_cross_product + n[0] * (p[1] * q[2] - p[2] * q[1]) +
           n[1] * (p[2] * q[0] - p[0] * q[2]);
}

#define tact_capsule_add_triangle TACT_CPU_VARIANT(tact_capsule_add_triangle)
#define tact_capsule_add_arc TACT_CPU_VARIANT(tact_capsule_add_arc)

/* Adds the triangle p q r of a face to the face's integrals. */
void tact_capsule_add_triangle(struct tact_capsule_face_cut *c, const double *p, const double *q,
                               const double *r);

/* Adds the segment between the conic from p to q, counter-clockwise, and the chord p q.
 * is_major_arc: the arc is more than half of the conic. */
void tact_capsule_add_arc(struct tact_capsule_face_cut *c, const double *p, const double *q,
                          int is_major_arc);

/* Integrals over the part of the other solid's surface in a capsule. */
struct tact_capsule_sums {
    double radius, half; /* radius, and half the length of the axis, of the capsule [m] */
    double tolerance;    /* a face nearer than this to an end of the axis is not measured
                            [m] */
    double middle;       /* height z of the cylinder's origin [m]; NAN before the first face */
    int has_face_within_end_tolerance; /* 1: a face was within tolerance of an end of the axis */
    int was_face_cut_by_capsule;       /* 1: a face was cut */
    struct tact_capsule_face_sums faces[TACT_CAPSULE_PARTS];
    struct tact_capsule_end_plane_section slices_at_axis_ends[2];
};

/* Adds a convex face of at most 4 corners, counter-clockwise as seen from outside, in the axes of
 * the capsule from its centre. */
void tact_capsule_add_face(struct tact_capsule_sums *sums, double (*corner)[3], int corners);

/* A capsule in the frame of a mesh. */
struct tact_capsule_in_mesh_frame {
    /* centre of the capsule, and its axis from the centre to the upper end [m] */
    double centre[3], axis[3];
    double radius; /* [m] */
    double rot[9]; /* rotation from the mesh's axes to the capsule's */
};

/* Adds the triangles of a mesh that may reach into a capsule to the capsule's sums. */
void tact_capsule_add_mesh(const struct tact_mesh *mesh,
                           const struct tact_capsule_in_mesh_frame *place,
                           struct tact_capsule_sums *sums);

#endif
