/* Collects the drawn parts of a world: its solids, the bones of its hands, its contacts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/vec.h"
#include "contact_loads.h"
#include "picture.h"

static const double PI = 3.14159265358979323846;

static const uint8_t body_colours[][3] = {{86, 142, 196},  {232, 174, 76},  {98, 176, 132},
                                          {206, 130, 168}, {148, 132, 202}, {196, 190, 110},
                                          {110, 184, 196}, {214, 144, 116}};
static const uint8_t fixed_body_colour[3] = {206, 206, 202};
static const uint8_t hand_colour[3] = {226, 184, 156};

static void *grow_picture_list(void *list, size_t used, size_t *room, size_t size)
{
    if (used < *room) {
        return list;
    }
    void *more = realloc(list, (2 * *room + 1024) * size);
    *room = more ? 2 * *room + 1024 : *room;
    return more;
}

void picture_add_triangle(struct picture_scene *scene, const struct picture_triangle *triangle)
{
    struct picture_triangle *list = grow_picture_list(
        scene->triangles, scene->triangle_count, &scene->triangle_room, sizeof *scene->triangles);
    if (!list) {
        scene->failed = 1;
        return;
    }
    scene->triangles = list;
    list[scene->triangle_count++] = *triangle;
}

static void add_bounding_ball(struct picture_scene *scene, const double centre[3], double radius)
{
    size_t room = (size_t)scene->bounding_ball_capacity;
    double(*list)[4] = grow_picture_list(scene->bounding_balls, (size_t)scene->bounding_ball_count,
                                         &room, sizeof *list);
    if (!list) {
        scene->failed = 1;
        return;
    }
    scene->bounding_balls = list;
    scene->bounding_ball_capacity = (int)room;
    tact_v3_copy(list[scene->bounding_ball_count], centre);
    list[scene->bounding_ball_count++][3] = radius;
}

/* Adds a triangle with its normal, unless it is degenerate. */
static void add_flat_shaded_triangle(struct picture_scene *scene, struct picture_triangle *t)
{
    double a[3], b[3], n[3];
    tact_v3_sub(a, t->corner[1], t->corner[0]);
    tact_v3_sub(b, t->corner[2], t->corner[0]);
    tact_v3_cross(n, a, b);
    if (tact_v3_normalize(n, n) > 0.0) {
        for (int i = 0; i < 3; i++) {
            tact_v3_copy(t->normal[i], n);
        }
        picture_add_triangle(scene, t);
    }
}

static void add_mesh_triangles(struct picture_scene *scene, const struct tact_mesh *mesh,
                               const struct tact_pose *pose, struct picture_triangle *t)
{
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        for (int k = 0; k < 3; k++) {
            tact_pose_point(t->corner[k], pose,
                            mesh->vertices + 3 * mesh->triangles[3 * i + (size_t)k]);
        }
        add_flat_shaded_triangle(scene, t);
    }
}

/* A point of the ball's surface at a step of longitude and latitude. */
static void set_triangle_corner_on_sphere(struct picture_triangle *t, int k,
                                          const struct tact_pose *pose, double radius,
                                          int longitude_step, int latitude_step)
{
    double u = PI * longitude_step / 24, v = PI * latitude_step / 24, n[3], p[3];
    tact_v3_set(n, sin(v) * cos(u), sin(v) * sin(u), cos(v));
    tact_v3_scale(p, n, radius);
    tact_pose_point(t->corner[k], pose, p);
    tact_quat_rotate(t->normal[k], pose->quat_wxyz, n);
}

/* Adds the triangles of a ball in eight octants, alternately light and dark to show its rotation.
 */
