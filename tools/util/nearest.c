/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"

#include <stdbool.h>
#include <string.h>

#define WORD_MOST 32

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* By the optimal string alignment distance. Both are shorter than WORD_MOST. */
static size_t changes_between(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b), d[WORD_MOST][WORD_MOST];

    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
                            d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

void nearest_look(struct nearest *n, const char *typed, const char *word) {
    size_t changes;

    if (strlen(typed) >= WORD_MOST || strlen(word) >= WORD_MOST)
        return;
    changes = changes_between(typed, word);
    if (3 * changes > strlen(word) + 1 || (n->word && n->changes <= changes))
        return;
    n->word = word;
    n->changes = changes;
}
