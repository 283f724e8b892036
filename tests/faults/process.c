/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts whose children, threads and signals cross the shim's way. FILE is a cuDNN, DIR has copies
 * of the stand-in's set: DIR/1, DIR/2, ... (of 9, if DIR has it).
 *   process short FILE [FD]   a short process: calls two functions (after FD was closed everywhere)
 *   process many FILE N       N of those at once
 *   process alarms DIR N      opens, calls and closes one copy after another under alarms
 *   process looks-up DIR N    the same, and the handler of the alarms looks functions up and calls
 *   process jumps DIR N       the same, and the handler leaves lookups and calls by siglongjmp
 *   process opens DIR N HOW   a handler on a stack of its own does all that; HOW: where that lies,
 *                             "above" or "below" the stack of the thread
 *   process forks DIR N       forks N children while two threads open, call and close copies
 *   process shares DIR N HOW  N children in this process's memory (HOW: vfork, clone) do so
 *   process spawns FILE N HOW N short processes (HOW: vfork, posix_spawn, daemon)
 */
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "report.h"

#define UNTOUCHED 77 /* an errno number that nothing here sets */

/* What the stand-in gives: libcudnn.so.9 loads a part for the first call of each function,
 * libcudnn.so.7 nothing. */
static const struct set {
    const char *file;
    long version, created;
} sets[] = {{"libcudnn.so.9", 90100, 1001}, {"libcudnn.so.7", 7605, 1}};
static struct set expected;

static void fail(const char *what) {
    report("cannot %s: %s\n", what, strerror(errno));
    _exit(3);
}

/* ---- cuDNN ---- */

static void *open_file(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail(dlerror());
    return library;
}

static void *open_copy(const char *directory, int number) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%d/%s", directory, number, expected.file);
    return open_file(name);
}

static long call(void *library, const char *function) {
    void *handle = NULL;
    long (*f)(void *) = (long (*)(void *))dlsym(library, function);
    if (!f)
        fail(dlerror());
    errno = UNTOUCHED;
    long result = f(&handle);
    if (errno != UNTOUCHED)
        fail("keep errno");
    return result;
}

static bool calls_well(void *library) {
    return call(library, "cudnnGetVersion") == expected.version &&
           call(library, "cudnnCreate") == expected.created;
}

/* ---- alarms ---- */

#define EVERY 100 /* microseconds */
static volatile sig_atomic_t came;

static void arm(void (*handler)(int), int flags, long every) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct itimerval timer = {{0, every}, {0, every}};
    sigaction(SIGALRM, &action, NULL);
    if (setitimer(ITIMER_REAL, &timer, NULL))
        fail("setitimer");
}

static void count(int number) {
    (void)number;
    came++;
}

/* What opens, calls and closes; the shim looks at what is new in the first lookup after. */
static int each_copy(const char *directory, int copies) {
    int good = 0;
    for (int i = 1; i <= copies; i++) {
        void *library = open_copy(directory, i);
        good += calls_well(library);
        dlclose(library);
    }
    return good;
}

static void emit(int good, int of) {
    report("%d of %d, alarms %s\n", good, of, came >= of ? "came" : "did not come");
}

static void under_alarms(const char *directory, int copies) {
    arm(count, 0, EVERY);
    int good = each_copy(directory, copies);
    arm(count, 0, 0);
    emit(good, copies);
}

/* ---- handlers that do something ---- */

/*
 * Nobody may call the loader, or jump away, from a handler that interrupted the loader or malloc.
 * So a handler acts only where this program itself was interrupted or, where it is there, the shim,
 * for which the host is at a place like any other.
 */
static struct range { uintptr_t start, end; } program, shim;
static volatile sig_atomic_t acted, in_shim;

static int note_range(struct dl_phdr_info *info, size_t size, void *first) {
    bool is_shim = info->dlpi_name && strstr(info->dlpi_name, "libwhichcudnn");
    struct range *r = is_shim ? &shim : *(bool *)first ? &program : NULL;
    (void)size;
    *(bool *)first = false;
    for (int i = 0; r && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
            r->start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            r->end = r->start + info->dlpi_phdr[i].p_memsz;
        }
    return 0;
}

static bool is_in(const struct range *r, uintptr_t address) {
    return address >= r->start && address < r->end;
}

