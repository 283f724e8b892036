/* SPDX-License-Identifier: Apache-2.0 */
#include "glob_below.h"

#include <string.h>

#include "memory.h"

int glob_below(const char *directory, const char *pattern, int flags, glob_t *found) {
    OWNED char *whole = must_allocate(2 * strlen(directory) + strlen(pattern) + 1);
    char *to = whole;

    for (const char *p = directory; *p; p++) {
        if (strchr("*?[]{},\\~", *p))
            *to++ = '\\';
        *to++ = *p;
    }
    stpcpy(to, pattern);
    return glob(whole, flags, NULL, found);
}
