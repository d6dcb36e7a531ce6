#include "devices/comedi.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/comedi_state_internal.h"
#include "devices/settings.h"
#include "rt/clock.h"

static const double ramp = 0.2; /* [s] in which outputs come back after a fault */

/* Hands the lost board to the watcher. What must be pressed is not. */
static void lose(struct tact_comedi *self)
{
    atomic_store_explicit(&self->retired, self->active, memory_order_release);
    self->active = NULL;
    self->counting = false;
    self->write_error = 0;
}

/* What a digital channel shows when it cannot be read. */
static void release_digital(struct tact_comedi *self)
{
    for (int i = 0; i < self->layout.input_count; i++) {
        if (self->layout.input[i].kind == TACT_COMEDI_DIGITAL) {
            self->value[i] = 0.0;
        }
    }
}

static void take_counter(struct tact_comedi *self, int i, lsampl_t raw)
{
    const struct tact_comedi_channel *channel = &self->layout.input[i];
    if (self->counting) {
        self->count[i] = tact_comedi_count(self->count[i], self->counter[i], raw, channel->maxdata);
    }
    self->counter[i] = raw;
    self->value[i] = tact_comedi_value(channel, raw, self->count[i]);
}

/* Returns whether it is not at fault. */
static bool take_analog(struct tact_comedi *self, int i, lsampl_t raw)
{
    const struct tact_comedi_channel *channel = &self->layout.input[i];
    bool usable;
    double value = tact_comedi_value(channel, raw, 0);
    int fault = tact_comedi_examine(&self->health[i], channel, raw, value, self->saturated,
                                    self->stuck, &usable);
    if (fault != TACT_COMEDI_GOOD && fault != self->fault_now[i]) {
        unsigned int before = atomic_load_explicit(&self->faults[i], memory_order_relaxed);
        atomic_store_explicit(&self->faults[i], ((before >> 2) + 1) << 2 | (unsigned int)fault,
                              memory_order_relaxed);
    }
    self->fault_now[i] = fault;
    self->doubted[i] = !usable || self->health[i].saturated > 0;
    if (usable) {
        self->value[i] = value;
    }
    return fault == TACT_COMEDI_GOOD;
}

lsampl_t tact_comedi_latest(const struct tact_comedi *self, int input)
{
    const struct tact_comedi_channel *channel = &self->layout.input[input];
    return channel->streamed ? self->scan->raw[channel->scan]
                             : self->active->in.data[channel->op][0];
}

/* By the stream: where nothing else is read, no call in the tick would tell. */
static bool is_gone(const struct tact_comedi *self)
{
    return self->stream && tact_comedi_stream_gone(self->stream);
}

int tact_comedi_acquire(struct tact_comedi *self)
{
    int fresh = 1;
    if (is_gone(self)) {
        return -ENODEV;
    }
    if (self->stream) {
        self->scan = tact_comedi_stream_latest(self->stream, &fresh);
    }
    self->renewed = fresh != 0;
    return tact_comedi_list_run(self->active->dev, &self->active->in);
}

/* Tells age and losses of the stream. Returns whether the scan is too old. */
static bool take_stream(struct tact_comedi *self)
{
    double *told =
        self->value + tact_comedi_input_count(&self->layout) - TACT_COMEDI_STREAM_CHANNELS;
    if (!self->stream) {
        return false;
    }
    int64_t age = tact_clock_now() - self->scan->stamp_ns;
    told[0] = 1e-9 * (double)(age > 0 ? age : 0);
    told[1] = self->scan->lost;
    self->stamp_ns = self->scan->stamp_ns;
    return age > self->layout.stream_timeout_ns;
}

/* Takes over what the list has read. Returns whether an input is at fault. */
static bool take_inputs(struct tact_comedi *self)
{
    bool bad = false;
    for (int i = 0; i < self->layout.input_count; i++) {
        const struct tact_comedi_channel *channel = &self->layout.input[i];
        const lsampl_t *data = self->active->in.data[channel->op];
        if (channel->kind == TACT_COMEDI_DIGITAL) {
            self->value[i] = ((data[1] >> channel->bit & 1U) != 0) != channel->inverted;
        } else if (channel->kind == TACT_COMEDI_COUNTER) {
            take_counter(self, i, data[0]);
        } else if (self->renewed) {
            bad = !take_analog(self, i, tact_comedi_latest(self, i)) || bad;
        } else {
            bad = bad || self->fault_now[i] != TACT_COMEDI_GOOD;
        }
    }
    self->counting = true;
    return tact_comedi_take_wrenches(self) || bad;
}

