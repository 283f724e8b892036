#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Packages of cuDNN whose files are gone or are another package's, in site-packages as pip makes
# them. What a fix asks for is then done, and must do.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    site=$PWD/venv/lib/python3.12/site-packages
    make_standin 9.1.0 "$site" --layout pip --build 70
    mkdir -p "$site/engine" logs
    of_python venv
}

with_shim() {
    LD_PRELOAD=$SHIM WHICHCUDNN_LOG=$PWD/logs WHICHCUDNN_STDERR=off "$@"
}

watched() { # STATUS COMMAND...
    rm -f logs/*
    run -"$1" with_shim "${@:2}"
    log=$(the_log logs)
    validate_log "$log"
}

first_finding() { "$CMD" report --json "$log" | jq -r ".findings[0].id"; }
findings() { "$CMD" report --json "$log" | jq -c "[.findings[].id]"; }
of_package() { records package "$log" | jq -c --arg name "$1" "select(.package == \$name) | $2"; }
of_finding() { "$CMD" report --json "$log" | jq -r --arg id "$1" ".findings[] | select(.id == \$id) | $2"; }

# A host of nobody's, whose search path leads into an environment: what is listed there is not there.
@test "a package whose files are gone, by a search path that leads to where they were" {
    local site=$PWD/other/lib/python3.12/site-packages lib
    make_standin 8.9.2 "$site" --layout pip --build 26 # this computer's cache may have a 9
    lib=$site/nvidia/cudnn/lib
    build_host lazy "$lib" linked
    build_host dlopen "$lib" opener
    rm "$lib"/*
    for _ in files directory; do
        run -127 env WHICHCUDNN_SHIM="$SHIM" "$CMD" run --log logs/ -- ./linked version
        [[ $output == *"error[installation-incomplete]: nvidia-cudnn-cu12 8.9.2.26 is listed as installed"* ]]
        rm logs/*
        run env WHICHCUDNN_SHIM="$SHIM" "$CMD" run --log logs/ -- ./opener version
        [[ $output == *"error[installation-incomplete]: nvidia-cudnn-cu12 8.9.2.26 is listed as installed"* ]]
        rm -rf logs/* "$lib" # then with its directory
    done
}

@test "a Python program that failed before it asked for cuDNN: what the lists of its environment say" {
    "$WC_PYTHON" -m venv --without-pip env
    local own lib
    own=$(echo "$PWD"/env/lib/python3*/site-packages)
    lib=$own/nvidia/cudnn/lib
    make_standin 9.8.0 "$own" --layout pip --build 70
    run -1 "$CMD" run --log logs/ -- env/bin/python -c 'raise SystemExit(1)'
    [[ $output == *"not observed: no cuDNN was loaded or asked for"*"next     whichcudnn run --text"* ]]
    cp "$lib/libcudnn.so.9" "$lib/libcudnn.so.9.20261130" # cudnn-frontend gives up where there are two
    run -1 "$CMD" run --log logs/ -- env/bin/python -c 'raise SystemExit(1)'
    [[ $output == *"warning[installation-mixed]: next to the files of nvidia-cudnn-cu12 9.8.0.70 is"*libcudnn.so.9.20261130* ]]
    run -0 "$CMD" run --log logs/ -- env/bin/python -c ''
    [[ $output != *installation-mixed* ]]
}

@test "a wheel that is whole is told once and is no finding" {
    build_host opened-now "$site/nvidia/cudnn/lib" host
    for name in libcudnn.so.9.bak libcudnn_ops.so.9.bak-1 libcudnn.so.9.save-20261130; do
        cp "$site"/nvidia/cudnn/lib/libcudnn.so.9 "$site/nvidia/cudnn/lib/$name" # which the loader never asks for
    done
    watched 0 ./host version create
    is "$(records package "$log" | wc -l)" 1
    is "$(of_package nvidia-cudnn-cu12 '[.package_state, .package_version, .missing_count, .missing, .changed, .foreign]')" \
        '["complete","9.1.0.70",0,[],[],[]]'
    is "$(findings)" '["driver-missing"]'
}

