/* SPDX-License-Identifier: Apache-2.0 */
#include "candidates.h"
#include "find.h"

#include <string.h>

#include "core/findings/finding.h"

struct edit find_set_path(const char *value) {
    return *value ? (struct edit){.kind = EDIT_SET, .name = "LD_LIBRARY_PATH", .value = value}
                  : (struct edit){.kind = EDIT_UNSET, .name = "LD_LIBRARY_PATH"};
}

const char *candidates_path_with(struct wc_arena *memory, const char *path, const char *directory) {
    const char *value = directory;

    for (const char *rest = path ? path : ""; *rest;) {
        size_t n = strcspn(rest, ":");
        if (rest[0] == '/' && (n != strlen(directory) || strncmp(rest, directory, n) != 0))
            value = wc_arena_format(memory, "%s:%.*s", value, (int)n, rest);
        rest += n + (rest[n] != '\0');
    }
    return value;
}

bool candidates_path_has(const char *path, const char *element, size_t n) {
    for (; path && *path; path += strcspn(path, ":"), path += *path == ':')
        if (strcspn(path, ":") == n && strncmp(path, element, n) == 0)
            return true;
    return false;
}

/* "a/b" for "a/x/../b", as a RUNPATH leads there, unless x is a link to elsewhere. */
static const char *without_detours(struct finding_of *f, const char *directory) {
    char *path = find_format(f, "%s/", directory), *up;

    while (path && (up = strstr(path, "/../"))) {
        const size_t n = wc_dir_above(path, (size_t)(up - path));
        memmove(path + n, up + strlen("/.."), strlen(up + strlen("/..")) + 1);
    }
    if (path)
        path[strlen(path) - 1] = '\0';
    return path && wc_is_same_file(f->files, directory, path) ? path : directory;
}

struct edit find_with_directory(struct finding_of *f, const char *directory) {
    if (strstr(directory, "/.."))
        directory = without_detours(f, directory);
    return find_set_path(candidates_path_with(f->out->memory, f->path, directory));
}

struct edit find_in_front(struct finding_of *f, const char *directories) {
    const char *value = directories;

    for (const char *rest = f->path ? f->path : ""; *rest;) {
        size_t n = strcspn(rest, ":");
        if (rest[0] == '/')
            value = find_format(f, "%s:%.*s", value, (int)n, rest);
        rest += n + (rest[n] != '\0');
    }
    return find_set_path(value);
}

void find_add_directory(struct finding_of *f, const char *file) {
    const char *directory = find_directory_of(f, file);

    if (directory && directory[0] == '/' && !strchr(directory, ':'))
        find_add(f, find_with_directory(f, directory));
}

/* What a file with another system's ends of lines, or a line of it with quotes, has left behind at
 * either end of an element. */
static bool is_left_behind(char c) {
    return (unsigned char)c <= ' ' || c == '"' || c == '\'';
}

/* ":", and ", " as people write lists. */
static size_t element_length(const char *list) {
    size_t n = 0;

    while (list[n] && list[n] != ':' && strncmp(list + n, ", ", 2) != 0)
        n++;
    return n;
}

void find_cleaned(struct finding_of *f) {
    static const char unexpanded[] = "${LD_LIBRARY_PATH";
    const char *value = "";

    for (const char *rest = f->path ? f->path : ""; *rest;) {
        const size_t whole = element_length(rest);
        const char *at = memmem(rest, whole, unexpanded, sizeof(unexpanded) - 1);
        size_t from = 0, n = at ? (size_t)(at - rest) : whole;
        while (from < n && is_left_behind(rest[from]))
            from++;
        while (n > from && is_left_behind(rest[n - 1]))
            n--;
        if (rest[from] == '/' && n > from)
            value =
                find_format(f, "%s%s%.*s", value, *value ? ":" : "", (int)(n - from), rest + from);
        rest += whole + (rest[whole] != '\0');
    }
    if (*value)
        find_add(f, find_set_path(value));
}

/* The directory in a path whose name has a colon, and it alone; its length. 0: none, or several. */
static size_t colon_length(const char *path) {
    const char *colon = strchr(path, ':');
    const size_t n = colon ? (size_t)(colon - path) + strcspn(colon, "/") : 0;

    return strchr(path + n, ':') ? 0 : n;
}

