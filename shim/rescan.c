/* SPDX-License-Identifier: Apache-2.0 */
#include "rescan.h"

#include "core/names/names.h"
#include "describe.h"
#include "journal.h"
#include "listed.h"
#include "load_chain.h"
#include "loader_lock.h"
#include "memory.h"
#include "objects.h"
#include "process.h"
#include "readable.h"
#include "requests.h"
#include "rewrite.h"
#include "self.h"
#include "signals.h"
#include "slots.h"
#include "start.h"
#include "state.h"
#include "sys.h"
#include "thread.h"
#include "watched.h"

static _Atomic bool started; /* the start-up objects were read */

/* Number of dlclose calls, counted before they are made, and of threads that may still be in one.
 */
static _Atomic uint64_t closes;
static _Atomic unsigned closing;

/* The list as it was at the last look. Under our lock. */
#define SEEN_MOST 65536
#define READ_ALL_AFTER 4096 /* unloaded objects, which objects.c still knows */
struct place {
    const struct link_map *map;
    uintptr_t base;
    const void *dynamic;
};
static struct {
    bool known;
    bool rewritten; /* the slots of all hosts were read since */
    uint64_t epoch; /* of state.h, at that look */
    struct place *places;
    size_t count, batch;  /* the newest objects stand from `batch` on */
    size_t in_load_chain; /* so many of them are in load_chain.c */
    size_t gone;          /* objects unloaded since all were read */
} seen;

/* ---- the list ---- */

/* Start-up objects stand first on the list and stay there. */
#define START_MOST 1024
static struct start {
    uintptr_t low, high;
    const char *path;
} at_start[START_MOST];
static size_t at_start_count;
static const struct link_map *start_last;
static size_t start_objects;
static unsigned first_process;

#define ALL UINT64_MAX
struct walk {
    const struct link_map *from, *end; /* the objects [from, end) */
    bool whole;                        /* these are all objects */
    const struct link_map *untouched;  /* this thread has just loaded that object and those behind
                                          it, and no code of them has run; NULL: not known */
    uint64_t only;                     /* only objects whose base has one of these bits */
};

/* Takes the shim's lock for a look at the list. */
static bool take_for_look(void) {
    bool taken = state_take();
    if (taken)
        readable_begin();
    return taken;
}

/* Reads an object; if its headers are unreadable, only its name is known. False: it is not mapped:
 * a child that was forked while another thread unloaded an object keeps it on its list. */
static bool read_listed(const struct link_map *m, struct dl_phdr_info *info) {
    listed_info(m, info);
    if (!readable(info->dlpi_phdr, info->dlpi_phnum * sizeof *info->dlpi_phdr))
        info->dlpi_phnum = 0;
    return self_process() == first_process || sys_is_readable(m->l_ld);
}

static void each_object(const struct walk *w, void (*note)(const struct dl_phdr_info *, void *),
                        void *argument) {
    struct dl_phdr_info info;
    bool untouched = false;
    for (const struct link_map *m = w->from; m != w->end; m = m->l_next) {
        untouched = untouched || m == w->untouched;
        readable_trust(untouched);
        if (w->only & object_base_bit(m->l_addr) && read_listed(m, &info))
            note(&info, argument);
    }
    readable_trust(false);
}

/* The last object that was seen before. New objects are appended, so all objects after it are new,
 * as long as the known ones are in their old order. NULL: a relevant one, or too many, were
 * unloaded. */
static const struct link_map *last_known(void) {
    const struct link_map *m = start_last;
    size_t kept = start_objects, count = seen.count, batch = seen.batch;
    for (size_t i = start_objects; m && i < count; i++) {
        const struct place p = seen.places[i];
        const struct link_map *next = m->l_next;
        if (next && next == p.map && next->l_addr == p.base && next->l_ld == p.dynamic) {
            m = next;
            seen.places[kept++] = p;
            continue;
        }
        const struct object *o;
        for (size_t k = 0; (o = objects_get(k)); k++)
            if (o->l.mapped && o->base == p.base)
                return NULL;
        if (++seen.gone > READ_ALL_AFTER)
            return NULL;
        objects_gone_at |= object_base_bit(p.base);
        seen.batch -= i < batch;
        if (i < seen.in_load_chain)
            seen.in_load_chain = 0;
    }
    seen.count = kept < count ? kept : count;
    return m;
}

static bool is_known(void) {
    return seen.known && seen.epoch == state_epoch() && seen.count;
}

/* Compares the address with load address and dynamic section, so that no memory of the object is
 * read.
 */
static bool may_contain(const struct link_map *m, uintptr_t address) {
    return address - m->l_addr < (uintptr_t)m->l_ld - m->l_addr;
}

