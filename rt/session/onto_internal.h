/* A replay's outputs onto a real device, through a safety chain of its own. */
#ifndef TACT_RT_SESSION_ONTO_INTERNAL_H
#define TACT_RT_SESSION_ONTO_INTERNAL_H

#include "rt/session/session_internal.h"

struct session_onto {
    int open, index; /* device of the scene */
    struct tact_device device;
    struct tact_device_input input;
    struct tact_safety safety;
    double wanted[TACT_SAFETY_CHANNELS], sent[TACT_SAFETY_CHANNELS];
    double output[TACT_DEVICE_CHANNELS];
};

/* Opens the device of that name of the session's scene. 0 or a negative errno with *err filled. */
int tact_session_onto_open(struct tact_session *s, const char *name, struct session_onto *o,
                           struct tact_error *err);

/* What the session sent in this tick. A device that is lost gets zero. */
void tact_session_onto_write(struct tact_session *s, struct session_onto *o, uint64_t tick);

/* Zero, and closed. */
void tact_session_onto_close(struct session_onto *o);

#endif
