/* SPDX-License-Identifier: Apache-2.0 */
#include <fnmatch.h>
#include <string.h>

#include "entries.h"
#include "tools/util/memory.h"

enum { FILES_MOST = 256 }; /* a file can include itself */

struct reading {
    struct view view;
    struct entries out;
    int read; /* files */
};

WC_COMPARE(by_name, char *const, strcmp(*x, *y));

static void read_file(struct reading *r, const char *path);

/* As glob(3) in the last element: in no other one a distribution has a pattern. */
static void include(struct reading *r, const char *of, const char *pattern) {
    const char *path = *pattern == '/'
                           ? pattern
                           : view_format(r->view, "%.*s/%s", (int)wc_dir_length(of), of, pattern);
    const char *directory = view_directory(r->view, path);
    const struct entries all = view_entries(r->view, directory);

    SORT(all, by_name);
    WC_EACH(entry, all)
        if (fnmatch(wc_base_name(path), *entry, FNM_PERIOD) == 0)
            read_file(r, view_format(r->view, "%s/%s", directory, *entry));
}

static void read_file(struct reading *r, const char *path) {
    static const char word[] = "include";
    char *rest = r->read++ < FILES_MOST ? view_text(r->view, path) : NULL, *pattern;

    for (char *line; (line = strsep(&rest, "\n"));) {
        line[strcspn(line, "#")] = '\0';
        line += strspn(line, " \t\r");
        if (wc_str_starts(line, word) && strchr(" \t", line[sizeof(word) - 1])) {
            line += sizeof(word);
            while ((pattern = strsep(&line, " \t\r")))
                if (*pattern)
                    include(r, path, pattern);
        } else if (line[0] == '/') {
            size_t n = strcspn(line, "="); /* "/lib=libc6" */
            while (n > 1 && (line[n - 1] == '/' || strchr(" \t\r", line[n - 1])))
                n--;
            entries_add_new(r->view.memory, &r->out, wc_arena_string_n(r->view.memory, line, n));
        }
    }
}

struct entries ldconfig_directories(struct view view) {
    struct reading r = {.view = view};

    read_file(&r, "/etc/ld.so.conf");
    return r.out;
}
