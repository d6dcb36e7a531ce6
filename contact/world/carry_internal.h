/* Measurements of pairs that are carried to later poses: overlap moments, and contacts of pressure
 * fields. */
#ifndef TACT_CONTACT_CARRY_INTERNAL_H
#define TACT_CONTACT_CARRY_INTERNAL_H

#include "contact/pair/measurement_internal.h"

struct tact_pressure_field;
struct tact_world;

/* Rotation vector from one pose to another. */
void tact_rotation_vector_between_poses(const struct tact_pose *from, const struct tact_pose *to,
                                        double rotation_vector[3]);

/* Displacement of a point fixed to a shape that also rotates by rotation_vector. */
void tact_point_displacement_between_poses(const struct tact_pose *from, const struct tact_pose *to,
                                           const double rotation_vector[3], const double point[3],
                                           double shift[3]);

/* 1 where the world has shapes with pressure fields. */
int tact_world_has_fields(const struct tact_world *world);

/* Lists the pressure fields of the world's shapes, each once. Returns their number, at most
 * `capacity`. Not real-time safe. */
size_t tact_world_list_fields(const struct tact_world *world,
                              const struct tact_pressure_field **fields, size_t capacity);

/* 1 where the pressure fields of a near pair are to be measured in this tick. */
int tact_world_must_measure_pair_fields(const struct tact_world *world, int pair);

/* Makes the query by which the pressure fields of a near pair can be measured on any thread while
 * the world exists; its poses are not set. Real-time safe. */
void tact_world_make_query_of_pair_fields(const struct tact_world *world, int pair,
                                          struct tact_pair_query *query);

/* 1 where a measurement of a close pair may be carried to the present poses: it is of these, or it
 * has a contact whose force changes little. Real-time safe. */
int tact_world_can_carry_measurement(const struct tact_world *world, int pair,
                                     const struct pair_measurement *measurement);

/* Sets the measurement that the solve of this tick uses for a close pair, carried to the present
 * poses, in place of a measurement at these. It must remain valid until then. Real-time safe. */
void tact_world_set_measurement(struct tact_world *world, int pair,
                                const struct pair_measurement *measurement);

/* Sets the clock by which the measurements of elastic contacts in the solve are timed; NULL: they
 * are not. */
void tact_world_set_measurement_clock(struct tact_world *world, int64_t (*now)(void));

/* Time that the model took to measure a near pair in the solve of this tick [ns]; 0: it was not
 * measured or not timed. */
int64_t tact_world_measurement_ns(const struct tact_world *world, int pair);

/* Carries a measurement that can be carried to the present poses, and adds its counts. As measure()
 * of a model. */
int tact_carry_measurement_to_poses(const struct tact_world *world, int a, int b,
                                    const struct pair_measurement *measurement, int *counts,
                                    struct tact_patch *patch, struct tact_pair_piece *piece);

#endif
