/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stress SEED ROUNDS DIRECTORY LIBRARIES HOSTS: threads that make random dl calls over libs<N>.so
 * and the cuDNN hosts libhost<N>.so of the directory, with forks and signals beside them. Each
 * thread draws from a seed of its own and folds into a hash what each call gave, of which nothing
 * hangs on what other threads do: the hashes of two runs with one seed are the same. A hang ends by
 * SIGALRM.
 *
 * Forks are of two kinds. One waits until no library is being loaded, as bare glibc, too, leaves
 * locked what another thread holds then; that child makes dl calls. The other waits for nothing,
 * and its child calls what is loaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define HANDLES 8
#define SECONDS 60

struct actor {
    uint64_t draw, hash;
    void *handle[HANDLES];
    int number[HANDLES]; /* of the library; a host's begins at `libraries` */
};

static const char *directory;
static int rounds, libraries, hosts;
static size_t (*version)(void); /* cudnnGetVersion, where cuDNN stays loaded: with an odd seed */
static volatile sig_atomic_t signals;
static pthread_rwlock_t loading = PTHREAD_RWLOCK_INITIALIZER;

static uint32_t draw(struct actor *a, uint32_t below) {
    a->draw = a->draw * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(a->draw >> 33) % below;
}

static void fold(struct actor *a, const void *what, size_t n) {
    for (size_t i = 0; i < n; i++)
        a->hash = (a->hash ^ ((const unsigned char *)what)[i]) * 1099511628211u;
}

static void fold_number(struct actor *a, uint64_t number) {
    fold(a, &number, sizeof(number));
}

static void fold_words(struct actor *a) {
    const char *words = dlerror();
    if (words)
        fold(a, words, strlen(words));
    fold_number(a, words != NULL);
}

static void name(char *to, size_t cap, int number) {
    if (number < libraries)
        snprintf(to, cap, "%s/libs%d.so", directory, number);
    else
        snprintf(to, cap, "%s/libhost%d.so", directory, number - libraries);
}

static void function(char *to, size_t cap, int number) {
    snprintf(to, cap, number < libraries ? "s%d_value" : "host%d_value",
             number < libraries ? number : number - libraries);
}

static void open_one(struct actor *a, int i) {
    char path[4096];
    a->number[i] = (int)draw(a, (uint32_t)(libraries + hosts));
    name(path, sizeof(path), a->number[i]);
    a->handle[i] =
        dlopen(path, (draw(a, 2) ? RTLD_NOW : RTLD_LAZY) | (draw(a, 4) ? 0 : RTLD_GLOBAL));
    fold_number(a, a->handle[i] != NULL);
    if (!a->handle[i])
        fold_words(a);
}

static void call_one(struct actor *a, int i) {
    char text[64];
    Dl_info info;
    int (*value)(void);
    function(text, sizeof(text), a->number[i]);
    *(void **)&value = dlsym(a->handle[i], text);
    fold_number(a, value ? (uint64_t)value() : 0);
    if (value && dladdr(*(void **)&value, &info) && info.dli_sname)
        fold(a, info.dli_sname, strlen(info.dli_sname));
    if (a->number[i] >= libraries) {
        size_t (*own)(void);
        *(void **)&own = dlsym(a->handle[i], "cudnnGetVersion");
        fold_number(a, own ? own() : 0);
    }
}

/* One call, or a few that belong together; all but the last are a dl call. */
static void act(struct actor *a) {
    int i = (int)draw(a, HANDLES);
    char text[64];
    void *h;

    errno = (int)draw(a, 100);
    switch (draw(a, 9)) {
    case 0:
    case 1:
        if (a->handle[i]) {
            fold_number(a, (uint64_t)dlclose(a->handle[i]));
            a->handle[i] = NULL;
        } else
            open_one(a, i);
        break;
    case 2:
        snprintf(text, sizeof(text), "libnowhere%u.so", draw(a, 50));
        fold_number(a, dlopen(text, RTLD_NOW) != NULL);
        if (draw(a, 2))
            fold_words(a);
        break;
    case 3:
        if (a->handle[i]) {
            snprintf(text, sizeof(text), "nothing_%u", draw(a, 50));
            fold_number(a, dlsym(a->handle[i], text) != NULL);
            fold_words(a);
        }
        break;
    case 4:
        fold_number(a, dlsym(RTLD_DEFAULT, draw(a, 2) ? "malloc" : "nothing_at_all") != NULL);
        fold_words(a);
        break;
    case 5:
        h = dlopen(NULL, RTLD_LAZY);
        fold_number(a, h && dlsym(h, "main") != NULL);
        dlerror();
        fold_number(a, (uint64_t)dlclose(h));
        break;
    case 6:
        fold_number(a, dlvsym(RTLD_DEFAULT, "free", "NOWHERE_1.0") != NULL);
        fold_words(a);
        break;
    default:
        if (a->handle[i])
            call_one(a, i);
    }
}

static void *acts(void *actor) {
    struct actor *a = actor;
    for (int i = 0; i < rounds; i++) {
        pthread_rwlock_rdlock(&loading);
        act(a);
        pthread_rwlock_unlock(&loading);
    }
    pthread_rwlock_rdlock(&loading);
    for (int i = 0; i < HANDLES; i++)
        if (a->handle[i])
            fold_number(a, (uint64_t)dlclose(a->handle[i]));
    pthread_rwlock_unlock(&loading);
    return NULL;
}

static void count(int number) {
    int kept = errno;
    (void)number;
    if (version)
        (void)version();
    signals++;
    errno = kept;
}

static void forks(struct actor *a, bool waits) {
    if (waits)
        pthread_rwlock_wrlock(&loading);
    pid_t child = fork();
    if (child == 0) {
        struct actor own = {.draw = a->draw};
        alarm(SECONDS / 2);
        if (waits) {
            pthread_rwlock_init(&loading, NULL);
            for (int i = 0; i < 20; i++)
                act(&own);
        } else if (version)
            fold_number(&own, version());
        _exit((int)(own.hash % 100));
    }
    if (waits)
        pthread_rwlock_unlock(&loading);
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    fold_number(a, (uint64_t)status);
    if (!WIFEXITED(status))
        printf("a child that %s ended with %d\n", waits ? "waited" : "did not wait", status);
}

int main(int argc, char **argv) {
    struct actor actors[THREADS + 1] = {{0, 0, {0}, {0}}};
    pthread_t threads[THREADS];
    struct sigaction on = {.sa_handler = count, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 3000}, {0, 3000}};
    char path[4096];

    if (argc != 6)
        return 2;
    rounds = atoi(argv[2]), directory = argv[3], libraries = atoi(argv[4]), hosts = atoi(argv[5]);
    alarm(SECONDS);
    if (strtoull(argv[1], NULL, 10) % 2) {
        name(path, sizeof(path), libraries);
        void *host = dlopen(path, RTLD_LAZY);
        *(void **)&version = host ? dlsym(host, "cudnnGetVersion") : NULL;
        if (version)
            version(); /* which loads its parts: a handler of signals must not */
    }
    sigaction(SIGPROF, &on, NULL);
    setitimer(ITIMER_PROF, &often, NULL);
    for (int i = 0; i <= THREADS; i++)
        actors[i].draw = strtoull(argv[1], NULL, 10) * 1000 + (uint64_t)i;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, acts, &actors[i]);
    for (int i = 0; i < rounds / 20; i++)
        forks(&actors[THREADS], draw(&actors[THREADS], 2));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i <= THREADS; i++)
        printf("%016llx\n", (unsigned long long)actors[i].hash);
    return 0;
}
