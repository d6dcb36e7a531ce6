/*
 * Stacks and walls of boxes, generated from a seed: their geometry, the Coulomb problem of their
 * contact points, four on each face, and the same as a scene.
 *
 * Such problems are hard for Gauss-Seidel: a load is transmitted by every box below, and the
 * impulses of four points on a face are redundant.
 */
#ifndef TACT_TESTS_MASONRY_H
#define TACT_TESTS_MASONRY_H

#include "contact/world/world.h"

enum {
    MAX_MASONRY_BOXES = 100,                    /* boxes */
    MAX_MASONRY_FACES = 2 * MAX_MASONRY_BOXES,  /* contact faces, each below a box */
    MAX_MASONRY_POINTS = 4 * MAX_MASONRY_FACES, /* contact points */
};

/* A horizontal rectangle in which a box is in contact with the one below or with the ground. */
struct masonry_face {
    int upper, lower;       /* indices of the two boxes; lower -1: the ground */
    double low[2], high[2]; /* x y of its corners [m] */
    double height;          /* z [m] */
};

struct masonry {
    int boxes, faces;
    double side[MAX_MASONRY_BOXES][3]; /* [m] */
    double at[MAX_MASONRY_BOXES][3];   /* box centres [m]; contact faces touch without overlap */
    double mass[MAX_MASONRY_BOXES];    /* [kg], 0.1 to 10 */
    struct masonry_face face[MAX_MASONRY_FACES];
    int level[MAX_MASONRY_BOXES]; /* course of each box: 1 for those on the ground */
    double friction;              /* 0.3 or 0.8 */
    double gravity[3];            /* [m/s^2], down and sideways */
};

/* Masonry number `index` >= 0: stacks and walls in turn, of 10 to 100 boxes. The horizontal part
 * of gravity is up to `horizontal_load` times the friction; 0: vertical gravity. */
void generate_masonry(int index, double horizontal_load, struct masonry *out);

/* Sets up the body of one box of the masonry, at rest. */
void make_masonry_body(const struct masonry *m, int box, struct tact_body *out);

#endif
