/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host whose way to cuDNN the linker lays out: as a library (host_run) or a program (PROGRAM).
 *   TABLE    through a table of function pointers that is read-only after relocation
 *   DATA     through one that is not
 *   TAKEN    calls, and takes the address of what it calls
 *   READS    reads data that has to be relocated, beside its slots
 */
#include "see.h"

extern size_t cudnnGetVersion(void);
extern size_t cudnnGetCudartVersion(void);

#if defined(TABLE) || defined(DATA)
#ifdef TABLE
#define QUALIFIED const volatile /* else the compiler would call past it */
#else
#define QUALIFIED volatile
#endif
static struct {
    size_t (*version)(void);
    size_t (*runtime)(void);
} QUALIFIED table = {cudnnGetVersion, cudnnGetCudartVersion};
#define cudnnGetVersion table.version
#define cudnnGetCudartVersion table.runtime
#endif

#ifdef TAKEN
static size_t (*volatile taken)(void);
#endif
#ifdef READS
static int numbers[] = {1, 2, 3};
static int *volatile const pointers[] = {&numbers[2], &numbers[1], &numbers[0]};
#endif

long host_run(void);
long host_run(void) {
    for (int i = 0; i < 2; i++)
        see("calls", "%zu %s", cudnnGetVersion(), cudnnGetCudartVersion() > 0 ? "runtime" : "none");
#ifdef TAKEN
    taken = cudnnGetVersion;
    see("taken", "%s %zu", taken == cudnnGetVersion ? "same" : "another", taken());
#endif
#ifdef READS
    see("reads", "%d%d%d", *pointers[0], *pointers[1], *pointers[2]);
#endif
    return 0;
}

#ifdef PROGRAM
int main(void) {
    return (int)host_run();
}
#endif
