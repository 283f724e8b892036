/* SPDX-License-Identifier: Apache-2.0 */
/* Building one finding in the scratch arena: see core/demand/finding.h. */
#include "core/base/shown.h"
#include "core/demand/finding.h"

enum { TEXT_MOST = 900, NAME_MOST = 72 };

struct wc_case *wc_case_begin(struct wc_diagnosis *d, const struct wc_object *o,
                              const struct wc_object *host) {
    struct wc_case *c = &d->making;
    struct wc_record empty;

    wc_record_begin(&empty, WC_KIND_finding);
    *c = (struct wc_case){.d = d, .r = empty.u.finding};
    c->r.id = d->kind->id;
    c->r.object = o ? o->r.object : WC_NULL;
    c->r.host = host ? host->r.object : WC_NULL;
    return c;
}

static const char *keep(struct wc_case *c, const struct wc_text *t) {
    const char *kept = wc_arena_string_n(c->d->scratch, t->p, t->n);

    c->lost |= !kept;
    return kept;
}

const char *wc_format(struct wc_case *c, const char *format, ...) {
    char buffer[TEXT_MOST];
    struct wc_text t;
    va_list list;

    wc_text_begin(&t, buffer, sizeof buffer);
    va_start(list, format);
    wc_text_format_list(&t, format, list);
    va_end(list);
    if (t.cut) {
        t.n -= 3;
        wc_text_add(&t, "...");
    }
    return keep(c, &t);
}

const char *wc_format_version(struct wc_case *c, struct wc_version v) {
    char buffer[WC_VERSION_TEXT];

    return wc_format(c, "%s", wc_version_format(v, buffer));
}

/* What is in a sentence is printed by every reader of a log: no control characters, whatever
 * it was made of. */
static const char *harmless(struct wc_case *c, const char *text, size_t most) {
    char buffer[TEXT_MOST];
    struct wc_text t;

    wc_text_begin(&t, buffer, most);
    wc_text_add_shown(&t, text);
    return wc_str_same(t.p, text) ? text : keep(c, &t);
}

const char *wc_format_name(struct wc_case *c, const char *path) {
    return path && *wc_base_name(path) ? harmless(c, wc_base_name(path), NAME_MOST) : "?";
}

const char *wc_format_list(struct wc_case *c, const char *const *names, size_t n) {
    const char *list = n ? wc_format_name(c, names[0]) : NULL;

    for (size_t i = 1; i < n; i++)
        list = wc_format(c, "%s, %s", list, wc_format_name(c, names[i]));
    return list;
}

static void add_fact(struct wc_case *c, const char *name, struct wc_typed_fact typed,
                     const char *value, const char *source) {
    if (!value)
        return;
    if (c->facts == WC_CASE_FACTS - 1) { /* the last place holds how many found none */
        c->more++;
        return;
    }
    c->typed[c->facts] = typed;
    c->fact[c->facts++] = (struct wc_fact){name, value, source};
}

void wc_case_fact(struct wc_case *c, enum wc_fact_role role, const char *value) {
    wc_case_fact_from(c, role, value, wc_fact_rows[role].source);
}

void wc_case_fact_from(struct wc_case *c, enum wc_fact_role role, const char *value,
                       const char *source) {
    wc_case_fact_at(c, role, value, value, source);
}

void wc_case_fact_at(struct wc_case *c, enum wc_fact_role role, const char *path, const char *value,
                     const char *source) {
    add_fact(c, wc_fact_rows[role].name, (struct wc_typed_fact){role, path}, value, source);
}

void wc_case_named(struct wc_case *c, const char *name, const char *value, const char *source) {
    add_fact(c, name, (struct wc_typed_fact){wc_fact_role_named(name), value}, value, source);
}

static void *copy(struct wc_case *c, const void *list, size_t size) {
    void *kept = size ? wc_arena_take(c->d->scratch, size) : NULL;

    if (kept)
        wc_mem_copy(kept, list, size);
    c->lost |= size && !kept;
    return kept;
}

