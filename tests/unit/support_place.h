/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of the test's own, which is also its working directory.
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_PLACE_H
#define WHICHCUDNN_TESTS_SUPPORT_PLACE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char place[64];

/* A setup and a teardown of cmocka's. */
static inline int enter_place(void **state) {
    (void)state;
    strcpy(place, "/tmp/whichcudnn-test-XXXXXX");
    return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static inline int leave_place(void **state) {
    char command[sizeof(place) + 16];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

#endif
