/* SPDX-License-Identifier: Apache-2.0 */
#include "cures.h"

#include <string.h>

#include "core/findings/finding.h"

static bool is_other_library(void *found, const char *name) {
    *(bool *)found = strstr(name, ".so") && !wc_kind_is_ours(wc_name_kind_of(name));
    return !*(bool *)found;
}

/* Each entry of the directories of LD_LIBRARY_PATH that are not among those of `left`, until
 * *found. */
static void list_lost(const struct planning *p, const char *left,
                      bool (*each)(void *ctx, const char *name), void *ctx, const bool *found) {
    const struct wc_files *files = &p->replay.library_cache.disk.files;
    const char *list = wc_variable(&p->base.source->stack, "LD_LIBRARY_PATH");

    for (; list && *list && !*found; list += strcspn(list, ":"), list += *list == ':') {
        const size_t n = strcspn(list, ":");
        OWNED char *directory = must_format("%.*s", (int)n, list);
        if (!candidates_path_has(left, list, n))
            files->list(files->ctx, directory, each, ctx);
    }
}

bool cures_loses_others(const struct planning *p, const struct candidate *c) {
    bool others = false;

    if (c->n != 1 || (c->edit[0].kind != EDIT_SET && c->edit[0].kind != EDIT_UNSET) ||
        !wc_str_same(c->edit[0].name, "LD_LIBRARY_PATH"))
        return false;
    list_lost(p, c->edit[0].value, is_other_library, &others, &others);
    return others;
}

struct lost {
    const struct wc_stack *s; /* what comes in without the directory */
    int32_t cuda;             /* of the process; -1: not known */
    bool found;
};

static bool is_lost(void *lost, const char *name) {
    struct lost *l = lost;
    const int32_t cuda = wc_name_cuda(name);

    l->found = wc_name_kind_of(name) == WC_NAME_CUDA_DEPENDENCY && cuda > 0 &&
               (l->cuda < 0 || cuda == l->cuda) && !wc_mapped_as(l->s, name);
    return !l->found;
}

bool cures_loses_cuda(const struct planning *p, const struct played *x) {
    const struct wc_stack *s = &p->source->stack;
    struct lost lost = {&x->outcome.source->stack, -1, false};

    if (p->source->type == SOURCE_SCAN || WC_ANY(call, s->calls, wc_wants_gpu(call->r.function)))
        return false;
    lost.cuda = wc_cuda_of_dependencies(lost.s);
    list_lost(p, wc_variable(lost.s, "LD_LIBRARY_PATH"), is_lost, &lost, &lost.found);
    return lost.found;
}

/* Of a list of paths: an element that the other list has not. */
static bool has_more(const char *list, const char *other) {
    for (; list && *list; list += strcspn(list, ":"), list += *list == ':')
        if (!candidates_path_has(other, list, strcspn(list, ":")))
            return true;
    return false;
}

bool cures_adds_to_variable(const struct planning *p, const struct candidate *c) {
    for (size_t i = 0; i < c->n; i++)
        if (c->edit[i].kind == EDIT_SET &&
            has_more(c->edit[i].value, wc_variable(&p->base.source->stack, c->edit[i].name)))
            return true;
    return false;
}
