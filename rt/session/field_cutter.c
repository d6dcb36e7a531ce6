#include "rt/session/field_cutter_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/carry_internal.h"

enum {
    MAX_UPLOADED_FIELDS = 256, /* largest number of fields that are uploaded */
    /* capacities for pairs of cells of one pair of fields and of a frame, and for the polygons of a
       frame */
    MAX_CANDIDATES_PER_PAIR = 16384,
    MAX_CANDIDATES_PER_FRAME = 65536,
    MAX_POLYGONS_PER_FRAME = 16384,
    /* number of frames with and without the device that are timed before the faster is chosen */
    FIRST_TIMED_FRAME_COUNT = 8,
    /* number of frames after which one is measured by the slower of the two, to time it */
    FRAMES_BETWEEN_TRIALS_OF_SLOWER = 256,
};
#define FRAME_TIME_MEAN_WEIGHT 0.1 /* weight of a new time in the mean */
/* a longer time, relative to the mean, was interrupted and counts as this */
#define MAX_FRAME_TIME_OVER_MEAN 2.0

struct session_field_cutter {
    struct tact_field_cutter cutter;
    int is_device_always_used;
    _Atomic int has_failed; /* 1: the driver failed, the device is no longer used */
    struct cutter_slot {
        int pair;       /* number of the pair in the world, -1: none yet */
        uint64_t frame; /* last frame with the pair */
        struct tact_field_cuts *cuts;
    } slot[MAX_SOURCE_FIELD_PAIRS];
    uint64_t frame;
    int is_device_used_in_frame; /* in this frame */
    struct tact_field_cuts *added[MAX_SOURCE_FIELD_PAIRS];
    size_t added_pair_count, candidate_count;
    /* without and with the device */
    double mean_frame_time_ns[2];
    uint64_t timed_frame_count[2];
    _Atomic uint64_t polygon_count[2], frame_count[2], time_ns[2];
};

static int open_field_cutter_on_device(struct session_field_cutter *c,
                                       const struct tact_world *world, const char *device,
                                       tact_field_cutter_factory factory, void *user,
                                       struct tact_messages messages, struct tact_error *err)
{
    const struct tact_pressure_field *fields[MAX_UPLOADED_FIELDS];
    const struct tact_field_cutter_scene scene = {
        .fields = fields,
        .field_count = (uint32_t)tact_world_list_fields(world, fields, MAX_UPLOADED_FIELDS),
        .pair_capacity = MAX_SOURCE_FIELD_PAIRS,
        .candidate_capacity = MAX_CANDIDATES_PER_FRAME,
        .polygon_capacity = MAX_POLYGONS_PER_FRAME,
    };
    struct tact_field_cutter cutter;
    int rc = factory(user, &scene, device, messages, &cutter, err);
    if (rc) {
        return rc;
    }
    if (tact_abi_check(&cutter.ops->abi, sizeof *cutter.ops)) {
        return tact_error_set(err, -EINVAL, "it was compiled for another ABI version");
    }
    c->cutter = cutter;
    return 0;
}

int tact_session_cutter_create(const struct tact_world *world, const char *device,
                               int is_device_always_used, tact_field_cutter_factory factory,
                               void *user, struct tact_messages messages,
                               struct session_field_cutter **out, struct tact_error *err)
{
    struct session_field_cutter *c = calloc(1, sizeof *c);
    int rc = c ? 0 : -ENOMEM;
    *out = NULL;
    for (int i = 0; i < MAX_SOURCE_FIELD_PAIRS && !rc; i++) {
        c->slot[i].pair = -1;
        rc = tact_field_cuts_create(MAX_CANDIDATES_PER_PAIR, &c->slot[i].cuts);
    }
    if (rc) {
        tact_error_set(err, rc, "no memory");
    } else {
        c->is_device_always_used = is_device_always_used;
        rc = open_field_cutter_on_device(c, world, device, factory, user, messages, err);
    }
    if (rc) {
        tact_session_cutter_destroy(c);
        return rc;
    }
    *out = c;
    return 0;
}

void tact_session_cutter_destroy(struct session_field_cutter *c)
{
    if (!c) {
        return;
    }
    if (c->cutter.ops) {
        c->cutter.ops->close(c->cutter.self);
    }
    for (int i = 0; i < MAX_SOURCE_FIELD_PAIRS; i++) {
        tact_field_cuts_destroy(c->slot[i].cuts);
    }
    free(c);
}

/* Whether the frame is measured with the device: with the faster way, and now and then with the
 * other one. */
