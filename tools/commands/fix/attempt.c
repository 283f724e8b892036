/* SPDX-License-Identifier: Apache-2.0 */
#include "fix.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/commands/child.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/memory.h"
#include "tools/util/terminal.h"

/* ---- the sandbox ---- */

/* This process, and what it starts, with changes to directories that no other process sees: a mount
 * namespace with overlayfs over them, else with copies over them; where no namespace can be
 * created, copies in front of them by variables. overlayfs, namespaces:
 * Documentation/filesystems/overlayfs.rst, user_namespaces(7). */
#define SANDBOX_PLACES 16
#define WRITABLE_MOST (2 * SANDBOX_PLACES + 8)
#define EXIT_LOST 126

struct sandbox {
    const char *work; /* what is thrown away, below which all changes go */
    enum { SANDBOX_NONE, SANDBOX_COVERS, SANDBOX_COPIES } how;
    bool of_user; /* the namespace has users of its own */
    char *places[SANDBOX_PLACES];
    size_t n;
};

/* ---- the namespace ---- */

static bool write_into(const char *path, const char *text) {
    OWNED_FD int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* A status: 0 is well. */
static int enter_namespace(void *of_user) {
    OWNED char *users = must_format("%u %u 1", geteuid(), geteuid());
    OWNED char *groups = must_format("%u %u 1", getegid(), getegid());

    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return 1;
        *(bool *)of_user = true;
        /* The same user and group as before: a command is to see no difference. */
        if (!write_into("/proc/self/uid_map", users) ||
            !write_into("/proc/self/setgroups", "deny") ||
            !write_into("/proc/self/gid_map", groups))
            return 1;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0;
}

/* ---- over a directory ---- */

static int open_below(int directory, const char *name) {
    if (mkdirat(directory, name, S_IRWXU) != 0 && errno != EEXIST)
        return -1;
    return openat(directory, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* What holds the temporary directory may be an overlay itself, which cannot be on top of one:
 * in_memory. By descriptors: a path may have a comma or a colon. */
static bool mount_overlay(int place, int in, bool of_user, bool in_memory) {
    OWNED_FD int memory = in_memory ? open_below(in, "memory") : -1, room = -1;
    OWNED char *on = must_format("/proc/self/fd/%d", memory);
    OWNED char *options = NULL, *at = must_format("/proc/self/fd/%d", place);
    struct stat facts;

    if (in_memory && (memory < 0 || mount("whichcudnn", on, "tmpfs", 0, "mode=700") != 0))
        return false;
    room = in_memory ? open_below(in, "memory") : dup(in); /* what is on top now */
    OWNED_FD int upper = open_below(room, "upper");
    OWNED_FD int work = open_below(room, "work");
    options = must_format(
        "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d%s", place,
        upper, work, of_user ? ",userxattr" : "");
    return upper >= 0 && work >= 0 && fstat(place, &facts) == 0 &&
           fchmodat(room, "upper", facts.st_mode & 07777, 0) == 0 &&
           (geteuid() || fchownat(room, "upper", facts.st_uid, facts.st_gid, 0) == 0) &&
           mount("whichcudnn", at, "overlay", 0, options) == 0;
}

/* A hint where there is hardly any room left for the try; else "". An overlay on a full disk says
 * what it likes: an input/output error. */
static const char *sandbox_room(const struct sandbox *s) {
    return has_little_room(s->work, ROOM_LEAST)
               ? "; there is hardly any room left for the try (TMPDIR says where it is made)"
               : "";
}

static char *make_copy(const struct sandbox *s, const char *place, const char *copy) {
    if (is_within(s->work, place))
        return must_format("%s has the temporary directory %s in it, and cannot be copied there "
                           "(TMPDIR says where)",
                           place, s->work);
    OWNED char *trouble = copy_tree(place, copy);
    return trouble ? must_format("no copy in %s: %s%s", s->work, trouble, sandbox_room(s)) : NULL;
}

static char *cover(const struct sandbox *s, const char *place, const char *in) {
    OWNED char *copy = must_format("%s/copy", in), *here = getcwd(NULL, 0), *above = NULL;
    OWNED_FD int work = open(s->work, O_PATH | O_DIRECTORY | O_CLOEXEC);
    OWNED_FD int at = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC), below = -1;

    if (at < 0)
        return trouble_of(place);
    below = mkdir(in, S_IRWXU) == 0 ? open(in, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (below < 0)
        return trouble_of(in);
    if (!mount_overlay(at, below, s->of_user, false) &&
        !mount_overlay(at, below, s->of_user, true)) {
        char *trouble = make_copy(s, place, copy);
        if (trouble)
            return trouble;
        if (mount(copy, place, NULL, MS_BIND, NULL) != 0)
            return must_format("nothing can be put over %s: %s", place, strerror(errno));
    }
    /* An overlay shows nothing of what is mounted below its directory. */
    above = must_format("/proc/self/fd/%d", work);
    if (is_within(s->work, place) && mount(above, s->work, NULL, MS_BIND, NULL) != 0)
        return trouble_of(s->work);
    return here && chdir(here) != 0 ? trouble_of(here) : NULL;
}

/* ---- the process that makes the repair ---- */

/* Of linux/mount.h, which older systems do not have, nor goes with sys/mount.h everywhere. */
enum { MOUNT_SETATTR = 442, RECURSIVE = 0x8000, READ_ONLY = 1 };
struct attributes {
    uint64_t set, clear, propagation, user_namespace;
};

static bool set_attributes(const char *path, uint64_t set, uint64_t clear) {
    struct attributes a = {.set = set, .clear = clear};

    return syscall(MOUNT_SETATTR, AT_FDCWD, path, RECURSIVE, &a, sizeof(a)) == 0;
}

/* Becomes a mount of its own, which has its own attributes. All memory ends with exec. */
static void keep_writable(char **list, size_t *n, const char *path) {
    char *real = path ? realpath(path, NULL) : NULL;

    if (real && *n < WRITABLE_MOST && mount(real, real, NULL, MS_BIND | MS_REC, NULL) == 0)
        list[(*n)++] = real;
}

/* For what makes a repair, and not for the command itself: it can write there, and into its own
 * caches, and nowhere else, whatever its settings say (pip's `target`). It is in the child before
 * exec; sandbox is a struct sandbox. Where a kernel cannot do that (before 5.12) nothing happens.
 */
static void sandbox_guard(void *sandbox) {
    static const char *const named[] = {"XDG_CACHE_HOME", "PIP_CACHE_DIR", "UV_CACHE_DIR",
                                        "POETRY_CACHE_DIR", "CONDA_PKGS_DIRS"};
    const struct sandbox *s = sandbox;
    const char *home = getenv("HOME") ?: "";
    OWNED char *directory = getcwd(NULL, 0), *temporary = must_format("%s/tmp", s->work);
    OWNED char *usual = must_format("%s/.cache", home), *own = must_format("%s/cache", s->work);
    char *list[WRITABLE_MOST];
    size_t n = 0;

    if (s->how != SANDBOX_COVERS || unshare(CLONE_NEWNS) != 0)
        return;
    mkdir(temporary, S_IRWXU);
    /* What package managers download is worth keeping: it is wanted again. */
    WC_EACH_ROW(name, named)
        keep_writable(list, &n, getenv(*name));
    if (access(usual, W_OK) == 0)
        keep_writable(list, &n, usual);
    else
        setenv("XDG_CACHE_HOME", own, 0);
    keep_writable(list, &n, must_format("%s/.conda", home));
    for (size_t i = 0; i < s->n; i++) {
        keep_writable(list, &n, must_format("%s/../../pkgs", s->places[i])); /* BASE/envs/NAME */
        keep_writable(list, &n, s->places[i]);
    }
    /* pyenv, asdf and mise write their shims again after an installation, and fail if they cannot.
     */
    WC_EACH_ELEMENT(e, getenv("PATH"), ":") {
        OWNED char *shims = must_format("%.*s", (int)e.n, e.p);
        OWNED char *in = must_format("%s/shims-%zu", s->work, n);
        if (!wc_str_ends(shims, "/shims") || access(shims, W_OK) != 0)
            continue;
        OWNED char *trouble = cover(s, shims, in);
        if (!trouble)
            keep_writable(list, &n, shims);
    }
    keep_writable(list, &n, s->work);
    if (set_attributes("/", READ_ONLY, 0)) {
        for (size_t i = 0; i < n; i++)
            set_attributes(list[i], 0, READ_ONLY);
        setenv("TMPDIR", temporary, 1);
    }
    if (directory && chdir(directory) != 0)
        _exit(EXIT_LOST);
}

/* ---- copies in front ---- */

/* The text with each directory replaced by its copy: its whole name, and no longer one. NULL of
 * NULL; the caller frees. */
static char *sandbox_there(const struct sandbox *s, const char *text) {
    struct sink made;

    if (!text || s->how != SANDBOX_COPIES)
        return must_copy(text);
    for (FILE *out = sink_begin(&made); *text;) {
        char *const *place =
            WC_FIRST(p, WC_ITEMS(s->places, s->n),
                     wc_str_starts(text, *p) && !strspn(text + strlen(*p), ALPHANUMERIC "_-."));
        if (place)
            fprintf(out, "%s/%zu", s->work, (size_t)(place - s->places));
        else
            putc(*text, out);
        text += place ? strlen(*place) : 1;
    }
    return sink_end(&made);
}

/* Of a variable that is a list of directories: one before all others. */
static void sandbox_put_in_front(const char *variable, const char *directory) {
    const char *before = getenv(variable);
    OWNED char *list = must_format("%s%s%s", directory, before && *before ? ":" : "", before);

    setenv(variable, list, 1);
}

/* Programs of a virtual environment that is copied are its own, and find their packages there. */
static char *copy_in_front(const struct sandbox *s, const char *place, const char *copy) {
    static const char *const variables[] = {"PATH",        "PYTHONPATH",   "LD_LIBRARY_PATH",
                                            "VIRTUAL_ENV", "CONDA_PREFIX", "LD_PRELOAD"};
    OWNED char *programs = must_format("%s/bin", copy);
    char *trouble = make_copy(s, place, copy);

    WC_EACH_ROW(variable, variables) {
        OWNED char *there = sandbox_there(s, getenv(*variable));

        if (there)
            setenv(*variable, there, 1);
    }
    sandbox_put_in_front("PATH", programs);
    return trouble;
}

/* s all zero but `work`. From now on changes in this directory no other process sees; it may be
 * asked for more later. place: a real path, not below another one of them. NULL: done; else why
 * not, which the caller frees. */
static char *sandbox_cover(struct sandbox *s, const char *place) {
    OWNED char *name = must_format("%s/%zu", s->work, s->n);

    for (size_t i = 0; i < s->n; i++)
        if (is_within(place, s->places[i]))
            return NULL;
        else if (is_within(s->places[i], place)) /* it would be hidden */
            return must_format("%s is changed already", s->places[i]);
    if (s->n == SANDBOX_PLACES)
        return must_copy("too many directories would be changed");
    if (s->n == 0) {
        /* A process of its own finds out, as there is no way back. */
        ENDED_BY(trial_end) struct trial trial = {.instead = enter_namespace, .arg = &s->of_user};
        s->how = trial_run(&trial) && trial.status == 0 ? SANDBOX_COVERS : SANDBOX_COPIES;
        if (s->how == SANDBOX_COVERS && enter_namespace(&s->of_user) != 0)
            return must_format("cannot create a mount namespace: %s", strerror(errno));
    }
    s->places[s->n++] = must_copy(place);
    return s->how == SANDBOX_COVERS ? cover(s, place, name) : copy_in_front(s, place, name);
}

#define ROUNDS_MOST 4

struct stage { /* in the process of its own */
    const struct attempt *a;
    int told; /* its outcome, as JSON */
    struct heap_arena memory;
    struct sandbox sandbox;
    json_t *steps;
    char *keep;                                           /* the commands that make it permanent */
    const struct wc_finding_record *targets[ROUNDS_MOST]; /* the findings that are to go */
    enum wc_severity worst;                               /* of them */
    size_t rounds;
    struct job now; /* of the last round */
    int status;
    bool stopped; /* by a signal that ends processes */
};

/* ---- the repair ---- */

/* What may fail gives why it did, which the caller frees; NULL: it did not. */
static char *run_step(struct sandbox *s, const char *command) {
    char *arguments[] = {"sh", "-c", (char *)command, NULL};
    ENDED_BY(trial_end)
    struct trial t = {
        .program = "/bin/sh", .arguments = arguments, .prepare = sandbox_guard, .arg = s};

    fflush(NULL);
    if (!trial_run(&t))
        return must_format("no process can be made: %s", strerror(errno));
    if (WIFSIGNALED(t.status))
        return must_format("%s: ended by signal %d", command, WTERMSIG(t.status));
    if (t.status == 0)
        return NULL;
    const char *chosen = "";
    /* Its first line that says what went wrong, else the last. */
    for (const char *line = *t.errors ? t.errors : t.output; *line;
         line += strcspn(line, "\n"), line += *line == '\n') {
        if (line[strspn(line, " \t")] != '\n')
            chosen = line;
        if (strncasecmp(line, "error", 5) == 0 && line[strcspn(line, "\n") - 1] != ':')
            break;
    }
    return must_format("%s: status %d: %.*s%s", command, WEXITSTATUS(t.status),
                       (int)strcspn(chosen, "\n"), chosen, sandbox_room(s));
}

/* Python runs it before the first line of any program, and then whatever has that name elsewhere:
 * code that imports us requires a module of that name. */
static const char startup[] = "import sys\n"
                              "try:\n    %s\nexcept ImportError:\n    pass\n"
                              "sys.path = [p for p in sys.path if p != '%s']\n"
                              "own = sys.modules.pop('sitecustomize', None)\n"
                              "try:\n    import sitecustomize\nexcept ImportError:\n    pass\n"
                              "sys.modules.setdefault('sitecustomize', own)\n";

static char *do_step(struct stage *s, const struct step *step) {
    const struct edit *e = step->edit;

    if (step->kind == STEP_PYTHON) {
        OWNED char *directory = must_format("%s/python-%zu", s->sandbox.work, s->rounds);
        OWNED char *path = must_format("%s/sitecustomize.py", directory);
        FILE *to = mkdir(directory, S_IRWXU) == 0 || errno == EEXIST ? fopen(path, "ae") : NULL;
        if (!to || fprintf(to, startup, step->text, directory) < 0 || fclose(to) != 0)
            return trouble_of(path);
        sandbox_put_in_front("PYTHONPATH", directory);
    } else if (step->kind == STEP_COMMAND) {
        if (s->sandbox.how == SANDBOX_COPIES && e->environment)
            sandbox_put_in_front("PYTHONPATH", e->environment);
        return run_step(&s->sandbox, step->text);
    } else if (e->kind == EDIT_SET) {
        setenv(e->name, e->value, 1);
    } else {
        unsetenv(e->name);
    }
    return NULL;
}

static char *make_repair(struct stage *s, const struct repair *r) {
    struct wc_arena *memory = &s->memory.arena;
    const size_t n = r->edits.n;
    OWNED char *before = s->keep;
    char *trouble = NULL;
    struct steps steps;

    s->keep = must_format("%s%s%s", before, before ? ", then " : "", r->command ?: r->text);
    steps_make(&steps, memory, &r->edits, NULL);
    if (steps.why)
        return must_copy(steps.why);
    steps_json(&steps, memory, s->steps);
    for (size_t i = 0; i < steps.place_count && !trouble; i++)
        trouble = sandbox_cover(&s->sandbox, steps.places[i]);
    if (!trouble && s->sandbox.how == SANDBOX_COPIES) {
        /* The same edits, of the copies. */
        struct edit *moved = must_allocate((n + 1) * sizeof(*moved));
        for (size_t i = 0; i < n; i++) {
            moved[i] = r->edits.p[i];
            const char **texts[] = {&moved[i].path, &moved[i].target, &moved[i].environment,
                                    &moved[i].value};
            WC_EACH_ROW(text, texts)
                **text = sandbox_there(&s->sandbox, **text);
        }
        steps_make(&steps, memory, &(const struct edits){moved, n}, NULL);
    }
    for (size_t i = 0; i < steps.n && !trouble; i++)
        trouble = do_step(s, &steps.p[i]);
    return trouble;
}

/* ---- what came of it ---- */

/* "9.8.0, 9.1.0" of all processes; "": none was loaded. The caller frees. */
static char *versions_of(const struct job *j) {
    char *list = must_copy("");

    for (size_t i = 0; i < j->n; i++)
        WC_EACH(o, j->reports[i].source->stack.objects) {
            OWNED char *before = list;
            const bool is_new = o->r.role == WC_role_FACADE && o->r.mapped && o->r.version &&
                                !strstr(list, o->r.version);
            list = must_format("%s%s%s", before, is_new && *before ? ", " : "",
                               is_new ? o->r.version : "");
        }
    return list;
}

/* What the command lived with before: it was a warning then, whatever it is without the error. */
static bool was_outlived(const struct stage *s, const struct wc_finding_record *f) {
    return WC_ANY(row, s->a->before->found,
                  (*row)->finding->severity < WC_severity_ERROR &&
                      wc_str_same((*row)->finding->title, f->title));
}

static bool has_targets(const struct stage *s) {
    return WC_ANY(target, WC_ITEMS(s->targets, s->rounds),
                  WC_ANY(row, s->now.found,
                         strcmp((*row)->finding->id, (*target)->id) == 0 &&
                             (wc_str_same((*row)->finding->title, (*target)->title) ||
                              !was_outlived(s, (*row)->finding))));
}

static bool is_cured(const struct stage *s) {
    OWNED char *before = versions_of(s->a->before), *versions = versions_of(&s->now);
    const bool is_worse = WC_ANY(
        row, s->now.found,
        ((*row)->finding->severity >= WC_severity_ERROR && !was_outlived(s, (*row)->finding)) ||
            ((*row)->finding->severity >= s->worst &&
             !WC_ANY(old, s->a->before->found,
                     strcmp((*old)->finding->id, (*row)->finding->id) == 0)));

    if (is_worse || has_targets(s) || (*before && !*versions))
        return false;
    return s->status == 0 || (s->worst < WC_severity_ERROR && s->status == s->a->status_before);
}

static json_t *outcome(const struct stage *s, bool cures) {
    const bool in_front = s->sandbox.how == SANDBOX_COPIES;
    const struct wc_finding_record *first = s->now.found.n ? s->now.found.p[0]->finding : NULL;
    OWNED char *versions = versions_of(&s->now);
    OWNED char *more = s->now.found.n > 1 ? must_format(" and %zu more are", s->now.found.n - 1)
                                          : must_copy(" is");
    OWNED char *left =
        first ? must_format("%s[%s]%s left", wc_enum_word_raw(WC_ENUM_severity, first->severity),
                            first->id, more)
              : must_copy("no finding");
    OWNED char *words = must_format(
        "status %d, %s%s, %s%s", s->status, *versions ? "cuDNN " : "no cuDNN", versions, left,
        in_front ? " (with a copy in front: what has a whole path is not in it)" : "");

    return json_pack("{s:b, s:b, s:n, s:i, s:o, s:o, s:o, s:O, s:o, s:I}", "cures", cures,
                     "stopped", s->stopped, "trouble", "status", s->status, "cudnn",
                     text_to_json(*versions ? versions : NULL), "outcome", text_to_json(words),
                     "left", JSON_EACH(row, s->now.found, text_to_json((*row)->finding->id)),
                     "steps", s->steps, "keep", text_to_json(s->keep), "rounds",
                     (json_int_t)s->rounds);
}

/* Makes the repair of a row's finding, and watches the command with it. */
static char *play_round(struct stage *s, const struct summary_row *row, const struct repair *r) {
    char *trouble = make_repair(s, r), **words = NULL;
    size_t n = 0;

    if (trouble)
        return trouble;
    s->targets[s->rounds++] = row->finding;
    if (row->finding->severity > s->worst)
        s->worst = row->finding->severity;
    s->now = (struct job){.n = 0}; /* the one before has what this one points to */
    do /* words of the command may lie in a directory of which there is a copy */
        words = must_grow(words, (n + 1) * sizeof(*words));
    while ((words[n] = sandbox_there(&s->sandbox, s->a->command[n])) && ++n);
    s->status = input_observe(&s->now.in, words, s->sandbox.work);
    if (s->status < 0)
        return trouble_of(s->sandbox.work);
    job_make(&s->now);
    return NULL;
}

/* In the process of its own. */
static int play(void *arg) {
    struct stage *s = arg;
    const struct summary_row *row = s->a->row;
    const struct repair *repair = s->a->repair;
    char *trouble = mkdir(s->a->work, S_IRWXU) == 0 ? NULL : trouble_of(s->a->work);
    bool cures = false;

    while (repair && !trouble && !(trouble = play_round(s, row, repair))) {
        cures = is_cured(s);
        s->stopped = s->status == 128 + SIGINT || s->status == 128 + SIGTERM ||
                     s->status == 128 + SIGHUP || s->status == 128 + SIGQUIT;
        /* The next cause, where the last one is gone. In front of copies nothing but them could be
         * seen. */
        repair = !cures && !s->stopped && s->rounds < ROUNDS_MOST &&
                         s->sandbox.how != SANDBOX_COPIES && !has_targets(s)
                     ? job_best_repair(&s->now, false, &row)
                     : NULL;
        if (repair && row->finding->severity < WC_severity_WARNING)
            repair = NULL;
    }
    if (json_dumpfd(trouble ? json_pack("{s:b, s:o}", "cures", 0, "trouble", text_to_json(trouble))
                            : outcome(s, cures),
                    s->told, JSON_COMPACT) != 0)
        complain("the result of the try could not be reported: %s", strerror(errno));
    return 0;
}

/* ---- from without ---- */

json_t *attempt_make(const struct attempt *a) {
    struct stage s = {.a = a,
                      .told = memfd_create("whichcudnn", MFD_CLOEXEC),
                      .sandbox = {.work = a->work},
                      .steps = json_array()};
    const struct supervision with = {.instead = play, .arg = &s};
    struct child child = {.pid = 0};
    json_t *told = NULL;

    heap_arena_begin(&s.memory);
    if (s.told >= 0 && supervise(NULL, &with, &child) && lseek(s.told, 0, SEEK_SET) == 0)
        told = json_loadfd(s.told, 0, NULL);
    json_decref(s.steps);
    heap_arena_end(&s.memory);
    fd_end(&s.told);
    if (!told) {
        const bool killed = WIFSIGNALED(child.status);
        const int signal = killed ? WTERMSIG(child.status) : 0;
        OWNED char *trouble = killed ? must_format("it was ended by signal %d", signal)
                                     : must_copy("its end could not be determined");
        told = json_pack("{s:b, s:b, s:i, s:o}", "cures", 0, "stopped", killed, "status",
                         killed ? 128 + signal : 0, "trouble", text_to_json(trouble));
    }
    return told;
}
