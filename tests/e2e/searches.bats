#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# By which rule the loader found what it found, and what else stood there: what the log says against
# where the files were put, and against the loader's own words (LD_DEBUG=libs).

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_standin 9.1.0 one
    make_standin 9.19.0 two
    mkdir logs empty
}

# A library with a search tag that needs cuDNN, and a program that needs it.
build_library() { # NAME LINK-OPTION...
    local name=$1
    shift
    printf 'size_t cudnnGetVersion(void); size_t host_%s(void); size_t host_%s(void) { return cudnnGetVersion(); }' \
        "$name" "$name" | cc_of "$name" "$@" one/libcudnn.so.9
}
cc_of() { # NAME OPTION...: an object of the C source on standard input
    local name=$1
    shift
    (echo '#include <stddef.h>'; cat) | "${CC:-gcc}" -shared -fPIC -o "lib$name.so" \
        -Wl,-soname,"lib$name.so" -xc - -xnone "$@"
}
build_opener() { # a program that opens what it is given and calls host_NAME() in it
    "${CC:-gcc}" -o opener "$@" -xc - -ldl <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int count, char **names) {
    for (int i = 1; i < count; i++) {
        char function[64] = "host_";
        const char *base = strrchr(names[i], '/');
        void *library = dlopen(names[i], RTLD_NOW);
        if (!library)
            puts(dlerror());
        else if (base && strncmp(base, "/lib", 4) == 0) {
            strncat(function, base + 4, strcspn(base + 4, "."));
            size_t (*call)(void) = (size_t (*)(void))dlsym(library, function);
            if (call)
                printf("%zu\n", call());
        }
    }
    return 0;
}
C
}

observed() { # COMMAND...
    run -0 env LD_PRELOAD="$SHIM" WHICHCUDNN_LOG="$PWD/logs" WHICHCUDNN_STDERR=off "$@"
    log=$(the_log logs)
    validate_log "$log"
}
search_of() { # NAME KEYS
    records search "$log" | jq -c --arg name "$1" "select(.name == \$name) | $2"
}
candidates() { records candidate "$log" | jq -c '[.path, .rule, .element, .index, .beaten, .file_state, .version]'; }
finding() { "$CMD" report --json "$log" | jq -r ".findings[].id" | sort -u | paste -sd " "; }

@test "DT_RUNPATH, with a copy of the default search behind it" {
    build_library a "-Wl,--enable-new-dtags,-rpath,\$ORIGIN/empty:\$ORIGIN/one"
    build_opener
    observed ./opener ./liba.so
    is "$(search_of libcudnn.so.9 '[.rule, .element, .index, .of, .takes]')" \
        "[\"DT_RUNPATH\",\"\$ORIGIN/one\",1,\"./liba.so\",\"$PWD/./one/libcudnn.so.9\"]"
}

@test "LD_LIBRARY_PATH comes before DT_RUNPATH, which would have led elsewhere" {
    build_library a "-Wl,--enable-new-dtags,-rpath,$PWD/two"
    build_opener
    LD_LIBRARY_PATH=$PWD/empty:$PWD/one observed ./opener ./liba.so
    is "$(search_of libcudnn.so.9 '[.rule, .element, .index, .of]')" \
        "[\"LD_LIBRARY_PATH\",\"$PWD/one\",1,null]"
    is "$(search_of libcudnn.so.9 '.searched')" \
        "[\"LD_LIBRARY_PATH $PWD/empty/\",\"LD_LIBRARY_PATH $PWD/one/\"]"
    is "$(candidates | head -n 1)" \
        "[\"$PWD/two/libcudnn.so.9\",\"DT_RUNPATH\",\"$PWD/two\",0,true,\"fits\",\"9.19.0\"]"
    [[ "$(finding)" == *shadowed-copy* ]]
}

