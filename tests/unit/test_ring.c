/* The ring: order, wrap of the indices, overruns, and two threads that check every byte. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "rt/clock.h"
#include "rt/ring.h"

#define START_INDEX_NEAR_WRAP (UINT32_MAX - 100)

struct element {
    uint64_t number;
    uint64_t words[7];
    uint64_t sum;
};

static void fill_ring_element(struct element *e, uint64_t number)
{
    uint64_t x = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    e->number = number;
    e->sum = number;
    for (int i = 0; i < 7; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        e->words[i] = x;
        e->sum += x;
    }
}

static int is_ring_element_intact(const struct element *e)
{
    struct element expected;
    fill_ring_element(&expected, e->number);
    for (int i = 0; i < 7; i++) {
        if (e->words[i] != expected.words[i]) {
            return 0;
        }
    }
    return e->sum == expected.sum;
}

static void bad_ring_sizes_are_refused(void **state)
{
    (void)state;
    struct tact_ring *ring = NULL;
    assert_int_equal(tact_ring_create(&ring, 0, 8, 0), -EINVAL);
    assert_int_equal(tact_ring_create(&ring, 8, 0, 0), -EINVAL);
    assert_int_equal(tact_ring_create(&ring, (UINT32_C(1) << 31) + 1, 8, 0), -EINVAL);
    assert_int_equal(tact_ring_create(&ring, UINT32_C(1) << 31, SIZE_MAX / 8, 0), -EINVAL);
    assert_null(ring);
    tact_ring_free(NULL);
}

static void ring_capacity_is_a_power_of_two(void **state)
{
    (void)state;
    const uint32_t requested_capacities[] = {1, 2, 3, 5, 64, 65};
    const uint32_t expected_capacities[] = {1, 2, 4, 8, 64, 128};
    for (int i = 0; i < 6; i++) {
        struct tact_ring *ring;
        assert_int_equal(tact_ring_create(&ring, requested_capacities[i], 3, 0), 0);
        assert_int_equal(tact_ring_capacity(ring), expected_capacities[i]);
        tact_ring_free(ring);
    }
}

static void ring_keeps_order_and_counts_across_the_index_wrap(void **state)
{
    (void)state;
    struct tact_ring *ring;
    assert_int_equal(tact_ring_create(&ring, 8, sizeof(struct element), START_INDEX_NEAR_WRAP), 0);
    uint64_t written_element_count = 0, read = 0;
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 1 + round % 8; i++) {
            struct element *e = tact_ring_reserve(ring);
            assert_non_null(e);
            assert_int_equal((uintptr_t)e % _Alignof(max_align_t), 0);
            assert_ptr_equal(e, tact_ring_reserve(ring));
            fill_ring_element(e, written_element_count++);
            tact_ring_commit(ring);
            assert_int_equal(tact_ring_occupancy(ring), written_element_count - read);
        }
        while (read < written_element_count) {
            const struct element *e = tact_ring_peek(ring);
            assert_non_null(e);
            assert_int_equal(e->number, read);
            assert_true(is_ring_element_intact(e));
            tact_ring_release(ring);
            read++;
        }
        assert_null(tact_ring_peek(ring));
    }
    assert_true(written_element_count > 200);
    assert_int_equal(tact_ring_overruns(ring), 0);
    assert_int_equal(tact_ring_high_water(ring), 8);
    tact_ring_free(ring);
}

static void full_ring_drops_the_newest_element(void **state)
{
    (void)state;
    struct tact_ring *ring;
    assert_int_equal(tact_ring_create(&ring, 4, sizeof(uint64_t), UINT32_MAX - 1), 0);
    for (uint64_t i = 0; i < 11; i++) {
        uint64_t *e = tact_ring_reserve(ring);
        if (i < 4) {
            assert_non_null(e);
            *e = i;
            tact_ring_commit(ring);
        } else {
            assert_null(e);
        }
    }
    assert_int_equal(tact_ring_overruns(ring), 7);
    assert_int_equal(tact_ring_occupancy(ring), 4);
    for (uint64_t i = 0; i < 4; i++) {
        assert_int_equal(*(const uint64_t *)tact_ring_peek(ring), i);
        tact_ring_release(ring);
    }
    assert_null(tact_ring_peek(ring));
    assert_non_null(tact_ring_reserve(ring));
    assert_int_equal(tact_ring_overruns(ring), 7);
    tact_ring_free(ring);
}

struct two_thread_ring_exchange {
    struct tact_ring *ring;
    uint64_t count;
    int does_producer_drop_elements; /* the producer drops elements for which there is no room */
};

