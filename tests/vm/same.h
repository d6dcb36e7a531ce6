/* Compares a device in two logs: as recorded live, and as played from the recording. */
#ifndef TACT_TEST_VM_SAME_H
#define TACT_TEST_VM_SAME_H

#include <stdint.h>

/* Compares a device ("board_input") in two logs bit for bit, for all ticks of the first: state,
 * age of the stamp (from tick `first_stamped_tick` on), channels. Fails the test at the first
 * difference. tick_counts_by_device_state: gets the number of ticks in each state. Returns the
 * number of compared ticks.
 */
int compare_replayed_device(const char *live_log_path, const char *replayed_log_path,
                            const char *field, uint64_t first_stamped_tick,
                            int tick_counts_by_device_state[4]);

#endif
