/** Boards of comedi_test and comedi_parport in the machine, and the other end of their wires. */
#ifndef TACT_TEST_VM_BOARD_H
#define TACT_TEST_VM_BOARD_H

#include <comedilib.h>

/** 0 V of a range of -10 to 10 V. */
#define BOARD_ZERO 32768U
#define BOARD_MAX 65535U

/** Loads the drivers and attaches comedi_test to /dev/comedi0 and /dev/comedi1. Ends the test with
 * 77 where this is no such machine. */
void board_setup(void);

/** Attaches a driver ("comedi_test 2000000,50000") to a node, or takes it off where it is NULL. */
void board_attach(const char *node, const char *driver);

/** A descriptor of the same open file that process `pid` (0: this one) has of the node. The lock of
 * the outputs is the file's: through it a plant can drive the other channels of a locked board. */
int board_wire(int pid, const char *node);

/** Process id of a tact-guard that runs, or 0; and of the one that has a node open. */
int board_guard(void);
int board_guard_of(const char *node);

/** One instruction each through such a descriptor. */
void board_wire_write(int fd, unsigned int subdevice, unsigned int channel, lsampl_t raw);
lsampl_t board_wire_read(int fd, unsigned int subdevice, unsigned int channel);

/** What a process of its own reads back from an analog output, or -1. */
long board_output(const char *node, unsigned int channel);

#endif
