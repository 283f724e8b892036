/* SPDX-License-Identifier: Apache-2.0 */
#include "self.h"

#include "core/base/base.h"
#include "memory.h"
#include "sys.h"
#include "thread.h"

#define NO_ADVICE (-1)

/* All by __atomic_ builtins. */
struct page {
    unsigned process; /* number of the process; 0: wiped */
    int pid;
    bool is_in_proc; /* /proc/self/task has that pid, so /proc is of our pid namespace */
};
static struct page *page;
static struct page unwiped; /* for kernels before 4.14, which cannot wipe: getpid each time */
static unsigned newest;     /* the last number given; a forked child inherits its parent's */

/* NO_ADVICE has to fail: qemu-user accepts any advice and does nothing. */
static struct page *make_page(void) {
    struct page *fresh = memory_map(sizeof *fresh), *none = NULL;
    bool wiped = fresh && sys_advise(fresh, sizeof *fresh, MADV_WIPEONFORK) == 0 &&
                 sys_advise(fresh, sizeof *fresh, NO_ADVICE) != 0;
    bool first = __atomic_compare_exchange_n(&page, &none, wiped ? fresh : &unwiped, false,
                                             __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    if (fresh && !(wiped && first))
        sys_unmap(fresh, sizeof *fresh);
    return __atomic_load_n(&page, __ATOMIC_ACQUIRE);
}

unsigned self_process(void) {
    const struct page *p = __atomic_load_n(&page, __ATOMIC_ACQUIRE);
    if (!p || (p == &unwiped && __atomic_load_n(&p->pid, __ATOMIC_RELAXED) != sys_getpid()))
        return 0;
    return __atomic_load_n(&p->process, __ATOMIC_ACQUIRE);
}

int self_pid(void) {
    return __atomic_load_n(&__atomic_load_n(&page, __ATOMIC_ACQUIRE)->pid, __ATOMIC_RELAXED);
}

int self_tid(void) {
    unsigned process = self_process();
    if (!process || this_thread.tid_of != process) {
        this_thread.tid = sys_gettid();
        this_thread.tid_of = process;
    }
    return this_thread.tid;
}

/* -EISDIR: the process has a thread pid (0: there is a /proc). -ENOENT: it has none. Uses open,
 * which the log needs anyway, so a sandbox allows it; a directory cannot be opened for writing, so
 * there is nothing to close. */
static int look_into_proc(int pid) {
    char name[40];
    wc_str_format(name, sizeof name, pid ? "/proc/self/task/%d" : "/proc/self/task", pid);
    int fd = sys_open(name, O_WRONLY | O_CLOEXEC, 0);
    if (fd >= 0)
        sys_close(fd);
    return fd;
}

/* Gives this process its number. Threads that do so at once agree on it. */
static bool begin_process(struct page *p) {
    unsigned before = __atomic_load_n(&p->process, __ATOMIC_ACQUIRE);
    unsigned next = __atomic_load_n(&newest, __ATOMIC_ACQUIRE) + 1;
    int pid = sys_getpid();
    if (self_process() != 0)
        return true;
    if (pid <= 0) /* a sandbox refuses it */
        return false;
    __atomic_store_n(&p->is_in_proc, look_into_proc(pid) == -EISDIR, __ATOMIC_RELAXED);
    __atomic_store_n(&p->pid, pid, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&p->process, &before, next, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        __atomic_store_n(&newest, next, __ATOMIC_RELEASE);
    return true;
}

/* Is this a child that shares its parent's memory? Not by getpid, which may be forbidden by now. */
static bool is_anothers_memory(const struct page *p) {
    return __atomic_load_n(&p->is_in_proc, __ATOMIC_RELAXED) &&
           look_into_proc(__atomic_load_n(&p->pid, __ATOMIC_RELAXED)) == -ENOENT &&
           look_into_proc(0) == -EISDIR;
}

/* Looks once in each hook, since no hook begins in one process and ends in another. */
bool self_enter(void) {
    struct page *p = __atomic_load_n(&page, __ATOMIC_ACQUIRE);
    if (!p)
        p = make_page();
    if (!self_process())
        return begin_process(p);
    if (!this_thread.inside || !this_thread.entered)
        this_thread.entered = !is_anothers_memory(p);
    return this_thread.entered;
}
