/* By which rule the loader found what is mapped: the replay of its search, where that leads to it.
 */
#include <string.h>

#include "inspect_inside.h"

/* ---- the loader's library_cache ---- */

/* Started by the kernel, or as a program ("ld.so PROGRAM"): then the program's headers are its own.
 */
static const struct process_library *loader_of(const struct inspection *in) {
    uint64_t base = process_auxv(&in->process, AT_BASE);

    return process_library_at(&in->list, base ? base : process_auxv(&in->process, AT_PHDR));
}

static bool open_file(void *ctx, const char *path, const struct wc_elf_image **image) {
    struct inspection *in = ctx;
    char whole[PATH_MAX];

    in->candidate = process_absolute(&in->process, path, whole)
                        ? elf_file_open(&in->process.disk, whole)
                        : NULL;
    if (!in->candidate)
        return false;
    *image = in->candidate->error == WC_ELF_OK ? &in->candidate->image : NULL;
    return true;
}

static void close_file(void *ctx) {
    struct inspection *in = ctx;

    elf_file_close(in->candidate);
}

/* The rules are glibc's. */
void inspect_add(void *inspection, struct wc_record *r) {
    struct inspection *in = inspection;

    source_add(in->source, r);
}

void inspect_begin_searches(struct inspection *in) {
    struct wc_search_context *w = &in->search;
    const struct process_library *loader = loader_of(in),
                                 *program = process_library_program(&in->list);
    const struct wc_elf_image *e = loader ? process_library_image(loader) : NULL;

    library_cache_begin(&in->files, in->process.disk.root);
    in->replays = in->glibc[0] && e && program;
    if (!in->replays)
        return;
    library_cache_use(&in->files, loader->path, w);
    w->files = &in->process.files;
    w->library_path = process_variable(&in->process, "LD_LIBRARY_PATH");
    w->secure = process_auxv(&in->process, AT_SECURE) != 0;
    w->machine = e->machine;
    w->program = &program->search;
    w->library_path_origin = program->search.origin;
    in->sink = (struct wc_replay_sink){in,         inspect_add,      open_file,
                                       close_file, in->file_scratch, sizeof(in->file_scratch)};
}

void inspect_end_searches(struct inspection *in) {
    if (in->files.disk.root)
        library_cache_end(&in->files);
}

/* ---- who opens what nobody needs ---- */

bool inspect_opens(struct inspection *in, const struct process_library *by,
                   const struct process_library *m) {
    const struct library *b =
        by->file == PROCESS_LIBRARY_FILE ? library_cache_get(&in->files, by->path) : NULL;

    for (size_t i = 0; b && b->opens && b->opens[i]; i++)
        if (process_library_answers(m, b->opens[i]))
            return true;
    return false;
}

/* ---- one search ---- */

static bool is_taken(const struct inspection *in, const struct process_library *m) {
    uint64_t device = m->elf_file ? m->elf_file->facts.device : 0;
    uint64_t inode = m->elf_file && m->file == PROCESS_LIBRARY_FILE ? m->elf_file->facts.inode : 0;

    return m->file == PROCESS_LIBRARY_FILE && wc_replay_takes(&in->replay, m->name, device, inode);
}

static void run(struct inspection *in, const struct process_library *by, const char *name) {
    wc_replay_run(&in->replay, &in->search, &by->search, name, in->search_scratch,
                  sizeof(in->search_scratch));
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
    struct wc_record r;
    struct wc_search_record *s = &r.u.search;
    bool taken;

    if (!in->replays || strchr(name, '/') || wc_name_kind_of(name) == WC_NAME_OTHER)
        return;
    run(in, by, name);
    taken = is_taken(in, m);
    if (taken && !is_new) /* it would have got the same */
        return;
    wc_record_begin(&r, WC_KIND_search);
    s->search = ++in->searches;
    s->name = name;
    s->caller = by->name;
    s->caller_object = by->number;
    s->object = m->number;
    if (!is_new)
        s->rule = WC_search_rule_LOADED;
    wc_replay_emit(&in->replay, &r, is_new && taken, &in->sink);
}
