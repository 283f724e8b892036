/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is not position independent. Functions of cuDNN are for all its entries of its
 * PLT, a variable of cuDNN is the copy in it. canonical LIBRARY...
 */
#include "answers.h"
#include "see.h"

typedef size_t version_function(void);
static version_function *const in_table[] = {cudnnGetVersion};

int main(int argc, char **argv) {
    version_function *volatile mine = cudnnGetVersion;
    void *cudnn = dlopen("libcudnn.so.9", RTLD_LAZY);
    int *status = (int *)dlsym(cudnn, "answers_status");
    see("copy", "%s, who %s", status == &answers_status ? "same" : "another", answers_who);
    see("table", "%s %zu", in_table[0] == mine ? "same" : "another", in_table[0]());
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_LAZY);
        version_function *(*address)(void) =
            (version_function * (*)(void)) dlsym(library, "host_address");
        long (*run)(void) = (long (*)(void))dlsym(library, "host_run");
        see("library", "%s %s %ld", see_base_name(argv[i]), address() == mine ? "same" : "another",
            run());
    }
    void *handle = NULL;
    answers_status = 4; /* the copy, which cuDNN reads */
    see("status", "%d", cudnnCreate(&handle));
    answers_status = 0;
    see("status", "%d %zu %zu", cudnnCreate(&handle), cudnnGetVersion(), mine());
    see_address("mine", (const void *)mine);
    return 0;
}
