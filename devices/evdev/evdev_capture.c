/* Records the raw events of an input device to a file. */
#include "devices/evdev/evdev_capture_internal.h"

#include <time.h>
#include "contact/number.h"

enum {
    QUEUE_EVENTS = 1 << 16
}; /* capacity of the queue of events to be written: 13 s at 5,000 events a second */

struct queued_event {
    uint64_t tick;
    bool state; /* the entry is part of the initial state, not an event */
    struct input_event event;
};

static void write_supported_codes(FILE *file, const struct libevdev *dev, unsigned int type)
{
    const int most = type == EV_SYN ? EV_MAX : libevdev_event_type_get_max(type);
    for (int first = 0; first <= most; first += 64) {
        fprintf(file, "B: %02x", type);
        for (int code_bitmap_byte_index = 0; code_bitmap_byte_index < 8; code_bitmap_byte_index++) {
            unsigned int bits = 0;
            for (int bit = 0; bit < 8; bit++) {
                const int code = first + 8 * code_bitmap_byte_index + bit;
                const bool has =
                    code <= most &&
                    (type == EV_SYN ? libevdev_has_event_type(dev, (unsigned int)code)
                                    : libevdev_has_event_code(dev, type, (unsigned int)code));
                bits |= (unsigned int)has << bit;
            }
            fprintf(file, " %02x", bits);
        }
        fputc('\n', file);
    }
}

static void write_event_line(FILE *file, const struct input_event *event)
{
    fprintf(file, "E: %lld.%06lld %04x %04x %04d", (long long)event->input_event_sec,
            (long long)event->input_event_usec, event->type, event->code, event->value);
}

/* Calls a function for each axis, and for each pressed key. */
static void visit_initial_values_of_device(const struct libevdev *dev,
                                           void (*take)(void *user,
                                                        const struct input_event *event),
                                           void *user)
{
    for (unsigned int code = 0; code < ABS_CNT; code++) {
        const struct input_absinfo *info = libevdev_get_abs_info(dev, code);
        if (info) {
            take(user, &(struct input_event){
                           .type = EV_ABS, .code = (uint16_t)code, .value = info->value});
        }
    }
    for (unsigned int code = 0; code < KEY_CNT; code++) {
        if (libevdev_has_event_code(dev, EV_KEY, code) &&
            libevdev_get_event_value(dev, EV_KEY, code)) {
            take(user, &(struct input_event){.type = EV_KEY, .code = (uint16_t)code, .value = 1});
        }
    }
}

struct initial_device_events_writer {
    FILE *file;
    /* time at which the device was opened, on the clock of the events */
    struct timespec device_open_time;
};

static void write_initial_event(void *user, const struct input_event *event)
{
    const struct initial_device_events_writer *first = user;
    struct input_event event_with_opening_time = *event;
    event_with_opening_time.input_event_sec = first->device_open_time.tv_sec;
    event_with_opening_time.input_event_usec = first->device_open_time.tv_nsec / 1000;
    write_event_line(first->file, &event_with_opening_time);
    fputs("\t# start\n", first->file);
}

static void write_evdev_capture_header(FILE *file, const struct tact_device_config *config,
                                       const struct libevdev *dev, bool is_clock_monotonic)
{
    char period[32];
    tact_number_print(period, sizeof period, "%.17g", config->period);
    fprintf(file,
            "# EVEMU 1.3\n# tact device %s, period %s, clock %s\n"
            "# Events as the loop read them. After each stands the tick that it was read in; the\n"
            "# first state of the device comes first.\n",
            config->name, period, is_clock_monotonic ? "monotonic" : "real");
    fprintf(file, "N: %s\nI: %04x %04x %04x %04x\nP: 00 00 00 00 00 00 00 00\n",
            libevdev_get_name(dev), (unsigned int)libevdev_get_id_bustype(dev),
            (unsigned int)libevdev_get_id_vendor(dev), (unsigned int)libevdev_get_id_product(dev),
            (unsigned int)libevdev_get_id_version(dev));
    for (unsigned int type = 0; type < EV_CNT; type++) {
        if (type == EV_SYN || (libevdev_has_event_type(dev, type) && type != EV_REP)) {
            write_supported_codes(file, dev, type);
        }
    }
    for (unsigned int code = 0; code < ABS_CNT; code++) {
        const struct input_absinfo *info = libevdev_get_abs_info(dev, code);
        if (info) {
            fprintf(file, "A: %02x %d %d %d %d %d\n", code, info->minimum, info->maximum,
                    info->fuzz, info->flat, info->resolution);
        }
    }
    struct initial_device_events_writer first = {.file = file};
    clock_gettime(is_clock_monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, &first.device_open_time);
    visit_initial_values_of_device(dev, write_initial_event, &first);
    write_initial_event(&first, &(struct input_event){.type = EV_SYN});
}

