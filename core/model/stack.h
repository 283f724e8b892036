/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model: what is known of one process. Every reader (the shim, a log, later a directory tree or
 * a running process) makes records and applies them here; diagnose() reads it.
 */
#pragma once

#include "core/version/version.h"
#include "whichcudnn/record.h"

/* Each entry holds the newest record of its thing. Strings live in the stack's arena. */
struct wc_object {
    struct wc_object_record r;
    int64_t seq;
    struct wc_version version, floor, ceiling; /* parsed from r */
};
struct wc_package {
    struct wc_package_record r;
    int64_t seq;
};
struct wc_demand {
    struct wc_demand_record r;
    int64_t seq;
};
struct wc_binding {
    struct wc_binding_record r;
    int64_t seq;
};
struct wc_failure {
    struct wc_failure_record r;
    int64_t seq, tid;
};
struct wc_searched {
    struct wc_search_record r;
    int64_t seq;
};
struct wc_candidate { /* a candidate that was not taken */
    struct wc_candidate_record r;
    int64_t seq;
    struct wc_version version; /* parsed from r */
};
struct wc_file {
    struct wc_file_record r;
    int64_t seq;
};
struct wc_call {
    struct wc_call_record r;
    int64_t seq, tid;
};
struct wc_unobserved {
    struct wc_unobserved_record r;
    int64_t seq;
};
struct wc_noted_finding { /* as an earlier diagnose() gave it live; not input of diagnose() */
    struct wc_finding_record r;
    int64_t seq, time;
};

#define WC_LIST(type, name)                                                                        \
    struct {                                                                                       \
        struct type *p;                                                                            \
        size_t n, room;                                                                            \
    } name

#define WC_STACK_SEEN 128

struct wc_stack {
    struct wc_arena *arena;
    const char *seen[WC_STACK_SEEN]; /* strings kept lately, by hash: equal ones are stored once */
    bool keep_findings; /* the command keeps finding records for the timeline; the shim does not */
    bool replayed;      /* nothing of it has run: files, and the loader's rules over them */
    struct wc_process_record process;
    struct wc_machine_record machine;
    struct wc_summary_record summary;
    struct wc_outcome_record outcome;
    bool has_process, has_machine, has_summary, has_outcome;
    WC_LIST(wc_object, objects);
    WC_LIST(wc_package, packages);
    WC_LIST(wc_demand, demands);
    WC_LIST(wc_binding, bindings);
    WC_LIST(wc_failure, failures);
    WC_LIST(wc_searched, searches);
    WC_LIST(wc_candidate, candidates);
    WC_LIST(wc_file, files);
    WC_LIST(wc_call, calls);
    WC_LIST(wc_unobserved, unobserved);
    WC_LIST(wc_noted_finding, findings);
    int64_t requests; /* request records applied */
    int64_t dropped;  /* facts that found no memory, or more than the limits below */
};
#define WC_STACK_MOST 4096 /* entries of each list */

void wc_stack_begin(struct wc_stack *s, struct wc_arena *arena);
/* Takes the record in, copying what it keeps. An object with a known number replaces the older
 * entry; so does the same package (name, environment) and the same demand (host, kind, source); a
 * binding with the same host, target and how adds its functions; a search with a known number
 * replaces the older one; a failure replaces the one inferred for its request, and the same one
 * told before; a file the one of its path and request. False: no room (counted in dropped), and
 * what was there stays. Request records are only counted. */
bool wc_stack_apply(struct wc_stack *s, const struct wc_record *r);

const struct wc_object *wc_stack_object(const struct wc_stack *s, int64_t object); /* NULL */
/* Was it written already that this was not observed? */
bool wc_stack_has_unobserved(const struct wc_stack *s, const char *what, const char *path);
/* Do two objects lie in one installation? By installation_path where both have one, else by the
 * directory of their real paths; true where neither is known: nothing says that they differ. */
bool wc_same_installation(const struct wc_object *a, const struct wc_object *b);
/* 64-bit mark of the stack as hexadecimal: hosts, facade, parts, cuda_dependencies with versions,
 * build-ids, bindings; no pids, times, addresses, absolute prefixes. */
void wc_stack_fingerprint(const struct wc_stack *s, char out[17]);
