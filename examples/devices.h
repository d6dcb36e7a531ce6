/* The parts of tact devices. */
#ifndef TACT_EXAMPLES_DEVICES_H
#define TACT_EXAMPLES_DEVICES_H

#include "devices/attached.h"

/* devices_json.c: all of the survey as one JSON object on stdout. Not 0 where that fails. */
int devices_json(const struct tact_attached *attached);

/* devices_test.c: the values of the device of that name, for some seconds, on stdout. No force.
 * Gives the exit code. */
int devices_test(const struct tact_attached *attached, const char *name, double seconds);

#endif
