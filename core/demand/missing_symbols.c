/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing-symbols: functions that a host imports and its library does not have. Either the loader
 * left the slot without a target, or a slot is still lazy and the table of functions says that this
 * release has none of that name: the call will end the process. Or the loader refused the host for
 * a function, and named it. Or the host looked one up, and failed after that.
 */
#include "finding.h"

enum { NEWEST_MOST = 64, NAMED_MOST = 20 };

struct search {
    struct wc_case *c;
    const struct wc_object *host, *library;
    struct wc_range own;
    size_t undefined, expected; /* seen missing; missing only by the table */
    const char *first;          /* the first name found */
};

/* 0: it has it or nothing is known; else the sentence that says why not. */
static const char *lacking(struct search *s, const char *function) {
    int f = wc_function_find(function);

    if (f == WC_NO_FUNCTION || !wc_version_known(s->own.low))
        return NULL;
    struct wc_version first = wc_function_first(f);
    /* A two-part last covers all its patches. */
    struct wc_version last = wc_version_filled(wc_function_last(f), INT32_MAX, INT32_MAX);
    if (wc_version_known(first) && wc_version_compare(first, s->own.high) > 0)
        return wc_format(s->c, "came with %s", wc_format_version(s->c, first));
    if (wc_version_known(last) && wc_version_compare(last, s->own.low) < 0)
        return wc_format(s->c, "last in %s", wc_format_version(s->c, wc_function_last(f)));
    return NULL;
}

static void note(struct search *s, const char *function, const char *why, bool undefined) {
    if (!function)
        return;
    s->undefined += undefined;
    s->expected += !undefined;
    if (!s->first)
        s->first = wc_format_name(s->c, function);
    if (s->undefined + s->expected <= NAMED_MOST)
        wc_case_named(s->c, function, why, undefined ? "slot, function table" : "function table");
    else
        s->c->more++;
}

static void look(struct search *s) {
    const struct wc_stack *stack = s->c->d->s;

    WC_EACH(binding, stack->bindings) {
        const struct wc_binding_record *b = &binding->r;
        /* A lazy slot may lead into a framework's own stubs. */
        const bool leads_there = (b->target == WC_NULL && !b->target_path) ||
                                 wc_means(s->library, b->target, b->target_path);
        if (!wc_is_binding_of(binding, s->host))
            continue;
        WC_EACH(name, b->functions) {
            const char *why = *name ? lacking(s, *name) : NULL;
            if (b->how == WC_binding_how_UNDEFINED)
                note(s, *name, why ? why : "no library in the process has it", true);
            else if (b->how == WC_binding_how_LAZY && why && leads_there)
                note(s, *name, why, false);
        }
    }
    WC_EACH(demand, stack->demands) {
        const struct wc_strings *newest = &demand->r.newest_functions;
        if (demand->r.demand_kind != WC_demand_kind_SYMBOLS || !wc_is_demand_by(demand, s->host))
            continue;
        for (size_t i = 0; i < newest->n && i < NEWEST_MOST; i++) {
            const char *name = newest->p[i], *why = name ? lacking(s, name) : NULL;
            /* What is in a binding of the host, whatever it says, was judged above. Of those that
             * slots point to not all are named. */
            if (why && !WC_ANY(b, stack->bindings,
                               wc_is_binding_of(b, s->host) &&
                                   (b->r.function_count != WC_NULL ||
                                    WC_ANY(f, b->r.functions, wc_str_same(*f, name)))))
                note(s, name, why, false);
        }
    }
}

/* Linked with a library of one major, compiled with the header of a newer one: it looks for the
 * first, which cannot have the function. */
static void link_facts(struct wc_case *c, const char *host, const char *function) {
    const struct wc_version since = wc_function_first(wc_function_find(function));
    const struct wc_demand_record *linked = wc_demand_of(c->d->s, host, WC_demand_kind_NEEDED);

    if (linked && wc_version_known(since) && wc_major_wanted(linked) < since.major)
        wc_case_fact_from(c, WC_FACT_LINKED_WITH, wc_format_demand(c, linked, true),
                          linked->source);
}

