/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of this process: which of them have to do with cuDNN, what they are, where they lie.
 * The shim's lock is held in all functions; those marked (callback) are called while the loader's
 * list is walked.
 */
#pragma once

#include <link.h>

#include "core/base/hash.h"
#include "core/elf/elf_image.h"
#include "core/names/version.h"
#include "whichcudnn/record.h"

struct slot;

/* One relevant object. Never freed: a reload of the same file takes its entry again. */
struct object {
    int64_t number; /* of its records */
    enum wc_role role;
    bool is_host; /* imports or defines listed functions and is no cuDNN library */
    bool imports; /* imports listed functions */
    bool defines; /* defines listed functions */
    bool mapped;
    bool gone;                 /* was unmapped since the last walk, mapped again or not */
    bool described;            /* its records are written */
    bool needed_due;           /* but for what it needs and was there before */
    unsigned untouched;        /* as the loader had just mapped it, in that look (readable.h) */
    bool program;              /* the main program */
    unsigned char told;        /* how often mapping and unmapping were written */
    char part[40];             /* part or CUDA dependency */
    const char *framework;     /* whose main library it is, NULL: none's */
    int major;                 /* of cuDNN: a library's own, a host's demand; -1 unknown */
    uintptr_t base, low, high; /* load bias and mapped range [low, high) */
    const char *path;          /* as the loader has it; the program's is its real path */
    const char *soname;        /* in our memory, NULL: none */
    struct wc_elf_image image; /* valid while mapped */
    uint64_t strings;          /* hash of its first names */
    struct slot *slots;        /* shim/slots.h */
    size_t slot_count, slot_room;
    bool slots_known;

    struct wc_version asked_version; /* seen in the names of parts that it asked for */
    enum wc_operation asked_how;
    const char *asked_by;
    int64_t asked_by_object, request;
    const char *asked_name;
    uint64_t device, inode, file_size;
    int64_t mtime;
};

/* The relevant, mapped object that an address lies in, NULL if there is none. Also without the
 * lock, for what never changes of it. */
struct object *objects_at(uintptr_t address);
struct object *objects_number(int64_t number);
/* What is mapped and answers to that name; NULL: nothing relevant does. */
const struct object *objects_named(const char *name);
/* The i-th relevant object, mapped or not; NULL past the last. */
struct object *objects_get(size_t i);
/* Is it a cuDNN library: facade or part? */
static inline bool object_is_cudnn(const struct object *o) {
    return o->role == WC_role_FACADE || o->role == WC_role_PART;
}
/* Bits of bases where objects were that did not matter: others may be there since the last full
 * walk. */
extern __attribute__((visibility("hidden"))) uint64_t objects_gone_at;
static inline uint64_t object_base_bit(uintptr_t base) {
    return UINT64_C(1) << wc_hash_word(WC_HASH_START, base) % 64;
}
/* Was its file mapped so often that more of the same would only fill the disk? */
bool object_is_emitted_enough(const struct object *o);

/* The image of an object as far as its names of libraries go: what it needs, its own, its search
 * path. */
bool objects_names(struct wc_elf_image *e, const struct link_map *m);
/* Could the object be relevant? From its dynamic section alone. (callback) */
bool objects_may_matter(const struct link_map *m);
/* A full walk: begin, see each object, end. end marks what was not seen as unmapped. (callback) */
void objects_walk_begin(void);
void objects_walk_see(const struct dl_phdr_info *info);
void objects_walk_end(void);
/* The relevant object that info describes, NULL if it is none. (callback) */
struct object *objects_find(const struct dl_phdr_info *info);
/* Makes the object at an address a host, whatever its imports (it loads cuDNN with dlopen or looks
 * its functions up). (callback) */
struct object *objects_promote(const struct dl_phdr_info *info);
/* Its path in our memory. (callback) */
const char *objects_path_of(const struct dl_phdr_info *info);
/* The program's, which has no name in the loader's list; inside: an address in it. NULL: not known.
 */
const char *objects_program_path(uintptr_t inside);
/* Is there anything relevant that has no records yet? */
bool objects_have_news(void);
/* All of it has records now. */
void objects_emitted(void);
/* Is there news that makes the log appear (a cuDNN library or a host)? */
bool objects_have_relevant_news(void);
/* Is a framework's main library among the news? */
bool objects_have_framework_news(void);

/* Everything is to be looked at anew (the tables may be half changed). */
void objects_forget(void);
