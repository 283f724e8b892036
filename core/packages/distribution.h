/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python distribution that owns a file. For core/ only.
 */
#pragma once

#include "core/base/reading.h"
#include "core/names/version.h"

/* Texts lie in the reading's memory. */
struct wc_distribution {
    const char *site;     /* the directory that distributions are installed into */
    const char *info;     /* its name.dist-info below site */
    const char *relative; /* the file, below site */
    char name[64];        /* "nvidia-cudnn-cu12" */
    char version[WC_VERSION_TEXT];
    bool changed; /* the file is not as long as RECORD says: something else was put there */
};
/*
 * By RECORD of the distributions whose names fit; without RECORD only by the name. Of two that
 * both list the file the one whose size is right. False: none is known.
 */
bool wc_distribution_of(struct wc_reading *r, const char *path, struct wc_distribution *out);
/* By the name of a dist-info. False: it is none. */
bool wc_distribution_take(struct wc_distribution *out, const char *site, const char *info,
                          const char *relative);
/* The site that a file is in, by the directory's name or as the nearest one with distributions,
 * in r's memory; NULL: none. */
const char *wc_distribution_site(struct wc_reading *r, const char *path);
/* The distributions of a site whose normalised names ("jax_cuda12_plugin") fits() takes. How many,
 * up to most. */
size_t wc_distributions_in(struct wc_reading *r, const char *site,
                           bool (*fits)(void *ctx, const char *name), void *ctx,
                           struct wc_distribution *out, size_t most);
/* What put it there: "pip", "uv", "conda". False: it does not say. */
bool wc_distribution_installer(struct wc_reading *r, const struct wc_distribution *d, char *to,
                               size_t cap);
/* Length of the part of `relative` that is the distribution's own folder: "nvidia/cudnn". */
size_t wc_distribution_folder(const char *relative);
/* PEP 508, a line of METADATA: "Requires-Dist: NAME[EXTRAS] (SPEC) ; MARKER". In the line; marker
 * NULL: none. False: another line. */
struct wc_requirement {
    const char *name, *spec, *marker;
    size_t name_length, spec_length;
    char normal[64]; /* the name, normalised */
};
#define WC_REQUIRES "Requires-Dist: "
bool wc_requirement_read(const char *line, struct wc_requirement *out);
/* PEP 503 with '_': lower case, runs of -_. become one; NUL-terminated, cut to cap. */
void wc_distribution_normalise(const char *name, size_t n, char *to, size_t cap);
