/**
 * The session recorder: takes a record per tick from the real-time thread and writes an MCAP
 * file.
 *
 * The tick fills a slot of a lock-free ring; a thread of normal priority empties it every few
 * milliseconds, encodes ROS 2 messages and writes them in whole, checksummed chunks. A tick stays
 * in its ring until it is in the file, and the rings are shared memory that outlives the process:
 * after a kill tact_log_recover() (recover.h) appends every committed tick to the log. A stalled
 * disk costs nothing until the ring is full; from then on ticks are counted as overruns, and the
 * loop continues.
 *
 * Topics: /tact/tick (every record), /tact/events, /contacts/pressure, and derived from the
 * records, for viewers such as Foxglove and PlotJuggler: /joint_states, /tf, wrenches, and markers
 * of the shapes and of the contact forces.
 */
#ifndef TACT_RT_LOG_RECORDER_H
#define TACT_RT_LOG_RECORDER_H

#include <stddef.h>
#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"
#include "../../contact/pair/pressure.h"
#include "../../contact/shape/shape.h"
#include "../message.h"
#include "layout.h"

TACT_BEGIN_DECLS

/** offset that stands for a quantity that is not in the record */
#define TACT_RECORDER_NONE UINT32_MAX
#define TACT_RECORDER_CHUNK_MAX (16U << 20)   /**< maximum size of a chunk [bytes] */
#define TACT_RECORDER_RING_BYTES (128U << 20) /**< maximum size of the ticks' ring [bytes] */
#define TACT_RECORDER_WRENCHES 64    /**< maximum number of contacts, and of sensors, on topics */
#define TACT_RECORDER_TOPIC_NAME 63  /**< maximum length of the names of contacts and sensors */
#define TACT_RECORDER_EVENT_NAME 48  /**< size of a real-time event's name, with the zero */
#define TACT_RECORDER_EVENT_TEXT 192 /**< size of a real-time event's text, with the zero */

/** A file stored in the log: scene, mesh, options, ... tact_recorder_open() copies strings and
 * data.
 */
struct tact_log_attachment {
    const char *name; /**< name of the attachment, unique in the log, e.g. "scene.yaml" or
                         "meshes/ruler.obj" */
    /** media type of the attachment, e.g. "application/yaml"; may be NULL */
    const char *media_type;
    const void *data; /**< [size] bytes */
    size_t size;      /**< bytes */
};

/** One fact about the session: build id, CPU model, period, ... */
struct tact_log_fact {
    const char *key;   /**< key of the fact, unlike those of the others */
    const char *value; /**< value, text */
};

/** Offsets of a joint's values in the record, for /joint_states. They count doubles and may be
 * TACT_RECORDER_NONE. */
struct tact_recorder_joint {
    const char *name;  /**< name of the joint */
    uint32_t position; /**< [rad] or [m] */
    uint32_t velocity; /**< [rad/s] or [m/s] */
    uint32_t effort;   /**< [N m] or [N] */
};

/** A body on /tf, as a child of the frame "world". */
struct tact_recorder_body {
    const char *name; /**< name of the body */
    /** offset of the body's pose: 7 doubles, position [m], quat_wxyz, both in world */
    uint32_t pose;
};

/** The frame of a base that moves: displacement [m] and rotation vector [rad], world axes. */
#define TACT_RECORDER_BASE 2

/** What the recorder needs to write the transform of a hand's link, as a child of its parent, on
 * /tf. */
struct tact_recorder_link {
    const char *name;   /**< name of its frame */
    const char *parent; /**< parent of the link: another link's frame, or "world" */
    double pose[7]; /**< pose of the link in the parent at joint value 0: position [m], quat_wxyz */
    double axis[3]; /**< axis of the joint in the link's frame, unit vector */
    uint32_t slides;   /**< 1: prismatic joint [m]; 0: revolute [rad]; or TACT_RECORDER_BASE */
    uint32_t position; /**< offset of the joint value; of a base of its six coordinates */
};

/** A contact on /contacts/NAME/wrench as WrenchStamped while its bodies touch, in the frame
 * "contact/NAME" of /tf: world axes at the patch's centre; and as an arrow on /contacts/markers. If
 * the layout has a list, offsets count from the first field of the element of shapes a and b;
 * contacts are then in ascending order of a, then b. */
struct tact_recorder_contact {
    /** name of the contact in topics: letters, digits and _, not a digit first */
    const char *name;
    uint32_t a;      /**< index of the contact's first shape; 0 without a list */
    uint32_t b;      /**< index of the contact's second shape; 0 without a list */
    uint32_t wrench; /**< offset of the contact's wrench on the first body: 6 doubles, about the
                        patch's centre [N, N m], world */
    uint32_t patch;  /**< offset of the contact's patch: 7 doubles, centre [m], normal, depth [m];
                        depth 0: not touching */
    uint32_t limits; /**< offset of the contact's active limits, enum tact_limit */
};

