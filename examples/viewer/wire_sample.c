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

/* Number of bytes of poses, joints and devices; pose: bytes of one pose. */
static size_t compute_sample_data_bytes(const struct tact_world *world, int devices, size_t pose)
{
    return pose * (size_t)tact_world_shape_count(world) +
           sizeof(struct wire_joint) * (size_t)joint_count(world) +
           wire_round_up_to_eight_bytes(4 * (size_t)devices);
}

size_t wire_sample_bytes(const struct tact_world *world, int devices)
{
    return sizeof(struct wire_sample) +
           compute_sample_data_bytes(world, devices, sizeof(struct tact_pose)) +
           WIRE_MAX_CONTACTS * sizeof(struct wire_touching_contact);
}

size_t wire_max_frame_bytes(const struct tact_world *world, int devices)
{
    const size_t contact = sizeof(struct wire_contact) +
                           wire_round_up_to_eight_bytes(12 * WIRE_MAX_OUTLINE_CORNERS) +
                           sizeof(struct wire_pressure);
    return sizeof(struct wire_frame_head) + WIRE_MAX_CONTACTS * contact +
           compute_sample_data_bytes(world, devices, sizeof(struct wire_pose)) +
           8 * WIRE_HISTOGRAM_BINS;
}

/* Ten bins per decade from 100 ns; by comparisons, because a logarithm costs each tick more than
 * the rest of what is gathered. */
static WIRE_CODE_RUN_EVERY_TICK inline int find_bin_of_time(double ns)
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

/* Key of a contact, by which contacts are in order: its pair, and the number of its piece from 1,
 * or 0 where the patch is not split. */
static int contact_or_piece_key(int pair, int piece)
{
    return pair * (TACT_PIECES + 1) + piece;
}

/* Calls visit() for each touching contact, and for each piece of a patch that is split. */
static inline void visit_touching_contacts(struct tact_world *world, void *user,
                                           void (*visit)(void *user, int key,
                                                         const struct tact_contact *c))
{
    int count;
    const int *near = tact_world_near(world, &count);
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(world, near[i]);
        for (int k = 0; c->touching && k < c->split; k++) {
            visit(user, contact_or_piece_key(near[i], k + 1), tact_world_piece(world, near[i], k));
        }
        if (c->touching && !c->split) {
            visit(user, contact_or_piece_key(near[i], 0), c);
        }
    }
}

/* State of merging the forces of a tick into the least and largest forces of the frame's earlier
 * ticks. */
struct contact_force_merge {
    struct wire_tick_statistics *tick_statistics;
    double period;
    int at;
};

/* Adds a contact that begins, before index `at`. 0 where there is no room. */
static WIRE_CODE_RUN_EVERY_TICK __attribute__((noinline)) int
insert_force_range_of_contact(struct wire_tick_statistics *g, int at, int key, double force)
{
    if (g->count == WIRE_MAX_CONTACTS) {
        return 0;
    }
    memmove(&g->force[at + 1], &g->force[at], sizeof g->force[0] * (size_t)(g->count - at));
    g->force[at] = (struct wire_contact_force){.contact = key,
                                               /* the contact began within this frame */
                                               .least = g->ticks > 1 ? 0.0 : force,
                                               .most = force};
    g->count++;
    return 1;
}

static WIRE_CODE_RUN_EVERY_TICK inline void merge_force_of_contact(void *user, int key,
                                                                   const struct tact_contact *c)
{
    struct contact_force_merge *m = user;
    struct wire_tick_statistics *g = m->tick_statistics;
    double force = c->impulse[0] / m->period;
    while (m->at < g->count && g->force[m->at].contact < key) {
        m->at++;
    }
    if ((m->at == g->count || g->force[m->at].contact != key) &&
        !insert_force_range_of_contact(g, m->at, key, force)) {
        return;
    }
    struct wire_contact_force *f = &g->force[m->at];
    f->is_touching = 1;
    f->least = tact_min(force, f->least);
    f->most = tact_max(force, f->most);
}

WIRE_CODE_RUN_EVERY_TICK void wire_accumulate_tick(struct wire_tick_statistics *g,
                                                   struct tact_world *world, double period,
                                                   double wake_ns, double compute_ns)
{
    struct contact_force_merge contact_force_merge = {.tick_statistics = g, .period = period};
    if (!g->ticks) { /* the first tick of a frame: the statistics are still those of the frame
                        before */
        g->count = 0;
        g->wake = g->compute = 0.0;
    }
    g->ticks++;
    g->wake = tact_max(wake_ns, g->wake);
    g->compute = tact_max(compute_ns, g->compute);
    g->latency_bins[0][find_bin_of_time(wake_ns)]++;
    g->latency_bins[1][find_bin_of_time(compute_ns)]++;
    for (int i = 0; i < g->count; i++) {
        g->force[i].is_touching = 0;
    }
    visit_touching_contacts(world, &contact_force_merge, merge_force_of_contact);
    for (int i = 0; i < g->count; i++) {
        g->force[i].least = g->force[i].is_touching ? g->force[i].least : 0.0;
    }
}

/* State while a sample is filled. */
struct sample_filling_state {
    struct wire_sample *sample;
    const struct wire_tick_statistics *tick_statistics;
    unsigned char *at; /* in the data of the sample */
    int next;          /* index of the next gathered force */
};

/* The members of a contact that a frame shows, from one to the one before another. A sample has
 * them one after the other, then the corners that the patch has: a sixth of the contact. */
#define SHOWN_CONTACT_MEMBERS(COPY)                                                                \
    COPY(a, moments)                                                                               \
    COPY(patch.law, patch.gap)                                                                     \
    COPY(patch.rolling_radius, patch.corner)                                                       \
    COPY(patch.radius, patch.points)                                                               \
    COPY(patch.spin_arm, wrench)                                                                   \
    COPY(limits, split)

