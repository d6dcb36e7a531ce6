#include "devices/comedi/comedi_stream_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "devices/common/settings.h"
#include "rt/clock.h"
#include "rt/thread_internal.h"
#include "rt/triple.h"

enum {
    SCAN_BUFFER_BYTES = 65536,
    /* interval at which the stream's thread checks for a stop request */
    STREAM_STOP_POLL_MS = 20,
    STREAM_START_RETRY_INTERVAL_NS = 20000000, /* interval of attempts to start the stream */
    FIRST_SCAN_TIMEOUT_NS = 1000000000,        /* maximum wait for the first scan */
    /* SCHED_FIFO priority of the stream's thread: below the kernel's interrupt threads */
    PRIORITY = 45
};

struct tact_comedi_stream {
    const struct tact_comedi_channel_layout *layout;
    unsigned int subdevice;
    unsigned int list[TACT_DEVICE_CHANNELS];
    unsigned int channels;
    size_t bytes_per_stream_value; /* [B] */
    struct tact_triple *scan_triple_buffer;
    atomic_bool stop;
    atomic_bool is_gone;
    atomic_uint stream_restart_count;
    atomic_int error; /* negative errno for which the stream was lost last */
    pthread_t thread;
    bool has_stream_thread;
    /* used only by the stream's thread, once it runs */
    comedi_t *dev;
    double rate;
    /* number of bytes of an incomplete scan at the start of the buffer */
    size_t incomplete_scan_bytes;
    unsigned char unread_scan_bytes[SCAN_BUFFER_BYTES];
};

/* Builds the comedi command that scans the inputs at the rate nearest to the requested one. */
static int build_scan_command(const struct tact_comedi_stream *s, comedi_t *dev,
                              comedi_cmd *command, double *rate)
{
    const unsigned int period = (unsigned int)lrint(1e9 / s->layout->stream_scan_rate);
    int rc = comedi_get_cmd_generic_timed(dev, s->subdevice, command, s->channels, period);
    if (rc < 0) {
        return -ENOTSUP;
    }
    command->chanlist = (unsigned int *)s->list;
    command->chanlist_len = s->channels;
    command->scan_end_arg = s->channels;
    command->stop_src = TRIG_NONE;
    command->stop_arg = 0;
    command->flags |= CMDF_WAKE_EOS;
    /* comedi_command_test() corrects one stage of the command each time */
    for (int i = 0; i < 6 && (rc = comedi_command_test(dev, command)) > 0; i++) {
    }
    *rate = command->scan_begin_src == TRIG_TIMER
                ? 1e9 / command->scan_begin_arg
                : 1e9 / ((double)command->convert_arg * s->channels);
    return rc == 0 && *rate > 0.0 && isfinite(*rate) ? 0 : -ENOTSUP;
}

static void close_stream_board(struct tact_comedi_stream *s)
{
    if (s->dev) {
        comedi_cancel(s->dev, s->subdevice);
        comedi_close(s->dev);
        s->dev = NULL;
    }
}

/* Opens the board and starts the scans. */
static int start_scan_command(struct tact_comedi_stream *s)
{
    comedi_cmd command = {0};
    errno = 0;
    s->incomplete_scan_bytes = 0;
    s->dev = comedi_open(s->layout->path);
    if (!s->dev) {
        return errno ? -errno : -ENODEV;
    }
    int rc = 0;
    if (strcmp(comedi_get_driver_name(s->dev), s->layout->driver) != 0 ||
        strcmp(comedi_get_board_name(s->dev), s->layout->board) != 0) {
        rc = -ENXIO;
    } else if (comedi_get_read_subdevice(s->dev) != (int)s->subdevice &&
               comedi_set_read_subdevice(s->dev, s->subdevice) < 0) {
        rc = -ENOTSUP;
    }
    rc = rc ? rc : build_scan_command(s, s->dev, &command, &s->rate);
    if (!rc && comedi_command(s->dev, &command) < 0) {
        rc = errno ? -errno : -EIO;
    }
    int fd = comedi_fileno(s->dev);
    if (!rc && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0) {
        rc = -errno;
    }
    if (rc) {
        close_stream_board(s);
    }
    return rc;
}

/* Publishes the last complete scan in the buffer, and keeps the bytes of an incomplete one. Returns
 * whether there was a complete scan. */
