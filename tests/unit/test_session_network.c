/*
 * Two sessions over sockets of this machine and a simulated poor link: the press, packets that are
 * lost or forged, an end that falls silent, replays of both logs, and settings that are refused.
 * Both sessions are stepped in turn, in virtual time; handshakes take their own.
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
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/number.h"
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/remote_internal.h"
#include "rt/session/report.h"
#include "rt/session/scene_log.h"
#include "support/campaign.h"
#include "support/device_config.h"
#include "support/free_port.h"
#include "support/network_sites.h"
#include "support/remote_scenes.h"
#include "support/replays.h"

static const double press_force_of_three_springs_in_series =
    0.02 / (1.0 / 300.0 + 1.0 / 1000.0 + 1.0 / 5000.0);

static char folder[] = "/tmp/tact_network_XXXXXX";

static void log_path(int site, char path[64])
{
    snprintf(path, 64, "%s/%d.mcap", folder, site);
}

/* Opens both sites; link: further settings of both ends; the deadman is held from 0.3 s on, except
 * in `released`. */
static const char *const robot_tie_settings =
    "impedance: 10, stiffness: 1000, damping: 30, tank: 1";
static const char person_scene_head[] = "name: person\nhands:\n";
static const char *person_scene_head_replacement = person_scene_head; /* text put in its place */

static void open_person_and_robot_sites(int port, const char *link, double until, int record)
{
    for (int i = 0; i < SITES; i++) {
        char text[4096], device[512], path[64];
        snprintf(device, sizeof device,
                 "type: network, settings: {%s: \"127.0.0.1:%d\", jitter: 0.02, repeats: 20%s}",
                 i ? "listen" : "connect", port, link);
        if (i) {
            snprintf(text, sizeof text, robot_scene_text, robot_tie_settings);
        } else {
            char button[128];
            tact_number_print(text, sizeof text, person_scene_text, 0.4, 10.0, 300.0, 8.0, 9.0, "",
                              "impedance: 10");
            tact_number_print(button, sizeof button,
                              "type: operator, settings: {script: [[0, 0, 0, 0]], deadman_from: "
                              "0.3, deadman_until: %g}",
                              until);
            replace_in_text(text, sizeof text, "type: button", button);
            replace_in_text(text, sizeof text, "button.held", "button.deadman");
            replace_in_text(text, sizeof text, person_scene_head, person_scene_head_replacement);
        }
        replace_in_text(text, sizeof text, i ? "type: end_1" : "type: end_0", device);
        scenes[i] = parse_remote_scene(text);
        log_path(i, path);
        open_session_of_site(i, record ? path : NULL);
    }
}

static const struct session_remote_state *tie_state_of_site(int site)
{
    return &sessions[site]->remotes[0].state;
}

/* Presses for 7.5 s; returns the force that the person feels, a mean of the last second. *least:
 * least energy of both directions [J]. */
static double press_remote_wall(const char *link, double *least, int ticks)
{
    double felt_force = 0.0, peak = 0.0;
    open_person_and_robot_sites(find_free_udp_port(), link, 100.0, 1);
    int k = wait_for_both_links();
    for (*least = 0.0; k < ticks; k++) {
        step_both_sessions();
        *least = fmin(*least, fmin(read_link_input(PERSON, "channel_energy"),
                                   read_link_input(ROBOT, "channel_energy")));
        felt_force -= k >= ticks - 1000 ? tie_state_of_site(PERSON)->force / 1000.0 : 0.0;
        peak = fmax(peak, fabs(tie_state_of_site(ROBOT)->force));
    }
    print_message("press %.2f N of %.2f, robot's peak %.2f N, round trip %.3f s, one way %.3f s; "
                  "%g lost, %g repeated, %g missing, %g duplicate, %g late; energy %.1e J\n",
                  felt_force, press_force_of_three_springs_in_series, peak,
                  read_link_input(PERSON, "round_trip"), read_link_input(PERSON, "one_way"),
                  read_link_input(PERSON, "lost"), read_link_input(PERSON, "repeated"),
                  read_link_input(PERSON, "missing"), read_link_input(PERSON, "duplicate"),
                  read_link_input(PERSON, "late"), *least);
    assert_true(peak < 1.5 * 6.5);
    assert_true(read_link_input(PERSON, "lost") > 50.0 &&
                read_link_input(PERSON, "duplicate") > 10.0);
    assert_true(read_link_input(PERSON, "repeated") > 0.8 * read_link_input(PERSON, "lost"));
    assert_true(read_link_input(PERSON, "sessions") == 1.0 &&
                read_link_input(PERSON, "unsent") == 0.0);
    assert_true(read_link_input(PERSON, "one_way") > 0.05 &&
                read_link_input(PERSON, "one_way") < 0.06);
    close_sessions_of_sites();
    return felt_force;
}

