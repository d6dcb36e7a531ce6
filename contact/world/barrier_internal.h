/*
 * An interior-point method for an island of free bodies. The impulse r of each contact, in its
 * patch's frame, is in a product of cones: G r = s, with s = (mu f_n, friction and torsion about
 * the centre of pressure) in a Lorentz cone, and the centre of pressure in its ellipse, another
 * such cone, or inside each edge of its polygon. A velocity y of each cone, in the same one and
 * perpendicular to s, makes up the contact's: u + mu |slip| e_n = G^T y, with De Saxce's term, so
 * that slip does not lift (Acary, Armand, Nguyen and Shpakovych 2023, "Second-order cone
 * programming for frictional contact mechanics using interior point algorithms", whose cones are
 * points'). Nesterov and Todd's scaling, Mehrotra's predictor and corrector. The limit surface is
 * the ellipsoid that touches it where the impulse is, and the centre of pressure that of the last
 * step: both converge with the impulse, so that the law is that of tact_local_cone(). Each step is
 * one elimination over the bodies (direct_internal.h), however many contacts bear a load in however
 * many ways: where Newton's method on the sweeps finds no way through the limits, this does in 15
 * to 60 steps.
 */
#ifndef TACT_CONTACT_BARRIER_INTERNAL_H
#define TACT_CONTACT_BARRIER_INTERNAL_H

struct island;
struct tact_world;

struct barrier_cone {
    int size;                  /* 1, 3 or 4 */
    double g[24];              /* size x 6: from the impulse to s */
    double s[4], y[4];         /* impulse and velocity, in the cone */
    double w[4], beta;         /* of the scaling W: W s = W^-1 y */
    double lambda[4];          /* W s */
    double primal_residual[4]; /* G r - s */
    double scaled_target[4];   /* what W ds + W^-1 dy should be */
    double ds[4], dy[4];
};

struct barrier_block {
    int first, count;            /* cones; the first is that of friction */
    int rows;                    /* of r that the patch transmits */
    double row_cfm[6];           /* of its rows */
    double target_velocity[6];   /* velocity that it has without impulses and bodies */
    double r[6], dr[6];          /* impulse */
    double slope[6];             /* of De Saxce's term, by the velocity */
    double velocity_residual[6]; /* velocity that is not as it should be */
    double c[36];                /* dr = a + C J dv */
    double inverse[36];          /* a = that times the right side */
    double a[6];
};

struct barrier {
    struct barrier_cone *cones;
    int room;
    struct barrier_block *blocks;  /* as many as contacts */
    double *v, *momentum_residual; /* 6 a body: velocity, and momentum that is missing */
};

/* Room for the world's bodies and contacts. -ENOMEM. */
int tact_barrier_create(struct tact_world *world);
void tact_barrier_destroy(struct barrier *barrier);

/* Sets the impulses of an island's contacts, in at most so many steps; the velocities of its bodies
 * are lost. Returns the number of steps; 0: the island is none for this, or its impulses are as
 * they were because none were found. Real-time safe. */
int tact_barrier_solve(struct tact_world *world, const struct island *island, int most);

#endif
