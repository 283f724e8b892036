/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks.h"

#include <dlfcn.h>
#include <link.h>

#include "answers.h"
#include "calls.h"
#include "config.h"
#include "core/names/names.h"
#include "describe.h"
#include "entry.h"
#include "failed_files.h"
#include "failures.h"
#include "journal.h"
#include "listed.h"
#include "log.h"
#include "next.h"
#include "objects.h"
#include "requests.h"
#include "rescan.h"
#include "searches.h"
#include "slots.h"
#include "state.h"
#include "sys.h"
#include "thread.h"
#include "watched.h"

/* ---- the result of this thread's last request ---- */

/* With a message (text) the host may call dlerror again, so dlerror's state must stay: nothing here
 * calls the loader then, and the known objects show whether one answers to the name. */
static void conclude_request(const char *text) {
    int64_t number = this_thread.request;
    this_thread.request = 0;
    if (!number || !state_take())
        return;
    struct request *r = requests_find(number);
    /* Objects of another namespace are not on our list, so without a message the result is unknown.
     */
    bool unknown = r && !text && (r->operation == WC_operation_DLMOPEN || r->cut);
    bool open = r && !r->ended && r->name[0] && !(r->flags & RTLD_NOLOAD) && !unknown &&
                (journal_is_open() || r->hints || wc_name_hints(text));
    if (r)
        r->ended = !open;
    bool answered = open && (r->answered || objects_named(r->name));
    bool known = rescan_knows_names();
    if (open && !answered && !text && !known) {
        state_leave();
        known = rescan_load_chain();
        if (!state_take())
            return;
        r = requests_find(number);
    }
    if (open && r) {
        answered = answered || (!text && rescan_answers(r->name, known));
        if (answered)
            searches_emit_answered(r);
        if (answered || (!text && requests_same_file(r)))
            r->ended = true;
        else
            failures_emit_request(r, text);
    }
    state_leave();
}

/* Takes the lock. *path: of the object that the address is in; NULL: not known. wanted: look at
 * the loader's list if it is not known. */
static bool take_with_path(uintptr_t address, bool wanted, const char **path) {
    if (!state_take())
        return false;
    *path = rescan_known_path(address);
    if (*path || !wanted)
        return true;
    state_leave();
    *path = rescan_path_at(address);
    return state_take();
}

static void conclude_lookup(const char *text) {
    uintptr_t caller = (uintptr_t)this_thread.lookup_caller;
    const char *path = this_thread.lookup_path;
    this_thread.lookup_failed = false;
    if (this_thread.lookup_number && !text)
        return;
    if (path ? !state_take() : !take_with_path(caller, true, &path))
        return;
    const struct object *by = objects_at(caller);
    if (!this_thread.lookup_number)
        this_thread.lookup_number = journal_new_request();
    failures_emit_lookup(this_thread.lookup_number, this_thread.lookup, path,
                         by ? by->l.number : WC_NULL, text);
    state_leave();
}

/* Records the results of this thread's earlier calls. text: the loader's message; NULL: the host
 * did not call dlerror. */
static void conclude(const char *text) {
    if (this_thread.lookup_failed)
        conclude_lookup(text);
    else if (this_thread.request)
        conclude_request(text);
}

/* At every dl* call: the call takes the loader's lock itself, so waiting for it here costs nothing.
 */
static void catch_up(void) {
    if (this_thread.loads_since_rescan)
        rescan_second_chance();
    conclude(NULL);
}

/* ---- dlopen, dlmopen, dlclose ---- */

static enum wc_operation operation_of(unsigned entry) {
    return entry == ENTRY_DLOPEN ? WC_operation_DLOPEN : WC_operation_DLMOPEN;
}

