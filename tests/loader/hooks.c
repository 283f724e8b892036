/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host whose constructor puts a function of its own into its slot of cudnnCreate, as plthook
 * does, and calls what the slot held. The loader overwrites a lazy slot in the first call, and the
 * hook is gone. host_run returns a hundred times how often the hook was entered in three calls, and
 * how many of them did well.
 */
#include <link.h>
#include <string.h>

extern int cudnnCreate(void **handle);

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static int (*held)(void **handle);
static long entered;

static int hook(void **handle) {
    entered++;
    return held(handle);
}

__attribute__((constructor)) static void begin(void) {
    const ElfW(Rela) *slots = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    size_t n = 0;
    for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
        slots = d->d_tag == DT_JMPREL ? (const void *)d->d_un.d_ptr : slots;
        symbols = d->d_tag == DT_SYMTAB ? (const void *)d->d_un.d_ptr : symbols;
        names = d->d_tag == DT_STRTAB ? (const void *)d->d_un.d_ptr : names;
        n = d->d_tag == DT_PLTRELSZ ? d->d_un.d_val / sizeof *slots : n;
    }
    for (size_t i = 0; i < n; i++) {
        void **slot = (void **)(__ehdr_start + slots[i].r_offset);
        if (strcmp(names + symbols[ELF64_R_SYM(slots[i].r_info)].st_name, "cudnnCreate") != 0)
            continue;
        held = (int (*)(void **)) * slot;
        *slot = (void *)hook;
    }
}

long host_run(void);
long host_run(void) {
    void *handle;
    long good = 0;
    for (int i = 0; i < 3; i++)
        good += cudnnCreate(&handle) == 0;
    return 100 * entered + good;
}
