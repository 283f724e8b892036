/*
 * What the loader said about a failed request. glibc's text is "NAME: WHAT", where NAME is the
 * library that stopped it, which need not be the one that was asked for.
 */
#include "core/findings/finding.h"
#include "whichcudnn/file_look.h"

bool wc_text_not_found(const char *text, char *out, size_t cap) {
    const char *end = text ? wc_str_find(text, ": cannot open shared object file") : NULL;
    const char *start = end;
    struct wc_text t;

    if (!end)
        return false;
    /* cuDNN and frameworks put words of their own before it. */
    while (start > text && start[-1] != '/' && start[-1] != ' ')
        start--;
    wc_text_begin(&t, out, cap);
    wc_text_add_n(&t, start, (size_t)(end - start));
    return t.n > 0 && !t.cut;
}

bool wc_failed_dependency(const struct wc_failure *f, char *out, size_t cap) {
    return wc_text_not_found(f->r.text, out, cap) && f->r.name &&
           wc_str_compare(out, wc_base_name(f->r.name)) != 0;
}

/* "FILE: undefined symbol: NAME, version NODE": up to the first two, and from the last. */
bool wc_refused_for_symbol(const struct wc_failure *f, struct wc_refusal *out) {
    static const char undefined[] = ": undefined symbol: ", version[] = ", version ";
    const char *text = f->r.text, *at = text ? wc_str_find(text, undefined) : NULL;
    const char *node = at ? wc_str_find(at, version) : NULL;
    struct wc_name wants, has;
    struct wc_text t;

    if (!node)
        return false;
    wc_text_begin(&t, out->file, sizeof out->file);
    wc_text_add_n(&t, text, (size_t)(at - text));
    wc_name_read(out->file, &wants);
    wc_name_read(node + sizeof version - 1, &has);
    wc_text_begin(&t, out->part, sizeof out->part);
    wc_text_add(&t, has.kind == WC_NAME_PART ? has.part : "facade");
    return (wants.kind == WC_NAME_PART || wants.kind == WC_NAME_FACADE) &&
           (has.kind == WC_NAME_PART || has.kind == WC_NAME_FACADE);
}

/* The file that was looked at for this request under that path, or that bare name. */
static const struct wc_file_record *looked_at(const struct wc_stack *s, const struct wc_failure *f,
                                              const char *name) {
    bool bare = !wc_str_find_char(name, '/');

    for (size_t i = 0; i < s->files.n; i++) {
        const struct wc_file_record *r = &s->files.p[i].r;
        if (r->path && r->request == f->r.request &&
            wc_str_same(bare ? wc_base_name(r->path) : r->path, name) && (r->fault || !bare))
            return r;
    }
    return NULL;
}

/* The library that was not found: the one asked for, by the path it was asked for, or the one that
 * it needs. False: the loader had other words. */
static bool missing_name(const struct wc_failure *f, struct wc_text *t) {
    char missing[sizeof((struct wc_bad_file *)NULL)->name];

    if (f->r.text && !wc_text_not_found(f->r.text, missing, sizeof missing))
        return false;
    if (f->r.text && !wc_str_same(missing, f->r.name ? wc_base_name(f->r.name) : NULL))
        wc_text_add(t, missing);
    else
        wc_text_add(t, f->r.name);
    return t->n > 0 && !t->cut;
}

bool wc_failed_for_file(const struct wc_stack *s, const struct wc_failure *f,
                        struct wc_bad_file *out) {
    struct wc_text t;

    if (!wc_is_load(f))
        return false;
    out->refused = wc_text_refuses(f->r.text, out->name, sizeof out->name);
    if (!out->refused) {
        wc_text_begin(&t, out->name, sizeof out->name);
        if (!missing_name(f, &t))
            return false;
    }
    out->file = looked_at(s, f, out->name);
    return out->refused || (out->file && out->file->fault);
}

bool wc_is_load(const struct wc_failure *f) {
    return f->r.operation != WC_operation_DLSYM && f->r.operation != WC_operation_DLVSYM;
}

void wc_case_request(struct wc_case *c, const struct wc_failure *f) {
    wc_case_fact(c, "asked for", f->r.name,
                 f->r.text ? "loader request" : "loader request; no object answers to it");
    wc_case_fact(c, "loader said", f->r.text, "dlerror");
}

const char *wc_say_caller(struct wc_case *c, const struct wc_failure *f) {
    const struct wc_object *o = wc_object_of(c->d->s, f->r.caller_object, f->r.caller);

    if (!o && !f->r.caller)
        return "the program";
    return wc_say_name(c, o ? wc_name_of(o) : f->r.caller);
}
