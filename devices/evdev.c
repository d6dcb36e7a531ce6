#include "devices/evdev.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "devices/evdev_internal.h"
#include "devices/settings.h"
#include "devices/watch_internal.h"

enum { NONE = 0xff };        /* no channel for a code */
enum { MOST_EVENTS = 1024 }; /* a tick looks at: several times the kernel's buffer */
enum { LOOK_NS = 50000000 }; /* [ns] how often the watcher looks */

/* The loop owns `active`, the watcher what is not handed over. A source goes round in one
 * direction: fresh (watcher to loop), active, retired (loop to watcher); no second one is made
 * before the first has come back, so that no slot is ever taken. */
struct evdev {
    struct tact_evdev_layout layout;
    uint8_t channel_of_abs[ABS_CNT];
    uint8_t channel_of_rel[REL_CNT];
    uint8_t channel_of_key[KEY_CNT];
    int64_t timeout_ns;
    /* the loop's */
    struct tact_evdev_source *active; /* NULL while lost */
    bool syncing;                     /* events were lost, libevdev is telling the difference */
    int64_t stamp_ns;
    int64_t seen_ns[TACT_DEVICE_CHANNELS]; /* stamp of the last event of each */
    double value[TACT_DEVICE_CHANNELS];
    struct tact_evdev_force force;
    /* between the two */
    _Atomic(struct tact_evdev_source *) fresh;
    _Atomic(struct tact_evdev_source *) retired;
    atomic_bool vanished;      /* the node of the active source is gone */
    atomic_uint_fast64_t lost; /* how often the kernel's buffer ran over */
    /* the watcher's */
    char name[TACT_DEVICE_NAME];
    struct tact_evdev_wanted wanted;
    struct tact_messages messages;
    const struct tact_evdev_source *watched; /* what the loop has, or NULL */
    uint_fast64_t lost_told;
    struct tact_watch watch;
};

static void set_raw(struct evdev *self, int index, int raw)
{
    const struct tact_evdev_channel *channel = &self->layout.channel[index];
    double value = tact_evdev_value(channel, &self->active->range[index], raw);
    self->seen_ns[index] = self->stamp_ns;
    self->value[index] = channel->kind == TACT_EVDEV_INCREMENT ? self->value[index] + value : value;
}

/* Takes over the state of a device that was opened just now. */
static void take_state(struct evdev *self, int64_t now_ns)
{
    self->syncing = false;
    self->stamp_ns = now_ns;
    for (int i = 0; i < self->layout.count; i++) {
        const struct tact_evdev_channel *channel = &self->layout.channel[i];
        if (channel->type != EV_REL) {
            set_raw(self, i,
                    libevdev_get_event_value(self->active->dev, channel->type, channel->code));
        }
    }
}

static void take_event(struct evdev *self, const struct input_event *event, int64_t now_ns)
{
    int index = NONE;
    if (event->type == EV_ABS && event->code < ABS_CNT) {
        index = self->channel_of_abs[event->code];
    } else if (event->type == EV_REL && event->code < REL_CNT) {
        index = self->channel_of_rel[event->code];
    } else if (event->type == EV_KEY && event->code < KEY_CNT) {
        index = self->channel_of_key[event->code];
    } else {
        return; /* EV_FF comes back to every reader of a node; EV_MSC, EV_SYN say nothing here */
    }
    self->stamp_ns = self->active->monotonic ? (int64_t)event->input_event_sec * 1000000000 +
                                                   (int64_t)event->input_event_usec * 1000
                                             : now_ns;
    if (index != NONE) {
        set_raw(self, index, event->value);
    }
}

/* Reads what has come. Returns false where the device is gone. */
static bool drain(struct evdev *self, int64_t now_ns)
{
    for (int i = 0; i < MOST_EVENTS; i++) {
        struct input_event event;
        unsigned int flag = self->syncing ? LIBEVDEV_READ_FLAG_SYNC : LIBEVDEV_READ_FLAG_NORMAL;
        int rc = libevdev_next_event(self->active->dev, flag, &event);
        if (rc == -EAGAIN && self->syncing) {
            self->syncing = false;
        } else if (rc == -EAGAIN) {
            return true;
        } else if (rc == LIBEVDEV_READ_STATUS_SYNC && !self->syncing) {
            self->syncing = true;
            atomic_fetch_add_explicit(&self->lost, 1, memory_order_relaxed);
        } else if (rc >= 0) {
            take_event(self, &event, now_ns);
        } else if (rc != -EINTR) {
            return false;
        }
    }
    return true;
}

