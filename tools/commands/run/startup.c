/* SPDX-License-Identifier: Apache-2.0 */
#include "startup.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/names/names.h"
#include "outcome.h"
#include "shell_script.h"
#include "startup_trial.h"
#include "tools/commands/last_request.h"
#include "tools/observe/log/first_records.h"
#include "tools/observe/not_preloadable.h"
#include "tools/util/program.h"

#define VERSION_STATUS 1 /* the same for lack of a symbol version */

struct startup {
    const char *program;
    char *const *environment;
    int64_t child;
    int64_t status; /* it is the loader's; -1: it ended otherwise, or that is not known */
    bool any;       /* its script failed, with a status of its own */
    bool damage;    /* by a signal: of pages that a file does not have, or tables that are zeros */
    bool goes_on;   /* the script did: this end was not seen */
};

/* ---- records ---- */

struct writing {
    struct source *source;
    bool written; /* the file is there, and has all so far */
};

/* The first record begins the file. */
static void add(void *ctx, struct wc_record *r) {
    struct writing *w = ctx;
    const bool is_first = r->kind == WC_KIND_process;

    source_add(w->source, r);
    if (!w->source->path[0] || !(is_first || w->written))
        return;
    w->written = outcome_write(w->source->path, is_first, NULL, r);
    if (!is_first && !w->written)
        complain("%s: %s", w->source->path, strerror(errno));
}

static struct source *make(struct loader_sim *loading, const struct startup *start,
                           const char *path) {
    struct writing w = {source_new(SOURCE_LOG, path ? path : ""), false};
    struct loader_sim_emitter emitter = {.to = {add, &w}};
    OWNED char *real = realpath(start->program, NULL);
    const struct first_records first = {NULL, real ? real : start->program, gnu_get_libc_version(),
                                        loading->environment, start->child};

    w.source->pid = start->child;
    first_records_emit(&first, &emitter.to);
    loader_sim_emit(loading, &emitter);
    loader_sim_emitter_end(&emitter);
    return w.source;
}

/* ---- the replay ---- */

static bool has_part_of_cudnn(const struct loader_sim *s, const struct startup *start) {
    bool works_with_cudnn = false;

    for (size_t i = 0; i < s->n; i++)
        works_with_cudnn = works_with_cudnn || s->objects[i]->library->needs_cudnn;
    if (start->goes_on && !works_with_cudnn)
        return false;
    for (size_t i = 0; i < s->missing_count; i++) {
        const struct loader_sim_missing *m = &s->missing[i];
        const bool explains_end = start->goes_on || start->any ? start->any || !m->function
                                  : m->version && !m->function ? start->status == VERSION_STATUS
                                                               : start->status == LOADER_STATUS ||
                                                                     (m->damaged && start->damage);
        if ((wc_name_kind_of(m->name) != WC_NAME_OTHER || m->version || works_with_cudnn) &&
            m->how != WC_operation_DLOPEN && explains_end)
            return true;
    }
    return s->undefined && (start->any || start->status == LOADER_STATUS);
}

/* *reason: which library is missing, where the status is the loader's. The caller frees both. */
static struct source *replay(const struct startup *start, const char *path, char **reason) {
    struct source *source = NULL;
    struct library_cache library_cache;
    struct loader_sim s;

    library_cache_begin(&library_cache, NULL);
    if (loader_sim_begin(&s, &library_cache, start->program, start->environment, NULL)) {
        loader_sim_check_symbols(&s, true);
        /* What is found may be refused. What does not exist ends the loader first, or as well. */
        if (!has_part_of_cudnn(&s, start) && (start->any || start->status == LOADER_STATUS))
            startup_trial_objects(&s, 0, loader_sim_startup(&s));
        if (has_part_of_cudnn(&s, start))
            source = make(&s, start, path);
        if (start->status == LOADER_STATUS && !*reason) {
            OWNED char *why = loader_sim_why_ended(&s);
            *reason = why ? must_format("it ended in the loader: %s", why) : NULL;
        }
        loader_sim_end(&s);
    }
    library_cache_end(&library_cache);
    return source;
}

char *startup_missing(const struct wc_outcome_record *o, const char *program) {
    struct startup start = {.program = program, .status = LOADER_STATUS};
    struct source *source;
    char *missing = NULL;

    unsetenv("LD_PRELOAD");
    unsetenv("LD_LIBRARY_PATH");
    if (o->ending != WC_ending_EXITED || o->exit_status != LOADER_STATUS)
        return NULL;
    start.environment = environ;
    source = replay(&start, NULL, &missing);
    if (source)
        source_free(source);
    return missing;
}

/* program: which may be what a script started. logged: others of the command left logs, which say
 * how it fared. NULL: it did not end in the loader. */
static struct source *look_at(const struct run *run, const struct shell_program *program,
                              struct wc_record *r, bool logged, char **reason) {
    struct wc_outcome_record *o = &r->u.outcome;
    const int64_t status = o->ending == WC_ending_EXITED ? o->exit_status : -1;
    const bool goes_on = status == 0 || (logged && status > 0);
    const bool any = !goes_on && program->by_script && status > 0;
    const struct startup start = {.program = program->path,
                                  .environment = program->environment,
                                  .child = o->child,
                                  .status = goes_on || any ? -1 : status,
                                  .any = any,
                                  .damage = o->ending == WC_ending_SIGNALED &&
                                            (o->signal == SIGBUS || o->signal == SIGSEGV),
                                  .goes_on = goes_on};
    const bool may_be =
        goes_on ? program->passed_over || (logged && program->by_script && status == LOADER_STATUS)
                : any || status == LOADER_STATUS || status == VERSION_STATUS ||
                      (start.damage && !logged);
    OWNED char *path = outcome_path(&run->place, o->child);
    struct source *source = may_be ? replay(&start, path, reason) : NULL;

    if (!source)
        return NULL;
    o->reason = goes_on ? "what a script started ended in the loader, before anything of it ran, "
                          "and the script went on: this is what its files and the script say"
                : program->by_script
                    ? "what a script started ended in the loader, before anything of it ran: this "
                      "is what its files and the script say"
                    : "it ended in the loader, before anything of it ran: this is what its files "
                      "say";
    if (goes_on) {
        o->ending = WC_ending_UNKNOWN;
        o->exit_status = WC_NULL;
    }
    outcome_add(source, r);
    return source;
}

struct source *startup_source(struct run *run, struct wc_record *outcome, bool logged,
                              char **reason) {
    const struct family *family = &run->live.family;
    struct source *source = NULL;
    struct shell_programs programs;
    bool is_known;

    setenv("LD_PRELOAD", run->preload, 1);
    shell_programs_of(&programs, run->words, environ);
    run->unsure = programs.unsure;
    is_known = WC_ANY(p, programs, p->by_script && family_is_last(family, p->path));
    for (size_t i = 0; i < programs.n && !source; i++)
        if (!is_known || family_is_last(family, programs.p[i].path))
            source = look_at(run, &programs.p[i], outcome, logged, reason);
    shell_programs_end(&programs);
    return source;
}
