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
 * that the version may mean. */
enum wc_rule wc_rule_of_framework(const char *framework, struct wc_version version) {
    const struct wc_framework *f = wc_framework_named(framework);
    bool known = wc_version_known(version);
    struct wc_version latest = version;
    if (latest.minor < 0)
        latest.minor = INT32_MAX;
    WC_EACH_KNOWN(row, f ? f->rules : NULL, name)
        if ((!*row->from ||
             (known && wc_version_compare(version, wc_version_of(row->from)) >= 0)) &&
            (!*row->to || (known && wc_version_compare(latest, wc_version_of(row->to)) < 0)))
            return wc_rule_from_name(row->name);
    return WC_RULE_NVIDIA;
}

/* ---- the checks ---- */

/* Compares the first n fields. or_newer: a later version of the same major fits, too. */
static enum wc_fit fit_in(struct wc_version built, struct wc_version runtime, size_t n,
                          bool or_newer) {
    const int32_t b[] = {built.major, built.minor, built.patch};
    const int32_t r[] = {runtime.major, runtime.minor, runtime.patch};
    for (size_t i = 0; i < n; i++) {
        if (b[i] < 0 || r[i] < 0)
            return WC_FIT_UNKNOWN;
        if (b[i] != r[i])
            return i == 0        ? WC_OTHER_MAJOR
                   : r[i] < b[i] ? WC_TOO_OLD
                   : or_newer    ? WC_FITS
                                 : WC_TOO_NEW;
    }
    return WC_FITS;
}

enum { FIRST_WITH_PROMISE = 7 }; /* the first major whose minors are promised to be compatible */

enum wc_fit wc_rule_check(enum wc_rule rule, struct wc_version built, struct wc_version runtime) {
    bool with_promise = runtime.major >= FIRST_WITH_PROMISE;
    if (!is_rule(rule))
        return WC_FIT_UNKNOWN;
    /* Whatever a framework compares: another major has other functions, and other part names. */
    if (fit_in(built, runtime, 1, false) == WC_OTHER_MAJOR)
        return WC_OTHER_MAJOR;
    switch (rules[rule].compares) {
    case PROMISED:
        if (with_promise)
            return fit_in(built, runtime, 2, true);
        /* Before cuDNN 7 nothing is promised: only the built version itself surely fits. */
        return fit_in(built, runtime, 3, false) == WC_FITS ? WC_FITS : WC_FIT_UNKNOWN;
    case SAME_MINOR:
        return fit_in(built, runtime, 2, false);
    case NO_OLDER_MINOR:
        return fit_in(built, runtime, 2, true);
    case NO_OLDER_PATCH:
        return fit_in(built, runtime, 3, true);
    case SAME_PATCH:
        return fit_in(built, runtime, 3, false);
    case MINOR_BY_MAJOR:
        return fit_in(built, runtime, 2, with_promise);
    }
    return WC_FIT_UNKNOWN;
}

bool wc_rule_only_warns(enum wc_rule rule) {
    return is_rule(rule) && rules[rule].refusal == WARNS;
}

uint64_t wc_compatibility_number(struct wc_version v) {
    return wc_version_to_number(v) / 100 * 100;
}
