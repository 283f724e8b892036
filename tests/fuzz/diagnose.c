/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/demand/diagnose.c, findings/, diagnosis/: the input builds a stack, record by record, as a
 * process or a hostile log could. Its records are plausible (a host, the facade that it asked for,
 * parts of it) before any of their fields is set to something else.
 */
#include <stdarg.h>

#include "core/demand/finding_text.h"
#include "core/model/status.h"
#include "core/names/compat.h"
#include "core/names/symbols.h"
#include "support_fuzz.h"
#include "tools/diagnose/verdict.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/memory.h"

enum { RECORDS = 48, TEXTS = 64, LISTS = 16, LIST = 6 };

struct maker {
    const uint8_t *p;
    size_t n;
    struct wc_stack stack;
    char texts[TEXTS][1600];
    const char *lists[LISTS][LIST];
    size_t text, list;
    int64_t seq, objects, requests;
};

static unsigned next(struct maker *m) {
    return m->n ? (m->n--, *m->p++) : 0;
}

static unsigned below(struct maker *m, unsigned n) {
    return next(m) % n;
}

__attribute__((format(printf, 2, 3))) static const char *print(struct maker *m, const char *format,
                                                               ...) {
    char *to = m->texts[m->text++ % TEXTS];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(to, sizeof *m->texts, format, arguments);
    va_end(arguments);
    return to;
}

static const char *a_version(struct maker *m) {
    static const char *const versions[] = {"9.1.0", "9.28.0", "8.9.7", "8.5.0",  "9.1.0.70",
                                           "9",     "8.9",    "7.6.5", "9.10.0", "9.10.2.21"};
    unsigned k = below(m, 14);
    return k < 10   ? versions[k]
           : k < 12 ? print(m, "%u.%u.%u", below(m, 12), next(m), next(m))
           : k < 13 ? NULL
                    : "9.1.x";
}

static const char *a_directory(struct maker *m) {
    static const char *const directories[] = {"/opt/cudnn",
                                              "/venv/lib/python3.12/site-packages/nvidia/cudnn/lib",
                                              "/usr/local/cuda/lib64",
                                              "/usr/lib/x86_64-linux-gnu",
                                              "",
                                              "/a'; reboot #",
                                              "/x\x1b[2J"};
    return directories[below(m, 7)];
}

static const char *a_library(struct maker *m) {
    static const char *const parts[] = {"_graph",     "_ops",
                                        "_cnn",       "_adv",
                                        "_ops_infer", "_cnn_infer",
                                        "_heuristic", "_engines_precompiled",
                                        "_adv_train", "_engines_tensor_ir"};
    unsigned major = 7 + below(m, 4), kind = below(m, 20);
    if (kind < 7)
        return print(m, "libcudnn.so.%u", major);
    if (kind < 17)
        return print(m, "libcudnn%s.so.%u%s", parts[kind - 7], major, next(m) & 64 ? ".1.0" : "");
    static const char *const others[] = {"libtorch_cuda.so",
                                         "libtorch_cpu.so",
                                         "libcuda.so.550.54.14",
                                         "libcublas.so.13",
                                         "libnvrtc.so.12",
                                         "libcudart.so.11.0",
                                         "libonnxruntime_providers_cuda.so",
                                         "libjax_common.so"};
    return kind == 17 ? "libcublasLt.so.12" : kind == 18 ? "libcuda.so.1" : others[below(m, 8)];
}

static const char *a_path(struct maker *m) {
    const char *directory = a_directory(m);
    return print(m, "%s/%s", directory, a_library(m));
}

static const char *a_function(struct maker *m) {
    static const char *const functions[] = {"cudnnCreate", "cudnnGetVersion",
                                            "cudnnBackendFinalize", "cudnnConvolutionForward"};
    unsigned k = next(m);
    return k < 128 ? functions[k % 4]
                   : wc_function_name((int)(k * 2 + next(m)) % wc_function_count());
}

