/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack built record by record, as the shim or a log would, for tests of diagnose(). Versions are
 * drawn from a seed that each program prints, so that no test can be met by a literal in core/.
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_STACK_H
#define WHICHCUDNN_TESTS_SUPPORT_STACK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/model/status.h"
#include "core/names/compat.h"
#include "core/names/names.h"
#include "core/names/symbols.h"
#include "tools/diagnose/advice.h"
#include "tools/diagnose/verdict.h"

#define NOBODY WC_NULL

struct scene {
    unsigned char memory[1 << 20], scratch[64 << 10], text[128 << 10];
    size_t text_used;
    struct wc_buffer_arena kept, printed;
    struct wc_stack stack;
    struct wc_findings found;
    int64_t seq, objects, requests;
};

__attribute__((unused)) static struct scene the_scene;

/* ---- drawing ---- */

__attribute__((unused)) static void seed_from_environment(void) {
    const char *given = getenv("WC_SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    print_message("# WC_SEED=%u\n", seed);
    srand(seed);
}

/* The verdict of what still runs, or never ran. */
__attribute__((unused)) static enum wc_verdict verdict_of(const struct wc_stack *s,
                                                          const struct wc_findings *f) {
    const struct wc_outside runs = {.end = WC_END_RUNS};
    struct wc_conclusion c;
    wc_conclude(s, f, &runs, NULL, &c);
    return c.verdict;
}

/* From low to high, both included. */
__attribute__((unused)) static int draw(int low, int high) {
    return low + rand() % (high - low + 1);
}

__attribute__((unused)) static struct wc_version version_of(int major, int minor, int patch) {
    return (struct wc_version){major, minor, patch, -1};
}

/* A release of a major with room for another one below and above in each field. */
__attribute__((unused)) static struct wc_version draw_release(int major) {
    return version_of(major, draw(2, major < 9 ? 8 : 90), draw(2, 90));
}

/* Another minor of the same major: older (-1) or newer (+1). */
__attribute__((unused)) static struct wc_version other_minor(struct wc_version v, int step) {
    int most = v.major < 9 ? 9 : 95;
    v.minor = step < 0 ? draw(0, v.minor - 1) : draw(v.minor + 1, most);
    v.patch = draw(1, 95); /* no release with a known defect */
    return v;
}

/* ---- text that lives as long as the scene ---- */

__attribute__((unused, format(printf, 2, 3))) static const char *print(struct scene *s,
                                                                       const char *format, ...) {
    char *to = (char *)s->text + s->text_used;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(to, sizeof s->text - s->text_used, format, arguments);
    va_end(arguments);
    assert_true(n >= 0 && (size_t)n < sizeof s->text - s->text_used);
    s->text_used += (size_t)n + 1;
    return to;
}

__attribute__((unused)) static const char *text_of(struct scene *s, struct wc_version v) {
    char buffer[WC_VERSION_TEXT];
    return print(s, "%s", wc_version_format(v, buffer));
}

/* ---- records ---- */

__attribute__((unused)) static struct scene *new_scene(void) {
    struct scene *s = &the_scene;
    memset(s->memory, 0, sizeof s->memory);
    wc_buffer_arena_begin(&s->kept, s->memory, sizeof s->memory);
    wc_stack_begin(&s->stack, &s->kept.arena);
    s->text_used = 0;
    s->seq = s->objects = s->requests = 0;
    s->found = (struct wc_findings){NULL, 0, 0};
    return s;
}

struct judged {
    unsigned char scratch[64 << 10];
    struct wc_buffer_arena memory;
    struct wc_findings found;
};

static void judge(struct judged *j, const struct scene *s) {
    wc_buffer_arena_begin(&j->memory, j->scratch, sizeof j->scratch);
    wc_diagnose_live(&s->stack, &j->memory.arena, &j->found);
}

static void assert_same_findings(const struct wc_findings *a, const struct wc_findings *b) {
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_string_equal(a->p[i].title, b->p[i].title);
        assert_int_equal(a->p[i].severity, b->p[i].severity);
        assert_int_equal(a->p[i].facts.n, b->p[i].facts.n);
        for (size_t k = 0; k < a->p[i].facts.n; k++)
            assert_string_equal(a->p[i].facts.p[k].value, b->p[i].facts.p[k].value);
    }
}

