/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process asked the loader for, and which request a new object belongs to. The shim's
 * lock is held in all functions.
 */
#pragma once

#include "whichcudnn/record.h"

#define REQUESTS_KEPT 128 /* at most 256 */
#define REQUEST_NAME 512

struct request {
    int64_t number; /* 0: free entry */
    int64_t tid, time;
    enum wc_operation operation;
    int flags;
    bool no_load; /* RTLD_NOLOAD: a question, never a failure */
    bool named;   /* false: NULL was asked for, the program itself */
    bool hints;   /* the name hints at CUDA or a framework */
    bool cut;     /* the name did not fit: what answers to it is not known */
    bool logged, ended;
    bool answered; /* something that fits was seen since */
    bool left_out; /* counted instead of logged */
    uintptr_t return_address;
    const char *caller;    /* path, NULL: not looked up yet */
    int64_t caller_object; /* WC_NULL: not a relevant object */
    char name[REQUEST_NAME];
};

/* Notes a dlopen that is about to be made; the caller's path, which stays, NULL if it was
 * not looked up. Written
 * ahead if the log is open and the same was not told too often; opens it where the name hints at
 * CUDA or a framework (wc_name_hints, which costs more than all else here: asked once). */
struct request *requests_note(enum wc_operation operation, const char *name, int flags,
                              uintptr_t return_address, const char *caller, bool hints);

/* NULL: none, or too long ago. */
struct request *requests_find(int64_t number);
/* The newest request of a thread that is not known to have ended. */
struct request *requests_open_of_thread(int64_t tid);
/* The i-th kept entry, newest first; NULL past the last. */
struct request *requests_recent(size_t i);
uint64_t requests_hash(const struct request *r);
/* Writes it if it was not written ahead. */
void requests_log(struct request *r);
/* Is there a library of cuDNN or CUDA beside which the request's name leads to the very same file?
 * Then the loader took that one, which keeps the name that it was first loaded by. */
bool requests_same_file(const struct request *r);
