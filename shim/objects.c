/* SPDX-License-Identifier: Apache-2.0 */
#include "objects.h"

#define HASH_NONFATAL_OOM 1
#define uthash_malloc(n) wc_arena_take(&memory_arena, n)
#define uthash_free(p, n) ((void)(p), (void)(n))
#define uthash_bzero(p, n) wc_mem_set(p, 0, n)
#define uthash_strlen(s) wc_str_length(s)
#define HASH_KEYCMP(a, b, n) wc_mem_compare(a, b, n)
#include "memory.h"

#include <uthash.h>

#include "auxv.h"
#include "core/base/hash.h"
#include "core/records/library.h"
#include "files.h"
#include "journal.h"
#include "listed.h"
#include "readable.h"
#include "sys.h"

#define OBJECTS_MOST 1024
static struct object *objects_table[OBJECTS_MOST];
static size_t objects_count;

/* Every object that was seen in a full walk, relevant or not. Load address and link map do not
 * identify it: after a reload another file may have the same ones. */
struct known {
    struct known_key {
        uint64_t base, name, headers;
    } key;
    struct object *object; /* NULL: irrelevant */
    unsigned generation;
    struct known *next_free;
    UT_hash_handle hh;
};

#define KNOWN_MOST 65536
static struct known *known_table, *known_free;
static unsigned generation;
uint64_t objects_gone_at;

#define OBJECT_RECORDS_MOST 16
bool object_is_emitted_enough(const struct object *o) {
    return o->records >= OBJECT_RECORDS_MOST;
}

struct object *objects_at(uintptr_t address) {
    size_t n = __atomic_load_n(&objects_count, __ATOMIC_ACQUIRE);
    struct object *const *o =
        WC_FIRST(one, WC_ITEMS(objects_table, n),
                 (*one)->l.mapped && address - (*one)->low < (*one)->high - (*one)->low);
    return o ? *o : NULL;
}

struct object *objects_get(size_t i) {
    return i < objects_count ? objects_table[i] : NULL;
}

struct object *objects_number(int64_t number) {
    struct object *const *o = WC_FIRST(one, WC_ITEMS(objects_table, objects_count),
                                       number != WC_NULL && (*one)->l.number == number);
    return o ? *o : NULL;
}

const struct object *objects_named(const char *name) {
    struct object *const *o =
        WC_FIRST(one, WC_ITEMS(objects_table, objects_count),
                 (*one)->l.mapped && wc_name_fits(name, (*one)->l.path, (*one)->soname));
    return o ? *o : NULL;
}

/* Of "ld.so PROGRAM" /proc/self/exe is the loader; then AT_BASE is 0, and the mapping at `inside`
 * has the program's path. Without /proc the path is what was passed to execve. */
const char *objects_program_path(uintptr_t inside) {
    static char path[SYS_PATH];
    if (path[0])
        return path;
    if (auxv_value(AT_BASE) != 0 || !files_mapped_at(inside, path, sizeof path))
        files_read_link("/proc/self/exe", path, sizeof path);
    const char *started = (const char *)auxv_value(AT_EXECFN);
    if (!path[0] && auxv_value(AT_BASE) != 0 && started && started[0] == '/')
        wc_str_copy(path, sizeof path, started);
    return path[0] ? path : NULL;
}

const char *objects_path_of(const struct dl_phdr_info *info) {
    if (info->dlpi_name && info->dlpi_name[0])
        return wc_arena_string(&memory_arena, info->dlpi_name);
    return objects_program_path((uintptr_t)info->dlpi_phdr);
}

/* ---- entries ---- */

static bool is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) * part) {
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && part->p_vaddr >= p->p_vaddr &&
            part->p_memsz <= p->p_filesz &&
            part->p_vaddr - p->p_vaddr <= p->p_filesz - part->p_memsz)
            return true;
    }
    return false;
}

