/* Spheres and ellipsoids with half-spaces, spheres with spheres: caps, in closed form. */
#include <string.h>

#include "contact/moments/moments_internal.h"

static const double PI = 3.14159265358979323846;

/* A spherical cap: the part of a ball beyond a plane, of depth 0 to 2 radii. */
struct cap {
    double volume;
    double cap_centroid_distance_from_apex; /* distance of the centroid from the apex [m] */
    double transverse_second_moment; /* second moment of the cap along any direction in the plane
                                        [m^5] */
    double axial_second_moment;      /* central second moment of the cap along its axis [m^5] */
};

/* integrals over slices: at the distance s from the apex a disc with squared radius 2 R s - s^2 */
static struct cap integrate_spherical_cap(double radius, double depth)
{
    struct cap c;
    double d2 = depth * depth, d3 = d2 * depth;
    c.volume = PI * d2 * (radius - depth / 3.0);
    double first = PI * d3 * (2.0 / 3.0 * radius - depth / 4.0);
    double second = PI * d2 * d2 * (radius / 2.0 - depth / 5.0);
    c.cap_centroid_distance_from_apex = c.volume > 0.0 ? first / c.volume : 0.0;
    c.transverse_second_moment =
        PI * d3 * (20.0 * radius * radius - 15.0 * radius * depth + 3.0 * d2) / 60.0;
    c.axial_second_moment = tact_max(second - first * c.cap_centroid_distance_from_apex, 0.0);
    return c;
}

/* Sets the moments of an overlap that is a solid of revolution about the unit vector axis. */
static void set_moments_of_revolution(double volume, const double centroid[3],
                                      double transverse_second_moment, double axial_second_moment,
                                      const double axis[3], double area_of_cutting_disc,
                                      struct tact_moments *out)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    out->volume = volume;
    tact_v3_copy(out->centroid, centroid);
    for (int k = 0; k < 6; k++) {
        out->second[k] =
            (k < 3 ? transverse_second_moment : 0.0) +
            (axial_second_moment - transverse_second_moment) * axis[row[k]] * axis[column[k]];
    }
    tact_v3_scale(out->gradient, axis, -area_of_cutting_disc);
    tact_v3_set(out->gradient + 3, 0.0, 0.0, 0.0);
}

int tact_moments_sphere_halfspace(double radius, const struct tact_pose *pa,
                                  const struct tact_pose *pb, struct tact_moments *out)
{
    double r[9], offset[3], centroid[3];
    tact_quat_to_m3(r, pb->quat_wxyz);
    const double up[3] = {r[2], r[5], r[8]};
    tact_v3_sub(offset, pa->position, pb->position);
    double height = tact_v3_dot(up, offset);
    double depth = tact_min(radius - height, 2.0 * radius);
    if (!(depth > 0.0)) {
        return 0;
    }
    struct cap c = integrate_spherical_cap(radius, depth);
    tact_v3_copy(centroid, pa->position);
    tact_v3_axpy(centroid, c.cap_centroid_distance_from_apex - radius, up);
    double area_of_cutting_disc = PI * depth * (2.0 * radius - depth);
    set_moments_of_revolution(c.volume, centroid, c.transverse_second_moment, c.axial_second_moment,
                              up, area_of_cutting_disc, out);
    return c.volume > 0.0;
}

