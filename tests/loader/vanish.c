/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library whose constructor takes away what only loaders read of it. TAKES says what: the page of
 * its headers, made unreadable (1) or unmapped (2), or its dynamic symbols' names (3), which have
 * pages of their own.
 */
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

enum { PAGE = 4096 };

#define F(name)                                                                                    \
    void name(void);                                                                               \
    void name(void) {}
#define TEN(name)                                                                                  \
    F(name##0)                                                                                     \
    F(name##1)                                                                                     \
    F(name##2) F(name##3) F(name##4) F(name##5) F(name##6) F(name##7) F(name##8) F(name##9)
#define HUNDRED(name)                                                                              \
    TEN(name##0)                                                                                   \
    TEN(name##1)                                                                                   \
    TEN(name##2)                                                                                   \
    TEN(name##3) TEN(name##4) TEN(name##5) TEN(name##6) TEN(name##7) TEN(name##8) TEN(name##9)
HUNDRED(a_function_whose_name_is_so_long_that_a_hundred_of_them_fill_several_pages_)
static uintptr_t value(ElfW(Sxword) tag) {
    const ElfW(Dyn) *d = _DYNAMIC;
    while (d->d_tag != tag)
        d++;
    return d->d_un.d_ptr;
}

__attribute__((constructor)) static void begin(void) {
    char *header = (char *)(uintptr_t)__ehdr_start;
    uintptr_t names = value(DT_STRTAB), end = names + value(DT_STRSZ);
    names = (names + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    if (TAKES == 1 && mprotect(header, PAGE, PROT_NONE) != 0)
        abort();
    if (TAKES == 2 && munmap(header, PAGE) != 0)
        abort();
    if (TAKES == 3 && mprotect((void *)names, end - names, PROT_NONE) != 0)
        abort();
}
