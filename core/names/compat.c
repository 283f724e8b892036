/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of core/knowledge/rules.def (compat.h). */
#include "compat.h"

#include "core/knowledge/frameworks.h"

enum compares {
    PROMISED,       /* NVIDIA's promise: no older minor, from cuDNN 7 on */
    SAME_MINOR,     /* the same major and minor */
    NO_OLDER_MINOR, /* the same major, and no older minor */
    NO_OLDER_PATCH,
    SAME_PATCH,
    MINOR_BY_MAJOR, /* SAME_MINOR below cuDNN 7, NO_OLDER_MINOR from 7 on */
};
enum refusal { ENDS, WARNS };

static const struct {
    const char *name, *what;
    enum compares compares;
    enum refusal refusal;
} rules[WC_RULE_COUNT] = {
#define RULE(id, name, compares, refusal, what, source)                                            \
    [WC_RULE_##id] = {name, what, compares, refusal},
#include "core/knowledge/rules.def"
};

static bool is_rule(enum wc_rule rule) {
    return rule > WC_RULE_NONE && rule < WC_RULE_COUNT;
}

const char *wc_rule_name(enum wc_rule rule) {
    return is_rule(rule) ? rules[rule].name : "none";
}

enum wc_rule wc_rule_from_name(const char *name) {
    for (enum wc_rule r = WC_RULE_NONE + 1; r < WC_RULE_COUNT; r++) {
        if (wc_str_same(name, rules[r].name))
            return r;
    }
    return WC_RULE_NONE;
}

const char *wc_rule_explanation(enum wc_rule rule) {
    return is_rule(rule) ? rules[rule].what : "No rule is known.";
}

/* ---- which rule ---- */

/* An open end holds for an unknown version, too. A bound holds only if it holds for every version
 * that v may mean. */
static bool from_on(const char *from, struct wc_version v) {
    return !*from || (wc_version_known(v) && wc_version_compare(v, wc_version_of(from)) >= 0);
}

static bool before(const char *to, struct wc_version v) {
    bool known = wc_version_known(v);
    if (v.minor < 0)
        v.minor = INT32_MAX;
    return !*to || (known && wc_version_compare(v, wc_version_of(to)) < 0);
}

enum wc_rule wc_rule_of_framework(const char *framework, struct wc_version version) {
    const struct wc_framework *f = wc_framework_named(framework);
    WC_EACH_KNOWN(row, f ? f->rules : NULL, name)
        if (from_on(row->from, version) && before(row->to, version))
            return wc_rule_from_name(row->name);
    return WC_RULE_NVIDIA;
}

/* ---- the checks ---- */

enum order { OLDER, SAME, NEWER, UNDECIDED };

/* Compares the first n fields of the runtime version with those of the built one. */
static enum order order_of(struct wc_version built, struct wc_version runtime, size_t n) {
    const int32_t b[] = {built.major, built.minor, built.patch};
    const int32_t r[] = {runtime.major, runtime.minor, runtime.patch};
    for (size_t i = 0; i < n; i++) {
        if (b[i] < 0 || r[i] < 0)
            return UNDECIDED;
        if (b[i] != r[i])
            return r[i] < b[i] ? OLDER : NEWER;
    }
    return SAME;
}

static enum wc_fit refused(struct wc_version built, struct wc_version runtime, enum order o) {
    if (built.major != runtime.major)
        return WC_OTHER_MAJOR;
    return o == OLDER ? WC_TOO_OLD : WC_TOO_NEW;
}

static enum wc_fit equal_in(struct wc_version built, struct wc_version runtime, size_t n) {
    enum order o = order_of(built, runtime, n);
    if (o == UNDECIDED)
        return WC_FIT_UNKNOWN;
    return o == SAME ? WC_FITS : refused(built, runtime, o);
}

static enum wc_fit not_older_in(struct wc_version built, struct wc_version runtime, size_t n) {
    enum order o = order_of(built, runtime, n);
    return o == NEWER ? WC_FITS : equal_in(built, runtime, n);
}

enum { FIRST_WITH_PROMISE = 7 }; /* the first major whose minors are promised to be compatible */

static enum wc_fit minor_by_major(struct wc_version built, struct wc_version runtime) {
    if (runtime.major >= FIRST_WITH_PROMISE)
        return not_older_in(built, runtime, 2);
    return equal_in(built, runtime, 2);
}

/* Before cuDNN 7 nothing is promised: only the built version itself surely fits. */
static enum wc_fit promised(struct wc_version built, struct wc_version runtime) {
    if (runtime.major >= FIRST_WITH_PROMISE)
        return not_older_in(built, runtime, 2);
    return order_of(built, runtime, 3) == SAME ? WC_FITS : WC_FIT_UNKNOWN;
}

enum wc_fit wc_rule_check(enum wc_rule rule, struct wc_version built, struct wc_version runtime) {
    if (!is_rule(rule))
        return WC_FIT_UNKNOWN;
    /* Whatever a framework compares: another major has other functions, and other part names. */
    if (equal_in(built, runtime, 1) == WC_OTHER_MAJOR)
        return WC_OTHER_MAJOR;
    switch (rules[rule].compares) {
    case PROMISED:
        return promised(built, runtime);
    case SAME_MINOR:
        return equal_in(built, runtime, 2);
    case NO_OLDER_MINOR:
        return not_older_in(built, runtime, 2);
    case NO_OLDER_PATCH:
        return not_older_in(built, runtime, 3);
    case SAME_PATCH:
        return equal_in(built, runtime, 3);
    case MINOR_BY_MAJOR:
        return minor_by_major(built, runtime);
    }
    return WC_FIT_UNKNOWN;
}

bool wc_rule_only_warns(enum wc_rule rule) {
    return is_rule(rule) && rules[rule].refusal == WARNS;
}

uint64_t wc_compatibility_number(struct wc_version v) {
    return wc_version_to_number(v) / 100 * 100;
}
