/*
 * The friction limit of a pressure: it is divided into at most TACT_FRICTION_POINTS parts, each
 * with the ellipsoid of its own friction and torsion (struct tact_friction_points).
 *
 * A part whose points are at distances e from their mean point, which slips at v there and spins at
 * w, has the power |v| + w^2 (e.v)^2 / (2 |v|^3) + ... per load. An arm of half the mean square of
 * e has the same, in the mean over the directions of v. In a spin about its own point the arm is
 * the mean of |e|, sqrt(8) / 3 of the root of the mean square for a disc. The squares of all arms
 * are therefore scaled by one number, near 1/2, with which the torsion arm of the whole is that of
 * the pressure.
 *
 * On a curved surface each part has the friction of its own pressure along its own surface, of
 * which the force of the patch is not the sum: the flanks of a thread press with more than the
 * force along its axis, and rub along the thread.
 */
#include <math.h>
#include <string.h>
#include "contact/pair/field/field_model_internal.h"

/* Square of a part's arm over its mean square, and the number of Newton's steps for it. */
#define DEFAULT_SQUARED_ARM_RATIO 0.5
#define MIN_SQUARED_ARM_RATIO 0.35
#define MAX_SQUARED_ARM_RATIO 0.65
enum { MAX_LIMIT_CORRECTIONS = 4 };

#define MIN_MEAN_TILT 1e-9  /* mean square of the normals along the patch that is rounding */
#define MAX_PART_TILT 0.999 /* of a part; one along which nothing slips would have no Hessian */

/* Points first to first + count - 1: load, mean point, and second moments about it [N m^2]. */
struct part {
    int first, count;
    double load, x, y, xx, xy, yy;
    double own;             /* load times the mean squares of the points' own parts [N m^2] */
    double tilt[3];         /* sums of load times nx nx, nx ny, ny ny [N] */
    double axis[2], weight; /* direction of the largest second moment; how much it is in need of
                               division */
};

/* Finds the direction and the weight. A body that spins quickly resists a slow slip by the mean of
 * the inverse distance, so that the parts near the centre are to be smaller: the largest second
 * moment is divided by three halves of a power of the distance. */
static void set_split_axis_and_priority(struct part *part)
{
    double sum = part->xx + part->yy, half = 0.5 * (part->xx - part->yy);
    double apart = sqrt(half * half + part->xy * part->xy);
    double along = apart + fabs(half), size = sqrt(along * along + part->xy * part->xy);
    double square = part->x * part->x + part->y * part->y + sum / part->load;
    part->axis[0] = 1.0;
    part->axis[1] = 0.0;
    if (apart > 1e-6 * sum) {
        part->axis[0] = (half > 0.0 ? along : part->xy) / size;
        part->axis[1] = (half > 0.0 ? part->xy : along) / size;
    }
    part->weight = sum > 0.0 ? (0.5 * sum + apart) / sqrt(square * sqrt(square)) : 0.0;
}

/* Load, and moments about a point: of the loads, their squares, and their parts' own squares. */
struct moments {
    double load, x, y, xx, xy, yy, own, tilt[3];
};

static void add_point_to_moments(const struct field_points *points, int i, double dx, double dy,
                                 struct moments *m)
{
    double load = points->load[i], lx = load * dx, ly = load * dy;
    m->load += load;
    m->x += lx;
    m->y += ly;
    m->xx += lx * dx;
    m->xy += lx * dy;
    m->yy += ly * dy;
    m->own += load * points->own[i];
    m->tilt[0] += load * points->nx[i] * points->nx[i];
    m->tilt[1] += load * points->nx[i] * points->ny[i];
    m->tilt[2] += load * points->ny[i] * points->ny[i];
}

/* Sets a part from its moments about (x, y). */
static void set_pressure_part(const struct moments *m, double x, double y, struct part *part)
{
    double inverse = 1.0 / m->load, dx = m->x * inverse, dy = m->y * inverse;
    part->load = m->load;
    part->x = x + dx;
    part->y = y + dy;
    part->xx = tact_max(m->xx - m->x * dx, 0.0);
    part->xy = m->xy - m->x * dy;
    part->yy = tact_max(m->yy - m->y * dy, 0.0);
    part->own = tact_max(m->own, 0.0);
    memcpy(part->tilt, m->tilt, sizeof part->tilt);
    set_split_axis_and_priority(part);
}

static void swap_field_points(struct field_points *points, int i, int j)
{
    double *of[6] = {points->x, points->y, points->load, points->own, points->nx, points->ny};
    for (int k = 0; k < 6; k++) {
        double at = of[k][i];
        of[k][i] = of[k][j];
        of[k][j] = at;
    }
}

/* Divides a part across its longest axis at its mean point. Returns 0 where its points are one. */
static int split_pressure_part(struct field_points *points, struct part *part, struct part *other)
{
    const double x = part->x, y = part->y, ax = part->axis[0], ay = part->axis[1];
    int low = part->first, high = part->first + part->count;
    struct moments m = {.load = 0.0};
    while (low < high) {
        double dx = points->x[low] - x, dy = points->y[low] - y;
        if (dx * ax + dy * ay > 0.0) {
            add_point_to_moments(points, low, dx, dy, &m);
            swap_field_points(points, low, --high);
        } else {
            low++;
        }
    }
    int rest = part->first + part->count - low;
    if (!rest || rest == part->count || !(m.load < part->load)) {
        return 0;
    }
    other->first = low;
    other->count = rest;
    part->count -= rest;
    const struct moments left = {
        part->load - m.load,
        -m.x,
        -m.y,
        part->xx - m.xx,
        part->xy - m.xy,
        part->yy - m.yy,
        part->own - m.own,
        {part->tilt[0] - m.tilt[0], part->tilt[1] - m.tilt[1], part->tilt[2] - m.tilt[2]}};
    set_pressure_part(&m, x, y, other);
    set_pressure_part(&left, x, y, part);
    return 1;
}

