/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of inspect: for tools/observe/inspect/ only.
 */
#pragma once

#include "bindings.h"
#include "core/records/emit.h"
#include "inspect.h"
#include "process_library.h"
#include "tools/observe/loader/library_cache.h"

struct inspection {
    struct process process;
    struct process_libraries list;
    struct source *source;
    struct wc_sink to; /* the same */
    struct elf_reader reader;
    struct wc_environments environments;
    struct wrappers wrappers;
    char glibc[16]; /* "": not known */

    bool replays; /* the rules are known by which its loader looks */
    struct library_cache
        files; /* what its loader adds to a search, and what opens cuDNN by a name */
    struct wc_search_context search;
    struct wc_replay replay;
    unsigned char scratch[WC_SEARCH_SCRATCH];
    int64_t searches;
};

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
void inspect_emit_preload(struct inspection *in, const struct process_library *m);
