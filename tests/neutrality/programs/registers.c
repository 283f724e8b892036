/* SPDX-License-Identifier: Apache-2.0 */
/* Are the registers and modes that a call has to keep kept: in first calls, later ones, failing
 * ones, and in dl calls? */
#include "answers.h"
#include "see.h"

int registers_kept(void *(*call)(void *), void *argument);

static void *call_cudnn(void *argument) {
    void *handle = NULL;
    answers_status = argument ? 1001 : 0;
    cudnnCreate(&handle);
    cudnnOpsVersionCheck();
    cudnnGetErrorString(0);
    return (void *)cudnnGetVersion();
}

static void *handle;

static void *open_host(void *name) {
    return handle = dlopen((const char *)name, RTLD_LAZY);
}

static void *look_up(void *name) {
    return dlsym(handle, (const char *)name);
}

static void *close_host(void *argument) {
    dlclose(handle);
    return argument;
}

int main(void) {
    see("calls", "%d %d %d %d", registers_kept(call_cudnn, NULL), registers_kept(call_cudnn, NULL),
        registers_kept(call_cudnn, &handle), registers_kept(call_cudnn, &handle));
    see("opens", "%d", registers_kept(open_host, (void *)"answers/layout.so"));
    see("looks up", "%d %d", registers_kept(look_up, (void *)"cudnnCreate"),
        registers_kept(look_up, (void *)"no_such_function"));
    see("closes", "%d", registers_kept(close_host, NULL));
    see("opens", "%d", registers_kept(open_host, (void *)"answers/no-such-file.so"));
    return 0;
}
