#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the log says of a host and of the libraries it got, beside what stat and readelf say of them.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_standin 9.1.0 set
    mkdir logs
}

observed() { # COMMAND...
    run -0 env LD_PRELOAD="$SHIM" WHICHCUDNN_LOG="$PWD/logs" WHICHCUDNN_STDERR=off "$@"
    log=$(the_log logs)
    validate_log "$log"
}

# The value of a key in the records of a kind that fit a condition.
told() { # KIND CONDITION KEYS
    records "$1" "$log" | jq -c "select($2) | $3"
}

# Less what nearly every library needs.
needs_of() { of_dynamic "$1" NEEDED | grep -vE '^(lib(c|m|dl|rt|util|pthread|gcc_s|stdc\+\+)\.so|ld-linux-)' | jq -R . | jq -sc .; }

of_dynamic() { readelf -dW "$1" | sed -n "s/.*($2).*\[\(.*\)\]/\1/p"; }

# By stat and readelf.
facts() { # FILE
    local id needed
    id=$(readelf -nW "$1" | sed -n 's/.*Build ID: //p')
    needed=$(needs_of "$1")
    printf '["%s",%s,"%s",%s,"%s"]\n' "$1" "$(stat -c '%d,%i,%s,%Y' "$1")" "$id" "$needed" \
        "$(of_dynamic "$1" RUNPATH)"
}

@test "files, build-ids, needs and search paths" {
    build_host now set host
    observed ./host version create
    for file in "$PWD/host" "$PWD/set/libcudnn.so.9" "$PWD/set/libcudnn_graph.so.9"; do
        is "$(told object ".path == \"$file\"" \
            '[.real_path, .device, .inode, .size, .mtime, .build_id, .needed, .runpath]')" \
            "$(facts "$file")"
    done
    is "$(told object '.role != "host"' '[.role, .part, .soname, .symbol_version, .version, .is_host]')" \
        '["facade",null,"libcudnn.so.9","libcudnn.so.9","9.1.0",false]
["part","graph","libcudnn_graph.so.9","libcudnn_graph.so.9","9.1.0",false]'
    is "$(told object '.role == "host"' '[.part, .soname, .symbol_version, .version, .version_source]')" \
        '[null,null,null,null,null]'
}

