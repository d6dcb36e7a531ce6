/* Crossings of parallel rays with surfaces; not installed. */
#ifndef TACT_CONTACT_RAYS_INTERNAL_H
#define TACT_CONTACT_RAYS_INTERNAL_H

#include "moments_rays.h"

/* Parallel rays along one axis of the world: a lattice of side x side rays. */
struct tact_rays_lattice {
    int axis, u, v; /* axis along the rays, and the two across, in cyclic order */
    int rays_per_side;
    /* lower corner of the lattice and size of a cell, by world axis [m] */
    double lower[3], step[3];
};

/* One crossing of a ray with a body's surface. */
struct tact_rays_hit {
    double depth; /* coordinate of the crossing along the ray [m] */
    uint32_t cell;
    int8_t sign_of_surface_entry; /* +1: the ray enters the body, -1: it leaves it */
    uint8_t body;
};

struct tact_rays_hit_list {
    size_t count, capacity;
    struct tact_rays_hit *hit;
    int has_memory_run_out; /* memory ran out */
};

/* Coordinate of the middle of a cell across the rays, along u or v. The middles are displaced by a
 * small irrational fraction, away from the corners of models with round numbers. */
static inline double tact_rays_cell_middle(const struct tact_rays_lattice *l, int axis, int i)
{
    return l->lower[axis] + (i + 0.5 + (axis == l->u ? 0.0001370 : -0.0002113)) * l->step[axis];
}

/* Appends all crossings of the lattice's rays with a body's surface. */
void tact_rays_add_hits_of_body(const struct tact_rays_lattice *l,
                                const struct tact_rays_body *body, uint8_t body_index_in_pair,
                                struct tact_rays_hit_list *hits);

/* Sorts the crossings by cell and depth. */
void tact_rays_sort_hits(struct tact_rays_hit_list *hits);

#endif
