/* The line of a push that programs of tests/bench/planar_slide read: weight [N], friction, torsion
 * arm [m], number of feet, their x and y [m] from the centre of mass, velocity of the centre of
 * mass [m/s] and spin [rad/s], all in the block's frame. They print fx fy m [N, N m], which push
 * the block on at its centre of mass: minus friction. */
#ifndef TACT_BENCH_PLANAR_SLIDE_PUSH_H
#define TACT_BENCH_PLANAR_SLIDE_PUSH_H

#include <math.h>
#include <stdio.h>
#include <string.h>

/* largest number of feet; number of ticks in which friction brings the block to rest */
enum { FEET = 16, REST = 1000 };

static const double GRAVITY = 9.81;

struct push {
    double weight, friction, arm;
    int foot_count;
    double place[FEET][2];
    double twist[3]; /* vx, vy, spin */
};

/* Factor that makes the speed of a push `speed` [m/s]: of dry friction, only the direction matters.
 */
static inline double twist_scale_for_speed(const struct push *p, double speed)
{
    return speed / fmax(hypot(p->twist[0], p->twist[1]), fabs(p->twist[2]) * p->arm);
}

static inline int do_pushes_have_same_block(const struct push *a, const struct push *b)
{
    return a->weight == b->weight && a->friction == b->friction && a->arm == b->arm &&
           a->foot_count == b->foot_count && !memcmp(a->place, b->place, sizeof a->place);
}

/* Reads a push from a line of text; returns 1, or 0 where the line is no push. */
static inline int parse_push_line(const char *line, struct push *out)
{
    int used;
    memset(out, 0, sizeof *out);
    if (sscanf(line, "%lf %lf %lf %d%n", &out->weight, &out->friction, &out->arm, &out->foot_count,
               &used) != 4 ||
        out->foot_count < 1 || out->foot_count > FEET) {
        return 0;
    }
    for (int i = 0; i < 2 * out->foot_count + 3; i++) {
        double *to = i < 2 * out->foot_count ? &out->place[i / 2][i % 2]
                                             : &out->twist[i - 2 * out->foot_count];
        int more;
        line += used;
        if (sscanf(line, "%lf%n", to, &more) != 1 || !isfinite(*to)) {
            return 0;
        }
        used = more;
    }
    return out->weight > 0.0 && out->friction > 0.0 && out->arm > 0.0 &&
           isfinite(twist_scale_for_speed(out, 1.0));
}

#endif
