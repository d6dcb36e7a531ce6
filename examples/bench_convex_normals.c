/* Figures 4 and 5 of Yi and Drumwright 2018: misleading contact normals, and those of tact. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "bench_convex.h"
#include "contact/pair/features/distance.h"
#include "contact/pair/model.h"
#include "contact/world/world.h"

/* ---- figure 4 ---- */

#define INNER_PLATE_SPEED 0.2 /* speed of the inner parallelogram [m/s] */
#define PLATE_THICKNESS 0.03
#define HOLE_HEIGHT 0.02
#define INNER_TO_HOLE_SIZE_RATIO 0.9 /* size of the inner parallelogram relative to the hole */

enum { SIDES = 4, SHAPES = SIDES + 1 };

/* Corners of the hole, counter-clockwise, about its middle [m]. */
static const double hole_corners[SIDES][2] = {
    {-0.14, -0.05}, {0.06, -0.05}, {0.14, 0.05}, {-0.06, 0.05}};

/* Makes the prism over four corners in the plane. */
static int make_quadrilateral_prism(const double corner[4][2], struct tact_shape *out)
{
    double point[8][3];
    struct tact_error err = {.line = 0};
    for (int i = 0; i < 8; i++) {
        tact_v3_set(point[i], corner[i % 4][0], corner[i % 4][1],
                    i < 4 ? -HOLE_HEIGHT : HOLE_HEIGHT);
    }
    *out = (struct tact_shape){.kind = TACT_SHAPE_CONVEX};
    int rc = tact_mesh_hull(point[0], 8, &out->owned, &err);
    out->mesh = out->owned;
    return rc;
}

/* Unit normal of a side, into the hole. */
static void find_hole_side_normal(int side, double n[2])
{
    const double *p = hole_corners[side], *q = hole_corners[(side + 1) % SIDES];
    double length = hypot(q[0] - p[0], q[1] - p[1]);
    n[0] = -(q[1] - p[1]) / length;
    n[1] = (q[0] - p[0]) / length;
}

/* Makes the shapes of the four sides of the outer parallelogram and of the inner one. */
static int make_convex_pair_shapes(struct tact_shape shape[SHAPES])
{
    double corners_of_inner_parallelogram[SIDES][2];
    int rc = 0;
    memset(shape, 0, SHAPES * sizeof *shape);
    for (int i = 0; !rc && i < SIDES; i++) {
        const double *p = hole_corners[i], *q = hole_corners[(i + 1) % SIDES];
        double n[2];
        find_hole_side_normal(i, n);
        const double side[4][2] = {{p[0], p[1]},
                                   {q[0], q[1]},
                                   {q[0] - PLATE_THICKNESS * n[0], q[1] - PLATE_THICKNESS * n[1]},
                                   {p[0] - PLATE_THICKNESS * n[0], p[1] - PLATE_THICKNESS * n[1]}};
        corners_of_inner_parallelogram[i][0] = INNER_TO_HOLE_SIZE_RATIO * p[0];
        corners_of_inner_parallelogram[i][1] = INNER_TO_HOLE_SIZE_RATIO * p[1];
        rc = make_quadrilateral_prism(side, &shape[i]);
    }
    return rc ? rc : make_quadrilateral_prism(corners_of_inner_parallelogram, &shape[SIDES]);
}

static int make_world_of_hole_sides(const struct tact_shape shape[SHAPES], const double velocity[2],
                                    struct tact_world *world)
{
    const struct tact_pose here = tact_pose_identity();
    const struct tact_contact_law law = {.overlap = 1e-5};
    const double inertia[6] = {1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0};
    struct tact_body body = {.pose = here, .twist = {velocity[0], velocity[1]}};
    int rc = tact_body_set_mass(&body, 1.0, inertia);
    rc = rc ? rc : tact_world_add_body(world, &body);
    for (int i = 0; rc >= 0 && i < SHAPES; i++) {
        const struct tact_owner owner = {.kind = i < SIDES ? TACT_OWNER_FIXED : TACT_OWNER_BODY};
        rc = tact_world_add_shape(world, owner, &shape[i], &here, i == SIDES);
    }
    rc = rc < 0 ? rc : tact_world_set_law(world, 0, 1, &law);
    return rc < 0 ? rc : tact_world_finish(world);
}

