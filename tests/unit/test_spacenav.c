/*
 * The device type spacenav against a stand-in of its daemon: axes and buttons, a tool that is led
 * by rates, silence, unplugging, a daemon that ends and returns, more packets than a tick reads,
 * and bytes that are no packets. Ticks are called in virtual time; only the return of a connection,
 * which another thread makes, takes its own.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/elementary.h"
#include "devices/registry.h"
#include "rt/session/session.h"
#include "support/device_config.h"
#include "support/run_scene.h"

enum { X, Y, Z, RX, RY, RZ, BUTTON, REFUSED = BUTTON + 16, CLAMPED, OVERRUNS, LOSSES };
enum { MOTION, PRESS, RELEASE, DEVICE, CONFIGURATION };

static char folder[] = "/tmp/tact_spacenav_XXXXXX";
static int listening_socket = -1, daemon_end = -1;
static int64_t now_ns;

static void set_daemon_socket_address(struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%s/spnav.sock", folder);
}

static void start_spacenav_daemon(void)
{
    struct sockaddr_un address;
    set_daemon_socket_address(&address);
    unlink(address.sun_path);
    listening_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listening_socket, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listening_socket, 4), 0);
}

static void end_spacenav_daemon(void)
{
    close(listening_socket);
    close(daemon_end);
    listening_socket = daemon_end = -1;
}

/* Accepts the connection and answers as spacenavd does: with the version that was asked for. */
static void accept_spacenav_client(void)
{
    int32_t request = 0;
    daemon_end = accept(listening_socket, NULL, NULL);
    assert_true(daemon_end >= 0);
    assert_int_equal(recv(daemon_end, &request, sizeof request, MSG_WAITALL), sizeof request);
    assert_int_equal(request, 0x7faa5501);
    assert_int_equal(send(daemon_end, &request, sizeof request, MSG_NOSIGNAL), sizeof request);
}

static void send_packet(int32_t type, int a, int b, int c, int d, int e, int f)
{
    const int32_t packet[8] = {type, a, b, c, d, e, f, 8};
    assert_int_equal(send(daemon_end, packet, sizeof packet, MSG_NOSIGNAL), sizeof packet);
}

static const struct tact_device_type *find_spacenav_type(void)
{
    size_t count;
    const struct tact_device_type *const *types = tact_devices_builtin(&count);
    return tact_device_type_find(types, count, "spacenav");
}

static void open_device(struct device_config *c, const struct tact_device_setting *settings,
                        int count, struct tact_device *device)
{
    start_spacenav_daemon();
    device_config_init(c, settings, count);
    *device = (struct tact_device){.ops = NULL};
    assert_int_equal(find_spacenav_type()->open(&c->config, device, &c->err), 0);
    assert_int_equal(tact_device_check(device, &c->err), 0);
    accept_spacenav_client();
}

static void read_device_after_1ms(struct tact_device *device, struct tact_device_input *in)
{
    now_ns += 1000000;
    device->ops->read(device->self, 0, 0.0, now_ns, in);
}

static void close_device(struct tact_device *device)
{
    device->ops->close(device->self);
    end_spacenav_daemon();
}

