/*
 * Six-axis pucks through spacenavd: a tick reads its socket and waits for nothing, a monitor thread
 * connects again. The socket is read here and not by libspnav, which has one connection in a
 * process, waits 0.3 s at its opening, and distinguishes neither a closed socket nor part of a
 * packet from an event.
 *
 * Protocol: man page and sources of spacenavd, 1.0 and later (proto.h, proto_unix.c). The daemon
 * sends packets of eight native int32: type, then x y z rx ry rz and the time since the last motion
 * [ms]; or the number of a button; or 0 or 1, a device was added or removed, which only clients of
 * version 1 are sent. A client asks for that version by one int32, which comes back as the answer.
 */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "devices/common/monitor_internal.h"
#include "devices/common/settings.h"

enum { AXES = 6, BUTTONS = 16, COUNTS = 4 };
/* types of packets */
enum { MOTION_PACKET, BUTTON_PRESSED, BUTTON_RELEASED, DEVICE_CHANGED };
/* maximum number of packets read per tick */
enum { PACKET_WORDS = 8, MAX_PACKETS_PER_TICK = 64 };
/* a packet with this or a larger button number is taken as damaged */
enum { KNOWN_BUTTONS = 1024 };
/* polls (1 s in all) before the daemon is called again */
enum { POLL_NS = 50000000, POLLS_AFTER_LOSS = 20 };
enum { VERSION_REQUEST = 0x7faa5500, WANTED_VERSION = 1 };

struct spacenav {
    double range;
    int64_t timeout_ns;
    /* members used by the loop: */
    int socket; /* -1 while lost */
    bool is_daemon_version_answered, is_catching_up;
    unsigned char received_packet_bytes[MAX_PACKETS_PER_TICK * PACKET_WORDS * sizeof(int32_t)];
    size_t size; /* number of bytes received of an incomplete packet */
    double axis[AXES], button[BUTTONS];
    int64_t stamp_ns, motion_ns; /* time of the last packet, and of the last motion */
    /* sockets exchanged between the loop and the monitor, one at a time; -1: none */
    atomic_int new_socket, socket_for_monitor_to_close;
    atomic_bool is_puck_unplugged;
    atomic_uint_fast64_t refused_packet_count, clamped_packet_count, overrun_count, unplug_count;
    /* members used by the monitor thread: */
    char name[TACT_DEVICE_NAME];
    struct tact_messages messages;
    struct sockaddr_un address;
    struct tact_monitor_thread monitor;
    bool has_monitor_thread, is_connected, is_unplug_reported, is_overrun_reported;
    int polls_until_connect_attempt; /* number of polls until the next attempt to connect */
    uint_fast64_t reported_refused_packet_count;
};

