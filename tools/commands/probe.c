/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn probe: does the cuDNN that this environment gives work? Tried in another process. */
#include <argz.h>
#include <dlfcn.h>
#include <envz.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/model/status.h"
#include "core/names/version.h"
#include "core/records/process.h"
#include "input.h"
#include "options.h"
#include "tools/commands/child.h"
#include "tools/commands/probe/gpus.h"
#include "tools/commands/run/trust.h"
#include "tools/observe/log/record_json.h"
#include "tools/observe/preload.h"
#include "tools/report/render.h"
#include "tools/util/terminal.h"

#define DIFFERENCES_MOST 16
#define SAID_MOST 8 /* lines */

static const char *like_log;
static int timeout = 120; /* seconds; a first convolution may compile for a while */

static bool take_timeout(const char *value) {
    char *end;

    timeout = (int)strtol(value, &end, 10);
    if (*value && !*end && timeout > 0 && timeout <= 24 * 3600)
        return true;
    complain("--timeout takes seconds, not %s", value);
    return false;
}

static const struct option_row rows[] = {
    {"like", " LOG",
     "that of the process of this log (or directory of logs), with\nits environment; says which "
     "files are no longer what they were",
     .value = &like_log},
    OPTION_AS_OWNER("with --like, for root: as the user whose log or cuDNN it is"),
    {"timeout", " SEC", "default 120; a probe that takes longer is reported as hanging",
     .take = take_timeout},
    {"json", NULL, "as JSON", .flag = &options.json},
    OPTIONS_END("auto, always, never"),
};

/* ---- what is tried, in the process that is there to try it ---- */

/* It may crash or hang, and prints each step before it, on standard output, line by line:
 * - step=WHAT: about to be tried
 * - name=NAME: the library is loaded, by this name
 * - version=NUMBER: what cudnnGetVersion returned
 * - gpu=NAME: there is one to try on
 * - nogpu=WHY: there is none
 * - failed=WORDS: the step came to nothing
 * - works=: the convolution gave the right values
 */

/* As cudnn.h and cuda.h have them: handles are pointers, enumerations are int. */
typedef void *cudnnHandle_t, *cudnnTensorDescriptor_t, *cudnnFilterDescriptor_t;
typedef void *cudnnConvolutionDescriptor_t, *CUcontext;
typedef int cudnnStatus_t, cudnnTensorFormat_t, cudnnDataType_t, cudnnConvolutionMode_t;
typedef int cudnnConvolutionFwdAlgo_t, CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
enum { NCHW = 0, FLOAT = 0, CROSS_CORRELATION = 1, IMPLICIT_GEMM = 0 };

enum { SIZE = 4, FILTER = 3, RESULT = SIZE - FILTER + 1 }; /* of each side */

struct trying {
    struct {
#define CUDNN(name, arguments) cudnnStatus_t(*name) arguments;
#define CUDA(name, arguments) CUresult(*name) arguments;
#include "tools/commands/probe/probe_calls.def"
        size_t (*cudnnGetVersion)(void);
    } call;
    void *cudnn, *cuda;
    int32_t major;
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
};

/* ---- cuDNN is loaded ---- */

