#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What ended a process outside of dlopen and dlsym: at its start, or at the call of a function that is
# bound lazily; and files that do not open, whatever their names.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    mkdir whole old
    library whole/libshared.so.1 'int one(void) { return 1; } int two(void) { return 2; }'
    library old/libshared.so.1 'int one(void) { return 1; }'
}

library() { # FILE TEXT [FLAG...]
    gcc -shared -fPIC -Wl,-soname,"${1##*/}" -o "$1" -x c - -x none "${@:3}" <<<"$2"
}

# What calls both functions, the second one when it is called, and has them from whole/.
calls() { # OUT TEXT [FLAG...]
    gcc -o "$1" -x c - -x none "${@:3}" -Wl,-z,lazy whole/libshared.so.1 -Wl,-rpath,"${RPATH:-$PWD/whole}" \
        -Wl,--enable-new-dtags <<<"int one(void); int two(void); $2"
}

# python with a cuDNN in it, and then those words.
with_cudnn() { # STATUS WORDS
    [ -d cudnn ] || make_standin --create-status 0 9.1.0 cudnn
    run "-$1" "$CMD" run --log "$PWD/logs/" -- "$PY" -c "import ctypes; ctypes.CDLL('$PWD/cudnn/libcudnn.so.9'); $2"
}

@test "a function that is bound lazily is in no library that was loaded: the repair is played, and repairs" {
    calls extension.so 'int both(void) { one(); return two(); }' -shared -fPIC
    export LD_LIBRARY_PATH=$PWD/old
    with_cudnn 127 "ctypes.CDLL('$PWD/extension.so', 1).both()"
    [[ $output == *"symbol lookup error"* ]]
    [[ $output == *"error[symbol-version-not-found]: extension.so was linked with other libraries"*"two"* ]]
    [[ $output == *"  fix       unset LD_LIBRARY_PATH"*"replayed"* ]]
    unset LD_LIBRARY_PATH
    with_cudnn 0 "ctypes.CDLL('$PWD/extension.so', 1).both()"
    [[ $output == *"cuDNN 9.1.0 from "*$'\nwhichcudnn: ok'* ]]
}

@test "the same of a library of CUDA; where no file has the function, no command is printed" {
    library whole/libcublasLt.so.12 'int cublasLtNewest(void) { return 0; }'
    library old/libcublasLt.so.12 'int cublasLtOlder(void) { return 0; }'
    rm old/libshared.so.1 # a directory with what nothing else leads to is kept, behind another
    library extension.so 'int cublasLtNewest(void); int call(void) { return cublasLtNewest(); }' -Wl,-z,lazy \
        whole/libcublasLt.so.12 -Wl,-rpath,"$PWD/whole"
    export LD_LIBRARY_PATH=$PWD/old
    with_cudnn 127 "ctypes.CDLL('$PWD/extension.so', 1).call()"
    [[ $output == *"error[symbol-version-not-found]"*"cublasLtNewest"*"  fix       unset LD_LIBRARY_PATH"* ]]
    cp old/libcublasLt.so.12 whole/libcublasLt.so.12
    with_cudnn 127 "ctypes.CDLL('$PWD/extension.so', 1).call()"
    [[ $output == *"error[symbol-version-not-found]"*"cublasLtNewest"* && $output != *"  fix  "* ]]
    [[ $output == *"  suggestion "*"not replayed: "* ]]
}

@test "an extension that dlopen refuses for a function: a repair only where a file has the function" {
    calls extension.so 'int both(void) { one(); return two(); }' -shared -fPIC
    export LD_LIBRARY_PATH=$PWD/old
    with_cudnn 1 "ctypes.CDLL('$PWD/extension.so', 2)"
    [[ $output == *"error[symbol-version-not-found]"*"two is in none"*"  fix       unset LD_LIBRARY_PATH"* ]]
    (unset LD_LIBRARY_PATH && with_cudnn 0 "ctypes.CDLL('$PWD/extension.so', 2)")
    cp old/libshared.so.1 whole/libshared.so.1
    with_cudnn 1 "ctypes.CDLL('$PWD/extension.so', 2)"
    [[ $output == *"error[symbol-version-not-found]"*"two is in none"*"  suggestion "* && $output != *"  fix  "* ]]
}

