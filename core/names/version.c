/* SPDX-License-Identifier: Apache-2.0 */
/* Version numbers and version texts (version.h). */
#include "version.h"

enum {
    OLD_MAJOR = 1000,  /* weight of the major in the number below 9 */
    NEW_MAJOR = 10000, /* and from 9 on */
    MINOR = 100,       /* weight of the minor in both */
    FIRST_NEW = 9,     /* the major that changed it */
    MOST_MAJOR = 99,   /* beyond: not a number that any library would give */
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

int wc_version_compare(struct wc_version a, struct wc_version b) {
    const union fields x = {a}, y = {b};
    for (size_t i = 0; i < FIELDS; i++) {
        int32_t l = x.p[i] > 0 ? x.p[i] : 0, r = y.p[i] > 0 ? y.p[i] : 0;
        if (l != r)
            return l < r ? -1 : 1;
    }
    return 0;
}

bool wc_version_agree(struct wc_version a, struct wc_version b) {
    const union fields x = {a}, y = {b};
    for (size_t i = 0; i < FIELDS && x.p[i] >= 0 && y.p[i] >= 0; i++)
        if (x.p[i] != y.p[i])
            return false;
    return true;
}
