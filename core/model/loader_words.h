/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses glibc's message about a library that it did not load: dlerror's "FILE: WORDS". Only the
 * English words are known, which dlerror uses in the locale that frameworks run in.
 */
#pragma once

#include "core/base/base.h"

/* "libfoo.so.1: cannot open shared object file: ..." names libfoo.so.1: its base name in out.
 * False: the text does not say that a library was not found. */
bool wc_text_not_found(const char *text, char *out, size_t cap);
/* Does the loader refuse a file because of its contents? Puts the file's name into out, as the
 * message has it: a path, or the bare name if the loader went on searching and found no other. */
bool wc_text_refuses(const char *text, char *out, size_t cap);

/* What the system refused the loader. The file may be sound. */
enum wc_system_refusal {
    WC_SYSTEM_NOTHING,
    WC_SYSTEM_STATIC_TLS,
    WC_SYSTEM_EXECUTABLE_STACK,
    WC_SYSTEM_MAPPING, /* address space, memory, or leave to run code of that file system */
    WC_SYSTEM_RIGHTS,
    WC_SYSTEM_DESCRIPTORS,
    WC_SYSTEM_READING /* an error of the disk, or of the network's file system */
};
/* NOTHING: another message. Otherwise the file's name is in out, as the message has it. */
enum wc_system_refusal wc_text_system(const char *text, char *out, size_t cap);

/* A file requires a symbol or a symbol version that another one does not have. */
struct wc_unmet {
    char file[512];    /* that requires it, as the message has it */
    char library[512]; /* that lacks the symbol version; "": the message does not name it */
    char version[96];  /* required symbol version; "": none */
    char symbol[160];  /* required function; "": the symbol version as a whole */
};
/*
 * "LIBRARY: version `VERSION' not found (required by FILE)" (elf/dl-version.c), and of
 * elf/dl-lookup.c "FILE: undefined symbol: SYMBOL", the same with ", version VERSION", and "FILE:
 * symbol SYMBOL, version VERSION not defined in file NAME with link time reference". False: other
 * words.
 */
bool wc_text_unmet(const char *text, struct wc_unmet *out);
