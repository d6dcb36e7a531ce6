/*
 * The messages sent to the page of the viewer: the scene once, then frames with the state of the
 * session.
 *
 * Text messages are JSON: `hello` with names, shapes and a log's events, `fault` with its
 * description, `event` with one of a session that runs. Binary messages are little-endian and begin
 * with their type. Type 1 is a mesh: u8 type, u8[3] 0, u32 shape, u32 vertices, u32 triangles,
 * f32[3] a vertex [m, shape frame], u32[3] a triangle. Type 2 is a frame: struct wire_frame_head,
 * then struct wire_pose a shape, a struct wire_contact and its outline a contact (f32[3] a corner
 * [m, world], up to a multiple of 8 bytes) and, where its peak is not 0, its struct wire_pressure,
 * a struct wire_joint a joint, u32 a device (enum tact_device_state, up to a multiple of 8 bytes),
 * the bins of two histograms, wake-up and compute, and, where the page asked for values of the
 * record, struct wire_record_values and those.
 */
#ifndef TACT_EXAMPLES_VIEWER_WIRE_H
#define TACT_EXAMPLES_VIEWER_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include "contact/pair/pressure.h"
#include "contact/world/world.h"
#include "rt/log/layout.h"
#include "rt/log/log_reader.h"
#include "rt/scene/scene.h"

#define WIRE_MAX_CONTACTS 256           /* most contacts of a frame; more are only counted */
#define WIRE_MAX_OUTLINE_CORNERS 32     /* most corners of an outline */
#define WIRE_PRESSURE_CELLS_PER_SIDE 24 /* cells of a pressure along each side */
#define WIRE_HISTOGRAM_BINS 60          /* bins of a histogram: ten per decade from 0.1 us */
#define WIRE_MAX_HELLO_VALUES 8192      /* most values of a record that a hello lists */
#define WIRE_MAX_HELLO_EVENTS 500       /* most events of a log that a hello lists */
#define WIRE_CACHE_LINE_BYTES 64

/* Attribute of functions that ticks run for the viewer: the linker puts them side by side. A tick
 * begins with cold caches, and then each line and page of code that it needs costs as much as 100
 * instructions. By a section of their own: some linkers do not group those that are only hot. */
#define WIRE_CODE_RUN_EVERY_TICK __attribute__((hot, section("tact_viewer_code")))

enum { WIRE_MESH = 1, WIRE_FRAME = 2 };
enum { WIRE_PAUSED = 1, WIRE_ENDED = 2, WIRE_DEADMAN = 4 };

struct wire_frame_head {
    /* flags: of the enum above; safety: enum tact_safety_state */
    uint8_t type, flags, safety, unused;
    uint32_t number;                  /* number of the frame */
    double tick, time;                /* tick and time of the last tick in the frame [s] */
    double wake, compute;             /* largest value of the frame's ticks [ns] */
    double residual;                  /* residual of the last solve */
    uint32_t iterations, missed, age; /* iterations of the solver; ticks that missed their deadline
                                         so far; age of the moments */
    uint32_t shapes, contacts, joints, devices, latency_bins;
    uint32_t ticks, left_out; /* ticks since the last frame; contacts beyond the capacity */
};

struct wire_pose {
    float position[3], quat_wxyz[4], unused; /* pose of a shape [m, world] */
};

struct wire_contact {
    uint32_t pair, a, b, limits, corners; /* enum tact_limit bits */
    uint16_t is_finger_force; /* 1: the force of a finger on a body, drawn so that it ends at the
                        centre of pressure */
    uint16_t piece; /* number of a piece of the patch, from 1; 0: the patch is not split */
    double normal, friction, torsion;  /* [N], [N], [N m] about the centre of pressure */
    double least, most;                /* normal force in the frame's ticks [N] */
    double margins[TACT_MARGIN_COUNT]; /* struct tact_margins */
    float centre[3], n[3],
        pressure[3];           /* centre, normal and centre of pressure of the patch [m, world] */
    float force[3], torque[3]; /* force and torsion as they act on the moving body, or on the upper
                                  one of two */
    float peak;                /* largest pressure [Pa]; 0: the model computes none */
};

/* The pressure of a patch in cells, at their middles: row by row along u, then along v. */
struct wire_pressure {
    /* Corner of the grid, and its sides [m, world]; 0 where the pressure map had no room for the
     * patch, or where the grid has no area. */
    float corner[3], u[3], v[3];
    float load; /* integral of the pressure [N] */
    uint8_t cell[WIRE_PRESSURE_CELLS_PER_SIDE *
                 WIRE_PRESSURE_CELLS_PER_SIDE]; /* 0: outside; 1 to 255: 0 to the peak */
};

struct wire_joint {
    double value, target, torque; /* [rad, m], [N m, N] */
    float position[3];            /* position of the link's frame [m, world] */
    float stop;                   /* -1: at its lower stop, 1: at its upper one, 0: at none */
};

/* State of the session beyond that of its world: safety, deadline misses, devices. */
struct wire_session_state {
    uint64_t tick;
    double time; /* [s] */
    int flags, safety;
    double residual;
    int iterations;
    uint64_t missed;
    uint32_t age;
    int devices;
    const int *device; /* enum tact_device_state of each device */
};

struct wire_contact_force {
    int contact, is_touching; /* key of the contact, and 1 if it touched in the last tick */
    double least, most;
};

