/* SPDX-License-Identifier: Apache-2.0 */
/* Constants for wrappers.S and C. */
#pragma once

#define ARCH_WRAPPER_SIZE 20 /* five instructions */
/* Number of integer and pointer arguments that lie in registers. */
#define ARCH_CALL_REGISTERS 8
/* All numbers of words of arguments on the stack that watched functions have. */
#define ARCH_CALL_WORDS(X) X(0) X(5) X(7) X(10) X(12) X(14) X(15)
