#include "auxv.h"

#include <elf.h>

#include "files.h"

static const Elf64_auxv_t *vector;

void auxv_note_environment(const char *const *envp) {
    while (*envp)
        envp++;
    vector = (const Elf64_auxv_t *)(envp + 1);
}

static uint64_t value_in_proc(uint64_t type) {
    Elf64_auxv_t entry;
    size_t n;
    for (uint64_t at = 0; shim_files.read(NULL, "/proc/self/auxv", at, &entry, sizeof entry, &n) &&
                          n == sizeof entry && entry.a_type != AT_NULL;
         at += n)
        if (entry.a_type == type)
            return entry.a_un.a_val;
    return 0;
}

uint64_t auxv_value(uint64_t type) {
    if (!vector)
        return value_in_proc(type);
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