static const char *a_text(struct maker *m) {
    unsigned k = below(m, 16);
    switch (k) {
    case 0:
        return NULL;
    case 1:
        return "";
    case 2:
        return a_version(m);
    case 3:
        return print(m, "==%s", a_version(m));
    case 4:
        return print(m, ">=%s,<%s", a_version(m), a_version(m));
    case 5:
        return print(m, "%s: cannot open shared object file: No such file or directory",
                     a_library(m));
    case 6:
        return print(m, "%s: undefined symbol: %s, version %s", a_path(m), a_function(m),
                     a_library(m));
    case 7:
        return print(m, "%s: symbol %s, version %s not defined in file %s with link time reference",
                     a_path(m), a_function(m), a_library(m), a_library(m));
    case 8:
        return print(m, "%s: version `%s' not found (required by %s)", a_path(m), a_library(m),
                     a_path(m));
    case 9:
        return print(m, "LD_LIBRARY_PATH=%s:%s", a_directory(m), a_directory(m));
    case 10:
        return print(m, "WHICHCUDNN_EXPECT=%s", a_version(m));
    case 11:
        return print(m, "/%0*d/%s", 1 + (int)(next(m) * 6), 7, a_library(m));
    case 12:
        return a_path(m);
    case 13:
        return a_library(m);
    case 14:
        return print(m, "%.*s", (int)(m->n < 40 ? m->n : 40), (const char *)m->p);
    default:
        return "torch";
    }
}

static int64_t a_number(struct maker *m) {
    static const int64_t extremes[] = {INT64_MAX, -1, 0,    1001,      1,     1002, 1008,
                                       14,        12, 2000, INT64_MIN, 90100, 3000, 4000};
    unsigned k = next(m);
    return k < 128 ? (int64_t)(k % 13) : extremes[k % 14];
}

static struct wc_strings a_list(struct maker *m, const char *(*each)(struct maker *)) {
    const char **list = m->lists[m->list++ % LISTS];
    size_t n = below(m, LIST + 1);
    for (size_t i = 0; i < n; i++) {
        list[i] = each(m);
        if (!list[i])
            list[i] = "";
    }
    return (struct wc_strings){list, n};
}

static void set_field(struct maker *m, struct wc_record *r) {
    size_t n;
    const struct wc_field *f = wc_kind_fields(r->kind, &n);
    f += below(m, (unsigned)n);
    void *value = (char *)&r->u + f->offset;
    switch (f->type) {
    case WC_FIELD_STR:
        *(const char **)value = a_text(m);
        break;
    case WC_FIELD_INT:
        *(int64_t *)value = a_number(m);
        break;
    case WC_FIELD_BOOL:
        *(bool *)value = next(m) & 1;
        break;
    case WC_FIELD_ENUM:
        *(unsigned *)value = below(m, wc_enum_count(f->enumeration));
        break;
    case WC_FIELD_STRS:
        *(struct wc_strings *)value = a_list(m, next(m) & 1 ? a_function : a_text);
        break;
    default:
        break;
    }
}

static int64_t an_object(struct maker *m) {
    return m->objects ? 1 + (int64_t)below(m, (unsigned)m->objects) : WC_NULL;
}

static void make_object(struct maker *m, struct wc_object_record *o) {
    static const char *const packages[] = {
        "nvidia-cudnn-cu12", "nvidia-cudnn-cu13", "libcudnn9", "cuda-12.4", "torch", "cudnn"};
    unsigned role = below(m, WC_role_COUNT);
    const char *name = a_library(m);
    const struct wc_object *by;
    o->object = next(m) & 15 ? ++m->objects : an_object(m);
    o->role = role;
    o->is_host = role == WC_role_HOST;
    o->mapped = (next(m) & 7) != 0;
    o->path = o->real_path = print(m, "%s/%s", a_directory(m), name);
    o->soname = o->asked_name = name;
    o->part = wc_str_starts(name, "libcudnn_")
                  ? print(m, "%.*s", (int)strcspn(name + 9, "."), name + 9)
                  : NULL;
    o->device = 1;
    o->inode = next(m);
    o->version = a_version(m);
    o->version_source = below(m, WC_version_source_COUNT);
    o->version_floor = next(m) & 1 ? a_version(m) : NULL;
    o->version_ceiling = next(m) & 1 ? a_version(m) : NULL;
    o->installation_kind = below(m, WC_installation_kind_COUNT);
    o->installation = packages[below(m, 6)];
    o->installation_version = a_version(m);
    o->installation_path = a_directory(m);
    o->asked_by_object = an_object(m);
    by = wc_stack_object(&m->stack, o->asked_by_object);
    o->asked_by = by ? by->r.path : NULL;
    o->asked_how = below(m, WC_operation_COUNT);
    o->needed = a_list(m, a_library);
    o->framework = next(m) & 7 ? NULL : "PyTorch";
    o->gpu_library = o->framework && next(m) & 1 ? "libtorch_cuda.so" : NULL;
}

