/* SPDX-License-Identifier: Apache-2.0 */
#include "next.h"

#include <link.h>

#include "listed.h"
#include "start.h"

static bool is_of_libc(const struct link_map *m) {
    const char *file = wc_base_name(m->l_name);
    return wc_str_same(file, "libc.so.6") || wc_str_same(file, "libdl.so.2");
}

uintptr_t next_of_libc(unsigned entry) {
    static uintptr_t of_libc[ENTRIES];
    uintptr_t known = __atomic_load_n(&of_libc[entry], __ATOMIC_RELAXED);
    if (!known) {
        known = next_in_list(listed_first(), false, entry_names[entry], STT_FUNC, is_of_libc);
        __atomic_store_n(&of_libc[entry], known, __ATOMIC_RELAXED);
    }
    return known;
}

uintptr_t next_resolver(const char *name) {
    return next_in_list(listed_first(), false, name, STT_GNU_IFUNC, NULL);
}

/* `environ` is the program's if the program defines one: the C library then uses it, too. */
const char *const *next_environment(void) {
    static const void *of_libc;
    struct dl_phdr_info info;
    struct wc_elf_image image;
    struct wc_elf_symbol symbol;
    for (const struct link_map *m = of_libc ? NULL : listed_first(); m && !of_libc; m = m->l_next) {
        listed_info(m, &info);
        if ((m == listed_first() || is_of_libc(m)) && listed_image_asked(&info, &image) &&
            wc_elf_find_defined(&image, "environ", &symbol) && symbol.type == STT_OBJECT)
            of_libc = (const void *)(image.base + symbol.value);
    }
    return of_libc && readable_asked(of_libc, sizeof(void *)) ? *(const char *const *const *)of_libc
                                                              : NULL;
}