__attribute__((unused)) static void apply(struct scene *s, struct wc_record *r) {
    static struct judged before, after;
    bool changes = wc_changes_findings(r);
    r->seq = ++s->seq;
    r->pid = r->tid = 4711;
    if (!changes)
        judge(&before, s);
    assert_true(wc_stack_apply(&s->stack, r));
    if (changes)
        return;
    judge(&after, s);
    assert_same_findings(&before.found, &after.found);
}

__attribute__((unused)) static struct wc_record begin(enum wc_kind kind) {
    struct wc_record r;
    wc_record_begin(&r, kind);
    return r;
}

struct file {
    enum wc_role role;
    const char *path;
    const char *soname; /* NULL: the file's name */
    const char *part;
    struct wc_version version; /* NONE: unknown */
    enum wc_version_source source;
    const char *floor, *ceiling;
    const char *installation, *installation_version, *installation_path;
    enum wc_installation_kind kind;
    int64_t asked_by;       /* object number or NOBODY */
    const char *asked_path; /* who asked, where that is none of the objects */
    const char *asked_name; /* NULL: the SONAME */
    enum wc_operation how;
    bool unmapped, is_host;
    const char *needed;    /* one DT_NEEDED */
    int64_t inode, device; /* 0: of its own, on the one device */
    const char *build_id, *framework;
    const char *mount; /* of a container */
};

/* Returns the number of the new object. */
__attribute__((unused)) static int64_t add_file(struct scene *s, const struct file *f) {
    struct wc_record r = begin(WC_KIND_object);
    struct wc_object_record *o = &r.u.object;
    const struct wc_object *by = wc_stack_object(&s->stack, f->asked_by);
    char version[WC_VERSION_TEXT];
    o->object = ++s->objects;
    o->build_id = f->build_id;
    o->framework = f->framework;
    o->mount = f->mount;
    o->role = f->role;
    o->is_host = f->is_host || f->role == WC_role_HOST;
    o->part = f->part;
    o->mapped = !f->unmapped;
    o->path = o->real_path = f->path;
    o->soname = f->soname ? f->soname : wc_base_name(f->path);
    o->asked_name = f->asked_name ? f->asked_name : o->soname;
    o->device = f->device ? f->device : 1;
    o->inode = f->inode ? f->inode : 1000 + o->object;
    if (wc_version_known(f->version)) {
        o->version = wc_version_format(f->version, version);
        o->version_source = f->source;
    }
    o->version_floor = f->floor;
    o->version_ceiling = f->ceiling;
    o->installation = f->installation;
    o->installation_version = f->installation_version;
    o->installation_path = f->installation_path;
    o->installation_kind = f->kind;
    o->asked_by_object = f->asked_by;
    o->asked_by = by ? by->r.path : f->asked_path;
    o->asked_how = f->how;
    o->request = f->how == WC_operation_DLOPEN ? ++s->requests : WC_NULL;
    o->needed.p = &f->needed;
    o->needed.n = f->needed != NULL;
    apply(s, &r);
    return o->object;
}

/* The facade of that version in a directory, with its version read from the file. */
__attribute__((unused)) static int64_t add_facade(struct scene *s, const char *directory,
                                                  struct wc_version v, int64_t asked_by) {
    struct file f = {.role = WC_role_FACADE,
                     .path = print(s, "%s/libcudnn.so.%d", directory, v.major),
                     .version = v,
                     .source = WC_version_source_ASKED_NAMES,
                     .asked_by = asked_by,
                     .how = WC_operation_DLOPEN};
    return add_file(s, &f);
}

/* A part that the facade asked for. version NONE: it carries no number. */
__attribute__((unused)) static int64_t add_part(struct scene *s, const char *directory,
                                                const char *part, struct wc_version v,
                                                int64_t facade) {
    const struct wc_object *by = wc_stack_object(&s->stack, facade);
    int major = by ? by->version.major : v.major;
    struct file f = {.role = WC_role_PART,
                     .path = print(s, "%s/libcudnn_%s.so.%d", directory, part, major),
                     .part = part,
                     .version = v,
                     .source = WC_version_source_DATA_SYMBOL,
                     .asked_by = facade,
                     .how = WC_operation_DLOPEN};
    return add_file(s, &f);
}

