/* core/elf_*.c over a file: the input is the file. */
#include "support_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct wc_elf_image e;
    uint16_t machine = size && data[size - 1] & 1 ? EM_X86_64 : 0;
    enum wc_elf_error error = wc_elf_from_file(&e, data, size, machine);
    MUST(wc_elf_error_text(error) != wc_elf_error_text((enum wc_elf_error)1000));
    if (error == WC_ELF_OK)
        ask_everything(&e);
    return 0;
}
