/*
 * Inside of inspect: for tools/inspect/ alone.
 */
#ifndef WHICHCUDNN_TOOLS_INSPECT_INSIDE_H
#define WHICHCUDNN_TOOLS_INSPECT_INSIDE_H

#include "bindings.h"
#include "core/search/replay.h"
#include "inspect.h"
#include "process_library.h"
#include "tools/loader/library_cache.h"

struct inspection {
    struct process process;
    struct process_libraries list;
    struct source *source;
    struct wrappers wrappers;
    char glibc[16]; /* "": not known */

    bool replays; /* the rules are known by which its loader looks */
    struct library_cache
        files; /* what its loader adds to a search, and who opens cuDNN by a name */
    struct wc_search_context search;
    struct wc_replay replay;
    struct wc_replay_sink sink;
    struct elf_file *candidate; /* that the replay looks into */
    unsigned char search_scratch[WC_SEARCH_SCRATCH], file_scratch[64 << 10];
    int64_t searches;
};

void inspect_add(void *inspection, struct wc_record *r);
void inspect_unobserved(struct inspection *in, const char *what, const char *why, const char *path);

/* The process and its computer, as records. */
void inspect_emit_process(struct inspection *in);
void inspect_emit_machine(struct inspection *in);

/* ---- inspect_search.c: by which rule each was found ---- */

void inspect_begin_searches(struct inspection *in);
void inspect_end_searches(struct inspection *in);
/* Has the library that name in its constants? Then it may open it. */
bool inspect_opens(struct inspection *in, const struct process_library *by,
                   const struct process_library *m);
/* Would the loader take what is mapped, where `by` asks for it by that name? */
bool inspect_leads_to(struct inspection *in, const struct process_library *by, const char *name,
                      const struct process_library *m);
/* What `by` got by that name: m. is_new: it was loaded for that. */
void inspect_emit_search(struct inspection *in, const struct process_library *by, const char *name,
                         const struct process_library *m, bool is_new);

#endif
