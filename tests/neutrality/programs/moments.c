/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library, or with PROGRAM a program, that takes the steps of its moments (moments.h): "early"
 * and "begins" as constructors, "ends" as a destructor, "main". More, where it is built with
 *   INIT      "init" and "fini": DT_INIT and DT_FINI
 *   PREINIT   "preinit", in DT_PREINIT_ARRAY
 *   RESOLVES  "resolver", of an indirect function that host_run calls
 *   BARE      for -nostartfiles
 *   ITSELF    with BARE: a program whose "main" is its only entry
 */
#include "moments.h"

#ifdef BARE
/* A start file has it, for atexit. */
__attribute__((visibility("hidden"))) void *__dso_handle = &__dso_handle;
#endif

#if defined(PROGRAM) || defined(ITSELF)
atomic_int moments_flags[8];
#endif

/* What runs before libc's own constructor finds no environment there yet. */
static void at_start(const char *moment, char **variables) {
    if (!environ)
        environ = variables;
    moments_at(&moments_main, moment);
}
__attribute__((constructor(101))) static void early(int argc, char **argv, char **variables) {
    (void)argc, (void)argv;
    at_start("early", variables);
}
__attribute__((constructor)) static void begin(int argc, char **argv, char **variables) {
    (void)argc, (void)argv;
    at_start("begins", variables);
}
__attribute__((destructor)) static void end(void) {
    moments_at(&moments_main, "ends");
}

#ifdef INIT
void initialise(void);
void initialise(void) {
    moments_at(&moments_main, "init");
}
void finish(void);
void finish(void) {
    moments_at(&moments_main, "fini");
}
#endif

#ifdef PREINIT
static void before_all(int argc, char **argv, char **variables) {
    (void)argc, (void)argv;
    at_start("preinit", variables);
}
__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char **,
                                                                        char **) = before_all;
#endif

#ifdef RESOLVES
static long seven(void) {
    return 7;
}
static long (*choose(void))(void) {
    moments_at(&moments_main, "resolver");
    return seven;
}
long RESOLVES(void) __attribute__((ifunc("choose")));
#endif

#ifdef CALLS
long CALLS(void);
#endif

void speak(struct steps *s, const char *step);
void speak(struct steps *s, const char *step) {
    (void)s;
    moments_do(&moments_main, step);
}

/* What cudnnGetVersion says; 7 from the indirect function. */
long host_run(void);
long host_run(void) {
    moments_at(&moments_main, "run");
#ifdef CALLS
    if (CALLS() != 7)
        return -7;
#endif
#ifdef CUDNN
    void *handle = NULL;
    return cudnnCreate(&handle) == 0 ? (long)cudnnGetVersion() : -1;
#else
    return 1;
#endif
}

#ifdef PROGRAM
int main(void) {
    moments_at(&moments_main, "main");
    return 0;
}
#endif

#ifdef ITSELF
__attribute__((used)) static void run_itself(void) {
    moments_at(&moments_main, "main");
    exit(0);
}
#ifdef __x86_64__
__asm__(".globl _start; _start: xor %ebp, %ebp; and $-16, %rsp; call run_itself; hlt");
#else
__asm__(".globl _start; _start: mov x29, #0; mov x30, #0; bl run_itself; brk #0");
#endif
#endif
