/* SPDX-License-Identifier: Apache-2.0 */
/* A symbol whose value is 0, and one whose value is 5: numbers, not addresses. */
        .globl  cudnnNothing
        .type   cudnnNothing, %object
        .set    cudnnNothing, 0
        .globl  cudnnFive
        .type   cudnnFive, %object
        .set    cudnnFive, 5
        .section .note.GNU-stack, "", %progbits
