/*
 * The ruler of examples/scenes/teleop_*.yaml, pinched, lifted and held for a minute (in the long
 * form), over a plain link and over poor ones: 20 ms of jitter, 5 % of packets lost in bursts of
 * 10 ms. Both sessions are stepped in turn, in virtual time. Nothing moves in the fingers.
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
#include "support/run_scene.h"

static void open_ends(const char *settings)
{
    const int port = find_free_udp_port();
    char address[64];
    snprintf(address, sizeof address, "\"127.0.0.1:%d\"", port);
    const struct edit edits[] = {
        {"\"127.0.0.1:4710\"", address}, {"link: {delay: 0.05}", settings}, {NULL, NULL}};
    const struct edit edits_without_release[] = {
        edits[0],
        edits[1],
        {"[18,", "[980,"},
        {"[19,", "[981,"},
        {"[20,", "[982,"},
        {"[21,", "[983,"},
        /* the edited times keep the ruler from being put down */
        {NULL, NULL}};
    for (int i = 0; i < SITES; i++) {
        struct tact_error err = {.line = 0};
        const char *name = i ? "teleop_remote.yaml" : "teleop_local.yaml";
        char *text = load_scene_text_with_edits(name, i ? edits : edits_without_release);
        if (tact_scene_parse(text, strlen(text), name, NULL, &scenes[i], &err)) {
            fail_msg("%d: %s: %s", err.line, err.key, err.text);
        }
        free(text);
        open_session_of_site(i, NULL);
    }
}

/* Position of the ruler's centre in the hand, between the fingers [m]. */
static void find_ruler_position(double place[3])
{
    struct tact_pose ruler;
    const struct tact_hand_state hand = tact_hand_state(tact_world_hand(sessions[ROBOT]->world, 0));
    tact_session_body_pose(sessions[ROBOT], tact_session_find_body(sessions[ROBOT], "ruler"),
                           &ruler);
    place[0] = ruler.position[0];
    place[1] = ruler.position[1] - 0.5 * (hand.q[1] - hand.q[2]);
    place[2] = ruler.position[2] - hand.q[0];
}

static void ruler_is_held_by_a_remote_hand(void **state)
{
    (void)state;
#define POOR_LINK_SETTINGS ", jitter: 0.02, loss: 0.05, burst: 0.01, seed: 5}"
    static const struct {
        const char *name, *settings;
    } links[] = {
        {"plain, 50 ms", "link: {delay: 0.05}"},
        {"poor, 0 ms", "jitter: 0.02, repeats: 20, link: {delay: 0" POOR_LINK_SETTINGS},
        {"poor, 50 ms", "jitter: 0.02, repeats: 20, link: {delay: 0.05" POOR_LINK_SETTINGS}};
    enum { LIFTED = 10000 }; /* ticks */
    const int end = campaign_trial_count(LIFTED + 1500, LIFTED + 60000);
    const size_t begin = end < LIFTED + 60000 ? 2 : 0; /* the short form runs the last link alone */
    for (size_t n = begin; n < sizeof links / sizeof *links; n++) {
        double first[3] = {0.0}, now[3] = {0.0}, most = 0.0;
        open_ends(links[n].settings);
        for (int k = wait_for_both_links(); k < end; k++) {
            step_both_sessions();
            find_ruler_position(k > LIFTED ? now : first);
            for (int i = 0; i < 3 && k > LIFTED; i++) {
                most = fmax(most, fabs(now[i] - first[i]));
            }
        }
        const double height = tact_hand_state(tact_world_hand(sessions[ROBOT]->world, 0)).q[0];
        print_message("%s: lifted by %.2f mm; the ruler moved in the fingers by %.4f mm\n",
                      links[n].name, 1e3 * height, 1e3 * most);
        /* under a sanitizer the run ends before the ruler is lifted */
        assert_true(IS_SANITIZER_BUILD || (height > 0.04 && height < 0.055));
        assert_true(most < 1e-4); /* motion of the ruler between the fingers [m] */
        close_sessions_of_sites();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ruler_is_held_by_a_remote_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
