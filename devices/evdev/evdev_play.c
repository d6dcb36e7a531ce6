/* Plays back the raw events of an input device from a file. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/common/regular_file_internal.h"
#include "devices/evdev/evdev_state_internal.h"
#include "contact/number.h"

enum { MAX_CAPTURE_EVENTS = 1 << 24 };

static const double slack = 1e-9; /* [s] tolerance of sums of times */

struct evdev_recording_reader {
    FILE *file;
    int line;
    double period;               /* period of the recorded session [s], 0: not known */
    int64_t first_event_time_ns; /* time of the recording's first event, if the recording has no
                                    ticks */
    size_t capacity;
    bool has_read_event; /* at least one event was read */
    int type;            /* event type whose codes the header is describing, -1: none */
    int code;
    struct {
        bool known;
        int32_t value; /* initial value, as the header describes it */
    } start[ABS_CNT];
    struct tact_evdev_playback *playback;
};

/* Appends an event. NULL if out of memory, or if the file is too long. */
static struct tact_evdev_recorded_event *
add_recorded_event_to_playback(struct evdev_recording_reader *r)
{
    struct tact_evdev_playback *playback = r->playback;
    if (playback->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 1024;
        struct tact_evdev_recorded_event *enlarged_event_array =
            capacity > MAX_CAPTURE_EVENTS
                ? NULL
                : realloc(playback->event, capacity * sizeof *enlarged_event_array);
        if (!enlarged_event_array) {
            return NULL;
        }
        playback->event = enlarged_event_array;
        r->capacity = capacity;
    }
    struct tact_evdev_recorded_event *event = &playback->event[playback->count++];
    memset(event, 0, sizeof *event);
    return event;
}

/* Parses a decimal integer of 32 bits; *at is advanced. */
static int parse_evemu_number(const char **at, int32_t *value)
{
    char *end;
    errno = 0;
    long long parsed_long_number = strtoll(*at, &end, 10);
    if (end == *at || errno || parsed_long_number < INT32_MIN || parsed_long_number > INT32_MAX ||
        (*end && !isspace((unsigned char)*end))) {
        return -EINVAL;
    }
    *value = (int32_t)parsed_long_number;
    *at = end;
    return 0;
}

/* Parses a comment of evemu-record: "#   Event type 3 (EV_ABS)", "#     Event code 0 (ABS_X)", "#
 * Value   -938": how evemu-record describes the device as it was found. */
static int parse_evemu_description_line(struct evdev_recording_reader *r, const char *line)
{
    const char *text = line + 1 + strspn(line + 1, " \t");
    int number;
    if (sscanf(text, "Event type %d", &number) == 1) {
        r->type = number;
        r->code = -1;
    } else if (sscanf(text, "Event code %d", &number) == 1) {
        r->code = number;
    } else if (!strncmp(text, "Value", 5) && (text[5] == ' ' || text[5] == '\t') &&
               r->type == EV_ABS && r->code >= 0 && r->code < ABS_CNT && !r->has_read_event) {
        const char *at = text + 5;
        r->start[r->code].known = true;
        return parse_evemu_number(&at, &r->start[r->code].value);
    }
    return 0;
}

/* Parses a comment that tact wrote: "# lost tick 12", "# tick 0 at 123.000000456", or the line with
 * period and clock. */
