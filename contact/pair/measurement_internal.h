/*
 * A contact as a model measured it at given poses, for models whose contacts depend on nothing but
 * the poses of the two shapes and constants of the world: another thread can measure such a
 * contact, and it can be measured again later.
 */
#ifndef TACT_CONTACT_PAIR_MEASUREMENT_INTERNAL_H
#define TACT_CONTACT_PAIR_MEASUREMENT_INTERNAL_H

#include "contact/counts.h"
#include "contact/pair/model.h"

struct pair_measurement {
    struct tact_pose pose[2]; /* poses of the two shapes at which it was measured */
    int result;               /* result of the model's measure(): pieces, or why there are none */
    int counts[TACT_SOLVE_COUNTS]; /* counts of the measurement */
    struct tact_patch patch;
    struct tact_pair_piece piece[TACT_PIECES];
};

#endif
