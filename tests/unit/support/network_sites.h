/* Two sessions, each with one end of a network link, stepped in turn in virtual time; handshakes
 * run in real time. */
#ifndef TACT_TESTS_NETWORK_SITES_H
#define TACT_TESTS_NETWORK_SITES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/network/network_internal.h"
#include "devices/registry.h"
#include "rt/session/remote_internal.h"
#include "rt/session/session_internal.h"

enum { PERSON, ROBOT, SITES };

static struct tact_scene *scenes[SITES];
static struct tact_session *sessions[SITES];
static struct tact_messages messages_of_sites[SITES]; /* where messages of the sites go, if set */

/* Creates and begins the session of scenes[site], whose first device is its end of the link;
 * record: file of its log, or NULL. */
static inline void open_session_of_site(int site, const char *record)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_error err = {.line = 0};
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = record;
    options.replace = 1;
    options.messages = messages_of_sites[site];
    if (tact_session_create(scenes[site], &options, &sessions[site], &err)) {
        fail_msg("%s: %s", err.key, err.text);
    }
    assert_int_equal(tact_session_begin(sessions[site]), 0);
}

static inline const struct tact_device_input *link_input_of_site(int site)
{
    return &sessions[site]->devices[0].input;
}

/* Value of an input of the site's end of the link, by its name. */
static inline double read_link_input(int site, const char *name)
{
    const struct tact_device_info *info = &sessions[site]->devices[0].device.info;
    for (int i = 0; i < info->input_count; i++) {
        if (!strcmp(info->input[i].name, name)) {
            return link_input_of_site(site)->channel[i];
        }
    }
    fail_msg("no input %s", name);
    return 0.0;
}

/* Force of the site's first tie on its joint. */
static inline double first_tie_force_of_site(int site)
{
    return sessions[site]->remotes[0].state.force;
}

static inline void step_both_sessions(void)
{
    for (int i = 0; i < SITES; i++) {
        assert_int_equal(tact_session_step(sessions[i], 0, NULL), 0);
    }
}

/* Whether the handshake of the site's end of the link is in progress. */
static inline int is_link_of_site_in_handshake(int site)
{
    struct tact_network_device *device = sessions[site]->devices[0].device.self;
    return atomic_load(&device->owner) == TACT_NETWORK_OF_MONITOR;
}

/* Steps both sessions until both ends of the link are connected, slowly during handshakes; returns
 * the number of ticks. */
static inline int wait_for_both_links(void)
{
    int ticks = 0;
    do {
        if (is_link_of_site_in_handshake(PERSON) || is_link_of_site_in_handshake(ROBOT)) {
            usleep(5000);
        }
        step_both_sessions();
        assert_true(++ticks < 5000);
    } while (link_input_of_site(PERSON)->state != TACT_DEVICE_OK ||
             link_input_of_site(ROBOT)->state != TACT_DEVICE_OK);
    return ticks;
}

static inline void close_sessions_of_sites(void)
{
    for (int i = 0; i < SITES; i++) {
        struct tact_session_report report;
        assert_int_equal(tact_session_end(sessions[i], &report), 0);
        tact_session_destroy(sessions[i]);
        tact_scene_free(scenes[i]);
    }
}

#endif
