/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rules ask the stack. Names in it come from files and may hold anything.
 */
#pragma once

#include "core/model/loader_words.h"
#include "core/model/status.h"
#include "core/names/compat.h"
#include "core/names/names.h"
#include "core/names/symbols.h"
#include "diagnose.h"

/* ---- objects ---- */

/* Inline: asked of each host for each demand and binding. */
bool wc_has_path(const struct wc_object *o, const char *path);
static inline bool wc_means(const struct wc_object *o, int64_t object, const char *path) {
    return object != WC_NULL ? o->r.object == object : wc_has_path(o, path);
}
static inline bool wc_is_demand_by(const struct wc_demand *demand, const struct wc_object *host) {
    return demand->r.demand_kind != WC_demand_kind_EXPECTATION &&
           wc_means(host, demand->r.host, demand->r.host_path);
}
static inline bool wc_is_binding_of(const struct wc_binding *binding,
                                    const struct wc_object *host) {
    return wc_means(host, binding->r.host, binding->r.host_path);
}

/* Of packages of an environment, or of the system. */
static inline bool wc_is_of_environment(enum wc_installation_kind kind) {
    return kind == WC_installation_kind_WHEEL || kind == WC_installation_kind_CONDA;
}
static inline bool wc_is_of_system(enum wc_installation_kind kind) {
    return kind == WC_installation_kind_DEBIAN || kind == WC_installation_kind_RPM;
}
bool wc_is_cudnn(const struct wc_object *o); /* facade or part; NULL is none */
bool wc_wants_cudnn(const struct wc_object *o);
/* A mapped one; NULL: there is none. */
static inline const struct wc_object *wc_first_facade(const struct wc_stack *s) {
    return WC_FIRST(o, s->objects, o->r.role == WC_role_FACADE && o->r.mapped);
}
/* A record names an object by number, and by path where it has none. NULL: not known. */
const struct wc_object *wc_object_of(const struct wc_stack *s, int64_t object, const char *path);
const struct wc_object *wc_caller_of(const struct wc_stack *s, const struct wc_failure *f);
const char *wc_path_of(const struct wc_object *o); /* real path, else path, else asked name */
const char *wc_name_of(const struct wc_object *o); /* for sentences: SONAME, else file name */
/* Does a path name a file of this very directory (`length` bytes)? */
bool wc_lies_in(const char *path, const char *directory, size_t length);
/* The same of that directory or one below it. */
bool wc_is_below(const char *path, const char *directory, size_t length);
/* Two names of one library that has to do with cuDNN; and of one major, as far as both have one? */
bool wc_same_library(const char *a, const char *b, bool and_major);
bool wc_kind_is_ours(enum wc_name_kind kind); /* of cuDNN, or a CUDA dependency of it */
/* From version, bounds, SONAME or node, whichever is known; -1: unknown. */
int32_t wc_major_of(const struct wc_object *o);
/* Was o, or what asked for it and so on, asked for by that object? */
bool wc_brought_by(const struct wc_stack *s, const struct wc_object *o, int64_t by,
                   const char *path);
bool wc_answers_to(const struct wc_object *o, const char *name); /* file name, asked name, SONAME */
/* What is mapped and does so; NULL: nothing. */
const struct wc_object *wc_mapped_as(const struct wc_stack *s, const char *name);
bool wc_lies_in_a(const char *path, const char *name); /* in a directory of that name */
const struct wc_object *wc_driver_library(const struct wc_stack *s); /* a mapped libcuda, NULL */
bool wc_came_after(const struct wc_object *o, const struct wc_failure *f);
const char *wc_variable(const struct wc_stack *s, const char *name); /* NULL: not set, not known */
/* Does a call of that function need a GPU? */
bool wc_wants_gpu(const char *function);
/* What a call of cuDNN returned; SUCCESS where that is not known. */
enum wc_status_sort wc_sort_of_call(const struct wc_stack *s, const struct wc_call_record *r);
/* By a signal or a status other than 0, as `whichcudnn run` saw it, of itself or of the command
 * that it belongs to. */
bool wc_ended_badly(const struct wc_stack *s);
bool wc_ended_well(const struct wc_stack *s); /* itself, as `whichcudnn run` saw it */
/* Badly, by itself: no process outside killed it. */
bool wc_failed_itself(const struct wc_stack *s);
/* Did the call fail within which f was asked for, or was f the last of a process that failed? */
bool wc_was_fatal(const struct wc_stack *s, const struct wc_failure *f);
/* Did the process fail with it? Then it is the cause, whatever its name (flash-attention#1644,
 * extension-cpp#127); not so of one of several that were tried in turn. */
