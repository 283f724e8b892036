/* SPDX-License-Identifier: Apache-2.0 */
#include "rescan.h"

#include <dlfcn.h>
#include <link.h>

#include "config.h"
#include "core/model/names.h"
#include "describe.h"
#include "journal.h"
#include "listed.h"
#include "loaders.h"
#include "lock.h"
#include "memory.h"
#include "next.h"
#include "objects.h"
#include "process.h"
#include "requests.h"
#include "rewrite.h"
#include "signals.h"
#include "slots.h"
#include "state.h"
#include "sys.h"
#include "thread.h"
#include "watched.h"

static _Atomic bool started; /* the start-up objects were taken */

#define TRIES_MOST 64 /* of the barrier; 36 retries in 2,000 loads were the most seen */

/* In callbacks the loader's lock is taken first, ours second. The list as it was when it was last
 * looked at; changed only inside a callback, which the loader serialises. The counters are opaque:
 * only their change says something. What is atomic is also read without a lock. */
static struct {
    _Atomic bool known;
    uint64_t epoch; /* of the tables that it was looked at for */
    _Atomic uint64_t adds, subs;
    const struct link_map *tail;
    _Atomic bool attended; /* the slots of all hosts were looked at since */
} settled;

/* ---- the list ---- */

struct mark {
    uint64_t adds, subs;
};

static int read_mark(struct dl_phdr_info *info, size_t size, void *argument) {
    struct mark *m = argument;
    (void)size;
    m->adds = info->dlpi_adds;
    m->subs = info->dlpi_subs;
    return 1;
}

static bool is_known(const struct mark *m) {
    return settled.known && m->adds == settled.adds && m->subs == settled.subs;
}

/* Objects are appended; as long as none was taken away, what is behind the last known one is new.
 */
static bool only_irrelevant_since(const struct link_map *tail) {
    while (tail->l_next) {
        if (objects_may_matter(tail->l_next))
            return false;
        tail = tail->l_next;
        settled.tail = tail;
    }
    return true;
}

/* ---- first walk: what is new? ---- */

struct walk {
    bool start_only; /* a thread may be relocating what is listed since */
    bool checked;    /* the list must be as it was before the barrier */
    uint64_t adds;   /* then */
    bool started, stale, locked, full;
    bool unfinished; /* a host is being relocated by this very thread */
    bool attend;     /* there are hosts whose slots are to be looked at */
};

static bool begin_walk(struct walk *w, const struct dl_phdr_info *first) {
    struct mark now = {first->dlpi_adds, first->dlpi_subs};
    w->started = true;
    w->stale = w->checked && now.adds != w->adds;
    if (w->stale || !state_take())
        return false;
    w->locked = true;
    next_walks_in(lock_holder());
    if (settled.epoch != state_epoch())
        settled.known = false;
    settled.epoch = state_epoch();
    bool appended = settled.known && settled.tail && now.subs == settled.subs;
    w->full = !is_known(&now) && !(appended && only_irrelevant_since(settled.tail));
    if (w->full)
        settled.attended = false; /* before others can take the list for known */
    settled.known = true;
    settled.adds = now.adds;
    settled.subs = now.subs;
    if (!w->full)
        return false;
    settled.tail = listed_by(first->dlpi_addr, first->dlpi_phdr, first->dlpi_phnum);
    while (settled.tail && settled.tail->l_next)
        settled.tail = settled.tail->l_next;
    objects_walk_begin();
    return true;
}

static bool was_listed_at_start(const struct dl_phdr_info *info);

static int look_at_each(struct dl_phdr_info *info, size_t size, void *argument) {
    struct walk *w = argument;
    (void)size;
    if (!w->started && !begin_walk(w, info))
        return 1;
    if (w->start_only && !was_listed_at_start(info))
        settled.known = false; /* the next walk is a full one */
    else
        objects_walk_see(info);
    return 0;
}

/* ---- second walk: who asked for the new ones? ---- */

struct attribution {
    bool started, locked;
    uintptr_t askers[8]; /* return addresses of the requests that brought a facade */
    size_t asker_count;
};