/* Reads and examines the inputs. Returns whether all is well with them. */
static bool look(struct tact_comedi *self, int64_t now_ns)
{
    if (!self->active && !is_gone(self)) {
        self->active = atomic_exchange_explicit(&self->fresh, NULL, memory_order_acquire);
    }
    int rc = self->active ? tact_comedi_acquire(self) : -ENODEV;
    if (rc == 0) {
        self->stamp_ns = now_ns;
        bool old = take_stream(self);
        return !take_inputs(self) && !old;
    }
    release_digital(self);
    if (self->active && rc == -ENODEV) {
        lose(self);
    } else if (self->active) {
        atomic_store_explicit(&self->read_error, rc, memory_order_relaxed);
    }
    return false;
}

/* What the guard says: TACT_DEVICE_OK, STALE while it holds the outputs back, LOST. */
static int ask_guard(struct tact_comedi *self)
{
    bool rearmed;
    int state = tact_arming_ask(&self->arming, &rearmed);
    if (rearmed) {
        self->gate = 0.0;
        self->good = self->recover;
    }
    return state;
}

static void comedi_read(void *data, uint64_t tick, double t, int64_t now_ns,
                        struct tact_device_input *in)
{
    struct tact_comedi *self = data;
    (void)tick, (void)t;
    bool well = look(self, now_ns) && self->write_error == 0;
    int guard = ask_guard(self);
    self->good = well ? self->good + (self->good < UINT32_MAX) : 0;
    if (self->good < self->recover) {
        self->gate = 0.0;
    } else if (self->gate < 1.0) {
        self->gate = fmin(self->gate + self->gate_step, 1.0);
    }
    in->state = !self->active || guard == TACT_DEVICE_LOST ? TACT_DEVICE_LOST
                : self->gate > 0.0                         ? guard
                                                           : TACT_DEVICE_STALE;
    in->stamp_ns = self->stamp_ns;
    memcpy(in->channel, self->value,
           (size_t)tact_comedi_input_count(&self->layout) * sizeof *in->channel);
}

/* Forms the words of the outputs. */
static void put_outputs(const struct tact_comedi *self, const double *out, lsampl_t (*data)[2])
{
    for (int i = 0; i < self->layout.output_count; i++) {
        const struct tact_comedi_channel *channel = &self->layout.output[i];
        lsampl_t *words = data[channel->op];
        if (channel->kind == TACT_COMEDI_ANALOG) {
            words[0] = tact_comedi_raw(channel, self->gate * out[i]);
        } else {
            bool on = (self->gate > 0.0 && out[i] > 0.5) != channel->inverted;
            words[1] = (words[1] & ~(1U << channel->bit)) | (lsampl_t)on << channel->bit;
        }
    }
}

/* Writes what is in the list, without a guard. */
static void write_list(struct tact_comedi *self, struct tact_comedi_list *list)
{
    int rc = tact_comedi_list_run(self->active->dev, list);
    self->write_error = rc;
    if (rc == -ENODEV) {
        lose(self);
    } else if (rc) {
        atomic_store_explicit(&self->refused, rc, memory_order_relaxed);
        tact_comedi_list_safe(self->active->dev, list);
    }
}

static void comedi_write(void *data, const double *out, int64_t now_ns)
{
    struct tact_comedi *self = data;
    (void)now_ns;
    tact_arming_see(&self->arming, out, self->layout.output_count);
    if (self->arming.left_alone) {
        if (self->active && !self->let_go) {
            self->let_go = tact_comedi_list_safe(self->active->dev, &self->active->out) == 0;
        }
    } else if (self->arming.guard) {
        /* The heartbeat goes on without a board: the guard looks for it too. */
        lsampl_t words[TACT_COMEDI_OPS][2];
        for (int i = 0; i < self->layout.out_ops; i++) {
            memcpy(words[i], self->layout.out[i].safe, sizeof words[i]);
        }
        if (self->active) {
            put_outputs(self, out, words);
        }
        tact_guard_send(self->arming.guard, (const uint32_t(*)[2])words, tact_clock_now());
    } else if (self->active) {
        struct tact_comedi_list *list = &self->active->out;
        memcpy(list->data, list->safe, sizeof list->data);
        put_outputs(self, out, list->data);
        write_list(self, list);
    }
}

static void comedi_shut(void *data)
{
    struct tact_comedi *self = data;
    tact_watch_stop(&self->watch);
    tact_guard_stop(
        self->arming.guard); /* before the board is freed, which zeroes what is not held */
    tact_comedi_board_free(self->active);
    tact_comedi_board_free(atomic_load(&self->fresh));
    tact_comedi_board_free(atomic_load(&self->retired));
    tact_comedi_stream_stop(self->stream);
    free(self);
}