static void increment_packet_counter(atomic_uint_fast64_t *count)
{
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

static uint_fast64_t read_counter(const atomic_uint_fast64_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

/* Sets all axes to 0 and releases all buttons, until the daemon sends other values. */
static void zero_axes_and_buttons(struct spacenav *self)
{
    memset(self->axis, 0, sizeof self->axis);
    memset(self->button, 0, sizeof self->button);
}

/* Sets the axes from a motion packet. The daemon's axes are x right, y up, z away from the person,
 * with right-handed rotations about them (spnav_posrot_moveobj() of libspnav): z and rz are
 * negated, which makes the axes right-handed. */
static void update_axes_from_motion_packet(struct spacenav *self, const int32_t *count,
                                           int64_t now_ns)
{
    bool is_any_axis_clamped = false;
    for (int i = 0; i < AXES; i++) {
        const double value = (i % 3 == 2 ? -1.0 : 1.0) * count[i] / self->range;
        is_any_axis_clamped |= fabs(value) > 1.0;
        self->axis[i] = fmin(1.0, fmax(-1.0, value));
    }
    if (is_any_axis_clamped) {
        increment_packet_counter(&self->clamped_packet_count);
    }
    self->motion_ns = now_ns;
}

/* Handles one packet of the daemon. Returns false if it is no valid packet. */
static bool handle_packet(struct spacenav *self, const int32_t packet[PACKET_WORDS], int64_t now_ns)
{
    const int32_t number = packet[1];
    bool is_puck_unplugged = false;
    if (packet[0] == MOTION_PACKET) {
        update_axes_from_motion_packet(self, packet + 1, now_ns);
    } else if (packet[0] == BUTTON_PRESSED || packet[0] == BUTTON_RELEASED) {
        if (number < 0 || number >= KNOWN_BUTTONS) {
            return false;
        }
        if (number < BUTTONS) {
            self->button[number] = packet[0] == BUTTON_PRESSED;
        }
    } else if (packet[0] == DEVICE_CHANGED && (number == 0 || number == 1)) {
        is_puck_unplugged = number == 1;
        if (is_puck_unplugged) {
            zero_axes_and_buttons(self);
            increment_packet_counter(&self->unplug_count);
        }
    } else {
        return false;
    }
    self->stamp_ns = now_ns;
    atomic_store_explicit(&self->is_puck_unplugged, is_puck_unplugged, memory_order_relaxed);
    return true;
}

/* Handles all complete packets that were received. Returns false at an invalid one. */
static bool handle_complete_daemon_packets(struct spacenav *self, int64_t now_ns)
{
    size_t at = 0;
    while (self->size - at >= sizeof(int32_t)) {
        int32_t packet[PACKET_WORDS];
        memcpy(packet, self->received_packet_bytes + at, sizeof *packet);
        if (!self->is_daemon_version_answered && (packet[0] & ~0xff) == VERSION_REQUEST) {
            self->is_daemon_version_answered = true;
            at += sizeof *packet;
            continue;
        }
        if (self->size - at < sizeof packet) {
            break;
        }
        memcpy(packet, self->received_packet_bytes + at, sizeof packet);
        if (!handle_packet(self, packet, now_ns)) {
            increment_packet_counter(&self->refused_packet_count);
            return false;
        }
        at += sizeof packet;
    }
    self->size -= at;
    memmove(self->received_packet_bytes, self->received_packet_bytes + at, self->size);
    return true;
}

/* Reads the packets that have arrived. The daemon drops packets for which the socket has no room:
 * if more have arrived than a tick reads, the last motion may be missing, so that the puck counts
 * as at rest until all were read. Returns false if the connection is lost. */
static bool receive_packets(struct spacenav *self, int64_t now_ns)
{
    const size_t room = sizeof self->received_packet_bytes - self->size;
    const ssize_t received_byte_count =
        recv(self->socket, self->received_packet_bytes + self->size, room, MSG_DONTWAIT);
    const bool is_read_buffer_full = received_byte_count == (ssize_t)room;
    if (received_byte_count < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    if (received_byte_count <= 0) {
        return false;
    }
    self->size += (size_t)received_byte_count;
    if (!handle_complete_daemon_packets(self, now_ns)) {
        return false;
    }
    if (is_read_buffer_full && !self->is_catching_up) {
        increment_packet_counter(&self->overrun_count);
    }
    if (is_read_buffer_full || self->is_catching_up) {
        zero_axes_and_buttons(self);
    }
    self->is_catching_up = is_read_buffer_full;
    return true;
}

static void use_socket_of_monitor(struct spacenav *self)
{
    self->socket = atomic_exchange_explicit(&self->new_socket, -1, memory_order_acquire);
    if (self->socket < 0) {
        return;
    }
    self->is_daemon_version_answered = self->is_catching_up = false;
    self->size = 0;
    atomic_store_explicit(&self->is_puck_unplugged, false, memory_order_relaxed);
}

static void spacenav_read(void *data, uint64_t tick, double t, int64_t now_ns,
                          struct tact_device_input *in)
{
    struct spacenav *self = data;
    (void)tick;
    (void)t;
    if (self->socket < 0) {
        use_socket_of_monitor(self);
    }
    if (self->socket >= 0 && !receive_packets(self, now_ns)) {
        zero_axes_and_buttons(self);
        increment_packet_counter(&self->unplug_count);
        atomic_store_explicit(&self->socket_for_monitor_to_close, self->socket,
                              memory_order_release);
        self->socket = -1;
    }
    if (now_ns - self->motion_ns > self->timeout_ns) {
        memset(self->axis, 0, sizeof self->axis);
    }
    const bool is_new_socket_waiting =
        self->socket >= 0 && !atomic_load_explicit(&self->is_puck_unplugged, memory_order_relaxed);
    in->state = is_new_socket_waiting ? TACT_DEVICE_OK : TACT_DEVICE_LOST;
    in->stamp_ns = self->stamp_ns;
    memcpy(in->channel, self->axis, sizeof self->axis);
    memcpy(in->channel + AXES, self->button, sizeof self->button);
    const double counts[COUNTS] = {(double)read_counter(&self->refused_packet_count),
                                   (double)read_counter(&self->clamped_packet_count),
                                   (double)read_counter(&self->overrun_count),
                                   (double)read_counter(&self->unplug_count)};
    memcpy(in->channel + AXES + BUTTONS, counts, sizeof counts);
}

/* Connects to the daemon. Returns the socket or a negative errno. A daemon that runs as a user
 * other than root or this one is refused. */
static int connect_to_daemon(const struct sockaddr_un *address)
{
    const int32_t version_request = VERSION_REQUEST | WANTED_VERSION;
    struct ucred peer_credentials;
    socklen_t size = sizeof peer_credentials;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int rc = fd < 0 ? -errno : 0;
    if (!rc && connect(fd, (const struct sockaddr *)address, sizeof *address)) {
        rc = -errno;
    }
    if (!rc && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer_credentials, &size)) {
        rc = -errno;
    }
    if (!rc && peer_credentials.uid != 0 && peer_credentials.uid != geteuid()) {
        rc = -EPERM;
    }
    if (!rc && send(fd, &version_request, sizeof version_request, MSG_NOSIGNAL) !=
                   sizeof version_request) {
        rc = -EPIPE;
    }
    if (rc && fd >= 0) {
        close(fd);
    }
    return rc ? rc : fd;
}

static void report_puck_events(struct spacenav *self)
{
    const bool is_puck_unplugged =
        atomic_load_explicit(&self->is_puck_unplugged, memory_order_relaxed);
    if (is_puck_unplugged != self->is_unplug_reported) {
        tact_message(self->messages, is_puck_unplugged ? TACT_MESSAGE_WARNING : TACT_MESSAGE_INFO,
                     is_puck_unplugged ? "%s: spacenavd reports that a puck was unplugged"
                                       : "%s: spacenavd reports that a puck is connected again",
                     self->name);
        self->is_unplug_reported = is_puck_unplugged;
    }
    if (read_counter(&self->overrun_count) && !self->is_overrun_reported) {
        self->is_overrun_reported = true;
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: more than %d packets of spacenavd were unread in a tick: the puck is "
                     "taken as at rest until it moves again",
                     self->name, MAX_PACKETS_PER_TICK);
    }
}

/* Closes a connection that the loop has handed back, and makes a new one. */
static void renew_connection(void *data)
{
    struct spacenav *self = data;
    const int socket_for_monitor_to_close =
        atomic_exchange_explicit(&self->socket_for_monitor_to_close, -1, memory_order_acquire);
    if (socket_for_monitor_to_close >= 0) {
        const bool were_unexpected_packets_received =
            read_counter(&self->refused_packet_count) != self->reported_refused_packet_count;
        close(socket_for_monitor_to_close);
        self->reported_refused_packet_count = read_counter(&self->refused_packet_count);
        self->is_connected = false;
        self->polls_until_connect_attempt = POLLS_AFTER_LOSS;
        tact_message(
            self->messages, TACT_MESSAGE_WARNING,
            were_unexpected_packets_received
                ? "%s: the data from %s are no packets of spacenavd: the connection was closed"
                : "%s: spacenavd has closed %s",
            self->name, self->address.sun_path);
    }
    report_puck_events(self);
    if (!self->is_connected && self->polls_until_connect_attempt-- <= 0) {
        const int fd = connect_to_daemon(&self->address);
        self->polls_until_connect_attempt = 0;
        if (fd >= 0) {
            tact_message(self->messages, TACT_MESSAGE_INFO, "%s: connected to spacenavd again",
                         self->name);
            self->is_connected = true;
            atomic_store_explicit(&self->new_socket, fd, memory_order_release);
        }
    }
}

static void close_socket(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

static void spacenav_close(void *data)
{
    struct spacenav *self = data;
    if (self->has_monitor_thread) {
        tact_monitor_stop(&self->monitor);
    }
    if (read_counter(&self->refused_packet_count) || read_counter(&self->clamped_packet_count) ||
        read_counter(&self->overrun_count)) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: %llu packets refused, %llu motions over the range of %g, %llu ticks with "
                     "more packets than a tick reads",
                     self->name, (unsigned long long)read_counter(&self->refused_packet_count),
                     (unsigned long long)read_counter(&self->clamped_packet_count), self->range,
                     (unsigned long long)read_counter(&self->overrun_count));
    }
    close_socket(self->socket);
    close_socket(atomic_load(&self->new_socket));
    close_socket(atomic_load(&self->socket_for_monitor_to_close));
    free(self);
}

