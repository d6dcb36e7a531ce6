/* Encoding of records and events as ROS 2 messages on the topics of a session. */
#ifndef TACT_RT_LOG_ENCODE_INTERNAL_H
#define TACT_RT_LOG_ENCODE_INTERNAL_H

#include "cdr_internal.h"
#include "mcap_writer_internal.h"
#include "recorder.h"
#include "derived_topics_internal.h"

#define TACT_TOPIC_TICK "/tact/tick"
#define TACT_TOPIC_EVENT "/tact/events"
#define TACT_TOPIC_PRESSURE "/contacts/pressure"
/* name of the metadata record with the facts of the session */
#define TACT_FACTS_METADATA_NAME "tact"
/* name of the metadata record that recovery adds */
#define TACT_RECOVERED_METADATA_NAME "tact_recovered"
/* name of the metadata record of every file of a split session but the last */
#define TACT_CONTINUED_METADATA_NAME "tact_continued"
#define TACT_FACTS_CRC_KEY                                                                         \
    "crc32" /* last key of the facts: CRC of the map before it, 8 hex digits */

/* Bytes that the triangles of /scene may take in a log: a chunk that holds them, schemas and an
 * event of any length is well within TACT_MCAP_CHUNK_MAX_BYTES. */
#define TACT_SCENE_MESSAGE_MAX_BYTES (UINT32_C(32) << 20)

/* Channels of the derived topics. The channels of contacts, and of sensors, are consecutive. */
enum {
    TACT_LOG_CHANNEL_JOINTS,
    TACT_LOG_CHANNEL_TF,
    TACT_LOG_CHANNEL_CONTACTS,
    TACT_LOG_CHANNEL_SENSORS,
    TACT_LOG_CHANNEL_ARROWS,
    TACT_LOG_CHANNEL_SCENE,
    TACT_DERIVED_CHANNELS
};

/* Where encoded messages go. A schema or channel gets an id, from 0 on in the order of the calls;
 * `begin` returns the buffer that a message is appended to. */
struct tact_message_sink {
    void *self; /* not owned */
    int (*schema)(void *self, const char *name, const void *text, size_t size);
    int (*channel)(void *self, int schema, const char *topic);
    struct tact_bytes *(*begin)(void *self, int channel, uint64_t time_ns);
    void (*end)(void *self);
};

/* Makes an MCAP file the sink of messages. */
struct tact_message_sink tact_mcap_message_sink(struct tact_mcap_writer *writer);

struct tact_encoder {
    struct tact_message_sink message_sink;
    uint32_t size;   /* number of doubles of a record without its list */
    uint32_t stride; /* doubles per element of the record's list; 0: no list */
    int64_t wall_clock_anchor_ns;
    uint32_t derived_every;
    int tick_log_channel, event_channel;
    int pressure_map_log_channel;        /* channel of pressure maps; -1 where none are recorded */
    int channels[TACT_DERIVED_CHANNELS]; /* -1 where unused */
    struct tact_derived_topics derived_topics;
    struct tact_bytes scene;       /* encoded message of /scene, until it is written */
    bool is_pressure_marker_shown; /* 1: a pressure marker is displayed in viewers at present */
    uint8_t is_force_arrow_shown[TACT_RECORDER_WRENCHES]; /* for each contact: 1 if its arrow is
                                                             displayed in viewers at present */
    /* start of a contact's values in the current record, or NULL */
    const double *at[TACT_RECORDER_WRENCHES];
};

/* Validates the content of a recording. @retval 0, or -EINVAL with *err set */
int tact_encoder_check_content(const struct tact_recorder_content *content, struct tact_error *err);

/* Adds the schemas and channels of validated content to the sink. scene: the message of /scene, or
 * empty; events: whether there will be any. Call tact_encoder_free() also on failure. @retval 0 or
 * a negative errno */
int tact_encoder_init_topics(struct tact_encoder *encoder, struct tact_message_sink message_sink,
                             const struct tact_recorder_content *content,
                             const struct tact_bytes *scene, bool events, uint32_t derived_every,
                             int64_t wall_clock_anchor_ns);

/* Writes schemas, channels, attachments and facts of validated content to a file. scene: the
 * message of /scene, or empty; part: number of the file, 0 if the session is not split. Call
 * tact_encoder_free() also on failure. @retval 0 or a negative errno */
int tact_encoder_init(struct tact_encoder *encoder, struct tact_mcap_writer *writer,
                      const struct tact_recorder_content *content, const struct tact_bytes *scene,
                      unsigned part, uint32_t derived_every, int64_t wall_clock_anchor_ns,
                      int64_t now_ns);
/* Wall-clock time of a stamp [ns since 1970], the time of messages. */
uint64_t tact_encoder_wall_clock_time(const struct tact_encoder *encoder, int64_t stamp_ns);

/* Begins a message on a channel. */
struct tact_cdr_writer tact_encoder_begin_message(struct tact_encoder *encoder, int channel,
                                                  int64_t stamp_ns);

/* Whether the channels that the encoder uses are among the first `count`. */
bool tact_encoder_has_channels(const struct tact_encoder *encoder, int count);
void tact_encoder_free(struct tact_encoder *encoder);

/* Name of the body or link that owns a shape; "" if there is none: the number may come from an
 * untrusted ring file. */
const char *tact_encoder_shape_owner_name(const struct tact_encoder *encoder, double shape);

void tact_encode_record(struct tact_encoder *encoder, const struct tact_record *record);
/* Appends the key TACT_FACTS_CRC_KEY to a map of facts: MCAP has no checksum of a metadata record
 * in a log without an end. */
void tact_put_crc_of_log_facts(struct tact_bytes *map);

/* Encodes joints, frames, wrenches and arrows of a record; encode_derived.c. */
void tact_encode_derived(struct tact_encoder *encoder, const struct tact_record *record);

/* Adds the topic of pressure maps and, where derived topics are written and there is no topic of
 * markers yet, that one.
 * @retval 0 or a negative errno */
int tact_encoder_add_pressure(struct tact_encoder *encoder);

/* Encodes a pressure map, and with derived topics its marker; encode_pressure.c. */
void tact_encode_pressure(struct tact_encoder *encoder, uint64_t tick, int64_t stamp_ns,
                          const struct tact_pressure *map);

/* The shapes that the message of /scene omits, as their triangles would exceed its size. */
struct tact_scene_omitted_shapes {
    size_t count;
    const char *first; /* frame of the first omitted shape; NULL where none is omitted */
};

/* Encodes the message of /scene as CDR. most: bytes that the triangles of all its shapes may take;
 * a shape whose triangles no longer fit has no marker, and is counted in *omitted_shapes. */
void tact_encode_scene(const struct tact_recorder_content *content, size_t most,
                       struct tact_bytes *out, struct tact_scene_omitted_shapes *omitted_shapes);

/* Encodes the message of /scene, if it is not yet written. time_ns: wall clock. */
void tact_encode_scene_once(struct tact_encoder *encoder, uint64_t time_ns);

void tact_encode_event(struct tact_encoder *encoder, uint64_t tick, int64_t stamp_ns,
                       const char *name, const char *text);

#endif