@test "a Python in a virtual environment: what its wheel has, and what a bare name led to" {
    "$WC_PYTHON" -m venv --without-pip env
    own=$(echo "$PWD"/env/lib/python3*/site-packages)
    make_standin 9.8.0 "$own" --layout pip --build 70
    make_standin 8.9.7 system
    ln -s libcudnn.so.8 system/libcudnn.so
    cat >script.py <<'END'
import ctypes, sys
print(ctypes.CDLL(sys.argv[1]).cudnnGetVersion())
END
    for python in "$PWD/env/bin/python" env/bin/python; do
        LD_LIBRARY_PATH=$PWD/system watched 0 "$python" script.py libcudnn.so
        is "$output" 8907
        is "$(of_package nvidia-cudnn-cu12 .prefix)" "\"$own\""
        is "$(first_finding)" own-copy-unused
        is "$(of_finding own-copy-unused .severity | tail -n 1)" warning
    done
    # The wheel has no such name: a path in front that names its directory would change nothing.
    is "$(fixes_of own-copy-unused action "$log" | head -n 1)" link
    (eval "$(fixes_of own-copy-unused command "$log" | head -n 1)" &&
        env/bin/python script.py libcudnn.so | grep -x 90800)
    # By its number nothing leads past the system's; by the path it is what was meant.
    LD_LIBRARY_PATH=$PWD/system watched 0 env/bin/python script.py libcudnn.so.8
    is "$(findings)" '[]'
    LD_LIBRARY_PATH=$PWD/system watched 0 env/bin/python script.py "$own/nvidia/cudnn/lib/libcudnn.so.9"
    is "$(findings)" '[]'
    # With the link it is the path in front alone that leads past it.
    LD_LIBRARY_PATH=$PWD/system watched 0 env/bin/python script.py libcudnn.so
    is "$(fixes_of own-copy-unused action "$log" | head -n 1)" set-variable
    fixes_of own-copy-unused command "$log" | head -n 1 | grep -F "export LD_LIBRARY_PATH=$own/nvidia/cudnn/lib"
}

package() { # NAME REQUIREMENT: of Python files, whose import opens the wheel's cuDNN, else any
    mkdir -p "$own/$1" "$own/$1-2.1.dist-info"
    cat >"$own/$1/__init__.py" <<'END'
import ctypes, os, sys
path = os.path.join(os.path.dirname(__file__), "../nvidia/cudnn/lib/libcudnn.so.9")
library = ctypes.CDLL(path if os.path.exists(path) else "libcudnn.so.9")
sys.exit(library.cudnnGetVersion() < 90800)
END
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: 2.1\nRequires-Dist: %s\n' "$1" "$2" >"$own/$1-2.1.dist-info/METADATA"
    printf '%s/__init__.py,,\n' "$1" >"$own/$1-2.1.dist-info/RECORD"
}

title() { "$CMD" report --json "$log" | jq -r ".findings[0].title"; }

@test "a package that opens cuDNN by ctypes is the host, by what it requires" {
    unshare -Urm true || skip "no namespaces of users here"
    "$WC_PYTHON" -m venv --without-pip env
    own=$(echo "$PWD"/env/lib/python3*/site-packages)
    echo 'import wavegen' >gen.py
    package wavegen 'nvidia-cudnn-cu12<10,>=9.8'
    # A cuDNN of this machine's would be taken.
    # shellcheck disable=SC2016
    alone=(unshare -Urm sh -c 'mount --bind /dev/null /etc/ld.so.cache && mount --bind /dev/null /etc/ld.so.conf && exec "$@"' sh)
    watched 1 "${alone[@]}" env/bin/python gen.py
    is "$(title)" "wavegen 2.1 asked for libcudnn.so.9, which was not found"
    fixes_of library-not-found command "$log" | head -n 1 | grep -F "'nvidia-cudnn-cu12<10,>=9.8'"
    make_standin 9.1.0 "$own" --layout pip --build 70
    watched 1 env/bin/python gen.py
    is "$(title)" "wavegen 2.1 got cuDNN 9.1.0, requires <10,>=9.8"
    fixes_of runtime-too-old command "$log" | head -n 1 | grep -F "'nvidia-cudnn-cu12<10,>=9.8'"
    package tts 'nvidia-cudnn-cu12>=9.8' # both may have asked
    watched 1 env/bin/python gen.py
    [[ $(title) == "gen.py got cuDNN 9.1.0, requires "* ]]
    rm -r "$own"/tts*
    # A requirement that is met, one of an extra, and one of a package that asks by its own library.
    for other in '>=9.0' '>=9.8; extra == "gpu"'; do
        package wavegen "nvidia-cudnn-cu12$other"
        watched 1 env/bin/python gen.py
        is "$(findings)" '[]'
    done
    package wavegen 'nvidia-cudnn-cu12>=9.8'
    echo 'wavegen/_C.so,,' >>"$own/wavegen-2.1.dist-info/RECORD"
    watched 1 env/bin/python gen.py
    is "$(findings)" '[]'
    echo 'wavegen/bin/wavegen,,' >"$own/wavegen-2.1.dist-info/RECORD" # nor of one that is a program
    watched 1 env/bin/python gen.py
    is "$(findings)" '[]'
}

