/* SPDX-License-Identifier: Apache-2.0 */
#include "log_reader.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/demand/questions.h"
#include "core/names/names.h"
#include "former.h"
#include "record_json.h"
#include "tools/util/memory.h"

/* ---- a file that may be packed with gzip or zstd, which its first bytes say ---- */

#define PACKED (64 << 10)

/* A user of zstd has its library, which is as large as half of ours: it is opened when it
 * is wanted. The functions and structs are those of zstd.h, since its 1.0. */
struct zstd_buffer {
    void *data; /* const in a ZSTD_inBuffer */
    size_t size, pos;
};
static struct {
    void *(*createDStream)(void);
    size_t (*freeDStream)(void *stream);
    size_t (*decompressStream)(void *stream, struct zstd_buffer *to, struct zstd_buffer *from);
    unsigned (*isError)(size_t answer);
    const char *(*getErrorName)(size_t answer);
} zstd;

#define FIND(name) (zstd.name = (__typeof__(zstd.name))dlsym(library, "ZSTD_" #name))

static bool open_zstd(void) {
    void *library = zstd.createDStream ? NULL : dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library && FIND(freeDStream) && FIND(decompressStream) && FIND(isError) &&
        FIND(getErrorName))
        FIND(createDStream);
    return zstd.createDStream != NULL;
}

struct unpack {
    gzFile file; /* what is not packed with gzip it gives as it is; NULL: there is no memory */
    bool whole;  /* what was unpacked last ended as it should */
    char *trouble;
    void *stream;          /* of zstd; NULL: not packed with it */
    struct zstd_buffer in; /* of packed: what was read, and how much of it is taken */
};
static unsigned char packed[PACKED]; /* for one file after the other */

/* Reads from fd, which stays the caller's. */
static void unpack_begin(struct unpack *u, int fd) {
    fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    u->file = fd < 0 ? NULL : gzdopen(fd, "r");
    u->in.data = packed;
    u->whole = true;
    gzbuffer(u->file, PACKED);
}

static void unpack_end(struct unpack *u) {
    gzclose_r(u->file);
    if (u->stream)
        zstd.freeDStream(u->stream);
    free(u->trouble);
}

/* Known after the first read. */
static bool unpack_is_packed(const struct unpack *u) {
    return u->stream || (u->file && !gzdirect(u->file));
}

static bool fail(struct unpack *u, const char *what, const char *detail) {
    u->trouble = u->trouble ?: must_format("%s%s", what, detail);
    return false;
}

/* zlib puts the name of the file before its words, for which a descriptor has a number. */
static bool fill(struct unpack *u) {
    const int got = u->file ? gzread(u->file, packed, PACKED) : 0;
    const bool begins = u->in.size == 0; /* else it has what was read before */
    int error;
    const char *words = u->file ? gzerror(u->file, &error) : "", *colon = strstr(words, ": ");

    if (!u->file)
        return fail(u, "there is no memory to unpack it", "");
    if (got < 0)
        return fail(
            u, error == Z_ERRNO ? "" : "its gzip data is damaged: ", colon ? colon + 2 : words);
    if (got == 0 && error == Z_BUF_ERROR)
        return fail(u, "it is packed, and cut off", "");
    u->in.size = (size_t)got;
    u->in.pos = 0;
    if (!begins || got < 4 || memcmp(packed, "\x28\xb5\x2f\xfd", 4) != 0)
        return true;
    if (!open_zstd())
        return fail(u,
                    "it is packed with zstd, and there is no libzstd.so.1 here: unpack it by `zstd "
                    "-d`",
                    "");
    u->stream = zstd.createDStream();
    return u->stream || fail(u, "there is no memory to unpack it", "");
}

/* As read(); archives may stand one after the other. -1: there is trouble. */
static ssize_t unpack_read(struct unpack *u, void *to, size_t n) {
    struct zstd_buffer out = {to, n, 0};

    while (!u->trouble && out.pos == 0) {
        if (u->in.pos == u->in.size && !fill(u))
            break;
        if (u->in.size == 0 && u->whole)
            return 0;
        if (!u->stream) {
            out.pos = n < u->in.size - u->in.pos ? n : u->in.size - u->in.pos;
            memcpy(to, packed + u->in.pos, out.pos);
            u->in.pos += out.pos;
            continue;
        }
        const size_t answer = zstd.decompressStream(u->stream, &out, &u->in);
        u->whole = answer == 0;
        if (zstd.isError(answer))
            fail(u, "its zstd data is damaged: ", zstd.getErrorName(answer));
        else if (out.pos == 0 && u->in.size == 0 && !u->whole)
            fail(u, "it is packed, and cut off", "");
    }
    return u->trouble ? -1 : (ssize_t)out.pos;
}

/* ---- lines ---- */

