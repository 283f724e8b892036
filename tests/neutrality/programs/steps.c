/* SPDX-License-Identifier: Apache-2.0 */
/* steps STEP...: see steps.h. */
#include "steps.h"

static struct steps steps;

/* For handles of the program, and for libraries that have the same. */
long whose(void);
long whose(void) {
    return 1;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        steps_do(&steps, argv[i]);
    if (steps.other.started) {
        steps.other.step = NULL;
        sem_post(&steps.other.begin);
        pthread_join(steps.other.thread, NULL);
    }
    return 0;
}