@test "a wheel whose files are gone is why the load failed" {
    build_host opened-now "$site/nvidia/cudnn/lib" "$site/engine/host"
    mv "$site/nvidia" away
    watched 1 without_cache "$site/engine/host" version create
    is "$(of_package nvidia-cudnn-cu12 '[.package_state, .missing_count == .file_count]')" '["incomplete",true]'
    is "$(first_finding)" installation-incomplete
    is "$(of_finding installation-incomplete .severity | tail -n 1)" error
    is "$(of_finding library-not-found .explained_by | tail -n 1)" installation-incomplete
    is "$(fixes_of installation-incomplete action "$log" | head -n 1)" reinstall
    make_standin 9.1.0 "$site" --layout pip --build 70
    watched 0 "$site/engine/host" version create
    is "$(findings)" '["driver-missing"]'
}

# cudnn-frontend: by the wheel's path where there is a file, else by two bare names.
@test "a wheel that its host opens by a path, by bare names where the path has no file: put back" {
    unshare -Urm true || skip "no namespaces of users here"
    "$WC_PYTHON" -m venv --without-pip env
    own=$(echo "$PWD"/env/lib/python3*/site-packages)
    make_standin 9.8.0 "$own" --layout pip --build 70
    mkdir "$own/cudnn"
    "${CC:-gcc}" -shared -fPIC -x c /dev/null -o "$own/cudnn/_compiled_module.cpython-312-x86_64-linux-gnu.so"
    cat >script.py <<'END'
import ctypes, glob, os, sys
site = sys.argv[1]
ctypes.CDLL(glob.glob(site + "/cudnn/*.so")[0])
found = glob.glob(site + "/nvidia/cudnn/lib/libcudnn.so.*[0-9]")
for name in found or ["libcudnn.so.9", "libcudnn.so"]:
    try:
        print(ctypes.CDLL(name).cudnnGetVersion())
        break
    except OSError:
        pass
else:
    sys.exit(1)
END
    rm -r "$own/nvidia"
    local alone=(unshare -Urm sh -c 'mount --bind /dev/null /etc/ld.so.cache && mount --bind /dev/null /etc/ld.so.conf && exec "$@"' sh)
    run -1 "${alone[@]}" "$CMD" run --quiet --log logs -- env/bin/python script.py "$own"
    "${alone[@]}" "$CMD" report --json logs >report.json || true
    is "$(jq -c '.findings[0] | [.id, .fix[0].action, .fix[0].checked]' report.json)" \
        '["installation-incomplete","reinstall","replayed"]'
}

@test "a part that is gone is named" {
    build_host opened-now "$site/nvidia/cudnn/lib" host
    rm "$site/nvidia/cudnn/lib/libcudnn_graph.so.9"
    watched 134 without_cache ./host version
    is "$(of_finding installation-incomplete '[.severity, .title]' | jq -c . | tail -n 1)" \
        '["error","1 of the 8 cuDNN libraries of nvidia-cudnn-cu12 9.1.0.70 is missing"]'
}

