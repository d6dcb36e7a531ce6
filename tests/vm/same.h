/** Compares the values of a played device with those of the recorded one. */
#ifndef TACT_TEST_VM_SAME_H
#define TACT_TEST_VM_SAME_H

#include <stdint.h>

/** Compares a device ("board_input") in two logs, bit for bit, for all ticks of the first: its
 * state, the age of its stamp (from tick `stamped` on), its channels. Fails the test at the first
 * difference. states: number of ticks in each state. Returns the number of ticks compared. */
int compare_replayed_device(const char *live, const char *again, const char *field,
                            uint64_t stamp_to_find, int states[4]);

#endif