static void before_open(unsigned entry, const char *name, int flags, uintptr_t return_address) {
    const char *caller;
    bool hints = wc_name_hints(name);
    if (name &&
        searches_matter(name)) /* now, as nothing may be read between a failure and dlerror */
        rescan_load_chain();
    /* The path is wanted if the request gets a record before it is made. */
    if (!take_with_path(return_address, hints || journal_is_open(), &caller))
        return;
    journal_open_if_eager();
    struct request *r =
        requests_note(operation_of(entry), name, flags, return_address, caller, hints);
    struct object *by = objects_at(return_address);
    if (by && by->l.role == WC_role_FACADE && name)
        describe_asked_version(by, name);
    if (by && object_is_cudnn(by) && hints)
        failed_files_replaced(r, by);
    if (entry == ENTRY_DLMOPEN)
        journal_unobserved("another namespace", "the loader shows it only to those inside", name);
    else if (name)
        failed_files_ahead(r);
    this_thread.request = r->number;
    state_leave();
}

/* ---- dlsym, dlvsym ---- */

struct lookup {
    void *handle;
    const char *name, *version; /* version NULL: dlsym */
    uintptr_t return_address;
    const struct object *caller; /* NULL: not known yet */
};

static uintptr_t watched_value(const struct object *host, const struct object *library,
                               const struct lookup *l, uintptr_t value) {
    int row = config.calls ? watched_row(l->name, library->major) : NOT_WATCHED;
    uintptr_t wrapper = row == NOT_WATCHED ? 0 : call_wrapper(row, value, library);
    slots_emit_lookup(host, library, l->name, wrapper != 0);
    uintptr_t answer = wrapper ? wrapper : value;
    answers_note(&(struct answer_key){host, value, answers_hash(l->name)}, answer);
    return answer;
}

/* The wrapper to return instead of a value that is in a cuDNN library, unless the caller is one
 * itself. The function's name by itself never decides. */
static uintptr_t value_or_wrapper(const struct lookup *l, uintptr_t value) {
    uintptr_t result = value;
    if (answers_find(&(struct answer_key){l->caller, value, answers_hash(l->name)}, &result))
        return result;
    if (!state_take())
        return value;
    const struct object *library = objects_at(value);
    if (!library && rescan_is_outdated()) {
        state_leave();
        rescan_second_chance();
        if (!state_take())
            return value;
        library = objects_at(value);
    }
    const struct object *host = objects_at(l->return_address);
    bool ours = library && object_is_cudnn(library) && !(host && object_is_cudnn(host));
    bool promote = ours && !(host && host->l.role == WC_role_HOST);
    if (ours && !promote)
        result = watched_value(host, library, l, value);
    state_leave();
    if (!promote)
        return result;
    int64_t number = rescan_promote(l->return_address);
    if (!state_take())
        return value;
    host = objects_number(number);
    library = objects_at(value);
    if (host && library)
        result = watched_value(host, library, l, value);
    state_leave();
    return result;
}

/* Records it at once, because the host may abort without another dl call. If it calls dlerror, a
 * second record has the message. */
static void note_failed_lookup(const struct lookup *l) {
    const char *path = l->caller ? l->caller->l.path : this_thread.lookup_path;
    wc_str_copy(this_thread.lookup, sizeof this_thread.lookup, l->name);
    this_thread.lookup_caller = (int64_t)l->return_address;
    this_thread.lookup_failed = true;
    this_thread.lookup_number = 0;
    if (!path || !state_take())
        return;
    this_thread.lookup_number = journal_new_request();
    failures_emit_lookup(this_thread.lookup_number, l->name, path,
                         l->caller ? l->caller->l.number : WC_NULL, NULL);
    state_leave();
}

