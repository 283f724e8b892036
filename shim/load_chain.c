/* SPDX-License-Identifier: Apache-2.0 */
#include "load_chain.h"

#include "core/base/hash.h"
#include "core/names/names.h"
#include "memory.h"
#include "objects.h"
#include "sys.h"

/* Objects behind these have no entry, and so have loaded nothing as far as we know. */
#define LINKS_MOST 4096
#define HASHED_MOST 8192

struct link {
    struct wc_search_object object;
    int needed_by; /* the first link that needs it; -1: none */
    bool climbed;  /* origin and loaded_by are filled in, up to the program */
};

/* The first link that needs a name. */
struct needed {
    uint64_t name; /* its hash, 0: free */
    int by;
};

static struct chain {
    struct link link[LINKS_MOST];
    struct needed needed[HASHED_MOST];
    size_t links, names;
    struct wc_buffer_arena text;
    char texts[1 << 20];
} * chain;

void load_chain_begin(void) {
    if (!chain && !(chain = memory_map(sizeof *chain)))
        return;
    chain->links = 0;
    if (chain->names)
        wc_mem_set(chain->needed, 0, sizeof chain->needed);
    chain->names = 0;
    wc_buffer_arena_begin(&chain->text, chain->texts, sizeof chain->texts);
}

static struct needed *find_needed(const char *name) {
    uint64_t hash = wc_hash_text(WC_HASH_START, name) | 1;
    size_t at = hash % HASHED_MOST;
    while (chain->needed[at].name && chain->needed[at].name != hash)
        at = (at + 1) % HASHED_MOST;
    if (!chain->needed[at].name && chain->names < (size_t)HASHED_MOST / 4 * 3) {
        chain->needed[at] = (struct needed){hash, -1};
        chain->names++;
    }
    return &chain->needed[at];
}

static int first_that_needs(const char *name) {
    const struct needed *n = name ? find_needed(name) : NULL;
    return n && n->name ? n->by : -1;
}

/* Names and search path of one object that take more than what is left are missing. */
static bool is_full(void) {
    return chain->links == LINKS_MOST ||
           chain->text.used > sizeof chain->texts - (size_t)2 * SYS_PATH;
}

void load_chain_see(const struct dl_phdr_info *info, const struct wc_elf_image *e) {
    const char *needed;
    if (!chain || is_full())
        return;
    int number = (int)chain->links++;
    struct link *l = &chain->link[number];
    bool program = !info->dlpi_name || !info->dlpi_name[0];
    *l = (struct link){.needed_by = -1};
    l->object.path =
        wc_arena_string(&chain->text.arena, program ? objects_path_of(info) : info->dlpi_name);
    if (e)
        wc_search_object_read(&l->object, e, &chain->text.arena);
    l->object.is_program = program && number == 0;
    if (!program) {
        int by_soname = first_that_needs(l->object.soname);
        int by_file = first_that_needs(wc_base_name(info->dlpi_name));
        l->needed_by = by_soname < 0 || (by_file >= 0 && by_file < by_soname) ? by_file : by_soname;
    }
    for (size_t i = 0; e && (needed = wc_elf_needed(e, i)); i++) {
        struct needed *n = find_needed(needed);
        if (n->name && n->by < 0)
            n->by = number;
    }
}

/* An object that none needs was opened with dlopen: the loader's search ends there, and does not go
 * on to the caller of dlopen. */
static const struct wc_search_object *climb(struct link *l) {
    static char here[SYS_PATH];
    for (struct link *at = l; at && !at->climbed;) {
        struct link *by = at->needed_by >= 0 ? &chain->link[at->needed_by] : NULL;
        const char *path = at->object.path;
        bool known = path && path[0] != '/' && sys_getcwd(here, sizeof here) > 0 && here[0] == '/';
        at->climbed = true;
        at->object.origin = wc_search_origin(&chain->text.arena, path, known ? here : NULL);
        at->object.loaded_by = by ? &by->object : NULL;
        at = by;
    }
    return &l->object;
}

const struct wc_search_object *load_chain_of(const char *path) {
    for (size_t i = 0; path && chain && i < chain->links; i++)
        if (wc_str_same(chain->link[i].object.path, path))
            return climb(&chain->link[i]);
    return NULL;
}

const struct wc_search_object *load_chain_program(void) {
    return chain && chain->links && chain->link[0].object.is_program ? climb(&chain->link[0])
                                                                     : NULL;
}

const char *load_chain_path(size_t i) {
    if (!chain || i >= chain->links)
        return NULL;
    return chain->link[i].object.path ? chain->link[i].object.path : "";
}

bool load_chain_answers(const char *name, bool beyond) {
    size_t i = chain && chain->links && chain->link[0].object.is_program;
    for (; chain && i < chain->links; i++)
        if (wc_name_fits(name, chain->link[i].object.path, chain->link[i].object.soname))
            return true;
    return (!chain || is_full()) && beyond;
}
