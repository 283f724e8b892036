/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the search (glibc's _dl_map_object, open_path, fillin_rpath): an object that is
 * there already; DT_RPATH of the caller and of those that loaded it, where the caller has no
 * DT_RUNPATH, then the program's; LD_LIBRARY_PATH; DT_RUNPATH of the caller; ld.so.cache; the
 * default directories. In each directory its subdirectories come first.
 */
#include <elf.h>

#include "core/base/reading.h"
#include "core/elf/elf_image.h"
#include "search.h"

struct wc_search_missing {
    struct wc_search_missing *next;
    /* What the loader keeps apart: the directory, by its length; the place in the list of its
     * subdirectories, where one may stand twice (NULL: the directory itself). */
    size_t base;
    const char *const *sub;
    size_t n; /* of the path */
    char path[];
};

struct search {
    const struct wc_search_context *context;
    const char *name;
    bool (*each)(void *arg, const struct wc_search_candidate *candidate);
    void *arg;
    struct wc_buffer_arena memory;
    char path[WC_SEARCH_PATH], expanded[WC_SEARCH_PATH];
    struct wc_search_candidate candidate;
    bool over, found;
    bool decided; /* a file was taken, or ended the search */
};

/* ---- what is there ---- */

static enum wc_file_state state_of(const struct wc_search_context *w, const char *path) {
    struct wc_file_stat facts;
    Elf64_Ehdr e;
    size_t n = 0;
    if (!w->files->facts(w->files->ctx, path, &facts))
        return WC_file_state_NOTHING;
    if (!w->files->read(w->files->ctx, path, 0, &e, sizeof e, &n))
        return facts.directory ? WC_file_state_DAMAGED : WC_file_state_UNREADABLE;
    if (n < sizeof(Elf32_Ehdr) || wc_mem_compare(e.e_ident, ELFMAG, SELFMAG) != 0)
        return WC_file_state_DAMAGED;
    if (e.e_ident[EI_CLASS] == ELFCLASS32)
        return WC_file_state_OTHER_KIND;
    if (e.e_ident[EI_CLASS] != ELFCLASS64 || n < sizeof e || e.e_ident[EI_DATA] != ELFDATA2LSB ||
        e.e_ident[EI_VERSION] != EV_CURRENT)
        return WC_file_state_DAMAGED;
    if (w->machine && e.e_machine != w->machine)
        return WC_file_state_OTHER_KIND;
    return e.e_type == ET_DYN && e.e_phentsize == sizeof(Elf64_Phdr) ? WC_file_state_FITS
                                                                     : WC_file_state_DAMAGED;
}

/* ---- tokens ---- */

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

/* Is the path in one of the loader's own directories, or below? */
static bool is_below_default(const struct wc_search_context *context, const char *path) {
    for (const char *const *directory = context->system->defaults; *directory; directory++)
        if (wc_str_starts(path, *directory))
            return true;
    return false;
}

/* The text with $ORIGIN, $LIB and $PLATFORM (or ${...}) replaced (ld.so(8), "Dynamic string
 * tokens"; glibc's _dl_dst_substitute). False: a token's value is not known, or the whole does not
 * fit: the element does not count. Other '$' stay. */
static bool expand(const struct wc_search_context *context, const char *origin, bool of_program,
                   const char *text, size_t n, char *to, size_t cap) {
    const struct {
        const char *name, *value;
    } tokens[] = {{"ORIGIN", origin},
                  {"PLATFORM", wc_str_or_null(context->system->platform)},
                  {"LIB", context->system->lib}};
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
    return !t.cut && (!restricted || (is_below_default(context, to) && !wc_str_find(to, "/../")));
}

/* ---- one file ---- */

static void emit(struct search *s, const char *path, enum wc_file_state state) {
    s->candidate.path = path;
    s->candidate.state = state;
    s->candidate.beaten = s->decided;
    s->over = !s->each(s->arg, &s->candidate);
    if (s->decided)
        return;
    s->found = s->candidate.state == WC_file_state_FITS;
    s->decided = s->found || s->candidate.state == WC_file_state_DAMAGED;
    s->over = s->over || (s->decided && !s->context->whole);
}

/* ---- a list of directories ---- */

/* Into s->path. False: it was cut. */
static bool join(struct search *s, const char *directory, const char *name, size_t n) {
    struct wc_text t;
    wc_text_begin(&t, s->path, sizeof s->path);
    wc_text_add(&t, directory);
    wc_text_add_n(&t, name, n);
    return !t.cut;
}

static bool is_missing(const struct search *s, const char *path, size_t base,
                       const char *const *sub) {
    const struct wc_search_memory *m = s->context->memory;
    size_t n = m && m->missing ? wc_str_length(path) : 0;
    for (const struct wc_search_missing *d = m ? m->missing : NULL; d; d = d->next)
        if (d->n == n && d->base == base && d->sub == sub && wc_mem_compare(d->path, path, n) == 0)
            return true;
    return false;
}

static bool is_there(const struct search *s, const char *directory) {
    struct wc_file_stat facts = {.closed = false};
    bool known = s->context->files->facts(s->context->files->ctx, directory, &facts);
    return known ? facts.directory : facts.closed; /* what cannot be looked at may be there */
}

static void note_missing(struct search *s, const char *path, size_t base, const char *const *sub) {
    struct wc_search_memory *m = s->context->memory;
    size_t n = wc_str_length(path);
    struct wc_search_missing *d = m ? wc_arena_take(m->arena, sizeof *d + n + 1) : NULL;
    if (!d)
        return;
    wc_mem_copy(d->path, path, n + 1);
    d->n = n;
    d->base = base;
    d->sub = sub;
    d->next = m->missing;
    m->missing = d;
}

static void emit_missing(struct search *s, bool known) {
    s->candidate.no_directory = true;
    s->candidate.tried = !known;
    emit(s, s->path, WC_file_state_NOTHING);
    s->candidate.tried = true;
}

static size_t first_part(const char *sub) {
    const char *end = wc_str_find_char(sub, '/');
    return end ? (size_t)(end - sub) + 1 : 0;
}

/* Is there nothing at the first part of the subdirectory? The others begin with the same few, one
 * after the other; `before` led nowhere. */
static bool leads_nowhere(struct search *s, const char *directory, const char *sub,
                          const char *before) {
    size_t n = first_part(sub);
    if (!s->context->sparse || directory[0] != '/')
        return false;
    if (before && first_part(before) == n && wc_mem_compare(before, sub, n) == 0)
        return true;
    if (!join(s, directory, sub, n) || is_missing(s, s->path, 0, NULL))
        return true;
    if (is_there(s, s->path))
        return false;
    note_missing(s, s->path, 0, NULL);
    return true;
}

/* sub: of the list; NULL: the directory itself. */
static void try_subdirectory(struct search *s, const char *directory, const char *const *sub) {
    struct wc_text t;
    size_t base = wc_str_length(directory);
    wc_text_begin(&t, s->path, sizeof s->path);
    wc_text_add_n(&t, directory, base);
    wc_text_add(&t, sub ? *sub : "");
    bool missing = is_missing(s, s->path, base, sub);
    wc_text_add(&t, s->name);
    s->candidate.in_subdirectory = sub != NULL;
    s->candidate.no_directory = false;
    if (!t.cut && missing && !sub)
        emit_missing(s, true);
    if (t.cut || missing)
        return;
    enum wc_file_state state = state_of(s->context, s->path);
    /* Where nothing was found the loader looks whether the directory is there at all. One that is
     * not absolute it takes to be there. Sparse, this was asked before. */
    if (state == WC_file_state_NOTHING && s->path[0] == '/' && (sub || !s->context->sparse)) {
        char *name = s->path + t.n - wc_str_length(s->name);
        *name = 0;
        s->candidate.no_directory = !is_there(s, s->path);
        if (s->candidate.no_directory)
            note_missing(s, s->path, base, sub);
        *name = s->name[0];
    }
    emit(s, s->path, state);
}

static void try_directory(struct search *s, const char *directory) {
    const char *const *sub = s->context->system->subdirectories;
    const char *missing = NULL;
    size_t n = wc_str_length(directory);
    bool known = is_missing(s, directory, n, NULL);
    /* Where it does not exist nothing is below it, either: one look instead of one for each. */
    bool nowhere = s->context->sparse && directory[0] == '/' && (known || !is_there(s, directory));
    s->candidate.directory = directory;
    if (nowhere && !known)
        note_missing(s, directory, n, NULL);
    if (nowhere && join(s, directory, s->name, wc_str_length(s->name)))
        emit_missing(s, known);
    for (; *sub && !nowhere && !s->over; sub++)
        if (leads_nowhere(s, directory, *sub, missing))
            missing = *sub;
        else
            try_subdirectory(s, directory, sub);
    if (!nowhere && !s->over)
        try_subdirectory(s, directory, NULL);
    s->candidate.directory = NULL;
    s->candidate.in_subdirectory = s->candidate.no_directory = false;
}

struct list {
    struct listed {
        const char *directory; /* with '/' behind; "" for the working directory */
        size_t length;
        const char *element;
        unsigned index;
    } * p;
    size_t n, room;
};

static void add_directory(struct search *s, struct list *l, const char *p, const char *element,
                          unsigned index) {
    struct wc_text t;
    size_t n = wc_str_length(p);
    while (n > 1 && p[n - 1] == '/')
        n--;
    wc_text_begin(&t, s->path, sizeof s->path);
    wc_text_add_n(&t, p, n);
    if (n && p[n - 1] != '/')
        wc_text_add_char(&t, '/');
    for (size_t i = 0; i < l->n; i++)
        if (l->p[i].length == t.n && wc_mem_compare(l->p[i].directory, t.p, t.n) == 0)
            return;
    char *kept = wc_arena_string_n(&s->memory.arena, t.p, t.n);
    if (kept)
        l->p[l->n++] = (struct listed){kept, t.n, element, index};
}

static void try_list(struct search *s, enum wc_search_rule rule, const char *text,
                     const char *separators, const struct wc_search_object *of,
                     const char *origin) {
    struct list l = {.room = 0};
    size_t used = s->memory.used;
    unsigned index = 0;
    if (!text || !text[0] || s->over)
        return;
    WC_EACH_ELEMENT(e, text, separators)
        if (++l.room == WC_SEARCH_LIST)
            break;
    l.p = wc_arena_take(&s->memory.arena, l.room * sizeof *l.p);
    if (!l.p)
        return;
    WC_EACH_ELEMENT(e, text, separators) {
        char *element = wc_arena_string_n(&s->memory.arena, e.p, e.n);
        if (expand(s->context, origin, of && of->is_program, e.p, e.n, s->expanded,
                   sizeof s->expanded))
            add_directory(s, &l, s->expanded, element, index); /* empty: the working directory */
        index++;
        if (l.n == l.room)
            break;
    }
    s->candidate.rule = rule;
    s->candidate.of = of;
    for (size_t i = 0; i < l.n && !s->over; i++) {
        s->candidate.element = l.p[i].element;
        s->candidate.index = l.p[i].index;
        try_directory(s, l.p[i].directory);
    }
    s->candidate.of = NULL;
    s->candidate.element = NULL;
    s->candidate.index = 0;
    s->memory.used = used;
}

/* ---- what is loaded ---- */

void wc_search_object_read(struct wc_search_object *o, const struct wc_elf_image *e,
                           struct wc_arena *arena) {
    o->rpath = wc_arena_string(arena, e->rpath);
    o->runpath = wc_arena_string(arena, e->runpath);
    o->soname = wc_arena_string(arena, e->soname);
    o->no_default = (e->flags_1 & DF_1_NODEFLIB) != 0;
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

bool wc_search_answers(const struct wc_search_object *o, const char *name) {
    if (wc_str_same(o->path, name))
        return true;
    for (const char *const *n = o->names; n && *n; n++)
        if (wc_str_compare(*n, name) == 0)
            return true;
    return wc_str_same(o->soname, name) && !wc_str_find_char(name, '/');
}

/* ---- the rules ---- */

static void by_rpath(struct search *s, const struct wc_search_object *o) {
    if (!o->runpath) /* next to a DT_RUNPATH the loader forgets DT_RPATH */
        try_list(s, WC_search_rule_RPATH, o->rpath, ":", o, o->origin);
}

static void by_rpaths(struct search *s, const struct wc_search_object *caller) {
    bool program_done = false;
    if (caller && caller->runpath)
        return;
    for (const struct wc_search_object *o = caller; o && !s->over; o = o->loaded_by) {
        by_rpath(s, o);
        program_done = program_done || o == s->context->program;
    }
    if (!program_done && s->context->program && !s->over)
        by_rpath(s, s->context->program);
}

static void search_all(struct search *s, const struct wc_search_object *caller) {
    const struct wc_search_context *context = s->context;
    const struct wc_search_object *asks = caller ? caller : context->program;
    bool no_default = asks && asks->no_default;
    const struct wc_search_object *const *o = context->loaded;
    while (o && *o && !wc_search_answers(*o, s->name))
        o++;
    if (o && *o) {
        s->candidate.rule = WC_search_rule_LOADED;
        s->candidate.of = *o;
        emit(s, (*o)->path, WC_file_state_FITS);
        s->candidate.of = NULL;
    }
    if (s->over)
        return;
    if (wc_str_find_char(s->name, '/')) {
        s->candidate.rule = WC_search_rule_PATH;
        if (expand(context, asks ? asks->origin : NULL, asks && asks->is_program, s->name,
                   wc_str_length(s->name), s->path, sizeof s->path))
            emit(s, s->path, state_of(context, s->path));
        return;
    }
    by_rpaths(s, caller);
    if (!context->secure)
        try_list(s, WC_search_rule_LIBRARY_PATH, context->library_path, ":;", NULL,
                 context->library_path_origin);
    if (caller)
        try_list(s, WC_search_rule_RUNPATH, caller->runpath, ":", caller, caller->origin);
    const char *cached = s->over ? NULL : wc_search_cache(context, s->name);
    if (cached && !(no_default && is_below_default(context, cached))) {
        s->candidate.rule = WC_search_rule_CACHE;
        emit(s, cached, state_of(context, cached));
    }
    s->candidate.rule = WC_search_rule_DEFAULT;
    const char *const *directory = no_default ? NULL : context->system->defaults;
    for (unsigned i = 0; directory && directory[i] && !s->over; i++) {
        s->candidate.index = i;
        s->candidate.element = directory[i];
        try_directory(s, directory[i]);
    }
}

/* All that is large is in scratch: a thread of the host may have little stack. */
bool wc_search(const struct wc_search_context *context, const struct wc_search_object *caller,
               const char *name, void *scratch, size_t scratch_size,
               bool (*each)(void *arg, const struct wc_search_candidate *candidate), void *arg) {
    struct wc_buffer_arena memory;
    wc_buffer_arena_begin(&memory, scratch, scratch_size);
    struct search *s = wc_arena_take(&memory.arena, sizeof *s);
    if (!s)
        return false;
    s->context = context;
    s->name = name;
    s->each = each;
    s->arg = arg;
    s->candidate.tried = true;
    wc_buffer_arena_begin(&s->memory, memory.p + memory.used, memory.cap - memory.used);
    search_all(s, caller);
    return s->found;
}

/* ---- LD_PRELOAD ---- */

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
