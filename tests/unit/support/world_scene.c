#include "world_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* The memory of a scene that was closed, for the next: no result depends on what is in it
 * (test_moments_cache), and 20 MB that are set to 0 for every world take most of the time of a test
 * of many small worlds. */
static struct tact_moments_scratch *kept;

void open_empty_scene(struct world_scene *scene, const struct tact_world_options *options)
{
    memset(scene, 0, sizeof *scene);
    scene->options = options ? *options : tact_world_options_default();
    scene->scratch = kept ? kept : tact_moments_scratch_create(65536);
    kept = NULL;
    assert_non_null(scene->scratch);
    assert_int_equal(tact_world_create(&scene->options, &scene->world), 0);
}

void close_scene(struct world_scene *scene)
{
    tact_world_destroy(scene->world);
    tact_moments_scratch_destroy(kept);
    kept = scene->scratch;
    for (int i = 0; i < scene->shape_count; i++) {
        tact_shape_release(&scene->shapes[i]);
    }
    for (int i = 0; i < scene->mesh_count; i++) {
        tact_mesh_free(scene->meshes[i]);
    }
}

struct tact_world_options options_with_tilted_gravity(double slope)
{
    struct tact_world_options o = tact_world_options_default();
    o.gravity[0] = 9.81 * sin(slope);
    o.gravity[2] = -9.81 * cos(slope);
    return o;
}

void add_scene_ground(struct world_scene *scene)
{
    const struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};
    const struct tact_pose here = tact_pose_identity();
    add_scene_shape(scene, -1, &ground, &here, 0);
}

struct tact_shape box_of_sides(double x, double y, double z)
{
    struct tact_shape s = {.kind = TACT_SHAPE_BOX, .size = {0.5 * x, 0.5 * y, 0.5 * z}};
    return s;
}

struct tact_shape make_sphere(double radius)
{
    struct tact_shape s = {.kind = TACT_SHAPE_SPHERE, .size = {radius, 0, 0}};
    return s;
}

static struct tact_shape make_owned_mesh_shape(struct world_scene *scene, struct tact_mesh *mesh,
                                               int convex)
{
    assert_true(scene->mesh_count < MAX_SCENE_SHAPES);
    scene->meshes[scene->mesh_count++] = mesh;
    struct tact_shape s = {.kind = convex ? TACT_SHAPE_CONVEX : TACT_SHAPE_MESH, .mesh = mesh};
    return s;
}

struct tact_shape make_cylinder_mesh_shape(struct world_scene *scene, double radius, double height,
                                           int sides)
{
    double points[2 * 256 * 3];
    struct tact_mesh *mesh = NULL;
    struct tact_error err;
    assert_true(sides <= 256);
    for (int i = 0; i < sides; i++) {
        double angle = 2.0 * 3.14159265358979323846 * i / sides;
        for (int k = 0; k < 2; k++) {
            tact_v3_set(points + 3 * (2 * i + k), radius * cos(angle), radius * sin(angle),
                        (k ? 0.5 : -0.5) * height);
        }
    }
    assert_int_equal(tact_mesh_hull(points, (size_t)(2 * sides), &mesh, &err), 0);
    return make_owned_mesh_shape(scene, mesh, 1);
}

struct tact_shape make_shape_of_boxes(struct world_scene *scene, const double *boxes, int count)
{
    double vertices[16 * 8 * 3];
    uint32_t triangles[16 * 12 * 3];
    struct tact_mesh *mesh = NULL;
    struct tact_error err;
    assert_true(count <= 16);
    for (int i = 0; i < count; i++) {
        const double *box = boxes + 6 * i, half[3] = {0.5 * box[3], 0.5 * box[4], 0.5 * box[5]};
        struct tact_mesh *one = NULL;
        assert_int_equal(tact_mesh_box(half, &one), 0);
        assert_true(one->vertex_count == 8 && one->triangle_count == 12);
        for (int k = 0; k < 8; k++) {
            tact_v3_add(vertices + 3 * (8 * i + k), one->vertices + 3 * k, box);
        }
        for (int k = 0; k < 36; k++) {
            triangles[36 * i + k] = one->triangles[k] + (uint32_t)(8 * i);
        }
        tact_mesh_free(one);
    }
    assert_int_equal(
        tact_mesh_create(vertices, (size_t)count * 8, triangles, (size_t)count * 12, &mesh, &err),
        0);
    return make_owned_mesh_shape(scene, mesh, 0);
}

