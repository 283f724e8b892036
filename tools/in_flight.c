/* See in_flight.h. */
#include "in_flight.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "memory.h"

struct flight {
    int64_t tid, seq;
    int64_t request; /* its number; WC_NULL: it is a call */
    char *what;
    UT_hash_handle hh;
};

static void forget(struct in_flight *f, struct flight *one) {
    HASH_DEL(f->by_thread, one);
    free(one->what);
    free(one);
}

static struct flight *find(const struct in_flight *f, int64_t tid) {
    struct flight *one;

    HASH_FIND(hh, f->by_thread, &tid, sizeof(tid), one);
    return one;
}

static void begin(struct in_flight *f, const struct wc_record *r, int64_t request, char *what) {
    struct flight *one = find(f, r->tid);

    if (!one) {
        one = must_allocate(sizeof(*one));
        one->tid = r->tid;
        HASH_ADD(hh, f->by_thread, tid, sizeof(one->tid), one);
    }
    free(one->what);
    one->what = what;
    one->seq = r->seq;
    one->request = request;
}

static void note_request(struct in_flight *f, const struct wc_record *r) {
    const struct wc_request_record *q = &r->u.request;
    const char *operation = wc_enum_word(WC_ENUM_operation, q->operation);

    begin(f, r, q->request,
          must_format("%s %s", operation ? operation : "request",
                      q->name ? q->name : "of the program itself"));
}

static void note_call(struct in_flight *f, const struct wc_record *r) {
    const char *function = r->u.call.function ? r->u.call.function : "call";
    struct flight *one = find(f, r->tid);

    if (r->u.call.phase == WC_phase_BEFORE)
        begin(f, r, WC_NULL, must_copy(function));
    else if (one && one->request == WC_NULL && strcmp(one->what, function) == 0)
        forget(f, one);
}

static void note_failure(struct in_flight *f, const struct wc_record *r) {
    struct flight *one, *next;

    if (r->u.failure.request == WC_NULL)
        return;
    HASH_ITER(hh, f->by_thread, one, next) {
        if (one->request == r->u.failure.request)
            forget(f, one);
    }
}

void in_flight_note(struct in_flight *f, const struct wc_record *r) {
    switch (r->kind) {
    case WC_KIND_request:
        note_request(f, r);
        break;
    case WC_KIND_call:
        note_call(f, r);
        break;
    case WC_KIND_failure:
        note_failure(f, r);
        break;
    case WC_KIND_summary:
        in_flight_end(f);
        break;
    default:
        break;
    }
}

const char *in_flight_last(const struct in_flight *f, int64_t *seq) {
    const struct flight *last = NULL;

    for (const struct flight *one = f->by_thread; one; one = one->hh.next)
        if (!last || one->seq > last->seq)
            last = one;
    *seq = last ? last->seq : WC_NULL;
    return last ? last->what : NULL;
}

void in_flight_end(struct in_flight *f) {
    struct flight *one, *next;

    HASH_ITER(hh, f->by_thread, one, next) {
        forget(f, one);
    }
}
