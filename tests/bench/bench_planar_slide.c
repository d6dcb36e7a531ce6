/*
 * Friction of a block on its feet that slides and spins on a floor, in tact.
 *
 *     bench_planar_slide field|volume|disc < pushes
 *
 * planar_slide_push.h has the form of a push and of what is printed for each.
 *
 * field: one rigid mesh of all feet on a soft floor, one contact. volume: one rigid ball for each
 * foot on a rigid floor. disc: one rigid disc about the centre of mass whose uniform pressure has
 * the torsion arm, by volume.
 *
 * The centre of mass is at the height of the floor, as the loads of the feet are known without the
 * moment of friction about it. Exits with 2 on an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/world.h"
#include "planar_slide_push.h"

/* speed of a push [m/s]: friction changes it by 3e-5 in a tick */
static const double PUSH_SPEED = 100.0;
static const double FOOT_HALF_WIDTH = 1e-3; /* half side, or radius, of a foot of the block [m] */
/* elastic modulus of the floor [Pa], and thickness of its soft layer [m] */
static const double FLOOR_MODULUS = 1e9;
static const double SOFT_LAYER_THICKNESS = 0.01;

struct sliding_block {
    struct tact_world *world;
    struct tact_moments_scratch *scratch;
    struct tact_shape shapes[FEET];
    int shape_count;
    struct push at; /* the push for which this world was made */
};

/* Makes one mesh of boxes for all feet of the block. */
static int make_feet_mesh(const struct push *p, struct tact_shape *out)
{
    const double half[3] = {FOOT_HALF_WIDTH, FOOT_HALF_WIDTH, FOOT_HALF_WIDTH};
    double vertices[FEET * 24];
    uint32_t triangles[FEET * 36];
    struct tact_mesh *box, *mesh = NULL;
    struct tact_error err;
    int rc = tact_mesh_box(half, &box);
    for (int i = 0; i < p->foot_count && !rc; i++) {
        const double place[3] = {p->place[i][0], p->place[i][1], FOOT_HALF_WIDTH};
        for (int k = 0; k < 8; k++) {
            tact_v3_add(vertices + 24 * i + 3 * k, box->vertices + 3 * k, place);
        }
        for (int k = 0; k < 36; k++) {
            triangles[36 * i + k] = box->triangles[k] + (uint32_t)(8 * i);
        }
    }
    rc = rc ? rc
            : tact_mesh_create(vertices, 8 * (size_t)p->foot_count, triangles,
                               12 * (size_t)p->foot_count, &mesh, &err);
    *out = (struct tact_shape){.kind = TACT_SHAPE_MESH, .mesh = mesh, .owned = mesh};
    tact_mesh_free(box);
    return rc;
}

/* Makes the shapes of a contact method, and their places. Returns their number, 0 on an error. */
static int make_shapes_of_contact_method(const char *method, const struct push *p,
                                         struct tact_shape *shapes, struct tact_pose *places)
{
    int has_one_contact_per_foot = !strcmp(method, "volume"),
        count = has_one_contact_per_foot ? p->foot_count : 1, rc = 0;
    for (int i = 0; i < count && !rc; i++) {
        places[i] = tact_pose_identity();
        if (!strcmp(method, "field")) {
            rc = make_feet_mesh(p, &shapes[i]);
            continue;
        }
        places[i].position[2] = FOOT_HALF_WIDTH;
        shapes[i] = (struct tact_shape){.kind = TACT_SHAPE_CYLINDER,
                                        .size = {1.5 * p->arm, FOOT_HALF_WIDTH}};
        if (has_one_contact_per_foot) {
            shapes[i] = (struct tact_shape){.kind = TACT_SHAPE_SPHERE, .size = {FOOT_HALF_WIDTH}};
            memcpy(places[i].position, p->place[i], sizeof p->place[i]);
        }
        rc = tact_shape_tessellate(&shapes[i]);
    }
    return rc ? 0 : count;
}

static void close_sliding_block(struct sliding_block *s)
{
    tact_world_destroy(s->world);
    s->world = NULL;
    for (int i = 0; i < s->shape_count; i++) {
        tact_shape_release(&s->shapes[i]);
    }
    s->shape_count = 0;
}

