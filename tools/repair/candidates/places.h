/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What might repair a cuDNN or a CUDA library that no package manages: of an archive below /opt, of
 * a module tree, of a toolkit, of an application that brings its own.
 */
#pragma once

#include "candidates.h"

/* preload: LD_PRELOAD without our own library; NULL: not set. for_gpu: of releases that have code
 * for the GPUs alone. */
void places_find(struct candidates *c, const struct wc_stack *s, const struct wc_files *files,
                 const char *preload, bool for_gpu);
