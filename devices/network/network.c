/* The device type network: settings, channels, opening and closing. */
#include "devices/network/network_internal.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/common/settings.h"

/* [ns] polling interval of the monitor thread; a handshake takes four polls */
enum { POLL_NS = 20000000 };

static const struct tact_device_ops network_device_ops;

static int read_blackout_interval(const struct tact_device_config *config,
                                  double link_blackout_interval[2], struct tact_error *err)
{
    const double *numbers = NULL;
    double single;
    int count = 0;
    const struct tact_device_setting *setting = tact_settings_find(config, "link.blackout");
    int rc = tact_settings_list(config, "link.blackout", &single, &numbers, &count, err);
    if (rc || !setting) {
        return rc;
    }
    if (count != 2 || !(numbers[0] >= 0.0 && numbers[1] >= numbers[0] && numbers[1] <= 1e9)) {
        return tact_settings_fault(config, setting, err,
                                   "expected two times [s], 0 to 1e9, the earlier one first");
    }
    memcpy(link_blackout_interval, numbers, 2 * sizeof *numbers);
    return 0;
}

/* Creates the simulated link between device and socket, if a setting link.* is given. */
static int create_simulated_link(const struct tact_device_config *config,
                                 struct tact_simulated_link **out, struct tact_error *err)
{
    struct tact_simulated_link_options o = {.seed = 0};
    double seed = 1.0;
    int has_simulated_link_setting = 0;
    for (int i = 0; i < config->setting_count; i++) {
        has_simulated_link_setting |= !strncmp(config->settings[i].key, "link.", strlen("link."));
    }
    int rc = tact_network_read_range(config, "link.seed", 0.0, 1e15, 1, &seed, err);
    rc = rc ? rc : tact_network_read_range(config, "link.delay", 0.0, 1.0, 0, &o.delay, err);
    rc = rc ? rc : tact_network_read_range(config, "link.jitter", 0.0, 1.0, 0, &o.jitter, err);
    rc = rc ? rc
            : tact_network_read_range(config, "link.loss", 0.0, 0.9, 0, &o.lost_packet_fraction,
                                      err);
    rc = rc ? rc
            : tact_network_read_range(config, "link.burst", 0.0, 10.0, 0,
                                      &o.mean_loss_burst_duration, err);
    rc = rc ? rc
            : tact_network_read_range(config, "link.duplicate", 0.0, 1.0, 0,
                                      &o.duplicated_packet_fraction, err);
    rc = rc ? rc
            : tact_network_read_range(config, "link.reorder", 0.0, 1.0, 0,
                                      &o.reordered_packet_fraction, err);
    rc = rc ? rc : read_blackout_interval(config, o.link_blackout_interval, err);
    if (rc || !has_simulated_link_setting) {
        return rc;
    }
    if ((o.delay + o.jitter) / config->period > 0.5 * TACT_SIMULATED_LINK_PACKETS) {
        return tact_settings_fault(
            config, tact_settings_find(config, "link.delay"), err,
            "expected at most %d periods of the loop for link.delay and link.jitter together",
            TACT_SIMULATED_LINK_PACKETS / 2);
    }
    o.seed = (uint64_t)seed;
    rc = tact_simulated_link_create(&o, out);
    if (!rc) {
        tact_message(config->messages, TACT_MESSAGE_WARNING,
                     "%s: packets are sent over a simulated link: delay %g ms, jitter %g ms, "
                     "%g %% lost",
                     config->name, 1e3 * o.delay, 1e3 * o.jitter, 1e2 * o.lost_packet_fraction);
    }
    return rc ? tact_error_set(err, rc, "out of memory") : 0;
}

/* Reports an error of opening the endpoint or keys at the setting that caused it. */
static int set_error_at_device_setting(const struct tact_device_config *config, const char *key,
                                       int rc, const struct tact_error *why, struct tact_error *err)
{
    tact_settings_fault(config, tact_settings_find(config, key), err, "%s%s%s", why->file,
                        why->file[0] ? ": " : "", why->text);
    return rc;
}

static int read_link_keys(const struct tact_device_config *config,
                          struct tact_network_identity *out, int *has_own_and_peer_key,
                          struct tact_error *err)
{
    char key[4096] = "", peer[4096] = "";
    struct tact_error why = {.line = 0};
    int rc = tact_settings_path(config, "key", key, sizeof key, err);
    rc = rc ? rc : tact_settings_path(config, "peer", peer, sizeof peer, err);
    if (!rc && !key[0] != !peer[0]) {
        rc = tact_settings_fault(config, tact_settings_find(config, key[0] ? "key" : "peer"), err,
                                 "expected both key (secret key of this end) and peer (public key "
                                 "of the other end), or neither");
    }
    *has_own_and_peer_key = !rc && key[0];
    if (*has_own_and_peer_key) {
        rc = tact_network_identity_read(key, peer, out, &why);
        rc = rc ? set_error_at_device_setting(config, "key", rc, &why, err) : 0;
    }
    return rc;
}

