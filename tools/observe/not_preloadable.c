/* SPDX-License-Identifier: Apache-2.0 */
#include "not_preloadable.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tools/observe/elf/elf_file.h"
#include "tools/util/memory.h"

#define HEAD_SIZE 4096 /* a kernel reads the program headers from the first page, too */
#define SCRIPT_DEPTH 4 /* as deep as the kernel goes (fs/exec.c) */

struct head {
    unsigned char bytes[HEAD_SIZE + 1];
    size_t n;
};

char *find_program(const char *name, const char *list, const char *directory) {
    struct stat facts;

    WC_EACH_ELEMENT(e, strchr(name, '/') ? "" : list, ":") {
        OWNED char *in = must_format("%.*s%s%s", (int)e.n, e.p, e.n ? "/" : "", name);
        char *path =
            in[0] == '/' || !directory ? must_copy(in) : must_format("%s/%s", directory, in);
        if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

/* The loader of a program; "" if it has none, NULL if the headers are not whole. */
static const char *interpreter(const struct head *head) {
    Elf64_Ehdr e;
    Elf64_Phdr p;

    memcpy(&e, head->bytes, sizeof(e));
    for (size_t i = 0; i < e.e_phnum; i++) {
        if (e.e_phoff > head->n || head->n - e.e_phoff < (i + 1) * sizeof(p))
            return NULL;
        memcpy(&p, head->bytes + e.e_phoff + i * sizeof(p), sizeof(p));
        if (p.p_type == PT_INTERP)
            return p.p_offset < head->n ? (const char *)head->bytes + p.p_offset : NULL;
    }
    return "";
}

/* The loader ignores LD_PRELOAD with a path where the kernel says AT_SECURE. */
char *unobserved_rights(const char *path) {
    struct stat facts;

    if (getuid() == 0 || stat(path, &facts) != 0)
        return NULL;
    if ((facts.st_mode & S_ISUID && facts.st_uid != getuid()) ||
        (facts.st_mode & S_ISGID && facts.st_mode & S_IXGRP && facts.st_gid != getgid()))
        return must_format("%s runs with another user's or group's rights (set-id): the loader "
                           "preloads nothing into it",
                           path);
    if (getxattr(path, "security.capability", NULL, 0) > 0)
        return must_format("%s has file capabilities: the loader preloads nothing into it", path);
    return NULL;
}

/* *next: the interpreter of a script's first line; NULL: it is none. */
static char *file_reason(const char *path, char **next) {
    OWNED_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct head head = {.n = 0};
    const char *line = (const char *)head.bytes, *loader;
    ssize_t n = fd < 0 ? -1 : pread(fd, head.bytes, HEAD_SIZE, 0);
    Elf64_Ehdr e;

    *next = NULL;
    head.n = n > 0 ? (size_t)n : 0;
    if (head.n >= sizeof(e) && memcmp(head.bytes, ELFMAG, SELFMAG) == 0) {
        memcpy(&e, head.bytes, sizeof(e));
        if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_machine != OWN_MACHINE)
            return must_format("%s is a program for another architecture than the shim", path);
        loader = interpreter(&head);
        if (loader && !*loader)
            return must_format(
                "%s is linked statically: no dynamic loader preloads anything into it", path);
        if (loader && strstr(loader, "ld-musl"))
            return must_format("%s is a program for musl, and the shim is for glibc", path);
    } else if (head.n >= 2 && memcmp(line, "#!", 2) == 0) {
        line += 2 + strspn(line + 2, " \t");
        *next = must_format("%.*s", (int)strcspn(line, " \t\n"), line);
        return NULL;
    }
    return unobserved_rights(path);
}

char *unobserved_reason(const char *command, char **program) {
    const char *list = getenv("PATH");
    char *path = find_program(command, list ? list : "/bin:/usr/bin", NULL), *next, *reason = NULL;

    *program = NULL;
    for (int depth = 0; path && !reason && depth <= SCRIPT_DEPTH; depth++) {
        reason = file_reason(path, &next);
        free(*program);
        *program = path;
        path = next;
    }
    free(path);
    return reason;
}
