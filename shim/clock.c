/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"

#include <time.h>

#include "auxv.h"
#include "core/elf/elf_image.h"
#include "sys.h"

typedef int clock_function(int clock, struct sys_time *out);

static int ask_kernel(int clock, struct sys_time *out) {
    return (int)sys_call(__NR_clock_gettime, clock, out);
}

/* The vDSO is mapped contiguously, from its ELF header on. Kernels before 3.15 link it for another
 * address than it has. */
static clock_function *find_in_vdso(void) {
    uintptr_t at = (uintptr_t)auxv_value(AT_SYSINFO_EHDR), base = at;
    const Elf64_Ehdr *header = (const void *)at;
    struct wc_elf_image image;
    struct wc_elf_symbol symbol;
    if (!at || header->e_phoff > 4096)
        return ask_kernel;
    const Elf64_Phdr *phdr = (const void *)(at + header->e_phoff);
    for (size_t i = 0; i < header->e_phnum; i++)
        if (phdr[i].p_type == PT_LOAD)
            base = at + phdr[i].p_offset - phdr[i].p_vaddr;
    if (wc_elf_from_memory(&image, base, phdr, header->e_phnum) != WC_ELF_OK ||
        !wc_elf_find_defined(&image, ARCH_VDSO_CLOCK, &symbol))
        return ask_kernel;
    return (clock_function *)(base + symbol.value);
}

int64_t clock_now(void) {
    static clock_function *known;
    clock_function *ask = __atomic_load_n(&known, __ATOMIC_RELAXED);
    struct sys_time now = {0, 0};
    if (!ask) {
        ask = find_in_vdso();
        __atomic_store_n(&known, ask, __ATOMIC_RELAXED);
    }
    if (ask(CLOCK_REALTIME, &now) == 0)
        SYS_WROTE(&now, sizeof now);
    return now.seconds * 1000000 + now.nanoseconds / 1000;
}
