/* Two sessions with one end of a link each, stepped in turn in virtual time; handshakes take their
 * own. */
#ifndef TACT_TESTS_NETWORK_SITES_H
#define TACT_TESTS_NETWORK_SITES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/network/network_internal.h"
#include "devices/registry.h"
#include "rt/session/session_internal.h"

enum { PERSON, ROBOT, SITES };

static struct tact_scene *scenes[SITES];
static struct tact_session *sessions[SITES];

/* The end's session, of scenes[site], whose first device is the link; record: file of its log, or
 * NULL. */
static inline void open_site(int site, const char *record)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_error err = {.line = 0};
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = record;
    options.replace = 1;
    if (tact_session_create(scenes[site], &options, &sessions[site], &err)) {
        fail_msg("%s: %s", err.key, err.text);
    }
    assert_int_equal(tact_session_begin(sessions[site]), 0);
}

static inline const struct tact_device_input *input_at(int site)
{
    return &sessions[site]->devices[0].input;
}

static inline void step_both(void)
{
    for (int i = 0; i < SITES; i++) {
        assert_int_equal(tact_session_step(sessions[i], 0, NULL), 0);
    }
}

/* 1 while the handshake of an end is under way. */
static inline int is_seeking(int site)
{
    struct tact_network_device *device = sessions[site]->devices[0].device.self;
    return atomic_load(&device->owner) == TACT_NETWORK_OF_MONITOR;
}

/* Steps, slowly during handshakes, until both ends are there; returns the ticks that took. */
static inline int wait_for_both(void)
{
    int ticks = 0;
    do {
        if (is_seeking(PERSON) || is_seeking(ROBOT)) {
            usleep(5000);
        }
        step_both();
        assert_true(++ticks < 5000);
    } while (input_at(PERSON)->state != TACT_DEVICE_OK || input_at(ROBOT)->state != TACT_DEVICE_OK);
    return ticks;
}

static inline void close_sites(void)
{
    for (int i = 0; i < SITES; i++) {
        struct tact_session_report report;
        assert_int_equal(tact_session_end(sessions[i], &report), 0);
        tact_session_destroy(sessions[i]);
        tact_scene_free(scenes[i]);
    }
}

#endif
