/* Writes the frame of a sample. See wire.h. */
#include "wire.h"

#include <math.h>
#include <string.h>
#include "contact/vec.h"
#include "contact_loads.h"

_Static_assert(sizeof(struct wire_frame_head) == 88 && sizeof(struct wire_pose) == 32 &&
                   sizeof(struct wire_contact) == 176 && sizeof(struct wire_joint) == 40 &&
                   sizeof(struct wire_pressure) == 616,
               "page/wire.js reads the members of these structs by their offsets: change both");

/* A message of a frame that is being written. */
struct frame_writer {
    unsigned char *at;
    const struct wire_sample *sample;
    const struct tact_world *world;
    const struct tact_pressure *map;
};

/* 1.0 or -1.0: the sign that gives force and torsion on the moving body, or on the upper one of
 * two. */
static double get_contact_force_sign(const struct tact_world *world, const struct tact_contact *c)
{
    enum tact_owner_kind a = tact_world_owner(world, c->a).kind;
    int bodies = a == tact_world_owner(world, c->b).kind;
    return a == TACT_OWNER_FIXED || (bodies && c->patch.frame[2] < 0.0) ? -1.0 : 1.0;
}

static void write_contact_outline(struct frame_writer *w, const struct tact_contact *c,
                                  struct wire_contact *out)
{
    double corner[WIRE_MAX_OUTLINE_CORNERS][2];
    out->corners = (uint32_t)tact_patch_polygon(&c->patch, c->impulse[0] / w->sample->period,
                                                WIRE_MAX_OUTLINE_CORNERS, corner);
    float *at = (float *)(void *)(w->at + sizeof *out);
    memset(at, 0, wire_round_up_to_eight_bytes(12 * out->corners));
    for (uint32_t i = 0; i < out->corners; i++) {
        double p[3];
        tact_v3_copy(p, c->patch.center);
        tact_v3_axpy(p, corner[i][0], c->patch.frame + 3);
        tact_v3_axpy(p, corner[i][1], c->patch.frame + 6);
        wire_convert_to_floats(at + 3 * (ptrdiff_t)i, p, 3);
    }
}

static void write_contact_in_frame(struct frame_writer *w,
                                   const struct wire_touching_contact *touching)
{
    const struct tact_contact *c = &touching->contact;
    const double *r = c->impulse, *frame = c->patch.frame, period = w->sample->period;
    struct wire_contact out = {.pair = (uint32_t)touching->head.pair,
                               .a = (uint32_t)c->a,
                               .b = (uint32_t)c->b,
                               .limits = (uint32_t)c->limits,
                               .least = touching->head.least,
                               .most = touching->head.most};
    struct contact_loads loads = compute_contact_loads(r, period);
    const double *d = loads.center_of_pressure;
    double pressure[3], force[3], torque[3], sign = get_contact_force_sign(w->world, c);
    out.normal = loads.normal;
    out.friction = loads.friction;
    out.torsion = loads.torsion;
    memcpy(out.margins, &c->margins, sizeof out.margins);
    tact_v3_copy(pressure, c->patch.center);
    tact_v3_axpy(pressure, d[0], frame + 3);
    tact_v3_axpy(pressure, d[1], frame + 6);
    tact_m3_tmul_v3(force, frame, r);
    tact_v3_scale(force, force, sign / period);
    tact_v3_scale(torque, frame, sign * out.torsion);
    enum tact_owner_kind a = tact_world_owner(w->world, c->a).kind;
    out.piece = (uint16_t)touching->head.piece;
    out.is_finger_force =
        a == TACT_OWNER_BODY && tact_world_owner(w->world, c->b).kind == TACT_OWNER_HAND;
    wire_convert_to_floats(out.centre, c->patch.center, 3);
    wire_convert_to_floats(out.n, frame, 3);
    wire_convert_to_floats(out.pressure, pressure, 3);
    wire_convert_to_floats(out.force, force, 3);
    wire_convert_to_floats(out.torque, torque, 3);
    write_contact_outline(w, c, &out);
    size_t size = sizeof out + wire_round_up_to_eight_bytes(12 * out.corners);
    out.peak = wire_pressure(w->map, c, (struct wire_pressure *)(void *)(w->at + size));
    memcpy(w->at, &out, sizeof out);
    w->at += size + (out.peak > 0.0F ? sizeof(struct wire_pressure) : 0);
}