static int should_use_device_in_frame(const struct session_field_cutter *c)
{
    const uint64_t *timed = c->timed_frame_count;
    if (c->has_failed || c->is_device_always_used) {
        return !c->has_failed;
    }
    if (timed[0] < FIRST_TIMED_FRAME_COUNT || timed[1] < FIRST_TIMED_FRAME_COUNT) {
        return timed[1] <= timed[0];
    }
    const int is_device_faster = c->mean_frame_time_ns[1] < c->mean_frame_time_ns[0];
    return c->frame % FRAMES_BETWEEN_TRIALS_OF_SLOWER ? is_device_faster : !is_device_faster;
}

void tact_session_cutter_begin_frame(struct session_field_cutter *c)
{
    c->frame++;
    c->added_pair_count = c->candidate_count = 0;
    c->is_device_used_in_frame = should_use_device_in_frame(c);
}

/* The slot of a pair, else the one that was not used for the longest time. */
static struct cutter_slot *find_cutter_slot_of_pair(struct session_field_cutter *c, int pair)
{
    struct cutter_slot *oldest = c->slot;
    for (int i = 0; i < MAX_SOURCE_FIELD_PAIRS; i++) {
        if (c->slot[i].pair == pair) {
            return &c->slot[i];
        }
        oldest = c->slot[i].frame < oldest->frame ? &c->slot[i] : oldest;
    }
    oldest->pair = pair;
    oldest->cuts->count = 0;
    return oldest;
}

struct tact_field_cuts *tact_session_cutter_add_pair(struct session_field_cutter *c, int pair,
                                                     const struct tact_pair_query *query,
                                                     const struct tact_pose *poses)
{
    struct cutter_slot *slot = find_cutter_slot_of_pair(c, pair);
    slot->frame = c->frame;
    tact_field_cuts_place(slot->cuts, query, poses);
    c->added[c->added_pair_count++] = slot->cuts;
    c->candidate_count += slot->cuts->count;
    return slot->cuts;
}

void tact_session_cutter_compute_frame(struct session_field_cutter *c)
{
    if (c->is_device_used_in_frame && c->candidate_count &&
        c->cutter.ops->cut(c->cutter.self, c->added, c->added_pair_count)) {
        atomic_store(&c->has_failed, 1);
    }
}

void tact_session_cutter_count_polygons(struct session_field_cutter *c,
                                        const struct tact_field_cuts *cuts,
                                        const struct pair_measurement *measurement)
{
    const uint64_t all = (uint64_t)measurement->counts[TACT_COUNT_POLYGONS];
    atomic_fetch_add(&c->polygon_count[1], cuts->found);
    atomic_fetch_add(&c->polygon_count[0], all > cuts->found ? all - cuts->found : 0);
}

void tact_session_cutter_end_frame(struct session_field_cutter *c, int64_t frame_ns)
{
    const int way = c->is_device_used_in_frame;
    if (!c->candidate_count || c->has_failed) {
        return;
    }
    const double longest = MAX_FRAME_TIME_OVER_MEAN * c->mean_frame_time_ns[way];
    const double ns =
        c->timed_frame_count[way] && (double)frame_ns > longest ? longest : (double)frame_ns;
    c->mean_frame_time_ns[way] += (ns - c->mean_frame_time_ns[way]) *
                                  (c->timed_frame_count[way] ? FRAME_TIME_MEAN_WEIGHT : 1.0);
    c->timed_frame_count[way]++;
    atomic_fetch_add(&c->frame_count[way], 1);
    atomic_fetch_add(&c->time_ns[way], (uint64_t)frame_ns);
}

void tact_session_cutter_get_statistics(const struct session_field_cutter *c,
                                        struct tact_session_polygons *out)
{
    double mean[2];
    for (int i = 0; i < 2; i++) {
        const uint64_t frames = atomic_load(&c->frame_count[i]);
        mean[i] = frames ? 1e-9 * (double)atomic_load(&c->time_ns[i]) / (double)frames : 0.0;
    }
    memcpy(out->device, c->cutter.name, sizeof out->device);
    out->host_frames = atomic_load(&c->frame_count[0]);
    out->device_frames = atomic_load(&c->frame_count[1]);
    out->host_polygons = atomic_load(&c->polygon_count[0]);
    out->device_polygons = atomic_load(&c->polygon_count[1]);
    out->has_failed = atomic_load(&c->has_failed);
    out->host_time = mean[0];
    out->device_time = mean[1];
}
