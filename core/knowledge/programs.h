/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that act for others: core/knowledge/programs.def. */
#pragma once

#include "core/base/base.h"

enum wc_program_kind {
    WC_PROGRAM_PYTHON = 1,
    WC_PROGRAM_LIBRARY = 2,
    WC_PROGRAM_SHELL = 4,
    WC_PROGRAM_KEEPER = 8,
    WC_PROGRAM_SCRIPTED = 16
};
/* Is the program, by the last element of its path, of one of these kinds (enum wc_program_kind)? */
bool wc_program_is(const char *path, unsigned kinds);
