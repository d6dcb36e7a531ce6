/* Profiles of solids of revolution: cubics of an arc parameter. */
#ifndef TACT_CONTACT_PROFILE_INTERNAL_H
#define TACT_CONTACT_PROFILE_INTERNAL_H

#include "contact/shape/charts_internal.h"

/* A cubic of the profile: r and z are polynomials of s - about. */
struct segment {
    double from, to, about;
    double r[4], z[4];
    double least, most; /* the range of s in its piece of the surface, between edges */
};

struct revolution {
    struct tact_charts base;
    double length; /* largest s */
    int closed;    /* 1: s = length is s = 0; else both are on the axis */
    int count;
    struct segment segment[];
};

/* Position of the profile and its derivatives. */
struct profile_point {
    double r, z, dr, dz, ddr, ddz;
};

void tact_profile_at(const struct segment *segment, double s, struct profile_point *out);

/* Checks the points of a profile: -EINVAL with a message. */
int tact_profile_check(const double (*profile)[2], int count, struct tact_error *err);

/* Computes the segments of the spline through count + 1 points, and volume and moments, which are
 * negative where the profile runs clockwise in the plane of (r, z). scratch: of
 * tact_profile_scratch(count + 1) numbers. */
void tact_profile_fit(struct revolution *v, const double (*profile)[2], double *scratch);
size_t tact_profile_scratch(int points);

/* Checks that the spline stays off the axis and has no cusps: -EINVAL with a message. */
int tact_profile_check_spline(const struct revolution *v, struct tact_error *err);

#endif
