/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What glibc says of a library that it did not load, taken apart. The texts are those of dlerror,
 * "FILE: WORDS"; the words are not translated by anybody who matters (dlerror's are English in the
 * locale that frameworks run in; others are left as they are).
 */
#pragma once

#include "core/base/base.h"

/* "libfoo.so.1: cannot open shared object file: ..." names libfoo.so.1: its base name in out.
 * False: the text does not say that a library was not found. */
bool wc_text_not_found(const char *text, char *out, size_t cap);
/* Do the words refuse a file for what it is? Its name in out, as the loader has it: a path, or the
 * bare name where it went on searching and found no other. */
bool wc_text_refuses(const char *text, char *out, size_t cap);

/* What the system did not give the loader for a file that may be sound. */
enum wc_system_refusal {
    WC_SYSTEM_NOTHING,
    WC_SYSTEM_STATIC_TLS,
    WC_SYSTEM_EXECUTABLE_STACK,
    WC_SYSTEM_MAPPING, /* address space, memory, or leave to run code of that file system */
    WC_SYSTEM_RIGHTS,
    WC_SYSTEM_DESCRIPTORS,
    WC_SYSTEM_READING /* an error of the disk, or of the network's file system */
};
/* NOTHING: other words. Else the name of the file in out, as the loader has it. */
enum wc_system_refusal wc_text_system(const char *text, char *out, size_t cap);

/* A file that wants what another one does not have. */
struct wc_unmet {
    char file[512];    /* which wants it, as the loader has it */
    char library[512]; /* the file that lacks the symbol version; "": the words do not name it */
    char version[96];  /* symbol version that is wanted; "": none */
    char symbol[160];  /* function that is wanted; "": the symbol version as a whole */
};
/*
 * "LIBRARY: version `VERSION' not found (required by FILE)" (elf/dl-version.c), and of
 * elf/dl-lookup.c "FILE: undefined symbol: SYMBOL", the same with ", version VERSION", and "FILE:
 * symbol SYMBOL, version VERSION not defined in file NAME with link time reference". False: other
 * words.
 */
bool wc_text_unmet(const char *text, struct wc_unmet *out);
