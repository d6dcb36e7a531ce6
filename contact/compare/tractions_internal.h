/* Shared by the sources of tractions.h. */
#ifndef TACT_CONTACT_TRACTIONS_INTERNAL_H
#define TACT_CONTACT_TRACTIONS_INTERNAL_H

#include "contact/compare/tractions.h"
#include "contact/pair/field/field_internal.h"

/* What tractions follow from besides the contact surface. */
struct traction_law {
    double friction;      /* Coulomb's coefficient [1] */
    double slip_speed;    /* speed of the regularisation [m/s] */
    double hunt_crossley; /* increase of the pressure by the approach speed, relative [s/m] */
    double dissipation;   /* relaxation time of a Kelvin-Voigt layer [s] */
    int points;           /* points of quadrature in each triangle: 1 or 3 */
};

/* Integrals of the tractions over a contact surface, frame of the surface, about its origin. */
struct traction_sums {
    double load;             /* integral of the damped pressure [N] */
    double first[3];         /* integral of that pressure times the position [N m] */
    double slip;             /* integral of that pressure times the slip speed [N m/s] */
    double friction[3];      /* friction on the second body [N] */
    double force[3];         /* on the second body [N] */
    double torque[3];        /* on the second body [N m] */
    double friction_damping; /* integral of the friction per slip at no slip [N s/m] */
};

/* Adds the tractions of a contact surface. twist: of the first body of the surface's pair relative
 * to the second, at the origin of the surface's frame, axes of that frame [m/s, rad/s]. */
void tact_tractions_add_surface(const struct contact_surface_of_fields *surface,
                                const double twist[6], const struct traction_law *law,
                                struct traction_sums *sums);

#endif
