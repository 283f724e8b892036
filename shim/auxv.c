#include "auxv.h"

#include <elf.h>

#include "files.h"

static const Elf64_auxv_t *vector;

void auxv_note_environment(const char *const *envp) {
    while (*envp)
        envp++;
    vector = (const Elf64_auxv_t *)(envp + 1);
}

/* In one read: every process pays for it. What cannot be read is an empty vector. */
static const Elf64_auxv_t *copy_from_proc(void) {
    static Elf64_auxv_t copy[64]; /* the last one stays AT_NULL */
    size_t n;
    shim_files.read(NULL, "/proc/self/auxv", 0, copy, sizeof copy - sizeof *copy, &n);
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