#define LINK_WITH_JITTER_AND_LOSS_YAML                                                             \
    ", link: {delay: 0.05, jitter: 0.02, loss: 0.05, burst: 0.01, duplicate: 0.01, reorder: "      \
    "0.01, seed: 3}"

/* The channel makes missing waves of the waves after them, so that no energy is generated. With
 * `hold: 0.01` a wave is repeated for 10 ms where none has arrived, which adds a little energy. */
static void press_force_over_a_poor_link_is_that_of_springs(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    double least;
    const int end = 7500;
    const double press_force_over_poor_link =
        press_remote_wall(LINK_WITH_JITTER_AND_LOSS_YAML, &least, end);
    assert_true(least >= -1e-12 &&
                press_force_over_poor_link > 0.85 * press_force_of_three_springs_in_series &&
                press_force_over_poor_link < 1.02 * press_force_of_three_springs_in_series);
    const double held =
        press_remote_wall(LINK_WITH_JITTER_AND_LOSS_YAML ", hold: 0.01", &least, end);
    assert_true(fabs(held / press_force_of_three_springs_in_series - 1.0) < 0.1);
    for (int i = 0; i < SITES; i++) {
        char path[64];
        log_path(i, path);
        check_replays_of_log(path, end, 2500, 1);
        remove(path);
    }
}

/* Counters that grow with the packets of a poor link, or not at all. */
static const char *const counters[] = {"lost",     "late",      "missing", "dropped",
                                       "inserted", "duplicate", "refused", "unsendable",
                                       "restarts", "sessions"};
enum { COUNTERS = sizeof counters / sizeof *counters };

/* What a site consumes and counts within a minute. */
struct minute_statistics {
    double network_counter_increase_in_minute[COUNTERS]; /* increase of each counter within the last
                                                            minute */
    double counts_a_minute_ago[COUNTERS];
};

static void record_minute_statistics(int site, struct minute_statistics *minute_statistics)
{
    for (int i = 0; i < COUNTERS; i++) {
        const double now = read_link_input(site, counters[i]);
        minute_statistics->network_counter_increase_in_minute[i] =
            now - minute_statistics->counts_a_minute_ago[i];
        minute_statistics->counts_a_minute_ago[i] = now;
    }
}

/* An hour of the scene over the poor link, in the long form; nothing grows: the memory of the
 * process, the fill of both ends, the accounts of energy, what is counted in a minute, and what the
 * robot is apart from the person. */
static void no_memory_or_count_grows_in_an_hour_over_a_poor_link(void **state)
{
    (void)state;
    const int minute_count = campaign_trial_count(0, 60);
    struct minute_statistics now[SITES] = {0}, first[SITES];
    long before = 0;
    open_person_and_robot_sites(find_free_udp_port(), LINK_WITH_JITTER_AND_LOSS_YAML, 1e6, 0);
    wait_for_both_links();
    for (int m = 0; m < minute_count; m++) {
        struct rusage use;
        for (int k = 0; k < 60000; k++) {
            step_both_sessions();
        }
        assert_int_equal(getrusage(RUSAGE_SELF, &use), 0);
        before = m == 1 ? use.ru_maxrss : before;
        assert_true(m < 1 || use.ru_maxrss < before + 1024);
        const double apart = tact_hand_state(tact_world_hand(sessions[ROBOT]->world, 0)).q[0] -
                             tact_hand_state(tact_world_hand(sessions[PERSON]->world, 0)).q[0];
        print_message("%d min: %ld kB, %.4f mm apart\n", m + 1, use.ru_maxrss, 1e3 * apart);
        assert_true(fabs(apart) < 1e-4);
        for (int i = 0; i < SITES; i++) {
            record_minute_statistics(i, &now[i]);
            first[i] = m == 1 ? now[i] : first[i];
            print_message("  fill %.3f s, energy %.2e J, %g lost, %g missing, %g restarts\n",
                          read_link_input(i, "playout_fill"), read_link_input(i, "channel_energy"),
                          now[i].network_counter_increase_in_minute[0],
                          now[i].network_counter_increase_in_minute[2],
                          read_link_input(i, "restarts"));
            assert_true(read_link_input(i, "playout_fill") < 0.1);
            assert_true(read_link_input(i, "least_energy") >= -1e-12);
            for (int c = 0; c < COUNTERS && m > 1; c++) {
                assert_true(now[i].network_counter_increase_in_minute[c] <=
                            1.5 * first[i].network_counter_increase_in_minute[c] + 30.0);
            }
            assert_int_equal(link_input_of_site(i)->state, TACT_DEVICE_OK);
        }
    }
    close_sessions_of_sites();
}

