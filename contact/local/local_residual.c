/* Residual of an impulse for the law of local_cone.c. */
#include <math.h>
#include <string.h>
#include "contact/local/local_points_internal.h"
#include "contact/local/local_scaled_internal.h"
#include "contact/vec.h"

#define MAX_WELL_INSIDE_LIMIT_RATIO                                                                \
    0.9 /* ratio of an impulse to its limits up to which it is well inside them */

/* Projects x onto K = {|y| <= t, |z| <= t}: for the axis value t both radii are clipped to t, and
 * (t - x0)^2 + (|y| - t)+^2 + (|z| - t)+^2 is convex and piecewise quadratic in t. */
static void project_to_second_order_cone(double *x)
{
    double y = sqrt(x[1] * x[1] + x[2] * x[2]), z = tact_v3_norm(x + 3);
    double larger_tangential_norm = y > z ? y : z, small = y > z ? z : y;
    double t = x[0];
    if (t < larger_tangential_norm) {
        t = 0.5 * (x[0] + larger_tangential_norm);
        if (t < small) {
            t = (x[0] + larger_tangential_norm + small) / 3.0;
        }
        t = t > 0.0 ? t : 0.0;
    }
    x[0] = t;
    double fy = y > t ? t / y : 1.0, fz = z > t ? t / z : 1.0;
    for (int i = 1; i < 6; i++) {
        x[i] *= i < 3 ? fy : fz;
    }
}

/* An impulse and its velocity, scaled at its friction state as in local_scaled_internal.h. */
struct scaled_impulse_and_velocity {
    double impulse_unit[6], x[6], u[6];
    double rho; /* factor from velocities to impulses: inverse of the largest diagonal entry of S */
    double equivalent_untransmitted_force; /* magnitude of components that the patch does not
                    transmit, as a force that causes the same motion */
    double squared_bias_velocity;          /* square of b */
};

/* u = S r + b. */
static void compute_contact_velocity(const struct tact_local_problem *problem, const double *r,
                                     double *u)
{
    memcpy(u, problem->b, 6 * sizeof *u);
    for (int j = 0; j < 6; j++) {
        for (int i = 0; i < 6; i++) {
            u[i] += problem->s[6 * j + i] * r[j];
        }
    }
}

/* Residual of an impulse well inside all limits, where the projection has no effect; -1 where the
 * impulse is not. */
static double residual_well_inside_limits(const struct tact_local_problem *problem, const double *r,
                                          const double *u)
{
    int rolls = tact_local_transmits_rolling_torque(problem);
    double mu = problem->mu, arm = mu * problem->spin_arm, size = 0.0,
           squared_scaled_velocity = 0.0, rho = 0.0;
    const double impulse_unit[6] = {
        1.0, mu, mu, arm, rolls ? problem->semi[1] : 0.0, rolls ? problem->semi[0] : 0.0};
    for (int i = 0; i < 6; i++) {
        double v = impulse_unit[i] * u[i], x = impulse_unit[i] > 0.0 ? r[i] / impulse_unit[i] : 0.0;
        squared_scaled_velocity += v * v;
        size += x * x;
        rho = tact_max(rho, impulse_unit[i] * impulse_unit[i] * problem->s[7 * i]);
    }
    double share = sqrt(squared_scaled_velocity) / (rho * sqrt(size));
    return share < 0.05 ? share : -1.0;
}

/* Scales a contact velocity at the patch centre c to the law's variables, with friction at the
 * centre of pressure d. */
static void scale_contact_velocity(const double *impulse_unit, const double *d, const double *v,
                                   double *out)
{
    tact_v3_set(out, v[0], -impulse_unit[1] * v[5], impulse_unit[2] * v[4]);
    tact_v3_set(out + 3, impulse_unit[3] * (v[1] - d[1] * v[3]),
                impulse_unit[4] * (v[2] + d[0] * v[3]), impulse_unit[5] * v[3]);
}

/* Largest diagonal entry of S after its rows and columns are scaled by `impulse_unit`. */
static double largest_scaled_mobility(const struct tact_local_problem *problem,
                                      const double *impulse_unit, const double *d)
{
    const double *s = problem->s, *a = impulse_unit;
    double s1 = s[7] - 2.0 * d[1] * s[9] + d[1] * d[1] * s[21];
    double s2 = s[14] + 2.0 * d[0] * s[15] + d[0] * d[0] * s[21];
    double normal = tact_max(s[0], tact_max(a[1] * a[1] * s[35], a[2] * a[2] * s[28]));
    double friction = tact_max(a[3] * a[3] * tact_max(s1, s2), a[5] * a[5] * s[21]);
    return tact_max(normal, friction);
}

