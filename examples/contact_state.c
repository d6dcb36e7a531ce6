#include "contact_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether a limit is 0, as that of the torsion of a point, and more would be needed. */
static int is_limit_zero_but_needed(double margin)
{
    return margin <= -1.0;
}

/* Share of a limit that is used, in whole per cent: 100 only at the limit. */
static int percent_of_limit_used(double margin)
{
    return margin > 0.0 ? (int)fmin(floor(100.0 * fmax(1.0 - margin, 0.0) + 0.5), 99.0) : 100;
}

static void append_phrase(char *out, const char *phrase)
{
    const size_t used = strlen(out);
    snprintf(out + used, CONTACT_STATE_TEXT_BYTES - used, "%s%s", used ? ", " : "", phrase);
}

char *describe_contact_state(int limits, double normal, const struct tact_margins *margins,
                             char *out)
{
    const int slips = limits & TACT_LIMIT_CONE, spins = limits & TACT_LIMIT_SPIN;
    out[0] = '\0';
    if (!(normal > 0.0)) {
        append_phrase(out, "opens");
        return out;
    }
    if (slips || spins) {
        append_phrase(out, slips && spins ? "slips and spins"
                           : slips        ? "slips: friction 100 %"
                                          : "slips: torsion 100 %");
    }
    if (limits & TACT_LIMIT_EDGE) {
        append_phrase(out, "tips about its edge");
    }
    if (limits & TACT_LIMIT_JOINT) {
        append_phrase(out, "drive at its limit");
    }
    if (!out[0] && is_limit_zero_but_needed(margins->friction)) {
        append_phrase(out, "slides without friction");
    } else if (!out[0]) {
        const int has_no_torsion_limit = is_limit_zero_but_needed(margins->slip);
        snprintf(out, CONTACT_STATE_TEXT_BYTES, "sticks, %d %% of %s used",
                 percent_of_limit_used(has_no_torsion_limit ? margins->friction : margins->slip),
                 has_no_torsion_limit ? "friction" : "friction and torsion");
    }
    return out;
}