static void emit(struct search *s) {
    struct wc_case *c = s->c;
    const struct wc_stack *stack = c->d->s;
    size_t n = s->undefined + s->expected;
    const char *host = wc_format_who(c, s->host);
    const char *library = wc_format_name(c, wc_name_of(s->library));
    const char *version = wc_format_range(c, s->own);

    c->r.title = n == 1 ? wc_format(c, "%s imports %s, which %s %s does not have", host, s->first,
                                    library, version)
                        : wc_format(c, "%s imports %zu functions that %s %s does not have", host, n,
                                    library, version);
    c->r.predicted = s->undefined == 0;
    if (c->r.predicted && (stack->has_outcome || stack->command_ended) && !wc_ended_badly(stack))
        c->effect = WC_EFFECT_DOUBTED; /* it was never called */
    c->r.explained_by = wc_found_before(c->d, c->r.object, "major-differs", "runtime-too-old",
                                        "runtime-too-new", NULL);
    wc_case_library(c, WC_FACT_LIBRARY, s->library);
    wc_case_fact(c, WC_FACT_HOST, wc_path_of(s->host));
    link_facts(c, wc_path_of(s->host), s->first);
    wc_case_end(c);
}

/* ---- hosts that were not loaded ---- */

static const struct wc_object *only_facade(const struct wc_stack *s) {
    const struct wc_object *facade = wc_first_facade(s);

    return WC_ANY(o, s->objects, o != facade && o->r.role == WC_role_FACADE && o->r.mapped)
               ? NULL
               : facade;
}

/* The loader's words name one function, the first that was missed. */
static void emit_refused(struct wc_diagnosis *d, const struct wc_failure *f) {
    const struct wc_said *u = &f->said;
    const struct wc_file_record *file = wc_file_like(d->s, f, "libcudnn.so");
    const struct wc_object *by = wc_caller_of(d->s, f);
    struct wc_object found = wc_file_as_object(file, NULL);
    struct wc_version since = wc_function_first(wc_function_find(u->symbol));
    const struct wc_object *library = file ? &found : only_facade(d->s);
    struct wc_case *c = wc_case_begin(d, file ? NULL : library, by && !wc_is_cudnn(by) ? by : NULL);

    c->r.title =
        wc_format(c,
                  library || !wc_is_linked_with_none(d->s, u->file)
                      ? "%s imports %s, which the cuDNN that it found does not have"
                      : "%s imports %s and is linked with no cuDNN; none was loaded before it",
                  wc_format_name(c, u->file), wc_format_name(c, u->symbol));
    wc_case_fact_from(c, WC_FACT_HOST, u->file, "dlerror");
    wc_case_named(c, u->symbol,
                  wc_version_known(since)
                      ? wc_format(c, "came with %s", wc_format_version(c, since))
                      : "not known to this build",
                  "function table");
    if (file)
        wc_case_file(c, WC_FACT_LIBRARY, file, "replay of the search");
    else
        wc_case_library(c, WC_FACT_LIBRARY, library);
    wc_case_request(c, f);
    wc_case_asked_by(c, f);
    link_facts(c, u->file, u->symbol);
    wc_case_end(c);
}

/* ---- looked up without success ---- */

/* The file that lacks a function of cuDNN, by the loader's words before a failure, if it is of that
 * kind. NULL: it is not, or the loader does not say. */
static const char *lacking_file(const struct wc_stack *s, const struct wc_failure *f,
                                enum wc_name_kind kind) {
    return wc_ended_badly(s) && f->said.what == WC_SAID_UNMET &&
                   wc_is_function_of_cudnn(f->r.function) && wc_name_kind_of(f->said.file) == kind
               ? f->said.file
               : NULL;
}

/* False: neither the table nor the loader says why. The host may not be known by an object: a
 * language's own way of loading looks up for it. */
