/* SPDX-License-Identifier: Apache-2.0 */
#include "cures.h"

#include "core/findings/finding.h"
#include "tools/repair/rules.h"

static size_t count(const struct wc_findings *findings, enum wc_severity severity) {
    size_t n = 0;

    WC_EACH(f, *findings)
        n += f->severity == severity;
    return n;
}

const struct wc_object *cures_facade_of(const struct wc_stack *s, const char *host) {
    WC_EACH(b, s->bindings) {
        const struct wc_object *o = wc_object_of(s, b->r.target, b->r.target_path);
        if (o && o->r.role == WC_role_FACADE && (!host || wc_str_same(b->r.host_path, host)))
            return o;
    }
    return WC_FIRST(o, s->objects, o->r.role == WC_role_FACADE);
}

/* A newer release than a package requires may work, and is what its next installation replaces. */
static size_t count_pins(const struct wc_stack *s) {
    size_t n = 0;

    WC_EACH(d, s->demands) {
        const struct wc_object *facade = cures_facade_of(s, d->r.host_path);
        struct wc_spec pin;
        n += d->r.demand_kind == WC_demand_kind_REQUIRED && facade && d->r.spec &&
             wc_spec_read(d->r.spec, &pin) &&
             wc_spec_accepts(&pin, wc_runtime_of(s, facade).range.low) == WC_NO;
    }
    return n;
}

struct left cures_left_by(const struct outcome *o) {
    struct left left = {.errors = count(&o->findings, WC_severity_ERROR),
                        .warnings = count(&o->findings, WC_severity_WARNING),
                        .pins = count_pins(&o->source->stack)};

    WC_EACH(f, o->of_end)
        left.of_end += f->severity == WC_severity_ERROR && !has_rule(f->id, OF_CALLS);
    WC_EACH(f, o->findings)
        left.suspects += f->severity == WC_severity_NOTE &&
                         (has_rule(f->id, VARIABLES_ALONE) || has_rule(f->id, OWN_COPY));
    return left;
}

/* What comes in is known to have code for the GPUs. */
static bool has_gpu_code(const struct outcome *o) {
    const struct wc_stack *s = &o->source->stack;

    return !WC_ANY(facade, s->objects,
                   facade->r.role == WC_role_FACADE &&
                       !candidates_has_gpu_code(s, wc_runtime_of(s, facade).range.low));
}

static bool is_cured(const struct planning *p, const struct played *x, const struct outcome *o,
                     bool of_end, const struct wc_finding_record *f) {
    return cures_is_gone(p, o, of_end, f) && !cures_leaves_cause(p, o, of_end, f) &&
           !cures_brings(p, x, o, of_end, f->severity) && !cures_brings_never(p, o) &&
           (!has_rule(f->id, KNOWN_FOR_GPU) || has_gpu_code(o));
}

bool cures_finding(const struct planning *p, const struct played *x,
                   const struct wc_finding_record *f, bool of_end) {
    if (!x->harmless || (f->severity < WC_severity_ERROR && x->left.errors + x->left.of_end > 0))
        return false;
    if (f->severity >= WC_severity_WARNING
            ? cures_changes_nothing(p, x) && !cures_takes_back(&x->edits)
            : !cures_suits_note(p, x, f))
        return false;
    if (has_rule(f->id, OWN_COPY) && !cures_takes_own(x, f))
        return false;
    if (has_rule(f->id, VARIABLES_ALONE) && !cures_is_variables_alone(&x->edits))
        return false;
    return !cures_is_beyond_files(p, &x->edits, f) && !cures_wants_unknown(&x->edits, f) &&
           !cures_needs_the_same(&x->edits, f) && !cures_removes_unused(p, &x->edits, f) &&
           !cures_leaves_installation(p, &x->edits, f) && !cures_keeps_cuda(p, x, f) &&
           !cures_loses_cuda(p, x) && !cures_takes_older(p, x, f) && !cures_removes_wanted(p, x) &&
           !cures_keeps_failed(p, x, f) && is_cured(p, x, &x->outcome, of_end, f) &&
           (!x->newest.source || is_cured(p, x, &x->newest, of_end, f));
}

int cures_compare_left(const struct played *a, const struct played *b) {
    if (a->left.errors != b->left.errors)
        return WC_ORDER(a->left.errors, b->left.errors);
    if (a->left.of_end != b->left.of_end)
        return WC_ORDER(a->left.of_end, b->left.of_end);
    if (a->left.warnings != b->left.warnings)
        return WC_ORDER(a->left.warnings, b->left.warnings);
    if (a->left.pins != b->left.pins)
        return WC_ORDER(a->left.pins, b->left.pins);
    return WC_ORDER(a->left.suspects, b->left.suspects);
}