# libshared.so.1 in DIRECTORY, with the second version, and in that the functions given (one() and two()).
versioned() { # DIRECTORY FUNCTIONS
    mkdir -p "$1"
    { echo 'V_1 { global: one; local: *; };'; [ -z "$2" ] || echo "V_2 { global: $2 } V_1;"; } >versions
    library "$1/libshared.so.1" 'int one(void) { return 1; } int two(void) { return 2; } int other(void) { return 3; }' \
        -Wl,--version-script=versions
}

@test "a symbol version: replayed is what has the function, too, whatever the library" {
    versioned whole 'two;'
    versioned old ''
    versioned next 'other;'
    RPATH=$PWD/next calls extension.so 'int both(void) { one(); return two(); }' -shared -fPIC
    export LD_LIBRARY_PATH=$PWD/old
    with_cudnn 1 "ctypes.CDLL('$PWD/extension.so', 2)"
    [[ $output == *"error[symbol-version-not-found]"*"V_2 is not in it"*"  suggestion "* && $output != *"  fix  "* ]]
    (unset LD_LIBRARY_PATH && with_cudnn 1 "ctypes.CDLL('$PWD/extension.so', 2)" &&
        [[ $output == *"undefined symbol: two, version V_2"* ]])
    cp whole/libshared.so.1 next/libshared.so.1
    with_cudnn 1 "ctypes.CDLL('$PWD/extension.so', 2)"
    [[ $output == *"  fix       unset LD_LIBRARY_PATH"*"replayed"* ]]
    (unset LD_LIBRARY_PATH && with_cudnn 0 "ctypes.CDLL('$PWD/extension.so', 2)")
}

@test "a function of a symbol version that is bound lazily, whatever the library" {
    versioned whole 'two;'
    versioned next 'other;'
    RPATH=$PWD/next calls extension.so 'int both(void) { one(); return two(); }' -shared -fPIC
    with_cudnn 127 "ctypes.CDLL('$PWD/extension.so', 1).both()"
    [[ $output == *"undefined symbol: two, version V_2"* ]]
    [[ $output == *"error[symbol-version-not-found]: extension.so was linked with another"*"two is not in it"* ]]
    LD_LIBRARY_PATH=$PWD/whole with_cudnn 0 "ctypes.CDLL('$PWD/extension.so', 1).both()"
    [[ $output == *$'\nwhichcudnn: ok'* ]]
}

@test "the same of a library that the extension needs, and of one of CUDA; one of the environment's repairs" {
    versioned whole 'two;'
    versioned old ''
    versioned next 'other;'
    python3 -m venv --without-pip venv
    local package
    package=$(echo "$PWD"/venv/lib/python3.*/site-packages)/package
    mkdir "$package"
    for name in libmiddle.so.1 libnvJitLink.so.12; do
        RPATH=$PWD/next calls "$name" 'int both(void) { one(); return two(); }' -shared -fPIC -Wl,-soname,"$name"
        library "$package/extension.so" 'int both(void); int call(void) { return both(); }' "$name" -Wl,-rpath,"$PWD"
        export LD_LIBRARY_PATH=$PWD/old
        PY=venv/bin/python with_cudnn 1 "ctypes.CDLL('$package/extension.so', 2)"
        [[ $output == *"error[symbol-version-not-found]: $name was linked with another"*"  suggestion "* && $output != *"  fix  "* ]]
        cp whole/libshared.so.1 venv/lib
        PY=venv/bin/python with_cudnn 1 "ctypes.CDLL('$package/extension.so', 2)"
        [[ $output == *"  fix       export"*"LD_LIBRARY_PATH=$PWD/venv/lib:$PWD/old"* ]]
        export LD_LIBRARY_PATH=$PWD/venv/lib:$PWD/old
        PY=venv/bin/python with_cudnn 0 "ctypes.CDLL('$package/extension.so', 2)"
        rm venv/lib/libshared.so.1
    done
}

