/* Shared by the sources of the contact model of pressure fields. */
#ifndef TACT_CONTACT_FIELD_MODEL_INTERNAL_H
#define TACT_CONTACT_FIELD_MODEL_INTERNAL_H

#include "contact/pair/field/field_internal.h"
#include "contact/pair/measurement_internal.h"

/* Capacity for the polygons of a contact, and for the points that represent its pressure. */
enum { TACT_FIELD_POLYGONS = 6144, TACT_FIELD_POINTS = 6144 };

/* Points that represent the pressure of a patch, each with the load of a small sub-area. */
struct patch_pressure_points {
    double centre[3], axes[6]; /* origin and the axes t1, t2 as rows, frame of the surface */
    int count, lost;
    double x[TACT_FIELD_POINTS], y[TACT_FIELD_POINTS]; /* [m] */
    double load[TACT_FIELD_POINTS];                    /* [N] */
    double own[TACT_FIELD_POINTS]; /* mean square of the sub-area's distance from its point [m^2] */
    /* components of the surface's unit normal along t1 and t2 */
    double nx[TACT_FIELD_POINTS], ny[TACT_FIELD_POINTS];
};

enum { TACT_FIELD_NODES = 6 };

/* Quadrature over the pressure q^m of a round patch, with u = q / Q and the largest pressure Q^m.
 */
struct field_quadrature_rule {
    double power; /* m */
    /* Integral of f over the pressure p: Q^m sum of weight f(node Q). */
    double node[TACT_FIELD_NODES], weight[TACT_FIELD_NODES];
    /* Quadrature for an f that ends as a root of 1 - u: Q^m sum of root_weight f((1 - root^2) Q).
     */
    double root[TACT_FIELD_NODES], root_weight[TACT_FIELD_NODES];
    double fit[3]; /* parameters of the limit surface of a pressure (1 - r^2)^m, tact_patch.fit */
};

void tact_field_make_quadrature_rule(double power, struct field_quadrature_rule *rule);

/* Working memory of a thread for measurements, without state between them. */
struct field_workspace {
    struct tact_field_scratch *scratch;
    struct patch_pressure_points *points;
};

/* Allocates the working memory. Returns 0, or -ENOMEM with both members NULL. */
int tact_field_workspace_create(struct field_workspace *workspace);
void tact_field_workspace_free(struct field_workspace *workspace);

/* What the model's prepare() derives from a shape: its pressure field. */
struct field_shape_data {
    struct tact_pressure_field *field;
    struct field_quadrature_rule rule; /* of a soft shape */
    double slope; /* slope of the level q with depth [Pa^(1/m)/m]; INFINITY: rigid */
    int own;      /* 1: the field is the shape's own, 0: that of its mesh */
    int is_soft;
    struct field_workspace workspace; /* working memory of a soft shape, for the world's thread */
};

/* Measures a pair at poses [2], not those of the query. Real-time safe. */
void tact_field_measure_pair_at_poses(const struct tact_pair_query *q,
                                      const struct tact_pose *poses,
                                      const struct field_workspace *workspace,
                                      struct pair_measurement *out);

/* Computes the points that represent the pressure of a group of polygons, -1: of all; centre and
 * axes are given. size: of the patch [m]. */
void tact_field_compute_pressure_points(const struct contact_surface_of_fields *of, int group,
                                        double size, struct patch_pressure_points *points);

/* Sets the patch's torsion arm and limit surface: that of at most TACT_FRICTION_POINTS parts of the
 * pressure. pressure_per_force: integral of the pressure over the force of the patch. Changes the
 * order of the points. */
void tact_field_set_friction_limit(struct patch_pressure_points *points, double pressure_per_force,
                                   struct tact_patch *patch);

/* A part of a contact surface: a group of polygons with similar normals, -1: all, summed about its
 * centre of pressure. */
struct patch_pressure_part {
    int similar_normal_group;
    struct contact_surface_sums sums;
    double sum_of_normal_stiffnesses; /* sum of the stiffnesses of the polygons along their normals
                                         [N/m] */
    int has_opposed_pressures;        /* 1: the patch's friction, or its torque about the normal, is
                              limited because its pressures oppose each other */
};

void tact_field_sum_polygons(const struct contact_surface_of_fields *of, int group,
                             struct patch_pressure_part *out);

/* Groups the polygons of a contact surface that is not flat by their normals; returns the number of
 * groups, 1 where it is flat. */
int tact_field_group_by_normal(struct contact_surface_of_fields *of,
                               const struct patch_pressure_part *sums_over_whole_surface, int most);

/* Number of polygons that a patch should have in a pressure map at most: a quarter of the room that
 * the map has left, so that patches which are added later have room as well. */
size_t tact_field_map_capacity_of_patch(const struct tact_pressure *map);

/* Removes the polygons of the patch that was added to a pressure map last if some of its polygons
 * had no room: the others would be a patch of another shape. They count as left out. NULL: nothing.
 */
void tact_field_remove_incomplete_patch(struct tact_pressure *map,
                                        struct tact_pressure_patch *patch);

/* Adds the polygons from which a patch was made to the query's pressure map, if it has one. */
void tact_field_map_pressure(const struct tact_pair_query *q,
                             const struct contact_surface_of_fields *of,
                             const struct patch_pressure_part *part,
                             const struct tact_patch *patch);

/* Makes the patch of two balls, or of a ball and a half-space, in closed form. 1; 0 where the pair
 * is another, or one extends beyond the middle of the other; -EDOM where they do not touch. */
int tact_field_patch_of_balls(const struct tact_pair_query *q, struct tact_patch *patch);

/* Makes the patch of a soft ball whose contact surface is one whole disc in a plane. 1, or 0 where
 * it is not. */
int tact_field_make_ball_on_plane_patch(const struct tact_pair_query *q,
                                        const struct contact_surface_of_fields *of,
                                        struct tact_patch *patch);

/* Finds the contact surface of a pair: that of a soft ball on rigid triangles exactly
 * (field_sphere_internal.h). Returns as tact_field_find_contact_surface(). */
int tact_field_find_pair_surface(const struct tact_pair_query *q,
                                 struct tact_field_scratch *scratch,
                                 struct contact_surface_of_fields *of);

/* Makes the patch of a part of the contact surface and sets its has_opposed_pressures. 0, or -EDOM
 * where it has no load. */
int tact_field_make_patch_of_part(const struct tact_pair_query *q,
                                  const struct contact_surface_of_fields *of,
                                  struct patch_pressure_part *part,
                                  struct patch_pressure_points *points, struct tact_patch *patch);

#endif