static void find_askers(struct attribution *a) {
    struct object *o;
    struct request *r;
    for (size_t i = 0; (o = objects_get(i)); i++) {
        if (o->described || !o->mapped || o->role != WC_role_FACADE)
            continue;
        for (size_t k = 0; (r = requests_recent(k)); k++)
            if (!r->ended && a->asker_count < 8 && wc_name_fits(r->name, o->path, o->soname))
                a->askers[a->asker_count++] = r->return_address;
    }
}

static void note_needed(const struct dl_phdr_info *info, const struct wc_elf_image *e) {
    const char *needed;
    struct object *o;
    for (size_t i = 0; (needed = wc_elf_needed(e, i)); i++)
        for (size_t k = 0; (o = objects_get(k)); k++) {
            if (o->described || !o->mapped || o->asked_by ||
                !wc_name_fits(needed, o->path, o->soname))
                continue;
            const struct object *by = objects_find(info);
            o->asked_how = WC_operation_NEEDED;
            o->asked_by = by ? by->path : objects_path_of(info);
            o->asked_by_object = by ? by->number : WC_NULL;
            o->asked_name = wc_arena_string(&memory_arena, needed);
        }
}

/* Requests that were not written ahead lack their caller's path. */
static void note_callers(const struct dl_phdr_info *info, const struct object *by) {
    struct request *r;
    for (size_t i = 0; (r = requests_recent(i)); i++) {
        if (r->ended || !listed_contains(info, r->return_address))
            continue;
        if (!r->caller)
            r->caller = by ? by->path : objects_path_of(info);
        if (by)
            r->caller_object = by->number;
    }
}

static int attribute_each(struct dl_phdr_info *info, size_t size, void *argument) {
    struct attribution *a = argument;
    struct object *by = NULL;
    struct wc_elf_image e;
    (void)size;
    if (!a->started) {
        a->started = true;
        if (!(a->locked = state_take()))
            return 1;
        find_askers(a);
        loaders_begin();
    }
    if (listed_image(info, &e)) {
        note_needed(info, &e);
        loaders_see(info, &e);
    }
    by = objects_find(info);
    for (size_t i = 0; !by && i < a->asker_count; i++)
        if (listed_contains(info, a->askers[i]))
            by = objects_promote(info);
    note_callers(info, by);
    return 0;
}

static void attribute(void) {
    struct attribution a = {.started = false};
    next_walk(attribute_each, &a);
    if (a.locked)
        state_leave();
}

/* ---- third walk: the slots of hosts ---- */

/* Also those of hosts known before: one that was closed and opened again between two walks looks as
 * it did, but for its slots. */
static int attend_each(struct dl_phdr_info *info, size_t size, void *argument) {
    struct walk *w = argument;
    (void)size;
    if (!w->started) {
        w->started = true;
        w->stale = w->checked && info->dlpi_adds != w->adds;
        if (w->stale || !(w->locked = state_take()))
            return 1;
    }
    struct object *o = objects_find(info);
    if (o && w->checked && o->is_host && o->mapped && rewrite_is_too_early(o))
        w->unfinished = true;
    else if (o)
        rewrite_slots(o);
    return 0;
}

static void emit_bindings(void) {
    struct object *o;
    if (!state_take())
        return;
    for (size_t i = 0; (o = objects_get(i)); i++)
        if (o->is_host && o->mapped)
            slots_emit(o);
    journal_diagnose();
    state_leave();
}

/* False: the list changed since the barrier, an object may be half relocated. */
static bool attend(const struct walk *before) {
    struct walk w = {.checked = before->checked, .adds = before->adds};
    next_walk(attend_each, &w);
    if (w.locked) {
        settled.attended = !w.unfinished;
        state_leave();
        emit_bindings();
    }
    return !w.stale;
}

/* Path of another preload whose dlsym hosts find before ours: what it does not pass on to us (one
 * that asks for dlsym by its version passes on nothing) is not seen. */
static const char *dlsym_in_front;