/* Where none is found, what the loader reported about the first name. */
static bool load(struct trying *p, const char *path) {
    const char *const names[] = {"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so.7", "libcudnn.so"};
    const size_t n = path ? 1 : sizeof(names) / sizeof(names[0]);
    const char *name = NULL, *words;
    char said[512] = "";

    puts("step=dlopen");
    for (size_t i = 0; i < n && !p->cudnn; i++) {
        name = path ?: names[i];
        p->cudnn = dlopen(name, RTLD_LAZY);
        words = p->cudnn ? NULL : dlerror();
        if (words && !*said)
            snprintf(said, sizeof(said), "%s", words);
    }
    printf(p->cudnn ? "name=%s\n" : "failed=%s\n", p->cudnn ? name : *said ? said : "no words");
    if (!p->cudnn)
        return false;
    puts("step=dlsym");
#define FIND(library, name, text)                                                                  \
    if (!look_up_function(library, #name, &p->call.name)) {                                        \
        puts(text #name);                                                                          \
        return false;                                                                              \
    }
#define CUDNN(name, arguments) FIND(p->cudnn, name, "failed=it has no ")
#define CUDA(name, arguments)
#include "tools/commands/probe/probe_calls.def"
    FIND(p->cudnn, cudnnGetVersion, "failed=it has no ")
    puts("step=cudnnGetVersion");
    size_t number = p->call.cudnnGetVersion();
    p->major = wc_version_from_number(number).major;
    printf("version=%zu\n", number);
    return true;
}

/* ---- is there a GPU? ---- */

static bool has_gpu(struct trying *p) {
    char name[128] = "";
    int count = 0, result;
    CUdevice device;

    puts("step=cuInit");
    p->cuda = dlopen("libcuda.so.1", RTLD_LAZY);
    if (!p->cuda) {
        puts("nogpu=libcuda.so.1, the driver's library, cannot be loaded");
        return false;
    }
#define CUDNN(name, arguments)
#define CUDA(name, arguments) FIND(p->cuda, name, "nogpu=libcuda.so.1 has no ")
#include "tools/commands/probe/probe_calls.def"
    result = p->call.cuInit(0);
    if (result != 0)
        printf("nogpu=cuInit returned %d\n", result);
    else if (p->call.cuDeviceGetCount(&count) != 0 || count == 0)
        puts("nogpu=the driver has no GPU");
    if (result != 0 || count == 0)
        return false;
    if (p->call.cuDeviceGet(&device, 0) == 0)
        p->call.cuDeviceGetName(name, sizeof(name) - 1, device);
    name[strcspn(name, "\n")] = '\0';
    printf("gpu=%s\n", name);
    return true;
}

/* ---- one small convolution ---- */

static bool succeeds(const struct trying *p, bool of_driver, int status) {
    const char *name = of_driver ? NULL : wc_status_name(status, p->major);

    if (status != 0 && of_driver)
        printf("failed=returned CUresult %d\n", status);
    else if (status != 0)
        printf("failed=returned %s (%d)\n", name ?: "an unknown status", status);
    return status == 0;
}

#define TRY(p, name, ...) (puts("step=" #name), succeeds(p, false, (p)->call.name(__VA_ARGS__)))
#define TRY_CUDA(p, name, ...) (puts("step=" #name), succeeds(p, true, (p)->call.name(__VA_ARGS__)))

static bool put(struct trying *p, CUdeviceptr *to, const float *values, size_t n) {
    return TRY_CUDA(p, cuMemAlloc_v2, to, n * sizeof(*values)) &&
           TRY_CUDA(p, cuMemcpyHtoD_v2, *to, values, n * sizeof(*values));
}

static void *pointer(CUdeviceptr address) {
    return (void *)(uintptr_t)address;
}

static bool convolve(struct trying *p, const float *x, const float *w, float *y) {
    const float one = 1, zero = 0;
    CUdeviceptr on_x, on_w, on_y, room = 0;
    size_t size = 0;

    /* What goes wrong on the GPU is reported by the copy, which waits for it. */
    return TRY(p, cudnnCreateTensorDescriptor, &p->x) &&
           TRY(p, cudnnCreateTensorDescriptor, &p->y) &&
           TRY(p, cudnnCreateFilterDescriptor, &p->w) &&
           TRY(p, cudnnCreateConvolutionDescriptor, &p->convolution) &&
           TRY(p, cudnnSetTensor4dDescriptor, p->x, NCHW, FLOAT, 1, 1, SIZE, SIZE) &&
           TRY(p, cudnnSetTensor4dDescriptor, p->y, NCHW, FLOAT, 1, 1, RESULT, RESULT) &&
           TRY(p, cudnnSetFilter4dDescriptor, p->w, FLOAT, NCHW, 1, 1, FILTER, FILTER) &&
           TRY(p, cudnnSetConvolution2dDescriptor, p->convolution, 0, 0, 1, 1, 1, 1,
               CROSS_CORRELATION, FLOAT) &&
           put(p, &on_x, x, (size_t)SIZE * SIZE) && put(p, &on_w, w, (size_t)FILTER * FILTER) &&
           put(p, &on_y, y, (size_t)RESULT * RESULT) &&
           TRY(p, cudnnGetConvolutionForwardWorkspaceSize, p->handle, p->x, p->w, p->convolution,
               p->y, IMPLICIT_GEMM, &size) &&
           (size == 0 || TRY_CUDA(p, cuMemAlloc_v2, &room, size)) &&
           TRY(p, cudnnConvolutionForward, p->handle, &one, p->x, pointer(on_x), p->w,
               pointer(on_w), p->convolution, IMPLICIT_GEMM, pointer(room), size, &zero, p->y,
               pointer(on_y)) &&
           TRY_CUDA(p, cuMemcpyDtoH_v2, y, on_y, (size_t)RESULT * RESULT * sizeof(*y));
}

static bool compute(struct trying *p) {
    float x[SIZE * SIZE], w[FILTER * FILTER], y[RESULT * RESULT] = {0};

    /* Small whole numbers: exact in every format that a GPU computes in. */
    for (int i = 0; i < SIZE * SIZE; i++)
        x[i] = (float)(i % 5);
    for (int i = 0; i < FILTER * FILTER; i++)
        w[i] = (float)(i % 3 - 1);
    if (!convolve(p, x, w, y))
        return false;
    puts("step=the result");
    for (int i = 0; i < RESULT * RESULT; i++) {
        float right = 0;
        for (int k = 0; k < FILTER * FILTER; k++)
            right += x[(i / RESULT + k / FILTER) * SIZE + i % RESULT + k % FILTER] * w[k];
        if (!(y[i] >= right && y[i] <= right)) { /* it may be no number */
            puts("failed=the convolution gave wrong values");
            return false;
        }
    }
    return true;
}

static int probe_child(const char *path) {
    struct trying p = {.major = -1};
    CUcontext context;
    CUdevice device;

    setlinebuf(stdout);
    if (!load(&p, path))
        return 0;
    bool gpu = has_gpu(&p);
    if ((gpu && !(TRY_CUDA(&p, cuDeviceGet, &device, 0) &&
                  TRY_CUDA(&p, cuDevicePrimaryCtxRetain, &context, device) &&
                  TRY_CUDA(&p, cuCtxSetCurrent, context))) ||
        !TRY(&p, cudnnCreate, &p.handle) || !gpu || !compute(&p) ||
        !TRY(&p, cudnnDestroy, p.handle))
        return 0;
    puts("works=");
    puts("step=the end of the process"); /* with what the library does there */
    return 0;
}

/* ---- like what? What --like LOG takes over from a process: its environment, and which files it
 * had ---- */

struct like {
    struct inputs in;
    const struct source *process; /* the one with a cuDNN; NULL: there is none in it */
    const struct wc_object *facade;
};

/* LD_PRELOAD is the caller's to set: the shim of this command, not that of the log. cuDNN would
 * write to the files that CUDNN_LOGDEST_* name. */
static bool is_taken_over(const char *variable) {
    return wc_variable_is_logged(variable) && strncmp(variable, "LD_PRELOAD=", 11) != 0 &&
           strncmp(variable, "WHICHCUDNN_", 11) != 0 && strncmp(variable, "CUDNN_LOG", 9) != 0;
}

/* The child's working directory is where relative elements begin. cuDNN's parts come from its own
 * directory. */
static void like_trust(const struct like *l, struct trust *t) {
    const struct wc_process_record *p = &l->process->stack.process;
    const char *path = l->facade->r.path;
    OWNED char *directory = must_format("%.*s", (int)wc_dir_length(path), path);
    OWNED_FD int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    trust_logs(t, &l->in.logs);
    if (p->directory && chdir(p->directory) != 0)
        t->why = t->why ?: must_format("%s: %s", p->directory, strerror(errno));
    WC_EACH(variable, p->environment)
        if (strncmp(*variable, "LD_LIBRARY_PATH=", 16) == 0)
            trust_list(t, *variable + 16, ":;", NULL);
        else if (is_taken_over(*variable) && strchr(*variable, '/'))
            trust_path(t, strchr(*variable, '=') + 1);
    WC_EACH(o, l->process->stack.objects)
        if (o->r.role != WC_role_HOST)
            trust_path(t, o->r.path);
    trust_directory(t, directory, ".so");
    if (here < 0 || fchdir(here) != 0)
        t->why = t->why ?: must_format("the working directory: %s", strerror(errno));
}

/* Which of its files are gone or changed, as a list of texts. */
static json_t *like_differences(const struct like *l) {
    json_t *list = json_array();
    struct stat facts;

    WC_EACH(object, l->process->stack.objects) {
        const struct wc_object_record *o = &object->r;
        const char *path = wc_real_path_of(object);
        OWNED char *text = NULL;
        if ((o->role != WC_role_FACADE && o->role != WC_role_PART) || !path)
            continue;
        if (stat(path, &facts) != 0)
            text = must_format("%s: %s", path, strerror(errno));
        else if ((o->size > 0 && facts.st_size != o->size) ||
                 (o->mtime > 0 && facts.st_mtime != o->mtime))
            text = must_format("%s is another file than it was", path);
        if (text && json_array_size(list) < DIFFERENCES_MOST)
            json_array_append_new(list, text_to_json(text));
    }
    return list;
}

/* ---- what came of it ---- */

static const struct {
    const char *json, *word;
    enum paint paint;
    enum exit_code code;
} answers[] = {{"works", "ok", PAINT_OK, EXIT_NOTHING_WRONG},
               {"stops", "error", PAINT_ERROR, EXIT_ERRORS_FOUND},
               {"no-gpu", "nothing tried", PAINT_NOTE, EXIT_NOTHING_OBSERVED}};

struct probed {
    const struct like *like; /* NULL: as the present environment gives it */
    const char *preload, *log;
    enum { ANSWER_WORKS, ANSWER_STOPS, ANSWER_NO_GPU } answer;
    struct trial trial;
    char *said; /* the last line of each word of the child's, as in envz.h */
    size_t said_size;
    struct wc_version version;
    struct logs logs;     /* its log */
    struct report report; /* no source: there is none */
    json_t *differences;  /* from that; empty without */
};

/* NULL: the child printed no such line. */
static const char *said(const struct probed *p, const char *word) {
    return envz_get(p->said, p->said_size, word);
}

/* In the child: the variables that logs keep are as they were there, and so is the directory. */
static void set_environment(void *arg) {
    const struct probed *p = arg;
    const struct wc_process_record *like = p->like ? &p->like->process->stack.process : NULL;

    for (size_t i = 0; like && environ[i];) {
        OWNED char *name = must_format("%.*s", (int)strcspn(environ[i], "="), environ[i]);
        if (is_taken_over(environ[i]))
            unsetenv(name); /* the next one is in its place */
        else
            i++;
    }
    for (size_t i = 0; like && i < like->environment.n; i++)
        if (is_taken_over(like->environment.p[i]))
            putenv(must_copy(like->environment.p[i]));
    if (like && like->directory)
        (void)!chdir(like->directory); /* if not, relative paths fail; the files are compared */
    trial_watch(p->preload, p->log);
}

/* What follows from there being no driver, and no GPU. */
static bool is_of_driver(const char *id) {
    return strncmp(id, "driver-", 7) == 0 || strcmp(id, "init-failed") == 0;
}

/* False: no process could be made (errno). */
static bool probe(struct probed *p) {
    OWNED char *path = p->like ? must_copy(p->like->facade->r.path) : NULL, *trouble = NULL;
    char *arguments[] = {"whichcudnn", "probe", "--child", path, NULL}, *lines;
    size_t n;

    p->trial = (struct trial){
        .arguments = arguments, .prepare = set_environment, .arg = p, .patience = timeout};
    if (!trial_run(&p->trial))
        return false;
    if (argz_create_sep(p->trial.output, '\n', &lines, &n) != 0 ||
        envz_merge(&p->said, &p->said_size, lines, n, true) != 0)
        must_fail();
    free(lines);
    const char *number = said(p, "version");
    p->version = number ? wc_version_from_number(strtoull(number, NULL, 10)) : WC_VERSION_NONE;
    if (logs_read(&p->logs, p->log, &trouble) && p->logs.process_count > 0) {
        report_make(&p->report, p->logs.processes[0]);
        report_plan(&p->report);
    }
    p->differences = p->like ? like_differences(p->like) : json_array();
    /* Without a GPU it is unknown whether cuDNN would have gone on, unless its files print that it
     * would not. */
    if (!p->trial.timed_out && WIFEXITED(p->trial.status) && WEXITSTATUS(p->trial.status) == 0 &&
        said(p, "works"))
        p->answer = ANSWER_WORKS;
    else if (said(p, "nogpu") && !(p->report.source && WC_ANY(f, p->report.findings,
                                                              f->severity == WC_severity_ERROR &&
                                                                  !is_of_driver(f->id))))
        p->answer = ANSWER_NO_GPU;
    else
        p->answer = ANSWER_STOPS;
    return true;
}

/* ---- the answer ---- */

/* "cudnnCreate returned ...", "cudnnCreate: it was ended by SIGSEGV". The caller frees. */
static char *stopped_text(const struct probed *p) {
    const char *step = said(p, "step") ?: "the start of the process";

    if (p->trial.timed_out)
        return must_format("%s did not come back in time", step);
    if (WIFSIGNALED(p->trial.status))
        return must_format("%s: signal %d (%s) ended the process", step, WTERMSIG(p->trial.status),
                           strsignal(WTERMSIG(p->trial.status)));
    if (said(p, "failed"))
        return must_format("%s %s", step, said(p, "failed"));
    if (WEXITSTATUS(p->trial.status) != 0)
        return must_format("%s: the process ended with status %d", step,
                           WEXITSTATUS(p->trial.status));
    return NULL;
}

static char *answer_text(const struct probed *p) {
    OWNED char *stopped = stopped_text(p);
    char version[WC_VERSION_TEXT];

    wc_version_format(p->version, version);
    if (p->answer == ANSWER_WORKS)
        return must_format("cuDNN works here: %s, a convolution on %s gave the right values",
                           version, said(p, "gpu"));
    if (p->answer == ANSWER_NO_GPU)
        return must_format("no GPU to try on: %s; cuDNN %s is loaded%s%s", said(p, "nogpu"),
                           version, stopped ? ", " : "", stopped);
    return must_format("cuDNN does not work here: %s", stopped ?: "it ended early");
}

/* What a program printed before it gave up. */
static void print_as_logged(FILE *to, char *text) {
    char *save, *line, *at = text;

    for (int i = 0; i < SAID_MOST && (line = strtok_r(at, "\n", &save)); i++, at = NULL)
        print_format(to, "  said     %s\n", line);
}

static void print_answer(const struct probed *p) {
    OWNED char *text = answer_text(p);

    printf("%s%s%s", paint_begin(options.colour, answers[p->answer].paint), answers[p->answer].word,
           paint_end(options.colour));
    print_format(stdout, ": %s\n", text);
    if (p->report.source)
        WC_EACH(object, p->report.source->stack.objects) {
            const struct wc_object_record *o = &object->r;
            if (o->role != WC_role_FACADE && o->role != WC_role_PART)
                continue;
            print_format(stdout, "  %s %s %s", o->role == WC_role_FACADE ? "facade  " : "part    ",
                         wc_real_path_of(object), o->version ?: "");
            if (o->installation)
                print_format(stdout, "  (%s %s)", o->installation, o->installation_version ?: "");
            putchar('\n');
        }
    if (p->like)
        print_format(stdout, "  like     %s: %s\n", p->like->process->path,
                     json_array_size(p->differences) > 0 ? "not the same files" : "the same files");
    for (size_t i = 0; i < json_array_size(p->differences); i++)
        print_format(stdout, "           %s\n",
                     json_string_value(json_array_get(p->differences, i)));
    if (p->report.source)
        WC_EACH(f, p->report.findings) {
            struct wc_finding_view view = {.stack = &p->report.source->stack};
            /* That there is no driver is the answer already. */
            if (f->severity >= WC_severity_WARNING && !(said(p, "nogpu") && is_of_driver(f->id)))
                render_finding(stdout, &p->report, f, view, options.colour);
        }
    print_as_logged(stdout, p->trial.errors);
    if (p->answer == ANSWER_STOPS && !said(p, "name") && !p->like)
        puts("  hint     frameworks find theirs by a search path of their own:\n"
             "           whichcudnn probe -- python train.py");
}

static void print_json(const struct probed *p) {
    OWNED char *text = answer_text(p), *stopped = stopped_text(p);
    const bool works = p->answer == ANSWER_WORKS;
    char version[WC_VERSION_TEXT];

    json_print(stdout,
               json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:O, s:o, s:o}", "verdict",
                         answers[p->answer].json, "text", text_to_json(text), "step",
                         text_to_json(works ? NULL : said(p, "step")), "stopped",
                         text_to_json(works ? NULL : stopped), "version",
                         text_to_json(wc_version_text(p->version, version)), "gpu",
                         text_to_json(said(p, "gpu")), "like",
                         text_to_json(p->like ? p->like->process->path : NULL), "differences",
                         p->differences, "said", text_to_json(p->trial.errors), "report",
                         p->report.source ? render_json(&p->report) : json_null()));
}

