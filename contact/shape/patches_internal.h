/* Surfaces of rational bicubic Bezier patches. */
#ifndef TACT_CONTACT_PATCHES_INTERNAL_H
#define TACT_CONTACT_PATCHES_INTERNAL_H

#include "contact/shape/squares_internal.h"

enum { PATCH_POINTS = 16, PATCH_EDGES = SQUARE_SIDES, MAX_BEZIER_PATCHES = 2048 };

/* A patch over [0, 1] x [0, 1]. */
struct bezier_patch {
    double point[PATCH_POINTS][4];        /* w x, w y, w z, w; u runs fastest */
    int neighbour_over_edge[PATCH_EDGES]; /* neighbour of the patch over each edge: 4 times the
                                neighbour's index, plus its edge; SQUARE_POLE */
    double pole[PATCH_EDGES][3];          /* the point of an edge that is a pole [m] */
    int line;                             /* line of the file that describes the patch, 0: none */
};

/* Patches as read. */
struct bezier_patch_list {
    struct bezier_patch *patch;
    int count, room;
};

/* Position and derivatives of a patch, of the second or the third order, as evaluate() of struct
 * squares. */
void tact_patch_evaluate(const struct bezier_patch *patch, double u, double v, int count,
                         double (*c)[3]);

/* Coordinates about an edge that is a pole, as evaluate_about_pole() of struct square_charts. */
void tact_patch_evaluate_about_pole(const struct bezier_patch *patch, int edge, double a, double b,
                                    double q[SECOND_ORDER][3]);

/*
 * Finds the neighbour of each patch over each edge: edges whose ends and middles agree, run through
 * in opposite directions, with one normal along them. An edge of one point is a pole, about which
 * patches go round once. -EINVAL with a message for an edge without or with several neighbours or
 * creased, a pole without a normal, or a patch that is turned over; -ENOMEM.
 */
int tact_patches_find_neighbours(struct bezier_patch_list *list, double size,
                                 struct tact_error *err);

/* Adds the patches of a tensor B-spline of degrees 1 to 3. point: nu x nv, u fastest, as in struct
 * bezier_patch; knots: nu + degree[0] + 1 and nv + degree[1] + 1, which do not decrease.
 * -ENOMEM; -E2BIG: the list would have more than MAX_BEZIER_PATCHES. */
int tact_patches_add_spline(struct bezier_patch_list *list, const double (*point)[4],
                            const int count[2], const int degree[2], const double *const knots[2],
                            int line);

/* Reads the free-form surfaces of an OBJ file as patches. -EINVAL with the line in *err; -ENOMEM.
 */
int tact_patches_read(const char *text, size_t size, double scale, struct bezier_patch_list *list,
                      struct tact_error *err);

#endif
