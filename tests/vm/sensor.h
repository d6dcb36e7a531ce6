/** Force-torque sensors, streams and recordings on comedi_test: part of test_comedi in the virtual
 * machine. */
#ifndef TACT_TEST_VM_SENSOR_H
#define TACT_TEST_VM_SENSOR_H

void wrench_passes_through_a_session(void **state);
void tare_measures_the_zero(void **state);
void stream_is_read_beside_the_loop(void **state);
void overflowing_stream_is_restarted(void **state);
void cards_are_played_to_the_bit(void **state);

/** Number of calls of ioctl(2) that this program has made. */
int count_ioctl_calls(void);

#endif
