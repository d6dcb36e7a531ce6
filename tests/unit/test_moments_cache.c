/* Cached lists of near triangles change no bit of any moments: queries along a motion with one
 * scratch, which caches lists, against the same queries with an empty cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/mesh/generate.h"
#include "contact/moments/moments_cache_internal.h"
#include "contact/moments/moments_internal.h"
#include "support/random.h"

static struct tact_shape make_bumpy_ball_shape(double radius, double bump, uint32_t triangles)
{
    const struct tact_generate what = {.kind = TACT_GENERATE_BLOB,
                                       .radius = radius,
                                       .bump = bump,
                                       .count = 6,
                                       .triangles = triangles,
                                       .seed = 3};
    struct tact_shape s = {.kind = TACT_SHAPE_MESH};
    struct tact_soup soup;
    struct tact_error err;
    assert_int_equal(tact_soup_generate(&what, &soup, NULL), 0);
    assert_int_equal(tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles,
                                      soup.triangle_count, &s.owned, &err),
                     0);
    tact_soup_free(&soup);
    s.mesh = s.owned;
    return s;
}

static int count_ready_cached_lists(const struct tact_moments_scratch *scratch)
{
    int n = 0;
    for (int i = 0; i < TACT_CACHE_LISTS; i++) {
        n += scratch->cache->pair_lists[i].is_cached_list_valid;
    }
    return n;
}

/* Empties a cache of lists, so that it is as after its creation: to allocate a new one for every
 * query would take most of the time under a sanitizer. */
static void clear_list_cache(struct tact_pair_list_cache *cache)
{
    cache->last_use_clock_of_cache = 0;
    memset(cache->keys, 0, sizeof cache->keys);
    for (int i = 0; i < TACT_CACHE_LISTS; i++) {
        cache->pair_lists[i].is_cached_list_valid = 0;
    }
}

/* A moving contact: pose of body a, and the contact normal that is passed to the next query. */
struct moving_fingertip_contact {
    struct tact_pose pose;
    double normal[3];
};

static void move_fingertip_contact(struct moving_fingertip_contact *w, double shift, double turn)
{
    double spin[3], q[4], before[4];
    memcpy(before, w->pose.quat_wxyz, sizeof before);
    for (int k = 0; k < 3; k++) {
        w->pose.position[k] += uniform(-shift, shift);
        spin[k] = uniform(-turn, turn);
    }
    tact_quat_from_rotvec(q, spin);
    tact_quat_mul(w->pose.quat_wxyz, q, before);
    tact_quat_normalize(w->pose.quat_wxyz);
}

/* scratch whose cached lists are freed before every query */
static struct tact_moments_scratch *scratch_without_cache;

/* Measures a pair with and without cached lists and compares the bits; returns whether the bodies
 * overlap. */
static int check_moments_with_and_without_cached_list(const struct tact_shape *a,
                                                      struct moving_fingertip_contact *w,
                                                      const struct tact_shape *b,
                                                      const struct tact_pose *pb,
                                                      struct tact_moments_scratch *kept)
{
    struct tact_moments moments_with_cached_list, moments_without_cached_list;
    clear_list_cache(
        scratch_without_cache
            ->cache); /* the normal is the only state that the test keeps between two queries */
    int rc = tact_moments_pair(a, &w->pose, b, pb, w->normal, kept, &moments_with_cached_list);
    assert_int_equal(rc, tact_moments_pair(a, &w->pose, b, pb, w->normal, scratch_without_cache,
                                           &moments_without_cached_list));
    assert_int_equal(count_ready_cached_lists(scratch_without_cache), 0);
    assert_memory_equal(&moments_with_cached_list, &moments_without_cached_list,
                        sizeof moments_with_cached_list);
    if (rc == 1) {
        tact_v3_scale(w->normal, moments_with_cached_list.gradient,
                      -1.0 / tact_v3_norm(moments_with_cached_list.gradient));
    }
    return rc;
}