/* The axes become right-handed, of length 1 at `range`; what is over it is cut and counted. */
static void spacenav_puck_has_axes_and_buttons(void **state)
{
    (void)state;
    const struct tact_device_setting settings[] = {SETTING("range", "500")};
    struct device_config c;
    struct tact_device device;
    struct tact_device_input in = {.state = TACT_DEVICE_LOST};
    open_device(&c, settings, 1, &device);
    assert_int_equal(device.info.input_count, LOSSES + 1);
    assert_string_equal(device.info.input[RZ].name, "rz");
    assert_string_equal(device.info.input[BUTTON + 15].name, "button_15");
    read_device_after_1ms(&device, &in);
    assert_int_equal(in.state, TACT_DEVICE_OK);
    send_packet(MOTION, 100, -200, 300, -400, 500, 250);
    send_packet(PRESS, 1, 0, 0, 0, 0, 0);
    send_packet(PRESS, 900, 0, 0, 0, 0, 0); /* a button without a channel */
    read_device_after_1ms(&device, &in);
    const double wanted[6] = {0.2, -0.4, -0.6, -0.8, 1.0, -0.5};
    assert_memory_equal(in.channel, wanted, sizeof wanted);
    assert_true(in.channel[BUTTON] == 0.0 && in.channel[BUTTON + 1] == 1.0);
    assert_true(in.stamp_ns == now_ns && in.channel[CLAMPED] == 0.0);
    send_packet(MOTION, INT32_MIN, INT32_MAX, INT32_MIN, 0, 0, 0);
    send_packet(RELEASE, 1, 0, 0, 0, 0, 0);
    read_device_after_1ms(&device, &in);
    assert_true(in.channel[X] == -1.0 && in.channel[Y] == 1.0 && in.channel[Z] == 1.0);
    assert_true(in.channel[BUTTON + 1] == 0.0 && in.channel[CLAMPED] == 1.0);
    /* A packet that arrives in parts is used once it is complete. */
    const int32_t packet[8] = {MOTION, 250};
    assert_int_equal(send(daemon_end, packet, 5, 0), 5);
    read_device_after_1ms(&device, &in);
    assert_true(in.channel[X] == -1.0);
    assert_int_equal(send(daemon_end, (const char *)packet + 5, 27, 0), 27);
    read_device_after_1ms(&device, &in);
    assert_true(in.channel[X] == 0.5 && in.channel[REFUSED] == 0.0);
    close_device(&device);
    assert_non_null(strstr(c.messages, "1 motions over the range of 500"));
}

/* Silence is rest after `timeout`, as clients of the daemon have it; buttons stay. A puck that is
 * unplugged is lost and holds nothing, and returns at rest. */
static void silent_spacenav_puck_is_at_rest(void **state)
{
    (void)state;
    const struct tact_device_setting settings[] = {SETTING("timeout", "0.05")};
    struct device_config c;
    struct tact_device device;
    struct tact_device_input in = {.state = TACT_DEVICE_LOST};
    open_device(&c, settings, 1, &device);
    send_packet(MOTION, 350, 0, 0, 0, 0, 0);
    send_packet(PRESS, 0, 0, 0, 0, 0, 0);
    for (int i = 0; i < 51; i++) {
        read_device_after_1ms(&device, &in);
        assert_true(in.channel[X] == 1.0);
    }
    read_device_after_1ms(&device, &in);
    assert_true(in.channel[X] == 0.0 && in.channel[BUTTON] == 1.0);
    send_packet(MOTION, 350, 0, 0, 0, 0, 0);
    send_packet(DEVICE, 1, 0, 0, 0, 0, 0);
    read_device_after_1ms(&device, &in);
    assert_int_equal(in.state, TACT_DEVICE_LOST);
    assert_true(in.channel[X] == 0.0 && in.channel[BUTTON] == 0.0 && in.channel[LOSSES] == 1.0);
    send_packet(DEVICE, 0, 0, 0, 0, 0, 0);
    read_device_after_1ms(&device, &in);
    assert_int_equal(in.state, TACT_DEVICE_OK);
    assert_true(in.channel[X] == 0.0 && in.channel[BUTTON] == 0.0);
    close_device(&device);
}

/* What is no packet of the protocol loses the device in the same tick: where the next one begins is
 * then unknown. */
static void malformed_spacenav_packets_are_refused(void **state)
{
    (void)state;
    static const int32_t bad[][8] = {
        {CONFIGURATION}, {-1}, {INT32_MIN}, {0x7faa5501}, {PRESS, -1}, {RELEASE, 1024}, {DEVICE, 2},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct device_config c;
        struct tact_device device;
        struct tact_device_input in = {.state = TACT_DEVICE_LOST};
        open_device(&c, NULL, 0, &device);
        send_packet(MOTION, 0, 350, 0, 0, 0, 0);
        send_packet(PRESS, 0, 0, 0, 0, 0, 0);
        read_device_after_1ms(&device, &in);
        assert_true(in.channel[Y] == 1.0 && in.channel[REFUSED] == 0.0);
        assert_int_equal(send(daemon_end, bad[i], sizeof bad[i], 0), sizeof bad[i]);
        read_device_after_1ms(&device, &in);
        assert_int_equal(in.state, TACT_DEVICE_LOST);
        assert_true(in.channel[Y] == 0.0 && in.channel[BUTTON] == 0.0);
        assert_true(in.channel[REFUSED] == 1.0 && in.channel[LOSSES] == 1.0);
        close_device(&device);
        assert_non_null(strstr(c.messages, "are no packets of spacenavd"));
        assert_non_null(strstr(c.messages, "1 packets refused"));
    }
}

