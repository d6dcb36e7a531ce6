#include "rt/ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64

/* Each side writes only its own line, so that neither slows the other. */
struct tact_ring {
    _Alignas(CACHE_LINE) _Atomic uint32_t head; /* next to be written */
    _Atomic uint32_t high_water;
    _Atomic uint64_t overruns;
    _Alignas(CACHE_LINE) _Atomic uint32_t tail; /* next to be read */
    _Alignas(CACHE_LINE) uint32_t mask;
    size_t stride;
    unsigned char *elements;
};

static uint32_t power_of_two(uint32_t n)
{
    uint32_t p = 1;
    while (p < n) {
        p <<= 1;
    }
    return p;
}

int tact_ring_create(struct tact_ring **out, uint32_t capacity, size_t element_size,
                     uint32_t start_index)
{
    const size_t align = _Alignof(max_align_t);
    if (capacity == 0 || capacity > UINT32_C(1) << 31 || element_size == 0 ||
        element_size > SIZE_MAX / 4) {
        return -EINVAL;
    }
    const uint32_t slots = power_of_two(capacity);
    const size_t stride = (element_size + align - 1) / align * align;
    if (stride > (SIZE_MAX - CACHE_LINE) / slots) {
        return -EINVAL;
    }
    const size_t bytes = (slots * stride + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    struct tact_ring *ring = aligned_alloc(CACHE_LINE, sizeof *ring);
    unsigned char *elements = aligned_alloc(CACHE_LINE, bytes);
    if (!ring || !elements) {
        free(ring);
        free(elements);
        return -ENOMEM;
    }
    memset(elements, 0, bytes);
    atomic_init(&ring->head, start_index);
    atomic_init(&ring->tail, start_index);
    atomic_init(&ring->high_water, 0);
    atomic_init(&ring->overruns, 0);
    ring->mask = slots - 1;
    ring->stride = stride;
    ring->elements = elements;
    *out = ring;
    return 0;
}

void tact_ring_free(struct tact_ring *ring)
{
    if (ring) {
        free(ring->elements);
        free(ring);
    }
}

/* Only its own thread writes a counter: a load and a store do, without a locked instruction. */
void *tact_ring_reserve(struct tact_ring *ring)
{
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    const uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    const uint32_t stored = head - tail;
    if (stored > ring->mask) {
        const uint64_t n = atomic_load_explicit(&ring->overruns, memory_order_relaxed);
        atomic_store_explicit(&ring->overruns, n + 1, memory_order_relaxed);
        return NULL;
    }
    if (stored >= atomic_load_explicit(&ring->high_water, memory_order_relaxed)) {
        atomic_store_explicit(&ring->high_water, stored + 1, memory_order_relaxed);
    }
    return ring->elements + (head & ring->mask) * ring->stride;
}

void tact_ring_commit(struct tact_ring *ring)
{
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

const void *tact_ring_peek(struct tact_ring *ring)
{
    const uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    return head == tail ? NULL : ring->elements + (tail & ring->mask) * ring->stride;
}

void tact_ring_release(struct tact_ring *ring)
{
    const uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

uint32_t tact_ring_capacity(const struct tact_ring *ring)
{
    return ring->mask + 1;
}

uint32_t tact_ring_occupancy(const struct tact_ring *ring)
{
    /* The tail first: a tail read after the head may have passed it. What the producer adds between
     * the two loads can make the difference exceed the capacity. */
    const uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    const uint32_t stored = head - tail;
    return stored > ring->mask ? ring->mask + 1 : stored;
}

uint64_t tact_ring_overruns(const struct tact_ring *ring)
{
    return atomic_load_explicit(&ring->overruns, memory_order_relaxed);
}

uint32_t tact_ring_high_water(const struct tact_ring *ring)
{
    return atomic_load_explicit(&ring->high_water, memory_order_relaxed);
}