static void emit_news(bool memory_stays) {
    attribute();
    if (!state_take())
        return;
    if (dlsym_in_front)
        journal_unobserved("lookups with dlsym", "another preload has a dlsym in front of ours",
                           dlsym_in_front);
    describe_news(memory_stays);
    state_leave();
}

/* ---- settling ---- */

static bool has_hosts(void) {
    const struct object *o;
    for (size_t i = 0; (o = objects_get(i)); i++)
        if (o->is_host && o->mapped)
            return true;
    return false;
}

static void forget_wrappers_of_gone(void) {
    struct object *o;
    for (size_t i = 0; (o = objects_get(i)); i++) {
        if (o->gone)
            watched_forget(o);
        o->gone = false;
    }
}

/* True: something relevant came or went. */
static bool walk_once(struct walk *w) {
    next_walk(look_at_each, w);
    if (!w->locked)
        return false;
    if (w->full) {
        objects_walk_end();
        forget_wrappers_of_gone();
    }
    bool news = w->full && objects_have_news();
    settled.attended = settled.attended || !has_hosts();
    w->attend = !settled.attended;
    state_leave();
    return news;
}

/* False: the list changed since the barrier. */
static bool rescan_once(struct walk *w, bool memory_stays) {
    bool news = walk_once(w);
    if (w->stale || (!news && !w->attend))
        return !w->stale;
    config_load(NULL); /* at start this comes before our own constructor */
    if (config.off)
        return true;
    if (news)
        emit_news(memory_stays);
    return !w->attend || attend(w);
}

/* Where this thread holds the loader's lock, or looks at nothing but start-up objects. */
static void rescan_here(bool start_only) {
    struct walk w = {.start_only = start_only};
    rescan_once(&w, true);
}

/* Waits until no object is half relocated: dladdr takes the loader's lock. */
static void barrier(void) {
    int (*next)(const void *, Dl_info *) = (void *)next_definition(ENTRY_DLADDR);
    Dl_info info;
    if (next)
        next((const void *)barrier, &info);
}

void rescan_second_chance(void) {
    for (int i = 0; i < TRIES_MOST; i++) {
        struct mark now;
        next_walk(read_mark, &now);
        if (is_known(&now) && settled.attended)
            return;
        barrier();
        struct walk w = {.checked = true, .adds = now.adds};
        if (rescan_once(&w, false))
            return;
    }
    if (state_take()) {
        journal_unobserved("objects loaded meanwhile", "the loader's list never came to rest",
                           NULL);
        state_leave();
    }
}

/* ---- the start ---- */

#define START_MOST 1024
static struct range { uintptr_t low, high; } at_start[START_MOST];
static size_t at_start_count;

static void look_for_dlsym(const struct dl_phdr_info *info) {
    static bool behind_us;
    struct wc_elf_image e;
    struct wc_elf_symbol s;
    behind_us = behind_us || listed_contains(info, (uintptr_t)&dlsym_in_front);
    if (!behind_us && info->dlpi_name && info->dlpi_name[0] && listed_image(info, &e) &&
        wc_elf_find_defined(&e, "dlsym", &s))
        dlsym_in_front = info->dlpi_name; /* a start-up object's, never freed */
}

static int note_at_start(struct dl_phdr_info *info, size_t size, void *argument) {
    uintptr_t low, high;
    bool *begun = argument;
    (void)size;
    if (!*begun && at_start_count) /* another thread's walk did */
        return 1;
    *begun = true;
    process_note_object(info);
    look_for_dlsym(info);
    listed_range(info, &low, &high);
    if (high && at_start_count < START_MOST)
        at_start[at_start_count++] = (struct range){low, high};
    return 0;
}

static bool was_there_at_start(uintptr_t address) {
    for (size_t i = 0; i < at_start_count; i++)
        if (address - at_start[i].low < at_start[i].high - at_start[i].low)
            return true;
    return at_start_count == START_MOST; /* it may be one that found no room */
}

