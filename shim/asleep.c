/* SPDX-License-Identifier: Apache-2.0 */
#include "asleep.h"

#include <dlfcn.h>

#include "config.h"
#include "core/names/names.h"
#include "hooks.h"
#include "next.h"
#include "rescan.h"
#include "signals.h"
#include "start.h"
#include "sys.h"
#include "thread.h"

#define EXPORT __attribute__((visibility("default")))

extern HIDDEN const char _end[];

int shim_state;

_Static_assert(offsetof(struct thread, kept) == 0, "entry.S clears it");

/* ---- the loader's list ---- */

static const char *const *environment; /* NULL before our constructor */
/* Standard error at start: a host may open a data file as descriptor 2 before it uses cuDNN. This
 * is the one system call of a sleeping shim; the loader has just made the same one. */
static struct stat standard_error;

/* Length of the directories that both names begin with. Most objects lie in one directory, which so
 * is tested once. A whole word may be read beyond a name's end, but not beyond its page. */
static size_t common_directories(const char *a, const char *b) {
    size_t in_a = (uintptr_t)a & 4095, in_b = (uintptr_t)b & 4095, n = 0;
    size_t most = 4096 - (in_a > in_b ? in_a : in_b);
    for (uint64_t differ = 0; !differ && n + sizeof(wc_wide) <= most;) {
        uint64_t word = *(const wc_wide *)(a + n);
        if ((word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080))
            break; /* the name ends in it */
        differ = word ^ *(const wc_wide *)(b + n);
        n += differ ? (size_t)__builtin_ctzll(differ) / 8 : sizeof(wc_wide);
    }
    while (n > 0 && a[n - 1] != '/')
        n--;
    return n;
}

/* Reads the names of the start-up objects. Has to come before the first dlopen. True: one matters.
 */
static bool look_at_start(void) {
    const struct link_map *last = NULL;
    const char *before = "";
    bool matters = false;
    sys_leave_unchecked(&__ehdr_start, (uintptr_t)_end - (uintptr_t)&__ehdr_start);
    for (const struct link_map *m = start_list(); m; m = m->l_next) {
        last = m;
        if (matters || m->l_ld == own_dynamic)
            continue;
        matters = wc_name_hints_behind(m->l_name, common_directories(m->l_name, before));
        before = m->l_name;
    }
    start_note(last);
    /* is_there_a_name() reads this word without the loader's lock. */
    if (last)
        sys_leave_unchecked(&last->l_next, sizeof last->l_next);
    return matters;
}

/* Objects that were the last on the list when it was read, the latest on top. All objects before
 * one of them were seen. They may be unloaded, and others in their place. */
#define TAILS 4
static struct tail {
    const struct link_map *map;
    uintptr_t base;
    uint64_t name;
} tails[TAILS];
static size_t tail_count;

static uint64_t hash_name(const char *name) {
    uint64_t h = 0;
    while (*name)
        h = h * 31 + (unsigned char)*name++;
    return h;
}

/* Reads the names of new objects. This thread is in a dlopen and holds the loader's lock, so the
 * list does not change. *untouched: the first object that was not on the list before; NULL: not
 * known. */
static bool look_at_new(const struct link_map **untouched) {
    const struct link_map *m = start_end()->l_next, *seen = NULL, *last = NULL;
    const size_t tails_before = tail_count;
    bool matters = false;
    for (; tail_count && !seen; tail_count -= !seen) {
        const struct tail *t = &tails[tail_count - 1];
        for (seen = m; seen && seen != t->map;)
            seen = seen->l_next;
        if (seen && (seen->l_addr != t->base || hash_name(seen->l_name) != t->name))
            seen = NULL;
    }
    m = seen ? seen->l_next : m;
    *untouched = tail_count == tails_before ? m : NULL;
    for (; m; m = m->l_next) {
        matters = matters || wc_name_hints(m->l_name);
        last = m;
    }
    if (!last)
        return matters;
    if (tail_count == TAILS)
        for (tail_count = 0; tail_count < TAILS - 1; tail_count++)
            tails[tail_count] = tails[tail_count + 1];
    tails[tail_count++] = (struct tail){last, last->l_addr, hash_name(last->l_name)};
    return matters;
}

/* ---- requests ---- */

#define ASLEEP_KEPT 4
static struct asleep_request kept[ASLEEP_KEPT];
static uint64_t kept_count;

