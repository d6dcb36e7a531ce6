/**
 * Layout of a tick's record: named runs of doubles, known once the scene is loaded.
 *
 * A record is one flat array of doubles. The layout says what stands where; it becomes the ros2msg
 * schema of the log (`float64[7] name` a field), the replay's list of what to feed and what to
 * compare, and the columns of an export. Whole numbers (states, counts, nanoseconds below 2^53) are
 * stored as doubles exactly.
 *
 * A record that is written may end with a list of contacts, so that its size goes with those that
 * there are: their number, then of each a head and the fields of `element`. A record that is read
 * has none: the reader gives each pair that a log has anywhere fields of its own.
 */
#ifndef TACT_RT_LOG_LAYOUT_H
#define TACT_RT_LOG_LAYOUT_H

#include <stddef.h>
#include <stdint.h>
#include "../../contact/api.h"

TACT_BEGIN_DECLS

#define TACT_FIELD_NAME 64
#define TACT_FIELD_UNIT 256

/** The longest record [doubles]: keeps a chunk of one record, and the sums of offsets, small. */
#define TACT_LAYOUT_MOST (1U << 17)

/** The longest record of a reader [doubles], of all pairs together. */
#define TACT_LAYOUT_MOST_READ (1U << 23)

/** Doubles of a list's element before its fields: the two shapes, by their places in the scene, and
 *  the number of the pair among those of the same name, from 1. */
#define TACT_ELEMENT_HEAD 3

/** What a field is to a replay. */
enum tact_field_kind {
    TACT_FIELD_INPUT,  /**< came from outside (devices, moments with their age): fed to a replay */
    TACT_FIELD_OUTPUT, /**< follows from state and inputs: compared by a replay, bit by bit */
    TACT_FIELD_TIMING, /**< wall-clock measurements: kept, neither fed nor compared */
};

struct tact_field {
    char name[TACT_FIELD_NAME]; /**< ROS field name: [a-z][a-z0-9_]*, no double underscore */
    char unit[TACT_FIELD_UNIT]; /**< unit, frame and order of the elements, for the schema's comment
                                 */
    enum tact_field_kind kind;
    uint32_t offset; /**< first double in the record; of an element's field behind its head */
    uint32_t count;  /**< number of doubles, >= 1 */
    int listed;      /**< 1: of a pair, by tact_layout_add_pair() */
    double absent;   /**< of an element's field: each of them where the pair is not in the list */
};

struct tact_layout {
    struct tact_field *fields;
    uint32_t field_count;
    uint32_t capacity;
    uint32_t size;               /**< doubles in a record */
    uint32_t *taken;             /**< hash table of the names: number of the field and 1, or 0 */
    uint32_t slots;              /**< of that table, a power of two */
    struct tact_layout *element; /**< fields of an element of the list; NULL: there is no list */
    uint32_t most;               /**< elements that a record has room for */
};

/** One tick as it goes through the ring: this head, then layout.size doubles. */
struct tact_record {
    uint64_t tick;    /**< from 0 */
    int64_t stamp_ns; /**< planned wake-up time t_k, CLOCK_MONOTONIC (free-wheeling: start + k h) */
    double values[];  /**< layout.size doubles */
};

/** Appends a field; name is sanitised to a ROS field name and made unique. Returns its offset or a
 *  negative errno (-ENOMEM; -EINVAL, as where the record gets longer than TACT_LAYOUT_MOST, or a
 *  unit does not fit: none is cut). Not real-time safe. */
TACT_API long tact_layout_add(struct tact_layout *layout, enum tact_field_kind kind,
                              const char *name, const char *unit, uint32_t count);
TACT_API void tact_layout_free(struct tact_layout *layout);

/** Gives a layout a list of at most `most` elements; the fields of element, which is empty then,
 *  follow. -ENOMEM, or -EINVAL where there is one. Not real-time safe. */
TACT_API int tact_layout_add_list(struct tact_layout *layout, uint32_t most);

/** Appends all fields of another layout, without its list. -ENOMEM, or -EINVAL where the record
 * gets too long. Not real-time safe. */
TACT_API int tact_layout_add_fields(struct tact_layout *layout, const struct tact_layout *from);

/** Appends the fields of a pair, those of an element under its name ("ruler/finger" and "wrench"
 * make ruler_finger_wrench): for a record that is read, up to TACT_LAYOUT_MOST_READ. Returns the
 * offset of the first or a negative errno, as tact_layout_add(). Not real-time safe. */
TACT_API long tact_layout_add_pair(struct tact_layout *layout, const struct tact_layout *element,
                                   const char *name);

/** The field of that name, or NULL. */
TACT_API const struct tact_field *tact_layout_find(const struct tact_layout *layout,
                                                   const char *name);

/** 1 where both have the same fields in the same order, and the same list. */
TACT_API int tact_layout_equal(const struct tact_layout *a, const struct tact_layout *b);

/** Bytes of the longest record of this layout, head included: a multiple of 8. */
TACT_API size_t tact_layout_bytes(const struct tact_layout *layout);

/** Doubles of an element of the list, its head included. */
TACT_API uint32_t tact_layout_stride(const struct tact_layout *layout);

TACT_END_DECLS

#endif
