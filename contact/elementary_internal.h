/* Elementary functions of four numbers at a time; not installed. */
#ifndef TACT_CONTACT_ELEMENTARY_INTERNAL_H
#define TACT_CONTACT_ELEMENTARY_INTERNAL_H

/* tact_atan2() of four points, with the same bits; with AVX2 in little more time than of one.
 * Real-time safe. */
void tact_atan2_of_four(const double y[4], const double x[4], double angle[4]);

/* tact_sin() and tact_cos() of four angles, with the same bits; with AVX2 in little more time than
 * of one. Real-time safe. */
void tact_sin_and_cos_of_four(const double angle[4], double sine[4], double cosine[4]);

#endif
