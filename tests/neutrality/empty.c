/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A preload that does nothing, with the segments that the shim has (code, constants that are
 * relocated, data, zeroes): what the loader itself does for a preload is not counted against the
 * shim.
 */
static char zeroes[1 << 16];
static long data = 1;
__attribute__((used)) static void *const relocated[] = {zeroes, &data};

void *empty(void);
void *empty(void) {
    return relocated[data];
}