@test "DT_RPATH comes before LD_LIBRARY_PATH" {
    build_library a "-Wl,--disable-new-dtags,-rpath,$PWD/one"
    build_opener
    LD_LIBRARY_PATH=$PWD/two observed ./opener ./liba.so
    is "$(search_of libcudnn.so.9 '[.rule, .element, .of]')" \
        "[\"DT_RPATH\",\"$PWD/one\",\"./liba.so\"]"
    is "$(candidates | head -n 1)" \
        "[\"$PWD/two/libcudnn.so.9\",\"LD_LIBRARY_PATH\",\"$PWD/two\",0,true,\"fits\",\"9.19.0\"]"
    [[ "$(finding)" != *shadowed-copy* ]]
}

@test "DT_RPATH of what loaded the library that needs cuDNN" {
    build_library a
    printf 'int nothing;' | cc_of b -Wl,--no-as-needed -L. -la "-Wl,--disable-new-dtags,-rpath,$PWD:$PWD/one"
    build_opener
    observed ./opener ./libb.so
    is "$(search_of libcudnn.so.9 '[.rule, .element, .index, .of, .caller]')" \
        "[\"DT_RPATH\",\"$PWD/one\",1,\"./libb.so\",\"$PWD/liba.so\"]"
}

@test "DT_RPATH of the library that opened another does not count for what that one needs" {
    build_library a
    printf '#include <dlfcn.h>
size_t host_opens(void); size_t host_opens(void) { return dlopen("liba.so", RTLD_NOW) != NULL; }' |
        cc_of opens "-Wl,--disable-new-dtags,-rpath,$PWD:$PWD/one" -ldl
    build_opener
    LD_LIBRARY_PATH=$PWD/two observed ./opener ./libopens.so
    is "$output" 1
    is "$(search_of libcudnn.so.9 '[.rule, .caller, .searched]')" \
        "[\"LD_LIBRARY_PATH\",\"$PWD/liba.so\",[\"LD_LIBRARY_PATH $PWD/two/\"]]"
}

@test "what was passed over: another machine's file, told with what it is" {
    build_library a "-Wl,--enable-new-dtags,-rpath,$PWD/one"
    build_opener
    cp one/libcudnn.so.9 empty/
    printf '\xb7' | dd of=empty/libcudnn.so.9 bs=1 seek=18 conv=notrunc status=none
    [ "$(uname -m)" = x86_64 ]
    LD_LIBRARY_PATH=$PWD/empty observed ./opener ./liba.so
    is "$(search_of libcudnn.so.9 .rule)" '"DT_RUNPATH"'
    is "$(candidates | head -n 1 | jq -c '.[0,1,4,5]' | paste -sd ' ')" \
        "\"$PWD/empty/libcudnn.so.9\" \"LD_LIBRARY_PATH\" false \"other class or machine\""
}

@test "a file that was refused is named without the slashes at its directory's end" {
    build_opener
    echo 'no library' >empty/libcudnn.so.9
    LD_LIBRARY_PATH=$PWD/empty// observed ./opener libcudnn.so.9
    is "$(records file "$log" | jq -r .path)" "$PWD/empty/libcudnn.so.9"
}

