#include "contact/world/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/models_internal.h"
#include "contact/world/world_internal.h"

#define MIN_CONTACT_CAPACITY                                                                       \
    8192 /* capacity for contacts, and for near pairs, to which that for each shape is added */
#define MAX_CONTACTS_OF_FEW_PAIRS                                                                  \
    40960 /* contacts up to which all pairs of a world may be near, with the pieces of those that  \
             may be split */
#define CONTACT_CAPACITY_PER_SHAPE 4
#define NEAR_PAIR_CAPACITY_PER_SHAPE 16
#define GAP_BOUNDING_RADIUS_FACTOR                                                                 \
    1.1 /* radius of the bounding sphere of a shape whose gaps are measured before touch, over     \
           that of the shape */

struct tact_world_options tact_world_options_default(void)
{
    struct tact_world_options o = {.period = 1e-3,
                                   .gravity = {0.0, 0.0, -9.81},
                                   .iterations = 50,
                                   .tolerance = 1e-10,
                                   .push_limit = 0.5,
                                   .local = TACT_LOCAL_CONE,
                                   .polygon = 1,
                                   .spin = TACT_SPIN_AUTO,
                                   .normal = TACT_NORMAL_BLEND,
                                   .points = 4096,
                                   .split = 1,
                                   .by_mass = 1};
    return o;
}

int tact_world_create(const struct tact_world_options *o, struct tact_world **out)
{
    *out = NULL;
    if (!(o->period > 0.0) || !isfinite(o->period) || o->iterations < 1 || o->contacts < 0 ||
        o->near < 0 || !(o->tolerance >= 0.0) || !(o->push_limit >= 0.0) || o->points < 1 ||
        (o->model && !tact_contact_model_is_usable(o->model)) ||
        !isfinite(o->gravity[0] + o->gravity[1] + o->gravity[2])) {
        return -EINVAL;
    }
    struct tact_world *world = calloc(1, sizeof *world);
    if (!world) {
        return -ENOMEM;
    }
    world->options = *o;
    if (o->spin == TACT_SPIN_AUTO) {
        world->options.spin =
            o->local == TACT_LOCAL_BOUCHARD ? TACT_SPIN_CORNERS : TACT_SPIN_LIMIT_SURFACE;
    }
    *out = world;
    return 0;
}

void tact_world_destroy(struct tact_world *world)
{
    if (!world) {
        return;
    }
    for (int i = 0; i < world->hand_count; i++) {
        tact_hand_destroy(world->hands[i].hand);
        free(world->hands[i].impulse);
    }
    void *blocks[] = {world->bodies,
                      world->hands,
                      world->shapes,
                      world->contact_law_table,
                      world->poses,
                      world->contacts,
                      world->blocks,
                      world->storage_of_block_nodes,
                      world->storage_of_joint_rows,
                      world->free_velocities,
                      world->constraints,
                      world->velocities_before_forces,
                      world->excess_overlap,
                      world->excluded_owner_pairs,
                      world->storage_of_model_states};
    tact_broad_phase_destroy(&world->near);
    tact_islands_destroy(&world->islands);
    tact_newton_destroy(&world->newton);
    tact_sparse_matrix_destroy(&world->direct);
    tact_barrier_destroy(&world->barrier);
    tact_points_destroy(&world->points);
    tact_mechanisms_destroy(&world->mechanisms);
    tact_joint_bounds_destroy(&world->bounds);
    tact_prepared_destroy(&world->prepared_models);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        free(blocks[i]);
    }
    free(world);
}

/* Adds a zeroed element to an array. Its capacity is the next power of two. */
static void *grow_world_array(void **array, int *count, size_t size)
{
    size_t array_entry_count = (size_t)*count;
    char *resized_world_array =
        array_entry_count & (array_entry_count - 1)
            ? *array
            : realloc(*array, (array_entry_count ? 2 * array_entry_count : 1) * size);
    if (!resized_world_array) {
        return NULL;
    }
    *array = resized_world_array;
    (*count)++;
    return memset(resized_world_array + array_entry_count * size, 0, size);
}

