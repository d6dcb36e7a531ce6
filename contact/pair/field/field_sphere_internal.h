/* Contact of a soft ball with a rigid surface of triangles, exactly and without tetrahedra. */
#ifndef TACT_CONTACT_FIELD_SPHERE_INTERNAL_H
#define TACT_CONTACT_FIELD_SPHERE_INTERNAL_H

#include "contact/elementary.h"
#include "contact/pair/field/field_internal.h"

/* The disc in which a triangle's plane cuts a ball. */
struct field_disc {
    const struct field_sphere *ball;
    double height; /* height of the ball's centre over the triangle's plane, along its normal [m] */
    double rim;    /* square of the disc's radius [m^2] */
};

/* Integrals over a part of a disc, about the foot of the ball's centre in the plane, of the
 * pressure p, of w = -p'/r, and of 1. */
struct field_disc_sums {
    double load, load_first[2];
    double stiffness_integral_over_disc, stiffness_first[2], stiffness_second[4];
    double area, first[2], second[4];
    double
        squared_rim_distance_integral; /* integral over the part of half the difference of the rim's
                                          and the point's squared distances from the foot */
};

/* A triangle's edge and its part in the disc, from end[0] to end[1]. */
struct field_disc_part {
    int has_edge_part_in_disc; /* 1 where a part of the edge is in the disc */
    int does_edge_start_outside_disc,
        does_edge_end_outside_disc; /* 1 where the edge begins, or ends, outside the disc */
    double distance; /* distance of the edge's line from the foot of the ball's centre, positive
                        toward the triangle [m] */
    double unit_edge_direction[2], t[2],
        end[2][2]; /* direction of the edge; ends of its part in the disc, from
             the line's point nearest to the foot, and as points */
    double angle_before_part_in_disc,
        angle_after_part_in_disc; /* angles of the edge before the part and after it, seen from
                        the foot; before: of the whole edge where it is outside the disc */
};

/* The potentials A, p and a at a distance from the ball's centre (field_sphere.c). */
struct field_potentials {
    double load, spring, area;
};

/* Integrals along the part of a triangle's edge in the ball. */
struct field_edge_sums {
    struct field_potentials
        radial_edge_integrals;   /* integrals of h / rho^2 times F of p, w and 1 (field_sphere.c) */
    double radial_area_integral; /* integral of h / rho^2 times F of the potential a
                                    (field_sphere.c) */
    struct field_potentials line; /* integrals of the potentials along the edge */
    struct field_potentials position_weighted_integrals; /* integrals of the potentials p and a
                                                  times the position along the edge */
};

/* Integrates along a line at distance h from the foot of the centre, from t[0] to t[1] from the
 * point nearest to the foot. middle: the potentials at the foot. */
void tact_field_integrate_edge_in_disc(const struct field_disc *disc,
                                       const struct field_potentials *middle, double h,
                                       const double t[2], struct field_edge_sums *out);

/* Angle from one point of the disc's plane to another, seen from the foot of the centre [rad], -pi
 * to pi. */
static inline double tact_field_angle_seen_from_foot(const double *p, const double *q)
{
    return tact_atan2(p[0] * q[1] - p[1] * q[0], p[0] * q[0] + p[1] * q[1]);
}

/* Integrates over the part of the disc that is in a triangle, whose corners go counterclockwise. */
void tact_field_integrate_disc_part(const struct field_disc *disc, const double (*corner)[2],
                                    struct field_disc_part part[3], struct field_disc_sums *out);

/* Finds the contact surface of the soft ball out->sphere and a rigid surface of triangles,
 * out->pair.b, with a polygon for each triangle in the ball. The pair, frame, swapped and the ball
 * of *out are set; out->polygon has room for `most`. 1, 0 where they do not touch, -ENOSPC. */
int tact_field_make_ball_polygons(struct contact_surface_of_fields *out, size_t most);

/* Where the contact surface is one whole disc in a plane, with the ball's centre outside the solid,
 * returns the distance of the centre from the plane [m], and the plane's normal toward the centre,
 * frame of pair.a; else 0. */
double tact_field_plane_distance_of_disc(const struct contact_surface_of_fields *of,
                                         double normal[3]);

/* Adds the stiffness of a polygon in a ball about a point in the frame of pair.a. */
void tact_field_add_stiffness_in_ball(const struct contact_surface_polygon *p, const double *origin,
                                      double *stiffness);

#endif
