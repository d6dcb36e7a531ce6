/**
 * The session recorder: takes a record every tick from the real-time thread and writes an MCAP
 * file.
 *
 * The tick fills a slot of a lock-free ring; a thread of normal priority empties it every few
 * milliseconds, encodes ROS 2 messages and writes them in whole, checksummed chunks. A tick stays
 * in its ring until it is in the file, and the rings are shared memory that outlives the process:
 * after a kill tact_log_recover() (recover.h) puts every committed tick into the log. A disk that
 * stalls costs nothing until the ring is full; from then on ticks are counted as overruns, and the
 * loop goes on.
 *
 * Topics: /tact/tick (every record), /tact/events, and derived from the records, so that Foxglove,
 * PlotJuggler and rosbag2 show a session as it is: /joint_states, /tf, wrenches, and markers of the
 * shapes and of the contacts' forces.
 */
#ifndef TACT_RT_LOG_RECORDER_H
#define TACT_RT_LOG_RECORDER_H

#include <stddef.h>
#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"
#include "../../contact/shape/shape.h"
#include "../message.h"
#include "layout.h"

TACT_BEGIN_DECLS

#define TACT_RECORDER_NONE UINT32_MAX /**< offset of a quantity that the record does not hold */
#define TACT_RECORDER_CHUNK_MAX (16U << 20)   /**< most bytes of a chunk before it is written */
#define TACT_RECORDER_RING_BYTES (128U << 20) /**< most bytes of the ticks' ring */
#define TACT_RECORDER_WRENCHES 64    /**< most contacts, and most sensors, that are shown */
#define TACT_RECORDER_TOPIC_NAME 63  /**< longest name of one of them */
#define TACT_RECORDER_EVENT_NAME 48  /**< longest name of a real-time event, with the zero */
#define TACT_RECORDER_EVENT_TEXT 192 /**< longest text of a real-time event, with the zero */

/** A file kept in the log: scene, mesh, options, ... Strings and data are copied to the file during
 *  tact_recorder_open() and not needed afterwards. */
struct tact_log_attachment {
    const char *name;       /**< unique in the log, e.g. "scene.yaml" or "meshes/ruler.obj" */
    const char *media_type; /**< e.g. "application/yaml"; may be NULL */
    const void *data;
    size_t size; /**< bytes */
};

/** One fact about the session: build id, CPU model, period, ... */
struct tact_log_fact {
    const char *key;
    const char *value;
};

/** A joint shown in /joint_states: where the record holds it. Offsets count doubles and may be
 *  TACT_RECORDER_NONE. */
struct tact_recorder_joint {
    const char *name;
    uint32_t position; /**< [rad] or [m] */
    uint32_t velocity; /**< [rad/s] or [m/s] */
    uint32_t effort;   /**< [N m] or [N] */
};

/** A body shown in /tf as a child of the frame "world". */
struct tact_recorder_body {
    const char *name;
    uint32_t pose; /**< offset of 7 doubles: position [m], quat_wxyz, both in world */
};

/** A link of a hand shown in /tf as a child of its parent. */
struct tact_recorder_link {
    const char *name;   /**< of its frame */
    const char *parent; /**< another link's frame, or "world" */
    double pose[7];     /**< in the parent at joint value 0: position [m], quat_wxyz */
    double axis[3];     /**< of the joint in the link's frame, unit vector */
    uint32_t slides;    /**< 1: along the axis [m]; 0: about it [rad] */
    uint32_t position;  /**< offset of the joint value */
};

/** A contact shown as WrenchStamped on /contacts/NAME/wrench while its bodies touch, in the frame
 *  "contact/NAME" of /tf: world axes at the patch's centre; and as an arrow on /contacts/markers.
 *  Where the layout has a list, offsets count from an element's first field, and the contact is
 * that of the two shapes; contacts are then in ascending order of a, then b. */
struct tact_recorder_contact {
    const char *name; /**< letters, digits and _, not a digit first */
    uint32_t a, b;    /**< shapes; 0 where there is no list */
    uint32_t
        wrench;     /**< offset of 6: on the first body, about the patch's centre [N, N m], world */
    uint32_t patch; /**< offset of 7: centre [m], normal, depth [m]; depth 0: apart */
    uint32_t limits; /**< offset of the limits, enum tact_limit */
};

