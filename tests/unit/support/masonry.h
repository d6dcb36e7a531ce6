/*
 * Stacks and walls of boxes, made from a seed: what they are, the Coulomb problem of their contact
 * points, four a face, and the same as a scene.
 *
 * Such problems are hard for Gauss-Seidel: a load goes through every box below, and four points
 * bear it in more ways than a box can move.
 */
#ifndef TACT_TESTS_MASONRY_H
#define TACT_TESTS_MASONRY_H

#include "contact/world/world.h"

enum {
    MASONRY_MOST = 100,                 /* boxes */
    MASONRY_FACES = 2 * MASONRY_MOST,   /* on which they stand */
    MASONRY_POINTS = 4 * MASONRY_FACES, /* that bear */
};

/* A rectangle, level, at which a box stands on another or on the ground. */
struct masonry_face {
    int upper, lower;       /* boxes; lower -1: the ground */
    double low[2], high[2]; /* x y of its corners [m] */
    double height;          /* z [m] */
};

struct masonry {
    int boxes, faces;
    double side[MASONRY_MOST][3]; /* [m] */
    double at[MASONRY_MOST][3];   /* centres [m], faces touching without overlap */
    double mass[MASONRY_MOST];    /* [kg], 0.1 to 10 */
    struct masonry_face face[MASONRY_FACES];
    int level[MASONRY_MOST]; /* boxes below it, and itself */
    double friction;         /* 0.3 or 0.8 */
    double gravity[3];       /* [m/s^2], down and sideways */
};

/* The index-th of the class, index >= 0: stacks and walls in turn, of 10 to 100 boxes. Gravity goes
 * sideways by up to `push` of the friction: at 0 straight down. */
void masonry_make(int index, double push, struct masonry *out);

/* A box as a body at rest. */
void masonry_body(const struct masonry *m, int box, struct tact_body *out);

#endif