/* A directory that the loader's list cannot name, by a link to it that it can. */
static void add_without_colon(struct finding_of *f, const char *before, const char *path,
                              const char *behind) {
    const size_t n = colon_length(path);
    char *link = n ? find_format(f, "%.*s", (int)n, path) : NULL;
    struct wc_file_stat facts;
    const char *value;

    if (!link || !wc_is_directory(f->files, path))
        return;
    for (char *at = link; (at = strchr(at, ':'));)
        *at = '-';
    if (f->files->facts(f->files->ctx, link, &facts))
        return;
    value = find_format(f, "%s%s%s%s%s", before, link, path + n, *behind ? ":" : "", behind);
    find_add_two(f,
                 (struct edit){.kind = EDIT_LINK,
                               .path = link,
                               .target = wc_base_name(find_format(f, "%.*s", (int)n, path))},
                 find_set_path(value));
}

void find_split(struct finding_of *f) {
    for (const char *from = f->path ? f->path : ""; *from;) {
        const size_t n = strcspn(from, ":");
        for (size_t k = n; from[0] == '/' && from[k];) {
            k += 1 + strcspn(from + k + 1, ":");
            add_without_colon(f, find_format(f, "%.*s", (int)(from - f->path), f->path),
                              find_format(f, "%.*s", (int)k, from), from + k + (from[k] != '\0'));
        }
        from += n + (from[n] != '\0');
    }
}

void find_copies(struct finding_of *f) {
    WC_EACH(c, f->s->candidates)
        if (c->r.file_state == WC_file_state_FITS)
            find_add_directory(f, c->r.path);
    WC_EACH(o, f->s->objects)
        if (wc_is_cudnn(o) || o->r.role == WC_role_CUDA_DEPENDENCY) {
            find_add_directory(f, o->r.path);
            if (o->r.real_path)
                find_add_directory(f, o->r.real_path);
        }
    WC_EACH(p, f->s->packages)
        if (p->r.installation_path && p->r.package_state != WC_package_state_INCOMPLETE)
            find_add_directory(f, find_format(f, "%s/lib/",
                                              p->r.installation_kind == WC_installation_kind_CONDA
                                                  ? p->r.prefix
                                                  : p->r.installation_path));
    WC_EACH(file, f->s->files)
        if (file->r.fault == WC_file_fault_UNKNOWN && file->r.content)
            find_add_directory(f, file->r.path);
}

void find_in_searched(struct finding_of *f, const struct wc_failure *failure, const char *name,
                      void (*find)(struct finding_of *f, const char *directory, const char *name)) {
    const struct wc_searched *search = wc_search_in_vain(f->s, failure);

    if (search)
        WC_EACH(looked, search->r.searched) {
            const char *at = strstr(*looked, " /");
            const size_t n = at ? strlen(at + 1) : 0;
            if (n > 1)
                find(f, find_format(f, "%.*s", (int)(n - (at[n] == '/')), at + 1), name);
        }
}

static void add_neighbour(struct finding_of *f, const char *directory, const char *name) {
    struct wc_file_stat facts;

    if (f->files->facts(f->files->ctx, find_format(f, "%s/%s", directory, name), &facts))
        find_add(f, find_with_directory(f, directory));
}

static void add_neighbours(struct finding_of *f, const char *directory, const char *name) {
    const size_t above = wc_dir_above(directory, strlen(directory));

    add_neighbour(f, find_format(f, "%s/lib64", directory), name);
    add_neighbour(f, find_format(f, "%s/lib", directory), name);
    if (above > 1) {
        add_neighbour(f, find_format(f, "%.*s/lib64", (int)above, directory), name);
        add_neighbour(f, find_format(f, "%.*s/lib", (int)above, directory), name);
    }
}

void find_neighbours(struct finding_of *f) {
    WC_EACH(failure, f->s->failures) {
        const char *name = failure->r.name;
        if (!name || strchr(name, '/') || !wc_name_is_cudnn(name))
            continue;
        find_in_searched(f, failure, name, add_neighbours);
        WC_EACH(o, f->s->objects)
            if (o->r.role == WC_role_CUDA_DEPENDENCY && o->r.mapped && o->r.path)
                add_neighbours(f, find_directory_of(f, o->r.path), name);
    }
}
