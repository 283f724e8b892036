/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who loaded whom. The loader keeps that to itself, and its search needs it: DT_RPATH is looked
 * into of all that led to an object. It follows from the loader's list: what an object needs is
 * appended behind it before anything else is. The shim's lock is held in all functions.
 */
#pragma once

#include <link.h>

#include "core/search/search.h"

/* A walk over all objects: what was known before is forgotten. */
void loaders_begin(void);
/* e: NULL: its names cannot be read. */
void loaders_see(const struct dl_phdr_info *info, const struct wc_elf_image *e);

/* The object with that path as the last walk saw it, with those that loaded it; NULL: not seen.
 * What it points to stays until the next walk. */
const struct wc_search_object *loaders_of(const char *path);
const struct wc_search_object *loaders_program(void);
/* The path of the i-th object of that walk; NULL past the last. */
const char *loaders_path(size_t i);
/* Does an object of that walk answer to the name, by path or SONAME? beyond: the answer where there
 * was no room for all objects. */
bool loaders_answer(const char *name, bool beyond);
