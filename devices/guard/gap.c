/* What a haptic device is sent after a gap in the forces that it was sent. */
#include <math.h>
#include <string.h>
#include "devices/guard/serve_internal.h"

enum { PART = 3 }; /* components of a force, or of a torque */

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The part of `from` that stays where `wanted` is sent in its place: what falls falls at once, and
 * a force the other way, or across, begins at 0. */
static void find_kept(double *kept, const double *from, const double *wanted)
{
    const double squared = dot(from, from), along = dot(wanted, from);
    const double share = squared > 0.0 ? fmax(0.0, fmin(1.0, along / squared)) : 0.0;
    for (int i = 0; i < PART; i++) {
        kept[i] = share * from[i];
    }
}

static double find_rise(double *kept, const double *from, const double *wanted)
{
    double rise[PART];
    find_kept(kept, from, wanted);
    for (int i = 0; i < PART; i++) {
        rise[i] = wanted[i] - kept[i];
    }
    return sqrt(dot(rise, rise));
}

/* One part, force or torque: rises from the one sent last by at most what the way allows within
 * step_ns. Returns false once it is the wanted one. */
static bool approach(struct tact_guard_gap *gap, int part, const double *wanted, int64_t step_ns)
{
    double *sent = gap->sent + PART * part, kept[PART];
    const double way = find_rise(kept, gap->before + PART * part, wanted);
    gap->rate[part] = fmax(gap->rate[part], way / (double)gap->length_ns[part]);
    const double rise = find_rise(kept, sent, wanted);
    const double most = (1.0 + 1e-9) * gap->rate[part] * (double)step_ns; /* but for rounding */
    if (!(rise > most)) {
        memcpy(sent, wanted, PART * sizeof *sent);
        return false;
    }
    for (int i = 0; i < PART; i++) {
        sent[i] = kept[i] + most / rise * (wanted[i] - kept[i]);
    }
    return true;
}

/* A gap begins a way as long as it was, or as what was left of the way that it interrupts. */
static void begin_way(struct tact_guard_gap *gap, int64_t now_ns)
{
    const int64_t length_ns = now_ns - gap->chosen_ns;
    memcpy(gap->before, gap->sent, sizeof gap->before);
    for (int part = 0; part < 2; part++) {
        const int64_t left_ns = gap->ended_ns + gap->length_ns[part] - gap->chosen_ns;
        gap->length_ns[part] = left_ns > length_ns ? left_ns : length_ns;
        gap->rate[part] = 0.0;
    }
    gap->ended_ns = now_ns;
    gap->last_ns = length_ns;
}

bool tact_guard_bridge_gap(struct tact_guard_gap *gap, const double wanted[TACT_HAPTIC_WRENCH],
                           int64_t now_ns, int64_t shortest_ns)
{
    const bool begins = gap->chosen_ns != 0 && now_ns - gap->chosen_ns > shortest_ns;
    const int64_t step_ns = begins ? shortest_ns : now_ns - gap->chosen_ns;
    bool is_reduced = false;
    if (begins) {
        begin_way(gap, now_ns);
    }
    for (int part = 0; part < 2; part++) {
        if (gap->length_ns[part] > 0 && approach(gap, part, wanted + PART * part, step_ns)) {
            is_reduced = true;
        } else {
            gap->length_ns[part] = 0;
            memcpy(gap->sent + PART * part, wanted + PART * part, PART * sizeof *wanted);
        }
    }
    gap->chosen_ns = now_ns;
    return begins && is_reduced;
}
