/* SPDX-License-Identifier: Apache-2.0 */
/* For the portable command alone: the two sums that zlib's inflate asks for. Its own come with
 * tables that cannot be packed: 12 KiB of a wheel. */
#include <stdint.h>
#include <zlib.h>

#define POLYNOMIAL 0xedb88320u
#define ADLER 65521u

uLong crc32(uLong sum, const Bytef *at, uInt n) {
    static uint32_t of_byte[256];
    uint32_t s = ~(uint32_t)sum;

    if (!at)
        return 0;
    for (uint32_t i = 0; of_byte[255] == 0 && i < 256; i++) {
        of_byte[i] = i;
        for (int bit = 0; bit < 8; bit++)
            of_byte[i] = of_byte[i] >> 1 ^ (of_byte[i] & 1 ? POLYNOMIAL : 0);
    }
    while (n--)
        s = s >> 8 ^ of_byte[(s ^ *at++) & 0xff];
    return ~s;
}

uLong adler32(uLong sum, const Bytef *at, uInt n) {
    uint32_t low = (uint32_t)sum & 0xffff, high = (uint32_t)sum >> 16;

    if (!at)
        return 1;
    while (n--) {
        low = (low + *at++) % ADLER;
        high = (high + low) % ADLER;
    }
    return high << 16 | low;
}
