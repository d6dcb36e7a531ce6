#include "contact/pair/smooth/touching_internal.h"

#include "contact/elementary.h"
#include "contact/pair/motion_internal.h"

double tact_smooth_gravity_speed_change(const struct tact_pair_query *q)
{
    return 2.0 * q->options->period * tact_v3_norm(q->options->gravity);
}

/* Computes the principal relative curvatures k[0] <= k[1] [1/m], and rotates t1 along the first. */
static void align_to_principal_curvature(struct smooth_contact *c, double k[2])
{
    double l[4], axis[2], t1[3], t2[3];
    for (int i = 0; i < 4; i++) {
        l[i] = c->bend[0][i] + c->bend[1][i];
    }
    tact_eigen2(l[0], l[1], l[3], k, axis);
    if (k[1] - k[0] <= 1e-9 * k[1]) {
        return; /* for equal curvatures rounding must not rotate the frame from tick to tick */
    }
    tact_v3_scale(t1, c->frame + 3, axis[0]);
    tact_v3_axpy(t1, axis[1], c->frame + 6);
    tact_v3_cross(t2, c->frame, t1);
    tact_v3_copy(c->frame + 3, t1);
    tact_v3_copy(c->frame + 6, t2);
    for (int m = 0; m < 2; m++) {
        double *b = c->bend[m], x = axis[0], y = axis[1], xx = b[0], xy = b[1], yy = b[3];
        b[0] = x * x * xx + 2.0 * x * y * xy + y * y * yy;
        b[1] = b[2] = x * y * (yy - xx) + (x * x - y * y) * xy;
        b[3] = y * y * xx - 2.0 * x * y * xy + x * x * yy;
    }
}

void tact_smooth_contact_velocity(const struct tact_pair_query *q, const struct smooth_contact *c,
                                  double v[3])
{
    double at[2][3];
    for (int i = 0; i < 2; i++) {
        tact_pair_velocity_at_arm(q->twist[i], c->arm[i], at[i]);
    }
    tact_v3_sub(v, at[0], at[1]);
}

double tact_smooth_closing_speed(const struct tact_pair_query *q, const struct smooth_contact *c)
{
    double slip[3];
    tact_smooth_contact_velocity(q, c, slip);
    return tact_max(-tact_v3_dot(c->frame, slip), 0.0);
}

/* Largest gap with which the surfaces may come into contact in this tick: twice the approach [m].
 */
static double largest_gap_of_touching_contact(const struct tact_pair_query *q,
                                              const struct smooth_contact *c, const double k[2])
{
    return q->options->period *
               (2.0 * tact_smooth_closing_speed(q, c) + tact_smooth_gravity_speed_change(q)) +
           MAX_CONTACT_GAP_RATIO / k[1];
}

int tact_smooth_may_contact_touch(const struct tact_pair_query *q, struct smooth_contact *c,
                                  double k[2])
{
    align_to_principal_curvature(c, k);
    return c->gap <= largest_gap_of_touching_contact(q, c, k);
}