/* Longer lines than any record are not records; they are skipped without being kept. */
#define LINE_MOST ((size_t)4 * WC_RECORD_MAX)
#define BLOCK (8 * LINE_MOST)
/* A file without one record in so many lines is something else. */
#define PATIENCE 1000

#define TEXTS_SEEN 16384
struct log_texts {
    struct heap_arena memory;
    const char *seen[TEXTS_SEEN];
};

enum line { LINE_READ, LINE_TOO_LONG, LINE_NONE };

struct reading {
    struct unpack from_file;
    bool at_end;
    struct logs *logs;
    struct log_file *file;
    struct source *process;  /* NULL: no record yet */
    struct heap_arena lists; /* of the records being read */
    struct former former;    /* of this process */
    char *other_version;     /* the error for a log that has another; NULL: none yet */
    const char *line;
    size_t n;
    size_t from, to; /* of the block, what is not taken yet */
};

/* For one file after the other: ten thousand of them need not fetch this much from the system. */
static char room[LINE_MOST + 1]; /* texts of a line */
static char block[BLOCK + 1];

/* The line is in->line for in->n bytes, and ends with a newline or a NUL. */
static enum line read_line(struct reading *in) {
    const char *newline;
    bool too_long = false;

    for (;;) {
        in->line = block + in->from;
        in->n = in->to - in->from;
        newline = memchr(in->line, '\n', in->n);
        if (newline || in->at_end || (in->n > LINE_MOST && unpack_is_packed(&in->from_file)))
            break;
        if (in->n > LINE_MOST) {
            too_long = true;
            in->from = in->to;
        }
        memmove(block, block + in->from, in->to - in->from);
        in->to -= in->from;
        in->from = 0;
        const ssize_t n = unpack_read(&in->from_file, block + in->to, BLOCK - in->to);
        in->at_end = n <= 0;
        in->to += n > 0 ? (size_t)n : 0;
        block[in->to] = '\0';
    }
    if (newline)
        in->n = (size_t)(newline - in->line);
    in->from += in->n + (newline != NULL);
    if (!newline && in->n == 0 && !too_long)
        return LINE_NONE;
    in->file->open_end = !newline && in->at_end;
    return too_long || in->n > LINE_MOST ? LINE_TOO_LONG : LINE_READ;
}

static void note_damage(struct log_file *file, const char *reason) {
    if (file->damaged_lines++ < LOG_DAMAGED_TOLD)
        *MUST_ADD(file->damaged.p, file->damaged.n) =
            (struct damaged_line){file->lines, must_copy(reason)};
}

void logs_add(struct logs *logs, struct source *process) {
    *MUST_ADD(logs->processes, logs->process_count) = process;
}

static void take_record(struct reading *in, const struct wc_record *r) {
    struct logs *logs = in->logs;

    if (!in->process || (r->kind == WC_KIND_process && in->process->records > 0)) {
        in->process = source_new(SOURCE_LOG, in->file->path);
        in->process->file = in->file;
        if (!logs->texts) {
            logs->texts = must_allocate(sizeof(*logs->texts));
            heap_arena_begin(&logs->texts->memory);
        }
        in->process->stack.texts =
            (struct wc_texts){&logs->texts->memory.arena, logs->texts->seen, TEXTS_SEEN};
        logs_add(in->logs, in->process);
    }
    in->process->keep_events = logs->events < logs->keep_events;
    logs->events += in->process->keep_events;
    in->file->records++;
    source_take(in->process, r);
}

static void take_line(struct reading *in, enum line how) {
    enum record_read answer = RECORD_READ;
    char trouble[RECORD_TROUBLE];
    json_auto_t *json = NULL;
    json_error_t error;
    struct wc_record r;

    if (how == LINE_TOO_LONG) {
        note_damage(in->file, unpack_is_packed(&in->from_file)
                                  ? "longer than any record; a packed log is read no further"
                                  : "longer than any record");
        return;
    }
    if (!record_from_line(in->line, in->n, room, &in->lists.arena, &r)) {
        json = json_loadb(in->line, in->n, JSON_REJECT_DUPLICATES, &error);
        if (json)
            former_complete(&in->former, json);
        answer = json ? record_from_json(json, &in->lists.arena, &r, trouble) : RECORD_DAMAGED;
    }
    if (answer == RECORD_READ)
        take_record(in, &r);
    else if (answer == RECORD_OTHER_VERSION)
        in->other_version = must_copy(trouble);
    else
        note_damage(in->file, json ? trouble : in->file->open_end ? "cut off" : error.text);
    heap_arena_end(&in->lists);
}

static void free_file(struct log_file *file) {
    WC_EACH(line, file->damaged)
        free(line->reason);
    free(file->damaged.p);
    free(file->path);
    free(file);
}

