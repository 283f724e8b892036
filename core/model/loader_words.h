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
/* A message, parsed. NULL: it does not contain that name. */
struct wc_said {
    enum wc_said_what what;
    enum wc_system_refusal system; /* of REFUSED; NOTHING: the contents */
    /* That was not found (its base name); that was refused, as the message has it, a path, or the
     * bare name if the loader went on searching and found no other; or that requires the symbol
     * (version). */
    const char *file;
    const char *library; /* of UNMET: that lacks the symbol version */
    const char *version; /* required symbol version */
    const char *symbol;  /* required function; NULL: the symbol version as a whole */
};
/* The names lie in the room. OTHER where they do not fit, too. */
#define WC_SAID_ROOM 1280
struct wc_said wc_said_read(const char *text, char room[WC_SAID_ROOM]);
