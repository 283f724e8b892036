/* SPDX-License-Identifier: Apache-2.0 */
/* What lazy.S and arch.h agree on. */
#pragma once

#ifdef __CET__
#define ARCH_LAZY_ENTRY_SIZE 17
#else
#define ARCH_LAZY_ENTRY_SIZE 13
#endif
