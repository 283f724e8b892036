/* SPDX-License-Identifier: Apache-2.0 */
/* What linkers put behind the lazy slots of x86-64. */
#include "../../lazy.h"

/* A walk over instructions. */
struct code {
    const struct wc_elf_image *of;
    uint64_t at; /* a link-time address */
};

static bool passes(struct code *c, const char *bytes, size_t n) {
    const void *there = wc_elf_at(c->of, c->at, n);
    bool same = there && wc_mem_compare(there, bytes, n) == 0;
    c->at += same ? n : 0;
    return same;
}
#define PASSES(c, bytes) passes(c, bytes, sizeof bytes - 1)

static bool passes_operand(struct code *c, int32_t *value) {
    const void *there = wc_elf_at(c->of, c->at, sizeof *value);
    if (!there)
        return false;
    wc_mem_copy(value, there, sizeof *value);
    c->at += sizeof *value;
    return true;
}

/* An address relative to what follows it. */
static bool passes_address(struct code *c, uint64_t *address) {
    int32_t distance;
    if (!passes_operand(c, &distance))
        return false;
    *address = c->at + (uint64_t)(int64_t)distance;
    return true;
}

/* Pushes the second word of the GOT and jumps to where the third leads. */
static bool enters_loader(struct code c) {
    uint64_t pushed, jumped;
    if (!PASSES(&c, "\xff\x35") || !passes_address(&c, &pushed)) /* push */
        return false;
    PASSES(&c, "\xf2");                                             /* bnd */
    return PASSES(&c, "\xff\x25") && passes_address(&c, &jumped) && /* jmp */
           pushed == c.of->pltgot + 8 && jumped == c.of->pltgot + 16;
}

bool lazy_is_known(const struct wc_elf_image *host, uint64_t value, size_t number) {
    struct code c = {host, value};
    uint64_t first;
    int32_t pushed;
    PASSES(&c, "\xf3\x0f\x1e\xfa"); /* endbr64 */
    if (PASSES(&c, "\x41\x53"))     /* push %r11: mold's first entry, which all slots lead to */
        return enters_loader(c);
    if (!PASSES(&c, "\x68") || !passes_operand(&c, &pushed) ||
        (uint32_t)pushed != number) /* push */
        return false;
    PASSES(&c, "\xf2");
    return PASSES(&c, "\xe9") && passes_address(&c, &first) && /* jmp to the first entry */
           enters_loader((struct code){host, first});
}
