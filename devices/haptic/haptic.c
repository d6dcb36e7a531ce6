/*
 * Haptic devices of Force Dimension and of OpenHaptics, each through its maker's library in a guard
 * process of its own: a tick copies the newest pose and leaves a force, and waits for nothing.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/common/monitor_internal.h"
#include "devices/common/settings.h"
#include "devices/guard/arming_internal.h"
#include "devices/guard/haptic_internal.h"
#include "rt/clock.h"
#include "rt/device.h"

/* [ns] interval at which the device's state is checked and reported */
enum { REPORT_NS = 50000000 };
enum { STALE_NS = 20000000 }; /* [ns] age from which a pose is stale */
enum { LOST_NS = 500000000 }; /* [ns] age from which the device counts as lost */
enum { DELAY_INPUTS = 2 };    /* age, delay */
static const double largest_accepted_serial_number =
    65535; /* largest serial number that is accepted */

struct haptic {
    char name[TACT_DEVICE_NAME];
    struct tact_messages messages;
    struct tact_guard_arming guard_arming;
    struct tact_guard_haptic_page *page;
    struct tact_monitor_thread monitor;
    bool has_monitor_thread;
    bool is_device_loss_reported; /* used by the monitor thread */
    bool measures_attitude;
    int outputs;
    int64_t stamp_ns; /* stamp of the pose that the last tick read */
};

static void add_haptic_channels(struct tact_device_channel *channels, int *count,
                                const char *const *names, int channel_count, const char *unit)
{
    for (int i = 0; i < channel_count; i++) {
        tact_settings_channel(&channels[(*count)++], names[i], unit, 0.0);
    }
}

/* Describes the channels. Inputs: x y z, qw qx qy qz if the device measures its attitude, buttons,
 * age, delay. */
static void describe_haptic_channels(struct haptic *self, struct tact_device_info *info)
{
    static const char *const position[] = {"x", "y", "z"};
    static const char *const attitude[] = {"qw", "qx", "qy", "qz"};
    static const char *const buttons[] = {"button_0", "button_1", "button_2", "button_3"};
    static const char *const times[] = {"age", "delay"};
    static const char *const force[] = {"fx", "fy", "fz"};
    static const char *const torque[] = {"tx", "ty", "tz"};
    add_haptic_channels(info->input, &info->input_count, position, 3, "m");
    if (self->measures_attitude) {
        add_haptic_channels(info->input, &info->input_count, attitude, 4, "1");
        info->input[3].rest = 1.0;
    }
    add_haptic_channels(info->input, &info->input_count, buttons, TACT_HAPTIC_MAX_BUTTONS, "1");
    add_haptic_channels(info->input, &info->input_count, times, DELAY_INPUTS, "s");
    info->input[info->input_count - 1].rest =
        (double)self->page->pose_to_force_delay_at_opening_ns * 1e-9;
    add_haptic_channels(info->output, &info->output_count, force, 3, "N");
    if (self->page->renders_torques) {
        add_haptic_channels(info->output, &info->output_count, torque, 3, "N m");
    }
    self->outputs = info->output_count;
}

static int device_state_of_pose_age(const struct haptic *self, int64_t now_ns)
{
    if (!atomic_load_explicit(&self->page->is_device_connected, memory_order_acquire)) {
        return TACT_DEVICE_LOST;
    }
    const int64_t pose_age_ns = now_ns - self->stamp_ns;
    return pose_age_ns > LOST_NS    ? TACT_DEVICE_LOST
           : pose_age_ns > STALE_NS ? TACT_DEVICE_STALE
                                    : TACT_DEVICE_OK;
}

static void haptic_read(void *data, uint64_t tick, double t, int64_t now_ns,
                        struct tact_device_input *in)
{
    struct haptic *self = data;
    double pose[TACT_HAPTIC_NUMBERS_PER_POSE];
    uint32_t buttons = 0;
    int64_t stamp_ns;
    bool is_guard_rearmed;
    int count = self->measures_attitude ? TACT_HAPTIC_NUMBERS_PER_POSE : 3;
    (void)tick;
    (void)t;
    tact_guard_read_haptic_pose(self->page, pose, &buttons, &stamp_ns);
    if (stamp_ns) {
        self->stamp_ns = stamp_ns;
        memcpy(in->channel, pose, (size_t)count * sizeof *pose);
    }
    const int guard = tact_guard_arming_read_state(&self->guard_arming, &is_guard_rearmed);
    in->state = guard == TACT_DEVICE_OK ? device_state_of_pose_age(self, now_ns) : guard;
    in->stamp_ns = self->stamp_ns;
    for (int i = 0; i < TACT_HAPTIC_MAX_BUTTONS; i++) {
        /* all buttons of a lost device are released, the deadman too */
        in->channel[count++] = in->state != TACT_DEVICE_LOST && (buttons >> i & 1U) ? 1.0 : 0.0;
    }
    in->channel[count++] = self->stamp_ns ? fmax(0.0, (double)(now_ns - self->stamp_ns) * 1e-9) : 0;
    in->channel[count] = (double)atomic_load_explicit(&self->page->newest_pose_to_force_delay_ns,
                                                      memory_order_relaxed) *
                         1e-9;
}

