#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What docs/limits.md says is not observed, where no other file shows it: that the host fares as
# without the shim, that the log is silent there, and tells of the gap where the page says so.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir logs
    export WHICHCUDNN_LOG=$PWD/logs WHICHCUDNN_STDERR=off
    cudnn=$PWD/set/libcudnn.so.9
}

# program|library OUT FLAG... < SOURCE
program() {
    local out=$1
    shift
    gcc -std=gnu11 -D_GNU_SOURCE -g -O1 -Wall -Werror -o "$out" -xc - -xnone \
        -Wl,-rpath,"\$ORIGIN:\$ORIGIN/set" "$@" -ldl
}
library() { program "$@" -shared -fPIC; }

# The program says and ends as without the shim. Sets output and log, which is empty where there is none.
as_bare() { # STATUS COMMAND...
    local expected=$1 bare
    shift
    run "$@"
    is "$status" "$expected"
    bare=$output
    run env LD_PRELOAD="$SHIM" "$@"
    is "$status $output" "$expected $bare"
    log=''
    [ -z "$(ls logs)" ] && return
    log=$(the_log logs)
    validate_log "$log"
}
no_log() { [ -z "$log" ] && is "$(ls logs)" ''; }
calls() {
    records call "$log" | jq -r '"\(.function) \(.phase) \(.status // .returned_version // "")"'
}
unobserved_ones() { records unobserved "$log" | jq -r '.what + ": " + .why'; }

# A cuDNN whose cudnnCreate answers another status each time, as does cudnnOpsVersionCheck, whose first
# call does not return before the second one; cudnnSetStream says how many of these began.
restless() {
    mkdir set
    library "$cudnn" -Wl,-soname,libcudnn.so.9 <<'END'
#include <stddef.h>
#include <unistd.h>
int cudnnCreate(void **handle) {
    static int status;
    return status++;
}
static volatile int began;
int cudnnSetStream(void *handle, void *stream) {
    return began;
}
int cudnnOpsVersionCheck(void) {
    int status = __atomic_fetch_add(&began, 1, __ATOMIC_SEQ_CST);
    while (began < 2)
        usleep(1000);
    return status;
}
size_t cudnnGetVersion(void) {
    return 90100 + (size_t)began;
}
END
}

calls_cudnnSetStream() { # OUT: a program that calls nothing else; it is not watched
    program "$1" "$cudnn" <<'END'
#include <stddef.h>
int cudnnSetStream(void *, void *);
int main(void) {
    return cudnnSetStream(NULL, NULL);
}
END
}

opens_and_asks() { # OUT: a program that prints cudnnGetVersion of each file named
    program "$1" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW);
        printf("%zu\n", ((size_t(*)(void))dlsym(library, "cudnnGetVersion"))());
    }
    return 0;
}
END
}

# ---- processes that it is not in ----

