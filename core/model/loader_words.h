/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses glibc's message about a library that it did not load: dlerror's "FILE: WORDS". Only the
 * English words are known, which dlerror uses in the locale that frameworks run in.
 */
#pragma once

#include "core/base/base.h"

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

enum wc_said_what {
    WC_SAID_NOTHING,
    WC_SAID_OTHER,
    WC_SAID_NOT_FOUND, /* a library */
    WC_SAID_REFUSED,   /* a file, because of its contents, or by the system */
    WC_SAID_UNMET      /* a file requires a symbol or a symbol version that another one lacks */
};
/* "": the message does not contain it. */
struct wc_words {
    enum wc_system_refusal system; /* of REFUSED; NOTHING: the contents */
    char library[512];             /* of UNMET: that lacks the symbol version */
    char version[96];              /* required symbol version */
    char symbol[160];              /* required function; "": the symbol version as a whole */
};
/* Puts the name of the file into `file`: that was not found (its base name); that was refused, as
 * the message has it, a path, or the bare name if the loader went on searching and found no other;
 * or that requires the symbol (version). OTHER where a name has no room, too. */
enum wc_said_what wc_words_read(const char *text, struct wc_words *out, char *file, size_t cap);
