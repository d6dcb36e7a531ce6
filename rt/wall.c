/* Walls that are found at one site and felt at another. */
#include "rt/wall_internal.h"

#include <math.h>

static const double least_stretch = 2e-4; /* of the tie, of a force that counts [m, rad] */
static const double release_share = 0.5;  /* of that force, by which a contact ends [1] */
static const double moved_by = 2e-4;      /* of a sample, or such a force [m, rad] */
static const double kept = 0.8;           /* of the weight of earlier samples, at each [1] */
static const double rigid = 10.0; /* stiffness of a wall that is not known, by the tie's [1] */
static const double rigid_at_first = 5e-4; /* motion that such a wall weighs [m, rad] */
static const double rigid_at_last = 1e-5;  /* and as it is moved [m, rad] */
static const double filter_time = 0.01;    /* of place and force [s] */
static const double passed_by = 1e-3;      /* a wall without a force [m, rad] */
static const double most_compliance = 99;  /* of a wall, by that of the tie [1] */
static const double fastest = 0.05;        /* of a wall that is touched [m/s, rad/s] */
static const double follow_time = 0.3;     /* of a force that is late [s] */

static double sign_of(double value)
{
    return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0;
}

static double clip(double value, double least, double most)
{
    return fmax(least, fmin(most, value));
}

/* A contact begins, at a wall that is known or not. */
static void begin_contact(struct tact_wall_estimate *e, double q, double force, double tie)
{
    e->touching = sign_of(force);
    e->place = e->last_place = q;
    e->force = e->last_force = force;
    if (e->wall.stiffness * e->touching <= 0.0) {
        e->square = rigid_at_first * rigid_at_first;
        e->product = rigid * tie * e->square;
    }
}

/* The stiffness is the slope of the force by the place. What moves under a constant force, as a
 * weight that is lifted, is soft: a force, and no wall. The place is that of the force of now. */
static void correct_wall(struct tact_wall_estimate *e, double q, double force, double tie,
                         double period)
{
    const double change = force - e->last_force, moved = q - e->last_place;
    const double share = period / (filter_time + period), least = rigid_at_last * rigid_at_last;
    if (fabs(change) > least_stretch * tie || fabs(moved) > moved_by) {
        e->square = kept * e->square + moved * moved;
        e->product = kept * e->product + moved * change;
        e->last_place = q;
        e->last_force = force;
    }
    e->place += share * (q - e->place);
    e->force += share * (force - e->force);
    const double square = e->square + least, product = e->product + rigid * tie * least;
    const double most = most_compliance / tie;
    const double compliance = square < most * product ? square / product : most;
    e->wall.stiffness = e->touching / (compliance + 1.0 / tie);
    e->wall.place = e->place - compliance * e->force;
}

void tact_wall_find(struct tact_wall_estimate *e, double q, double force, double tie, double period)
{
    const double least = least_stretch * tie;
    if (e->touching == 0.0 && fabs(force) > least) {
        begin_contact(e, q, force, tie);
    } else if (e->touching * force < release_share * least) {
        e->touching = 0.0;
    }
    if (e->touching != 0.0) {
        correct_wall(e, q, force, tie, period);
    } else if (sign_of(e->wall.stiffness) * (q - e->wall.place) > passed_by) {
        e->wall.stiffness = 0.0;
    }
}

double tact_wall_push(const struct tact_wall *wall, double q)
{
    const double depth = sign_of(wall->stiffness) * (q - wall->place);
    return depth > 0.0 ? -wall->stiffness * depth : 0.0;
}

/* What is late decreases: with time, as the joint goes along with it, so that it gives no more than
 * a spring, and as far as it would make the wall pull. */
static double keep_late(const struct tact_wall_felt *felt, double late, double push, double moved,
                        double most, double period)
{
    const double rate =
        fmax(fastest * felt->stiffness, fmin(fabs(late) / follow_time, fastest * most));
    const double along =
        late * push >= 0.0 ? felt->stiffness * fmax(0.0, moved * sign_of(late)) : 0.0;
    const double left = copysign(fmax(0.0, fabs(late) - rate * period - along), late);
    return left * push < 0.0 && fabs(left) > fabs(push) ? -push : left;
}

double tact_wall_feel(struct tact_wall_felt *felt, const struct tact_wall *known, double q,
                      double most, double period)
{
    const struct tact_wall wall = {known->place, clip(known->stiffness, -most, most)};
    const double push = tact_wall_push(&wall, q);
    const double late = felt->late + tact_wall_push(&felt->wall, q) - push;
    felt->wall = wall;
    felt->stiffness = wall.stiffness != 0.0 ? fabs(wall.stiffness) : felt->stiffness;
    felt->late = keep_late(felt, late, push, q - felt->place, most, period);
    felt->place = q;
    return push + felt->late;
}
