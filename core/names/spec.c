/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of versions as package metadata and WHICHCUDNN_EXPECT state them (version.h), by the rules
 * of PEP 440. Fields of a cuDNN version are often unknown, so the answer has three values.
 */
#include "version.h"

enum { CUDNN_FIELDS = 3, FIELDS = 4 };

/* ---- text to clauses ---- */

static const struct {
    char sign[4];
    enum wc_spec_op op;
} signs[] = {
    /* A longer sign is before the signs that it begins with. */
    {"===", WC_EQ}, {"==", WC_EQ}, {"!=", WC_NE}, {">=", WC_GE},
    {"<=", WC_LE},  {">", WC_GT},  {"<", WC_LT},  {"~=", WC_COMPATIBLE},
};

static void trim(const char **s, size_t *n) {
    while (*n && wc_str_find_char(" \t", (*s)[0])) {
        (*s)++;
        (*n)--;
    }
    while (*n && wc_str_find_char(" \t", (*s)[*n - 1]))
        (*n)--;
}

/* What PEP 440 lets follow the numbers: a0, rc1, .post2, .dev3, +cu12, or several. */
static bool is_suffix(const char *s, size_t n) {
    size_t mark = wc_str_find_char("._+-", *s) != NULL;
    if (n == mark || !wc_is_alphanumeric(s[mark]))
        return false;
    for (size_t i = mark; i < n; i++)
        if (!wc_is_alphanumeric(s[i]) && !wc_str_find_char("._+-", s[i]))
            return false;
    return true;
}

static bool parse_clause(const char *s, size_t n, enum wc_spec_op *op, struct wc_version *v) {
    size_t used;

    trim(&s, &n);
    *op = WC_EQ_PREFIX; /* without a sign: "9.1" for people is every 9.1.x */
    WC_EACH_ROW(row, signs) {
        size_t m = wc_str_length(row->sign);
        if (n >= m && wc_mem_compare(s, row->sign, m) == 0) {
            *op = row->op;
            s += m;
            n -= m;
            break;
        }
    }
    trim(&s, &n);
    used = wc_version_parse_start(s, n, v);
    s += used;
    n -= used;
    if (n == 2 && wc_mem_compare(s, ".*", 2) == 0) {
        if (*op != WC_EQ && *op != WC_NE && *op != WC_EQ_PREFIX)
            return false;
        *op = *op == WC_NE ? WC_NE_PREFIX : WC_EQ_PREFIX;
    } else if (n && (*op == WC_NE || *op == WC_EQ_PREFIX || !is_suffix(s, n)))
        /* "<10.0a0" of conda's pins is as "<10.0", since there are no previews of cuDNN, and
         * "==9.1.0+ours" is a build of that release. "!=9.1.0+ours" says nothing of the release. */
        return false;
    return used && (*op != WC_COMPATIBLE || v->minor >= 0); /* PEP 440: ~= needs two fields */
}

bool wc_spec_parse(const char *s, size_t n, struct wc_spec *out) {
    out->n = 0;
    trim(&s, &n);
    if (n >= 2 && s[0] == '(' && s[n - 1] == ')') { /* the style of metadata 1.x */
        s++;
        n -= 2;
        trim(&s, &n);
    }
    while (n) {
        size_t end = 0;
        while (end < n && s[end] != ',')
            end++;
        if (out->n == sizeof out->clause / sizeof *out->clause ||
            !parse_clause(s, end, &out->clause[out->n].op, &out->clause[out->n].version) ||
            end == n - 1) {
            out->n = 0;
            return false;
        }
        out->n++;
        end += end < n;
        s += end;
        n -= end;
    }
    return true;
}

bool wc_spec_read(const char *text, struct wc_spec *out) {
    return text && wc_spec_parse(text, wc_str_length(text), out);
}

/* ---- does a version satisfy them ---- */

/* v means every version between low and high, compared in `width` fields. */
struct candidates {
    int32_t low[FIELDS], high[FIELDS];
    size_t width;
};

