/*
 * Force feedback of one input device: force channels rendered by the kernel's effects that the
 * device has. Has no dependencies, so that the guard process can use it.
 */
#ifndef TACT_DEVICES_FORCE_INTERNAL_H
#define TACT_DEVICES_FORCE_INTERNAL_H

#include <linux/input.h>
#include <stdbool.h>
#include <stdint.h>

/* Force outputs of an input device. Its axes: x to the right, y towards the person. */
enum tact_force_channel {
    TACT_FORCE_ALONG_X, /* force along x (and along y), -1 .. 1 of the maximum */
    TACT_FORCE_ALONG_Y,
    TACT_FORCE_SPRING,        /* spring that pulls to the centre, 0 .. 1 of the strongest */
    TACT_FORCE_SPRING_CENTER, /* position of that centre along x, -1 .. 1 */
    TACT_FORCE_DAMPER,        /* 0 .. 1: against speed */
    TACT_FORCE_FRICTION,
    TACT_FORCE_INERTIA,
    TACT_FORCE_VIBRATION,    /* level of a sine; the sign of this and the next does not matter */
    TACT_FORCE_STRONG_MOTOR, /* level of the heavy motor of a rumble pad, 0 .. 1 */
    TACT_FORCE_WEAK_MOTOR,   /* level of the light motor of a rumble pad, 0 .. 1 */
    TACT_FORCE_CHANNELS
};

/* Slots for the different effects that are uploaded to the device. */
enum tact_force_effect_slot {
    TACT_FORCE_CONSTANT_SLOT,
    TACT_FORCE_SPRING_SLOT,
    TACT_FORCE_DAMPER_SLOT,
    TACT_FORCE_FRICTION_SLOT,
    TACT_FORCE_INERTIA_SLOT,
    TACT_FORCE_PERIODIC_SLOT,
    TACT_FORCE_RUMBLE_SLOT,
    TACT_FORCE_SLOTS
};

/* Plan of how a device renders the force outputs. */
struct tact_force_rendering_plan {
    uint32_t requested_outputs;        /* bit mask of the requested force outputs */
    int32_t slot[TACT_FORCE_CHANNELS]; /* slot that renders each force output, or -1 */
    uint16_t type[TACT_FORCE_SLOTS];   /* type of the kernel's effect in each slot; 0: not used */
    uint16_t waveform;                 /* waveform of TACT_FORCE_PERIODIC_SLOT */
    uint16_t wave_period_ms;           /* period of that waveform [ms] */
    uint16_t gain;                     /* gain of the device, 0 .. 0xffff */
    uint8_t device_supports_force_gain;
    uint8_t device_supports_autocenter;
};

/* Name of a force output in the settings: "force_x", ... */
const char *tact_force_output_name(int channel);

/* Whether an effect of the kernel's, such as FF_CONSTANT, is in the bits of EVIOCGBIT. */
bool tact_force_supports_effect(const unsigned char *bits, int code);

/* Name of an effect of the kernel's: "constant", "spring", ... */
const char *tact_force_type_name(int type);

/*
 * Chooses effects for the requested channels by the device's bits, the best first: a push is a
 * constant force; without that a spring to a far centre whose saturation is the force; a vibration;
 * rumble; a resistance. Vibration and rumble replace each other, as do damper and friction. gain,
 * wave_period_ms: as in the plan. @return -1, or the first channel that cannot be rendered
 */
int tact_force_choose_effects(const unsigned char *bits, uint32_t requested_output_bits,
                              struct tact_force_rendering_plan *plan);

/* Computes the effects for these levels, without ids; silent[i]: effect i need not be played. A
 * level that is not finite counts as 0; levels are clamped. Real-time safe. */
void tact_force_render_effects(const struct tact_force_rendering_plan *plan, const double *level,
                               struct ff_effect *effect, bool *is_effect_silent);

/* Force-feedback effects on an open device. */
struct tact_force_feedback_node {
    int fd; /* -1: closed */
    struct tact_force_rendering_plan plan;
    bool is_force_device_muted; /* silenced: gain is 0 until the next tact_force_unmute() */
    struct {
        struct ff_effect uploaded_effect_of_slot;
        bool is_effect_uploaded;
        bool is_effect_started;
        int64_t effect_last_started_ns;
        int64_t next_upload_time_ns; /* earliest time of the next upload */
        int64_t stamp_ns;            /* stamp of the levels on the device */
    } slot[TACT_FORCE_SLOTS];
    int next_effect_slot_to_update; /* slot whose update is tried first */
    uint64_t effect_upload_count;
};

/* Opens a device's node to play effects; muted at first. @retval 0, or a negative errno: -ENXIO
 * the device lacks the effects of the plan */
int tact_force_open(struct tact_force_feedback_node *force, const char *path,
                    const struct tact_force_rendering_plan *plan);

/* Frees the effects and closes the node, if open. May block as long as the driver does. */
void tact_force_close(struct tact_force_feedback_node *force);

/* tact_force_mute() stops every effect and sets the gain to 0, in one write(2);
 * tact_force_unmute() sets the gain of the plan again.
 */
int tact_force_mute(struct tact_force_feedback_node *force);
int tact_force_unmute(struct tact_force_feedback_node *force);

/*
 * Uploads at most one changed effect, and starts, stops and refreshes all others; an effect is
 * uploaded at most every `period_ns`, and restarted before its length is over. Blocks as long as
 * the driver does in one upload: call again with the newest levels.
 * @return 1 if there is more to do, 0 if not, or a negative errno: -ENODEV device gone
 */
int tact_force_play(struct tact_force_feedback_node *force, const double *level, int64_t stamp_ns,
                    int64_t now_ns, int64_t period_ns);

/* Stamp of the oldest force level that the device plays, or 0. */
int64_t tact_force_oldest_played_stamp(const struct tact_force_feedback_node *force);

#endif
