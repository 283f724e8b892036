#include "requests.h"

#include <dlfcn.h>

#include "core/model/names.h"
#include "failed_files.h"
#include "files.h"
#include "hash.h"
#include "journal.h"
#include "memory.h"
#include "objects.h"
#include "packages.h"
#include "searches.h"
#include "sys.h"

static struct request kept[REQUESTS_KEPT];
static unsigned char order[REQUESTS_KEPT]; /* newest first: which of those it is */
static size_t kept_count;

/* Makes it the newest and moves those before it up by one. */
static struct request *renew(size_t at) {
    unsigned char which = order[at];
    for (; at > 0; at--)
        order[at] = order[at - 1];
    order[0] = which;
    return &kept[which];
}

/* What is over makes room first: while one thread waits for its turn, others may ask for more than
 * can be kept. */
static struct request *make_room(void) {
    size_t at = kept_count;
    while (at > 0 && !kept[order[at - 1]].ended)
        at--;
    if (at > 0)
        return renew(at - 1);
    if (kept_count == REQUESTS_KEPT)
        return renew(REQUESTS_KEPT - 1);
    order[kept_count] = (unsigned char)kept_count;
    return renew(kept_count++);
}

/* A host may ask for ever, in vain or not: how often each was told. */
#define COUNTED_MOST 4096
static struct counted {
    uint64_t what; /* a hash, 0: free */
    unsigned char told;
} counted[COUNTED_MOST];
static unsigned counted_in_all;

static struct counted *find_counted(uint64_t what) {
    size_t at = (what | 1) % COUNTED_MOST;
    while (counted[at].what && counted[at].what != (what | 1))
        at = (at + 1) % COUNTED_MOST;
    return &counted[at];
}

/* What has to do with cuDNN or CUDA finds room where a host has asked for thousands of others. */
static bool is_enough(const struct counted *c, bool matters) {
    if (c->what)
        return c->told == REPEATS_TOLD;
    return counted_in_all >= (matters ? COUNTED_MOST / 4 * 3 : COUNTED_MOST / 2);
}

/* Counts one more, up to REPEATS_TOLD. */
static bool is_emitted_enough(enum wc_kind kind, uint64_t what, bool matters) {
    struct counted *c = find_counted(what);
    if (is_enough(c, matters)) {
        journal_leave_out(kind, 1);
        return true;
    }
    counted_in_all += !c->what;
    c->what = what | 1;
    c->told++;
    return false;
}

static uint64_t hash_asked(enum wc_operation operation, const char *name, int flags,
                           int64_t caller_object) {
    uint64_t hash = hash_word(hash_text(HASH_START, name), (uint64_t)flags);
    return hash_word(hash_word(hash, operation), (uint64_t)caller_object);
}

static uint64_t hash_request(const struct request *r) {
    return hash_asked(r->operation, r->name, r->flags, r->caller_object);
}

/* In other words it is another failure. */
static uint64_t hash_failure(const struct request *r, const char *text) {
    return hash_text(hash_request(r), text);
}

void requests_log(struct request *r) {
    struct wc_record record;
    struct wc_request_record *out = &record.u.request;
    if (r->logged)
        return;
    r->logged = true;
    journal_leave_out(WC_KIND_request, -r->left_out);
    wc_record_begin(&record, WC_KIND_request);
    record.time = r->time;
    out->request = r->number;
    out->operation = r->operation;
    out->name = r->named ? r->name : NULL;
    out->flags = r->flags;
    out->caller = r->caller;
    out->caller_object = r->caller_object;
    journal_add(&record);
}

/* Memory is never given back: who asks for ever is kept once. The newest entry still has what it
 * had before. */
static const char *keep_caller(const char *path) {
    const struct request *r;
    for (size_t i = 0; path && (r = requests_recent(i)); i++)
        if (wc_str_same(r->caller, path))
            return r->caller;
    return wc_arena_string(&memory_arena, path);
}

struct request *requests_note(enum wc_operation operation, const char *name, int flags,
                              uintptr_t return_address, const char *caller, bool hints) {
    struct request *r = make_room();
    struct wc_text t;
    const struct object *by = objects_at(return_address);
    r->number = journal_new_request();
    r->tid = sys_gettid();
    r->time = 0;
    r->operation = operation;
    r->flags = flags;
    r->no_load = (flags & RTLD_NOLOAD) != 0;
    r->named = name != NULL;
    r->hints = hints;
    r->logged = false;
    r->ended = false;
    r->return_address = return_address;
    r->caller = by ? by->path : keep_caller(caller);
    r->caller_object = by ? by->number : WC_NULL;
    wc_text_begin(&t, r->name, sizeof r->name);
    wc_text_add(&t, name);
    r->cut = t.cut;
    if (hints)
        journal_open_relevant();
    r->left_out = journal_is_open() && is_emitted_enough(WC_KIND_request, hash_request(r), hints);
    if (!journal_is_open() || r->left_out)
        r->time = sys_time();
    else
        requests_log(r);
    return r;
}