# libspeech.so, which calls cuDNN and two(), and libother.so, which calls two() alone.
hosts() {
    make_standin --create-status 0 9.1.0 cudnn
    versioned whole 'two;'
    versioned old ''
    library libspeech.so 'unsigned long cudnnGetVersion(void); int two(void);
        int speak(void) { return two() + (int)cudnnGetVersion(); }' \
        whole/libshared.so.1 cudnn/libcudnn.so.9 -Wl,-rpath,"$PWD/whole:$PWD/cudnn" -Wl,--enable-new-dtags
    library libother.so 'int two(void); int other(void) { return two(); }' whole/libshared.so.1 \
        -Wl,-rpath,"$PWD/whole" -Wl,--enable-new-dtags
    library extension.so 'int speak(void); int call(void) { return speak(); }' libspeech.so -Wl,-rpath,"$PWD"
}

@test "a load that failed counts if what it names, or needs, uses cuDNN; its words need not say so" {
    hosts
    export LD_LIBRARY_PATH=$PWD/old
    for name in libspeech.so extension.so; do
        run -1 "$CMD" run -- "$PY" -c "import ctypes; ctypes.CDLL('$PWD/$name')"
        [[ $output == *"error[symbol-version-not-found]: libspeech.so was linked with another libshared.so.1"* ]]
        [[ $output == *"  fix       unset LD_LIBRARY_PATH"*"replayed: gives 9.1.0"* ]]
        (unset LD_LIBRARY_PATH && run -0 "$CMD" run -- "$PY" -c "import ctypes; ctypes.CDLL('$PWD/$name')" &&
            [[ $output == *"cuDNN 9.1.0 from "*"whichcudnn: ok"* ]])
    done
    run -0 "$CMD" run -- "$PY" -c "import ctypes
try: ctypes.CDLL('$PWD/libspeech.so')
except OSError: pass"
    [[ $output == *"not observed: no cuDNN was loaded or asked for"* ]]
    run -1 "$CMD" run --log "$PWD/logs/" -- "$PY" -c "import ctypes; ctypes.CDLL('$PWD/libother.so')"
    [[ $output == *"not observed: no cuDNN was loaded or asked for"* && -z $(ls logs) ]]
    unset LD_LIBRARY_PATH
    rm whole/libshared.so.1
    run -1 "$CMD" run -- "$PY" -c "import ctypes; ctypes.CDLL('$PWD/libspeech.so')"
    [[ $output == *"error[dependency-missing]: libspeech.so could not be loaded: it needs"*"libshared.so.1"* ]]
}

@test "what a process had survived is repaired as a suggestion while it ends with something else" {
    hosts
    python3 -m venv --without-pip venv
    local site lib why
    site=$(echo "$PWD"/venv/lib/python3.*/site-packages)
    lib=$site/nvidia/cudnn/lib
    make_standin 8.9.2 "$site" --layout pip --build 25 # machines have a cuDNN 9
    mkdir "$site/speech"
    library "$site/speech/libspeech.so" 'unsigned long cudnnGetVersion(void);
        int speak(void) { return (int)cudnnGetVersion(); }' "$lib/libcudnn.so.8"
    rm whole/libshared.so.1
    for name in libasound.so.99 "$PWD/libother.so"; do
        printf '%s\n' 'import ctypes' "try: ctypes.CDLL('$site/speech/libspeech.so')" 'except OSError: pass' \
            "ctypes.CDLL('$name')" >main.py
        run -1 "$CMD" run --log log.jsonl -- venv/bin/python main.py
        [[ $output != *"  fix  "* && $output == *"  suggestion "*"not replayed: "* ]]
        is "$(fixes_of library-not-found checked log.jsonl)" no
        why=${why:-$(fixes_of library-not-found why log.jsonl)}
        rm log.jsonl
    done
    is "$why" "libasound.so.99, with which the process ended, is still not loaded"
    [[ $output == *"error[dependency-missing]: libother.so could not be loaded"* ]]
    # The same repair may bring both.
    library "$lib/libasound.so.99" 'int sound(void) { return 1; }'
    sed -i "s|$PWD/libother.so|libasound.so.99|" main.py
    run -1 "$CMD" run -- venv/bin/python main.py
    [[ $output == *"library-not-found]: libspeech.so needs libcudnn.so.8"*"  fix  "*"LD_LIBRARY_PATH=$lib"* ]]
    LD_LIBRARY_PATH=$lib run -0 venv/bin/python main.py
}

