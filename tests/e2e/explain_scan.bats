#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn explain --text FILE --scan ENV: a text joined with the environment that it came from. In each of these the
# text names a library that is missing or wrong there, and the answer ends in a command.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset VIRTUAL_ENV CONDA_PREFIX CUDA_HOME CUDA_PATH LD_LIBRARY_PATH
    site=$PWD/env/lib/python3.12/site-packages
    mkdir -p env/bin "$site"
    printf 'home = /usr/bin\n' >env/pyvenv.cfg
}

# A wheel of cuDNN, and a package whose extension is linked with it and finds it there.
wheel() { make_standin --layout pip --build "$2" "${@:3}" "$1" "$site"; }
package() { # REQUIRED [FLAG...]: the rest to the linker
    mkdir -p "$site/frame" "$site/frame-2.0.dist-info" built
    build_host library-lazy "${BUILT_WITH:-$site/nvidia/cudnn/lib}" frame --no-rpath \
        -Wl,--disable-new-dtags -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib" "${@:2}"
    mv frame.so "$site/frame/_C.so"
    rm -f frame
    printf 'Metadata-Version: 2.1\nName: frame\nVersion: 2.0\nRequires-Dist: nvidia-cudnn-cu12%s\n' "$1" \
        >"$site/frame-2.0.dist-info/METADATA"
    echo 'frame/_C.so,,' >"$site/frame-2.0.dist-info/RECORD"
}

# Without what this machine's loader cache has.
joined() { # TEXT
    echo "$1" >printed
    run unshare -Urm sh -c 'mount --bind /dev/null /etc/ld.so.cache && mount --bind /dev/null /etc/ld.so.conf && exec "$@"' sh \
        "$CMD" explain --text printed --scan env
}
ends_in() { # FINDING COMMAND
    [[ $output == *"text and scan say: "*"$1"* ]] || { echo "$output"; return 1; }
    [[ $output == *"[$1]: "*"  fix  "* && $output == *"$2"* && $output == *"replayed"* ]] || { echo "$output"; return 1; }
}

@test "1: the facade's wheel is not installed" {
    wheel 9.9.0 52
    package '<10.0,>=9.8'
    rm -r "$site"/nvidia*
    joined "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory"
    ends_in library-not-found "pip install 'nvidia-cudnn-cu12<10.0,>=9.8'"
}

@test "2: a part is not among the wheel's files" {
    wheel 9.1.0 70
    package '==9.1.0.70'
    rm "$site"/nvidia/cudnn/lib/libcudnn_cnn.so*
    joined "Unable to load any of {libcudnn_cnn.so.9.1.0, libcudnn_cnn.so.9.1, libcudnn_cnn.so.9, libcudnn_cnn.so}"
    ends_in installation-incomplete "pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.1.0.70"
}

@test "3: the framework compares, and the wheel is older" {
    wheel 9.1.0 70
    package '<10.0,>=9.8'
    joined "Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.8.0"
    ends_in runtime-too-old "pip install 'nvidia-cudnn-cu12<10.0,>=9.8'"
}

@test "4: the program's own check; the text alone says what is required" {
    wheel 9.1.0 70
    package ''
    joined "RuntimeError: cuDNN SDPA requires backend version >= 92100, found 90100"
    ends_in runtime-too-old "pip install 'nvidia-cudnn-cu12"
}

@test "5: a part of another release lies among the wheel's" {
    wheel 9.10.2 21
    package '==9.10.2.21'
    make_standin 9.1.0 old
    cp old/libcudnn_graph.so.9 "$site/nvidia/cudnn/lib/libcudnn_graph.so.9"
    joined "Could not load symbol cudnnGetLibConfig. Error: $site/nvidia/cudnn/lib/libcudnn_graph.so.9: undefined symbol: cudnnGetLibConfig"
    [[ $output == *"text and scan say: parts-differ"*"[parts-differ]: "*"  fix  "*"nvidia-cudnn-cu12==9.10.2.21"* ]]
}