static bool check_lookup(struct wc_diagnosis *d, const struct wc_failure *f) {
    const char *path = f->said.what == WC_SAID_UNMET ? f->said.file : NULL;
    const struct wc_object *by = wc_caller_of(d->s, f);
    const struct wc_object *library =
        WC_FIRST(o, d->s->objects, path && wc_is_cudnn(o) && wc_means(o, WC_NULL, path))
            ?: only_facade(d->s);
    struct search s = {.c = wc_case_begin(d, NULL, NULL), .host = by, .library = library};
    struct wc_case *c = s.c;
    const char *why = NULL;
    /* In the program, say, by a host that leaves it to others to load cuDNN for all. */
    const char *elsewhere = lacking_file(d->s, f, WC_NAME_OTHER);

    if (library && !elsewhere) {
        s.own = wc_own_range(library);
        why = lacking(&s, f->r.function);
        /* Under cuDNN's name, and not all of cuDNN: that release has the function. */
        if (!why && lacking_file(d->s, f, WC_NAME_FACADE))
            why = "not in this file";
    }
    if (!why && !elsewhere)
        return false;
    if (!wc_ended_badly(d->s))
        c->effect = WC_EFFECT_DOUBTED;
    c->r.title = elsewhere
                     ? wc_format(c, "%s looked up %s in %s, no cuDNN", wc_format_caller(c, f),
                                 f->r.function, wc_format_name(c, elsewhere))
                     : wc_format(c, "%s looked up %s, which %s %s does not have",
                                 wc_format_caller(c, f), f->r.function,
                                 wc_format_name(c, wc_name_of(library)), wc_format_range(c, s.own));
    wc_case_about(c, by);
    if (library)
        c->r.object = library->r.object;
    c->r.explained_by = wc_found_before(d, c->r.object, "major-differs", "runtime-too-old",
                                        "runtime-too-new", NULL);
    wc_case_named(c, f->r.function, why, "function table");
    wc_case_library(c, WC_FACT_LIBRARY, library);
    wc_case_fact(c, WC_FACT_LOADER_SAID, f->r.text);
    wc_case_asked_by(c, f);
    wc_case_end(c);
    return true;
}

void wc_find_missing_symbols(struct wc_diagnosis *d) {
    const struct wc_object *last = NULL;

    WC_EACH(use, d->uses) {
        struct search s = {.c = wc_case_begin(d, use->library, use->host),
                           .host = use->host,
                           .library = use->library,
                           .own = wc_own_range(use->library)};
        if (use->host == last) /* its first library shows */
            continue;
        last = use->host;
        look(&s);
        if (s.undefined + s.expected)
            emit(&s);
    }
    WC_EACH(f, d->s->failures)
        if (wc_is_unreported(d, f, WC_REASON_SYMBOL))
            emit_refused(d, f);
    /* Hosts look up what may be there. The last lookup, behind which nothing of cuDNN was used any
     * more and the process failed, was a need. Where it ended well and had nothing done by cuDNN,
     * the host may do without all of it. */
    WC_EACH(f, d->s->failures)
        if (!wc_is_load(f) && f->r.function && !wc_asked_by_cudnn(d->s, f) &&
            (f->fate == WC_FATE_LAST || (f->fate == WC_FATE_LEFT && wc_turned_away(d->s, false))) &&
            check_lookup(d, f))
            return; /* it may have looked up all that it requires before it looked at one */
    /* So the loader ends a process that calls what it could not bind, or cannot be started. */
    const bool started = !d->s->has_outcome || d->s->outcome.ending != WC_ending_EXITED ||
                         d->s->outcome.exit_status != 127 || wc_first_facade(d->s);
    WC_EACH(host, d->s->objects) {
        const struct wc_demand_record *imports =
            started ? NULL : wc_demand_of(d->s, wc_path_of(host), WC_demand_kind_SYMBOLS);
        /* It leaves it to others to load a cuDNN for all, and none did. */
        if (!imports || !imports->newest_functions.n ||
            !wc_is_linked_with_none(d->s, wc_path_of(host)))
            continue;
        struct wc_case *c = wc_case_begin(d, NULL, NULL);
        c->r.title = wc_format(
            c, "%s imports functions of cuDNN (%s) and is linked with no cuDNN; none was loaded",
            wc_format_who(c, host), imports->newest_functions.p[0]);
        wc_case_about(c, host);
        wc_case_fact(c, WC_FACT_HOST, wc_path_of(host));
        wc_case_end(c);
    }
}