bool wc_was_the_end(const struct wc_stack *s, const struct wc_failure *f);
/* Do the last words of the process name it? */
bool wc_is_printed(const struct wc_stack *s, const char *missing);
/* libnvinfer.so.8 and libnvinfer.so.10, libtorchaudio_ffmpeg6.so and libtorchaudio_ffmpeg5.so: the
 * same but for digits. */
bool wc_is_alternative(const char *a, const char *b);
/* By its name: a function of cuDNN, also one that is newer than this build. */
static inline bool wc_is_function_of_cudnn(const char *name) {
    return name && wc_str_starts(name, "cudnn");
}
/* Somehow: by now it makes no use of anything any more. */
bool wc_has_ended(const struct wc_stack *s);
/* It is gone, and has had nothing done by cuDNN: so do hosts that refuse what they got, and go on
 * without, or say so by a status that was not seen. by_version: and it has asked for the version.
 */
bool wc_turned_away(const struct wc_stack *s, bool by_version);
/* Did a call of cuDNN, or any, fail, and not for lack of a driver or a GPU? */
bool wc_call_failed(const struct wc_stack *s, const struct wc_call_record *r);
bool wc_a_call_failed(const struct wc_stack *s);

/* Was this facade put into a wheel of another package, under a name with a hash? Its parts are
 * opened by names that no graft has. */
bool wc_is_grafted(const struct wc_object *o);
/* Does LD_LIBRARY_PATH name the directory of o? */
bool wc_in_search_path(const struct wc_stack *s, const struct wc_object *o);

const char *wc_crash_of(const struct wc_stack *s); /* "SIGSEGV"; NULL: it did not crash */
/* Is another copy of the same CUDA library mapped? (tools/diagnose/causes/copies.c) */
bool wc_has_cuda_copy(const struct wc_stack *s, const struct wc_object *o);

/* ---- versions ---- */

struct wc_range {                     /* the least and the greatest version that a library can be */
    struct wc_version low, high;      /* all fields filled up; NONE: nothing is known */
    struct wc_version floor, ceiling; /* as they were reported, for sentences */
    bool exact;
    const char *source; /* of what is known */
};
struct wc_range wc_exactly(struct wc_version v);
/* Of this very file. A package's claim counts unless the file's own functions contradict it. */
struct wc_range wc_own_range(const struct wc_object *o);
/* The same without what only a package claims: files get replaced, their metadata stays. */
struct wc_range wc_seen_range(const struct wc_object *o);
/* Can both be one release? True where too little is known. */
bool wc_ranges_meet(struct wc_range a, struct wc_range b);

struct wc_runtime { /* what cudnnGetVersion says, or would say, to the caller of a library */
    struct wc_range range;
    const struct wc_object *decided_by; /* NULL: the call itself */
    bool predicted;                     /* the deciding part is not loaded yet */
};
struct wc_runtime wc_runtime_of(const struct wc_stack *s, const struct wc_object *library);

/* ---- which library belongs to which ---- */

bool wc_in_set(const struct wc_stack *s, const struct wc_object *part,
               const struct wc_object *facade);
/* The facade of a part's set, a facade itself, NULL: not known. */
const struct wc_object *wc_facade_of(const struct wc_stack *s, const struct wc_object *library);

/* ---- which CUDA ---- */

struct wc_cuda {    /* what says which CUDA major a library is made for */
    int32_t major;  /* -1: nothing says it */
    const char *by; /* libcublas.so.12, nvidia-cudnn-cu12: lives as long as the stack */
    const char *source;
    const struct wc_object *of; /* the library of the set that says so */
    bool required;              /* it says for which CUDA its cuDNN is to be, not itself */
};
/* What a facade and its parts are made for, by their own files before those of a package. */
struct wc_cuda wc_cuda_of_set(const struct wc_stack *s, const struct wc_object *facade);
/* What a host is made for: it names its own CUDA dependencies, or its package says so, or requires
 * a cuDNN for one. */
struct wc_cuda wc_cuda_of_host(const struct wc_stack *s, const struct wc_object *host);
/* The CUDA major in the name of a mapped CUDA dependency; -1: another library, or no number. */
int32_t wc_cuda_of(const struct wc_object *o);
int32_t wc_cuda_of_dependencies(const struct wc_stack *s); /* of the first one; -1: none */
/* The CUDA major in the name or version of a package: "cu12", "cuda12.1", "cuda-13.0"; -1: none. */
int32_t wc_cuda_in_package(const char *text);
bool wc_asked_by_cudnn(const struct wc_stack *s, const struct wc_failure *f);
bool wc_is_probe(const struct wc_stack *s, const struct wc_failure *f); /* of what is there */