static const struct tact_device_ops spacenav_ops = {TACT_ABI(struct tact_device_ops), spacenav_read,
                                                    NULL, spacenav_close};

static int set_daemon_address(struct sockaddr_un *address, const struct tact_device_config *config,
                              struct tact_error *err)
{
    const char *path = getenv("SPNAV_SOCKET");
    path = path && path[0] ? path : "/var/run/spnav.sock";
    if (strlen(path) >= sizeof address->sun_path) {
        return tact_settings_fault(
            config, NULL, err,
            "the socket path in the environment variable SPNAV_SOCKET is too long");
    }
    address->sun_family = AF_UNIX;
    snprintf(address->sun_path, sizeof address->sun_path, "%s", path);
    return 0;
}

static int start_spacenav(struct spacenav *self, const struct tact_device_config *config,
                          struct tact_error *err)
{
    static const char *const keys[] = {"range", "timeout"};
    double stale_timeout_seconds = 0.1;
    int rc = tact_settings_check(config, keys, sizeof keys / sizeof *keys, err);
    rc = rc ? rc : tact_settings_positive(config, "range", &self->range, err);
    rc = rc ? rc : tact_settings_positive(config, "timeout", &stale_timeout_seconds, err);
    rc = rc ? rc : set_daemon_address(&self->address, config, err);
    if (rc) {
        return rc;
    }
    self->timeout_ns = (int64_t)(fmin(stale_timeout_seconds, 1e9) * 1e9);
    self->socket = connect_to_daemon(&self->address);
    if (self->socket < 0) {
        rc = self->socket;
        tact_settings_fault(
            config, NULL, err, "cannot connect to spacenavd at %s: %s", self->address.sun_path,
            rc == -EPERM ? "spacenavd runs as another user, and not as root" : strerror(-rc));
        return rc;
    }
    self->is_connected = true;
    tact_message(self->messages, TACT_MESSAGE_INFO,
                 "%s: connected to spacenavd at %s: x right, y up, z towards the person; %g is 1",
                 self->name, self->address.sun_path, self->range);
    rc = tact_monitor_start(&self->monitor, "tact-spacenav", POLL_NS, renew_connection, self);
    self->has_monitor_thread = !rc;
    return rc ? tact_error_set(err, rc, "cannot start a thread: %s", strerror(-rc)) : 0;
}

