/* SPDX-License-Identifier: Apache-2.0 */
/* What linkers put behind the lazy slots of aarch64: all lead to the first PLT entry. */
#include "../../lazy.h"

enum {
    BTI_C = 0xd503245f,
    STP_X16_X30 = 0xa9bf7bf0, /* stp x16, x30, [sp, #-16]! */
    ADRP_X16 = 0x90000010,
    LDR_X17 = 0xf9400211, /* ldr x17, [x16, #n] */
    ADD_X16 = 0x91000210, /* add x16, x16, #n */
    BR_X17 = 0xd61f0220,
};
#define ADRP_OPERAND 0x60ffffe0u
#define OFFSET_OPERAND 0x003ffc00u

/* The page that an adrp at an address leads to. */
static uint64_t page_of(uint32_t adrp, uint64_t at) {
    uint32_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
    int64_t signed_pages = (int64_t)((uint64_t)pages << 43) >> 43;
    return (at & ~(uint64_t)4095) + ((uint64_t)signed_pages << 12);
}

static uint64_t offset_of(uint32_t instruction) {
    return instruction >> 10 & 0xfff;
}

/* Loads what the third word of the GOT leads to, and leaves that word's address in x16. */
bool lazy_is_known(const struct wc_elf_image *host, uint64_t value, size_t number) {
    uint32_t code[6], *c = code;
    const void *at = wc_elf_at(host, value, sizeof code);
    (void)number;
    if (!at || !host->pltgot)
        return false;
    wc_mem_copy(code, at, sizeof code);
    c += code[0] == BTI_C;
    uint64_t page = page_of(c[1], value + (uint64_t)(c + 1 - code) * 4);
    return c[0] == STP_X16_X30 && (c[1] & ~ADRP_OPERAND) == ADRP_X16 &&
           (c[2] & ~OFFSET_OPERAND) == LDR_X17 && (c[3] & ~OFFSET_OPERAND) == ADD_X16 &&
           c[4] == BR_X17 && page + offset_of(c[2]) * 8 == host->pltgot + 16 &&
           page + offset_of(c[3]) == host->pltgot + 16;
}