/* A daemon that ends loses the device; once it is there again so is the device, and nothing of the
 * old connection is left. */
static void lost_spacenav_connections_are_made_again(void **state)
{
    (void)state;
    static const int32_t part[8] = {MOTION, 350};
    struct device_config c;
    struct tact_device device;
    struct tact_device_input in = {.state = TACT_DEVICE_LOST};
    open_device(&c, NULL, 0, &device);
    send_packet(MOTION, 350, 0, 0, 0, 0, 0);
    send_packet(PRESS, 0, 0, 0, 0, 0, 0);
    assert_int_equal(send(daemon_end, part, 7, 0), 7);
    read_device_after_1ms(&device, &in);
    assert_true(in.state == TACT_DEVICE_OK && in.channel[BUTTON] == 1.0);
    end_spacenav_daemon();
    read_device_after_1ms(&device, &in);
    assert_int_equal(in.state, TACT_DEVICE_LOST);
    assert_true(in.channel[X] == 0.0 && in.channel[BUTTON] == 0.0 && in.channel[LOSSES] == 1.0);
    start_spacenav_daemon();
    for (int i = 0; i < 6000 && in.state != TACT_DEVICE_OK; i++) {
        usleep(5000);
        read_device_after_1ms(&device, &in);
    }
    accept_spacenav_client();
    send_packet(MOTION, 0, 350, 0, 0, 0, 0);
    read_device_after_1ms(&device, &in);
    assert_int_equal(in.state, TACT_DEVICE_OK);
    assert_true(in.channel[X] == 0.0 && in.channel[Y] == 1.0 && in.channel[BUTTON] == 0.0);
    close_device(&device);
    assert_non_null(strstr(c.messages, "spacenavd has closed"));
    assert_non_null(strstr(c.messages, "connected to spacenavd again"));
}

/* The daemon drops packets for which there is no room, the release too: what is left of a queue
 * that a tick could not read is no motion. */
static void packets_queued_while_the_loop_stopped_move_nothing(void **state)
{
    (void)state;
    struct device_config c;
    struct tact_device device;
    struct tact_device_input in = {.state = TACT_DEVICE_LOST};
    open_device(&c, NULL, 0, &device);
    read_device_after_1ms(&device, &in);
    for (int i = 0; i < 150; i++) {
        send_packet(i ? MOTION : PRESS, 0, 0, 0, 0, 0, i ? 350 : 0);
    }
    for (int i = 0; i < 4; i++) {
        read_device_after_1ms(&device, &in);
        assert_true(in.state == TACT_DEVICE_OK && in.channel[RZ] == 0.0);
        assert_true(in.channel[BUTTON] == 0.0 && in.channel[OVERRUNS] == 1.0);
    }
    send_packet(MOTION, 0, 0, 0, 0, 0, 350);
    read_device_after_1ms(&device, &in);
    assert_true(in.channel[RZ] == -1.0);
    close_device(&device);
}

