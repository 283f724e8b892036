#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What dlsym answers is replaced by where it lies, never by its name.

bats_require_minimum_version 1.5.0
load ../setup/helper

@test "a function of cuDNN's name in a library that is none is answered as it is" {
    cd "$BATS_TEST_TMPDIR"
    mkdir logs
    make_standin 9.1.0 set
    cat >own.c <<'C'
static int own(void **handle) { return handle ? 7 : 8; }
__attribute__((alias("own"))) int cudnnCreate(void **handle);
void *where(void) { return (void *)own; }
C
    cat >asks.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    (void)argc;
    void *cudnn = dlopen(argv[1], RTLD_NOW), *library = dlopen("./own.so", RTLD_NOW);
    if (!cudnn || !library)
        return puts(dlerror()), 1;
    void *(*where)(void) = (void *(*)(void))dlsym(library, "where");
    printf("own %d\n", dlsym(library, "cudnnCreate") == where());
    printf("again %d\n", dlsym(library, "cudnnCreate") == where());
    return dlsym(cudnn, "cudnnCreate") == NULL;
}
C
    gcc -shared -fPIC own.c -o own.so
    gcc asks.c -o asks -ldl
    run env LD_PRELOAD="$SHIM" WHICHCUDNN_LOG="$PWD/logs" WHICHCUDNN_STDERR=off \
        ./asks "$PWD/set/libcudnn.so.9"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = $'own 1\nagain 1' ]
    # cuDNN's own is told, and no other.
    [ "$("$WC_PYTHON" "$WC_ROOT/tests/schema/whole.py" logs/* | jq -r 'select(.kind == "binding").target_path' | sort -u)" = \
        "$PWD/set/libcudnn.so.9" ]
}
