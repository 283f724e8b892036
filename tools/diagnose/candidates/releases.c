/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "making.h"
#include "tools/diagnose/causes/gpu.h"

/* As a set without builds, as package managers have them; NULL: all are accepted. */
static const char *accepted(struct making *m, const struct wc_demands *demands) {
    struct wc_version low, high;

    if (!wc_accepted_releases(demands, &low, &high))
        return NULL;
    low.build = high.build = -1;
    return wc_format_releases(m->view.memory, low, high);
}

/* ---- releases that NVIDIA's own documents are about ---- */

static const struct {
    const char *bad, *instead;
} bad_releases[] = {
#define BAD_RELEASE(releases, framework, of_it, what, instead, source) {releases, instead},
#include "core/knowledge/bad_releases.def"
};

/* Of all GPUs it must be known that they have code. What continues without an end has it for later
 * ones, too. */
static bool knows_gpus(const struct wc_stack *s, const struct gpu_row *row) {
    return s->machine.gpus.n > 0 &&
           !WC_ANY(gpu, s->machine.gpus,
                   gpu_fit_of(row, *gpu) != GPU_FITS || (!*row->most && *row->last));
}

static bool is_found(const struct making *m, const char *id) {
    return WC_ANY(f, m->base->findings, wc_str_same(f->id, id)) ||
           WC_ANY(f, m->base->of_end, wc_str_same(f->id, id));
}

/* ---- all that is wanted, as sets ---- */

struct wanting {
    struct making *m;
    struct wc_demands all; /* every release of it must do */
    struct entries out;    /* sets */
};

static void add_set(struct wanting *w, const struct wc_demands *demands) {
    if (w->out.n < SPECS_MOST)
        make_add(w->m, &w->out, accepted(w->m, demands));
}

static bool joins(struct wanting *w, const struct wc_demand_record *demand) {
    struct wc_version low, high;

    if (w->all.n == WC_DEMANDS_MOST)
        return true;
    w->all.p[w->all.n++] = demand;
    if (wc_accepted_releases(&w->all, &low, &high))
        return true;
    w->all.n--;
    return false;
}

/* What has nothing in common with the others is a set of its own. */
static void want(struct wanting *w, const struct wc_demand_record *demand) {
    if (!joins(w, demand))
        add_set(w, &(struct wc_demands){{demand}, 1});
}

static const struct wc_demand_record *demand_for(struct wanting *w, const char *spec) {
    struct wc_demand_record *demand = wc_arena_take(w->m->view.memory, sizeof(*demand));

    *demand = (struct wc_demand_record){.demand_kind = WC_demand_kind_EXPECTATION, .spec = spec};
    return demand;
}

static void want_spec(struct wanting *w, const char *spec) {
    want(w, demand_for(w, spec));
}

/* A part is asked for by a host that was made for that major, unless by a path, where it is to be.
 * missing: only a file of that very release has all numbers of the name. */
static void want_name(struct wanting *w, const char *name, bool missing) {
    struct wc_name asked = wc_name_read(name);
    const bool is_path = name && strchr(name, '/');

    asked.version.build = -1;
    if (asked.kind == WC_NAME_PART)
        asked.version.minor = asked.version.patch = -1;
    if (wc_version_known(asked.version) &&
        (asked.kind == WC_NAME_FACADE || (asked.kind == WC_NAME_PART && !is_path)))
        want_spec(w, missing
                         ? make_format(w->m, "==%s.*", view_version(w->m->view, asked.version))
                         : make_format(w->m, ">=%s,<%d", view_version(w->m->view, asked.version),
                                       asked.version.major + 1));
}

/* A part that its facade's release does not have, but asks for, and gets from elsewhere: the
 * nearest releases that have it, or one of them (nvidia-cudnn-cu13 9.20 has no
 * engines_tensor_ir). */
static void want_part(struct wanting *w, const struct wc_object *o) {
    const struct wc_object *facade = o->r.role == WC_role_PART ? wc_facade_of(w->m->s, o) : NULL;
    const char *with =
        facade && o->r.part && o->r.mapped ? wc_part_comes_with(o->r.part, facade->version) : NULL;
    struct wc_version first = with ? wc_version_of(with) : WC_VERSION_NONE;

    if (!wc_version_known(first))
        return;
    want_spec(w, make_format(w->m, ">=%s,<%d.%d", with, first.major, first.minor + 1));
    want_spec(w, make_format(w->m, ">=%s,<%d", with, first.major + 1));
}

struct entries make_wanted(struct making *m) {
    struct wanting w = {.m = m};
    char text[WC_VERSION_TEXT];

    WC_EACH(d, m->s->demands)
        if (d->r.demand_kind != WC_demand_kind_EXPECTATION)
            want(&w, &d->r);
    WC_EACH(d, m->s->demands)
        if (d->r.demand_kind == WC_demand_kind_EXPECTATION)
            want(&w, &d->r);
        else if (d->r.demand_kind == WC_demand_kind_REQUIRED && d->r.spec)
            want_spec(&w, make_format(m, "%s,>=0", d->r.spec)); /* no rule widens such a pin */
    WC_EACH(failure, m->s->failures) {
        const char *function = failure->r.function ?: failure->said.symbol;
        const int number = function ? wc_function_find(function) : WC_NO_FUNCTION;
        if (number >= 0)
            want_spec(&w,
                      make_format(m, ">=%s", wc_version_format(wc_function_first(number), text)));
        want_name(&w, failure->r.name, true);
        want_name(&w, wc_missing_of(failure), true);
        want_name(&w, failure->said.version, true);
    }
    WC_EACH(search, m->s->searches) /* what it needs was not found, of another CUDA */
        if (search->r.object == WC_NULL && search->r.caller)
            want_name(&w, wc_base_name(search->r.caller), false);
    WC_EACH(file, m->s->files)
        if (file->r.fault != WC_file_fault_UNKNOWN)
            want_name(&w, file->r.path, true);
    WC_EACH(o, m->s->objects)
        want_name(&w, o->r.asked_name, false);
    WC_EACH(o, m->s->objects) /* what was compiled with the header may require this release */
        if (wc_version_known(wc_version_of(o->r.header_version)))
            joins(&w, demand_for(&w, make_format(m, "==%s.*", o->r.header_version)));
    WC_EACH(o, m->s->objects)
        want_part(&w, o);
    WC_EACH_ROW(row, bad_releases)
        WC_EACH(o, m->s->objects)
            if (o->r.role == WC_role_FACADE && is_found(m, "known-bad-release") &&
                wc_text_accepts(row->bad, o->version) == WC_YES)
                want_spec(&w, row->instead);
    if (!is_found(m, "gpu-unsupported")) {
        add_set(&w, &w.all);
        return w.out;
    }
    WC_EACH(row, gpu_table)
        if (gpu_row_of(wc_version_of(row->first), wc_cuda_of_dependencies(m->s)) == row &&
            knows_gpus(m->s, row)) {
            const struct wc_demands all = w.all;
            want_spec(&w, make_format(m, ">=%s%s%s", row->first, *row->last ? ",<" : "",
                                      wc_version_text(gpu_row_end(row), text)));
            add_set(&w, &w.all);
            w.all = all;
        }
    return w.out;
}
