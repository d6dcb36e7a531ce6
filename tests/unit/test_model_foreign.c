/* A contact model added by a program: boxes that stand on a floor, each bottom face a patch. Each
 * member of a patch is used and compared with exact answers. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/world/world_internal.h"
#include "rt/session/replay.h"
#include "support/replays.h"
#include "support/world_scene.h"

#define G 9.81

/* Parameters of this test's contact model, an elastic layer. */
struct layer {
    enum tact_normal_law law;
    double stiffness; /* for TACT_LAW_WRENCH: stiffness of each square metre of the layer [Pa/m] */
    double tangential_stiffness; /* tangential stiffness of each square metre, of bristles whose
                          deflection the model stores [Pa/m] */
    double aside;       /* distance from the middle of the box's face to the patch's centre [m] */
    double floor_speed; /* speed of the floor along x [m/s] */
    int is_patch_in_two_pieces;     /* 1: each half of the face is a separate piece of the patch */
    int uses_uniform_limit_surface; /* 1: the model names the limit surface; 0: it gives its fitted
                                       coefficients */
    int *prepared_shape_count;      /* NULL, or the number of prepared shapes not yet released */
};

/* Data that the model derives from a shape at load. */
struct derived_shape_data {
    double half[3]; /* half sides of the box [m] */
    double modulus; /* modulus of the box's material [Pa] */
    int *prepared_shape_count;
};

static int prepare_box_data(const struct tact_contact_model *model, const struct tact_shape *shape,
                            const struct tact_material *material, void **data,
                            struct tact_error *err)
{
    const struct layer *layer = model->user;
    if (shape->size[2] > 1.0) {
        return tact_error_set(err, -ERANGE, "%g m high: expected at most 2 m",
                              2.0 * shape->size[2]);
    }
    struct derived_shape_data *made = malloc(sizeof *made);
    assert_non_null(made);
    memcpy(made->half, shape->size, sizeof made->half);
    made->modulus = material->modulus;
    made->prepared_shape_count = layer->prepared_shape_count;
    *made->prepared_shape_count += 1;
    *data = made;
    return 0;
}

static void release_box_data(void *data)
{
    struct derived_shape_data *made = data;
    *made->prepared_shape_count -= 1;
    free(made);
}

static int count_patches_of_pair(const struct tact_shape *a, const struct tact_shape *b,
                                 const struct tact_world_options *options)
{
    (void)options;
    return a->kind == TACT_SHAPE_HALFSPACE && b->kind == TACT_SHAPE_BOX ? 2 : 0;
}

/* Computes the elastic wrench of the layer over the rectangular patch, and its stiffness. */
static void compute_layer_wrench(const struct layer *layer, const double *size, double low,
                                 struct tact_patch *p)
{
    double area = 4.0 * size[0] * size[1], k = layer->stiffness * area, x = -layer->aside;
    double xx = size[0] * size[0] / 3.0 + x * x, yy = size[1] * size[1] / 3.0;
    const double g0 = p->gap[0], g1 = p->gap[1], g2 = p->gap[2]; /* about the centre */
    const double force = -k * (g0 + g1 * x), t = layer->tangential_stiffness * area;
    const double normal[3] = {force, -k * g2 * yy, k * (g0 * x + g1 * xx)};
    const int row[3] = {0, 4, 5};
    const double own[9] = {k, 0.0, -k * x, 0.0, k * yy, 0.0, -k * x, 0.0, k * xx};
    memset(p->stiffness, 0, sizeof p->stiffness);
    memset(p->wrench, 0, sizeof p->wrench);
    for (int i = 0; i < 9; i++) {
        p->stiffness[6 * row[i / 3] + row[i % 3]] = low > 0.0 ? own[i] : 0.0;
        p->wrench[row[i % 3]] = low > 0.0 ? normal[i % 3] : 0.0;
    }
    p->stiffness[7] = p->stiffness[14] = t;
}

