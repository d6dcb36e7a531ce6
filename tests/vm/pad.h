/** A pad made with uinput: axes X and Y (-1000 to 1000), RX (0 to 255) and the button SOUTH. */
#ifndef TACT_TEST_VM_PAD_H
#define TACT_TEST_VM_PAD_H

#define PAD_NAME "tact test pad"

/** Plugs it in; returns uinput's descriptor. Loads the drivers the first time. */
int pad_plug(void);

/** Takes it off. */
void pad_unplug(int fd);

/** Sends one event without, or with, the report's end. */
void pad_send(int fd, int type, int code, int value);
void pad_sync(int fd);

#endif
