/* Random numbers from a seed for the tests: the same on every machine. TACT_SEED selects another
 * stream. */
#ifndef TACT_TESTS_RANDOM_H
#define TACT_TESTS_RANDOM_H

#include <stdint.h>
#include "contact/vec.h"
#include "campaign.h"

static uint64_t random_state; /* state of the random generator; 0: not yet seeded */

/* Marsaglia's xorshift64. */
static inline uint64_t random_bits(void)
{
    if (!random_state) {
        random_state = 88172645463325252u ^ campaign_seed_offset();
    }
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static inline double uniform(double low, double high)
{
    return low + (high - low) * ((double)(random_bits() >> 11) * 0x1p-53);
}

static inline void random_unit_quaternion(double *quat_wxyz)
{
    for (int k = 0; k < 4; k++) {
        quat_wxyz[k] = uniform(-1.0, 1.0);
    }
    tact_quat_normalize(quat_wxyz);
}

/* A random rotation and a position with each coordinate at most `reach`. */
static inline struct tact_pose random_pose(double reach)
{
    struct tact_pose p;
    for (int k = 0; k < 3; k++) {
        p.position[k] = uniform(-reach, reach);
    }
    random_unit_quaternion(p.quat_wxyz);
    return p;
}

#endif