/* like: NULL: the present environment. */
static int probe_and_print(const struct like *like, const char *shim, const char *directory) {
    OWNED char *log = must_format("%s/log.jsonl", directory),
               *preload = preload_list(getenv("LD_PRELOAD"), shim);
    struct probed p = {.like = like, .preload = preload, .log = log};

    if (!probe(&p))
        return complain("no process could be made: %s", strerror(errno));
    (options.json ? print_json : print_answer)(&p);
    json_decref(p.differences);
    report_end(&p.report);
    logs_end(&p.logs);
    trial_end(&p.trial);
    free(p.said);
    return (int)answers[p.answer].code;
}

/* ---- all of it ---- */

/* place: a log, or a directory of them. What a command of the caller's loaded is the caller's to
 * load. */
static int probe_like(const char *place, const char *shim, const char *directory) {
    OWNED char *argument = must_copy(place);
    struct like like = {.in = {.may_be_empty = true}};
    const struct logs *logs = &like.in.logs;
    struct trust trust = {.why = NULL};
    int answer = EXIT_NOTHING_OBSERVED;

    input_read_files(&like.in, &argument, 1);
    /* Of several processes the first: what it started may have ended early. */
    EACH_POINTER(process, logs->processes, logs->process_count) {
        const struct wc_object *facade =
            WC_FIRST(o, process->stack.objects, o->r.role == WC_role_FACADE && o->r.path);
        if (facade && (!like.process || process->first_time < like.process->first_time)) {
            like.process = process;
            like.facade = facade;
        }
    }
    if (like.in.trouble_count > 0 && logs->process_count == 0) {
        inputs_complain(&like.in);
        answer = EXIT_USAGE;
    } else if (!like.process) {
        complain("%s: no cuDNN was loaded there", like_log ?: "the command");
    } else if (like_log) {
        like_trust(&like, &trust);
    }
    if (like.process && !trust_refused(&trust, &answer))
        answer = probe_and_print(&like, shim, directory);
    inputs_end(&like.in);
    return answer;
}

