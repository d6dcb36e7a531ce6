/* The safety chain: worked examples, and properties over random inputs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "rt/safety.h"
#include "support/random.h"

static struct tact_safety make_one_channel_safety_chain(double limit, double rate, double cutoff,
                                                        double ramp)
{
    struct tact_safety s;
    const struct tact_safety_channel c = {limit, rate, cutoff, 0};
    struct tact_safety_options o = tact_safety_default();
    o.ramp = ramp;
    assert_int_equal(tact_safety_init(&s, &c, 1, &o), 0);
    return s;
}

static void bad_safety_settings_are_refused(void **state)
{
    (void)state;
    struct tact_safety s;
    const struct tact_safety_options valid_safety_options = tact_safety_default();
    const struct tact_safety_channel bad[] = {
        {-1.0, 1.0, 0.0, 0}, {NAN, 1.0, 0.0, 0},      {INFINITY, 1.0, 0.0, 0},
        {1.0, 0.0, 0.0, 0},  {1.0, -1.0, 0.0, 0},     {1.0, NAN, 0.0, 0},
        {1.0, 1.0, -1.0, 0}, {1.0, 1.0, INFINITY, 0}, {1.0, 1.0, NAN, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(tact_safety_init(&s, &bad[i], 1, &valid_safety_options), -EINVAL);
    }
    const struct tact_safety_channel c = {1.0, INFINITY, 0.0, 0};
    assert_int_equal(tact_safety_init(&s, &c, 1, &valid_safety_options), 0);
    assert_int_equal(tact_safety_init(&s, &c, -1, &valid_safety_options), -EINVAL);
    assert_int_equal(tact_safety_init(&s, &c, TACT_SAFETY_CHANNELS + 1, &valid_safety_options),
                     -EINVAL);
    const struct tact_safety_options odd[] = {{0.0, 0.2}, {NAN, 0.2}, {0.001, -1.0}, {0.001, NAN}};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        assert_int_equal(tact_safety_init(&s, &c, 1, &odd[i]), -EINVAL);
    }
}

static void outputs_ramp_up_on_arming(void **state)
{
    (void)state;
    struct tact_safety s = make_one_channel_safety_chain(10.0, INFINITY, 0.0, 0.2);
    const double wanted = 4.0;
    double sent = 9.0;
    assert_int_equal(tact_safety_step(&s, &wanted, 0, 0, &sent), TACT_SAFETY_DISARMED);
    assert_true(sent == 0.0);
    for (int k = 1; k <= 400; k++) {
        assert_int_equal(tact_safety_step(&s, &wanted, 1, (uint64_t)k, &sent), TACT_SAFETY_ARMED);
        assert_true(fabs(sent - 4.0 * fmin(1.0, k / 200.0)) < 1e-12);
    }
    assert_true(sent == 4.0);
    assert_int_equal(s.trip_count, 0);
}

static void deadman_release_zeroes_outputs_at_once(void **state)
{
    (void)state;
    struct tact_safety s = make_one_channel_safety_chain(10.0, 1.0, 5.0, 0.0);
    const double wanted = 4.0;
    double sent;
    for (uint64_t k = 0; k < 1000; k++) {
        tact_safety_step(&s, &wanted, 1, k, &sent);
    }
    assert_true(sent > 0.5);
    assert_int_equal(tact_safety_step(&s, &wanted, 0, 1000, &sent), TACT_SAFETY_DISARMED);
    assert_true(sent == 0.0);
    const struct tact_trip *trip = tact_safety_trip(&s, 0);
    assert_int_equal(trip->cause, TACT_TRIP_DEADMAN);
    assert_int_equal(trip->channel, -1);
    assert_int_equal(trip->tick, 1000);
    tact_safety_step(&s, &wanted, 0, 1001, &sent);
    assert_int_equal(s.trips[TACT_TRIP_DEADMAN], 1);
    /* After arming again the ramp starts at zero, not at the last value. */
    tact_safety_step(&s, &wanted, 1, 1002, &sent);
    assert_true(sent > 0.0 && sent <= 0.001);
}