int tact_world_add_body(struct tact_world *world, const struct tact_body *body)
{
    if (world->is_world_definition_finished) {
        return -EINVAL;
    }
    struct world_body *b = grow_world_array((void **)&world->bodies, &world->body_count, sizeof *b);
    if (!b) {
        return -ENOMEM;
    }
    b->body = *body;
    b->weight = 1;
    tact_quat_normalize(b->body.pose.quat_wxyz);
    tact_body_refresh(&b->body);
    return world->body_count - 1;
}

int tact_world_add_hand(struct tact_world *world, struct tact_hand *hand, int weightless)
{
    if (world->is_world_definition_finished) {
        return -EINVAL;
    }
    double *impulse = calloc((size_t)tact_hand_count(hand) + 1, sizeof *impulse);
    struct world_hand *h =
        impulse ? grow_world_array((void **)&world->hands, &world->hand_count, sizeof *h) : NULL;
    if (!h) {
        free(impulse);
        return -ENOMEM;
    }
    h->hand = hand;
    h->weightless = weightless;
    h->impulse = impulse;
    return world->hand_count - 1;
}

int tact_world_add_shape(struct tact_world *world, struct tact_owner owner,
                         const struct tact_shape *shape, const struct tact_pose *local,
                         int material)
{
    int has_closed_form_moments =
        shape->kind == TACT_SHAPE_SPHERE || shape->kind == TACT_SHAPE_HALFSPACE;
    if (world->is_world_definition_finished || world->prepared_models.are_models_prepared ||
        (!has_closed_form_moments && !shape->mesh) || material < 0 || owner.index < 0 ||
        owner.link < 0 || (owner.kind == TACT_OWNER_BODY && owner.index >= world->body_count) ||
        (owner.kind == TACT_OWNER_HAND &&
         (owner.index >= world->hand_count ||
          owner.link >= tact_hand_count(world->hands[owner.index].hand)))) {
        return -EINVAL;
    }
    struct world_shape *s =
        grow_world_array((void **)&world->shapes, &world->shape_count, sizeof *s);
    if (!s) {
        return -ENOMEM;
    }
    s->shape = *shape;
    s->local = *local;
    s->owner = owner;
    s->material = material;
    s->classes = s->touched = 1;
    s->radius = tact_shape_radius(shape);
    tact_quat_normalize(s->local.quat_wxyz);
    int rc = tact_motion_measure_shape_extents(world, world->shape_count - 1);
    if (rc) {
        world->shape_count--;
        return rc;
    }
    return world->shape_count - 1;
}

int tact_world_set_classes(struct tact_world *world, int shape, uint32_t classes, uint32_t touched)
{
    if (world->is_world_definition_finished || world->prepared_models.are_models_prepared ||
        shape < 0 || shape >= world->shape_count) {
        return -EINVAL;
    }
    world->shapes[shape].classes = classes;
    world->shapes[shape].touched = touched;
    return 0;
}

/* Enlarges the table of laws to `materials` squared. */
static int grow_contact_law_table(struct tact_world *world, int materials)
{
    size_t n = (size_t)materials;
    struct tact_contact_law *enlarged_law_table = calloc(n * n, sizeof *enlarged_law_table);
    if (!enlarged_law_table) {
        return -ENOMEM;
    }
    for (int i = 0; i < materials; i++) {
        for (int j = 0; j < materials; j++) {
            int old = i < world->materials && j < world->materials;
            if (old) {
                enlarged_law_table[i * materials + j] =
                    world->contact_law_table[i * world->materials + j];
            } else {
                enlarged_law_table[i * materials + j].friction = -1.0;
            }
        }
    }
    free(world->contact_law_table);
    world->contact_law_table = enlarged_law_table;
    world->materials = materials;
    return 0;
}

