/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN refuses: the status, and the very pointers that its error texts come with. */
#include "answers.h"
#include "see.h"

int main(void) {
    static const int statuses[] = {1001, 1001, 1002, 0, 5003, 2, 2, -1, 70000, 4, 6, 0};
    const char *first = cudnnGetErrorString(1001);
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        void *handle = NULL;
        answers_status = statuses[i];
        int status = cudnnCreate(&handle);
        const char *text = cudnnGetErrorString(status);
        see("status", "%d %s, %s, handle %s", status, text, text == first ? "same" : "another",
            handle ? "set" : "as it was");
    }
    return 0;
}