static int measure_patch_of_box_on_floor(const struct tact_pair_query *q, struct tact_patch *patch,
                                         struct tact_pair_piece *piece)
{
    static const double frame[9] = {0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0};
    const struct layer *layer = q->model->user;
    const struct derived_shape_data *of_b = q->data_b;
    const double *size = of_b ? of_b->half : q->b->size, *at = q->pose_b->position;
    double turn[9], bottom[3], low = 0.0;
    tact_quat_to_m3(turn, q->pose_b->quat_wxyz);
    /* body A of the pair is the floor, which the contact pushes down */
    for (int i = 0; i < 3; i++) {
        bottom[i] = at[i] - turn[3 * i + 2] * size[2] + turn[3 * i] * layer->aside;
    }
    *patch = (struct tact_patch){.law = layer->law,
                                 .kind = TACT_PATCH_ELLIPSE,
                                 .exponent = 1.0,
                                 .rolling_radius = INFINITY,
                                 .corners = 4,
                                 .semi = {size[0], size[1]},
                                 .spin_arm = 0.765 * size[0],
                                 .surface = layer->uses_uniform_limit_surface ? TACT_SURFACE_UNIFORM
                                                                              : TACT_SURFACE_FITTED,
                                 .fit = {0.5004, 0.0169, 0.2663},
                                 .target_velocity = {0.0, -layer->floor_speed, 0.0, 0.0, 0.0, 0.0}};
    memcpy(patch->frame, frame, sizeof frame);
    memcpy(patch->center, bottom, sizeof bottom);
    patch->gap[0] = bottom[2];
    patch->gap[1] = -turn[2] / turn[8];
    patch->gap[2] = turn[5] / turn[8];
    for (int i = 0; i < 4; i++) {
        patch->corner[i][0] = (i == 1 || i == 2 ? size[0] : -size[0]) - layer->aside;
        patch->corner[i][1] = i > 1 ? size[1] : -size[1];
        low = fmax(low, -patch->gap[0] - patch->gap[1] * patch->corner[i][0] -
                            patch->gap[2] * patch->corner[i][1]);
    }
    patch->depth = low;
    if (layer->law == TACT_LAW_WRENCH) {
        compute_layer_wrench(layer, size, low, patch);
        /* deflection of the bristles since the contact began */
        for (int i = 0; i < 2 && layer->tangential_stiffness > 0.0; i++) {
            q->state[i] = q->state[2] > 0.0 ? q->state[i] : bottom[i];
            patch->wrench[1 + i] = (i ? -1.0 : 1.0) * 4.0 * size[0] * size[1] *
                                   layer->tangential_stiffness * (bottom[i] - q->state[i]);
        }
        q->state[2] = low > 0.0;
    }
    for (int i = 0; i < 2 && layer->is_patch_in_two_pieces; i++) {
        double middle = i ? 0.5 * size[0] : -0.5 * size[0];
        piece[i].patch = *patch;
        memset(&piece[i].moments, 0, sizeof piece[i].moments);
        piece[i].patch.center[0] += middle;
        piece[i].patch.semi[0] *= 0.5;
        piece[i].patch.gap[0] += patch->gap[1] * middle;
        for (int k = 0; k < 4; k++) {
            piece[i].patch.corner[k][0] *= 0.5;
        }
    }
    return low == 0.0 && layer->law == TACT_LAW_WRENCH ? -EDOM : 2 * layer->is_patch_in_two_pieces;
}

static struct tact_contact_model make_layer_model(struct layer *layer)
{
    struct tact_contact_model model = {.abi = TACT_ABI(struct tact_contact_model),
                                       .name = "layer",
                                       .user = layer,
                                       .state = 3,
                                       .patches = count_patches_of_pair,
                                       .measure = measure_patch_of_box_on_floor};
    return model;
}

struct standing_box_scene {
    struct layer layer;
    struct tact_contact_model model;
    struct world_scene scene;
};

/* Scene of a body above the floor: one box, or several box feet in a row along x. */
static void start_standing_boxes(struct standing_box_scene *s, struct layer layer,
                                 struct tact_world_options o, double mu, double restitution,
                                 int foot_shape_count)
{
    const struct tact_shape box = box_of_sides(0.1, 0.06, 0.04);
    const double place[3] = {0.0, 0.0, 0.02 - 1e-12}; /* in contact */
    struct tact_contact_law law = make_rigid_law(mu);
    s->layer = layer;
    s->model = make_layer_model(&s->layer);
    law.model = &s->model;
    law.restitution = restitution;
    open_empty_scene(&s->scene, &o);
    add_scene_ground(&s->scene);
    add_scene_solid(&s->scene, &box, 0.3, place, 0.0);
    for (int i = 1; i < foot_shape_count; i++) {
        struct tact_pose local = tact_pose_identity();
        local.position[0] = (i % 2 ? 0.1 : -0.1) * ((i + 1) / 2);
        add_scene_shape(&s->scene, 0, &box, &local, 1);
    }
    set_scene_contact_law(&s->scene, 0, 1, &law);
    finish_scene_building(&s->scene);
}

