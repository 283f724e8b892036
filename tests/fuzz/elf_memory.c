/* SPDX-License-Identifier: Apache-2.0 */
/* core/elf_*.c over a mapped object: the input is the file that a loader mapped, damaged before or
 * after. */
#include "support_image.h"
#include "support_mapped.h"

enum { RELOCATED = 1, NOT_AT_ZERO = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct process_library m;
    static struct wc_elf_image e;
    unsigned how = size ? data[size - 1] : 0;
    if (!m.at)
        mapped_begin(&m, 0x200000000000);
    if (!process_library_file(&m, data, size, how & NOT_AT_ZERO ? 0x400000 : 0, how & RELOCATED))
        return 0;
    mapped_poison(&m);
    if (wc_elf_from_memory(&e, m.base, m.phdr, m.phnum) == WC_ELF_OK)
        ask_everything(&e);
    return 0;
}
