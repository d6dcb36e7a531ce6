/* A real input device in the loop, and its monitor thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "devices/evdev/evdev_state_internal.h"

/* maximum number of events read per tick: several times the kernel's buffer */
enum { MAX_EVENTS = 1024 };

static void set_raw_channel_value(struct tact_evdev_device *self, int index, int raw)
{
    const struct tact_evdev_channel *channel = &self->layout.channel[index];
    double value = tact_evdev_scaled_value(channel, &self->active_source->range[index], raw);
    self->last_event_time_ns[index] = self->stamp_ns;
    self->value[index] =
        channel->kind == TACT_EVDEV_RELATIVE_INCREMENT ? self->value[index] + value : value;
}

void tact_evdev_update_state(struct tact_evdev_device *self, int64_t now_ns)
{
    self->is_resyncing_after_event_loss = false;
    self->stamp_ns = now_ns;
    for (int i = 0; i < self->layout.count; i++) {
        const struct tact_evdev_channel *channel = &self->layout.channel[i];
        if (channel->type != EV_REL) {
            set_raw_channel_value(
                self, i,
                libevdev_get_event_value(self->active_source->dev, channel->type, channel->code));
        }
    }
}

void tact_evdev_handle_event(struct tact_evdev_device *self, const struct input_event *event,
                             int64_t stamp_ns)
{
    int index = TACT_EVDEV_NONE;
    if (event->type == EV_ABS && event->code < ABS_CNT) {
        index = self->channel_of_absolute_axis_code[event->code];
    } else if (event->type == EV_REL && event->code < REL_CNT) {
        index = self->channel_of_relative_axis_code[event->code];
    } else if (event->type == EV_KEY && event->code < KEY_CNT) {
        index = self->channel_of_key_code[event->code];
    } else {
        return; /* EV_FF is echoed to every reader of a node; EV_MSC and EV_SYN have no values */
    }
    self->stamp_ns = stamp_ns;
    if (index != TACT_EVDEV_NONE) {
        set_raw_channel_value(self, index, event->value);
    }
}

/* Time stamp of an event [ns]. */
static int64_t get_event_time_ns(const struct tact_evdev_device *self,
                                 const struct input_event *event, int64_t now_ns)
{
    return self->active_source->is_clock_monotonic ? (int64_t)event->input_event_sec * 1000000000 +
                                                         (int64_t)event->input_event_usec * 1000
                                                   : now_ns;
}

/* Reads all pending events. Returns false if the device is gone. */
static bool read_pending_events(struct tact_evdev_device *self, int64_t now_ns)
{
    for (int i = 0; i < MAX_EVENTS; i++) {
        struct input_event event;
        unsigned int libevdev_read_mode = self->is_resyncing_after_event_loss
                                              ? LIBEVDEV_READ_FLAG_SYNC
                                              : LIBEVDEV_READ_FLAG_NORMAL;
        int rc = libevdev_next_event(self->active_source->dev, libevdev_read_mode, &event);
        if (rc == -EAGAIN && self->is_resyncing_after_event_loss) {
            self->is_resyncing_after_event_loss = false;
        } else if (rc == -EAGAIN) {
            return true;
        } else if (rc == LIBEVDEV_READ_STATUS_SYNC && !self->is_resyncing_after_event_loss) {
            self->is_resyncing_after_event_loss = true;
            atomic_fetch_add_explicit(&self->kernel_overflow_count, 1, memory_order_relaxed);
        } else if (rc >= 0) {
            tact_evdev_handle_event(self, &event, get_event_time_ns(self, &event, now_ns));
            if (event.type != EV_FF) {
                tact_evdev_capture_add_event(&self->capture, self->tick, &event);
            }
        } else if (rc != -EINTR) {
            return false;
        }
    }
    return true;
}

void tact_evdev_release_buttons(struct tact_evdev_device *self)
{
    for (int i = 0; i < self->layout.count; i++) {
        enum tact_evdev_channel_kind kind = self->layout.channel[i].kind;
        if (kind == TACT_EVDEV_BUTTON || kind == TACT_EVDEV_RELATIVE_DISPLACEMENT) {
            self->value[i] = 0.0;
        }
    }
}

/* Hands the lost device over to the monitor thread. */
static void pass_lost_source_to_monitor(struct tact_evdev_device *self, int64_t now_ns)
{
    tact_evdev_capture_add_connection_mark(&self->capture, self->tick, TACT_CAPTURE_LOST, now_ns);
    atomic_store_explicit(&self->lost_source, self->active_source, memory_order_release);
    self->active_source = NULL;
    tact_evdev_release_buttons(self);
}

void tact_evdev_get_inputs(struct tact_evdev_device *self, int64_t now_ns,
                           struct tact_device_input *in)
{
    for (int i = 0; i < self->layout.count; i++) {
        if (self->layout.channel[i].kind == TACT_EVDEV_RELATIVE_DISPLACEMENT &&
            now_ns - self->last_event_time_ns[i] > self->timeout_ns) {
            self->value[i] = 0.0;
        }
    }
    in->stamp_ns = self->stamp_ns;
    memcpy(in->channel, self->value, (size_t)self->layout.count * sizeof *in->channel);
}

