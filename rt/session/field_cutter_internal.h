/*
 * A device that computes polygons for the thread that measures contacts of pressure fields. For
 * each pair of a frame it computes those of the pairs of cells that the pair's last measurement
 * tested; a measurement computes the others, and has the same bits with and without the device.
 */
#ifndef TACT_RT_SESSION_FIELD_CUTTER_INTERNAL_H
#define TACT_RT_SESSION_FIELD_CUTTER_INTERNAL_H

#include <stdint.h>
#include "contact/pair/field/field_cuts_internal.h"
#include "contact/pair/measurement_internal.h"
#include "rt/session/session.h"

enum { MAX_SOURCE_FIELD_PAIRS = 32 }; /* largest number of pairs measured beside a tick */

struct session_field_cutter;

/* Opens a device for the fields of a world. is_device_always_used: also where it is slower than the
 * host. 0 or a negative errno with *err set. */
int tact_session_cutter_create(const struct tact_world *world, const char *device,
                               int is_device_always_used, tact_field_cutter_factory factory,
                               void *user, struct tact_messages messages,
                               struct session_field_cutter **out, struct tact_error *err);
void tact_session_cutter_destroy(struct session_field_cutter *c);

/* A frame, by the thread that measures: begins it; adds its pairs, each with its results; computes
 * these, unless the frame is measured without the device; counts what each measurement used; and
 * ends it, with the time of the whole frame. */
void tact_session_cutter_begin_frame(struct session_field_cutter *c);
struct tact_field_cuts *tact_session_cutter_add_pair(struct session_field_cutter *c, int pair,
                                                     const struct tact_pair_query *query,
                                                     const struct tact_pose *poses);
void tact_session_cutter_compute_frame(struct session_field_cutter *c);
void tact_session_cutter_count_polygons(struct session_field_cutter *c,
                                        const struct tact_field_cuts *cuts,
                                        const struct pair_measurement *measurement);
void tact_session_cutter_end_frame(struct session_field_cutter *c, int64_t frame_ns);

/* What it computed so far, from any thread. */
void tact_session_cutter_get_statistics(const struct session_field_cutter *c,
                                        struct tact_session_polygons *out);

#endif
