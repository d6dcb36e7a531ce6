/*
 * Parts of one hand that overlap each other at the start, as collision shapes of models of real
 * hands often do at the joints: by `start_overlap` their pair is excluded, kept or refused.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "rt/scene/scene_internal.h"
#include "rt/session/session_internal.h"

/* overlap beyond the target depth that is ignored at the start, relative to the target depth */
#define ACCEPTED_SELF_OVERLAP_EXCESS_RATIO 0.01

/* A fixed base or a link that has shapes. */
struct hand_part_with_shapes {
    struct tact_owner owner;
    const char *name;
    struct tact_pose pose;
    const struct tact_scene_shape *shapes;
    uint32_t count;
    int first; /* index of the part's first shape in the world */
};

static uint32_t count_shapes_before_hand(const struct tact_scene *scene, int hand)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene->bodies_count; i++) {
        count += scene->bodies[i].shapes_count;
    }
    for (int i = 0; i < hand; i++) {
        for (uint32_t k = 0; k < scene->hands[i].links_count; k++) {
            count += scene->hands[i].links[k].shapes_count;
        }
    }
    return count;
}

/* Finds the fixed base of a hand, a body. Returns 0 where it has none. */
static int find_fixed_base_of_hand(const struct tact_session *s, int hand,
                                   struct hand_part_with_shapes *out)
{
    int first = 0;
    for (uint32_t i = 0; i < s->scene->bodies_count; i++) {
        const struct tact_scene_body *body = &s->scene->bodies[i];
        if (body->hand == (uint32_t)hand + 1) {
            *out = (struct hand_part_with_shapes){.owner = {TACT_OWNER_FIXED, 1 + (int)i, 0},
                                                  .name = body->name,
                                                  .shapes = body->shapes,
                                                  .count = body->shapes_count,
                                                  .first = first};
            tact_v3_copy(out->pose.position, body->position);
            memcpy(out->pose.quat_wxyz, body->quat_wxyz, sizeof out->pose.quat_wxyz);
            return 1;
        }
        first += (int)body->shapes_count;
    }
    return 0;
}

/* Lists the parts of a hand; returns their number, at most that of its links and one. */
static int list_hand_parts(const struct tact_session *s, int hand,
                           struct hand_part_with_shapes *parts)
{
    const struct tact_scene_hand *def = &s->scene->hands[hand];
    int count = find_fixed_base_of_hand(s, hand, parts),
        first = (int)count_shapes_before_hand(s->scene, hand);
    for (uint32_t k = 0; k < def->links_count; k++) {
        parts[count] = (struct hand_part_with_shapes){
            .owner = {TACT_OWNER_HAND, hand, (int)k},
            .name = tact_session_link_name(s, hand, (int)k),
            .pose = *tact_hand_link_pose(tact_world_hand(s->world, hand), (int)k),
            .shapes = def->links[k].shapes,
            .count = def->links[k].shapes_count,
            .first = first};
        first += (int)parts[count++].count;
    }
    return count;
}

/* Computes the pose of a shape of a hand part. */
static struct tact_pose compute_hand_part_shape_pose(const struct hand_part_with_shapes *part,
                                                     uint32_t shape)
{
    struct tact_pose shape_pose_in_hand_part, out;
    tact_v3_copy(shape_pose_in_hand_part.position, part->shapes[shape].position);
    memcpy(shape_pose_in_hand_part.quat_wxyz, part->shapes[shape].quat_wxyz,
           sizeof shape_pose_in_hand_part.quat_wxyz);
    tact_pose_mul(&out, &part->pose, &shape_pose_in_hand_part);
    return out;
}

/* Mean depth of two shapes beyond `target` [m]; 0: no overlap, NaN: it has no depth. */
static double measure_shape_overlap_depth(const struct tact_session *s,
                                          const struct hand_part_with_shapes *a, uint32_t i,
                                          const struct hand_part_with_shapes *b, uint32_t k,
                                          double target)
{
    const struct tact_shape *of_a = &a->shapes[i].shape, *of_b = &b->shapes[k].shape;
    const struct tact_pose pose_a = compute_hand_part_shape_pose(a, i),
                           pose_b = compute_hand_part_shape_pose(b, k);
    struct tact_moments m;
    double vector_between_shape_centers[3];
    tact_v3_sub(vector_between_shape_centers, pose_a.position, pose_b.position);
    if (tact_v3_norm(vector_between_shape_centers) >
        tact_shape_radius(of_a) + tact_shape_radius(of_b)) {
        return 0.0;
    }
    const int rc = tact_moments_pair(of_a, &pose_a, of_b, &pose_b, NULL, s->moments_scratch, &m);
    if (rc == 0 || rc == -ENOTSUP) {
        return 0.0;
    }
    const double area = tact_v3_norm(m.gradient), min_area_ratio = TACT_PATCH_MIN_AREA;
    if (rc < 0 || !(area * area * area >
                    min_area_ratio * min_area_ratio * min_area_ratio * m.volume * m.volume)) {
        return NAN;
    }
    return m.volume > (1.0 + ACCEPTED_SELF_OVERLAP_EXCESS_RATIO) * target * area ? m.volume / area
                                                                                 : 0.0;
}

