/* SPDX-License-Identifier: Apache-2.0 */
#include "log_watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "tools/log/log_reader.h"
#include "tools/util/hash.h"
#include "tools/util/memory.h"

#define CHUNK ((size_t)64 * 1024)
#define FINDING "\"kind\":\"finding\""

struct grown {
    UT_hash_handle hh;
    char *name;
    off_t seen;   /* so far it was read */
    bool foreign; /* another command's */
};

struct log_watch {
    int fd;
    const struct log_place *place;
    struct grown *files;
    char chunk[CHUNK + 1];
};

struct log_watch *log_watch_begin(const struct log_place *place) {
    struct log_watch *w;
    int fd = place->directory ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;

    if (fd < 0)
        return NULL;
    if (inotify_add_watch(fd, place->directory, IN_MODIFY | IN_ONLYDIR) < 0) {
        close(fd);
        return NULL;
    }
    w = must_allocate(sizeof(*w));
    w->fd = fd;
    w->place = place;
    return w;
}

int log_watch_descriptor(const struct log_watch *w) {
    return w->fd;
}

static struct grown *file_of(struct log_watch *w, const char *name) {
    struct grown *file;

    file = hash_find_text(w->files, name);
    if (!file) {
        file = must_allocate(sizeof(*file));
        file->name = must_copy(name);
        hash_add(&w->files, file, file->name, strlen(file->name));
    }
    return file;
}

static bool has_number(const char *line, const char *key, pid_t number) {
    const char *at = strstr(line, key);

    return at && strtoll(at + strlen(key), NULL, 10) == number;
}

/* The first record says whose log it is; where one file was named, it may hold several. */
static bool is_foreign(const struct log_watch *w, pid_t child) {
    return strcmp(w->place->prefix, "whichcudnn-") == 0 && strchr(w->chunk, '\n') &&
           !has_number(w->chunk, "\"pid\":", child) && !has_number(w->chunk, "\"run_pid\":", child);
}

/* A mark may lie across two reads: the next one begins a little before the end of the last. */
static bool read_on(struct log_watch *w, struct grown *file, int fd, pid_t child) {
    const ssize_t overlap = sizeof(FINDING) - 2;
    bool found = false;
    ssize_t n;

    while ((n = pread(fd, w->chunk, CHUNK, file->seen)) > overlap) {
        w->chunk[n] = '\0';
        file->foreign = file->seen == 0 && is_foreign(w, child);
        if (file->foreign)
            return false;
        found = found || memmem(w->chunk, (size_t)n, FINDING, sizeof(FINDING) - 1);
        file->seen += n - overlap;
    }
    return found;
}

static bool is_of_family(const void *family, uid_t owner) {
    return family_has_user(family, owner);
}

static bool has_news(struct log_watch *w, const struct family *family, const char *name,
                     pid_t child) {
    struct grown *file = file_of(w, name);
    char *path, *why;
    bool found;
    int fd;

    if (file->foreign)
        return false;
    path = must_format("%s/%s", w->place->directory, name);
    fd = log_open_of(path, is_of_family, family, &why);
    free(path);
    free(why);
    if (fd < 0)
        return false;
    found = read_on(w, file, fd, child);
    close(fd);
    return found;
}

bool log_watch_read(struct log_watch *w, const struct family *family, pid_t child) {
    _Alignas(struct inotify_event) char events[8192];
    const struct inotify_event *e, *before;
    bool found = false;
    ssize_t n;

    while ((n = read(w->fd, events, sizeof(events))) > 0) {
        before = NULL;
        for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*e) + e->len)) {
            e = (const struct inotify_event *)(events + at);
            if (e->mask & IN_Q_OVERFLOW)
                found = true; /* some may have been lost: it has to be looked at */
            else if (e->len > 0 && !(before && strcmp(before->name, e->name) == 0) &&
                     strncmp(e->name, w->place->prefix, strlen(w->place->prefix)) == 0)
                found = has_news(w, family, e->name, child) || found;
            before = e->len > 0 ? e : NULL;
        }
    }
    return found;
}

void log_watch_end(struct log_watch *w) {
    struct grown *file, *next;

    if (!w)
        return;
    HASH_ITER(hh, w->files, file, next) {
        hash_remove(&w->files, file);
        free(file->name);
        free(file);
    }
    close(w->fd);
    free(w);
}
