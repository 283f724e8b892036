/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loader adds to a search by itself: the directories built into it, and the subdirectories
 * that it tries in each. glibc's _dl_important_hwcaps makes two lists of those:
 *
 * glibc-hwcaps/ (2.33 and later; RHEL has it in 2.28): x86-64-v4 to -v2, those that the processor
 * has.
 *
 * Words (until 2.36): all sets but the empty one of "tls", the platform, and the important
 * capabilities, greatest bit first. A word may be there twice: the loader tries what comes of it
 * as often, and so does the replay.
 *   x86-64   platform      haswell or xeon_phi where an Intel processor is one (2.26 and later),
 *                          otherwise AT_PLATFORM, which is x86_64
 *            capabilities  2.26 and later: avx512_1 on an Intel processor; x86_64 on any
 *   aarch64  platform      AT_PLATFORM
 *            capabilities  cpuid (2.26, 2.27) or atomics (2.28 and later) if AT_HWCAP has it
 *
 * (2.26 as its release branch has it: 2.26.0 itself knew neither AT_PLATFORM nor x86_64.)
 */
#include "search.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

enum { HWCAPS_SINCE = 33, WORDS_UNTIL = 36, CACHE_WORDS_UNTIL = 39, CAPABILITIES_SINCE = 26 };
enum { WORDS_MOST = 4 };

/* Bits of entries in ld.so.cache. */
#define TLS_BIT ((uint64_t)1 << 63)
#define HASWELL_BIT ((uint64_t)1 << 50)
#define XEON_PHI_BIT ((uint64_t)1 << 51)
#define X86_64_BIT ((uint64_t)1 << 1)
#define AVX512_1_BIT ((uint64_t)1 << 2)

/* ---- the processor ---- */

#ifdef __x86_64__
struct leaf {
    unsigned a, b, c, d;
};

static struct leaf leaf(unsigned number, unsigned below) {
    struct leaf l = {0, 0, 0, 0};
    if ((unsigned)__get_cpuid_max(number & 0x80000000u, NULL) >= number)
        __cpuid_count(number, below, l.a, l.b, l.c, l.d);
    return l;
}

static bool all(unsigned word, unsigned bits) {
    return (word & bits) == bits;
}

/* Levels as the x86-64 psABI defines them; the words by glibc's init_cpu_features. */
static void read_processor(struct wc_search_processor *out) {
    enum { AVX_SAVED = 0x6, AVX512_SAVED = 0xe6, LZCNT = 1 << 5, LAHF = 1 };
    const unsigned ER = 1u << 27, PF = 1u << 26;
    struct leaf vendor = leaf(0, 0), basic = leaf(1, 0), more = leaf(7, 0);
    struct leaf far = leaf(0x80000001, 0);
    unsigned saved = 0, high; /* which registers the kernel saves: bits of XCR0 */
    if (basic.c & bit_OSXSAVE)
        __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    bool avx = all(saved, AVX_SAVED) && all(basic.c, bit_AVX);
    bool v2 = all(basic.c,
                  bit_CMPXCHG16B | bit_POPCNT | bit_SSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_SSSE3) &&
              all(far.c, LAHF);
    bool haswell = avx && all(basic.c, bit_FMA | bit_MOVBE | bit_POPCNT) &&
                   all(more.b, bit_AVX2 | bit_BMI | bit_BMI2) && all(far.c, LZCNT);
    bool v3 = v2 && haswell && all(basic.c, bit_F16C);
    bool avx512 = avx && all(saved, AVX512_SAVED) && all(more.b, bit_AVX512F | bit_AVX512CD);
    bool v4 = avx512 && all(more.b, bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL);
    bool phi = avx512 && all(more.b, ER | PF);
    bool intel = vendor.b == signature_INTEL_ebx && vendor.c == signature_INTEL_ecx &&
                 vendor.d == signature_INTEL_edx;
    *out = (struct wc_search_processor){.level = v3 && v4 ? 4
                                                 : v3     ? 3
                                                 : v2     ? 2
                                                          : 1,
                                        .platform = !intel    ? NULL
                                                    : phi     ? "xeon_phi"
                                                    : haswell ? "haswell"
                                                              : NULL,
                                        .avx512_1 = intel && v4 && !(more.b & ER)};
}
#endif

/* What the older subdirectories are made of. */
struct words {
    const char *platform; /* NULL: none */
    const char *capabilities[3];
    uint64_t hwcap; /* their bits in ld.so.cache */
};

static void read_words(struct words *w, WC_UNUSED const struct wc_search_processor *p,
                       unsigned glibc_minor, WC_UNUSED uint64_t hwcap) {
    if (glibc_minor < CAPABILITIES_SINCE)
        return;
#ifdef __x86_64__
    unsigned n = 0;
    if (p->platform) {
        w->platform = p->platform;
        w->hwcap |= p->platform[0] == 'h' ? HASWELL_BIT : XEON_PHI_BIT;
    }
    if (p->avx512_1) {
        w->capabilities[n++] = "avx512_1";
        w->hwcap |= AVX512_1_BIT;
    }
    w->capabilities[n] = "x86_64";
    w->hwcap |= X86_64_BIT;
#else
    enum { ATOMICS_SINCE = 28, ATOMICS = 1 << 8, CPUID = 1 << 11 };
    w->hwcap = hwcap & (glibc_minor < ATOMICS_SINCE ? CPUID : ATOMICS);
    if (w->hwcap)
        w->capabilities[0] = w->hwcap == CPUID ? "cpuid" : "atomics";
#endif
}

