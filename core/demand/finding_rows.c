/* SPDX-License-Identifier: Apache-2.0 */
/* A finding's facts as rows: see core/demand/finding_text.h. */
#include "core/base/shown.h"
#include "core/knowledge/programs.h"
#include "finding.h"
#include "finding_text.h"
#include "questions.h"

enum {
    FACT_NAME_MOST = 32, /* bytes */
    PARTS = 16
};

const char *wc_page_keep(struct wc_finding_page *page, const char *format, ...) {
    struct wc_text raw, shown;
    va_list list;

    wc_text_begin(&raw, page->raw, sizeof page->raw);
    va_start(list, format);
    wc_text_format_list(&raw, format, list);
    va_end(list);
    wc_text_begin(&shown, page->shown, sizeof page->shown - 3);
    wc_text_add_shown(&shown, page->raw);
    shown.cap += 3;
    if (raw.cut || shown.cut)
        wc_text_add(&shown, "...");
    return shown.n ? wc_arena_string(&page->arena.arena, page->shown) : NULL;
}

bool wc_of_path(char c) {
    return wc_is_alphanumeric(c) || (c && wc_str_find_char("/._-+@~$%", c)) || (c & 0x80);
}

struct wc_finding_row *wc_page_add_row(struct wc_finding_page *page, const char *key,
                                       enum rank rank, const char *value) {
    struct wc_finding_row *row = &page->rows.p[page->rows.n];

    if (!key || !value || page->rows.n == WC_FINDING_ROWS)
        return NULL;
    page->rows.n++;
    *row = (struct wc_finding_row){
        .key = key, .value = value, .rank = rank, .weight = rank, .most = 1};
    return row;
}

/* As a word of its own? */
static bool holds(const char *text, const char *word) {
    size_t n = wc_str_length(word);

    for (const char *p = text; (p = wc_str_find(p, word)); p++)
        if ((p == text || !wc_of_path(p[-1])) && !wc_of_path(p[n]))
            return true;
    return false;
}

/* Several of one kind share a line where they are short. */
static bool join(struct wc_finding_page *page, const char *key, const char *value) {
    for (size_t i = 0; i < page->rows.n; i++) {
        struct wc_finding_row *row = &page->rows.p[i];
        const char *both = NULL;
        if (!wc_str_same(row->key, key))
            continue;
        if (holds(row->value, value))
            return true;
        if (wc_columns(row->value) + 2 + wc_columns(value) <= WC_PAGE_VALUE)
            both = wc_arena_format(&page->arena.arena, "%s, %s", row->value, value);
        if (both) {
            row->value = both;
            return true;
        }
    }
    return false;
}

/* A file, with the facts after it that are about it: "PATH  9.1.0, nvidia-cudnn-cu12 9.1.0.70". */
static const char *format_library(struct wc_finding_page *page, const struct wc_finding_record *f,
                                  const struct wc_stack *s, size_t *i) {
    const char *value = f->facts.p[*i].value, *path = value ? value : "not known", *real = NULL,
               *soname = NULL, *version = NULL, *whose = NULL;
    const struct wc_object *o = s ? wc_stack_object(s, f->object) : NULL;

    for (; *i + 1 < f->facts.n; (*i)++) {
        const struct wc_fact *next = &f->facts.p[*i + 1];
        enum wc_fact_role role = wc_fact_role_of(&f->facts, next);
        const char **to = role == WC_FACT_REAL_PATH || role == WC_FACT_LEADS_TO ? &real
                          : role == WC_FACT_SONAME                              ? &soname
                          : role == WC_FACT_VERSION                             ? &version
                          : role == WC_FACT_INSTALLATION                        ? &whose
                                                                                : NULL;
        if (!to)
            break;
        *to = next->value;
    }
    if (wc_str_same(version, "unknown"))
        version = NULL;
    if (version && !whose && o && !o->r.installation &&
        o->r.installation_kind == WC_installation_kind_DIRECTORY)
        whose = "in no package";
    if (real && wc_str_same(wc_base_name(real), wc_base_name(path))) {
        path = real;
        real = NULL;
    }
    if (wc_str_same(soname, wc_base_name(path)))
        soname = NULL;
    return wc_page_keep(page, "%s%s%s%s%s%s%s%s%s", path, real ? " -> " : "", real,
                        soname ? "  SONAME " : "", soname, version || whose ? "  " : "", version,
                        version && whose ? ", " : "", whose);
}