struct motion {
    const char *name;
    double shift, turn; /* largest displacement [m] and turn [rad] between two queries */
    double fingertip_jump_distance; /* additional displacement in every 40th tick [m] */
    int ticks;               /* number of ticks after which the fingers are put back into contact */
    int expects_cached_list; /* whether most queries are expected to use a list */
};

/* Five fingertips in contact with one body. */
static void cached_lists_of_five_fingertips_change_no_bit(void **unused)
{
    (void)unused;
    static const struct motion fingertip_motions[] = {
        {"at rest", 1e-7, 1e-6, 0.0, 120, 1},
        {"slow", 5e-6, 1e-4, 0.0, 120, 1},
        {"with jumps", 5e-6, 1e-4, 5e-4, 120, 1},
        {"fast", 3e-4, 1e-2, 0.0, 20, 0},
    };
    struct tact_shape tip = make_bumpy_ball_shape(0.008, 1e-4, 1200),
                      body = make_bumpy_ball_shape(0.03, 1e-3, 5000);
    for (size_t m = 0; m < sizeof fingertip_motions / sizeof fingertip_motions[0]; m++) {
        struct tact_moments_scratch *kept = tact_moments_scratch_create(1u << 18);
        struct tact_pose here = tact_pose_identity();
        struct moving_fingertip_contact fingers[5];
        int ready_cached_list_count = 0, queries = 0, touching = 0;
        for (int tick = 0; tick < 120; tick++) {
            for (int i = 0; i < 5; i++) {
                const struct motion *fingertip_motion = &fingertip_motions[m];
                if (tick % fingertip_motion->ticks == 0) {
                    fingers[i].pose = here;
                    tact_v3_set(fingers[i].normal, cos(1.2 * i), sin(1.2 * i), 0.1);
                    tact_v3_scale(fingers[i].pose.position, fingers[i].normal, 0.0378);
                }
                move_fingertip_contact(&fingers[i],
                                       tick % 40 == 39 ? fingertip_motion->fingertip_jump_distance +
                                                             fingertip_motion->shift
                                                       : fingertip_motion->shift,
                                       fingertip_motion->turn);
                touching += check_moments_with_and_without_cached_list(&tip, &fingers[i], &body,
                                                                       &here, kept);
                queries++;
            }
            ready_cached_list_count += count_ready_cached_lists(kept);
        }
        print_message("%s: %d queries, %d touch, %d lists in use a tick\n",
                      fingertip_motions[m].name, queries, touching,
                      (ready_cached_list_count + 60) / 120);
        assert_true(touching > queries / 2);
        assert_true(!fingertip_motions[m].expects_cached_list || ready_cached_list_count > 120 * 4);
        tact_moments_scratch_destroy(kept);
    }
    tact_shape_release(&tip);
    tact_shape_release(&body);
}

/* Overlaps so large that they exceed the capacity of a cached list and of a cut by planes. */
static void cached_lists_of_large_overlaps_change_no_bit(void **unused)
{
    (void)unused;
    struct tact_shape a = make_bumpy_ball_shape(0.03, 1e-3, 20000),
                      b = make_bumpy_ball_shape(0.03, 1e-3, 20000);
    struct tact_moments_scratch *kept = tact_moments_scratch_create(1u << 18);
    struct tact_pose here = tact_pose_identity();
    struct moving_fingertip_contact w = {.pose = here, .normal = {0.0, 0.0, 1.0}};
    for (int i = 0; i < 40; i++) {
        for (int again = 0; again < 3; again++) {
            tact_v3_set(w.pose.position, 1e-3, 0.0, 0.0605 - 1e-4 * i - 1e-7 * again);
            check_moments_with_and_without_cached_list(&a, &w, &b, &here, kept);
        }
    }
    tact_moments_scratch_destroy(kept);
    tact_shape_release(&a);
    tact_shape_release(&b);
}

/* More pairs of bodies than cached lists; and a new mesh that may be allocated at the address of a
 * freed one. */