__attribute__((unused)) static int64_t add_host(struct scene *s, const char *path) {
    struct file f = {.role = WC_role_HOST, .path = path, .asked_by = NOBODY};
    return add_file(s, &f);
}

struct bought {
    enum wc_installation_kind kind;
    const char *name, *version, *path, *environment;
    const char *missing[4], *changed[4], *foreign[4], *shared_with[2];
    int64_t files;
};

__attribute__((unused)) static struct wc_strings strings_in(const char *const *p, size_t most) {
    struct wc_strings s = {p, 0};
    while (s.n < most && p[s.n])
        s.n++;
    return s;
}

__attribute__((unused)) static void add_package(struct scene *s, const struct bought *b) {
    struct wc_record r = begin(WC_KIND_package);
    struct wc_package_record *p = &r.u.package;
    p->installation_kind = b->kind;
    p->package = b->name;
    p->package_version = b->version;
    p->installation_path = b->path;
    p->prefix = b->environment;
    p->list = print(s, "%s/%s-%s.dist-info/RECORD", b->environment, b->name, b->version);
    p->file_count = b->files;
    p->missing = strings_in(b->missing, 4);
    p->changed = strings_in(b->changed, 4);
    p->foreign = strings_in(b->foreign, 4);
    p->shared_with = strings_in(b->shared_with, 2);
    p->missing_count = (int64_t)p->missing.n;
    p->package_state = p->missing.n ? WC_package_state_INCOMPLETE
                       : p->changed.n || p->foreign.n || p->shared_with.n
                           ? WC_package_state_MIXED
                           : WC_package_state_COMPLETE;
    apply(s, &r);
}

struct sought {
    const char *name;
    int64_t by;     /* object number */
    int64_t object; /* NOBODY: nothing was found, for the last request */
    enum wc_search_rule rule;
    const char *element, *of, *takes;
    const char *searched[4];
    const char *later_path, *later_takes;
};

/* Returns the number of the search. */
__attribute__((unused)) static int64_t add_search(struct scene *s, const struct sought *f) {
    struct wc_record r = begin(WC_KIND_search);
    const struct wc_object *by = wc_stack_object(&s->stack, f->by);
    r.u.search.search = (int64_t)s->stack.searches.n + 1;
    r.u.search.name = f->name;
    r.u.search.caller_object = f->by;
    r.u.search.caller = by ? by->r.path : NULL;
    r.u.search.request = f->object == NOBODY ? s->requests : WC_NULL;
    r.u.search.object = f->object;
    r.u.search.rule = f->rule;
    r.u.search.element = f->element;
    r.u.search.of = f->of;
    r.u.search.takes = f->takes;
    r.u.search.later_path = f->later_path;
    r.u.search.later_takes = f->later_takes;
    r.u.search.searched = strings_in(f->searched, 4);
    apply(s, &r);
    return r.u.search.search;
}

struct beside {
    const char *path;
    enum wc_search_rule rule;
    const char *element;
    bool passed_over;
    enum wc_file_state state; /* UNKNOWN: it fits */
    struct wc_version version;
    const char *of, *installation;
    enum wc_installation_kind kind;
};

__attribute__((unused)) static void add_beside(struct scene *s, int64_t search,
                                               const struct beside *b) {
    struct wc_record r = begin(WC_KIND_candidate);
    struct wc_candidate_record *c = &r.u.candidate;
    c->search = search;
    c->path = c->real_path = b->path;
    c->rule = b->rule;
    c->element = b->element;
    c->of = b->of;
    c->installation = b->installation;
    c->installation_kind = b->kind;
    c->beaten = !b->passed_over;
    c->file_state = b->state ? b->state : WC_file_state_FITS;
    if (b->version.major > 0) {
        c->version = text_of(s, b->version);
        c->version_source = WC_version_source_ASKED_NAMES;
    }
    apply(s, &r);
}

struct want {
    int64_t host;
    enum wc_demand_kind kind;
    const char *spec, *package, *built, *rule, *framework, *framework_version, *source,
        *source_path;
    const char *newest[4];
    int64_t functions;
    const char *host_path; /* where the host is no object */
};