@test "a host of cuDNN that is built for a newer libc: no library repairs it, and a scan says so" {
    hosts
    versioned libc ''
    sed -i 's/V_1/GLIBC_2.2.5/g; s/$/ GLIBC_2.99 { global: two; } GLIBC_2.2.5;/' versions
    library libc/libc.so.6 'int one(void) { return 1; } int two(void) { return 2; }' -nostdlib -Wl,--version-script=versions
    library libspeech.so 'unsigned long cudnnGetVersion(void); int two(void);
        int speak(void) { return two() + (int)cudnnGetVersion(); }' cudnn/libcudnn.so.9 -Llibc -l:libc.so.6 \
        -Wl,-rpath,"$PWD/cudnn"
    run -1 "$CMD" run -- "$PY" -c "import ctypes; ctypes.CDLL('$PWD/libspeech.so')"
    [[ $output == *"error[symbol-version-not-found]: libspeech.so"*"GLIBC_2.99"*"  suggestion install a build of"* ]]
    [[ $output == *"for an older system"* && $output != *"  fix  "* ]]
    mkdir tree && mv libspeech.so tree
    run -1 "$CMD" scan tree
    [[ $output == *"error[symbol-version-not-found]: libspeech.so"*"GLIBC_2.99"*"(predicted)"* ]]
}

@test "a status of 127 that is the program's own names no function" {
    calls extension.so 'int both(void) { one(); return two(); }' -shared -fPIC
    with_cudnn 127 "import sys; ctypes.CDLL('$PWD/extension.so').both(); sys.exit(127)"
    [[ $output == *"unexplained"* && $output != *"symbol"* ]]
    run -127 "$CMD" run -- sh -c nosuchcommand
    [[ $output != *"undefined symbol"* ]]
}

@test "a program that ended at its start, or soon after it: the file that does not serve, and why" {
    local ends="whichcudnn: not observed: it ended in the loader: "
    calls program 'int main(void) { one(); return two() - 2; }'
    LD_LIBRARY_PATH=$PWD/old run -127 "$CMD" run -- ./program
    [[ $output == *"$ends$PWD/program: undefined symbol: two"* ]]
    echo 'cd . && ./program' >job.sh
    LD_LIBRARY_PATH=$PWD/old run -127 "$CMD" run -- sh job.sh
    [[ $output == *"$ends$PWD/program: undefined symbol: two"* ]]
    run -0 "$CMD" run -- ./program
    mkdir loop empty cut text
    ln -s libshared.so.1 loop/libshared.so.1
    : >empty/libshared.so.1
    : >file
    head -c 32 whole/libshared.so.1 >cut/libshared.so.1
    echo "version https://git-lfs.github.com/spec/v1" >text/libshared.so.1
    for row in "loop/libshared.so.1 is a link that points to itself" "empty/libshared.so.1 is empty" \
        "file is not a directory" "cut/libshared.so.1 is a library that is cut short" "text/libshared.so.1 is a "; do
        RPATH=$PWD/${row%%[/ ]*} calls program 'int main(void) { one(); return two() - 2; }'
        run -127 "$CMD" run -- ./program
        [[ $output == *"${ends}libshared.so.1, which $PWD/program needs, was not found: $PWD/$row"* ]]
    done
    RPATH=$PWD/nowhere calls program 'int main(void) { one(); return two() - 2; }'
    run -127 "$CMD" run -- ./program
    [[ $output == *"${ends}libshared.so.1, which $PWD/program needs, was not found" ]]
}