static void rate_limit_and_clamp_trip_once_an_episode(void **state)
{
    (void)state;
    struct tact_safety s = make_one_channel_safety_chain(2.0, 1000.0, 0.0, 0.0);
    double wanted = 5.0, sent = 0.0;
    tact_safety_step(&s, &wanted, 1, 10, &sent);
    assert_true(sent == 1.0);
    tact_safety_step(&s, &wanted, 1, 11, &sent);
    assert_true(sent == 2.0);
    for (uint64_t k = 12; k < 50; k++) {
        tact_safety_step(&s, &wanted, 1, k, &sent);
        assert_true(sent == 2.0);
    }
    assert_int_equal(s.trips[TACT_TRIP_RATE], 1);
    assert_int_equal(s.trips[TACT_TRIP_CLAMP], 1);
    assert_int_equal(s.ticks[TACT_TRIP_RATE], 40);
    assert_int_equal(s.ticks[TACT_TRIP_CLAMP], 38);
    const struct tact_trip *first_clamp_trip = tact_safety_trip(&s, 0),
                           *rate = tact_safety_trip(&s, 1);
    assert_int_equal(first_clamp_trip->cause, TACT_TRIP_CLAMP);
    assert_int_equal(first_clamp_trip->tick, 12);
    assert_true(first_clamp_trip->value == 3.0);
    assert_int_equal(rate->cause, TACT_TRIP_RATE);
    assert_int_equal(rate->tick, 10);
    assert_true(rate->value == 5.0);
    assert_null(tact_safety_trip(&s, 2));
    assert_null(tact_safety_trip(&s, -1));
    wanted = 1.5;
    tact_safety_step(&s, &wanted, 1, 50, &sent);
    assert_true(sent == 1.5);
    wanted = -5.0;
    tact_safety_step(&s, &wanted, 1, 51, &sent);
    assert_true(sent == 0.5);
    assert_int_equal(s.trips[TACT_TRIP_RATE], 2);
}

/* Step response of a first-order low-pass: 1 - exp(-t / tau), tau = 1 / (2 pi cutoff). */
static void output_filter_has_a_first_order_step_response(void **state)
{
    (void)state;
    struct tact_safety s = make_one_channel_safety_chain(10.0, INFINITY, 20.0, 0.0);
    const double wanted = 1.0, tau = 1.0 / (2.0 * acos(-1.0) * 20.0);
    double sent;
    for (int k = 1; k <= 100; k++) {
        tact_safety_step(&s, &wanted, 1, (uint64_t)k, &sent);
        assert_true(fabs(sent - (1.0 - exp(-k * 0.001 / tau))) < 1e-12);
    }
}

static void nonfinite_output_is_a_latched_fault(void **state)
{
    (void)state;
    const double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (int b = 0; b < 4; b++) {
        struct tact_safety s;
        const struct tact_safety_channel c[3] = {
            {1, 10, 0, 0}, {1, 10, 50, 0}, {1, INFINITY, 0, 0}};
        const struct tact_safety_options o = tact_safety_default();
        assert_int_equal(tact_safety_init(&s, c, 3, &o), 0);
        double v[3] = {0.5, 0.5, 0.5}, sent[3];
        for (uint64_t k = 0; k < 100; k++) {
            tact_safety_step(&s, v, 1, k, sent);
        }
        assert_true(sent[2] > 0.0);
        v[1] = bad[b];
        assert_int_equal(tact_safety_step(&s, v, 1, 100, sent), TACT_SAFETY_FAULT);
        v[1] = 0.5;
        for (uint64_t k = 101; k < 110; k++) {
            for (int i = 0; i < 3; i++) {
                assert_true(sent[i] == 0.0);
            }
            assert_int_equal(tact_safety_step(&s, v, k % 2 == 0, k, sent), TACT_SAFETY_FAULT);
        }
        assert_int_equal(s.trips[TACT_TRIP_NONFINITE], 1);
        const struct tact_trip *trip = tact_safety_trip(&s, 0);
        assert_int_equal(trip->cause, TACT_TRIP_NONFINITE);
        assert_int_equal(trip->channel, 1);
        assert_int_equal(trip->tick, 100);
        /* A reset alone does not arm: the deadman must be released and pressed again. */
        tact_safety_reset(&s);
        assert_int_equal(tact_safety_step(&s, v, 1, 110, sent), TACT_SAFETY_DISARMED);
        assert_int_equal(tact_safety_step(&s, v, 0, 111, sent), TACT_SAFETY_DISARMED);
        assert_int_equal(tact_safety_step(&s, v, 1, 112, sent), TACT_SAFETY_ARMED);
    }
}