/* Hands the lost device to the watcher. Axes are held; what must be pressed or pushed is not. */
static void lose(struct evdev *self)
{
    atomic_store_explicit(&self->retired, self->active, memory_order_release);
    self->active = NULL;
    for (int i = 0; i < self->layout.count; i++) {
        enum tact_evdev_kind kind = self->layout.channel[i].kind;
        if (kind == TACT_EVDEV_BUTTON || kind == TACT_EVDEV_DISPLACEMENT) {
            self->value[i] = 0.0;
        }
    }
}

static void evdev_read(void *data, uint64_t tick, double t, int64_t now_ns,
                       struct tact_device_input *in)
{
    struct evdev *self = data;
    (void)tick, (void)t;
    if (!self->active) {
        self->active = atomic_exchange_explicit(&self->fresh, NULL, memory_order_acquire);
        if (self->active) {
            take_state(self, now_ns);
        }
    }
    if (self->active &&
        (!drain(self, now_ns) || atomic_load_explicit(&self->vanished, memory_order_relaxed))) {
        lose(self);
    }
    for (int i = 0; i < self->layout.count; i++) {
        if (self->layout.channel[i].kind == TACT_EVDEV_DISPLACEMENT &&
            now_ns - self->seen_ns[i] > self->timeout_ns) {
            self->value[i] = 0.0;
        }
    }
    in->state = self->active ? TACT_DEVICE_OK : TACT_DEVICE_LOST;
    in->stamp_ns = self->stamp_ns;
    memcpy(in->channel, self->value, (size_t)self->layout.count * sizeof *in->channel);
    if (self->force.count) {
        int guard = tact_evdev_force_ask(&self->force, now_ns, &in->channel[self->layout.count]);
        in->state = guard == TACT_DEVICE_LOST ? TACT_DEVICE_LOST : in->state;
    }
}

static void evdev_write(void *data, const double *out, int64_t now_ns)
{
    struct evdev *self = data;
    if (self->force.count) {
        tact_evdev_force_write(&self->force, out, now_ns);
    }
}

static void place(struct evdev *self, const char *path)
{
    if (self->force.count) {
        tact_guard_place(self->force.arming.guard, path);
    }
}

/* Frees what the loop gave back. */
static void take_back(struct evdev *self)
{
    struct tact_evdev_source *source =
        atomic_exchange_explicit(&self->retired, NULL, memory_order_acquire);
    if (source) {
        tact_message(self->messages, TACT_MESSAGE_WARNING, "%s: '%s' (%s) is gone", self->name,
                     self->wanted.name, source->path);
        place(self, NULL);
        tact_evdev_source_free(source);
        self->watched = NULL;
        atomic_store_explicit(&self->vanished, false, memory_order_relaxed);
    }
}

/* Looks for the lost device and hands it to the loop. */
static void look_for(struct evdev *self)
{
    struct tact_evdev_search search;
    struct tact_evdev_source *source = tact_evdev_find(&self->wanted, &search);
    if (!source || !tact_evdev_fit(&self->layout, source)) {
        tact_evdev_source_free(source);
        return;
    }
    tact_message(self->messages, TACT_MESSAGE_INFO, "%s: '%s' is back at %s", self->name,
                 self->wanted.name, source->path);
    place(self, source->path);
    self->watched = source;
    atomic_store_explicit(&self->fresh, source, memory_order_release);
}

static void watch(void *data)
{
    struct evdev *self = data;
    take_back(self);
    if (!self->watched) {
        look_for(self);
    } else if (!tact_evdev_present(self->watched)) {
        atomic_store_explicit(&self->vanished, true, memory_order_relaxed);
    }
    uint_fast64_t lost = atomic_load_explicit(&self->lost, memory_order_relaxed);
    if (lost != self->lost_told) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: the kernel lost events %llu times; the state was read anew", self->name,
                     (unsigned long long)(lost - self->lost_told));
        self->lost_told = lost;
    }
    tact_evdev_force_tell(&self->force, self->name, self->messages);
}