static void evdev_read(void *data, uint64_t tick, double t, int64_t now_ns,
                       struct tact_device_input *in)
{
    struct tact_evdev_device *self = data;
    (void)t;
    self->tick = tick;
    if (!self->capture.is_start_mark_queued) {
        self->capture.is_start_mark_queued = true;
        tact_evdev_capture_add_connection_mark(&self->capture, tick, TACT_CAPTURE_START, now_ns);
    }
    if (!self->active_source) {
        self->active_source =
            atomic_exchange_explicit(&self->reopened_source, NULL, memory_order_acquire);
        if (self->active_source) {
            tact_evdev_capture_add_full_state(&self->capture, tick, self->active_source->dev,
                                              now_ns);
            tact_evdev_update_state(self, now_ns);
        }
    }
    if (self->active_source && (!read_pending_events(self, now_ns) ||
                                atomic_load_explicit(&self->is_node_gone, memory_order_relaxed))) {
        pass_lost_source_to_monitor(self, now_ns);
    }
    tact_evdev_get_inputs(self, now_ns, in);
    in->state = self->active_source ? TACT_DEVICE_OK : TACT_DEVICE_LOST;
    if (self->force.count) {
        int guard =
            tact_evdev_force_device_state(&self->force, now_ns, &in->channel[self->layout.count]);
        in->state = guard == TACT_DEVICE_LOST ? TACT_DEVICE_LOST : in->state;
    }
}

static void evdev_write(void *data, const double *out, int64_t now_ns)
{
    struct tact_evdev_device *self = data;
    if (self->force.count) {
        tact_evdev_force_write(&self->force, out, now_ns);
    }
}

static void set_force_node_path(struct tact_evdev_device *self, const char *path)
{
    if (self->force.count) {
        tact_guard_set_device_path(self->force.guard_arming.guard, path);
    }
}

/* Frees a source that the loop has handed back. */
static void free_lost_source(struct tact_evdev_device *self)
{
    struct tact_evdev_source *source =
        atomic_exchange_explicit(&self->lost_source, NULL, memory_order_acquire);
    if (source) {
        tact_message(self->messages, TACT_MESSAGE_WARNING, "%s: '%s' (%s) was disconnected",
                     self->name, self->selector.name, source->path);
        set_force_node_path(self, NULL);
        tact_evdev_source_free(source);
        self->source_checked_by_monitor = NULL;
        atomic_store_explicit(&self->is_node_gone, false, memory_order_relaxed);
    }
}

/* Searches for the lost device and hands it over to the loop. */
static void search_for_lost_device(struct tact_evdev_device *self)
{
    struct tact_evdev_device_search search;
    struct tact_evdev_source *source = tact_evdev_find_device(&self->selector, &search);
    if (!source || !tact_evdev_compute_channel_ranges(&self->layout, source)) {
        tact_evdev_source_free(source);
        return;
    }
    tact_message(self->messages, TACT_MESSAGE_INFO, "%s: '%s' is connected again at %s", self->name,
                 self->selector.name, source->path);
    set_force_node_path(self, source->path);
    self->source_checked_by_monitor = source;
    atomic_store_explicit(&self->reopened_source, source, memory_order_release);
}

void tact_evdev_monitor_device(void *data)
{
    struct tact_evdev_device *self = data;
    free_lost_source(self);
    if (!self->source_checked_by_monitor) {
        search_for_lost_device(self);
    } else if (!tact_evdev_device_is_present(self->source_checked_by_monitor)) {
        atomic_store_explicit(&self->is_node_gone, true, memory_order_relaxed);
    }
    uint_fast64_t lost = atomic_load_explicit(&self->kernel_overflow_count, memory_order_relaxed);
    if (lost != self->reported_overflow_count) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: the kernel lost events %llu times; the state was read again", self->name,
                     (unsigned long long)(lost - self->reported_overflow_count));
        self->reported_overflow_count = lost;
    }
    tact_evdev_force_report(&self->force, self->name, self->messages);
    tact_evdev_capture_write_queued_events(&self->capture, self->name, self->messages);
}

static void evdev_close(void *data)
{
    struct tact_evdev_device *self = data;
    tact_monitor_stop(&self->monitor);
    tact_evdev_capture_close(&self->capture, self->tick, self->name, self->messages);
    tact_evdev_force_close(&self->force, self->name, self->messages);
    tact_evdev_source_free(self->active_source);
    tact_evdev_source_free(atomic_load(&self->reopened_source));
    tact_evdev_source_free(atomic_load(&self->lost_source));
    free(self);
}

const struct tact_device_ops tact_evdev_ops = {TACT_ABI(struct tact_device_ops), evdev_read,
                                               evdev_write, evdev_close};
