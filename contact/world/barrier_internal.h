/*
 * An interior-point method for an island of free bodies whose contacts are points with Coulomb
 * friction: x in the cone |x_t| <= x_n per point, y = D^-1 (u + mu |u_t| e_n) in the same cone, x
 * and y perpendicular, with x = D p and D = diag(mu, 1, 1) (Acary, Armand, Nguyen and Shpakovych
 * 2023, "Second-order cone programming for frictional contact mechanics using interior point
 * algorithms"). Nesterov and Todd's scaling, Mehrotra's predictor and corrector; De Saxce's term
 * mu |u_t| with its derivative. Each step is one elimination over the bodies (direct_internal.h),
 * however many points bear a load in however many ways: where Newton's method on the sweeps finds
 * no way through the limits, this does in 15 to 60 steps.
 *
 * A patch is taken as the corners of its outline, from which its impulse is summed. That is where
 * sweeps then start from: the law of the patch differs by torsion alone.
 */
#ifndef TACT_CONTACT_BARRIER_INTERNAL_H
#define TACT_CONTACT_BARRIER_INTERNAL_H

#define BARRIER_POINTS 8 /* most of a contact */

struct island;
struct tact_world;

struct barrier_point {
    int block;
    double h[18];      /* D^-1 T, 3 x 6: its scaled velocity by its contact's */
    double x[3], y[3]; /* impulse and velocity, scaled */
    double turn[2];    /* how De Saxce's term answers the slip */
    double w[3], beta; /* of the scaling W: W x = W^-1 y */
    double lambda[3];  /* W x */
    double left[3];    /* velocity not yet as it should be */
    double aim[3];     /* what W dx + W^-1 dy should be */
    double dx[3], dy[3];
};

struct barrier_block {
    int first, count;  /* points */
    double give[6];    /* of its rows */
    double wanted[6];  /* velocity that it has without impulses and bodies */
    double r[6];       /* impulse: of its points */
    double c[36];      /* dr = a + C J dv */
    double within[36]; /* (1 + K E)^-1: a = that times the points' */
    double a[6];
};

struct barrier {
    struct barrier_point *points;
    int room;
    struct barrier_block *blocks; /* as many as contacts */
    double *v, *push;             /* 6 a body: velocity, and momentum that is missing */
};

/* Room for the world's bodies and contacts. -ENOMEM. */
int tact_barrier_create(struct tact_world *world);
void tact_barrier_destroy(struct barrier *barrier);

/* Sets the impulses of an island's contacts from those of its points, in at most so many steps; the
 * velocities of its bodies are lost. Returns the number of steps; 0: the island is none for this,
 * or its impulses are as they were because none were found. Real-time safe. */
int tact_barrier_solve(struct tact_world *world, const struct island *island, int most);

#endif
