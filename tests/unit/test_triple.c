/* The triple buffer: the reader gets the newest value, whole, and never an older one than
 * before. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "rt/clock.h"
#include "rt/triple.h"
#include "support/campaign.h"

#define START_NUMBER_NEAR_WRAP (UINT32_MAX - 100)

struct value {
    uint64_t number;
    uint64_t words[30];
    uint64_t sum;
};

static void fill_numbered_value(struct value *v, uint64_t number)
{
    v->number = number;
    v->sum = number;
    for (uint64_t i = 0; i < 30; i++) {
        v->words[i] = (number + i) * UINT64_C(0x9e3779b97f4a7c15);
        v->sum += v->words[i];
    }
}

static int is_triple_buffer_value_intact(const struct value *v)
{
    uint64_t sum = v->number;
    for (uint64_t i = 0; i < 30; i++) {
        if (v->words[i] != (v->number + i) * UINT64_C(0x9e3779b97f4a7c15)) {
            return 0;
        }
        sum += v->words[i];
    }
    return sum == v->sum;
}

static void write_and_publish_numbered_value(struct tact_triple *triple, uint64_t number)
{
    fill_numbered_value(tact_triple_write_begin(triple), number);
    tact_triple_publish(triple);
}

static void empty_triple_buffer_has_no_value_and_bad_sizes_are_refused(void **state)
{
    (void)state;
    struct tact_triple *triple = NULL;
    int fresh = -1;
    assert_int_equal(tact_triple_create(&triple, 0, 0), -EINVAL);
    assert_int_equal(tact_triple_create(&triple, SIZE_MAX, 0), -EINVAL);
    assert_int_equal(tact_triple_create(&triple, 1, 0), 0);
    assert_null(tact_triple_read(triple, &fresh));
    assert_int_equal(fresh, 0);
    assert_int_equal(tact_triple_published(triple), 0);
    tact_triple_free(triple);
    tact_triple_free(NULL);
}

static void triple_buffer_reader_gets_the_newest_value(void **state)
{
    (void)state;
    struct tact_triple *triple;
    int fresh = -1;
    assert_int_equal(tact_triple_create(&triple, sizeof(struct value), START_NUMBER_NEAR_WRAP), 0);
    uint64_t number = 0, overwritten = 0;
    for (int round = 0; round < 200; round++) {
        const int published_value_count = 1 + round % 4;
        for (int i = 0; i < published_value_count; i++) {
            write_and_publish_numbered_value(triple, number++);
        }
        overwritten += (uint64_t)published_value_count - 1;
        const struct value *v = tact_triple_read(triple, &fresh);
        assert_non_null(v);
        assert_int_equal(fresh, 1);
        assert_int_equal(v->number, number - 1);
        assert_true(is_triple_buffer_value_intact(v));
        assert_int_equal(tact_triple_sequence(triple),
                         (uint32_t)(START_NUMBER_NEAR_WRAP + number - 1));
        assert_int_equal(tact_triple_overwritten(triple), overwritten);
        assert_ptr_equal(tact_triple_read(triple, &fresh), v);
        assert_int_equal(fresh, 0);
        assert_non_null(tact_triple_read(triple, NULL));
    }
    assert_int_equal(tact_triple_published(triple), number);
    tact_triple_free(triple);
}

/* The value that the reader has does not change, however much is written meanwhile. */
static void value_read_from_a_triple_buffer_is_stable(void **state)
{
    (void)state;
    struct tact_triple *triple;
    assert_int_equal(tact_triple_create(&triple, sizeof(struct value), 0), 0);
    write_and_publish_numbered_value(triple, 7);
    const struct value *held = tact_triple_read(triple, NULL);
    for (uint64_t i = 100; i < 110; i++) {
        write_and_publish_numbered_value(triple, i);
        assert_int_equal(held->number, 7);
        assert_true(is_triple_buffer_value_intact(held));
    }
    assert_int_equal(tact_triple_overwritten(triple), 9);
    held = tact_triple_read(triple, NULL);
    assert_int_equal(held->number, 109);
    tact_triple_free(triple);
}

struct triple_buffer_stress_state {
    struct tact_triple *triple;
    uint64_t count;
};

static void *write_numbered_values(void *arg)
{
    struct triple_buffer_stress_state *s = arg;
    for (uint64_t i = 0; i < s->count; i++) {
        write_and_publish_numbered_value(s->triple, i);
        if (i % 64 == 0) {
            sched_yield();
        }
    }
    return NULL;
}

static void threads_exchange_intact_triple_buffer_values(void **state)
{
    (void)state;
    struct triple_buffer_stress_state s = {.count = IS_SANITIZER_BUILD ? 200000 : 2000000};
    assert_int_equal(tact_triple_create(&s.triple, sizeof(struct value), START_NUMBER_NEAR_WRAP),
                     0);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, write_numbered_values, &s), 0);
    uint64_t got = 0, last = 0;
    int does_reader_hold_value = 0;
    while (!does_reader_hold_value || last != s.count - 1) {
        int fresh;
        const struct value *v = tact_triple_read(s.triple, &fresh);
        if (!v) {
            continue;
        }
        assert_true(is_triple_buffer_value_intact(v));
        assert_int_equal(tact_triple_sequence(s.triple),
                         (uint32_t)(START_NUMBER_NEAR_WRAP + v->number));
        assert_true(!does_reader_hold_value || (fresh ? v->number > last : v->number == last));
        got += (uint64_t)fresh;
        last = v->number;
        does_reader_hold_value = 1;
    }
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_int_equal(tact_triple_published(s.triple), s.count);
    assert_int_equal(got + tact_triple_overwritten(s.triple), s.count);
    tact_triple_free(s.triple);
}

static void cost_of_triple_buffer_exchange_is_printed(void **state)
{
    (void)state;
    struct tact_triple *triple;
    const int n = 1000000;
    assert_int_equal(tact_triple_create(&triple, 256, START_NUMBER_NEAR_WRAP), 0);
    const int64_t t0 = tact_clock_now();
    for (int i = 0; i < n; i++) {
        *(int *)tact_triple_write_begin(triple) = i;
        tact_triple_publish(triple);
        assert_true(*(const int *)tact_triple_read(triple, NULL) == i);
    }
    const int64_t t1 = tact_clock_now();
    print_message("triple: %.1f ns for write, publish and read on one thread\n",
                  (double)(t1 - t0) / n);
    tact_triple_free(triple);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_triple_buffer_has_no_value_and_bad_sizes_are_refused),
        cmocka_unit_test(triple_buffer_reader_gets_the_newest_value),
        cmocka_unit_test(value_read_from_a_triple_buffer_is_stable),
        cmocka_unit_test(threads_exchange_intact_triple_buffer_values),
        cmocka_unit_test(cost_of_triple_buffer_exchange_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
