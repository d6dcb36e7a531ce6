/* What a haptic device is sent after a gap in the forces that it was sent. */
#include <string.h>
#include "devices/guard/serve_internal.h"

enum { PART = 3 }; /* components of a force, or of a torque */

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* One part, force or torque, at the share of the way from the one before the gap. Returns false
 * once it is the wanted one. */
static bool approach(double *before, const double *wanted, double share, double *out)
{
    if (dot(wanted, before) < 0.0) { /* the other way: begins at 0 */
        memset(before, 0, PART * sizeof *before);
    }
    for (int i = 0; i < PART; i++) {
        out[i] = before[i] + share * (wanted[i] - before[i]);
    }
    const bool is_on_the_way = share < 1.0 && dot(wanted, wanted) > dot(out, out);
    if (!is_on_the_way) {
        memcpy(out, wanted, PART * sizeof *out);
    }
    return is_on_the_way;
}

/* A gap begins a way as long as it was, or as what was left of the way that it interrupts. */
static void begin_way(struct tact_guard_gap *gap, int64_t now_ns)
{
    const int64_t length_ns = now_ns - gap->chosen_ns;
    memcpy(gap->before, gap->sent, sizeof gap->before);
    for (int part = 0; part < 2; part++) {
        const int64_t left_ns = gap->ended_ns + gap->length_ns[part] - gap->chosen_ns;
        gap->length_ns[part] = left_ns > length_ns ? left_ns : length_ns;
    }
    gap->ended_ns = now_ns;
}

void tact_guard_bridge_gap(struct tact_guard_gap *gap, const double wanted[TACT_HAPTIC_WRENCH],
                           int64_t now_ns, int64_t shortest_ns)
{
    if (gap->chosen_ns != 0 && now_ns - gap->chosen_ns > shortest_ns) {
        begin_way(gap, now_ns);
    }
    const double passed = (double)(now_ns - gap->ended_ns + shortest_ns);
    for (int part = 0; part < 2; part++) {
        const int64_t length = gap->length_ns[part];
        const double share = length > 0 ? passed / (double)length : 1.0;
        if (!approach(gap->before + PART * part, wanted + PART * part, share,
                      gap->sent + PART * part)) {
            gap->length_ns[part] = 0;
        }
    }
    gap->chosen_ns = now_ns;
}
