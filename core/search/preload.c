/* SPDX-License-Identifier: Apache-2.0 */
/* LD_PRELOAD: see search.h. */
#include "search.h"

/* An element with a token in it is known only by its last part. */
static bool brings(const char *element, const char *path, const char *soname) {
    if (!wc_str_find_char(element, '/'))
        return wc_str_same(element, soname) || wc_str_same(element, wc_base_name(path));
    if (wc_str_find_char(element, '$'))
        return wc_str_same(wc_base_name(element), wc_base_name(path));
    return wc_str_same(element, path);
}

bool wc_search_preload(const char *list, const char *path, const char *soname,
                       struct wc_preload *out) {
    unsigned index = 0;

    WC_EACH_ELEMENT(e, list, ": ") {
        if (wc_str_format(out->element, sizeof out->element, "%.*s", (int)e.n, e.p) && e.n &&
            brings(out->element, path, soname)) {
            out->index = index;
            return true;
        }
        index += e.n != 0;
    }
    return false;
}