int tact_world_set_law(struct tact_world *world, int a, int b, const struct tact_contact_law *law)
{
    double sum = law->friction + law->overlap + law->compliance + law->dissipation +
                 law->hunt_crossley + law->restitution + law->modulus + law->ellipse_size +
                 law->tip_radius + law->tip_power + law->tangential_compliance + law->rolling_loss;
    int is_law_compliant = law->compliance > 0.0 || (law->model && law->model->elastic);
    if (a < 0 || b < 0 || a > 4095 || b > 4095 || !isfinite(sum) || law->friction < 0.0 ||
        !(law->overlap > 0.0) || law->compliance < 0.0 || law->dissipation < 0.0 ||
        law->hunt_crossley < 0.0 || (law->hunt_crossley > 0.0 && !is_law_compliant) ||
        law->restitution < 0.0 || law->restitution > 1.0 || law->modulus < 0.0 ||
        law->ellipse_size < 0.0 || law->tangential_compliance < 0.0 || law->tip_radius < 0.0 ||
        law->tip_power < 0.0 || law->tip_power > 1.0 || law->rolling_loss < 0.0 ||
        law->rolling_loss > 1.0 || (law->model && !tact_contact_model_is_usable(law->model))) {
        return -EINVAL;
    }
    int most = (a > b ? a : b) + 1;
    int rc = most > world->materials ? grow_contact_law_table(world, most) : 0;
    if (rc) {
        return rc;
    }
    world->contact_law_table[a * world->materials + b] = *law;
    world->contact_law_table[b * world->materials + a] = *law;
    return 0;
}

const struct tact_contact_law *tact_world_pair_law(const struct tact_world *world, int a, int b)
{
    int ma = world->shapes[a].material, mb = world->shapes[b].material;
    if (ma >= world->materials || mb >= world->materials) {
        return NULL;
    }
    const struct tact_contact_law *law = &world->contact_law_table[ma * world->materials + mb];
    return law->friction < 0.0 ? NULL : law;
}

/* 1 where two shapes never touch as they are of one object: of one body, both fixed, of one link,
 * or of a link and its parent. */
static int are_shapes_of_one_object(const struct tact_world *world, const struct tact_owner *a,
                                    const struct tact_owner *b)
{
    if (a->kind != b->kind) {
        return 0;
    }
    if (a->kind == TACT_OWNER_HAND && a->index == b->index) {
        const struct tact_hand *hand = world->hands[a->index].hand;
        return a->link == b->link || tact_hand_parent(hand, a->link) == b->link ||
               tact_hand_parent(hand, b->link) == a->link;
    }
    return a->kind == TACT_OWNER_FIXED || a->index == b->index;
}

/* Contact model that the materials of two shapes name, or that of fast bodies; NULL: none is named.
 */
static const struct tact_contact_model *find_model_named_for_pair(const struct tact_world *world,
                                                                  int a, int b)
{
    const struct tact_contact_law *law = tact_world_pair_law(world, a, b);
    if (law && law->model) {
        return law->model;
    }
    if (world->options.model) {
        return world->options.model;
    }
    int is_pair_fast =
        tact_world_is_shape_of_fast_body(world, a) || tact_world_is_shape_of_fast_body(world, b);
    return is_pair_fast ? &tact_model_features : NULL;
}

const struct tact_contact_model *tact_world_pair_model(const struct tact_world *world, int a, int b)
{
    const struct tact_contact_model *model_named_for_shape_pair =
        find_model_named_for_pair(world, a, b);
    return model_named_for_shape_pair
               ? model_named_for_shape_pair
               : tact_contact_model_default(&world->shapes[a].shape, &world->shapes[b].shape);
}

static int does_owner_exist(const struct tact_world *world, const struct tact_owner *owner)
{
    if (owner->kind == TACT_OWNER_HAND) {
        return owner->index >= 0 && owner->index < world->hand_count && owner->link >= 0 &&
               owner->link < tact_hand_count(world->hands[owner->index].hand);
    }
    return owner->index >= 0 &&
           (owner->kind == TACT_OWNER_FIXED || owner->index < world->body_count);
}

int tact_world_exclude(struct tact_world *world, struct tact_owner a, struct tact_owner b)
{
    if (world->is_world_definition_finished || world->prepared_models.are_models_prepared ||
        !does_owner_exist(world, &a) || !does_owner_exist(world, &b)) {
        return -EINVAL;
    }
    struct excluded_owner_pair *pair = grow_world_array(
        (void **)&world->excluded_owner_pairs, &world->excluded_owner_pair_count, sizeof *pair);
    if (!pair) {
        return -ENOMEM;
    }
    *pair = (struct excluded_owner_pair){{a, b}};
    return 0;
}

static int are_equal_owners(const struct tact_owner *a, const struct tact_owner *b)
{
    return a->kind == b->kind && a->index == b->index &&
           (a->kind != TACT_OWNER_HAND || a->link == b->link);
}