static bool publish_newest_scan(struct tact_comedi_stream *s, size_t filled_scan_bytes)
{
    const size_t size = s->bytes_per_stream_value * s->channels;
    const size_t complete_scan_count = filled_scan_bytes / size;
    if (complete_scan_count > 0) {
        const unsigned char *from = s->unread_scan_bytes + (complete_scan_count - 1) * size;
        struct tact_comedi_scan *scan = tact_triple_write_begin(s->scan_triple_buffer);
        scan->stream_restart_count =
            atomic_load_explicit(&s->stream_restart_count, memory_order_relaxed);
        for (unsigned int i = 0; i < s->channels; i++) {
            sampl_t raw;
            if (s->bytes_per_stream_value == sizeof raw) {
                memcpy(&raw, from + i * sizeof raw, sizeof raw);
                scan->raw[i] = raw;
            } else {
                memcpy(&scan->raw[i], from + i * sizeof(lsampl_t), sizeof(lsampl_t));
            }
        }
    }
    s->incomplete_scan_bytes = filled_scan_bytes - complete_scan_count * size;
    memmove(s->unread_scan_bytes, s->unread_scan_bytes + complete_scan_count * size,
            s->incomplete_scan_bytes);
    return complete_scan_count > 0;
}

/* Waits for scans and reads all that are available; the rest of a stream that has ended is not
 * used, as its age is unknown. Returns 0, or the negative errno for which it has ended. */
static int read_available_scans(struct tact_comedi_stream *s)
{
    struct pollfd stream_poll_descriptor = {.fd = comedi_fileno(s->dev), .events = POLLIN};
    bool any = false;
    ssize_t n;
    if (poll(&stream_poll_descriptor, 1, STREAM_STOP_POLL_MS) == 0) {
        return 0;
    }
    while ((n = read(stream_poll_descriptor.fd, s->unread_scan_bytes + s->incomplete_scan_bytes,
                     SCAN_BUFFER_BYTES - s->incomplete_scan_bytes)) > 0) {
        any = publish_newest_scan(s, s->incomplete_scan_bytes + (size_t)n) || any;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        return n < 0 ? -errno : -EPIPE;
    }
    if (any) {
        struct tact_comedi_scan *scan = tact_triple_write_begin(s->scan_triple_buffer);
        scan->stamp_ns = tact_clock_now();
        tact_triple_publish(s->scan_triple_buffer);
    }
    return 0;
}

static void *run_stream_thread(void *data)
{
    struct tact_comedi_stream *s = data;
    while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
        int rc = s->dev ? read_available_scans(s) : start_scan_command(s);
        /* the stream was not started: the board is absent, or another process uses it */
        if (!s->dev) {
            tact_clock_sleep_until(tact_clock_now() + STREAM_START_RETRY_INTERVAL_NS);
        } else if (rc) {
            close_stream_board(s);
            atomic_store_explicit(&s->error, rc, memory_order_relaxed);
            atomic_fetch_add_explicit(&s->stream_restart_count, 1, memory_order_release);
            atomic_store_explicit(&s->is_gone, rc == -ENODEV, memory_order_release);
        } else {
            atomic_store_explicit(&s->is_gone, false, memory_order_release);
        }
    }
    return NULL;
}

static int wait_for_first_scan(struct tact_comedi_stream *s)
{
    const int64_t first_scan_deadline_ns = tact_clock_now() + FIRST_SCAN_TIMEOUT_NS;
    while (tact_triple_published(s->scan_triple_buffer) == 0) {
        if (tact_clock_now() > first_scan_deadline_ns) {
            return -ETIMEDOUT;
        }
        tact_clock_sleep_until(tact_clock_now() + 1000000);
    }
    return 0;
}

int tact_comedi_stream_start(const struct tact_comedi_channel_layout *layout,
                             struct tact_comedi_stream **out, double *rate, struct tact_error *err)
{
    const struct sched_param priority = {.sched_priority = PRIORITY};
    const struct tact_thread_options options = {.name = "tact-stream"};
    struct tact_comedi_stream *s = calloc(1, sizeof *s);
    int rc = s ? tact_triple_create(&s->scan_triple_buffer, sizeof(struct tact_comedi_scan), 0)
               : -ENOMEM;
    for (int i = 0; !rc && i < layout->input_count; i++) {
        const struct tact_comedi_channel *c = &layout->input[i];
        if (c->is_input_read_by_stream) {
            s->subdevice = c->subdevice;
            s->list[s->channels++] = CR_PACK(c->channel, c->range, c->voltage_reference);
        }
    }
    if (!rc) {
        s->layout = layout;
        s->bytes_per_stream_value = layout->stream_sample_bytes;
        rc = start_scan_command(s);
        *rate = s->rate;
        rc = rc ? rc : tact_thread_start(&s->thread, &options, run_stream_thread, s);
        s->has_stream_thread = rc == 0;
    }
    if (!rc) {
        /* real-time priority where permitted; without it scans are older on a busy machine */
        pthread_setschedparam(s->thread, SCHED_FIFO, &priority);
        rc = wait_for_first_scan(s);
    }
    if (rc) {
        tact_error_set(err, rc, "%s cannot stream its analog inputs at %g Hz: %s", layout->path,
                       layout->stream_scan_rate,
                       rc == -ETIMEDOUT ? "no scan of the analog inputs arrived within 1 s"
                       : rc == -ENOTSUP ? "the board's driver does not support such scans"
                                        : strerror(-rc));
        tact_comedi_stream_stop(s);
        s = NULL;
    }
    *out = s;
    return rc;
}