@test "who asked, and how" {
    build_host now set host
    observed ./host version create
    is "$(told object 'true' '[.object, .asked_how, .asked_name, .asked_by, .asked_by_object]')" \
        "[1,null,null,null,null]
[2,\"needed\",\"libcudnn.so.9\",\"$PWD/host\",1]
[3,\"dlopen\",\"libcudnn_graph.so.9\",\"$PWD/set/libcudnn.so.9\",2]"
    graph=$(told object '.part == "graph"' .request)
    is "$(told request ".request == $graph" '[.name, .operation, .caller, .caller_object]')" \
        "[\"libcudnn_graph.so.9\",\"dlopen\",\"$PWD/set/libcudnn.so.9\",2]"
}

@test "what a host wants, by its needs, its imports' symbol version and their age" {
    build_host now set host
    observed ./host version create
    is "$(told demand 'true' '[.host, .demand_kind, .spec, .source, .function_count]')" \
        "[1,\"needed\",\"==9.*\",\"DT_NEEDED\",null]
[1,\"symbol-version\",\"==9.*\",\"symbol version of its imports\",null]
[1,\"symbols\",\">=8.0.0\",\"imported functions\",$(readelf --dyn-syms -W host |
            grep -c 'UND cudnn')]"
}

# The load inside of the call has all slots looked at while that call is under way.
@test "a first call through a lazy slot that loads a part: told once, with its library" {
    build_host lazy set host
    observed ./host create create
    is "$(told call '.function == "cudnnCreate"' '[.phase, .target_path]')" \
        "[\"before\",null]
[\"after\",\"$PWD/set/libcudnn.so.9\"]"
}

@test "CUDA_VISIBLE_DEVICES as the program itself sets it, which CUDA reads at its first call" {
    gcc -xc - -o sets -ldl <<'C'
#include <dlfcn.h>
#include <stdlib.h>
int main(int count, char **words) {
    int failed = count > 2 ? setenv(words[1], words[2], 1) : unsetenv(words[1]);
    dlopen("libcuda.so.1", RTLD_NOW);
    return failed || !dlopen("set/libcudnn.so.9", RTLD_NOW);
}
C
    local value
    for value in -1 '' 0; do
        observed env CUDA_VISIBLE_DEVICES=0 ./sets CUDA_VISIBLE_DEVICES "$value"
        is "$(told summary true .later_environment)" "$([ "$value" = 0 ] && echo '[]' || echo "[\"CUDA_VISIBLE_DEVICES=$value\"]")"
        rm "$log"
    done
    observed env CUDA_VISIBLE_DEVICES=0 ./sets CUDA_VISIBLE_DEVICES
    is "$(told summary true .later_environment)" '["CUDA_VISIBLE_DEVICES"]'
    rm "$log"
    observed env CUDA_VISIBLE_DEVICES=0 ./sets CUDA_VISIBLE 3
    is "$(told summary true .later_environment)" '[]'
}

# A package manager puts the new file in the old one's place while the process runs.
@test "a library that was replaced since it was loaded, when it asks for a part" {
    cat >replaces.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    void *library = dlopen("libcudnn.so.9", RTLD_NOW), *handle;
    int (*create)(void **) = library ? (int (*)(void **))dlsym(library, "cudnnCreate") : NULL;
    return !create || rename("set/new", "set/libcudnn.so.9") != 0 || create(&handle) < 0;
}
C
    gcc replaces.c -o replaces -Wl,-rpath,"$PWD/set" -ldl
    cp set/libcudnn.so.9 set/new
    observed ./replaces
    is "$(told file '.fault == "replaced since it was loaded"' '[.path, .size, .request != null, .content]')" \
        "[\"$PWD/set/libcudnn.so.9\",$(stat -c %s set/libcudnn.so.9),true,\"another file than the mapped file\"]"
}

# The library's destructor runs after that of the shim, which was loaded in front of it.
@test "a request of a destructor that runs late, and what the loader says of it" {
    cat >late.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
__attribute__((destructor)) static void late(void) {
    if (!dlopen("libcudnn_late.so.9", RTLD_NOW))
        puts(dlerror());
}
C
    gcc -shared -fPIC late.c -o liblate.so -ldl
    echo '#include <dlfcn.h>
int main(void) { return dlopen("libcudnn_early.so.9", RTLD_NOW) != 0; }' >early.c
    gcc early.c -o early -Wl,--no-as-needed "$PWD/liblate.so" -ldl
    observed ./early
    is "$(told failure '.name == "libcudnn_late.so.9"' .text)" "\"$output\""
}

@test "a library under another name is one by its SONAME" {
    build_host dlopen-path set host
    mkdir other
    cp set/libcudnn.so.9 other/renamed.so
    cp set/libcudnn_*.so.9 other
    observed ./host "$PWD/other/renamed.so" version
    is "$(told object '.role == "facade"' '[.path, .soname, .version, .asked_how, .asked_name]')" \
        "[\"$PWD/other/renamed.so\",\"libcudnn.so.9\",\"9.1.0\",\"dlopen\",\"$PWD/other/renamed.so\"]"
    is "$(told object '.role == "host"' '[.path, .needed]')" \
        "[\"$PWD/host\",$(needs_of host)]"
}

@test "a library under another name is seen at start in a directory of cuDNN's name" {
    site=$PWD/venv/lib/python3.12/site-packages/nvidia/cudnn/lib
    mkdir -p "$site"
    cp set/libcudnn.so.9 "$site/libother.so"
    SHIM="$SHIM $site/libother.so" observed /bin/true
    is "$(told object '.role == "facade"' '[.path, .asked_how]')" "[\"$site/libother.so\",\"preload\"]"
}

# A request that was answered is over: what comes later belongs to whoever brings it.
@test "a library that comes back with another one belongs to that" {
    cat >again.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    void *first = dlopen("libcudnn.so.9", RTLD_NOW);
    if (argc != 2 || !first || !dlsym(first, "cudnnCreate") || dlclose(first) != 0)
        return puts("first"), 1;
    void *second = dlopen(argv[1], RTLD_NOW);
    return second && dlsym(second, "uses") ? 0 : (puts("second"), 1);
}
C
    echo 'extern void *cudnnCreate; void *uses(void) { return &cudnnCreate; }' >needs.c
    gcc -shared -fPIC needs.c -o libneeds.so -Wl,--no-as-needed set/libcudnn.so.9 \
        -Wl,-rpath,"$PWD/set"
    gcc again.c -o again -Wl,-rpath,"$PWD/set" -ldl
    observed ./again "$PWD/libneeds.so"
    is "$(told object '.role == "facade" and .mapped' '[.asked_how, .asked_by]')" \
        "[\"dlopen\",\"$PWD/again\"]
[\"needed\",\"$PWD/libneeds.so\"]"
}

@test "what tells no version has none, and no source of it" {
    echo 'int cudnnCreate(void **handle) { return handle ? 0 : 1; }' >plain.c
    mkdir plain
    gcc -shared -fPIC plain.c -o plain/libcudnn.so.9 -Wl,-soname,libcudnn.so.9
    build_host dlopen-path set host
    observed ./host "$PWD/plain/libcudnn.so.9" create
    is "$(told object '.role == "facade"' '[.path, .version, .version_source]')" \
        "[\"$PWD/plain/libcudnn.so.9\",null,null]"
}

# cuDNN 9 asks for its parts by four names, the first of them with the whole version.
@test "a facade that reveals nothing tells its version by a part that it asks for" {
    cat >asks.c <<'C'
#include <dlfcn.h>
int cudnnCreate(void **handle) {
    return handle && dlopen("libcudnn_graph.so.9.7.0", RTLD_NOW) ? 0 : 1;
}
C
    mkdir asks
    gcc -shared -fPIC asks.c -o asks/libcudnn.so.9 -Wl,-soname,libcudnn.so.9 -ldl
    build_host dlopen-path set host
    observed ./host "$PWD/asks/libcudnn.so.9" create
    is "$(told object '.role == "facade"' '[.version, .version_source]')" '[null,null]
["9.7.0","names it asks for"]'
}

# A question whether it is there already (RTLD_NOLOAD) fails in good health.
@test "what was only looked for among the loaded has not failed" {
    cat >looks.c <<'C'
#include <dlfcn.h>
int main(void) {
    return !dlopen("set/libcudnn.so.9", RTLD_NOW) || dlopen("libcudnn_extra.so.9", RTLD_NOW | RTLD_NOLOAD) ||
           dlopen("libcudnn_missing.so.9", RTLD_NOW) || dlerror() == 0;
}
C
    gcc looks.c -o looks -ldl
    observed ./looks
    is "$(told failure true .name)" '"libcudnn_missing.so.9"'
}
