/* Surfaces of a solid as rational B-splines, with which OBJ files and the scenes of tact have them.
 */
#ifndef TACT_EXAMPLES_STEP_SURFACE_H
#define TACT_EXAMPLES_STEP_SURFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    STEP_MAX_DEGREE = 25,   /* largest degree of a B-spline in OpenCASCADE */
    STEP_MAX_POINTS = 4000, /* maximum number of control points in a statement of an OBJ file */
};

/* A surface. One that is no B-spline has no control points, but a name for messages. */
struct step_surface {
    char name[32];
    bool is_spline_rational;
    int degree[2], count[2]; /* number of control points along u and v */
    int knot_count[2];
    double *knots[2];        /* knot values, in non-decreasing order */
    double (*point)[4];      /* x, y, z [m] and weight, u fastest */
    bool is_parameter_angle; /* the parameters of the file are angles: a quarter of a turn is a
                              * change of the knots by 1
                              */
};

/* step_brep.c: reads the surfaces of a text in OpenCASCADE's BRep format. Returns their array, of
 * *count, to be freed by step_surfaces_free(); NULL with *what where the text is not that. */
struct step_surface *step_surfaces_read(const char *text, int *count, const char **what);
void step_surfaces_free(struct step_surface *surfaces, int count);

/* step_spline.c: gives a new surface room for such degrees and numbers of control points. false: no
 * memory, or too large. */
bool step_spline_allocate(struct step_surface *s, const int degree[2], const int count[2]);

void step_spline_free(struct step_surface *s);

/* Cuts a surface that is periodic along u or v at its first knot: the first control points follow
 * the last ones again. Its knots along such a direction are from the first to the last, both of the
 * multiplicity end_knot_multiplicity[k] > 0; 0: it is not periodic along it. false: no memory, or
 * too large.
 */
bool step_spline_make_periodic_clamped(struct step_surface *s, const int end_knot_multiplicity[2]);

/* Gets the least and the largest parameter of the surface in the file, along u (k = 0) or v. */
void step_spline_parameter_range(const struct step_surface *s, int k, double range[2]);

/* Computes the point at parameters of the file, by de Boor's method. */
void step_spline_evaluate_point(const struct step_surface *s, const double uv[2], double out[3]);

/* Makes the surface a torus, by rational parabolas: nine by nine control points, of a quarter of a
 * turn each to a change of 1 of a parameter. frame: origin, axis, x and y. false: no memory. */
bool step_spline_make_torus(struct step_surface *s, const double frame[12], const double radius[2]);

/* Writes the surface as statements of an OBJ file; reversed: with the normal on its other side. */
void step_spline_write_as_obj(FILE *to, const struct step_surface *s,
                              bool is_outward_normal_reversed);

#endif