int tact_evdev_capture_open(struct tact_evdev_capture *capture,
                            const struct tact_device_config *config, const struct libevdev *dev,
                            bool is_clock_monotonic, struct tact_error *err)
{
    if (!config->record) {
        return 0;
    }
    int rc = tact_capture_open(&capture->capture, config, "evemu", "events", QUEUE_EVENTS,
                               sizeof(struct queued_event), err);
    if (rc) {
        return rc;
    }
    write_evdev_capture_header(capture->capture.file, config, dev, is_clock_monotonic);
    return 0;
}

void tact_evdev_capture_add_event(struct tact_evdev_capture *capture, uint64_t tick,
                                  const struct input_event *event)
{
    struct queued_event *queued_event = tact_capture_reserve_entry(&capture->capture);
    if (queued_event) {
        *queued_event = (struct queued_event){tick, false, *event};
        tact_ring_commit(capture->capture.ring);
    }
}

void tact_evdev_capture_add_connection_mark(struct tact_evdev_capture *capture, uint64_t tick,
                                            int connection_mark_code, int64_t now_ns)
{
    /* Event times have microseconds: the value of the entry has the remaining nanoseconds. */
    const struct input_event event = {.type = (uint16_t)connection_mark_code,
                                      .value = (int32_t)(now_ns % 1000),
                                      .input_event_sec = now_ns / 1000000000,
                                      .input_event_usec = now_ns % 1000000000 / 1000};
    tact_evdev_capture_add_event(capture, tick, &event);
}

struct full_state_capture_context {
    struct tact_evdev_capture *capture;
    uint64_t tick;
    int64_t now_ns;
};

static void queue_state_event(void *user, const struct input_event *event)
{
    const struct full_state_capture_context *back = user;
    struct queued_event *queued_event = tact_capture_reserve_entry(&back->capture->capture);
    if (queued_event) {
        *queued_event = (struct queued_event){back->tick, true, *event};
        queued_event->event.input_event_sec = back->now_ns / 1000000000;
        queued_event->event.input_event_usec = back->now_ns % 1000000000 / 1000;
        tact_ring_commit(back->capture->capture.ring);
    }
}

void tact_evdev_capture_add_full_state(struct tact_evdev_capture *capture, uint64_t tick,
                                       const struct libevdev *dev, int64_t now_ns)
{
    struct full_state_capture_context back = {capture, tick, now_ns};
    if (capture->capture.ring) {
        tact_evdev_capture_add_connection_mark(capture, tick, TACT_CAPTURE_BACK, now_ns);
        visit_initial_values_of_device(dev, queue_state_event, &back);
    }
}

static void write_queued_event(FILE *file, const void *entry, void *unused)
{
    const struct queued_event *queued_event = entry;
    const struct input_event *event = &queued_event->event;
    const unsigned long long tick = queued_event->tick;
    (void)unused;
    if (event->type == TACT_CAPTURE_START) {
        fprintf(file, "# tick %llu at %lld.%06lld%03d\n", tick, (long long)event->input_event_sec,
                (long long)event->input_event_usec, event->value);
    } else if (event->type >= TACT_CAPTURE_LOST) {
        fprintf(file, "# %s tick %llu\n", event->type == TACT_CAPTURE_LOST ? "lost" : "back", tick);
    } else {
        write_event_line(file, event);
        fprintf(file, "\t# tick %llu%s\n", tick, queued_event->state ? " state" : "");
    }
}

void tact_evdev_capture_write_queued_events(struct tact_evdev_capture *capture, const char *name,
                                            struct tact_messages messages)
{
    tact_capture_write_queued_entries(&capture->capture, write_queued_event, NULL, name, messages);
}

void tact_evdev_capture_close(struct tact_evdev_capture *capture, uint64_t tick, const char *name,
                              struct tact_messages messages)
{
    tact_evdev_capture_write_queued_events(capture, name, messages);
    if (capture->capture.file) {
        fprintf(capture->capture.file, "# end tick %llu\n", (unsigned long long)tick);
    }
    tact_capture_close(&capture->capture, name, messages);
}