/* Scales friction further to the ellipsoid that is tangent to a surface of points at a slip; b:
 * scaled like a velocity. */
static void scale_to_tangent_ellipsoid(const struct tact_local_problem *problem, const double *slip,
                                       double *b, struct scaled_impulse_and_velocity *out)
{
    double l[9], mixed[3];
    tact_friction_points_tangent_ellipsoid(problem, slip, l);
    tact_friction_points_map_to_unit_ball(l, out->x + 3, mixed);
    tact_v3_copy(out->x + 3, mixed);
    tact_m3_tmul_v3(mixed, l, out->u + 3);
    tact_v3_copy(out->u + 3, mixed);
    tact_m3_tmul_v3(mixed, l, b + 3);
    tact_v3_copy(b + 3, mixed);
}

/* Scales an impulse r and its velocity u at the centre of pressure d: with the derivatives w of the
 * limit surface, or, of a surface of points, at a slip. Returns 0 where S is zero. */
static int scale_impulse_for_projection(const struct tact_local_problem *problem, const double *r,
                                        const double *u, const double *w, const double *slip,
                                        const double *d, struct scaled_impulse_and_velocity *out)
{
    int rolls = tact_local_transmits_rolling_torque(problem);
    double *impulse_unit = out->impulse_unit, *x = out->x, b[6];
    impulse_unit[0] = 1.0;
    impulse_unit[1] = rolls ? problem->semi[0] : 0.0;
    impulse_unit[2] = rolls ? problem->semi[1] : 0.0;
    impulse_unit[3] = impulse_unit[4] = problem->mu / sqrt(w[0]);
    impulse_unit[5] = problem->mu * problem->spin_arm / sqrt(w[1]);
    tact_v3_set(x, r[0], -r[5], r[4]);
    tact_v3_set(x + 3, r[1], r[2], r[3] - (d[0] * r[2] - d[1] * r[1]));
    double max_scaled_mobility = largest_scaled_mobility(problem, impulse_unit, d),
           equivalent_untransmitted_force = 0.0;
    for (int i = 0; i < 6; i++) {
        equivalent_untransmitted_force +=
            impulse_unit[i] > 0.0
                ? 0.0
                : problem->s[7 * tact_local_row_of_scaled_unknown[i]] * x[i] * x[i];
        x[i] = impulse_unit[i] > 0.0 ? x[i] / impulse_unit[i] : 0.0;
    }
    scale_contact_velocity(impulse_unit, d, u, out->u);
    scale_contact_velocity(impulse_unit, d, problem->b, b);
    if (tact_has_friction_points(problem)) {
        scale_to_tangent_ellipsoid(problem, slip, b, out);
    }
    out->squared_bias_velocity = tact_v3_dot(b, b) + tact_v3_dot(b + 3, b + 3);
    out->rho = 1.0 / max_scaled_mobility;
    out->equivalent_untransmitted_force = sqrt(out->rho * equivalent_untransmitted_force);
    return max_scaled_mobility > 0.0;
}

/* Distance of the centre of pressure beyond the patch's polygon, times the normal force. */
static double pressure_centre_excess_force(const struct tact_local_problem *problem,
                                           const double *r)
{
    double distance_beyond_polygon = 0.0;
    const double *p = problem->corner[problem->corners - 1];
    for (int i = 0; i < problem->corners; i++) {
        const double *q = problem->corner[i], edge[2] = {q[0] - p[0], q[1] - p[1]};
        double out = -edge[1] * (r[5] + p[0] * r[0]) - edge[0] * (r[4] - p[1] * r[0]);
        if (out > 0.0) {
            double e[2] = {problem->semi[1] * edge[0], problem->semi[0] * edge[1]};
            distance_beyond_polygon =
                tact_max(distance_beyond_polygon, out / sqrt(e[0] * e[0] + e[1] * e[1]));
        }
        p = q;
    }
    return distance_beyond_polygon;
}

