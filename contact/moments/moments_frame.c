/* Signed prism pairs: the frame in which they are measured. */
#include <float.h>

#include "contact/elementary.h"
#include "contact/moments/moments_internal.h"

/* Rotation of the frame's z away from the given direction [rad], and its azimuth. */
static const double PRISM_FRAME_TILT_ANGLE = 0.05, FRAME_TILT_AZIMUTH = 0.7;

/* An oriented box: centre, axes, and half extents along them. */
struct oriented_box {
    double axes[9]; /* axes of the box as columns, world */
    double centre[3];
    double half[3];
};

static void root_bounding_box(const struct tact_mesh *mesh, const struct tact_pose *pose,
                              struct oriented_box *box)
{
    const struct tact_mesh_node *root_node = &mesh->nodes[0];
    double middle[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (root_node->lower[k] + root_node->upper[k]);
        box->half[k] = 0.5 * (root_node->upper[k] - root_node->lower[k]);
    }
    tact_quat_to_m3(box->axes, pose->quat_wxyz);
    tact_m3_mul_v3(box->centre, box->axes, middle);
    tact_v3_add(box->centre, box->centre, pose->position);
}

/* Half extent of an oriented box along the unit vector u. */
static double box_half_extent_along(const struct oriented_box *box, const double u[3])
{
    double local[3];
    tact_m3_tmul_v3(local, box->axes, u);
    return fabs(local[0]) * box->half[0] + fabs(local[1]) * box->half[1] +
           fabs(local[2]) * box->half[2];
}

/* Finds the axis of either box along which they overlap least; returns that overlap. */
static double find_axis_of_least_box_overlap(const struct oriented_box *a,
                                             const struct oriented_box *b, double direction[3])
{
    double least = INFINITY, apart[3];
    tact_v3_set(direction, 0.0, 0.0, 1.0);
    tact_v3_sub(apart, a->centre, b->centre);
    for (int i = 0; i < 6; i++) {
        const double *axes = i < 3 ? b->axes : a->axes;
        double u[3] = {axes[i % 3], axes[3 + i % 3], axes[6 + i % 3]};
        double distance = tact_v3_dot(u, apart);
        double overlap = box_half_extent_along(a, u) + box_half_extent_along(b, u) - fabs(distance);
        if (overlap < least) {
            least = overlap;
            tact_v3_scale(direction, u, distance < 0.0 ? -1.0 : 1.0);
        }
    }
    return least;
}

int tact_prism_frame(const struct tact_mesh *a, const struct tact_pose *pa,
                     const struct tact_mesh *b, const struct tact_pose *pb,
                     const double direction[3], struct tact_prism_frame *frame)
{
    struct oriented_box box_a, box_b;
    double d[3], t1[3], t2[3];
    root_bounding_box(a, pa, &box_a);
    root_bounding_box(b, pb, &box_b);
    if (!(find_axis_of_least_box_overlap(&box_a, &box_b, d) > 0.0)) {
        return 0;
    }
    if (direction && tact_v3_dot(direction, direction) > 0.0) {
        tact_v3_normalize(d, direction);
    }
    tact_v3_copy(frame->normal, d);
    tact_v3_tangents(d, t1, t2);
    tact_v3_scale(d, d, tact_cos(PRISM_FRAME_TILT_ANGLE));
    tact_v3_axpy(d, tact_sin(PRISM_FRAME_TILT_ANGLE) * tact_cos(FRAME_TILT_AZIMUTH), t1);
    tact_v3_axpy(d, tact_sin(PRISM_FRAME_TILT_ANGLE) * tact_sin(FRAME_TILT_AZIMUTH), t2);
    double *axes = frame->axes;
    tact_v3_normalize(axes + 6, d);
    tact_v3_tangents(axes + 6, axes, axes + 3);

    double middle[3];
    for (int k = 0; k < 3; k++) {
        const double *u = axes + 3 * k;
        double ca = tact_v3_dot(u, box_a.centre), cb = tact_v3_dot(u, box_b.centre);
        double ra = box_half_extent_along(&box_a, u), rb = box_half_extent_along(&box_b, u);
        middle[k] = 0.5 * (tact_max(ca - ra, cb - rb) + tact_min(ca + ra, cb + rb));
    }
    tact_m3_tmul_v3(frame->origin, axes, middle);
    return 1;
}

static double largest_mesh_coordinate(const struct tact_mesh *mesh, const struct tact_pose *pose)
{
    return tact_v3_norm(pose->position) + tact_v3_norm(mesh->centroid) + mesh->radius;
}

double tact_prism_slack(const struct tact_mesh *a, const struct tact_pose *pa,
                        const struct tact_mesh *b, const struct tact_pose *pb)
{
    return 32.0 * DBL_EPSILON *
           (largest_mesh_coordinate(a, pa) +
            (b ? largest_mesh_coordinate(b, pb) : tact_v3_norm(pb->position)));
}

void tact_prism_transform_to_frame(const struct tact_prism_frame *frame,
                                   const struct tact_pose *pose, double rot[9], double shift[3])
{
    double r[9], offset[3];
    tact_quat_to_m3(r, pose->quat_wxyz);
    tact_m3_mul(rot, frame->axes, r);
    tact_v3_sub(offset, pose->position, frame->origin);
    tact_m3_mul_v3(shift, frame->axes, offset);
}
