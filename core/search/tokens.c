/* SPDX-License-Identifier: Apache-2.0 */
/* $ORIGIN, $LIB and $PLATFORM (ld.so(8), "Dynamic string tokens"; glibc's _dl_dst_substitute). */
#include "search.h"

/* Length of the token at s[0..n) after its '$' if it is `name`, plain or in braces; 0: it is not.
 */
static size_t token_length(const char *s, size_t n, const char *name) {
    size_t length = wc_str_length(name);
    bool braced = n && s[0] == '{';
    if (n < length + (braced ? 2 : 0) || wc_mem_compare(s + braced, name, length) != 0)
        return 0;
    if (braced)
        return s[length + 1] == '}' ? length + 2 : 0;
    return n > length && (wc_is_alphanumeric(s[length]) || s[length] == '_') ? 0 : length;
}

bool wc_search_is_below_default(const struct wc_search_context *context, const char *path) {
    for (size_t i = 0; context->defaults && context->defaults[i]; i++)
        if (wc_str_starts(path, context->defaults[i]))
            return true;
    return false;
}

bool wc_search_expand(const struct wc_search_context *context, const char *origin, bool of_program,
                      const char *text, size_t n, char *to, size_t cap) {
    const struct {
        const char *name, *value;
    } tokens[] = {{"ORIGIN", origin}, {"PLATFORM", context->platform}, {"LIB", context->lib}};
    struct wc_text t;
    bool from_origin = false;
    wc_text_begin(&t, to, cap);
    for (size_t i = 0; i < n;) {
        size_t length = 0;
        for (size_t k = 0; text[i] == '$' && k < 3 && !length; k++) {
            length = token_length(text + i + 1, n - i - 1, tokens[k].name);
            if (length && !tokens[k].value)
                return false;
            if (length)
                wc_text_add(&t, tokens[k].value);
            from_origin = from_origin || (length && k == 0);
        }
        size_t plain = length ? 0 : 1; /* what follows as it stands */
        while (plain && i + plain < n && text[i + plain] != '$')
            plain++;
        wc_text_add_n(&t, text + i, plain);
        i += length ? length + 1 : plain;
    }
    /* In the tags of a program with the rights of another, $ORIGIN points to the loader's own
     * directories only. */
    bool restricted = from_origin && context->secure && of_program;
    return !t.cut &&
           (!restricted || (wc_search_is_below_default(context, to) && !wc_str_find(to, "/../")));
}

const char *wc_search_origin(struct wc_arena *arena, const char *path, const char *directory) {
    size_t n = path ? wc_dir_length(path) : 0;
    if (n && path[0] == '/')
        return wc_arena_string_n(arena, path, n);
    if (!path || !path[0] || !directory)
        return NULL;
    return n ? wc_arena_format(arena, "%s/%.*s", directory, (int)n, path)
             : wc_arena_string(arena, directory);
}
