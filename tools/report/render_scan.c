/* SPDX-License-Identifier: Apache-2.0 */
/* A scan: see render.h. */
#include <string.h>

#include "render.h"
#include "tools/observe/log/record_json.h"
#include "tools/observe/scan/scan.h"
#include "tools/util/terminal.h"

/* ---- text ---- */

static void print_copy(FILE *to, const struct wc_object_record *o, bool whole) {
    OWNED char *version = library_version(o);
    const char *source = wc_enum_word(WC_ENUM_version_source, o->version_source);

    print_format(to, "    %s %s  %s", library_label(o), wc_base_name(library_path(o)),
                 version ?: "version not known");
    if (version && source)
        print_format(to, " (%s)", source);
    if (o->soname && strcmp(o->soname, wc_base_name(library_path(o))) != 0)
        print_format(to, ", SONAME %s", o->soname);
    if (o->build_id && whole)
        print_format(to, ", build-id %s", o->build_id);
    putc('\n', to);
}

static void print_directory(FILE *to, const struct wc_stack *s, size_t first, bool whole) {
    const struct wc_object_record *o = &s->objects.p[first].r;
    const char *version = NULL; /* of the facade: its parts are of the same, mostly */
    size_t parts = 0;
    OWNED char *installation = library_installation(o);
    OWNED char *directory =
        must_format("%.*s", (int)wc_dir_length(library_path(o)), library_path(o));

    print_format(to, "  %s%s%s\n", directory, installation ? ": " : "", installation);
    for (int facades = 1; facades >= 0; facades--)
        for (size_t i = first; i < s->objects.n; i++) {
            const struct wc_object_record *r = &s->objects.p[i].r;
            if (!wc_same_directory(library_path(r), library_path(o)) ||
                (r->role == WC_role_FACADE) != facades)
                continue;
            if (whole || facades || !version || (r->version && !wc_str_same(r->version, version)))
                print_copy(to, r, whole);
            else
                parts++;
            version = facades ? r->version : version;
        }
    if (parts)
        print_format(to, "    and %zu part%s of it\n", parts, parts == 1 ? "" : "s");
}

static void print_text_of(struct layout *l, const struct scan *scan, const struct report *reports) {
    const struct wc_stack *s = &scan->copies->stack;
    const size_t copies = s->objects.n;
    size_t hosts = 0;

    WC_EACH(h, scan->hosts) /* a framework's main library that has no part in cuDNN is none */
        hosts += h->library->about.role == WC_role_HOST;
    print_format(l->to, "scan of %s: %zu %s of cuDNN's, %zu host%s, %zu file%s seen\n",
                 scan->copies->path, copies, copies == 1 ? "library" : "libraries", hosts,
                 hosts == 1 ? "" : "s", scan->files, scan->files == 1 ? "" : "s");
    for (size_t i = 0; i < scan->process_count; i++) {
        print_format(l->to, "\n%s\n", reports[i].source->path);
        render_text(l, &reports[i]);
    }
    if (copies > 0)
        fputs("\ncopies of cuDNN\n", l->to);
    for (size_t i = 0; i < copies; i++)
        if (WC_FIRST(o, s->objects,
                     wc_same_directory(library_path(&o->r), library_path(&s->objects.p[i].r))) ==
            &s->objects.p[i])
            print_directory(l->to, s, i, l->whole);
    if (s->dropped)
        print_format(l->to, "  and %jd that found no room\n", s->dropped);
    WC_EACH(one, scan->locked)
        if (!one->as_locked)
            print_format(l->to, "\n%s locks %s %s: %s %s%s\n", one->file, one->package,
                         one->version, one->site, one->installed ? "has " : "does not have it",
                         one->installed);
    if (scan->loadings.n > 0)
        fputs("\nPython packages with a search of their own, and which cuDNN they load\n", l->to);
    WC_EACH(one, scan->loadings) {
        OWNED char *outcome =
            one->unpredicted ? must_format("not predicted: %s", one->unpredicted)
            : one->raises    ? must_format("%s, for %s", one->raises, one->library)
            : one->path
                ? must_format("%s  %s (%s)", one->path,
                              one->cudnn[0] ? one->cudnn : "version not known", one->found_via)
                : must_copy("no cuDNN");
        print_format(l->to, "  %s: %s %s, %s: %s\n", one->site, one->loader->name, one->version,
                     one->loader->call, outcome);
    }
    if (scan->notes.n > 0)
        fputs("\npassed over\n", l->to);
    WC_EACH(note, scan->notes)
        print_format(l->to, "  %s: %s\n", note->path, note->why);
}