@test "6: a file is cut off" {
    wheel 9.9.0 52
    package '>=9.8'
    truncate -s 100 "$site/nvidia/cudnn/lib/libcudnn.so.9"
    joined "ImportError: $site/nvidia/cudnn/lib/libcudnn.so.9: file too short"
    ends_in bad-file "pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.9.0.52"
}

@test "7: linked with cuDNN 8, and 9 is installed" {
    wheel 9.8.0 87
    make_standin 8.9.2 eight
    BUILT_WITH=$PWD/eight package ''
    joined "OSError: libcudnn.so.8: cannot open shared object file: No such file or directory"
    ends_in library-not-found "pip install 'nvidia-cudnn-cu12>=8,<9'"
}

@test "8: a function that came with a later release" {
    wheel 9.9.0 52
    package '>=9'
    printf '%s\n' 'int cudnnCreate(void **), cudnnBackendPopulateCudaGraph(void);' \
        'int start(void **h) { return cudnnCreate(h) + cudnnBackendPopulateCudaGraph(); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$site/frame/_C.so" -L "$site/nvidia/cudnn/lib" -l:libcudnn.so.9 \
            -Wl,--disable-new-dtags -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib"
    rm -r "$site"/nvidia*
    wheel 9.1.0 70
    joined "ImportError: $site/frame/_C.so: undefined symbol: cudnnBackendPopulateCudaGraph"
    ends_in symbol-version-not-found "pip install 'nvidia-cudnn-cu12"
}

@test "9: a library of CUDA that the extension needs" {
    wheel 9.9.0 52
    mkdir cublas
    make_standin --empty libcublas.so.12 cublas
    package '>=9.8' -L"$PWD/cublas" -Wl,--no-as-needed -l:libcublas.so.12
    rm -r cublas # where it would be found near what was searched
    joined "ImportError: libcublas.so.12: cannot open shared object file: No such file or directory"
    ends_in dependency-missing "nvidia-cublas-cu12"
}

@test "10: files of two wheels in one directory" {
    wheel 9.10.2 21
    package '>=9.8'
    make_standin --layout pip --distribution nvidia-cudnn-cu13 --build 75 9.11.0 "$site"
    joined "cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"
    [[ $output == *"text and scan say: installation-mixed"*"[installation-mixed]: "*"  fix  "*"nvidia-cudnn-cu13"* ]]
}

@test "the other environments of a scan are left out; without a text's finding each is there; what goes with what" {
    wheel 9.1.0 70
    package '<10.0,>=9.8'
    cp -r env second
    rm second/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn_cnn.so*
    sed -i 's/>=9.8/>=9.0/' second/lib/python3.12/site-packages/frame-2.0.dist-info/METADATA
    mkdir both
    mv env second both
    echo "Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.8.0" >printed
    run -1 "$CMD" explain --text printed --scan both/env
    [[ $output == *"error[runtime-too-old]"*"  fix  "* ]]
    is "$("$CMD" explain --json --text printed --scan both/env | jq -r '.report.findings[0].id')" runtime-too-old
    echo "Unable to load any of {libcudnn_cnn.so.9.1.0, libcudnn_cnn.so}" >printed
    run "$CMD" explain --text printed --scan both
    [[ $output == *"[installation-incomplete]"* && $output != *"runtime-too-old"* ]]
    run "$CMD" explain --text - --scan both <<<"nothing that is known"
    [[ $output == *"[installation-incomplete]"* && $output == *"runtime-too-old"* ]]
    mkdir empty
    run -3 --separate-stderr "$CMD" explain --text printed --scan empty
    [[ $stderr == *"empty: no library there uses cuDNN"* ]]
    run -2 --separate-stderr "$CMD" explain --text printed --scan missing
    [[ $stderr == *"missing: "* ]]
    run -2 "$CMD" explain --scan empty
    run -2 "$CMD" explain --text printed --scan empty printed
    [[ $output == *"--scan goes with --text FILE, and without a log"* ]]
}