/* Makes a world with the block at rest on the floor. */
static int open_sliding_block(struct sliding_block *s, const char *method, const struct push *p)
{
    static const struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};
    static const struct tact_material soft_floor_material = {
        .field = {.modulus = FLOOR_MODULUS, .thickness = SOFT_LAYER_THICKNESS}};
    const struct tact_pose here = tact_pose_identity();
    const struct tact_owner fixed = {TACT_OWNER_FIXED, 0, 0}, own = {TACT_OWNER_BODY, 0, 0};
    const double mass = p->weight / GRAVITY, turning = mass * 0.05 * 0.05;
    const double inertia[6] = {turning, turning, turning, 0, 0, 0};
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = {.friction = p->friction, .overlap = 1e-5, .dissipation = 0.01};
    struct tact_body body = {.pose = here};
    struct tact_pose places[FEET];
    struct tact_solve_stats stats;
    int is_field_method = !strcmp(method, "field");
    close_sliding_block(s);
    s->at = *p;
    s->shape_count = make_shapes_of_contact_method(method, p, s->shapes, places);
    o.gravity[2] = -GRAVITY;
    law.model = tact_contact_model_find(is_field_method ? "field" : "volume");
    tact_body_set_mass(&body, mass, inertia);
    if (!s->shape_count || tact_world_create(&o, &s->world) ||
        tact_world_add_body(s->world, &body) < 0 ||
        tact_world_add_shape(s->world, fixed, &ground, &here, 0) < 0) {
        return -1;
    }
    for (int i = 0; i < s->shape_count; i++) {
        if (tact_world_add_shape(s->world, own, &s->shapes[i], &places[i], 1) < 0) {
            return -1;
        }
    }
    if (tact_world_set_law(s->world, 0, 1, &law) ||
        (is_field_method && tact_world_set_material(s->world, 0, &soft_floor_material)) ||
        tact_world_finish(s->world)) {
        return -1;
    }
    for (int i = 0; i < REST; i++) {
        if (tact_world_step(s->world, s->scratch, &stats)) {
            return -1;
        }
    }
    return 0;
}

/* Wrench that pushes the block on, about its centre of mass: minus the sum of the contacts'
 * wrenches. */
static int find_pushing_wrench(struct sliding_block *s, const struct push *p, double out[3])
{
    struct tact_body *body = tact_world_body(s->world, 0);
    struct tact_solve_stats stats;
    double scale = twist_scale_for_speed(p, PUSH_SPEED);
    const double twist[6] = {scale * p->twist[0], scale * p->twist[1], 0, 0, 0,
                             scale * p->twist[2]};
    memcpy(body->twist, twist, sizeof twist);
    if (tact_world_measure_near(s->world, s->scratch) || tact_world_solve(s->world, &stats)) {
        return -1;
    }
    out[0] = out[1] = out[2] = 0.0;
    for (int pair = -1; (pair = tact_world_next_pair(s->world, pair)) >= 0;) {
        const struct tact_contact *c = tact_world_contact(s->world, pair);
        double arm[3], torque[3], sign = c->a ? -1.0 : 1.0; /* shape 0 is the floor */
        tact_v3_sub(arm, c->patch.center, body->pose.position);
        tact_v3_cross(torque, arm, c->wrench);
        out[0] += sign * c->wrench[0];
        out[1] += sign * c->wrench[1];
        out[2] += sign * (torque[2] + c->wrench[5]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct sliding_block sliding_block = {.scratch = tact_moments_scratch_create(1024)};
    char line[2048];
    int rc = sliding_block.scratch && argc == 2 &&
                     (!strcmp(argv[1], "field") || !strcmp(argv[1], "volume") ||
                      !strcmp(argv[1], "disc"))
                 ? 0
                 : -1;
    for (int number = 1; !rc && fgets(line, sizeof line, stdin); number++) {
        struct push push;
        double wrench[3];
        if (!parse_push_line(line, &push)) {
            fprintf(stderr, "bench_planar_slide: line %d is not a push\n", number);
            rc = -1;
            break;
        }
        if (!sliding_block.world || !do_pushes_have_same_block(&sliding_block.at, &push)) {
            rc = open_sliding_block(&sliding_block, argv[1], &push);
        }
        rc = rc ? rc : find_pushing_wrench(&sliding_block, &push, wrench);
        if (rc) {
            fprintf(stderr, "bench_planar_slide: line %d cannot be solved\n", number);
            break;
        }
        printf("%.9g %.9g %.9g\n", wrench[0], wrench[1], wrench[2]);
    }
    close_sliding_block(&sliding_block);
    tact_moments_scratch_destroy(sliding_block.scratch);
    return rc ? 2 : 0;
}