/* ---- JSON ---- */

static json_t *scan_json(const struct scan *scan, const struct report *all) {
    json_t *copies =
        JSON_EACH(o, scan->copies->stack.objects, record_to_json(WC_KIND_object, &o->r, NULL));
    json_t *notes = JSON_EACH(
        note, scan->notes,
        json_pack("{s:o, s:o}", "path", text_to_json(note->path), "why", text_to_json(note->why)));
    json_t *locked =
        JSON_EACH(l, scan->locked,
                  json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "environment", text_to_json(l->site),
                            "file", text_to_json(l->file), "package", text_to_json(l->package),
                            "version", text_to_json(l->version), "installed",
                            text_to_json(l->installed), "as_locked", l->as_locked));
    json_t *loaders = JSON_EACH(
        l, scan->loadings,
        json_pack("{s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "environment",
                  text_to_json(l->site), "loader", l->loader->name, "call", l->loader->call,
                  "version", text_to_json(l->version), "rule_read_in", l->loader->read,
                  "unpredicted", text_to_json(l->unpredicted), "path", text_to_json(l->path),
                  "cudnn_version", text_to_json(wc_str_or_null(l->cudnn)), "found_via",
                  text_to_json(l->found_via), "raises", text_to_json(l->raises)));

    json_t *reports = JSON_EACH(r, WC_ITEMS(all, scan->process_count), render_json(r));
    return json_pack("{s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "path",
                     text_to_json(scan->copies->path), "files", (json_int_t)scan->files,
                     "libraries", (json_int_t)scan->libraries, "copies", copies, "reports", reports,
                     "locked", locked, "loaders", loaders, "passed_over", notes);
}

/* ---- both ---- */

enum exit_code render_scans(struct layout *l, struct scan *const *scans, size_t n, bool json,
                            struct gate *gate) {
    enum exit_code answer = EXIT_NOTHING_OBSERVED;
    json_auto_t *list = json_array();

    *gate = (struct gate){.passes = true};
    for (size_t i = 0; i < n; i++) {
        const struct scan *scan = scans[i];
        OWNED struct report *reports = must_allocate(scan->process_count * sizeof(*reports));
        if (scan->copies->stack.objects.n > 0)
            answer = exit_code_of_both(answer, EXIT_NOTHING_WRONG);
        for (size_t k = 0; k < scan->process_count; k++) {
            struct report *r = &reports[k];
            report_make(r, scan->processes[k]);
            report_plan(r);
            answer = exit_code_of_both(answer, report_exit_code(r));
            gate_add(gate, r);
            /* What could not be looked at is not passed for the reason that nothing was there. */
            if (r->conclusion.verdict == WC_verdict_NOT_OBSERVED &&
                r->source->stack.unobserved.n > 0)
                gate->passes = false;
        }
        if (json) {
            json_array_append_new(list, scan_json(scan, reports));
        } else {
            fputs(i > 0 ? "\n" : "", l->to);
            print_text_of(l, scan, reports);
        }
        for (size_t k = 0; k < scan->process_count; k++)
            report_end(&reports[k]);
    }
    if (json)
        json_print(l->to, json_incref(n == 1 ? json_array_get(list, 0) : list));
    return answer;
}
