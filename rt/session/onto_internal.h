/* A replay's outputs onto a real device, through the safety chain of a scene that is given here. */
#ifndef TACT_RT_SESSION_ONTO_INTERNAL_H
#define TACT_RT_SESSION_ONTO_INTERNAL_H

#include "rt/session/replay.h"
#include "rt/session/session_internal.h"

enum { ONTO_DEVICES = 2 }; /* the one that is written to, and the deadman's where it is another */

struct session_onto {
    struct {
        struct tact_device device;
        struct tact_device_input input;
        double output[TACT_DEVICE_CHANNELS];
    } opened[ONTO_DEVICES]; /* the first is the one that is written to */
    int count;
    int logged;                        /* index of the device in the log's scene */
    int deadman_device;                /* of `opened` */
    int deadman_channel;               /* input */
    int channel[TACT_SAFETY_CHANNELS]; /* of each output of the log: the device's, or -1 */
    struct tact_safety safety;
    double wanted[TACT_SAFETY_CHANNELS], sent[TACT_SAFETY_CHANNELS];
};

/* Opens o->onto of o->scene and the device of that scene's deadman. Nothing of the log says how a
 * device is opened or what it may be given. 0 or a negative errno with *err filled. */
int tact_session_onto_open(struct tact_session *s, const struct tact_replay_options *o,
                           struct session_onto *onto, struct tact_error *err);

/* What the session sent in this tick, while the deadman is held and no device is lost; else zero.
 * Counts in the report what became of it. */
void tact_session_onto_write(struct tact_session *s, struct session_onto *onto, uint64_t tick,
                             struct tact_replay_report *report);

/* Zero, and closed. */
void tact_session_onto_close(struct session_onto *onto);

#endif
