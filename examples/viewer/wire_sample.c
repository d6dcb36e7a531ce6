/* Collects what a frame shows, in the thread that computes ticks. See wire.h. */
#include <string.h>
#include "contact/vec.h"
#include "wire.h"

static int joint_count(const struct tact_world *world)
{
    int count = 0;
    for (int i = 0; i < tact_world_hand_count(world); i++) {
        count += tact_hand_count(tact_world_hand((struct tact_world *)world, i));
    }
    return count;
}

/* Bytes of poses, joints and devices, where a pose takes `pose` of them. */
static size_t compute_rest_bytes(const struct tact_world *world, int devices, size_t pose)
{
    return pose * (size_t)tact_world_shape_count(world) +
           sizeof(struct wire_joint) * (size_t)joint_count(world) +
           wire_round_up_to_eight_bytes(4 * (size_t)devices);
}

size_t wire_sample_bytes(const struct tact_world *world, int devices)
{
    return sizeof(struct wire_sample) +
           compute_rest_bytes(world, devices, sizeof(struct tact_pose));
}

size_t wire_max_frame_bytes(const struct tact_world *world, int devices)
{
    const size_t contact = sizeof(struct wire_contact) +
                           wire_round_up_to_eight_bytes(12 * WIRE_CORNERS) +
                           sizeof(struct wire_pressure);
    return sizeof(struct wire_head) + WIRE_MAX_CONTACTS * contact +
           compute_rest_bytes(world, devices, sizeof(struct wire_pose)) + 8 * WIRE_HISTOGRAM_BINS;
}

/* Ten bins per decade from 100 ns; by comparisons, because a logarithm costs each tick more than
 * the rest of what is gathered. */
static int find_bin_of_time(double ns)
{
    static const double edges[] = {1.2589254117941673, 1.5848931924611136, 1.9952623149688795,
                                   2.5118864315095801, 3.1622776601683795, 3.9810717055349722,
                                   5.0118723362727229, 6.3095734448019325, 7.9432823472428150};
    double decade_start_ns = 100.0;
    int bin = 0;
    for (; ns >= 10.0 * decade_start_ns && bin < WIRE_HISTOGRAM_BINS - 10; bin += 10) {
        decade_start_ns *= 10.0;
    }
    for (size_t i = 0; i < sizeof edges / sizeof *edges && ns >= edges[i] * decade_start_ns; i++) {
        bin++;
    }
    return bin;
}

/* Calls visit() for each touching contact, and for each piece of a patch that is split. */
static void visit_touching_contacts(struct tact_world *world, void *user,
                                    void (*visit)(void *user, int key,
                                                  const struct tact_contact *c))
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
struct contact_merge {
    struct wire_tick_statistics *gather;
    double period;
    int at;
};

static void merge_contact_force(void *user, int key, const struct tact_contact *c)
{
    struct contact_merge *m = user;
    struct wire_tick_statistics *g = m->gather;
    double force = c->impulse[0] / m->period;
    while (m->at < g->count && g->force[m->at].contact < key) {
        m->at++;
    }
    if (m->at == g->count || g->force[m->at].contact != key) {
        if (g->count == WIRE_MAX_CONTACTS) {
            return;
        }
        memmove(&g->force[m->at + 1], &g->force[m->at],
                sizeof g->force[0] * (size_t)(g->count - m->at));
        g->force[m->at].contact = key;
        g->force[m->at].least =
            g->ticks > 1 ? 0.0 : force; /* 0: the contact began within the frame */
        g->force[m->at].most = force;
        g->count++;
    }
    g->force[m->at].seen = 1;
    g->force[m->at].least = tact_min(force, g->force[m->at].least);
    g->force[m->at].most = tact_max(force, g->force[m->at].most);
}

void wire_accumulate_tick(struct wire_tick_statistics *g, struct tact_world *world, double period,
                          double wake_ns, double compute_ns)
{
    struct contact_merge contact_merge = {.gather = g, .period = period};
    if (!g->ticks) { /* the first tick of a frame: what was gathered is that of the last one */
        g->count = 0;
        g->wake = g->compute = 0.0;
    }
    g->ticks++;
    g->wake = tact_max(wake_ns, g->wake);
    g->compute = tact_max(compute_ns, g->compute);
    g->bins[0][find_bin_of_time(wake_ns)]++;
    g->bins[1][find_bin_of_time(compute_ns)]++;
    for (int i = 0; i < g->count; i++) {
        g->force[i].seen = 0;
    }
    visit_touching_contacts(world, &contact_merge, merge_contact_force);
    for (int i = 0; i < g->count; i++) {
        g->force[i].least = g->force[i].seen ? g->force[i].least : 0.0;
    }
}