@test "a host that gets what another one loaded: its own search is told" {
    build_library a "-Wl,--enable-new-dtags,-rpath,$PWD/one"
    build_library b "-Wl,--enable-new-dtags,-rpath,$PWD/two"
    build_opener
    observed ./opener ./liba.so ./libb.so
    is "$output" '90100
90100'
    is "$(search_of libcudnn.so.9 'select(.rule == "already loaded") | [.caller, .takes]')" \
        "[\"./libb.so\",\"$PWD/two/libcudnn.so.9\"]"
    [[ "$(finding)" == *already-loaded-by-soname* ]]
    # In the other order it is the other one's; with one copy for both there is nothing to tell.
    rm logs/*
    build_library b "-Wl,--enable-new-dtags,-rpath,$PWD/one"
    observed ./opener ./liba.so ./libb.so
    [[ "$(finding)" != *already-loaded-by-soname* ]]
}

@test "a preloaded facade stands before what the program that is linked with another finds" {
    build_host lazy two program -Wl,-rpath,"$PWD/two"
    run -0 env LD_PRELOAD="$PWD/one/libcudnn.so.9 $SHIM" WHICHCUDNN_LOG="$PWD/logs" WHICHCUDNN_STDERR=off ./program version
    log=$(the_log logs)
    validate_log "$log"
    is "$(search_of libcudnn.so.9 '[.rule, .takes, (.caller // "" | split("/") | last)]')" \
        "[\"LD_PRELOAD\",\"$PWD/one/libcudnn.so.9\",null]
[\"already loaded\",\"$PWD/two/libcudnn.so.9\",\"program\"]"
    [[ "$(finding)" == *already-loaded-by-soname* ]]
    rm logs/*
    run -0 env LD_PRELOAD="$PWD/two/libcudnn.so.9 $SHIM" WHICHCUDNN_LOG="$PWD/logs" WHICHCUDNN_STDERR=off ./program version
    log=$(the_log logs)
    is "$(search_of libcudnn.so.9 .rule)" '"LD_PRELOAD"' # it would have got the same
}

@test "a facade asked for by name, when one is there" {
    build_library a "-Wl,--enable-new-dtags,-rpath,$PWD/one"
    build_opener "-Wl,--enable-new-dtags,-rpath,$PWD/two"
    observed ./opener ./liba.so libcudnn.so.9 ./nothing.so
    is "$(search_of libcudnn.so.9 'select(.rule == "already loaded") | [.caller, .takes]')" \
        "[\"$PWD/opener\",\"$PWD/two/libcudnn.so.9\"]"
}

@test "what is asked for only where it is there already is not searched for" {
    build_library a "-Wl,--enable-new-dtags,-rpath,$PWD/one"
    "${CC:-gcc}" -o asks -xc - -ldl -Wl,--enable-new-dtags,-rpath,"$PWD/two" <<'C'
#include <dlfcn.h>
int main(void) {
    return !(dlopen("./liba.so", RTLD_NOW) && dlopen("libcudnn.so.9", RTLD_NOW | RTLD_NOLOAD));
}
C
    observed ./asks
    is "$(search_of libcudnn.so.9 .rule)" '"DT_RUNPATH"'
    [[ "$(finding)" != *already-loaded-by-soname* ]]
}

@test "what answers to a name by its SONAME alone was found" {
    build_library a "-Wl,--enable-new-dtags,-rpath,$PWD/one"
    printf 'int nothing;' | cc_of asked
    mv libasked.so renamed.so
    build_opener
    observed ./opener ./liba.so ./renamed.so libasked.so ./nowhere.so ./liba.so
    is "$(records failure "$log" | jq -r .name | grep -v cudnn)" ./nowhere.so
}

@test "not found: another name of the library beside where the loader looked" {
    build_opener
    make_standin 8.9.2 eight
    cp eight/libcudnn.so.8 empty/libcudnn.so.8.9.2
    LD_LIBRARY_PATH=$PWD/empty observed ./opener libcudnn.so.8
    is "$(records file "$log" | jq -r .path)" "$PWD/empty/libcudnn.so.8.9.2"
}

@test "not found: every directory that was searched, and the copy that was not" {
    build_opener "-Wl,--enable-new-dtags,-rpath,$PWD/empty"
    mkdir -p cuda/lib64
    make_standin 8.9.2 cuda/lib64
    LD_LIBRARY_PATH=$PWD/nowhere observed ./opener libcudnn.so.8
    log_directories=$(search_of libcudnn.so.8 '.searched[]' | jq -r . | grep -v '(not there)' | sed 's/.* \//\//')
    is "$log_directories" "$(LD_DEBUG=libs LD_LIBRARY_PATH=$PWD/nowhere ./opener libcudnn.so.8 2>&1 |
        sed -n 's/.*trying file=//p' | grep -v 'hwcaps\|/tls/\|haswell\|avx512\|/x86_64/' |
        grep 'libcudnn.so.8$' | sed 's/libcudnn.so.8$//')"
    is "$(search_of libcudnn.so.8 '.searched[0]')" "\"LD_LIBRARY_PATH $PWD/nowhere/ (not there)\""
    rm logs/*
    CUDA_HOME=$PWD/cuda observed ./opener libcudnn.so.8
    is "$(records candidate "$log" | jq -c '[.path, .rule]')" \
        "[\"$PWD/cuda/lib64/libcudnn.so.8\",\"not searched\"]"
    is "$(fixes_of library-not-found command "$log" | head -n 1)" "export LD_LIBRARY_PATH=$PWD/cuda/lib64"
}

@test "what a library that was opened needs and does not find: where it was searched, and a copy" {
    build_library a
    make_standin 8.9.2 eight
    patch_needed() { sed -i 's/libcudnn\.so\.9/libcudnn.so.8/g' "$1"; }
    patch_needed liba.so
    build_opener
    mkdir -p cuda
    mv eight cuda/lib64
    CUDA_HOME=$PWD/cuda LD_LIBRARY_PATH=$PWD/empty observed ./opener ./liba.so
    [[ "$output" == *"libcudnn.so.8: cannot open shared object file"* ]]
    is "$(search_of libcudnn.so.8 '[.rule, .caller, .takes, .searched[0]]')" \
        "[null,\"./liba.so\",null,\"LD_LIBRARY_PATH $PWD/empty/\"]"
    is "$(records demand "$log" | jq -c '[.host, .host_path, .demand_kind, .spec]' | head -n 1)" \
        '[null,"./liba.so","needed","==8.*"]'
    is "$(fixes_of library-not-found command "$log" | head -n 1)" "export LD_LIBRARY_PATH=$PWD/cuda/lib64:$PWD/empty"
}

@test "what the cuDNN of a library that was opened needs and does not find: by whom it was searched" {
    build_library a "-Wl,-rpath,$PWD/one"
    patchelf --add-needed libcublasLt.so.9 one/libcudnn.so.9
    build_opener
    observed ./opener ./liba.so
    is "$(search_of libcublasLt.so.9 '[.caller, .takes]')" "[\"$PWD/one/libcudnn.so.9\",null]"
}

@test "who asks in vain: what its package requires is what is to be installed" {
    local site=$PWD/lib/python3.12/site-packages
    of_python .
    mkdir -p "$site/jaxlib" "$site/jaxlib-0.4.30.dist-info"
    build_opener
    mv opener "$site/jaxlib"
    printf 'Name: jaxlib\nVersion: 0.4.30\nRequires-Dist: nvidia-cudnn-cu12<9.0,>=8.9\n' \
        >"$site/jaxlib-0.4.30.dist-info/METADATA"
    printf 'jaxlib/opener,,\n' >"$site/jaxlib-0.4.30.dist-info/RECORD"
    observed "$site/jaxlib/opener" libcudnn.so.8 libcudnn.so.8
    is "$(records demand "$log" | jq -c '[.host, .host_path, .demand_kind, .spec, .package]')" \
        "[null,\"$site/jaxlib/opener\",\"required\",\"<9.0,>=8.9\",\"nvidia-cudnn-cu12\"]"
    is "$(fixes_of library-not-found command "$log" | head -n 1)" \
        "pip install 'nvidia-cudnn-cu12<9.0,>=8.9' && export LD_LIBRARY_PATH=$site/nvidia/cudnn/lib"
}

@test "unobserved: by which rule, where the loader was told more than the environment says" {
    local loader
    build_library a "-Wl,--enable-new-dtags,-rpath,$PWD/two"
    build_opener
    loader=$(readelf -lW opener | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
    observed "$loader" --library-path "$PWD/one" ./opener ./liba.so
    is "$output" 90100
    is "$(search_of libcudnn.so.9 '[.rule, .element, .takes]')" "[null,null,\"$PWD/two/libcudnn.so.9\"]"
}