/** A measured wrench on /sensors/NAME/wrench as WrenchStamped. */
struct tact_recorder_sensor {
    const char *name;  /**< letters, digits and _, not a digit first */
    const char *frame; /**< frame in which force and torque are measured */
    uint32_t wrench;   /**< offset of the sensor's wrench: 6 doubles, force [N], torque [N m] */
};

/** A shape on /scene, a MarkerArray that is written once, before the first record. Used during
 * tact_recorder_open() only. */
struct tact_recorder_shape {
    const char
        *frame; /**< name of the frame of the shape's body or link on the topic /tf, or "world" */
    const struct tact_shape *shape; /**< shape; its mesh must outlive the recorder */
    struct tact_pose pose;          /**< pose of the shape in the frame */
};

/** Content of a log besides the records. Everything is copied. */
struct tact_recorder_content {
    const struct tact_layout *layout;              /**< layout of each tick's record */
    const struct tact_log_attachment *attachments; /**< [attachment_count] attachments */
    size_t attachment_count;                       /**< number of attachments */
    /** facts of the session, written as the metadata record "tact" */
    const struct tact_log_fact *facts;
    size_t fact_count;                        /**< number of facts */
    const struct tact_recorder_joint *joints; /**< [joint_count] joints, for /joint_states */
    size_t joint_count;                       /**< number of joints */
    const struct tact_recorder_body *bodies;  /**< [body_count] bodies, for /tf */
    size_t body_count;                        /**< number of bodies */
    const struct tact_recorder_link *links;   /**< [link_count] links, for /tf */
    size_t link_count;                        /**< number of links */
    /** contacts with a topic, at most TACT_RECORDER_WRENCHES */
    const struct tact_recorder_contact *contacts;
    size_t contact_count;                       /**< number of contacts */
    const struct tact_recorder_sensor *sensors; /**< at most TACT_RECORDER_WRENCHES */
    size_t sensor_count;                        /**< number of sensors */
    const struct tact_recorder_shape *shapes;   /**< [shape_count] shapes, for /scene */
    size_t shape_count;                         /**< number of shapes */
    const char *const *owners; /**< name of each shape's body or link, if the layout has a list,
                                  whose contacts it names. UTF-8 */
    size_t owner_count;        /**< number of owners */
};

/** How a recorder writes. */
struct tact_recorder_options {
    uint32_t ring_ticks;  /**< capacity of the ticks' ring; rounded up to a power of two. Less, but
                             at least 16, if it would exceed TACT_RECORDER_RING_BYTES */
    uint32_t ring_events; /**< capacity of the ring of events, rounded up to a power of two */
    uint32_t chunk_bytes; /**< a chunk is written once it has this size [bytes] */
    int64_t
        chunk_ns; /**< a chunk is also written once it spans this time, or was open for it [ns] */
    int64_t sync_ns; /**< maximum time between fdatasync() calls [ns]; 0: only when closing */
    /** size after which the next file is started, at least 65536; 0: never */
    uint64_t split_bytes;
    int64_t split_ns;        /**< time after which the next file is started [ns]; 0: never. See
                                tact_log_part_path() */
    int zstd_level;          /**< zstd compression level, 1 to 19; 0 writes chunks uncompressed */
    uint32_t ring_pressures; /**< capacity of the ring of pressure maps, 210 kB each, rounded up
                                likewise; 0: none are recorded */
    uint32_t derived_every;  /**< derived topics are written every n-th tick; 0: never */
    int loop_cpu; /**< processor of the loop, which the recorder's thread avoids if it may run on
                     another, to keep the loop's caches warm; -1: none */
    int64_t wall_anchor_ns; /**< wall clock minus CLOCK_MONOTONIC [ns]; 0: measured when opening */
    /** 1: replace a log of this name; 0: -EEXIST if the file, or NAME.2.mcap and so on of a session
     * of this name, exists. Pipes and devices are written to in any case. */
    int replace;
    /** Folder of a tmpfs for the ring file; NULL: /dev/shm. If it cannot be created there, a
     * warning is logged, and a kill of the process loses up to chunk_ns. */
    const char *ring_folder;
};

/** 8192 ticks, 256 events, no pressures, 1 MiB, 250 ms, 1 s, zstd level 1, every 10th tick, any
 * processor, measured anchor. Real-time safe. */
TACT_API struct tact_recorder_options tact_recorder_options_default(void);

