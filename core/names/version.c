/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version numbers, version texts and sets of versions (version.h). The sets are those of package
 * metadata and WHICHCUDNN_EXPECT, by the rules of PEP 440. Fields of a cuDNN version are often
 * unknown, so the answer has three values.
 */
#include "version.h"

enum {
    OLD_MAJOR = 1000,  /* weight of the major in the number below 9 */
    NEW_MAJOR = 10000, /* and from 9 on */
    MINOR = 100,       /* weight of the minor in both */
    FIRST_NEW = 9,     /* the major that changed it */
    MOST_MAJOR = 99,   /* beyond: not a number that any library would give */
    CUDNN_FIELDS = 3,
    FIELDS = 4,
};

union fields {
    struct wc_version version;
    int32_t p[FIELDS];
};

bool wc_version_known(struct wc_version v) {
    return v.major >= 0;
}

struct wc_version wc_version_from_number(uint64_t number) {
    uint64_t weight = number >= NEW_MAJOR ? NEW_MAJOR : OLD_MAJOR;
    uint64_t major = number / weight, rest = number % weight;
    if (major == 0 || major > MOST_MAJOR || (major >= FIRST_NEW) != (weight == NEW_MAJOR))
        return WC_VERSION_NONE;
    return (struct wc_version){(int32_t)major, (int32_t)(rest / MINOR), (int32_t)(rest % MINOR),
                               -1};
}

uint64_t wc_version_to_number(struct wc_version v) {
    uint64_t weight = v.major >= FIRST_NEW ? NEW_MAJOR : OLD_MAJOR;
    uint64_t minor = v.minor > 0 ? (uint64_t)v.minor : 0;
    uint64_t patch = v.patch > 0 ? (uint64_t)v.patch : 0;
    if (v.major <= 0 || v.major > MOST_MAJOR || minor >= weight / MINOR || patch >= MINOR)
        return 0;
    return (uint64_t)v.major * weight + minor * MINOR + patch;
}

struct wc_version wc_version_from_packed(uint32_t packed) {
    int32_t major = (int32_t)(packed >> 16);
    if (major == 0 || major > MOST_MAJOR)
        return WC_VERSION_NONE;
    return (struct wc_version){major, (int32_t)(packed >> 8 & 0xff), (int32_t)(packed & 0xff), -1};
}

struct wc_version wc_version_of(const char *text) {
    struct wc_version v;
    return text && wc_version_parse(text, wc_str_length(text), &v) ? v : WC_VERSION_NONE;
}

size_t wc_version_parse_start(const char *s, size_t n, struct wc_version *out) {
    union fields field = {WC_VERSION_NONE};
    size_t used = 0;
    for (size_t i = 0, at = 0; i < FIELDS; i++) {
        uint64_t v;
        size_t digits = wc_parse_number(s + at, n - at, &v);
        if (!digits || v > INT32_MAX)
            break;
        field.p[i] = (int32_t)v;
        used = at + digits;
        if (used == n || s[used] != '.')
            break;
        at = used + 1;
    }
    *out = field.version;
    return used;
}

bool wc_version_parse(const char *s, size_t n, struct wc_version *out) {
    size_t used = wc_version_parse_start(s, n, out);
    if (used && used == n)
        return true;
    *out = WC_VERSION_NONE;
    return false;
}

char *wc_version_format(struct wc_version v, char out[WC_VERSION_TEXT]) {
    const union fields field = {v};
    struct wc_text t;
    wc_text_begin(&t, out, WC_VERSION_TEXT);
    for (size_t i = 0; i < FIELDS && field.p[i] >= 0; i++)
        wc_text_format(&t, i ? ".%d" : "%d", field.p[i]);
    if (!t.n)
        wc_text_add(&t, "unknown");
    return out;
}

const char *wc_version_text(struct wc_version v, char out[WC_VERSION_TEXT]) {
    return wc_version_known(v) ? wc_version_format(v, out) : NULL;
}

struct wc_version wc_version_filled(struct wc_version v, int32_t minor, int32_t patch) {
    if (!wc_version_known(v))
        return v;
    return (struct wc_version){v.major, v.minor < 0 ? minor : v.minor,
                               v.patch < 0 ? patch : v.patch, -1};
}

/* The first n of them; unknown ones count as 0. */
static int compare_fields(const union fields *a, const union fields *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int32_t l = a->p[i] > 0 ? a->p[i] : 0, r = b->p[i] > 0 ? b->p[i] : 0;
        if (l != r)
            return l < r ? -1 : 1;
    }
    return 0;
}

int wc_version_compare(struct wc_version a, struct wc_version b) {
    return compare_fields(&(union fields){a}, &(union fields){b}, FIELDS);
}

bool wc_version_agree(struct wc_version a, struct wc_version b) {
    const union fields x = {a}, y = {b};
    for (size_t i = 0; i < FIELDS && x.p[i] >= 0 && y.p[i] >= 0; i++)
        if (x.p[i] != y.p[i])
            return false;
    return true;
}

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
    size_t used = wc_version_parse_start(s, n, v);
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

bool wc_spec_read(const char *s, struct wc_spec *out) {
    size_t n = s ? wc_str_length(s) : 0;
    out->n = 0;
    if (!s)
        return false;
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

/* ---- does a version satisfy them ---- */

/* v means every version between low and high, compared in `width` fields. */
struct candidates {
    union fields low, high;
    size_t width;
};

static enum wc_answer opposite(enum wc_answer a) {
    return a == WC_UNKNOWN ? a : a == WC_YES ? WC_NO : WC_YES;
}

/* Do all, none or some of the candidates compare with the bound as `wanted` says (-1 or 1)? */
static enum wc_answer beyond(const struct candidates *c, const union fields *bound, int wanted) {
    bool low = compare_fields(&c->low, bound, c->width) == wanted;
    bool high = compare_fields(&c->high, bound, c->width) == wanted;
    return low != high ? WC_UNKNOWN : low ? WC_YES : WC_NO;
}

/* Do they equal the first n fields of the bound? */
static enum wc_answer equal(const struct candidates *c, const union fields *bound, size_t n) {
    if (n > c->width)
        n = c->width;
    int low = compare_fields(&c->low, bound, n), high = compare_fields(&c->high, bound, n);
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
    const union fields of = {limit}, *bound = &of;
    size_t fields = 0;
    while (fields < FIELDS && bound->p[fields] >= 0)
        fields++;
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
    struct candidates c = {{v}, {v}, v.build >= 0 ? FIELDS : CUDNN_FIELDS};
    for (size_t i = 0; i < FIELDS; i++)
        if (c.high.p[i] < 0)
            c.high.p[i] = INT32_MAX;
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
