/* SPDX-License-Identifier: Apache-2.0 */
#include "startup.h"

#include <errno.h>
#include <fnmatch.h>
#include <gnu/libc-version.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/demand/questions.h"
#include "core/names/names.h"
#include "run.h"
#include "tools/diagnose/wheels.h"
#include "tools/observe/loader/loader_sim.h"
#include "tools/observe/preload.h"
#include "tools/util/disk.h"
#include "tools/util/program.h"
#include "trust.h"

#define VERSION_STATUS 1 /* as LOADER_STATUS, for lack of a symbol version */

/* ---- does the system let the loader have a file that it finds? ---- */

/* Others report what is not a library, or damaged. */
static int try_file(const char *path) {
    struct wc_file_check check;
    struct stat facts;

    /* A pipe would hold us up, and a device may do something when it is opened. */
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
        return 0;
    OWNED_FD int fd = disk_open(NULL, path, &facts);
    if (fd < 0)
        return errno == ENOENT ? 0 : errno;
    /* Contiguous, of the size for which the loader first takes room. */
    return wc_file_check(&disk_files, path, OWN_MACHINE, &check) && check.maps > 0 &&
                   mmap(NULL, check.maps, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED
               ? errno
               : 0;
}

static int try_files(void *arg) {
    const struct wc_strings *paths = arg;
    OWNED char *sizes = proc_text(getpid(), "statm", NULL);
    struct trial_end end = {0, 0};
    struct rlimit limit;

    /* The program was smaller than this command is: what this one has counts for nothing, as far as
     * its limits may be raised. */
    if (*sizes && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        limit.rlim_cur += strtoull(sizes, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
        limit.rlim_cur = MIN(limit.rlim_cur, limit.rlim_max);
        setrlimit(RLIMIT_AS, &limit);
    }
    for (size_t i = 0; i < paths->n && !end.error; i++)
        end = (struct trial_end){i, try_file(paths->p[i])};
    return write(STDOUT_FILENO, &end, sizeof(end)) != sizeof(end);
}

struct trial_end startup_trial(const char *const *paths, size_t n) {
    struct wc_strings list = {paths, n};
    ENDED_BY(trial_end) struct trial trial = {.instead = try_files, .arg = &list};
    struct trial_end end = {0, 0};

    if (n > 0 && trial_run(&trial))
        memcpy(&end, trial.output, sizeof(end)); /* zeros where nothing was written */
    return end;
}

/* The same of n objects of a replay, which ends at one that is refused. */
static void try_objects(struct loader_sim *s, size_t from, size_t n) {
    OWNED const char **paths = must_allocate((n + 1) * sizeof(*paths));

    for (size_t i = 0; i < n; i++)
        paths[i] = s->objects[from + i]->about.path;
    struct trial_end end = startup_trial(paths, n);
    if (end.error)
        loader_sim_refuse(s, from + end.number, end.error);
}

/* ---- a program as the loader would start it now ---- */

struct loading {
    char **environment; /* of a log; NULL */
    struct library_cache library_cache;
    struct loader_sim sim;
};

/* False: it cannot be replayed, and there is nothing to end. */
static bool begin(struct loading *l, const char *program, char *const *environment, char **owned) {
    l->environment = owned;
    library_cache_begin(&l->library_cache, NULL);
    if (program && loader_sim_begin(&l->sim, &l->library_cache, program, environment, NULL))
        return true;
    library_cache_end(&l->library_cache);
    free(owned);
    return false;
}

static bool begin_log(struct loading *l, const struct source *log) {
    const struct wc_strings *list = &log->stack.process.environment;
    char **environment = must_allocate((list->n + 1) * sizeof(*environment));
    size_t n = 0;

    WC_EACH(variable, *list)
        if (*variable)
            environment[n++] = (char *)*variable;
    return begin(l, log->stack.process.executable, environment, environment);
}

static void end(struct loading *l) {
    loader_sim_end(&l->sim);
    library_cache_end(&l->library_cache);
    free(l->environment);
}

/* ---- a last request ---- */

/* The numbers of what is there already are not given again. */
static void number_behind(struct loader_sim_emitter *t, const struct wc_stack *s,
                          int64_t last_request) {
    t->requests = MAX(last_request, 0);
    WC_EACH(f, s->failures)
        t->requests = MAX(t->requests, f->r.request);
    WC_EACH(search, s->searches)
        t->searches = MAX(t->searches, search->r.search);
}

/* A call that did not come back, of a function that a host imports and no library has: the loader
 * looks for it at the first call, and ends the process. */
static bool last_call_emit(const struct source *log, const struct wc_sink *to) {
    const struct wc_stack *s = &log->stack;
    const char *function = in_flight_last(&log->in_flight, NULL);

    const struct wc_binding *lazy =
        function ? WC_FIRST(b, s->bindings,
                            b->r.how == WC_binding_how_LAZY &&
                                WC_ANY(f, b->r.functions, wc_str_same(*f, function)))
                 : NULL;
    if (!lazy)
        return false;
    ENDED_BY(library_cache_end) struct library_cache cache;
    library_cache_begin(&cache, NULL);
    WC_EACH(o, s->objects) {
        struct library *of =
            o->r.mapped && o->r.path ? library_cache_get(&cache, o->r.path, NULL) : NULL;
        if (o->r.mapped && (!of || library_defines(&cache, of, function)))
            return false;
    }
    wc_emit_binding(to, &(struct wc_library){.number = lazy->r.host, .path = lazy->r.host_path},
                    NULL, WC_binding_how_UNDEFINED, &(struct wc_strings){&function, 1}, WC_NULL);
    return true;
}

bool last_request_emit(const struct source *log, bool binding, const struct wc_sink *to) {
    ENDED_BY(loader_sim_emitter_end) struct loader_sim_emitter t = {.to = *to};
    struct loading loading;
    struct loader_sim *g = &loading.sim;
    struct wc_record r;
    const struct wc_failure_record *last = &r.u.failure;
    struct trust trust = {.why = NULL};

    if (last_call_emit(log, to))
        return true;
    if (!in_flight_failure(&log->in_flight, &r) || !begin_log(&loading, log))
        return false;
    const struct loaded *by = g->program;
    if (last->caller && strcmp(last->caller, by->about.path) != 0)
        by = loader_sim_open(g, last->caller, NULL);
    size_t before = g->n;
    if (loader_sim_open(g, last->name, by ? by : g->program)) {
        /* What it would have loaded may be refused. The loader's words for that were not
         * requested, or not any more. A log from elsewhere has nothing mapped that is another
         * user's. */
        for (size_t i = before; i < g->n; i++)
            trust_path(&trust, g->objects[i]->about.path);
        if (!trust.why)
            try_objects(g, before, g->n - before);
        free(trust.why);
    }
    number_behind(&t, &log->stack, last->request);
    bool any = loader_sim_emit_some(g, &t, false);
    if (!any && binding) {
        WC_EACH(o, log->stack.objects) /* what others let it see */
            if (o->r.mapped && o->r.path)
                loader_sim_open(g, o->r.path, NULL);
        any = loader_sim_emit_unbound(g, &t, last);
    }
    end(&loading);
    return any;
}

/* The log's own lists grow as it is reported. */
void failed_requests_tell(const struct source *log, const struct wc_sink *to) {
    const struct wc_stack *s = &log->stack;
    ENDED_BY(loader_sim_emitter_end) struct loader_sim_emitter t = {.to = *to};
    const size_t n = s->failures.n;
    int64_t number = 0;
    struct loading loading;

    if (!n || !begin_log(&loading, log))
        return;
    number_behind(&t, s, 0);
    WC_EACH(o, s->objects)
        number = MAX(number, o->r.object);
    for (size_t i = 0; i < n; i++) {
        struct loader_sim *g = &loading.sim;
        const struct wc_failure *f = &s->failures.p[i];
        const struct wc_failure_record asked = f->r;
        const size_t objects = g->n;
        if (!wc_is_load(f) || !asked.name || (asked.text && !f->needs) ||
            WC_ANY(before, WC_ITEMS(s->failures.p, i), /* 1,000 modules that lack the same */
                   f->needs && wc_str_same(before->needs, f->needs) &&
                       wc_name_kind_of(f->needs) != WC_NAME_OTHER))
            continue;
        const struct wc_searched *search = wc_search_in_vain(s, f);
        const char *needer = search ? search->r.caller : NULL;
        const struct loaded *by = asked.caller ? loader_sim_open(g, asked.caller, NULL) : NULL;
        g->missing_from = g->missing.n;
        loader_sim_open(g, asked.name, by);
        number += loader_sim_emit_reason(g, &t, &asked, number + 1, needer);
        loader_sim_undo(g, objects);
    }
    end(&loading);
}

static void take_incomplete(void *to, struct wc_record *r) {
    const struct wc_sink *sink = to;

    if (r->u.package.missing_count > 0)
        sink->add(sink->ctx, r);
}

void own_packages_tell(const struct source *log, const struct wc_sink *to) {
    ENDED_BY(library_cache_end) struct library_cache cache;
    const struct wc_sink those = {take_incomplete, (void *)to};
    struct wc_environments told = {.cuda = true};
    struct elf_reader reader;
    struct stat facts;

    library_cache_begin(&cache, NULL);
    elf_reader_begin(&reader, &cache.disk);
    WC_EACH(f, log->stack.failures)
        if (f->r.name && wc_kind_is_ours(wc_name_kind_of(wc_missing_of(f))))
            wc_emit_packages(&those, &told, f->r.name[0] == '/' ? f->r.name : f->r.caller,
                             &reader.reader);
    told.cuda = false; /* what is not missed was left out on purpose, perhaps (slim images) */
    WC_EACH(o, log->stack.objects) /* of another mount namespace it may be another file */
        if (o->r.role == WC_role_FACADE && o->r.mapped && stat(o->r.path, &facts) == 0 &&
            (int64_t)facts.st_ino == o->r.inode)
            wc_emit_packages(&those, &told, wc_real_path_of(o), &reader.reader);
}

bool failed_requests_want_cudnn(const struct source *log) {
    struct loading loading;

    if (!log->stack.failures.n || !begin_log(&loading, log))
        return false;
    WC_EACH(f, log->stack.failures)
        if (f->r.name)
            loader_sim_open(&loading.sim, f->r.name, NULL);
    const bool any =
        WC_ANY(o, WC_ITEMS(loading.sim.objects, loading.sim.n), (*o)->about.role == WC_role_HOST);
    end(&loading);
    return any;
}

/* ---- what ended before anything of it ran ---- */

struct startup {
    const char *program;
    char *const *environment;
    uid_t user;
    int64_t child;
    int64_t status; /* it is the loader's; -1: it ended otherwise, or that is not known */
    bool by_loader; /* so is the status of the command, which may be that of its script */
    bool any;       /* its script failed, with a status of its own */
    bool damage;    /* by a signal: of pages that a file does not have, or tables that are zeros */
    bool goes_on;   /* the script did: this end was not seen */
    bool alone;     /* it failed, and nothing of it left a log */
};

static bool has_part_of_cudnn(const struct loader_sim *s, const struct startup *start) {
    const bool works_with_cudnn = WC_ANY(o, WC_ITEMS(s->objects, s->n), (*o)->library->needs_cudnn);

    if (start->goes_on && !works_with_cudnn)
        return false;
    WC_EACH(m, s->missing) {
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
    ENDED_BY(loader_sim_emitter_end) struct loader_sim_emitter emitter = {.n = 0};
    OWNED char *real = realpath(start->program, NULL);
    struct loading loading;
    struct loader_sim *s = &loading.sim;

    disk_as_user(start->user);
    if (!begin(&loading, start->program, start->environment, NULL)) {
        disk_as_self();
        return NULL;
    }
    loader_sim_check_symbols(s, true);
    /* What is found may be refused. What does not exist ends the loader first, or as well. */
    if (!has_part_of_cudnn(s, start) && (start->any || start->status == LOADER_STATUS))
        try_objects(s, 0, loader_sim_startup(s));
    const bool is_explained = has_part_of_cudnn(s, start);
    if (is_explained || start->alone) {
        source = source_new(SOURCE_LOG, path ? path : "");
        source->pid = start->child;
        source->user = start->user;
        source->keep_events = true;
        emitter.to = source_sink(source);
        first_records_emit(&emitter.to, NULL, real ? real : start->program, gnu_get_libc_version(),
                           s->environment, start->child);
        if (is_explained)
            loader_sim_emit(s, &emitter);
        else
            wheels_emit(start->program, &loading.library_cache.disk, &emitter.to);
        if (!is_explained &&
            !WC_ANY(p, source->stack.packages, p->r.package_state > WC_package_state_COMPLETE)) {
            source_free(source);
            source = NULL;
        }
    }
    if (start->by_loader && !*reason) {
        OWNED char *why = loader_sim_why_ended(s);
        *reason = why ? must_format("it ended in the loader: %s", why) : NULL;
    }
    end(&loading);
    disk_as_self(); /* the log is ours; its first record begins the file */
    for (size_t i = 0; source && source->path[0] && i < source->events.n; i++)
        if (!outcome_write(source->path, i == 0, NULL, &source->events.p[i])) {
            if (i > 0)
                complain("%s: %s", source->path, strerror(errno));
            break;
        }
    return source;
}

char *startup_missing(const struct wc_outcome_record *o, const char *program) {
    const struct startup start = {program, environ, geteuid(), .status = LOADER_STATUS,
                                  .by_loader = true};
    char *missing = NULL;

    unsetenv("LD_PRELOAD");
    unsetenv("LD_LIBRARY_PATH");
    if (o->ending != WC_ending_EXITED || o->exit_status != LOADER_STATUS)
        return NULL;
    source_end(&(struct source *){replay(&start, NULL, &missing)});
    return missing;
}

/* su, sudo and similar start the program as another user and wait for it. Others become the
 * program, which was looked at as it ended. */
static uid_t user_of(const struct run *run) {
    const bool waits =
        fnmatch("@(doas|runuser|su|sudo)", wc_base_name(run->words[0]), FNM_EXTMATCH) == 0;
    const struct passwd *named = NULL;

    for (char **w = run->words; waits && !named && *++w && (**w != '.' && **w != '/');) {
        named = getpwnam(*w);
        w += w[1] && fnmatch("@(-s|--shell)", *w, FNM_EXTMATCH) == 0;
    }
    return named ? named->pw_uid : run->live.family.last_user;
}

/* program: which may be what a script started. logged: others of the command left logs, which say
 * how it fared. NULL: it did not end in the loader. */
static struct source *look_at(const struct run *run, const struct shell_program *program,
                              struct wc_record *r, bool logged, char **reason) {
    struct wc_outcome_record *o = &r->u.outcome;
    const int64_t status = o->ending == WC_ending_EXITED ? o->exit_status : -1;
    const bool goes_on = status == 0 || (logged && status > 0);
    const bool any = !goes_on && program->by_script && status > 0;
    /* A probe, whose script takes another way where it fails. */
    const bool is_handled = status == 0 && program->is_tested && (logged || program->is_muted);
    const struct startup start = {.program = program->path,
                                  .environment = program->environment,
                                  .user = user_of(run),
                                  .child = o->child,
                                  .status = goes_on || any ? -1 : status,
                                  .any = any,
                                  .by_loader = status == LOADER_STATUS,
                                  .damage = o->ending == WC_ending_SIGNALED &&
                                            (o->signal == SIGBUS || o->signal == SIGSEGV),
                                  .goes_on = goes_on,
                                  .alone = status > 0 && !logged};
    const bool may_be =
        goes_on ? !is_handled && (program->passed_over ||
                                  (logged && program->by_script && status == LOADER_STATUS))
                : any || start.alone || (start.damage && !logged);
    const char *directory = loader_variable(program->environment, "PWD");
    OWNED char *given = outcome_path(&run->place, o->child), *here = get_current_dir_name();
    const bool leaves = given && given[0] != '/' && directory && !wc_str_same(directory, here);
    OWNED char *path = leaves ? must_format("%s/%s", here, given) : given ? must_copy(given) : NULL;
    struct source *source = NULL;

    if (may_be && (!directory || chdir(directory) == 0))
        source = replay(&start, path, reason);
    if (!here || chdir(here) != 0 || !source)
        return NULL;
    o->reason =
        source->stack.objects.n + source->stack.failures.n == 0
            ? "it asked for no cuDNN: this is what the lists of its Python's packages say"
        : status != LOADER_STATUS &&
                !strstr(loader_variable(program->environment, "LD_PRELOAD") ?: "", run->preload)
            ? "a script changes LD_PRELOAD, and what it started was not watched (it is, "
              "where that begins with $LD_PRELOAD:): this is what its files and the script say"
        : goes_on ? "what a script started ended in the loader, before anything of it ran, "
                    "and the script went on: this is what its files and the script say"
        : program->by_script
            ? "what a script started ended in the loader, before anything of it ran: this "
              "is what its files and the script say"
            : "it ended in the loader, before anything of it ran: this is what its files say";
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
    ENDED_BY(shell_programs_end) struct shell_programs programs;

    setenv("LD_PRELOAD", run->preload, 1);
    shell_programs_of(&programs, run->words, environ);
    run->unsure = programs.unsure;
    run->printed.in_turn = programs.in_turn && !programs.unsure && programs.n > 1 &&
                           !WC_ANY(p, programs, !p->by_script || p->passed_over);
    const bool is_known = WC_ANY(p, programs, p->by_script && family_is_last(family, p->path));
    for (size_t i = 0; i < programs.n && !source; i++)
        if (!is_known || family_is_last(family, programs.p[i].path)) {
            const struct shell_program *p = &programs.p[i];
            source = look_at(run, p, outcome, logged, reason);
            OWNED char *rights = source || *reason || logged ? NULL : unobserved_rights(p->path);
            if (rights && is_known) /* it is what the command became */
                *reason = must_format("%s%s", rights,
                                      loader_variable(p->environment, "LD_LIBRARY_PATH")
                                          ? ", and ignores LD_LIBRARY_PATH"
                                          : "");
        }
    /* Where the script does not show it, the loader's message names the program; and what the
     * program would find with LD_LIBRARY_PATH shows that it was started without. */
    OWNED char *stopped = run->printed.stopped && run->printed.name_cudnn
                              ? find_program(run->printed.stopped, getenv("PATH"))
                              : NULL;
    if (stopped) /* what the script sets for it is not known */
        setenv("WHICHCUDNN_RUN_UNSURE", "1", 1);
    for (int without = 0; stopped && without < 2 && !source; without++) {
        if (without)
            unsetenv("LD_LIBRARY_PATH");
        source = look_at(run, &(struct shell_program){stopped, environ, .by_script = true}, outcome,
                         logged, reason);
    }
    return source;
}