static struct tact_body *body_of_standing_scene(struct standing_box_scene *s)
{
    return tact_world_body(s->scene.world, 0);
}

/* Height of the lowest corner of the standing box [m]. */
static double lowest_corner_height(struct standing_box_scene *s)
{
    const struct tact_pose *pose = &body_of_standing_scene(s)->pose;
    double turn[9];
    tact_quat_to_m3(turn, pose->quat_wxyz);
    return pose->position[2] - 0.05 * fabs(turn[6]) - 0.03 * fabs(turn[7]) - 0.02 * fabs(turn[8]);
}

/* Gaps known ahead of touch: no corner penetrates, and a box that lands on a corner gains no
 * energy and comes to rest flat. */
static void box_with_contact_by_gaps_does_not_sink(void **state)
{
    (void)state;
    for (int n = 1; n <= 4; n *= 2) {
        struct tact_world_options o = tact_world_options_default();
        struct standing_box_scene s;
        double deepest = 0.0, largest_energy_excess = 0.0, flat = 0.0;
        o.period = 1e-3 * n;
        start_standing_boxes(&s, (struct layer){.law = TACT_LAW_GAPS}, o, 0.0, 0.0, 1);
        const double turn[3] = {0.006, 0.010, 0.0};
        struct tact_body *body = body_of_standing_scene(&s);
        body->pose.position[2] += 0.005;
        tact_quat_from_rotvec(body->pose.quat_wxyz, turn);
        tact_world_refresh(s.scene.world);
        double start = compute_phase_corrected_energy(&s.scene);
        for (int i = 0; i < 200 / n; i++) {
            step_scene(&s.scene);
            deepest = fmin(deepest, lowest_corner_height(&s));
            largest_energy_excess =
                fmax(largest_energy_excess, compute_phase_corrected_energy(&s.scene) / start - 1.0);
            flat = body_tilt_from_vertical(&s.scene, 0) > 1e-6 ? (i + 1) * o.period : flat;
        }
        printf("h %g ms: lowest corner %.1e m, energy %.1e over the start, flat after %.0f ms\n",
               1e3 * o.period, deepest, largest_energy_excess, 1e3 * flat);
        assert_true(deepest > -1e-6 && largest_energy_excess < 1e-9 && flat < 0.05);
        assert_true(s.scene.unsolved_ticks == 0 && fabs(lowest_corner_height(&s)) < 1e-9);
        close_scene(&s.scene);
    }
}

/* A box rebounds to e^2 of its drop height, from the floor and not from ahead of it. */
static void box_with_contact_by_gaps_rebounds_from_the_floor(void **state)
{
    (void)state;
    struct tact_world_options o = tact_world_options_default();
    struct standing_box_scene s;
    double top = 0.0;
    o.period = 1e-4;
    start_standing_boxes(&s, (struct layer){.law = TACT_LAW_GAPS}, o, 0.5, 0.5, 1);
    body_of_standing_scene(&s)->pose.position[2] += 0.05;
    tact_world_refresh(s.scene.world);
    for (int i = 0, up = 0; i < 3000; i++) {
        step_scene(&s.scene);
        up |= body_of_standing_scene(&s)->twist[2] > 0.1;
        top = up ? fmax(top, lowest_corner_height(&s)) : 0.0;
        if (up && body_of_standing_scene(&s)->twist[2] < 0.0) {
            break;
        }
    }
    printf("rebounds to %.4f of the height\n", top / 0.05);
    assert_true(fabs(top / 0.05 - 0.25) < 0.005);
    close_scene(&s.scene);
}

/* A box on a layer of springs, pulled sideways: depth, tilt and deflection of the bristles follow
 * from the stiffness, wherever on the face the patch has its centre, and at any period. */