static bool was_listed_at_start(const struct dl_phdr_info *info) {
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            return was_there_at_start(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return true; /* no code, no data */
}

static _Atomic bool noted;

/* Constructors that come before ours, and preinit_array, may start threads that open libraries:
 * what was there at start is asked before the first dlopen. */
void rescan_note_start(void) {
    bool begun = false;
    if (noted)
        return;
    next_walk(note_at_start, &begun);
    noted = true;
}

/* No barrier: the thread that is in a dlopen may be waiting for this one. What was there at start
 * is relocated when the first constructor runs; the rest comes with the next dl call. */
void rescan_if_never(void) {
    if (started)
        return;
    rescan_note_start();
    rescan_here(true);
    this_thread.loads_since_rescan = true;
}

void rescan_in_initialisation(uintptr_t return_address) {
    if (started && was_there_at_start(return_address))
        return;
    if (!next_is_glibc() || !thread_enter())
        return;
    signals_hold();
    rescan_note_start();
    started = true;
    rescan_here(was_there_at_start(return_address));
    if (!config.loaded && config.off) /* what is wanted is not known before our constructor */
        started = settled.known = false;
    signals_release();
    thread_leave();
}

/* ---- questions ---- */

bool rescan_is_outdated(void) {
    return settled.known && settled.epoch != state_epoch();
}

struct question {
    uintptr_t address;
    const char *name;
    char *to;
    size_t cap;
    int64_t number;
    bool started, locked, yes;
};

/* False: the list may not be walked in this process. */
static bool ask(int (*each)(struct dl_phdr_info *, size_t, void *), struct question *q) {
    if (!next_may_walk())
        return false;
    next_walk(each, q);
    return true;
}

static int promote_it(struct dl_phdr_info *info, size_t size, void *argument) {
    struct question *q = argument;
    (void)size;
    if (!listed_contains(info, q->address))
        return 0;
    if (state_take()) {
        const struct object *o = objects_promote(info);
        q->number = o ? o->number : WC_NULL;
        state_leave();
    }
    return 1;
}

int64_t rescan_promote(uintptr_t address) {
    struct question q = {.address = address, .number = WC_NULL};
    ask(promote_it, &q);
    if (q.number != WC_NULL && state_take()) {
        describe_news(false);
        state_leave();
    }
    return q.number;
}

static int path_at(struct dl_phdr_info *info, size_t size, void *argument) {
    struct question *q = argument;
    (void)size;
    if (!listed_contains(info, q->address))
        return 0;
    wc_str_copy(q->to, q->cap, info->dlpi_name);
    q->yes = true;
    return 1;
}

bool rescan_path_at(uintptr_t address, char *to, size_t cap) {
    struct question q = {.address = address, .to = to, .cap = cap};
    ask(path_at, &q);
    const char *program = q.yes && !to[0] ? objects_program_path(address) : NULL;
    if (program)
        wc_str_copy(to, cap, program);
    return q.yes && to[0];
}

static int answers_by_path(struct dl_phdr_info *info, size_t size, void *argument) {
    struct question *q = argument;
    (void)size;
    q->yes = wc_name_fits(q->name, info->dlpi_name, NULL);
    return q->yes;
}

static int answers_by_soname(struct dl_phdr_info *info, size_t size, void *argument) {
    struct question *q = argument;
    struct wc_elf_image e;
    (void)size;
    if (listed_image(info, &e))
        q->yes = wc_name_fits(q->name, "", wc_elf_soname(&e));
    return q->yes;
}

bool rescan_answers(const char *name) {
    struct question q = {.name = name};
    if (!ask(answers_by_path, &q))
        return true; /* perhaps */
    if (!q.yes)
        ask(answers_by_soname, &q);
    return q.yes;
}

static int note_each(struct dl_phdr_info *info, size_t size, void *argument) {
    struct question *q = argument;
    struct wc_elf_image e;
    (void)size;
    if (!q->started) {
        q->started = true;
        if (!(q->locked = state_take()))
            return 1;
        loaders_begin();
    }
    if (listed_image(info, &e))
        loaders_see(info, &e);
    return 0;
}

void rescan_note_loaders(void) {
    struct question q = {.started = false};
    ask(note_each, &q);
    if (q.locked)
        state_leave();
}