/* Which objects have to be read. initialised: an address in an object that this thread has just
 * loaded; 0: not known. */
static struct walk begin_walk(uintptr_t initialised) {
    const struct walk all = {.from = listed_first(), .whole = true, .only = ALL};
    if (this_thread.closing)
        closing--;
    this_thread.closing = false;
    /* An object that this thread has opened may have the place of one that another thread has
     * closed. */
    bool replaced = this_thread.opened && (this_thread.closes != closes || closing);
    this_thread.opened = false;
    const struct link_map *last = is_known() ? last_known() : NULL;
    if (!last)
        return all;
    if (last->l_next)
        seen.batch = seen.count;
    const struct link_map *newest =
        seen.batch < seen.count ? seen.places[seen.batch].map : last->l_next;
    while (initialised && newest && !may_contain(newest, initialised))
        newest = newest->l_next;
    if (replaced || (initialised && !newest))
        return all;
    return (struct walk){
        .from = last->l_next, .untouched = initialised ? last->l_next : NULL, .only = ALL};
}

/* ---- new objects ---- */

/* Does it answer to the name of this request, the thread's last one (NULL: there is none)? */
static void note_object(const struct dl_phdr_info *info, void *request) {
    struct request *r = request;
    struct wc_elf_image e;
    objects_walk_see(info);
    if (r && !r->answered)
        r->answered = wc_name_fits(r->name, info->dlpi_name, NULL) ||
                      (listed_image_asked(info, &e) && wc_name_fits(r->name, "", e.soname));
}

static void look_at(const struct walk *w) {
    struct request *own = requests_find(this_thread.request);
    struct object *o;
    if (w->whole) {
        objects_walk_begin();
        seen.known = true;
        seen.epoch = state_epoch();
        seen.count = seen.batch = seen.in_load_chain = seen.gone = 0;
        if (!seen.places)
            seen.places = memory_map(SEEN_MOST * sizeof *seen.places);
    }
    each_object(w, note_object, own && !own->ended && journal_is_open() ? own : NULL);
    if (w->whole) {
        objects_walk_end();
        for (size_t i = 0; (o = objects_get(i)); i++) {
            if (o->gone)
                watched_forget(o);
            o->gone = false;
        }
    }
    for (const struct link_map *m = w->from; m != w->end; m = m->l_next)
        if (seen.places && seen.count < SEEN_MOST)
            seen.places[seen.count++] = (struct place){m, m->l_addr, m->l_ld};
        else
            seen.known = false;
}

static void add_seen_to_load_chain(void) {
    struct dl_phdr_info info;
    struct wc_elf_image e;
    if (!seen.in_load_chain)
        load_chain_begin();
    for (; seen.in_load_chain < seen.count; seen.in_load_chain++) {
        const struct link_map *m = seen.places[seen.in_load_chain].map;
        if (read_listed(m, &info))
            load_chain_see(&info, listed_image_asked(&info, &e) ? &e : NULL);
    }
}

/* ---- the callers of requests ---- */

static bool find_listed(uintptr_t address, struct dl_phdr_info *info) {
    for (const struct link_map *m = listed_first(); m; m = m->l_next)
        if (may_contain(m, address) && read_listed(m, info) && listed_contains(info, address))
            return true;
    return false;
}

static const struct start *find_at_start(uintptr_t address) {
    return WC_FIRST(one, WC_ITEMS(at_start, at_start_count),
                    address - one->low < one->high - one->low);
}

const char *rescan_known_path(uintptr_t address) {
    const struct object *o = objects_at(address);
    const struct start *s = o ? NULL : find_at_start(address);
    if (o)
        return o->l.path;
    return s && !s->path[0] ? objects_program_path(address) : s ? s->path : NULL;
}

#define CALLERS_MOST 256
static const char *listed_path(uintptr_t address) {
    static const char *kept[CALLERS_MOST]; /* few objects, which may call again and again */
    struct dl_phdr_info info;
    const char *known = rescan_known_path(address);
    size_t i = 0;
    if (known || !find_listed(address, &info))
        return known;
    while (i < CALLERS_MOST && kept[i] && !wc_str_same(kept[i], info.dlpi_name))
        i++;
    if (i < CALLERS_MOST && !kept[i])
        kept[i] = wc_arena_string(&memory_arena, info.dlpi_name);
    return i < CALLERS_MOST ? kept[i] : NULL;
}

/* Fills in the callers of open requests, which may not have been looked up. An object that
 * requested a facade is a host. */
