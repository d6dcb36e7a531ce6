/* Prints the results of `tact moments`, as a table or as JSON. */
#ifndef TACT_EXAMPLES_MOMENTS_PRINT_H
#define TACT_EXAMPLES_MOMENTS_PRINT_H

#include "contact/moments/patch.h"
#include "measure.h"

/* Prints one JSON object; resolution is 0 if no rays were cast. Returns 0, or -1 on failure. */
int moments_print_json(const struct measured_overlap *r, const struct tact_patch *patch,
                       const char *method, int resolution);
void moments_print_table(const struct measured_overlap *r, const struct tact_patch *patch);

#endif