/* Gathers ticks until the next frame. All zero at the start. */
struct wire_tick_statistics {
    uint32_t number, ticks;
    double wake, compute;
    int count;
    /* histogram of all ticks so far: wake-up, compute */
    uint32_t latency_bins[2][WIRE_HISTOGRAM_BINS];
    struct wire_contact_force force[WIRE_MAX_CONTACTS]; /* [count], sorted by contact */
};

struct wire_contact_head {
    double least, most; /* normal force in the frame's ticks [N] */
    int pair, piece;    /* piece: as in struct wire_contact */
};

/* A touching contact, or a piece of one. */
struct wire_touching_contact {
    struct wire_contact_head head;
    struct tact_contact contact; /* what a frame shows of it; else zero */
};

/* Content of a frame, copied by the thread that computes ticks. Another thread writes the frame:
 * outlines, pressures and their cells take several times as long as the copy. */
struct wire_sample {
    uint32_t number, ticks, left_out; /* as in struct wire_frame_head */
    double wake, compute;             /* latencies as in struct wire_frame_head */
    double period;                    /* [s] */
    uint32_t latency_bins[2][WIRE_HISTOGRAM_BINS];
    struct wire_session_state state;
    int shapes, contacts, joints, has_pressure_map; /* has_pressure_map: 1 where map is valid */
    size_t sample_data_bytes;                       /* number of valid bytes of `data` */
    struct tact_pressure map;                       /* pressures of the last tick */
    unsigned char data[]; /* struct tact_pose of each shape; joints and devices as in a frame;
                             contacts, which wire_read_contact() reads */
};

static inline size_t wire_round_up_to_eight_bytes(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static inline void wire_convert_to_floats(float *out, const double *in, int count)
{
    for (int i = 0; i < count; i++) {
        out[i] = (float)in[i];
    }
}

/* Sizes in bytes of a sample of a world and of its longest frame. */
size_t wire_sample_bytes(const struct tact_world *world, int devices);
size_t wire_max_frame_bytes(const struct tact_world *world, int devices);

/* Adds a tick after its solve: latencies [ns], forces. period [s]. Real-time safe. */
void wire_accumulate_tick(struct wire_tick_statistics *tick_statistics, struct tact_world *world,
                          double period, double wake_ns, double compute_ns);

/* Takes the sample of the ticks since the last one, or the last one again where there were none.
 * out: wire_sample_bytes() bytes. map: pressure of the last tick; NULL: not known. It is copied
 * unless it is out->map. Real-time safe. */
void wire_fill_sample(struct wire_tick_statistics *tick_statistics, struct tact_world *world,
                      double period, const struct wire_session_state *state,
                      const struct tact_pressure *map, struct wire_sample *out);

/* Writes the frame of a sample and returns its size in bytes. Of the world it reads only which body
 * or hand each shape is of. out: wire_max_frame_bytes() bytes. Any thread. */
size_t wire_write_frame(const struct wire_sample *sample, const struct tact_world *world,
                        void *out);

/* wire_pressure.c: writes the pressure of a contact and returns its peak [Pa]. Returns 0 and writes
 * nothing where the map is NULL or lacks the contact. Real-time safe. */
float wire_pressure(const struct tact_pressure *map, const struct tact_contact *contact,
                    struct wire_pressure *out);

/* Write zeros into the cache lines of that many bytes, or of those that the next contents of a
 * sample are likely to take, so that the lines are in the cache when they are filled a tick later:
 * a store waits for nothing. The contents are lost. Real-time safe. */
void wire_zero_cache_lines(void *first, size_t bytes);
void wire_bring_sample_buffer_into_cache(struct wire_sample *sample);

/* Reads a contact from the data of a sample; returns the start of the next contact. */
const unsigned char *wire_read_contact(const unsigned char *at, struct wire_touching_contact *out);

/* The triangles of each shape as a message, and its size; NULL for a ball or half-space, which
 * needs none. 0 or -ENOMEM. Free them in either case. */
int wire_make_mesh_messages(const struct tact_world *world, void ***meshes, size_t **message_sizes);
void wire_meshes_free(void **meshes, size_t *message_sizes, size_t count);

/* Content of a hello message besides the scene. */
struct wire_hello {
    const char *kind;                 /* "real time", "simulation" or "log" */
    const char *source;               /* name of what computes the moments; NULL: not known */
    const struct tact_layout *layout; /* fields of the records whose values frames may have */
    uint64_t first, last;             /* ticks of a log */
    const struct tact_log *log;       /* log whose events are listed; NULL: none */
};

/* The scene as JSON. NULL where memory is short. The caller frees it. */
char *wire_make_hello_message(const struct tact_scene *scene, struct tact_world *world,
                              const struct wire_hello *hello);

/* Values of a record, which follow a frame where the page has asked for them: the record's tick,
 * the number of values and whether each has its offset, f32 a value, and then u32 an offset.
 * Without offsets they are the first ones of the record. at: their offsets, or NULL. out:
 * wire_record_values_bytes(). Returns its size in bytes. */
struct wire_record_values {
    double tick;
    uint32_t count, has_offsets;
};
size_t wire_record_values_bytes(size_t count);
size_t wire_write_record_values(uint64_t tick, const double *values, const uint32_t *at,
                                size_t count, void *out);

#endif