static void make_package(struct maker *m, struct wc_package_record *p) {
    static const char *const packages[] = {"nvidia-cudnn-cu12", "nvidia-cudnn-cu13", "cudnn"};
    static const char *const sharing[] = {"nvidia-cudnn-cu12 9.1.0.70", "nvidia-cudnn-cu13"};
    p->installation_kind = below(m, WC_installation_kind_COUNT);
    p->package = packages[below(m, 3)];
    p->package_version = a_version(m);
    p->installation_path = a_directory(m);
    p->prefix = next(m) & 1 ? a_directory(m) : "/opt";
    p->missing = a_list(m, a_library);
    p->changed = a_list(m, a_library);
    p->foreign = a_list(m, a_path);
    p->shared_with = (struct wc_strings){sharing, below(m, 3)};
    p->missing_count = (int64_t)p->missing.n;
    p->file_count = next(m) & 1 ? p->missing_count : 8;
}

static void make_demand(struct maker *m, struct wc_demand_record *d) {
    static const char *const frameworks[] = {"torch", "tensorflow", "jax", "onnxruntime", NULL};
    const struct wc_object *host;
    struct wc_version v = WC_VERSION_NONE;
    d->host = an_object(m);
    host = wc_stack_object(&m->stack, d->host);
    d->host_path = host ? host->r.path : a_path(m);
    d->demand_kind = below(m, WC_demand_kind_COUNT);
    d->spec = print(m, "%s%s", next(m) & 1 ? ">=" : "==", a_version(m));
    d->built = d->demand_kind == WC_demand_kind_EXPECTATION && next(m) & 1 ? NULL : a_version(m);
    d->framework = frameworks[below(m, 5)];
    d->framework_version = a_version(m);
    if (d->framework_version)
        wc_version_parse(d->framework_version, strlen(d->framework_version), &v);
    d->compatibility_rule = wc_rule_name(wc_rule_of_framework(d->framework, v));
    d->package = next(m) & 1 ? "nvidia-cudnn-cu12" : NULL;
    d->source = next(m) & 1 ? "METADATA of torch 2.15.0" : a_library(m);
    d->source_path = a_path(m);
    d->newest_functions = a_list(m, a_function);
    d->function_count = next(m);
}

static void make_binding(struct maker *m, struct wc_binding_record *b) {
    const struct wc_object *o;
    b->host = an_object(m);
    o = wc_stack_object(&m->stack, b->host);
    b->host_path = o ? o->r.path : NULL;
    b->target = an_object(m);
    o = wc_stack_object(&m->stack, b->target);
    b->target_path = o ? o->r.path : NULL;
    b->how = below(m, WC_binding_how_COUNT);
    b->functions = a_list(m, a_function);
    b->wrapped = next(m);
}

/* What the system refuses of a sound file. */
static const char *a_refusal(struct maker *m) {
    static const char *const words[] = {"cannot allocate memory in static TLS block",
                                        "cannot enable executable stack as shared object requires",
                                        "failed to map segment from shared object",
                                        "cannot open shared object file: Permission denied",
                                        "cannot open shared object file: Too many open files",
                                        "cannot read file data: Input/output error",
                                        "failed to map segment: Operation not permitted"};
    return words[below(m, 7)];
}

static void make_failure(struct maker *m, struct wc_failure_record *f) {
    const struct wc_object *by;
    f->request = ++m->requests;
    f->operation = below(m, WC_operation_COUNT);
    f->name = next(m) & 1 ? a_library(m) : a_path(m);
    if (f->name && f->name[0] == '/' && f->request % 8 == 5) /* as a memory map has what is gone */
        f->name = print(m, "%s (deleted)", f->name);
    f->function = f->operation == WC_operation_DLSYM ? a_function(m) : NULL;
    f->caller_object = an_object(m);
    by = wc_stack_object(&m->stack, f->caller_object);
    f->caller = by ? by->r.path : a_path(m);
    f->text = a_text(m);
    if (f->operation == WC_operation_DLOPEN && f->text && !f->text[0]) {
        f->name = print(m, "%s/libhost.so", a_directory(m));
        f->text = print(m, "%s: undefined symbol: %s", f->name, a_function(m));
    }
    if (f->text && strcmp(f->text, "torch") == 0)
        f->text = print(m, "%s: %s", f->name, a_refusal(m));
    f->inferred = !f->text;
}

