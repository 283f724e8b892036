/* SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <cudnn.h>

#include "arch.h"
#include "core/model/status.h"
#include "journal.h"
#include "objects.h"
#include "self.h"
#include "slots.h"
#include "state.h"
#include "sys.h"
#include "thread.h"
#include "watched.h"
#include "whichcudnn/wrappers.h"

/* ---- the table ---- */

#define TYPE_STATUS cudnnStatus_t
#define TYPE_VERSION size_t
#define TYPE_TEXT const char *
#define TYPE_NOTHING void

/* Each prototype is the real header's. */
#define WATCH(name, result, parameters, arguments, first, last)                                    \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), TYPE_##result parameters),       \
                   "the prototype of " #name " differs from cudnn.h");
#if CUDNN_MAJOR >= 9
#define WATCH_8(name, result, parameters, arguments, first, last)
#else
#define WATCH_9(name, result, parameters, arguments, first, last)
#endif
#include "watched.def"

/* ---- the wrappers ---- */

struct call {
    enum row row;
    struct instance *in;
    uintptr_t return_address;
};
static void heed_call_before(const struct call *c);
static void heed_call_after(const struct call *c, int64_t value);

/* What a wrapper tells its slow way. It puts back what was there: in a signal handler the wrapper
 * that was interrupted may be about to tell. (Volatile: what lay in registers would have to be
 * saved by the fast way, too.) */