__attribute__((unused)) static void add_demand(struct scene *s, const struct want *w) {
    struct wc_record r = begin(WC_KIND_demand);
    struct wc_demand_record *d = &r.u.demand;
    const struct wc_object *host = wc_stack_object(&s->stack, w->host);
    d->host = w->host;
    d->host_path = host ? host->r.path : w->host_path;
    d->demand_kind = w->kind;
    d->spec = w->spec;
    d->package = w->package;
    d->built = w->built;
    d->compatibility_rule = w->rule;
    d->framework = w->framework;
    d->framework_version = w->framework_version;
    d->source = w->source;
    d->source_path = w->source_path;
    d->function_count = w->functions ? w->functions : WC_NULL;
    d->newest_functions.p = w->newest;
    while (d->newest_functions.n < 4 && w->newest[d->newest_functions.n])
        d->newest_functions.n++;
    apply(s, &r);
}

__attribute__((unused)) static void add_binding(struct scene *s, int64_t host, int64_t target,
                                                enum wc_binding_how how,
                                                const char *const *functions, size_t n) {
    struct wc_record r = begin(WC_KIND_binding);
    const struct wc_object *to = wc_stack_object(&s->stack, target);
    r.u.binding.host = host;
    r.u.binding.host_path = wc_stack_object(&s->stack, host)->r.path;
    r.u.binding.target = target;
    r.u.binding.target_path = to ? to->r.path : NULL;
    r.u.binding.how = how;
    r.u.binding.functions.p = functions;
    r.u.binding.functions.n = n;
    apply(s, &r);
}

/* A dlopen that failed. text NULL: inferred. by_path: where the caller is none of the objects. */
__attribute__((unused)) static void add_failure(struct scene *s, int64_t by, const char *by_path,
                                                const char *name, const char *text) {
    struct wc_record r = begin(WC_KIND_failure);
    const struct wc_object *caller = wc_stack_object(&s->stack, by);
    r.u.failure.request = ++s->requests;
    r.u.failure.operation = WC_operation_DLOPEN;
    r.u.failure.name = name;
    r.u.failure.caller_object = by;
    r.u.failure.caller = caller ? caller->r.path : by_path;
    r.u.failure.text = text;
    r.u.failure.inferred = !text;
    apply(s, &r);
}

struct looked_at {
    const char *path;
    enum wc_file_fault fault;
    const char *what, *link, *soname, *version;
    enum wc_version_source version_source;
    int64_t size;
    enum wc_installation_kind kind;
    const char *installation, *installation_version;
};

/* What was seen of a file when the last request failed; its failure is told behind it. */
__attribute__((unused)) static void add_looked_at(struct scene *s, const struct looked_at *l) {
    struct wc_record r = begin(WC_KIND_file);
    struct wc_file_record *f = &r.u.file;
    f->request = s->requests + 1;
    f->path = f->real_path = l->path;
    f->link = l->link;
    f->fault = l->fault;
    f->content = l->what;
    f->soname = l->soname;
    f->version = l->version;
    f->version_source = l->version_source;
    f->size = l->size;
    f->installation_kind = l->kind;
    f->installation = l->installation;
    f->installation_version = l->installation_version;
    apply(s, &r);
}

__attribute__((unused)) static const char *not_found(struct scene *s, const char *name) {
    return print(s, "%s: cannot open shared object file: No such file or directory", name);
}

/* cuDNN asks for a part by each name that it knows; none is there. */
/* How it ended; signal NULL: with that status. */
__attribute__((unused)) static void add_outcome(struct scene *s, int64_t status,
                                                const char *signal) {
    struct wc_record r = begin(WC_KIND_outcome);
    r.u.outcome.ending = signal ? WC_ending_SIGNALED : WC_ending_EXITED;
    r.u.outcome.signal_name = signal;
    r.u.outcome.exit_status = signal ? WC_NULL : status;
    apply(s, &r);
}