static void raised_safety_fault_zeroes_outputs(void **state)
{
    (void)state;
    struct tact_safety s = make_one_channel_safety_chain(1.0, INFINITY, 0.0, 0.0);
    const double wanted = 0.5;
    double sent;
    tact_safety_step(&s, &wanted, 1, 0, &sent);
    assert_true(sent == 0.5);
    tact_safety_raise(&s, 0, 3.0, 1);
    tact_safety_raise(&s, 0, 3.0, 1);
    assert_int_equal(tact_safety_step(&s, &wanted, 1, 1, &sent), TACT_SAFETY_FAULT);
    assert_true(sent == 0.0);
    assert_int_equal(s.trips[TACT_TRIP_RAISED], 1);
    assert_string_equal(tact_trip_name(tact_safety_trip(&s, 0)->cause), "raised");
    assert_string_equal(tact_safety_state_name(s.state), "fault");
}

static void list_of_safety_trips_wraps_around(void **state)
{
    (void)state;
    struct tact_safety s = make_one_channel_safety_chain(1.0, INFINITY, 0.0, 0.0);
    double sent;
    for (uint64_t k = 0; k < 400; k++) {
        const double wanted = k % 2 ? 2.0 : 0.0;
        tact_safety_step(&s, &wanted, 1, k, &sent);
    }
    assert_int_equal(s.trip_count, 200);
    assert_int_equal(tact_safety_trip(&s, 0)->tick, 399);
    assert_int_equal(tact_safety_trip(&s, TACT_SAFETY_TRIPS - 1)->tick,
                     399 - 2 * (TACT_SAFETY_TRIPS - 1));
    assert_null(tact_safety_trip(&s, TACT_SAFETY_TRIPS));
}

enum { N = 5 };

static void make_random_safety_chain(struct tact_safety *s, struct tact_safety_channel *c)
{
    struct tact_safety_options o = tact_safety_default();
    o.ramp = random_bits() % 3 ? uniform(0.0, 0.1) : 0.0;
    for (int i = 0; i < N; i++) {
        c[i].limit = random_bits() % 8 ? pow(10.0, uniform(-3, 3)) : 0.0;
        c[i].rate = random_bits() % 4 ? pow(10.0, uniform(-2, 5)) : INFINITY;
        c[i].cutoff = random_bits() % 3 ? pow(10.0, uniform(-1, 4)) : 0.0;
        c[i].group = 0;
    }
    if (random_bits() % 2) { /* 0, 2 and 4 are a vector */
        c[0].group = 1;
        c[2] = c[4] = c[0];
    }
    assert_int_equal(tact_safety_init(s, c, N, &o), 0);
}