static void evdev_close(void *data)
{
    struct evdev *self = data;
    tact_watch_stop(&self->watch);
    tact_evdev_force_close(&self->force, self->name, self->messages);
    tact_evdev_source_free(self->active);
    tact_evdev_source_free(atomic_load(&self->fresh));
    tact_evdev_source_free(atomic_load(&self->retired));
    free(self);
}

static const struct tact_device_ops evdev_ops = {evdev_read, evdev_write, evdev_close};

static int read_wanted(const struct tact_device_config *config, struct tact_evdev_wanted *wanted,
                       struct tact_error *err)
{
    static const char *const keys[] = {"path", "match", "serial", "phys"};
    char *const to[] = {wanted->path, wanted->match, wanted->serial, wanted->phys};
    const size_t size[] = {sizeof wanted->path, sizeof wanted->match, sizeof wanted->serial,
                           sizeof wanted->phys};
    int given = 0;
    for (int i = 0; i < 4; i++) {
        const char *text = NULL;
        int rc = tact_settings_text(config, keys[i], &text, err);
        if (rc) {
            return rc;
        }
        if (text && strlen(text) >= size[i]) {
            return tact_settings_fault(config, tact_settings_find(config, keys[i]), err,
                                       "longer than %zu characters", size[i] - 1);
        }
        snprintf(to[i], size[i], "%s", text ? text : "");
        given += text != NULL;
    }
    return given ? 0
                 : tact_settings_fault(config, NULL, err,
                                       "which device? give path, match, serial or phys");
}

/* Says why nothing was found. */
static int not_found(const struct tact_device_config *config,
                     const struct tact_evdev_wanted *wanted, const struct tact_evdev_search *search,
                     struct tact_error *err)
{
    const char *key = wanted->path[0]     ? "path"
                      : wanted->match[0]  ? "match"
                      : wanted->serial[0] ? "serial"
                                          : "phys";
    const struct tact_device_setting *setting = tact_settings_find(config, key);
    bool refused = search->refused > 0;
    if (wanted->path[0] && search->readable == 0) {
        tact_settings_fault(config, setting, err, "cannot open %s as an input device: %s%s",
                            wanted->path, strerror(-search->error),
                            refused ? " (add yourself to the group 'input')" : "");
        return search->error ? search->error : -ENODEV;
    }
    tact_settings_fault(
        config, setting, err, "no such input device (%d readable, %d closed by permissions%s)",
        search->readable, search->refused, refused ? ": add yourself to the group 'input'" : "");
    return refused && search->readable == 0 ? -EACCES : -ENODEV;
}

static void index_channels(struct evdev *self)
{
    memset(self->channel_of_abs, NONE, sizeof self->channel_of_abs);
    memset(self->channel_of_rel, NONE, sizeof self->channel_of_rel);
    memset(self->channel_of_key, NONE, sizeof self->channel_of_key);
    for (int i = 0; i < self->layout.count; i++) {
        const struct tact_evdev_channel *channel = &self->layout.channel[i];
        uint8_t *table = channel->type == EV_ABS   ? self->channel_of_abs
                         : channel->type == EV_REL ? self->channel_of_rel
                                                   : self->channel_of_key;
        table[channel->code] = (uint8_t)i;
    }
}

