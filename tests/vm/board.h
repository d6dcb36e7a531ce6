/** Boards of comedi_test and comedi_parport in the virtual machine, and access to the other end of
 * their wires. */
#ifndef TACT_TEST_VM_BOARD_H
#define TACT_TEST_VM_BOARD_H

#include <comedilib.h>

/** 0 V of a range of -10 to 10 V. */
#define BOARD_ZERO 32768U
#define BOARD_MAX 65535U

/** Loads the drivers and attaches comedi_test to /dev/comedi0 and /dev/comedi1. Skips the test (77)
 * outside the virtual machine. */
void set_up_boards(void);

/** Attaches a driver ("comedi_test 2000000,50000") to a node, or detaches it where the driver is
 * NULL. */
void attach_board_driver(const char *node, const char *driver);

/** Duplicates the descriptor that process `pid` (0: this one) has of the node. The lock of the
 * outputs belongs to the open file, so through it a simulated plant can drive the other channels
 * of a locked board. */
int open_board_wire(int pid, const char *node);

/** Process id of a running tact-guard, or 0; and of the one that has a given node open. */
int find_guard_process(void);
int find_guard_process_of(const char *node);

/** Write or read one value through such a descriptor. */
void write_board_wire(int fd, unsigned int subdevice, unsigned int channel, lsampl_t raw);
lsampl_t read_board_wire(int fd, unsigned int subdevice, unsigned int channel);

/** The value of an analog output, read by another process, or -1. */
long read_board_output(const char *node, unsigned int channel);

#endif
