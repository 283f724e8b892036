/* SPDX-License-Identifier: Apache-2.0 */
/* By which rule the loader found what is mapped: the replay of its search, where that points to it.
 */
#include <string.h>

#include "inspect_inside.h"

/* ---- what its loader adds ---- */

/* Started by the kernel, or as a program ("ld.so PROGRAM"): then the program's headers are its own.
 */
static const struct process_library *loader_of(const struct inspection *in) {
    uint64_t base = process_auxv(&in->process, AT_BASE);

    return process_library_at(&in->list, base ? base : process_auxv(&in->process, AT_PHDR));
}

/* The rules are those of glibc. */
void inspect_begin_searches(struct inspection *in) {
    struct wc_search_context *w = &in->search;
    const struct process_library *loader = loader_of(in),
                                 *program = process_library_program(&in->list);
    const struct wc_elf_image *e = loader ? loader->library->image : NULL;

    library_cache_begin(&in->files, in->process.disk.root);
    in->replays = in->glibc[0] && e && program;
    if (!in->replays)
        return;
    library_cache_use(&in->files, loader->path, w);
    w->files = &in->process.disk.files;
    w->library_path = loader_variable(in->process.environment, "LD_LIBRARY_PATH");
    w->secure = process_auxv(&in->process, AT_SECURE) != 0;
    w->machine = e->machine;
    w->program = &program->search;
    w->library_path_origin = program->search.origin;
}

void inspect_end_searches(struct inspection *in) {
    if (in->files.disk.root)
        library_cache_end(&in->files);
}

/* ---- what opens libraries that none needs ---- */

bool inspect_opens(struct inspection *in, const struct process_library *by,
                   const struct process_library *m) {
    const struct library *b =
        by->file == PROCESS_LIBRARY_FILE ? library_cache_get(&in->files, by->path, NULL) : NULL;

    for (size_t i = 0; b && b->opens && b->opens[i]; i++)
        if (process_library_answers(m, b->opens[i]))
            return true;
    return false;
}

/* ---- one search ---- */

static bool is_taken(const struct inspection *in, const struct process_library *m) {
    const struct wc_library *l = m->library;

    return m->file == PROCESS_LIBRARY_FILE &&
           wc_replay_takes(&in->replay, l->path, (uint64_t)l->device, (uint64_t)l->inode);
}

static void run(struct inspection *in, const struct process_library *by, const char *name) {
    wc_replay_run(&in->replay, &in->search, &by->search, name, in->scratch, sizeof(in->scratch));
}

bool inspect_leads_to(struct inspection *in, const struct process_library *by, const char *name,
                      const struct process_library *m) {
    if (!in->replays)
        return false;
    run(in, by, name);
    return is_taken(in, m);
}

void inspect_emit_search(struct inspection *in, const struct process_library *by, const char *name,
                         const struct process_library *m, bool is_new) {
    bool taken;

    if (!in->replays || strchr(name, '/') || wc_name_kind_of(name) == WC_NAME_OTHER)
        return;
    run(in, by, name);
    taken = is_taken(in, m);
    if (taken && !is_new) /* it would have got the same */
        return;
    wc_emit_search(&in->to,
                   &(struct wc_search_question){.search = ++in->searches,
                                                .name = name,
                                                .caller = by->library->path,
                                                .caller_object = by->library->number,
                                                .request = WC_NULL,
                                                .object = m->library->number,
                                                .was_loaded = !is_new,
                                                .by_replay = taken},
                   &in->replay, &in->reader.reader);
}

void inspect_emit_preload(struct inspection *in, const struct process_library *m) {
    const struct wc_library *l = m->library;
    struct wc_preload p;

    if (wc_search_preload(loader_variable(in->process.environment, "LD_PRELOAD"), l->path,
                          l->image ? wc_elf_soname(l->image) : NULL, &p))
        wc_emit_preload(&in->to, ++in->searches, &p, l->number, l->path);
}