static void add_sphere_triangles(struct picture_scene *scene, const struct tact_pose *pose,
                                 double radius, const struct picture_triangle *triangle_template,
                                 int must_darken_alternate_octants)
{
    for (int i = 0; i < 48; i++) {
        for (int j = 0; j < 24; j++) {
            struct picture_triangle t = *triangle_template;
            int is_darker_triangle = must_darken_alternate_octants && (i / 12 + j / 12) % 2;
            for (int k = 0; k < 3; k++) {
                t.colour[k] = (uint8_t)(is_darker_triangle ? 0.62 * t.colour[k] : t.colour[k]);
            }
            set_triangle_corner_on_sphere(&t, 0, pose, radius, i, j);
            set_triangle_corner_on_sphere(&t, 1, pose, radius, i, j + 1);
            set_triangle_corner_on_sphere(&t, 2, pose, radius, i + 1, j + 1);
            picture_add_triangle(scene, &t);
            set_triangle_corner_on_sphere(&t, 1, pose, radius, i + 1, j + 1);
            set_triangle_corner_on_sphere(&t, 2, pose, radius, i + 1, j);
            picture_add_triangle(scene, &t);
        }
    }
}

/* Adds the triangles of a rod with round ends from a to b. */
static void add_rod_triangles(struct picture_scene *scene, const double a[3], const double b[3],
                              double radius, struct picture_triangle *t)
{
    double axis[3], t1[3], t2[3];
    struct tact_pose pose = tact_pose_identity();
    tact_v3_sub(axis, b, a);
    tact_v3_copy(pose.position, a);
    add_sphere_triangles(scene, &pose, radius, t, 0);
    if (!(tact_v3_normalize(axis, axis) > 0.0)) {
        return;
    }
    tact_v3_tangents(axis, t1, t2);
    for (int i = 0; i < 24; i++) {
        double n[2][3];
        for (int k = 0; k < 2; k++) {
            double u = 2.0 * PI * (i + k) / 24.0;
            tact_v3_scale(n[k], t1, cos(u));
            tact_v3_axpy(n[k], sin(u), t2);
        }
        for (int half = 0; half < 2; half++) {
            for (int k = 0; k < 3; k++) {
                int turn = half ? k >= 1 : k == 1, end = half ? k == 2 : k >= 1;
                tact_v3_copy(t->normal[k], n[turn]);
                tact_v3_copy(t->corner[k], end ? b : a);
                tact_v3_axpy(t->corner[k], radius, n[turn]);
            }
            picture_add_triangle(scene, t);
        }
    }
}

/* Radius of a bone drawn from a joint to a shape, so that it stays within the shape. */
static double bone_radius_for_shape(const struct tact_shape *shape)
{
    return fmin(0.6 * tact_shape_radius(shape), 0.5 * tact_shape_thickness(shape));
}

/* A bone between two joints, whose links may have no shapes: never thicker than a quarter of its
 * length. thin: radius of the thinnest bone to a shape, or 0. */
static void add_hand_bone(struct picture_scene *out, const double a[3], const double b[3],
                          double thinnest_bone_radius, struct picture_triangle *t)
{
    double along[3];
    tact_v3_sub(along, b, a);
    const double length = tact_v3_norm(along);
    const double radius =
        thinnest_bone_radius > 0.0 ? fmin(thinnest_bone_radius, 0.25 * length) : 0.1 * length;
    if (radius > 0.0) {
        add_rod_triangles(out, a, b, radius, t);
    }
}

/* The bones of a hand: from each link's joint to those of its children, and to its shapes. Of a
 * base that moves only its shapes are drawn. */
