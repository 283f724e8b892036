/* SPDX-License-Identifier: Apache-2.0 */
#include "making.h"

#include <string.h>

#include "core/knowledge/frameworks.h"
#include "core/knowledge/programs.h"

/* Releases before `since` have no such function. */
static void add_preloader(struct making *m, const struct wc_object *o) {
    const char *environment = make_environment_of(m, wc_path_of(o));
    const char *module =
        environment && !make_is_conda(m, environment) ? make_module_of(m, wc_path_of(o)) : NULL;
    const struct wc_framework *known = module ? wc_framework_named(module) : NULL;
    struct wc_version release = wc_version_of(o->r.installation_version);

    if (!known || !known->preloader.function ||
        (wc_version_known(release) &&
         wc_version_compare(release, wc_version_of(known->preloader.since)) < 0))
        return;
    make_one(m, (struct edit){.kind = EDIT_PRELOADER,
                              .name = known->name,
                              .value = known->preloader.function,
                              .environment = environment});
}

/* A file of the module that a script imports: no script imports _ctypes by itself, but the package
 * whose cuDNN it opens (world: notebook_imports_another_before). NULL: it has opened none. */
static const char *imported(struct making *m, const struct wc_object *host) {
    const struct wc_object *opened = host;

    if (wc_program_is(wc_path_of(host), WC_PROGRAM_LIBRARY))
        opened = WC_FIRST(o, m->s->objects,
                          wc_is_cudnn(o) && wc_means(host, o->r.asked_by_object, o->r.asked_by));
    return opened ? wc_path_of(opened) : NULL;
}

/* Does a line of Python make that call, and is what sed changes of it nowhere before, nor behind a
 * '#'? */
static bool has_once(struct making *m, const char *line, const char *call, const char *changed) {
    return fits(call, line) && !fits(make_format(m, "@(*%s|*#)*%s*", changed, changed), line);
}

/* The one line of a file of Python's that opens a library through ctypes or cffi: which of a user's
 * script may open another one, and which Python runs at each start (.pth) none. */
static void change_line(struct making *m, const struct wc_object *o, const char *file) {
    static const char finds[] = "*find_library([\"']cudnn[\"'])*";
    static const char *const quotes[] = {"\"\"\"", "'''"};
    const char *name = o->r.asked_name, *line, *at;
    const char *opens = make_format(
        m, "@(|*[!A-Za-z0-9_])@(CDLL|PyDLL|dlopen|LoadLibrary)(*( )[\"']%s[\"']*", name);
    char *rest = view_text(m->view, file), *changed = make_format(m, "%s", name);
    const bool at_start = wc_str_ends(file, ".pth");
    struct edit e = {.kind = EDIT_OPEN, .name = name, .path = file};
    bool in_text = false;

    for (char *dot = changed; (dot = strchr(dot, '.')); dot++) /* as sed takes it */
        *dot = '?';
    for (int n = 1; (line = strsep(&rest, "\n")); n++) {
        WC_EACH_ROW(quote, quotes)
            in_text ^= (at = strstr(line, *quote)) && !strstr(at + 3, *quote);
        const bool is_found = !strchr(name, '/') && has_once(m, line, finds, "find_library[(]");
        if (in_text || line[strspn(line, " \t")] == '#' ||
            !(is_found || has_once(m, line, opens, changed)))
            continue;
        if (!at_start && (strchr(" \t", *line) || wc_str_starts(line, "if ")))
            e.because = "whether that line is what opened it is not known";
        bool does_more = false; /* than import what it needs, and open the library */
        WC_EACH_ELEMENT(one, at_start ? line : NULL, ";")
            does_more = does_more || !(strncmp(one.p + strspn(one.p, " "), "import ", 7) == 0 ||
                                       memmem(one.p, one.n, name, strlen(name)));
        if (e.by || does_more)
            return;
        e.by = make_format(m, "line %d of %s", n, file);
        e.target = at_start   ? make_format(m, "%dd\n", n)
                   : is_found ? make_format(m, "%ds#[a-z.]*find_library([^)]*)#\"\n\"#", n)
                              : make_format(m, "%ds#%s#\n#", n, name);
    }
    if (e.by && at_start)
        make_one(m, e);
    for (int32_t major = 9; e.by && !at_start && major > 6; major--) {
        e.value = make_format(m, "libcudnn.so.%d", major);
        make_one(m, e);
        WC_EACH(package, m->s->packages) {
            const char *in = package->r.installation_path;
            e.value = make_format(m, "%s/lib/libcudnn.so.%d", in, major);
            if (in && strcmp(e.value, name) != 0 && make_is_there(m, e.value))
                make_one(m, e);
        }
    }
}

/* What Python runs at each start, where it finds packages. */
static void change_start(struct making *m, const struct wc_object *o, const char *directory) {
    EACH_ENTRY(entry, make_entries(m, directory))
        if (fits("@(*.pth|@(site|user)customize.py)", *entry))
            change_line(m, o, make_format(m, "%s/%s", directory, *entry));
}

void make_opened(struct making *m) {
    const struct wc_process_record *p = &m->s->process;
    const char *script = p->arguments.n > 1 ? p->arguments.p[1] : "-";

    WC_EACH(o, m->stacks[1]->objects) {
        if (o->r.role != WC_role_FACADE || !o->r.asked_name ||
            !wc_program_is(o->r.asked_by, WC_PROGRAM_LIBRARY) ||
            strpbrk(o->r.asked_name, "#'[*?\\"))
            continue;
        if (*script != '-')
            change_line(m, o,
                        *script == '/' ? script : make_format(m, "%s/%s", p->directory, script));
        WC_EACH(package, m->s->packages)
            change_start(m, o, package->r.prefix ?: "");
        WC_EACH_ELEMENT(e, wc_variable(m->s, REPLAY_MODULES), ":")
            change_start(m, o, make_format(m, "%.*s", (int)e.n, e.p));
    }
}

void make_order(struct making *m) {
    WC_EACH(first, m->s->objects)
        WC_EACH(then, m->s->objects)
            if (first != then && wc_wants_cudnn(first) && wc_wants_cudnn(then))
                make_import_before(m, imported(m, first), imported(m, then), NULL);
    WC_EACH(o, m->s->objects) /* a library of CUDA's that an import has loaded by its path */
        if (o->r.role == WC_role_CUDA_DEPENDENCY && o->r.asked_how == WC_operation_DLOPEN &&
            o->r.asked_name && o->r.asked_name[0] == '/')
            WC_EACH(host, m->s->objects)
                if (wc_wants_cudnn(host))
                    make_import_before(m, wc_path_of(host), wc_path_of(o), NULL);
    WC_EACH(o, m->s->objects)
        add_preloader(m, o);
}
