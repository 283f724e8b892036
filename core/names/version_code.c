/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants in machine code (version_code.h). No disassembler: the few shapes that compilers give
 * to "put this number there" are looked for, and an answer counts only if all that is found agrees.
 */
#include "version_code.h"

#include "core/elf/elf_inside.h"

enum {
    NEAR = 64,        /* the other arguments of a call are at most so many bytes away */
    PUSH_BEFORE = 32, /* the pushed argument is at most so many bytes before, */
    PUSH_BEHIND = 48, /* or behind */
    NEAR_WORDS = 12,  /* the same in instructions, aarch64 */
    MOST_PART = 100,  /* minor and patch are smaller: CUDNN_VERSION has two digits for them, */
    MOST_PATCH = 20,  /* and no patch was ever above 9 */
    MOST_CODE = 8 << 20,
    MOST_FUNCTION = 8192,
};

struct found {
    struct wc_version version;
    bool any, differs;
};

static void add_version(struct found *f, struct wc_version v) {
    if (f->any && wc_version_compare(f->version, v) != 0)
        f->differs = true;
    f->version = v;
    f->any = true;
}

static struct wc_version agreed_version(const struct found *f) {
    return f->any && !f->differs ? f->version : WC_VERSION_NONE;
}

static uint32_t word_at(const unsigned char *p) {
    return WC_LAX_AT(uint32_t, p);
}

/* ---- x86-64: the 5th argument in r8d, the 6th in r9d, the 7th pushed ---- */

static uint64_t back(uint64_t i, uint64_t by) {
    return i > by ? i - by : 0;
}

static uint64_t ahead(uint64_t i, uint64_t by, uint64_t n) {
    return n - i > by ? i + by : n;
}

/* mov $minor,%r9d or xor %r9d,%r9d; -1: neither. */
static int32_t minor_at(const unsigned char *p) {
    if (p[0] == 0x45 && p[1] == 0x31 && p[2] == 0xc9)
        return 0;
    return p[0] == 0x41 && p[1] == 0xb9 && word_at(p + 2) < MOST_PART ? (int32_t)word_at(p + 2)
                                                                      : -1;
}

/* The minor that is set nearest to `at`. */
static int32_t minor_near(const unsigned char *p, uint64_t from, uint64_t to, uint64_t at) {
    for (uint64_t far = 0; far <= NEAR; far++) {
        int32_t minor = -1;
        if (far <= at - from && at - far + 6 <= to)
            minor = minor_at(p + at - far);
        if (minor < 0 && at + far + 6 <= to)
            minor = minor_at(p + at + far);
        if (minor >= 0)
            return minor;
    }
    return -1;
}

static void names_x86_64(const unsigned char *p, uint64_t n, int32_t major, struct found *f) {
    for (uint64_t i = 0; i + 6 <= n; i++) {
        i = wc_elf_skip_to(p + 1, i, n - 1, 0xb8);
        if (i + 6 > n)
            break;
        if (p[i] != 0x41 || p[i + 1] != 0xb8 || word_at(p + i + 2) != (uint32_t)major)
            continue;
        int32_t minor = minor_near(p, back(i, NEAR), ahead(i, NEAR, n), i), patch = -1;
        bool differs = false;
        /* push $patch: the only push of a small number there */
        for (uint64_t k = back(i, PUSH_BEFORE); k + 2 <= ahead(i, PUSH_BEHIND, n); k++)
            if (p[k] == 0x6a && p[k + 1] < MOST_PATCH) {
                differs = differs || (patch >= 0 && patch != p[k + 1]);
                patch = p[k + 1];
            }
        if (minor >= 0 && patch >= 0 && !differs)
            add_version(f, (struct wc_version){major, minor, patch, -1});
    }
}

/* ---- aarch64: w4, w5, w6 ---- */

/* mov wREG, #number; -1: another instruction. */
static int32_t moved_number(uint32_t instruction, uint32_t reg) {
    if ((instruction & 0xffe0001f) != (0x52800000 | reg))
        return -1;
    return (int32_t)(instruction >> 5 & 0xffff);
}

/* mov wREG, wOTHER; -1: another instruction. */
static int32_t copied_register(uint32_t instruction, uint32_t reg) {
    if ((instruction & 0xffe0ffff) != (0x2a0003e0 | reg))
        return -1;
    return (int32_t)(instruction >> 16 & 31);
}

/* The offset near `at` at which a register is set, not across a call; n: nowhere. */
static uint64_t set_near(const unsigned char *p, uint64_t n, uint64_t at, uint32_t reg) {
    for (int way = -1; way <= 1; way += 2) {
        for (uint64_t k = 1; k <= NEAR_WORDS; k++) {
            uint64_t i = way < 0 ? at - 4 * k : at + 4 * k;
            if (i >= n || n - i < 4 || (word_at(p + i) & 0xfc000000) == 0x94000000)
                break;
            if (moved_number(word_at(p + i), reg) >= 0 || copied_register(word_at(p + i), reg) >= 0)
                return i;
        }
    }
    return n;
}