static void keep_request(unsigned entry, const char *name, int flags, uintptr_t return_address) {
    uint64_t number = __atomic_add_fetch(&kept_count, 1, __ATOMIC_RELAXED);
    struct asleep_request *r = &kept[number % ASLEEP_KEPT];
    size_t n = 0;
    __atomic_store_n(&r->number, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    r->entry = entry;
    r->flags = flags;
    r->return_address = return_address;
    for (; n < sizeof r->name - 1 && name[n]; n++)
        r->name[n] = name[n];
    r->name[n] = 0;
    r->cut = name[n] != 0;
    __atomic_store_n(&r->number, number, __ATOMIC_RELEASE);
    this_thread.kept = r;
    this_thread.kept_number = number;
}

static bool take_kept(struct asleep_request *out) {
    const struct asleep_request *r = this_thread.kept;
    this_thread.kept = NULL;
    if (!r)
        return false;
    *out = *r;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return out->number == this_thread.kept_number &&
           __atomic_load_n(&r->number, __ATOMIC_RELAXED) == out->number;
}

/* ---- waking ---- */

/* The words of constant tables that hold a distance to their target instead of a pointer: `count`
 * words from `first` on, a bit for each. defer_relocations.py writes this. */
static const volatile struct {
    char mark[16];
    uint64_t first, count, is_pointer[64];
} later = {"relocated later", 0, 0, {0}};

/* A smaller word is a distance, since no library is so low or is so large. In a child that was
 * forked while they were relocated some are pointers already. */
#define DISTANCES ((uintptr_t)1 << 24)

static void relocate_tables(void) {
    uintptr_t *word = (uintptr_t *)((uintptr_t)&__ehdr_start + later.first);
    for (uint64_t i = 0; i < later.count; i++, word++)
        if ((later.is_pointer[i / 64] >> i % 64 & 1) && *word + DISTANCES < 2 * DISTANCES)
            *word += (uintptr_t)word;
}

static int current_state(void) {
    return __atomic_load_n(&shim_state, __ATOMIC_ACQUIRE);
}

static bool too_early; /* settings could not be read before our constructor: it tries again */

static int waker; /* pid of the process whose thread is waking the shim */

static bool change_state(int before, int after) {
    return __atomic_compare_exchange_n(&shim_state, &before, after, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_ACQUIRE);
}

static void relocate_and_begin(void) {
    relocate_tables();
    bool observe = hooks_wake(environment, standard_error.st_ino ? &standard_error : NULL);
    /* Without /proc the settings are not known before our constructor. */
    int after = observe ? SHIM_AWAKE : config.loaded ? SHIM_OFF : SHIM_ASLEEP;
    too_early = after == SHIM_ASLEEP;
    __atomic_store_n(&shim_state, after, __ATOMIC_RELEASE);
}

/* In a child that was forked meanwhile the waking thread is gone: it starts from the beginning. */
static void wait_for_waker(void) {
    for (long i = 0; i < SYS_WAITS && current_state() == SHIM_WAKING; i++) {
        sys_wait(i);
        if (current_state() == SHIM_WAKING &&
            sys_getpid() != __atomic_load_n(&waker, __ATOMIC_RELAXED))
            change_state(SHIM_WAKING, SHIM_ASLEEP);
    }
    change_state(SHIM_WAKING, SHIM_OFF);
}

static bool wake(void) {
    for (int tries = 0; tries < 2 && current_state() != SHIM_AWAKE && current_state() != SHIM_OFF;
         tries++) {
        signals_hold();
        if (current_state() == SHIM_ASLEEP)
            __atomic_store_n(&waker, sys_getpid(), __ATOMIC_RELAXED);
        bool ours = change_state(SHIM_ASLEEP, SHIM_WAKING);
        if (ours)
            relocate_and_begin();
        signals_release();
        if (ours)
            break;
        wait_for_waker();
    }
    return current_state() == SHIM_AWAKE;
}

static bool wake_with_request(void) {
    struct asleep_request request;
    if (!wake())
        return false;
    if (take_kept(&request))
        hooks_note(&request);
    return true;
}

/* ---- called by the host ---- */

static bool opens(unsigned entry) {
    return entry == ENTRY_DLOPEN || entry == ENTRY_DLMOPEN;
}

struct entry_answer shim_hook(unsigned entry, const uintptr_t *arguments,
                              uintptr_t return_address) {
    uintptr_t next = next_definition(entry);
    bool named_second = entry != ENTRY_DLOPEN;
    const char *name = (const char *)arguments[named_second];
    if (!next || current_state() == SHIM_OFF)
        return (struct entry_answer){next, 0};
    if (current_state() != SHIM_AWAKE) {
        bool matters = !start_end() && look_at_start();
        bool looks_up = entry == ENTRY_DLSYM || entry == ENTRY_DLVSYM;
        matters = matters || (opens(entry) && wc_name_hints(name));
        if (looks_up && name) /* the same test as in entry.S */
            matters =
                matters || (name[0] == 'c' && name[1] == 'u' && name[2] == 'd' && name[3] == 'n');
        if (!matters || !wake_with_request()) {
            this_thread.kept = NULL;
            if (opens(entry) && name)
                keep_request(entry, name, (int)arguments[named_second + 1], return_address);
            return (struct entry_answer){next, 0};
        }
    }
    return hooks_enter(entry, arguments, return_address, next);
}

EXPORT char *dlerror(void) {
    char *(*next)(void) = (void *)next_definition(ENTRY_DLERROR);
    char *text = next ? next() : NULL;
    if (!text || !next_are_we_relocated() || current_state() == SHIM_OFF)
        return text;
    if (current_state() == SHIM_AWAKE || (wc_name_hints(text) && wake_with_request()))
        hooks_hear(text);
    return text;
}

/* Where it would be without us. Nsight Compute's injection, a preload, takes the library that
 * dlopen is in for itself. */
static const void *without_us(const void *address) {
    if ((uintptr_t)address - (uintptr_t)&__ehdr_start >= (uintptr_t)_end - (uintptr_t)&__ehdr_start)
        return address;
    return next_in_place_of(current_state() == SHIM_AWAKE ? hooks_behind(address) : address);
}

EXPORT int dladdr(const void *address, Dl_info *info) {
    int (*next)(const void *, Dl_info *) = (void *)next_definition(ENTRY_DLADDR);
    return next ? next(without_us(address), info) : 0;
}

EXPORT int dladdr1(const void *address, Dl_info *info, void **extra, int flags) {
    int (*next)(const void *, Dl_info *, void **, int) = (void *)next_definition(ENTRY_DLADDR1);
    return next ? next(without_us(address), info, extra, flags) : 0;
}

/* ---- called by the loader ---- */

HIDDEN void shim_initialising(void) {
    uintptr_t return_address = (uintptr_t)__builtin_return_address(0);
    const struct link_map *untouched = NULL, *last = start_end();
    bool awake = current_state() == SHIM_AWAKE, matters = false;
    if (current_state() == SHIM_OFF)
        return;
    if (!awake && !last) {
        untouched = start_list();
        matters = look_at_start();
    } else if (!awake) {
        matters = last->l_next && !start_has(return_address) && look_at_new(&untouched);
    }
    if (awake || (matters && wake_with_request()))
        rescan_in_initialisation(return_address, untouched);
}

EXPORT void __gmon_start__(void) __attribute__((alias("shim_initialising")));

/* Does our constructor have to wake the shim? Reads the settings at once: the process may change
 * its environment, or write its title over it. */
static bool is_wanted(const char *const *envp) {
    static const char prefix[] = "WHICHCUDNN_";
    bool wanted = !start_end() && look_at_start();
    void (*bound)(void) = __gmon_start__;
    size_t n = 0;
    environment = envp;
    for (const char *const *e = envp; *e && prefix[n]; e++)
        for (n = 0; prefix[n] && (*e)[n] == prefix[n];)
            n++;
    if (!prefix[n]) { /* otherwise the page of config stays untouched */
        config_load(envp);
        if (config.off)
            __atomic_store_n(&shim_state, SHIM_OFF, __ATOMIC_RELEASE);
        wanted = wanted || (config.run_pid && config.run_pid == sys_getpid());
    }
    /* A program that was built with -pg defines __gmon_start__ itself, and objects bind to that
     * one. */
    __asm__("" : "+r"(bound));
    return wanted || too_early || bound != shim_initialising;
}

#ifdef SHIM_IN_ARRAYS /* a coverage build: gcov's own constructors have to come after ours */
#define AT_START __attribute__((constructor)) HIDDEN
#define AT_END __attribute__((destructor)) HIDDEN
#else /* the linker gets their names */
#define AT_START HIDDEN
#define AT_END HIDDEN
#endif

AT_START void shim_begin(int argc, char **argv, char **envp) {
    (void)argc, (void)argv;
    if (!start_list()) /* the loader of another libc passes no arguments */
        return;
    if (current_state() != SHIM_AWAKE && !(is_wanted((const char *const *)envp) && wake())) {
        if (current_state() != SHIM_OFF && sys_fstat(2, &standard_error) != 0)
            standard_error.st_ino = (ino_t)-1; /* closed: what becomes it is none */
        return;
    }
    hooks_begin();
}

AT_END void shim_end(void) {
    if (current_state() == SHIM_AWAKE)
        hooks_end();
}
