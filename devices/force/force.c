#include "devices/force/force_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* [ns] interval of restarting effects: well below their maximum length, 65 s (16 bits of
 * milliseconds). */
enum { REFRESH_NS = 500000000 };

static int64_t errno_of_failed_call(void)
{
    return errno ? -errno : -EIO;
}

/* Writes `count` events of type EV_FF in one call of write(2). */
static int write_force_events(const struct tact_force_feedback_node *force,
                              struct input_event *force_playback_events, int count)
{
    size_t size = (size_t)count * sizeof *force_playback_events;
    ssize_t n;
    errno = 0;
    while ((n = write(force->fd, force_playback_events, size)) < 0 && errno == EINTR) {
    }
    return n == (ssize_t)size ? 0 : (int)errno_of_failed_call();
}

static struct input_event make_playback_event(int code, int value)
{
    struct input_event event;
    memset(&event, 0, sizeof event);
    event.type = EV_FF;
    event.code = (uint16_t)code;
    event.value = value;
    return event;
}

static int start_or_stop_effect_of_slot(struct tact_force_feedback_node *force, int slot, bool on,
                                        int64_t now_ns)
{
    struct input_event event =
        make_playback_event(force->slot[slot].uploaded_effect_of_slot.id, on);
    int rc = write_force_events(force, &event, 1);
    if (rc == 0) {
        force->slot[slot].is_effect_started = on;
        force->slot[slot].effect_last_started_ns = now_ns;
    }
    return rc;
}

int tact_force_open(struct tact_force_feedback_node *force, const char *path,
                    const struct tact_force_rendering_plan *plan)
{
    unsigned char bits[FF_CNT / 8] = {0};
    memset(force, 0, sizeof *force);
    force->plan = *plan;
    force->is_force_device_muted = true;
    errno = 0;
    force->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (force->fd < 0) {
        return (int)errno_of_failed_call();
    }
    int rc =
        ioctl(force->fd, EVIOCGBIT(EV_FF, sizeof bits), bits) < 0 ? (int)errno_of_failed_call() : 0;
    for (int i = 0; !rc && i < TACT_FORCE_SLOTS; i++) {
        int type = plan->type[i];
        rc = type && !tact_force_supports_effect(bits, type) ? -ENXIO : 0;
    }
    if (!rc && plan->device_supports_autocenter) {
        struct input_event event = make_playback_event(FF_AUTOCENTER, 0);
        rc = write_force_events(force, &event, 1);
    }
    if (rc) {
        close(force->fd);
        force->fd = -1;
    }
    return rc;
}

void tact_force_close(struct tact_force_feedback_node *force)
{
    if (force->fd < 0) {
        return;
    }
    tact_force_mute(force);
    for (int i = 0; i < TACT_FORCE_SLOTS; i++) {
        if (force->slot[i].is_effect_uploaded) {
            ioctl(force->fd, EVIOCRMFF, force->slot[i].uploaded_effect_of_slot.id);
        }
    }
    close(force->fd);
    force->fd = -1;
}

int tact_force_mute(struct tact_force_feedback_node *force)
{
    struct input_event force_playback_events[TACT_FORCE_SLOTS + 1];
    int count = 0;
    if (force->plan.device_supports_force_gain) {
        force_playback_events[count++] = make_playback_event(FF_GAIN, 0);
    }
    for (int i = 0; i < TACT_FORCE_SLOTS; i++) {
        if (force->slot[i].is_effect_uploaded) {
            force_playback_events[count++] =
                make_playback_event(force->slot[i].uploaded_effect_of_slot.id, 0);
            force->slot[i].is_effect_started = false;
        }
    }
    force->is_force_device_muted = true;
    return count ? write_force_events(force, force_playback_events, count) : 0;
}

int tact_force_unmute(struct tact_force_feedback_node *force)
{
    struct input_event event = make_playback_event(FF_GAIN, force->plan.gain);
    int rc = force->is_force_device_muted && force->plan.device_supports_force_gain
                 ? write_force_events(force, &event, 1)
                 : 0;
    force->is_force_device_muted = force->is_force_device_muted && rc;
    return rc;
}

