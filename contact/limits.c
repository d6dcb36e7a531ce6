#include "contact/limits.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

double tact_margin(double needed, double limit)
{
    double larger_of_needed_and_limit = fmax(needed, limit);
    if (!(larger_of_needed_and_limit > 0.0)) {
        return 1.0;
    }
    return isinf(larger_of_needed_and_limit) ? (needed < limit ? 1.0 : -1.0)
                                             : (limit - needed) / larger_of_needed_and_limit;
}

const char *tact_limit_name(int i)
{
    static const char *const names[TACT_LIMIT_COUNT] = {"open", "friction", "edge",
                                                        "spin", "joint",    "rolling"};
    return i >= 0 && i < TACT_LIMIT_COUNT ? names[i] : NULL;
}

const char *tact_margin_name(int i)
{
    static const char *const names[TACT_MARGIN_COUNT] = {"normal", "slip", "friction",
                                                         "spin",   "edge", "joint"};
    return i >= 0 && i < TACT_MARGIN_COUNT ? names[i] : NULL;
}

int tact_friction_mode_from_limits(int limits, double spin_arm)
{
    if (limits & TACT_LIMIT_OPEN) {
        return -1;
    }
    if (limits & TACT_LIMIT_CONE) {
        return TACT_FRICTION_SLIDING;
    }
    return limits & TACT_LIMIT_SPIN || !(spin_arm > 0.0) ? TACT_FRICTION_ROLLING
                                                         : TACT_FRICTION_NO_SPIN;
}

const char *tact_friction_mode_name(int mode)
{
    static const char *const names[TACT_FRICTION_MODES] = {"sliding", "rolling", "without spin"};
    return mode >= 0 && mode < TACT_FRICTION_MODES ? names[mode] : NULL;
}

void tact_limit_tally_add(struct tact_limit_tally *tally, int limits, double spin_arm,
                          const struct tact_margins *margins)
{
    double now[TACT_MARGIN_COUNT];
    memcpy(now, margins, sizeof now);
    for (int i = 0; i < TACT_MARGIN_COUNT; i++) {
        int is_smallest_margin_of_kind = !tally->touching || now[i] < tally->least[i];
        tally->least[i] = is_smallest_margin_of_kind ? now[i] : tally->least[i];
    }
    for (int i = 0; i < TACT_LIMIT_COUNT; i++) {
        tally->at[i] += limits >> i & 1;
    }
    const int mode = tact_friction_mode_from_limits(limits, spin_arm);
    if (mode >= 0) {
        /* without friction no limit is active, and the margin of its force is -1 */
        tally->modes[margins->friction > -1.0 ? mode : TACT_FRICTION_SLIDING]++;
    }
    tally->touching++;
}
