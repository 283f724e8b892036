/* SPDX-License-Identifier: Apache-2.0 */
/* Constants for wrappers.S and C. */
#pragma once

#define ARCH_JUMP jmp
#define ARCH_WRAPPER_SIZE 32 /* at most 29 are used */
/* Number of integer and pointer arguments that lie in registers. */
#define ARCH_CALL_REGISTERS 6
/* Where shim_call_heeded, by its frame, finds the return address of the host: behind that of the
 * wrapper, where this calls it, the copied words, and the instance. */
#define ARCH_RETURN_ADDRESS(frame, called, words)                                                  \
    ((called) ? (frame)[3 + (words) + (words) % 2] : (frame)[1])
/* All numbers of words of arguments on the stack that watched functions have. */
#define ARCH_CALL_WORDS(X) X(2) X(7) X(9) X(12) X(14) X(16) X(17)
