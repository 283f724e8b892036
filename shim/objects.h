/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relevant objects of this process, which have to do with cuDNN: what they are and where they
 * are mapped. The shim's lock is held in all functions. Functions marked (callback) are called
 * while rescan.c walks the loader's list.
 */
#pragma once

#include <link.h>

#include "core/base/hash.h"
#include "core/records/library.h"

struct slot;

/* One relevant object. Never freed: a reload of the same file takes its entry again. */
struct object {
    struct wc_library l;   /* without image, real path and identity: these are for its records */
    bool gone;             /* was unmapped since the last walk, mapped again or not */
    bool described;        /* its records are written */
    bool needed_due;       /* except for its needs that were loaded before it */
    unsigned untouched;    /* look in which none of its code had run; 0: none (readable.h) */
    bool program;          /* the main program */
    unsigned char records; /* number of its records, for mapping and unmapping */
    int major;             /* of cuDNN: a library's own, a host's demand; -1 unknown */
    uintptr_t base, low, high; /* load bias and mapped range [low, high) */
    const char *soname;        /* in our memory, NULL: none */
    struct wc_elf_image image; /* valid while mapped */
    uint64_t strings;          /* hash of its first names */
    struct slot *slots;        /* shim/slots.h */
    size_t slot_count, slot_room;
    bool slots_known;

    struct wc_version asked_version; /* seen in the names of parts that it requested */
};

/* The relevant, mapped object that an address is in, NULL if there is none. Needs no lock, if the
 * caller reads only fields that never change. */
struct object *objects_at(uintptr_t address);
struct object *objects_number(int64_t number);
/* The relevant, mapped object that answers to a name; NULL: there is none. */
const struct object *objects_named(const char *name);
/* The i-th relevant object, mapped or not; NULL past the last. */
struct object *objects_get(size_t i);
/* Is it a cuDNN library: facade or part? */
static inline bool object_is_cudnn(const struct object *o) {
    return o->l.role == WC_role_FACADE || o->l.role == WC_role_PART;
}
static inline bool object_is_of_file(const struct object *o, const struct wc_file_stat *file) {
    return o->l.inode == (int64_t)file->inode && o->l.device == (int64_t)file->device;
}
/* A set, as a Bloom filter, of load addresses where irrelevant objects were unloaded since the last
 * full walk: other objects may be there now. */
extern __attribute__((visibility("hidden"))) uint64_t objects_gone_at;
static inline uint64_t object_base_bit(uintptr_t base) {
    return UINT64_C(1) << wc_hash_word(WC_HASH_START, base) % 64;
}
/* Was its file mapped so often that further records would only fill the disk? */
bool object_is_emitted_enough(const struct object *o);

/* A full walk: begin, see each object, end, which marks objects that were not seen as unmapped.
 * (callback) */
void objects_walk_begin(void);
void objects_walk_see(const struct dl_phdr_info *info);
void objects_walk_end(void);
/* The relevant object that info describes, NULL if it is none. (callback) */
struct object *objects_find(const struct dl_phdr_info *info);
/* Makes an object a host, whatever its imports: it opens cuDNN or looks its functions up.
 * (callback)
 */
struct object *objects_promote(const struct dl_phdr_info *info);
/* Its path in our memory. (callback) */
const char *objects_path_of(const struct dl_phdr_info *info);
/* The path of the program, which has no name in the loader's list. inside: an address in it. NULL:
 * not known. */
const char *objects_program_path(uintptr_t inside);
/* Is there news: a relevant object without its records? */
bool objects_have_news(void);
/* Is there news that opens the log: a cuDNN library or a host? */
bool objects_have_relevant_news(void);
/* Is a framework's main library among the news? */
bool objects_have_framework_news(void);

/* Forgets all objects: the tables may be half changed. */
void objects_forget(void);
