/**
 * Passivity of a device's port: what keeps a sampled force from generating energy in the hand of
 * the person who holds the device. A force that is constant within a tick does the work
 * -F (x[k+1] - x[k]) on the virtual side, exactly, whatever the motion within the tick.
 *
 * Vectors have n components, 1 to TACT_PASSIVITY_MOST: a force, a moment, or both in one set of
 * units. All functions are pure and real-time safe.
 */
#ifndef TACT_RT_PASSIVITY_H
#define TACT_RT_PASSIVITY_H

#include "../contact/api.h"

TACT_BEGIN_DECLS

#define TACT_PASSIVITY_MOST                                                                        \
    6 /**< maximum number of components of a vector: three of force, three of torque */

/**
 * Energy bound (after Kim and Ryu 2010): scales the force on the person down to
 *
 *     |force| <= |last - c displacement|,   c = b / (T/2 + delay),
 *
 * b the damping of the device itself [N s/m], T the period and `delay` from sensor to force [s].
 * |F|^2 / (2 c) is then a storage whose growth is no more than what the person and the device's
 * damping have put in, so that no requested force can generate energy. No wall feels stiffer than
 * c. With a delay c is the limit of a passive wall, but a force that changes its direction within
 * the delay can still generate energy: the storage is that of the force as it is requested.
 * @param force  requested, then the one to be sent [N, N m]
 * @param last   sent in the tick before [N, N m]
 * @param displacement  of the device since then [m, rad]
 * @param n      number of components of the three
 * @param c      [N/m, N m/rad], > 0
 * @return the factor, 0 to 1. Real-time safe.
 */
TACT_API double tact_passivity_bound(double *force, const double *last, const double *displacement,
                                     int n, double c);

/**
 * Passivity controller (Hannaford and Ryu 2002): where the port has generated energy, adds the
 * damper that dissipates it within the next tick, at most `max_damping`.
 * @param force   requested, then with the damper's [N, N m]
 * @param rate    of the device [m/s, rad/s]
 * @param n       number of components of both
 * @param energy  absorbed so far, negative: generated [J]
 * @param period  [s]
 * @param max_damping  largest damping [N s/m, N m s/rad]: uncapped, the force at small rates has no
 *                bound. 0.1 m / T of a device of mass m is far from where a sampled damper is
 * unstable
 * @return the damping that was added. Real-time safe.
 */
TACT_API double tact_passivity_damp(double *force, const double *rate, int n, double energy,
                                    double period, double max_damping);

/**
 * Largest stiffness of a wall without damping that is passive with any passive hand (Colgate and
 * Schenkel 1997; Abbott and Okamura 2005): the least of b / (T/2 + delay) and, for a sensor with
 * steps, 2 f / q. A wall with the damping B is passive up to (b - B) / (T/2 + delay) in any case.
 * @param damping     b, of the device [N s/m, N m s/rad]
 * @param delay       from sensor to force, with the mean delay T / (exp(2 pi f T) - 1) of a
 *                    first-order low-pass of the force [s]
 * @param friction    f, dry, of the device [N, N m]
 * @param resolution  q, step of the sensor [m, rad]; 0: none
 * @param period      T [s]
 * @return [N/m, N m/rad]. Real-time safe.
 */
TACT_API double tact_passivity_stiffest(double damping, double delay, double friction,
                                        double resolution, double period);

TACT_END_DECLS

#endif