static int compare_fields(const int32_t *a, const int32_t *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static enum wc_answer opposite(enum wc_answer a) {
    return a == WC_UNKNOWN ? a : a == WC_YES ? WC_NO : WC_YES;
}

/* Do all, none or some of the candidates compare with the bound as `wanted` says (-1 or 1)? */
static enum wc_answer beyond(const struct candidates *c, const int32_t *bound, int wanted) {
    bool low = compare_fields(c->low, bound, c->width) == wanted;
    bool high = compare_fields(c->high, bound, c->width) == wanted;
    return low != high ? WC_UNKNOWN : low ? WC_YES : WC_NO;
}

/* Do they equal the first n fields of the bound? */
static enum wc_answer equal(const struct candidates *c, const int32_t *bound, size_t n) {
    if (n > c->width)
        n = c->width;
    int low = compare_fields(c->low, bound, n), high = compare_fields(c->high, bound, n);
    if (low > 0 || high < 0)
        return WC_NO;
    return low == 0 && high == 0 ? WC_YES : WC_UNKNOWN;
}

static enum wc_answer both(enum wc_answer a, enum wc_answer b) {
    if (a == WC_NO || b == WC_NO)
        return WC_NO;
    return a == WC_UNKNOWN ? a : b;
}

static enum wc_answer clause_accepts(enum wc_spec_op op, struct wc_version limit,
                                     const struct candidates *c) {
    /* Fields that the clause leaves out are 0 (PEP 440), but not part of its prefix. */
    int32_t bound[FIELDS] = {limit.major, limit.minor, limit.patch, limit.build};
    size_t fields = 0;
    while (fields < FIELDS && bound[fields] >= 0)
        fields++;
    for (size_t i = fields; i < FIELDS; i++)
        bound[i] = 0;
    switch (op) {
    case WC_EQ:
        return equal(c, bound, FIELDS);
    case WC_NE:
        return opposite(equal(c, bound, FIELDS));
    case WC_EQ_PREFIX:
        return equal(c, bound, fields);
    case WC_NE_PREFIX:
        return opposite(equal(c, bound, fields));
    case WC_GE:
        return opposite(beyond(c, bound, -1));
    case WC_LT:
        return beyond(c, bound, -1);
    case WC_LE:
        return opposite(beyond(c, bound, 1));
    case WC_GT:
        return beyond(c, bound, 1);
    case WC_COMPATIBLE:
        return both(opposite(beyond(c, bound, -1)), equal(c, bound, fields - 1));
    }
    return WC_UNKNOWN;
}

enum wc_answer wc_spec_accepts(const struct wc_spec *spec, struct wc_version v) {
    enum wc_answer answer = WC_YES;
    int32_t field[FIELDS] = {v.major, v.minor, v.patch, v.build};
    struct candidates c = {.width = v.build >= 0 ? FIELDS : CUDNN_FIELDS};
    for (size_t i = 0; i < FIELDS; i++) {
        c.low[i] = field[i] >= 0 ? field[i] : 0;
        c.high[i] = field[i] >= 0 ? field[i] : INT32_MAX;
    }
    for (size_t i = 0; i < spec->n; i++)
        answer = both(answer, clause_accepts(spec->clause[i].op, spec->clause[i].version, &c));
    return answer;
}

/* ---- its lower end ---- */

struct wc_version wc_spec_floor(const struct wc_spec *spec) {
    struct wc_version floor = WC_VERSION_NONE;
    for (size_t i = 0; i < spec->n; i++) {
        struct wc_version v = spec->clause[i].version;
        enum wc_spec_op op = spec->clause[i].op;
        int32_t *last = v.build >= 0 ? &v.build : &v.patch;
        if (op == WC_NE || op == WC_NE_PREFIX || op == WC_LE || op == WC_LT)
            continue;
        if (op == WC_GT) { /* the next version */
            v.minor = v.minor < 0 ? 0 : v.minor;
            *last = *last < 0 ? 1 : *last < INT32_MAX ? *last + 1 : *last;
        }
        if (!wc_version_known(floor) || wc_version_compare(v, floor) > 0)
            floor = v;
    }
    return floor;
}

enum wc_answer wc_text_accepts(const char *text, struct wc_version v) {
    struct wc_spec spec;

    return wc_spec_read(text, &spec) ? wc_spec_accepts(&spec, v) : WC_UNKNOWN;
}

struct wc_version wc_text_floor(const char *text) {
    struct wc_spec spec;

    return wc_spec_read(text, &spec) ? wc_spec_floor(&spec) : WC_VERSION_NONE;
}
