/*
 * The friction limit of a pressure, by points that represent it: the support function of Coulomb
 * friction, psi(s) = mu sum P |s at the point|, whose gradient is the friction at slip s.
 */
#include <math.h>
#include "contact/elementary.h"
#include "contact/pair/field/field_model_internal.h"

/* Longest edge of the part that a point represents, over the patch's longer semi-axis; and the
 * largest number of bisections. */
#define FINE 0.25
enum { DEEPEST = 10 };

/* Coulomb friction under a uniform pressure on a disc; G is convex with a multiple of it from 0,
 * the ellipsoid, to 2. */
static const double disc[3] = {0.5004, 0.0169, 0.2663};

static void add_point(struct field_points *points, const double *x, double load)
{
    double from[3];
    if (points->count == TACT_FIELD_POINTS || !(load > 0.0)) {
        points->lost += load > 0.0;
        return;
    }
    tact_v3_sub(from, x, points->centre);
    points->x[points->count] = tact_v3_dot(points->axes, from);
    points->y[points->count] = tact_v3_dot(points->axes + 3, from);
    points->load[points->count++] = load;
}

/* Adds a part of a polygon, bisected along its longest edge until that is short. */
static void add_triangle(struct field_points *points, const struct field_polygon *p,
                         const double (*x)[3], double longest, int depth)
{
    double edge[3], most = 0.0, middle[3];
    int from = 0;
    for (int k = 0; k < 3; k++) {
        tact_v3_sub(edge, x[(k + 1) % 3], x[k]);
        double size = tact_v3_dot(edge, edge);
        from = size > most ? k : from;
        most = tact_max(most, size);
    }
    if (depth && most > longest * longest) {
        double half[2][3][3];
        int to = (from + 1) % 3, apex = (from + 2) % 3;
        for (int k = 0; k < 3; k++) {
            middle[k] = 0.5 * (x[from][k] + x[to][k]);
        }
        for (int h = 0; h < 2; h++) {
            tact_v3_copy(half[h][0], x[h ? to : from]);
            tact_v3_copy(half[h][1], middle);
            tact_v3_copy(half[h][2], x[apex]);
            add_triangle(points, p, (const double(*)[3])half[h], longest, depth - 1);
        }
        return;
    }
    double u[3], w[3], across[3];
    tact_v3_sub(u, x[1], x[0]);
    tact_v3_sub(w, x[2], x[0]);
    tact_v3_cross(across, u, w);
    for (int k = 0; k < 3; k++) {
        middle[k] = (x[0][k] + x[1][k] + x[2][k]) / 3.0;
    }
    add_point(points, middle,
              0.5 * tact_v3_norm(across) *
                  tact_field_law(p->power, p->base + tact_v3_dot(p->slope_a, middle)));
}

/* 1 where the polygon is one point: all of it is near its first corner. */
static int is_small(const struct field_polygon *p, double longest)
{
    double edge[3], most = 0.0;
    for (int k = 1; k < p->corners; k++) {
        tact_v3_sub(edge, p->corner[k], p->corner[0]);
        most = tact_max(most, tact_v3_dot(edge, edge));
    }
    return most <= longest * longest;
}

void tact_field_points(const struct field_surface *of, int group, double size,
                       struct field_points *points)
{
    points->count = points->lost = 0;
    for (size_t i = 0; i < of->count; i++) {
        const struct field_polygon *p = &of->polygon[i];
        double x[3][3];
        if ((group >= 0 && p->group != group) || !(p->load > 0.0)) {
            continue;
        }
        if (is_small(p, FINE * size)) {
            tact_v3_copy(x[0], p->corner[0]);
            tact_v3_axpy(x[0], 1.0 / p->load, p->lever);
            add_point(points, x[0], p->load);
            continue;
        }
        for (int k = 1; k + 1 < p->corners; k++) {
            tact_v3_copy(x[0], p->corner[0]);
            tact_v3_copy(x[1], p->corner[k]);
            tact_v3_copy(x[2], p->corner[k + 1]);
            add_triangle(points, p, (const double(*)[3])x, FINE * size, DEEPEST);
        }
    }
}

/* Friction at a slip at 45 degrees between a direction and a spin: its distance inside the
 * ellipsoid, over that of a uniform disc. */
static double inside_ellipsoid(const struct field_points *points, double total, double arm,
                               double c, double s)
{
    double fx = 0.0, fy = 0.0, torque = 0.0, spin = 1.0 / arm;
    for (int i = 0; i < points->count; i++) {
        double vx = c - spin * points->y[i], vy = s + spin * points->x[i];
        double speed = sqrt(vx * vx + vy * vy);
        double by = speed > 0.0 ? points->load[i] / speed : 0.0;
        fx += by * vx;
        fy += by * vy;
        torque += by * (points->x[i] * vy - points->y[i] * vx);
    }
    double f = (fx * fx + fy * fy) / (total * total);
    double m = torque * torque / (arm * arm * total * total);
    double sum = f + m, share = f / sum;
    double uniform = disc[0] + share * (disc[1] + share * disc[2]);
    return (1.0 / sum - 1.0) / (share * (1.0 - share) * uniform);
}

void tact_field_limit(const struct field_points *points, struct tact_patch *patch)
{
    static const double way[4][2] = {{1.0, 0.0},
                                     {0.0, 1.0},
                                     {0.70710678118654752, 0.70710678118654752},
                                     {0.70710678118654752, -0.70710678118654752}};
    double total = 0.0, arm = 0.0, share = 0.0;
    for (int i = 0; i < points->count; i++) {
        double x = points->x[i], y = points->y[i];
        total += points->load[i];
        arm += points->load[i] * sqrt(x * x + y * y);
    }
    patch->spin_arm = total > 0.0 ? arm / total : 0.0;
    patch->surface = TACT_SURFACE_FITTED;
    for (int i = 0; i < 4 && patch->spin_arm > 0.0; i++) {
        double of = inside_ellipsoid(points, total, patch->spin_arm, way[i][0], way[i][1]);
        share +=
            0.25 * tact_min(tact_max(of, -8.0), 8.0); /* without torsion it would be infinite */
    }
    share = tact_min(tact_max(share, 0.0), 2.0);
    for (int k = 0; k < 3; k++) {
        patch->fit[k] = share * disc[k];
    }
}
