/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a test draws by rand() is drawn again by WC_SEED=N, which each run says.
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_SEED_H
#define WHICHCUDNN_TESTS_SUPPORT_SEED_H

#include <stdlib.h>
#include <time.h>

static inline void seed_draws(void) {
    const char *given = getenv("WC_SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);

    print_message("# WC_SEED=%u\n", seed);
    srand(seed);
}

#endif