static double random_safety_input(void)
{
    switch (random_bits() % 16) {
    case 0:
        return uniform(-DBL_MAX / 2, DBL_MAX / 2) * 2.0;
    case 1:
        return random_bits() % 2 ? DBL_MAX : -DBL_MAX;
    case 2:
        return DBL_MIN * uniform(-1, 1);
    case 3: {
        /* any bit pattern of a double, including NaN and infinity */
        const uint64_t bits = random_bits();
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    case 4:
        return random_bits() % 20 ? 0.0 : random_bits() % 2 ? NAN : -INFINITY;
    default:
        return uniform(-1, 1) * pow(10.0, uniform(-4, 4));
    }
}

static double vector_norm(const double *v, int n)
{
    double square = 0.0;
    for (int i = 0; i < n; i++) {
        square += v[i] * v[i];
    }
    return sqrt(square);
}

/* Checks limit and rate of one channel, or of a vector of n channels. */
static void check_limits_of_vector(const struct tact_safety_channel *c, const double *sent,
                                   const double *last, int n, int is_chain_armed,
                                   int was_output_armed)
{
    double change[3];
    for (int i = 0; i < n; i++) {
        change[i] = sent[i] - (was_output_armed ? last[i] : 0.0);
        assert_true(isfinite(sent[i]));
        assert_true(is_chain_armed || sent[i] == 0.0);
    }
    /* The limit is exceeded by rounding of the norm at most. */
    assert_true(vector_norm(sent, n) <= c->limit * (1.0 + (n > 1) * DBL_EPSILON));
    assert_true(!is_chain_armed ||
                vector_norm(change, n) <= c->rate * 0.001 + 4 * DBL_EPSILON * c->limit);
}

static void check_outputs_of_safety_step(const struct tact_safety *s,
                                         const struct tact_safety_channel *c, const double *sent,
                                         const double *last, int was_output_armed)
{
    const int is_chain_armed = s->state == TACT_SAFETY_ARMED;
    for (int i = 0; i < N; i++) {
        if (c[i].group == 0) {
            check_limits_of_vector(&c[i], &sent[i], &last[i], 1, is_chain_armed, was_output_armed);
        }
    }
    if (c[0].group > 0) {
        const double now[3] = {sent[0], sent[2], sent[4]}, before[3] = {last[0], last[2], last[4]};
        check_limits_of_vector(&c[0], now, before, 3, is_chain_armed, was_output_armed);
    }
}

/* A vector keeps its direction where it is clamped, and changes along the difference where its rate
 * is limited; a channel by itself would turn the force. */
static void limited_vector_of_channels_keeps_its_direction(void **state)
{
    (void)state;
    struct tact_safety s;
    struct tact_safety_options o = tact_safety_default();
    const struct tact_safety_channel c[3] = {{5, 1000, 0, 7}, {5, 1000, 0, 7}, {5, 1000, 0, 7}};
    const double wanted[3] = {8.0, 6.0, 0.0}, other[3] = {0.0, 3.0, 4.0};
    double sent[3];
    o.ramp = 0.0;
    assert_int_equal(tact_safety_init(&s, c, 3, &o), 0);
    for (uint64_t k = 0; k < 20; k++) {
        tact_safety_step(&s, wanted, 1, k, sent);
        assert_true(fabs(sent[0] * 6.0 - sent[1] * 8.0) < 1e-12);
        assert_true(fabs(vector_norm(sent, 3) - fmin(5.0, 1.0 + (double)k)) < 1e-12);
    }
    /* limits apply to the length of the vector, not to each component */
    assert_int_equal(s.trips[TACT_TRIP_CLAMP], 1);
    assert_int_equal(s.trips[TACT_TRIP_RATE], 1);
    for (int k = 1; k <= 6; k++) {
        const double from[3] = {sent[0], sent[1], sent[2]};
        tact_safety_step(&s, other, 1, 20 + (uint64_t)k, sent);
        const double change[3] = {sent[0] - from[0], sent[1] - from[1], sent[2] - from[2]};
        assert_true(vector_norm(change, 3) <= 1.0 + 1e-12);
    }
    assert_true(fabs(vector_norm(sent, 3) - 5.0) < 1e-12);
    assert_true(fabs(sent[2] - 4.0) < 1e-12);
}

/* A group is released as one vector, by any of its channels, once or more often: all of it begins
 * at 0. Other channels keep what they have. */
static void releasing_one_channel_releases_its_whole_vector(void **state)
{
    (void)state;
    const struct tact_safety_channel c[4] = {
        {5, 1000, 0, 7}, {9, 2000, 0, 0}, {5, 1000, 0, 7}, {5, 1000, 0, 7}};
    const double wanted[4] = {2.0, 8.0, 2.0, 2.0}, zero[4] = {0.0, 8.0, 0.0, 0.0};
    struct tact_safety_options o = tact_safety_default();
    o.ramp = 0.0;
    for (int released_channel = 0; released_channel < 4; released_channel++) {
        struct tact_safety s;
        double sent[4];
        assert_int_equal(tact_safety_init(&s, c, 4, &o), 0);
        for (uint64_t k = 0; k < 10; k++) {
            tact_safety_step(&s, wanted, 1, k, sent);
        }
        const uint64_t slowed = s.trips[TACT_TRIP_RATE];
        assert_true(sent[0] == 2.0 && sent[1] == 8.0 && sent[3] == 2.0);
        tact_safety_release(&s, released_channel);
        /* releases the same group again, by another of its channels */
        tact_safety_release(&s, released_channel == 1 ? 1 : 3);
        tact_safety_step(&s, released_channel == 1 ? wanted : zero, 1, 10, sent);
        for (int i = 0; i < 4; i++) {
            assert_true(sent[i] == (i == 1 ? (released_channel == 1 ? 2.0 : 8.0)
                                           : (released_channel == 1 ? 2.0 : 0.0)));
        }
        assert_int_equal(s.trips[TACT_TRIP_RATE], slowed + (released_channel == 1));
        /* the vector begins at 0: sqrt(12) N, limited to 1 N a tick */
        tact_safety_step(&s, wanted, 1, 11, sent);
        assert_true(released_channel == 1 || fabs(sent[0] - 1.0 / sqrt(3.0)) < 1e-12);
        tact_safety_release(&s, -1);
        tact_safety_release(&s, 4);
    }
}

/* Components of a vector have one limit, one rate and one low-pass, and are at most three. */
static void channels_of_a_vector_have_common_limits(void **state)
{
    (void)state;
    struct tact_safety s;
    struct tact_safety_options o = tact_safety_default();
    struct tact_safety_channel c[4] = {{1, 2, 3, 1}, {9, 8, 7, 0}, {1, 2, 3, 1}, {1, 2, 3, 1}};
    assert_int_equal(tact_safety_init(&s, c, 4, &o), 0);
    c[1] = c[0];
    assert_int_equal(tact_safety_init(&s, c, 4, &o), -EINVAL);
    c[1].group = 0;
    for (int i = 0; i < 3; i++) {
        struct tact_safety_channel one = c[3];
        (i == 0 ? &one.limit : i == 1 ? &one.rate : &one.cutoff)[0] = 5.0;
        const struct tact_safety_channel vector_channels_with_unequal_limits[4] = {c[0], c[1], c[2],
                                                                                   one};
        assert_int_equal(tact_safety_init(&s, vector_channels_with_unequal_limits, 4, &o), -EINVAL);
    }
    c[3].group = -1;
    assert_int_equal(tact_safety_init(&s, c, 4, &o), -EINVAL);
}

static void outputs_stay_within_limits_for_any_input(void **state)
{
    (void)state;
    uint64_t armed_tick_count = 0, faults = 0;
    for (int trial = 0; trial < 3000; trial++) {
        struct tact_safety s;
        struct tact_safety_channel c[N];
        make_random_safety_chain(&s, c);
        double wanted[N] = {0}, sent[N] = {0}, last[N] = {0};
        int deadman = 0;
        const int is_extreme_output_requested = trial % 3 == 0;
        for (uint64_t k = 0; k < 200; k++) {
            deadman = random_bits() % 40 ? deadman : !deadman;
            for (int i = 0; i < N; i++) {
                const double x =
                    is_extreme_output_requested ? random_safety_input() : uniform(-1, 1) * 100.0;
                wanted[i] = random_bits() % 4 ? wanted[i] : x;
            }
            if (random_bits() % 30 == 0) {
                tact_safety_reset(&s);
            }
            const int was_output_armed = s.state == TACT_SAFETY_ARMED;
            const int before = s.state;
            const int now = tact_safety_step(&s, wanted, deadman, k, sent);
            assert_int_equal(now, s.state);
            assert_true(now != TACT_SAFETY_ARMED || deadman);
            assert_true(before != TACT_SAFETY_FAULT || now == TACT_SAFETY_FAULT);
            check_outputs_of_safety_step(&s, c, sent, last, was_output_armed);
            memcpy(last, sent, sizeof last);
            armed_tick_count += now == TACT_SAFETY_ARMED;
            faults += now == TACT_SAFETY_FAULT && before != now;
        }
    }
    assert_true(armed_tick_count > 100000);
    assert_true(faults > 200);
}

/* A chain loaded from the state of a running one continues with the same bits. */
static void saved_safety_state_is_restored(void **state)
{
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        struct tact_safety a, b;
        struct tact_safety_channel c[N];
        make_random_safety_chain(&a, c);
        b = a;
        double wanted[N], x[N], y[N], v[256], w[256];
        assert_true(tact_safety_state_size(N) <= 256);
        for (uint64_t k = 0; k < 300; k++) {
            for (int i = 0; i < N; i++) {
                wanted[i] = uniform(-1, 1) * 100.0;
            }
            if (k == 200 && trial % 4 == 0) {
                wanted[2] = NAN;
            }
            const int deadman = k % 97 > 10;
            tact_safety_step(&a, wanted, deadman, k, x);
            if (k == 150) {
                tact_safety_save(&a, v);
                assert_int_equal(tact_safety_load(&b, v), 0);
            } else if (k > 150) {
                tact_safety_step(&b, wanted, deadman, k, y);
                assert_memory_equal(x, y, sizeof x);
                tact_safety_save(&a, v);
                tact_safety_save(&b, w);
                assert_memory_equal(v, w, (size_t)tact_safety_state_size(N) * sizeof(double));
            }
        }
    }
}

