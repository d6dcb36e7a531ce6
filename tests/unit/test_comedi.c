/* Comedi's conversions against the arithmetic of the ranges, and the faults of an input; devices on
 * the kernel's own drivers are tested in tests/vm. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "devices/comedi/comedi_internal.h"

/* A simulated comedi channel of 16 bits over -10 to 10 V: an output of 2 V a unit and 1 V at zero,
 * or an input of that range. */
static struct tact_comedi_channel make_comedi_channel(bool output)
{
    struct tact_comedi_channel c = {.maxdata = 65535, .low = -INFINITY, .high = INFINITY};
    c.volts.order = 1;
    c.volts.coefficients[0] = output ? 0.0 : -10.0;
    c.volts.coefficients[1] = output ? 65535.0 / 20.0 : 20.0 / 65535.0;
    c.volts.expansion_origin = output ? -10.0 : 0.0;
    c.map[0] = output ? 1.0 : -0.5;
    c.map[1] = output ? 2.0 : 0.5;
    return c;
}

static void comedi_conversion_to_raw_and_back_is_exact(void **unused)
{
    (void)unused;
    struct tact_comedi_channel out = make_comedi_channel(true);
    struct tact_comedi_channel in = make_comedi_channel(false);
    for (lsampl_t raw = 0; raw <= 65535; raw++) {
        assert_int_equal(tact_comedi_raw(&out, tact_comedi_scaled_value(&in, raw, 0)), raw);
    }
}

static void comedi_outputs_are_clamped_to_their_range(void **unused)
{
    (void)unused;
    struct tact_comedi_channel out = make_comedi_channel(true);
    assert_int_equal(tact_comedi_raw(&out, 1e300), 65535);
    assert_int_equal(tact_comedi_raw(&out, -1e300), 0);
    assert_int_equal(tact_comedi_raw(&out, NAN), tact_comedi_raw(&out, 0.0));
    assert_int_equal(tact_comedi_raw(&out, INFINITY), tact_comedi_raw(&out, 0.0));
    assert_int_equal(tact_comedi_raw(&out, 0.0), lrint(11.0 * 65535.0 / 20.0));
}

static void comedi_calibration_polynomial_is_evaluated(void **unused)
{
    (void)unused;
    struct tact_comedi_channel in = make_comedi_channel(false);
    const double map[] = {1.0, -2.0, 0.5, 0.25};
    memcpy(in.map, map, sizeof map);
    double v = -10.0 + 20.0 * 50000.0 / 65535.0;
    double expected = 1.0 - 2.0 * v + 0.5 * v * v + 0.25 * v * v * v;
    assert_true(fabs(tact_comedi_scaled_value(&in, 50000, 0) - expected) < 1e-12);
}

static void comedi_counters_continue_over_the_wrap(void **unused)
{
    (void)unused;
    const lsampl_t most[] = {65535, 16777215, 4294967295U};
    for (int k = 0; k < 3; k++) {
        int64_t span = (int64_t)most[k] + 1;
        int64_t count = 0;
        int64_t exact = 5;
        uint32_t random_state = 1;
        for (int i = 0; i < 100000; i++) {
            random_state = random_state * 1664525U + 1013904223U;
            int64_t step = (int64_t)(random_state >> 8) % (span - 1) - (span / 2 - 1);
            lsampl_t before = (lsampl_t)(((exact % span) + span) % span);
            exact += step;
            lsampl_t now = (lsampl_t)(((exact % span) + span) % span);
            count = tact_comedi_extend_counter(count, before, now, most[k]);
            assert_int_equal(count, exact - 5);
        }
    }
}

static void input_fault_needs_several_faulty_ticks(void **unused)
{
    (void)unused;
    struct tact_comedi_channel in = make_comedi_channel(false);
    struct tact_comedi_analog_input_health input_health = {0};
    bool is_analog_reading_usable;
    in.low = -4.0;
    in.high = 4.0;
    for (int i = 1; i <= 5; i++) {
        int fault = tact_comedi_check_analog_reading(&input_health, &in, 65535, 3.0, 3, 0,
                                                     &is_analog_reading_usable);
        assert_int_equal(fault, i < 3 ? TACT_COMEDI_READING_GOOD : TACT_COMEDI_READING_SATURATED);
        assert_int_equal(is_analog_reading_usable, i < 3);
    }
    assert_int_equal(tact_comedi_check_analog_reading(&input_health, &in, 9, NAN, 3, 0,
                                                      &is_analog_reading_usable),
                     TACT_COMEDI_READING_GOOD);
    assert_false(is_analog_reading_usable);
    tact_comedi_check_analog_reading(&input_health, &in, 8, 4.1, 3, 0, &is_analog_reading_usable);
    assert_int_equal(tact_comedi_check_analog_reading(&input_health, &in, 9, -4.1, 3, 0,
                                                      &is_analog_reading_usable),
                     TACT_COMEDI_READING_IMPLAUSIBLE);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(tact_comedi_check_analog_reading(&input_health, &in, 9, 1.0, 3, 10,
                                                          &is_analog_reading_usable),
                         TACT_COMEDI_READING_GOOD);
    }
    assert_int_equal(tact_comedi_check_analog_reading(&input_health, &in, 9, 1.0, 3, 10,
                                                      &is_analog_reading_usable),
                     TACT_COMEDI_READING_STUCK);
    assert_int_equal(tact_comedi_check_analog_reading(&input_health, &in, 10, 1.0, 3, 10,
                                                      &is_analog_reading_usable),
                     TACT_COMEDI_READING_GOOD);
    assert_true(is_analog_reading_usable);
}

/* All digital channels of a block share one comedi instruction; each other channel has its own. */
static void digital_channels_of_a_block_use_one_comedi_instruction(void **unused)
{
    (void)unused;
    static struct tact_comedi_channel_layout layout;
    const struct tact_comedi_channel channels[] = {
        {.kind = TACT_COMEDI_DIGITAL, .subdevice = 2, .channel = 3},
        {.kind = TACT_COMEDI_ANALOG, .subdevice = 0, .channel = 1, .range = 2, .maxdata = 4095},
        {.kind = TACT_COMEDI_DIGITAL,
         .subdevice = 2,
         .channel = 31,
         .is_digital_channel_active_low = true},
        {.kind = TACT_COMEDI_DIGITAL, .subdevice = 2, .channel = 33},
    };
    memcpy(layout.output, channels, sizeof channels);
    layout.output_count = 4;
    assert_int_equal(tact_comedi_assemble_instructions(&layout), 0);
    assert_int_equal(layout.output_instruction_count, 3);
    assert_int_equal(layout.out[0].safe[0], 1U << 3 | 1U << 31);
    assert_int_equal(layout.out[0].safe[1], 1U << 31);
    assert_int_equal(layout.out[1].chanspec, CR_PACK(1, 2, AREF_GROUND));
    assert_int_equal(layout.out[2].chanspec, 32);
    assert_int_equal(layout.output[3].bit, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comedi_conversion_to_raw_and_back_is_exact),
        cmocka_unit_test(comedi_outputs_are_clamped_to_their_range),
        cmocka_unit_test(comedi_calibration_polynomial_is_evaluated),
        cmocka_unit_test(comedi_counters_continue_over_the_wrap),
        cmocka_unit_test(input_fault_needs_several_faulty_ticks),
        cmocka_unit_test(digital_channels_of_a_block_use_one_comedi_instruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