static void make_outcome(struct maker *m, struct wc_outcome_record *o) {
    static const char *const signals[] = {"SIGABRT", "SIGSEGV", "SIGBUS", "SIGKILL", "SIGTERM"};
    unsigned k = next(m);
    o->ending = k & 1 ? WC_ending_EXITED : k & 2 ? WC_ending_SIGNALED : below(m, WC_ending_COUNT);
    if (o->ending == WC_ending_EXITED)
        o->exit_status = (k >> 2) & 3;
    else if (o->ending == WC_ending_SIGNALED)
        o->signal = 6, o->signal_name = signals[(k >> 2) % 5];
    o->during = k & 128 ? a_function(m) : NULL;
    o->observed = true;
}

static void make_search(struct maker *m, struct wc_search_record *s) {
    const struct wc_object *by;
    s->search = (int64_t)m->stack.searches.n + (next(m) & 7 ? 1 : 0);
    s->name = a_library(m);
    s->caller_object = an_object(m);
    by = wc_stack_object(&m->stack, s->caller_object);
    s->caller = by ? by->r.path : a_path(m);
    s->request = m->requests;
    s->object = next(m) & 3 ? an_object(m) : WC_NULL;
    s->rule = below(m, WC_search_rule_COUNT);
    if (s->rule == WC_search_rule_DEFAULT)
        s->rule = WC_search_rule_RPATH; /* of which more is printed */
    s->element = a_directory(m);
    s->index = below(m, 4);
    s->of = next(m) & 1 ? s->caller : NULL;
    s->takes = next(m) & 1 ? a_path(m) : NULL;
    s->searched = a_list(m, a_text);
}

static void make_candidate(struct maker *m, struct wc_candidate_record *c) {
    const struct wc_searched *s =
        m->stack.searches.n ? &m->stack.searches.p[m->stack.searches.n - 1] : NULL;
    c->search = s ? s->r.search : WC_NULL;
    c->path = s && s->r.takes && next(m) & 1 ? s->r.takes : a_path(m);
    c->rule = below(m, WC_search_rule_COUNT);
    c->element = a_directory(m);
    c->beaten = next(m) & 1;
    c->file_state = next(m) & 3 ? WC_file_state_FITS : below(m, WC_file_state_COUNT);
    c->version = a_version(m);
    c->version_source = below(m, WC_version_source_COUNT);
    c->installation_kind = below(m, WC_installation_kind_COUNT);
    c->installation = next(m) & 1 ? "nvidia-cudnn-cu12" : NULL;
    c->installation_path = a_directory(m);
    if (s && c->installation) { /* behind what was taken, in one search path */
        c->of = s->r.of;
        c->rule = s->r.rule;
        c->installation_kind = WC_installation_kind_WHEEL;
    }
}

static void make_file(struct maker *m, struct wc_file_record *f) {
    f->path = f->real_path = a_path(m);
    f->link = next(m) & 3 ? NULL : a_library(m);
    f->request = m->requests + (next(m) & 1);
    f->fault = below(m, WC_file_fault_COUNT);
    f->content = next(m) & 1 ? "text" : NULL;
    f->soname = a_library(m);
    f->size = a_number(m);
    f->version = a_version(m);
    f->installation_kind = below(m, WC_installation_kind_COUNT);
    f->installation = next(m) & 1 ? "nvidia-cudnn-cu12" : NULL;
    f->installation_version = a_version(m);
}

static const char *a_gpu(struct maker *m) {
    return print(m, "GPU %u, %u.%u", next(m), below(m, 14), below(m, 10));
}

static void make_machine(struct maker *m, struct wc_machine_record *r) {
    r->driver = print(m, "%u.%u.%02u", below(m, 250) * 3, next(m), below(m, 100));
    r->gpu_devices = below(m, 3);
    r->gpus = a_list(m, a_gpu);
    r->architecture = next(m) & 1 ? "x86_64" : "aarch64";
}

static void make_call(struct maker *m, struct wc_call_record *c) {
    c->function = a_function(m);
    c->host = an_object(m);
    c->target = an_object(m);
    c->phase = below(m, WC_phase_COUNT);
    c->status = a_number(m);
    c->status_name = c->status == WC_NULL ? NULL : wc_status_name(c->status, -1);
    c->returned_version = next(m) & 1 ? 90100 : WC_NULL;
}

