/* SPDX-License-Identifier: Apache-2.0 */
#include "last_request.h"

#include <stdlib.h>
#include <string.h>

#include "core/demand/questions.h"
#include "run/startup_trial.h"
#include "tools/commands/run/trust.h"
#include "tools/observe/loader/loader_sim.h"

/* The numbers of what is there already are not given again. */
static void number_behind(struct loader_sim_emitter *t, const struct wc_stack *s,
                          int64_t last_request) {
    t->requests = last_request > 0 ? last_request : 0;
    WC_EACH(f, s->failures)
        if (f->r.request > t->requests)
            t->requests = f->r.request;
    WC_EACH(search, s->searches)
        if (search->r.search > t->searches)
            t->searches = search->r.search;
}

/* What it would have loaded may be refused. The loader's words for that were not requested,
 * or not any more. A log from elsewhere has nothing mapped that is another user's. */
static void try_objects(struct loader_sim *g, size_t from) {
    struct trust trust = {.why = NULL};

    for (size_t i = from; i < g->n; i++)
        trust_path(&trust, g->objects[i]->about.path);
    if (!trust.why)
        startup_trial_objects(g, from, g->n - from);
    free(trust.why);
}

/* The program of a log as the loader would start it now. */
struct loading {
    char **environment;
    struct library_cache library_cache;
    struct loader_sim sim;
};

/* False: there is nothing to end. */
static bool begin(struct loading *l, const struct source *log) {
    const struct wc_strings *list = &log->stack.process.environment;
    const char *program = log->stack.process.executable;
    size_t n = 0;

    if (!program)
        return false;
    l->environment = must_allocate((list->n + 1) * sizeof(*l->environment));
    WC_EACH(variable, *list)
        if (*variable)
            l->environment[n++] = (char *)*variable;
    library_cache_begin(&l->library_cache, NULL);
    if (loader_sim_begin(&l->sim, &l->library_cache, program, l->environment, NULL))
        return true;
    library_cache_end(&l->library_cache);
    free(l->environment);
    return false;
}

static void end(struct loading *l) {
    loader_sim_end(&l->sim);
    library_cache_end(&l->library_cache);
    free(l->environment);
}

bool last_request_emit(const struct source *log, bool binding, const struct wc_sink *to) {
    struct loader_sim_emitter t = {.to = *to};
    struct loading loading;
    struct loader_sim *g = &loading.sim;
    struct wc_record r;
    const struct wc_failure_record *last = &r.u.failure;
    const struct loaded *by;
    size_t before;
    bool any;

    if (!in_flight_failure(&log->in_flight, &r) || !begin(&loading, log))
        return false;
    by = g->program;
    if (last->caller && strcmp(last->caller, by->about.path) != 0)
        by = loader_sim_open(g, last->caller, NULL);
    before = g->n;
    if (loader_sim_open(g, last->name, by ? by : g->program))
        try_objects(g, before);
    number_behind(&t, &log->stack, last->request);
    any = loader_sim_emit_damaged(g, &t);
    if (!any && binding) {
        WC_EACH(o, log->stack.objects) /* what others let it see */
            if (o->r.mapped && o->r.path)
                loader_sim_open(g, o->r.path, NULL);
        any = loader_sim_emit_unbound(g, &t, last);
    }
    loader_sim_emitter_end(&t);
    end(&loading);
    return any;
}

/* The log's own lists grow as it is reported. */
void failed_requests_tell(const struct source *log, const struct wc_sink *to) {
    const struct wc_stack *s = &log->stack;
    struct loader_sim_emitter t = {.to = *to};
    const size_t n = s->failures.n;
    int64_t number = 0;
    struct loading loading;

    if (!n || !begin(&loading, log))
        return;
    number_behind(&t, s, 0);
    WC_EACH(o, s->objects)
        number = o->r.object > number ? o->r.object : number;
    for (size_t i = 0; i < n; i++) {
        struct loader_sim *g = &loading.sim;
        const struct wc_failure *f = &s->failures.p[i];
        const struct wc_failure_record asked = f->r;
        const size_t objects = g->n;
        if (!wc_is_load(f) || !asked.name ||
            (asked.text && (!f->needs || wc_name_kind_of(f->needs) != WC_NAME_OTHER)))
            continue;
        const struct loaded *by = asked.caller ? loader_sim_open(g, asked.caller, NULL) : NULL;
        g->missing_from = g->missing_count;
        loader_sim_open(g, asked.name, by);
        number += loader_sim_emit_reason(g, &t, &asked, number + 1);
        loader_sim_undo(g, objects);
    }
    loader_sim_emitter_end(&t);
    end(&loading);
}

bool failed_requests_want_cudnn(const struct source *log) {
    struct loading loading;
    bool any = false;

    if (!log->stack.failures.n || !begin(&loading, log))
        return false;
    WC_EACH(f, log->stack.failures)
        if (f->r.name)
            loader_sim_open(&loading.sim, f->r.name, NULL);
    for (size_t i = 0; i < loading.sim.n; i++)
        any = any || loading.sim.objects[i]->about.role == WC_role_HOST;
    end(&loading);
    return any;
}