static void haptic_write(void *data, const double *out, int64_t now_ns)
{
    struct haptic *self = data;
    double wrench[TACT_HAPTIC_NUMBERS_PER_WRENCH] = {0.0};
    (void)now_ns;
    for (int i = 0; i < self->outputs; i++) {
        wrench[i] = self->guard_arming.has_guard_ended || !isfinite(out[i]) ? 0.0 : out[i];
    }
    tact_guard_arming_update(&self->guard_arming, out, self->outputs);
    tact_guard_send_haptic_wrench(self->guard_arming.guard, wrench, self->stamp_ns);
}

/* Whether the guard has published no pose for so long that the device counts as lost. */
static bool is_guard_silent(const struct haptic *self)
{
    double pose[TACT_HAPTIC_NUMBERS_PER_POSE];
    uint32_t buttons;
    int64_t stamp_ns;
    tact_guard_read_haptic_pose(self->page, pose, &buttons, &stamp_ns);
    return stamp_ns && tact_clock_now() - stamp_ns > LOST_NS;
}

static void report_haptic_state(void *data)
{
    struct haptic *self = data;
    const bool is_device_gone =
        !atomic_load_explicit(&self->page->is_device_connected, memory_order_acquire);
    const bool is_device_lost = is_device_gone || is_guard_silent(self);
    if (is_device_lost != self->is_device_loss_reported) {
        tact_message(self->messages, is_device_lost ? TACT_MESSAGE_WARNING : TACT_MESSAGE_INFO,
                     is_device_gone ? "%s: the device's library reports that the device is "
                                      "disconnected or fails: zero force until it works again"
                     : is_device_lost
                         ? "%s: no pose for 0.5 s: the device's library does not answer, or the "
                           "guard process is stopped: zero force until poses arrive again"
                         : "%s: the device sends poses again",
                     self->name);
        self->is_device_loss_reported = is_device_lost;
    }
    tact_guard_arming_report(&self->guard_arming, self->name, self->messages);
}

/* Reports the delay from sensor to force, which the setting coupling.device.delay must cover. */
static void report_haptic_delay(const struct haptic *self)
{
    const uint64_t count = atomic_load(&self->page->pose_to_force_delay_count);
    if (count) {
        tact_message(self->messages, TACT_MESSAGE_INFO,
                     "%s: from sensor to force %.2f ms, %.2f ms at most, in %llu forces; the delay "
                     "of coupling.device is no less",
                     self->name,
                     (double)atomic_load(&self->page->pose_to_force_delay_sum_ns) / (double)count *
                         1e-6,
                     (double)atomic_load(&self->page->longest_pose_to_force_delay_ns) * 1e-6,
                     (unsigned long long)count);
    }
}

static void haptic_close(void *data)
{
    struct haptic *self = data;
    if (self->has_monitor_thread) {
        tact_monitor_stop(&self->monitor);
    }
    if (self->guard_arming.guard) {
        report_haptic_delay(self);
        tact_guard_arming_report_gaps(&self->guard_arming, self->name, self->messages);
    }
    if (tact_guard_stop(self->guard_arming.guard)) {
        tact_message(
            self->messages, TACT_MESSAGE_WARNING,
            "%s: the guard process had to be killed: check that the device exerts no force",
            self->name);
    }
    free(self);
}

static const struct tact_device_ops haptic_ops = {TACT_ABI(struct tact_device_ops), haptic_read,
                                                  haptic_write, haptic_close};

