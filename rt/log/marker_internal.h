/* Markers of visualization_msgs. */
#ifndef TACT_RT_LOG_MARKER_INTERNAL_H
#define TACT_RT_LOG_MARKER_INTERNAL_H

#include "cdr_internal.h"
#include "../../contact/pair/pressure.h"
#include "recorder.h"

/* The arrow of a contact, or its deletion if not touching: from the patch's centre along the force
 * on the first body, 1 cm per newton; red at the limit of friction or torsion. wall_ns: since 1970;
 * limits: enum tact_limit. */
void tact_put_arrow_marker(struct tact_cdr_writer *cdr, int64_t wall_ns, int32_t id, bool touching,
                           const double center[3], const double force[3], int limits);

/* All polygons of a pressure map as coloured triangles, from dark at 0 to light at the largest
 * pressure of the map; a deletion if it has none. wall_ns: as above. */
void tact_put_pressure_marker(struct tact_cdr_writer *cdr, int64_t wall_ns,
                              const struct tact_pressure *map);

#endif
