/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The latest requests (dlopen, dlmopen) of this process. The shim's lock is held in all functions.
 */
#pragma once

#include "whichcudnn/record.h"

#define REQUESTS_KEPT 128 /* at most 256 */
#define REQUEST_NAME 512

struct request {
    int64_t number; /* 0: free entry */
    int64_t tid, time;
    enum wc_operation operation;
    int flags;  /* with RTLD_NOLOAD it never counts as a failure */
    bool named; /* false: the name is NULL, which is the program itself */
    bool hints; /* the name hints at CUDA or a framework */
    bool cut;   /* the name did not fit: whether an object answers to it is not known */
    bool logged, ended;
    bool answered; /* an object that answers to the name was loaded since */
    bool left_out; /* counted instead of logged */
    uintptr_t return_address;
    const char *caller;    /* path, NULL: not looked up yet */
    int64_t caller_object; /* WC_NULL: not a relevant object */
    char name[REQUEST_NAME];
};

/* Adds a request that is about to be made. caller: its path, which stays valid; NULL: not looked
 * up. Opens the log if the name hints at CUDA or a framework (hints: wc_name_hints of it, which is
 * slow, so it is called once). Writes the record now if the log is open and the same request was
 * not recorded too often. */
struct request *requests_note(enum wc_operation operation, const char *name, int flags,
                              uintptr_t return_address, const char *caller, bool hints);

/* NULL: there is none, or it is no longer kept. */
struct request *requests_find(int64_t number);
/* The newest request of a thread that is not known to have ended. */
struct request *requests_open_of_thread(int64_t tid);
/* The i-th kept entry, newest first; NULL past the last. */
struct request *requests_recent(size_t i);
uint64_t requests_hash(const struct request *r);
/* Writes its record, unless it is written. */
void requests_log(struct request *r);
/* Does the requested name, in the directory of a loaded relevant library, point to the file of that
 * library? Then the loader returned this library, which keeps the name that it was loaded by. */
bool requests_same_file(const struct request *r);

/* How often each request and each failure was recorded: a host may repeat them for ever. */
#define REPEATS_RECORDED 16
uint64_t repeats_hash(enum wc_operation operation, const char *name, int flags,
                      int64_t caller_object);
bool repeats_knows(uint64_t what); /* it was recorded before */
/* Is this record to be left out, because it was written REPEATS_RECORDED times, or there is no room
 * to count it? Counts it as left out, or as written again. matters: it has to do with cuDNN or
 * CUDA, and some room is reserved for it, as a host may request thousands of other names. */
bool repeats_leave_out(enum wc_kind kind, uint64_t what, bool matters);