static void add_record(struct maker *m) {
    static const enum wc_kind kinds[] = {
        WC_KIND_object,  WC_KIND_object,    WC_KIND_object,     WC_KIND_object,  WC_KIND_demand,
        WC_KIND_demand,  WC_KIND_binding,   WC_KIND_binding,    WC_KIND_failure, WC_KIND_failure,
        WC_KIND_call,    WC_KIND_call,      WC_KIND_unobserved, WC_KIND_machine, WC_KIND_process,
        WC_KIND_outcome, WC_KIND_summary,   WC_KIND_request,    WC_KIND_package, WC_KIND_search,
        WC_KIND_search,  WC_KIND_candidate, WC_KIND_candidate,  WC_KIND_file,    WC_KIND_package};
    struct wc_record r;
    wc_record_begin(&r, kinds[below(m, sizeof kinds / sizeof *kinds)]);
    if (r.kind == WC_KIND_object)
        make_object(m, &r.u.object);
    else if (r.kind == WC_KIND_package)
        make_package(m, &r.u.package);
    else if (r.kind == WC_KIND_demand)
        make_demand(m, &r.u.demand);
    else if (r.kind == WC_KIND_binding)
        make_binding(m, &r.u.binding);
    else if (r.kind == WC_KIND_failure)
        make_failure(m, &r.u.failure);
    else if (r.kind == WC_KIND_call)
        make_call(m, &r.u.call);
    else if (r.kind == WC_KIND_search)
        make_search(m, &r.u.search);
    else if (r.kind == WC_KIND_candidate)
        make_candidate(m, &r.u.candidate);
    else if (r.kind == WC_KIND_file)
        make_file(m, &r.u.file);
    else if (r.kind == WC_KIND_machine)
        make_machine(m, &r.u.machine);
    else if (r.kind == WC_KIND_outcome)
        make_outcome(m, &r.u.outcome);
    else if (r.kind == WC_KIND_process)
        r.u.process.environment = a_list(m, a_text);
    for (unsigned k = below(m, 16); k > 12; k--)
        set_field(m, &r);
    r.seq = ++m->seq;
    r.pid = r.tid = 4711;
    wc_stack_apply(&m->stack, &r);
    /* What says that something is there or failed is always judged. */
    MUST(wc_changes_findings(&r) || r.kind == WC_KIND_request || r.kind == WC_KIND_call ||
         r.kind == WC_KIND_finding || r.kind == WC_KIND_summary);
}

/* ---- what holds for every stack ---- */

static bool printable(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return false;
    return true;
}

static void check_facts(const struct wc_finding_record *r) {
    for (enum wc_fact_role role = WC_FACT_OTHER; role < WC_FACT_ROLES; role++) {
        const char *path = wc_fact_path(r, role);
        MUST(!path || *path == '/');
        MUST(!path || wc_fact_value(r, role));
        MUST(role == WC_FACT_OTHER || wc_fact_role_named(wc_fact_rows[role].name) != WC_FACT_OTHER);
    }
}

static void check_finding(const struct wc_findings *f, size_t i) {
    const struct wc_finding_record *r = &f->p[i];
    size_t kinds, k = 0;
    const struct wc_finding_kind *kind = wc_finding_kinds(&kinds);
    while (k < kinds && strcmp(kind[k].id, r->id) != 0)
        k++;
    MUST(k < kinds);
    MUST(r->severity != WC_severity_NONE && r->severity <= kind[k].severity);
    MUST(i == 0 || f->p[i - 1].severity >= r->severity);
    MUST(r->title && *r->title && strlen(r->title) < 1000 && printable(r->title));
    MUST(r->facts.n > 0);
    for (k = 0; k < r->facts.n; k++)
        MUST(r->facts.p[k].name && r->facts.p[k].value);
    check_facts(r);
    bool cause = !r->explained_by;
    for (k = 0; !cause && k < i; k++)
        cause = strcmp(f->p[k].id, r->explained_by) == 0;
    MUST(cause);
}

