/*
 * Taylor polynomials of two variables up to the third order, with which a point of a surface is
 * computed together with the ten partial derivatives that reduced coordinates need.
 */
#ifndef TACT_CONTACT_JET_INTERNAL_H
#define TACT_CONTACT_JET_INTERNAL_H

enum { JET_TERMS = 10 };

/* Coefficients of 1, s, t, s^2, st, t^2, s^3, s^2 t, s t^2, t^3. */
struct jet {
    double c[JET_TERMS];
};

struct jet tact_jet_constant(double value);
/* The Taylor polynomial of the variable s (k = 0) or t (k = 1) about a value. */
struct jet tact_jet_variable(double value, int k);
struct jet tact_jet_add(struct jet a, struct jet b);
struct jet tact_jet_scale(struct jet a, double s);
struct jet tact_jet_multiply(const struct jet *a, const struct jet *b);

/* The Taylor polynomial of f(a), from f and its first three derivatives at the value of a. */
struct jet tact_jet_compose(const struct jet *a, const double f[4]);
/* The Taylor polynomial of a^p, for a positive value of a. */
struct jet tact_jet_power(const struct jet *a, double p);

/* The derivative of a Taylor polynomial by s (k = 0) or t (k = 1), of one order less. */
struct jet tact_jet_derivative(const struct jet *a, int k);

/* Vectors of three. */
struct jet tact_jet_dot(const struct jet a[3], const struct jet b[3]);
void tact_jet_cross(struct jet r[3], const struct jet a[3], const struct jet b[3]);
/* r = a / |a|; r may be a. */
void tact_jet_normalize(struct jet r[3], const struct jet a[3]);

#endif