@test "a part that is there and cannot be bound: the function that no library has" {
    make_standin 8.9.7 lib --imports ops_infer=smallEnd --needs ops_infer=libsmall.so.1 # no cache has an 8
    echo 'int smallBegin(void) { return 0; }' | "${CC:-gcc}" -shared -fPIC -Wl,-soname,libsmall.so.1 -o lib/libsmall.so.1 -x c -
    build_host dlopen "$PWD/lib" host
    run ! "$CMD" run --log logs/ -- ./host version create
    [[ $output == *"error[symbol-version-not-found]: libcudnn_ops_infer.so.8 was linked with other libraries"*"smallEnd is in none"* ]]
    # Whether another release of the part needs it, too, no replay shows.
    [[ $output == *"not replayed"* && $output != *"  fix "* ]]
    echo 'int smallEnd(void) { return 0; }' | "${CC:-gcc}" -shared -fPIC -Wl,-soname,libsmall.so.1 -o lib/libsmall.so.1 -x c -
    run -0 "$CMD" run --log logs/ -- ./host version
}

@test "a file of any name that does not open, as the last thing before a bad end, is the finding" {
    mkdir loop
    ln -s libother.so.1 loop/libother.so.1
    : >libempty.so
    with_cudnn 1 "ctypes.CDLL('$PWD/loop/libother.so.1')"
    [[ $output == *"error[bad-file]: "*"libother.so.1, which is a link that leads nowhere"*"  suggestion "* ]]
    with_cudnn 1 "ctypes.CDLL('$PWD/libempty.so')"
    [[ $output == *"error[bad-file]: "*"libempty.so, which is empty"*"  suggestion copy $PWD/libempty.so again"* ]]
    cp whole/libshared.so.1 libempty.so
    with_cudnn 0 "ctypes.CDLL('$PWD/libempty.so')"
    # Caught, and the program ends well, or for something else: no finding.
    : >libempty.so
    for then in "" "; ctypes.CDLL('$PWD/whole/libshared.so.1'); import sys; sys.exit(0)"; do
        with_cudnn 0 "
try: ctypes.CDLL('$PWD/libempty.so')
except OSError: pass
pass$then"
        [[ $output == *"cuDNN 9.1.0 from "*$'\nwhichcudnn: ok'* && $output != *"bad-file"* ]]
    done
}

@test "a file of any name that the system refuses, as the last thing before a bad end" {
    [ "$(id -u)" -eq 0 ] || skip "only root can run it as another user"
    local logs; logs=$(mktemp -d) && chmod 777 "$logs" # where another user gets to
    make_standin --create-status 0 9.1.0 "$logs"
    cp whole/libshared.so.1 "$logs/libclosed.so"
    chmod 600 "$logs/libclosed.so"
    cat >opens.c <<'C'
#include <dlfcn.h>
int main(int count, char **words) {
    for (int i = 1; i < count; i++)
        if (!dlopen(words[i], RTLD_NOW))
            return dlerror() != 0;
    return 0;
}
C
    gcc -o "$logs/opens" opens.c -ldl
    as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
    as_nobody test -x "$CMD" -a -x "$logs/opens" || skip "another user does not get here"
    run -1 as_nobody "$CMD" run --log "$logs" -- "$logs/opens" "$logs/libcudnn.so.9" "$logs/libclosed.so"
    [[ $output == *"error[refused-by-system]: "*"libclosed.so"* ]]
    chmod 644 "$logs/libclosed.so"
    run -0 as_nobody "$CMD" run --log "$logs" -- "$logs/opens" "$logs/libcudnn.so.9" "$logs/libclosed.so"
    rm -r "$logs"
}