/* Written as the shim writes it and read as the command reads it, it is the same finding. */
static void survives(const struct wc_finding_record *f) {
    static char line[WC_RECORD_MAX];
    char trouble[RECORD_TROUBLE];
    struct heap_arena lists;
    struct wc_record r, again;
    wc_record_begin(&r, WC_KIND_finding);
    r.u.finding = *f;
    size_t n = wc_record_write(&r, line, sizeof line);
    json_t *json = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
    MUST(n > 1 && line[n - 1] == '\n' && !memchr(line, '\n', n - 1) && json);
    heap_arena_begin(&lists);
    MUST(record_from_json(json, &lists.arena, &again, trouble) == RECORD_READ);
    MUST(again.kind == WC_KIND_finding && strcmp(again.u.finding.id, f->id) == 0);
    MUST(again.u.finding.severity == f->severity && again.u.finding.object == f->object);
    MUST(again.cut || again.u.finding.facts.n == f->facts.n);
    heap_arena_end(&lists);
    json_decref(json);
}

/* Its text is made of whole lines of what is printable. */
static void fits_a_page(const struct wc_stack *s, const struct wc_finding_record *f) {
    static struct wc_finding_page page;
    const struct wc_finding_view view = {.before = "whichcudnn: ", .stack = s, .log = "/logs/a"};
    const char *text = wc_finding_text(&page, f, &view);
    size_t n = strlen(text);
    MUST(n && text[n - 1] == '\n');
    for (size_t i = 0; i < n; i++)
        MUST(text[i] == '\n' || ((unsigned char)text[i] >= ' ' && text[i] != 127));
}

static void is_concluded(const struct wc_stack *s, const struct wc_findings *f,
                         struct wc_arena *memory) {
    const struct wc_outside outside = {.lost = s->dropped};
    struct wc_conclusion c;
    wc_conclude(s, f, &outside, memory, &c);
    MUST(c.verdict < WC_verdict_COUNT && (!c.died || c.verdict != WC_verdict_OK));
    for (unsigned i = 0; i < WC_limit_COUNT; i++)
        MUST(!(c.limits >> i & 1) || i == 0 || wc_limit_text(i));
}

static void check_same(const struct wc_findings *a, const struct wc_findings *b) {
    MUST(a->n == b->n && a->lost == b->lost);
    for (size_t i = 0; i < a->n; i++) {
        const struct wc_finding_record *x = &a->p[i], *y = &b->p[i];
        MUST(strcmp(x->id, y->id) == 0 && strcmp(x->title, y->title) == 0);
        MUST(x->facts.n == y->facts.n);
        for (size_t k = 0; k < x->facts.n; k++)
            MUST(strcmp(x->facts.p[k].value, y->facts.p[k].value) == 0);
    }
}

static void check_findings(const struct wc_stack *s, size_t little) {
    struct piecewise memory, again, less;
    struct wc_findings found, second, few;
    char mark[17];
    piecewise_begin(&memory, 8 << 20);
    piecewise_begin(&again, 8 << 20);
    piecewise_begin(&less, little);
    wc_diagnose(s, &memory.arena, &found);
    wc_diagnose(s, &again.arena, &second);
    wc_diagnose(s, &less.arena, &few);
    check_same(&found, &second);
    for (size_t i = 0; i < found.n; i++) {
        check_finding(&found, i);
        survives(&found.p[i]);
        fits_a_page(s, &found.p[i]);
    }
    MUST(few.n <= found.n && (few.n == found.n || few.lost > 0));
    for (size_t i = 0; i < few.n; i++)
        MUST(few.p[i].title && few.p[i].facts.p);
    is_concluded(s, &found, &memory.arena);
    wc_diagnose_live(s, &again.arena, &second); /* as the library does */
    for (size_t i = 0; i < second.n; i++)
        check_finding(&second, i);
    wc_stack_fingerprint(s, mark);
    MUST(strlen(mark) == 16);
    piecewise_end(&memory);
    piecewise_end(&again);
    piecewise_end(&less);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct maker m;
    struct controls c = {data, size};
    struct piecewise kept;
    unsigned little = take_control(&c);
    memset(&m, 0, sizeof m);
    m.p = data;
    m.n = c.size;
    piecewise_begin(&kept, 8 << 20);
    wc_stack_begin(&m.stack, &kept.arena);
    for (int i = 0; i < RECORDS && m.n; i++)
        add_record(&m);
    check_findings(&m.stack, (size_t)little * 100);
    piecewise_end(&kept);
    return 0;
}