static int are_owners_excluded(const struct tact_world *world, const struct tact_owner *a,
                               const struct tact_owner *b)
{
    for (int i = 0; i < world->excluded_owner_pair_count; i++) {
        const struct tact_owner *of = world->excluded_owner_pairs[i].of;
        if ((are_equal_owners(&of[0], a) && are_equal_owners(&of[1], b)) ||
            (are_equal_owners(&of[0], b) && are_equal_owners(&of[1], a))) {
            return 1;
        }
    }
    return 0;
}

static int may_shapes_touch(const struct tact_world *world, int a, int b)
{
    const struct world_shape *one = &world->shapes[a], *two = &world->shapes[b];
    const struct tact_owner *of_a = &one->owner, *of_b = &two->owner;
    return ((one->classes & two->touched) || (two->classes & one->touched)) &&
           !are_shapes_of_one_object(world, of_a, of_b) &&
           !tact_constraint_exists_between(world, of_a, of_b) &&
           !are_owners_excluded(world, of_a, of_b) && tact_world_pair_law(world, a, b);
}

int tact_world_max_patches(const struct tact_world *world, int a, int b)
{
    if (!may_shapes_touch(world, a, b)) {
        return 0;
    }
    const struct tact_contact_model *model = tact_world_pair_model(world, a, b);
    int most = model->patches(&world->shapes[a].shape, &world->shapes[b].shape, &world->options);
    return most > TACT_PIECES ? TACT_PIECES : most;
}

