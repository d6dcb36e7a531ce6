/* Pairs that are solved as several pieces: the contacts of the pieces, and their sums. */
#include <string.h>
#include "contact/world/world_internal.h"

#define SAME_PIECE_MIN_COSINE                                                                      \
    0.9 /* smallest cosine between the normals of successive ticks of patches that count as the    \
           same piece */

int tact_pieces_pair_was_split(const struct tact_world *world, const struct tact_contact *c)
{
    return c->first_piece && tact_v3_norm(world->contacts[c->first_piece].patch.frame) > 0.0;
}

void tact_pieces_clear_pieces_of_pair(struct tact_world *world, struct tact_contact *c)
{
    c->split = 0;
    for (int k = 0; k < TACT_PIECES && c->first_piece; k++) {
        struct tact_contact *piece = &world->contacts[c->first_piece + k];
        memset(piece, 0, sizeof *piece);
        piece->a = c->a;
        piece->b = c->b;
    }
}

/* Copies warm start and spring state from the piece of the last tick with the same normal. */
static void copy_warm_start_of_last_tick_piece(struct tact_contact *piece,
                                               struct tact_contact *last)
{
    int piece_with_closest_normal = -1;
    double most = SAME_PIECE_MIN_COSINE;
    for (int k = 0; k < TACT_PIECES; k++) {
        double alike = tact_v3_dot(last[k].patch.frame, piece->patch.frame);
        if (alike > most) {
            most = alike;
            piece_with_closest_normal = k;
        }
    }
    if (piece_with_closest_normal >= 0) {
        memcpy(piece->warm, last[piece_with_closest_normal].warm, sizeof piece->warm);
        tact_v3_copy(piece->warm_point, last[piece_with_closest_normal].warm_point);
        piece->springs = last[piece_with_closest_normal].springs;
        memset(last[piece_with_closest_normal].patch.frame, 0,
               sizeof last[piece_with_closest_normal].patch.frame);
    }
}

/* Lists the contacts that a pair was solved as in the last tick: its pieces, or the whole pair. */
static void list_contacts_of_pair_in_last_tick(const struct tact_world *world, int slot,
                                               int was_pair_split_last_tick,
                                               struct tact_contact last[TACT_PIECES])
{
    const struct tact_contact *c = &world->contacts[slot];
    memcpy(last, world->contacts + c->first_piece, sizeof *last * TACT_PIECES);
    if (!was_pair_split_last_tick) {
        last[0] = *c;
        tact_v3_copy(last[0].patch.frame, world->near.pairs[slot].direction);
    }
}

void tact_pieces_create_contacts(struct tact_world *world, int slot,
                                 const struct tact_pair_piece *pieces, int count)
{
    struct tact_contact *c = &world->contacts[slot], last[TACT_PIECES];
    if (!c->first_piece) {
        return;
    }
    int was_pair_split_last_tick = tact_pieces_pair_was_split(world, c);
    if (!count && !was_pair_split_last_tick) {
        return;
    }
    list_contacts_of_pair_in_last_tick(world, slot, was_pair_split_last_tick, last);
    tact_pieces_clear_pieces_of_pair(world, c);
    if (!count) {
        copy_warm_start_of_last_tick_piece(c, last);
    }
    for (int i = 0; i < count; i++) {
        struct tact_contact *piece = &world->contacts[c->first_piece + i];
        piece->patch = pieces[i].patch;
        piece->moments = pieces[i].moments;
        piece->touching = 1;
        copy_warm_start_of_last_tick_piece(piece, last);
    }
    c->split = count;
}

/* Adds the wrench of a piece to the wrench on A about the centre of the whole patch. */
static void add_piece_wrench_to_contact(const struct tact_contact *piece, struct tact_contact *c)
{
    double arm[3], torque[3];
    tact_v3_sub(arm, piece->patch.center, c->patch.center);
    tact_v3_cross(torque, arm, piece->wrench);
    for (int i = 0; i < 3; i++) {
        c->wrench[i] += piece->wrench[i];
        c->wrench[3 + i] += piece->wrench[3 + i] + torque[i];
    }
    c->limits |= piece->limits & ~TACT_LIMIT_OPEN;
}

static void reduce_limit_margins_to_those_of_piece(const struct tact_margins *piece,
                                                   struct tact_margins *all)
{
    all->normal = tact_min(all->normal, piece->normal);
    all->slip = tact_min(all->slip, piece->slip);
    all->friction = tact_min(all->friction, piece->friction);
    all->spin = tact_min(all->spin, piece->spin);
    all->edge = tact_min(all->edge, piece->edge);
    all->joint = tact_min(all->joint, piece->joint);
}

static void sum_pieces_into_contact(struct tact_world *world, struct tact_contact *c)
{
    int open = TACT_LIMIT_OPEN;
    memset(c->wrench, 0, sizeof c->wrench);
    memset(c->warm, 0, sizeof c->warm);
    memset(&c->springs, 0, sizeof c->springs);
    c->limits = 0;
    for (int k = 0; k < c->split; k++) {
        const struct tact_contact *piece = &world->contacts[c->first_piece + k];
        add_piece_wrench_to_contact(piece, c);
        open &= piece->limits;
        c->stuck |= piece->stuck;
        if (k) {
            reduce_limit_margins_to_those_of_piece(&piece->margins, &c->margins);
        } else {
            c->margins = piece->margins;
        }
    }
    c->limits |= open; /* the whole contact is open where all its pieces are */
    tact_m3_mul_v3(c->impulse, c->patch.frame, c->wrench);
    tact_m3_mul_v3(c->impulse + 3, c->patch.frame, c->wrench + 3);
    c->spin_arm = tact_patch_spin_arm(&c->patch, c->impulse[0]);
    for (int i = 0; i < 6; i++) {
        c->impulse[i] *= world->options.period;
    }
}

void tact_pieces_sum_results(struct tact_world *world)
{
    for (int i = 0; i < world->near.count; i++) {
        struct tact_contact *c = tact_contact_of_near_pair(world, i);
        if (c->touching && c->split) {
            sum_pieces_into_contact(world, c);
        }
    }
}