@test "a library of any name that was not found, as the last thing before a bad end" {
    local line="ctypes.CDLL('libnowhere.so.1')"
    with_cudnn 1 "$line"
    [[ $output == *"warning[dependency-missing]: "*" asked for libnowhere.so.1, which was not found"* ]]
    run -1 "$CMD" run --text -- "$PY" -c "import ctypes; ctypes.CDLL('$PWD/cudnn/libcudnn.so.9'); $line" # its last words
    [[ $output == *"error[dependency-missing]: "*" asked for libnowhere.so.1, which was not found"* ]]
    with_cudnn 0 $'\ntry: '"$line"$'\nexcept OSError: pass'
    [[ $output == *$'\nwhichcudnn: ok'* ]]
    with_cudnn 3 $'\ntry: '"$line"$'\nexcept OSError: import mmap, sys\nsys.exit(3)' # more came behind it
    [[ $output == *$'\nwhichcudnn: unexplained: '* && $output != *"[dependency-missing]"* ]]
}

@test "a host that was refused is told of though its program looked for another way before it gave up" {
    make_standin --create-status 0 9.1.0 cudnn
    library libspeech.so 'unsigned long cudnnGetVersion(void); int one(void); int speak(void) { return one() + (int)cudnnGetVersion(); }' \
        whole/libshared.so.1 cudnn/libcudnn.so.9 -Wl,-rpath,"$PWD/cudnn"
    printf 'import ctypes, sys\ntry: ctypes.CDLL("libspeech.so")\nexcept OSError: import mmap, zlib\nsys.exit(3)\n' >speech.py
    export LD_LIBRARY_PATH=$PWD
    run -3 "$CMD" run -- "$PY" speech.py
    [[ $output == *"error[dependency-missing]: libspeech.so could not be loaded: it needs libshared.so.1"* ]]
    [[ $output == *"  fix       export LD_LIBRARY_PATH=$PWD/whole:$PWD"* ]] # without it libspeech.so itself is not found
    LD_LIBRARY_PATH=$PWD:$PWD/whole run -3 "$CMD" run -- "$PY" speech.py
    [[ $output != *"[dependency-missing]"* ]]
}

@test "what each plug-in lacks that a program skipped without a word, and then gave up" {
    make_standin 7.6.5 cudnn # a major that no loader cache has
    library first.so 'int one(void); int backend(void) { return one(); }' whole/libshared.so.1
    library second.so 'unsigned long cudnnGetVersion(void); int backend(void) { return (int)cudnnGetVersion(); }' cudnn/libcudnn.so.7
    gcc -o host -x c - <<'END'
#include <dlfcn.h>
int main(int n, char **names) {
    for (int i = 1; i < n; i++)
        if (dlopen(names[i], RTLD_NOW))
            return 0;
    return 1;
}
END
    run -1 "$CMD" run --log log.jsonl -- ./host ./first.so ./second.so
    [[ $output == *"error[library-not-found]: second.so needs libcudnn.so."*", which was not found"* ]]
    run -1 "$CMD" run -- ./host ./second.so ./first.so
    [[ $output == *"[library-not-found]: second.so needs libcudnn.so."*", which was not found"* ]]
    [[ $output == *"[dependency-missing]: first.so could not be loaded: it needs libshared.so.1"* ]]
    LD_LIBRARY_PATH=$PWD/cudnn run -0 "$CMD" run -- ./host ./first.so ./second.so
    [[ $output == *"cuDNN 7.6"* && $output != *"[dependency-missing]"* ]]
}