static void add_hand_bones(struct tact_world *world, int index, const struct tact_pose *shapes,
                           int id, struct picture_scene *out)
{
    struct tact_hand *hand = tact_world_hand(world, index);
    const int first_finger_link = tact_hand_base_count(hand);
    struct picture_triangle t = {.id = id,
                                 .colour = {hand_colour[0], hand_colour[1], hand_colour[2]}};
    double thinnest_bone_radius = 0.0;
    for (int s = 0; s < tact_world_shape_count(world); s++) {
        struct tact_owner owner = tact_world_owner(world, s);
        if (owner.kind == TACT_OWNER_HAND && owner.index == index &&
            owner.link >= first_finger_link) {
            const double radius = bone_radius_for_shape(tact_world_shape(world, s));
            thinnest_bone_radius =
                thinnest_bone_radius > 0.0 ? fmin(thinnest_bone_radius, radius) : radius;
            add_rod_triangles(out, tact_hand_link_pose(hand, owner.link)->position,
                              shapes[s].position, radius, &t);
        }
    }
    for (int i = first_finger_link; i < tact_hand_count(hand); i++) {
        int parent = tact_hand_parent(hand, i);
        const double *at = tact_hand_link_pose(hand, i)->position;
        add_bounding_ball(out, at, thinnest_bone_radius);
        if (parent >= 0) {
            add_hand_bone(out, tact_hand_link_pose(hand, parent)->position, at,
                          thinnest_bone_radius, &t);
        }
    }
}

static void add_shape_triangles(struct tact_world *world, int index, const struct tact_pose *pose,
                                struct picture_scene *out)
{
    const struct tact_shape *shape = tact_world_shape(world, index);
    struct tact_owner owner = tact_world_owner(world, index);
    const uint8_t *colour = owner.kind == TACT_OWNER_FIXED  ? fixed_body_colour
                            : owner.kind == TACT_OWNER_HAND ? hand_colour
                                                            : body_colours[owner.index % 8];
    struct picture_triangle t = {.id = index + 1};
    memcpy(t.colour, colour, sizeof t.colour);
    if (shape->kind == TACT_SHAPE_HALFSPACE) {
        return;
    }
    if (shape->kind == TACT_SHAPE_SPHERE) {
        add_sphere_triangles(out, pose, shape->size[0], &t, owner.kind == TACT_OWNER_BODY);
    } else if (shape->mesh) {
        add_mesh_triangles(out, shape->mesh, pose, &t);
    }
    if (owner.kind != TACT_OWNER_FIXED) {
        add_bounding_ball(out, pose->position, tact_shape_radius(shape));
    }
}

/* Finds the outline of a contact's patch at its normal force [N], in the world. */
static void find_patch_outline(const struct tact_patch *patch, double force,
                               struct picture_contact *out)
{
    double corner[TACT_PATCH_CORNERS][2];
    out->corners = tact_patch_polygon(patch, force, TACT_PATCH_CORNERS, corner);
    for (int i = 0; i < out->corners; i++) {
        tact_v3_copy(out->outline[i], patch->center);
        tact_v3_axpy(out->outline[i], corner[i][0], patch->frame + 3);
        tact_v3_axpy(out->outline[i], corner[i][1], patch->frame + 6);
    }
}

static void add_drawn_contact(struct tact_world *world, const struct tact_contact *c, double period,
                              struct picture_scene *out)
{
    const double *r = c->impulse, *frame = c->patch.frame;
    struct picture_contact *p = &out->contacts[out->contact_count];
    if (!c->touching || !(r[0] > 0.0)) {
        return;
    }
    int fixed = tact_world_owner(world, c->a).kind == TACT_OWNER_FIXED;
    int bodies = tact_world_owner(world, c->a).kind == tact_world_owner(world, c->b).kind;
    double sign = fixed || (bodies && frame[2] < 0.0) ? -1.0 : 1.0;
    struct contact_loads contact_loads = compute_contact_loads(r, period);
    const double *d = contact_loads.center_of_pressure;
    out->contact_count++;
    p->map = -1;
    for (uint32_t i = 0; i < out->pressure->patches; i++) {
        if (out->pressure->patch[i].polygons &&
            !memcmp(out->pressure->patch[i].center, c->patch.center, sizeof c->patch.center)) {
            p->map = (int)i;
        }
    }
    find_patch_outline(&c->patch, contact_loads.normal, p);
    tact_v3_copy(p->centre, c->patch.center);
    tact_v3_axpy(p->centre, d[0], frame + 3);
    tact_v3_axpy(p->centre, d[1], frame + 6);
    tact_m3_tmul_v3(p->force, frame, r);
    tact_v3_scale(p->force, p->force, sign / period);
    tact_v3_scale(p->torsion, frame, sign * contact_loads.torsion);
    p->is_finger_force = !bodies && !fixed && tact_world_owner(world, c->b).kind == TACT_OWNER_HAND;
}

