/* SPDX-License-Identifier: Apache-2.0 */
/* What lazy.S and arch.h agree on. */
#pragma once

#define ARCH_LAZY_ENTRY_SIZE 20 /* five instructions */
