/* Boards of comedi_test and comedi_parport in the virtual machine, and access to the other end of
 * their wires. */
#ifndef TACT_TEST_VM_BOARD_H
#define TACT_TEST_VM_BOARD_H

#include <comedilib.h>

/* Raw value of 0 V in a range of -10 to 10 V. */
#define BOARD_RAW_VALUE_OF_ZERO_VOLTS 32768U
#define LARGEST_BOARD_RAW_VALUE 65535U

/* Loads the drivers and attaches comedi_test to /dev/comedi0 and /dev/comedi1. Skips the test (77)
 * outside the virtual machine. */
void set_up_boards(void);

/* Attaches a driver ("comedi_test 2000000,50000") to a node, or detaches it where the driver is
 * NULL. */
void attach_board_driver(const char *node, const char *driver);

/* Duplicates the descriptor by which process `pid` (0: this one) has the node open. The lock of
 * the outputs belongs to the open file, so that a simulated plant can drive the other channels of a
 * locked board through the duplicate. */
int open_channels_of_process(int pid, const char *node);

/* Process id of a running tact-guard, or 0; and of the tact-guard that has a given node open. */
int find_guard_process(void);
int find_guard_process_of_node(const char *node);

/* Write or read one raw value of a channel through a descriptor of the board. */
void write_board_channel(int fd, unsigned int subdevice, unsigned int channel, lsampl_t raw);
lsampl_t read_board_channel(int fd, unsigned int subdevice, unsigned int channel);

/* The raw value of an analog output, read by another process than the one that locked it, or -1.
 */
long read_board_output(const char *node, unsigned int channel);

#endif
