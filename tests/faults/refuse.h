/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters on the system calls that the shim itself makes: those whose instruction lies in its text,
 * while elsewhere in the process nothing changes; and on those of the whole process. libseccomp
 * does not elf_file at the instruction's address, so the filter is written by hand.
 */
#ifndef FAULTS_REFUSE_H
#define FAULTS_REFUSE_H

#include <errno.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct text_range {
    uintptr_t start, end;
};

static inline int find_shim(struct dl_phdr_info *info, size_t size, void *range) {
    struct text_range *r = range;
    (void)size;
    if (!info->dlpi_name || !strstr(info->dlpi_name, "libwhichcudnn"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
            r->start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            r->end = r->start + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

#define REFUSE_MOST 300
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_AT(field, more)                                                                       \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field) + (more))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))

struct program {
    struct sock_filter code[REFUSE_MOST];
    unsigned short n;
};

static void add(struct program *p, struct sock_filter one) {
    if (p->n == REFUSE_MOST)
        abort();
    p->code[p->n++] = one;
}

/* Let pass what is called from outside of the range. A range within 4 GiB of one upper half. */
static inline void only_inside(struct program *p, const struct text_range *r) {
    uint32_t high = (uint32_t)(r->start >> 32);
    if (r->end >> 32 != high)
        abort();
    add(p, (struct sock_filter)LOAD_AT(instruction_pointer, 4));
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high, 1, 0));
    add(p, (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
    add(p, (struct sock_filter)LOAD(instruction_pointer));
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)r->start, 1, 0));
    add(p, (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)r->end, 0, 1));
    add(p, (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
    add(p, (struct sock_filter)LOAD(nr));
}

/* All but those in the list ends the process. */
static void add_list(struct program *p, const char *numbers) {
    unsigned n = 1;
    for (const char *s = numbers; (s = strchr(s, ',')); s++)
        n++;
    if (n > 250)
        abort();
    for (const char *s = numbers; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
        add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)atoi(s),
                                            (unsigned char)n--, 0));
    add(p, (struct sock_filter)ANSWER(SECCOMP_RET_KILL_PROCESS));
    add(p, (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
}

/*
 * "NUMBER:ERRNO" refuses that call; "all:ERRNO" refuses every one; "beyond:N,N,..." ends the
 * process at any that is not in the list.
 */
static void add_answers(struct program *p, const char *what) {
    if (!strncmp(what, "beyond:", 7)) {
        add_list(p, what + 7);
        return;
    }
    uint32_t answer = SECCOMP_RET_ERRNO | (uint32_t)atoi(strchr(what, ':') + 1);
    if (strncmp(what, "all:", 4)) {
        add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)atoi(what), 1, 0));
        add(p, (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
    }
    add(p, (struct sock_filter)ANSWER(answer));
}

static void install(const struct program *p) {
    struct sock_fprog program = {p->n, (struct sock_filter *)p->code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        abort();
}

/* Without the shim in the process there is nothing to refuse. */
static inline void refuse_in_shim(const char *what) {
    struct text_range range = {0, 0};
    struct program p = {.n = 0};
    dl_iterate_phdr(find_shim, &range);
    if (!range.end)
        return;
    only_inside(&p, &range);
    add_answers(&p, what);
    install(&p);
}

static inline void refuse_everywhere(const char *what) {
    struct program p = {.n = 0};
    add(&p, (struct sock_filter)LOAD(nr));
    add_answers(&p, what);
    install(&p);
}

#endif
