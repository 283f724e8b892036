/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

/* A row of core/knowledge/interpreters.def. */
struct interpreter {
    const char *names, *flags, *joined, *valued, *apart, *module, *script, *code, *mark;
    const char *words, *valued_words, *script_words;
};

static const struct interpreter interpreters[] = {
#define INTERPRETER(...) {__VA_ARGS__},
#include "core/knowledge/interpreters.def"
#undef INTERPRETER
};

/* ---- names and options of the table ---- */

/* Is text[0..n) one of the words, which blanks separate? */
static bool in_words(const char *words, const char *text, size_t n) {
    WC_EACH_ELEMENT(word, words, " ")
        if (word.n == n && wc_mem_compare(word.p, text, n) == 0)
            return true;
    return false;
}

/* Length of the name in python3.11, bash-5.2. */
static size_t without_version(const char *base) {
    size_t n = 0;
    while (base[n] && !wc_is_digit(base[n]))
        n++;
    return n && base[n - 1] == '-' && base[n] ? n - 1 : n;
}

static const struct interpreter *find_interpreter(const char *program) {
    const char *base = wc_base_name(program);
    size_t n = without_version(base);
    WC_EACH_ROW(i, interpreters)
        if (n && in_words(i->names, base, n))
            return i;
    return NULL;
}

static bool has_letter(const char *letters, char letter) {
    return wc_str_find_char(letters, letter) != NULL;
}

/* ---- going through a line ---- */

/* How an argument changes what the next ones mean. */
enum meaning {
    IS_OPTION,
    TAKES_NEXT, /* its value is the next argument */
    IS_SCRIPT,  /* text: the name */
    SCRIPT_IS_NEXT,
    IS_MODULE,
    MODULE_IS_NEXT,
    IS_CODE,
    ENDS_OPTIONS,
    UNKNOWN,
};

struct argument {
    const char *text; /* IS_SCRIPT, IS_MODULE: the name in it */
    size_t values;    /* TAKES_NEXT: how many arguments it takes */
};

/* -W ignore, -Wignore: letter s has a value, which is the rest, or else the next argument. */
static enum meaning rest_or_next(const char *s, enum meaning rest, enum meaning next,
                                 struct argument *a) {
    a->text = s + 1;
    a->values = 1;
    return s[1] ? rest : next;
}

static enum meaning read_letters(const struct interpreter *i, const char *s, struct argument *a) {
    enum meaning so_far = IS_OPTION;
    for (; *s; s++) {
        if (has_letter(i->code, *s))
            return IS_CODE;
        if (has_letter(i->joined, *s))
            return so_far;
        if (has_letter(i->valued, *s))
            return rest_or_next(s, IS_OPTION, TAKES_NEXT, a);
        if (has_letter(i->module, *s))
            return rest_or_next(s, IS_MODULE, MODULE_IS_NEXT, a);
        if (has_letter(i->script, *s))
            return rest_or_next(s, IS_SCRIPT, SCRIPT_IS_NEXT, a);
        if (has_letter(i->apart, *s)) {
            so_far = TAKES_NEXT;
            a->values++;
        } else if (!has_letter(i->flags, *s)) {
            return UNKNOWN;
        }
    }
    return so_far;
}

static enum meaning read_argument(const struct interpreter *i, const char *s, struct argument *a) {
    size_t n = 0;
    *a = (struct argument){s, 0};
    if (s[0] == '+' && *i->apart)
        return read_letters(i, s + 1, a);
    if (s[0] != '-')
        return *s ? IS_SCRIPT : UNKNOWN;
    if (!s[1])
        return UNKNOWN; /* the script comes from standard input */
    if (wc_str_same(s, "--"))
        return ENDS_OPTIONS;
    while (s[n] && s[n] != '=' && s[n] != ':')
        n++;
    if (in_words(i->script_words, s, n)) {
        a->text = s[n] ? s + n + 1 : s;
        return s[n] ? IS_SCRIPT : SCRIPT_IS_NEXT;
    }
    if (in_words(i->words, s, n))
        return IS_OPTION;
    if (in_words(i->valued_words, s, n)) {
        a->values = 1;
        return s[n] ? IS_OPTION : TAKES_NEXT;
    }
    return s[1] == '-' ? UNKNOWN : read_letters(i, s + 1, a);
}

struct kept {
    const char **out;
    size_t n, most;
};

struct line {
    const char *at, *end;
};

static const char *next_argument(struct line *l) {
    const char *s = l->at;
    if (s >= l->end)
        return NULL;
    l->at += wc_str_length(s) + 1;
    return s;
}

/* A value that looks like an option is probably none. */
static const char *next_value(struct line *l) {
    const char *s = next_argument(l);
    return s && s[0] != '-' && s[0] != '+' ? s : NULL;
}

/* module: "-m" or NULL, kept before the text. text NULL: keeps nothing. */
static void keep(struct kept *k, const char *module, const char *text) {
    if (text && module && k->n < k->most)
        k->out[k->n++] = module;
    if (text && k->n < k->most)
        k->out[k->n++] = text;
}

static void keep_script(const struct interpreter *i, struct line *l, struct kept *k) {
    struct argument a;
    const char *s;
    while ((s = next_argument(l)))
        switch (read_argument(i, s, &a)) {
        case IS_OPTION:
            break;
        case TAKES_NEXT:
            for (; a.values; a.values--)
                if (!next_value(l))
                    return;
            break;
        case IS_SCRIPT:
            return keep(k, NULL, a.text);
        case SCRIPT_IS_NEXT:
            return keep(k, NULL, next_value(l));
        case IS_MODULE:
            return keep(k, "-m", a.text);
        case MODULE_IS_NEXT:
            return keep(k, "-m", next_argument(l));
        case IS_CODE:
            return keep(k, NULL, i->mark);
        case ENDS_OPTIONS:
            return keep(k, NULL, next_argument(l));
        case UNKNOWN:
            return;
        }
}

size_t wc_arguments_keep(const struct wc_arguments *from, const char **out, size_t most) {
    struct kept k = {out, 0, most};
    struct line l = {from->line, from->line + from->size};
    const char *first = next_argument(&l);
    /* A process that writes a title over its arguments puts all of it into the first. */
    if (first && !from->whole && wc_str_find_char(first, ' ') &&
        !(from->executable && wc_str_starts(wc_base_name(from->executable), wc_base_name(first)))) {
        keep(&k, NULL, from->executable);
        return k.n;
    }
    keep(&k, NULL, first);
    const struct interpreter *i = first ? find_interpreter(first) : NULL;
    if (from->whole)
        for (const char *s; (s = next_argument(&l));)
            keep(&k, NULL, s);
    else if (i)
        keep_script(i, &l, &k);
    return k.n;
}