@test "what is missing at the second step: who needs it, which CUDA is there, a dead link" {
    mkdir gone toolkit
    opens() { run -1 "$CMD" run --log log.jsonl -- "$PY" -c "import ctypes; ctypes.CDLL('$PWD/opened.so')"; }
    library gone/libcudart.so.7.5 'int cudart;'
    library toolkit/libcudart.so.8.0 'int cudart;'
    library libmiddle.so 'int middle;' -Wl,--no-as-needed gone/libcudart.so.7.5
    library opened.so 'int opened;' -Wl,--no-as-needed ./libmiddle.so -Wl,-rpath,"$PWD"
    rm -r gone
    LD_LIBRARY_PATH=$PWD/toolkit opens
    output=$(tr -s ' \n' ' ' <<<"$output")
    [[ $output == *"opened.so could not be loaded: libmiddle.so needs libcudart.so.7.5, which was not found"* ]]
    [[ $output == *"that is for the CUDA that is installed, or rebuild it: it needs libcudart.so.7.5"* ]]
    [[ $output == *"needed by $PWD/libmiddle.so"* ]]
    # The same where the file itself needs it.
    mkdir gone
    library gone/libcudart.so.7.5 'int cudart;'
    library opened.so 'int opened;' -Wl,--no-as-needed gone/libcudart.so.7.5
    rm -r gone log.jsonl
    LD_LIBRARY_PATH=$PWD/toolkit opens
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"opened.so could not be loaded: it needs libcudart.so.7.5"*"for the CUDA that is installed"* ]]
    # Of the file itself the search is known, and is not looked for twice.
    library opened.so 'int opened;' -Wl,--no-as-needed toolkit/libcudart.so.8.0 ./libmiddle.so -Wl,-rpath,"$PWD"
    rm -r toolkit log.jsonl
    opens
    is "$(records search log.jsonl | jq -r .caller | sort)" "$PWD/opened.so"
    # The needer finds a link that leads nowhere, and the file beside it.
    make_standin 8.0.4 old
    library libmiddle.so 'int middle;' -Wl,--no-as-needed old/libcudnn.so.8
    mv old/libcudnn.so.8 old/libcudnn.so.8.0.4
    rm log.jsonl
    library opened.so 'int opened;' -Wl,--no-as-needed ./libmiddle.so -Wl,-rpath,"$PWD"
    ln -s libcudnn.so.8.0.3 old/libcudnn.so.8
    LD_LIBRARY_PATH=$PWD/old opens
    [[ $output == *"error[bad-file]: opened.so needs libcudnn.so.8, which is a link that leads nowhere"* ]]
    eval "$(fixes_of bad-file command log.jsonl | head -n 1)"
    LD_LIBRARY_PATH=$PWD/old "$PY" -c "import ctypes; ctypes.CDLL('$PWD/opened.so')"
}

@test "a file of another machine, or cut short, that ends a process without cuDNN" {
    library other.so 'int one(void) { return 1; }'
    "$PY" - <<'END'
data = bytearray(open("other.so", "rb").read())
data[18] = 0xb7 if data[18] == 0x3e else 0x3e # its machine
open("other.so", "wb").write(data)
END
    run -1 "$CMD" run -- "$PY" -c "import ctypes; ctypes.CDLL('$PWD/other.so')"
    [[ $output == *"error[bad-file]: "*" asked for other.so, which is a 64-bit library for "*"$PWD/other.so"* ]]
    run -0 "$CMD" run -- "$PY" -c "import ctypes
try: ctypes.CDLL('$PWD/other.so')
except OSError: pass"
    [[ $output != *"other.so"* ]]
    library cut.so 'int one(void) { return 1; } char large[1 << 20] = {1};'
    truncate -s 20000 cut.so
    run -135 "$CMD" run -- "$PY" -c "import ctypes; ctypes.CDLL('$PWD/cut.so')"
    [[ $output == *"error[bad-file]: "*" asked for cut.so, which is a library that is cut short:"*"20000 of "* ]]
}
