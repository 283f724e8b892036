/* SPDX-License-Identifier: Apache-2.0 */
/* Does nothing at all: no comparator may report it. */
static int nothing;
__attribute__((constructor)) static void start(void) {
    nothing = 1;
}
