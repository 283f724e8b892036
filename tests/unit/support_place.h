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

/* A name for mkstemp or mkdtemp below TMPDIR, or below /tmp where TMPDIR is longer than a name
 * holds. */
static inline void temporary_name(char *to, size_t cap) {
    const char *directory = getenv("TMPDIR");
    if (!directory || strlen(directory) + sizeof("/whichcudnn-test-XXXXXX") > cap)
        directory = "/tmp";
    snprintf(to, cap, "%s/whichcudnn-test-XXXXXX", directory);
}

/* A setup and a teardown of cmocka's. */
static inline int enter_place(void **state) {
    (void)state;
    temporary_name(place, sizeof(place));
    return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static inline int leave_place(void **state) {
    char command[sizeof(place) + 16];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

#endif