@test "unobserved: a process with a cleared environment" {
    make_standin 9.1.0 set
    build_host lazy set host
    as_bare 0 ./host
    is "$(calls | wc -l)" 4
    rm logs/*
    as_bare 0 env -i ./host
    no_log
}

@test "unobserved: a process that ends before the first constructor" {
    ulimit -c 0
    echo 'int needed;' | library libneeded.so
    echo 'extern int needed; int main(void) { return needed; }' | program host -L. -lneeded
    rm libneeded.so
    as_bare 127 ./host
    [[ $output == *"libneeded.so: cannot open shared object file"* ]]
    no_log
    make_standin 9.1.0 set
    program crashes -Wl,-z,now "$cudnn" <<'END'
#include <signal.h>
#include <stddef.h>
size_t cudnnGetVersion(void);
static void chosen(void) {
}
static void *choose(void) {
    __builtin_trap();
    return chosen;
}
void function(void) __attribute__((ifunc("choose")));
int main(void) {
    function();
    return cudnnGetVersion() == 0;
}
END
    as_bare 132 ./crashes
    no_log
}

# ---- objects and calls that it does not see ----

@test "unobserved: what dlmopen loads into another namespace; the request is told, and the gap" {
    make_standin 9.1.0 set
    program host <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    void *library = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
    printf("%zu\n", ((size_t(*)(void))dlsym(library, "cudnnGetVersion"))());
    return 0;
}
END
    as_bare 0 ./host "$cudnn"
    is "$output" 90100
    is "$(records request "$log" | jq -r '.operation + " " + .name')" "dlmopen $cudnn"
    is "$(unobserved_ones)" 'another namespace: the loader shows it only to those inside'
    is "$(records object "$log")" ''
}

@test "unobserved: dl calls of an object that was opened with RTLD_DEEPBIND" {
    make_standin 9.1.0 set
    library libinner.so <<'END'
#include <dlfcn.h>
#include <stddef.h>
size_t inner(const char *name) {
    return ((size_t(*)(void))dlsym(dlopen(name, RTLD_NOW), "cudnnGetVersion"))();
}
END
    program host <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    void *library = dlopen("./libinner.so", RTLD_NOW | (argc > 2 ? RTLD_DEEPBIND : 0));
    printf("%zu\n", ((size_t(*)(const char *))dlsym(library, "inner"))(argv[1]));
    dlclose(dlopen("libm.so.6", RTLD_NOW));
    return 0;
}
END
    asked() { records request "$log" | jq -r .name | grep -cxF "$cudnn" || true; }
    as_bare 0 ./host "$cudnn"
    is "$(asked)" 1
    is "$(calls | tail -n 1)" 'cudnnGetVersion after 90100'
    rm logs/*
    as_bare 0 ./host "$cudnn" deep
    is "$(asked) $(calls)" '0 '
    # What it loaded is seen all the same.
    is "$(records object "$log" | jq -c 'select(.role == "facade") | [.path, .version, .asked_by]' |
        tail -n 1)" "[\"$cudnn\",\"9.1.0\",null]"
}

@test "unobserved: calls of what RTLD_DEFAULT and RTLD_NEXT find" {
    make_standin 9.1.0 set
    program host -Wl,--no-as-needed "$cudnn" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    size_t (*first)(void) = (size_t(*)(void))dlsym(RTLD_DEFAULT, "cudnnGetVersion");
    size_t (*second)(void) = (size_t(*)(void))dlsym(RTLD_NEXT, "cudnnGetVersion");
    printf("%zu %zu\n", first(), second());
    return 0;
}
END
    as_bare 0 ./host
    is "$output" '90100 90100'
    is "$(records object "$log" | jq -r 'select(.role == "facade").path' | sort -u)" "$cudnn"
    is "$(calls)$(records binding "$log")" ''
}

@test "unobserved: calls through a table of function pointers; where it leads is told, and the gap" {
    make_standin 9.1.0 set
    build_host table set host
    as_bare 0 ./host
    is "$output" 'version 90100 create 1001'
    is "$(records binding "$log" | jq -c '[.how, .target_path, .wrapped]')" "[\"slot\",\"$cudnn\",0]"
    [[ $(unobserved_ones) == 'calls through a table of function pointers: '* ]]
    is "$(calls)" ''
}

@test "unobserved: calls of functions that are not watched; the binding is told" {
    restless
    calls_cudnnSetStream host
    as_bare 0 ./host
    is "$(last_record binding "$log" | jq -c '[.functions, .wrapped]')" '[["cudnnSetStream"],0]'
    is "$(calls)" ''
}

@test "unobserved: calls after the first, and failures after the fourth way" {
    restless
    program host "$cudnn" <<'END'
#include <stddef.h>
#include <stdio.h>
int cudnnCreate(void **);
size_t cudnnGetVersion(void);
int main(void) {
    for (int i = 0; i < 8; i++)
        printf("%d %zu\n", cudnnCreate(NULL), cudnnGetVersion());
    return 0;
}
END
    as_bare 0 ./host
    is "$(calls | grep Create)" "$(printf 'cudnnCreate %s\n' 'before ' 'after 0' 'after 1' 'after 2' \
        'after 3' 'after 4')"
    is "$(calls | grep -c Version)" 2
}

@test "unobserved: a ninth target of one function; told" {
    make_standin 9.1.0 set
    for i in {1..10}; do mkdir "set/$i" && cp "$cudnn" "set/$i"; done
    opens_and_asks host
    as_bare 0 ./host set/{1..8}/libcudnn.so.9
    is "$(calls | grep -c after)" 8
    is "$(unobserved_ones)" ''
    rm logs/*
    as_bare 0 ./host set/{1..10}/libcudnn.so.9
    is "$(calls | grep -c after)" 8
    is "$(unobserved_ones)" 'cudnnGetVersion: no wrapper instance is left for another target'
}

@test "unobserved: calls of other threads through a lazy slot while one thread's call is resolving it" {
    restless
    program host -pthread -Wl,-z,lazy "$cudnn" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int cudnnOpsVersionCheck(void);
int cudnnSetStream(void *, void *);
static void *first(void *argument) {
    printf("%d\n", cudnnOpsVersionCheck());
    return argument;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, first, NULL);
    while (!cudnnSetStream(NULL, NULL))
        usleep(1000);
    int meanwhile = cudnnOpsVersionCheck();
    pthread_join(thread, NULL);
    printf("%d %d\n", meanwhile, cudnnOpsVersionCheck());
    return 0;
}
END
    as_bare 0 ./host
    is "$output" "$(printf '0\n1 2')"
    is "$(calls)" "$(printf 'cudnnOpsVersionCheck %s\n' 'before ' 'after 0' 'after 2')"
}

@test "unobserved: requests of IFUNC resolvers at start, whether the kernel or the loader starts the program" {
    library libresolver.so <<'END'
#include <dlfcn.h>
static int found(void) {
    return 1;
}
static int lost(void) {
    return 2;
}
static void *choose(void) {
    return dlsym(RTLD_DEFAULT, "found_in_the_program") ? found : lost;
}
static int chosen(void) __attribute__((ifunc("choose")));
int which(void) {
    return chosen();
}
END
    program host -rdynamic -Wl,-z,now -L. -lresolver <<'END'
int which(void);
int found_in_the_program;
int main(void) {
    return which();
}
END
    as_bare 1 ./host
    no_log
    loader=$(readelf -lW host | sed -n 's/.*interpreter: \(.*\)]/\1/p')
    run "$loader" ./host
    is "$status" 1
    run "$loader" --preload "$SHIM" ./host
    is "$status" 1
}

@test "unobserved: cuDNN linked into a host without exporting it; told as itself where exported" {
    program host <<'END'
#include <stddef.h>
#include <stdio.h>
__attribute__((noinline)) size_t cudnnGetVersion(void) {
    return 90100;
}
int main(void) {
    printf("%zu\n", cudnnGetVersion());
    return 0;
}
END
    as_bare 0 ./host
    is "$output" 90100
    no_log
    make_standin 9.1.0 set
    build_host library-static set host
    as_bare 0 ./host
    no_log # no name says what it is
    build_host library-static set libtorch_host
    as_bare 0 ./libtorch_host
    is "$(last_record binding "$log" | jq -r .how)" itself
}

@test "unobserved: an object that something else than the loader maps" {
    make_standin 9.1.0 set
    as_bare 0 "$PY" -c 'import mmap, sys
with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
print(any(sys.argv[1] in line and "r-x" in line for line in open("/proc/self/maps")))' "$cudnn"
    is "$output" True
    no_log
}

@test "unobserved: what is in a library that is cut short and loads; the gap is told" {
    mkdir set
    # The end of the table is cut off. Nothing reads it, and without .bss the loader clears nothing there.
    library "$cudnn" -nostartfiles -Wl,-soname,libcudnn.so.9 <<'END'
int table[1 << 15] = {1};
int cudnnCreate(void **handle) {
    return table[0];
}
END
    for cut in 0 50000; do
        truncate -s "-$cut" "$cudnn"
        as_bare 0 "$PY" -c 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).cudnnCreate(None))' "$cudnn"
        is "$(unobserved_ones)" "${gap:-}"
        gap='what is in a library: it is damaged'
        rm logs/*
    done
}

@test "unobserved: a version, an installation and a demand that nothing reveals are null" {
    restless
    calls_cudnnSetStream host
    as_bare 0 ./host
    is "$(records object "$log" | jq -c 'select(.role == "facade") | [.version, .installation_version]' |
        sort -u)" '[null,null]'
    is "$(records demand "$log" | jq -c 'select(.demand_kind == "built")')" ''
}

@test "unobserved: the end, where a process leaves by _exit or a signal: no summary" {
    make_standin 9.1.0 set
    program host "$cudnn" <<'END'
#include <signal.h>
#include <stddef.h>
#include <unistd.h>
size_t cudnnGetVersion(void);
int main(int argc, char **argv) {
    cudnnGetVersion();
    if (argc == 1)
        return 0;
    if (argv[1][0] == 's')
        raise(SIGKILL);
    _exit(5);
}
END
    end() { records summary "$log" | jq -r .seq | grep -c . || true; calls | tail -n 1; }
    as_bare 0 ./host
    is "$(end)" "$(printf '1
cudnnGetVersion after 90100')"
    rm logs/*
    as_bare 5 ./host _exit
    is "$(end)" "$(printf '0\ncudnnGetVersion after 90100')"
    rm logs/*
    as_bare 137 ./host signal
    is "$(end)" "$(printf '0\ncudnnGetVersion after 90100')"
}

# ---- more than the shim keeps ----

@test "bound: 48 DT_NEEDED names of an object, 512 bytes of a name asked for, 64 arguments" {
    mkdir set needed
    local name i
    echo '__attribute__((constructor)) static void nothing(void) {}' >empty.c
    for i in {100..159}; do library "needed/lib$i.so" -nostdlib <empty.c; done
    opens_and_asks host
    library "$cudnn" -Wl,-soname,libcudnn.so.9 -Wl,--no-as-needed needed/*.so <<'END'
unsigned long cudnnGetVersion(void) {
    return 90100;
}
END
    export WHICHCUDNN_ARGV=1
    name=$(printf '%0600d/libcudnn.so.9' 0)
    as_bare 0 "$PY" -c 'import ctypes, sys
try:
    ctypes.CDLL(sys.argv[1])
except OSError as error:
    print(len(str(error)))
print(ctypes.CDLL(sys.argv[2]).cudnnGetVersion())' "$name" "$cudnn" {1..100}
    is "$(records object "$log" | jq -c 'select(.role == "facade").needed | length' | sort -u)" 48
    is "$(records failure "$log" | jq -r '.name | length')" 511
    is "$(field process arguments "$log" | jq length)" 64
}

@test "bound: 16 times that one file comes and goes" {
    restless
    as_bare 0 "$PY" -c 'import ctypes, _ctypes, sys
for i in range(40):
    _ctypes.dlclose(ctypes.CDLL(sys.argv[1])._handle)
print(sys.argv[1] in open("/proc/self/maps").read())' "$cudnn"
    is "$output" False
    is "$(records object "$log" | jq -r .mapped | uniq | wc -l)" 16
}

@test "bound: 4096 slots of a host" {
    restless
    cat >many.c <<'END'
#include <stdio.h>
size_t cudnnGetVersion(void);
int cudnnSetStream(void *, void *);
void *table[MANY + 1] = {[0 ... MANY - 1] = cudnnGetVersion, [MANY] = cudnnSetStream};
int main(void) {
    printf("%d\n", table[0] == table[MANY]);
    return 0;
}
END
    program few -DMANY=4000 "$cudnn" <many.c
    as_bare 0 ./few
    is "$(records binding "$log" | jq -r '.functions[]' | sort -u)" "$(printf '%s\n' cudnnGetVersion cudnnSetStream)"
    rm logs/*
    program host -DMANY=4200 "$cudnn" <many.c
    as_bare 0 ./host
    is "$(records binding "$log" | jq -r '.functions[]' | sort -u)" cudnnGetVersion
}

@test "bound: 1024 relevant objects" {
    restless
    local i
    for i in {1..1100}; do cp "$cudnn" "set/libcudnn_graph.so.$i"; done
    opens_and_asks host
    as_bare 0 ./host set/libcudnn_graph.so.*
    is "$(grep -c 90100 <<<"$output")" 1100
    is "$(records object "$log" | jq .object | sort -u | wc -l)" 1024
}

# ---- what a process could notice ----

@test "noticed: __gmon_start__ has a definition" {
    program host <<'END'
#include <dlfcn.h>
#include <stdio.h>
extern void __gmon_start__(void) __attribute__((weak));
int main(void) {
    printf("%d %d\n", dlsym(RTLD_DEFAULT, "__gmon_start__") != NULL, __gmon_start__ != NULL);
    return 0;
}
END
    is "$(./host)" '0 0'
    is "$(LD_PRELOAD=$SHIM ./host)" '1 1'
}
