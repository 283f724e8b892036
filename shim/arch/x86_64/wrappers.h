/* SPDX-License-Identifier: Apache-2.0 */
/* What wrappers.S and C agree on. */
#pragma once

#define ARCH_WRAPPER_SIZE 16 /* at most 14 are used */
/* So many arguments that are no floating point numbers lie in registers. */
#define ARCH_CALL_REGISTERS 6
/* How many words of arguments on the stack watched functions have. */
#define ARCH_CALL_WORDS(X) X(0) X(2) X(7) X(9) X(12) X(14) X(16) X(17)