static int read_settings(const struct tact_device_config *config,
                         struct tact_haptic_device_choice *haptic_device_choice,
                         struct tact_error *err)
{
    static const char *const dhd_keys[] = {"serial", "gravity", "guard_timeout"};
    static const char *const hd_keys[] = {"device", "guard_timeout"};
    const bool is_openhaptics = haptic_device_choice->maker == TACT_HAPTIC_OPENHAPTICS;
    const char *device = "";
    double serial = -1.0, timeout = tact_guard_default_timeout(config->period);
    bool gravity = true;
    int rc = is_openhaptics ? tact_settings_check(config, hd_keys, 2, err)
                            : tact_settings_check(config, dhd_keys, 3, err);
    rc = rc ? rc : tact_settings_text(config, "device", &device, err);
    rc = rc ? rc : tact_settings_number(config, "serial", &serial, err);
    rc = rc ? rc : tact_settings_flag(config, "gravity", &gravity, err);
    rc = rc ? rc : tact_settings_positive(config, "guard_timeout", &timeout, err);
    const struct tact_device_setting *setting = tact_settings_find(config, "serial");
    if (!rc && setting &&
        !(serial >= 0.0 && serial <= largest_accepted_serial_number && serial == floor(serial))) {
        return tact_settings_fault(config, setting, err, "expected a whole number, 0 to %g",
                                   largest_accepted_serial_number);
    }
    if (!rc && strlen(device) >= sizeof haptic_device_choice->device) {
        return tact_settings_fault(config, tact_settings_find(config, "device"), err,
                                   "expected at most %zu bytes",
                                   sizeof haptic_device_choice->device - 1);
    }
    snprintf(haptic_device_choice->device, sizeof haptic_device_choice->device, "%s", device);
    haptic_device_choice->serial = (int32_t)serial;
    haptic_device_choice->gravity = gravity;
    haptic_device_choice->timeout_ns = (int64_t)(fmin(timeout, 3600.0) * 1e9);
    return rc;
}

static int start_haptic_device(struct haptic *self, const struct tact_device_config *config,
                               const char *type, struct tact_guard_haptic_page *initial_shared_page,
                               struct tact_device_info *info, struct tact_error *err)
{
    struct tact_guard *guard = NULL;
    struct tact_error why = {0};
    int rc =
        tact_guard_start_haptic_guard(initial_shared_page, config->name, &guard, &self->page, &why);
    if (rc) {
        tact_settings_fault(config, NULL, err, "%s", why.text);
        return rc;
    }
    tact_guard_arming_start(&self->guard_arming, guard,
                            initial_shared_page->haptic_device_choice.timeout_ns, config->period);
    self->measures_attitude = self->page->measures_attitude != 0;
    tact_settings_info(config, type, info);
    snprintf(info->model, sizeof info->model, "%.63s", self->page->model);
    describe_haptic_channels(self, info);
    tact_message(config->messages, TACT_MESSAGE_INFO, "%s: %s, %s, %s", config->name,
                 info->model[0] ? info->model : "an unnamed device",
                 self->measures_attitude ? "position and attitude" : "position alone",
                 self->page->renders_torques ? "force and torque" : "force alone");
    rc = tact_monitor_start(&self->monitor, "tact-haptic", REPORT_NS, report_haptic_state, self);
    self->has_monitor_thread = rc == 0;
    return rc ? tact_error_set(err, rc, "cannot start a thread: %s", strerror(-rc)) : 0;
}

static int open_haptic_device_of_maker(const struct tact_device_config *config, int maker,
                                       const char *type, struct tact_device *out,
                                       struct tact_error *err)
{
    struct haptic *self = calloc(1, sizeof *self);
    struct tact_guard_haptic_page *initial_shared_page = calloc(1, sizeof *initial_shared_page);
    int rc = self && initial_shared_page ? 0 : tact_error_set(err, -ENOMEM, "out of memory");
    if (self && initial_shared_page) {
        initial_shared_page->haptic_device_choice.maker = maker;
        snprintf(self->name, sizeof self->name, "%s", config->name);
        self->messages = config->messages;
        rc = read_settings(config, &initial_shared_page->haptic_device_choice, err);
        rc =
            rc ? rc : start_haptic_device(self, config, type, initial_shared_page, &out->info, err);
    }
    free(initial_shared_page);
    if (rc) {
        if (self) {
            haptic_close(self);
        }
        return rc;
    }
    out->ops = &haptic_ops;
    out->self = self;
    return 0;
}

static int open_force_dimension(const struct tact_device_config *config, struct tact_device *out,
                                struct tact_error *err)
{
    return open_haptic_device_of_maker(config, TACT_HAPTIC_FORCE_DIMENSION, "force_dimension", out,
                                       err);
}

static int open_openhaptics(const struct tact_device_config *config, struct tact_device *out,
                            struct tact_error *err)
{
    return open_haptic_device_of_maker(config, TACT_HAPTIC_OPENHAPTICS, "openhaptics", out, err);
}

extern const struct tact_device_type tact_force_dimension_type, tact_openhaptics_type;
const struct tact_device_type tact_force_dimension_type = {
    TACT_ABI(struct tact_device_type), "force_dimension",
    "omega, delta, sigma, lambda, Falcon: through Force Dimension's libdhd", open_force_dimension,
    NULL};
const struct tact_device_type tact_openhaptics_type = {
    TACT_ABI(struct tact_device_type), "openhaptics", "Touch, Phantom: through OpenHaptics' libHD",
    open_openhaptics, NULL};
