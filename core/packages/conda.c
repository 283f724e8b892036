/* Conda environments (installation.h): PREFIX/conda-meta/NAME-VERSION-BUILD.json lists the files.
 */
#include "installation.h"

enum { LEVELS = 8, MOST_RECORDS = 16 };

struct search {
    struct wc_reading *r;
    bool (*fits)(void *ctx, const char *record);
    void *ctx;
    const char *record[MOST_RECORDS];
    size_t n;
};

static bool collect(void *arg, const char *name) {
    struct search *s = arg;
    if (s->n < MOST_RECORDS && wc_str_ends(name, ".json") && s->fits(s->ctx, name)) {
        s->record[s->n] = wc_reading_copy(s->r, name, wc_str_length(name));
        s->n += s->record[s->n] != NULL;
    }
    return true;
}

static void add_cut(char *to, size_t cap, const char *s, size_t n) {
    struct wc_text t;
    wc_text_begin(&t, to, cap);
    wc_text_add_n(&t, s, n);
}

/* The name may hold dashes, version and build cannot. */
static void take_apart(const char *record, struct wc_conda_package *out) {
    size_t end = wc_str_length(record) - wc_str_length(".json"), build = end, version, name;
    while (build && record[build - 1] != '-')
        build--;
    version = build ? build - 1 : 0;
    while (version && record[version - 1] != '-')
        version--;
    name = version ? version - 1 : 0;
    add_cut(out->name, sizeof out->name, record, name);
    add_cut(out->version, sizeof out->version, record + version,
            build > version ? build - 1 - version : 0);
    add_cut(out->build, sizeof out->build, record + build, end - build);
}

static bool in_prefix(struct search *s, const char *path, size_t length,
                      struct wc_conda_package *out) {
    const char *prefix = wc_reading_copy(s->r, path, length);
    const char *meta = wc_reading_join(s->r, prefix ? prefix : "", "/conda-meta", NULL);
    const char *quoted = wc_reading_join(s->r, "\"", path + length + 1, "\"", NULL);
    s->n = 0;
    if (!prefix || !meta || !quoted || !s->r->files->list(s->r->files->ctx, meta, collect, s))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        out->prefix = prefix;
        out->record = wc_reading_join(s->r, meta, "/", s->record[i], NULL);
        if (wc_reading_find(s->r, out->record, 0, quoted, false) == WC_NOWHERE)
            continue;
        take_apart(s->record[i], out);
        return true;
    }
    return false;
}

bool wc_conda_package_of(struct wc_reading *r, const char *path,
                         bool (*fits)(void *ctx, const char *record), void *ctx,
                         struct wc_conda_package *out) {
    size_t mark = r->memory.used, length = wc_dir_length(path);
    struct search *s = wc_arena_take(&r->memory.arena, sizeof *s);
    if (!s)
        return false;
    s->r = r;
    s->fits = fits;
    s->ctx = ctx;
    size_t inner = r->memory.used;
    for (int level = 0; level < LEVELS && length > 1; level++) {
        if (in_prefix(s, path, length, out))
            return true;
        r->memory.used = inner;
        while (length && path[length - 1] != '/')
            length--;
        length -= length > 0;
    }
    r->memory.used = mark;
    return false;
}

static bool is_of_cudnn(void *ctx, const char *record) {
    (void)ctx;
    return wc_is_cudnn_package(WC_installation_kind_CONDA, record);
}

static size_t cudnn_in(struct search *s, const char *path, size_t length,
                       struct wc_conda_package *out, size_t most, bool *found) {
    const char *prefix = wc_reading_copy(s->r, path, length);
    const char *meta = wc_reading_join(s->r, prefix ? prefix : "", "/conda-meta", NULL);
    s->n = 0;
    *found = prefix && meta && s->r->files->list(s->r->files->ctx, meta, collect, s);
    for (size_t i = 0; i < s->n && i < most; i++) {
        out[i].prefix = prefix;
        out[i].record = wc_reading_join(s->r, meta, "/", s->record[i], NULL);
        take_apart(s->record[i], &out[i]);
    }
    return s->n < most ? s->n : most;
}

size_t wc_conda_cudnn_near(struct wc_reading *r, const char *path, struct wc_conda_package *out,
                           size_t most) {
    size_t mark = r->memory.used, length = wc_dir_length(path), n = 0;
    struct search *s = wc_arena_take(&r->memory.arena, sizeof *s);
    bool found = false;
    if (!s)
        return 0;
    s->r = r;
    s->fits = is_of_cudnn;
    size_t inner = r->memory.used;
    for (int level = 0; level < LEVELS && length > 1 && !found; level++) {
        n = cudnn_in(s, path, length, out, most, &found);
        if (!n)
            r->memory.used = inner;
        while (length && path[length - 1] != '/')
            length--;
        length -= length > 0;
    }
    if (!n)
        r->memory.used = mark;
    return n;
}
