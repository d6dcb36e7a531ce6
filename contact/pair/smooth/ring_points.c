#include "contact/pair/smooth/ring_points_internal.h"

#include "contact/elementary.h"
#include "contact/pair/smooth/touching_internal.h"

/* Cosine of the angle along a torus's ring from its contacts, 1 rad, beyond which parts of the ring
 * that touch too are contacts of their own. */
#define MAX_RING_POINT_COSINE 0.54030230586813977
/* Largest error of the gaps at the samples of a ring, relative to the tube's radius. */
#define MAX_SAMPLE_GAP_ERROR_RATIO 0.1

/* Finds the point along a ring that may touch in this tick and is farthest from all contacts, by
 * more than 1 rad; without a contact the one with the smallest gap. Returns whether there is one.
 */
static int find_point_along_ring(const struct tact_pair_query *q, const struct smooth_ring *ring,
                                 double near, const struct smooth_contact *contact, int count,
                                 struct smooth_contact *out)
{
    const double tube = ring->pair->shape[ring->index_of_torus_in_pair]->size[1];
    double least = count > 0 ? MAX_RING_POINT_COSINE : INFINITY, k[2];
    int is_ring_point_found = 0;
    for (int i = 0; i < SMOOTH_RING_SAMPLES; i++) {
        struct smooth_contact c;
        const double value = count > 0
                                 ? tact_smooth_cosine_to_nearest_contact(ring, i, contact, count)
                                 : ring->gap[i];
        if (ring->gap[i] <= near + MAX_SAMPLE_GAP_ERROR_RATIO * tube && value < least &&
            !tact_smooth_contact_of_sample(ring, i, &c) &&
            tact_smooth_may_contact_touch(q, &c, k)) {
            least = value;
            *out = c;
            is_ring_point_found = 1;
        }
    }
    return is_ring_point_found;
}

/* 1 where the middle line of a tube is inside the other shape at a sample: its gap has the normal
 * of another side there. */
static int is_ring_inside_other_shape(const struct smooth_ring *ring)
{
    const double tube = ring->pair->shape[ring->index_of_torus_in_pair]->size[1];
    for (int i = 0; i < SMOOTH_RING_SAMPLES; i++) {
        if (!(ring->gap[i] > -tube)) {
            return 1;
        }
    }
    return 0;
}

/*
 * Adds points along a ring to the contacts. Only along the circles about its axis is a torus
 * hollow: a body that nearly conforms to it touches along its ring, where the closest points are
 * undetermined. Points far from them keep it from overlapping there in the same tick. Returns the
 * number of contacts.
 */
static int add_points_along_ring(const struct tact_pair_query *q, const struct smooth_ring *ring,
                                 double near, struct smooth_contact contact[TACT_PIECES], int count)
{
    struct smooth_contact c;
    while (count < TACT_PIECES && find_point_along_ring(q, ring, near, contact, count, &c)) {
        contact[count++] = c;
    }
    return count;
}

/* Keeps only the deepest of TACT_PIECES contacts where all may touch and there are more, as along a
 * ring. Returns the number of contacts. */
static int reduce_to_deepest_contact(const struct tact_pair_query *q,
                                     struct smooth_contact contact[TACT_PIECES])
{
    int deepest = 0;
    double k[2];
    for (int i = 0; i < TACT_PIECES; i++) {
        if (!tact_smooth_may_contact_touch(q, &contact[i], k)) {
            return TACT_PIECES;
        }
        deepest = contact[i].gap < contact[deepest].gap ? i : deepest;
    }
    contact[0] = contact[deepest];
    return 1;
}

int tact_smooth_find_torus_contacts(const struct tact_pair_query *q, const struct smooth_pair *pair,
                                    double near, struct smooth_contact contact[TACT_PIECES],
                                    int *ring_point_count, int *search_failed)
{
    const int first = pair->shape[0]->kind == TACT_SHAPE_TORUS ? 0 : 1;
    struct smooth_ring ring;
    tact_smooth_sample_ring(pair, first, &ring);
    int found = tact_smooth_find_ring_contacts(&ring, near, contact, search_failed);
    if (found > TACT_PIECES) {
        found = reduce_to_deepest_contact(q, contact);
    }
    const int is_tube_inside_other_shape = is_ring_inside_other_shape(&ring);
    int count =
        is_tube_inside_other_shape ? found : add_points_along_ring(q, &ring, near, contact, found);
    if (first == 0 && tact_smooth_sample_ring(pair, 1, &ring) &&
        !is_ring_inside_other_shape(&ring)) {
        count = add_points_along_ring(q, &ring, near, contact, count);
    }
    *ring_point_count = count - found;
    /* where the closest points are undetermined along a ring, its samples have the gap */
    *search_failed &= is_tube_inside_other_shape;
    return count;
}