static __thread struct call heeded;

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define WRAPPER static __attribute__((noinline))
#define SLOW_WAY static __attribute__((noinline, cold))
#define CALL(name, k)                                                                              \
    ((struct call){ROW_##name, &instances[ROW_##name][k], (uintptr_t)__builtin_return_address(0)})
#define ENTRY(entry, result, parameters)                                                           \
    ((TYPE_##result(*) parameters)__atomic_load_n(&(entry), __ATOMIC_ACQUIRE))

/* What is wrong with a result, and what its record has of it. */
#define FAILED_STATUS(r) ((r) != CUDNN_STATUS_SUCCESS)
#define FAILED_VERSION(r) false
#define FAILED_TEXT(r) false
#define VALUE_STATUS(r) ((int64_t)(r))
#define VALUE_VERSION(r) ((int64_t)(r))
#define VALUE_TEXT(r) WC_NULL

/* Once its first call is over a wrapper loads one pointer, calls, and compares the status. All else
 * is in the slow way, a function of its own: no argument has to be kept for it. */
#define SLOW(name, result, parameters, arguments)                                                  \
    SLOW_WAY TYPE_##result slow_##name parameters {                                                \
        const struct call call_ = heeded;                                                          \
        heed_call_before(&call_);                                                                  \
        TYPE_##result result_ = ENTRY(call_.in->entry, result, parameters) arguments;              \
        heed_call_after(&call_, VALUE_##result(result_));                                          \
        return result_;                                                                            \
    }
#define WRAP(name, k, result, parameters, arguments)                                               \
    WRAPPER TYPE_##result wrap_##name##_##k parameters {                                           \
        TYPE_##result(*target_) parameters =                                                       \
            ENTRY(instances[ROW_##name][k].fast, result, parameters);                              \
        if (UNLIKELY(!target_)) {                                                                  \
            volatile struct call before_ = heeded;                                                 \
            heeded = CALL(name, k);                                                                \
            TYPE_##result slow_ = slow_##name arguments;                                           \
            heeded = before_;                                                                      \
            return slow_;                                                                          \
        }                                                                                          \
        TYPE_##result result_ = target_ arguments;                                                 \
        if (UNLIKELY(FAILED_##result(result_)))                                                    \
            heed_call_after(&CALL(name, k), VALUE_##result(result_));                              \
        return result_;                                                                            \
    }
/* The same, for what returns nothing. */
#define SLOW_NOTHING(name, parameters, arguments)                                                  \
    SLOW_WAY void slow_##name parameters {                                                         \
        const struct call call_ = heeded;                                                          \
        heed_call_before(&call_);                                                                  \
        ENTRY(call_.in->entry, NOTHING, parameters) arguments;                                     \
        heed_call_after(&call_, WC_NULL);                                                          \
    }
#define WRAP_NOTHING(name, k, parameters, arguments)                                               \
    WRAPPER void wrap_##name##_##k parameters {                                                    \
        void(*target_) parameters = ENTRY(instances[ROW_##name][k].fast, NOTHING, parameters);     \
        if (UNLIKELY(!target_)) {                                                                  \
            volatile struct call before_ = heeded;                                                 \
            heeded = CALL(name, k);                                                                \
            slow_##name arguments;                                                                 \
            heeded = before_;                                                                      \
            return;                                                                                \
        }                                                                                          \
        target_ arguments;                                                                         \
    }
#define SLOW_STATUS(name, parameters, arguments) SLOW(name, STATUS, parameters, arguments)
#define SLOW_VERSION(name, parameters, arguments) SLOW(name, VERSION, parameters, arguments)
#define SLOW_TEXT(name, parameters, arguments) SLOW(name, TEXT, parameters, arguments)
#define WRAP_STATUS(name, k, parameters, arguments) WRAP(name, k, STATUS, parameters, arguments)
#define WRAP_VERSION(name, k, parameters, arguments) WRAP(name, k, VERSION, parameters, arguments)
#define WRAP_TEXT(name, k, parameters, arguments) WRAP(name, k, TEXT, parameters, arguments)

#define WATCH(name, result, parameters, arguments, first, last)                                    \
    SLOW_##result(name, parameters, arguments) WRAP_##result(name, 0, parameters, arguments)       \
        WRAP_##result(name, 1, parameters, arguments)                                              \
            WRAP_##result(name, 2, parameters, arguments)                                          \
                WRAP_##result(name, 3, parameters, arguments)                                      \
                    WRAP_##result(name, 4, parameters, arguments)                                  \
                        WRAP_##result(name, 5, parameters, arguments)                              \
                            WRAP_##result(name, 6, parameters, arguments)                          \
                                WRAP_##result(name, 7, parameters, arguments)
#include "watched.def"

static void *const wrappers[ROWS][CALL_INSTANCES] __asm__("shim_wrappers") = {
#define WATCH(name, result, parameters, arguments, first, last)                                    \
    {(void *)wrap_##name##_0, (void *)wrap_##name##_1, (void *)wrap_##name##_2,                    \
     (void *)wrap_##name##_3, (void *)wrap_##name##_4, (void *)wrap_##name##_5,                    \
     (void *)wrap_##name##_6, (void *)wrap_##name##_7},
#include "watched.def"
};

/* struct wc_wrappers. Distances, since the page is read-only and nothing may be relocated in it;
 * only the assembler has them as constants. Never called. */
__attribute__((used, noinline)) static void emit_outside(void) {
    __asm__(".pushsection .rodata\n"
            "\t.p2align 2\n"
            "\t.ascii \"" WC_WRAPPERS_MARK "\"\n"
            "\t.long shim_wrappers - .\n"
            "\t.long shim_instances - .\n"
            "\t.long %c0, %c1, %c2\n"
            "\t.popsection"
            :
            : "i"(ROWS * CALL_INSTANCES), "i"(sizeof(struct instance)),
              "i"(offsetof(struct instance, target)));
}

/* Gives an instance out. */
static uintptr_t wrapper_of(int row, struct instance *in) {
    uintptr_t wrapper = (uintptr_t)wrappers[row][in - instances[row]];
    __atomic_store_n(&in->wrapper, wrapper, __ATOMIC_RELAXED);
    return wrapper;
}

/* of: the library or the lazy host that it is for, NULL: not known. What is opened and closed again
 * and again would fill the disk with its first calls. */
static struct instance *take_instance(int row, uintptr_t target, const struct object *of) {
    return watched_take(row, target, of && object_is_emitted_enough(of));
}

uintptr_t call_wrapper(int row, uintptr_t target, const struct object *library) {
    struct instance *in = watched_instance_of(row, target);
    if (!in && !(in = take_instance(row, target, library)))
        return 0;
    in->library = library->number;
    return wrapper_of(row, in);
}

static struct instance *instance_of_slot(int row, uintptr_t slot) {
    for (unsigned k = 0; k < CALL_INSTANCES; k++)
        if (instances[row][k].target && instances[row][k].slot == slot)
            return &instances[row][k];
    return NULL;
}

/* arch/lazy.inc: one for each instance. */
struct lazy {
    uintptr_t passed, plt;
};
extern __attribute__((visibility("hidden"))) struct lazy shim_lazy[];
extern __attribute__((visibility("hidden"))) const char shim_lazy_entries[];

/* What the wrapper of an instance calls while its slot is lazy. */
static uintptr_t lazy_entry(const struct instance *in, const struct slot *slot) {
    size_t n = (size_t)(in - instances[0]);
    shim_lazy[n].passed = ARCH_LAZY_PASSES(slot->address, slot->number);
    shim_lazy[n].plt = slot->target;
    return (uintptr_t)shim_lazy_entries + n * ARCH_LAZY_ENTRY_SIZE;
}

uintptr_t call_wrapper_lazy(int row, const struct slot *slot, const struct object *host) {
    struct instance *in = instance_of_slot(row, slot->address);
    if (!in && !(in = take_instance(row, slot->target, host)))
        return 0;
    in->slot = slot->address;
    in->host = host->number;
    in->lazy = true;
    watched_heed(in, true);
    /* The host may have been loaded anew. */
    watched_lead_to(in, slot->target, lazy_entry(in, slot));
    return wrapper_of(row, in);
}

/* ---- the slow way ---- */

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
    if (host) {
        r->u.call.host = host->number;
        r->u.call.host_path = host->path;
    }
    if (library) {
        r->u.call.target = library->number;
        r->u.call.target_path = library->path;
    }
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

static void heed_call_before(const struct call *c) {
    if (!thread_enter())
        return;
    /* Other threads wait here, too, until the record is written. */
    if (state_take()) {
        if (c->in->call == FRESH)
            emit_first_call(c);
        state_leave();
    }
    thread_leave();
}

/* The wrapper that a resolved slot gets: the one of its target, for the host's own instance has to
 * stay as it is while the host does: threads may be on their way into it. */
static struct instance *instance_for_good(const struct call *c, uintptr_t target) {
    struct instance *in = watched_instance_of((int)c->row, target);
    if (!in && !(in = take_instance((int)c->row, target, objects_number(c->in->library))))
        return c->in;
    if (c->in->call == FIRST_CALL_UNDERWAY && in->call == FRESH) {
        in->call = SEEN; /* this very call was told, and how it failed */
        watched_heed(in, false);
        in->failures = c->in->failures;
        wc_mem_copy(in->failure, c->in->failure, sizeof in->failure);
    }
    in->library = c->in->library;
    return in;
}

/* A call through a lazy slot let the loader write the target over us: that is the binding, and we
 * return to the slot. So does each of several threads that were resolving it at once. */
static void resolve_lazy(const struct call *c) {
    const struct object *host = objects_number(c->in->host);
    uintptr_t target = __atomic_load_n((uintptr_t *)c->in->slot, __ATOMIC_ACQUIRE);
    /* A load inside of the call had all slots looked at: this one is told and ours again. */
    const struct instance *there = watched_instance_at(target);
    bool told = there && there != c->in && !there->lazy;
    target = told ? there->target : target;
    if (!host || watched_instance_at(target) || target - host->low < host->high - host->low)
        return;
    const struct object *library = objects_at(target);
    bool first = c->in->lazy && !told;
    c->in->library = library ? library->number : WC_NULL;
    watched_lead_to(c->in, target, target);
    c->in->lazy = false;
    struct instance *in = instance_for_good(c, target);
    __atomic_store_n((uintptr_t *)c->in->slot, wrapper_of(c->row, in), __ATOMIC_RELEASE);
    if (first && !object_is_emitted_enough(host))
        slots_emit_resolved(host, library, watched[c->row].name);
}

/* Also without the lock. */
static bool is_told(const struct instance *in, int64_t status) {
    unsigned told = __atomic_load_n(&in->failures, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < told; i++)
        if (in->failure[i] == (short)status)
            return true;
    return told == FAILURE_KINDS;
}

static bool is_new_failure(struct instance *in, int64_t status) {
    if (is_told(in, status))
        return false;
    in->failure[in->failures] = (short)status;
    __atomic_store_n(&in->failures, in->failures + 1, __ATOMIC_RELEASE);
    return true;
}

static void emit_result(const struct call *c, int64_t value) {
    const struct object *library = library_of(c->in);
    struct wc_record r;
    begin_record(&r, c, WC_phase_AFTER);
    if (watched[c->row].result == STATUS) {
        r.u.call.status = value;
        r.u.call.status_name = wc_status_name(value, library ? library->major : -1);
    } else if (c->row == ROW_cudnnGetVersion) {
        r.u.call.returned_version = value;
    }
    journal_add(&r);
    journal_diagnose();
}

static void after(const struct call *c, int64_t value) {
    bool failed = watched[c->row].result == STATUS && value != CUDNN_STATUS_SUCCESS;
    bool first = c->in->call == FIRST_CALL_UNDERWAY && c->in->first_thread == self_tid();
    bool told = failed && is_new_failure(c->in, value);
    if (c->in->slot)
        resolve_lazy(c);
    if (first)
        c->in->call = SEEN;
    if (first || told)
        emit_result(c, value);
    watched_heed(c->in, c->in->lazy || c->in->call != SEEN);
}

static void heed_call_after(const struct call *c, int64_t value) {
    bool heeded_yet = __atomic_load_n(&c->in->fast, __ATOMIC_ACQUIRE) == 0 || c->in->slot;
    if ((!heeded_yet && is_told(c->in, value)) || !thread_enter())
        return;
    if (state_take()) {
        after(c, value);
        state_leave();
    }
    thread_leave();
}