static bool may_act(void *context) {
    const ucontext_t *c = context;
#ifdef __x86_64__
    uintptr_t at = (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
#else
    uintptr_t at = (uintptr_t)c->uc_mcontext.pc;
#endif
    in_shim += is_in(&shim, at);
    return is_in(&program, at) || is_in(&shim, at);
}

/* One alarm at a time: one that is due at once would come at the same place again. */
static void next_alarm(void) {
    struct itimerval timer = {{0, 0}, {0, EVERY + ++came * 37 % EVERY}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void arm_to_act(void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    bool first = true;
    dl_iterate_phdr(note_range, &first);
    sigaction(SIGALRM, &action, NULL);
    next_alarm();
}

/* How often the shim was interrupted is not the same bare: it goes to a file of its own. */
static void tell_acts(int good, int of, int acts) {
    FILE *file = fopen("in-shim", "w");
    arm(count, 0, 0);
    if (!file || fprintf(file, "%d\n", (int)in_shim) < 0 || fclose(file))
        fail("tell");
    report("%d of %d, handler acted %s\n", good, of, acted >= acts ? "enough" : "too rarely");
}

/* ---- a handler that looks up ---- */

static void *for_handler;
static long seen_by_handler;

static void look_up_in_handler(int number, siginfo_t *info, void *context) {
    int error = errno;
    (void)number, (void)info;
    if (may_act(context)) {
        acted++;
        long version = call(for_handler, "cudnnGetVersion");
        seen_by_handler = version == expected.version ? seen_by_handler : version;
    }
    next_alarm();
    errno = error;
}

static void looks_up(const char *directory, int copies) {
    int good = 0;
    for_handler = open_copy(directory, copies + 1);
    arm_to_act(look_up_in_handler, 0);
    for (int i = 1; i <= copies; i++) {
        void *library = open_copy(directory, i);
        while (acted < i * 10)
            if (call(library, "cudnnGetVersion") != expected.version)
                fail("call well");
        good += calls_well(library);
        dlclose(library);
    }
    tell_acts(good, copies, copies * 10);
    report("handler saw %ld\n", seen_by_handler);
}

/* ---- a handler that jumps ---- */

static sigjmp_buf back;
static volatile sig_atomic_t may_jump;

static void jump(int number, siginfo_t *info, void *context) {
    int error = errno;
    (void)number, (void)info;
    next_alarm();
    if (may_jump && may_act(context)) {
        acted++;
        siglongjmp(back, 1);
    }
    errno = error;
}

/* Lookups and calls again and again, left in the middle; deep in the stack, so that it is above the
 * hooks that were left when this returns. */
static void be_thrown_out(void *library, int until) {
    volatile char deep[16 << 10];
    deep[0] = deep[sizeof deep - 1] = 0;
    (void)deep[0];
    sigsetjmp(back, 1);
    may_jump = 1;
    while (acted < until)
        if (call(library, "cudnnGetVersion") != expected.version)
            fail("call well");
    may_jump = 0;
}

static void jumps(const char *directory, int copies) {
    int good = 0;
    arm_to_act(jump, 0);
    for (int i = 1; i <= copies; i++) {
        void *library = open_copy(directory, i);
        be_thrown_out(library, i * 10);
        good += calls_well(library);
        dlclose(library);
    }
    tell_acts(good, copies, copies * 10);
}

/* ---- a handler on a stack of its own that opens ---- */

static const char *copies_in;
static volatile sig_atomic_t copies_left, opened_well;

static void open_in_handler(int number, siginfo_t *info, void *context) {
    int error = errno;
    (void)number, (void)info;
    if (copies_left && may_act(context)) {
        acted++;
        void *library = open_copy(copies_in, copies_left--);
        opened_well += calls_well(library);
    }
    next_alarm();
    errno = error;
}

static void *look_up_meanwhile(void *library) {
    stack_t stack = {.ss_sp = for_handler, .ss_size = 256 << 10};
    if (sigaltstack(&stack, NULL))
        fail("sigaltstack");
    arm_to_act(open_in_handler, SA_ONSTACK);
    while (copies_left)
        if (call(library, "cudnnGetVersion") != expected.version)
            fail("call well");
    arm(count, 0, 0);
    if (call(library, "cudnnGetCudartVersion") != 0)
        fail("call well");
    return NULL;
}

static void opens(const char *directory, int copies, const char *how) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t set;
    size_t size = 512 << 10;
    bool above = !strcmp(how, "above");
    char *memory = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    copies_in = directory;
    copies_left = copies;
    for_handler = above ? memory + size : memory;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, above ? memory : memory + size, size);
    errno =
        pthread_create(&thread, &attributes, look_up_meanwhile, open_copy(directory, copies + 1));
    if (errno)
        fail("start a thread");
    /* The alarms are for that thread alone. */
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_join(thread, NULL);
    tell_acts(opened_well, copies, copies);
}

/* ---- children ---- */

/* Exit status of the child; beyond 255 where a signal ended it. */
static int wait_for(pid_t pid) {
    int status = -1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

static atomic_int over;
static const char *directory_of_threads;

static void *open_and_close(void *number) {
    while (!over) {
        void *library = open_copy(directory_of_threads, (int)(long)number);
        if (!calls_well(library))
            fail("call well");
        dlclose(library);
    }
    return NULL;
}

static void forks(const char *directory, int children) {
    pthread_t threads[2];
    int good = 0;
    void *library = open_copy(directory, 1);
    call(library, "cudnnGetVersion"); /* loads what cudnnCreate needs, too */
    directory_of_threads = directory;
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, open_and_close, (void *)(i + 2));
    for (int i = 0; i < children; i++) {
        void *fresh = open_copy(directory, 4); /* the child's lookup is the first after that */
        pid_t pid = fork();
        if (pid == 0) {
            alarm(10);
            _exit(calls_well(library) ? 7 : 1);
        }
        good += wait_for(pid) == 7;
        dlclose(fresh);
    }
    over = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    report("%d of %d\n", good, children);
}

static void *of_parent;

/* In the parent's memory: it may do what it does with the loader, since the parent waits. */
static int in_the_same_memory(void *directory) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    void *library = open_copy(directory, 2);
    bool well = calls_well(library) && call(of_parent, "cudnnGetCudartVersion") == 0;
    dlclose(library);
    _exit(well ? 7 : 1);
}

