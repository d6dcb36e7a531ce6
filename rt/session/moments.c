/* Where a tick's moments come from: the source's newest frame, or the host where that is late. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "rt/session/session_internal.h"

#define FIRST_FRAME_NS                                                                             \
    2000000000 /* longest wait for a source's first frame, before the loop starts */

static int describe_scene(struct tact_session *s, struct tact_source_scene *scene)
{
    int shapes = tact_world_shape_count(s->world), pairs = tact_world_pair_count(s->world);
    s->source_shapes = calloc((size_t)shapes + 1, sizeof *s->source_shapes);
    s->source_pairs = calloc((size_t)pairs + 1, sizeof *s->source_pairs);
    if (!s->source_shapes || !s->source_pairs) {
        return -ENOMEM;
    }
    for (int i = 0; i < shapes; i++) {
        s->source_shapes[i] = *tact_world_shape(s->world, i);
    }
    for (int i = 0; i < pairs; i++) {
        const struct tact_contact *c = tact_world_contact(s->world, i);
        s->source_pairs[i] = (struct tact_source_pair){(uint32_t)c->a, (uint32_t)c->b};
    }
    *scene = (struct tact_source_scene){s->source_shapes, (uint32_t)shapes, s->source_pairs,
                                        (uint32_t)pairs};
    return 0;
}

int tact_session_open_source(struct tact_session *s, struct tact_error *err)
{
    const char *wanted = s->scene->moments.source;
    struct tact_source_scene scene;
    strcpy(s->report.source, "host");
    if (!strcmp(wanted, "host")) {
        return 0;
    }
    int insists = !strcmp(wanted, "opencl");
    if (!s->options.source) {
        return insists ? tact_error_set(err, -ENODEV, "no moment source in this program") : 0;
    }
    int rc = describe_scene(s, &scene);
    if (rc) {
        return rc;
    }
    struct tact_error why = {0};
    rc = s->options.source(s->options.source_user, &scene, s->scene->moments.device, s->period_ns,
                           s->options.messages, &s->source, &why);
    if (rc) {
        if (insists) {
            tact_scene_where(s->scene, "moments.source", err);
            return tact_error_set(err, rc, "no OpenCL moments: %s", why.text);
        }
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "no OpenCL moments (%s): moments are computed on the host", why.text);
        return 0;
    }
    s->source_open = 1;
    memcpy(s->report.source, s->source.name, sizeof s->report.source);
    tact_session_submit(s, 0);
    s->source.ops->wait(s->source.self, 0, FIRST_FRAME_NS); /* late: the host begins */
    return 0;
}

void tact_session_submit(struct tact_session *s, uint64_t tick)
{
    if (s->source_open) {
        s->source.ops->submit(s->source.self, tick, tact_world_shape_poses(s->world),
                              tact_world_active(s->world), tact_world_directions(s->world));
    }
}

static void measure(struct tact_session *s, int pair, struct tact_moments *m)
{
    struct session_pair *p = &s->pairs[pair];
    p->age = AGE_HOST;
    p->got = tact_world_measure(s->world, pair, s->scratch, m);
}

/* A result of the source, carried to now; 0 where it cannot be used. */
static int use_result(struct tact_session *s, int pair, const struct tact_source_moments *result,
                      uint32_t age, struct tact_moments *m)
{
    struct session_pair *p = &s->pairs[pair];
    if (result->status < 0) {
        return 0;
    }
    p->got = result->status;
    p->age = age;
    if (result->status > 0 && age > 1) {
        tact_world_advance(s->world, pair, (double)(age - 1), &result->moments, m);
        p->got = m->volume > 0.0;
    } else if (result->status > 0) {
        *m = result->moments;
    }
    return 1;
}

/* A replay takes what the source gave from the log, and measures anew what the host measured. */
static void replay_pair(struct tact_session *s, int pair, struct tact_moments *m)
{
    const double *v = s->fed->values;
    struct session_pair *p = &s->pairs[pair];
    if (v[p->status + 1] == AGE_HOST) {
        measure(s, pair, m);
        return;
    }
    p->got = (int32_t)v[p->status];
    p->age = (uint32_t)v[p->status + 1];
    memcpy(m, v + p->moments, sizeof *m);
}

static void count_age(struct tact_session *s, uint32_t age)
{
    s->ages[age < SESSION_AGES ? age : SESSION_AGES - 1]++;
    s->age_now = age > s->age_now ? age : s->age_now;
    if (age > s->report.age_max) {
        s->report.age_max = age;
    }
}

void tact_session_moments(struct tact_session *s, uint64_t tick)
{
    const uint8_t *active = tact_world_active(s->world);
    struct tact_source_result result = {0, NULL};
    int ready = s->source_open && !s->source.ops->latest(s->source.self, &result);
    uint64_t age = ready && tick >= result.tick ? tick - result.tick + 1 : UINT64_MAX;
    int usable = ready && age <= s->scene->moments.max_age, fell_back = 0;
    s->age_now = 0;
    for (int i = 0; i < tact_world_pair_count(s->world); i++) {
        struct session_pair *p = &s->pairs[i];
        struct tact_moments m = {0};
        p->got = 0;
        p->age = AGE_HOST;
        if (!active[i]) {
            tact_world_set_moments(s->world, i, NULL);
            continue;
        }
        if (s->fed && !s->recompute) {
            replay_pair(s, i, &m);
        } else if (usable && use_result(s, i, &result.pairs[i], (uint32_t)age, &m)) {
            s->report.source_pairs++;
            count_age(s, (uint32_t)age);
        } else {
            measure(s, i, &m);
            s->report.host_pairs++;
            fell_back += s->source_open;
        }
        tact_world_set_moments(s->world, i, p->got > 0 ? &m : NULL);
    }
    s->report.fallbacks += (uint64_t)fell_back;
    s->report.fallback_ticks += fell_back > 0;
}