static void describe_channels_of_puck(struct tact_device_info *info)
{
    static const char *const axes[AXES] = {"x", "y", "z", "rx", "ry", "rz"};
    static const char *const counts[COUNTS] = {"refused", "clamped", "overruns", "losses"};
    snprintf(info->model, sizeof info->model, "spacenavd");
    for (int i = 0; i < AXES; i++) {
        tact_settings_channel(&info->input[info->input_count++], axes[i], "1", 0.0);
    }
    for (int i = 0; i < BUTTONS; i++) {
        char name[TACT_DEVICE_NAME];
        snprintf(name, sizeof name, "button_%d", i);
        tact_settings_channel(&info->input[info->input_count++], name, "1", 0.0);
    }
    for (int i = 0; i < COUNTS; i++) {
        tact_settings_channel(&info->input[info->input_count++], counts[i], "count", 0.0);
    }
}

static int open_spacenav(const struct tact_device_config *config, struct tact_device *out,
                         struct tact_error *err)
{
    struct spacenav *self = calloc(1, sizeof *self);
    if (!self) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    snprintf(self->name, sizeof self->name, "%s", config->name);
    self->messages = config->messages;
    self->socket = -1;
    self->range = 350.0;
    atomic_init(&self->new_socket, -1);
    atomic_init(&self->socket_for_monitor_to_close, -1);
    int rc = start_spacenav(self, config, err);
    if (rc) {
        spacenav_close(self);
        return rc;
    }
    tact_settings_info(config, "spacenav", &out->info);
    describe_channels_of_puck(&out->info);
    out->ops = &spacenav_ops;
    out->self = self;
    return 0;
}

extern const struct tact_device_type tact_spacenav_type;
const struct tact_device_type tact_spacenav_type = {TACT_ABI(struct tact_device_type), "spacenav",
                                                    "six-axis pucks through the daemon spacenavd",
                                                    open_spacenav, NULL};