static void elastic_layer_displacement_is_force_over_stiffness(void **state)
{
    (void)state;
    const double k = 1e6, t = 4e6, area = 0.1 * 0.06, pull = 0.6;
    const double weight = 0.3 * G;
    for (int i = 0; i < 6; i++) {
        struct tact_world_options o = tact_world_options_default();
        struct standing_box_scene s;
        double turn[9];
        o.period = 1e-3 / (1 << i % 3);
        o.gravity[0] = pull / 0.3;
        struct layer layer = {TACT_LAW_WRENCH, k, t, i / 3 * 0.02, 0.0, 0, 0, NULL};
        start_standing_boxes(&s, layer, o, 0.9, 0.0, 1);
        run_scene_for_seconds(&s.scene, 1.0);
        const struct tact_pose *pose = &body_of_standing_scene(&s)->pose;
        tact_quat_to_m3(turn, pose->quat_wxyz);
        double depth = weight / (k * area), way = pull / (t * area);
        /* The weight acts at the centre of mass, which the tilt displaces, and friction at the
         * patch's centre, which sinks. */
        double restoring_moment = k * area * 0.05 * 0.05 / 3.0 - weight * 0.02 - pull * layer.aside;
        double tilt = pull * 0.02 / restoring_moment;
        double of[3] = {(0.02 * turn[8] - pose->position[2]) / depth, turn[2] / tilt,
                        (pose->position[0] - layer.aside * (1.0 - turn[0])) / (way + 0.02 * tilt)};
        printf("h %.2f ms, centre %2.0f mm aside: depth %.6f, tilt %.6f, way %.6f of exact\n",
               1e3 * o.period, 1e3 * layer.aside, of[0], of[1], of[2]);
        assert_true(s.scene.unsolved_ticks == 0 &&
                    tact_v3_norm(body_of_standing_scene(&s)->twist) < 1e-9);
        for (int m = 0; m < 3; m++) {
            assert_true(fabs(of[m] - 1.0) < 2e-5);
        }
        close_scene(&s.scene);
    }
}

/* Feet in a row on springs: each bears the load of its depth, which rigid contacts leave
 * undetermined. */
static void each_elastic_foot_bears_the_load_of_its_depth(void **state)
{
    (void)state;
    enum { FOOT_COUNT = 17 };
    const double k = 1e6, area = 0.1 * 0.06, mass = 0.3;
    struct tact_world_options o = tact_world_options_default();
    struct standing_box_scene s;
    double all = 0.0, worst = 0.0;
    o.gravity[0] = 0.05;
    start_standing_boxes(&s, (struct layer){TACT_LAW_WRENCH, k, 0.0, 0.01, 0.0, 0, 0, NULL}, o, 0.9,
                         0.0, FOOT_COUNT);
    run_scene_for_seconds(&s.scene, 1.0);
    const struct tact_pose *pose = tact_world_shape_poses(s.scene.world);
    assert_int_equal(tact_world_extent(s.scene.world).pairs, FOOT_COUNT);
    for (int i = 0; i < FOOT_COUNT; i++) {
        const struct tact_contact *c = tact_world_contact(s.scene.world, i);
        double depth = 0.02 - pose[c->b].position[2], force = c->impulse[0] / o.period;
        worst = fmax(worst, fabs(force - k * area * depth));
        all += force;
    }
    printf("%d feet: together %.9f of the weight, each within %.1e N of its depth's, at most %d "
           "sweeps\n",
           FOOT_COUNT, all / (mass * G), worst, s.scene.max_tick_iterations);
    assert_true(fabs(all / (mass * G) - 1.0) < 1e-9 && worst < 1e-3 && s.scene.unsolved_ticks == 0);
    close_scene(&s.scene);
}

/* A target velocity of the patch: a moving floor (belt) carries the box along. */
static void patch_target_velocity_carries_a_box(void **state)
{
    (void)state;
    struct tact_world_options o = tact_world_options_default();
    struct standing_box_scene s;
    start_standing_boxes(&s, (struct layer){.law = TACT_LAW_GAPS, .floor_speed = 0.2}, o, 0.5, 0.0,
                         1);
    /* the box slips for 41 ms before it moves with the belt */
    run_scene_for_seconds(&s.scene, 0.02);
    assert_true(fabs(body_of_standing_scene(&s)->twist[0] - 0.5 * G * 0.02) < 1e-9);
    run_scene_for_seconds(&s.scene, 0.1);
    printf("on a belt of 0.2 m/s: %.12f m/s\n", body_of_standing_scene(&s)->twist[0]);
    assert_true(fabs(body_of_standing_scene(&s)->twist[0] - 0.2) < 1e-12);
    close_scene(&s.scene);
}