static void invalid_saved_safety_state_is_refused(void **state)
{
    (void)state;
    struct tact_safety s = make_one_channel_safety_chain(2.0, 100.0, 10.0, 0.1);
    const double wanted = 5.0;
    double sent, v[64], before[64], after[64];
    for (uint64_t k = 0; k < 50; k++) {
        tact_safety_step(&s, &wanted, 1, k, &sent);
    }
    tact_safety_save(&s, v);
    tact_safety_save(&s, before);
    const int n = tact_safety_state_size(1);
    const double bad[] = {NAN, INFINITY};
    for (int i = 0; i < n; i++) {
        for (int b = 0; b < 2; b++) {
            const double kept = v[i];
            v[i] = bad[b];
            assert_int_equal(tact_safety_load(&s, v), -EINVAL);
            v[i] = kept;
        }
    }
    tact_safety_save(&s, after);
    assert_memory_equal(before, after, (size_t)n * sizeof(double));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_safety_settings_are_refused),
        cmocka_unit_test(outputs_ramp_up_on_arming),
        cmocka_unit_test(deadman_release_zeroes_outputs_at_once),
        cmocka_unit_test(rate_limit_and_clamp_trip_once_an_episode),
        cmocka_unit_test(output_filter_has_a_first_order_step_response),
        cmocka_unit_test(nonfinite_output_is_a_latched_fault),
        cmocka_unit_test(raised_safety_fault_zeroes_outputs),
        cmocka_unit_test(list_of_safety_trips_wraps_around),
        cmocka_unit_test(outputs_stay_within_limits_for_any_input),
        cmocka_unit_test(limited_vector_of_channels_keeps_its_direction),
        cmocka_unit_test(channels_of_a_vector_have_common_limits),
        cmocka_unit_test(releasing_one_channel_releases_its_whole_vector),
        cmocka_unit_test(saved_safety_state_is_restored),
        cmocka_unit_test(invalid_saved_safety_state_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
