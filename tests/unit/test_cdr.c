/* CDR against bytes worked out by hand from the rules, and against messages of other encoders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "rt/log/cdr_internal.h"

static void crc32_equals_that_of_zlib(void **state)
{
    (void)state;
    static const char digits[] = "123456789";

    /* The check value of CRC-32/ISO-HDLC, and values printed by zlib. */
    assert_int_equal(tact_crc32(0, digits, 9), 0xCBF43926);
    assert_int_equal(tact_crc32(0, "", 0), 0);
    assert_int_equal(tact_crc32(0xE8B7BE43, NULL, 0), 0xE8B7BE43);
    assert_int_equal(tact_crc32(0, "a", 1), 0xE8B7BE43);
    assert_int_equal(tact_crc32(0, "The quick brown fox jumps over the lazy dog", 43), 0x414FA339);
    for (size_t cut = 0; cut <= 9; cut++)
        assert_int_equal(tact_crc32(tact_crc32(0, digits, cut), digits + cut, 9 - cut), 0xCBF43926);
}

static void cdr_numbers_are_aligned_to_their_size(void **state)
{
    (void)state;
    static const uint8_t expected[] = {
        0, 1, 0, 0,                       /* plain CDR, little-endian */
        3, 0, 0, 0, 'a', 'b', 0,          /* "ab" */
        0, 4, 3, 2, 1,                    /* one byte of padding, then a u32 */
        0, 0, 0, 0,                       /* padding to 16 */
        8, 7, 6, 5, 4,   3,   2,    1,    /* u64 */
        1, 0, 0, 0, 0,                    /* "" */
        0, 0, 0,                          /* padding to 32 */
        0, 0, 0, 0, 0,   0,   0xF8, 0xBF, /* -1.5 */
    };
    struct tact_bytes out = {0};
    double value = -1.5;

    /* CDR aligns numbers from the start of the message, wherever the message begins in the buffer.
     */
    for (int shift = 0; shift < 3; shift++) {
        out.size = 0;
        tact_bytes_append(&out, "xyz", (size_t)shift);
        struct tact_cdr_writer cdr = tact_cdr_begin_message(&out);
        tact_cdr_put_string(&cdr, "ab");
        tact_cdr_put_u32(&cdr, 0x01020304);
        tact_cdr_put_u64(&cdr, 0x0102030405060708);
        tact_cdr_put_string(&cdr, "");
        tact_cdr_put_f64_array(&cdr, &value, 1);
        tact_cdr_put_f64_array(&cdr, NULL, 0);
        assert_false(out.failed);
        assert_int_equal(out.size - (size_t)shift, sizeof expected);
        assert_memory_equal(out.data + shift, expected, sizeof expected);
    }
    struct tact_cdr_reader in = tact_cdr_open_message(out.data + 2, out.size - 2);
    assert_true(tact_byte_span_equals_text(tact_cdr_get_string(&in), "ab"));
    assert_int_equal(tact_cdr_get_u32(&in), 0x01020304);
    assert_int_equal(tact_cdr_get_u64(&in), 0x0102030405060708);
    assert_true(tact_byte_span_equals_text(tact_cdr_get_string(&in), ""));
    assert_int_equal(tact_cdr_get_u64(&in), 0xBFF8000000000000);
    assert_false(in.in.bad);
    assert_int_equal(in.in.left, 0);
    tact_cdr_get_u32(&in);
    assert_true(in.in.bad);
    tact_bytes_free(&out);
}

/* std_msgs/String "hello", as the ROS 2 documentation prints it. */
static void cdr_string_is_encoded_as_by_ros(void **state)
{
    (void)state;
    static const uint8_t expected[] = {0, 1, 0, 0, 6, 0, 0, 0, 'h', 'e', 'l', 'l', 'o', 0};
    struct tact_bytes out = {0};
    struct tact_cdr_writer cdr = tact_cdr_begin_message(&out);

    tact_cdr_put_string(&cdr, "hello");
    assert_int_equal(out.size, sizeof expected);
    assert_memory_equal(out.data, expected, sizeof expected);
    tact_bytes_free(&out);
}