static int add_turned_solid_of_material(struct world_scene *scene, const struct tact_shape *shape,
                                        double mass, const double position[3], double yaw,
                                        int material)
{
    struct tact_shape_mass m;
    struct tact_body body = {.pose = tact_pose_identity()};
    struct tact_pose local = tact_pose_identity();
    tact_shape_mass(shape, &m);
    double density = mass / m.volume;
    const int at[6] = {0, 4, 8, 1, 2, 5};
    double inertia[6], offset[3];
    for (int i = 0; i < 6; i++) {
        inertia[i] = density * m.inertia[at[i]];
    }
    assert_int_equal(tact_body_set_mass(&body, mass, inertia), 0);
    body.pose.quat_wxyz[0] = cos(0.5 * yaw);
    body.pose.quat_wxyz[3] = sin(0.5 * yaw);
    tact_quat_rotate(offset, body.pose.quat_wxyz, m.centroid);
    tact_v3_add(body.pose.position, position, offset);
    int index = tact_world_add_body(scene->world, &body);
    assert_true(index >= 0);
    tact_v3_scale(local.position, m.centroid, -1.0);
    add_scene_shape(scene, index, shape, &local, material);
    return index;
}

int add_scene_solid(struct world_scene *scene, const struct tact_shape *shape, double mass,
                    const double position[3], double yaw)
{
    return add_turned_solid_of_material(scene, shape, mass, position, yaw, 1);
}

int add_scene_solid_of_material(struct world_scene *scene, const struct tact_shape *shape,
                                double mass, const double position[3], int material)
{
    return add_turned_solid_of_material(scene, shape, mass, position, 0.0, material);
}

void add_scene_shape(struct world_scene *scene, int body, const struct tact_shape *shape,
                     const struct tact_pose *local, int material)
{
    assert_true(scene->shape_count < MAX_SCENE_SHAPES);
    struct tact_shape *own = &scene->shapes[scene->shape_count++];
    struct tact_owner owner = {body < 0 ? TACT_OWNER_FIXED : TACT_OWNER_BODY, body < 0 ? 0 : body,
                               0};
    *own = *shape;
    assert_int_equal(tact_shape_tessellate(own), 0);
    assert_true(tact_world_add_shape(scene->world, owner, own, local, material) >= 0);
}

struct tact_contact_law make_rigid_law(double friction)
{
    struct tact_contact_law law = {.friction = friction, .overlap = 2e-5, .dissipation = 0.005};
    return law;
}

void set_scene_contact_law(struct world_scene *scene, int a, int b,
                           const struct tact_contact_law *law)
{
    assert_int_equal(tact_world_set_law(scene->world, a, b, law), 0);
}

void finish_scene_building(struct world_scene *scene)
{
    assert_int_equal(tact_world_finish(scene->world), 0);
    tact_world_start(scene->world, scene->scratch);
}

void solve_scene_velocities(struct world_scene *scene)
{
    struct tact_world *world = scene->world;
    assert_int_equal(tact_world_measure_near(world, scene->scratch), 0);
    assert_int_equal(tact_world_solve(world, &scene->stats), 0);
    scene->ticks++;
    scene->unsolved_ticks += !(scene->stats.residual <= 1e-8);
    if (scene->stats.iterations > scene->max_tick_iterations) {
        scene->max_tick_iterations = scene->stats.iterations;
    }
    if (scene->stats.residual > scene->worst_residual) {
        scene->worst_residual = scene->stats.residual;
    }
}

void step_scene(struct world_scene *scene)
{
    solve_scene_velocities(scene);
    tact_world_integrate(scene->world);
}

void run_scene_for_seconds(struct world_scene *scene, double seconds)
{
    for (long n = lround(seconds / scene->options.period); n > 0; n--) {
        step_scene(scene);
    }
}

double compute_scene_energy(struct world_scene *scene)
{
    double sum = 0.0;
    for (int i = 0; i < tact_world_body_count(scene->world); i++) {
        const struct tact_body *body = tact_world_body(scene->world, i);
        sum += tact_body_energy(body) -
               body->mass * tact_v3_dot(scene->options.gravity, body->pose.position);
    }
    return sum;
}

