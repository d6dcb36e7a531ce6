/*
 * Two sessions over a socket of this machine whose remotes differ in one key: neither engages, and
 * the message of each end names the axis, the key and its values at both ends. Those whose remotes
 * agree engage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "rt/remote_terms_internal.h"
#include "rt/session/remote_internal.h"
#include "support/free_port.h"
#include "support/network_sites.h"
#include "support/remote_scenes.h"

/* Two joints of one kind each on a base that moves, all of which can be tied. */
static const char scene_text[] =
    "name: site\n"
    "hands:\n"
    "  - name: arm\n"
    "    weightless: true\n"
    "    base: {mass: 1, inertia: [1e-2, 1e-2, 1e-2, 0, 0, 0]}\n"
    "    links:\n"
    "      - name: slider\n"
    "        mass: 0.1\n"
    "        inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0]\n"
    "        joint: {type: slide, axis: [1, 0, 0]}\n"
    "      - name: base_ring\n"
    "        mass: 0.1\n"
    "        inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0]\n"
    "        joint: {type: hinge, axis: [0, 0, 1]}\n"
    "devices:\n"
    "  - {name: site, type: network, settings: {%s: \"127.0.0.1:%d\", axes: 3}}\n"
    "remotes:\n";

/* Remotes of one end: names of the joints of axes 0 to 2, and their other keys. */
struct remotes {
    const char *joint[3], *keys;
};

static const struct remotes wave_tie_of_slide = {{"slider"}, "impedance: 1"};
static const struct remotes position = {{"base_x", "base_y", "base_z"}, "impedance: 1"};
static const struct remotes attitude = {{"base_rx", "base_ry", "base_rz"}, "impedance: 1"};

struct refusal_message_of_site {
    char text[1024];
    atomic_int is_received;
};

static void keep_refusal_message(void *user, enum tact_message_level level, const char *text)
{
    struct refusal_message_of_site *message = user;
    if (strstr(text, "no remote joint engages") && !atomic_load(&message->is_received)) {
        assert_int_equal(level, TACT_MESSAGE_WARNING);
        snprintf(message->text, sizeof message->text, "%s", text);
        atomic_store(&message->is_received, 1);
    }
}

static struct tact_scene *make_scene_of_remote_ties(const struct remotes *remotes, int site,
                                                    int port)
{
    char text[4096];
    int used = snprintf(text, sizeof text, scene_text, site ? "listen" : "connect", port);
    for (int axis = 0; axis < 3; axis++) {
        if (remotes->joint[axis]) {
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "  - {joint: arm.%s, device: site, axis: %d, %s}\n",
                             remotes->joint[axis], axis, remotes->keys);
        }
    }
    return parse_remote_scene(text);
}

static int count_engaged_ties(int site)
{
    int engaged = 0;
    for (int i = 0; i < sessions[site]->remote_count; i++) {
        engaged += sessions[site]->remotes[i].state.ticks > 0.0;
    }
    return engaged;
}

/* Runs both ends; text: what the message of the first end says; NULL: both engage. */
static void connect_sites_with_ties(const struct remotes *ties_of_first_site,
                                    const struct remotes *ties_of_second_site, const char *text)
{
    static struct refusal_message_of_site messages[SITES];
    const struct remotes *remotes[SITES] = {ties_of_first_site, ties_of_second_site};
    const int port = find_free_udp_port();
    int engaged = 0;
    for (int i = 0; i < SITES; i++) {
        memset(messages[i].text, 0, sizeof messages[i].text);
        atomic_store(&messages[i].is_received, 0);
        messages_of_sites[i] = (struct tact_messages){keep_refusal_message, &messages[i]};
        scenes[i] = make_scene_of_remote_ties(remotes[i], i, port);
        open_session_of_site(i, NULL);
    }
    wait_for_both_links();
    for (int k = 0; k < 5000 && (k < 500 || (text && (!atomic_load(&messages[0].is_received) ||
                                                      !atomic_load(&messages[1].is_received))));
         k++) {
        step_both_sessions();
        engaged += count_engaged_ties(PERSON) + count_engaged_ties(ROBOT);
        usleep(k < 500 ? 0 : 1000);
    }
    print_message("%s\n%s\n", messages[0].text, messages[1].text);
    for (int i = 0; i < SITES; i++) {
        assert_int_equal(atomic_load(&messages[i].is_received), text != NULL);
    }
    if (text) {
        assert_int_equal(engaged, 0);
        assert_non_null(strstr(messages[0].text, text));
    } else {
        assert_true(count_engaged_ties(PERSON) > 0 && count_engaged_ties(ROBOT) > 0);
    }
    close_sessions_of_sites();
}