/** A measured wrench shown as WrenchStamped on /sensors/NAME/wrench. */
struct tact_recorder_sensor {
    const char *name;  /**< letters, digits and _, not a digit first */
    const char *frame; /**< that force and torque are given in */
    uint32_t wrench;   /**< offset of 6: force [N], torque [N m] */
};

/** A shape drawn on /scene, a MarkerArray that is written once, before the first record. Needed
 *  during tact_recorder_open() only. */
struct tact_recorder_shape {
    const char *frame; /**< of /tf that it moves with, or "world" */
    const struct tact_shape *shape;
    struct tact_pose pose; /**< of the shape in the frame */
};

/** What goes into a log besides the records. Everything is copied. */
struct tact_recorder_content {
    const struct tact_layout *layout;
    const struct tact_log_attachment *attachments;
    size_t attachment_count;
    const struct tact_log_fact *facts; /**< written as the metadata record "tact" */
    size_t fact_count;
    const struct tact_recorder_joint *joints;
    size_t joint_count;
    const struct tact_recorder_body *bodies;
    size_t body_count;
    const struct tact_recorder_link *links;
    size_t link_count;
    const struct tact_recorder_contact *contacts; /**< at most TACT_RECORDER_WRENCHES */
    size_t contact_count;
    const struct tact_recorder_sensor *sensors; /**< at most TACT_RECORDER_WRENCHES */
    size_t sensor_count;
    const struct tact_recorder_shape *shapes;
    size_t shape_count;
    const char *const *owners; /**< where the layout has a list, of each shape: the name of the body
                                    or link; two of them name a contact. UTF-8 */
    size_t owner_count;
};

struct tact_recorder_options {
    uint32_t
        ring_ticks;       /**< ticks that fit in the ring; rounded up to a power of two. Fewer, but
                             at  least 16, where they would take more than TACT_RECORDER_RING_BYTES */
    uint32_t ring_events; /**< real-time events that fit in theirs; rounded up likewise */
    uint32_t chunk_bytes; /**< a chunk is written when it holds this much, ... */
    int64_t chunk_ns;     /**< ... or this span of records [ns], or was open that long */
    int64_t sync_ns;      /**< fdatasync at least this often [ns]; 0: only when closing */
    uint64_t
        split_bytes;  /**< another file is begun after so many bytes, at least 65536; 0: never */
    int64_t split_ns; /**< ... or after so long a time [ns]; 0: never. See tact_log_part_path() */
    int zstd_level;   /**< 1 to 19; 0 writes chunks uncompressed */
    uint32_t derived_every; /**< topics other than the tick's at every n-th one; 0: never */
    int loop_cpu; /**< processor that the recorder's thread leaves to the loop where it may use
                       another, so that the ticks find their caches as they left them; -1: none */
    int64_t wall_anchor_ns; /**< wall clock minus CLOCK_MONOTONIC [ns]; 0: measured when opening */
    /** 1: a log of this name is replaced; 0: where the file exists, or NAME.2.mcap and further ones
     *  of a session of this name, -EEXIST. Pipes and devices are written to in any case. */
    int replace;
    /** Folder of a tmpfs for the rings' file; NULL: /dev/shm. Where no file can be made there, a
     *  warning says so, and a process that is killed loses chunk_ns. */
    const char *ring_folder;
};

/** 8192 ticks, 256 events, 1 MiB, 250 ms, 1 s, zstd level 1, every 10th tick, any processor,
 *  measured anchor. */
TACT_API struct tact_recorder_options tact_recorder_options_default(void);

