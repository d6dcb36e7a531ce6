/*
 * An interior-point method for an island of free bodies. The impulse r of each contact, in the
 * frame of its patch, lies in a product of cones: G r = s. The first part of s, (mu f_n, friction
 * and torsion about the centre of pressure), lies in a Lorentz cone; the centre of pressure lies
 * in its ellipse, another Lorentz cone, or inside each edge of its polygon; the torques that resist
 * the rolling of a point lie in a cone of their own. Each cone has a dual velocity y in the same
 * cone, complementary to s, and the contact velocity is u + (mu |slip| + |(e_1 w_1, e_2 w_2)|) e_n
 * = G^T y, with the arms e of rolling. De Saxce's term mu |slip|, in the metric of the tangent
 * ellipsoid below, prevents slip from causing separation (Acary, Armand, Nguyen and Shpakovych
 * 2023, "Second-order cone programming for frictional contact mechanics using interior point
 * algorithms", for point contacts), and the other does so for rolling. The method uses Nesterov and
 * Todd's scaling with Mehrotra's predictor and corrector. The limit surface is replaced by the
 * ellipsoid that is tangent to it at the present impulse, and the centre of pressure is that of the
 * last step; both converge with the impulse, so that the solution satisfies the law of
 * tact_local_cone(). A step costs one elimination over the bodies (direct_internal.h), independent
 * of how redundant the contacts are. Where Newton's method on the sweeps fails, this one converges
 * in 15 to 60 steps.
 */
#ifndef TACT_CONTACT_BARRIER_INTERNAL_H
#define TACT_CONTACT_BARRIER_INTERNAL_H

struct island;
struct tact_world;

struct barrier_cone {
    int size;     /* 1, 3 or 4 */
    double g[24]; /* matrix G of a cone, size x 6, that maps the contact impulse r to the cone's
                     vector s */
    double s[4], y[4];             /* impulse vector s and dual velocity y, both inside the cone */
    double w[4], beta;             /* scaling W, with W s = W^-1 y */
    double scaled_cone_point[4];   /* W s */
    double cone_point_residual[4]; /* G r - s */
    double complementarity_right_side[4]; /* right side of the cone's linear equation: required
                                value of W ds + W^-1 dy */
    double ds[4], dy[4];
};

struct barrier_contact {
    int first, count; /* range of the contact's cones; the first is the friction cone */
    int rows;         /* number of rows of the impulse r that the patch transmits */
    int does_contact_resist_rolling; /* 1: the second cone is that of the torques that resist
                                        rolling */
    double row_cfm[6];               /* compliance of each row of the contact [1/kg, 1/(kg m^2)] */
    double target_velocity[6]; /* velocity of the contact at zero impulse with its bodies at rest */
    double r[6], dr[6];        /* contact impulse r, and its change in a step */
    /* derivative of De Saxce's term and the rolling term by the contact velocity */
    double slope[6];
    double velocity_residual[6]; /* u + De Saxce's term - G^T y */
    double c[36];                /* dr = a + C J dv */
    double inverse[36];          /* a = inverse * right side */
    double a[6];
};

struct barrier {
    struct barrier_cone *cones;
    int cone_capacity;
    struct barrier_contact *blocks; /* one block of the interior-point method for each contact */
    double *v, *momentum_residual; /* six numbers a body: its velocity, and the part of its momentum
                                      that the impulses do not account for */
};

/* Allocates the interior-point method for the bodies and contacts of a world. -ENOMEM. */
int tact_barrier_create(struct tact_world *world);
void tact_barrier_destroy(struct barrier *barrier);

/* Sets the impulses of an island's contacts in at most `most` steps; the velocities of its bodies
 * are overwritten. Returns the number of steps. Returns 0, with unchanged impulses, where the
 * method does not apply to the island or did not converge. Real-time safe. */
int tact_barrier_solve_island(struct tact_world *world, const struct island *island,
                              int max_interior_steps);

#endif
