/* SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <cudnn.h>

#include "arch.h"
#include "core/model/status.h"
#include "journal.h"
#include "objects.h"
#include "self.h"
#include "slots.h"
#include "start.h"
#include "state.h"
#include "sys.h"
#include "thread.h"
#include "watched.h"

/* ---- instances ---- */

struct call {
    int row;
    struct instance *in;
    uintptr_t return_address;
};

static uintptr_t heed_before(struct instance *in, const uintptr_t *frame);
static void heed_after(struct instance *in, const uintptr_t *frame, uintptr_t value);
static void heed_result(struct instance *in, uintptr_t return_address, uintptr_t value);

static uintptr_t hand_out(const struct instance *in) {
    shim_heeders = (struct heeders){heed_before, heed_after, heed_result};
    return watched_wrapper_of(in);
}

/* of: the library or the lazy host that it is for, NULL: not known. The first calls of a library
 * that is opened and closed again and again would fill the disk, so at some point they are not
 * recorded. */
static struct instance *take_instance(int row, uintptr_t target, const struct object *of) {
    return watched_take(row, target, of && object_is_emitted_enough(of));
}

uintptr_t call_wrapper(int row, uintptr_t target, const struct object *library) {
    struct instance *in = watched_instance_of(row, 0, target);
    if (!in && !(in = take_instance(row, target, library)))
        return 0;
    in->library = library->l.number;
    return hand_out(in);
}

extern HIDDEN const char shim_call_lazy[]; /* arch/wrappers.inc */

uintptr_t call_wrapper_lazy(int row, const struct slot *slot, const struct object *host,
                            const uintptr_t *got) {
    struct instance *in = watched_instance_of(row, slot->address, 0);
    if (!in && !(in = take_instance(row, slot->target, host)))
        return 0;
    in->slot = slot->address;
    in->host = host->l.number;
    in->lazy = true;
    watched_heed(in, true);
    /* Set each time: the host may have been reloaded. */
    in->passed = ARCH_LAZY_PASSES(in, slot->number);
    in->map = got[1];
    in->resolver = got[2];
    in->put_back = 0;
    watched_lead_to(in, slot->target, (uintptr_t)shim_call_lazy);
    return hand_out(in);
}

/* ---- recording a call ---- */

static const struct object *library_of(const struct instance *in) {
    const struct object *o = objects_number(in->library);
    return o || in->lazy ? o : objects_at(in->target);
}

static void begin_record(struct wc_record *r, const struct call *c, enum wc_phase phase) {
    const struct object *host = objects_at(c->return_address);
    const struct object *library = library_of(c->in);
    wc_record_begin(r, WC_KIND_call);
    r->u.call.function = watched[c->row].name;
    r->u.call.phase = phase;
    r->u.call.host = host ? host->l.number : WC_NULL;
    r->u.call.host_path = host ? host->l.path : NULL;
    r->u.call.target = library ? library->l.number : WC_NULL;
    r->u.call.target_path = library ? library->l.path : NULL;
}

static void emit_first_call(const struct call *c) {
    struct wc_record r;
    c->in->call = FIRST_CALL_UNDERWAY;
    c->in->first_thread = self_tid();
    begin_record(&r, c, WC_phase_BEFORE);
    journal_open_relevant();
    journal_add(&r);
    journal_diagnose();
}

static uintptr_t return_address_of(const struct instance *in, const uintptr_t *frame) {
    const struct watched *w = &watched[watched_row_of(in)];
    return ARCH_RETURN_ADDRESS(frame, w->result == STATUS, w->words);
}

static uintptr_t heed_before(struct instance *in, const uintptr_t *frame) {
    const struct call c = {watched_row_of(in), in, return_address_of(in, frame)};
    if (!thread_enter())
        return watched[c.row].words;
    /* Other threads that make this call wait here until the record is written. */
    if (state_take()) {
        /* A tracer of the PLT (uftrace) may have taken this wrapper for the function and written
         * the lazy value back into the slot, to see each call. The loader overwrites that value in
         * this call, so it is kept here. */
        if (in->lazy && objects_number(in->host) &&
            __atomic_load_n((uintptr_t *)in->slot, __ATOMIC_ACQUIRE) == in->target)
            in->put_back = in->target;
        if (in->call == FRESH)
            emit_first_call(&c);
        state_leave();
    }
    thread_leave();
    return watched[c.row].words;
}