static struct entry_answer hook_lookup(struct lookup *l, uintptr_t next) {
    bool pseudo = l->handle == RTLD_NEXT || l->handle == RTLD_DEFAULT;
    /* For each dlsym of the host: a loop would take a tenth more of what a lookup costs here. */
    const char *n = l->name;
    bool named = n && n[0] == 'c' && n[1] == 'u' && n[2] == 'd' && n[3] == 'n' && n[4] == 'n';
    bool behind = this_thread.walk == WALK_NEVER && this_thread.loads_since_rescan;
    if (pseudo || !(named || behind))
        return (struct entry_answer){next, 0};
    l->caller = objects_at(l->return_address);
    if (l->caller && object_is_cudnn(l->caller))
        return (struct entry_answer){next, 0};
    if (named) /* now, as nothing may be read after a failure */
        this_thread.lookup_path = l->caller ? NULL : rescan_path_if_new(l->return_address);
    /* With an explicit handle the result does not depend on the caller, so the hook may make the
     * call. */
    void *(*look_up)(void *, const char *) = (void *)next;
    void *(*look_up_version)(void *, const char *, const char *) = (void *)next;
    uintptr_t value = (uintptr_t)(l->version ? look_up_version(l->handle, l->name, l->version)
                                             : look_up(l->handle, l->name));
    /* If the next dlsym is another preload's, it may answer without the loader, so there was no
     * look at the list before it: that would clear dlerror's message. If its result is not its own
     * function, it called the C library's dlsym, which has cleared the message anyway. */
    if (behind && value && !rescan_is_same_at_start(next, value)) {
        this_thread.walk = WALK_ASKS;
        rescan_second_chance();
    }
    if (named && !value)
        note_failed_lookup(l);
    return (struct entry_answer){0, named && value ? value_or_wrapper(l, value) : value};
}

/* ---- called by the entries ---- */

struct entry_answer hooks_enter(unsigned entry, const uintptr_t *arguments,
                                uintptr_t return_address, uintptr_t next) {
    struct entry_answer answer = {next, 0};
    bool entered = thread_enter(), named_second = entry == ENTRY_DLMOPEN;
    bool opens = named_second || entry == ENTRY_DLOPEN;
    if (entered) {
        this_thread.walk = next == next_of_libc(entry) ? WALK_ASKS : WALK_NEVER;
        catch_up();
        if (opens)
            before_open(entry, (const char *)arguments[named_second],
                        (int)arguments[named_second + 1], return_address);
    }
    /* If a signal handler has interrupted a hook, the objects that it loads are seen later. */
    if (opens)
        rescan_note_open();
    else if (entry == ENTRY_DLCLOSE)
        rescan_note_close();
    if (!entered)
        return answer;
    if (entry == ENTRY_DLSYM || entry == ENTRY_DLVSYM) {
        struct lookup l = {(void *)arguments[0], (const char *)arguments[1],
                           entry == ENTRY_DLVSYM ? (const char *)arguments[2] : NULL,
                           return_address, NULL};
        answer = hook_lookup(&l, next);
    }
    this_thread.walk = WALK_NEVER;
    thread_leave();
    return answer;
}

void hooks_hear(const char *text) {
    bool entered = this_thread.entered;
    if (!thread_enter())
        return;
    this_thread.entered = entered; /* the message belongs to the hook of the failed call */
    conclude(text);
    thread_leave();
}

const void *hooks_behind(const void *address) {
    uintptr_t target = watched_target_of((uintptr_t)address);
    return target ? (const void *)target : address;
}

/* ---- waking, our constructor and destructor ---- */

bool hooks_wake(const char *const *envp, const struct stat *standard_error) {
    config_load(envp);
    if (config.off || !listed_first())
        return false;
    log_note_standard_error(standard_error);
    rescan_note_start();
    this_thread.loads_since_rescan = true;
    return true;
}

void hooks_note(const struct asleep_request *request) {
    if (!state_take())
        return;
    struct request *r = requests_note(operation_of(request->entry), request->name, request->flags,
                                      request->return_address, NULL, false);
    r->cut = request->cut;
    this_thread.request = r->number;
    state_leave();
}

void hooks_begin(void) {
    if (!thread_enter())
        return;
    rescan_if_never();
    if (config.run_pid && state_take()) {
        journal_open_if_eager();
        state_leave();
    }
    thread_leave();
}

void hooks_end(void) {
    /* If nothing is open, the end makes no system call: a sandbox may allow only exit_group. */
    bool open = this_thread.request || this_thread.lookup_failed ||
                this_thread.loads_since_rescan || journal_is_open();
    if (!open || !thread_enter())
        return;
    /* The host may still call dlerror, in a destructor that comes after this one. */
    this_thread.walk = thread_others ? WALK_NEVER : WALK_HOLDS;
    catch_up();
    if (state_take()) {
        journal_close();
        state_leave();
    }
    thread_leave();
}
