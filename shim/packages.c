#include "packages.h"

#include "core/packages/identify.h"
#include "files.h"
#include "hash.h"
#include "journal.h"
#include "memory.h"

#define ENVIRONMENTS_MOST 32 /* more of them are not looked at */

static uint64_t looked_at[ENVIRONMENTS_MOST];
static size_t environments;

/* False: it was, or there are too many. */
static bool is_new(const char *path) {
    uint64_t hash = hash_bytes(HASH_START, path, wc_environment_length(path));
    for (size_t i = 0; i < environments; i++)
        if (looked_at[i] == hash)
            return false;
    if (environments == ENVIRONMENTS_MOST)
        return false;
    looked_at[environments++] = hash;
    return true;
}

static void emit(void *ctx, const struct wc_package_record *package) {
    struct wc_record r;
    (void)ctx;
    wc_record_begin(&r, WC_KIND_package);
    r.u.package = *package;
    journal_add(&r);
}

void packages_note(const char *path) {
    void *scratch;
    if (!path || path[0] != '/' || !is_new(path))
        return;
    scratch = memory_scratch_file();
    if (scratch)
        wc_packages_near(&shim_files, path, scratch, SCRATCH_FILE, emit, NULL);
}

void packages_note_failure(const char *name, const char *caller, const char *text) {
    if (wc_str_find(name, "cudnn") || (text && wc_str_find(text, "cudnn")))
        packages_note(wc_str_find_char(name, '/') ? name : caller);
}

void packages_forget(void) {
    environments = 0;
}