/* A model may return several patches for one pair, and a fitted limit surface. */
static void model_may_give_pieces_and_a_fitted_limit_surface(void **state)
{
    (void)state;
    struct tact_world_options o = tact_world_options_default();
    double speed[2];
    for (int i = 0; i < 2; i++) {
        struct standing_box_scene s;
        start_standing_boxes(&s,
                             (struct layer){.law = TACT_LAW_GAPS,
                                            .uses_uniform_limit_surface = i,
                                            .is_patch_in_two_pieces = 1},
                             o, 0.5, 0.0, 1);
        body_of_standing_scene(&s)->twist[5] = 4.0;
        body_of_standing_scene(&s)->twist[0] = 0.3;
        run_scene_for_seconds(&s.scene, 0.02);
        const struct tact_contact *c = tact_world_contact(s.scene.world, 0);
        assert_int_equal(c->split, 2);
        assert_true(fabs(c->wrench[2] + 0.3 * G) < 1e-6);
        speed[i] = body_of_standing_scene(&s)->twist[5];
        close_scene(&s.scene);
    }
    printf("spin after 20 ms: %.12f rad/s\n", speed[0]);
    assert_true(speed[0] == speed[1] && speed[0] > 0.1 && speed[0] < 3.9);
}

/* The same model in a scene, by its name: its state is in the log, so that a replay that starts at
 * any tick has the same bits. */
static void state_of_a_contact_model_is_logged(void **state)
{
    (void)state;
    static const char text[] =
        "name: foreign\nduration: 0.3\ngravity: [1.0, 0, -9.81]\n"
        "materials: [{name: wood}, {name: ground}]\n"
        "pairs: [{materials: [wood, ground], friction: 0.9, model: layer}]\n"
        "bodies:\n"
        "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: ground}]}\n"
        "  - name: box\n    mass: 0.3\n    position: [0, 0, 0.021]\n    shapes:\n"
        "      - {type: box, size: [0.1, 0.06, 0.04], material: wood}\n";
    static struct layer layer = {TACT_LAW_WRENCH, 1e6, 4e6, 0.0, 0.0, 0, 0, NULL};
    static struct tact_contact_model model;
    struct tact_session_options options = {.clock = TACT_LOOP_FREE};
    struct tact_session_report report;
    char log[] = "/tmp/tact-foreign-XXXXXX";
    model = make_layer_model(&layer);
    assert_int_equal(tact_contact_model_add(&model), 0);
    assert_int_equal(tact_contact_model_add(&model), -EEXIST);
    assert_non_null(mkdtemp(log));
    char path[64];
    snprintf(path, sizeof path, "%s/a.mcap", log);
    options.record = path;
    run_session_of_scene_text(text, &options, &report);
    check_replays_of_log(path, 300, 37, 1);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(log), 0);
}

static void shapes_without_a_contact_model_are_refused(void **state)
{
    (void)state;
    const struct tact_shape ball = make_sphere(0.02);
    const double place[3] = {0.0, 0.0, 0.02};
    struct layer layer = {.law = TACT_LAW_GAPS};
    struct tact_contact_model model = make_layer_model(&layer);
    struct tact_contact_law law = make_rigid_law(0.5);
    struct world_scene s;
    int a, b;
    open_empty_scene(&s, NULL);
    add_scene_ground(&s);
    add_scene_solid(&s, &ball, 0.3, place, 0.0);
    law.model = &model;
    set_scene_contact_law(&s, 0, 1, &law);
    assert_true(tact_world_find_unsupported(s.world, &a, &b) && a == 0 && b == 1);
    assert_int_equal(tact_world_finish(s.world), -ENOTSUP);
    close_scene(&s);
}

/* Data derived from a shape at load is made once for equal shapes of one material, is passed to
 * each query, and is released with the world. */
