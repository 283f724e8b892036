/* SPDX-License-Identifier: Apache-2.0 */
#include "text_into_log.h"

#include <stdlib.h>
#include <string.h>

#include "core/demand/questions.h"
#include "core/records/emit.h"
#include "tools/util/program.h"

struct adding {
    struct source *s;
    const struct message_match *m;
    char *where; /* "what it printed, line 3 of FILE" */
};

/* ---- whose numbers they are ---- */

static bool is_of(const struct wc_stack *s, const struct wc_object *host, const char *framework) {
    return WC_ANY(d, s->demands,
                  wc_is_demand_by(d, host) && wc_str_same(d->r.framework, framework)) ||
           (host->r.installation &&
            strncmp(host->r.installation, framework, strlen(framework)) == 0);
}

/* The only one that asked cuDNN for its version, as who compares it does, of no framework: XLA asks
 * by another function, which is not watched. NULL: not known. */
static const struct wc_object *asker_of(const struct wc_stack *s) {
    const struct wc_object *asker = NULL;

    WC_EACH(call, s->calls) {
        const struct wc_object *host = wc_str_same(call->r.function, "cudnnGetVersion")
                                           ? wc_object_of(s, call->r.host, call->r.host_path)
                                           : NULL;
        bool is_known = host && (host->r.framework ||
                                 WC_ANY(d, s->demands, wc_is_demand_by(d, host) && d->r.framework));
        if (is_known || (host && asker && host != asker))
            return NULL;
        asker = host ? host : asker;
    }
    return asker;
}

/* That of the framework; else the only one, or the only one that asked. NULL: not known. */
static const struct wc_object *host_of(const struct wc_stack *s, const char *framework) {
    const struct wc_object *first = WC_FIRST(o, s->objects, wc_wants_cudnn(o));
    const struct wc_object *own =
        framework ? WC_FIRST(o, s->objects, wc_wants_cudnn(o) && is_of(s, o, framework)) : NULL;

    if (own)
        return own;
    return WC_ANY(o, s->objects, wc_wants_cudnn(o) && o != first) ? asker_of(s) : first;
}

/* What that host is bound to; else the only facade. */
static const struct wc_object *facade_of(const struct wc_stack *s, const struct wc_object *host) {
    const struct wc_object *first = wc_first_facade(s);

    WC_EACH(b, s->bindings)
        if (host && wc_is_binding_of(b, host)) {
            const struct wc_object *o = wc_object_of(s, b->r.target, b->r.target_path);
            if (o && o->r.role == WC_role_FACADE)
                return o;
        }
    return WC_ANY(o, s->objects, o->r.role == WC_role_FACADE && o->r.mapped && o != first) ? NULL
                                                                                           : first;
}

/* ---- the two numbers ---- */

static void add_wanted(const struct adding *a, const struct wc_object *host) {
    const struct wc_sink to = source_sink(a->s);
    char built[WC_VERSION_TEXT];
    struct wc_library l;

    wc_version_format(a->m->wanted_version, built);
    if (!host) {
        wc_emit_expectation(&to, a->where, NULL, built);
        return;
    }
    wc_library_begin(&l, host->r.path);
    l.number = host->r.object;
    wc_emit_printed(&to, &l, a->where, a->m->message->framework, wc_rule_name(a->m->rule), built);
}

static void add_found(const struct adding *a, const struct wc_object *host,
                      const struct wc_object *facade) {
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_call);
    r.u.call.function = "cudnnGetVersion";
    r.u.call.phase = WC_phase_AFTER;
    r.u.call.host = host ? host->r.object : WC_NULL;
    r.u.call.host_path = host ? host->r.path : NULL;
    r.u.call.target = facade->r.object;
    r.u.call.target_path = facade->r.path;
    r.u.call.returned_version = (int64_t)wc_version_to_number(a->m->found_version);
    source_add(a->s, &r);
}

static void add_match(const struct adding *a) {
    const struct wc_stack *s = &a->s->stack;
    const struct wc_object *host = host_of(s, a->m->message->framework);
    const struct wc_object *facade = facade_of(s, host);
    struct wc_version found = a->m->found_version;

    if (wc_version_known(found) &&
        !WC_ANY(o, s->objects,
                wc_is_cudnn(o) && wc_ranges_meet(wc_own_range(o), wc_exactly(found)))) {
        char version[WC_VERSION_TEXT];
        complain("line %zu is of another run than %s: no cuDNN there can be %s", a->m->line,
                 a->s->path, wc_version_format(found, version));
        return;
    }
    if (facade && found.patch >= 0)
        add_found(a, host, facade);
    if (wc_version_known(a->m->wanted_version))
        add_wanted(a, host_of(s, a->m->message->framework));
}

/* A scan does not know whether another module loads a missing library first; the loader's words in
 * the text say that none did, so what needs it could not be loaded. */
static void add_missing(struct source *s, const char *library) {
    const struct wc_failure *f =
        library ? WC_FIRST(f, s->stack.failures,
                           f->r.operation == WC_operation_NEEDED && f->r.inferred && f->r.caller &&
                               wc_str_same(f->r.name, library))
                : NULL;
    OWNED char *words = NULL, *path = NULL;
    struct wc_record r;

    if (!f)
        return;
    words = must_format("%s: cannot open shared object file: No such file or directory", library);
    path = must_copy(f->r.caller);
    wc_record_begin(&r, WC_KIND_failure);
    r.u.failure.request = WC_NULL;
    r.u.failure.operation = WC_operation_DLOPEN;
    r.u.failure.name = path;
    r.u.failure.text = words;
    source_add(s, &r);
}

void text_into_log(const struct messages *m, const char *file, struct source *s) {
    WC_EACH(match, *m)
        add_missing(s, match->library);
    if (!WC_ANY(o, s->stack.objects, wc_is_cudnn(o)))
        return;
    WC_EACH(match, *m) {
        if (match->rule == WC_RULE_NONE || match->message->effect == EFFECT_NOISE)
            continue;
        struct adding a = {s, match,
                           must_format("what it printed, line %zu%s%s", match->line,
                                       strcmp(file, "-") == 0 ? "" : " of ",
                                       strcmp(file, "-") == 0 ? "" : file)};
        add_match(&a);
        free(a.where);
    }
}
