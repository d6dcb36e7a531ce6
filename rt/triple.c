#include "rt/triple.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "contact/record_code_internal.h"

#define CACHE_LINE_BYTES 64
#define SLOT_INDEX_MASK 3u  /* number of bits of the shared word that contain the slot's index */
#define UNREAD_VALUE_BIT 4u /* the slot has a value that was not yet read */

struct tact_triple {
    _Alignas(CACHE_LINE_BYTES) _Atomic uint32_t
        exchanged_slot_and_unread_bit; /* index of the slot that is exchanged */
    /* writer */
    _Alignas(CACHE_LINE_BYTES) uint32_t writer_slot;
    uint32_t next_value_number;
    _Atomic uint64_t published_value_count;
    _Atomic uint64_t overwritten_value_count;
    /* reader */
    _Alignas(CACHE_LINE_BYTES) uint32_t reader_slot;
    int has_reader_slot_value;
    /* written by both threads; sequence[i] belongs to the owner of slot i */
    _Alignas(CACHE_LINE_BYTES) uint32_t value_number_of_slot[3];
    /* read by both threads, never written after the creation */
    _Alignas(CACHE_LINE_BYTES) size_t stride;
    unsigned char *values;
};

int tact_triple_create(struct tact_triple **out, size_t value_size, uint32_t start_sequence)
{
    if (value_size == 0 || value_size > SIZE_MAX / 8) {
        return -EINVAL;
    }
    const size_t stride = (value_size + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
    struct tact_triple *triple = aligned_alloc(CACHE_LINE_BYTES, sizeof *triple);
    unsigned char *values = aligned_alloc(CACHE_LINE_BYTES, 3 * stride);
    if (!triple || !values) {
        free(triple);
        free(values);
        return -ENOMEM;
    }
    memset(triple, 0, sizeof *triple);
    memset(values, 0, 3 * stride);
    atomic_init(&triple->exchanged_slot_and_unread_bit, 1);
    atomic_init(&triple->published_value_count, 0);
    atomic_init(&triple->overwritten_value_count, 0);
    triple->writer_slot = 0;
    triple->reader_slot = 2;
    triple->next_value_number = start_sequence;
    triple->stride = stride;
    triple->values = values;
    *out = triple;
    return 0;
}

void tact_triple_free(struct tact_triple *triple)
{
    if (triple) {
        free(triple->values);
        free(triple);
    }
}

TACT_IN_TICK_RECORD_SECTION void *tact_triple_write_begin(struct tact_triple *triple)
{
    return triple->values + triple->writer_slot * triple->stride;
}

static TACT_IN_TICK_RECORD_SECTION void
increment_single_writer_counter(_Atomic uint64_t *single_writer_counter)
{
    const uint64_t n = atomic_load_explicit(single_writer_counter, memory_order_relaxed);
    atomic_store_explicit(single_writer_counter, n + 1, memory_order_relaxed);
}

TACT_IN_TICK_RECORD_SECTION void tact_triple_publish(struct tact_triple *triple)
{
    triple->value_number_of_slot[triple->writer_slot] = triple->next_value_number++;
    /* Release: publishes the value. Acquire: the reader has finished with the slot it returned. */
    const uint32_t taken =
        atomic_exchange_explicit(&triple->exchanged_slot_and_unread_bit,
                                 triple->writer_slot | UNREAD_VALUE_BIT, memory_order_acq_rel);
    triple->writer_slot = taken & SLOT_INDEX_MASK;
    increment_single_writer_counter(&triple->published_value_count);
    if (taken & UNREAD_VALUE_BIT) {
        increment_single_writer_counter(&triple->overwritten_value_count);
    }
}

const void *tact_triple_read(struct tact_triple *triple, int *fresh)
{
    /* Only the reader clears UNREAD_VALUE_BIT, so a slot with UNREAD_VALUE_BIT can only be replaced
     * by a newer one. */
    const int has_unread_value =
        (atomic_load_explicit(&triple->exchanged_slot_and_unread_bit, memory_order_relaxed) &
         UNREAD_VALUE_BIT) != 0;
    if (has_unread_value) {
        const uint32_t taken = atomic_exchange_explicit(&triple->exchanged_slot_and_unread_bit,
                                                        triple->reader_slot, memory_order_acq_rel);
        triple->reader_slot = taken & SLOT_INDEX_MASK;
        triple->has_reader_slot_value = 1;
    }
    if (fresh) {
        *fresh = has_unread_value;
    }
    return triple->has_reader_slot_value ? triple->values + triple->reader_slot * triple->stride
                                         : NULL;
}

uint32_t tact_triple_sequence(const struct tact_triple *triple)
{
    return triple->value_number_of_slot[triple->reader_slot];
}

uint64_t tact_triple_published(const struct tact_triple *triple)
{
    return atomic_load_explicit(&triple->published_value_count, memory_order_relaxed);
}

uint64_t tact_triple_overwritten(const struct tact_triple *triple)
{
    return atomic_load_explicit(&triple->overwritten_value_count, memory_order_relaxed);
}
