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
 *
 *     c = clip(L (e + min(2, 8 d) e_F), 0.05 m/s),    e = x_other - x_d,    L = min(2/s, 0.25 / d)
 *
 * where the length of a vector of coordinates is clipped, and its direction kept; d: half of the
 * round trip; e_F: e clipped to 0 and F d / b, by which the line is stretched at rest. In a press
 * of stiffness k the error follows c with 1 / (1 + k d / b) only, and 8 b is about the softest. c
 * is not passive; a tank of energy, which is full where a tie engages and which the damper fills,
 * bounds what it gives; its last 2 % give less and less.
 *
 * In free motion the line is an open end, which moves at twice the other rate for a round trip. An
 * end that is ahead of the other position by more than |F| d / b, and moves on, takes down to half
 * of a wave, which ends the reflection (matched impedance) and only takes energy; from 80 ms on, as
 * below that a hand's motions are slower than the line. All functions are pure and real-time safe.
 */
#ifndef TACT_RT_WAVE_INTERNAL_H
#define TACT_RT_WAVE_INTERNAL_H

/* Waves of no energy [sqrt(W)]: one that did not arrive, or is passed on by a person's end where
 * none did; one of an end that is at rest; one of a machine's end that is kept where it is, as no
 * wave arrived there; one by which a person's end asks the machine's to stay where it is, until the
 * person feels its force again; and one of a machine's end that stays for that. */
#define TACT_WAVE_MISSING 0.0
#define TACT_WAVE_AT_REST 1e-100
#define TACT_WAVE_STOPPED 1e-90
#define TACT_WAVE_REQUEST_TO_WAIT 1e-80
#define TACT_WAVE_WAITING 1e-70

/* Impedance of the line, and the spring and damper that tie a machine's joint to the line's end. */
struct tact_wave_tie {
    double impedance; /* b, the same at both sites [N s/m, N m s/rad], > 0 */
    double stiffness; /* K [N/m, N m/rad]; 0: a person's, the end of the line itself */
    double damping;   /* D, of the relative rate [N s/m, N m s/rad] */
    double period;    /* h [s] */
    double tank;      /* most energy in the tank [J] */
};

/* b / (b + h K + D): the share of K and D that acts on the machine, as the end of the line yields
 * within the tick. */
double tact_wave_drive_gain_fraction(const struct tact_wave_tie *tie);

/* Rate of the line's end, from the incoming wave and the force F that the line exerts. */
double tact_wave_line_end_rate(double impedance, double wave, double force);

enum tact_wave_kind {
    TACT_WAVE_KIND_MISSING,
    TACT_WAVE_KIND_AT_REST,
    TACT_WAVE_KIND_STOPPED,
    TACT_WAVE_KIND_REQUEST_TO_WAIT,
    TACT_WAVE_KIND_WAITING,
    TACT_WAVE_KIND_WITH_ENERGY
};

/* Which of the reserved values above a wave is, or that it carries energy. */
enum tact_wave_kind tact_wave_kind(double wave);

/* 1: the wave carries energy; 0: it is one of the reserved values above, which leave an end at rest
 * exactly where it is. */
int tact_wave_has_energy(double wave);

/* Outgoing wave of an end that moves at `rate` while the line exerts `force` [sqrt(W)]. */
double tact_wave_outgoing(double impedance, double rate, double force);

/* L (e + min(2, 8 d) e_F), of which c is made [m/s, rad/s]. round_trip: with both playouts [s], 0:
 * not known, and this is 0; error: x_other - x_d; force: F of the tick before. */
double tact_wave_line_end_return_rate(const struct tact_wave_tie *tie, double round_trip,
                                      double error, double force);

/* c [m/s, rad/s], from that rate and its length, which of a single coordinate is its magnitude.
 * What the tank does not cover is left out. */
double tact_wave_position_correction(const struct tact_wave_tie *tie, double tank,
                                     double line_end_return_rate, double length, double force);

/* Incoming wave at a machine's end after the attenuation that ends reflections [sqrt(W)];
 * parameters as in tact_wave_line_end_return_rate(). */
double tact_wave_attenuate_incoming(const struct tact_wave_tie *tie, double round_trip,
                                    double error, double wave, double force);

/* Moves the end of a machine's line, x_d, and its tank [J] by one period, with rate and force of
 * this tick; robot_joint_rate: v_x. */
void tact_wave_advance_line_end(const struct tact_wave_tie *tie, double rate,
                                double line_end_correction_rate, double force,
                                double robot_joint_rate, double *position, double *tank);

#endif
