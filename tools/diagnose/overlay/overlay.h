/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files and the start variables of a process as edits would leave them: files that are gone, or
 * are there in memory, links. All of core reads through it as through a disk.
 */
#pragma once

#include "tools/diagnose/edit.h"
#include "tools/diagnose/entries.h"
#include "tools/diagnose/wheels.h"

struct overlay {
    struct heap_arena memory;
    struct view view; /* with all that the overlay has of the files */
    struct library_cache *library_cache;
    struct sites *sites;          /* what the disk has of packages */
    struct entries environment;   /* NAME=value */
    struct entries first;         /* files that are opened before anything is asked for */
    struct entries first_asked;   /* modules whose requests come before all others */
    const char *why;              /* an edit could not be applied; NULL: all were */
    const struct wc_stack *stack; /* of the process; NULL: no package is its own */
    const char *idle;             /* the same, where it would change nothing */
    const char *open;             /* the same, where a package manager may know more */
    const char *breaks; /* whose requirement is not met then: "torch 2.9.0 requires ==9.20.0.48" */
    const char *lacks;  /* a package that goes, or becomes what another one does not accept */
    const char *refused_by; /* that one: "torch 2.9.0 requires nvidia-cudnn-cu13==9.20.0.48" */
    bool changes;           /* something of all this is another way than it was */
    bool changes_files;
};

/* Over that cache's disk, until overlay_end; one at a time. environment: of the process. */
void overlay_begin(struct overlay *o, struct library_cache *library_cache, struct sites *sites,
                   const struct wc_strings *environment);
void overlay_end(struct overlay *o);
/* False: o->why. */
bool overlay_apply(struct overlay *o, const struct edit *edit);
