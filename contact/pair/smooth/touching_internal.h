/* Whether a contact of two smooth surfaces may touch in a tick. */
#ifndef TACT_CONTACT_TOUCHING_INTERNAL_H
#define TACT_CONTACT_TOUCHING_INTERNAL_H

#include "contact/pair/model.h"
#include "contact/pair/smooth/closest_internal.h"

/* Gap at which a contact begins, relative to the smaller radius of curvature. */
#define MAX_CONTACT_GAP_RATIO 1e-3

/* Returns the speed that gravity adds in two ticks [m/s]: a slower approach is no impact. */
double tact_smooth_gravity_speed_change(const struct tact_pair_query *q);

/* Sets v to the velocity of A relative to B at a contact [m/s], world axes. */
void tact_smooth_contact_velocity(const struct tact_pair_query *q, const struct smooth_contact *c,
                                  double v[3]);

/* Returns the closing speed of the surfaces at a contact [m/s]; 0 where they separate. */
double tact_smooth_closing_speed(const struct tact_pair_query *q, const struct smooth_contact *c);

/* Returns 1 where a contact may touch in this tick, its gap being at most twice the approach. Sets
 * the principal relative curvatures k[0] <= k[1] [1/m], and rotates t1 along the first. */
int tact_smooth_may_contact_touch(const struct tact_pair_query *q, struct smooth_contact *c,
                                  double k[2]);

#endif
