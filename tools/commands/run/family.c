/* SPDX-License-Identifier: Apache-2.0 */
#include "family.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/names/names.h"
#include "core/records/process.h"
#include "tools/observe/log/source.h"
#include "tools/util/below.h"

#define DEPTH_MOST 64 /* generations; a chain in /proc that changes meanwhile could be a ring */
#define LOOKED_AT_MOST 4096   /* processes of one look */
#define PIDFD_SEND_SIGNAL 424 /* younger than the C library's headers may be; alike everywhere */
#define PIDFD_OPEN 434
#define STAT_MOST 4095 /* bytes */

/* ---- /proc ---- */

/* The last of the four: as which its files are made. */
static bool read_user(pid_t pid, uid_t *user) {
    OWNED char *status = proc_text(pid, "status", STAT_MOST);
    const char *line = strstr(status, "\nUid:");
    char *at = line ? (char *)line + strlen("\nUid:") : NULL;

    if (!line)
        return false;
    for (int i = 0; i < 4; i++)
        *user = (uid_t)strtoul(at, &at, 10);
    return true;
}

static pid_t read_parent(pid_t pid, int64_t *start_ticks) {
    OWNED char *stat = proc_text(pid, "stat", STAT_MOST);

    *start_ticks = wc_start_ticks(stat);
    return (pid_t)strtol(wc_stat_field(stat, 4), NULL, 10);
}

/* ---- whose logs count ---- */

bool family_has_user(const void *family, uid_t user) {
    const struct family *f = family;

    for (size_t i = 0; i < f->user_count; i++)
        if (f->users[i] == user)
            return true;
    return false;
}

static void add_user(struct family *f, uid_t user) {
    if (!family_has_user(f, user))
        *MUST_ADD(f->users, f->user_count) = user;
}

void family_begin(struct family *f) {
    memset(f, 0, sizeof(*f));
    f->last_user = geteuid();
    add_user(f, f->last_user);
}

void family_end(struct family *f) {
    for (size_t i = 0; i < f->with_cudnn_count; i++)
        free(f->with_cudnn[i].library);
    free(f->with_cudnn);
    free(f->users);
    free(f->seen_program);
}

/* ---- looking at all of them ---- */

static void look_at_maps(struct family *f, pid_t pid, uid_t user) {
    OWNED char *name = must_format("/proc/%d/maps", (int)pid), *line = NULL;
    OWNED_FILE FILE *from = NULL;
    size_t room = 0;
    ssize_t n;

    for (size_t i = 0; i < f->with_cudnn_count; i++)
        if (f->with_cudnn[i].pid == pid)
            return;
    from = fopen(name, "re");
    while (from && (n = getline(&line, &room, from)) > 0) {
        const char *path = strchr(line, '/');
        line[n - (line[n - 1] == '\n')] = '\0';
        if (path && wc_name_kind_of(path) == WC_NAME_FACADE) {
            *MUST_ADD(f->with_cudnn, f->with_cudnn_count) =
                (struct relative){pid, user, must_copy(path)};
            return;
        }
    }
}

void family_look(struct family *f, pid_t command) {
    pid_t *all = NULL;
    size_t n = 0;
    uid_t user;
    char word[24];

    *MUST_ADD(all, n) = command;
    for (size_t i = 0; i < n; i++) {
        OWNED char *process = must_format("/proc/%d", (int)all[i]);
        OWNED_GLOB glob_t children = glob_below("", process, "/task/*/children", GLOB_NOSORT);
        if (read_user(all[i], &user)) {
            add_user(f, user);
            look_at_maps(f, all[i], user);
        }
        for (size_t k = 0; k < children.gl_pathc; k++) {
            OWNED_FILE FILE *from = fopen(children.gl_pathv[k], "re");
            while (from && n < LOOKED_AT_MOST && fscanf(from, "%23s", word) == 1)
                *MUST_ADD(all, n) = (pid_t)strtol(word, NULL, 10);
        }
    }
    free(all);
}

static void read_name(pid_t pid, char name[16]) {
    OWNED char *stat = proc_text(pid, "stat", STAT_MOST);
    const char *begin = strchr(stat, '('), *end = strrchr(stat, ')');

    if (begin && end)
        snprintf(name, 16, "%.*s", (int)(end - begin - 1), begin + 1);
}

void family_note_program(struct family *f, pid_t command) {
    OWNED char *name = must_format("/proc/%d/exe", (int)command);
    char path[4096];
    ssize_t n = readlink(name, path, sizeof(path) - 1);

    if (n <= 0)
        return;
    path[n] = '\0';
    free(f->seen_program);
    f->seen_program = must_copy(path);
    read_name(command, f->seen_name);
}

void family_look_last(struct family *f, pid_t command) {
    if (!read_user(command, &f->last_user))
        return;
    add_user(f, f->last_user);
    read_name(command, f->last_name);
}

bool family_is_last(const struct family *f, const char *path) {
    return path && f->last_name[0] &&
           strncmp(wc_base_name(path), f->last_name, sizeof(f->last_name) - 1) == 0;
}

/* ---- which processes may be signalled ---- */

/* While the descriptor does not report an end, the number meant this process all along. */
bool family_hold(pid_t command, int64_t pid, int64_t start_ticks, struct held_process *out) {
    struct pollfd has_ended = {.events = POLLIN};
    int64_t ticks, of_parent;
    pid_t at;

    if (pid <= 1 || pid > INT32_MAX)
        return false;
    out->pid = (pid_t)pid;
    out->fd = (int)syscall(PIDFD_OPEN, out->pid, 0);
    if (out->fd < 0 && errno != ENOSYS && errno != EPERM)
        return false;
    has_ended.fd = out->fd; /* poll passes a negative one over */
    at = read_parent(out->pid, &ticks);
    for (int i = 0; i < DEPTH_MOST && at > 1 && at != command; i++)
        at = read_parent(at, &of_parent);
    if (ticks != WC_NULL && ticks == start_ticks && at == command && poll(&has_ended, 1, 0) == 0)
        return true;
    held_process_end(out);
    return false;
}

void held_process_end(const struct held_process *p) {
    if (p->fd >= 0)
        close(p->fd);
}

void held_process_signal(const struct held_process *p, int signal) {
    if (p->fd >= 0)
        syscall(PIDFD_SEND_SIGNAL, p->fd, signal, NULL, 0);
    else
        kill(p->pid, signal);
}