/* Equal arguments are loaded once and copied. */
static int32_t moved_near(const unsigned char *p, uint64_t n, uint64_t at, uint32_t reg) {
    for (int copies = 0; copies < 2; copies++) {
        uint64_t i = set_near(p, n, at, reg);
        if (i == n)
            return -1;
        int32_t number = moved_number(word_at(p + i), reg);
        if (number >= 0)
            return number < MOST_PART ? number : -1;
        reg = (uint32_t)copied_register(word_at(p + i), reg);
        if (reg == 4)
            return moved_number(word_at(p + at), 4);
    }
    return -1;
}

static void names_aarch64(const unsigned char *p, uint64_t n, int32_t major, struct found *f) {
    for (uint64_t i = 0; i + 4 <= n; i += 4) {
        if (moved_number(word_at(p + i), 4) != major)
            continue;
        int32_t minor = moved_near(p, n, i, 5), patch = moved_near(p, n, i, 6);
        if (minor >= 0 && patch >= 0 && patch < MOST_PATCH)
            add_version(f, (struct wc_version){major, minor, patch, -1});
    }
}

/* ---- both ---- */

static uint16_t machine_of(const struct wc_elf_image *e) {
#if defined __x86_64__
    const uint16_t own = EM_X86_64;
#elif defined __aarch64__
    const uint16_t own = EM_AARCH64;
#else
    const uint16_t own = 0;
#endif
    return e->machine ? e->machine : own;
}

static void look_in_code(const struct wc_elf_image *e, const unsigned char *p, uint64_t n,
                         int32_t major, struct found *f) {
    if (!wc_elf_fetched(e, p, n))
        return;
    if (machine_of(e) == EM_X86_64)
        names_x86_64(p, n, major, f);
    else if (machine_of(e) == EM_AARCH64)
        names_aarch64(p, n, major, f);
}

/* All releases seen have their code between .init and .fini, in a segment with much else. */
struct wc_version wc_version_in_names(const struct wc_elf_image *e, int32_t major) {
    static const char format[] = "%s.%d.%d.%d";
    struct found f = {.any = false};
    const unsigned char *code = wc_elf_bytes(e, e->init);
    uint64_t behind_code = e->fini, at = 0;
    if (!wc_elf_find_bytes(e, format, sizeof format, &behind_code, MOST_CODE) &&
        !wc_elf_find_bytes(e, format, sizeof format, &at, MOST_CODE))
        return WC_VERSION_NONE;
    if (code && e->init < e->fini && e->fini - e->init <= wc_elf_room(e, e->init) &&
        e->fini - e->init <= MOST_CODE)
        look_in_code(e, code, e->fini - e->init, major, &f);
    for (size_t i = 0; i < e->loads && !f.any; i++) {
        uint64_t n = e->load[i].readable < MOST_CODE ? e->load[i].readable : MOST_CODE;
        if (e->load[i].flags & PF_X)
            look_in_code(e, e->load[i].at, n, major, &f);
    }
    return agreed_version(&f);
}

/* Length of the instruction before its constant, if it stores a constant to the stack, at disp8 or
 * disp32 of %rbp or %rsp; else 0. */
static size_t bytes_before_stored(const unsigned char *p) {
    bool rsp = p[2] == 0x24;
    return p[0] != 0xc7          ? 0
           : p[1] == 0x45        ? 3
           : p[1] == 0x85        ? 6
           : p[1] == 0x44 && rsp ? 4
           : p[1] == 0x84 && rsp ? 7
                                 : 0;
}

static void add_number(struct found *f, uint32_t number, int32_t major) {
    struct wc_version v = wc_version_from_number(number);
    if (v.major == major && major > 0)
        add_version(f, v);
}

struct wc_version wc_version_in_function(const struct wc_elf_image *e, const char *name,
                                         int32_t major) {
    struct wc_elf_symbol s;
    struct found f = {.any = false};
    if (machine_of(e) != EM_X86_64 || !wc_elf_find_defined(e, name, &s) || s.type != STT_FUNC)
        return WC_VERSION_NONE;
    uint64_t n = s.size < MOST_FUNCTION ? s.size : MOST_FUNCTION;
    const unsigned char *p = wc_elf_at(e, s.value, n);
    if (!p)
        return WC_VERSION_NONE;
    if (n >= 6 && p[0] == 0xb8 && p[5] == 0xc3) /* mov $number,%eax; ret */
        add_number(&f, word_at(p + 1), major);
    for (uint64_t i = 0; i + 11 <= n; i++)
        if (bytes_before_stored(p + i))
            add_number(&f, word_at(p + i + bytes_before_stored(p + i)), major);
    return agreed_version(&f);
}