static int probe_arguments(int n, char **command) {
    ENDED_BY(trial_end) struct trial trial = {.patience = timeout};

    if (like_log && n > 0)
        return complain("either --like or a command, not both");
    OWNED char *shim = preload_find_shim(NULL);
    ENDED_BY(trial_directory_end) char *directory = shim ? trial_directory() : NULL;
    if (shim && !directory)
        complain("no directory can be made for the log: %s", strerror(errno));
    if (!directory)
        return EXIT_USAGE;
    if (like_log)
        return probe_like(like_log, shim, directory);
    if (!*command)
        return probe_and_print(NULL, shim, directory);
    OWNED char *place = must_format("%s/command/", directory);
    OWNED char **words = run_quietly(place, command);
    trial.arguments = words;
    if (!trial_run(&trial))
        return complain("no process could be made: %s", strerror(errno));
    const int answer = probe_like(place, shim, directory);
    /* The command's own output is not ours to show, unless it comes to nothing. */
    if (answer == EXIT_NOTHING_OBSERVED && trial.status != 0)
        print_as_logged(stderr, trial.errors);
    return answer;
}

const struct usage cmd_probe = {
    .begin = "Usage: whichcudnn probe [option]... [-- COMMAND [argument...]]\n\n"
             "Loads the cuDNN that this environment gives, in a process of its own, creates a\n"
             "handle and computes one small convolution: does it work, or where does it stop?\n\n"
             "  -- COMMAND     the cuDNN that COMMAND loads, as in:\n"
             "                 -- python train.py\n",
    .options = rows,
    .end = "Without either: the first of libcudnn.so.9, .8, .7, libcudnn.so that is found.\n\n"
           "Exit status: 0 it works, 1 it does not, 2 usage, a LOG that cannot be read or\n"
           "code of another user, 3 there is no GPU to try on, or nothing loaded cuDNN.\n",
    .most = -1,
    .arguments = "a command",
    .is_prefix = true,
    .run = probe_arguments,
    .child = probe_child,
};
