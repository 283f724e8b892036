/* SPDX-License-Identifier: Apache-2.0 */
/* A library to open and close. */
int empty_library(void);
int empty_library(void) {
    return 1;
}