static void note_callers(void) {
    struct dl_phdr_info info;
    struct request *r;
    for (size_t i = 0; (r = requests_recent(i)); i++) {
        if (r->ended)
            continue;
        const struct object *by = objects_at(r->return_address), *o;
        for (size_t k = 0; !by && (o = objects_get(k)); k++)
            if (!o->described && o->l.mapped && o->l.role == WC_role_FACADE &&
                wc_name_fits(r->name, o->l.path, o->soname)) {
                by = find_listed(r->return_address, &info) ? objects_promote(&info) : NULL;
                break;
            }
        if (!r->caller)
            r->caller = listed_path(r->return_address);
        if (by)
            r->caller_object = by->l.number;
    }
}

static void note_needed(const struct dl_phdr_info *info, WC_UNUSED void *argument) {
    struct wc_elf_image e;
    const char *needed;
    struct object *o;
    if (!listed_image_asked(info, &e))
        return;
    for (size_t i = 0; (needed = wc_elf_needed(&e, i)); i++)
        for (size_t k = 0; (o = objects_get(k)); k++) {
            if (o->described || !o->l.mapped || o->l.asked_by ||
                !wc_name_fits(needed, o->l.path, o->soname))
                continue;
            const struct object *by = objects_find(info);
            o->l.asked_how = WC_operation_NEEDED;
            o->l.asked_by = by ? by->l.path : objects_path_of(info);
            o->l.asked_by_object = by ? by->l.number : WC_NULL;
            o->l.asked_name = wc_arena_string(&memory_arena, needed);
        }
}

/* ---- the records of new objects ---- */

/* Path of another preload whose dlsym comes before ours. Lookups that it does not pass on to us are
 * not seen; one that takes dlsym by its symbol version passes on none. */
static const char *dlsym_in_front;

/* ---- the slots of hosts ---- */

static void rewrite_host(const struct dl_phdr_info *info, WC_UNUSED void *argument) {
    struct object *o = objects_find(info);
    if (!o || o->l.role != WC_role_HOST)
        return;
    readable_trust_again(o->untouched);
    if (rewrite_is_too_early(o)) /* this very thread is relocating it */
        seen.rewritten = false;
    else
        rewrite_slots(o);
}

/* The load addresses of all hosts, as bits. 0: there is none. */
static uint64_t hosts_at(void) {
    const struct object *o;
    uint64_t bits = 0;
    for (size_t i = 0; (o = objects_get(i)); i++)
        bits |= o->l.role == WC_role_HOST && o->l.mapped ? object_base_bit(o->base) : 0;
    return bits;
}

/* ---- rescanning ---- */

/* This thread holds the loader's lock, or w has only start-up objects; and it holds our lock. */
static void rescan(struct walk w) {
    struct object *o;
    look_at(&w);
    bool news = objects_have_news(), every = w.whole || !seen.rewritten;
    /* If a cuDNN library is new, older hosts may be bound to it. */
    for (size_t i = 0; (o = objects_get(i)); i++)
        every = every || (!o->described && o->l.mapped && object_is_cudnn(o));
    if (!news && !(every && hosts_at())) {
        seen.rewritten = true;
        return;
    }
    if (news) {
        each_object(&w, note_needed, NULL);
        note_callers();
        add_seen_to_load_chain();
        if (dlsym_in_front)
            journal_unobserved("lookups with dlsym", "another preload has a dlsym in front of ours",
                               dlsym_in_front);
        describe_news();
    }
    if (every)
        w = (struct walk){.from = listed_first(), .end = w.end, .whole = true};
    /* Thousands of other objects may be listed, each with pages to ask the kernel about. */
    w.only = hosts_at();
    seen.rewritten = true;
    each_object(&w, rewrite_host, NULL);
    for (size_t i = 0; (o = objects_get(i)); i++)
        if (o->l.role == WC_role_HOST && o->l.mapped)
            slots_emit(o);
    journal_diagnose_if_due();
}

static void rescan_listed(uintptr_t initialised, const struct link_map *untouched) {
    if (!take_for_look())
        return;
    struct walk w = begin_walk(initialised);
    w.untouched = w.whole ? untouched : w.untouched;
    rescan(w);
    this_thread.loads_since_rescan = !seen.rewritten;
    state_leave();
}

static void rescan_start_objects(const struct link_map *untouched) {
    if (!take_for_look())
        return;
    if (!is_known() && start_last)
        rescan((struct walk){listed_first(), start_last->l_next, true, untouched, ALL});
    state_leave();
}

/* False: this thread may not look now. */
static bool run_with_list(void (*job)(void *), void *argument) {
    if (this_thread.walk == WALK_ASKS)
        return loader_lock_run(job, argument);
    if (this_thread.walk == WALK_HOLDS)
        job(argument);
    return this_thread.walk == WALK_HOLDS;
}