static pid_t share_with(bool by_vfork, char *directory) {
    static char stack[256 << 10] __attribute__((aligned(16)));
    if (!by_vfork)
        return clone(in_the_same_memory, stack + sizeof stack, CLONE_VM | SIGCHLD, directory);
    pid_t pid = vfork();
    if (pid == 0)
        in_the_same_memory(directory);
    return pid;
}

static void shares(char *directory, int children, const char *how) {
    int good = 0;
    of_parent = open_copy(directory, 1);
    call(of_parent, "cudnnGetVersion");
    for (int i = 0; i < children; i++)
        good += wait_for(share_with(!strcmp(how, "vfork"), directory)) == 7;
    report("%d of %d\n", good, children);
    long third = call(of_parent, "cudnnGetCudartVersion");
    report("then %ld %ld\n", third, call(of_parent, "cudnnCreate"));
}

/* ---- short processes ---- */

extern char **environ;
static char *arguments_of_short[] = {"process", "short", NULL, NULL, NULL};

static int be_short(const char *file, const char *descriptor) {
    char byte;
    if (descriptor && read(atoi(descriptor), &byte, 1) != 0)
        return 1;
    return calls_well(open_file(file)) ? 7 : 1;
}

static void many(char *file, int n) {
    pid_t *pids = calloc((size_t)n, sizeof *pids);
    char number[16];
    int ends[2], good = 0;
    if (!pids || pipe(ends) || fcntl(ends[1], F_SETFD, FD_CLOEXEC))
        fail("pipe");
    snprintf(number, sizeof number, "%d", ends[0]);
    arguments_of_short[2] = file;
    arguments_of_short[3] = number;
    unsetenv("REPORT");
    for (int i = 0; i < n; i++)
        if (posix_spawn(&pids[i], "/proc/self/exe", NULL, NULL, arguments_of_short, environ))
            fail("spawn");
    close(ends[1]); /* now */
    for (int i = 0; i < n; i++)
        good += wait_for(pids[i]) == 7;
    report("%d of %d\n", good, n);
}

static pid_t spawn_one(bool by_vfork) {
    pid_t pid = -1;
    if (by_vfork) {
        pid = vfork();
        if (pid == 0) {
            execve("/proc/self/exe", arguments_of_short, environ);
            _exit(127);
        }
        return pid;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all;
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addclose(&actions, fd);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    if (posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, arguments_of_short, environ))
        fail("spawn");
    return pid;
}

static void spawns(char *file, int n, const char *how) {
    int good = 0;
    void *library = open_file(file);
    call(library, "cudnnGetVersion");
    arguments_of_short[2] = file;
    unsetenv("REPORT");
    for (int i = 0; i < n; i++)
        good += wait_for(spawn_one(!strcmp(how, "vfork"))) == 7;
    report("%d of %d\n", good, n);
    report("then %ld\n", call(library, "cudnnCreate"));
}

static bool expect(const char *where) {
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/1/%s", where, sets[i].file);
        if (strstr(where, sets[i].file) || !access(name, R_OK)) {
            expected = sets[i];
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv) {
    const char *what = argc > 2 ? argv[1] : "", *how = argc > 4 ? argv[4] : "";
    char *where = argc > 2 ? argv[2] : NULL;
    int n = argc > 3 ? atoi(argv[3]) : 0;
    if (!where || !expect(where))
        return 2;
    if (!strcmp(what, "short"))
        return be_short(where, argc > 3 ? argv[3] : NULL);
    report_begin();
    if (!strcmp(what, "many"))
        many(where, n);
    else if (!strcmp(what, "alarms"))
        under_alarms(where, n);
    else if (!strcmp(what, "looks-up"))
        looks_up(where, n);
    else if (!strcmp(what, "jumps"))
        jumps(where, n);
    else if (!strcmp(what, "opens"))
        opens(where, n, how);
    else if (!strcmp(what, "forks"))
        forks(where, n);
    else if (!strcmp(what, "shares"))
        shares(where, n, how);
    else if (!strcmp(what, "spawns"))
        spawns(where, n, how);
    else
        return 2;
    report_end();
    return 0;
}