const struct tact_comedi_scan *tact_comedi_stream_latest_scan(struct tact_comedi_stream *stream,
                                                              int *is_new_scan)
{
    return tact_triple_read(stream->scan_triple_buffer, is_new_scan);
}

bool tact_comedi_stream_board_is_gone(const struct tact_comedi_stream *stream)
{
    return atomic_load_explicit(&stream->is_gone, memory_order_acquire);
}

uint32_t tact_comedi_stream_restart_count(const struct tact_comedi_stream *stream, int *error)
{
    uint32_t stream_restart_count =
        atomic_load_explicit(&stream->stream_restart_count, memory_order_acquire);
    *error = atomic_load_explicit(&stream->error, memory_order_relaxed);
    return stream_restart_count;
}

void tact_comedi_stream_stop(struct tact_comedi_stream *stream)
{
    if (!stream) {
        return;
    }
    atomic_store(&stream->stop, true);
    if (stream->has_stream_thread) {
        pthread_join(stream->thread, NULL);
    }
    close_stream_board(stream);
    tact_triple_free(stream->scan_triple_buffer);
    free(stream);
}

/* Chooses the subdevice to be streamed: all analog inputs must be on it, and it must support
 * commands. */
static int choose_stream_subdevice(const struct tact_device_config *config, comedi_t *dev,
                                   struct tact_comedi_channel_layout *layout,
                                   struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, "stream");
    int found = -1;
    for (int i = 0; i < layout->input_count; i++) {
        struct tact_comedi_channel *c = &layout->input[i];
        if (c->kind != TACT_COMEDI_ANALOG) {
            continue;
        }
        if (found >= 0 && found != (int)c->subdevice) {
            return tact_settings_fault(config, setting, err,
                                       "the input %s is on another subdevice: the inputs of a "
                                       "stream must be on one subdevice",
                                       c->name);
        }
        found = (int)c->subdevice;
        c->is_input_read_by_stream = true;
        c->index_of_input_in_scan = layout->streamed_input_count++;
    }
    if (found < 0) {
        return tact_settings_fault(
            config, setting, err,
            "a stream needs an analog input, and the key \"inputs\" lists none");
    }
    int subdevice_flags = comedi_get_subdevice_flags(dev, (unsigned int)found);
    if (subdevice_flags < 0 || !(subdevice_flags & SDF_CMD_READ)) {
        return tact_settings_fault(
            config, setting, err,
            "the board (%s) cannot stream: its driver has no commands for analog inputs",
            comedi_get_board_name(dev));
    }
    layout->stream_sample_bytes = subdevice_flags & SDF_LSAMPL ? sizeof(lsampl_t) : sizeof(sampl_t);
    return 0;
}

int tact_comedi_stream_read_settings(const struct tact_device_config *config, comedi_t *dev,
                                     struct tact_comedi_channel_layout *layout,
                                     struct tact_error *err)
{
    double stream_timeout_seconds = 0.05;
    int rc = tact_settings_positive(config, "stream", &layout->stream_scan_rate, err);
    rc = rc ? rc : tact_settings_positive(config, "stream_timeout", &stream_timeout_seconds, err);
    if (rc || !(layout->stream_scan_rate > 0.0)) {
        return rc;
    }
    if (layout->stream_scan_rate < 1.0 || layout->stream_scan_rate > 1e8) {
        return tact_settings_fault(config, tact_settings_find(config, "stream"), err,
                                   "expected 1 to 1e8 Hz");
    }
    if (layout->input_count + TACT_COMEDI_STREAM_CHANNELS > TACT_DEVICE_CHANNELS) {
        return tact_settings_fault(
            config, NULL, err,
            "more than %d inputs, counting the two that describe the state of the stream",
            TACT_DEVICE_CHANNELS);
    }
    layout->stream_timeout_ns = (int64_t)(fmin(stream_timeout_seconds, 3600.0) * 1e9);
    return dev ? choose_stream_subdevice(config, dev, layout, err) : 0;
}