static void more_pairs_than_cached_lists_change_no_bit(void **unused)
{
    (void)unused;
    struct tact_shape body = make_bumpy_ball_shape(0.03, 1e-3, 3000);
    struct tact_moments_scratch *kept = tact_moments_scratch_create(1u << 18);
    struct tact_pose here = tact_pose_identity();
    for (int round = 0; round < 3; round++) {
        struct tact_shape tip = make_bumpy_ball_shape(0.008 + 0.0005 * round, 1e-4, 800);
        for (int tick = 0; tick < 6; tick++) {
            for (int i = 0; i < TACT_CACHE_LISTS + 8; i++) {
                struct moving_fingertip_contact w = {.pose = here};
                double angle = 2.0 * M_PI * i / (TACT_CACHE_LISTS + 8);
                tact_v3_set(w.normal, cos(angle), sin(angle), 0.0);
                tact_v3_scale(w.pose.position, w.normal, 0.0378 + 1e-6 * tick);
                check_moments_with_and_without_cached_list(&tip, &w, &body, &here, kept);
            }
        }
        tact_shape_release(&tip);
    }
    tact_moments_scratch_destroy(kept);
    tact_shape_release(&body);
}

/* Shapes with few and long triangles at rest: the first measurement is a search, the later ones are
 * from a list, which also has pairs that lie one above the other. */
static void cached_lists_of_long_triangles_change_no_bit(void **unused)
{
    (void)unused;
    struct tact_shape shapes[4] = {{.kind = TACT_SHAPE_CONE, .size = {0.02, 0.02}},
                                   {.kind = TACT_SHAPE_CYLINDER, .size = {0.02, 0.03}},
                                   {.kind = TACT_SHAPE_CAPSULE, .size = {0.015, 0.02}},
                                   {.kind = TACT_SHAPE_TORUS, .size = {0.03, 0.008}}};
    const struct tact_pose origin_pose = tact_pose_identity();
    /* two cones, of which the list has a pair of triangles that the search excludes by heights */
    const struct tact_pose pose_with_excluded_triangle_pair = {
        .position = {-0.013665318744886575, 0.033741193123224072, 0.0064565807565968095},
        .quat_wxyz = {0.66053348496005526, -0.61937018574719538, -0.31458495042892681,
                      0.2848023827457189}};
    int overlapping_pair_count = 0, listed = 0;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tact_shape_tessellate(&shapes[i]), 0);
    }
    for (int i = 0; i < 1200; i++) {
        const struct tact_shape *a = &shapes[i % 4], *b = &shapes[i / 4 % 4];
        const struct tact_pose pose = i ? random_pose(0.045) : pose_with_excluded_triangle_pair;
        struct tact_moments first, again;
        clear_list_cache(scratch_without_cache->cache);
        memset(&first, 0, sizeof first);
        const int rc =
            tact_moments_pair(a, &origin_pose, b, &pose, NULL, scratch_without_cache, &first);
        for (int k = 0; k < 3 && rc == 1; k++) {
            memset(&again, 0, sizeof again);
            assert_int_equal(
                tact_moments_pair(a, &origin_pose, b, &pose, NULL, scratch_without_cache, &again),
                1);
            assert_memory_equal(&again, &first, sizeof first);
        }
        overlapping_pair_count += rc == 1;
        listed += count_ready_cached_lists(scratch_without_cache) > 0;
    }
    print_message("%d overlaps, %d with a list\n", overlapping_pair_count, listed);
    assert_true(overlapping_pair_count > 150 && listed > 15);
    for (int i = 0; i < 4; i++) {
        tact_shape_release(&shapes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached_lists_of_five_fingertips_change_no_bit),
        cmocka_unit_test(cached_lists_of_large_overlaps_change_no_bit),
        cmocka_unit_test(more_pairs_than_cached_lists_change_no_bit),
        cmocka_unit_test(cached_lists_of_long_triangles_change_no_bit)};
    scratch_without_cache = tact_moments_scratch_create(1u << 18);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    tact_moments_scratch_destroy(scratch_without_cache);
    return rc;
}
