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

/* Ratio of the square of a part's torsion arm to the mean square of its points' distances, and the
 * number of Newton steps that find it. */
#define DEFAULT_SQUARED_TORSION_ARM_RATIO 0.5
#define MIN_SQUARED_TORSION_ARM_RATIO 0.35
#define MAX_SQUARED_TORSION_ARM_RATIO 0.65
enum { MAX_LIMIT_CORRECTIONS = 4 };

/* Mean square of the surface normals' tangential components that counts as a flat surface. */
#define MAX_MEAN_TILT_OF_FLAT_SURFACE 1e-9
/* Largest tilt of a part's surface; a part along which nothing slips would have no Hessian. */
#define MAX_NORMAL_TILT_OF_PRESSURE_PART 0.999

/* A part of the pressure, of points first to first + count - 1: its load, mean point, and second
 * moments about that point [N m^2]. */
struct part {
    int first, count;
    double load, x, y, xx, xy, yy;
    double own; /* load times the mean squares of the points' own sub-areas [N m^2] */
    double load_weighted_normal_tilts[3]; /* sums of load times the products nx nx, nx ny, ny ny of
                                      the normals [N] */
    double axis[2], weight; /* direction of the largest second moment; priority with which the part
                               is divided next */
};

/* Finds the axis across which a part is divided and its priority. A body that spins quickly resists
 * a slow slip by the mean of the inverse distance, so that the parts near the centre are to be
 * smaller: the largest second moment is divided by three halves of a power of the distance. */
static void set_split_axis_and_priority(struct part *part)
{
    double sum = part->xx + part->yy, half = 0.5 * (part->xx - part->yy);
    double half_principal_moment_difference = sqrt(half * half + part->xy * part->xy);
    double unscaled_principal_axis_component = half_principal_moment_difference + fabs(half),
           size = sqrt(unscaled_principal_axis_component * unscaled_principal_axis_component +
                       part->xy * part->xy);
    double square = part->x * part->x + part->y * part->y + sum / part->load;
    part->axis[0] = 1.0;
    part->axis[1] = 0.0;
    if (half_principal_moment_difference > 1e-6 * sum) {
        part->axis[0] = (half > 0.0 ? unscaled_principal_axis_component : part->xy) / size;
        part->axis[1] = (half > 0.0 ? part->xy : unscaled_principal_axis_component) / size;
    }
    part->weight =
        sum > 0.0 ? (0.5 * sum + half_principal_moment_difference) / sqrt(square * sqrt(square))
                  : 0.0;
}

/* Sums over points: load, and moments about a point of the loads, their squares, and their
 * sub-areas' own squares. */
struct moments {
    double load, x, y, xx, xy, yy, own, load_weighted_normal_tilts[3];
};

static void add_pressure_point_to_moments(const struct patch_pressure_points *points, int i,
                                          double dx, double dy, struct moments *m)
{
    double load = points->load[i], lx = load * dx, ly = load * dy;
    m->load += load;
    m->x += lx;
    m->y += ly;
    m->xx += lx * dx;
    m->xy += lx * dy;
    m->yy += ly * dy;
    m->own += load * points->own[i];
    m->load_weighted_normal_tilts[0] += load * points->nx[i] * points->nx[i];
    m->load_weighted_normal_tilts[1] += load * points->nx[i] * points->ny[i];
    m->load_weighted_normal_tilts[2] += load * points->ny[i] * points->ny[i];
}

/* Sets a part of the pressure from its moments about (x, y). */
static void set_pressure_part_from_moments(const struct moments *m, double x, double y,
                                           struct part *part)
{
    double inverse = 1.0 / m->load, dx = m->x * inverse, dy = m->y * inverse;
    part->load = m->load;
    part->x = x + dx;
    part->y = y + dy;
    part->xx = tact_max(m->xx - m->x * dx, 0.0);
    part->xy = m->xy - m->x * dy;
    part->yy = tact_max(m->yy - m->y * dy, 0.0);
    part->own = tact_max(m->own, 0.0);
    memcpy(part->load_weighted_normal_tilts, m->load_weighted_normal_tilts,
           sizeof part->load_weighted_normal_tilts);
    set_split_axis_and_priority(part);
}

static void swap_field_points(struct patch_pressure_points *points, int i, int j)
{
    double *of[6] = {points->x, points->y, points->load, points->own, points->nx, points->ny};
    for (int k = 0; k < 6; k++) {
        double at = of[k][i];
        of[k][i] = of[k][j];
        of[k][j] = at;
    }
}

/* Divides a part of the pressure across its longest axis at its mean point. Returns 0 where its
 * points coincide. */
static int split_pressure_part(struct patch_pressure_points *points, struct part *part,
                               struct part *split_off_part)
{
    const double x = part->x, y = part->y, ax = part->axis[0], ay = part->axis[1];
    int low = part->first, high = part->first + part->count;
    struct moments m = {.load = 0.0};
    while (low < high) {
        double dx = points->x[low] - x, dy = points->y[low] - y;
        if (dx * ax + dy * ay > 0.0) {
            add_pressure_point_to_moments(points, low, dx, dy, &m);
            swap_field_points(points, low, --high);
        } else {
            low++;
        }
    }
    int split_off_point_count = part->first + part->count - low;
    if (!split_off_point_count || split_off_point_count == part->count || !(m.load < part->load)) {
        return 0;
    }
    split_off_part->first = low;
    split_off_part->count = split_off_point_count;
    part->count -= split_off_point_count;
    const struct moments moments_after_split = {
        part->load - m.load,
        -m.x,
        -m.y,
        part->xx - m.xx,
        part->xy - m.xy,
        part->yy - m.yy,
        part->own - m.own,
        {part->load_weighted_normal_tilts[0] - m.load_weighted_normal_tilts[0],
         part->load_weighted_normal_tilts[1] - m.load_weighted_normal_tilts[1],
         part->load_weighted_normal_tilts[2] - m.load_weighted_normal_tilts[2]}};
    set_pressure_part_from_moments(&m, x, y, split_off_part);
    set_pressure_part_from_moments(&moments_after_split, x, y, part);
    return 1;
}

