/* The state of a contact in words, as the page of the live view has it (viewer/page/wire.js). */
#ifndef TACT_EXAMPLES_CONTACT_STATE_H
#define TACT_EXAMPLES_CONTACT_STATE_H

#include <stddef.h>

#include "contact/limits.h"

#define CONTACT_STATE_TEXT_BYTES 96 /* enough for every state */

/* Which limits the contact has reached, "slips: torsion 100 %" for example, or else how much of the
 * limit of friction and torsion it uses. limits: enum tact_limit bits; normal: normal force [N];
 * out: CONTACT_STATE_TEXT_BYTES. Returns out. */
char *describe_contact_state(int limits, double normal, const struct tact_margins *margins,
                             char *out);

#endif
