/**
 * Latest-value triple buffer between one writer thread and one reader thread.
 *
 * The reader always gets the newest published value and neither side ever waits: of three slots one
 * belongs to the writer, one to the reader, and one is exchanged. Values that were replaced by a
 * newer one before they were read are counted.
 *
 * tact_triple_write_begin() and tact_triple_publish() belong to the writer thread,
 * tact_triple_read() and tact_triple_sequence() to the reader thread; the counters may be read from
 * any thread.
 */
#ifndef TACT_RT_TRIPLE_H
#define TACT_RT_TRIPLE_H

#include <stddef.h>
#include <stdint.h>
#include "../contact/api.h"

TACT_BEGIN_DECLS

/** Opaque: memory that two threads use. */
struct tact_triple;

/**
 * Creates a buffer for values of value_size bytes, aligned to a cache line and zeroed. The first
 * published value has the sequence number start_sequence (0 in use, near UINT32_MAX in tests of the
 * wrap). Not real-time safe.
 * @retval 0
 * @retval -EINVAL value_size is 0 or too large
 * @retval -ENOMEM
 */
TACT_API int tact_triple_create(struct tact_triple **out, size_t value_size,
                                uint32_t start_sequence);

/** Frees it; both sides must have stopped. NULL is allowed. Not real-time safe. */
TACT_API void tact_triple_free(struct tact_triple *triple);

/** Writer: the slot to fill with the next value, the same until it is published. It has an older
 * value or zeros: write all of it. Real-time safe. */
TACT_API void *tact_triple_write_begin(struct tact_triple *triple);

/** Writer: publishes the slot of tact_triple_write_begin(). Real-time safe. */
TACT_API void tact_triple_publish(struct tact_triple *triple);

/** Reader: the newest published value, valid until the next call; NULL before the first is
 * published. *fresh (may be NULL) is 1 if the value is new since the last call, else 0. Real-time
 * safe. */
TACT_API const void *tact_triple_read(struct tact_triple *triple, int *fresh);

/** Reader: sequence number of the value that the last tact_triple_read() returned: start_sequence
 * for the first published value, incremented for each later one, modulo 2^32. Real-time safe. */
TACT_API uint32_t tact_triple_sequence(const struct tact_triple *triple);

/** Values published so far. Real-time safe. */
TACT_API uint64_t tact_triple_published(const struct tact_triple *triple);

/** Values replaced by a newer one before they were read. Real-time safe. */
TACT_API uint64_t tact_triple_overwritten(const struct tact_triple *triple);

TACT_END_DECLS

#endif
