/* two-copies-loaded: more than one facade in the process, and who uses which. */
#include "finding.h"

enum { FACADES_MOST = 8 };

struct facades {
    const struct wc_object *p[FACADES_MOST];
    size_t n;
    bool differ;
};

static bool same_file(const struct wc_object *a, const struct wc_object *b) {
    if (a->r.inode != WC_NULL && b->r.inode != WC_NULL)
        return a->r.inode == b->r.inode && a->r.device == b->r.device;
    return wc_str_same(wc_path_of(a), wc_path_of(b));
}

static void add(struct facades *f, const struct wc_object *o) {
    struct wc_range range = wc_own_range(o), other;

    for (size_t i = 0; i < f->n; i++) {
        if (same_file(f->p[i], o))
            return;
        other = wc_own_range(f->p[i]);
        f->differ = f->differ || !wc_ranges_meet(&range, &other);
    }
    if (f->n < FACADES_MOST)
        f->p[f->n++] = o;
}

static void users(struct wc_case *c, const struct wc_object *facade) {
    const struct wc_stack *s = c->d->s;
    size_t hosts = 0;

    for (size_t i = 0; i < s->objects.n && hosts < WC_HOSTS_MOST; i++) {
        struct wc_uses uses;
        if (!wc_wants_cudnn(&s->objects.p[i]))
            continue;
        hosts++;
        wc_uses_of(s, &s->objects.p[i], &uses);
        for (size_t k = 0; k < uses.n; k++)
            if (uses.library[k] == facade)
                wc_case_fact(c, "used by", wc_path_of(&s->objects.p[i]), "bindings");
    }
}

static void emit(struct wc_diagnosis *d, const struct facades *f) {
    struct wc_case c;
    const char *versions;

    wc_case_begin(&c, d);
    if (!f->differ)
        c.r.severity = WC_severity_NOTE;
    versions = wc_format_own(&c, f->p[0]);
    for (size_t i = 1; i < f->n; i++)
        versions = wc_format(&c, versions, i + 1 < f->n ? ", " : " and ",
                             wc_format_own(&c, f->p[i]), NULL);
    c.r.title = wc_format(&c, wc_format_number(&c, (int64_t)f->n),
                          " cuDNN facades in one process: ", versions, NULL);
    for (size_t i = 0; i < f->n; i++) {
        wc_case_library(&c, "facade", f->p[i]);
        users(&c, f->p[i]);
    }
    wc_case_fact(&c, "mind", "what asks for parts by name alone may get those of the other copy",
                 NULL);
    wc_case_fix(&c, WC_ACTION_REMOVE,
                "let all hosts find one copy: remove the others, or install releases of the hosts "
                "that share one",
                NULL);
    wc_case_end(&c);
}

void wc_find_two_copies_loaded(struct wc_diagnosis *d) {
    struct facades f = {.n = 0};

    for (size_t i = 0; i < d->s->objects.n; i++) {
        const struct wc_object *o = &d->s->objects.p[i];
        if (o->r.role == WC_role_FACADE && o->r.mapped)
            add(&f, o);
    }
    if (f.n > 1)
        emit(d, &f);
}
