#include "identity.h"

#include "files.h"
#include "memory.h"

struct wc_identity *identity_of(const char *path, const struct wc_elf_image *image, bool facade) {
    static struct wc_identity id;
    void *scratch = memory_scratch_file();
    if (!scratch)
        return NULL;
    wc_identify(&shim_files, path, image, facade, scratch, SCRATCH_FILE, &id);
    return &id;
}
