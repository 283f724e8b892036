/* SPDX-License-Identifier: Apache-2.0 */
/* The code behind lazy slots, as each linker writes it: known, and not known any more where a byte
 * of it differs. The readers of both architectures, whichever this is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define lazy_is_known is_known_x86_64
#include "shim/arch/x86_64/lazy_known.c"
#undef lazy_is_known
#define lazy_is_known is_known_aarch64
#include "shim/arch/aarch64/lazy_known.c"
#undef lazy_is_known

typedef bool known(const struct wc_elf_image *host, uint64_t value, size_t number);

struct plt {
    const char *linker;
    known *is_known;
    uint64_t at, got, value; /* link-time addresses of the code, DT_PLTGOT, what the slot holds */
    size_t number;           /* of the slot */
    const char *code;        /* in hexadecimal; ".." may be any byte */
};

static const struct plt plts[] = {
    {"bfd, gold, lld", is_known_x86_64, 0x1020, 0x3300, 0x1046, 1,
     "ff35e2220000 ff25e4220000 ........ ............................................ 6801000000 "
     "e9d0ffffff"},
    {"bfd, older, for bound registers", is_known_x86_64, 0x1020, 0x3300, 0x1040, 1,
     "ff35e2220000 f2ff25e3220000 ...................................... "
     "6801000000 f2e9d5ffffff"},
    {"bfd, lld with ibt", is_known_x86_64, 0x1020, 0x3320, 0x1030, 0,
     "ff3502230000 ff2504230000 ........ f30f1efa 6800000000 e9e2ffffff"},
    {"bfd with ibt, older", is_known_x86_64, 0x1020, 0x3320, 0x1030, 0,
     "ff3502230000 f2ff2503230000 ...... f30f1efa 6800000000 f2e9e1ffffff"},
    {"mold", is_known_x86_64, 0x1590, 0x3960, 0x1590, 5, "f30f1efa 4153 ff35cc230000 ff25ce230000"},
    {"mold without marks", is_known_x86_64, 0x1594, 0x3960, 0x1594, 5,
     "4153 ff35cc230000 ff25ce230000"},
    {"bfd, gold, lld, mold", is_known_aarch64, 0x610, 0x10b48, 0x610, 3,
     "f07bbfa9 90000090 11ae45f9 10622d91 20021fd6 ........"},
    {"bfd with bti", is_known_aarch64, 0x6b0, 0x10be8, 0x6b0, 3,
     "5f2403d5 f07bbfa9 90000090 11fe45f9 10e22f91 20021fd6"},
    {"mold, further away", is_known_aarch64, 0x10610, 0x30ad0, 0x10610, 3,
     "f07bbfa9 10010090 117245f9 10822b91 20021fd6 ........"},
};

static unsigned char code[96];
static bool relevant[96];
static struct wc_elf_image host;

static unsigned digit(char c) {
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static size_t load(const struct plt *p) {
    size_t n = 0;
    for (const char *c = p->code; *c; c += *c == ' ' ? 1 : 2)
        if (*c != ' ') {
            relevant[n] = *c != '.';
            code[n] = relevant[n] ? (unsigned char)(digit(c[0]) << 4 | digit(c[1])) : 0xcc;
            n++;
        }
    memset(&host, 0, sizeof(host));
    host.pltgot = p->got;
    host.loads = 1;
    host.load[0].vaddr = p->at;
    host.load[0].memsz = host.load[0].readable = n;
    host.load[0].at = code;
    return n;
}

static bool is_known(const struct plt *p) {
    return p->is_known(&host, p->value, p->number);
}

#define EACH_PLT(p) for (const struct plt *p = plts; p < plts + sizeof(plts) / sizeof(*plts); p++)

static void each_linkers_code_is_known(void **state) {
    (void)state;
    EACH_PLT(p) {
        load(p);
        if (!is_known(p))
            fail_msg("not known: %s", p->linker);
    }
}

/* Any other bit in what counts, and it is other code; what stands in between does not matter. */
static void any_other_code_is_not(void **state) {
    (void)state;
    EACH_PLT(p) {
        size_t n = load(p);
        for (size_t bit = 0; bit < 8 * n; bit++) {
            code[bit / 8] ^= (unsigned char)(1 << bit % 8);
            if (is_known(p) == relevant[bit / 8])
                fail_msg("%s: bit %zu of byte %zu", p->linker, bit % 8, bit / 8);
            code[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    }
}

static void nor_is_code_that_ends_early_or_lies_nowhere(void **state) {
    (void)state;
    EACH_PLT(p) {
        size_t n = load(p);
        while (!relevant[n - 1])
            n--;
        host.load[0].readable = n - 1;
        assert_false(is_known(p));
        load(p);
        assert_false(p->is_known(&host, p->at - 1, p->number));
        assert_false(p->is_known(&host, 0, p->number));
        assert_false(p->is_known(&host, UINT64_MAX, p->number));
    }
}

/* An entry pushes the number of its own slot; the word of the GOT that it jumps by is the loader's.
 */
static void nor_is_another_slots_entry_or_another_got(void **state) {
    (void)state;
    EACH_PLT(p) {
        load(p);
        bool pushes = p->is_known == is_known_x86_64 && p->value != p->at;
        assert_int_equal(p->is_known(&host, p->value, p->number + 1), !pushes);
        host.pltgot += 8;
        assert_false(is_known(p));
        host.pltgot = 0;
        assert_false(is_known(p));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_linkers_code_is_known),
        cmocka_unit_test(any_other_code_is_not),
        cmocka_unit_test(nor_is_code_that_ends_early_or_lies_nowhere),
        cmocka_unit_test(nor_is_another_slots_entry_or_another_got),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
