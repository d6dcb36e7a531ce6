/*
 * Ends of a line of wave variables (Niemeyer and Slotine 1991) of impedance b, for one coordinate:
 *
 *     b v + F = sqrt(2 b) u_in,    u_out = (b v - F) / sqrt(2 b)
 *
 * F is the force of the line on what it is tied to [N, N m], v the rate of the line's end
 * [m/s, rad/s], u a wave [sqrt(W)]; the line gives the power F v = (u_in^2 - u_out^2) / 2.
 * Where a person holds the end, v is that of the device. A machine is tied to it by a spring and a
 * damper, F = K (x_d - x) + D (v + c - v_x), solved together with the wave.
 *
 * The correction c moves the end toward the other site's position, which waves lose:
 * c = clip(L (x_other - x_d), 0.05 m/s), L = min(2/s, 0.5 / round trip). It is not passive; a tank
 * of energy, which the damper fills, bounds what it gives. All functions are pure and real-time
 * safe.
 */
#ifndef TACT_DEVICES_NETWORK_WAVE_END_INTERNAL_H
#define TACT_DEVICES_NETWORK_WAVE_END_INTERNAL_H

struct tact_wave_coupling {
    double impedance;  /* b, the same at both sites [N s/m, N m s/rad], > 0 */
    double stiffness;  /* K [N/m, N m/rad] */
    double damping;    /* D, of the relative rate [N s/m, N m s/rad] */
    double period;     /* [s] */
    double round_trip; /* with both playouts [s]; negative: no correction of the position */
    double tank;       /* most energy in the tank [J] */
};

struct tact_wave_end {
    double position;  /* x_d [m, rad] */
    double tank;      /* [J] */
    double corrected; /* work that corrections have done on the machine [J] */
    double rate;      /* v of the last tick [m/s, rad/s] */
    double force;     /* F of the last tick [N, N m] */
    unsigned limited; /* ticks without correction, as the tank was empty; stops at its maximum */
};

/* End that a person holds: force on the person for a wave that arrived, and the wave that leaves.
 */
double tact_wave_reflect(double impedance, double wave, double rate, double *wave_out);

/* Rate of the correction, before the tank is asked [m/s, rad/s]. */
double tact_wave_correction(const struct tact_wave_coupling *coupling, double error);

/*
 * End that a machine is tied to. `other` is the other site's position as of the wave, or NaN where
 * none is known: no correction. Moves the end by one period.
 * Returns 0, or -EDOM: wave, x or rate is not finite; the end is unchanged, and the caller faults.
 */
int tact_wave_couple(struct tact_wave_end *end, const struct tact_wave_coupling *coupling,
                     double wave, double other, double x, double rate, double *wave_out);

/*
 * Whether an end takes part. A line that was lost stays disengaged until the deadman was released
 * and held again; the force on a person then grows from none in 0.2 s, as it fades when the line
 * is lost. All zero is its start.
 */
struct tact_wave_engagement {
    double share;  /* of the force on a person, 0 to 1 */
    int was_there; /* 1: the line was there before */
    int latched;   /* 1: it was lost since the deadman was released */
};

/* held: the deadman; there: packets arrive; lost: none for 500 ms. Once in each tick; returns 1
 * while waves are used and sent. */
int tact_wave_engage(struct tact_wave_engagement *engagement, int held, int there, int lost,
                     double period);

#endif