static int parse_evemu_comment_line(struct evdev_recording_reader *r, const char *line)
{
    unsigned long long tick;
    long long seconds, nanoseconds;
    char captured_clock_name[16];
    const char *captured_period_text = strstr(line, ", period ");
    if (!strncmp(line, "# tact device", 13) && captured_period_text &&
        tact_number_scan(captured_period_text, ", period %lf, clock %15s", &r->period,
                         captured_clock_name) == 2) {
        r->playback->is_clock_monotonic = !strcmp(captured_clock_name, "monotonic");
        return r->period > 0.0 && r->period < 1e3 ? 0 : -EINVAL;
    }
    if (sscanf(line, "# tick %llu at %lld.%9lld", &tick, &seconds, &nanoseconds) == 3) {
        const double time_of_captured_tick = (double)tick * r->period;
        if (seconds < 0 || seconds > UINT32_MAX || nanoseconds < 0 ||
            !(time_of_captured_tick < 1e9)) {
            return -EINVAL;
        }
        r->playback->start_ns =
            seconds * 1000000000 + nanoseconds - llround(time_of_captured_tick * 1e9);
    } else if (sscanf(line, "# end tick %llu", &tick) == 1) {
        r->playback->end = (double)tick * r->period;
    } else if (sscanf(line, "# lost tick %llu", &tick) == 1 ||
               sscanf(line, "# back tick %llu", &tick) == 1) {
        struct tact_evdev_recorded_event *connection_mark_event = add_recorded_event_to_playback(r);
        if (!connection_mark_event) {
            return -ENOMEM;
        }
        connection_mark_event->type = line[2] == 'l' ? TACT_CAPTURE_LOST : TACT_CAPTURE_BACK;
        connection_mark_event->time = (double)tick * r->period;
    } else {
        return parse_evemu_description_line(r, line);
    }
    return 0;
}

static int parse_evemu_event(struct evdev_recording_reader *r, const char *line)
{
    long long seconds, fraction;
    unsigned int type, code;
    int32_t value;
    unsigned long long tick;
    int point = 0, digits = 0, used = 0;
    if (sscanf(line, "E: %lld.%n%6lld%n %4x %4x%n", &seconds, &point, &fraction, &digits, &type,
               &code, &used) != 4 ||
        digits - point != 6 || seconds < 0 || seconds > UINT32_MAX || fraction < 0 ||
        type >= EV_CNT) {
        return -EINVAL;
    }
    const char *rest = line + used;
    if (parse_evemu_number(&rest, &value)) {
        return -EINVAL;
    }
    const char *evemu_line_comment = strchr(line, '#');
    if (evemu_line_comment && !strncmp(evemu_line_comment, "# start", 7)) {
        libevdev_set_event_value(r->playback->dev, type, code, value);
        if (type == EV_ABS && code < ABS_CNT) {
            r->playback->reported[code] = true;
        }
        return 0;
    }
    struct tact_evdev_recorded_event *event = add_recorded_event_to_playback(r);
    if (!event) {
        return -ENOMEM;
    }
    *event = (struct tact_evdev_recorded_event){.recorded_event_time_ns =
                                                    seconds * 1000000000 + fraction * 1000,
                                                .type = (uint16_t)type,
                                                .code = (uint16_t)code,
                                                .value = value};
    if (evemu_line_comment && sscanf(evemu_line_comment, "# tick %llu", &tick) == 1) {
        event->time = (double)tick * r->period;
        event->recorded_event_time_ns =
            strstr(evemu_line_comment, "state") ? 0 : event->recorded_event_time_ns;
    } else {
        r->first_event_time_ns =
            r->has_read_event ? r->first_event_time_ns : event->recorded_event_time_ns;
        event->time = (double)(event->recorded_event_time_ns - r->first_event_time_ns) * 1e-9;
    }
    r->has_read_event = true;
    return 0;
}

/* "B: 03 ff ..." adds 64 codes of a type; `first` counts how many came before. */
static int parse_code_bits(struct evdev_recording_reader *r, const char *line, int first[EV_CNT])
{
    unsigned int type, bits;
    int used = 0;
    if (sscanf(line, "B: %2x%n", &type, &used) != 1 || type >= EV_CNT) {
        return -EINVAL;
    }
    for (const char *at = line + used; sscanf(at, " %2x%n", &bits, &used) == 1; at += used) {
        const int most = libevdev_event_type_get_max(type);
        for (int bit = 0; type != EV_SYN && bit < 8; bit++) {
            const unsigned int code = (unsigned int)(first[type] + bit);
            const struct input_absinfo none = {.maximum = 1};
            if ((bits >> bit & 1U) && (int)code <= most && type != EV_REP && type != EV_FF) {
                libevdev_enable_event_code(r->playback->dev, type, code,
                                           type == EV_ABS ? &none : NULL);
            }
        }
        first[type] += 8;
    }
    return 0;
}