double compute_phase_corrected_energy(struct world_scene *scene)
{
    double sum = compute_scene_energy(scene), h = scene->options.period;
    for (int i = 0; i < tact_world_body_count(scene->world); i++) {
        const struct tact_body *body = tact_world_body(scene->world, i);
        sum += 0.5 * body->mass * h * tact_v3_dot(scene->options.gravity, body->twist);
    }
    return sum;
}

double body_tilt_from_vertical(struct world_scene *scene, int body)
{
    const double z[3] = {0.0, 0.0, 1.0};
    double up[3];
    tact_quat_rotate(up, tact_world_body(scene->world, body)->pose.quat_wxyz, z);
    return atan2(hypot(up[0], up[1]), up[2]);
}

/* Adds `sign` times the twist, at a world point, of the body that owns the shape. */
static void add_owner_twist_at_point(struct world_scene *scene, int shape, const double *point,
                                     double sign, double *twist)
{
    struct tact_owner owner = tact_world_owner(scene->world, shape);
    if (owner.kind == TACT_OWNER_BODY) {
        const struct tact_body *body = tact_world_body(scene->world, owner.index);
        double arm[3], turn[3];
        tact_v3_sub(arm, point, body->pose.position);
        tact_v3_cross(turn, body->twist + 3, arm);
        tact_v3_axpy(twist, sign, body->twist);
        tact_v3_axpy(twist, sign, turn);
        tact_v3_axpy(twist + 3, sign, body->twist + 3);
    } else if (owner.kind == TACT_OWNER_HAND) {
        double jacobian[6 * 16] = {0.0};
        struct tact_hand *hand = tact_world_hand(scene->world, owner.index);
        const double *v = tact_hand_velocity(hand);
        assert_true(tact_hand_count(hand) <= 16);
        tact_hand_jacobian(hand, owner.link, point, jacobian);
        for (int k = 0; k < tact_hand_count(hand); k++) {
            for (int i = 0; i < 6; i++) {
                twist[i] += sign * v[k] * jacobian[6 * k + i];
            }
        }
    }
}

void start_thrown_box_scene(struct world_scene *scene, const struct tact_world_options *options,
                            const double unit_random_numbers[THROWN_BOX_DRAW_COUNT], double mass,
                            const struct tact_contact_law *law)
{
    struct tact_shape shape = box_of_sides(0.1, 0.02 + 0.08 * unit_random_numbers[0],
                                           0.01 + 0.09 * unit_random_numbers[1]);
    const double at[3] = {0, 0, 0.12};
    open_empty_scene(scene, options);
    add_scene_ground(scene);
    int b = add_scene_solid(scene, &shape, mass, at, 0);
    struct tact_body *body = tact_world_body(scene->world, b);
    for (int i = 0; i < 4; i++) {
        body->pose.quat_wxyz[i] = unit_random_numbers[2 + i] - 0.5;
    }
    tact_quat_normalize(body->pose.quat_wxyz);
    tact_v3_set(body->twist, 3 * unit_random_numbers[6] - 1.5, 0, -1 - unit_random_numbers[7]);
    tact_v3_set(body->twist + 3, 40 * unit_random_numbers[8] - 20, 40 * unit_random_numbers[9] - 20,
                5);
    tact_world_refresh(scene->world);
    set_scene_contact_law(scene, 0, 1, law);
    finish_scene_building(scene);
}

void compute_contact_power(struct world_scene *scene, int pair, double *normal, double *friction)
{
    const struct tact_contact *c = tact_world_contact(scene->world, pair);
    *normal = *friction = 0.0;
    if (!c->touching || !(c->impulse[0] > 0.0)) {
        return;
    }
    const double *r = c->impulse;
    double twist[6] = {0.0}, v[3], w[3], d[2] = {-r[5] / r[0], r[4] / r[0]};
    add_owner_twist_at_point(scene, c->a, c->patch.center, 1.0, twist);
    add_owner_twist_at_point(scene, c->b, c->patch.center, -1.0, twist);
    tact_m3_mul_v3(v, c->patch.frame, twist);
    tact_m3_mul_v3(w, c->patch.frame, twist + 3);
    double spin = r[3] - (d[0] * r[2] - d[1] * r[1]), h = scene->options.period;
    *normal = r[0] * (v[0] + d[1] * w[1] - d[0] * w[2]) / h;
    *friction = (r[1] * (v[1] - d[1] * w[0]) + r[2] * (v[2] + d[0] * w[0]) + spin * w[0]) / h;
}