@test "a part that nobody asked for yet is a warning" {
    build_host opened-now "$site/nvidia/cudnn/lib" host
    rm "$site/nvidia/cudnn/lib/libcudnn_adv.so.9"
    watched 0 ./host version create
    is "$(findings)" '["driver-missing","installation-incomplete"]'
    is "$(of_package nvidia-cudnn-cu12 .missing)" '["nvidia/cudnn/lib/libcudnn_adv.so.9"]'
}

@test "two wheels that own one path are told, and which to uninstall" {
    build_host opened-now "$site/nvidia/cudnn/lib" host
    make_standin 9.2.0 "$site" --layout pip --build 82 --distribution nvidia-cudnn-cu11 \
        --without facade
    watched 0 ./host version create
    is "$(first_finding)" installation-mixed
    is "$(of_package nvidia-cudnn-cu12 .shared_with)" '["nvidia-cudnn-cu11 9.2.0.82"]'
    is "$(of_finding facade-and-parts-differ .explained_by | tail -n 1)" installation-mixed
    fixes_of installation-mixed command "$log" | grep -Fx \
        'pip download --no-deps -d cudnn-wheels nvidia-cudnn-cu12==9.1.0.70 && pip uninstall -y nvidia-cudnn-cu11 && pip install --no-index --find-links cudnn-wheels --force-reinstall --no-deps nvidia-cudnn-cu12==9.1.0.70'
    rm -r "$site"/nvidia_cudnn_cu11-*
    make_standin 9.1.0 "$site" --layout pip --build 70
    watched 0 ./host version create
    is "$(findings)" '["driver-missing"]'
}

@test "files copied over a wheel's own are told" {
    build_host opened-now "$site/nvidia/cudnn/lib" host
    make_standin 9.2.0 other
    cp other/* "$site/nvidia/cudnn/lib"
    echo >>"$site/nvidia/cudnn/lib/libcudnn_ops.so.9"
    watched 0 ./host version create
    is "$(findings)" '["driver-missing","installation-mixed"]'
    is "$(of_package nvidia-cudnn-cu12 '.changed | contains(["nvidia/cudnn/lib/libcudnn_ops.so.9"])')" true
    is "$(of_finding installation-mixed .severity | tail -n 1)" warning
    echo >"$site/nvidia/cudnn/lib/libcudnn_new.so.9"
    echo >"$site/nvidia/cudnn/lib/libcudnn_ops.so.9.bak" # by no such name anything is asked for
    watched 0 ./host version create
    is "$(of_package nvidia-cudnn-cu12 '.foreign | length')" 1
}

@test "the copy that a wheel brings says what it was built with" {
    make_standin 8.3.2 "$site/torch/lib"
    make_standin 8.0.3 module
    build_host opened-now "$site/torch/lib" host
    mv host.so "$site/torch/lib/libtorch_cuda.so"
    ln -s "$site/torch/lib/libtorch_cuda.so" host.so
    mkdir "$site/torch-1.12.1.dist-info"
    printf 'Name: torch\n' >"$site/torch-1.12.1.dist-info/METADATA"
    LD_LIBRARY_PATH=$PWD/module watched 0 ./host version
    is "$(first_finding)" runtime-too-old
    is "$(records demand "$log" | jq -c 'select(.demand_kind == "built") | [.built, .source]')" \
        '["8.3.2","libcudnn_ops_infer.so.8 of torch 1.12.1"]'
    watched 0 ./host version
    is "$(findings)" '[]'
}

@test "a library that is mounted over the image's own is told so" {
    unshare -rm true 2>/dev/null || skip "no mount namespace of one's own"
    make_standin 9.1.0 image
    make_standin 9.2.0 outside
    build_host opened-now "$PWD/image" host
    watched 0 unshare -rm sh -c 'mount --bind outside/libcudnn_graph.so.9 image/libcudnn_graph.so.9 &&
        exec ./host version'
    is "$(records object "$log" | jq -c 'select(.part == "graph") | [.installation_kind, .mount]')" \
        "[\"container-mount\",\"$PWD/image/libcudnn_graph.so.9\"]"
    is "$(records object "$log" | jq -c 'select(.role == "facade") | [.installation_kind, .mount]')" \
        '["directory",null]'
    is "$(first_finding)" facade-and-parts-differ
    [[ $(of_finding facade-and-parts-differ .facts) == *"container-mount"* ]]
}