/* Uploads the effect of a slot: as a new one, or as a change of the uploaded one. */
static int upload_effect_to_slot(struct tact_force_feedback_node *force, int slot,
                                 const struct ff_effect *effect)
{
    struct ff_effect uploaded_effect_of_slot = *effect;
    uploaded_effect_of_slot.id =
        force->slot[slot].is_effect_uploaded ? force->slot[slot].uploaded_effect_of_slot.id : -1;
    errno = 0;
    if (ioctl(force->fd, EVIOCSFF, &uploaded_effect_of_slot) < 0) {
        return (int)errno_of_failed_call();
    }
    force->slot[slot].uploaded_effect_of_slot = uploaded_effect_of_slot;
    force->slot[slot].is_effect_uploaded = true;
    force->effect_upload_count++;
    return 0;
}

/* Whether the device already has this effect with these parameters. */
static bool is_same_effect(const struct tact_force_feedback_node *force, int slot,
                           const struct ff_effect *effect)
{
    struct ff_effect uploaded_effect_of_slot = force->slot[slot].uploaded_effect_of_slot;
    uploaded_effect_of_slot.id = effect->id;
    return force->slot[slot].is_effect_uploaded &&
           memcmp(&uploaded_effect_of_slot, effect, sizeof uploaded_effect_of_slot) == 0;
}

/* Updates the effect of one slot. Returns 1 if it was uploaded, 0 if nothing was to be uploaded, or
 * a negative errno. */
static int update_effect_of_slot(struct tact_force_feedback_node *force, int i,
                                 const struct ff_effect *effect, bool is_effect_silent,
                                 int64_t stamp_ns, int64_t now_ns, int64_t period_ns)
{
    int rc = 0;
    if (is_effect_silent) {
        rc = force->slot[i].is_effect_started
                 ? start_or_stop_effect_of_slot(force, i, false, now_ns)
                 : 0;
        force->slot[i].stamp_ns = stamp_ns;
        return rc;
    }
    bool is_effect_unchanged = is_same_effect(force, i, effect);
    if (!is_effect_unchanged && now_ns < force->slot[i].next_upload_time_ns) {
        return 0;
    }
    if (!is_effect_unchanged) {
        force->slot[i].next_upload_time_ns = now_ns + period_ns;
        rc = upload_effect_to_slot(force, i, effect);
    }
    if (!rc && (!force->slot[i].is_effect_started ||
                now_ns - force->slot[i].effect_last_started_ns >= REFRESH_NS)) {
        rc = start_or_stop_effect_of_slot(force, i, true, now_ns);
    }
    force->slot[i].stamp_ns = rc ? force->slot[i].stamp_ns : stamp_ns;
    return rc ? rc : !is_effect_unchanged;
}

int tact_force_play(struct tact_force_feedback_node *force, const double *level, int64_t stamp_ns,
                    int64_t now_ns, int64_t period_ns)
{
    struct ff_effect effect[TACT_FORCE_SLOTS];
    bool is_effect_silent[TACT_FORCE_SLOTS];
    tact_force_render_effects(&force->plan, level, effect, is_effect_silent);
    for (int k = 0; k < TACT_FORCE_SLOTS; k++) {
        int i = (force->next_effect_slot_to_update + k) % TACT_FORCE_SLOTS;
        int rc = force->plan.type[i]
                     ? update_effect_of_slot(force, i, &effect[i], is_effect_silent[i], stamp_ns,
                                             now_ns, period_ns)
                     : 0;
        if (rc) {
            /* starts with another slot each time, so that with a slow driver every effect is
             * updated in turn */
            force->next_effect_slot_to_update = i + 1;
            return rc;
        }
    }
    return 0;
}

int64_t tact_force_oldest_played_stamp(const struct tact_force_feedback_node *force)
{
    int64_t oldest_played_stamp_ns = 0;
    for (int i = 0; i < TACT_FORCE_SLOTS; i++) {
        int64_t played_stamp_of_slot_ns = force->slot[i].stamp_ns;
        if (force->plan.type[i] &&
            (oldest_played_stamp_ns == 0 || played_stamp_of_slot_ns < oldest_played_stamp_ns)) {
            oldest_played_stamp_ns = played_stamp_of_slot_ns;
        }
    }
    return oldest_played_stamp_ns;
}