/* Divides the pressure into parts, each time the part of the highest priority. Returns the number
 * of parts. */
static int split_pressure_into_parts(struct patch_pressure_points *points, struct part *part)
{
    int count = 1;
    part->first = 0;
    part->count = points->count;
    struct moments m = {.load = 0.0};
    for (int i = 0; i < points->count; i++) {
        add_pressure_point_to_moments(points, i, points->x[i], points->y[i], &m);
    }
    set_pressure_part_from_moments(&m, 0.0, 0.0, part);
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

/* Torsion arm of the pressure: the friction power of a unit spin about the centre per load; on a
 * flat patch the mean distance from the centre. */
static double torsion_arm_of_pressure_points(const struct patch_pressure_points *points)
{
    double arm = 0.0, load = 0.0;
    for (int i = 0; i < points->count; i++) {
        double x = points->x[i], y = points->y[i], across = points->ny[i] * x - points->nx[i] * y;
        load += points->load[i];
        arm += points->load[i] * sqrt(tact_max(x * x + y * y - across * across, 0.0) +
                                      DEFAULT_SQUARED_TORSION_ARM_RATIO * points->own[i]);
    }
    return arm / load;
}

/* Torsion arm of the parts whose own arms have the fraction squared_ratio_of_own_arms of their mean
 * squares, and its derivative by that fraction. */
static double torsion_arm_of_pressure_parts(const struct tact_friction_points *p,
                                            const double *square, double squared_ratio_of_own_arms,
                                            double *slope)
{
    double arm = 0.0;
    *slope = 0.0;
    for (int i = 0; i < p->count; i++) {
        double x = p->x[i], y = p->y[i], along = 0.0;
        if (p->tilted) {
            along = p->tilt_xx[i] * y * y - 2.0 * p->tilt_xy[i] * x * y + p->tilt_yy[i] * x * x;
        }
        double distance =
            sqrt(tact_max(x * x + y * y - along, 0.0) + squared_ratio_of_own_arms * square[i]);
        arm += p->share[i] * distance;
        *slope += distance > 0.0 ? 0.5 * p->share[i] * square[i] / distance : 0.0;
    }
    return arm;
}

/* Sets the tilts of the parts, and increases their shares from those of the force to those of the
 * pressure, where the surface is not flat. */
static void set_normal_tilts_of_parts(const struct part *part, double load,
                                      double pressure_per_force, struct tact_friction_points *p)
{
    double load_weighted_tilt_sum = 0.0;
    for (int i = 0; i < p->count; i++) {
        load_weighted_tilt_sum +=
            part[i].load_weighted_normal_tilts[0] + part[i].load_weighted_normal_tilts[2];
    }
    p->tilted = load_weighted_tilt_sum > MAX_MEAN_TILT_OF_FLAT_SURFACE * load;
    for (int i = 0; i < p->count && p->tilted; i++) {
        /* For a part whose load is of the size of rounding all three entries are rounding of
         * differences. */
        double xx = tact_max(part[i].load_weighted_normal_tilts[0], 0.0),
               yy = tact_max(part[i].load_weighted_normal_tilts[2], 0.0);
        double xy = copysign(tact_min(fabs(part[i].load_weighted_normal_tilts[1]), sqrt(xx * yy)),
                             part[i].load_weighted_normal_tilts[1]);
        double sum = (xx + yy) / part[i].load;
        double scale =
            (sum > MAX_NORMAL_TILT_OF_PRESSURE_PART ? MAX_NORMAL_TILT_OF_PRESSURE_PART / sum
                                                    : 1.0) /
            part[i].load;
        p->tilt_xx[i] = scale * xx;
        p->tilt_xy[i] = scale * xy;
        p->tilt_yy[i] = scale * yy;
        p->share[i] *= pressure_per_force;
    }
}

void tact_field_set_friction_limit(struct patch_pressure_points *points, double pressure_per_force,
                                   struct tact_patch *patch)
{
    struct part part[TACT_FRICTION_POINTS];
    double square[TACT_FRICTION_POINTS], load = 0.0, share = DEFAULT_SQUARED_TORSION_ARM_RATIO,
                                         slope;
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
    set_normal_tilts_of_parts(part, load, pressure_per_force, p);
    double torsion_arm_of_all_points = p->count ? torsion_arm_of_pressure_points(points) : 0.0;
    torsion_arm_of_all_points *= p->tilted ? pressure_per_force : 1.0;
    for (int i = 0; i < MAX_LIMIT_CORRECTIONS && torsion_arm_of_all_points > 0.0; i++) {
        double torsion_arm_error_of_parts =
            torsion_arm_of_all_points - torsion_arm_of_pressure_parts(p, square, share, &slope);
        share = slope > 0.0 ? tact_max(MIN_SQUARED_TORSION_ARM_RATIO,
                                       tact_min(MAX_SQUARED_TORSION_ARM_RATIO,
                                                share + torsion_arm_error_of_parts / slope))
                            : share;
    }
    for (int i = 0; i < p->count; i++) {
        p->arm[i] = sqrt(share * square[i]);
    }
    patch->spin_arm = torsion_arm_of_pressure_parts(p, square, share, &slope);
    patch->surface = patch->spin_arm > 0.0 ? TACT_SURFACE_POINTS : TACT_SURFACE_ELLIPSOID;
}
