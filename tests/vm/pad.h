/** Devices made with uinput: a pad with axes X and Y (-1000 to 1000), RX (0 to 255) and the button
 * SOUTH; a six-axis puck with the buttons 0 and 1 and axes X to RZ, relative or absolute (-350 to
 * 350). */
#ifndef TACT_TEST_VM_PAD_H
#define TACT_TEST_VM_PAD_H

#define PAD_NAME "tact test pad"
#define PUCK_NAME "tact test puck"

/** Plugs one in; returns uinput's descriptor. Loads the drivers the first time. `type` is EV_REL or
 * EV_ABS. */
int pad_plug(void);
int puck_plug(int type);

/** Unplugs it. */
void pad_unplug(int fd);

/** pad_send() sends one event; pad_sync() ends the report. */
void pad_send(int fd, int type, int code, int value);
void pad_sync(int fd);

#endif
