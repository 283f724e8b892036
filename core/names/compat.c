/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of core/knowledge/rules.def (compat.h). */
#include "compat.h"

#include "core/knowledge/frameworks.h"

enum compares { PROMISED, SAME_MINOR, NO_OLDER_MINOR, NO_OLDER_PATCH, SAME_PATCH, MINOR_BY_MAJOR };
enum { NEVER = INT32_MAX, FIRST_WITH_PROMISE = 7 }; /* of cuDNN's majors */

/* How many fields, and from which major on a later version of the same major fits, too. NVIDIA
 * promises since cuDNN 7 that no newer minor breaks a program. */
static const struct {
    size_t fields;
    int32_t newer_from;
} ways[] = {[PROMISED] = {2, FIRST_WITH_PROMISE},
            [SAME_MINOR] = {2, NEVER},
            [NO_OLDER_MINOR] = {2, 0},
            [NO_OLDER_PATCH] = {3, 0},
            [SAME_PATCH] = {3, NEVER},
            [MINOR_BY_MAJOR] = {2, FIRST_WITH_PROMISE}};
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
    for (enum wc_rule r = WC_RULE_NONE + 1; r < WC_RULE_COUNT; r++)
        if (wc_str_same(name, rules[r].name))
            return r;
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
    struct wc_version latest = wc_version_filled(version, INT32_MAX, INT32_MAX);
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
    for (size_t i = 0; i < n && i < sizeof r / sizeof *r; i++) {
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

enum wc_fit wc_rule_check(enum wc_rule rule, struct wc_version built, struct wc_version runtime) {
    if (!is_rule(rule))
        return WC_FIT_UNKNOWN;
    /* Whatever a framework compares: another major has other functions, and other part names. */
    if (fit_in(built, runtime, 1, false) == WC_OTHER_MAJOR)
        return WC_OTHER_MAJOR;
    /* Before cuDNN 7 nothing is promised: only the built version itself surely fits. */
    if (rules[rule].compares == PROMISED && runtime.major < FIRST_WITH_PROMISE)
        return fit_in(built, runtime, 3, false) == WC_FITS ? WC_FITS : WC_FIT_UNKNOWN;
    return fit_in(built, runtime, ways[rules[rule].compares].fields,
                  runtime.major >= ways[rules[rule].compares].newer_from);
}

bool wc_rule_only_warns(enum wc_rule rule) {
    return is_rule(rule) && rules[rule].refusal == WARNS;
}

uint64_t wc_compatibility_number(struct wc_version v) {
    return wc_version_to_number(v) / 100 * 100;
}
