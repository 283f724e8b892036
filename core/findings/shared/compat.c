/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of core/knowledge/rules.def (compat.h). */
#include "compat.h"

static const struct {
    const char *name, *what;
} rules[WC_RULE_COUNT] = {
#define RULE(id, name, what, source) [WC_RULE_##id] = {name, what},
#include "core/knowledge/rules.def"
};

struct era {
    char framework[16], from[8], to[8];
    enum wc_rule rule;
};

static const struct era eras[] = {
#define FRAMEWORK(name, from, to, id, source) {name, from, to, WC_RULE_##id},
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

/* An open end holds for an unknown version, too; a bound needs every version that v could be on
 * its side. */
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
    WC_EACH_ROW(e, eras) {
        if (wc_str_same(framework, e->framework) && from_on(e->from, version) &&
            before(e->to, version))
            return e->rule;
    }
    return WC_RULE_NVIDIA;
}

/* ---- what it says ---- */

enum order { OLDER, SAME, NEWER, UNDECIDED };

/* Of the runtime against the build, in their first n fields. */
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

/* Where nothing is promised, only the very version that was built with is sure. */
static enum wc_fit promised(struct wc_version built, struct wc_version runtime) {
    if (runtime.major >= FIRST_WITH_PROMISE)
        return not_older_in(built, runtime, 2);
    return order_of(built, runtime, 3) == SAME ? WC_FITS : WC_FIT_UNKNOWN;
}

static enum wc_fit scaled(struct wc_version built, struct wc_version runtime) {
    uint64_t want = wc_version_to_number(built) / 100, got = wc_version_to_number(runtime);
    if (!want || !got)
        return WC_FIT_UNKNOWN;
    return got < want ? refused(built, runtime, OLDER) : WC_FITS;
}

enum wc_fit wc_rule_check(enum wc_rule rule, struct wc_version built, struct wc_version runtime) {
    /* Whatever a framework compares: other functions, and other names of its parts. */
    if (is_rule(rule) && equal_in(built, runtime, 1) == WC_OTHER_MAJOR)
        return WC_OTHER_MAJOR;
    switch (rule) {
    case WC_RULE_NVIDIA:
        return promised(built, runtime);
    case WC_RULE_TENSORFLOW_COMPATIBILITY:
    case WC_RULE_TORCH_SAME_MINOR:
        return equal_in(built, runtime, 2);
    case WC_RULE_TENSORFLOW:
    case WC_RULE_TORCH:
    case WC_RULE_EXPECTED:
        return minor_by_major(built, runtime);
    case WC_RULE_JAX_SCALED:
        return scaled(built, runtime);
    case WC_RULE_XLA:
    case WC_RULE_OPENCV:
    case WC_RULE_PADDLE_MINOR:
        return not_older_in(built, runtime, 2);
    case WC_RULE_PADDLE:
        return not_older_in(built, runtime, 3);
    case WC_RULE_EXACT:
    case WC_RULE_MXNET_WARNING:
    case WC_RULE_OPENCV_EXACT:
        return equal_in(built, runtime, 3);
    case WC_RULE_NONE:
    case WC_RULE_COUNT:
        break;
    }
    return WC_FIT_UNKNOWN;
}

bool wc_rule_only_warns(enum wc_rule rule) {
    return rule == WC_RULE_MXNET_WARNING || rule == WC_RULE_PADDLE_MINOR ||
           rule == WC_RULE_PADDLE || rule == WC_RULE_OPENCV_EXACT || rule == WC_RULE_OPENCV;
}

uint64_t wc_compatibility_number(struct wc_version v) {
    return wc_version_to_number(v) / 100 * 100;
}
