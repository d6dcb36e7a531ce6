/* CRC-32 by carry-less multiplication where the processor has it: Gopal et al., "Fast CRC
 * Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009, for the reflected
 * polynomial; its constants are named as there.
 *
 * Elsewhere, and for what is left at the end, slicing by 8: Kounavis and Berry, "A Systematic
 * Approach to Building High Performance Software-Based CRC Generators", IEEE ISCC 2005. table[k][b]
 * is the CRC of byte b followed by k zero bytes; made once, before main(), so that threads need no
 * guard. */
#include "bytes_internal.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define FOLDING __attribute__((target("pclmul,sse4.1")))
#endif

static uint32_t table[8][256];
static int can_fold;

__attribute__((constructor)) static void make_table(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t c = b;
        for (int bit = 0; bit < 8; bit++)
            c = (c >> 1) ^ (c & 1 ? 0xEDB88320U : 0);
        table[0][b] = c;
    }
    for (int k = 1; k < 8; k++) {
        for (uint32_t b = 0; b < 256; b++)
            table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 0xFF];
    }
#if defined(__x86_64__)
    __builtin_cpu_init();
    can_fold = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
#endif
}

/* crc: not inverted, here and below. */
static uint32_t slice(uint32_t crc, const uint8_t *at, size_t size)
{
    for (; size >= 8; at += 8, size -= 8) {
        uint32_t low, high;
        memcpy(&low, at, 4);
        memcpy(&high, at + 4, 4);
        low ^= crc;
        crc = table[7][low & 0xFF] ^ table[6][low >> 8 & 0xFF] ^ table[5][low >> 16 & 0xFF] ^
              table[4][low >> 24] ^ table[3][high & 0xFF] ^ table[2][high >> 8 & 0xFF] ^
              table[1][high >> 16 & 0xFF] ^ table[0][high >> 24];
    }
    for (; size > 0; at++, size--)
        crc = (crc >> 8) ^ table[0][(crc ^ *at) & 0xFF];
    return crc;
}

#if defined(__x86_64__)
FOLDING static __m128i load(const uint8_t *at)
{
    return _mm_loadu_si128((const __m128i *)at);
}

/* x carried over the distance that k stands for, and what stands there. */
FOLDING static __m128i fold(__m128i x, __m128i k, __m128i there)
{
    __m128i low = _mm_clmulepi64_si128(x, k, 0x00), high = _mm_clmulepi64_si128(x, k, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), there);
}

/* 128 bits to the 32 of the checksum: two folds, then Barrett's reduction. */
FOLDING static uint32_t reduce(__m128i x, __m128i k3k4)
{
    const __m128i k5 = _mm_set_epi64x(0, 0x163cd6124),
                  poly = _mm_set_epi64x(0x1f7011641, 0x1db710641);
    const __m128i low32 = _mm_setr_epi32(~0, 0, ~0, 0);
    x = _mm_xor_si128(_mm_srli_si128(x, 8), _mm_clmulepi64_si128(x, k3k4, 0x10));
    x = _mm_xor_si128(_mm_srli_si128(x, 4),
                      _mm_clmulepi64_si128(_mm_and_si128(x, low32), k5, 0x00));
    __m128i t = _mm_clmulepi64_si128(_mm_and_si128(x, low32), poly, 0x10);
    t = _mm_clmulepi64_si128(_mm_and_si128(t, low32), poly, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(x, t), 1);
}

/* size: a multiple of 16, at least 64. */
FOLDING static uint32_t multiply(uint32_t crc, const uint8_t *at, size_t size)
{
    const __m128i k1k2 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i k3k4 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i x[4];
    for (int i = 0; i < 4; i++)
        x[i] = load(at + 16 * i);
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)crc));
    for (at += 64, size -= 64; size >= 64; at += 64, size -= 64) {
        for (int i = 0; i < 4; i++)
            x[i] = fold(x[i], k1k2, load(at + 16 * i));
    }
    for (int i = 1; i < 4; i++)
        x[0] = fold(x[0], k3k4, x[i]);
    for (; size >= 16; at += 16, size -= 16)
        x[0] = fold(x[0], k3k4, load(at));
    return reduce(x[0], k3k4);
}
#else
static uint32_t multiply(uint32_t crc, const uint8_t *at, size_t size)
{
    return slice(crc, at, size);
}
#endif

uint32_t tact_crc32(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *at = data;

    crc = ~crc;
    if (can_fold && size >= 64) {
        size_t whole = size & ~(size_t)15;
        crc = multiply(crc, at, whole);
        at += whole;
        size -= whole;
    }
    return ~slice(crc, at, size);
}
