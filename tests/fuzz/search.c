/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/search: the loader's search over lists that anybody may have written, and a cache that may
 * be damaged. The input: how long the texts are (2 bytes), the texts (name, DT_RPATH, DT_RUNPATH,
 * LD_LIBRARY_PATH, each with a NUL), then the cache. Which files there are, and what stands in
 * them, follows from their paths.
 */
#include "core/search/replay.h"
#include "support_fuzz.h"

#include <elf.h>

enum { TEXTS = 4, CANDIDATES_MOST = 100000 };

static unsigned kind_of(const char *path) {
    unsigned hash = 5381;
    for (; *path; path++)
        hash = hash * 33 + (unsigned char)*path;
    return hash >> 5 & 15;
}

static bool facts(void *ctx, const char *path, struct wc_file_stat *out) {
    unsigned kind = kind_of(path);
    (void)ctx;
    *out = (struct wc_file_stat){.device = 1,
                                 .inode = kind,
                                 .size = 64,
                                 .regular = kind < 6,
                                 .directory = kind >= 6 && kind < 10};
    return kind < 10;
}

static bool contents(void *ctx, const char *path, uint64_t offset, void *to, size_t cap,
                     size_t *n) {
    Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                    .e_type = ET_DYN,
                    .e_machine = EM_X86_64,
                    .e_phentsize = sizeof(Elf64_Phdr)};
    unsigned kind = kind_of(path);
    (void)ctx;
    MUST(offset == 0);
    h.e_machine = kind == 1 ? EM_AARCH64 : EM_X86_64;
    h.e_ident[EI_CLASS] = kind == 2 ? ELFCLASS32 : ELFCLASS64;
    h.e_ident[EI_MAG0] = kind == 3 ? 0 : 0x7f;
    *n = kind == 4 ? 20 : sizeof h < cap ? sizeof h : cap;
    memcpy(to, &h, *n);
    return kind != 5;
}

static bool list(void *ctx, const char *directory, bool (*each)(void *, const char *), void *arg) {
    (void)ctx, (void)directory;
    return each(arg, "cuda-1") && each(arg, "lib") && each(arg, "cuda");
}

static bool real_path(void *ctx, const char *path, char *to, size_t cap) {
    (void)ctx, (void)path, (void)to, (void)cap;
    return false;
}

static const struct wc_files files = {NULL, contents, facts, list, real_path, NULL, NULL};

struct seen {
    size_t n;
    bool decided;
};

static bool see(void *arg, const struct wc_search_candidate *c) {
    struct seen *s = arg;
    MUST(c->path && strlen(c->path) < 1 << 16);
    MUST(c->rule > WC_search_rule_UNKNOWN && c->rule < WC_search_rule_NOT_SEARCHED);
    MUST(c->state > WC_file_state_UNKNOWN && c->state < WC_file_state_COUNT);
    MUST(!c->element || strlen(c->element) < 1 << 16);
    MUST(c->beaten == s->decided);
    s->decided = s->decided || c->state == WC_file_state_FITS || c->state == WC_file_state_DAMAGED;
    return ++s->n < CANDIDATES_MOST;
}

static void *more(void *owner, size_t n) {
    (void)owner, (void)n;
    return NULL; /* what is missing is looked for again each time */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct wc_search_system system = {.defaults = {"/lib/", "/usr/lib/"},
                                      .subdirectories = {"glibc-hwcaps/x86-64-v2/", "tls/"},
                                      .hwcaps = {"x86-64-v2"},
                                      .lib = "lib64",
                                      .cache_hwcap = 6};
    size_t n = size >= 2 ? data[0] | data[1] << 8 : 0, at = 0;
    const char *text[TEXTS];
    if (size < 2 || n > size - 2)
        return 0;
    char *texts = malloc(n + 1);
    struct wc_replay *replay = calloc(1, sizeof *replay);
    uint8_t *cache = malloc(size - 2 - n ? size - 2 - n : 1), *scratch = malloc(WC_SEARCH_SCRATCH);
    MUST(texts && cache && scratch && replay);
    memcpy(texts, data + 2, n);
    texts[n] = 0;
    memcpy(cache, data + 2 + n, size - 2 - n);
    for (size_t i = 0; i < TEXTS; i++) {
        text[i] = at <= n ? texts + at : "";
        at += strlen(text[i]) + 1;
    }
    struct piecewise origins = {.left = 0};
    piecewise_begin(&origins, 64 << 10);
    struct wc_arena none = {more, NULL};
    struct wc_search_memory memory = {&none, NULL};
    struct wc_search_object program = {
        .path = "/opt/program", .origin = "/opt", .rpath = text[2], .is_program = true};
    struct wc_search_object caller = {
        .path = "/opt/lib/host.so",
        .origin = wc_search_origin(&origins.arena, size & 16 ? text[1] : "/opt/lib/host.so",
                                   size & 32 ? "/opt" : NULL),
        .rpath = text[1][0] ? text[1] : NULL,
        .runpath = size & 1 && text[2][0] ? text[2] : NULL,
        .loaded_by = &program};
    const struct wc_search_object *const loaded[] = {&program, NULL};
    struct wc_search_context library_cache = {.files = &files,
                                              .library_path = text[3],
                                              .library_path_origin = "/opt",
                                              .secure = size % 7 == 0,
                                              .cache = {cache, size - 2 - n},
                                              .system = &system,
                                              .machine = EM_X86_64,
                                              .whole = size & 4,
                                              .sparse = size & 8,
                                              .program = &program,
                                              .loaded = loaded,
                                              .memory = &memory};
    struct seen seen = {0, false};
    strcpy(system.platform, size & 2 ? "haswell" : "");
    wc_search(&library_cache, &caller, text[0], scratch, WC_SEARCH_SCRATCH, see, &seen);
    wc_replay_run(replay, &library_cache, &caller, text[0], scratch, WC_SEARCH_SCRATCH);
    replay->site[0] = replay->conda[0] = replay->cuda[0] = text[1];
    wc_replay_copies(replay, text[0], text[2]);
    MUST(replay->others <= WC_REPLAY_CANDIDATES);
    for (size_t i = 0; i < replay->others; i++)
        MUST(strlen(replay->other[i].c.path) < WC_SEARCH_PATH);
    piecewise_end(&origins);
    free(texts);
    free(replay);
    free(cache);
    free(scratch);
    return 0;
}
