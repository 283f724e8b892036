/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where what is known of one process comes from, and the model made of it: a log, a running
 * process, a tree that was scanned, a lock. Everything after it (reports, comparisons) reads this
 * and does not ask which it was.
 */
#pragma once

#include "core/model/stack.h"
#include "tools/util/disk.h"
#include "tools/util/memory.h"
#include "whichcudnn/record.h"

/* What each thread had begun when a log ends: its last request or watched call that nothing later
 * shows as over. For a call that is exact. A request is followed by no record when it succeeds
 * with nothing relevant, so "it was the last one asked for" is all that can be printed. */
struct flight;
struct in_flight { /* all zero: nothing noted yet */
    struct flight *by_thread, *by_request;
};

/* What began last: "cudnnCreate", "dlopen libcudnn.so.9"; *seq: its record (NULL: not wanted).
 * NULL: none. Lives until the next note. */
const char *in_flight_last(const struct in_flight *f, int64_t *seq);
/* If that is a request: the failure that it would be if it came to nothing. False: it is a call.
 * Its texts live until the next note. */
bool in_flight_failure(const struct in_flight *f, struct wc_record *out);
/* Each text (allocated, or NULL) may be replaced by another. */
void in_flight_rewrite(struct in_flight *f, void (*replace)(const void *arg, char **text),
                       const void *arg);

struct log_file;

/* How a process ended, as far as that is known. */
enum wc_end {
    WC_END_UNKNOWN,
    WC_END_RUNS,    /* it still runs, or nothing of it ever did */
    WC_END_NORMAL,  /* by exit, with a status that is not known */
    WC_END_ASSUMED, /* not known; its parent waited for it, and ended well */
    WC_END_WELL,
    WC_END_FAILED /* it, or the command that it belongs to */
};

enum source_type { SOURCE_LOG, SOURCE_PROCESS, SOURCE_SCAN, SOURCE_LOCK };

struct source_request {
    int64_t seq;
    struct wc_request_record r;
};
#define SOURCE_REQUESTS_MOST 65536
#define SOURCE_BESIDE_MOST 4

struct source {
    enum source_type type;
    char *path;                  /* the log; /proc/PID; what was scanned; the lock */
    const struct log_file *file; /* of a log: its damage; else NULL */
    struct heap_arena memory;    /* of the stack */
    struct wc_stack stack;
    bool in_part[WC_KINDS]; /* a lock may lack some of a kind; of the process, variables */
    struct in_flight in_flight;
    size_t records;
    int64_t pid; /* of its first record; of the process */
    int64_t first_time, last_time;
    int64_t last_seq;
    int64_t cut;            /* list elements and bytes of text that the writer left out */
    enum wc_end of_command; /* how that ended which it belongs to: well, failed or not known */
    const char *how;        /* the same in words; NULL: nothing to say */
    enum wc_end end;        /* where it does not say so itself (tools/report/report.c) */
    WC_LIST(source_request, requests); /* in the order of their records; the first of them */
    uid_t user; /* whose rights the process had; 0: the owner of path, if anyone */
    char *root; /* below which its files lie; NULL: this machine's */
    struct library_cache *libraries; /* with what a scan read; NULL: none */
    /* Other programs of the same command, which know cuDNN or CUDA; they must outlive its plans. */
    struct {
        const struct source *p[SOURCE_BESIDE_MOST];
        size_t n;
    } beside;
    bool keep_events;
    /* Every record as it came, for the timeline, perhaps only the first; empty unless keep_events.
     */
    WC_LIST(wc_record, events);
};

/* Never NULL; the path is copied. */
struct source *source_new(enum source_type type, const char *path);
void source_free(struct source *s);
static inline void source_end(struct source **s) {
    if (*s)
        source_free(*s);
}

/* Takes the record, which has its head, into the model. */
void source_take(struct source *s, const struct wc_record *r);
/* Only into the model: it has been counted, or is not of this writer. */
void source_apply(struct source *s, const struct wc_record *r);
/* For a record that the command itself makes: gives it the next number, the time, and the pid of
 * the source (a struct source). */
void source_add(void *source, struct wc_record *r);
struct wc_sink source_sink(struct source *s); /* the same, for core/records/emit.h */

/* Records that were written, by their numbers, and do not exist, damaged ones not counted. */
int64_t source_missing(const struct source *s);

const char *source_type_word(enum source_type type); /* "log", "process", "scan", "lock" */

/* A file of /proc/PID, *n bytes (NULL: not wanted); "": it cannot be read. The caller frees. */
char *proc_text(int64_t pid, const char *name, size_t *n);

/* Its script, by its own name; NULL: it has none (what multiprocessing spawns is a "python -c"). */
const char *source_program(const struct source *s);

enum writer_state {
    WRITER_NOT_KNOWN, /* it was on another machine, or its log does not say when it began */
    WRITER_RUNS,
    WRITER_GONE
};
/* Whether the process that wrote a log still runs, by /proc of this machine. */
enum writer_state writer_state(const struct source *log);

/* The first two records of what the command writes itself: the process as it would be started, or
 * was, and this machine. disk: NULL: this machine's. program, glibc ("2.36"): NULL: unknown.
 * environment: as the process is given it. run_pid: WC_NULL: it was not started by `run`. */
void first_records_emit(const struct wc_sink *to, const struct disk *disk, const char *program,
                        const char *glibc, char *const *environment, int64_t run_pid);
/* The second. kernel: it is this machine's. */
void machine_emit(const struct wc_sink *to, const struct wc_files *files, const char *glibc,
                  bool kernel);

/* Logs of one process: by exec it becomes another program, which has a log of its own. What counts
 * is the last program; one that only pointed to it (a shell, env) is not a process. Counts: a log
 * that has a library or something requested without success. */
bool image_counts(const struct source *log);
/* Of each process the last log that counts, else the last one, in the order they had; after them
 * those that it replaced. How many are the first. */
size_t images_join(struct source **logs, size_t n);