__attribute__((unused)) static void add_failed_part(struct scene *s, int64_t facade,
                                                    const char *part, struct wc_version v,
                                                    size_t names) {
    const char *name[] = {
        print(s, "libcudnn_%s.so.%d.%d.%d", part, v.major, v.minor, v.patch),
        print(s, "libcudnn_%s.so.%d.%d", part, v.major, v.minor),
        print(s, "libcudnn_%s.so.%d", part, v.major),
        print(s, "libcudnn_%s.so", part),
    };
    for (size_t i = v.major < 9 ? 2 : 0; i < (v.major < 9 ? 3 : names); i++)
        add_failure(s, facade, NULL, name[i], not_found(s, name[i]));
}

__attribute__((unused)) static struct wc_record call_record(struct scene *s, const char *function,
                                                            int64_t host, int64_t target) {
    struct wc_record r = begin(WC_KIND_call);
    const struct wc_object *from = wc_stack_object(&s->stack, host);
    const struct wc_object *to = wc_stack_object(&s->stack, target);
    r.u.call.function = function;
    r.u.call.phase = WC_phase_BEFORE;
    r.u.call.host = host;
    r.u.call.host_path = from ? from->r.path : NULL;
    r.u.call.target = target;
    r.u.call.target_path = to ? to->r.path : NULL;
    return r;
}

__attribute__((unused)) static void add_call_before(struct scene *s, const char *function,
                                                    int64_t host, int64_t target) {
    struct wc_record r = call_record(s, function, host, target);
    apply(s, &r);
}

__attribute__((unused)) static void add_call(struct scene *s, const char *function, int64_t host,
                                             int64_t target, int64_t status, int64_t version) {
    struct wc_record r = call_record(s, function, host, target);
    r.u.call.phase = WC_phase_AFTER;
    r.u.call.status = status;
    r.u.call.status_name = status == WC_NULL ? NULL : wc_status_name(status, -1);
    r.u.call.returned_version = version;
    apply(s, &r);
}

__attribute__((unused)) static void add_machine(struct scene *s, const char *driver, int64_t gpus) {
    struct wc_record r = begin(WC_KIND_machine);
    r.u.machine.driver = driver;
    r.u.machine.gpu_devices = gpus;
    apply(s, &r);
}

__attribute__((unused)) static void add_variable(struct scene *s, const char *variable) {
    const char *variables[] = {"CUDA_HOME=/usr/local/cuda", "LD_LIBRARY_PATHS=/no", variable};
    struct wc_record r = begin(WC_KIND_process);
    r.u.process.environment.p = variables;
    r.u.process.environment.n = 3;
    apply(s, &r);
}

__attribute__((unused)) static void add_blind(struct scene *s, const char *what, const char *why) {
    struct wc_record r = begin(WC_KIND_unobserved);
    r.u.unobserved.what = what;
    r.u.unobserved.why = why;
    apply(s, &r);
}

/* ---- looking at what comes out ---- */

__attribute__((unused)) static bool printable(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return false;
    return true;
}

/* What holds for every finding of every stack. */
__attribute__((unused)) static void assert_sound(const struct wc_findings *f) {
    for (size_t i = 0; i < f->n; i++) {
        const struct wc_finding_record *r = &f->p[i];
        size_t kinds, k = 0;
        const struct wc_finding_kind *kind = wc_finding_kinds(&kinds);
        while (k < kinds && strcmp(kind[k].id, r->id) != 0)
            k++;
        assert_true(k < kinds);
        assert_true(r->severity != WC_severity_NONE && r->severity <= kind[k].severity);
        assert_true(i == 0 || f->p[i - 1].severity >= r->severity);
        assert_true(r->title && *r->title && strlen(r->title) < 1000);
        assert_true(r->facts.n > 0);
        for (k = 0; k < r->facts.n; k++)
            assert_true(r->facts.p[k].name && r->facts.p[k].value);
        bool cause = !r->explained_by;
        for (k = 0; !cause && k < i; k++)
            cause = strcmp(f->p[k].id, r->explained_by) == 0;
        assert_true(cause);
    }
}

/* A copy that ends where memory ends: who reads on, dies. At most eight; made anew by each
 * diagnose.
 */
