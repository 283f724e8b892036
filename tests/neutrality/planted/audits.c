/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An audit library as debuggers and profilers of loading are: it writes what the loader tells it
 * into the file that NEUTRALITY_AUDIT names. It calls no function of dl*, and lives in a namespace
 * of its own.
 */
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void emit(const char *what, const char *name, const char *more) {
    char line[8192];
    const char *path = getenv("NEUTRALITY_AUDIT");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (fd < 0)
        return;
    int length = snprintf(line, sizeof line, "%s %.6000s%s\n", what, name, more);
    if (write(fd, line, (size_t)length) != length)
        abort();
    close(fd);
}

static const char *name_of(const uintptr_t *cookie) {
    return ((const struct link_map *)*cookie)->l_name;
}

unsigned la_version(unsigned version) {
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie) {
    *cookie = (uintptr_t)map;
    emit("opened", map->l_name, namespace == LM_ID_BASE ? "" : " elsewhere");
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
    (void)cookie;
    emit("looked for", name, flag == LA_SER_ORIG ? " as asked" : "");
    return (char *)name;
}

void la_activity(uintptr_t *cookie, unsigned flag) {
    (void)cookie;
    emit("list is",
         flag == LA_ACT_ADD      ? "to grow"
         : flag == LA_ACT_DELETE ? "to shrink"
                                 : "at rest",
         "");
}

unsigned la_objclose(uintptr_t *cookie) {
    emit("closed", name_of(cookie), "");
    return 0;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
                       unsigned *flags, const char *name) {
    (void)index;
    char more[1024];
    if (!strncmp(name, "cudnn", 5)) {
        snprintf(more, sizeof more, " of '%.400s' to '%.400s'%s", name_of(from), name_of(to),
                 *flags & LA_SYMB_DLSYM ? ", looked up" : "");
        emit("bound", name, more);
    }
    return symbol->st_value;
}