/* Distance that the inner parallelogram moves at that velocity until the hole's sides stop it. */
static int find_plate_travel_until_stopped(const struct tact_shape shape[SHAPES],
                                           const double velocity[2], double *moved)
{
    struct tact_world_options options = tact_world_options_default();
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(1024);
    struct tact_world *world = NULL;
    struct tact_solve_stats stats;
    options.gravity[2] = 0.0;
    options.model = tact_contact_model_find("features");
    int rc = scratch ? tact_world_create(&options, &world) : -ENOMEM;
    rc = rc ? rc : make_world_of_hole_sides(shape, velocity, world);
    if (!rc) {
        tact_world_start(world, scratch);
    }
    for (int i = 0; !rc && i < 200; i++) {
        rc = tact_world_step(world, scratch, &stats);
    }
    *moved = rc ? NAN : tact_v3_norm(tact_world_body(world, 0)->pose.position);
    if (world) {
        tact_world_destroy(world);
    }
    tact_moments_scratch_destroy(scratch);
    return rc;
}

int measure_plate_in_hole(struct plate_in_hole_result plate_in_hole_results[CONVEX_WAYS])
{
    const struct tact_pose here = tact_pose_identity();
    struct tact_shape shape[SHAPES];
    static struct tact_distance side[SIDES];
    int rc = make_convex_pair_shapes(shape);
    for (int i = 0; !rc && i < SIDES; i++) {
        rc = tact_distance_find(&shape[SIDES], &here, &shape[i], &here, &side[i]);
    }
    for (int i = 0; !rc && i < CONVEX_WAYS; i++) {
        const double *n = side[i].normal,
                     velocity[2] = {-INNER_PLATE_SPEED * n[0], -INNER_PLATE_SPEED * n[1]};
        struct plate_in_hole_result *h = &plate_in_hole_results[i];
        h->angle = atan2(-n[1], -n[0]);
        h->gap = side[i].distance;
        h->least = INFINITY;
        for (int k = 0; k < SIDES; k++) {
            h->least = fmin(h->least, -tact_v3_dot(n, side[k].normal));
        }
        rc = find_plate_travel_until_stopped(shape, velocity, &h->moved);
    }
    for (int i = 0; i < SHAPES; i++) {
        tact_shape_release(&shape[i]);
    }
    return rc;
}

/* ---- figure 5 ---- */

int measure_ball_in_corner(struct ball_in_corner_result out[CONVEX_OFFSETS])
{
    static const double offset[CONVEX_OFFSETS] = {0.0, 0.05, 0.1, 0.2, 0.28};
    const double radius = 0.02, depth = 0.005;
    struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {radius, 0.0, 0.0}};
    struct tact_shape box = {.kind = TACT_SHAPE_BOX, .size = {0.3, 0.03, 0.03}};
    const struct tact_pose here = tact_pose_identity();
    static struct tact_distance found;
    int rc = tact_shape_tessellate(&box);
    for (int i = 0; !rc && i < CONVEX_OFFSETS; i++) {
        struct tact_pose at = here;
        tact_v3_set(at.position, offset[i], 0.0, box.size[2] + radius - depth);
        rc = tact_distance_find(&ball, &at, &box, &here, &found);
        /* along the line of centres the ball is out once it has risen by its depth */
        out[i] = (struct ball_in_corner_result){
            .offset = offset[i],
            .depth = -found.distance,
            .shift_by_push_along_normal = -found.distance * found.normal[0],
            .angle = atan2(offset[i], at.position[2]),
            .shift_by_push_along_centres = depth * offset[i] / at.position[2]};
        tact_v3_axpy(at.position, -found.distance, found.normal);
        rc = rc ? rc : tact_distance_find(&ball, &at, &box, &here, &found);
        out[i].left = found.distance;
    }
    tact_shape_release(&box);
    return rc;
}
