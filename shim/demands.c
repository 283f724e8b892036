#include "demands.h"

#include "core/model/object.h"
#include "files.h"
#include "identity.h"
#include "journal.h"
#include "memory.h"
#include "sys.h"
#include "view.h"

static void add(void *ctx, struct wc_record *demand) {
    (void)ctx;
    journal_add(demand);
}

/* Of a library that nobody loaded, by what it holds or is called. False: it does not emit. */
static bool version_of_file(void *ctx, const char *path, char version[WC_VERSION_TEXT]) {
    static struct view v;
    bool is_facade = wc_name_kind_of(path) == WC_NAME_FACADE;
    (void)ctx;
    if (!view_open(&v, path))
        return false;
    const struct wc_elf_image *e = view_image(&v, 0);
    const struct wc_identity *id = e ? identity_of(path, e, is_facade) : NULL;
    view_close(&v);
    return id && !v.damaged && wc_version_text(id->version, version);
}

void demands_emit(int64_t number, const char *path, const char *real_path,
                  const struct wc_elf_image *e) {
    static struct wc_metadata_demand found[4];
    const struct wc_host host = {number, path, add, NULL};
    const struct wc_package_reader elf_file = {
        &shim_files, memory_scratch_file(),        SCRATCH_FILE,
        found,       sizeof found / sizeof *found, version_of_file};
    if (e)
        wc_host_demands_of_image(&host, e);
    if (elf_file.scratch)
        wc_host_demands_of_package(&host, &elf_file, real_path);
}

static bool are_emitted(const char *path) {
    const struct wc_stack *s = journal_stack();
    for (size_t i = 0; i < s->demands.n; i++)
        if (wc_str_same(s->demands.p[i].r.host_path, path))
            return true;
    return false;
}

void demands_emit_file(int64_t number, const char *path) {
    static char real_path[SYS_PATH];
    static struct view v;
    if (!path || are_emitted(path) || wc_kind_is_cudnn(wc_name_kind_of(path)) ||
        !view_open(&v, path))
        return;
    const struct wc_elf_image *e = view_image(&v, 0);
    bool known = shim_files.real_path(NULL, path, real_path, sizeof real_path);
    demands_emit(number, path, known ? real_path : path, v.damaged ? NULL : e);
    view_close(&v);
}