static void model_data_of_equal_shapes_is_prepared_once(void **state)
{
    (void)state;
    const struct tact_material soft_material = {.modulus = 3e4};
    struct tact_shape box = box_of_sides(0.1, 0.06, 0.04), other = box_of_sides(0.1, 0.06, 0.05);
    const double up = 0.02 - 1e-12;
    int prepared_shape_count = 0;
    struct layer layer = {.law = TACT_LAW_GAPS, .prepared_shape_count = &prepared_shape_count};
    struct tact_contact_model model = make_layer_model(&layer);
    struct tact_contact_law law = make_rigid_law(0.5);
    struct world_scene s;
    model.prepare = prepare_box_data;
    model.release = release_box_data;
    law.model = &model;
    open_empty_scene(&s, NULL);
    add_scene_ground(&s);
    for (int i = 0; i < 5; i++) {
        const double place[3] = {0.2 * i, 0.0, i < 4 ? up : up + 0.005};
        add_scene_solid(&s, i < 4 ? &box : &other, 0.3, place, 0.0);
    }
    set_scene_contact_law(&s, 0, 1, &law);
    assert_int_equal(tact_world_set_material(s.world, 1, &soft_material), 0);
    assert_int_equal(tact_world_set_material(s.world, -1, &soft_material), -EINVAL);
    finish_scene_building(&s);
    /* prepared data: one for the floor, one for four equal boxes, one for a higher box */
    assert_int_equal(prepared_shape_count, 3);
    const struct derived_shape_data *made = tact_prepared_data(s.world, &model, 3);
    assert_true(made == tact_prepared_data(s.world, &model, 1));
    assert_true(made->modulus == 3e4 && made->half[2] == 0.02);
    made = tact_prepared_data(s.world, &model, 0);
    assert_true(made->modulus == 0.0);
    run_scene_for_seconds(&s, 0.05);
    for (int i = 0; i < 5; i++) {
        assert_true(tact_world_contact(s.world, i)->touching);
    }
    assert_int_equal(tact_world_prepare(s.world, NULL, NULL), -EINVAL);
    close_scene(&s);
    assert_int_equal(prepared_shape_count, 0);
}

/* Creates a session of the scene's text with the added model; returns the error code and writes the
 * error message. */
static int create_session_with_layer_model(const char *text, char message[512])
{
    const struct tact_session_options options = {.clock = TACT_LOOP_FREE};
    struct tact_error err = {.line = 0};
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    int rc = tact_scene_parse(text, strlen(text), "fast.yaml", NULL, &scene, &err);
    rc = rc ? rc : tact_session_create(scene, &options, &session, &err);
    message[0] = 0;
    if (rc) {
        tact_error_format(&err, message, 512);
    }
    tact_session_destroy(session);
    tact_scene_free(scene);
    return rc;
}

#define FAST_BOX_SHAPE_YAML "{type: box, size: [0.1, 0.1, 0.1], material: wood}"
#define ERROR_OF_MODEL_WITHOUT_GAPS(model)                                                         \
    "fast.yaml:7:55: bodies[1].fast: box may touch floor by model: " model                         \
    ", which knows no gap ahead of touch; expected features or smooth"

/* A fast body uses the model `features` by default; a named model without gaps ahead of touch, or
 * a shape that `features` does not accept, is refused by name. */
