/**
 * Layout of a tick's record: named ranges of doubles, fixed once the scene is loaded.
 *
 * A record is one flat array of doubles. From the layout follow the ros2msg schema of the log
 * (`float64[7] name` per field), the inputs and compared outputs of a replay, and the columns of an
 * export. Integers (states, counts, nanoseconds below 2^53) are stored as doubles exactly.
 *
 * A written record may end with a list of contacts, so that its size depends on the number of
 * contacts: their number, then for each a header and the fields of `element`. A record that is read
 * has no list: each pair that occurs anywhere in the log has fields of its own.
 *
 * Real-time safe but for those that say otherwise.
 */
#ifndef TACT_RT_LOG_LAYOUT_H
#define TACT_RT_LOG_LAYOUT_H

#include <stddef.h>
#include <stdint.h>
#include "../../contact/api.h"

TACT_BEGIN_DECLS

#define TACT_FIELD_NAME 64  /**< longest name of a field, with the zero */
#define TACT_FIELD_UNIT 256 /**< longest unit of a field, with the zero */

/** Maximum length of a record [doubles]: bounds the size of a chunk with one record. */
#define TACT_LAYOUT_MAX (1U << 17)

/** Maximum size of a record that is written, its header and its whole list included [bytes]. */
#define TACT_RECORD_BYTES_MAX (16U << 20)

/** Maximum length of a record that is read [doubles], with the fields of all pairs. */
#define TACT_LAYOUT_MAX_READ (1U << 23)

/** Doubles of a list element before its fields: the indices of the two shapes in the scene, and the
 * number of the pair among those of the same name, from 1. */
#define TACT_ELEMENT_HEAD 3

/** How a replay treats a field. */
enum tact_field_kind {
    TACT_FIELD_INPUT,  /**< external (devices, moments with their age): fed to a replay */
    TACT_FIELD_OUTPUT, /**< computed from state and inputs: compared by a replay bit for bit */
    TACT_FIELD_TIMING, /**< wall-clock measurements: neither fed nor compared */
};

/** A field of a record. */
struct tact_field {
    char name[TACT_FIELD_NAME]; /**< ROS field name: [a-z][a-z0-9_]*, no double underscore */
    char unit[TACT_FIELD_UNIT]; /**< unit, frame and order of the elements, for the schema's comment
                                 */
    enum tact_field_kind kind;  /**< role of the field in a replay */
    uint32_t offset; /**< offset of the field's first double in the record; of an element's field:
                        relative to the end of the element's header */
    uint32_t count;  /**< number of doubles, >= 1 */
    int listed;      /**< 1: the field belongs to a pair, added by tact_layout_add_pair() */
    double absent;   /**< value of each double of an element's field if the pair is not in the list
                        [as the field] */
};

/** The fields of a record, in order. */
struct tact_layout {
    struct tact_field *fields;   /**< [field_count] fields */
    uint32_t field_count;        /**< number of fields */
    uint32_t capacity;           /**< number of fields that memory is allocated for */
    uint32_t size;               /**< doubles in a record */
    uint32_t *taken;             /**< hash table of the names: index of the field plus 1, or 0;
                                    then suffixes to try for names that are used */
    uint32_t slots;              /**< size of the hash table, a power of two */
    struct tact_layout *element; /**< fields of a list element; NULL: no list */
    uint32_t most;               /**< maximum number of elements in a record's list */
};

/** Record of one tick: this header, then layout.size doubles. */
struct tact_record {
    uint64_t tick;    /**< from 0 */
    int64_t stamp_ns; /**< planned wake-up time t_k, CLOCK_MONOTONIC (free-wheeling: start + k h) */
    double values[];  /**< layout.size doubles */
};

/** Appends a field; name is sanitised to a ROS field name and made unique. Not real-time safe.
 * @return offset of the field; -ENOMEM; -EINVAL: record longer than TACT_LAYOUT_MAX, or unit too
 * long */
TACT_API long tact_layout_add(struct tact_layout *layout, enum tact_field_kind kind,
                              const char *name, const char *unit, uint32_t count);
/** Frees the memory of a layout; one that is all zero is allowed. Not real-time safe. */
TACT_API void tact_layout_free(struct tact_layout *layout);

/** Adds a list of at most `most` elements to a layout, with no fields of the elements yet. -ENOMEM,
 * or -EINVAL if it has a list. Not real-time safe. */
TACT_API int tact_layout_add_list(struct tact_layout *layout, uint32_t most);

/** Appends all fields of another layout, without its list. -ENOMEM, or -EINVAL if the record gets
 * too long. Not real-time safe. */
TACT_API int tact_layout_add_fields(struct tact_layout *layout, const struct tact_layout *from);

/** Appends the fields of a pair to the layout of a record that is read (up to
 * TACT_LAYOUT_MAX_READ): the element's fields prefixed by its name ("ruler/finger" and "wrench"
 * make ruler_finger_wrench). Returns the offset of the first, or a negative errno as
 * tact_layout_add(). Not real-time safe. */
TACT_API long tact_layout_add_pair(struct tact_layout *layout, const struct tact_layout *element,
                                   const char *name);

/** The field of that name, or NULL. */
TACT_API const struct tact_field *tact_layout_find(const struct tact_layout *layout,
                                                   const char *name);

/** 1 if both have the same fields in the same order, and the same list. */
TACT_API int tact_layout_equal(const struct tact_layout *a, const struct tact_layout *b);

/** Bytes of the longest record of this layout, header included: a multiple of 8. */
TACT_API size_t tact_layout_bytes(const struct tact_layout *layout);

/** Doubles of a list element, its header included. */
TACT_API uint32_t tact_layout_stride(const struct tact_layout *layout);

TACT_END_DECLS

#endif
