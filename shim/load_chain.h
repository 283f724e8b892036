/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which object loaded which. The loader keeps this to itself, and a search needs it: the loader
 * looks into the DT_RPATH of an object, of the object that loaded it, and so on up to the program.
 * It follows from the loader's list: what an object needs is appended to the list before anything
 * else, so the first object on the list that needs a name has loaded it. The shim's lock is held in
 * all functions.
 */
#pragma once

#include <link.h>

#include "core/search/search.h"

/* Begins again: the caller walks over all objects. */
void load_chain_begin(void);
/* The next object on the list. e: its image; NULL: its names cannot be read. */
void load_chain_see(const struct dl_phdr_info *info, const struct wc_elf_image *e);

/* The object with that path as the last walk saw it, with the objects that loaded it; NULL: not
 * seen. Valid until the next walk. */
const struct wc_search_object *load_chain_of(const char *path);
const struct wc_search_object *load_chain_program(void);
/* The path of the i-th object of that walk; NULL past the last. */
const char *load_chain_path(size_t i);
/* Does an object of that walk answer to the name, by path or SONAME? beyond: the answer if there
 * was not room for all objects. */
bool load_chain_answers(const char *name, bool beyond);