static void fast_bodies_need_a_contact_model_with_gaps(void **state)
{
    (void)state;
    static const struct {
        const char *model, *shape;
        int rc;
        const char *expected;
    } cases[] = {
        {"", FAST_BOX_SHAPE_YAML, 0, ""},
        {", model: smooth", "{type: sphere, radius: 0.1, material: wood}", 0, ""},
        {", model: features", "{type: capsule, radius: 0.1, length: 0.1, material: wood}", 0, ""},
        {", model: volume", FAST_BOX_SHAPE_YAML, -ENOTSUP, ERROR_OF_MODEL_WITHOUT_GAPS("volume")},
        {", model: points", FAST_BOX_SHAPE_YAML, -ENOTSUP, ERROR_OF_MODEL_WITHOUT_GAPS("points")},
        {", model: field", FAST_BOX_SHAPE_YAML, -ENOTSUP, ERROR_OF_MODEL_WITHOUT_GAPS("field")},
        {"", "{type: cylinder, radius: 0.1, length: 0.1, material: wood}", 0, ""},
        {"", "{type: torus, radius: 0.1, tube: 0.02, material: wood}", -ENOTSUP,
         "fast.yaml:4:8: pairs: floor may touch box with the contact model features, which does "
         "not support their shapes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], message[512];
        snprintf(text, sizeof text,
                 "name: fast\nduration: 1\nmaterials: "
                 "[{name: wood, field: {modulus: 1e6, thickness: 0.01}}, {name: ground}]\n"
                 "pairs: [{materials: [wood, ground], friction: 0.9%s}]\nbodies:\n"
                 "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: ground}]}\n"
                 "  - {name: box, mass: 0.3, position: [0, 0, 1], fast: true, shapes: [%s]}\n",
                 cases[i].model, cases[i].shape);
        assert_int_equal(create_session_with_layer_model(text, message), cases[i].rc);
        assert_string_equal(message, cases[i].expected);
    }
}

/* A shape that the model refuses is named in the message, and the data of the other shapes is
 * released. */
static void shape_refused_by_a_contact_model_is_named(void **state)
{
    (void)state;
    static const char text[] =
        "name: refused\nduration: 1\nmaterials: [{name: wood}, {name: ground}]\n"
        "pairs: [{materials: [wood, ground], friction: 0.9, model: prepared},\n"
        "  {materials: [wood, wood], friction: 0.5}]\n"
        "bodies:\n"
        "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: ground}]}\n"
        "  - {name: box, mass: 0.3, position: [0, 0, 0.03], shapes: "
        "[{type: box, size: [0.1, 0.06, 0.04], material: wood}]}\n"
        "  - {name: tower, mass: 30, position: [1, 0, 2], shapes: "
        "[{type: box, size: [0.1, 0.06, 4], material: wood}]}\n";
    static int prepared_shape_count;
    static struct layer layer = {.law = TACT_LAW_GAPS,
                                 .prepared_shape_count = &prepared_shape_count};
    static struct tact_contact_model model;
    struct tact_session_options options = {.clock = TACT_LOOP_FREE};
    struct tact_error err = {.line = 0};
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    char message[512];
    model = make_layer_model(&layer);
    model.name = "prepared";
    model.prepare = prepare_box_data;
    assert_int_equal(tact_contact_model_add(&model), -EINVAL); /* prepare without release */
    model.release = release_box_data;
    assert_int_equal(tact_contact_model_add(&model), 0);
    if (tact_scene_parse(text, strlen(text), "tower.yaml", NULL, &scene, &err)) {
        fail_msg("%d: %s: %s", err.line, err.key, err.text);
    }
    assert_int_equal(tact_session_create(scene, &options, &session, &err), -ERANGE);
    tact_error_format(&err, message, sizeof message);
    print_message("%s\n", message);
    assert_string_equal(message, "tower.yaml:9:5: bodies[2]: a shape of tower: 4 m high: expected "
                                 "at most 2 m");
    assert_int_equal(prepared_shape_count, 0);
    tact_scene_free(scene);
}

/* A program may add a variant of each of tact's own models. */
static void copies_of_builtin_models_are_accepted(void **state)
{
    (void)state;
    static const char *const names[] = {"volume", "points", "features", "field", "smooth"};
    static const char *const copy_names[] = {"volume-copy", "points-copy", "features-copy",
                                             "field-copy", "smooth-copy"};
    static struct tact_contact_model copies_of_builtin_models[5];
    for (int i = 0; i < 5; i++) {
        copies_of_builtin_models[i] = *tact_contact_model_find(names[i]);
        copies_of_builtin_models[i].name = copy_names[i];
        assert_int_equal(tact_contact_model_add(&copies_of_builtin_models[i]), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_with_contact_by_gaps_does_not_sink),
        cmocka_unit_test(box_with_contact_by_gaps_rebounds_from_the_floor),
        cmocka_unit_test(elastic_layer_displacement_is_force_over_stiffness),
        cmocka_unit_test(each_elastic_foot_bears_the_load_of_its_depth),
        cmocka_unit_test(patch_target_velocity_carries_a_box),
        cmocka_unit_test(model_may_give_pieces_and_a_fitted_limit_surface),
        cmocka_unit_test(state_of_a_contact_model_is_logged),
        cmocka_unit_test(shapes_without_a_contact_model_are_refused),
        cmocka_unit_test(model_data_of_equal_shapes_is_prepared_once),
        cmocka_unit_test(shape_refused_by_a_contact_model_is_named),
        cmocka_unit_test(copies_of_builtin_models_are_accepted),
        cmocka_unit_test(fast_bodies_need_a_contact_model_with_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