static struct known_key key_of(const struct dl_phdr_info *info) {
    struct known_key key = {info->dlpi_addr, WC_HASH_START, WC_HASH_START};
    key.name = wc_hash_text(key.name, info->dlpi_name);
    key.headers = wc_hash_word(key.headers, (uintptr_t)info->dlpi_phdr);
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        key.headers = wc_hash_word(wc_hash_word(key.headers, p->p_vaddr), p->p_memsz);
        const void *note = (const void *)(info->dlpi_addr + p->p_vaddr);
        if (p->p_type == PT_NOTE && p->p_memsz <= 256 && is_loaded(info, p) &&
            readable(note, p->p_memsz))
            key.headers = wc_hash_bytes(key.headers, note, p->p_memsz); /* the build-id is there */
    }
    return key;
}

/* Two files without build-id may have the same key, but hardly the same symbol names. */
static uint64_t hash_strings(const struct wc_elf_image *e) {
    size_t n = e->strsz < 4096 ? e->strsz : 4096;
    return wc_hash_bytes(WC_HASH_START, e->string_table, e->string_table ? n : 0);
}

static bool is_another_file(const struct object *o, const struct dl_phdr_info *info) {
    struct wc_elf_image e;
    return !o->image.build_id_size && listed_image_asked(info, &e) &&
           hash_strings(&e) != o->strings;
}

static struct known *known_add(const struct known_key *key) {
    struct known *k = known_free;
    if (k)
        known_free = k->next_free;
    else if (HASH_COUNT(known_table) < KNOWN_MOST)
        k = wc_arena_take(&memory_arena, sizeof *k);
    if (!k)
        return NULL;
    wc_mem_set(k, 0, sizeof *k);
    k->key = *key;
    HASH_ADD(hh, known_table, key, sizeof k->key, k);
    return k->hh.tbl ? k : NULL;
}

/* The major that a host's imports or needs are for. */
static int demanded_major(const struct wc_elf_image *e) {
    struct wc_name name;
    const char *needed;
    for (size_t i = 0; (needed = wc_elf_needed(e, i)); i++) {
        name = wc_name_read(needed);
        if (name.kind == WC_NAME_FACADE && name.version.major > 0)
            return wc_name_major(needed);
    }
    uint32_t end = wc_elf_imports_end(e);
    for (uint32_t i = 1; i < end; i++) {
        struct wc_elf_symbol s;
        const char *text = wc_elf_symbol_name(e, i);
        if (!text || !wc_str_starts(text, "cudnn") || !wc_elf_symbol_at(e, i, &s) || !s.version)
            continue;
        name = wc_name_read(s.version);
        if (name.version.major > 0)
            return name.version.major;
    }
    return -1;
}

/* The major of a cuDNN library: by SONAME (as wc_name_major), symbol version or file name. */
static int own_major(const struct wc_elf_image *e, const char *path) {
    const char *const sources[] = {e->soname, wc_elf_defined_symbol_version(e), path};
    WC_EACH_ROW(text, sources) {
        struct wc_name name = wc_name_read(*text);
        if (name.version.major > 0)
            return text == sources && name.version.minor >= 0 ? -1 : name.version.major;
    }
    return -1;
}

/* The entry of the same file, if it is loaded again; else a new one. */
static struct object *object_for(const struct dl_phdr_info *info, const struct wc_elf_image *e) {
    struct object *o;
    for (size_t i = 0; (o = objects_get(i)); i++)
        if (!o->l.mapped && wc_str_same(o->l.path, info->dlpi_name) &&
            o->image.build_id_size == e->build_id_size && o->image.strsz == e->strsz &&
            wc_mem_compare(o->image.build_id, e->build_id, e->build_id_size) == 0)
            return o;
    o = objects_count < OBJECTS_MOST ? wc_arena_take(&memory_arena, sizeof *o) : NULL;
    if (!o) {
        journal_unobserved("further objects", "there is no room for more", NULL);
        return NULL;
    }
    objects_table[objects_count] = o;
    __atomic_store_n(&objects_count, objects_count + 1, __ATOMIC_RELEASE);
    o->l.number = journal_new_object();
    o->asked_version = WC_VERSION_NONE;
    o->program = !info->dlpi_name || !info->dlpi_name[0];
    o->l.path = objects_path_of(info);
    o->soname = wc_arena_string(&memory_arena, e->soname);
    return o;
}

