/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"

#include <string.h>

#include "memory.h"

#define WORD_MOST 48

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

    if (!*typed || strlen(typed) >= WORD_MOST || strlen(word) >= WORD_MOST)
        return;
    changes = strstr(word, typed) ? 1 : changes_between(typed, word);
    if (changes > strlen(word) / 3)
        return;
    if (!n->word || changes < n->changes) {
        n->second = n->word;
        n->second_changes = n->changes;
        n->word = word;
        n->changes = changes;
    } else if (!n->second || changes < n->second_changes) {
        n->second = word;
        n->second_changes = changes;
    }
}

char *nearest_question(const struct nearest *n) {
    if (!n->word)
        return must_copy("");
    return must_format("; did you mean %s%s%s?", n->word, n->second ? " or " : "", n->second);
}