void picture_gather_scene(struct tact_scene_log *scene_log, const struct tact_record *before,
                          const struct tact_record *now, struct picture_scene *out)
{
    struct tact_world *world = tact_session_world(scene_log->session);
    int pairs, shapes = tact_world_shape_count(world);
    out->pressure = calloc(1, sizeof *out->pressure);
    tact_session_request_pressure(scene_log->session, out->pressure);
    tact_scene_log_step(scene_log, before, now);
    const int *near = tact_world_near(world, &pairs);
    const struct tact_pose *poses = tact_world_shape_poses(world);
    out->time = (double)now->tick * scene_log->scene->period;
    out->contacts = calloc((size_t)pairs * TACT_PIECES + 1, sizeof *out->contacts);
    out->failed = !out->contacts || !out->pressure;
    for (int i = 0; i < shapes; i++) {
        add_shape_triangles(world, i, &poses[i], out);
    }
    for (int i = 0; i < tact_world_hand_count(world); i++) {
        add_hand_bones(world, i, poses, shapes + 1 + i, out);
    }
    for (int n = 0; !out->failed && n < pairs; n++) {
        const int i = near[n];
        const struct tact_contact *c = tact_world_contact(world, i);
        for (int k = 0; k < c->split; k++) {
            add_drawn_contact(world, tact_world_piece(world, i, k), scene_log->scene->period, out);
        }
        if (!c->split) {
            add_drawn_contact(world, c, scene_log->scene->period, out);
        }
    }
}

/* A convex polygon, and room to clip it. */
struct polygon {
    double (*corner)[3], (*clipped)[3];
    size_t count, room; /* corners, and room of each list */
};

/* Makes room for that many corners of the polygon; returns 0 where memory is short. */
static int reserve_polygon_corners(struct polygon *p, size_t count)
{
    if (count <= p->room) {
        return 1;
    }
    double(*corner)[3] = realloc(p->corner, 2 * count * sizeof *corner);
    p->corner = corner ? corner : p->corner;
    double(*clipped)[3] = realloc(p->clipped, 2 * count * sizeof *clipped);
    p->clipped = clipped ? clipped : p->clipped;
    p->room = corner && clipped ? 2 * count : p->room;
    return corner && clipped;
}

/* Clips a polygon to the half-space (p - at) . normal >= 0, which adds a corner at most, but for
 * rounding. Where memory is short, nothing is left of it and the scene has failed. */
static void clip_polygon_by_plane(struct picture_scene *scene, struct polygon *p,
                                  const double at[3], const double normal[3])
{
    double side[2], d[3];
    size_t used = 0;
    if (!reserve_polygon_corners(p, 2 * p->count)) {
        scene->failed = 1;
        p->count = 0;
    }
    for (size_t i = 0; i < p->count; i++) {
        const double *a = p->corner[i], *b = p->corner[(i + 1) % p->count];
        tact_v3_sub(d, a, at);
        side[0] = tact_v3_dot(d, normal);
        tact_v3_sub(d, b, at);
        side[1] = tact_v3_dot(d, normal);
        if (side[0] >= 0.0) {
            tact_v3_copy(p->clipped[used++], a);
        }
        if ((side[0] < 0.0) != (side[1] < 0.0)) {
            tact_v3_sub(d, b, a);
            tact_v3_copy(p->clipped[used], a);
            tact_v3_axpy(p->clipped[used++], side[0] / (side[0] - side[1]), d);
        }
    }
    double(*corner)[3] = p->clipped;
    p->clipped = p->corner;
    p->corner = corner;
    p->count = used;
}