/* The robot's end stops for 0.7 s of the scene, as a process that is stopped: what the person feels
 * has faded 0.35 s later. The link is there again by itself, and engages by hand only. */
static void silent_site_releases_the_tie_of_the_other(void **state)
{
    (void)state;
    double max_tie_force_when_silent = 0.0;
    open_person_and_robot_sites(find_free_udp_port(), "", 100.0, 0);
    int k = wait_for_both_links();
    for (; k < 3000; k++) {
        step_both_sessions();
    }
    const double before = -tie_state_of_site(PERSON)->force;
    for (k = 0; k < 700; k++) {
        assert_int_equal(tact_session_step(sessions[PERSON], 0, NULL), 0);
        max_tie_force_when_silent =
            k >= 350 ? fmax(max_tie_force_when_silent, fabs(tie_state_of_site(PERSON)->force))
                     : max_tie_force_when_silent;
        assert_true(k < 505 || link_input_of_site(PERSON)->state == TACT_DEVICE_LOST);
    }
    print_message("felt %.2f N, at most %.4f N after 0.35 s of silence\n", before,
                  max_tie_force_when_silent);
    assert_true(fabs(before / press_force_of_three_springs_in_series - 1.0) < 0.1 &&
                max_tie_force_when_silent < 0.01);
    for (k = 0; k < 700; k++) { /* the robot's site has received no packet either */
        assert_int_equal(tact_session_step(sessions[ROBOT], 0, NULL), 0);
    }
    assert_int_equal(link_input_of_site(ROBOT)->state, TACT_DEVICE_LOST);
    wait_for_both_links();
    for (k = 0; k < 500; k++) {
        step_both_sessions();
    }
    assert_int_equal(link_input_of_site(PERSON)->state, TACT_DEVICE_OK);
    assert_true(tie_state_of_site(PERSON)->must_release_deadman_to_reengage > 0.0 &&
                fabs(tie_state_of_site(PERSON)->force) < 0.01);
    close_sessions_of_sites();
}

/* Presses over a link; the person's loop skips `skipped_tick_count_of_person_loop` ticks at 5 s, of
 * which no waves are sent. Neither force changes by 0.5 N in a tick from then on. */
static void check_press_continues_after_skipped_ticks(const char *link,
                                                      uint64_t skipped_tick_count_of_person_loop)
{
    double largest[SITES] = {0.0}, before[SITES];
    open_person_and_robot_sites(find_free_udp_port(), link, 100.0, 0);
    struct tact_network_device *device = sessions[PERSON]->devices[0].device.self;
    for (int k = wait_for_both_links(); k < 6000; k++) {
        device->next_tick -= k == 5000 ? skipped_tick_count_of_person_loop : 0;
        for (int i = 0; i < SITES; i++) {
            before[i] = tie_state_of_site(i)->force;
        }
        step_both_sessions();
        for (int i = 0; i < SITES && k >= 5000; i++) {
            largest[i] = fmax(largest[i], fabs(tie_state_of_site(i)->force - before[i]));
        }
    }
    const double felt_force = -tie_state_of_site(PERSON)->force;
    print_message("%llu ticks skipped%s: at most %.3f N in a tick at the person, %.3f N at the "
                  "robot, %g missing, press %.2f N\n",
                  (unsigned long long)skipped_tick_count_of_person_loop, link, largest[PERSON],
                  largest[ROBOT], read_link_input(ROBOT, "missing"), felt_force);
    assert_true(largest[PERSON] < 0.5 && largest[ROBOT] < 0.5 &&
                felt_force > 0.9 * press_force_of_three_springs_in_series);
    for (int i = 0; i < SITES; i++) {
        assert_true(read_link_input(i, "least_energy") >= -1e-12);
        assert_true((read_link_input(i, "missing") > 0.0) == !skipped_tick_count_of_person_loop);
        assert_true(read_link_input(i, "restarts") == 0.0);
    }
    close_sessions_of_sites();
}

