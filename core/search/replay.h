/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One replay of the loader's search (core/search/search.h), kept: which file it takes, which it
 * skips, where it looked, what else is there. Pure; for the shim, which replays what just
 * happened, and for the command, which looks before or afterwards.
 */
#pragma once

#include "core/packages/identify.h"
#include "search.h"

#define WC_REPLAY_SEARCHED 64   /* directories logged of one search */
#define WC_REPLAY_CANDIDATES 16 /* of one search */
#define WC_REPLAY_SITES 8

struct wc_replay_file {
    struct wc_search_candidate c; /* its texts are kept */
    struct wc_file_stat facts;
};

/* Too large for a stack. All of it is valid until the next wc_replay_run. */
struct wc_replay {
    const struct wc_files *files;
    struct wc_buffer_arena memory;
    const char *searched[WC_REPLAY_SEARCHED];
    const char *directory[WC_REPLAY_SEARCHED];    /* the same, bare */
    enum wc_search_rule rule[WC_REPLAY_SEARCHED]; /* by which each is searched */
    bool is_there[WC_REPLAY_SEARCHED];            /* that directory */
    size_t searched_count, searched_more;
    struct wc_replay_file taken, other[WC_REPLAY_CANDIDATES]; /* taken: without a path if none is */
    size_t others, others_more;
    const char *site[WC_REPLAY_SITES + 1], *conda[2], *cuda[3]; /* roots, for wc_replay_copies */
    struct wc_identity identity; /* from here on a run clears nothing */
    char room[WC_SEARCH_PATH + 64], soname[256], version[WC_VERSION_TEXT];
    char texts[64 << 10];
};

/* context: with `whole`. scratch: as for wc_search. */
void wc_replay_run(struct wc_replay *r, const struct wc_search_context *context,
                   const struct wc_search_object *caller, const char *name, void *scratch,
                   size_t scratch_size);
/* The file that it takes; NULL: none. The i-th one that it skips or ends at; NULL past the last. */
const char *wc_replay_taken(const struct wc_replay *r);
const char *wc_replay_passed(const struct wc_replay *r, size_t i);
/* Where that library would lie in the i-th directory, which need not be there; valid until the next
 * question. NULL past the last. */
const char *wc_replay_wanted(struct wc_replay *r, size_t i, const char *name);
bool wc_replay_takes(const struct wc_replay *r, const char *path, uint64_t device, uint64_t inode);

/* A file that another search takes: one more of the others, if it is another one. */
void wc_replay_copy(struct wc_replay *r, const char *path);

/* Copies that the loader does not look at: what a host requires and does not find may be installed
 * all the same. First the roots that variables ("NAME=value") and paths of mapped files give, then
 * the copies, among them one next to the caller. */
void wc_replay_root(struct wc_replay *r, const char *variable);
void wc_replay_site(struct wc_replay *r, const char *path);
void wc_replay_copies(struct wc_replay *r, const char *name, const char *caller);