/* Largest violation of the polygon's conditions, as a force. u: velocity of r. */
static double polygon_contact_residual(const struct tact_local_problem *problem, const double *r,
                                       const double *u, const struct scaled_impulse_and_velocity *v,
                                       double size)
{
    double z = tact_v3_norm(v->x + 3), slip = tact_v3_norm(v->u + 3), least = 0.0;
    for (int i = 0; i < problem->corners; i++) {
        const double *p = problem->corner[i];
        least = tact_min(least, u[0] + p[1] * u[4] - p[0] * u[5]);
    }
    double contact_law_violation =
        tact_max(tact_max(-r[0], z - r[0]),
                 tact_max(pressure_centre_excess_force(problem, r), -v->rho * least));
    double power = fabs(tact_v3_dot(v->x, v->u)) +
                   fabs(tact_v3_dot(v->x + 3, v->u + 3) + tact_max(r[0], 0.0) * slip);
    return tact_max(contact_law_violation, size > 0.0 ? v->rho * power / size : 0.0);
}

/* |x - P_K(x - rho U)|. */
static double natural_map_residual(const struct scaled_impulse_and_velocity *v)
{
    double impulse_projected_to_cone[6], squared_violation = 0.0, slip = tact_v3_norm(v->u + 3);
    for (int i = 0; i < 6; i++) {
        impulse_projected_to_cone[i] = v->x[i] - v->rho * (i ? v->u[i] : v->u[0] + slip);
    }
    project_to_second_order_cone(impulse_projected_to_cone);
    for (int i = 0; i < 6; i++) {
        squared_violation +=
            (v->x[i] - impulse_projected_to_cone[i]) * (v->x[i] - impulse_projected_to_cone[i]);
    }
    return sqrt(squared_violation);
}

double tact_local_residual(const struct tact_local_problem *problem, const double r[6])
{
    double u[6], w[2] = {1.0, 1.0}, f, m, z[3], inner = -1.0, slip[3] = {0.0, 0.0, 0.0};
    struct friction_state at;
    struct scaled_impulse_and_velocity v;
    if (tact_local_resists_rolling(problem)) {
        return tact_local_rolling_resistance_residual(problem, r);
    }
    compute_contact_velocity(problem, r, u);
    double edge = tact_local_pressure_centre(problem, r, at.d);
    int is_impulse_well_inside_limits =
        edge <= MAX_WELL_INSIDE_LIMIT_RATIO && r[0] > 0.0 && problem->mu > 0.0;
    if (tact_has_friction_points(problem)) {
        tact_local_scaled_friction(problem, r, at.d, z);
        is_impulse_well_inside_limits =
            is_impulse_well_inside_limits &&
            tact_friction_points_surface_contains(problem, z, MAX_WELL_INSIDE_LIMIT_RATIO * r[0]);
    } else {
        tact_local_squared_friction_and_torsion(problem, r, at.d, &f, &m);
        double squared_limit_ratio = tact_local_limit_surface(problem, f, m, w);
        is_impulse_well_inside_limits =
            is_impulse_well_inside_limits &&
            squared_limit_ratio <=
                MAX_WELL_INSIDE_LIMIT_RATIO * MAX_WELL_INSIDE_LIMIT_RATIO * r[0] * r[0];
    }
    if (is_impulse_well_inside_limits) {
        inner = residual_well_inside_limits(problem, r, u);
    }
    if (inner >= 0.0) {
        return inner;
    }
    if (tact_has_friction_points(problem)) {
        struct limit_surface_at_slip surface;
        const double *d = at.d;
        tact_v3_set(slip, d[1] * u[3] - u[1], -u[2] - d[0] * u[3], -problem->spin_arm * u[3]);
        tact_friction_points_squared_gauge(problem, z, slip, &surface);
    }
    if (!scale_impulse_for_projection(problem, r, u, w, slip, at.d, &v)) {
        return 0.0;
    }
    double size = sqrt(tact_v3_dot(v.x, v.x) + tact_v3_dot(v.x + 3, v.x + 3));
    double scale = tact_max(size, v.rho * sqrt(v.squared_bias_velocity));
    if (!(scale > 0.0)) {
        return 0.0;
    }
    int has_polygonal_pressure_limit =
        problem->corners && tact_local_transmits_rolling_torque(problem);
    double contact_law_violation = has_polygonal_pressure_limit
                                       ? polygon_contact_residual(problem, r, u, &v, size)
                                       : natural_map_residual(&v);
    return tact_max(contact_law_violation, v.equivalent_untransmitted_force) / scale;
}
