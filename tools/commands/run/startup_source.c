/* SPDX-License-Identifier: Apache-2.0 */
#include "startup_source.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>

#include "core/names/names.h"
#include "outcome.h"
#include "startup_trial.h"
#include "tools/observe/loader/loader_sim.h"
#include "tools/observe/log/first_records.h"
#include "tools/util/program.h"

/* ---- records ---- */

struct writing {
    struct source *source;
    bool written; /* the file is there, and has all so far */
};

/* What works with cuDNN needs what is nobody's: the program was told so in words that name both. */
static bool is_need_of_nobody(const struct wc_record *r) {
    const struct wc_failure_record *f = &r->u.failure;

    return r->kind == WC_KIND_failure && f->operation == WC_operation_NEEDED && !f->text &&
           wc_name_kind_of(f->name) == WC_NAME_OTHER;
}

/* The first record begins the file. */
static void add(void *ctx, struct wc_record *r) {
    struct writing *w = ctx;
    OWNED char *words = is_need_of_nobody(r) ? loader_sim_not_found(r->u.failure.name) : NULL;

    if (words) {
        r->u.failure.name = r->u.failure.caller;
        r->u.failure.text = words;
    }
    source_add(w->source, r);
    if (r->kind == WC_KIND_process) {
        w->written = w->source->path[0] && outcome_write(w->source->path, true, r);
    } else if (w->written && !outcome_write(w->source->path, false, r)) {
        complain("%s: %s", w->source->path, strerror(errno));
        w->written = false;
    }
}

/* ---- what has a part in it ---- */

static bool is_relevant(const struct loader_sim *s, enum startup_end end) {
    bool works_with_cudnn = false;

    for (size_t i = 0; i < s->n; i++)
        works_with_cudnn = works_with_cudnn || s->objects[i]->library->needs_cudnn;
    if (end == STARTUP_PASSED_OVER && !works_with_cudnn)
        return false;
    for (size_t i = 0; i < s->missing_count; i++) {
        const struct loader_sim_missing *m = &s->missing[i];
        bool fits = end == STARTUP_ANY || (end == STARTUP_PASSED_OVER && !m->function) ||
                    (m->version && !m->function
                         ? end == STARTUP_VERSION
                         : end == STARTUP_REFUSED || (m->damaged && end == STARTUP_DAMAGED));
        if ((wc_name_kind_of(m->name) != WC_NAME_OTHER || m->version || works_with_cudnn) &&
            m->how != WC_operation_DLOPEN && fits)
            return true;
    }
    return s->undefined && (end == STARTUP_ANY || end == STARTUP_REFUSED);
}

static void print_missing(const struct loader_sim *s, char **reason) {
    if (s->missing_count > 0 && s->missing[0].refused)
        *reason = must_format("it ended in the loader: the system does not let it have %s: %s",
                              s->missing[0].found->about.path, strerror(s->missing[0].refused));
    else if (s->missing_count > 0)
        *reason = must_format("it ended in the loader: %s, which %s needs, was not found",
                              s->missing[0].name, s->missing[0].by->search.path);
}

static struct source *make(struct loader_sim *loading, const struct startup *start) {
    struct writing w = {NULL, false};
    struct loader_sim_emitter emitter = {.to = {add, &w}};
    OWNED char *real = realpath(start->program, NULL);
    const struct first_records first = {NULL, real ? real : start->program, gnu_get_libc_version(),
                                        loading->environment, start->child};

    w.source = source_new(SOURCE_LOG, start->path ? start->path : "");
    w.source->pid = start->child;
    first_records_emit(&first, &emitter.to);
    loader_sim_emit(loading, &emitter);
    loader_sim_emitter_end(&emitter);
    return w.source;
}

struct source *startup_source(const struct startup *start, char **reason) {
    struct source *source = NULL;
    struct loader_sim loading;
    struct library_cache library_cache;

    library_cache_begin(&library_cache, NULL);
    if (loader_sim_begin(&loading, &library_cache, start->program, start->environment, NULL)) {
        loader_sim_check_symbols(&loading);
        if (!is_relevant(&loading, start->end) &&
            (start->end == STARTUP_ANY || start->end == STARTUP_REFUSED))
            /* What is found may be refused. What is not there ends the loader first, or as well. */
            startup_trial_objects(&loading, 0, loader_sim_startup(&loading));
        if (!start->only_reason && is_relevant(&loading, start->end))
            source = make(&loading, start);
        else if (start->end == STARTUP_REFUSED)
            print_missing(&loading, reason);
        loader_sim_end(&loading);
    }
    library_cache_end(&library_cache);
    return source;
}
