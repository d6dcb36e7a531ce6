/** What the recorder writes: records and events as ROS 2 messages on the topics of a session. */
#ifndef TACT_RT_LOG_ENCODE_INTERNAL_H
#define TACT_RT_LOG_ENCODE_INTERNAL_H

#include "mcap_writer_internal.h"
#include "recorder.h"
#include "shown_internal.h"

#define TACT_TOPIC_TICK "/tact/tick"
#define TACT_TOPIC_EVENT "/tact/events"
#define TACT_FACTS "tact"               /* name of the metadata record */
#define TACT_RECOVERED "tact_recovered" /* of another that recovery adds */
#define TACT_CONTINUED "tact_continued" /* of another, in a file that is not the session's last */
#define TACT_FACTS_CRC "crc32"          /* its last key: 8 hex digits, CRC of the map before it */

/** Channels of what is derived from the records. A contact's, and a sensor's, follow each other. */
enum {
    TACT_CHANNEL_JOINTS,
    TACT_CHANNEL_TF,
    TACT_CHANNEL_CONTACTS,
    TACT_CHANNEL_SENSORS,
    TACT_CHANNEL_ARROWS,
    TACT_CHANNEL_SCENE,
    TACT_DERIVED_CHANNELS
};

struct tact_encoder {
    struct tact_mcap_writer *writer; /* not owned */
    uint32_t size;                   /* doubles of a record, without its list */
    uint32_t stride;                 /* of an element of the list; 0: there is none */
    int64_t anchor_ns;
    uint32_t derived_every;
    int tick_channel, event_channel;
    int channels[TACT_DERIVED_CHANNELS]; /* -1 where unused */
    struct tact_shown shown;
    struct tact_bytes scene;                  /* the message of /scene, until it was written */
    uint8_t drawn[TACT_RECORDER_WRENCHES];    /* contacts whose arrow is on show */
    const double *at[TACT_RECORDER_WRENCHES]; /* what their offsets count from in the record that is
                                                 written, or NULL */
};

/** Checks what is to be recorded. @retval 0, or -EINVAL with *err filled */
int tact_encoder_check(const struct tact_recorder_content *content, struct tact_error *err);

/** Writes schemas, channels, attachments and facts; content has been checked. scene: the message of
 *  /scene, or empty; part: number of the file, 0 where the session is never split. On failure
 *  tact_encoder_free() is still due. @retval 0 or a negative errno */
int tact_encoder_init(struct tact_encoder *encoder, struct tact_mcap_writer *writer,
                      const struct tact_recorder_content *content, const struct tact_bytes *scene,
                      unsigned part, uint32_t derived_every, int64_t anchor_ns, int64_t now_ns);
/** Wall-clock time of a stamp [ns since 1970], as messages have it. */
uint64_t tact_encoder_wall(const struct tact_encoder *encoder, int64_t stamp_ns);

/** The writer has the channels that the encoder uses. */
bool tact_encoder_channels_exist(const struct tact_encoder *encoder);
void tact_encoder_free(struct tact_encoder *encoder);

void tact_encode_record(struct tact_encoder *encoder, const struct tact_record *record);
/** Of the record: joints, frames, wrenches, arrows; encode_derived.c. */
void tact_encode_derived(struct tact_encoder *encoder, const struct tact_record *record);

/** The message of /scene, as CDR. */
void tact_encode_scene(const struct tact_recorder_content *content, struct tact_bytes *out);

void tact_encode_event(struct tact_encoder *encoder, uint64_t tick, int64_t stamp_ns,
                       const char *name, const char *text);

#endif
