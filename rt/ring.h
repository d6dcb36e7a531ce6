/**
 * Wait-free ring between one producer thread and one consumer thread.
 *
 * Elements have one size and are written and read in place. A full ring drops the newest element
 * and counts it: the producer never waits, and stored elements are never overwritten. Indices are
 * free-running 32-bit counters; the number of stored elements is their difference, also across the
 * wrap.
 *
 * The memory may be the caller's and shared between processes (tact_ring_create_at()): committed
 * elements are visible to the process that maps it next, even if the producer was killed.
 *
 * tact_ring_reserve() and tact_ring_commit() belong to the producer thread, tact_ring_peek() and
 * tact_ring_release() to the consumer thread; the counters may be read from any thread.
 */
#ifndef TACT_RT_RING_H
#define TACT_RT_RING_H

#include <stddef.h>
#include <stdint.h>
#include "../contact/api.h"

TACT_BEGIN_DECLS

/** Opaque: a view of memory that two threads use. */
struct tact_ring;

/**
 * Creates a ring of at least `capacity` elements (rounded up to a power of two, see
 * tact_ring_capacity()) of element_size bytes, each aligned for any type; the memory is touched, so
 * that the producer causes no page fault. Both indices start at start_index: 0 in use, near
 * UINT32_MAX in tests of the wrap. Not real-time safe.
 * @retval 0
 * @retval -EINVAL capacity is 0 or over 2^31, or element_size is 0 or too large
 * @retval -ENOMEM
 */
TACT_API int tact_ring_create(struct tact_ring **out, uint32_t capacity, size_t element_size,
                              uint32_t start_index);

/** Bytes of a ring in caller's memory, a multiple of 64; 0 if tact_ring_create() would refuse the
 * arguments. Real-time safe. */
TACT_API size_t tact_ring_bytes(uint32_t capacity, size_t element_size);

/** As tact_ring_create(), in memory of the caller: tact_ring_bytes() bytes, aligned to 64, which
 * outlive the ring. Not real-time safe.
 * @retval 0, -EINVAL (also if not aligned) or -ENOMEM */
TACT_API int tact_ring_create_at(struct tact_ring **out, void *memory, uint32_t capacity,
                                 size_t element_size, uint32_t start_index);

/** A view of a ring that tact_ring_create_at() created in this memory with the same arguments; its
 * content is unchanged. Not real-time safe.
 * @retval 0, -EINVAL (also if not aligned) or -ENOMEM */
TACT_API int tact_ring_attach(struct tact_ring **out, void *memory, uint32_t capacity,
                              size_t element_size);

/** Frees it; both sides must have stopped. NULL is allowed. Not real-time safe. */
TACT_API void tact_ring_free(struct tact_ring *ring);

/** Producer: the slot of the next element, to be filled and committed; the same slot until then.
 * NULL if the ring is full, which counts as one overrun. Its old content is unchanged. Real-time
 * safe. */
TACT_API void *tact_ring_reserve(struct tact_ring *ring);

/** Producer: commits the reserved element. Only after a non-NULL tact_ring_reserve(). Real-time
 * safe. */
TACT_API void tact_ring_commit(struct tact_ring *ring);

/** Consumer: the oldest element, valid until it is released; NULL if the ring is empty. Real-time
 * safe. */
TACT_API const void *tact_ring_peek(struct tact_ring *ring);

/** Consumer: releases the peeked element. Only after a non-NULL tact_ring_peek(). Real-time safe.
 */
TACT_API void tact_ring_release(struct tact_ring *ring);

/** Consumer: the element `ahead` after the oldest one; NULL if there are not as many. For a
 * consumer that releases elements only after it has stored them. Real-time safe. */
TACT_API const void *tact_ring_peek_at(struct tact_ring *ring, uint32_t ahead);

/** Consumer: releases the `count` oldest elements, which tact_ring_peek_at() has returned.
 * Real-time safe. */
TACT_API void tact_ring_release_many(struct tact_ring *ring, uint32_t count);

/** The slot of the element with this index, whatever its content. Real-time safe. */
TACT_API void *tact_ring_slot(struct tact_ring *ring, uint32_t index);

/** Index of the next element to be written, and of the oldest that is stored. Real-time safe. */
TACT_API uint32_t tact_ring_head(const struct tact_ring *ring);
/** Index of the oldest element that is stored, modulo 2^32. Real-time safe. */
TACT_API uint32_t tact_ring_tail(const struct tact_ring *ring);

/** Capacity in elements. Real-time safe. */
TACT_API uint32_t tact_ring_capacity(const struct tact_ring *ring);

/** Number of stored elements: on either side's thread exact except for concurrent changes by the
 * other, elsewhere an estimate in [0, capacity]. Real-time safe. */
TACT_API uint32_t tact_ring_occupancy(const struct tact_ring *ring);

/** Elements dropped because the ring was full. Real-time safe. */
TACT_API uint64_t tact_ring_overruns(const struct tact_ring *ring);

/** Maximum number of elements stored at once, as seen by the producer. Real-time safe. */
TACT_API uint32_t tact_ring_high_water(const struct tact_ring *ring);

TACT_END_DECLS

#endif