static void tell(const struct evdev *self, const struct tact_evdev_search *search)
{
    char axes[512] = "";
    size_t used = 0;
    int buttons = 0;
    for (int i = 0; i < self->layout.count; i++) {
        static const char *const spans[] = {"-1..1", "0..1", "-1..1 displacement", "counts"};
        const struct tact_evdev_channel *channel = &self->layout.channel[i];
        if (channel->kind == TACT_EVDEV_BUTTON) {
            buttons++;
        } else if (used < sizeof axes) {
            int n =
                snprintf(axes + used, sizeof axes - used, "%s%s %s%s", used ? ", " : "",
                         channel->name, spans[channel->kind], channel->inverted ? " inverted" : "");
            used += n > 0 ? (size_t)n : 0;
        }
    }
    tact_message(self->messages, TACT_MESSAGE_INFO, "%s: '%s' at %s: %s%s%d buttons", self->name,
                 self->wanted.name, self->active->path, axes, used ? "; " : "", buttons);
    if (search->matching > 1) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: %d input devices match, this one was taken", self->name,
                     search->matching);
    }
    if (!self->active->monotonic) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: no CLOCK_MONOTONIC stamps from %s: values are stamped when read",
                     self->name, self->active->path);
    }
}

static void describe(const struct evdev *self, const struct tact_device_config *config,
                     struct tact_device_info *info)
{
    tact_settings_info(config, tact_evdev_type.name, info);
    info->input_count = self->layout.count;
    for (int i = 0; i < info->input_count; i++) {
        const struct tact_evdev_channel *channel = &self->layout.channel[i];
        tact_settings_channel(&info->input[i], channel->name,
                              channel->kind == TACT_EVDEV_INCREMENT ? "count" : "1", 0.0);
    }
    if (self->force.count) {
        tact_settings_channel(&info->input[info->input_count++], "force_age", "s", 0.0);
    }
    info->output_count = self->force.count;
    for (int i = 0; i < info->output_count; i++) {
        tact_settings_channel(&info->output[i], tact_force_name(self->force.channel[i]), "1", 0.0);
    }
}

/* Finds the device and chooses its channels. */
static int find(struct evdev *self, const struct tact_device_config *config,
                struct tact_evdev_search *search, struct tact_error *err)
{
    static const char *const keys[] = {
        "path",     "match",    "serial",    "phys",    "channels",       "unsigned",
        "inverted", "deadzone", "relative",  "timeout", "relative_range", "forces",
        "gain",     "rate",     "frequency", "guard",   "guard_timeout"};
    double timeout = 0.04;
    int rc = tact_settings_check(config, keys, sizeof keys / sizeof *keys, err);
    rc = rc ? rc : read_wanted(config, &self->wanted, err);
    rc = rc ? rc : tact_settings_positive(config, "timeout", &timeout, err);
    if (rc) {
        return rc;
    }
    self->timeout_ns = timeout < 1e9 ? (int64_t)(timeout * 1e9) : INT64_MAX;
    self->active = tact_evdev_find(&self->wanted, search);
    if (!self->active) {
        return not_found(config, &self->wanted, search, err);
    }
    rc = tact_evdev_choose(config, self->active->dev, &self->layout, err);
    if (rc == 0) {
        tact_evdev_fit(&self->layout, self->active);
        tact_evdev_remember(&self->wanted, self->active->dev);
        index_channels(self);
    }
    return rc;
}

static int evdev_open(const struct tact_device_config *config, struct tact_device *out,
                      struct tact_error *err)
{
    struct tact_evdev_search search;
    struct timespec now;
    struct evdev *self = calloc(1, sizeof *self);
    if (!self) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    snprintf(self->name, sizeof self->name, "%s", config->name);
    self->messages = config->messages;
    int rc = find(self, config, &search, err);
    if (rc) {
        tact_evdev_source_free(self->active);
        free(self);
        return rc;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    take_state(self, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    self->watched = self->active;
    tell(self, &search);
    rc = tact_evdev_force_open(config, self->active, &self->force, err);
    if (!rc) {
        rc = tact_watch_start(&self->watch, "tact-evdev", LOOK_NS, watch, self);
        if (rc) {
            tact_error_set(err, rc, "cannot start a thread: %s", strerror(-rc));
            tact_evdev_force_close(&self->force, self->name, self->messages);
        }
    }
    if (rc) {
        tact_evdev_source_free(self->active);
        free(self);
        return rc;
    }
    describe(self, config, &out->info);
    out->ops = &evdev_ops;
    out->self = self;
    return 0;
}

const struct tact_device_type tact_evdev_type = {
    "evdev", "input devices: pads, joysticks, wheels, pedals, six-axis pucks", evdev_open};