/* An end that gets no wave stays where it is and says so; the answer of the other end to that has
 * no energy either. Packets repeat 20 waves and the channel waits for 20 ms more. */
static void short_link_gaps_do_not_shake_the_press(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    check_press_continues_after_skipped_ticks(", link: {delay: 0.02}", 1);
    check_press_continues_after_skipped_ticks(", link: {delay: 0.02}", 3);
    check_press_continues_after_skipped_ticks(", link: {delay: 0.02, blackout: [5, 5.041]}", 0);
    check_press_continues_after_skipped_ticks(", link: {delay: 0.02, blackout: [5, 5.06]}", 0);
    check_press_continues_after_skipped_ticks(", link: {delay: 0.02, blackout: [5, 5.08]}", 0);
}

static int count_events(int site, const char *text)
{
    char path[64];
    struct tact_log *log;
    int count = 0;
    log_path(site, path);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    for (uint64_t i = 0; i < tact_log_state(log)->events; i++) {
        count += strstr(tact_log_event(log, i)->text, text) != NULL;
    }
    tact_log_close(log);
    return count;
}

/* A tie of a log has the numbers that it had in the session. */
static void check_logged_tie(int site, const char *joint, const struct session_remote_state *tie)
{
    char path[64];
    struct tact_log *log;
    struct tact_scene_log view;
    struct tact_scene_log_remote remote;
    log_path(site, path);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_int_equal(tact_scene_log_open(log, (struct tact_messages){0}, &view, NULL), 0);
    assert_int_equal(tact_scene_log_remote(&view, 1, &remote), -ERANGE);
    assert_int_equal(tact_scene_log_remote(&view, 0, &remote), 0);
    assert_string_equal(remote.name, joint);
    assert_string_equal(view.devices[remote.device].type, "network");
    struct tact_record *r = malloc(tact_layout_bytes(tact_log_layout(log)));
    assert_int_equal(tact_log_seek(log, tact_log_state(log)->last_tick), 0);
    assert_int_equal(tact_log_next(log, r), 1);
    assert_true(remote.slides && r->values[remote.force] == tie->force);
    assert_true(r->values[remote.line_end] == tie->target &&
                r->values[remote.used_wave] == tie->used_wave &&
                r->values[remote.sent_wave] == tie->sent_wave);
    assert_true(r->values[remote.engaged] == tie->ticks && tie->ticks > 0.0);
    assert_true(r->values[remote.tank] == tie->remaining_tank_energy &&
                r->values[remote.work] == tie->work);
    free(r);
    tact_scene_log_close(&view);
    tact_log_close(log);
}

static void ties_of_a_log_are_those_of_the_session(void **state)
{
    (void)state;
    struct session_remote_state tie_states[SITES];
    open_person_and_robot_sites(find_free_udp_port(), "", 100.0, 1);
    for (int k = wait_for_both_links(); k < 3000; k++) {
        step_both_sessions();
    }
    for (int i = 0; i < SITES; i++) {
        tie_states[i] = *tie_state_of_site(i);
    }
    close_sessions_of_sites();
    assert_true(tie_states[ROBOT].force > 3.0 && tie_states[PERSON].force < -3.0);
    check_logged_tie(PERSON, "arm.tip", &tie_states[PERSON]);
    check_logged_tie(ROBOT, "robot.tip", &tie_states[ROBOT]);
}

/* The person's joint is too fast at 0.6 s, and its clutch is pressed from 0.3 s on: both are named
 * at the robot, in inputs, report and log, and nothing engages until the fault is cleared. */
