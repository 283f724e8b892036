/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reloads STEP...: loads and unloads libraries, by letters for handles:
 *   a=FILE  opens it ("a=now:FILE", "a=global:FILE", "a=nodelete:FILE")   -a  closes it
 *   a       runs host_run of it                   a.FUNCTION  looks it up in it, calls it, keeps it
 *   .a      calls what was looked up in it last   ?FILE       is it still there
 *   !a      fills the place of its file, so that the next one comes to another address
 *   a:b     is what both have looked up the same  #a          opened again, is it the same handle
 *   <FILE   renames FILE.new to it
 */
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "see.h"

typedef size_t version_function(void);
static void *handles[128];
static version_function *found[128];
static char files[128][200];
static uintptr_t low[128];

static int flags_of(const char **name) {
    static const struct {
        const char *word;
        int flags;
    } words[] = {{"now:", RTLD_NOW},
                 {"global:", RTLD_LAZY | RTLD_GLOBAL},
                 {"nodelete:", RTLD_LAZY | RTLD_NODELETE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(*name, words[i].word, strlen(words[i].word))) {
            *name += strlen(words[i].word);
            return words[i].flags;
        }
    return RTLD_LAZY;
}

static void open_it(int at, const char *name) {
    int flags = flags_of(&name);
    handles[at] = see_open(name, flags);
    snprintf(files[at], sizeof files[at], "%s", name);
    if (handles[at])
        low[at] = ((struct link_map *)handles[at])->l_addr;
}

static void look_up(int at, const char *function) {
    found[at] = (version_function *)see_sym(handles[at], function);
    if (found[at])
        see("calls", "%c %zu", at, found[at]());
}

static void run(int at) {
    long (*host)(void) = (long (*)(void))dlsym(handles[at], "host_run");
    if (host)
        host();
}

/* Nothing is there any more: what is mapped there now keeps the next library away. */
static void fill_place(int at) {
    void *page = mmap((void *)low[at], 4096, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    see("place", "%c %s", at, page == (void *)low[at] ? "filled" : "not free");
}

static void step(const char *s) {
    int at = s[0] & 127;
    if (at == '?')
        see_mapped(s + 1);
    else if (at == '-')
        see_close(s + 1, handles[s[1] & 127]);
    else if (at == '.')
        see("calls", "%s %zu", s + 1, found[s[1] & 127]());
    else if (at == '!')
        fill_place(s[1] & 127);
    else if (at == '#')
        see("handle", "%s %s", s + 1,
            dlopen(files[s[1] & 127], RTLD_LAZY) == handles[s[1] & 127] ? "same" : "another");
    else if (at == '<') {
        char other[240];
        snprintf(other, sizeof other, "%s.new", s + 1);
        if (rename(other, s + 1) != 0)
            abort();
    } else if (s[1] == '=')
        open_it(at, s + 2);
    else if (s[1] == '.')
        look_up(at, s + 2);
    else if (s[1] == ':')
        see("address", "%s %s", s, found[at] == found[s[2] & 127] ? "same" : "another");
    else
        run(at);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        step(argv[i]);
    return 0;
}