/* cuDNN aborts where a library that it asked for does not exist, without another word to the
 * loader: the shim could not learn any more that the request had failed. Of libraries of CUDA
 * whatever is loaded is in the log. */
static void infer_failure(struct source *p) {
    struct wc_record r;

    if (p->stack.has_summary || writer_state(p) == WRITER_RUNS ||
        !in_flight_failure(&p->in_flight, &r))
        return; /* it ended as others do, or goes on */
    if (wc_name_kind_of(r.u.failure.name) == WC_NAME_OTHER ||
        WC_ANY(o, p->stack.objects, wc_answers_to(o, r.u.failure.name)) ||
        WC_ANY(f, p->stack.failures, f->r.inferred && f->r.request > r.u.failure.request))
        return; /* or `run` found out why; what the loader said was another thread's */
    r.seq = p->last_seq;
    wc_stack_apply(&p->stack, &r);
}

static bool read_file(struct logs *logs, int fd, const struct stat *facts, const char *path,
                      char **trouble) {
    OWNED struct reading *in = must_allocate(sizeof(*in));
    size_t before = logs->process_count;
    bool goes_on = true;
    enum line how;

    unpack_begin(&in->from_file, fd);
    in->logs = logs;
    heap_arena_begin(&in->lists);
    in->file = must_allocate(sizeof(*in->file));
    in->file->path = must_copy(path);
    in->file->device = facts->st_dev;
    in->file->inode = facts->st_ino;
    while (goes_on && !in->other_version && (how = read_line(in)) != LINE_NONE) {
        in->file->lines++;
        take_line(in, how);
        /* Four GiB of one byte are four MiB when packed. */
        goes_on = (in->file->records > 0 || in->file->damaged_lines < PATIENCE) &&
                  (how != LINE_TOO_LONG || !unpack_is_packed(&in->from_file));
    }
    /* Why nothing of the file counts; NULL: it is a log. */
    *trouble = in->other_version || in->from_file.trouble
                   ? must_copy(in->other_version ?: in->from_file.trouble)
               : in->file->lines == 0 ? must_copy("empty")
               : in->file->records == 0
                   ? must_format("not a log of whichcudnn (line %zu: %s)",
                                 in->file->damaged.p[0].line, in->file->damaged.p[0].reason)
                   : NULL;
    if (*trouble) {
        while (logs->process_count > before)
            source_free(logs->processes[--logs->process_count]);
        free_file(in->file);
    } else {
        *MUST_ADD(logs->files, logs->file_count) = in->file;
        for (size_t i = before; i < logs->process_count; i++)
            infer_failure(logs->processes[i]);
    }
    heap_arena_end(&in->lists);
    former_end(&in->former);
    unpack_end(&in->from_file);
    free(in->other_version);
    return !*trouble;
}

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

int log_open_of(const char *path, bool (*counts)(const void *arg, uid_t owner), const void *arg,
                char **why) {
    int fd = open(path, OPEN_FLAGS | O_NOFOLLOW);
    struct stat facts;

    *why = NULL;
    if (fd < 0 || fstat(fd, &facts) != 0)
        *why = must_copy(errno == ELOOP ? "a link" : strerror(errno));
    else if (!S_ISREG(facts.st_mode))
        *why = must_copy("not a regular file");
    else if (!counts(arg, facts.st_uid))
        *why = must_format("of user %u", (unsigned)facts.st_uid);
    if (*why)
        fd_end(&fd);
    return fd;
}

bool logs_read(struct logs *logs, const char *path, char **trouble) {
    const bool standard_input = strcmp(path, "-") == 0;
    int fd = standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, OPEN_FLAGS);

    return logs_read_descriptor(logs, fd, path, trouble);
}

bool logs_read_descriptor(struct logs *logs, int fd, const char *path, char **trouble) {
    bool standard_input = strcmp(path, "-") == 0, good = false;
    struct stat facts;

    if (fd < 0 || fstat(fd, &facts) != 0)
        *trouble = must_copy(strerror(errno));
    else if (S_ISDIR(facts.st_mode))
        *trouble = must_copy(strerror(EISDIR));
    else if (!S_ISREG(facts.st_mode) && !standard_input)
        *trouble = must_copy("not a regular file");
    else
        good = read_file(logs, fd, &facts, standard_input ? "standard input" : path, trouble);
    fd_end(&fd);
    return good;
}

void logs_end(struct logs *logs) {
    for (size_t i = 0; i < logs->process_count; i++)
        source_free(logs->processes[i]);
    for (size_t i = 0; i < logs->file_count; i++)
        free_file(logs->files[i]);
    if (logs->texts)
        heap_arena_end(&logs->texts->memory);
    free(logs->texts);
    free(logs->processes);
    free(logs->files);
    memset(logs, 0, sizeof(*logs));
}