static const struct tact_device_ops comedi_ops = {comedi_read, comedi_write, comedi_shut};

static int ticks(const struct tact_device_config *config, const char *key, uint32_t least,
                 uint32_t *value, struct tact_error *err)
{
    double read = *value;
    int rc = tact_settings_number(config, key, &read, err);
    if (!rc && (read < least || read > 1e9 || read != floor(read))) {
        rc = tact_settings_fault(config, tact_settings_find(config, key), err,
                                 "expected a number of ticks, %u or more", least);
    }
    *value = rc ? *value : (uint32_t)read;
    return rc;
}

static int read_settings(struct tact_comedi *self, const struct tact_device_config *config,
                         struct tact_error *err)
{
    static const char *const keys[] = {
        "board",        "inputs",      "outputs",       "reference",   "input_range",
        "output_range", "input_map",   "output_map",    "input_units", "output_units",
        "limits",       "calibration", "guard",         "timeout",     "saturated",
        "stuck",        "recover",     "wrenches[",     "stream",      "stream_timeout",
        "maps.",        "bias.",       "calibrated_for"};
    const char *path = "/dev/comedi0";
    double recover = 0.1;
    double timeout = fmax(4.0 * config->period, 3e-3);
    self->saturated = 3;
    self->guarded = true;
    int rc = tact_settings_check(config, keys, sizeof keys / sizeof *keys, err);
    rc = rc ? rc : tact_settings_text(config, "board", &path, err);
    rc = rc ? rc : ticks(config, "saturated", 1, &self->saturated, err);
    rc = rc ? rc : ticks(config, "stuck", 0, &self->stuck, err);
    rc = rc ? rc : tact_settings_positive(config, "recover", &recover, err);
    rc = rc ? rc : tact_settings_flag(config, "guard", &self->guarded, err);
    rc = rc ? rc : tact_settings_positive(config, "timeout", &timeout, err);
    if (!rc && strlen(path) >= sizeof self->layout.path) {
        rc = tact_settings_fault(config, tact_settings_find(config, "board"), err,
                                 "longer than %zu characters", sizeof self->layout.path - 1);
    }
    if (!rc) {
        snprintf(self->layout.path, sizeof self->layout.path, "%s", path);
        double n = ceil(recover / config->period);
        self->recover = n < 1e9 ? (uint32_t)n : 1000000000U;
        self->gate_step = config->period / ramp;
        self->timeout_ns = (int64_t)(fmin(timeout, 3600.0) * 1e9);
    }
    return rc;
}

/* Says why there is no board. */
static int no_board(const struct tact_device_config *config, const char *path, int error,
                    struct tact_error *err)
{
    const char *fix = error == EACCES   ? " (add yourself to the group 'iocard')"
                      : error == ENOENT ? " (is the board's driver loaded?)"
                      : error == ENODEV ? " (no board is attached; boards that the kernel does not "
                                          "find by itself: comedi_config)"
                                        : "";
    tact_settings_fault(config, tact_settings_find(config, "board"), err,
                        "cannot open %s as a comedi board: %s%s", path, strerror(error), fix);
    return error ? -error : -ENODEV;
}

/* Opens the board twice: to see what it has, and as it will be used. */
static int find(struct tact_comedi *self, const struct tact_device_config *config,
                struct tact_error *err)
{
    int rc = read_settings(self, config, err);
    if (rc) {
        return rc;
    }
    errno = 0;
    comedi_t *dev = comedi_open(self->layout.path);
    if (!dev) {
        return no_board(config, self->layout.path, errno, err);
    }
    rc = tact_comedi_choose(config, dev, &self->layout, err);
    rc = rc ? rc : tact_comedi_stream_settings(config, dev, &self->layout, err);
    comedi_close(dev);
    rc = rc ? rc : tact_comedi_wrenches(config, &self->layout, err);
    if (!rc && tact_comedi_assemble(&self->layout)) {
        rc = tact_settings_fault(config, NULL, err, "more than %d instructions", TACT_COMEDI_OPS);
    }
    if (rc) {
        return rc;
    }
    self->guarded = self->guarded && self->layout.out_ops > 0;
    self->active = tact_comedi_board_open(&self->layout, !self->guarded, &rc);
    if (!self->active) {
        tact_settings_fault(config, tact_settings_find(config, "outputs"), err,
                            "cannot take %s: %s%s", self->layout.path, strerror(-rc),
                            rc == -EBUSY ? " (another process holds the outputs)" : "");
    }
    return rc;
}

