/*
 * A peer that has the right key and lies: waves, positions and forces of 1e6, and more valid
 * packets than a tick reads. What this site exerts stays within the limit of its joint, and its
 * output within the clamp and rate that its own scene states. Both sessions are stepped in turn, in
 * virtual time.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/number.h"
#include "support/campaign.h"
#include "support/free_port.h"
#include "support/network_sites.h"
#include "support/remote_scenes.h"

enum { PERIOD_NS = 1000000, MAX_DATAGRAMS_READ_PER_TICK = 16 };
static const double joint_force_limit = 20.0;                      /* of the robot's joint [N] */
static const double output_force_limit = 5.0, output_rate = 100.0; /* of either site [N], [N/s] */

static void print_person_scene(char *out, size_t size)
{
    tact_number_print(out, size, person_scene_text, 0.4, 10.0, 300.0, 90.0, 91.0, "",
                      "impedance: 10");
    replace_in_text(out, size, "type: button",
                    "type: operator, settings: {script: [[0, 0, 0, 0]], deadman_from: 0.3}");
    replace_in_text(out, size, "button.held",
                    "button.deadman\n"
                    "outputs: [{from: arm.tip, to: button.felt_0, limit: 5, rate: 100}]");
}

static void print_robot_scene(char *out, size_t size)
{
    snprintf(out, size, robot_scene_text,
             "impedance: 10, stiffness: 1000, damping: 30, tank: 1}]\n"
             "outputs: [{from: robot.tip, to: motor.felt_0, what: drive, limit: 5, rate: 100");
    replace_in_text(out, size, "viscous: 2}", "viscous: 2, limit: 20}");
    replace_in_text(out, size, "type: end_1}",
                    "type: end_1}, {name: motor, type: operator, settings: {script: [[0, 0, 0, "
                    "0]]}}");
}

static void open_sessions_of_sites(void)
{
    const int port = find_free_udp_port();
    for (int i = 0; i < SITES; i++) {
        char text[4096], device[256];
        snprintf(device, sizeof device,
                 "type: network, settings: {%s: \"127.0.0.1:%d\", jitter: 0.02, repeats: 20}",
                 i ? "listen" : "connect", port);
        (i ? print_robot_scene : print_person_scene)(text, sizeof text);
        replace_in_text(text, sizeof text, i ? "type: end_1" : "type: end_0", device);
        scenes[i] = parse_remote_scene(text);
        open_session_of_site(i, NULL);
    }
    wait_for_both_links();
    for (int k = 0; k < 1500; k++) {
        step_both_sessions();
    }
}

/* A tick of the peer's end of the link, in place of its session: what it sent last, with this
 * number as wave, position and force, in `count` packets of further ticks. */
static void send_extreme_samples(int peer, int64_t now_ns, double value, int count)
{
    struct session_device *end = &sessions[peer]->devices[0];
    struct tact_network_device *link = end->device.self;
    struct tact_device_input in;
    double out[TACT_DEVICE_CHANNELS];
    memcpy(out, end->output, sizeof out);
    for (int i = 0; i < TACT_NETWORK_AXIS_NUMBERS; i++) {
        out[TACT_NETWORK_FIRST_AXIS_OUTPUT + i] = i == 1 ? -value : value;
    }
    tact_network_device_read(link, link->next_tick, 1e-9 * (double)now_ns, now_ns, &in);
    for (int i = 0; i < count; i++) {
        tact_network_device_write(link, out, now_ns);
    }
}

struct attacked_site_extremes {
    /* largest force of the tie, output, and its change in a tick to another value than the 0 of a
     * fault */
    double force, output, output_step;
    uint64_t most_datagrams_in_a_tick; /* most that were read */
    int engaged_tick_count;
};

/* Steps the site `attacked_site` alone, for `ticks`, while its peer lies. */
static struct attacked_site_extremes run_attacked_site(int attacked_site, int ticks, double value,
                                                       int count)
{
    const int peer = 1 - attacked_site;
    const struct tact_network_device *link = sessions[attacked_site]->devices[0].device.self;
    const double *output =
        &sessions[attacked_site]->devices[attacked_site == ROBOT ? 1 : 2].output[0];
    int64_t now_ns = sessions[peer]->devices[0].input.stamp_ns;
    struct attacked_site_extremes worst = {.force = 0.0};
    for (int k = 0; k < ticks; k++) {
        const double last = *output;
        const uint64_t received_datagram_count = link->endpoint.counts.received_datagram_count;
        now_ns += PERIOD_NS;
        send_extreme_samples(peer, now_ns, k / 50 % 2 ? -value : value, count);
        assert_int_equal(tact_session_step(sessions[attacked_site], 0, NULL), 0);
        const uint64_t datagrams_read_in_tick =
            link->endpoint.counts.received_datagram_count - received_datagram_count;
        worst.most_datagrams_in_a_tick = datagrams_read_in_tick > worst.most_datagrams_in_a_tick
                                             ? datagrams_read_in_tick
                                             : worst.most_datagrams_in_a_tick;
        worst.force = fmax(worst.force, fabs(first_tie_force_of_site(attacked_site)));
        worst.output = fmax(worst.output, fabs(*output));
        if (fpclassify(*output) != FP_ZERO) {
            worst.output_step = fmax(worst.output_step, fabs(*output - last));
        }
        worst.engaged_tick_count += sessions[attacked_site]->remotes[0].state.ticks > 0.0;
        assert_true(isfinite(first_tie_force_of_site(attacked_site)) && isfinite(*output));
    }
    print_message(
        "%s: tie up to %.3g N, output up to %.3g N, %.3g N in a tick; %llu datagrams in a "
        "tick at most, engaged in %d of %d ticks\n",
        attacked_site == ROBOT ? "robot" : "person", worst.force, worst.output, worst.output_step,
        (unsigned long long)worst.most_datagrams_in_a_tick, worst.engaged_tick_count, ticks);
    assert_true(worst.output <= output_force_limit * (1.0 + 1e-9));
    assert_true(worst.output_step <= output_rate * 1e-9 * PERIOD_NS * (1.0 + 1e-9));
    assert_true(worst.most_datagrams_in_a_tick <= MAX_DATAGRAMS_READ_PER_TICK);
    /* the person's joint has no limit of its own: only its output reaches a person */
    assert_true(attacked_site == PERSON || worst.force <= joint_force_limit * (1.0 + 1e-9));
    assert_true(worst.engaged_tick_count > 30);
    return worst;
}

static void waves_of_a_lying_peer_stay_within_limits(void **state)
{
    (void)state;
    for (int attacked_site = 0; attacked_site < SITES; attacked_site++) {
        open_sessions_of_sites();
        const struct attacked_site_extremes worst = run_attacked_site(attacked_site, 1000, 1e6, 1);
        assert_true(worst.output > 0.5 * output_force_limit);
        close_sessions_of_sites();
    }
}

static void flood_of_valid_packets_is_bounded(void **state)
{
    (void)state;
    for (int attacked_site = 0; attacked_site < SITES; attacked_site++) {
        open_sessions_of_sites();
        const struct attacked_site_extremes worst = run_attacked_site(attacked_site, 500, 1e6, 60);
        assert_int_equal(worst.most_datagrams_in_a_tick, MAX_DATAGRAMS_READ_PER_TICK);
        close_sessions_of_sites();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_of_a_lying_peer_stay_within_limits),
        cmocka_unit_test(flood_of_valid_packets_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
