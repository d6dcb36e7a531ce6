/* A log in the reader's memory. */
#ifndef TACT_RT_LOG_LOG_INTERNAL_H
#define TACT_RT_LOG_LOG_INTERNAL_H

#include "cdr_internal.h"
#include "log_reader.h"
#include "mcap_internal.h"
#include "mcap_reader_internal.h"

/* An intact chunk. */
struct tact_log_chunk {
    uint64_t at;                          /* offset of the chunk in the file */
    uint64_t first;                       /* index in the log of the chunk's first record */
    uint64_t count;                       /* number of records */
    struct tact_bytes decompressed_chunk; /* decompressed content; empty if not cached */
};

/* Largest total size of cached decompressed chunks: opening a log checks all chunks, reading
 * decodes them again. */
#define TACT_LOG_CACHE_BYTES ((size_t)64 << 20)

/* The distinct pairs in the lists of all ticks, and the layout with fields for each of them. */
struct tact_log_pairs {
    struct tact_log_pair *list; /* names are owned */
    size_t count, capacity;
    uint32_t *slots; /* hash table keyed by the two shapes: index plus 1, or 0 */
    size_t pair_hash_slot_count;
    struct tact_layout layout; /* fields of a tick, then of each pair; only if the log has lists */
    double *absent;            /* values of the pairs' fields in a tick without contacts */
};

/* A parsed tick message. */
struct tact_log_tick {
    uint64_t tick;
    int64_t stamp_ns;
    const uint8_t *values; /* values of the tick, in the order of the layout's fields */
    uint32_t contact_list_element_count; /* number of elements in the tick's list */
    struct tact_cdr_reader list;         /* start of the next element */
};

struct tact_log_contact_element {
    struct tact_byte_span name;
    uint32_t a, b, number_among_pairs_of_same_name;
    const uint8_t *values;
};

struct tact_log {
    struct tact_mcap_reader file;
    struct tact_log_state state;
    struct tact_layout layout; /* layout of the file's messages */
    struct tact_log_pairs pairs;
    bool is_tick_layout_known;
    bool is_truncated; /* the file ends without the record that marks the end of the data: the
                          writer was killed */
    bool closed;       /* the end of the file is present and intact */
    uint64_t last_intact_offset;                 /* offset after which nothing could be read */
    struct tact_mcap_byte_range *damaged_ranges; /* damaged ranges with intact records after them */
    size_t damaged_range_count;
    size_t damage_cover_count; /* number of records by which `tact recover` covered damaged
                                         bytes */
    uint64_t
        resync_read_byte_count; /* bytes of records read in all searches for one after damage */
    struct tact_log_sequence_gap {
        bool ticks, events; /* the next sequence number may be higher: ticks or events were in
                               damaged chunks */
        uint32_t lost_tick_count, lost_events; /* numbers lost so far, from sequence numbers */
    } gap;
    uint64_t data_end_offset; /* offset of the end of the data; 0: not found, or changed */
    int tick_schema, tick_log_channel, event_channel; /* -1: not yet seen */

    struct tact_log_topic topics[TACT_LOG_TOPICS];
    int channel_of_topic[TACT_LOG_TOPICS];
    size_t topic_count;
    struct {
        int id;
        char name[64];
    } schemas[TACT_LOG_TOPICS]; /* schemas seen so far, until their channels are read */
    size_t schema_count;

    /* facts and attachments of the log; strings and data are owned */
    struct tact_log_attachment *attachments;
    size_t attachment_count;
    struct tact_log_fact *facts;
    size_t fact_count;
    struct tact_log_event *events;
    size_t event_count;
    size_t event_text_bytes; /* bytes of all event strings */

    struct tact_log_chunk *chunks;
    size_t chunk_count;
    size_t cached_chunk_bytes; /* total size of the cached decompressed chunks [bytes] */
    struct tact_bytes chunk;   /* decompressed */
    struct tact_byte_cursor unread_chunk_bytes; /* unread part of `chunk` */
    size_t next_chunk_index; /* index of the chunk that is loaded when `unread_chunk_bytes` is at
                                its end */
    uint64_t position;       /* index of the next record to be read */

    struct tact_log *next_log_part;    /* next file of the session, or NULL */
    uint64_t tick_count_of_log_file;   /* number of records in this file; state counts all files */
    unsigned session_log_part_count;   /* number of files of the session; 0: one */
    struct tact_log *current_log_part; /* file of the session that is being read; NULL: this one */
};

/* Loads the later files of a session and adds them to the state of the first. Missing or damaged
 * files are reported in the state. @retval 0 or -ENOMEM */
int tact_log_load_parts(struct tact_log *first, const char *path);

/* As tact_log_next() and tact_log_seek(), within one file; pairs: those of all files. */
int tact_log_read_next_in_file(struct tact_log *log, const struct tact_log_pairs *pairs,
                               struct tact_record *record);
int tact_log_seek_in_file(struct tact_log *log, uint64_t index);

/* Opens and checks a file as tact_log_open() does, also if no record can be read.
 * @retval as tact_log_open(), without -ENODATA */
int tact_log_load(const char *path, struct tact_log **out, struct tact_error *err);

/* Reads and checks the whole file; sets all members above the reading position. Damage is reported
 * in state, not as an error. @retval 0 or a negative errno with *err set */
int tact_log_scan(struct tact_log *log, struct tact_error *err);

/* Moves log->file to the next record at or after `from` that a checksum confirms to be one.
 * All searches of a log together read a limited number of bytes. @retval 0, -ENODATA or the errno
 * of reading */
int tact_log_find_next_record(struct tact_log *log, uint64_t from);

/* Reads schemas and channels from the index, if there is one: for a log whose first chunk is
 * damaged. @retval 0, or the result of `take` other than -EBADMSG */
int tact_log_read_definitions(struct tact_log *log, struct tact_error *err,
                              int (*take)(struct tact_log *, const struct tact_mcap_record *,
                                          struct tact_error *));

/* Parses a tick's message: header, start of its values, list. -EBADMSG if it does not fit the
 * layout. */
int tact_log_parse_tick(const struct tact_log *log, struct tact_byte_span data,
                        struct tact_log_tick *tick);

/* Parses the next element of a tick's list; false after the last one. */
bool tact_log_next_contact_element(const struct tact_log *log, struct tact_log_tick *tick,
                                   struct tact_log_contact_element *element);

/* Adds the pairs of a tick's list to those of the log. @retval 0, -ENOMEM, or -E2BIG if a record
 * would be longer than TACT_LAYOUT_MAX_READ */
int tact_log_pairs_add(struct tact_log *log, struct tact_log_tick tick);

/* Adds the pairs of another file of the session to those of the log. */
int tact_log_pairs_merge(struct tact_log *log, const struct tact_log_pairs *from);

/* Sorts the pairs by their shapes and builds the layout; called once all pairs are added. */
int tact_log_pairs_build_layout(struct tact_log *log);

/* Converts a tick's message to a record, with the list's elements in the fields of their pairs. */
void tact_log_pairs_fill_record(const struct tact_log_pairs *pairs, const struct tact_log *log,
                                struct tact_log_tick tick, double *values);
void tact_log_pairs_free(struct tact_log_pairs *pairs);

#endif
