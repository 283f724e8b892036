/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets share. A target is a function over bytes that must hold, whatever they are:
 * no report of a sanitizer, and every MUST.
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_FUZZ_H
#define WHICHCUDNN_TESTS_SUPPORT_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(holds)                                                                                \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds);             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Settings are taken from the end of an input, so that its beginning may be a file as it is. */
struct controls {
    const uint8_t *data;
    size_t size; /* what is left */
};

static inline unsigned take_control(struct controls *c) {
    return c->size ? c->data[--c->size] : 0;
}

/* An arena each of whose pieces is an allocation of its own, so that its ends are seen. */
struct piece {
    struct piece *older;
    _Alignas(16) unsigned char p[];
};
struct piecewise {
    struct wc_arena arena;
    struct piece *newest;
    size_t left; /* bytes that it still gives */
};

static inline void *piecewise_more(void *owner, size_t n) {
    struct piecewise *a = owner;
    struct piece *p;
    if (n > a->left || !(p = calloc(1, sizeof *p + n)))
        return NULL;
    a->left -= n;
    p->older = a->newest;
    a->newest = p;
    return p->p;
}

static inline void piecewise_begin(struct piecewise *a, size_t most) {
    a->arena.more = piecewise_more;
    a->arena.owner = a;
    a->newest = NULL;
    a->left = most;
}

static inline void piecewise_end(struct piecewise *a) {
    for (struct piece *p; (p = a->newest); free(p))
        a->newest = p->older;
}

#endif