static void ros_time_stamps_keep_every_nanosecond(void **state)
{
    (void)state;
    static const int64_t nanosecond_times[] = {0,
                                               1,
                                               -1,
                                               999999999,
                                               1000000000,
                                               -1000000000,
                                               -1000000001,
                                               INT64_C(2147483647999999999),
                                               INT64_C(-2147483648000000000),
                                               INT64_C(1763725461123456789)};
    struct tact_bytes out = {0};

    for (size_t i = 0; i < sizeof nanosecond_times / sizeof nanosecond_times[0]; i++) {
        uint32_t nanoseconds;
        out.size = 0;
        struct tact_cdr_writer cdr = tact_cdr_begin_message(&out);
        tact_cdr_put_time(&cdr, nanosecond_times[i]);
        memcpy(&nanoseconds, out.data + 8, 4);
        assert_true(nanoseconds < 1000000000);
        struct tact_cdr_reader in = tact_cdr_open_message(out.data, out.size);
        assert_true(tact_cdr_get_time(&in) == nanosecond_times[i]);
        assert_false(in.in.bad);
    }
    tact_bytes_free(&out);
}

static void malformed_cdr_messages_are_refused(void **state)
{
    (void)state;
    static const uint8_t big_endian_message[] = {0, 0, 0, 0, 0, 0, 0, 1};
    static const uint8_t string_without_final_zero_byte[] = {0, 1, 0, 0, 2, 0, 0, 0, 'a', 'b'};
    static const uint8_t string_longer_than_message[] = {0, 1, 0, 0, 255, 255, 255, 255, 'a', 0};
    static const uint8_t string_of_zero_length[] = {0, 1, 0, 0, 0, 0, 0, 0};
    struct tact_cdr_reader in =
        tact_cdr_open_message(big_endian_message, sizeof big_endian_message);

    assert_true(in.in.bad);
    in = tact_cdr_open_message(big_endian_message, 3);
    assert_true(in.in.bad);
    in = tact_cdr_open_message(string_without_final_zero_byte,
                               sizeof string_without_final_zero_byte);
    tact_cdr_get_string(&in);
    assert_true(in.in.bad);
    in = tact_cdr_open_message(string_longer_than_message, sizeof string_longer_than_message);
    assert_int_equal(tact_cdr_get_string(&in).size, 0);
    assert_true(in.in.bad);
    in = tact_cdr_open_message(string_of_zero_length, sizeof string_of_zero_length);
    tact_cdr_get_string(&in);
    assert_true(in.in.bad);
}

static void invalid_utf8_in_cdr_strings_is_replaced(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"plain", "plain"},
        {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"cut \xe2\x82", "cut ??"},
        {"\xff\xfe", "??"},
        {"\xc0\x80", "??"},           /* overlong zero */
        {"\xed\xa0\x80", "???"},      /* surrogate */
        {"\xf4\x90\x80\x80", "????"}, /* beyond U+10FFFF */
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", cases[i][0]);
        bool is_valid_utf8 = strcmp(cases[i][0], cases[i][1]) == 0;
        assert_int_equal(tact_utf8_valid(text), is_valid_utf8);
        assert_int_equal(tact_utf8_repair(text) == 0, is_valid_utf8);
        assert_string_equal(text, cases[i][1]);
        assert_true(tact_utf8_valid(text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc32_equals_that_of_zlib),
        cmocka_unit_test(cdr_numbers_are_aligned_to_their_size),
        cmocka_unit_test(cdr_string_is_encoded_as_by_ros),
        cmocka_unit_test(ros_time_stamps_keep_every_nanosecond),
        cmocka_unit_test(malformed_cdr_messages_are_refused),
        cmocka_unit_test(invalid_utf8_in_cdr_strings_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
