#include "contact/pair/features/curved_internal.h"

#include <math.h>
#include <string.h>
#include "contact/elementary.h"

#define PI 3.14159265358979323846
/* Sine of the angle below which a direction counts as parallel or perpendicular to the cylinder's
 * axis. */
#define PARALLEL_SINE_TOLERANCE 1e-12
/* Radius of the core's rounding, relative to an ellipsoid's smallest radius of curvature. */
#define CURVED_CORE_RADIUS_RATIO 0.5

/* Number of grid steps along a side of the square or cube whose directions define the vertices. */
static const int64_t CURVED_VERTEX_GRID_STEPS = (int64_t)1 << 28,
                     BALL_GRID_STEPS = (int64_t)1 << 25;

void tact_curved_core_init(struct tact_convex_core *core, const double size[3])
{
    int is_cylinder = core->kind == TACT_SHAPE_CYLINDER;
    tact_v3_copy(core->half, size);
    if (is_cylinder) {
        core->vertices = 8 * (CURVED_VERTEX_GRID_STEPS + 1);
        core->size = tact_max(size[0], size[1]);
        core->inscribed_ball_radius = tact_min(size[0], size[1]);
        core->thickness = 2.0 * core->inscribed_ball_radius;
        return;
    }
    double least = tact_min(size[0], tact_min(size[1], size[2]));
    double most = tact_max(size[0], tact_max(size[1], size[2]));
    core->radius = CURVED_CORE_RADIUS_RATIO * least * least / most;
    core->vertices = 6 * (BALL_GRID_STEPS + 1) * (BALL_GRID_STEPS + 1);
    core->size = most - core->radius;
    core->inscribed_ball_radius = least;
    core->thickness = 2.0 * least;
}

/* Index of the grid step nearest to a coordinate in [-1, 1], which has `steps` steps; and the
 * coordinate of a grid step. */
static int64_t nearest_vertex_grid_step(double x, int64_t steps)
{
    double at = 0.5 * (double)steps * (x + 1.0) + 0.5;
    return at >= (double)steps ? steps : at > 0.0 ? (int64_t)at : 0;
}

static double vertex_grid_coordinate(int64_t step, int64_t steps)
{
    return 2.0 * (double)step / (double)steps - 1.0;
}

static int64_t find_cylinder_support_vertex(const double d[3])
{
    int axis = fabs(d[1]) > fabs(d[0]), lower = d[2] < 0.0;
    double most = d[axis], across = most != 0.0 ? d[1 - axis] / fabs(most) : 0.0;
    int64_t side = 2 * axis + (most < 0.0);
    return 2 * (side * (CURVED_VERTEX_GRID_STEPS + 1) +
                nearest_vertex_grid_step(across, CURVED_VERTEX_GRID_STEPS)) +
           lower;
}

static void cylinder_vertex_position(const struct tact_convex_core *core, int64_t vertex,
                                     double out[3])
{
    int64_t side = vertex / 2 / (CURVED_VERTEX_GRID_STEPS + 1);
    int axis = side >= 2;
    double across = vertex_grid_coordinate(vertex / 2 % (CURVED_VERTEX_GRID_STEPS + 1),
                                           CURVED_VERTEX_GRID_STEPS);
    double scale = core->half[0] / sqrt(1.0 + across * across);
    out[axis] = side % 2 ? -scale : scale;
    out[1 - axis] = scale * across;
    out[2] = vertex % 2 ? -core->half[1] : core->half[1];
}

static int64_t find_ellipsoid_support_vertex(const double d[3])
{
    int axis = fabs(d[1]) > fabs(d[0]) ? 1 : 0;
    axis = fabs(d[2]) > fabs(d[axis]) ? 2 : axis;
    double most = fabs(d[axis]) > 0.0 ? fabs(d[axis]) : 1.0;
    int64_t side = 2 * axis + (d[axis] < 0.0);
    int64_t u = nearest_vertex_grid_step(d[(axis + 1) % 3] / most, BALL_GRID_STEPS),
            v = nearest_vertex_grid_step(d[(axis + 2) % 3] / most, BALL_GRID_STEPS);
    return (side * (BALL_GRID_STEPS + 1) + u) * (BALL_GRID_STEPS + 1) + v;
}

/* Vertex of an ellipsoid's core: the ellipsoid's point with a given normal, moved inwards along it
 * by the radius of the core. */
static void ellipsoid_vertex_position(const struct tact_convex_core *core, int64_t vertex,
                                      double out[3])
{
    int64_t side = vertex / (BALL_GRID_STEPS + 1) / (BALL_GRID_STEPS + 1);
    int axis = (int)side / 2;
    double n[3], direction_scaled_by_semi_axes[3];
    n[axis] = side % 2 ? -1.0 : 1.0;
    n[(axis + 1) % 3] = vertex_grid_coordinate(
        vertex / (BALL_GRID_STEPS + 1) % (BALL_GRID_STEPS + 1), BALL_GRID_STEPS);
    n[(axis + 2) % 3] = vertex_grid_coordinate(vertex % (BALL_GRID_STEPS + 1), BALL_GRID_STEPS);
    tact_v3_normalize(n, n);
    for (int i = 0; i < 3; i++) {
        direction_scaled_by_semi_axes[i] = core->half[i] * n[i];
    }
    double h = tact_v3_norm(direction_scaled_by_semi_axes);
    for (int i = 0; i < 3; i++) {
        out[i] = core->half[i] * direction_scaled_by_semi_axes[i] / h - core->radius * n[i];
    }
}