__attribute__((unused)) static void *at_an_end(int which, const void *p, size_t n) {
    static struct {
        char *p;
        size_t size;
    } copies[8];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (n + page - 1) / page * page + page;
    if (copies[which].p)
        munmap(copies[which].p, copies[which].size);
    copies[which].size = size;
    copies[which].p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(copies[which].p != MAP_FAILED);
    assert_int_equal(mprotect(copies[which].p + size - page, page, PROT_NONE), 0);
    char *copy = copies[which].p + size - page - n;
    if (n)
        memcpy(copy, p, n);
    return copy;
}

__attribute__((unused)) static void diagnose(struct scene *s) {
    struct wc_stack stack = s->stack;
#define AT_AN_END(i, list)                                                                         \
    stack.list.p = at_an_end(i, stack.list.p, stack.list.n * sizeof *stack.list.p)
    AT_AN_END(0, objects);
    AT_AN_END(1, demands);
    AT_AN_END(2, bindings);
    AT_AN_END(3, failures);
    AT_AN_END(4, calls);
    AT_AN_END(5, unobserved);
    AT_AN_END(6, files);
    AT_AN_END(7, packages);
#undef AT_AN_END
    memset(s->scratch, 0, sizeof s->scratch);
    wc_buffer_arena_begin(&s->printed, s->scratch, sizeof s->scratch);
    wc_fill_columns(&s->stack);
    wc_diagnose(&stack, &s->printed.arena, &s->found);
    assert_int_equal(s->found.lost, 0);
    assert_sound(&s->found);
}

/* For a failed assertion: everything that was printed. */
__attribute__((unused)) static void print_findings(const struct scene *s) {
    for (size_t i = 0; i < s->found.n; i++) {
        const struct wc_finding_record *r = &s->found.p[i];
        print_message("#   %s %s: %s [%s]\n", wc_enum_word(WC_ENUM_severity, r->severity), r->id,
                      r->title, r->explained_by ? r->explained_by : "");
        for (size_t k = 0; k < r->facts.n; k++)
            print_message("#     %s: %s (%s)\n", r->facts.p[k].name, r->facts.p[k].value,
                          r->facts.p[k].source ? r->facts.p[k].source : "");
    }
}

/* ids: "a b c", in this order; "" for nothing. */
__attribute__((unused)) static void assert_finds(struct scene *s, const char *ids) {
    char found[1024] = "";
    diagnose(s);
    for (size_t i = 0; i < s->found.n; i++) {
        strcat(found, i ? " " : "");
        strcat(found, s->found.p[i].id);
    }
    if (strcmp(found, ids) != 0)
        print_findings(s);
    assert_string_equal(found, ids);
}

__attribute__((unused)) static const struct wc_finding_record *finding(const struct scene *s,
                                                                       const char *id) {
    for (size_t i = 0; i < s->found.n; i++)
        if (strcmp(s->found.p[i].id, id) == 0)
            return &s->found.p[i];
    return NULL;
}

/* Does one of the finding's facts of that name have this in its value? */
__attribute__((unused)) static bool has_fact(const struct wc_finding_record *r, const char *name,
                                             const char *in_value) {
    for (size_t i = 0; r && i < r->facts.n; i++)
        if (strcmp(r->facts.p[i].name, name) == 0 && r->facts.p[i].value &&
            strstr(r->facts.p[i].value, in_value))
            return true;
    return false;
}

/* Where its first fact of that name stands. */
__attribute__((unused)) static size_t fact_index(const struct wc_finding_record *r,
                                                 const char *name) {
    size_t i = 0;
    while (i < r->facts.n && strcmp(r->facts.p[i].name, name) != 0)
        i++;
    assert_true(i < r->facts.n);
    return i;
}

/* What is said of it where nothing that was played repairs it. */
__attribute__((unused)) static void assert_advised(struct scene *s,
                                                   const struct wc_finding_record *r,
                                                   const char *action, const char *in_text) {
    struct advice advice = advice_for(&s->stack, r, false, &s->printed.arena);
    assert_string_equal(action_rows[advice.action].word, action);
    if (!strstr(advice.text, in_text))
        fail_msg("\"%s\" should be in: %s", in_text, advice.text);
}

__attribute__((unused)) static const char *rule_of(const char *framework, const char *version) {
    struct wc_version v = WC_VERSION_NONE;
    wc_version_parse(version, strlen(version), &v);
    return wc_rule_name(wc_rule_of_framework(framework, v));
}

#endif
