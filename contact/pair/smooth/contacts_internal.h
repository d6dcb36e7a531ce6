/* Finds all local minima of the distance of two smooth surfaces. */
#ifndef TACT_CONTACT_CONTACTS_INTERNAL_H
#define TACT_CONTACT_CONTACTS_INTERNAL_H

#include "contact/limits.h"
#include "contact/pair/smooth/closest_internal.h"

/* Largest number of contacts that two smooth shapes can have; 0 where the search does not support
 * them. */
int tact_smooth_max_contacts(const struct tact_shape *a, const struct tact_shape *b);

/* Finds the local minima of the distance of two shapes, from any poses, in an order that depends on
 * the poses only; for a torus those with a gap of at most `near` [m] or a quarter of its radius. Of
 * more than TACT_PIECES, those with the smallest gaps. *search_failed: 1 where a contact with a gap
 * of at most `near` was not found. Returns their number, which may be greater; -EDOM where a pair
 * with one contact has none. */
int tact_smooth_find_contacts(const struct smooth_pair *pair, double near,
                              struct smooth_contact contact[TACT_PIECES], int *search_failed);

/* Number of samples on the ring of a torus: 6 degrees apart. */
enum { SMOOTH_RING_SAMPLES = 64 };

/* The ring of a torus, with its pose relative to the other shape of the pair, and the gaps of its
 * tube from that shape, where that is an ellipsoid to the first order of the distance. */
struct smooth_ring {
    const struct smooth_pair *pair;
    int index_of_torus_in_pair; /* index of the torus in the pair, 0 or 1 */
    double center[3];           /* center of the torus' ring, in the other shape's frame [m] */
    double torus_ring_radius_vectors[2][3]; /* radius vectors of the ring along the torus' x and y
                           axes, in the other shape's frame [m] */
    double back[9]; /* rotation from the other shape's frame to that of the torus */
    double direction[SMOOTH_RING_SAMPLES][2]; /* cosines and sines of the samples' angles */
    double gap[SMOOTH_RING_SAMPLES];          /* gaps of the tube at the samples [m] */
};

/* Samples the ring of A (k = 0) or B (k = 1). 1; 0 where that is no torus, the other shape is a
 * half-space, or either has charts. `pair` must outlive the ring. */
int tact_smooth_sample_ring(const struct smooth_pair *pair, int k, struct smooth_ring *ring);

/* tact_smooth_find_contacts() from a ring that is sampled. */
int tact_smooth_find_ring_contacts(const struct smooth_ring *ring, double near,
                                   struct smooth_contact contact[TACT_PIECES], int *search_failed);

/* The contact of the other surface with a ball of the tube's radius at sample i of the ring, which
 * is inside the torus; its gap need not be a local minimum along the ring. 0 or -EDOM. */
int tact_smooth_contact_of_sample(const struct smooth_ring *ring, int i, struct smooth_contact *c);

/* Cosine of the smallest angle along the ring between sample i and contacts; -1 without any. */
double tact_smooth_cosine_to_nearest_contact(const struct smooth_ring *ring, int i,
                                             const struct smooth_contact *contact, int count);

/* Adds a contact to a list, unless one of the listed contacts is within same_contact_distance [m];
 * beyond TACT_PIECES the farthest is dropped. Returns the number listed. */
int tact_smooth_add_contact(struct smooth_contact *all, int contact_count,
                            const struct smooth_contact *c, double same_contact_distance);

/* Index in the pair of the half-space on which a torus lies so flat that it touches along its whole
 * ring, else -1. */
int tact_smooth_index_of_flat_halfspace(const struct smooth_pair *pair);

#endif
