/* SPDX-License-Identifier: Apache-2.0 */
#include "self.h"

#include "core/base/base.h"
#include "memory.h"
#include "sys.h"
#include "thread.h"

#define NO_ADVICE (-1)

/* All by __atomic_ builtins. */
struct page {
    unsigned process; /* 0: wiped */
    int pid;
    bool is_in_proc; /* /proc/self/task had that pid: it is of our namespace */
};
static struct page *page;
static struct page unwiped; /* where the kernel (before 4.14) cannot wipe: it is asked each time */
static unsigned newest;     /* process number; a forked child finds its parent's here */

/* qemu-user says yes to any advice and does nothing. */
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

/* ENOENT where there is none, another error where nobody may look. By a call that a line of the log
 * needs anyway, and no more: nobody can open a directory to write, so there is nothing to close. */
static int look_into_proc(int pid) {
    char name[40];
    wc_str_format(name, sizeof name, pid ? "/proc/self/task/%d" : "/proc/self/task", pid);
    int fd = sys_open(name, O_WRONLY | O_CLOEXEC, 0);
    if (fd >= 0)
        sys_close(fd);
    return fd;
}

/* Threads that come here at once agree on the number. */
static bool begin_process(struct page *p) {
    unsigned before = __atomic_load_n(&p->process, __ATOMIC_ACQUIRE);
    unsigned next = __atomic_load_n(&newest, __ATOMIC_ACQUIRE) + 1;
    int pid = sys_getpid();
    if (self_process() != 0)
        return true;
    if (pid <= 0) /* it is refused */
        return false;
    __atomic_store_n(&p->is_in_proc, look_into_proc(pid) == -EISDIR, __ATOMIC_RELAXED);
    __atomic_store_n(&p->pid, pid, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&p->process, &before, next, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        __atomic_store_n(&newest, next, __ATOMIC_RELEASE);
    return true;
}

/* Not by getpid: it may be forbidden by now. */
static bool is_anothers_memory(const struct page *p) {
    return __atomic_load_n(&p->is_in_proc, __ATOMIC_RELAXED) &&
           look_into_proc(__atomic_load_n(&p->pid, __ATOMIC_RELAXED)) == -ENOENT &&
           look_into_proc(0) == -EISDIR;
}

/* Once for each hook: none begins in one process and ends in another. */
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