int tact_moments_ellipsoid_halfspace(const double size[3], const struct tact_pose *pa,
                                     const struct tact_pose *pb, struct tact_moments *out)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double r[9], own[9], offset[3], normal[3], way[3], torque[3];
    tact_quat_to_m3(r, pb->quat_wxyz);
    tact_quat_to_m3(own, pa->quat_wxyz);
    const double up[3] = {r[2], r[5], r[8]};
    tact_v3_sub(offset, pa->position, pb->position);
    tact_m3_tmul_v3(normal, own, up);
    /* Map from the unit ball to the ellipsoid: its columns are the half axes. */
    for (int i = 0; i < 9; i++) {
        own[i] *= size[i % 3];
    }
    for (int k = 0; k < 3; k++) {
        normal[k] *= size[k];
    }
    /* The linear map to the ball of radius 1 takes the plane to one with this unit normal. */
    const double ellipsoid_extent_along_normal = tact_v3_normalize(normal, normal);
    const double depth = tact_min((ellipsoid_extent_along_normal - tact_v3_dot(up, offset)) /
                                      ellipsoid_extent_along_normal,
                                  2.0);
    if (!(depth > 0.0)) {
        return 0;
    }
    const struct cap c = integrate_spherical_cap(1.0, depth);
    const double volume = size[0] * size[1] * size[2];
    const double area = volume / ellipsoid_extent_along_normal * PI * depth * (2.0 - depth);
    /* vector from the ellipsoid's centre to its farthest point along up */
    tact_m3_mul_v3(way, own, normal);
    out->volume = volume * c.volume;
    tact_v3_copy(out->centroid, pa->position);
    tact_v3_axpy(out->centroid, c.cap_centroid_distance_from_apex - 1.0, way);
    for (int k = 0; k < 6; k++) {
        const double *i = own + 3 * row[k], *j = own + 3 * column[k];
        out->second[k] = volume * (c.transverse_second_moment * tact_v3_dot(i, j) +
                                   (c.axial_second_moment - c.transverse_second_moment) *
                                       way[row[k]] * way[column[k]]);
    }
    tact_v3_scale(out->gradient, up, -area);
    tact_v3_cross(torque, way, up); /* the ellipse in which the plane cuts the ellipsoid has its
                                       centre on the line along `way` */
    tact_v3_scale(out->gradient + 3, torque, -area * (depth - c.cap_centroid_distance_from_apex));
    return out->volume > 0.0;
}

int tact_moments_sphere_sphere(double ra, const struct tact_pose *pa, double rb,
                               const struct tact_pose *pb, struct tact_moments *out)
{
    double axis[3], centroid[3];
    tact_v3_sub(axis, pa->position, pb->position);
    double distance = tact_v3_normalize(axis, axis), overlap = ra + rb - distance;
    if (!(overlap > 0.0)) {
        return 0;
    }
    if (distance <= fabs(ra - rb)) {
        double r = tact_min(ra, rb);
        struct cap cap_of_whole_smaller_ball = integrate_spherical_cap(r, 2.0 * r);
        const double *centre = ra < rb ? pa->position : pb->position;
        set_moments_of_revolution(cap_of_whole_smaller_ball.volume, centre,
                                  cap_of_whole_smaller_ball.transverse_second_moment,
                                  cap_of_whole_smaller_ball.transverse_second_moment, axis, 0.0,
                                  out);
        return 1;
    }
    /* The surfaces meet in a circle. Depths of the caps on either side of its plane, without
     * cancellation; axis points from b to a: a's cap has its apex on the side of b. */
    double cap_depth_a = overlap * (rb - ra + distance) / (2.0 * distance);
    double cap_depth_b = overlap * (ra - rb + distance) / (2.0 * distance);
    struct cap a = integrate_spherical_cap(ra, cap_depth_a),
               b = integrate_spherical_cap(rb, cap_depth_b);
    /* heights of the caps' centroids above the plane of the circle, along the axis */
    double za = a.cap_centroid_distance_from_apex - cap_depth_a,
           zb = cap_depth_b - b.cap_centroid_distance_from_apex;
    double volume = a.volume + b.volume;
    double z = (a.volume * za + b.volume * zb) / volume;
    double axial_second_moment = a.axial_second_moment + b.axial_second_moment +
                                 a.volume * b.volume / volume * (za - zb) * (za - zb);
    tact_v3_copy(centroid, pb->position);
    tact_v3_axpy(centroid, rb - cap_depth_b + z, axis);
    double area_of_cutting_disc = PI * cap_depth_a * (2.0 * ra - cap_depth_a);
    set_moments_of_revolution(volume, centroid,
                              a.transverse_second_moment + b.transverse_second_moment,
                              axial_second_moment, axis, area_of_cutting_disc, out);
    return volume > 0.0;
}
