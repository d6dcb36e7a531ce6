/* Slicing by 8: Kounavis and Berry, "A Systematic Approach to Building High Performance
 * Software-Based CRC Generators", IEEE ISCC 2005. table[k][b] is the CRC of byte b followed by k
 * zero bytes; made once, before main(), so that threads need no guard. */
#include "bytes_internal.h"

#include <string.h>

static uint32_t table[8][256];

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
}

uint32_t tact_crc32(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *at = data;

    crc = ~crc;
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
    return ~crc;
}