void wc_case_end(struct wc_case *c) {
    /* The one place that decides how grave it is. */
    static const enum wc_severity severities[][WC_EFFECT_NONE + 1] = {
        [WC_severity_NOTE] = {WC_severity_NOTE, WC_severity_NOTE, WC_severity_NOTE},
        [WC_severity_WARNING] = {WC_severity_WARNING, WC_severity_NOTE, WC_severity_NOTE},
        [WC_severity_ERROR] = {WC_severity_ERROR, WC_severity_WARNING, WC_severity_NOTE},
    };
    struct wc_findings *out = c->d->out;

    if (c->more) {
        c->typed[c->facts] = (struct wc_typed_fact){WC_FACT_NOT_LISTED, NULL};
        c->fact[c->facts++] = (struct wc_fact){wc_fact_rows[WC_FACT_NOT_LISTED].name,
                                               wc_format(c, "%jd", c->more), NULL};
    }
    c->r.severity = severities[c->d->kind->severity][c->effect];
    c->r.title = harmless(c, c->r.title, TEXT_MOST);
    if (c->d->s->replayed) { /* nothing is mapped yet: what the replay of its loading has */
        c->r.predicted = c->r.predicted || !c->on_disk;
        for (size_t i = 0; i < c->facts; i++)
            if (wc_str_same(c->fact[i].source, "link map"))
                c->fact[i].source = "the loader's rules";
    }
    c->r.facts.p = copy(c, c->fact, c->facts * sizeof *c->fact);
    c->r.facts.typed = copy(c, c->typed, c->facts * sizeof *c->typed);
    c->r.facts.n = c->facts;
    if (!out->p)
        out->p = wc_arena_take(c->d->scratch, WC_FINDINGS_MOST * sizeof *out->p);
    if (c->lost || !out->p || out->n == WC_FINDINGS_MOST)
        out->lost++;
    else
        out->p[out->n++] = c->r;
}

bool wc_has_error(const struct wc_diagnosis *d) {
    return WC_ANY(r, *d->out, r->severity == WC_severity_ERROR);
}

const char *wc_found_before(const struct wc_diagnosis *d, int64_t object, ...) {
    const char *id;
    va_list ids;

    va_start(ids, object);
    do
        id = va_arg(ids, const char *);
    while (id && !WC_ANY(r, *d->out,
                         r->severity == WC_severity_ERROR && wc_str_same(r->id, id) &&
                             (object == WC_NULL || r->object == WC_NULL || r->object == object)));
    va_end(ids);
    return id;
}

bool wc_reported_before(const struct wc_diagnosis *d, const char *first_fact) {
    return WC_ANY(r, *d->out,
                  wc_str_same(r->id, d->kind->id) && wc_str_same(r->facts.p[0].value, first_fact));
}

bool wc_is_unreported(const struct wc_diagnosis *d, const struct wc_failure *f,
                      enum wc_reason reason) {
    return f->reason == reason && f->fate != WC_FATE_MADE_GOOD &&
           !wc_reported_before(d, f->culprit);
}

/* ---- facts ---- */

const struct wc_fact_row wc_fact_rows[WC_FACT_ROLES] = {
    [WC_FACT_OTHER] = {NULL, NULL, RANK_OTHER, HOW_PLAIN, 1, NULL},
#define FACT(role, name, key, rank, how, most, source)                                             \
    [WC_FACT_##role] = {name, key, RANK_##rank, HOW_##how, most, source},
#include "core/demand/facts.def"
};

enum wc_fact_role wc_fact_role_named(const char *name) {
    for (enum wc_fact_role role = WC_FACT_OTHER + 1; role < WC_FACT_ROLES; role++)
        if (wc_str_same(wc_fact_rows[role].name, name))
            return role;
    return WC_FACT_OTHER;
}

enum wc_fact_role wc_fact_role_of(const struct wc_facts *facts, const struct wc_fact *fact) {
    return facts->typed ? facts->typed[fact - facts->p].role : wc_fact_role_named(fact->name);
}

static const struct wc_fact *first_of(const struct wc_finding_record *f, enum wc_fact_role role) {
    return WC_FIRST(fact, f->facts, wc_fact_role_of(&f->facts, fact) == role);
}

const char *wc_fact_value(const struct wc_finding_record *f, enum wc_fact_role role) {
    const struct wc_fact *fact = first_of(f, role);

    return fact ? fact->value : NULL;
}

const char *wc_fact_path(const struct wc_finding_record *f, enum wc_fact_role role) {
    const struct wc_fact *fact = first_of(f, role);
    const char *path = !fact            ? NULL
                       : f->facts.typed ? f->facts.typed[fact - f->facts.p].path
                                        : fact->value;

    return path && *path == '/' ? path : NULL;
}