static void clutch_and_fault_of_one_site_reach_the_other(void **state)
{
    (void)state;
    const struct tact_session_report report = {.safety = 0};
    person_scene_head_replacement =
        "name: person\nmax_speed: 0.05\n"
        "tools: [{hand: palm, device: person, position: [grip, turn, lift], clutch: "
        "button.deadman}]\n"
        "hands:\n"
        "  - {name: palm, weightless: true, base: {mass: 0.1, inertia: [1e-4, 1e-4, "
        "1e-4, 0, 0, 0], coupling: {stiffness: 100, "
        "damping: 1}, turn_coupling: {stiffness: 1, damping: 0.01}}}\n";
    open_person_and_robot_sites(find_free_udp_port(), "", 100.0, 1);
    person_scene_head_replacement = person_scene_head;
    for (int k = wait_for_both_links(); k < 2500; k++) {
        step_both_sessions();
    }
    assert_true(read_link_input(ROBOT, "other_fault") == 1.0);
    assert_true(read_link_input(ROBOT, "other_clutched") == 1.0);
    assert_true(read_link_input(PERSON, "other_fault") == 0.0);
    assert_true(read_link_input(PERSON, "other_clutched") == 0.0);
    assert_true(tie_state_of_site(ROBOT)->ticks <= 0.0 && tie_state_of_site(PERSON)->ticks <= 0.0);
    char *text = tact_session_report_json(sessions[ROBOT], &report);
    assert_non_null(strstr(text, "\"other_fault\": 1.0"));
    free(text);
    assert_int_equal(tact_session_clear_fault(sessions[PERSON]), 0);
    for (int k = 0; k < 1500; k++) {
        step_both_sessions();
    }
    assert_true(read_link_input(ROBOT, "other_fault") == 0.0);
    close_sessions_of_sites();
    assert_int_equal(count_events(ROBOT, "at fault"), 1);
    assert_int_equal(count_events(ROBOT, "fault was cleared"), 1);
    assert_int_equal(count_events(ROBOT, "clutch is pressed"), 1);
    assert_int_equal(count_events(PERSON, "at fault"), 0);
}

/* Sends `count` datagrams that are no packets of the session: hellos, answers and packets in turn.
 */
static void send_invalid_datagrams(int fd, const struct sockaddr_in *to, int count)
{
    unsigned char datagram[600] = "TACT";
    datagram[4] = TACT_NETWORK_PACKET_FORMAT_VERSION;
    for (int i = 0; i < count; i++) {
        datagram[5] = (unsigned char)(1 + i % 3);
        sendto(fd, datagram, i % 3 < 2 ? TACT_NETWORK_HELLO_BYTES : 600, 0,
               (const struct sockaddr *)to, to ? sizeof *to : 0);
    }
}

/* Datagrams for which the system found no socket, of all ports of this network namespace. */
static long datagrams_without_socket(void)
{
    char line[512];
    long received, no_ports = -1;
    FILE *file = fopen("/proc/self/net/snmp", "r");
    assert_non_null(file);
    while (no_ports < 0 && fgets(line, sizeof line, file)) {
        if (sscanf(line, "Udp: %ld %ld", &received, &no_ports) != 2) {
            no_ports = -1;
        }
    }
    fclose(file);
    return no_ports;
}

/* Datagrams from another address do not arrive, however many: the system finds no socket for them,
 * and counts them. What arrives from that of the peer is counted as refused. Neither has any other
 * effect. */
static void flood_of_datagrams_is_ignored(void **state)
{
    (void)state;
    const int port = find_free_udp_port();
    const int unknown_sender_socket = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    open_person_and_robot_sites(port, "", 100.0, 0);
    wait_for_both_links();
    const struct tact_network_device *person_device = sessions[PERSON]->devices[0].device.self;
    const long earlier_unattributed_datagram_count = datagrams_without_socket();
    for (int k = 0; k < 1000; k++) {
        send_invalid_datagrams(unknown_sender_socket, &to, k < 500 ? 300 : 0);
        send_invalid_datagrams(person_device->endpoint.socket, NULL, k < 500 ? 0 : 12);
        step_both_sessions();
        assert_int_equal(link_input_of_site(ROBOT)->state, TACT_DEVICE_OK);
        assert_true(k != 499 || read_link_input(ROBOT, "refused") == 0.0);
    }
    const long unattributed_datagram_count =
        datagrams_without_socket() - earlier_unattributed_datagram_count;
    print_message("%ld of 150000 without a socket, %g refused, %g missing\n",
                  unattributed_datagram_count, read_link_input(ROBOT, "refused"),
                  read_link_input(ROBOT, "missing"));
    assert_true(unattributed_datagram_count >= 150000);
    assert_true(read_link_input(ROBOT, "refused") >= 5500.0 &&
                read_link_input(ROBOT, "missing") == 0.0);
    assert_true(read_link_input(ROBOT, "sessions") == 1.0);
    close(unknown_sender_socket);
    close_sessions_of_sites();
}

