/*
 * Integrals of tractions over a contact surface (Elandt 2019, VI-B2 and VI-B3): each polygon is
 * divided into triangles about its centroid, so that a polygon or corner that appears or vanishes
 * has no area then, and each triangle is integrated by quadrature.
 */
#include <math.h>
#include "contact/compare/tractions_internal.h"

/* Distance of a corner from the line between its neighbours, relative to their distance, up to
 * which it is on a straight edge. */
#define STRAIGHT_CORNER_RATIO 1e-9

/* Barycentric coordinates of the points of quadrature, of equal weights. */
static const double quadrature_of_one_point[1][3] = {{1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0}};
static const double quadrature_of_three_points[3][3] = {{2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0},
                                                        {1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0},
                                                        {1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0}};

/* Increase of the pressure at a point with the approach of the two bodies along the normal [Pa/m]:
 * from the gradients of the cells themselves, which averages at the vertices are not. */
static double normal_pressure_stiffness(const struct contact_surface_polygon *polygon, double level)
{
    const double along_a = tact_v3_dot(polygon->gradient_a, polygon->normal);
    const double along_b = tact_v3_dot(polygon->gradient_b, polygon->normal);
    const double of_level = -along_a * along_b / polygon->pressure_gradient_difference;
    const double pressure_per_level =
        polygon->power == 1.0
            ? 1.0
            : polygon->power * tact_field_pressure_of_level(polygon->power, level) / level;
    return tact_max(of_level * pressure_per_level, 0.0);
}

/* The pressure at a point with its damping: p (1 + a v) + tau dp/dx v of an approach speed v, not
 * below 0 (2, 3). */
static double damped_pressure(const struct contact_surface_polygon *polygon, const double *x,
                              double approach, const struct traction_law *law)
{
    const double level = tact_field_pressure_level(polygon, x);
    if (!(level > 0.0)) {
        return 0.0;
    }
    double p = tact_field_pressure_of_level(polygon->power, level);
    p *= 1.0 + law->hunt_crossley * approach;
    if (law->dissipation > 0.0) {
        p += law->dissipation * approach * normal_pressure_stiffness(polygon, level);
    }
    return tact_max(p, 0.0);
}

/* Adds the traction of an area about a point: pressure along the normal, and friction against the
 * tangential velocity (7), regularised. */
static void add_point_traction(const struct contact_surface_polygon *polygon, const double *x,
                               double area, const double twist[6], const struct traction_law *law,
                               struct traction_sums *sums)
{
    double velocity[3], force[3], friction[3], torque[3];
    tact_v3_cross(velocity, twist + 3, x);
    tact_v3_add(velocity, velocity, twist);
    const double approach = tact_v3_dot(velocity, polygon->normal);
    const double load = area * damped_pressure(polygon, x, approach, law);
    tact_v3_axpy(velocity, -approach, polygon->normal);
    const double slip = tact_v3_norm(velocity);
    const double regularised = sqrt(slip * slip + law->slip_speed * law->slip_speed);
    tact_v3_scale(friction, velocity, law->friction * load / regularised);
    tact_v3_copy(force, friction);
    tact_v3_axpy(force, load, polygon->normal);
    tact_v3_cross(torque, x, force);
    sums->load += load;
    sums->slip += load * slip;
    sums->friction_damping += law->friction * load / law->slip_speed;
    tact_v3_axpy(sums->first, load, x);
    tact_v3_add(sums->friction, sums->friction, friction);
    tact_v3_add(sums->force, sums->force, force);
    tact_v3_add(sums->torque, sums->torque, torque);
}

/* Lists the corners of a polygon without those on a straight edge, and repeated ones: rounding adds
 * such a corner anywhere on an edge that lies in two cutting planes, and another division into
 * triangles would change the friction by a jump. Returns their number. */
static int list_true_corners(const struct contact_surface_polygon *polygon,
                             const double *corner[TACT_FIELD_MAX_POLYGON_CORNERS])
{
    const int n = polygon->corners;
    int count = 0;
    const double *last = polygon->corner[n - 1];
    for (int k = 0; k < n; k++) {
        const double *next = polygon->corner[(k + 1) % n];
        double to_corner[3], to_next[3], across[3];
        tact_v3_sub(to_corner, polygon->corner[k], last);
        tact_v3_sub(to_next, next, last);
        tact_v3_cross(across, to_corner, to_next);
        if (tact_v3_norm(across) > STRAIGHT_CORNER_RATIO * tact_v3_dot(to_next, to_next)) {
            corner[count++] = last = polygon->corner[k];
        }
    }
    return count;
}

static void add_polygon_tractions(const struct contact_surface_polygon *polygon,
                                  const double twist[6], const struct traction_law *law,
                                  struct traction_sums *sums)
{
    const int points = law->points == 1 ? 1 : 3;
    const double(*point)[3] = points == 1 ? quadrature_of_one_point : quadrature_of_three_points;
    const double *corner[TACT_FIELD_MAX_POLYGON_CORNERS];
    double centroid[3];
    if (!(polygon->area_moments.area > 0.0)) {
        return;
    }
    const int corners = list_true_corners(polygon, corner);
    tact_v3_copy(centroid, polygon->corner[0]);
    tact_v3_axpy(centroid, 1.0 / polygon->area_moments.area, polygon->area_moments.first);
    for (int k = 0; k < corners; k++) {
        const double *a = corner[k], *b = corner[(k + 1) % corners];
        double to_a[3], to_b[3], across[3];
        tact_v3_sub(to_a, a, centroid);
        tact_v3_sub(to_b, b, centroid);
        tact_v3_cross(across, to_a, to_b);
        const double area = 0.5 * tact_v3_norm(across) / points;
        for (int i = 0; i < points; i++) {
            double x[3];
            tact_v3_scale(x, centroid, point[i][0]);
            tact_v3_axpy(x, point[i][1], a);
            tact_v3_axpy(x, point[i][2], b);
            add_point_traction(polygon, x, area, twist, law, sums);
        }
    }
}

void tact_tractions_add_surface(const struct contact_surface_of_fields *surface,
                                const double twist[6], const struct traction_law *law,
                                struct traction_sums *sums)
{
    for (size_t i = 0; i < surface->count; i++) {
        add_polygon_tractions(&surface->polygon[i], twist, law, sums);
    }
}
