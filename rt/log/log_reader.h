/**
 * Reading a session log: layout, attachments, facts, events, and the records tick by tick.
 *
 * Reads finished logs and those whose writer was killed or whose file was truncated. Opening checks
 * the whole file (checksums of chunks, attachments, data and summary; framing; sequence numbers).
 * Damaged ranges are skipped, and the state reports what is lost. The file is untrusted: no content
 * makes the reader crash or allocate more memory than the file's size justifies.
 *
 * No function here is real-time safe.
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

#define TACT_LOG_TOPICS 160 /**< maximum number of topics that are counted */

/** Result of checking a log when it was opened. */
struct tact_log_state {
    bool complete;      /**< the log was closed by its recorder, and every byte is intact */
    bool data_complete; /**< every record is present; at most the index after the records is damaged
                         */
    bool recording; /**< the file was locked by its recorder (or recovery): the log is incomplete
                       but not damaged */
    uint64_t ticks; /**< number of records that can be read */
    uint64_t first_tick; /**< tick of the first record; 0: none */
    uint64_t last_tick;  /**< tick of the last record; 0: none */
    uint64_t missing;    /**< ticks between first_tick and last_tick without a record: skipped,
                            overruns, or lost to damage */
    uint64_t lost; /**< records lost in damaged chunks, from sequence numbers; losses after the last
                      readable record are not counted */
    uint64_t lost_events; /**< number of events lost, counted in the same way as ticks */
    uint64_t lost_first;  /**< first tick that damaged chunks may have contained */
    uint64_t lost_last;   /**< last tick that damaged chunks may have contained */
    uint64_t events;      /**< events that can be read */
    uint64_t file_bytes;  /**< size of the file [bytes] */
    uint64_t bytes_lost;  /**< damaged bytes that were not used */
    uint64_t damage_at;   /**< offset of the first damage [bytes]; 0: none */
    char why[256];        /**< first damage and the lost ticks as text; "" if complete */
};

/** One event. */
struct tact_log_event {
    uint64_t tick;    /**< tick in which the event was written */
    int64_t stamp_ns; /**< time of the event, CLOCK_MONOTONIC, as the stamps of records */
    const char *name; /**< name: "marker", "fault", ... */
    const char *text; /**< what happened */
};

/** A topic and how many of its messages can be read. */
struct tact_log_topic {
    char name[128];    /**< "/tact/tick" */
    char type[64];     /**< "tact_msgs/msg/Tick" */
    uint64_t messages; /**< number of messages of the topic that can be read */
    uint64_t first_ns; /**< smallest log time of the topic's messages, wall clock [ns since 1970];
                          0: none */
    uint64_t last_ns;  /**< largest */
};

/** A pair of shapes with a contact in the list of some tick. */
struct tact_log_pair {
    const char *name; /**< names of the two bodies or links: "ruler/finger", or "ruler/finger#2" for
                         the second such pair */
    uint32_t a;       /**< index of the first shape in the scene */
    uint32_t b;       /**< index of the second shape in the scene */
    uint32_t offset;  /**< offset of the first field of the pair in the record */
};

struct tact_log;

/** Path of the number-th file of a session, from 1: "a.mcap", "a.2.mcap", "a.3.mcap", ... To be
 * freed; NULL if out of memory. Not real-time safe. */
TACT_API char *tact_log_part_path(const char *first, unsigned number);

/**
 * Opens and checks a log. The first file of a split session opens the whole session; any other
 * file opens itself. A damaged log is opened if at least its layout can be read: see
 * tact_log_state(). No function of this header is real-time safe.
 * @retval 0          *out is set
 * @retval -ENOENT    and other errno of open() and read()
 * @retval -EINVAL    not an MCAP file, or not a log of tact
 * @retval -ENODATA   a log of tact that ends or is damaged before its first tick
 */
TACT_API int tact_log_open(const char *path, struct tact_log **out, struct tact_error *err);
/** Closes a log; NULL is allowed. */
TACT_API void tact_log_close(struct tact_log *log);

/** Pointers returned below are valid until tact_log_close(). */
TACT_API const struct tact_log_state *tact_log_state(const struct tact_log *log);
/** Layout of the log's records. */
TACT_API const struct tact_layout *tact_log_layout(const struct tact_log *log);

/** Fields of a list element; NULL if the log has no lists and each pair of the scene has fields
 * (schema_version 1). With lists, tact_log_layout() has these fields, prefixed by the pair's name,
 * for each pair in the list of any tick. */
TACT_API const struct tact_layout *tact_log_element(const struct tact_log *log);

/** A pair of the contact lists by its index, in ascending order of a, then b; NULL beyond the last.
 */
TACT_API const struct tact_log_pair *tact_log_pair(const struct tact_log *log, size_t index);

/** Number of files of the session in the log. */
TACT_API unsigned tact_log_parts(const struct tact_log *log);

/** Value of a fact, or NULL. The recorder adds "tact_version", "schema_version", "clock" and
 * "wall_anchor_ns" to the facts of its content. */
TACT_API const char *tact_log_fact(const struct tact_log *log, const char *key);
/** Number of facts. */
TACT_API size_t tact_log_fact_count(const struct tact_log *log);
/** A fact by its index; NULL beyond the last. */
TACT_API const struct tact_log_fact *tact_log_fact_at(const struct tact_log *log, size_t index);

/** An attachment by its name, or NULL; data is not zero-terminated. */
TACT_API const struct tact_log_attachment *tact_log_attachment(const struct tact_log *log,
                                                               const char *name);
/** Number of attachments. */
TACT_API size_t tact_log_attachment_count(const struct tact_log *log);
/** An attachment by its index; NULL beyond the last. */
TACT_API const struct tact_log_attachment *tact_log_attachment_at(const struct tact_log *log,
                                                                  size_t index);

/** An event by its index, in the order of the file; NULL beyond the last. */
TACT_API const struct tact_log_event *tact_log_event(const struct tact_log *log, size_t index);

/** A topic by its index, in the order of the file, the first TACT_LOG_TOPICS of them; NULL beyond
 * the last. */
TACT_API const struct tact_log_topic *tact_log_topic(const struct tact_log *log, size_t index);

/** Reads the next record into *record, which has the size tact_layout_bytes() of the log's layout.
 * @retval 1 read, 0 end of the log, or a negative errno (the file changed since it was opened) */
TACT_API int tact_log_next(struct tact_log *log, struct tact_record *record);

/** Makes record `index`, from 0, the next one to be read. @retval 0, -ERANGE or a read error */
TACT_API int tact_log_seek(struct tact_log *log, uint64_t index);

/** Offset of a field in the record by its name, or -ENOENT; *count may be NULL. */
TACT_API long tact_log_field(const struct tact_log *log, const char *name, uint32_t *count);

TACT_END_DECLS

#endif
