/* SPDX-License-Identifier: Apache-2.0 */
/* LD_PRELOAD: see search.h. */
#include "search.h"

/* An element with a token in it is known by its last part alone. */
static bool brings(const char *element, const char *path, const char *soname) {
    if (!wc_str_find_char(element, '/'))
        return wc_str_same(element, soname) || wc_str_same(element, wc_base_name(path));
    if (wc_str_find_char(element, '$'))
        return wc_str_same(wc_base_name(element), wc_base_name(path));
    return wc_str_same(element, path);
}

static bool next_element(const char **list, struct wc_span *element) {
    const char *start = *list ? *list : "", *end;

    while (*start == ':' || *start == ' ')
        start++;
    for (end = start; *end && *end != ':' && *end != ' ';)
        end++;
    *list = end;
    *element = (struct wc_span){start, (size_t)(end - start)};
    return end > start;
}

bool wc_search_preload(const char *list, const char *path, const char *soname,
                       struct wc_preload *out) {
    struct wc_span element;

    for (unsigned index = 0; next_element(&list, &element); index++) {
        if (wc_str_format(out->element, sizeof out->element, "%.*s", (int)element.n,
                          (const char *)element.p) &&
            brings(out->element, path, soname)) {
            out->index = index;
            return true;
        }
    }
    return false;
}