/* Sets the polygon to a square of a plane about the centre of the view. */
static void set_plane_square(const struct tact_pose *pose, const struct picture_camera *camera,
                             struct picture_scene *scene, struct polygon *p)
{
    double m[9], n[3], foot[3], d[3], half = 6.0 * camera->width;
    p->count = 0;
    if (!reserve_polygon_corners(p, 4)) {
        scene->failed = 1;
        return;
    }
    tact_quat_to_m3(m, pose->quat_wxyz);
    tact_v3_set(n, m[2], m[5], m[8]);
    tact_v3_sub(d, pose->position, camera->middle);
    tact_v3_copy(foot, camera->middle);
    tact_v3_axpy(foot, tact_v3_dot(d, n), n);
    for (int i = 0; i < 4; i++) {
        double x = i == 0 || i == 3 ? -half : half, y = i < 2 ? -half : half;
        tact_v3_set(p->corner[p->count++], foot[0] + x * m[0] + y * m[1],
                    foot[1] + x * m[3] + y * m[4], foot[2] + x * m[6] + y * m[7]);
    }
}

/* A horizontal plane is drawn over the whole view, any other one within the bounds of the moving
 * bodies. */
static void trim_plane_polygon(struct picture_scene *scene, struct polygon *p,
                               const double normal[3], const double lower[3], const double upper[3])
{
    for (int k = 0; k < 3 && normal[2] < 0.9999; k++) {
        const double lower_plane_normal[3] = {k == 0, k == 1, k == 2},
                     upper_plane_normal[3] = {-(k == 0), -(k == 1), -(k == 2)};
        clip_polygon_by_plane(scene, p, lower, lower_plane_normal);
        clip_polygon_by_plane(scene, p, upper, upper_plane_normal);
    }
}

static void add_polygon_triangles(struct picture_scene *scene, const struct polygon *p, int id)
{
    struct picture_triangle t = {.id = id, .surface_pattern = PATTERN_GRID};
    memcpy(t.colour, fixed_body_colour, sizeof t.colour);
    for (size_t k = 1; k + 1 < p->count; k++) {
        tact_v3_copy(t.corner[0], p->corner[0]);
        tact_v3_copy(t.corner[1], p->corner[k]);
        tact_v3_copy(t.corner[2], p->corner[k + 1]);
        add_flat_shaded_triangle(scene, &t);
    }
}

void picture_add_planes(struct tact_scene_log *scene_log, const struct picture_camera *camera,
                        const double lower[3], const double upper[3], struct picture_scene *scene)
{
    struct tact_world *world = tact_session_world(scene_log->session);
    const struct tact_pose *poses = tact_world_shape_poses(world);
    const double z[3] = {0, 0, 1};
    struct polygon polygon = {.count = 0};
    int shapes = tact_world_shape_count(world);
    for (int i = 0; i < shapes; i++) {
        double n[3], to_eye[3];
        if (tact_world_shape(world, i)->kind != TACT_SHAPE_HALFSPACE) {
            continue;
        }
        tact_quat_rotate(n, poses[i].quat_wxyz, z);
        tact_v3_sub(to_eye, camera->eye, poses[i].position);
        if (!(tact_v3_dot(n, to_eye) > 0.0)) {
            continue;
        }
        set_plane_square(&poses[i], camera, scene, &polygon);
        trim_plane_polygon(scene, &polygon, n, lower, upper);
        for (int k = 0; k < shapes && polygon.count > 2; k++) {
            double other[3];
            tact_quat_rotate(other, poses[k].quat_wxyz, z);
            if (k != i && tact_world_shape(world, k)->kind == TACT_SHAPE_HALFSPACE) {
                clip_polygon_by_plane(scene, &polygon, poses[k].position, other);
            }
        }
        add_polygon_triangles(scene, &polygon, i + 1);
    }
    free(polygon.corner);
    free(polygon.clipped);
}

void picture_free(struct picture_scene *scene)
{
    free(scene->triangles);
    free(scene->contacts);
    free(scene->pressure);
    free(scene->bounding_balls);
    memset(scene, 0, sizeof *scene);
}
