/**
 * The vtable of field cutters: devices that compute polygons of contacts of pressure fields before
 * the query that needs them.
 *
 * The thread that measures contacts of pressure fields beside the tick passes it, for each pair of
 * fields, the pairs of cells that the last measurement tested. A measurement uses the results that
 * it needs and computes the others: they have the bits of the host's, so that a contact is the same
 * whatever a cutter computed.
 */
#ifndef TACT_RT_FIELD_CUTTER_H
#define TACT_RT_FIELD_CUTTER_H

#include <stddef.h>
#include <stdint.h>
#include "../contact/api.h"
#include "../contact/error.h"
#include "../contact/version.h"
#include "message.h"

TACT_BEGIN_DECLS

struct tact_pressure_field; /* contact/pair/field/field.h */
/** Pairs of cells of two pressure fields at a pose, and their polygons; internal to the library. */
struct tact_field_cuts;

/** Fields and capacities of a cutter, fixed for its life. The fields must outlive it. */
struct tact_field_cutter_scene {
    const struct tact_pressure_field *const *fields; /**< [field_count] fields */
    uint32_t field_count;                            /**< number of fields */
    uint32_t pair_capacity;                          /**< pairs of fields in one call */
    uint32_t candidate_capacity;                     /**< pairs of cells in one call */
    uint32_t polygon_capacity;                       /**< polygons of one call */
};

/** Implementation of a cutter: what a session calls, with `self` of the cutter. */
struct tact_field_cutter_ops {
    struct tact_abi abi; /**< TACT_ABI(struct tact_field_cutter_ops) */
    /** Computes the polygons of `count` pairs of fields, which are valid until the next call; what
     * has no room is not computed. Called by one thread. 0, or a negative errno: nothing was
     * computed. */
    int (*cut)(void *self, struct tact_field_cuts *const *cuts, size_t count);
    /** Frees the cutter. */
    void (*close)(void *self);
};

/** An open cutter. */
struct tact_field_cutter {
    const struct tact_field_cutter_ops *ops; /**< its functions */
    void *self;                              /**< passed to them */
    char name[64]; /**< name of the cutter for reports, such as "opencl: pthread-..." */
};

/** Creates a cutter of the fields of a scene. device: the device that the scene names, or NULL.
 * Returns 0, or a negative errno with *err set. */
typedef int (*tact_field_cutter_factory)(void *user, const struct tact_field_cutter_scene *scene,
                                         const char *device, struct tact_messages messages,
                                         struct tact_field_cutter *out, struct tact_error *err);

TACT_END_DECLS

#endif
