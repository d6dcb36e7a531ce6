/* The tick of a world whose moments are measured on the host, for programs without a session. */
#include <stddef.h>
#include "contact/world/world.h"

int tact_world_measure_near(struct tact_world *world, struct tact_moments_scratch *scratch)
{
    int count;
    tact_world_begin(world);
    const int *near = tact_world_near(world, &count);
    for (int k = 0; k < count; k++) {
        struct tact_moments moments;
        const int pair = near[k];
        const int is_pair_close = tact_world_is_close(world, pair);
        const int rc = is_pair_close ? tact_world_measure(world, pair, scratch, &moments) : 0;
        if (rc < 0) {
            return rc;
        }
        tact_world_set_moments(world, pair, rc ? &moments : NULL);
    }
    return 0;
}

int tact_world_step(struct tact_world *world, struct tact_moments_scratch *scratch,
                    struct tact_solve_stats *stats)
{
    int rc = tact_world_measure_near(world, scratch);
    if (rc) {
        return rc;
    }
    rc = tact_world_solve(world, stats);
    stats->counts[TACT_COUNT_OVERSHOT] += tact_world_integrate(world);
    return rc;
}
