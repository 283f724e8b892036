/* SPDX-License-Identifier: Apache-2.0 */
#include "auxv.h"

#include <elf.h>

#include "sys.h"

static const Elf64_auxv_t *vector;

#define STACK_MOST (8 << 20) /* the kernel gives arguments and environment 6 MiB at most */

/* Does an auxiliary vector, which has a page size, lie between `a` and `end`? */
static bool is_vector(const Elf64_auxv_t *a, const char *end) {
    bool has_page_size = false;
    for (size_t i = 0; i < 64 && (const char *)&a[i + 1] <= end; i++) {
        if (a[i].a_type == AT_NULL)
            return has_page_size;
        has_page_size = has_page_size || a[i].a_type == AT_PAGESZ;
    }
    return false;
}

/* Removing a variable moves the others down and leaves several NULLs; the loader does so in a
 * secure process. The strings lie after the vector in the same stack, so an environment whose
 * strings are elsewhere was moved, and no vector follows it. */
void auxv_note_environment(const char *const *envp) {
    const char *first = *envp;
    while (*envp)
        envp++;
    while (!*envp && first > (const char *)(envp + 1) && first - (const char *)envp < STACK_MOST)
        envp++;
    if (first > (const char *)envp && first - (const char *)envp < STACK_MOST)
        vector = (const Elf64_auxv_t *)envp;
    if (vector && !is_vector(vector, first))
        vector = NULL;
}

/* In one read, because every process pays for it. If it cannot be read, the vector is empty. It
 * does not use files.c, whose pointers are invalid before we are relocated, and whose clock needs
 * the vector. */
static const Elf64_auxv_t *copy_from_proc(void) {
    static Elf64_auxv_t copy[64]; /* the last one stays AT_NULL */
    int fd = sys_open("/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return copy;
    sys_pread(fd, copy, sizeof copy - sizeof *copy, 0);
    sys_close(fd);
    return copy;
}

uint64_t auxv_value(uint64_t type) {
    if (!vector)
        vector = copy_from_proc();
    for (const Elf64_auxv_t *a = vector; a->a_type != AT_NULL; a++)
        if (a->a_type == type)
            return a->a_un.a_val;
    return 0;
}

uintptr_t auxv_page_size(void) {
    static uintptr_t size;
    if (!size)
        size = auxv_value(AT_PAGESZ) ? auxv_value(AT_PAGESZ) : 4096;
    return size;
}
