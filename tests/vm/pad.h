/* Devices made with uinput: a pad with axes X and Y (-1000 to 1000), RX (0 to 255) and the button
 * SOUTH; a six-axis puck with the buttons 0 and 1 and axes X to RZ, relative or absolute (-350 to
 * 350). */
#ifndef TACT_TEST_VM_PAD_H
#define TACT_TEST_VM_PAD_H

#define PAD_NAME "tact test pad"
#define PUCK_NAME "tact test puck"

/* Plug in a simulated pad, or a puck with axes of `type` EV_REL or EV_ABS; return uinput's
 * descriptor. Load the drivers at the first call. */
int plug_in_pad(void);
int plug_in_puck(int type);

/* Unplugs it. */
void unplug_pad(int fd);

/* send_pad_event() sends one event; end_pad_report() ends the report. */
void send_pad_event(int fd, int type, int code, int value);
void end_pad_report(int fd);

#endif
