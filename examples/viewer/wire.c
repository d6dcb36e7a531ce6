/* Frames of a running world. See wire.h. */
#include "wire.h"

#include <math.h>
#include <string.h>
#include "contact/vec.h"

_Static_assert(sizeof(struct wire_head) == 88 && sizeof(struct wire_pose) == 32 &&
                   sizeof(struct wire_contact) == 176 && sizeof(struct wire_joint) == 40 &&
                   sizeof(struct wire_pressure) == 616,
               "page/wire.js reads them at these places");

static size_t eights(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static int joint_count(const struct tact_world *world)
{
    int count = 0;
    for (int i = 0; i < tact_world_hand_count(world); i++) {
        count += tact_hand_count(tact_world_hand((struct tact_world *)world, i));
    }
    return count;
}

size_t wire_room(const struct tact_world *world, int devices)
{
    size_t shapes = (size_t)tact_world_shape_count(world);
    size_t contact =
        sizeof(struct wire_contact) + eights(12 * WIRE_CORNERS) + sizeof(struct wire_pressure);
    return sizeof(struct wire_head) + shapes * sizeof(struct wire_pose) + WIRE_CONTACTS * contact +
           sizeof(struct wire_joint) * (size_t)joint_count(world) + eights(4 * (size_t)devices) +
           8 * WIRE_BINS;
}

static int bin_of(double ns)
{
    int bin = ns > 100.0 ? (int)(10.0 * log10(ns / 100.0)) : 0;
    return bin < WIRE_BINS ? bin : WIRE_BINS - 1;
}

/* Calls visit() for each touching contact, and for each piece of a patch that is split. */
static void each_contact(struct tact_world *world, void *user,
                         void (*visit)(void *user, int key, const struct tact_contact *c))
{
    int count;
    const int *near = tact_world_near(world, &count);
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(world, near[i]);
        for (int k = 0; c->touching && k < c->split; k++) {
            visit(user, near[i] * TACT_PIECES + k, tact_world_piece(world, near[i], k));
        }
        if (c->touching && !c->split) {
            visit(user, near[i] * TACT_PIECES, c);
        }
    }
}

/* State of merging the forces of a tick into those of the earlier ticks. */
struct merge {
    struct wire_gather *gather;
    double period;
    int at;
};

static void merge_force(void *user, int key, const struct tact_contact *c)
{
    struct merge *m = user;
    struct wire_gather *g = m->gather;
    double force = c->impulse[0] / m->period;
    while (m->at < g->count && g->force[m->at].contact < key) {
        m->at++;
    }
    if (m->at == g->count || g->force[m->at].contact != key) {
        if (g->count == WIRE_CONTACTS) {
            return;
        }
        memmove(&g->force[m->at + 1], &g->force[m->at],
                sizeof g->force[0] * (size_t)(g->count - m->at));
        g->force[m->at].contact = key;
        g->force[m->at].least = g->ticks > 1 ? 0.0 : force; /* 0: new within the frame */
        g->force[m->at].most = force;
        g->count++;
    }
    g->force[m->at].seen = 1;
    g->force[m->at].least = fmin(g->force[m->at].least, force);
    g->force[m->at].most = fmax(g->force[m->at].most, force);
}

void wire_add_tick(struct wire_gather *g, struct tact_world *world, double period, double wake_ns,
                   double compute_ns)
{
    struct merge merge = {.gather = g, .period = period};
    if (!g->ticks) { /* the first tick of a frame: what was gathered is that of the last one */
        g->count = 0;
        g->wake = g->compute = 0.0;
    }
    g->ticks++;
    g->wake = fmax(g->wake, wake_ns);
    g->compute = fmax(g->compute, compute_ns);
    g->bins[0][bin_of(wake_ns)]++;
    g->bins[1][bin_of(compute_ns)]++;
    for (int i = 0; i < g->count; i++) {
        g->force[i].seen = 0;
    }
    each_contact(world, &merge, merge_force);
    for (int i = 0; i < g->count; i++) {
        g->force[i].least = g->force[i].seen ? g->force[i].least : 0.0;
    }
}

/* A message that is being written. */
struct writer {
    unsigned char *at;
    struct wire_gather *gather;
    double period;
    struct tact_world *world;
    const struct tact_pressure *map;
    uint32_t contacts, left_out;
    int next; /* index of the next gathered force */
};

static void to_floats(float *out, const double *in, int count)
{
    for (int i = 0; i < count; i++) {
        out[i] = (float)in[i];
    }
}

/* 1.0 or -1.0: the sign that gives force and torsion on the moving body, or on the upper one of
 * two. */
static double force_sign(const struct tact_world *world, const struct tact_contact *c)
{
    enum tact_owner_kind a = tact_world_owner(world, c->a).kind;
    int bodies = a == tact_world_owner(world, c->b).kind;
    return a == TACT_OWNER_FIXED || (bodies && c->patch.frame[2] < 0.0) ? -1.0 : 1.0;
}

static void put_outline(struct writer *w, const struct tact_contact *c, struct wire_contact *out)
{
    double corner[WIRE_CORNERS][2];
    out->corners =
        (uint32_t)tact_patch_polygon(&c->patch, c->impulse[0] / w->period, WIRE_CORNERS, corner);
    float *at = (float *)(void *)(w->at + sizeof *out);
    memset(at, 0, eights(12 * out->corners));
    for (uint32_t i = 0; i < out->corners; i++) {
        double p[3];
        tact_v3_copy(p, c->patch.center);
        tact_v3_axpy(p, corner[i][0], c->patch.frame + 3);
        tact_v3_axpy(p, corner[i][1], c->patch.frame + 6);
        to_floats(at + 3 * (ptrdiff_t)i, p, 3);
    }
}