/** What became of a recording. */
struct tact_recorder_report {
    uint64_t records;        /**< ticks in the file */
    uint64_t events;         /**< events in the file */
    uint64_t bytes;          /**< size of the file */
    uint64_t overruns;       /**< ticks lost because the ring was full */
    uint64_t event_overruns; /**< real-time events lost because theirs was full */
    uint64_t discarded;      /**< ticks and events not written because writing had failed */
    uint32_t occupancy_max;  /**< most ticks that were ever in the ring and not yet in the file */
    uint32_t ring_ticks;     /**< capacity of the ring */
    uint32_t parts;          /**< files */
    int error; /**< 0, or the negative errno that ended the recording; -ENOENT: the file was deleted
                    meanwhile */
};

struct tact_recorder;

/**
 * Whether a log of this name may be made: what tact_recorder_open() refuses, without making it.
 * ring_folder: as in the options. Not real-time safe.
 * @retval 0
 * @retval -EEXIST    there is one, or further files of one; *err tells which, and whether it is
 *                    that of a recorder that was killed
 */
TACT_API int tact_recorder_check(const char *path, int replace, const char *ring_folder,
                                 struct tact_error *err);

/**
 * Creates the file, writes attachments and facts, and starts the recorder thread. Where the file's
 * name has "%n" in it, that becomes the number after the largest that there is, from 1 on, and no
 * two recorders get the same. Not real-time safe.
 * @retval 0          *out is set
 * @retval -EEXIST    see tact_recorder_check()
 * @retval -EINVAL    an option, an offset or a name is not valid; *err tells which
 * @retval -EBUSY     another recorder writes this file, or a log reader has it open
 * @retval -errno     the file or the thread could not be made; *err tells
 */
TACT_API int tact_recorder_open(const char *path, const struct tact_recorder_options *options,
                                const struct tact_recorder_content *content,
                                struct tact_messages messages, struct tact_recorder **out,
                                struct tact_error *err);

/** Path of the (first) file; with its number, where "%n" was asked for. */
TACT_API const char *tact_recorder_path(const struct tact_recorder *recorder);

/** The slot for this tick's record, to be filled completely, of a list as many elements as it says,
 *  and committed; NULL, counted as an overrun, where the ring is full. Its stamp must lie within 68
 * years of 0, which is what a ROS time holds. One producer thread. Real-time safe, wait-free. */
TACT_API struct tact_record *tact_recorder_begin(struct tact_recorder *recorder);

/** Hands the slot of the last tact_recorder_begin() that was not NULL to the recorder thread, with
 * a checksum over it; from here on it survives the process. Real-time safe, wait-free. */
TACT_API void tact_recorder_commit(struct tact_recorder *recorder);

/** Waits until tact_recorder_begin() has room. Only for a free-wheeling loop, which may outrun the
 *  disk. Blocks; not real-time safe. */
TACT_API void tact_recorder_wait_room(struct tact_recorder *recorder);

/** Marks an event, from any thread that may block. Strings are copied, up to 1 MiB; name is
 *  a short identifier ("marker", "fault"), text is for people. Up to TACT_RECORDER_EVENT_NAME and
 *  _TEXT it survives a kill as a tick does; a longer one is written within some milliseconds.
 *  @retval 0, -EMSGSIZE or -ENOMEM. Not real-time safe. */
TACT_API int tact_recorder_event(struct tact_recorder *recorder, uint64_t tick, int64_t stamp_ns,
                                 const char *name, const char *text);

/** Marks an event from the thread that calls tact_recorder_begin(). Name and text are cut to
 *  TACT_RECORDER_EVENT_NAME and _TEXT. Returns 0, or -ENOBUFS (counted) where the events' ring is
 *  full. Real-time safe, wait-free. */
TACT_API int tact_recorder_event_rt(struct tact_recorder *recorder, uint64_t tick, int64_t stamp_ns,
                                    const char *name, const char *text);

/** Ticks lost so far because the ring was full. Real-time safe. */
TACT_API uint64_t tact_recorder_overruns(const struct tact_recorder *recorder);

/** Empties the ring, writes the rest and the index, syncs, joins the thread and frees everything.
 *  recorder may be NULL; report may be NULL. Returns report->error. Not real-time safe. */
TACT_API int tact_recorder_close(struct tact_recorder *recorder,
                                 struct tact_recorder_report *report);

TACT_END_DECLS

#endif
