/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One finding as text for people: the same on the shim's standard error, in `run`, `report`,
 * `inspect` and `scan`. It fits one screen; all facts with their sources are in `report -v` and
 * --json.
 *
 *   error[runtime-too-old]: jax-cuda12-plugin 0.10.2 got cuDNN 9.4.0, requires >=9.8,<10
 *     got       V/nvidia/cudnn/lib/libcudnn.so.9  9.4.0, in no package
 *     required  nvidia-cudnn-cu12>=9.8,<10  (METADATA of jax-cuda12-plugin 0.10.2)
 *     fix       pip install 'nvidia-cudnn-cu12>=9.8,<10'
 *      or       take a jax made for cuDNN 9.4.0
 *     found by  DT_RPATH of _versions.so, $ORIGIN/../nvidia/cudnn/lib
 *     unused    /usr/local/cuda-13.0/lib/libcudnn.so.9  9.19.0  (ld.so.cache)
 *   loaded      facade 9.4.0, graph 9.4.0
 *   process     30555 on vm: python -c, exited 0
 *   V = /venv/lib/python3.11/site-packages
 *   more        whichcudnn explain runtime-too-old; whichcudnn report -v
 */
#pragma once

#include "core/model/stack.h"
#include "facts.h"

#define WC_FINDING_LINES 16
#define WC_FINDING_COLUMNS 100

struct wc_finding_page;
/* What is printed along with a finding; all zeroes: only the finding. */
struct wc_finding_view {
    const char *before; /* the title, on its line: "whichcudnn: " */
    /* Puts rows before those of the facts: what repairs it, which is not for this folder to know.
     */
    void (*put_fixes)(struct wc_finding_page *page, const void *fixes);
    const void *fixes;            /* what it gets */
    const struct wc_stack *stack; /* for the row `loaded`; NULL: no such row */
    const char *process;          /* the row's value, as wc_finding_process makes it */
    const char *processes;        /* the same of several: "4 of 8: rank 0-3" */
    const char *log;    /* its path, which is never shortened; NULL: nothing for `report` to read */
    const char *no_log; /* why there is none */
    const char *paint, *unpaint; /* around the severity: escape sequences of a terminal */
    size_t lines;                /* at most; 0: WC_FINDING_LINES. Below 8 the rows of its process,
                                  * the legend and `more` are left out. */
};

/* Memory for one finding, of the caller: no malloc in the shim. Nothing of it needs to be set. */
#define WC_FINDING_ROWS 48
struct wc_finding_row {
    const char *key, *value;    /* harmless */
    const char *shorter;        /* of a command: in its place where there is less room */
    unsigned char rank, weight; /* its place, and what is left out first */
    unsigned char most;         /* lines that it may take */
    bool command, chosen;
};
#define WC_LEGEND_LETTERS 2

struct wc_finding_page {
    struct {
        struct wc_finding_row p[WC_FINDING_ROWS];
        size_t n;
    } rows;
    const char *id, *title, *letter[WC_LEGEND_LETTERS]; /* what V and W mean; NULL: nothing */
    struct wc_buffer_arena arena;
    struct wc_text out;
    char raw[1200], shown[1600]; /* one value */
    char memory[12 << 10], text[10 << 10];
};

/* Whole lines, each with its end. Points into the page. */
const char *wc_finding_text(struct wc_finding_page *page, const struct wc_finding_record *f,
                            const struct wc_finding_view *view);

/* "30555 on vm: python train.py, killed by SIGSEGV": pid 0 and ending NULL are left out. Untrusted
 * text is added as it is. */
void wc_finding_process(struct wc_text *t, int64_t pid, const struct wc_process_record *p,
                        const char *ending);

/* ---- for what makes a page: facts become rows (finding_rows.c), rows lines (finding_text.c) ----
 */

enum {
    WC_PAGE_KEYS = 12, /* columns before a row's value */
    WC_PAGE_VALUE = WC_FINDING_COLUMNS - WC_PAGE_KEYS
};

/* Harmless, on the page; NULL: there is no room for it, or nothing in it. */
const char *wc_page_keep(struct wc_finding_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Rows of its facts, none chosen yet. */
void wc_page_fill(struct wc_finding_page *page, const struct wc_finding_record *f,
                  const struct wc_stack *s);
/* A row behind those that are there; NULL: there is no room for it, or nothing in it. */
struct wc_finding_row *wc_page_add_row(struct wc_finding_page *page, const char *key,
                                       enum rank rank, const char *value);
/* "facade, graph 9.1.0" where the finding is about a cuDNN of the stack, else NULL. */
const char *wc_page_loaded(struct wc_finding_page *page, const struct wc_finding_record *f,
                           const struct wc_stack *s);
/* Lines that a value fills that begins in that column. */
size_t wc_page_lines(const char *value, size_t column, bool command);
bool wc_of_path(char c); /* may it be in a path? */
