/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuDNN versions: numbers as the library gives them, text as people write it, ranges as package
 * metadata states them.
 */
#pragma once

#include "core/base/base.h"

/* -1 means unknown; a known field has all fields before it known. {-1,-1,-1,-1} is not a version.
 */
struct wc_version {
    int32_t major, minor, patch, build;
};

#define WC_VERSION_NONE ((struct wc_version){-1, -1, -1, -1})
#define WC_VERSION_TEXT 48 /* bytes that any formatted version fits in */

bool wc_version_known(struct wc_version v); /* at least the major */

/* The number of cudnnGetVersion / CUDNN_VERSION: major*1000+minor*100+patch below 9,
 * major*10000+minor*100+patch from 9 on. 0 (a framework's stub) or nonsense gives NONE. */
struct wc_version wc_version_from_number(uint64_t number);
/* The reverse; unknown minor or patch count as 0. Returns 0 for NONE. */
uint64_t wc_version_to_number(struct wc_version v);
/* A data symbol's value, 0x00MMmmpp. */
struct wc_version wc_version_from_packed(uint32_t packed);

/* "9", "9.1", "9.1.0", "9.1.0.70"; n bytes at s, all of them. False: not a version. */
bool wc_version_parse(const char *s, size_t n, struct wc_version *out);
/* All of a text; NONE: it is NULL, or no version. */
struct wc_version wc_version_of(const char *text);
/* The version that s begins with: "2.3.1" of "2.3.1+cu121", "2.16.0" of "2.16.0rc1", "9.1" of
 * "9.1.dev1". Returns the characters used, 0 and NONE if there is none. */
size_t wc_version_parse_start(const char *s, size_t n, struct wc_version *out);
/* Writes "9.1.0" (as many fields as are known; "unknown" for NONE), NUL-terminated; returns out. */
char *wc_version_format(struct wc_version v, char out[WC_VERSION_TEXT]);
/* The same, NULL for NONE. */
const char *wc_version_text(struct wc_version v, char out[WC_VERSION_TEXT]);

/* What it does not know is one of these, and it has no build. NONE stays NONE. */
struct wc_version wc_version_filled(struct wc_version v, int32_t minor, int32_t patch);
/* <0, 0, >0; unknown fields count as 0. */
int wc_version_compare(struct wc_version a, struct wc_version b);
/* Equal in every field that both know. */
bool wc_version_agree(struct wc_version a, struct wc_version b);

/* A set of versions: all clauses hold. PEP 440's subset ==, ==x.*, !=, >=, <=, >, <, ~=, ===. */
enum wc_spec_op {
    WC_EQ,
    WC_EQ_PREFIX,
    WC_NE,
    WC_NE_PREFIX,
    WC_GE,
    WC_LE,
    WC_GT,
    WC_LT,
    WC_COMPATIBLE
};
struct wc_spec {
    struct {
        enum wc_spec_op op;
        struct wc_version version;
    } clause[8];
    size_t n; /* 0 accepts everything */
};

enum wc_answer { WC_NO, WC_YES, WC_UNKNOWN };

/* "<10.0,>=9.8", "==9.26.0.51", "~=9.0", "9.1" (bare: that prefix). False: not understood, or NULL.
 */
bool wc_spec_read(const char *s, struct wc_spec *out);
/* UNKNOWN when the fields that v lacks could decide either way. A clause with more fields than the
 * three that cuDNN itself reveals (the wheel's fourth, its build) is compared in three when v has
 * no build. */
enum wc_answer wc_spec_accepts(const struct wc_spec *spec, struct wc_version v);
/* The least version that satisfies all lower bounds, NONE if there is none. */
struct wc_version wc_spec_floor(const struct wc_spec *spec);
/* The same of a text: UNKNOWN, and NONE, of one that is not understood, or NULL. */
enum wc_answer wc_text_accepts(const char *text, struct wc_version v);
struct wc_version wc_text_floor(const char *text);
