/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted PLAN: does what a plan says and counts in shared memory (COUNTS in the environment) what
 * it has begun and what is done, for somebody who kills it. The plan has one line a step, its
 * thread's number first:
 *   0 open FILE     opens a library and keeps it
 *   0 try NAME      asks for one that is not there
 *   0 find NAME     looks a function up in the library and keeps it
 *   0 miss NAME     looks one up that is not there
 *   0 words         fetches the loader's words
 *   0 call          calls the function that was found last
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 8
#define STEPS 512

/* As kills.py reads it. */
struct counts {
    _Atomic uint32_t tid, begun, done;
};
static struct counts *counts;

struct step {
    char what;
    char name[231];
};
static struct step plan[THREADS][STEPS];
static uint32_t steps[THREADS];

typedef long function(long, long, long, long, long, long, long, long, long, long, long, long, long);

static void fail(const char *what, const char *name) {
    fprintf(stderr, "counted: %s %s: %s\n", what, name, dlerror());
    _exit(3);
}

static void *run(void *argument) {
    uintptr_t thread = (uintptr_t)argument;
    struct counts *c = &counts[thread];
    void *library = NULL;
    function *found = NULL;
    int number;
    c->tid = (uint32_t)syscall(SYS_gettid);
    for (uint32_t i = 0; i < steps[thread]; i++) {
        const struct step *s = &plan[thread][i];
        c->begun = i + 1;
        switch (s->what) {
        case 'o':
            if (!(library = dlopen(s->name, RTLD_NOW | RTLD_LOCAL)))
                fail("open", s->name);
            break;
        case 't':
            if (dlopen(s->name, RTLD_NOW))
                fail("try", s->name);
            break;
        case 'f':
            if (!(found = (function *)dlsym(library, s->name)))
                fail("find", s->name);
            break;
        case 'm':
            if (dlsym(library, s->name))
                fail("miss", s->name);
            break;
        case 'w':
            if (!dlerror())
                fail("words", "");
            break;
        case 'c':
            found((long)&number, (long)&number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            break;
        }
        c->done = i + 1;
    }
    return NULL;
}

static void read_plan(const char *name) {
    char line[256], what[8];
    FILE *in = fopen(name, "re");
    while (in && fgets(line, sizeof line, in)) {
        unsigned thread;
        struct step s = {0, ""};
        if (sscanf(line, "%u %7s %230s", &thread, what, s.name) < 2 || thread >= THREADS ||
            steps[thread] == STEPS)
            fail("plan", line);
        s.what = what[0];
        plan[thread][steps[thread]++] = s;
    }
    if (!in)
        fail("plan", name);
    fclose(in);
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    const char *shared = getenv("COUNTS");
    int fd = shared ? open(shared, O_RDWR | O_CLOEXEC) : -1;
    counts = mmap(NULL, THREADS * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (argc < 2 || counts == MAP_FAILED)
        return 2;
    close(fd);
    read_plan(argv[1]);
    for (uintptr_t i = 0; i < THREADS; i++)
        if (steps[i] && pthread_create(&threads[i], NULL, run, (void *)i))
            return 2;
    for (uintptr_t i = 0; i < THREADS; i++)
        if (steps[i])
            pthread_join(threads[i], NULL);
    return 0;
}
