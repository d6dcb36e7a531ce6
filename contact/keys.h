/**
 * A hash table from integer keys to numbers, both 0 or more, of fixed capacity: Fibonacci hashing
 * (Knuth 1973, 6.4) with linear probing. All functions are real-time safe, except
 * tact_keys_create() and tact_keys_destroy().
 */
#ifndef TACT_CONTACT_KEYS_H
#define TACT_CONTACT_KEYS_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/** A slot of the hash table: a key and its number. */
struct tact_key {
    uint32_t key; /**< the slot's key + 1; 0: the slot is free */
    int number;   /**< number stored for the key, 0 or more */
};

/** A hash table. */
struct tact_keys {
    struct tact_key *slots; /**< 2^(32 - shift) */
    int shift;              /**< 32 less the base-2 logarithm of the number of slots */
};

/** Allocates a hash table with capacity for `most` keys, with at least half of the slots free.
 * -ENOMEM. */
static inline int tact_keys_create(struct tact_keys *keys, int most)
{
    keys->shift = 31;
    while (keys->shift > 1 && (int64_t)1 << (32 - keys->shift) < 2 * (int64_t)most) {
        keys->shift--;
    }
    keys->slots = (struct tact_key *)calloc((size_t)1 << (32 - keys->shift), sizeof *keys->slots);
    return keys->slots ? 0 : -ENOMEM;
}

/** Frees the slots of a table. */
static inline void tact_keys_destroy(struct tact_keys *keys)
{
    free(keys->slots);
}

/** The slot that holds a key, or the free slot where it would be inserted. */
static inline struct tact_key *tact_keys_find_slot(const struct tact_keys *keys, int key)
{
    uint32_t key_plus_one = (uint32_t)key + 1, last = ((uint32_t)1 << (32 - keys->shift)) - 1;
    uint32_t at = (uint32_t)key * 2654435769U >> keys->shift;
    while (keys->slots[at].key && keys->slots[at].key != key_plus_one) {
        at = (at + 1) & last;
    }
    return &keys->slots[at];
}

/** The number stored for a key; -1 where the key is not in the table. */
static inline int tact_keys_find(const struct tact_keys *keys, int key)
{
    const struct tact_key *place = tact_keys_find_slot(keys, key);
    return place->key ? place->number : -1;
}

/** Stores the number of a key, in place of its number before. Keys beyond the capacity are the
 * caller's fault: they take the free slots that a search needs to end. */
static inline void tact_keys_insert(struct tact_keys *keys, int key, int number)
{
    struct tact_key *place = tact_keys_find_slot(keys, key);
    place->key = (uint32_t)key + 1;
    place->number = number;
}

/** Removes a key that is in the table. Keys after it are moved up, because they may have been
 * displaced by it. */
static inline void tact_keys_remove(struct tact_keys *keys, int key)
{
    uint32_t slot_index_mask = ((uint32_t)1 << (32 - keys->shift)) - 1;
    uint32_t at = (uint32_t)(tact_keys_find_slot(keys, key) - keys->slots);
    keys->slots[at].key = 0;
    for (at = (at + 1) & slot_index_mask; keys->slots[at].key; at = (at + 1) & slot_index_mask) {
        struct tact_key moved = keys->slots[at];
        keys->slots[at].key = 0;
        tact_keys_insert(keys, (int)(moved.key - 1), moved.number);
    }
}

#endif