/* Writes the poses of the shapes, with which the data of a sample begin. */
static void write_poses_in_frame(struct frame_writer *w, const unsigned char **data)
{
    for (int i = 0; i < w->sample->shapes; i++, *data += sizeof(struct tact_pose)) {
        struct wire_pose out = {.unused = 0.0F};
        struct tact_pose pose;
        memcpy(&pose, *data, sizeof pose);
        wire_convert_to_floats(out.position, pose.position, 3);
        wire_convert_to_floats(out.quat_wxyz, pose.quat_wxyz, 4);
        memcpy(w->at, &out, sizeof out);
        w->at += sizeof out;
    }
}

/* Copies the next bytes of the sample's data, which are the same in a frame. */
static void copy_sample_data(struct frame_writer *w, const unsigned char **data, size_t bytes)
{
    memcpy(w->at, *data, bytes);
    w->at += bytes;
    *data += bytes;
}

size_t wire_write_frame(const struct wire_sample *sample, const struct tact_world *world, void *out)
{
    struct frame_writer w = {.at = (unsigned char *)out + sizeof(struct wire_frame_head),
                             .sample = sample,
                             .world = world,
                             .map = sample->has_pressure_map ? &sample->map : NULL};
    const struct wire_session_state *state = &sample->state;
    const unsigned char *data = sample->data;
    write_poses_in_frame(&w, &data);
    const size_t joints = sizeof(struct wire_joint) * (size_t)sample->joints;
    const size_t devices = wire_round_up_to_eight_bytes(4 * (size_t)state->devices);
    const unsigned char *contact = data + joints + devices;
    for (int i = 0; i < sample->contacts; i++) {
        struct wire_touching_contact touching;
        contact = wire_read_contact(contact, &touching);
        write_contact_in_frame(&w, &touching);
    }
    copy_sample_data(&w, &data, joints);
    copy_sample_data(&w, &data, devices);
    memcpy(w.at, sample->latency_bins, sizeof sample->latency_bins);
    w.at += sizeof sample->latency_bins;
    const struct wire_frame_head head = {.type = WIRE_FRAME,
                                         .flags = (uint8_t)state->flags,
                                         .safety = (uint8_t)state->safety,
                                         .number = sample->number,
                                         .tick = (double)state->tick,
                                         .time = state->time,
                                         .wake = sample->wake,
                                         .compute = sample->compute,
                                         .residual = state->residual,
                                         .iterations = (uint32_t)state->iterations,
                                         .missed = (uint32_t)state->missed,
                                         .age = state->age,
                                         .shapes = (uint32_t)sample->shapes,
                                         .contacts = (uint32_t)sample->contacts,
                                         .joints = (uint32_t)sample->joints,
                                         .devices = (uint32_t)state->devices,
                                         .latency_bins = WIRE_HISTOGRAM_BINS,
                                         .ticks = sample->ticks,
                                         .left_out = sample->left_out};
    memcpy(out, &head, sizeof head);
    return (size_t)(w.at - (unsigned char *)out);
}

size_t wire_record_values_bytes(size_t count)
{
    return sizeof(struct wire_record_values) + (sizeof(float) + sizeof(uint32_t)) * count;
}

size_t wire_write_record_values(uint64_t tick, const double *values, const uint32_t *at,
                                size_t count, void *out)
{
    const struct wire_record_values head = {(double)tick, (uint32_t)count, at != NULL};
    unsigned char *to = (unsigned char *)out + sizeof head;
    memcpy(out, &head, sizeof head);
    for (size_t i = 0; i < count; i++, to += sizeof(float)) {
        const float value = (float)values[at ? at[i] : i];
        memcpy(to, &value, sizeof value);
    }
    if (at) {
        memcpy(to, at, sizeof *at * count);
        to += sizeof *at * count;
    }
    return (size_t)(to - (unsigned char *)out);
}
