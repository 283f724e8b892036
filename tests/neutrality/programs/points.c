/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that takes the address of a function of cuDNN: in its code, or (IN_TABLE, IN_DATA) in a
 * table that is, or is not, read-only after relocation. CALLS: it calls the function, too.
 */
#include <stddef.h>

typedef size_t version_function(void);
extern size_t cudnnGetVersion(void);

#ifdef IN_TABLE
static version_function *const volatile kept[] = {cudnnGetVersion};
#define TAKEN kept[0]
#elif defined(IN_DATA)
static version_function *volatile kept[] = {cudnnGetVersion};
#define TAKEN kept[0]
#else
#define TAKEN cudnnGetVersion
#endif

version_function *host_address(void);
version_function *host_address(void) {
    return TAKEN;
}

long host_run(void);
long host_run(void) {
#ifdef CALLS
    return (long)cudnnGetVersion();
#else
    return (long)TAKEN();
#endif
}
