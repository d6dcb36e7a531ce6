/** Whether a device that is played reported what the recorded one did. */
#ifndef TACT_TEST_VM_SAME_H
#define TACT_TEST_VM_SAME_H

#include <stdint.h>

/** Compares what a device ("board_input") reported in two logs, bit for bit, for all ticks of the
 * first: its state, how long before the tick it was stamped (from a tick on), its channels. Fails
 * the test where something differs; states: in how many ticks it was in each. Returns the ticks
 * compared. */
int same_device(const char *live, const char *again, const char *field, uint64_t stamped,
                int states[4]);

#endif