/* The instance for a resolved slot: that of its target. The instance of the lazy slot has to stay
 * as it is as long as the host is loaded, because threads may be entering it. */
static struct instance *instance_for_good(const struct call *c, uintptr_t target) {
    struct instance *in = watched_instance_of(c->row, 0, target);
    if (!in && !(in = take_instance(c->row, target, objects_number(c->in->library))))
        return c->in;
    if (c->in->call == FIRST_CALL_UNDERWAY && in->call == FRESH) {
        in->call = SEEN; /* this call, and its failure, were recorded for the lazy instance */
        watched_heed(in, false);
        in->failures = c->in->failures;
        wc_mem_copy(in->failure, c->in->failure, sizeof in->failure);
    }
    in->library = c->in->library;
    return in;
}

/* The loader has written the target over our wrapper in a lazy slot. That is the binding; our
 * wrapper, or a tracer's value, goes back into the slot. Several threads may do this at once. */
static void resolve_lazy(const struct call *c) {
    const struct object *host = objects_number(c->in->host);
    uintptr_t target = __atomic_load_n((uintptr_t *)c->in->slot, __ATOMIC_ACQUIRE);
    /* If the call loaded a library, all slots were read: this may have its record and wrapper. */
    const struct instance *there = watched_instance_at(target);
    bool rewritten = there && there != c->in && !there->lazy;
    target = rewritten ? there->target : target;
    if (!host || watched_instance_at(target) || target - host->low < host->high - host->low)
        return;
    const struct object *library = objects_at(target);
    bool first = c->in->lazy && !rewritten;
    c->in->library = library ? library->l.number : WC_NULL;
    watched_lead_to(c->in, target, target);
    c->in->lazy = false;
    struct instance *in = instance_for_good(c, target);
    __atomic_store_n((uintptr_t *)c->in->slot,
                     c->in->put_back ? c->in->put_back : watched_wrapper_of(in), __ATOMIC_RELEASE);
    if (first && !object_is_emitted_enough(host))
        slots_emit_resolved(host, library, watched[c->row].name);
}

/* Is this failure recorded? Needs no lock. */
static bool is_failure_recorded(const struct instance *in, int64_t status) {
    unsigned kinds = __atomic_load_n(&in->failures, __ATOMIC_ACQUIRE);
    return kinds == FAILURE_KINDS ||
           WC_ANY(one, WC_ITEMS(in->failure, kinds), *one == (short)status);
}

static void record_result(const struct call *c, uintptr_t value) {
    struct instance *in = c->in;
    struct wc_record r;
    bool is_status = watched[c->row].result == STATUS;
    bool first = in->call == FIRST_CALL_UNDERWAY && in->first_thread == self_tid();
    bool new_failure = is_status && (cudnnStatus_t)value != CUDNN_STATUS_SUCCESS &&
                       !is_failure_recorded(in, (cudnnStatus_t)value);
    if (new_failure) {
        in->failure[in->failures] = (short)(cudnnStatus_t)value;
        __atomic_store_n(&in->failures, in->failures + 1, __ATOMIC_RELEASE);
    }
    if (in->slot)
        resolve_lazy(c);
    if (first)
        in->call = SEEN;
    if (first || new_failure) {
        const struct object *library = library_of(in);
        begin_record(&r, c, WC_phase_AFTER);
        if (is_status) {
            r.u.call.status = (cudnnStatus_t)value;
            r.u.call.status_name = wc_status_name(r.u.call.status, library ? library->major : -1);
        } else if (c->row == ROW_cudnnGetVersion) {
            r.u.call.returned_version = (int64_t)value;
        }
        journal_add(&r);
        journal_diagnose();
    }
    watched_heed(in, in->lazy || in->call != SEEN);
}

/* A status that is not 0 the wrapper sees next. */
static void heed_after(struct instance *in, const uintptr_t *frame, uintptr_t value) {
    if (watched[watched_row_of(in)].result != STATUS ||
        (cudnnStatus_t)value == CUDNN_STATUS_SUCCESS)
        heed_result(in, return_address_of(in, frame), value);
}

static void heed_result(struct instance *in, uintptr_t return_address, uintptr_t value) {
    const struct call c = {watched_row_of(in), in, return_address};
    bool heeded = watched_is_heeded(in) || in->slot;
    if ((!heeded && is_failure_recorded(in, (cudnnStatus_t)value)) || !thread_enter())
        return;
    if (state_take()) {
        record_result(&c, value);
        state_leave();
    }
    thread_leave();
}
