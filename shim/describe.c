/* SPDX-License-Identifier: Apache-2.0 */
#include "describe.h"

#include "config.h"
#include "core/records/emit.h"
#include "files.h"
#include "journal.h"
#include "memory.h"
#include "objects.h"
#include "process.h"
#include "readable.h"
#include "reader.h"
#include "requests.h"
#include "searches.h"
#include "self.h"
#include "start.h"
#include "sys.h"

/* ---- the request that loaded it ---- */

/* candidates: the names of the requests that may have loaded it, if there are several. */
static void find_origin(struct object *o, const char **candidates, size_t *n) {
    static struct wc_preload preload;
    struct request *own = requests_open_of_thread(self_tid());
    struct request *r = own, *other;
    *n = 0;
    if (o->l.role != WC_role_HOST && o->l.role != WC_role_OTHER && start_has(o->base) &&
        wc_search_preload(config_variable("LD_PRELOAD"), o->l.path, o->soname, &preload)) {
        o->l.asked_how = WC_operation_PRELOAD;
        o->l.asked_name = wc_arena_string(&memory_arena, preload.element);
        o->l.asked_by = NULL;
        o->l.asked_by_object = WC_NULL;
        return;
    }
    if (!r || !wc_name_fits(r->name, o->l.path, o->soname)) {
        r = NULL;
        for (size_t i = 0; (other = requests_recent(i)); i++) {
            if (other->ended || !wc_name_fits(other->name, o->l.path, o->soname))
                continue;
            r = other;
            if (*n < 4)
                candidates[(*n)++] = other->name;
        }
        r = *n == 1 ? r : NULL;
    }
    if (r) {
        *n = 0;
        o->l.asked_how = r->operation;
        o->l.asked_by = r->caller;
        o->l.asked_by_object = r->caller_object;
        o->l.asked_name = wc_arena_string(&memory_arena, r->name);
        o->l.request = r->number;
        requests_log(r);
    } else if (o->l.asked_how == WC_operation_NEEDED && own) {
        o->l.request = own->number;
        requests_log(own);
    }
}

/* ---- all its records ---- */

static void describe_with(struct object *o, const struct wc_elf_image *e) {
    static char real_path[SYS_PATH], gpu_library[SYS_PATH];
    static struct wc_identity id;
    static struct wc_library l;
    struct wc_file_stat file;
    const char *names[4];
    struct wc_strings candidates = {names, 0};
    find_origin(o, names, &candidates.n);
    if (shim_files.facts(NULL, o->l.path, &file))
        wc_library_set_stat(&o->l, &file);
    l = o->l;
    l.image = e;
    if (e)
        l.base = o->base;
    if (shim_files.real_path(NULL, o->l.path, real_path, sizeof real_path))
        l.real_path = real_path;
    wc_library_identify(&l, reader(), &id);
    bool library = l.identity && object_is_cudnn(o);
    if (library && !wc_version_known(id.version) && wc_version_known(o->asked_version)) {
        id.version = o->asked_version;
        id.version_source = WC_version_source_ASKED_NAMES;
    }
    if (library && o->major < 0 && id.version.major > 0)
        o->major = id.version.major;
    wc_library_find_gpu(&l, reader(), gpu_library, sizeof gpu_library);
    if (o->l.framework)
        journal_open_relevant();
    wc_emit_object(&journal_sink, &l, candidates.n > 1 ? &candidates : NULL);
    if (o->l.role != WC_role_OTHER)
        searches_emit_object(o);
    if (o->l.role == WC_role_HOST || object_is_cudnn(o))
        wc_emit_packages(&journal_sink, &reader_environments, wc_library_file(&l), reader());
    if (o->l.role == WC_role_FACADE)
        wc_emit_packages(&journal_sink, &reader_environments, process_site(), reader());
    if (o->l.role != WC_role_HOST)
        return;
    o->needed_due = e != NULL;
    wc_emit_demands(&journal_sink, &l, reader());
}

/* The loader maps a truncated file without complaint, and reading beyond the file's end is a
 * SIGBUS. An object may also have made its own headers or names unreadable. */
static bool is_whole(const struct object *o) {
    struct wc_file_stat facts;
    if (!o->image.loads || !o->image.string_table)
        return false;
    if (!shim_files.facts(NULL, o->l.path, &facts))
        return true; /* removed since: what is mapped stays */
    for (size_t i = 0; i < o->image.loads; i++)
        if (o->image.load[i].filesz > facts.size ||
            o->image.load[i].offset > facts.size - o->image.load[i].filesz)
            return false;
    return true;
}

static void describe_object(struct object *o) {
    o->described = true;
    if (object_is_emitted_enough(o))
        return;
    o->records++;
    if (!o->l.mapped) {
        const struct wc_object *known = wc_stack_object(journal_stack(), o->l.number);
        if (known)
            wc_emit_known(&journal_sink, &known->r, false, WC_VERSION_NONE);
        return;
    }
    bool whole = is_whole(o);
    describe_with(o, whole ? &o->image : NULL);
    if (!whole)
        journal_unobserved("what is in a library", "it is damaged", o->l.path);
}

void describe_news(void) {
    struct object *o;
    bool relevant = objects_have_relevant_news();
    if (relevant)
        journal_open_relevant();
    else if (objects_have_framework_news())
        journal_open_if_eager();
    if (!relevant && !journal_is_open())
        return;
    for (size_t i = 0; (o = objects_get(i)); i++) {
        readable_trust_again(o->untouched);
        if (!o->described)
            describe_object(o);
    }
    /* These searches come last, because they use how each library was loaded: a preloaded library
     * is on the list after the program that needs it. */
    for (size_t i = 0; (o = objects_get(i)); i++)
        if (o->needed_due) {
            o->needed_due = false;
            readable_trust_again(o->untouched);
            searches_emit_needed(o, &o->image);
        }
    readable_trust(false);
}

void describe_asked_version(struct object *facade, const char *asked) {
    const struct wc_object *known = wc_stack_object(journal_stack(), facade->l.number);
    struct wc_name name = wc_name_read(asked);
    if (name.kind != WC_NAME_PART || name.version.patch < 0 ||
        wc_version_known(facade->asked_version))
        return;
    facade->asked_version = name.version;
    if (known && !known->r.version)
        wc_emit_known(&journal_sink, &known->r, known->r.mapped, name.version);
}