/* other axes are assumed at their centre until the whole file is read */
static int parse_axis_description(struct evdev_recording_reader *r, const char *line)
{
    struct input_absinfo info = {0};
    int32_t *const to[] = {&info.minimum, &info.maximum, &info.fuzz, &info.flat, &info.resolution};
    unsigned int code;
    int used = 0;
    if (sscanf(line, "A: %2x%n", &code, &used) != 1 || code >= ABS_CNT) {
        return -EINVAL;
    }
    const char *at = line + used;
    for (int i = 0; i < 5; i++) {
        bool is_axis_resolution_absent =
            i == 4 && !at[strspn(at, " \t")]; /* files of older versions of
                            evemu have no resolution of axes */
        if (!is_axis_resolution_absent && parse_evemu_number(&at, to[i])) {
            return -EINVAL;
        }
    }
    info.value = (int)(((long long)info.minimum + info.maximum) / 2);
    return libevdev_enable_event_code(r->playback->dev, EV_ABS, code, &info) ? -EINVAL : 0;
}

/* Sets the initial position of axes. If the file does not state it, it is that of the first event,
 * and until then the middle of the range, which a message reports. */
static void set_initial_axis_values(struct evdev_recording_reader *r)
{
    struct libevdev *dev = r->playback->dev;
    size_t used = 0;
    for (unsigned int code = 0; code < ABS_MT_SLOT; code++) {
        if (!libevdev_has_event_code(dev, EV_ABS, code) || r->playback->reported[code]) {
            continue;
        }
        if (r->start[code].known) {
            libevdev_set_event_value(dev, EV_ABS, code, r->start[code].value);
        } else if (used < sizeof r->playback->axes_without_start_position) {
            const char *name = libevdev_event_code_get_name(EV_ABS, code);
            int n = snprintf(r->playback->axes_without_start_position + used,
                             sizeof r->playback->axes_without_start_position - used, "%s%s",
                             used ? " " : "", name ? name : "?");
            used += n > 0 ? (size_t)n : 0;
        }
    }
}

static int parse_capture_line(struct evdev_recording_reader *r, const char *line, int first[EV_CNT])
{
    unsigned int id[4];
    struct libevdev *dev = r->playback->dev;
    switch (line[0]) {
    case '#':
        return parse_evemu_comment_line(r, line);
    case 'E':
        return parse_evemu_event(r, line);
    case 'B':
        return parse_code_bits(r, line, first);
    case 'A':
        return parse_axis_description(r, line);
    case 'N':
        libevdev_set_name(dev, line + (line[1] == ':' && line[2] == ' ' ? 3 : 1));
        return 0;
    case 'I':
        if (sscanf(line, "I: %4x %4x %4x %4x", &id[0], &id[1], &id[2], &id[3]) != 4) {
            return -EINVAL;
        }
        libevdev_set_id_bustype(dev, (int)id[0]);
        libevdev_set_id_vendor(dev, (int)id[1]);
        libevdev_set_id_product(dev, (int)id[2]);
        libevdev_set_id_version(dev, (int)id[3]);
        return 0;
    default: /* properties, lights, switches */
        return line[0] && !strchr("PLS", line[0]) ? -EINVAL : 0;
    }
}

/* Skips the rest of a line that exceeds the buffer. */
static void skip_rest_of_long_line(FILE *file)
{
    for (int c = getc(file); c != EOF && c != '\n'; c = getc(file)) {
    }
}

static int read_recording_lines(struct evdev_recording_reader *r)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF"; /* byte order mark */
    char line[1024];
    int first[EV_CNT] = {0}, rc = 0;
    while (!rc && fgets(line, sizeof line, r->file)) {
        const char *text = line;
        size_t length = strcspn(line, "\n");
        if (r->line++ == 0 && !strncmp(line, byte_order_mark, strlen(byte_order_mark))) {
            text += strlen(byte_order_mark);
        }
        if (line[length] != '\n' && !feof(r->file)) {
            if (*text != '#') { /* comments may be longer than the buffer */
                return -EINVAL;
            }
            skip_rest_of_long_line(r->file);
        }
        line[strcspn(line, "\r\n")] = '\0';
        rc = parse_capture_line(r, text, first);
    }
    return !rc && ferror(r->file) ? -EIO : rc;
}

