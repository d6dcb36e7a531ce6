#include "contact/pair/field/field_cuts_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/field/field_model_internal.h"

int tact_field_cuts_create(size_t capacity, struct tact_field_cuts **out)
{
    struct tact_field_cuts *cuts = calloc(1, sizeof *cuts);
    *out = cuts;
    if (cuts) {
        cuts->capacity = capacity;
        cuts->candidate = calloc(capacity, sizeof *cuts->candidate);
        cuts->hash_slot = calloc(tact_field_hash_slot_count(capacity), sizeof *cuts->hash_slot);
    }
    if (!cuts || !cuts->candidate || !cuts->hash_slot) {
        tact_field_cuts_destroy(cuts);
        *out = NULL;
        return -ENOMEM;
    }
    return 0;
}

void tact_field_cuts_destroy(struct tact_field_cuts *cuts)
{
    if (cuts) {
        free(cuts->candidate);
        free(cuts->hash_slot);
        free(cuts);
    }
}

void tact_field_cuts_place(struct tact_field_cuts *cuts, const struct tact_pair_query *q,
                           const struct tact_pose *poses)
{
    const struct tact_pressure_field *a = ((const struct field_shape_data *)q->data_a)->field,
                                     *b = ((const struct field_shape_data *)q->data_b)->field;
    const struct field_pair before = cuts->pair;
    cuts->result = NULL;
    if (tact_field_must_swap_bodies(a, b)) {
        tact_field_set_pair_poses(&cuts->pair, b, &poses[1], a, &poses[0]);
    } else {
        tact_field_set_pair_poses(&cuts->pair, a, &poses[0], b, &poses[1]);
    }
    if (cuts->pair.a != before.a || cuts->pair.b != before.b) {
        cuts->count = 0;
    }
}

/* Index in the hash table of a pair of cells, or of the free slot where it would be. */
static size_t find_hash_slot(const struct tact_field_cuts *cuts, struct field_cell_pair cells)
{
    size_t i = tact_field_hash_slot_of_cell_pair(cells.a, cells.b, cuts->hash_slot_count);
    for (; cuts->hash_slot[i]; i = (i + 1) & (cuts->hash_slot_count - 1)) {
        const struct field_cell_pair *p = &cuts->candidate[cuts->hash_slot[i] - 1];
        if (p->a == cells.a && p->b == cells.b) {
            break;
        }
    }
    return i;
}

void tact_field_cuts_set(struct tact_field_cuts *cuts, const int32_t *result,
                         const struct field_cut *cut, size_t cut_count)
{
    cuts->hash_slot_count = tact_field_hash_slot_count(cuts->count);
    memset(cuts->hash_slot, 0, cuts->hash_slot_count * sizeof *cuts->hash_slot);
    for (size_t i = 0; i < cuts->count; i++) {
        cuts->hash_slot[find_hash_slot(cuts, cuts->candidate[i])] = (uint32_t)i + 1;
    }
    cuts->result = result;
    cuts->cut = cut;
    cuts->cut_count = cut_count;
}

int tact_field_cuts_apply(const struct tact_field_cuts *cuts, const struct field_pair *pair)
{
    return cuts->result && cuts->pair.a == pair->a && cuts->pair.b == pair->b &&
           !memcmp(cuts->pair.rotation, pair->rotation, sizeof pair->rotation) &&
           !memcmp(cuts->pair.shift, pair->shift, sizeof pair->shift);
}

/* Sets a polygon to what tact_field_cut_contact_polygon() and tact_field_integrate_polygon()
 * compute. */
static void set_polygon_from_stored_cut(const struct field_pair *pair, struct field_cell_pair cells,
                                        const struct field_cut *cut,
                                        struct contact_surface_polygon *p)
{
    const struct field_cell *cell = &pair->a->cells[cells.a];
    p->a = cells.a;
    p->b = cells.b;
    p->corners = cut->corners;
    p->are_both_soft = !pair->b->is_rigid;
    p->is_polygon_in_cell_face = cut->is_polygon_in_cell_face;
    memcpy(p->corner, cut->corner, (size_t)cut->corners * sizeof *cut->corner);
    memcpy(p->side, cut->side, (size_t)cut->corners * sizeof *cut->side);
    tact_v3_copy(p->normal, cut->normal);
    tact_v3_copy(p->gradient_a, cell->gradient);
    tact_v3_copy(p->gradient_b, cut->gradient_b);
    p->sphere = NULL;
    p->power = pair->a->power;
    p->value_at_origin = cell->value_at_origin;
    p->pressure_gradient_difference = cut->pressure_gradient_difference;
    p->level = cut->level;
    p->area_moments = cut->area_moments;
    p->load = cut->load;
    tact_v3_copy(p->lever, cut->lever);
    if (p->power != 1.0) {
        tact_field_integrate_pressure_law(p);
    }
}

/* 0 where numbers of a polygon are out of range, as a device that fails may leave them. */
static int is_stored_cut_in_range(const struct field_cut *cut)
{
    int is_valid = cut->corners >= 3 && cut->corners <= TACT_FIELD_MAX_POLYGON_CORNERS;
    for (int k = 0; is_valid && k < cut->corners; k++) {
        is_valid = cut->side[k] >= -1 && cut->side[k] < 8;
    }
    return is_valid;
}

int tact_field_cuts_find(const struct tact_field_cuts *cuts, struct field_cell_pair cells,
                         struct contact_surface_polygon *polygon)
{
    const uint32_t number = cuts->hash_slot[find_hash_slot(cuts, cells)];
    const int32_t result = number ? cuts->result[number - 1] : TACT_FIELD_NOT_CUT;
    if (result == 0 || result == -1) {
        return result;
    }
    if (result < 0 || (size_t)result > cuts->cut_count ||
        !is_stored_cut_in_range(&cuts->cut[result - 1])) {
        return TACT_FIELD_NOT_CUT;
    }
    set_polygon_from_stored_cut(&cuts->pair, cells, &cuts->cut[result - 1], polygon);
    return 1;
}
