/* SPDX-License-Identifier: Apache-2.0 */
/* Constants for wrappers.S and C. */
#pragma once

#define ARCH_JUMP b
#define ARCH_WRAPPER_SIZE 44 /* eleven instructions */
/* Number of integer and pointer arguments that lie in registers. */
#define ARCH_CALL_REGISTERS 8
/* Where shim_call_heeded, by its frame, finds the return address of the host: in the frame of the
 * wrapper, where this calls it. */
#define ARCH_RETURN_ADDRESS(frame, called, words)                                                  \
    ((void)(words), (called) ? ((const uintptr_t *)(frame)[0])[1] : (frame)[1])
/* All numbers of words of arguments on the stack that watched functions have. */
#define ARCH_CALL_WORDS(X) X(5) X(7) X(10) X(12) X(14) X(15)
