/* By which rule the loader found what is mapped: the replay of its search, where that leads to it.
 */
#include <string.h>

#include "inspect_inside.h"

/* ---- the loader's world ---- */

/* Started by the kernel, or as a program ("ld.so PROGRAM"): then the program's headers are its own.
 */
static const struct mapped *loader_of(const struct inspection *in) {
    uint64_t base = process_auxv(&in->process, AT_BASE);

    return mapped_at(&in->list, base ? base : process_auxv(&in->process, AT_PHDR));
}

static bool open_file(void *ctx, const char *path, const struct wc_elf_image **image) {
    struct inspection *in = ctx;
    char whole[PATH_MAX];

    in->candidate =
        process_absolute(&in->process, path, whole) ? look_open(&in->process.disk, whole) : NULL;
    if (!in->candidate)
        return false;
    *image = in->candidate->error == WC_ELF_OK ? &in->candidate->image : NULL;
    return true;
}

static void close_file(void *ctx) {
    struct inspection *in = ctx;

    look_close(in->candidate);
}

/* The rules are glibc's. */
void inspect_begin_searches(struct inspection *in) {
    struct wc_search_world *w = &in->search;
    const struct mapped *loader = loader_of(in), *program = mapped_program(&in->list);
    const struct wc_elf_image *e = loader ? mapped_image(loader) : NULL;

    world_begin(&in->files, in->process.disk.root);
    in->replays = in->glibc[0] && e && program;
    if (!in->replays)
        return;
    world_use(&in->files, loader->path, w);
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
        world_end(&in->files);
}

/* ---- who opens what nobody needs ---- */

bool inspect_opens(struct inspection *in, const struct mapped *by, const struct mapped *m) {
    const struct library *b = by->file == MAPPED_FILE ? world_library(&in->files, by->path) : NULL;

    for (size_t i = 0; b && b->opens && b->opens[i]; i++)
        if (mapped_answers(m, b->opens[i]))
            return true;
    return false;
}

/* ---- one search ---- */

static bool is_taken(const struct inspection *in, const struct mapped *m) {
    uint64_t device = m->look ? m->look->facts.device : 0;
    uint64_t inode = m->look && m->file == MAPPED_FILE ? m->look->facts.inode : 0;

    return m->file == MAPPED_FILE && wc_replay_takes(&in->replay, m->name, device, inode);
}

static void run(struct inspection *in, const struct mapped *by, const char *name) {
    wc_replay_run(&in->replay, &in->search, &by->search, name, in->search_scratch,
                  sizeof(in->search_scratch));
}

bool inspect_leads_to(struct inspection *in, const struct mapped *by, const char *name,
                      const struct mapped *m) {
    if (!in->replays)
        return false;
    run(in, by, name);
    return is_taken(in, m);
}

void inspect_tell_search(struct inspection *in, const struct mapped *by, const char *name,
                         const struct mapped *m, bool is_new) {
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
    wc_replay_tell(&in->replay, &r, is_new && taken, &in->sink);
}