static void put_contact(void *user, int key, const struct tact_contact *c)
{
    struct writer *w = user;
    const struct wire_gather *g = w->gather;
    const double *r = c->impulse, *frame = c->patch.frame;
    struct wire_contact out = {.pair = (uint32_t)(key / TACT_PIECES),
                               .a = (uint32_t)c->a,
                               .b = (uint32_t)c->b,
                               .limits = (uint32_t)c->limits};
    double d[2] = {0.0, 0.0}, pressure[3], force[3], torque[3], sign = force_sign(w->world, c);
    while (w->next < g->count && g->force[w->next].contact < key) {
        w->next++;
    }
    if (w->next == g->count || g->force[w->next].contact != key) {
        w->left_out++;
        return;
    }
    if (r[0] > 0.0) {
        d[0] = -r[5] / r[0];
        d[1] = r[4] / r[0];
    }
    out.normal = r[0] / w->period;
    out.friction = hypot(r[1], r[2]) / w->period;
    out.torsion = (r[3] - (d[0] * r[2] - d[1] * r[1])) / w->period;
    out.least = g->force[w->next].least;
    out.most = g->force[w->next].most;
    memcpy(out.margins, &c->margins, sizeof out.margins);
    tact_v3_copy(pressure, c->patch.center);
    tact_v3_axpy(pressure, d[0], frame + 3);
    tact_v3_axpy(pressure, d[1], frame + 6);
    tact_m3_tmul_v3(force, frame, r);
    tact_v3_scale(force, force, sign / w->period);
    tact_v3_scale(torque, frame, sign * out.torsion);
    enum tact_owner_kind a = tact_world_owner(w->world, c->a).kind;
    out.pushes = a == TACT_OWNER_BODY && tact_world_owner(w->world, c->b).kind == TACT_OWNER_HAND;
    to_floats(out.centre, c->patch.center, 3);
    to_floats(out.n, frame, 3);
    to_floats(out.pressure, pressure, 3);
    to_floats(out.force, force, 3);
    to_floats(out.torque, torque, 3);
    put_outline(w, c, &out);
    size_t size = sizeof out + eights(12 * out.corners);
    out.peak = wire_pressure(w->map, c, (struct wire_pressure *)(void *)(w->at + size));
    memcpy(w->at, &out, sizeof out);
    w->at += size + (out.peak > 0.0F ? sizeof(struct wire_pressure) : 0);
    w->contacts++;
}

static void put_poses(struct writer *w)
{
    const struct tact_pose *poses = tact_world_shape_poses(w->world);
    int shapes = tact_world_shape_count(w->world);
    for (int i = 0; i < shapes; i++, w->at += sizeof(struct wire_pose)) {
        struct wire_pose out = {.unused = 0.0f};
        to_floats(out.position, poses[i].position, 3);
        to_floats(out.quat_wxyz, poses[i].quat_wxyz, 4);
        memcpy(w->at, &out, sizeof out);
    }
}

static void put_joints(struct writer *w)
{
    for (int i = 0; i < tact_world_hand_count(w->world); i++) {
        struct tact_hand *hand = tact_world_hand(w->world, i);
        struct tact_hand_state s = tact_hand_state(hand);
        for (int k = 0; k < tact_hand_count(hand); k++, w->at += sizeof(struct wire_joint)) {
            struct wire_joint out = {s.q[k], s.target[k], s.torque[k], {0.0f}, 0.0f};
            to_floats(out.position, tact_hand_link_pose(hand, k)->position, 3);
            memcpy(w->at, &out, sizeof out);
        }
    }
}

static void put_devices(struct writer *w, const struct wire_state *state)
{
    memset(w->at, 0, eights(4 * (size_t)state->devices));
    for (int i = 0; i < state->devices; i++) {
        uint32_t out = (uint32_t)state->device[i];
        memcpy(w->at + 4 * (ptrdiff_t)i, &out, sizeof out);
    }
    w->at += eights(4 * (size_t)state->devices);
}

size_t wire_frame(struct wire_gather *g, struct tact_world *world, double period,
                  const struct wire_state *state, const struct tact_pressure *map, void *out)
{
    struct writer w = {.at = (unsigned char *)out + sizeof(struct wire_head),
                       .gather = g,
                       .period = period,
                       .world = world,
                       .map = map};
    put_poses(&w);
    each_contact(world, &w, put_contact);
    put_joints(&w);
    put_devices(&w, state);
    memcpy(w.at, g->bins, sizeof g->bins);
    w.at += sizeof g->bins;
    const struct wire_head head = {.type = WIRE_FRAME,
                                   .flags = (uint8_t)state->flags,
                                   .safety = (uint8_t)state->safety,
                                   .number = ++g->number,
                                   .tick = (double)state->tick,
                                   .time = state->time,
                                   .wake = g->wake,
                                   .compute = g->compute,
                                   .residual = state->residual,
                                   .iterations = (uint32_t)state->iterations,
                                   .missed = (uint32_t)state->missed,
                                   .age = state->age,
                                   .shapes = (uint32_t)tact_world_shape_count(world),
                                   .contacts = w.contacts,
                                   .joints = (uint32_t)joint_count(world),
                                   .devices = (uint32_t)state->devices,
                                   .bins = WIRE_BINS,
                                   .ticks = g->ticks,
                                   .left_out = w.left_out};
    memcpy(out, &head, sizeof head);
    g->ticks = 0;
    return (size_t)(w.at - (unsigned char *)out);
}
