/** A log as the reader holds it in memory. */
#ifndef TACT_RT_LOG_LOG_INTERNAL_H
#define TACT_RT_LOG_LOG_INTERNAL_H

#include "cdr_internal.h"
#include "log_reader.h"
#include "mcap_internal.h"
#include "mcap_reader_internal.h"

/** A chunk that was found sound. */
struct tact_log_chunk {
    uint64_t at;                /* in the file */
    uint64_t first;             /* index of its first record in the log */
    uint64_t count;             /* of records */
    struct tact_bytes unpacked; /* empty where it is not kept */
};

/** Unpacked chunks are kept up to so many bytes: a log is checked when it is opened, and then read.
 */
#define TACT_LOG_KEPT ((size_t)64 << 20)

/** The pairs that are in the list of any tick, each once, and the layout that has fields for each.
 */
struct tact_log_pairs {
    struct tact_log_pair *list; /* names are owned */
    size_t count, capacity;
    uint32_t *slots; /* hash table of their shapes: number and 1, or 0 */
    size_t slot_count;
    struct tact_layout layout; /* fields of a tick, then of each pair; only where there is a list */
    double *absent;            /* values of the pairs' fields where none is in the list */
};

/** A tick's message, taken apart. */
struct tact_log_tick {
    uint64_t tick;
    int64_t stamp_ns;
    const uint8_t *values;       /* of the layout's fields */
    uint32_t elements;           /* in its list */
    struct tact_cdr_reader list; /* where the next one starts */
};

struct tact_log_element {
    struct tact_span name;
    uint32_t a, b, same;
    const uint8_t *values;
};

struct tact_log {
    struct tact_mcap_reader file;
    struct tact_log_state state;
    struct tact_layout layout; /* of the file's messages */
    struct tact_log_pairs pairs;
    bool layout_known;
    bool cut;           /* the data ends, with no record behind: its writer was killed */
    bool closed;        /* it has an end, and that is sound */
    uint64_t sound_end; /* where that starts of which nothing could be read */
    struct tact_mcap_stretch *skipped; /* damaged, and something was read behind */
    size_t skipped_count;
    size_t covered_count; /* records that cover what was damaged when the log was recovered */
    struct tact_log_gap {
        bool ticks, events; /* the next one may have a later number: some were in damaged chunks */
        uint32_t lost_ticks, lost_events; /* so far, by their numbers */
    } gap;
    uint64_t data_end_at;                         /* where the data end; 0: not seen, or changed */
    int tick_schema, tick_channel, event_channel; /* -1: not yet seen */

    struct tact_log_topic topics[TACT_LOG_TOPICS];
    int topic_channels[TACT_LOG_TOPICS];
    size_t topic_count;
    struct {
        int id;
        char name[64];
    } schemas[TACT_LOG_TOPICS]; /* until their channels are met */
    size_t schema_count;

    struct tact_log_attachment *attachments; /* strings and data are owned */
    size_t attachment_count;
    struct tact_log_fact *facts;
    size_t fact_count;
    struct tact_log_event *events;
    size_t event_count;
    size_t event_bytes; /* of all their strings */

    struct tact_log_chunk *chunks;
    size_t chunk_count;
    size_t kept;               /* bytes of unpacked chunks */
    struct tact_bytes chunk;   /* unpacked */
    struct tact_cursor cursor; /* what is left of it */
    size_t next_chunk;         /* that is loaded when it is used up */
    uint64_t position;         /* index of the next record */

    struct tact_log *next_part; /* file that the session goes on in */
    uint64_t own_ticks;       /* records in this file; state counts those of all that follow too */
    unsigned part_count;      /* files of the session; 0: one */
    struct tact_log *reading; /* part that is read; NULL: this one */
};

/** Loads the files that a session goes on in, and adds them to the state of the first. Of those
 *  that are missing or damaged the state tells. @retval 0 or -ENOMEM */
int tact_log_load_parts(struct tact_log *first, const char *path);

/** tact_log_next() and tact_log_seek() within one file; pairs: those of all files. */
int tact_log_next_own(struct tact_log *log, const struct tact_log_pairs *pairs,
                      struct tact_record *record);
int tact_log_seek_own(struct tact_log *log, uint64_t index);

/** Opens and checks a file as tact_log_open() does, also where nothing in it can be read as a log.
 *  @retval as tact_log_open(), without -ENODATA */
int tact_log_load(const char *path, struct tact_log **out, struct tact_error *err);

/** Reads and checks the whole file; fills everything above but the reading position. Damage is not
 *  an error, it is put in state. @retval 0 or a negative errno with *err filled */
int tact_log_scan(struct tact_log *log, struct tact_error *err);

/** Moves log->file to the next record at or behind `from` that proves by itself that it is one of
 *  the data. @retval 0, -ENODATA or an errno of reading */
int tact_log_resync(struct tact_log *log, uint64_t from);

/** Takes schemas and channels from the index, where there is one: for where the first chunk, which
 *  has them too, is damaged. @retval 0, or what `take` returned, but -EBADMSG */
int tact_log_read_definitions(struct tact_log *log, struct tact_error *err,
                              int (*take)(struct tact_log *, const struct tact_mcap_record *,
                                          struct tact_error *));

/** A tick's message: its head, where its values start, and its list. -EBADMSG where it is not one
 * of this layout. */
int tact_log_parse_tick(const struct tact_log *log, struct tact_span data,
                        struct tact_log_tick *tick);

/** The next element of a tick's list; false behind the last one. */
bool tact_log_next_element(const struct tact_log *log, struct tact_log_tick *tick,
                           struct tact_log_element *element);

/** Adds the pairs of a tick's list to those of the log. @retval 0, -ENOMEM, or -E2BIG where there
 *  would be more than a record has room for */
int tact_log_pairs_take(struct tact_log *log, struct tact_log_tick tick);

/** Adds those of another file of the session. */
int tact_log_pairs_merge(struct tact_log *log, const struct tact_log_pairs *from);

/** Sorts them by their shapes and lays the records out; once they are all there. */
int tact_log_pairs_lay_out(struct tact_log *log);

/** The values of a tick, with those of its list in the fields of their pairs. */
void tact_log_pairs_spread(const struct tact_log_pairs *pairs, const struct tact_log *log,
                           struct tact_log_tick tick, double *values);
void tact_log_pairs_free(struct tact_log_pairs *pairs);

#endif
