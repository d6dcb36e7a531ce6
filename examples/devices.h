/* Functions of tact devices. */
#ifndef TACT_EXAMPLES_DEVICES_H
#define TACT_EXAMPLES_DEVICES_H

#include <jansson.h>
#include "devices/attached/attached.h"

/* devices_json.c: print the survey, or another JSON object, which is then freed, on stdout. Return
 * nonzero on failure. Names from devices are made valid UTF-8. */
int devices_json(const struct tact_attached *attached);
int devices_print_json(json_t *all);
json_t *devices_text(const char *value);

/* The device to be tested: an input device or a board; the other one is NULL. */
struct devices_test_target {
    const struct tact_attached_input *input;
    const struct tact_attached_board *board;
};

enum devices_force_consent { DEVICES_FORCE_ASK, DEVICES_FORCE_YES, DEVICES_FORCE_NO };

/* devices_test.c: the input device of that path or name, or the only one whose name contains the
 * text, else NULL; *matching_device_count: number of devices that match. */
const struct tact_attached_input *devices_find_input_device(const struct tact_attached *attached,
                                                            const char *name,
                                                            int *matching_device_count);
/* Finds the device by its name, a substring of it, or its path, and reports if there is none.
 * Returns the exit code. */
int devices_find_by_name(const struct tact_attached *attached, const char *name,
                         struct devices_test_target *target);
/* Prints the device's values for some seconds on stdout, or adds them to `report` if that is not
 * NULL. Returns the exit code. */
int devices_show_live_values(const struct devices_test_target *target, double seconds,
                             json_t *report);

/* Prints on stderr why a device cannot be opened and how to get access. Returns nonzero if it
 * cannot be opened. */
int devices_report_no_access(const struct tact_attached_access *access);

/* devices_force.c: plays a gentle force on the output of that name (NULL: the strongest
 * kind; none for a board), after a question. Returns the exit code. */
int devices_test_force_output(const struct devices_test_target *target,
                              enum devices_force_consent force, const char *output, json_t *report);

#endif
