/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wheels of a site-packages as the disk has them: what they list, and what they require. Each
 * site is read once for all of a plan.
 */
#pragma once

#include "core/base/files.h"
#include "tools/util/memory.h"

struct requirements {
    struct requirement {
        const char *by;      /* of which wheel: "torch-2.9.0.dist-info" */
        const char *package; /* "nvidia-cudnn-cu12", however it is written there */
        const char *spec;    /* "<10,>=9.8", without blanks; "": any release */
        bool extra;          /* with an option that not all request */
    } * p;
    size_t n;
};

struct site {
    struct site *next;
    const char *path;
    struct site_wheel {
        const char *info;
        char *record; /* its list of files; NULL: not read yet */
    } * p;
    size_t n;
    struct requirements requires;
};

struct sites { /* zero at first */
    struct site *first;
    struct heap_arena memory;
};

struct site_file {
    const char *info;
    const char *path; /* below the site */
    uint64_t size;    /* in bytes; 0: not stated */
};

/* The list of files of a wheel, by its dist-info folder: RECORD; where that is gone, what the
 * wheels of NVIDIA's of that release have. NULL: neither is known. */
char *site_record(struct wc_arena *memory, const struct wc_files *files, const char *folder);
/* files: of the disk, without any change. Lives until sites_end(). */
struct site *site_of(struct sites *sites, const struct wc_files *files, const char *path);
/* The files of that name on the lists of its wheels: how many, up to most. */
size_t site_listed(struct sites *sites, const struct wc_files *files, struct site *site,
                   const char *name, struct site_file *out, size_t most);
/* Adds those of a METADATA, which is changed; NULL: there are none. The list is freed by the
 * caller. */
void requirements_add(struct requirements *to, struct wc_arena *memory, const char *by,
                      char *metadata);
/* Of a library of CUDA's, and always: what others are made of is not known. */
bool requirement_is_known(const struct requirement *q);
/* A release that it does not accept? */
bool requirement_refuses(const struct requirement *q, const char *version);
/* As package managers take a set of releases: "<10, >=9.8" without the blank. */
const char *without_blanks(struct wc_arena *memory, const char *text, size_t n);
void sites_end(struct sites *sites);