int tact_world_find_unsupported(const struct tact_world *world, int *a, int *b)
{
    for (*a = 0; *a < world->shape_count; (*a)++) {
        for (*b = *a + 1; *b < world->shape_count; (*b)++) {
            if (find_model_named_for_pair(world, *a, *b) && may_shapes_touch(world, *a, *b) &&
                tact_world_max_patches(world, *a, *b) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

static int larger_of_two_integers(int a, int b)
{
    return a > b ? a : b;
}

static void add_pair_to_storage_needed(struct tact_world *world, int a, int b, int most)
{
    struct tact_world_extent *e = &world->extent;
    const struct tact_contact_law *law = tact_world_pair_law(world, a, b);
    const struct tact_contact_model *model = tact_world_pair_model(world, a, b);
    int split = most > 1;
    e->pairs++;
    e->split += split;
    e->state = larger_of_two_integers(e->state, model->state);
    e->points |= model->points;
    world->shapes[a].has_gap_measuring_model |= !model->moments;
    world->shapes[b].has_gap_measuring_model |= !model->moments;
    if (law->tangential_compliance > 0.0) {
        e->springs = larger_of_two_integers(e->springs, split ? 1 + TACT_PIECES : 1);
    }
}

/* Finds the requirements of all pairs that may touch, in one pass, as there may be millions. */
static int compute_storage_needed_for_pairs(struct tact_world *world)
{
    if (world->shape_count > TACT_WORLD_MAX_SHAPES) {
        return -E2BIG;
    }
    for (int a = 0; a < world->shape_count; a++) {
        for (int b = a + 1; b < world->shape_count; b++) {
            int most = tact_world_max_patches(world, a, b);
            if (most > 0) {
                add_pair_to_storage_needed(world, a, b, most);
            } else if (find_model_named_for_pair(world, a, b) && may_shapes_touch(world, a, b)) {
                return -ENOTSUP;
            }
        }
    }
    return 0;
}

/* Enlarges the radius of shapes whose model measures gaps before touch. The bounding spheres of two
 * balls overlap only when the balls do, which would be too late. */
static void widen_gap_shape_radii(struct tact_world *world)
{
    for (int i = 0; i < world->shape_count; i++) {
        world->shapes[i].radius *=
            world->shapes[i].has_gap_measuring_model ? GAP_BOUNDING_RADIUS_FACTOR : 1.0;
    }
}

/* Allocates the contacts of near pairs, the state of their models, and the pieces of those that may
 * be split. */
static int allocate_world_contacts(struct tact_world *world)
{
    const struct tact_world_options *o = &world->options;
    const struct tact_world_extent *e = &world->extent;
    const int capacity_by_shape_count =
        MIN_CONTACT_CAPACITY + NEAR_PAIR_CAPACITY_PER_SHAPE * world->shape_count;
    const long pair_and_piece_capacity = e->pairs + (long)TACT_PIECES * e->split;
    int most = o->near                                                ? o->near
               : pair_and_piece_capacity <= MAX_CONTACTS_OF_FEW_PAIRS ? e->pairs
                                                                      : capacity_by_shape_count;
    int contacts = o->contacts
                       ? o->contacts
                       : MIN_CONTACT_CAPACITY + CONTACT_CAPACITY_PER_SHAPE * world->shape_count;
    world->slots = most < e->pairs ? most : e->pairs;
    world->piece_slots = world->slots < e->split ? world->slots : e->split;
    int all = world->slots + world->piece_slots * TACT_PIECES;
    world->state = e->state;
    world->contacts = calloc((size_t)all + 1, sizeof *world->contacts);
    world->storage_of_model_states = calloc(((size_t)world->slots + 1) * (size_t)world->state + 1,
                                            sizeof *world->storage_of_model_states);
    world->contact_capacity = contacts < all ? contacts : all;
    return world->contacts && world->storage_of_model_states ? 0 : -ENOMEM;
}

static int allocate_contact_points(struct tact_world *world)
{
    size_t vertices = 0;
    if (!world->extent.points) {
        return 0;
    }
    for (int i = 0; i < world->shape_count; i++) {
        const struct tact_mesh *mesh = world->shapes[i].shape.mesh;
        vertices = mesh && mesh->vertex_count > vertices ? mesh->vertex_count : vertices;
    }
    return tact_points_create(&world->points, world->options.points, world->slots, vertices);
}

int tact_world_allocate_tick_storage(struct tact_world *world)
{
    int rc;
    tact_world_number_elimination_nodes(world);
    size_t numbers_in_copy_of_velocities = (size_t)world->node_count * 6 + 1;
    world->free_velocities = calloc(numbers_in_copy_of_velocities, sizeof *world->free_velocities);
    world->velocities_before_forces =
        calloc(numbers_in_copy_of_velocities, sizeof *world->velocities_before_forces);
    world->excess_overlap =
        calloc((size_t)(world->body_count + world->hand_count) + 1, sizeof *world->excess_overlap);
    world->poses = calloc((size_t)world->shape_count + 1, sizeof *world->poses);
    size_t most = (size_t)world->contact_capacity + 1;
    world->blocks = calloc(most, sizeof *world->blocks);
    world->storage_of_block_nodes =
        calloc(most * (size_t)world->max_nodes, sizeof *world->storage_of_block_nodes);
    rc = tact_broad_phase_create(world);
    rc = rc ? rc : tact_joint_bounds_create(world);
    if (world->bounds.count) {
        world->storage_of_joint_rows =
            calloc(most * (size_t)world->max_nodes, sizeof *world->storage_of_joint_rows);
        rc = rc || world->storage_of_joint_rows ? rc : -ENOMEM;
    }
    rc = rc ? rc : tact_islands_create(world);
    rc = rc ? rc : tact_newton_create(&world->newton, world->contact_capacity);
    rc = rc ? rc : tact_sparse_matrix_create(world);
    rc = rc ? rc : tact_barrier_create(world);
    rc = rc ? rc : tact_mechanisms_create(world);
    rc = rc ? rc : allocate_contact_points(world);
    if (rc || !world->poses || !world->blocks || !world->storage_of_block_nodes ||
        !world->free_velocities || !world->velocities_before_forces || !world->excess_overlap) {
        return -ENOMEM;
    }
    world->is_world_definition_finished = 1;
    return 0;
}

int tact_world_finish(struct tact_world *world)
{
    if (world->is_world_definition_finished) {
        return -EINVAL;
    }
    int rc = compute_storage_needed_for_pairs(world);
    rc = rc || world->prepared_models.are_models_prepared ? rc
                                                          : tact_world_prepare(world, NULL, NULL);
    rc = rc ? rc : allocate_world_contacts(world);
    rc = rc ? rc : tact_world_allocate_tick_storage(world);
    if (!rc) {
        widen_gap_shape_radii(world);
        tact_world_begin(world);
    }
    return rc;
}
