/*
 * What the loader does to start a program, replayed over its files: which libraries come in, by
 * whose DT_NEEDED, and which one is missing. For programs that ended before the shim woke in them,
 * and for those that have not been started yet. Nothing is loaded.
 */
#ifndef WHICHCUDNN_TOOLS_STARTUP_H
#define WHICHCUDNN_TOOLS_STARTUP_H

#include "disk.h"
#include "memory.h"
#include "whichcudnn/replay.h"

struct startup_object {
    struct wc_search_object search;
    struct disk_file file;
    char *real_path;
    struct wc_file_facts facts;
    const char *asked_name;          /* NULL: the program */
    const struct startup_object *by; /* whose DT_NEEDED that is; NULL: the program, a preload */
    const char **names;              /* all by which it was asked for, NULL at the end */
    int64_t number;                  /* of its object record; WC_NULL: it has none */
};

struct startup_missing {
    const char *name;
    const struct startup_object *by;
};

struct startup {
    struct heap_arena memory;
    struct wc_search_world world;
    struct wc_search_system system;
    struct wc_search_memory tried;
    struct wc_replay *replay;
    void *scratch;
    char *const *environment; /* the caller's */
    const char *directory;    /* working directory; NULL: unknown */
    struct disk_file cache;
    bool has_cache;
    struct startup_object **objects; /* in the loader's order, the program first */
    size_t n;
    const struct wc_search_object **loaded;
    struct startup_missing *missing;
    size_t missing_count;
};

/* program: path of an ELF file. environment: NAME=value as the program is given it, NULL at the
 * end, which has to live as long as *s. False: it is none that a loader of this computer starts;
 * there is nothing to end then. */
bool startup_replay(struct startup *s, const char *program, char *const *environment);
void startup_end(struct startup *s);

/* What is known by that, as records without a head: each library of cuDNN or CUDA and each object
 * that wants cuDNN; what is missing, where it was looked for, and copies that are elsewhere. */
void startup_tell(struct startup *s, void (*add)(void *ctx, struct wc_record *r), void *ctx);

#endif
