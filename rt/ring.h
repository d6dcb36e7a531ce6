/**
 * Wait-free ring between one producer thread and one consumer thread.
 *
 * Elements are of one size and are written and read in place. A full ring drops the newest element
 * and counts it: the producer never waits, and what was stored is never overwritten. Indices are
 * free-running 32-bit counters; the number stored is their difference, right across the wrap.
 *
 * The memory may be the caller's and shared between processes (tact_ring_place()): what the
 * producer committed is there for whoever maps it next, even where the producer was killed.
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

/** Opaque: a view of memory that two threads share. */
struct tact_ring;

/**
 * Makes a ring of at least `capacity` elements (rounded up to a power of two, see
 * tact_ring_capacity()) of element_size bytes, each aligned for any type; the memory is touched, so
 * that the producer does not page. Both indices start at start_index: 0 in use, near UINT32_MAX in
 * tests of the wrap. Not real-time safe.
 * @retval 0
 * @retval -EINVAL capacity is 0 or over 2^31, or element_size is 0 or too large
 * @retval -ENOMEM
 */
TACT_API int tact_ring_create(struct tact_ring **out, uint32_t capacity, size_t element_size,
                              uint32_t start_index);

/** Bytes that a ring takes in memory of the caller, a multiple of 64; 0 where tact_ring_create()
 *  would refuse the numbers. */
TACT_API size_t tact_ring_bytes(uint32_t capacity, size_t element_size);

/** As tact_ring_create(), in memory of the caller: tact_ring_bytes() of it, aligned to 64, which
 *  outlive the ring. Not real-time safe.
 * @retval 0, -EINVAL (also where it is not aligned) or -ENOMEM */
TACT_API int tact_ring_place(struct tact_ring **out, void *memory, uint32_t capacity,
                             size_t element_size, uint32_t start_index);

/** A view of a ring that tact_ring_place() made in this memory with the same numbers; it is left as
 *  it is. Not real-time safe. @retval as tact_ring_place() */
TACT_API int tact_ring_attach(struct tact_ring **out, void *memory, uint32_t capacity,
                              size_t element_size);

/** Frees it; neither side may use it any more. NULL is allowed. Not real-time safe. */
TACT_API void tact_ring_free(struct tact_ring *ring);

/** Producer: room for one element, to be filled and committed; the same room until then. NULL where
 *  the ring is full, which counts as one overrun. Its old content is left in it. Real-time safe. */
TACT_API void *tact_ring_reserve(struct tact_ring *ring);

/** Producer: hands the reserved element to the consumer. Only after a tact_ring_reserve() that gave
 *  room. Real-time safe. */
TACT_API void tact_ring_commit(struct tact_ring *ring);

/** Consumer: the oldest element, valid until it is released; NULL where the ring is empty.
 *  Real-time safe. */
TACT_API const void *tact_ring_peek(struct tact_ring *ring);

/** Consumer: gives the peeked element back to the producer. Only after a tact_ring_peek() that gave
 *  an element. Real-time safe. */
TACT_API void tact_ring_release(struct tact_ring *ring);

/** Consumer: the element `ahead` places behind the oldest one; NULL where there are not so many.
 *  For a consumer that gives back what it read only once it is safe elsewhere. Real-time safe. */
TACT_API const void *tact_ring_peek_at(struct tact_ring *ring, uint32_t ahead);

/** Consumer: gives the `count` oldest elements back, which tact_ring_peek_at() has shown. Real-time
 *  safe. */
TACT_API void tact_ring_release_many(struct tact_ring *ring, uint32_t count);

/** The place of the element with this index, whatever is in it. Real-time safe. */
TACT_API void *tact_ring_slot(struct tact_ring *ring, uint32_t index);

/** Index of the next element to be written, and of the oldest that is stored. Real-time safe. */
TACT_API uint32_t tact_ring_head(const struct tact_ring *ring);
TACT_API uint32_t tact_ring_tail(const struct tact_ring *ring);

/** Elements that the ring holds at most. Real-time safe. */
TACT_API uint32_t tact_ring_capacity(const struct tact_ring *ring);

/** Elements stored now: exact on either side's thread up to what the other does meanwhile, a
 * moment's estimate in [0, capacity] elsewhere. Real-time safe. */
TACT_API uint32_t tact_ring_occupancy(const struct tact_ring *ring);

/** Elements dropped because the ring was full. Real-time safe. */
TACT_API uint64_t tact_ring_overruns(const struct tact_ring *ring);

/** Most elements that were ever stored at once, as the producer saw it. Real-time safe. */
TACT_API uint32_t tact_ring_high_water(const struct tact_ring *ring);

TACT_END_DECLS

#endif
