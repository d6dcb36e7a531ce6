/* The parts of tact devices. */
#ifndef TACT_EXAMPLES_DEVICES_H
#define TACT_EXAMPLES_DEVICES_H

#include "devices/attached.h"

/* devices_json.c: all of the survey as one JSON object on stdout. Not 0 where that fails. */
int devices_json(const struct tact_attached *attached);

/* What is tested: one of the two. */
struct devices_target {
    const struct tact_attached_input *input;
    const struct tact_attached_board *board;
};

enum devices_force { DEVICES_FORCE_ASK, DEVICES_FORCE_YES, DEVICES_FORCE_NO };

/* devices_test.c: finds the device by its name, a part of it, or its path, which it tells where
 * there is none; its values for some seconds, on stdout. Give the exit code. */
int devices_find(const struct tact_attached *attached, const char *name,
                 struct devices_target *target);
int devices_test(const struct devices_target *target, double seconds);

/* devices_force.c: a gentle force on the output of that name (NULL: the one that is felt best; of a
 * board none), after asking. Gives the exit code. */
int devices_force(const struct devices_target *target, enum devices_force force,
                  const char *output);

#endif
