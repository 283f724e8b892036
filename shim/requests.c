/* SPDX-License-Identifier: Apache-2.0 */
#include "requests.h"

#include <dlfcn.h>

#include "clock.h"
#include "core/base/hash.h"
#include "files.h"
#include "journal.h"
#include "objects.h"
#include "self.h"
#include "sys.h"

static struct request kept[REQUESTS_KEPT];
static unsigned char order[REQUESTS_KEPT]; /* indices into kept, newest first */
static size_t kept_count;

/* An entry for a new request: the oldest ended one, else a free one, else the oldest. A thread may
 * wait in its dlopen while others make more requests than are kept. */
static struct request *make_room(void) {
    size_t at = kept_count;
    while (at > 0 && !kept[order[at - 1]].ended)
        at--;
    if (at == 0 && kept_count < REQUESTS_KEPT) {
        order[kept_count] = (unsigned char)kept_count;
        kept_count++;
    }
    at = at > 0 ? at - 1 : kept_count - 1;
    unsigned char which = order[at]; /* it becomes the newest */
    for (; at > 0; at--)
        order[at] = order[at - 1];
    order[0] = which;
    return &kept[which];
}

uint64_t requests_hash(const struct request *r) {
    return repeats_hash(r->operation, r->name, r->flags, r->caller_object);
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
    if (r->hints || !wc_str_find_char(r->name, '/')) { /* else nothing depends on the caller */
        out->caller = r->caller;
        out->caller_object = r->caller_object;
    }
    journal_add(&record);
}

struct request *requests_note(enum wc_operation operation, const char *name, int flags,
                              uintptr_t return_address, const char *caller, bool hints) {
    struct request *r = make_room();
    const struct object *by = objects_at(return_address);
    r->number = journal_new_request();
    r->tid = self_tid();
    r->time = 0;
    r->operation = operation;
    r->flags = flags;
    r->named = name != NULL;
    r->hints = hints;
    r->logged = r->ended = r->answered = false;
    r->return_address = return_address;
    r->caller = by ? by->l.path : caller;
    r->caller_object = by ? by->l.number : WC_NULL;
    r->cut = !wc_str_copy(r->name, sizeof r->name, name);
    if (hints)
        journal_open_relevant();
    r->left_out = journal_is_open() && repeats_leave_out(WC_KIND_request, requests_hash(r), hints);
    if (!journal_is_open() || r->left_out)
        r->time = clock_now();
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

bool requests_same_file(const struct request *r) {
    static char beside[SYS_PATH];
    bool by_path = wc_str_find_char(r->name, '/');
    struct wc_file_stat facts;
    const struct object *o;
    if (by_path && !shim_files.facts(NULL, r->name, &facts))
        return false;
    for (size_t i = 0; (o = objects_get(i)); i++) {
        if (!o->l.mapped || !o->l.path || o->l.inode == WC_NULL)
            continue;
        int n = (int)(wc_base_name(o->l.path) - o->l.path);
        bool known =
            by_path || (wc_str_format(beside, sizeof beside, "%.*s%s", n, o->l.path, r->name) &&
                        shim_files.facts(NULL, beside, &facts));
        if (known && object_is_of_file(o, &facts))
            return true;
    }
    return false;
}

/* ---- how often each was recorded ---- */

#define COUNTED_MOST 4096
static struct counted {
    uint64_t what; /* a hash, 0: free */
    unsigned char recorded;
} counted[COUNTED_MOST];
static unsigned counted_in_all;

uint64_t repeats_hash(enum wc_operation operation, const char *name, int flags,
                      int64_t caller_object) {
    uint64_t hash = wc_hash_word(wc_hash_text(WC_HASH_START, name), (uint64_t)flags);
    return wc_hash_word(wc_hash_word(hash, operation), (uint64_t)caller_object);
}

static struct counted *find_counted(uint64_t what) {
    size_t at = (what | 1) % COUNTED_MOST;
    while (counted[at].what && counted[at].what != (what | 1))
        at = (at + 1) % COUNTED_MOST;
    return &counted[at];
}

bool repeats_knows(uint64_t what) {
    return find_counted(what)->what;
}

bool repeats_leave_out(enum wc_kind kind, uint64_t what, bool matters) {
    struct counted *c = find_counted(what);
    const unsigned most = matters ? COUNTED_MOST / 4 * 3 : COUNTED_MOST / 2;
    if (c->what ? c->recorded == REPEATS_RECORDED : counted_in_all >= most) {
        journal_leave_out(kind, 1);
        return true;
    }
    counted_in_all += !c->what;
    c->what = what | 1;
    c->recorded++;
    return false;
}