static void *produce_ring_elements(void *arg)
{
    struct two_thread_ring_exchange *s = arg;
    for (uint64_t i = 0; i < s->count; i++) {
        struct element *e = tact_ring_reserve(s->ring);
        while (!e && !s->does_producer_drop_elements) {
            sched_yield();
            e = tact_ring_reserve(s->ring);
        }
        if (e) {
            fill_ring_element(e, i);
            tact_ring_commit(s->ring);
        }
    }
    /* The last element ends the test, so it is retried until it is accepted. */
    struct element *last;
    while (!(last = tact_ring_reserve(s->ring))) {
        sched_yield();
    }
    fill_ring_element(last, s->count);
    tact_ring_commit(s->ring);
    return NULL;
}

/* Returns the number of elements that arrived; fails on a torn, repeated or reordered one. */
static uint64_t consume_ring_elements(struct two_thread_ring_exchange *s)
{
    uint64_t received_count = 0, next = 0;
    for (;;) {
        const struct element *e = tact_ring_peek(s->ring);
        if (!e) {
            sched_yield();
            continue;
        }
        const uint64_t number = e->number;
        assert_true(is_ring_element_intact(e));
        assert_true(number >= next);
        assert_true(s->does_producer_drop_elements || number == next);
        tact_ring_release(s->ring);
        received_count++;
        next = number + 1;
        if (number == s->count) {
            return received_count;
        }
    }
}

static void two_thread_ring_exchange(uint32_t capacity, uint64_t count,
                                     int does_producer_drop_elements)
{
    struct two_thread_ring_exchange s = {
        .count = count, .does_producer_drop_elements = does_producer_drop_elements};
    assert_int_equal(
        tact_ring_create(&s.ring, capacity, sizeof(struct element), START_INDEX_NEAR_WRAP), 0);
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce_ring_elements, &s), 0);
    const uint64_t received_count = consume_ring_elements(&s);
    assert_int_equal(pthread_join(producer, NULL), 0);
    assert_true(tact_ring_high_water(s.ring) <= tact_ring_capacity(s.ring));
    assert_int_equal(tact_ring_occupancy(s.ring), 0);
    if (does_producer_drop_elements) {
        /* Retries of the last element count as overruns too. */
        assert_true(received_count + tact_ring_overruns(s.ring) >= count + 1);
    } else {
        assert_int_equal(received_count, count + 1);
    }
    tact_ring_free(s.ring);
}

static void two_threads_pass_all_elements_through_a_ring(void **state)
{
    (void)state;
    two_thread_ring_exchange(64, 1000000, 0);
    two_thread_ring_exchange(1, 10000, 0);
}

static void two_threads_pass_intact_elements_through_a_full_ring(void **state)
{
    (void)state;
    two_thread_ring_exchange(16, 1000000, 1);
}

/* Prints the time to write a record of 256 bytes; no bound is checked. */
static void cost_of_ring_operations_is_printed(void **state)
{
    (void)state;
    struct tact_ring *ring;
    const int n = 1000000;
    assert_int_equal(tact_ring_create(&ring, 1024, 256, START_INDEX_NEAR_WRAP), 0);
    const int64_t t0 = tact_clock_now();
    for (int i = 0; i < n; i++) {
        *(int *)tact_ring_reserve(ring) = i;
        tact_ring_commit(ring);
        assert_true(*(const int *)tact_ring_peek(ring) == i);
        tact_ring_release(ring);
    }
    const int64_t t1 = tact_clock_now();
    print_message("ring: %.1f ns for reserve, commit, peek and release on one thread\n",
                  (double)(t1 - t0) / n);
    tact_ring_free(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_ring_sizes_are_refused),
        cmocka_unit_test(ring_capacity_is_a_power_of_two),
        cmocka_unit_test(ring_keeps_order_and_counts_across_the_index_wrap),
        cmocka_unit_test(full_ring_drops_the_newest_element),
        cmocka_unit_test(two_threads_pass_all_elements_through_a_ring),
        cmocka_unit_test(two_threads_pass_intact_elements_through_a_full_ring),
        cmocka_unit_test(cost_of_ring_operations_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
