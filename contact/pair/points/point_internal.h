/*
 * Contact points, for comparison with the 6D contact: the usual method of simulators, implemented
 * as well as possible.
 *
 * A touching pair has the corners of its flat overlap's outline, or all vertices of the overlap's
 * polyhedron, as points with Coulomb friction and no torque. They share the patch's normal, depth
 * and stabilisation, so that the two models differ only in the constraint; a soft curved contact
 * and one with a sphere are one point at the patch's centre. One block of the sweep is then one
 * pass of projected Gauss-Seidel over the pair's points, each solved exactly. Velocities of the two
 * bodies are updated through the pair's 6D Schur block, which gives the same iterates as sweeping
 * over the bodies and is cheaper.
 */
#ifndef TACT_CONTACT_POINT_INTERNAL_H
#define TACT_CONTACT_POINT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include "contact/local/local.h"
#include "contact/shape/shape.h"
#include "contact/moments/patch.h"

/* One contact point of a pair, in the frame (n, t1, t2) of the pair's patch. */
struct point {
    double at[3];    /* position of the point from the patch's centre [m] */
    double p[3];     /* impulse on A [N s] */
    uint64_t key[2]; /* key of the point's feature; 0 0: a corner of an outline, identified by its
                        position */
    double w[18]; /* velocity change per impulse of the point, S T', 6 x 3; T: its lever matrix */
    double s[9];  /* T S T' */
    double factor[9];
    double turn[2]; /* cosine and sine of the rotation to axes in which the friction block of s is
                       diagonal */
    double l[2];    /* that diagonal */
    double c[2];    /* coupling of the two tangential velocities to the normal impulse */
};

/* The contact points of a tick, pair by pair. A pair is identified by its contact in the world. */
struct contact_point_list {
    struct point *points;
    int count;
    int pairs;
    int *first;               /* index of the first point of each pair */
    int *point_count_of_pair; /* number of points of each pair; 0 where it does not touch */
    double *frame;            /* frame of each pair's patch: its centre and axes, 12 numbers */
};

struct contact_point_store {
    struct contact_point_list now, last; /* points of this tick, and of the last tick */
    int room;                            /* capacity for points, in each list */
    int dropped_point_count; /* number of points dropped beyond the capacity in this tick */
    /* a stamp for each vertex of the largest mesh, so that each vertex is listed once */
    uint32_t *stamps_of_listed_vertices;
    uint32_t current_vertex_stamp;
};

/* Allocates. -ENOMEM. */
int tact_points_create(struct contact_point_store *store, int room, int pairs, size_t vertices);
void tact_points_destroy(struct contact_point_store *store);

/* Clears the kept points of a contact number that is assigned to another pair. */
void tact_points_clear_pair(struct contact_point_store *store, int pair);

/* Begins a tick: keeps the last tick's points for the warm start. */
void tact_points_begin_tick(struct contact_point_store *store);

/* Lists the contact points of a touching pair, without impulses. */
void tact_points_list_pair_points(struct contact_point_store *store, int pair,
                                  const struct tact_shape *a, const struct tact_pose *pa,
                                  const struct tact_shape *b, const struct tact_pose *pb,
                                  const struct tact_patch *patch);

/* Adds a contact point given in the world to the pair's patch. */
void tact_points_add_contact_point(struct contact_point_store *store, int pair, const double *place,
                                   const uint64_t key[2]);

/* Adds the vertices of the overlap of two meshes, or of a mesh and the half-space at pb (b NULL):
 * those of each mesh inside the other, and where an edge of one crosses the other's surface. */
void tact_points_add_overlap_vertices(struct contact_point_store *store, int pair,
                                      const struct tact_mesh *a, const struct tact_pose *pa,
                                      const struct tact_mesh *b, const struct tact_pose *pb);

/* Copies the impulses of the last tick's points to the same points of this tick
 * (had_pair_contact_in_last_tick: 1 where the last tick had a contact); their wrench in impulse[6].
 */
void tact_points_copy_last_impulses(struct contact_point_store *store, int pair,
                                    int had_pair_contact_in_last_tick, double impulse[6]);

/* Computes what the solver needs from the pair's Schur block S. */
void tact_points_prepare_pair(struct contact_point_store *store, int pair,
                              const struct tact_local_problem *in);

/* Sums over the points of one solver pass. */
struct contact_point_solver_pass {
    /* squares of the sizes of the impulses, and of their changes in the pass */
    double size, change;
    double residual; /* natural-map residual before the pass, as tact_local_residual() */
    int limits;      /* bits of enum tact_limit: OPEN, or CONE where every loaded point slips */
};

/* Solves the points of a pair by one pass of projected Gauss-Seidel. problem: b is the velocity
 * without this pair; r: the pair's impulse, updated. */
void tact_points_solve_pair(struct contact_point_store *store, int pair,
                            const struct tact_local_problem *problem, double r[6],
                            struct contact_point_solver_pass *pass);

#endif
