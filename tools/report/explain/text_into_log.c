/* SPDX-License-Identifier: Apache-2.0 */
#include "text_into_log.h"

#include <string.h>

#include "core/demand/questions.h"
#include "core/model/status.h"
#include "tools/util/program.h"

/* ---- which process the numbers are of ---- */

/* The only one that asked cuDNN for its version, as a host that compares it does, of no framework:
 * XLA asks by another function, which is not watched. NULL: not known. */
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
        WC_FIRST(o, s->objects,
                 framework && wc_wants_cudnn(o) &&
                     (WC_ANY(d, s->demands,
                             wc_is_demand_by(d, o) && wc_str_same(d->r.framework, framework)) ||
                      (o->r.installation && wc_str_starts(o->r.installation, framework))));

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

/* ---- the two numbers, or the status of a call ---- */

#define STATUS_PREFIX "CUDNN_STATUS_"
#define STATUS_MOST 8192 /* above the last of core/model/status.c */

/* where: "what it printed, line 3 of FILE" */
static void add_match(const struct wc_stack *s, const struct message_match *m, const char *where,
                      const struct wc_sink *to) {
    const bool compares = m->rule != WC_RULE_NONE;
    const struct wc_object *host = host_of(s, m->message->framework), *facade = facade_of(s, host);
    const char *at = compares ? NULL : strstr(m->text, STATUS_PREFIX), *listed;
    const size_t n = at ? strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") : 0;
    char built[WC_VERSION_TEXT];
    struct wc_library l;
    struct wc_record call, r;

    wc_record_begin(&call, WC_KIND_call);
    call.u.call.phase = WC_phase_AFTER;
    call.u.call.host = host ? host->r.object : WC_NULL;
    call.u.call.host_path = host ? host->r.path : NULL;
    call.u.call.target = facade ? facade->r.object : WC_NULL;
    call.u.call.target_path = facade ? facade->r.path : NULL;
    call.u.call.source = where;
    for (int64_t status = 1; facade && n > 0 && status < STATUS_MOST; status++) {
        listed = wc_status_name(status, wc_major_of(facade));
        if (!listed || strlen(listed) != n || memcmp(listed, at, n) != 0 ||
            WC_ANY(c, s->calls, c->r.status == status)) /* it was watched, and has its own record */
            continue;
        r = call;
        r.u.call.status = status;
        r.u.call.status_name = listed;
        to->add(to->ctx, &r);
    }
    if (facade && compares && m->found_version.patch >= 0) {
        r = call;
        r.u.call.function = "cudnnGetVersion";
        r.u.call.returned_version = (int64_t)wc_version_to_number(m->found_version);
        to->add(to->ctx, &r);
    }
    if (!compares || !wc_version_known(m->wanted_version))
        return;
    host = host_of(s, m->message->framework);
    wc_version_format(m->wanted_version, built);
    if (!host) {
        wc_emit_expectation(to, where, NULL, built);
    } else {
        wc_library_begin(&l, host->r.path);
        l.number = host->r.object;
        wc_emit_printed(to, &l, where, m->message->framework, wc_rule_name(m->rule), built);
    }
}

/* A scan does not know whether another module loads a missing library first; the loader's words in
 * the text say that none did, so what needs it could not be loaded. */
static void add_missing(const struct wc_stack *s, const char *library, const struct wc_sink *to) {
    const struct wc_failure *f =
        library ? WC_FIRST(f, s->failures,
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
    to->add(to->ctx, &r);
}

void text_into_log(const struct messages *m, const struct text_view *view, struct source *s,
                   const struct wc_sink *to) {
    char version[WC_VERSION_TEXT];

    WC_EACH(match, *m)
        add_missing(&s->stack, match->library, to);
    if (!WC_ANY(o, s->stack.objects, wc_is_cudnn(o)))
        return;
    WC_EACH(match, *m) {
        OWNED char *where = must_format("%s, line %zu%s", view->name, match->line, view->of);
        const struct wc_version found =
            match->rule == WC_RULE_NONE ? WC_VERSION_NONE : match->found_version;
        struct wc_range said = wc_exactly(found);
        enum message_effect effect = match->message->effect;
        const bool refuses = effect == EFFECT_FATAL && !s->stack.has_outcome &&
                             wc_version_known(found) && wc_version_known(match->wanted_version);
        if (effect == EFFECT_NOISE || (view->fallbacks && effect != EFFECT_FALLBACK && !refuses))
            continue;
        if (found.patch < 0) /* "9.10": any of these */
            said.high.patch = INT32_MAX;
        if (!wc_version_known(found) ||
            WC_ANY(o, s->stack.objects, wc_is_cudnn(o) && wc_ranges_meet(wc_own_range(o), said)))
            add_match(&s->stack, match, where, to);
        else if (!view->quiet)
            complain("%s, is not of %s: no cuDNN there can be %s", where, s->path,
                     wc_version_format(found, version));
    }
}
