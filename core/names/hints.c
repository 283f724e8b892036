/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which names hint at CUDA (names.h). The shim calls this for every name while it sleeps, before
 * its tables are relocated. So the table here has no pointers, and no function of another file is
 * called.
 */
#include "names.h"

enum where { PACKAGE, ANYWHERE };
enum end { PREFIX, WHOLE };

static const struct {
    char word[14], where, end;
} hints[] = {
#define HINT(word, where, end) {word, where, end},
#define FRAMEWORK(name, hints, ...) hints
#include "core/knowledge/frameworks.def"
#include "core/knowledge/names.def"
};

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The text after the first `part` of a name; NULL: the name does not contain it. */
static const char *text_behind(const char *name, const char *part) {
    for (; *name; name++) {
        size_t n = 0;
        while (part[n] && name[n] == part[n])
            n++;
        if (!part[n])
            return name + n;
    }
    return NULL;
}

/* Does a word at s count as a hint? */
static bool word_counts(const char *name, const char *s, enum where where) {
    /* The standard library's extension modules lie in an environment of any name. */
    const char *standard = text_behind(name, "/lib-dynload/"), *package;
    if (standard && s < standard)
        return false;
    if (standard)
        name = standard - 1;
    if (where == ANYWHERE)
        return true;
    if ((package = text_behind(name, "/site-packages/")) ||
        (package = text_behind(name, "/dist-packages/")))
        return s >= package;
    return !text_behind(s, "/");
}

/* A quick filter, because every word of every path that a process opens is tested. Some other
 * characters share the bit of a letter, but few words pass the test of two letters. */
#define BIT(c) (UINT64_C(1) << ((unsigned)(c) % 64))
#define PAIR(a, b) BIT((unsigned)((a) | 0x20) * 4 + (unsigned)((b) | 0x20))
static inline bool may_begin_a_hint(const char *s) {
    uint64_t letters = 0, pairs = 0;
#define HINT(word, where, end)                                                                     \
    letters |= BIT((word)[0]) | BIT((word)[0] - 0x20);                                             \
    pairs |= PAIR((word)[0], (word)[1]);
#define FRAMEWORK(name, hints, ...) hints
#include "core/knowledge/frameworks.def"
#include "core/knowledge/names.def"
    return letters & BIT(s[0]) && pairs & PAIR(s[0], s[1]);
}

static bool is_a_hint(const char *name, const char *s) {
    WC_EACH_ROW(hint, hints) {
        size_t n = 0;
        while (hint->word[n] && lower(s[n]) == hint->word[n])
            n++;
        if (!hint->word[n] && (hint->end == PREFIX || !wc_is_alphanumeric(s[n])) &&
            word_counts(name, s, hint->where))
            return true;
    }
    return false;
}

bool wc_name_hints_behind(const char *name, size_t n) {
    for (const char *s = name + n; *s; s++) {
        if (s[0] == 'l' && s[1] == 'i' && s[2] == 'b') /* no hint begins so */
            s += 3;
        if (may_begin_a_hint(s) && is_a_hint(name, s))
            return true;
        while ((unsigned char)((*s | 0x20) - 'a') < 26 || wc_is_digit(*s))
            s++;
        if (!*s)
            return false;
    }
    return false;
}

bool wc_name_hints(const char *name) {
    return name && wc_name_hints_behind(name, 0);
}