/** Summary of a recording. */
struct tact_recorder_report {
    uint64_t records;           /**< number of ticks in the file */
    uint64_t events;            /**< number of events in the file */
    uint64_t bytes;             /**< size of the file */
    uint64_t overruns;          /**< ticks lost because the ring was full */
    uint64_t event_overruns;    /**< real-time events lost because the ring of events was full */
    uint64_t discarded;         /**< ticks and events not written because writing had failed */
    uint64_t pressures;         /**< number of pressure maps in the file */
    uint64_t pressure_overruns; /**< pressure maps lost because their ring was full */
    uint64_t polygons_left_out; /**< polygons beyond the capacity of the maps in the file */
    uint32_t occupancy_max;     /**< maximum number of ticks in the ring and not yet in the file */
    uint32_t ring_ticks;        /**< capacity of the ring of ticks */
    uint32_t parts;             /**< number of files */
    int error; /**< 0, or the negative errno that ended the recording; -ENOENT: the file was deleted
                  during recording */
};

struct tact_recorder;

/**
 * Whether tact_recorder_open() would accept the name, without creating the file. ring_folder: as
 * in the options. Not real-time safe.
 * @retval 0
 * @retval -EEXIST    the file, or a later file of a session of this name, exists; *err names it,
 *                    and states whether its recorder was killed
 */
TACT_API int tact_recorder_check(const char *path, int replace, const char *ring_folder,
                                 struct tact_error *err);

/**
 * Creates the file, writes attachments and facts, and starts the recorder thread. "%n" in the
 * file's name becomes the largest existing number plus 1, from 1 on; concurrent recorders get
 * different numbers. Not real-time safe.
 * @retval 0          *out is set
 * @retval -EEXIST    see tact_recorder_check()
 * @retval -EINVAL    an option, an offset or a name is invalid; see *err
 * @retval -EBUSY     another recorder writes this file, or a log reader has it open
 * @retval -errno     the file or the thread could not be created; see *err
 */
TACT_API int tact_recorder_open(const char *path, const struct tact_recorder_options *options,
                                const struct tact_recorder_content *content,
                                struct tact_messages messages, struct tact_recorder **out,
                                struct tact_error *err);

/** Path of the (first) file; with the number in place of "%n". Real-time safe. */
TACT_API const char *tact_recorder_path(const struct tact_recorder *recorder);

/** The slot for this tick's record; NULL, counted as an overrun, if the ring is full. The caller
 * fills it completely (of a list, as many elements as it states) and commits it. Its stamp must be
 * within 68 years of 0, the range of a ROS time. One producer thread. Real-time safe, wait-free. */
TACT_API struct tact_record *tact_recorder_begin(struct tact_recorder *recorder);

/** Commits the slot of the last non-NULL tact_recorder_begin() with a checksum; from here on it
 * survives a kill of the process. Real-time safe, wait-free. */
TACT_API void tact_recorder_commit(struct tact_recorder *recorder);

/** Blocks until tact_recorder_begin() and tact_recorder_pressure() would succeed. For a
 * free-wheeling loop, which may outrun the disk. Not real-time safe. */
TACT_API void tact_recorder_wait_room(struct tact_recorder *recorder);

/** Records an event, from any thread that may block. Strings are copied, up to 1 MiB; name is a
 * short identifier ("marker", "fault"), text is for people. Up to TACT_RECORDER_EVENT_NAME and
 * _TEXT it survives a kill as a tick does; a longer one is written within some milliseconds.
 * @retval 0, -EMSGSIZE or -ENOMEM. Not real-time safe. */
TACT_API int tact_recorder_event(struct tact_recorder *recorder, uint64_t tick, int64_t stamp_ns,
                                 const char *name, const char *text);

/** Records an event from the thread that calls tact_recorder_begin(). Name and text are truncated
 * to TACT_RECORDER_EVENT_NAME and _TEXT. Returns 0, or -ENOBUFS (counted) if the events' ring is
 * full. Real-time safe, wait-free. */
TACT_API int tact_recorder_event_rt(struct tact_recorder *recorder, uint64_t tick, int64_t stamp_ns,
                                    const char *name, const char *text);

/** Records a pressure map of the tick whose record was the last one committed, from the thread that
 * calls tact_recorder_begin(). It is in the memory of the process until it is in the file: a kill
 * loses those of the last chunk_ns. Returns 0, or -ENOBUFS (counted) if the ring is full or has no
 * capacity. Real-time safe, wait-free. */
TACT_API int tact_recorder_pressure(struct tact_recorder *recorder, uint64_t tick, int64_t stamp_ns,
                                    const struct tact_pressure *map);

/** Ticks lost so far because the ring was full. Real-time safe. */
TACT_API uint64_t tact_recorder_overruns(const struct tact_recorder *recorder);

/** Drains the rings, writes the rest and the index, syncs, joins the thread and frees everything.
 * recorder and report may be NULL. Returns report->error. Not real-time safe. */
TACT_API int tact_recorder_close(struct tact_recorder *recorder,
                                 struct tact_recorder_report *report);

TACT_END_DECLS

#endif
