/* The hash table of keys: numbers added and removed at random, compared with a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "contact/keys.h"
#include "support/random.h"

enum { MOST = 300, VALUES = 4000, STEPS = 200000 };

static void integer_key_table_agrees_with_an_array(void **state)
{
    (void)state;
    struct tact_keys keys;
    static int of[VALUES];
    int count = 0;
    assert_int_equal(tact_keys_create(&keys, MOST), 0);
    for (int i = 0; i < VALUES; i++) {
        of[i] = -1;
    }
    for (int n = 0; n < STEPS; n++) {
        int at = (int)(random_bits() % VALUES), key = at * (INT32_MAX / VALUES);
        assert_int_equal(tact_keys_find(&keys, key), of[at]);
        if (of[at] >= 0) {
            tact_keys_remove(&keys, key);
            of[at] = -1;
            count--;
        } else if (count < MOST) {
            of[at] = n;
            tact_keys_insert(&keys, key, n);
            count++;
        }
    }
    for (int i = 0; i < VALUES; i++) {
        assert_int_equal(tact_keys_find(&keys, i * (INT32_MAX / VALUES)), of[i]);
    }
    assert_int_equal(count, MOST);
    tact_keys_destroy(&keys);
}

static void key_table_works_with_capacity_one_or_none(void **state)
{
    (void)state;
    for (int most = 0; most < 2; most++) {
        struct tact_keys keys;
        assert_int_equal(tact_keys_create(&keys, most), 0);
        assert_int_equal(tact_keys_find(&keys, 0), -1);
        if (most) {
            tact_keys_insert(&keys, INT32_MAX, 7);
            assert_int_equal(tact_keys_find(&keys, INT32_MAX), 7);
            assert_int_equal(tact_keys_find(&keys, 0), -1);
        }
        tact_keys_destroy(&keys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_key_table_agrees_with_an_array),
        cmocka_unit_test(key_table_works_with_capacity_one_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