struct request *requests_find(int64_t number) {
    for (size_t i = 0; number > 0 && i < kept_count; i++)
        if (kept[i].number == number)
            return &kept[i];
    return NULL;
}

struct request *requests_recent(size_t i) {
    return i < kept_count ? &kept[order[i]] : NULL;
}

struct request *requests_open_of_thread(int64_t tid) {
    struct request *r;
    for (size_t i = 0; (r = requests_recent(i)); i++)
        if (r->tid == tid && !r->ended)
            return r;
    return NULL;
}

bool requests_name_fits(const char *asked, const char *path, const char *soname) {
    if (!asked || !asked[0] || !path)
        return false;
    if (wc_str_find_char(asked, '/'))
        return wc_str_same(asked, path) || wc_str_same(wc_base_name(asked), wc_base_name(path)) ||
               wc_str_same(wc_base_name(asked), soname);
    return wc_str_same(asked, wc_base_name(path)) || wc_str_same(asked, soname);
}

static bool leads_to(const struct object *o, const char *asked) {
    static char beside[SYS_PATH];
    struct wc_file_stat facts;
    struct wc_text t;
    const char *base = wc_base_name(o->path);
    wc_text_begin(&t, beside, sizeof beside);
    if (!wc_str_find_char(asked, '/'))
        wc_text_add_n(&t, o->path, (size_t)(base - o->path));
    wc_text_add(&t, asked);
    return !t.cut && shim_files.facts(NULL, beside, &facts) && facts.device == o->device &&
           facts.inode == o->inode;
}

bool requests_same_file(const struct request *r) {
    const struct object *o;
    for (size_t i = 0; (o = objects_get(i)); i++)
        if (o->mapped && o->inode && o->path && leads_to(o, r->name))
            return true;
    return false;
}

/* Libraries of CUDA and what hints at them are worth a log of their own when they fail. */
static bool is_worth_a_log(const char *name, const char *text) {
    struct wc_name read;
    wc_name_read(name, &read);
    return read.kind != WC_NAME_OTHER || wc_name_hints(name) || (text && wc_name_hints(text));
}

bool requests_failure_is_emitted(const struct request *r, const char *text) {
    return is_enough(find_counted(hash_failure(r, text)), true);
}

void requests_failed(struct request *r, const char *text) {
    struct wc_record record;
    struct wc_failure_record *f = &record.u.failure;
    r->ended = true;
    bool worth_a_log = is_worth_a_log(r->name, text);
    if (worth_a_log)
        journal_open_relevant();
    else if (!journal_is_open())
        return;
    if (is_emitted_enough(WC_KIND_failure, hash_failure(r, text), worth_a_log))
        return;
    requests_log(r);
    wc_record_begin(&record, WC_KIND_failure);
    f->request = r->number;
    f->operation = r->operation;
    f->name = r->name;
    f->caller = r->caller;
    f->caller_object = r->caller_object;
    f->text = text;
    f->inferred = !text;
    journal_add(&record);
    failed_files_after_failure(r,
                               text); /* may take long, or never end, on another computer's disk */
    packages_note_failure(r->name, r->caller, text);
    if (searches_emit_failed(r))
        failed_files_in_search(r);
    if (worth_a_log) /* a host may try thousands of other names */
        journal_diagnose();
}

void requests_lookup_failed(const char *function, const char *caller, int64_t caller_object,
                            const char *text) {
    struct wc_record record;
    struct wc_failure_record *f = &record.u.failure;
    journal_open_relevant();
    uint64_t what = hash_asked(WC_operation_DLSYM, function, 0, caller_object);
    if (is_emitted_enough(WC_KIND_failure, hash_text(what, text), true))
        return;
    wc_record_begin(&record, WC_KIND_failure);
    f->operation = WC_operation_DLSYM;
    f->function = function;
    f->caller = caller;
    f->caller_object = caller_object;
    f->text = text;
    f->inferred = !text;
    journal_add(&record);
    journal_diagnose();
}