static const char *format_fact(struct wc_finding_page *page, enum wc_fact_role role,
                               const struct wc_fact *fact, const struct wc_stack *s) {
    const struct wc_fact_row *row = &wc_fact_rows[role];
    const char *value = fact->value ? fact->value : "not known", *source = fact->source;
    const char *file = source ? wc_str_find(source, ", /") : NULL, *built = NULL;

    if (row->how == HOW_DEMAND && wc_str_starts(value, "requires ")) {
        value += sizeof "requires " - 1;
        /* The same source often has both: what is required, and what it was built with. */
        const struct wc_demand *both =
            s ? WC_FIRST(d, s->demands, d->r.spec && d->r.built && wc_str_ends(value, d->r.spec))
              : NULL;
        built = both ? both->r.built : NULL;
    }
    if (role == WC_FACT_LD_LIBRARY_PATH)
        return wc_page_keep(page, "LD_LIBRARY_PATH: %s", value);
    if (!source || (row->how != HOW_SOURCED && row->how != HOW_DEMAND))
        return wc_page_keep(page, "%s", value);
    return wc_page_keep(page, "%s%s%s  (%.*s)", value, built ? ", built with " : "", built,
                        file ? (int)(file - source) : (int)wc_str_length(source), source);
}

void wc_page_fill(struct wc_finding_page *page, const struct wc_finding_record *f,
                  const struct wc_stack *s) {
    struct wc_diagnosis d = {.s = s, .scratch = &page->arena.arena};
    struct wc_case c = {.d = &d};

    for (size_t i = 0; i < f->facts.n; i++) {
        const struct wc_fact *fact = &f->facts.p[i];
        enum wc_fact_role role = wc_fact_role_of(&f->facts, fact);
        struct wc_fact_row of = wc_fact_rows[role];
        const char *key = of.key ? of.key : wc_page_keep(page, "%.*s", FACT_NAME_MOST, fact->name);

        if (of.how == HOW_NOWHERE ||
            (of.how == HOW_ONCE && WC_ANY(r, page->rows, wc_str_same(r->key, key))))
            continue;
        const char *value = of.how == HOW_LIBRARY ? format_library(page, f, s, &i)
                                                  : format_fact(page, role, fact, s);
        if (!value)
            continue;
        /* What begins with the library by which Python opens others begins with the package or
         * script that asked, instead. */
        const char *rest = wc_str_find_char(value, ' ');
        const size_t n = rest ? (size_t)(rest - value) : wc_str_length(value);
        const char *path =
            s && of.rank == RANK_HOST ? wc_arena_string_n(&page->arena.arena, value, n) : NULL;
        if (path && wc_program_is(path, WC_PROGRAM_LIBRARY))
            value = wc_page_keep(page, "%s%s", wc_format_asker(&c, path), value + n) ?: value;
        /* By the title or another row; a host's path by the requester. */
        bool told = of.how != HOW_LIBRARY &&
                    (holds(page->title, value) ||
                     WC_ANY(r, page->rows,
                            of.rank == RANK_HOST && r->rank == RANK_HOST
                                ? holds(r->value, value)
                                : of.rank != RANK_GOT && wc_str_same(r->value, value)));
        if (told || join(page, key, value))
            continue;
        struct wc_finding_row *row = wc_page_add_row(page, key, of.rank, value);
        if (row)
            row->most = of.most;
    }
    if (f->explained_by)
        wc_page_add_row(page, "cause", RANK_GOT, wc_page_keep(page, "%s", f->explained_by));
}

/* "libcudnn 9.1.0, DT_RPATH of host; graph, ops 9.1.0, DT_RUNPATH of libcudnn.so.9": those with one
 * version and rule together. For a lone facade, other rows have it. */
const char *wc_page_loaded(struct wc_finding_page *page, const struct wc_finding_record *f,
                           const struct wc_stack *s) {
    const struct wc_object *about = s ? wc_stack_object(s, f->object) : NULL;
    const struct wc_object *facade = wc_is_cudnn(about) ? wc_facade_of(s, about) : NULL;
    const char *list = "", *before = NULL;
    size_t n = 0;

    if (!s || !facade)
        return NULL;
    WC_EACH(o, s->objects) {
        bool part = o->r.role == WC_role_PART && o->r.mapped && wc_in_set(s, o, facade);
        const struct wc_searched *by = wc_search_of(s, o);
        const char *rule = by ? wc_enum_word(WC_ENUM_search_rule, by->r.rule) : NULL, *what;
        if ((o != facade && !part) || ++n > PARTS)
            continue;
        what = wc_page_keep(page, "%s%s%s%s%s", o->r.version ? o->r.version : "of unknown version",
                            rule ? ", " : "", rule, rule && by->r.of ? " of " : "",
                            rule ? wc_base_name(by->r.of) : NULL);
        if (part && before && wc_str_same(what, before))
            list = wc_page_keep(page, "%s, %s", list, o->r.part);
        else
            list = wc_page_keep(page, "%s%s%s%s%s", list, before ? " " : "", before,
                                before ? "; " : "", part ? o->r.part : "libcudnn");
        before = what;
        if (!list || !before)
            return NULL;
    }
    return n > 1 ? wc_page_keep(page, "%s %s%s", list, before, n > PARTS ? "; ..." : "") : NULL;
}