/* Target overlap depth of the pair of two materials, which exists. */
static double target_overlap_of_materials(const struct tact_scene *scene, const char *a,
                                          const char *b)
{
    uint32_t i = 0;
    for (; i + 1 < scene->pairs_count; i++) {
        char *const *of = scene->pairs[i].materials;
        if ((!strcmp(of[0], a) && !strcmp(of[1], b)) || (!strcmp(of[0], b) && !strcmp(of[1], a))) {
            break;
        }
    }
    return scene->pairs[i].law.overlap;
}

/* Largest depth of the pairs of shapes of two parts that may touch. */
static double measure_hand_part_overlap_depth(const struct tact_session *s,
                                              const struct hand_part_with_shapes *a,
                                              const struct hand_part_with_shapes *b)
{
    double deepest_shape_overlap = 0.0;
    for (uint32_t i = 0; i < a->count; i++) {
        for (uint32_t k = 0; k < b->count; k++) {
            if (tact_world_pair_between(s->world, a->first + (int)i, b->first + (int)k) < 0) {
                continue;
            }
            const double target =
                target_overlap_of_materials(s->scene, a->shapes[i].material, b->shapes[k].material);
            const double depth = measure_shape_overlap_depth(s, a, i, b, k, target);
            if (isnan(depth)) {
                return depth;
            }
            deepest_shape_overlap = fmax(deepest_shape_overlap, depth);
        }
    }
    return deepest_shape_overlap;
}

static int format_self_overlap(const struct session_self_overlap *o, char *out, size_t size)
{
    return isnan(o->depth)
               ? tact_number_print(out, size,
                                   "%s and %s, of one hand, start with one inside the other",
                                   o->part[0], o->part[1])
               : tact_number_print(out, size,
                                   "%s and %s, of one hand, start with an overlap of %.3g mm",
                                   o->part[0], o->part[1], 1e3 * o->depth);
}

char *tact_session_describe_self_overlap(const struct session_self_overlap *o, char *out,
                                         size_t size)
{
    const int n = format_self_overlap(o, out, size);
    snprintf(out + n, size - (size_t)n,
             ": contacts between them are disabled (start_overlap: exclude)");
    return out;
}

static int refuse_start_overlap_of_hand(const struct tact_session *s,
                                        const struct session_self_overlap *o,
                                        struct tact_error *err)
{
    char path[64], text[400];
    snprintf(path, sizeof path, "hands[%d].start_overlap", o->hand);
    tact_scene_where(s->scene, path, err);
    format_self_overlap(o, text, sizeof text);
    return tact_error_set(err, -EINVAL,
                          "%s; expected another start, an entry of `exclude`, or `start_overlap: "
                          "exclude`",
                          text);
}

static int add_excluded_self_overlap(struct tact_session *s, const struct session_self_overlap *o,
                                     const struct hand_part_with_shapes *a,
                                     const struct hand_part_with_shapes *b)
{
    struct session_self_overlap *list =
        realloc(s->self_overlaps, ((size_t)s->self_overlap_count + 1) * sizeof *list);
    if (!list) {
        return -ENOMEM;
    }
    s->self_overlaps = list;
    list[s->self_overlap_count++] = *o;
    return tact_world_exclude(s->world, a->owner, b->owner);
}

static int exclude_overlaps_of_hand(struct tact_session *s, int hand,
                                    struct hand_part_with_shapes *parts, struct tact_error *err)
{
    const int is_start_overlap_refused = !strcmp(s->scene->hands[hand].start_overlap, "refuse");
    const int count = list_hand_parts(s, hand, parts);
    for (int i = 0; i < count; i++) {
        for (int k = i + 1; k < count; k++) {
            struct session_self_overlap o = {
                .hand = hand, .depth = measure_hand_part_overlap_depth(s, &parts[i], &parts[k])};
            if (o.depth == 0.0) {
                continue;
            }
            snprintf(o.part[0], sizeof o.part[0], "%s", parts[i].name);
            snprintf(o.part[1], sizeof o.part[1], "%s", parts[k].name);
            int rc = is_start_overlap_refused
                         ? refuse_start_overlap_of_hand(s, &o, err)
                         : add_excluded_self_overlap(s, &o, &parts[i], &parts[k]);
            if (rc) {
                return rc;
            }
        }
    }
    return 0;
}

int tact_session_exclude_self_overlaps(struct tact_session *s, struct tact_error *err)
{
    for (uint32_t i = 0; i < s->scene->hands_count; i++) {
        const struct tact_scene_hand *hand = &s->scene->hands[i];
        if (s->precedes_results_35 || !strcmp(hand->start_overlap, "keep")) {
            continue;
        }
        struct hand_part_with_shapes *parts = calloc(hand->links_count + 1, sizeof *parts);
        int rc = parts ? exclude_overlaps_of_hand(s, (int)i, parts, err) : -ENOMEM;
        free(parts);
        if (rc) {
            return rc;
        }
    }
    return 0;
}
