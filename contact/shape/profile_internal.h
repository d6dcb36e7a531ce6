/* Profiles of solids of revolution: cubics of an arc parameter. */
#ifndef TACT_CONTACT_PROFILE_INTERNAL_H
#define TACT_CONTACT_PROFILE_INTERNAL_H

#include "contact/shape/charts_internal.h"

/* A cubic segment of a profile: r and z are polynomials of s - about. */
struct segment {
    double from, to, about;
    double r[4], z[4];
    double least, most; /* range of s in the segment's piece of the surface, between edges */
};

struct revolution_surface {
    struct tact_charts base;
    double length; /* largest s */
    int closed; /* 1: the profile is closed, s = length is s = 0; else both ends are on the axis */
    int count;
    struct segment segment[];
};

/* Position of a profile at an arc parameter, and its derivatives. */
struct profile_curve_point {
    double r, z, dr, dz, ddr, ddz;
};

void tact_profile_evaluate_segment(const struct segment *segment, double s,
                                   struct profile_curve_point *out);

/* Checks the points of a profile: -EINVAL with a message. */
int tact_profile_check(const double (*profile)[2], int count, struct tact_error *err);

/* Computes the segments of the spline through count + 1 points, and volume and moments, which are
 * negative where the profile runs clockwise in the plane of (r, z). scratch: of
 * tact_profile_scratch_size_in_numbers(count + 1) numbers. */
void tact_profile_fit(struct revolution_surface *v, const double (*profile)[2], double *scratch);
size_t tact_profile_scratch_size_in_numbers(int points);

/* Checks that a profile's spline stays off the axis and has no cusps: -EINVAL with a message. */
int tact_profile_check_spline(const struct revolution_surface *v, struct tact_error *err);

#endif
