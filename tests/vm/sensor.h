/* Force-torque sensors, streams and recordings on comedi_test: part of test_comedi in the virtual
 * machine. */
#ifndef TACT_TEST_VM_SENSOR_H
#define TACT_TEST_VM_SENSOR_H

void gauge_wrench_passes_through_a_session(void **state);
void tare_measures_the_zero_of_a_wrench_sensor(void **state);
void board_stream_is_read_beside_the_loop(void **state);
void overflowing_board_stream_is_restarted(void **state);
void card_recordings_are_played_to_the_bit(void **state);

/* Number of calls of ioctl(2) that this program has made. */
int count_ioctl_calls(void);

#endif