static const struct tact_device_type *network_device_type(void)
{
    size_t count;
    const struct tact_device_type *const *types = tact_devices_builtin(&count);
    return tact_device_type_find(types, count, "network");
}

static void bad_network_tie_settings_are_refused(void **state)
{
    (void)state;
    static const double blackout[] = {2.0, 1.0};
    static const struct {
        struct tact_device_setting settings[2];
        int rc;
        const char *key, *text;
    } bad[] = {
        {{SETTING("axes", "1")}, -EINVAL, "device", "one of listen"},
        {{SETTING("listen", "4710"), SETTING("connect", "127.0.0.1:4710")},
         -EINVAL,
         "connect",
         "one of listen"},
        {{SETTING("listen", "0.0.0.0:0")}, -EPERM, "listen", "key"},
        {{SETTING("connect", "192.0.2.1:4710")}, -EPERM, "connect", "key"},
        {{SETTING("listen", "x")}, -EINVAL, "listen", "PORT"},
        {{SETTING("listen", "0"), SETTING("key", "a.key")}, -EINVAL, "key", "or neither"},
        {{SETTING("listen", "0"), SETTING("axes", "7")}, -EINVAL, "axes", "1 to 6"},
        {{SETTING("listen", "0"), SETTING("repeats", "1.5")}, -EINVAL, "repeats", "whole"},
        {{SETTING("listen", "0"), SETTING("jitter", "0.6")}, -EINVAL, "jitter", "0.5"},
        {{SETTING("listen", "0"), SETTING("link.loss", "0.95")}, -EINVAL, "link.loss", "0.9"},
        {{SETTING("listen", "0"), NUMBERS("link.blackout", 1, 2, blackout)},
         -EINVAL,
         "link.blackout",
         "two times"},
        {{SETTING("listen", "0"), SETTING("link.dealy", "0.1")}, -EINVAL, "link.dealy", "unknown"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct device_config c;
        struct tact_device device = {.ops = NULL};
        device_config_init(&c, bad[i].settings, bad[i].settings[1].key ? 2 : 1);
        assert_int_equal(network_device_type()->open(&c.config, &device, &c.err), bad[i].rc);
        print_message("%d: %s: %s\n", c.err.line, c.err.key, c.err.text);
        assert_string_equal(c.err.key, bad[i].key);
        assert_non_null(strstr(c.err.text, bad[i].text));
    }
}

/* Channels of the other site arm no outputs here, tied or not. */
static void deadman_of_the_other_site_arms_no_outputs(void **state)
{
    (void)state;
    static const char text[] =
        "name: one\nhands: [{name: arm, links: [{name: tip, mass: 1, inertia: [1, 1, 1, 0, 0, 0], "
        "joint: "
        "{type: slide, axis: [1, 0, 0], damping: 1}}]}]\n"
        "devices: [{name: site, type: network, settings: {listen: \"127.0.0.1:0\"}}]\n"
        "deadman: site.held\n";
    struct tact_session_options options = tact_session_options_default();
    struct tact_session *session = NULL;
    struct tact_error err = {.line = 0};
    struct tact_scene *scene = parse_remote_scene(text);
    options.types = tact_devices_builtin(&options.type_count);
    assert_int_equal(tact_session_create(scene, &options, &session, &err), -EINVAL);
    assert_string_equal(err.key, "deadman");
    tact_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(press_force_over_a_poor_link_is_that_of_springs),
        cmocka_unit_test(no_memory_or_count_grows_in_an_hour_over_a_poor_link),
        cmocka_unit_test(silent_site_releases_the_tie_of_the_other),
        cmocka_unit_test(short_link_gaps_do_not_shake_the_press),
        cmocka_unit_test(ties_of_a_log_are_those_of_the_session),
        cmocka_unit_test(clutch_and_fault_of_one_site_reach_the_other),
        cmocka_unit_test(flood_of_datagrams_is_ignored),
        cmocka_unit_test(bad_network_tie_settings_are_refused),
        cmocka_unit_test(deadman_of_the_other_site_arms_no_outputs),
    };
    if (!mkdtemp(folder)) {
        return 1;
    }
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return rc;
}