/* A tool in mode rate: past the dead zone the target moves by speed and time, exactly. */
static void spacenav_rates_lead_a_tool(void **state)
{
    (void)state;
    static const char text[] =
        "name: puck\n"
        "hands:\n"
        "  - name: tip\n"
        "    weightless: true\n"
        "    base: {mass: 0.05, inertia: [1e-5, 1e-5, 1e-5, 0, 0, 0], coupling: {stiffness: 1000, "
        "damping: 5}, turn_coupling: {stiffness: 1, damping: 0.01}}\n"
        "devices: [{name: puck, type: spacenav, settings: {timeout: 1000}}]\n"
        "tools:\n"
        "  - {hand: tip, device: puck, mode: rate, position: [x, y, z], attitude: [rx, ry, rz], "
        "dead_zone: 0.2, speed: 0.1, turn_speed: 2, clutch: puck.button_0}\n";
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_scene *scene;
    struct tact_session *session;
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    start_spacenav_daemon();
    open_session_of_scene_text(text, &options, &scene, &session);
    accept_spacenav_client();
    assert_int_equal(tact_session_begin(session), 0);
    const double *target = tact_hand_state(tact_world_hand(tact_session_world(session), 0)).target;
    static const int axis_motions[4][3] = {{60, 0, 30}, {0, 0, -210}, {350, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < 4; k++) {
        if (k == 2) {
            /* with the clutch pressed the puck moves nothing */
            send_packet(PRESS, 0, 0, 0, 0, 0, 0);
        }
        send_packet(MOTION, axis_motions[k][0], 0, axis_motions[k][2], 0, axis_motions[k][0],
                    axis_motions[k][2]);
        for (int i = 0; i < 200; i++) {
            assert_true(tact_session_step(session, 0, NULL) >= 0);
        }
    }
    /* Only the second motion moves the target: (0.6 - 0.2) / 0.8 of the speeds, on +z, for 0.2 s.
     */
    print_message("target %.15f m, %.15f rad\n", target[2], target[5]);
    const double wanted[6] = {0.0, 0.0, 0.01, 0.0, 0.0, 0.2};
    for (int i = 0; i < 6; i++) {
        assert_true(fabs(target[i] - wanted[i]) < 1e-12);
    }
    assert_int_equal(tact_session_end(session, &report), 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
    end_spacenav_daemon();
}

static void unusable_spacenav_settings_are_refused(void **state)
{
    (void)state;
    const struct {
        struct tact_device_setting setting;
        const char *message;
    } cases[] = {{SETTING("range", "0"), "range"},
                 {SETTING("timeout", "nan"), "timeout"},
                 {SETTING("socket", "/run/docker.sock"), "socket"}};
    struct device_config c;
    struct tact_device device = {.ops = NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        device_config_init(&c, &cases[i].setting, 1);
        assert_int_equal(find_spacenav_type()->open(&c.config, &device, &c.err), -EINVAL);
        assert_non_null(strstr(c.err.key, cases[i].message));
        assert_int_equal(c.err.line, 10);
    }
    device_config_init(&c, NULL, 0);
    assert_int_equal(find_spacenav_type()->open(&c.config, &device, &c.err), -ENOENT);
    print_message("%s\n", c.err.text);
    assert_non_null(strstr(c.err.text, "cannot connect to spacenavd at /tmp/"));
    char path[200];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    const char *before = getenv("SPNAV_SOCKET");
    char *kept = strdup(before);
    setenv("SPNAV_SOCKET", path, 1);
    assert_int_equal(find_spacenav_type()->open(&c.config, &device, &c.err), -EINVAL);
    assert_non_null(strstr(c.err.text, "too long"));
    setenv("SPNAV_SOCKET", kept, 1);
    free(kept);
}

static int make_test_folder(void **state)
{
    struct sockaddr_un address;
    (void)state;
    assert_non_null(mkdtemp(folder));
    set_daemon_socket_address(&address);
    return setenv("SPNAV_SOCKET", address.sun_path, 1);
}

static int remove_test_folder(void **state)
{
    struct sockaddr_un address;
    (void)state;
    set_daemon_socket_address(&address);
    unlink(address.sun_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unusable_spacenav_settings_are_refused),
        cmocka_unit_test(spacenav_puck_has_axes_and_buttons),
        cmocka_unit_test(silent_spacenav_puck_is_at_rest),
        cmocka_unit_test(malformed_spacenav_packets_are_refused),
        cmocka_unit_test(lost_spacenav_connections_are_made_again),
        cmocka_unit_test(packets_queued_while_the_loop_stopped_move_nothing),
        cmocka_unit_test(spacenav_rates_lead_a_tool),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
