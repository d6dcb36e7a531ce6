/*
 * Waves of a line between two sites (Niemeyer and Slotine 1991) of impedance b, for one coordinate:
 *
 *     b v + F = sqrt(2 b) u_in,    u_out = (b v - F) / sqrt(2 b)
 *
 * F is the force of the line on what it is tied to [N, N m], v the rate of the line's end [m/s,
 * rad/s], u a wave [sqrt(W)]; the line gives the power F v = (u_in^2 - u_out^2) / 2. A person's
 * joint is the end of the line itself. A machine's is tied to it by a spring and a damper,
 * F = K (x_d - x) + D (v + c - v_x), solved together with the wave.
 *
 * The correction c moves the end toward the other site's position, which waves lose:
 * c = clip(L (x_other - x_d), 0.05 m/s), L = min(2/s, 0.5 / round trip). It is not passive; a tank
 * of energy, which the damper fills, bounds what it gives. All functions are pure and real-time
 * safe.
 */
#ifndef TACT_RT_WAVE_INTERNAL_H
#define TACT_RT_WAVE_INTERNAL_H

/* What ties a machine to the end of the line. */
struct tact_wave_tie {
    double impedance; /* b, the same at both sites [N s/m, N m s/rad], > 0 */
    double stiffness; /* K [N/m, N m/rad]; 0: a person's, the end of the line itself */
    double damping;   /* D, of the relative rate [N s/m, N m s/rad] */
    double period;    /* h [s] */
    double tank;      /* most energy in the tank [J] */
};

/* b / (b + h K + D): the share of K and D that acts on the machine, as the end of the line yields
 * within the tick. */
double tact_wave_share(const struct tact_wave_tie *tie);

/* Rate of the end where a wave arrives and the line exerts the force F. */
double tact_wave_rate(double impedance, double wave, double force);

/* The wave that leaves. */
double tact_wave_reflected(double impedance, double rate, double force);

/* c [m/s, rad/s]. round_trip: with both playouts [s], 0: not known, and c is 0; error:
 * x_other - x_d; force: F of the tick before. 0 where the tank does not hold what c would give. */
double tact_wave_correction(const struct tact_wave_tie *tie, double tank, double round_trip,
                            double error, double force);

/* Moves the end of a machine's line, x_d, and its tank [J] by one period, with rate and force of
 * this tick; machine_rate: v_x. */
void tact_wave_move_end(const struct tact_wave_tie *tie, double rate, double correction,
                        double force, double machine_rate, double *position, double *tank);

#endif