/* Divides the pressure, each time the part of the largest weight. Returns the number of parts. */
static int split_pressure_into_parts(struct field_points *points, struct part *part)
{
    int count = 1;
    part->first = 0;
    part->count = points->count;
    struct moments m = {.load = 0.0};
    for (int i = 0; i < points->count; i++) {
        add_point_to_moments(points, i, points->x[i], points->y[i], &m);
    }
    set_pressure_part(&m, 0.0, 0.0, part);
    while (count < TACT_FRICTION_POINTS) {
        int best = 0;
        for (int i = 1; i < count; i++) {
            best = part[i].weight > part[best].weight ? i : best;
        }
        if (!(part[best].weight > 0.0) || !split_pressure_part(points, &part[best], &part[count])) {
            break;
        }
        count++;
    }
    return count;
}

/* Power of a spin of 1 about the centre over the pressure: on a flat patch its mean distance. */
static double mean_pressure_distance(const struct field_points *points)
{
    double arm = 0.0, load = 0.0;
    for (int i = 0; i < points->count; i++) {
        double x = points->x[i], y = points->y[i], across = points->ny[i] * x - points->nx[i] * y;
        load += points->load[i];
        arm += points->load[i] * sqrt(tact_max(x * x + y * y - across * across, 0.0) +
                                      DEFAULT_SQUARED_ARM_RATIO * points->own[i]);
    }
    return arm / load;
}

/* Power of a spin of 1 of the parts with this share of their mean squares, and its derivative. */
static double torsion_arm_of_parts(const struct tact_friction_points *p, const double *square,
                                   double share, double *slope)
{
    double arm = 0.0;
    *slope = 0.0;
    for (int i = 0; i < p->count; i++) {
        double x = p->x[i], y = p->y[i], along = 0.0;
        if (p->tilted) {
            along = p->tilt_xx[i] * y * y - 2.0 * p->tilt_xy[i] * x * y + p->tilt_yy[i] * x * x;
        }
        double far = sqrt(tact_max(x * x + y * y - along, 0.0) + share * square[i]);
        arm += p->share[i] * far;
        *slope += far > 0.0 ? 0.5 * p->share[i] * square[i] / far : 0.0;
    }
    return arm;
}

/* Sets the parts' tilts, and increases their shares from those of the force to those of the
 * pressure, where the surface is not flat. */
static void set_tilts_of_parts(const struct part *part, double load, double pressed,
                               struct tact_friction_points *p)
{
    double tilt = 0.0;
    for (int i = 0; i < p->count; i++) {
        tilt += part[i].tilt[0] + part[i].tilt[2];
    }
    p->tilted = tilt > MIN_MEAN_TILT * load;
    for (int i = 0; i < p->count && p->tilted; i++) {
        /* Of a part with a load of rounding's size all three are the rounding of differences. */
        double xx = tact_max(part[i].tilt[0], 0.0), yy = tact_max(part[i].tilt[2], 0.0);
        double xy = copysign(tact_min(fabs(part[i].tilt[1]), sqrt(xx * yy)), part[i].tilt[1]);
        double sum = (xx + yy) / part[i].load;
        double scale = (sum > MAX_PART_TILT ? MAX_PART_TILT / sum : 1.0) / part[i].load;
        p->tilt_xx[i] = scale * xx;
        p->tilt_xy[i] = scale * xy;
        p->tilt_yy[i] = scale * yy;
        p->share[i] *= pressed;
    }
}

void tact_field_friction_limit(struct field_points *points, double pressed,
                               struct tact_patch *patch)
{
    struct part part[TACT_FRICTION_POINTS];
    double square[TACT_FRICTION_POINTS], load = 0.0, share = DEFAULT_SQUARED_ARM_RATIO, slope;
    struct tact_friction_points *p = &patch->points;
    p->count = points->count ? split_pressure_into_parts(points, part) : 0;
    for (int i = 0; i < p->count; i++) {
        load += part[i].load;
    }
    for (int i = 0; i < p->count; i++) {
        p->x[i] = part[i].x;
        p->y[i] = part[i].y;
        p->share[i] = part[i].load / load;
        square[i] = (part[i].xx + part[i].yy + part[i].own) / part[i].load;
    }
    set_tilts_of_parts(part, load, pressed, p);
    double exact = p->count ? mean_pressure_distance(points) : 0.0;
    exact *= p->tilted ? pressed : 1.0;
    for (int i = 0; i < MAX_LIMIT_CORRECTIONS && exact > 0.0; i++) {
        double miss = exact - torsion_arm_of_parts(p, square, share, &slope);
        share = slope > 0.0 ? tact_max(MIN_SQUARED_ARM_RATIO,
                                       tact_min(MAX_SQUARED_ARM_RATIO, share + miss / slope))
                            : share;
    }
    for (int i = 0; i < p->count; i++) {
        p->arm[i] = sqrt(share * square[i]);
    }
    patch->spin_arm = torsion_arm_of_parts(p, square, share, &slope);
    patch->surface = patch->spin_arm > 0.0 ? TACT_SURFACE_POINTS : TACT_SURFACE_ELLIPSOID;
}
