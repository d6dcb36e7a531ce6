/* Recordings of input devices: part of test_pad in the virtual machine. */
#ifndef TACT_TEST_VM_EVENTS_H
#define TACT_TEST_VM_EVENTS_H

void event_recordings_are_played_to_the_bit(void **state);

#endif