/* ---- lists of texts ---- */

struct lists {
    struct wc_search_system *out;
    size_t used;
};

/* A text, on a list with room for `most`. */
static void add(struct lists *l, const char **list, size_t most, const char *text) {
    char *to = l->out->text + l->used;
    size_t i = 0;
    while (i < most && list[i])
        i++;
    if (i == most || l->used >= sizeof l->out->text ||
        !wc_str_copy(to, sizeof l->out->text - l->used, text))
        return;
    list[i] = to;
    l->used += wc_str_length(to) + 1;
}

/* All sets of the words but the empty one; the first word counts most. */
static void add_sets(struct lists *l, const struct words *w) {
    const char *words[WORDS_MOST] = {"tls"};
    unsigned n = 1;
    if (w->platform && w->platform[0])
        words[n++] = w->platform;
    for (unsigned i = 0; w->capabilities[i]; i++)
        words[n++] = w->capabilities[i];
    for (unsigned set = (1u << n) - 1; set > 0; set--) {
        char path[64];
        struct wc_text t;
        wc_text_begin(&t, path, sizeof path);
        for (unsigned i = 0; i < n; i++)
            if (set >> (n - 1 - i) & 1)
                wc_text_format(&t, "%s/", words[i]);
        if (!t.cut)
            add(l, l->out->subdirectories, WC_SEARCH_SUBDIRECTORIES, path);
    }
}

/* ---- the loader's own directories ---- */

/* Length of a directory's name that ends in '/', 0: it is none. */
static size_t directory_length(const struct wc_elf_image *e, uint64_t at) {
    size_t n = 0;
    const char *c;
    for (; (c = wc_elf_at(e, at + n, 1)) && *c; n++)
        if (n == 200 || *c < ' ' || *c > '~')
            return 0;
    const char *first = wc_elf_at(e, at, 1), *last = n ? wc_elf_at(e, at + n - 1, 1) : NULL;
    return c && n > 1 && *first == '/' && *last == '/' ? n : 0;
}

/* They stand one after the other, each with a '/' and a NUL at its end. */
static void add_defaults(struct lists *l, const struct wc_elf_image *loader) {
    uint64_t at = 0, found;
    while (!l->out->defaults[0] && (found = wc_elf_find_bytes(loader, "/\0/", 3, &at, SIZE_MAX))) {
        uint64_t text = found;
        const char *c;
        while (text && (c = wc_elf_at(loader, text - 1, 1)) && *c)
            text--;
        size_t n = directory_length(loader, text);
        if (!n || !directory_length(loader, text + n + 1))
            continue;
        for (; (n = directory_length(loader, text)); text += n + 1)
            add(l, l->out->defaults, WC_SEARCH_DIRECTORIES, wc_elf_at(loader, text, n + 1));
    }
}

void wc_search_system_of(struct wc_search_system *out, const struct wc_search_processor *processor,
                         unsigned glibc_minor, const char *platform, uint64_t hwcap,
                         const struct wc_elf_image *loader) {
    static const char *const names[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
    static const char built_in[] = "x86-64-v4:x86-64-v3:x86-64-v2";
    struct lists l = {out, 0};
    struct words w = {.platform = platform};
    uint64_t at = 0;
    wc_mem_set(out, 0, sizeof *out);
    read_words(&w, processor, glibc_minor, hwcap);
    wc_str_copy(out->platform, sizeof out->platform, w.platform);
    out->cache_hwcap = glibc_minor <= CACHE_WORDS_UNTIL ? w.hwcap | TLS_BIT : 0;
    if (loader)
        add_defaults(&l, loader);
    /* $LIB is what the first of them has after the root: "lib64", "lib/x86_64-linux-gnu". */
    const char *first = out->defaults[0];
    if (!first || !wc_str_starts(first, "/lib"))
        first = "/lib/";
    wc_str_format(out->lib, sizeof out->lib, "%.*s", (int)wc_str_length(first) - 2, first + 1);
    if (glibc_minor >= HWCAPS_SINCE ||
        (loader && wc_elf_find_bytes(loader, built_in, sizeof built_in, &at, SIZE_MAX)))
        for (unsigned level = processor->level; level >= 2; level--) {
            char path[32];
            add(&l, out->hwcaps, 3, names[level - 2]);
            wc_str_format(path, sizeof path, "glibc-hwcaps/%s/", names[level - 2]);
            add(&l, out->subdirectories, WC_SEARCH_SUBDIRECTORIES, path);
        }
    if (glibc_minor <= WORDS_UNTIL)
        add_sets(&l, &w);
}

void wc_search_system_read(struct wc_search_system *out, unsigned glibc_minor, const char *platform,
                           uint64_t hwcap, const struct wc_elf_image *loader) {
    struct wc_search_processor processor = {.level = 1};
#ifdef __x86_64__
    read_processor(&processor);
#endif
    wc_search_system_of(out, &processor, glibc_minor, platform, hwcap, loader);
}