int tact_evdev_playback_open(const char *path, struct tact_evdev_playback *playback,
                             struct tact_error *err)
{
    int rc;
    tact_error_at(err, path, 0, 0, NULL);
    struct evdev_recording_reader r = {.playback = playback,
                                       .file = tact_regular_file_open(path, &rc, err),
                                       .type = -1,
                                       .code = -1};
    if (!r.file) {
        return rc;
    }
    playback->dev = libevdev_new();
    rc = playback->dev ? read_recording_lines(&r) : -ENOMEM;
    fclose(r.file);
    if (!rc && !playback->count && playback->end == 0.0) {
        rc = tact_error_set(err, -EINVAL, "not a recording by evemu-record: it has no event");
    } else if (rc) {
        tact_error_at(err, NULL, r.line, 0, NULL);
        rc = tact_error_set(err, rc, "%s",
                            rc == -ENOMEM ? "too long"
                                          : "expected a line of a recording by evemu-record");
    }
    if (!rc) {
        set_initial_axis_values(&r);
    }
    if (playback->end == 0.0 && playback->count) {
        playback->end = playback->event[playback->count - 1].time;
    }
    return rc;
}

void tact_evdev_playback_close(struct tact_evdev_playback *playback)
{
    if (playback) {
        libevdev_free(playback->dev);
        free(playback->event);
        playback->dev = NULL;
        playback->event = NULL;
    }
}

/* Offset from the recording's clock to the clock of this session [ns]. */
static int64_t clock_offset_to_recording(const struct tact_evdev_playback *playback, double t,
                                         int64_t now_ns)
{
    int64_t start = playback->start_ns;
    if (!start) {
        for (size_t i = 0; i < playback->count && !start; i++) {
            start = playback->event[i].recorded_event_time_ns;
        }
    }
    return now_ns - llround(t * 1e9) - start;
}

static void read_played_events(void *data, uint64_t tick, double t, int64_t now_ns,
                               struct tact_device_input *in)
{
    struct tact_evdev_device *self = data;
    struct tact_evdev_playback *playback = self->playback;
    const int64_t shift = clock_offset_to_recording(playback, t, now_ns);
    (void)tick;
    for (; playback->next < playback->count && playback->event[playback->next].time <= t + slack;
         playback->next++) {
        const struct tact_evdev_recorded_event *captured_event = &playback->event[playback->next];
        const struct input_event event = {.type = captured_event->type,
                                          .code = captured_event->code,
                                          .value = captured_event->value};
        if (captured_event->type == TACT_CAPTURE_LOST) {
            tact_evdev_release_buttons(self);
            playback->is_recorded_device_gone = true;
        } else if (captured_event->type == TACT_CAPTURE_BACK) {
            playback->is_recorded_device_gone = false;
            /* the initial state is set without an event, as when a device is opened */
            self->stamp_ns = now_ns;
        } else {
            bool known = playback->is_clock_monotonic && captured_event->recorded_event_time_ns;
            tact_evdev_handle_event(
                self, &event, known ? captured_event->recorded_event_time_ns + shift : now_ns);
        }
    }
    tact_evdev_get_inputs(self, now_ns, in);
    in->state = playback->is_recorded_device_gone ? TACT_DEVICE_LOST
                : t > playback->end + slack       ? TACT_DEVICE_ENDED
                                                  : TACT_DEVICE_OK;
    if (self->force.count) {
        in->channel[self->layout.count] = 0.0; /* force_age */
    }
}

static void close_event_playback(void *data)
{
    struct tact_evdev_device *self = data;
    tact_evdev_playback_close(self->playback);
    free(self->playback);
    free(self->active_source); /* the libevdev of the device belongs to the recording, which frees
                                  it */
    free(self);
}

const struct tact_device_ops tact_evdev_playback_ops = {
    TACT_ABI(struct tact_device_ops), read_played_events, NULL, close_event_playback};
