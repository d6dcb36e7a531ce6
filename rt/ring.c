#include "rt/ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE_BYTES 64

/* At the start of the ring's memory. Each side writes only its own cache line. Other processes may
 * map it: lock-free atomics work across processes. */
struct ring_shared_counters {
    /* index of the next element that the producer writes */
    _Alignas(CACHE_LINE_BYTES) _Atomic uint32_t head;
    _Atomic uint32_t max_filled_element_count;
    _Atomic uint64_t overruns;
    /* index of the next element that the consumer reads */
    _Alignas(CACHE_LINE_BYTES) _Atomic uint32_t tail;
};

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "the ring's counters must be lock-free, as processes share them");

struct tact_ring {
    struct ring_shared_counters *shared_counters;
    uint32_t ring_index_mask;
    size_t stride;
    unsigned char *ring_elements;
    void *ring_allocation; /* memory that is freed with the ring, or NULL if it is the caller's */
};

static uint32_t next_power_of_two(uint32_t n)
{
    uint32_t p = 1;
    while (p < n) {
        p <<= 1;
    }
    return p;
}

/* Rounded up so that every element is aligned for any type; 0 if the size is invalid. */
static size_t aligned_element_stride(size_t element_size)
{
    const size_t element_alignment = _Alignof(max_align_t);
    return element_size == 0 || element_size > SIZE_MAX / 4
               ? 0
               : (element_size + element_alignment - 1) / element_alignment * element_alignment;
}

