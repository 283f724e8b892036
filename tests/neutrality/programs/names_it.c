/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_it names|whole|backtrace|frames: what dladdr, dladdr1 and a backtrace print of functions of
 * cuDNN, of those looked up, and of what is below within a call.
 */
#include <execinfo.h>
#include <link.h>
#include <stdlib.h>

#include "answers.h"
#include "see.h"

static int frames_to_main, whole;

/* The symbol's own address is that of the function behind a wrapper: asked for in "whole" alone. */
static void tell_address(const char *label, const void *p) {
    Dl_info info;
    if (whole)
        see_address(label, p);
    else if (dladdr(p, &info))
        see("dladdr", "%s %s %s", label, see_base_name(info.dli_fname), info.dli_sname);
}

static void tell_address1(const char *label, const void *p) {
    Dl_info info;
    struct link_map *map = NULL;
    const ElfW(Sym) *symbol = NULL;
    int by_map = dladdr1(p, &info, (void **)&map, RTLD_DL_LINKMAP);
    see("dladdr", "%s %d %s %s", label, by_map, see_base_name(map ? map->l_name : NULL),
        by_map && info.dli_saddr ? "address" : "no address");
    int by_symbol = dladdr1(p, &info, (void **)&symbol, RTLD_DL_SYMENT);
    see("dladdr", "%s %d type %d", label, by_symbol, symbol ? ELF64_ST_TYPE(symbol->st_info) : -1);
}

static void tell_names(void) {
    void *cudnn = dlopen("libcudnn.so.9", RTLD_LAZY);
    tell_address("taken", (const void *)cudnnGetErrorString);
    tell_address("looked up", dlsym(cudnn, "cudnnCreate"));
    tell_address("looked up", dlsym(cudnn, "cudnnGetVersion"));
    tell_address("by version", dlvsym(cudnn, "cudnnCreate", "libcudnn.so.9"));
    tell_address("default", dlsym(RTLD_DEFAULT, "cudnnCreate"));
    see_address("unwatched", dlsym(cudnn, "cudnnSetStream"));
    see_address("own", (const void *)tell_names);
    if (whole)
        see_address("dlopen", (const void *)dlopen);
    tell_address1("taken", (const void *)cudnnGetErrorString);
    tell_address1("looked up", dlsym(cudnn, "cudnnCreate"));
    tell_address1("middle", (const char *)dlsym(cudnn, "cudnnSetStream") + 1);
    see_address("NULL", NULL);
    dlclose(cudnn);
}

static void walk_down(const char *function) {
    void *frames[64];
    int n = backtrace(frames, 64), reached = 0, above = 0;
    char **texts = backtrace_symbols(frames, n);
    for (int i = 0; i < n; i++) {
        above = above || (!reached && strstr(texts[i], function));
        reached = reached || strstr(texts[i], "(main");
        frames_to_main += !reached;
    }
    see("backtrace", "%s: main is %s, cuDNN %s", function, reached ? "below" : "not found",
        above ? "above" : "not found");
    free(texts);
}

int main(int argc, char **argv) {
    void *handle = NULL;
    whole = argc > 1 && !strcmp(argv[1], "whole");
    if (whole || (argc > 1 && !strcmp(argv[1], "names"))) {
        tell_names();
        cudnnCreate(&handle);
        tell_names();
        return 0;
    }
    backtrace((void *[1]){NULL}, 1); /* loads what it needs */
    answers_inside = walk_down;
    for (int i = 0; i < 2; i++) {
        frames_to_main = 0;
        cudnnCreate(&handle);
        if (argc > 1 && !strcmp(argv[1], "frames"))
            see("backtrace", "%d frames above main", frames_to_main);
    }
    return 0;
}
