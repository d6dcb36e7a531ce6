/* Names, offsets and limits of the layout of a record. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "rt/log/layout.h"

static void field_names_follow_the_rules_of_ros(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"pose", "pose"},
        {"Finger Left.q", "finger_left_q"},
        {"a__b", "a_b"},
        {"_lead", "lead"},
        {"trail_", "trail"},
        {"3d", "n_3d"},
        {"", "field"},
        {"___", "field_2"},
        {"stamp", "stamp_2"},
        {"tick", "tick_2"},
        {"pose", "pose_2"},
        {"pose!", "pose_3"},
        {"Kr\xc3\xa4"
         "fte",
         "kr_fte"},
    };
    struct tact_layout layout = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(tact_layout_add(&layout, TACT_FIELD_OUTPUT, cases[i][0], "1", 1), i);
        assert_string_equal(layout.fields[i].name, cases[i][1]);
    }
    tact_layout_free(&layout);
}

static void long_field_names_are_shortened_and_stay_unique(void **state)
{
    (void)state;
    char name[200];
    struct tact_layout layout = {0};

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < 20; i++)
        assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, name, NULL, 1), i);
    for (uint32_t i = 0; i < layout.field_count; i++) {
        assert_int_equal(strlen(layout.fields[i].name), TACT_FIELD_NAME - 1);
        for (uint32_t j = 0; j < i; j++)
            assert_string_not_equal(layout.fields[i].name, layout.fields[j].name);
    }
    tact_layout_free(&layout);
}

/* Names that occur often get the suffixes that counting up to the first free one gives, in time
 * that is proportional to their number: 100000 of one name, and 100000 of 500 long names that the
 * suffixes make equal. */
static void names_that_occur_often_are_numbered_in_order(void **state)
{
    (void)state;
    enum { MANY = 100000, LONG_NAMES = 500 };
    char name[TACT_FIELD_NAME + 8];
    struct tact_layout layout = {0};
    clock_t layout_start_clock = clock();

    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, "a_7", NULL, 1), 0);
    for (int i = 1; i <= MANY; i++) {
        assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, "a", NULL, 1), i);
        snprintf(name, sizeof name, i == 1 ? "a" : "a_%d", i < 7 ? i : i + 1);
        assert_string_equal(layout.fields[i].name, name);
    }
    tact_layout_free(&layout);
    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, "tick", NULL, 1), 0);
    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, "stamp", NULL, 1), 1);
    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, "tick", NULL, 1), 2);
    assert_string_equal(layout.fields[0].name, "tick_2");
    assert_string_equal(layout.fields[1].name, "stamp_2");
    assert_string_equal(layout.fields[2].name, "tick_3");
    memset(name, 'x', sizeof name);
    for (int i = 0; i < MANY; i++) {
        snprintf(name + TACT_FIELD_NAME - 4, 4, "%03d", i % LONG_NAMES);
        assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, name, NULL, 1), i + 3);
        const struct tact_field *added_field = &layout.fields[i + 3];
        assert_ptr_equal(tact_layout_find(&layout, added_field->name), added_field);
    }
    tact_layout_free(&layout);
    double seconds = (double)(clock() - layout_start_clock) / CLOCKS_PER_SEC;
    print_message("%d names in %.3f s\n", 2 * MANY, seconds);
    assert_true(seconds < 15.0); /* also on a slow machine, under a sanitizer */
}

static void field_offsets_are_contiguous(void **state)
{
    (void)state;
    struct tact_layout layout = {0};

    assert_int_equal(tact_layout_bytes(&layout), 16);
    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_OUTPUT, "pose", "m,\nquat_wxyz", 7), 0);
    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, "q", "rad", 2), 7);
    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_TIMING, "wake", "ns", 1), 9);
    assert_int_equal(layout.size, 10);
    assert_int_equal(tact_layout_bytes(&layout), 16 + 80);
    assert_string_equal(layout.fields[0].unit, "m, quat_wxyz");
    assert_int_equal(layout.fields[1].kind, TACT_FIELD_INPUT);
    assert_int_equal(layout.fields[2].count, 1);
    tact_layout_free(&layout);
    assert_int_equal(layout.field_count, 0);
}

/* A unit is never shortened: a field with a unit that is too long is refused. */
static void field_with_a_long_unit_is_refused(void **state)
{
    (void)state;
    struct tact_layout layout = {0};
    char unit[TACT_FIELD_UNIT + 1];

    memset(unit, 'm', sizeof unit);
    unit[TACT_FIELD_UNIT - 1] = 0;
    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, "long", unit, 1), 0);
    assert_string_equal(layout.fields[0].unit, unit);
    unit[TACT_FIELD_UNIT - 1] = 'm';
    unit[TACT_FIELD_UNIT] = 0;
    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, "longer", unit, 1), -EINVAL);
    tact_layout_free(&layout);
}

static void invalid_layout_fields_are_refused(void **state)
{
    (void)state;
    struct tact_layout layout = {0};

    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, "none", "1", 0), -EINVAL);
    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, NULL, "1", 1), -EINVAL);
    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, "huge", "1", UINT32_MAX), -EINVAL);
    assert_int_equal(tact_layout_add(&layout, (enum tact_field_kind)7, "kind", "1", 1), -EINVAL);
    assert_int_equal(layout.field_count, 0);
    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, "big", "1", 100000), 0);
    assert_int_equal(tact_layout_add(&layout, TACT_FIELD_INPUT, "more", "1", 100000), -EINVAL);
    tact_layout_free(&layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(field_names_follow_the_rules_of_ros),
        cmocka_unit_test(long_field_names_are_shortened_and_stay_unique),
        cmocka_unit_test(names_that_occur_often_are_numbered_in_order),
        cmocka_unit_test(field_offsets_are_contiguous),
        cmocka_unit_test(field_with_a_long_unit_is_refused),
        cmocka_unit_test(invalid_layout_fields_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
