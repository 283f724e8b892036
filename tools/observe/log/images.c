/* SPDX-License-Identifier: Apache-2.0 */
#include "images.h"

#include <string.h>

#include "core/names/names.h"

bool image_counts(const struct source *log) {
    const struct wc_stack *s = &log->stack;

    /* What is expected is in each log. Failures count as the shim judges them. */
    return s->objects.n + s->bindings.n + s->calls.n + s->unobserved.n > 0 ||
           WC_ANY(f, s->failures,
                  f->r.function || wc_name_kind_of(f->r.name) != WC_NAME_OTHER ||
                      wc_name_hints(f->r.name) || wc_name_hints(f->r.text)) ||
           WC_ANY(d, s->demands, d->r.demand_kind != WC_demand_kind_EXPECTATION);
}

struct image {
    struct source *log;
    size_t place;
    bool replaced;
};

static int compare_process(const struct source *x, const struct source *y) {
    const struct wc_process_record *a = &x->stack.process, *b = &y->stack.process;

    return strcmp(a->node ? a->node : "", b->node ? b->node : "") ?: WC_ORDER(x->pid, y->pid)
           ?: WC_ORDER(a->start_ticks, b->start_ticks);
}

WC_COMPARE(by_process, struct image,
           compare_process(x->log, y->log) ?: WC_ORDER(x->log->first_time, y->log->first_time)
           ?: WC_ORDER(x->place, y->place));

WC_COMPARE(by_place, struct image,
           WC_ORDER(x->replaced, y->replaced) ?: WC_ORDER(x->place, y->place));

/* A forked child may have its parent's pid, in a namespace of its own; exec leaves no parent. */
static bool is_next_image(const struct source *before, const struct source *log) {
    const struct wc_process_record *p = &log->stack.process;

    return log->type == SOURCE_LOG && before->type == SOURCE_LOG && log->stack.has_process &&
           before->stack.has_process && p->start_ticks != WC_NULL && !p->parent_log &&
           compare_process(before, log) == 0;
}

size_t images_join(struct source **logs, size_t n) {
    struct image *images = must_allocate(n * sizeof(*images));
    size_t kept = 0, last = 0;

    for (size_t i = 0; i < n; i++)
        images[i] = (struct image){logs[i], i, false};
    qsort(images, n, sizeof(*images), by_process);
    for (size_t i = 1; i < n; i++) {
        bool other = !is_next_image(images[i - 1].log, images[i].log);
        bool better = image_counts(images[i].log) || !image_counts(images[last].log);
        images[last].replaced = !other && better;
        images[i].replaced = !other && !better;
        last = other || better ? i : last;
    }
    qsort(images, n, sizeof(*images), by_place);
    for (size_t i = 0; i < n; i++) {
        logs[i] = images[i].log;
        kept += !images[i].replaced;
    }
    free(images);
    return kept;
}