static void rescan_job(WC_UNUSED void *argument) {
    rescan_listed(0, NULL);
}

void rescan_second_chance(void) {
    run_with_list(rescan_job, NULL);
}

void rescan_note_open(void) {
    if (!this_thread.opened)
        this_thread.closes = closing ? closes - 1 : closes; /* counts a dlclose that is under way */
    this_thread.opened = true;
    this_thread.loads_since_rescan = true;
}

void rescan_note_close(void) {
    closes++;
    if (!this_thread.closing)
        closing++;
    this_thread.closing = true;
    this_thread.loads_since_rescan = true;
}

/* ---- the start ---- */

static void note_at_start(const struct dl_phdr_info *info) {
    static bool behind_us;
    struct start s = {.path = info->dlpi_name};
    struct wc_elf_image e;
    process_note_object(info);
    behind_us = behind_us || listed_contains(info, (uintptr_t)&dlsym_in_front);
    if (!behind_us && info->dlpi_name && info->dlpi_name[0] && listed_image_asked(info, &e) &&
        wc_elf_defines(&e, "dlsym"))
        dlsym_in_front = info->dlpi_name; /* a start-up object's, never freed */
    listed_range(info, &s.low, &s.high);
    if (s.high && at_start_count < START_MOST)
        at_start[at_start_count++] = s;
}

static bool was_there_at_start(uintptr_t address) {
    return find_at_start(address) || at_start_count == START_MOST; /* it may have found no room */
}

void rescan_note_start(void) {
    struct dl_phdr_info info;
    if (start_last || !take_for_look())
        return;
    const struct link_map *last = NULL;
    first_process = self_process();
    for (const struct link_map *m = listed_first(); m; m = m == start_end() ? NULL : m->l_next) {
        if (read_listed(m, &info))
            note_at_start(&info);
        start_objects++;
        last = m;
    }
    start_last = last;
    state_leave();
}

/* Start-up objects are relocated when the first constructor runs, so no lock of the loader is
 * needed. Other objects are read at the next dl call. */
void rescan_if_never(void) {
    if (started)
        return;
    rescan_start_objects(NULL);
    this_thread.loads_since_rescan = true;
}

void rescan_in_initialisation(uintptr_t return_address, const struct link_map *untouched) {
    if (started && was_there_at_start(return_address))
        return;
    if (!thread_enter())
        return;
    signals_hold();
    started = true;
    if (was_there_at_start(return_address))
        rescan_start_objects(untouched);
    else
        rescan_listed(return_address, untouched);
    signals_release();
    thread_leave();
}

/* ---- questions ---- */

bool rescan_is_same_at_start(uintptr_t one, uintptr_t other) {
    const struct start *s = find_at_start(one);
    return s && s == find_at_start(other);
}

bool rescan_is_outdated(void) {
    return seen.known && seen.epoch != state_epoch();
}

struct question {
    uintptr_t address;
    bool promote; /* makes its object a host; else its path is asked for */
    const char *path;
    int64_t number;
};

static void answer_job(void *argument) {
    struct question *q = argument;
    struct dl_phdr_info info;
    if (!take_for_look())
        return;
    if (!q->promote)
        q->path = listed_path(q->address);
    const struct object *o =
        q->promote && find_listed(q->address, &info) ? objects_promote(&info) : NULL;
    if (o) {
        q->number = o->l.number;
        describe_news();
    }
    state_leave();
}

int64_t rescan_promote(uintptr_t address) {
    struct question q = {.address = address, .promote = true, .number = WC_NULL};
    run_with_list(answer_job, &q);
    return q.number;
}

const char *rescan_path_at(uintptr_t address) {
    struct question q = {.address = address};
    run_with_list(answer_job, &q);
    return q.path;
}

const char *rescan_path_if_new(uintptr_t address) {
    return objects_at(address) || find_at_start(address) ? NULL : rescan_path_at(address);
}

bool rescan_knows_names(void) {
    return is_known() && seen.in_load_chain == seen.count && !this_thread.loads_since_rescan;
}

bool rescan_answers(const char *name, bool known) {
    bool perhaps = wc_name_kind_of(name) == WC_NAME_OTHER;
    return known ? load_chain_answers(name, perhaps) : perhaps;
}

static void load_chain_job(WC_UNUSED void *argument) {
    if (!take_for_look())
        return;
    rescan(begin_walk(0));
    add_seen_to_load_chain();
    state_leave();
}

bool rescan_load_chain(void) {
    return run_with_list(load_chain_job, NULL);
}
