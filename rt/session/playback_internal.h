/* Playback of a replay's outputs on a real device, through the safety chain of a scene given for
 * it. */
#ifndef TACT_RT_SESSION_PLAYBACK_INTERNAL_H
#define TACT_RT_SESSION_PLAYBACK_INTERNAL_H

#include "rt/session/replay.h"
#include "rt/session/session_internal.h"

enum { PLAYBACK_DEVICES = 2 }; /* the output device, and the deadman's where it is another */

struct session_playback {
    struct {
        struct tact_device device;
        struct tact_device_input input;
        double output[TACT_DEVICE_CHANNELS];
    } opened_devices[PLAYBACK_DEVICES]; /* opened devices; the first is the output device */
    int count;
    int logged_device_index;           /* index of the device in the log's scene */
    int deadman_device;                /* index of the deadman's device in `opened` */
    int deadman_channel;               /* input */
    int channel[TACT_SAFETY_CHANNELS]; /* channel of the device for each output of the log, or -1 */
    struct tact_safety safety;
    double requested_outputs[TACT_SAFETY_CHANNELS], sent_outputs[TACT_SAFETY_CHANNELS];
};

/* Opens the output device of o->scene and the device of that scene's deadman. Nothing in the log
 * determines how a device is opened or what is sent to it. 0 or a negative errno with *err set. */
int tact_session_playback_open(struct tact_session *s, const struct tact_replay_options *o,
                               struct session_playback *playback, struct tact_error *err);

/* Writes the session's outputs of this tick while the deadman is held and no device is lost; else
 * zero. Counts the results in the report. */
void tact_session_playback_write(struct tact_session *s, struct session_playback *playback,
                                 uint64_t tick, struct tact_replay_report *report);

/* Writes zero to the playback device and closes it. */
void tact_session_playback_close(struct session_playback *playback);

#endif