static struct object *add_object(const struct dl_phdr_info *info, const struct wc_elf_image *e,
                                 struct wc_library l) {
    struct object *o = object_for(info, e);
    if (!o)
        return NULL;
    o->image = *e;
    readable_keep(&o->image);
    o->strings = hash_strings(e);
    l.number = o->l.number;
    l.path = o->l.path;
    l.mapped = true;
    o->l = l;
    o->major = o->l.role == WC_role_HOST ? demanded_major(e) : own_major(e, l.path);
    o->described = o->slots_known = false;
    o->untouched = 0;
    o->base = info->dlpi_addr;
    listed_range(info, &o->low, &o->high);
    return o;
}

/* ---- walking ---- */

void objects_walk_begin(void) {
    generation++;
}

static void forget_known(struct known *k) {
    if (k->object) {
        k->object->l.mapped = k->object->described = false;
        k->object->gone = true;
    }
    HASH_DEL(known_table, k);
    k->next_free = known_free;
    known_free = k;
}

void objects_walk_see(const struct dl_phdr_info *info) {
    struct known_key key = key_of(info);
    struct known *k;
    struct wc_elf_image e;
    struct wc_library l;
    HASH_FIND(hh, known_table, &key, sizeof key, k);
    if (k && !(k->object ? is_another_file(k->object, info)
                         : objects_gone_at & object_base_bit(info->dlpi_addr))) {
        k->generation = generation;
        if (k->object && !k->object->l.path)
            k->object->l.path = objects_path_of(info);
        return;
    }
    if (k)
        forget_known(k);
    if (!listed_image_asked(info, &e)) /* its tables are damaged: its name may still be relevant */
        wc_elf_from_memory(&e, info->dlpi_addr, NULL, 0);
    wc_library_begin(&l, NULL);
    bool matters = wc_library_read(&l, &e, info->dlpi_name);
    k = known_add(&key);
    if (!k)
        return;
    k->generation = generation;
    k->object = matters ? add_object(info, &e, l) : NULL;
    if (k->object)
        k->object->untouched = readable_untouched();
}

void objects_walk_end(void) {
    struct known *k, *following;
    objects_gone_at = 0;
    HASH_ITER(hh, known_table, k, following) {
        if (k->generation != generation)
            forget_known(k);
    }
}

struct object *objects_find(const struct dl_phdr_info *info) {
    struct known_key key = key_of(info);
    struct known *k;
    HASH_FIND(hh, known_table, &key, sizeof key, k);
    return k ? k->object : NULL;
}

struct object *objects_promote(const struct dl_phdr_info *info) {
    struct known_key key = key_of(info);
    struct known *k;
    struct wc_elf_image e;
    struct wc_library host;
    HASH_FIND(hh, known_table, &key, sizeof key, k);
    struct object *o = k ? k->object : NULL;
    if (o && o->l.role == WC_role_OTHER) { /* a framework's main library */
        o->l.role = WC_role_HOST;
        o->major = demanded_major(&o->image);
        o->described = false;
    }
    if (o)
        return o;
    if (!listed_image_asked(info, &e))
        return NULL;
    if (!k && !(k = known_add(&key)))
        return NULL;
    k->generation = generation;
    wc_library_begin(&host, NULL);
    host.role = WC_role_HOST;
    k->object = add_object(info, &e, host);
    return k->object;
}

bool objects_have_news(void) {
    return WC_ANY(o, WC_ITEMS(objects_table, objects_count), !(*o)->described);
}

bool objects_have_relevant_news(void) {
    return WC_ANY(o, WC_ITEMS(objects_table, objects_count),
                  !(*o)->described && (*o)->l.role != WC_role_CUDA_DEPENDENCY &&
                      (*o)->l.role != WC_role_OTHER);
}

bool objects_have_framework_news(void) {
    return WC_ANY(o, WC_ITEMS(objects_table, objects_count), !(*o)->described && (*o)->l.framework);
}

void objects_forget(void) {
    known_table = NULL;
    known_free = NULL;
    objects_count = 0;
}