#define CONTACT_MEMBER_OFFSET(member) offsetof(struct tact_contact, member)

#define COPY_TO_SAMPLE(first, end)                                                                 \
    memcpy(at, (const char *)c + CONTACT_MEMBER_OFFSET(first),                                     \
           CONTACT_MEMBER_OFFSET(end) - CONTACT_MEMBER_OFFSET(first));                             \
    at += CONTACT_MEMBER_OFFSET(end) - CONTACT_MEMBER_OFFSET(first);

#define COPY_FROM_SAMPLE(first, end)                                                               \
    memcpy((char *)c + CONTACT_MEMBER_OFFSET(first), at,                                           \
           CONTACT_MEMBER_OFFSET(end) - CONTACT_MEMBER_OFFSET(first));                             \
    at += CONTACT_MEMBER_OFFSET(end) - CONTACT_MEMBER_OFFSET(first);

static WIRE_CODE_RUN_EVERY_TICK unsigned char *
write_contact_to_sample(unsigned char *at, const struct wire_contact_head *head,
                        const struct tact_contact *c)
{
    const size_t corners = sizeof c->patch.corner[0] * (size_t)c->patch.corners;
    memcpy(at, head, sizeof *head);
    at += sizeof *head;
    SHOWN_CONTACT_MEMBERS(COPY_TO_SAMPLE)
    memcpy(at, c->patch.corner, corners);
    return at + corners;
}

const unsigned char *wire_read_contact(const unsigned char *at, struct wire_touching_contact *out)
{
    struct tact_contact *c = &out->contact;
    memset(out, 0, sizeof *out);
    memcpy(&out->head, at, sizeof out->head);
    at += sizeof out->head;
    SHOWN_CONTACT_MEMBERS(COPY_FROM_SAMPLE)
    const size_t corners = sizeof c->patch.corner[0] * (size_t)c->patch.corners;
    memcpy(c->patch.corner, at, corners);
    return at + corners;
}

static WIRE_CODE_RUN_EVERY_TICK inline void add_contact_to_sample(void *user, int key,
                                                                  const struct tact_contact *c)
{
    struct sample_filling_state *f = user;
    const struct wire_tick_statistics *g = f->tick_statistics;
    while (f->next < g->count && g->force[f->next].contact < key) {
        f->next++;
    }
    if (f->next == g->count || g->force[f->next].contact != key) {
        f->sample->left_out++;
        return;
    }
    const struct wire_contact_head head = {.least = g->force[f->next].least,
                                           .most = g->force[f->next].most,
                                           .pair = key / (TACT_PIECES + 1),
                                           .piece = key % (TACT_PIECES + 1)};
    f->at = write_contact_to_sample(f->at, &head, c);
    f->sample->contacts++;
}

static WIRE_CODE_RUN_EVERY_TICK void add_body_poses(struct sample_filling_state *f,
                                                    const struct tact_world *world)
{
    const size_t bytes = sizeof(struct tact_pose) * (size_t)f->sample->shapes;
    memcpy(f->at, tact_world_shape_poses(world), bytes);
    f->at += bytes;
}

static WIRE_CODE_RUN_EVERY_TICK void add_joint_positions(struct sample_filling_state *f,
                                                         struct tact_world *world)
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

static WIRE_CODE_RUN_EVERY_TICK void add_device_states(struct sample_filling_state *f,
                                                       const struct wire_session_state *state)
{
    memset(f->at, 0, wire_round_up_to_eight_bytes(4 * (size_t)state->devices));
    for (int i = 0; i < state->devices; i++) {
        uint32_t out = (uint32_t)state->device[i];
        memcpy(f->at + 4 * (ptrdiff_t)i, &out, sizeof out);
    }
    f->at += wire_round_up_to_eight_bytes(4 * (size_t)state->devices);
}

WIRE_CODE_RUN_EVERY_TICK void wire_fill_sample(struct wire_tick_statistics *g,
                                               struct tact_world *world, double period,
                                               const struct wire_session_state *state,
                                               const struct tact_pressure *map,
                                               struct wire_sample *out)
{
    struct sample_filling_state f = {.sample = out, .tick_statistics = g, .at = out->data};
    out->number = ++g->number;
    out->ticks = g->ticks;
    out->wake = g->wake;
    out->compute = g->compute;
    memcpy(out->latency_bins, g->latency_bins, sizeof out->latency_bins);
    out->state = *state;
    out->state.device = NULL; /* the device states are copied separately */
    out->period = period;
    out->shapes = tact_world_shape_count(world);
    out->contacts = out->joints = 0;
    out->left_out = 0;
    add_body_poses(&f, world);
    add_joint_positions(&f, world);
    add_device_states(&f, state);
    visit_touching_contacts(world, &f, add_contact_to_sample);
    out->sample_data_bytes = (size_t)(f.at - out->data);
    out->has_pressure_map = map != NULL;
    if (map && map != &out->map) {
        out->map = *map;
    }
    g->ticks = 0;
}

WIRE_CODE_RUN_EVERY_TICK void wire_zero_cache_lines(void *first, size_t bytes)
{
    volatile unsigned char *at = first;
    for (size_t i = 0; i < bytes; i += WIRE_CACHE_LINE_BYTES) {
        at[i] = 0;
    }
}

WIRE_CODE_RUN_EVERY_TICK void wire_bring_sample_buffer_into_cache(struct wire_sample *sample)
{
    const size_t sample_data_bytes = sample->sample_data_bytes;
    wire_zero_cache_lines(sample, offsetof(struct wire_sample, map));
    wire_zero_cache_lines(sample->data, sample_data_bytes);
}
