/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding in the making and its words: built in the scratch arena, of bounded texts.
 */
#pragma once

#include "questions.h"

/* A hostile log could make more; what is beyond is counted in wc_findings.lost. */
#define WC_FINDINGS_MOST 64

struct wc_diagnosis;
#define FINDING(name, id, severity, title) void wc_find_##name(struct wc_diagnosis *d);
#include "findings.def"

/* ---- a finding in the making ---- */

#define WC_CASE_FACTS 40

/* Did the reported fault have an effect? With the severity of its row this decides
 * (core/demand/shared/case.c).
 */
enum wc_effect {
    WC_EFFECT_FELT,
    WC_EFFECT_DOUBTED, /* it may have none: foreseen, or the process went on, or another is it */
    WC_EFFECT_NONE
};

struct wc_case {
    struct wc_diagnosis *d;
    struct wc_finding_record r; /* facts are put in by wc_case_end */
    struct wc_fact fact[WC_CASE_FACTS];
    struct wc_typed_fact typed[WC_CASE_FACTS];
    size_t facts;
    int64_t more; /* facts that found no place */
    bool lost;    /* memory ended */
    enum wc_effect effect;
    bool on_disk; /* it concerns only files, whatever runs */
};

struct wc_use { /* a host's calls of cuDNN end in this library */
    const struct wc_object *host, *library;
};

struct wc_diagnosis {
    const struct wc_stack *s;
    struct wc_arena *scratch;
    struct wc_findings *out;
    const struct wc_finding_kind *kind; /* the row whose function runs */
    struct wc_case making;              /* one at a time */
    WC_LIST(wc_use, uses);
    WC_LIST(wc_judgement, judged); /* every refused one of the uses */
};

/* A text in the scratch arena, by wc_text_format; NULL when memory ended (then the whole finding is
 * counted as lost). */