static int start_guard(struct tact_comedi *self, const struct tact_device_config *config,
                       struct tact_error *err)
{
    struct tact_guard_output outputs[TACT_COMEDI_OPS];
    const struct tact_guard_options options = {.board = self->layout.path,
                                               .driver = self->layout.driver,
                                               .name = self->layout.board,
                                               .outputs = outputs,
                                               .output_count = self->layout.out_ops,
                                               .timeout_ns = self->timeout_ns};
    struct tact_error why = {0};
    if (!self->guarded) {
        return 0;
    }
    for (int i = 0; i < self->layout.out_ops; i++) {
        const struct tact_comedi_op *op = &self->layout.out[i];
        outputs[i] =
            (struct tact_guard_output){op->insn,     op->words,   op->subdevice,
                                       op->chanspec, op->maxdata, {op->safe[0], op->safe[1]}};
    }
    struct tact_guard *guard = NULL;
    int rc = tact_guard_start(&options, &guard, &why);
    if (rc) {
        tact_settings_fault(config, tact_settings_find(config, "outputs"), err, "%s", why.text);
        return rc;
    }
    tact_arming_start(&self->arming, guard, self->timeout_ns, config->period);
    return 0;
}

static int start_stream(struct tact_comedi *self, const struct tact_device_config *config,
                        struct tact_error *err)
{
    struct tact_error why = {.line = 0};
    double rate = 0.0;
    if (!(self->layout.stream > 0.0)) {
        return 0;
    }
    int rc = tact_comedi_stream_start(&self->layout, &self->stream, &rate, &why);
    if (rc) {
        tact_settings_fault(config, tact_settings_find(config, "stream"), err, "%s", why.text);
        return rc;
    }
    tact_message(self->messages, TACT_MESSAGE_INFO, "%s: streams %d inputs at %g Hz", self->name,
                 self->layout.stream_count, rate);
    return 0;
}

static void describe(struct tact_comedi *self, const struct tact_device_config *config,
                     struct tact_device_info *info)
{
    tact_settings_info(config, tact_comedi_type.name, info);
    snprintf(info->model, sizeof info->model, "%s", self->layout.board);
    info->input_count = tact_comedi_input_count(&self->layout);
    info->output_count = self->layout.output_count;
    for (int i = 0; i < self->layout.input_count; i++) {
        const struct tact_comedi_channel *channel = &self->layout.input[i];
        tact_settings_channel(&info->input[i], channel->name, channel->unit, self->value[i]);
        info->input[i].raw = channel->kind == TACT_COMEDI_ANALOG && !channel->mapped;
    }
    for (int i = 0; i < self->layout.wrench_count; i++) {
        tact_wrench_describe(&self->layout.wrench[i],
                             self->layout.input_count + i * TACT_WRENCH_CHANNELS, info);
    }
    if (self->stream) {
        tact_settings_channel(&info->input[info->input_count - 2], "stream_age", "s", 0.0);
        tact_settings_channel(&info->input[info->input_count - 1], "stream_lost", "1", 0.0);
    }
    for (int i = 0; i < info->output_count; i++) {
        const struct tact_comedi_channel *channel = &self->layout.output[i];
        tact_settings_channel(&info->output[i], channel->name, channel->unit, 0.0);
    }
    tact_message(self->messages, TACT_MESSAGE_INFO,
                 "%s: %s at %s (driver %s): %d inputs, %d outputs", self->name, self->layout.board,
                 self->layout.path, self->layout.driver, info->input_count, info->output_count);
}

static int comedi_start(const struct tact_device_config *config, struct tact_device *out,
                        struct tact_error *err)
{
    struct tact_comedi *self = calloc(1, sizeof *self);
    if (!self) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    snprintf(self->name, sizeof self->name, "%s", config->name);
    self->messages = config->messages;
    int rc = find(self, config, err);
    rc = rc ? rc : start_stream(self, config, err);
    rc = rc ? rc : tact_comedi_tare(self, config->period, err);
    rc = rc ? rc : start_guard(self, config, err);
    if (rc == 0) {
        rc = tact_comedi_watch(self);
        if (rc) {
            tact_error_set(err, rc, "cannot start a thread: %s", strerror(-rc));
        }
    }
    if (rc) {
        tact_guard_stop(self->arming.guard);
        tact_comedi_board_free(self->active);
        tact_comedi_stream_stop(self->stream);
        free(self);
        return rc;
    }
    self->good = self->recover;
    self->gate = 1.0;
    /* A first look: where the inputs rest, before the loop runs. */
    if (tact_comedi_acquire(self) == 0) {
        take_inputs(self);
    }
    describe(self, config, &out->info);
    out->ops = &comedi_ops;
    out->self = self;
    return 0;
}

const struct tact_device_type tact_comedi_type = {
    "comedi", "measurement cards: analog, digital and counter channels", comedi_start};
