/* Shared by the sources of contact/pair/field, which compute contacts of pressure fields. */
#ifndef TACT_CONTACT_FIELD_INTERNAL_H
#define TACT_CONTACT_FIELD_INTERNAL_H

#include "contact/pair/field/field.h"
#include "contact/pair/field/field_cut_internal.h"
#include "contact/pair/options.h"

/* Builds the tree of a field's cells. 0 or -ENOMEM. */
int tact_field_build_tree(struct tact_pressure_field *field);

/* Largest depth of the tree of a field's cells. */
enum { TACT_FIELD_DEPTH = 40 };

/* 1 where two fields can have a contact: not two rigid ones, nor two half-spaces, nor two soft ones
 * of different power, whose pressures are not equal on planes. */
static inline int tact_fields_can_touch(const struct tact_pressure_field *a,
                                        const struct tact_pressure_field *b)
{
    int planes = a->kind == TACT_FIELD_HALFSPACE && b->kind == TACT_FIELD_HALFSPACE;
    int alike = a->is_rigid || b->is_rigid || a->power == b->power;
    return !(a->is_rigid && b->is_rigid) && !planes && alike;
}

/* 1 where b must be the first field of the pair: the first is one with tetrahedra, else the soft
 * half-space. */
static inline int tact_field_must_swap_bodies(const struct tact_pressure_field *a,
                                              const struct tact_pressure_field *b)
{
    if (a->kind == TACT_FIELD_TETS || b->kind == TACT_FIELD_TETS) {
        return a->kind != TACT_FIELD_TETS;
    }
    return a->kind == TACT_FIELD_RIGID;
}

void tact_field_set_pair_poses(struct field_pair *pair, const struct tact_pressure_field *a,
                               const struct tact_pose *pose_a, const struct tact_pressure_field *b,
                               const struct tact_pose *pose_b);

/* The pressure q^m of a level q [Pa]; 0 where q is not positive. */
double tact_field_pressure_of_level(double power, double q);

/* Exponent of a material's pressure law; 1 by default. */
static inline double tact_field_power_of_material(const struct tact_field_material *material)
{
    return material->power > 0.0 ? material->power : 1.0;
}

/* Increase of the level q with depth, E^(1/m) / T [Pa^(1/m)/m]. */
double tact_field_pressure_slope(const struct tact_field_material *material);

/* Pressure level q at a point of a contact polygon. */
static inline double tact_field_pressure_level(const struct contact_surface_polygon *p,
                                               const double *x)
{
    return p->sphere ? p->sphere->slope * (p->sphere->radius - tact_v3_norm(x))
                     : p->value_at_origin + tact_v3_dot(p->gradient_a, x);
}

/* Moments of the derivative of the pressure law over a polygon, with which gradients of q become
 * those of pressure. */
static inline const struct field_moments *
tact_field_stiffness_moments(const struct contact_surface_polygon *polygon)
{
    return polygon->power == 1.0 ? &polygon->area_moments : &polygon->stiffness_moments;
}

/* Integrates the pressure over a contact polygon whose pressure law has a power other than 1: sets
 * load, lever and springs of the polygon. */
void tact_field_integrate_pressure_law(struct contact_surface_polygon *polygon);

/* Computes the integrals of a polygon. */
void tact_field_integrate_polygon(struct contact_surface_polygon *polygon);

/* Sums over the polygons of a contact, about a point near them, frame of pair->a; forces on b. */
struct contact_surface_sums {
    double origin[3];
    double area, load;
    double first[3]; /* integral of the pressure times the position */
    double force[3], torque[3];
    double stiffness[36]; /* stiffness matrix before the shift to the centre of pressure, of which
                             the symmetric part counts */
    size_t alike;         /* number of polygons of nearly equal fields, which have no stiffness */
};

void tact_field_add_polygon_to_sums(struct contact_surface_sums *sums,
                                    const struct contact_surface_polygon *polygon);

/* Transforms a 6 x 6 stiffness about a point to that about a point `arm` away. */
void tact_field_shift_stiffness_point(double *stiffness, const double *arm);

/* Moves the reference point of the sums to their centre of pressure, and makes the stiffness
 * symmetric. */
void tact_field_shift_to_pressure_centre(struct contact_surface_sums *sums);

/* Transforms a 6 x 6 matrix that multiplies twists to another frame, whose axes are the rows of
 * `rotation`. */
void tact_field_rotate_twist_matrix(const double *matrix, const double *rotation, double *out);

/* The contact surface of two pressure fields, polygon by polygon. */
struct contact_surface_of_fields {
    struct field_pair pair;
    const struct tact_pose *frame; /* frame of pair.a */
    int swapped;                   /* 1: the two fields are swapped, pair.a is the query's b */
    /* polygons of the surface, valid until the scratch is used again */
    struct contact_surface_polygon *polygon;
    /* soft ball that replaces the cells of pair.a, where its field is that of a ball */
    struct field_sphere sphere;
    size_t count, pieces, tried, alike; /* polygons, connected pieces, pairs of cells tested, and
                                           pairs with equal fields, which have no polygon */
};

/* Finds the contact surface of two fields. 1; 0 where there is none; -ENOSPC; -ENOTSUP. */
int tact_field_find_contact_surface(const struct tact_pressure_field *a,
                                    const struct tact_pose *pose_a,
                                    const struct tact_pressure_field *b,
                                    const struct tact_pose *pose_b,
                                    struct tact_field_scratch *scratch,
                                    struct contact_surface_of_fields *out);

/* Finds the contact surface of a soft ball and a rigid surface of triangles. ball: its field, for
 * the frame. Returns as tact_field_find_contact_surface(). */
int tact_field_find_ball_surface(const struct field_sphere *sphere,
                                 const struct tact_pressure_field *ball,
                                 const struct tact_pose *pose,
                                 const struct tact_pressure_field *field_of_rigid_solid,
                                 const struct tact_pose *pose_of_rigid_solid,
                                 struct tact_field_scratch *scratch,
                                 struct contact_surface_of_fields *out);

/* 1 where two boxes overlap, or are nearer than the margin: one in the frame of field a, the other
 * in that of b. */
int tact_field_boxes_overlap(const struct field_pair *pair, const struct field_box *a,
                             const struct field_box *b, double margin);

#endif