const char *wc_format(struct wc_case *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *wc_format_version(struct wc_case *c, struct wc_version v);
/* The last element of a path for a sentence: short, no control characters; "?" for NULL. */
const char *wc_format_name(struct wc_case *c, const char *path);
/* Such names, with commas between; NULL of none. */
const char *wc_format_list(struct wc_case *c, const char *const *names, size_t n);

/* Id and usual severity are those of the row. It is about a library, and a host; NULL: none. */
struct wc_case *wc_case_begin(struct wc_diagnosis *d, const struct wc_object *o,
                              const struct wc_object *host);
/* Nothing is copied: text from the stack, from wc_format or literal. A NULL value is left out. */
void wc_case_fact(struct wc_case *c, enum wc_fact_role role, const char *value);
/* From another source than such facts usually are. */
void wc_case_fact_from(struct wc_case *c, enum wc_fact_role role, const char *value,
                       const char *source);
/* The value says more than the path that it is about. */
void wc_case_fact_at(struct wc_case *c, enum wc_fact_role role, const char *path, const char *value,
                     const char *source);
void wc_case_named(struct wc_case *c, const char *name, const char *value, const char *source);
/* It is about this library of cuDNN, or else about this host; NULL: neither. */
void wc_case_about(struct wc_case *c, const struct wc_object *o);
void wc_case_end(struct wc_case *c);

/* An error found before, one of `ids` (up to NULL), about `object` or about nothing in particular:
 * its id, NULL if there is none. object WC_NULL: about anything. */
const char *wc_found_before(const struct wc_diagnosis *d, int64_t object, ...)
    __attribute__((sentinel));
bool wc_reported_before(const struct wc_diagnosis *d, const char *first_fact); /* of this kind */
/* Has f that reason, was it not made good, and was its culprit not reported before? */
bool wc_is_unreported(const struct wc_diagnosis *d, const struct wc_failure *f,
                      enum wc_reason reason);
bool wc_has_error(const struct wc_diagnosis *d); /* was any found before? */

/* ---- objects ---- */

/* Calls look() for each facade, at most 16. */
void wc_each_facade(struct wc_diagnosis *d, bool mapped,
                    void (*look)(struct wc_diagnosis *d, const struct wc_object *facade));
const char *wc_format_directory(struct wc_case *c, const char *path);      /* of a file */
const char *wc_directory_of(struct wc_case *c, const struct wc_object *o); /* NULL: unknown */
void wc_case_variable(struct wc_case *c, const char *name);

/* ---- versions ---- */

const char *wc_format_range(struct wc_case *c, struct wc_range r);
const char *wc_format_own(struct wc_case *c, const struct wc_object *o);
/* The release of a CUDA dependency; NULL: not known. */
const char *wc_cuda_release(struct wc_case *c, const struct wc_object *o);

void wc_case_runtime(struct wc_case *c, const struct wc_runtime *runtime);

/* ---- which library belongs to which ---- */

void wc_find_uses(struct wc_diagnosis *d);

/* ---- which CUDA ---- */

void wc_case_cuda(struct wc_case *c, const struct wc_object *facade);

/* ---- demands ---- */

struct wc_judgement { /* a use that a demand of the host refuses */
    const struct wc_object *host, *library;
    const struct wc_demand *strongest; /* of those that fail as `fit` says */
    enum wc_fit fit;
    struct wc_runtime runtime;
    bool by_symbols_alone;   /* nothing else fails */
    bool by_pin_alone;       /* no rule refuses it: a package requires another one by name */
    bool own_would_fit;      /* the facade's own version is accepted; what it runs with is not */
    bool reported_elsewhere; /* another host with the same demand reports it */
    int64_t weight;          /* functions that the host uses */
};
void wc_judge_all(struct wc_diagnosis *d);
bool wc_is_refused(const struct wc_diagnosis *d, const struct wc_object *host);

/* "requires 9.26.0", for a title; whole: as its source has it. */
const char *wc_format_demand(struct wc_case *c, const struct wc_demand_record *r, bool whole);
void wc_case_demand(struct wc_case *c, enum wc_fact_role role, const struct wc_demand_record *r);

/* ---- facts that several findings give ---- */

/* The name that people know: "jaxlib 0.10.2", which has that host; else its framework, else the
 * file; of libraries of cuDNN and CUDA the file. */
const char *wc_format_who(struct wc_case *c, const struct wc_object *o);
/* Of a file that asks: the script, where it is what scripts ask by. */
const char *wc_format_asker(struct wc_case *c, const char *path);
/* "nvidia-cudnn-cu12 9.1.0.70 (wheel)"; NULL: unknown. */
const char *wc_format_installation(struct wc_case *c, const struct wc_object *o);
/* Path, version, installation, the requester and by which rule it was found, under `role`; of a
 * facade also what else stands where the loader looks; o NULL: nothing. */
void wc_case_library(struct wc_case *c, enum wc_fact_role role, const struct wc_object *o);
void wc_case_asker(struct wc_case *c, const struct wc_object *o);
/* Path, what it really is and its installation, of a file that was looked at. */
void wc_case_file(struct wc_case *c, enum wc_fact_role role, const struct wc_file_record *f,
                  const char *source);

/* ---- the loader's search, replayed ---- */

/* What the object that never searched would have found; f NULL: nothing. */
void wc_case_own_search(struct wc_case *c, const struct wc_searched *f);
/* Each directory that was looked into, and what is there; f NULL: nothing. */
void wc_case_searched(struct wc_case *c, const struct wc_searched *f);
/* That LD_LIBRARY_PATH was set after the start, where it would have pointed to the library. */
void wc_case_later(struct wc_case *c, const struct wc_searched *f);

/* ---- the loader's words ---- */

void wc_case_request(struct wc_case *c, const struct wc_failure *f); /* and the loader's words */
void wc_case_asked_by(struct wc_case *c, const struct wc_failure *f);
const char *wc_format_caller(struct wc_case *c, const struct wc_failure *f);
/* "jaxlib 0.10.2 asked for libcudnn.so.9", "libcudnn.so.9 needs libcublas.so.12": for a title.
 * library: because of which f failed. */
const char *wc_format_wanted(struct wc_case *c, const struct wc_failure *f, const char *library);
