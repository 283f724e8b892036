/* SPDX-License-Identifier: Apache-2.0 */
#include "demands.h"

#include "core/records/emit.h"
#include "files.h"
#include "journal.h"
#include "reader.h"
#include "sys.h"

static bool are_emitted(const char *path) {
    const struct wc_stack *s = journal_stack();
    for (size_t i = 0; i < s->demands.n; i++)
        if (wc_str_same(s->demands.p[i].r.host_path, path))
            return true;
    return false;
}

void demands_emit_file(int64_t number, const char *path) {
    static char real_path[SYS_PATH];
    const struct wc_reader *files = reader();
    struct wc_library l;
    if (!path || are_emitted(path) || wc_name_is_cudnn(path) || !files->open(files->ctx, path, &l))
        return;
    l.number = number;
    if (shim_files.real_path(NULL, path, real_path, sizeof real_path))
        l.real_path = real_path;
    wc_emit_demands(&journal_sink, &l, files);
    files->close(files->ctx);
}