static void link_ends_with_equal_tie_terms_engage(void **state)
{
    (void)state;
    const struct remotes wave_tie_of_hinge = {{"base_ring"}, "impedance: 1"};
    const struct remotes wave_ties_of_base_position = {{"base_x", "base_y", "base_z"},
                                                       "impedance: 1, stiffness: 100, damping: 2"};
    connect_sites_with_ties(&wave_tie_of_slide, &wave_tie_of_slide, NULL);
    connect_sites_with_ties(&wave_tie_of_hinge, &wave_tie_of_hinge, NULL);
    connect_sites_with_ties(&position, &wave_ties_of_base_position, NULL);
    connect_sites_with_ties(&attitude, &attitude, NULL);
}

static void each_differing_tie_key_is_refused_by_its_name(void **state)
{
    (void)state;
    static const struct remotes wave_tie_of_hinge = {{"base_ring"}, "impedance: 1"};
    static const struct remotes impedance = {{"slider"}, "impedance: 1.0000001"};
    static const struct remotes mode = {{"slider"}, "mode: position_force, damping: 1"};
    static const struct remotes axis = {{NULL, "slider"}, "impedance: 1"};
    static const struct remotes tie_with_exchanged_axes = {{"base_y", "base_x", "base_z"},
                                                           "impedance: 1"};
    static const struct remotes tie_with_other_first_joint = {{"slider", "base_ring"},
                                                              "impedance: 1"};
    static const struct {
        const struct remotes *ties_of_first_site, *ties_of_second_site;
        const char *text;
    } cases[] = {
        {&wave_tie_of_slide, &impedance, ": the wave impedance is not that of the other end"},
        {&wave_tie_of_slide, &mode, ": axis 0: mode waves here, position_force at the other end"},
        {&wave_tie_of_slide, &axis,
         ": axis 0: tied here, not tied at the other end; axis 1: not tied here, tied at"},
        {&wave_tie_of_slide, &tie_with_other_first_joint,
         ": axis 1: not tied here, tied at the other end"},
        {&wave_tie_of_slide, &wave_tie_of_hinge,
         ": axis 0: joint slide here, hinge at the other end"},
        {&wave_tie_of_slide, &position,
         ": axis 0: joint slide here, base_x at the other end; axis 1: not tied here"},
        {&position, &tie_with_exchanged_axes,
         ": axis 0: joint base_x here, base_y at the other end; axis 1: joint base_y here, base_x"},
        {&position, &attitude,
         ": axis 0: joint base_x here, base_rx at the other end; axis 1: joint base_y here, "
         "base_ry at the other end; axis 2: joint base_z here, base_rz at the other end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        connect_sites_with_ties(cases[i].ties_of_first_site, cases[i].ties_of_second_site,
                                cases[i].text);
    }
}

/* The terms of six axes are exact in a channel, and each value of each axis changes them. */
static void tie_terms_of_six_axes_fit_a_channel(void **state)
{
    (void)state;
    static const char *const modes[] = {"waves", "position_force", "position_position", "model"};
    static const char *const joints[] = {"arm.slider",  "arm.base_ring", "arm.base_x",
                                         "arm.base_y",  "arm.base_z",    "arm.base_rx",
                                         "arm.base_ry", "arm.base_rz"};
    uint64_t tie_terms_of_all_cases[6 * 32];
    int count = 0;
    struct tact_scene *scene = make_scene_of_remote_ties(&wave_tie_of_slide, 0, 1);
    struct tact_scene_remote tie[6], *own = scene->remotes;
    const uint32_t original_remote_count = scene->remotes_count;
    for (uint32_t i = 0; i < 6; i++) {
        tie[i] = own[0];
        tie[i].axis = i;
        tie[i].mode = (char *)(uintptr_t)modes[3];
        tie[i].joint = (char *)(uintptr_t)joints[7];
    }
    scene->remotes = tie;
    scene->remotes_count = 6;
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 32; k++, count++) {
            tie[i].mode = (char *)(uintptr_t)modes[k / 8];
            tie[i].joint = (char *)(uintptr_t)joints[k % 8];
            const double terms = tact_session_remote_terms(scene, "site");
            assert_true(terms >= 1.0 && terms < 0x1p53);
            tie_terms_of_all_cases[count] = (uint64_t)terms;
            for (int n = 0; n < count; n++) {
                char text[512];
                tact_remote_terms_difference(tie_terms_of_all_cases[n],
                                             tie_terms_of_all_cases[count], text, sizeof text);
                assert_int_equal(tie_terms_of_all_cases[n] == tie_terms_of_all_cases[count],
                                 n % 32 == 31 && k == 31);
                assert_int_equal(text[0] == '\0',
                                 tie_terms_of_all_cases[n] == tie_terms_of_all_cases[count]);
            }
        }
    }
    assert_true(tact_session_remote_terms(scene, "other") == 0.0);
    scene->remotes = own;
    scene->remotes_count = original_remote_count;
    tact_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tie_terms_of_six_axes_fit_a_channel),
        cmocka_unit_test(link_ends_with_equal_tie_terms_engage),
        cmocka_unit_test(each_differing_tie_key_is_refused_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
