/**
 * Reading a session log: layout, attachments, facts, events, and the records tick by tick.
 *
 * Works on finished logs and on those whose writer was killed or whose file was cut. Opening checks
 * the whole file (chunk, attachment, data and summary checksums, framing, sequence numbers). What
 * is damaged is skipped, and what follows it is read: what is lost is in the state. Files may hold
 * arbitrary bytes; nothing in them makes the reader crash or ask for more memory than the file can
 * account for.
 */
#ifndef TACT_RT_LOG_LOG_READER_H
#define TACT_RT_LOG_LOG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"
#include "layout.h"
#include "recorder.h"

TACT_BEGIN_DECLS

#define TACT_LOG_TOPICS 160 /**< topics that are counted: all that a recorder writes */

/** What was found when the log was opened. */
struct tact_log_state {
    bool complete;       /**< closed by its recorder, and every byte checked */
    bool data_complete;  /**< every record is there; only the index after them may be damaged */
    bool recording;      /**< its recorder (or recovery) had it locked when it was opened: what
                              follows is still to come, and nothing is damaged */
    uint64_t ticks;      /**< records that can be read */
    uint64_t first_tick; /**< tick of the first record; 0 where there is none */
    uint64_t last_tick;  /**< tick of the last record; 0 where there is none */
    uint64_t missing; /**< ticks between them that are not there: never recorded (overruns), or lost
                           to damage */
    uint64_t lost;    /**< records that were in damaged chunks, by their numbers; those behind the
                           last one that can be read are not known */
    uint64_t lost_events; /**< events likewise */
    uint64_t lost_first;  /**< the first tick that may be among the lost */
    uint64_t lost_last;   /**< the last one */
    uint64_t events;      /**< events that can be read */
    uint64_t file_bytes;  /**< size of the file */
    uint64_t bytes_lost;  /**< bytes that are damaged and were not used */
    uint64_t damage_at;   /**< where the first damage is, bytes from the start; 0 where complete */
    char why[256];        /**< what is damaged first, and which ticks are lost; "" where complete */
};

/** One event. */
struct tact_log_event {
    uint64_t tick;
    int64_t stamp_ns; /**< CLOCK_MONOTONIC, as the records' stamps */
    const char *name;
    const char *text;
};

/** A topic and how many of its messages can be read. */
struct tact_log_topic {
    char name[128]; /**< "/tact/tick" */
    char type[64];  /**< "tact_msgs/msg/Tick" */
    uint64_t messages;
    uint64_t first_ns; /**< least log time of its messages, wall clock [ns since 1970]; 0: none */
    uint64_t last_ns;  /**< largest */
};

/** A pair of shapes whose contact was in the list of some tick. */
struct tact_log_pair {
    const char *name; /**< "ruler/finger": what the shapes belong to; "ruler/finger#2" for the
                         second pair between the two */
    uint32_t a, b;    /**< the shapes, by their places in the scene */
    uint32_t offset;  /**< of the first of its fields */
};

struct tact_log;

/** Path of the file that a session goes on in: "a.mcap", then "a.2.mcap", "a.3.mcap", ... number
 *  counts from 1. To be freed; NULL where memory is short. Not real-time safe. */
TACT_API char *tact_log_part_path(const char *first, unsigned number);

/**
 * Opens and checks a log. The first file of a session that was split stands for the whole session;
 * any other one for itself. A damaged log is opened all the same if at least its layout could be
 * read: look at tact_log_state(). Not real-time safe, like everything here.
 * @retval 0          *out is set
 * @retval -ENOENT    and other errno of open() and read()
 * @retval -EINVAL    not an MCAP file, or not a log of tact
 * @retval -ENODATA   a log of tact that ends or is damaged before its first tick
 */
TACT_API int tact_log_open(const char *path, struct tact_log **out, struct tact_error *err);
TACT_API void tact_log_close(struct tact_log *log);

/** All of these belong to the log and live until tact_log_close(). */
TACT_API const struct tact_log_state *tact_log_state(const struct tact_log *log);
TACT_API const struct tact_layout *tact_log_layout(const struct tact_log *log);

/** Fields of a contact in the list of a tick; NULL where the log has none, and each pair of the
 * scene has fields of its own (schema_version 1). The layout of the log then has these fields,
 * under the pair's name, for each pair that is in the list of any tick. */
TACT_API const struct tact_layout *tact_log_element(const struct tact_log *log);

/** Those pairs, in ascending order of a, then b; NULL beyond the last. */
TACT_API const struct tact_log_pair *tact_log_pair(const struct tact_log *log, size_t index);

/** Files that the session is in: 1, or more where it was split. */
TACT_API unsigned tact_log_parts(const struct tact_log *log);

/** Value of a fact, or NULL. The recorder adds "tact_version", "schema_version", "clock" and
 *  "wall_anchor_ns" to those it is given. */
TACT_API const char *tact_log_fact(const struct tact_log *log, const char *key);
TACT_API size_t tact_log_fact_count(const struct tact_log *log);
TACT_API const struct tact_log_fact *tact_log_fact_at(const struct tact_log *log, size_t index);

/** An attachment by its name, or NULL; data is not zero-terminated. */
TACT_API const struct tact_log_attachment *tact_log_attachment(const struct tact_log *log,
                                                               const char *name);
TACT_API size_t tact_log_attachment_count(const struct tact_log *log);
TACT_API const struct tact_log_attachment *tact_log_attachment_at(const struct tact_log *log,
                                                                  size_t index);

/** Events in the order they were written; NULL beyond the last. */
TACT_API const struct tact_log_event *tact_log_event(const struct tact_log *log, size_t index);

/** Topics in the order of the file, the first TACT_LOG_TOPICS of them; NULL beyond the last. */
TACT_API const struct tact_log_topic *tact_log_topic(const struct tact_log *log, size_t index);

/** Reads the next record into *record, which has room for tact_layout_bytes() of the log's layout.
 *  @retval 1 read, 0 there are no more, or a negative errno (the file changed since it was opened)
 */
TACT_API int tact_log_next(struct tact_log *log, struct tact_record *record);

/** The next record read is the index-th of the log, from 0. @retval 0, -ERANGE or a read error */
TACT_API int tact_log_seek(struct tact_log *log, uint64_t index);

/** Offset of the field of that name in the record, or -ENOENT; *count may be NULL. */
TACT_API long tact_log_field(const struct tact_log *log, const char *name, uint32_t *count);

TACT_END_DECLS

#endif
