/* What the sources of the model of pressure fields share. */
#ifndef TACT_CONTACT_FIELD_MODEL_INTERNAL_H
#define TACT_CONTACT_FIELD_MODEL_INTERNAL_H

#include "contact/pair/field/field_internal.h"
#include "contact/pair/model.h"

/* Most polygons of a contact, and points that stand for its pressure. */
enum { TACT_FIELD_POLYGONS = 4096, TACT_FIELD_POINTS = 6144 };

/* Points that stand for the pressure of a patch, each for the load of a small part of it. */
struct field_points {
    double centre[3], axes[6]; /* origin and the rows of t1, t2, frame of the surface */
    int count, lost;
    double x[TACT_FIELD_POINTS], y[TACT_FIELD_POINTS]; /* [m] */
    double load[TACT_FIELD_POINTS];                    /* [N] */
};

/* What prepare() makes of a shape. */
struct field_data {
    struct tact_pressure_field *field;
    double slope;                       /* of the pressure with depth [Pa/m]; INFINITY: rigid */
    int own;                            /* 1: the shape's own field, 0: its mesh's */
    struct tact_field_scratch *scratch; /* of one that is soft: working memory of the world's
                                           thread, which holds nothing from query to query */
    struct field_points *points;        /* likewise */
};

/* Fills the points of a group of polygons, -1: of all; centre and axes are given. size: of the
 * patch [m]. */
void tact_field_points(const struct field_surface *of, int group, double size,
                       struct field_points *points);

/* The patch's torsion arm and limit surface: of the mean over the directions of slip. */
void tact_field_limit(const struct field_points *points, struct tact_patch *patch);

/* A group of polygons that face alike, -1: all, summed up about its centre of pressure. */
struct field_part {
    int group;
    struct field_sums sums;
    double springs; /* stiffness of its polygons along their normals, all in parallel [N/m] */
};

void tact_field_sum(const struct field_surface *of, int group, struct field_part *out);

/* Parts a surface that is not flat into groups of polygons that face alike; their number, 1 where
 * it is flat. */
int tact_field_group(struct field_surface *of, const struct field_part *whole, int most);

/* Adds the polygons of a part, of which the patch was made, to the query's pressure map, if it has
 * one. */
void tact_field_report_pressure(const struct tact_pair_query *q, const struct field_surface *of,
                                const struct field_part *part, const struct tact_patch *patch);

/* The patch of two balls, or of a ball and a half-space. 1; 0 where the pair is another, or one is
 * past the middle of the other; -EDOM where they do not touch. */
int tact_field_balls(const struct tact_pair_query *q, struct tact_patch *patch);

/* The patch of a part. 0, or -EDOM where it presses nothing. */
int tact_field_patch(const struct tact_pair_query *q, const struct field_surface *of,
                     const struct field_part *part, struct field_points *points,
                     struct tact_patch *patch);

#endif
