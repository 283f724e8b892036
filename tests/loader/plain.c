/* SPDX-License-Identifier: Apache-2.0 */
/* A library that has nothing to do with cuDNN. */
int plain(void);
int plain(void) {
    return 1;
}
