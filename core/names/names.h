/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a file name, SONAME or symbol version: is it a facade, part, CUDA dependency or driver?
 * Does it hint at CUDA or a framework? Tables: core/knowledge/names.def, frameworks.def.
 */
#pragma once

#include "core/base/base.h"
#include "version.h"

enum wc_name_kind {
    WC_NAME_OTHER,
    WC_NAME_FACADE,          /* libcudnn.so[.N[.M[.P]]], libcudnn-<hash>.so* */
    WC_NAME_PART,            /* libcudnn_<part>.so*, libcudnn_<part>-<hash>.so* */
    WC_NAME_CUDA_DEPENDENCY, /* libcudart, libcublas, libcublasLt, libcufft, ..., libnccl */
    WC_NAME_DRIVER           /* libcuda.so* */
};
struct wc_name {
    enum wc_name_kind kind;
    char part[40]; /* part or CUDA dependency: "graph", "ops_infer", "cublasLt"; else "" */
    struct wc_version version; /* behind ".so.", NONE if nothing is there */
};
/* name: a path or a bare name (its last element counts); NULL is OTHER. */
struct wc_name wc_name_read(const char *name);
enum wc_name_kind wc_name_kind_of(const char *name);
/* A facade tries up to four names for each part, and most of them fail on a sound installation.
 * Only the name with only the major (libcudnn_ops.so.9) counts. Is this name one of the others? */
bool wc_name_is_one_of_many(const char *name);
/* A library of cuDNN itself, facade or part. */
bool wc_kind_is_cudnn(enum wc_name_kind kind);
bool wc_name_is_cudnn(const char *name);
/* The major of a facade's or part's name; -1: none, or numbered after the CUDA toolkit, as before
 * cuDNN 4: libcudnn.so.6.5, libcudnn.so.7.0 (docs/findings.md, "major"). */
int32_t wc_name_major(const char *name);
/* The CUDA major that a CUDA dependency's name contains: 12 in "libcublas.so.12"; -1: none. */
int32_t wc_name_cuda(const char *name);
/* Does this path or name hint at CUDA or at a framework that uses cuDNN? (the list of docs/log.md)
 */
bool wc_name_hints(const char *name);
/* The same, if its first n bytes are directories that are known not to hint. */
bool wc_name_hints_behind(const char *name, size_t n);
/* Our own library, which contains names of cuDNN functions and uses none. */
#define WC_OWN_NAME "libwhichcudnn.so"
/* Could this name have loaded an object with that path and SONAME? */
bool wc_name_fits(const char *asked, const char *path, const char *soname);