size_t tact_ring_bytes(uint32_t capacity, size_t element_size)
{
    const size_t stride = aligned_element_stride(element_size);
    if (capacity == 0 || capacity > UINT32_C(1) << 31 || stride == 0) {
        return 0;
    }
    const uint32_t slots = next_power_of_two(capacity);
    if (stride > (SIZE_MAX / 2) / slots) {
        return 0;
    }
    return sizeof(struct ring_shared_counters) +
           (slots * stride + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
}

int tact_ring_attach(struct tact_ring **out, void *memory, uint32_t capacity, size_t element_size)
{
    if (tact_ring_bytes(capacity, element_size) == 0 || (uintptr_t)memory % CACHE_LINE_BYTES != 0) {
        return -EINVAL;
    }
    struct tact_ring *ring = malloc(sizeof *ring);
    if (!ring) {
        return -ENOMEM;
    }
    *ring = (struct tact_ring){.shared_counters = memory,
                               .ring_index_mask = next_power_of_two(capacity) - 1,
                               .stride = aligned_element_stride(element_size),
                               .ring_elements =
                                   (unsigned char *)memory + sizeof(struct ring_shared_counters)};
    *out = ring;
    return 0;
}

int tact_ring_create_at(struct tact_ring **out, void *memory, uint32_t capacity,
                        size_t element_size, uint32_t start_index)
{
    const int rc = tact_ring_attach(out, memory, capacity, element_size);
    if (rc != 0) {
        return rc;
    }
    memset(memory, 0, tact_ring_bytes(capacity, element_size));
    struct ring_shared_counters *shared_counters = memory;
    atomic_init(&shared_counters->head, start_index);
    atomic_init(&shared_counters->tail, start_index);
    atomic_init(&shared_counters->max_filled_element_count, 0);
    atomic_init(&shared_counters->overruns, 0);
    return 0;
}

int tact_ring_create(struct tact_ring **out, uint32_t capacity, size_t element_size,
                     uint32_t start_index)
{
    const size_t bytes = tact_ring_bytes(capacity, element_size);
    if (bytes == 0) {
        return -EINVAL;
    }
    void *memory = aligned_alloc(CACHE_LINE_BYTES, bytes);
    if (!memory) {
        return -ENOMEM;
    }
    const int rc = tact_ring_create_at(out, memory, capacity, element_size, start_index);
    if (rc != 0) {
        free(memory);
        return rc;
    }
    (*out)->ring_allocation = memory;
    return 0;
}

void tact_ring_free(struct tact_ring *ring)
{
    if (ring) {
        free(ring->ring_allocation);
        free(ring);
    }
}

/* Only its own thread writes a counter: a load and a store suffice, without an atomic
 * read-modify-write. */
void *tact_ring_reserve(struct tact_ring *ring)
{
    const uint32_t head = atomic_load_explicit(&ring->shared_counters->head, memory_order_relaxed);
    const uint32_t tail = atomic_load_explicit(&ring->shared_counters->tail, memory_order_acquire);
    const uint32_t stored_element_count = head - tail;
    if (stored_element_count > ring->ring_index_mask) {
        const uint64_t n =
            atomic_load_explicit(&ring->shared_counters->overruns, memory_order_relaxed);
        atomic_store_explicit(&ring->shared_counters->overruns, n + 1, memory_order_relaxed);
        return NULL;
    }
    if (stored_element_count >=
        atomic_load_explicit(&ring->shared_counters->max_filled_element_count,
                             memory_order_relaxed)) {
        atomic_store_explicit(&ring->shared_counters->max_filled_element_count,
                              stored_element_count + 1, memory_order_relaxed);
    }
    return tact_ring_slot(ring, head);
}

void tact_ring_commit(struct tact_ring *ring)
{
    const uint32_t head = atomic_load_explicit(&ring->shared_counters->head, memory_order_relaxed);
    atomic_store_explicit(&ring->shared_counters->head, head + 1, memory_order_release);
}

const void *tact_ring_peek(struct tact_ring *ring)
{
    return tact_ring_peek_at(ring, 0);
}

const void *tact_ring_peek_at(struct tact_ring *ring, uint32_t ahead)
{
    const uint32_t tail = atomic_load_explicit(&ring->shared_counters->tail, memory_order_relaxed);
    const uint32_t head = atomic_load_explicit(&ring->shared_counters->head, memory_order_acquire);
    return head - tail <= ahead ? NULL : tact_ring_slot(ring, tail + ahead);
}

void tact_ring_release(struct tact_ring *ring)
{
    tact_ring_release_many(ring, 1);
}

void tact_ring_release_many(struct tact_ring *ring, uint32_t count)
{
    const uint32_t tail = atomic_load_explicit(&ring->shared_counters->tail, memory_order_relaxed);
    atomic_store_explicit(&ring->shared_counters->tail, tail + count, memory_order_release);
}

void *tact_ring_slot(struct tact_ring *ring, uint32_t index)
{
    return ring->ring_elements + (index & ring->ring_index_mask) * ring->stride;
}

uint32_t tact_ring_head(const struct tact_ring *ring)
{
    return atomic_load_explicit(&ring->shared_counters->head, memory_order_acquire);
}

uint32_t tact_ring_tail(const struct tact_ring *ring)
{
    return atomic_load_explicit(&ring->shared_counters->tail, memory_order_acquire);
}

uint32_t tact_ring_capacity(const struct tact_ring *ring)
{
    return ring->ring_index_mask + 1;
}

uint32_t tact_ring_occupancy(const struct tact_ring *ring)
{
    /* Read the tail first: a tail read after the head may have passed it. What the producer adds
     * between the two loads can make the difference exceed the capacity. */
    const uint32_t tail = atomic_load_explicit(&ring->shared_counters->tail, memory_order_acquire);
    const uint32_t head = atomic_load_explicit(&ring->shared_counters->head, memory_order_acquire);
    const uint32_t stored_element_count = head - tail;
    return stored_element_count > ring->ring_index_mask ? ring->ring_index_mask + 1
                                                        : stored_element_count;
}

uint64_t tact_ring_overruns(const struct tact_ring *ring)
{
    return atomic_load_explicit(&ring->shared_counters->overruns, memory_order_relaxed);
}

uint32_t tact_ring_high_water(const struct tact_ring *ring)
{
    return atomic_load_explicit(&ring->shared_counters->max_filled_element_count,
                                memory_order_relaxed);
}
