/* SPDX-License-Identifier: Apache-2.0 */
#include "in_flight.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "tools/util/memory.h"

#define THREADS_MOST 65536 /* a log may have ever new ones */

struct flight {
    UT_hash_handle hh;
    int64_t tid, seq;
    int64_t request;             /* its number; WC_NULL: it is a call */
    char *what;                  /* of a request: made when it is asked for */
    char *within;                /* of a request: the function that made it; NULL: none is known */
    bool over;                   /* that function came back */
    enum wc_operation operation; /* of a request, as its record has it */
    char *name, *caller;
    int64_t caller_object, flags;
    UT_hash_handle in_requests; /* the latter of a request with a number */
};

static void forget(struct in_flight *f, struct flight *one) {
    HASH_DEL(f->by_thread, one);
    if (one->request != WC_NULL)
        HASH_DELETE(in_requests, f->by_request, one);
    free(one->what);
    free(one->within);
    free(one->name);
    free(one->caller);
    free(one);
}

static struct flight *begin(struct in_flight *f, const struct wc_record *r, int64_t request,
                            char *what) {
    struct flight *one;

    HASH_FIND(hh, f->by_thread, &r->tid, sizeof(r->tid), one);
    char *within = request == WC_NULL || !one || one->over
                       ? NULL
                       : must_copy(one->request == WC_NULL ? one->what : one->within);
    if (!one && HASH_COUNT(f->by_thread) == THREADS_MOST)
        one = f->by_thread; /* the first that was noted */
    if (one)
        forget(f, one);
    one = must_allocate(sizeof(*one));
    one->tid = r->tid;
    one->what = what;
    one->within = within;
    one->seq = r->seq;
    one->request = request;
    HASH_ADD(hh, f->by_thread, tid, sizeof(one->tid), one);
    if (request != WC_NULL)
        HASH_ADD(in_requests, f->by_request, request, sizeof(one->request), one);
    return one;
}

void in_flight_note(struct in_flight *f, const struct wc_record *r) {
    const struct wc_request_record *q = &r->u.request;
    const int64_t *failed = &r->u.failure.request;
    struct flight *one;

    if (r->kind == WC_KIND_request) {
        one = begin(f, r, q->request, NULL);
        one->operation = q->operation;
        one->name = must_copy(q->name);
        one->caller = must_copy(q->caller);
        one->caller_object = q->caller_object;
        one->flags = q->flags;
    } else if (r->kind == WC_KIND_call) {
        const char *function = r->u.call.function ? r->u.call.function : "call";
        HASH_FIND(hh, f->by_thread, &r->tid, sizeof(r->tid), one);
        if (r->u.call.phase == WC_phase_BEFORE)
            begin(f, r, WC_NULL, must_copy(function));
        else if (one && one->request == WC_NULL && one->what && strcmp(one->what, function) == 0)
            forget(f, one);
        else if (one && one->within && strcmp(one->within, function) == 0)
            one->over = true;
    } else if (r->kind == WC_KIND_failure) {
        do { /* a damaged log may give a number twice */
            HASH_FIND(in_requests, f->by_request, failed, sizeof(*failed), one);
            if (one)
                forget(f, one);
        } while (one);
    } else if (r->kind == WC_KIND_summary) {
        in_flight_end(f);
    }
}

static struct flight *newest(const struct in_flight *f, bool with_over) {
    struct flight *last = NULL;

    for (struct flight *one = f->by_thread; one; one = one->hh.next)
        if ((with_over || !one->over) && (!last || one->seq > last->seq))
            last = one;
    return last;
}

const char *in_flight_last(const struct in_flight *f, int64_t *seq) {
    struct flight *last = newest(f, false);
    const char *operation = last ? wc_enum_word(WC_ENUM_operation, last->operation) : NULL;

    *seq = last ? last->seq : WC_NULL;
    if (last && !last->what)
        last->what = must_format("%s %s", operation ? operation : "request",
                                 last->name ? last->name : "of the program itself");
    return last ? last->what : NULL;
}

bool in_flight_failure(const struct in_flight *f, struct wc_record *out) {
    const struct flight *last = newest(f, true);

    if (!last || last->request == WC_NULL || !last->name || (last->flags & RTLD_NOLOAD))
        return false;
    wc_record_begin(out, WC_KIND_failure);
    out->u.failure.request = last->request;
    out->u.failure.operation = last->operation;
    out->u.failure.name = last->name;
    out->u.failure.caller = last->caller;
    out->u.failure.caller_object = last->caller_object;
    out->u.failure.inferred = true;
    return true;
}

void in_flight_rewrite(struct in_flight *f, void (*replace)(const void *arg, char **text),
                       const void *arg) {
    for (struct flight *one = f->by_thread; one; one = one->hh.next) {
        replace(arg, &one->what);
        replace(arg, &one->name);
        replace(arg, &one->caller);
    }
}

void in_flight_end(struct in_flight *f) {
    struct flight *one, *next;

    HASH_ITER(hh, f->by_thread, one, next) {
        forget(f, one);
    }
}