int64_t tact_curved_core_support_vertex(const struct tact_convex_core *core, const double d[3])
{
    return core->kind == TACT_SHAPE_CYLINDER ? find_cylinder_support_vertex(d)
                                             : find_ellipsoid_support_vertex(d);
}

void tact_curved_core_vertex(const struct tact_convex_core *core, int64_t vertex, double out[3])
{
    if (core->kind == TACT_SHAPE_CYLINDER) {
        cylinder_vertex_position(core, vertex, out);
    } else {
        ellipsoid_vertex_position(core, vertex, out);
    }
}

static void farthest_cylinder_point(const struct tact_convex_core *core, const double d[3],
                                    double out[3], double *bend)
{
    double r = core->half[0], across = tact_hypot(d[0], d[1]);
    double c = across > 0.0 ? d[0] / across : 1.0, s = across > 0.0 ? d[1] / across : 0.0;
    out[0] = r * c;
    out[1] = r * s;
    out[2] = d[2] < 0.0 ? -core->half[1] : core->half[1];
    if (bend && across > 0.0) {
        bend[0] = r * s * s / across;
        bend[1] = bend[3] = -r * s * c / across;
        bend[4] = r * c * c / across;
    }
}

static void farthest_ellipsoid_point(const struct tact_convex_core *core, const double d[3],
                                     double out[3], double *bend)
{
    double direction_scaled_by_semi_axes[3], on[3];
    for (int i = 0; i < 3; i++) {
        direction_scaled_by_semi_axes[i] = core->half[i] * d[i];
    }
    double h = tact_v3_norm(direction_scaled_by_semi_axes);
    for (int i = 0; i < 3; i++) {
        on[i] = core->half[i] * direction_scaled_by_semi_axes[i] / h;
        out[i] = on[i] - core->radius * d[i];
    }
    for (int i = 0; bend && i < 9; i++) {
        int row = i / 3, column = i % 3;
        double own = row == column ? core->half[row] * core->half[row] / h - core->radius : 0.0;
        bend[i] = own - on[row] * on[column] / h + core->radius * d[row] * d[column];
    }
}

void tact_curved_core_farthest_point(const struct tact_convex_core *core, const double d[3],
                                     double out[3], double *bend)
{
    if (bend) {
        memset(bend, 0, 9 * sizeof *bend);
    }
    if (core->kind == TACT_SHAPE_CYLINDER) {
        farthest_cylinder_point(core, d, out, bend);
    } else if (core->kind == TACT_SHAPE_ELLIPSOID) {
        farthest_ellipsoid_point(core, d, out, bend);
    } else {
        tact_convex_core_vertex_position(core, tact_convex_core_support_vertex(core, d, -1), out);
    }
}

void tact_curved_core_move_to_farthest(const struct tact_convex_core *core, int64_t vertex,
                                       const double d[3], double out[3])
{
    double at[3];
    if (core->kind == TACT_SHAPE_ELLIPSOID) {
        farthest_ellipsoid_point(core, d, out, NULL);
        return;
    }
    tact_convex_core_vertex_position(core, vertex, out);
    if (core->kind == TACT_SHAPE_CYLINDER) {
        farthest_cylinder_point(core, d, at, NULL);
        int is_direction_along_cylinder_axis = tact_hypot(d[0], d[1]) < PARALLEL_SINE_TOLERANCE,
            across = fabs(d[2]) < PARALLEL_SINE_TOLERANCE;
        tact_v3_set(out, is_direction_along_cylinder_axis ? out[0] : at[0],
                    is_direction_along_cylinder_axis ? out[1] : at[1], across ? out[2] : at[2]);
    }
}

/* Unit vector of the component of d perpendicular to the z axis; the x axis where d is parallel to
 * z. */
static void unit_vector_perpendicular_to_axis(const double d[3], double out[2])
{
    double size = tact_hypot(d[0], d[1]);
    out[0] = size > 1e-12 ? d[0] / size : 1.0;
    out[1] = size > 1e-12 ? d[1] / size : 0.0;
}

void tact_curved_core_end_circle_corners(const struct tact_convex_core *core, double end,
                                         const double d[3], int count, double (*corner)[3])
{
    double first[2];
    unit_vector_perpendicular_to_axis(d, first);
    for (int i = 0; i < count; i++) {
        double angle = end * 2.0 * PI * i / count, c = tact_cos(angle), s = tact_sin(angle);
        corner[i][0] = core->half[0] * (c * first[0] - s * first[1]);
        corner[i][1] = core->half[0] * (s * first[0] + c * first[1]);
        corner[i][2] = end * core->half[1];
    }
}

void tact_curved_core_farthest_segment(const struct tact_convex_core *core, const double d[3],
                                       double farthest_segment_ends[2][3])
{
    double radial_direction_across_axis[2];
    unit_vector_perpendicular_to_axis(d, radial_direction_across_axis);
    for (int i = 0; i < 2; i++) {
        farthest_segment_ends[i][0] = core->half[0] * radial_direction_across_axis[0];
        farthest_segment_ends[i][1] = core->half[0] * radial_direction_across_axis[1];
        farthest_segment_ends[i][2] = i ? -core->half[1] : core->half[1];
    }
}
