/*
 * A simulated gamepad for tests: an evdev node provided by umockdev.
 *
 *   const char *why;
 *   struct mock_pad *pad = mock_pad_new("Xbox 360 wired USB controller", &why);
 *   if (!pad) {
 *       printf("skipped: %s\n", why);
 *       return 77;
 *   }
 *   ... open mock_pad_node(pad) as `path`, or find it by `match: X-Box 360` ...
 *   mock_pad_send_events(pad, (const int[][3]){{EV_ABS, ABS_Z, 255}, {EV_KEY, BTN_SOUTH, 1}}, 2);
 *   mock_pad_free(pad);
 *
 * The device's name, identity, axes and buttons come from input_devices/capabilities.json, the
 * project's own or the real one (data.h). Axes are those of a pad: sticks -32768 .. 32767 with flat
 * 128, hats -1 .. 1, all others 0 .. 255, everything at rest. As in the kernel, unchanged values
 * and codes that the device lacks are dropped, a packet ends in a SYN_REPORT, and stamps are
 * CLOCK_MONOTONIC.
 *
 * MOCK_PUCK is a SpaceNavigator: six relative axes and two buttons; values of 0 are dropped.
 * MOCK_KEYBOARD has keys alone. MOCK_WIRELESS_RECEIVER declares, as the real one does, all axes and
 * keys that a paired device might have; MOCK_HEADSET two keys, 59 buttons from BTN_0 on and 24 axes
 * from ABS_MISC on. MOCK_LID_SWITCH has a switch and nothing else.
 *
 * Every read of the node goes to another thread and back (0.1 ms, 1 ms on a busy machine): no place
 * to measure time. The program must run with umockdev's preload library: name the test in the list
 * of tests/CMakeLists.txt (by hand: umockdev-wrapper build/tests/test_evdev). The kernel's
 * blocking, permissions and overruns are not simulated.
 */
#ifndef TACT_TEST_MOCK_PAD_H
#define TACT_TEST_MOCK_PAD_H

#include <jansson.h>
#include <stdbool.h>

#define MOCK_PUCK "3Dconnexion SpaceNavigator"
#define MOCK_KEYBOARD "AT Translated Set 2 keyboard"
#define MOCK_WIRELESS_RECEIVER "Microsoft Microsoft Nano Transceiver v2.0"
#define MOCK_HEADSET "Plantronics Plantronics Savi 7xx"
#define MOCK_LID_SWITCH "Lid Switch"

struct mock_pad;

/* JSON array of the input devices of both capability files, the project's own first; of two
 * devices of one name the first. The caller frees it by json_decref(). */
json_t *mock_pad_devices(void);

/* Makes a simulated pad and plugs it in, one at a time. `device` is a "name" of capabilities.json,
 * or one of MOCK_... Returns NULL on failure, with the reason in *mock_failure_reason. */
struct mock_pad *mock_pad_new(const char *device, const char **mock_failure_reason);

/* Path of the pad's device node, e.g. "/dev/input/event7". */
const char *mock_pad_node(const struct mock_pad *pad);

/* Sets the range and value of an axis for readers that open the node from now on, until the pad is
 * plugged in again. */
void mock_pad_set_axis(struct mock_pad *pad, int code, int minimum, int maximum, int flat,
                       int value);

/* Sends one packet of (type, code, value) triples; the reader can read it when this returns. */
void mock_pad_send_events(struct mock_pad *pad, const int (*events)[3], int count);

/* Simulates a reader too slow for these events: they change the pad's state, but only a notice
 * that events were dropped is sent. */
void mock_pad_drop_events(struct mock_pad *pad, const int (*events)[3], int count);

/* Unplugs the pad: the node is removed and, if `error`, reads fail with ENODEV as in the kernel.
 */
void mock_pad_unplug(struct mock_pad *pad, bool error);

/* Plugs the pad in again, with a new node and everything at rest. */
void mock_pad_plug(struct mock_pad *pad);

void mock_pad_free(struct mock_pad *pad);

#endif