static int open_network_endpoint(struct tact_network_device *self,
                                 const struct tact_device_config *config, struct tact_error *err)
{
    struct tact_network_identity identity;
    struct tact_error why = {.line = 0};
    const char *listen = NULL, *connect = NULL;
    int rc = tact_settings_text(config, "listen", &listen, err);
    rc = rc ? rc : tact_settings_text(config, "connect", &connect, err);
    if (!rc && !listen == !connect) {
        rc = tact_settings_fault(config, tact_settings_find(config, "connect"), err,
                                 "expected one of listen (an address of this machine, or a port) "
                                 "and connect (the address of the end that listens)");
    }
    rc = rc ? rc : read_link_keys(config, &identity, &self->has_own_and_peer_key, err);
    if (!rc) {
        const struct tact_network_endpoint_options options = {
            .address = connect ? connect : listen,
            .is_handshake_initiator = connect != NULL,
            .identity = self->has_own_and_peer_key ? &identity : NULL};
        rc = tact_network_endpoint_open(&options, &self->endpoint, &why);
        rc = rc ? set_error_at_device_setting(config, connect ? "connect" : "listen", rc, &why, err)
                : 0;
    }
    sodium_memzero(&identity, sizeof identity);
    return rc;
}

static void add_axis_channel(struct tact_device_channel *channel, int *count, const char *name,
                             int axis, const char *unit)
{
    char channel_name_with_axis[TACT_DEVICE_NAME];
    snprintf(channel_name_with_axis, sizeof channel_name_with_axis, axis < 0 ? "%s" : "%s_%d", name,
             axis);
    tact_settings_channel(&channel[(*count)++], channel_name_with_axis, unit, 0.0);
}

static void describe_network_channels(const struct tact_network_device *self,
                                      struct tact_device_info *info)
{
    static const char *const names[TACT_NETWORK_AXIS_NUMBERS] = {"wave", "position", "force"};
    static const char *const units[TACT_NETWORK_AXIS_NUMBERS] = {"sqrt(W)", "m or rad", "N or N m"};
    add_axis_channel(info->input, &info->input_count, "held", -1, "1");
    add_axis_channel(info->input, &info->input_count, "round_trip", -1, "s");
    add_axis_channel(info->output, &info->output_count, "held", -1, "1");
    add_axis_channel(info->output, &info->output_count, "terms", -1, "1");
    add_axis_channel(info->output, &info->output_count, "clutched", -1, "1");
    add_axis_channel(info->output, &info->output_count, "fault", -1, "1");
    for (int axis = 0; axis < self->axes; axis++) {
        for (int i = 0; i < TACT_NETWORK_AXIS_NUMBERS; i++) {
            add_axis_channel(info->input, &info->input_count, names[i], axis, units[i]);
            add_axis_channel(info->output, &info->output_count, names[i], axis, units[i]);
        }
    }
#define DESCRIBE_LINK_INPUT(name, unit, value)                                                     \
    add_axis_channel(info->input, &info->input_count, #name, -1, unit);
    TACT_NETWORK_LINK_INPUTS(DESCRIBE_LINK_INPUT)
}

static void close_network_device(void *data)
{
    struct tact_network_device *self = data;
    if (self->has_monitor_thread) {
        tact_monitor_stop(&self->monitor);
        tact_network_device_report(self);
    }
    tact_network_endpoint_close(&self->endpoint);
    tact_simulated_link_free(self->link);
    free(self);
}

static int start_network_device(struct tact_network_device *self,
                                const struct tact_device_config *config, struct tact_error *err)
{
    static const char *const keys[] = {
        "listen",         "connect",      "key",           "peer",        "axes",      "jitter",
        "repeats",        "hold",         "link.delay",    "link.jitter", "link.loss", "link.burst",
        "link.duplicate", "link.reorder", "link.blackout", "link.seed"};
    struct tact_network_channel_options channel;
    int rc = tact_settings_check(config, keys, sizeof keys / sizeof *keys, err);
    rc = rc ? rc : tact_network_read_channel_options(config, &channel, err);
    rc = rc ? rc : tact_network_channel_init(&self->channel, &channel);
    rc = rc ? rc : create_simulated_link(config, &self->link, err);
    rc = rc ? rc : open_network_endpoint(self, config, err);
    self->axes = self->channel.options.axes;
    if (!rc) {
        rc = tact_monitor_start(&self->monitor, "tact-network", POLL_NS, tact_network_device_poll,
                                self);
        self->has_monitor_thread = !rc;
        rc = rc ? tact_error_set(err, rc, "cannot start a thread: %s", strerror(-rc)) : 0;
    }
    return rc;
}

static int open_network_device(const struct tact_device_config *config, struct tact_device *out,
                               struct tact_error *err)
{
    struct tact_network_device *self = calloc(1, sizeof *self);
    if (!self) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    snprintf(self->name, sizeof self->name, "%s", config->name);
    self->messages = config->messages;
    self->endpoint.socket = -1;
    self->is_lost = 1;
    int rc = start_network_device(self, config, err);
    if (rc) {
        close_network_device(self);
        return rc;
    }
    tact_settings_info(config, "network", &out->info);
    describe_network_channels(self, &out->info);
    out->ops = &network_device_ops;
    out->self = self;
    return 0;
}

static const struct tact_device_ops network_device_ops = {
    TACT_ABI(struct tact_device_ops), tact_network_device_read, tact_network_device_write,
    close_network_device};

extern const struct tact_device_type tact_network_type;
const struct tact_device_type tact_network_type = {
    TACT_ABI(struct tact_device_type), "network",
    "another site: encrypted packets between two machines", open_network_device, NULL};
