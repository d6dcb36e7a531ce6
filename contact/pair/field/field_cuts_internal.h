/*
 * Results for pairs of cells of two fields that were computed before a query, by a device. A query
 * uses those that it needs and computes the others itself: with equal bits, its result is the same
 * whatever was computed before.
 */
#ifndef TACT_CONTACT_FIELD_CUTS_INTERNAL_H
#define TACT_CONTACT_FIELD_CUTS_INTERNAL_H

#include "contact/pair/field/field_search_internal.h"
#include "contact/pair/model.h"

#define TACT_FIELD_NOT_CUT INT32_MIN /* result of a pair of cells that was not computed */

struct tact_field_cuts {
    struct field_pair pair; /* fields and pose for which results are to be computed */
    /* the pairs of cells that the last query of the two fields tested, each once */
    struct field_cell_pair *candidate;
    size_t count, capacity;
    uint32_t *hash_slot;    /* hash table: numbers from 1 of candidates, 0: free */
    size_t hash_slot_count; /* slots in use */
    /* Of each candidate: number of its polygon among `cut`, from 1; else as
     * tact_field_cut_contact_polygon(), or TACT_FIELD_NOT_CUT. NULL: nothing was computed. */
    const int32_t *result;
    const struct field_cut *cut;
    size_t cut_count;
    size_t found; /* number of polygons of the last query that were computed before it */
};

/* 0 or -ENOMEM. */
int tact_field_cuts_create(size_t capacity, struct tact_field_cuts **out);
void tact_field_cuts_destroy(struct tact_field_cuts *cuts);

/* Prepares the results of a query at poses [2]: removes earlier ones and sets the relative pose of
 * its fields. Candidates remain where the fields are the same. Real-time safe, as those below. */
void tact_field_cuts_place(struct tact_field_cuts *cuts, const struct tact_pair_query *q,
                           const struct tact_pose *poses);

/* Sets the results for the candidates. */
void tact_field_cuts_set(struct tact_field_cuts *cuts, const int32_t *result,
                         const struct field_cut *cut, size_t cut_count);

/* Result of a pair of cells, as tact_field_cut_contact_polygon(), with the integrals of the
 * polygon; or TACT_FIELD_NOT_CUT, also where the result cannot be one of
 * tact_field_cut_contact_polygon(). */
int tact_field_cuts_find(const struct tact_field_cuts *cuts, struct field_cell_pair cells,
                         struct contact_surface_polygon *polygon);

/* Whether results are there for the pose of a pair. */
int tact_field_cuts_apply(const struct tact_field_cuts *cuts, const struct field_pair *pair);

/* Sets the results that the next queries with a scratch may use; NULL: none. */
void tact_field_scratch_use_cuts(struct tact_field_scratch *scratch, struct tact_field_cuts *cuts);

/* Makes the pairs of cells that the last query tested the candidates of the next. */
void tact_field_scratch_copy_candidates(const struct tact_field_scratch *scratch,
                                        struct tact_field_cuts *cuts);

#endif