/* A sample that is being filled. */
struct sample_filler {
    struct wire_sample *sample;
    const struct wire_tick_statistics *gather;
    unsigned char *at; /* in its rest */
    int next;          /* index of the next gathered force */
};

static void copy_contact_bytes(struct tact_contact *out, const struct tact_contact *c, size_t first,
                               size_t end)
{
    memcpy((char *)out + first, (const char *)c + first, end - first);
}

/* Copies a contact without what is most of it: the corners that its patch does not have, and the
 * parts of its pressure, which no frame shows. */
static void copy_shown_contact(struct tact_contact *out, const struct tact_contact *c)
{
    const size_t corners = offsetof(struct tact_contact, patch.corner);
    copy_contact_bytes(out, c, 0, corners + sizeof c->patch.corner[0] * (size_t)c->patch.corners);
    copy_contact_bytes(out, c, offsetof(struct tact_contact, patch.radius),
                       offsetof(struct tact_contact, patch.points));
    copy_contact_bytes(out, c, offsetof(struct tact_contact, patch.spin_arm), sizeof *c);
}

static void add_contact(void *user, int key, const struct tact_contact *c)
{
    struct sample_filler *f = user;
    const struct wire_tick_statistics *g = f->gather;
    while (f->next < g->count && g->force[f->next].contact < key) {
        f->next++;
    }
    if (f->next == g->count || g->force[f->next].contact != key) {
        f->sample->left_out++;
        return;
    }
    struct wire_touching_contact *out = &f->sample->contact[f->sample->contacts++];
    out->pair = key / TACT_PIECES;
    out->least = g->force[f->next].least;
    out->most = g->force[f->next].most;
    copy_shown_contact(&out->contact, c);
}

static void add_body_poses(struct sample_filler *f, const struct tact_world *world)
{
    const size_t bytes = sizeof(struct tact_pose) * (size_t)f->sample->shapes;
    memcpy(f->at, tact_world_shape_poses(world), bytes);
    f->at += bytes;
}

static void add_joint_positions(struct sample_filler *f, struct tact_world *world)
{
    for (int i = 0; i < tact_world_hand_count(world); i++) {
        struct tact_hand *hand = tact_world_hand(world, i);
        struct tact_hand_state s = tact_hand_state(hand);
        for (int k = 0; k < tact_hand_count(hand); k++, f->at += sizeof(struct wire_joint)) {
            struct wire_joint out = {s.q[k], s.target[k], s.torque[k], {0.0f}, (float)s.stop[k]};
            wire_convert_to_floats(out.position, tact_hand_link_pose(hand, k)->position, 3);
            memcpy(f->at, &out, sizeof out);
            f->sample->joints++;
        }
    }
}

static void add_device_states(struct sample_filler *f, const struct wire_state *state)
{
    memset(f->at, 0, wire_round_up_to_eight_bytes(4 * (size_t)state->devices));
    for (int i = 0; i < state->devices; i++) {
        uint32_t out = (uint32_t)state->device[i];
        memcpy(f->at + 4 * (ptrdiff_t)i, &out, sizeof out);
    }
    f->at += wire_round_up_to_eight_bytes(4 * (size_t)state->devices);
}

void wire_accumulate_and_sample_tick(struct wire_tick_statistics *g, struct tact_world *world,
                                     double period, const struct wire_state *state,
                                     const struct tact_pressure *map, struct wire_sample *out)
{
    struct sample_filler f = {.sample = out, .gather = g, .at = out->rest};
    out->number = ++g->number;
    out->ticks = g->ticks;
    out->wake = g->wake;
    out->compute = g->compute;
    memcpy(out->bins, g->bins, sizeof out->bins);
    out->state = *state;
    out->state.device = NULL; /* they are copied */
    out->period = period;
    out->shapes = tact_world_shape_count(world);
    out->contacts = out->joints = 0;
    out->left_out = 0;
    add_body_poses(&f, world);
    add_joint_positions(&f, world);
    add_device_states(&f, state);
    visit_touching_contacts(world, &f, add_contact);
    out->has_map = map != NULL;
    if (map && map != &out->map) {
        out->map = *map;
    }
    g->ticks = 0;
}