/* ---- demands ---- */

enum wc_fit wc_demand_fit(const struct wc_demand_record *r, struct wc_range runtime,
                          struct wc_range own);
/* How a library fits the releases that the package or framework of host names; one refusal decides.
 * UNKNOWN: none is named. host NULL: not known. */
enum wc_fit wc_fit_of_release(const struct wc_stack *s, const struct wc_object *host,
                              const struct wc_object *library);
static inline bool wc_refuses(enum wc_fit fit) {
    return fit > WC_FITS;
}
bool wc_demand_refuses(const struct wc_demand_record *r, struct wc_version v);
enum wc_rule wc_rule_for(const struct wc_demand_record *r); /* NVIDIA's if it names none */
/* Is it one of that file's, which need not be an object? file: a path, or a bare name where no more
 * is known. */
bool wc_is_demand_of(const struct wc_demand_record *r, const char *file);
const struct wc_demand_record *wc_demand_of(const struct wc_stack *s, const char *file,
                                            enum wc_demand_kind kind);
/* It imports functions of cuDNN, and leaves it to others to load one. */
bool wc_is_linked_with_none(const struct wc_stack *s, const char *file);
/* The major that a demand of kind SYMBOL_VERSION or NEEDED requires; -1: none. */
int32_t wc_major_wanted(const struct wc_demand_record *r);
bool wc_spec_pins(const char *spec, struct wc_version *out); /* "==9.1.0"; out may be NULL */

/* ---- what several hosts accept ---- */

struct wc_hosts {
    const struct wc_object *p[16];
    size_t n;
};
enum { WC_DEMANDS_MOST = 64 };
#define WC_MAJOR_MOST 1000 /* a hostile log may name any */
struct wc_demands {
    const struct wc_demand_record *p[WC_DEMANDS_MOST];
    size_t n;
};
/* The first releases from *low to below *high (NONE: no end) that none of these demands refuses.
 * False: there are none, or nothing is demanded. */
bool wc_accepted_releases(const struct wc_demands *all, struct wc_version *low,
                          struct wc_version *high);
/* The same of all demands of these hosts. */
bool wc_common_releases(const struct wc_stack *s, const struct wc_hosts *hosts,
                        struct wc_version *low, struct wc_version *high);
/* ">=9.1,<10" of them. */
const char *wc_format_releases(struct wc_arena *memory, struct wc_version low,
                               struct wc_version high);

/* ---- facts that several findings give ---- */

/* The same file as an object, for code that asks objects; f NULL: only its path is known. */
struct wc_object wc_file_as_object(const struct wc_file_record *f, const char *path);

/* ---- the loader's search, replayed ---- */

/* By which o was found; NULL: not known. */
const struct wc_searched *wc_search_of(const struct wc_stack *s, const struct wc_object *o);
/* Where the loader looked for what it did not find; NULL: not known. */
const struct wc_searched *wc_search_in_vain(const struct wc_stack *s, const struct wc_failure *f);
/* A library that would load: that with the path, or (NULL) the first after the one taken. Of no
 * search there is none. */
const struct wc_candidate *wc_candidate_of(const struct wc_stack *s, const struct wc_searched *f,
                                           const char *path);
/* What it would have pointed to with LD_LIBRARY_PATH as the process has set it since; NULL: that is
 * not known, or the same. */
const struct wc_candidate *wc_later_of(const struct wc_stack *s, const struct wc_searched *f);

/* ---- the loader's words ---- */

/* A sound file of the library of this name that was looked at for that request: the file that the
 * loader found, where it found one. NULL: none. */
const struct wc_file_record *wc_file_like(const struct wc_stack *s, const struct wc_failure *f,
                                          const char *name);
/* Does what a file is called, or asked for by, have to do with cuDNN, CUDA or a framework? */
bool wc_file_matters(const char *file);
/* Does the SONAME belong to another library than this name, or to another major of it? */
bool wc_is_false_name(const char *name, const char *soname);
/* Has cuDNN or CUDA to do with it? */
bool wc_symbol_version_matters(const struct wc_stack *s, const struct wc_said *u);
/* A library was asked for, not a symbol. */
static inline bool wc_is_load(const struct wc_failure *f) {
    return f->r.operation != WC_operation_DLSYM && f->r.operation != WC_operation_DLVSYM;
}
/* By that name, without a directory; false: it is one that the library asked for needs. */
bool wc_is_asked_for(const struct wc_failure *f, const char *name);
