#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Fixes that were printed once and repaired nothing: now each is played first, over the process's own
# requests. What is printed is then done, and must do.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset LD_LIBRARY_PATH VIRTUAL_ENV CONDA_PREFIX CUDA_HOME CUDA_PATH
    ! ldconfig -p | grep -q 'libcudnn\.so\.8 ' || skip "a cuDNN 8 of this computer's would fill the gaps"
    site=$PWD/venv/lib/python3.12/site-packages
    mkdir -p "$site/engine" logs
    of_python venv
}

# engine VERSIONS [SEARCHED]: a program of the package engine, which requires that of NVIDIA's wheel.
engine() {
    local info=$site/engine-1.0.dist-info
    mkdir -p "$info"
    build_host dlopen "${2:-$site/nvidia/cudnn/lib}" "$site/engine/host" ${3:+"$3"}
    printf 'Metadata-Version: 2.1\nName: engine\nVersion: 1.0\nRequires-Dist: nvidia-cudnn-cu12%s\n' "$1" >"$info/METADATA"
    printf 'engine/host,,\n' >"$info/RECORD"
}

wheel() { # VERSION BUILD
    make_standin "$1" "$site" --layout pip --build "$2"
}

observed() { # [NAME=VALUE]...
    rm -f logs/*
    # shellcheck disable=SC2086  # words
    run env "$@" LD_PRELOAD="$SHIM" WHICHCUDNN_LOG="$PWD/logs" WHICHCUDNN_STDERR=off "$site/engine/host" version ${calls-}
    "$CMD" report --json logs >report.json || true
    validate_report report.json
}

finding() { jq -c --arg id "$1" ".findings[] | select(.id == \$id) | $2" report.json; }
# The kinds of edits of all fixes of a finding: "set", "remove reinstall".
edits() { finding "$1" '.fix[] | [.edits[].edit] | join(" ")' | tr -d '"'; }
# None of its fixes has such an edit.
never() { # FINDING EDIT
    [ -n "$(finding "$1" .id)" ] || { echo "no $1"; return 1; }
    ! edits "$1" | grep -qw "$2"
}
played() { # each fix was, or says why not, and has no command then
    jq -e 'all(.findings[].fix[]; (.checked == "replayed" and .why == null) or
        (.checked == "no" and .why != null and .command == null))' report.json >/dev/null
}

@test "where a path variable wins over the wheel, the wheel is not installed once more" {
    wheel 8.9.2 26
    make_standin 8.5.0 module
    engine '>=8.8,<9'
    observed LD_LIBRARY_PATH="$PWD/module"
    is "$(jq -r '.findings[0].id' report.json)" runtime-too-old
    is "$(jq -r '.findings[0].fix[0] | "\(.command), \(.checked)"' report.json)" "unset LD_LIBRARY_PATH, replayed"
    [[ $(jq -r '.findings[0].fix[0].gives' report.json) == "8.9.2 from $site/nvidia/cudnn/lib" ]]
    never runtime-too-old install
    never runtime-too-old reinstall
    played
    observed
    is "$(jq '.findings | length' report.json)" 0
}

@test "a variable that something between sets is that one's to change: it is said, and no shell is told to" {
    wheel 8.9.2 26
    make_standin 8.5.0 module
    engine '>=8.8,<9'
    local starts=("exec env LD_LIBRARY_PATH=$PWD/module \"\$0\" version" "LD_LIBRARY_PATH=$PWD/module \"\$0\" version; exit \$?"
        "LD_LIBRARY_PATH= LD_PRELOAD=\$LD_PRELOAD:$PWD/module/libcudnn.so.8 \"\$0\" version; exit \$?")
    local says=("let the command start the process without LD_LIBRARY_PATH" "let sh start the process without LD_LIBRARY_PATH"
        "let sh start the process without LD_PRELOAD") i
    for i in "${!starts[@]}"; do
        rm -f logs/*
        run env -u LD_LIBRARY_PATH "$CMD" run --log logs/ -- sh -c "${starts[i]}" "$site/engine/host"
        [[ $output == *"${says[i]:0:40}"* ]]
        "$CMD" report --json logs >report.json || true
        validate_report report.json
        is "$(finding runtime-too-old '.fix[0] | [.text, .command, .checked]')" "$(jq -cn '$ARGS.positional + [null, "replayed"]' --args "${says[i]}")"
        run ! jq -e '[.. | .command? | select(. != null) | select(test("LD_LIBRARY_PATH|LD_PRELOAD"))] | length > 0' report.json
        run -5 "$CMD" fix --apply --yes logs
    done
    # What the user gave and every process has is the user's, whoever hands it on.
    rm -f logs/*
    run env LD_LIBRARY_PATH="$PWD/module" "$CMD" run --log logs/ -- sh -c '"$0" version; exit $?' "$site/engine/host"
    [[ $output == *"unset LD_LIBRARY_PATH"* ]]
}

@test "what a launcher puts before the user's value stays there: the user gives what comes behind" {
    local behind
    mkdir own given
    make_standin 8.9.7 given/lib64
    build_host dlopen given/lib64 host --no-rpath
    for behind in ':$LD_LIBRARY_PATH' ''; do
        run env LD_LIBRARY_PATH="$PWD/given" "$CMD" run --quiet --log logs/ -- \
            sh -c "exec env LD_LIBRARY_PATH=$PWD/own$behind ./host version"
        [ "$status" -ne 0 ]
        "$CMD" report --json logs >report.json || true
        is "$(finding library-not-found '.fix[0] | [.command, .checked]')" "$(
            [ -z "$behind" ] && echo '[null,"replayed"]' ||
                echo "[\"export LD_LIBRARY_PATH=$PWD/given/lib64:$PWD/given\",\"replayed\"]")"
        rm -r logs
    done
}

@test "a program that puts its own directories before the user's: no line of a script unsets them" {
    mkdir -p app/_internal
    make_standin 8.9.7 app/lib
    build_host dlopen app/lib app/host --no-rpath
    printf '#!/bin/sh\n%s\n' './app/start version' >start.sh
    gcc -xc - -o app/start <<'END' # as PyInstaller's bootloader
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char value[9000], *given = getenv("LD_LIBRARY_PATH"), *here = getcwd(NULL, 0);
    sprintf(value, "%s/app/_internal%s%s", here, given ? ":" : "", given ? given : "");
    setenv("LD_LIBRARY_PATH", value, 1);
    return argc > 1 && execv("app/host", argv);
}
END
    run -1 env -u LD_LIBRARY_PATH "$CMD" run --quiet --log logs/ -- sh start.sh
    "$CMD" report --json logs >report.json || true
    is "$(finding library-not-found '.fix[0] | [.command, .checked]')" \
        "[\"export LD_LIBRARY_PATH=$PWD/app/lib\",\"replayed\"]"
    eval "$(finding library-not-found '.fix[0].command' | jq -r .)"
    run -0 sh start.sh
}

@test "where it brings a part of an installation that is itself not whole, it is the variable all the same" {
    local other=$PWD/other/lib/python3.12/site-packages
    wheel 9.8.0 87
    make_standin 9.1.0 "$other" --layout pip --build 70
    rm "$other"/nvidia/cudnn/lib/libcudnn_adv.so.9
    engine '>=9.8,<10' "$site/nvidia/cudnn/lib" "-Wl,--disable-new-dtags,-rpath,$site/nvidia/cudnn/lib"
    calls=create observed LD_LIBRARY_PATH="$other/nvidia/cudnn/lib"
    is "$(jq -r '.findings[0].id' report.json)" facade-and-parts-differ
    [ -n "$(finding installation-incomplete .id)" ]
    is "$(finding facade-and-parts-differ '.fix[0].command')" '"unset LD_LIBRARY_PATH"'
    played
}

@test "what does the same and more is no other way out" {
    wheel 9.1.0 70
    engine '>=9.21,<10'
    calls=create observed
    [ -n "$(finding driver-missing .id)" ] # which nothing cures, so that two edits at once are played
    edits runtime-too-old | grep -qx install
    run ! grep -E '^install .|. install$' <(edits runtime-too-old)
}

@test "a plan looks at each path once, however often it is played" {
    command -v strace >/dev/null || skip "no strace"
    wheel 9.1.0 70
    engine '>=9.8,<10'
    make_standin 9.2.0 module
    observed LD_LIBRARY_PATH="$PWD/module:$PWD/elsewhere"
    strace -o calls "$CMD" report --json logs >report.json || [ $? -eq 1 ]
    is "$(finding runtime-too-old '.fix[0].checked')" '"replayed"'
    # Of what is listed and of what is there, and each file that is read to its end.
    is "$(sed -n 's/^newfstatat(AT_FDCWD, "\(\/[^"]*\)".*/\1/p' calls | sort | uniq -d)" ''
    is "$(sed -n 's/^openat(AT_FDCWD, "\([^"]*\)".*\(O_DIRECTORY\).*/\1/p' calls | sort | uniq -d)" ''
    is "$(sed -n 's/^openat(AT_FDCWD, "\([^"]*\(RECORD\|METADATA\|INSTALLER\)\)".*/\1/p' calls | sort | uniq -d)" ''
    # 40 plays of some hundred searches, each of which would ask the system for 20 paths.
    wc -l calls
    [ "$(wc -l <calls)" -lt 5000 ]
}

@test "a package whose list never had the file is not installed once more for it" {
    wheel 8.9.2 26
    engine '>=8.8,<9'
    rm "$site"/nvidia/cudnn/lib/libcudnn.so.8
    sed -i '/libcudnn\.so\.8,/d' "$site"/nvidia_cudnn_cu12-8.9.2.26.dist-info/RECORD
    observed
    is "$(jq -r '.findings[0].id' report.json)" library-not-found
    never library-not-found reinstall
    never library-not-found install # for pip it is there
    played
}

@test "a package whose list has it is" {
    wheel 8.9.2 26
    engine '>=8.8,<9'
    rm "$site"/nvidia/cudnn/lib/libcudnn.so.8
    observed
    id=$(jq -r '.findings[0].id' report.json)
    edits "$id" | grep -qx reinstall
    is "$(jq -r '.findings[0].fix[0].command' report.json)" \
        "pip install --force-reinstall --no-deps nvidia-cudnn-cu12==8.9.2.26"
    played
}

@test "nothing is installed alone to where the host never looks" {
    make_standin 8.9.2 elsewhere
    engine '>=8.8,<9' "$PWD/elsewhere"
    rm elsewhere/*
    observed
    is "$(jq -r '.findings[0].id' report.json)" library-not-found
    is "$(edits library-not-found | grep -cx install)" 0
    edits library-not-found | grep -qx "install set"
    [[ $(jq -r '.findings[0].fix[0].command' report.json) == "pip install "*" && export LD_LIBRARY_PATH=$site/nvidia/cudnn/lib" ]]
    played
}

@test "of two flavours in one folder one goes and the other is put back, which is no loop" {
    wheel 8.9.2 26
    engine '>=8.8,<9'
    cp -r "$site"/nvidia_cudnn_cu12-8.9.2.26.dist-info "$site"/nvidia_cudnn_cu11-8.9.2.26.dist-info
    sed -i s/cu12/cu11/ "$site"/nvidia_cudnn_cu11-8.9.2.26.dist-info/METADATA
    observed
    is "$(edits installation-mixed | sort -u)" "remove reinstall"
    finding installation-mixed '.fix[].command' |
        grep -qE '"pip download --no-deps -d cudnn-wheels (nvidia-cudnn-cu12==[0-9.]+) && pip uninstall -y nvidia-cudnn-cu11 && pip install --no-index --find-links cudnn-wheels --force-reinstall --no-deps \1"'
    played
    # The one that an installed package requires stays, whichever that is.
    first() { finding installation-mixed '.fix[0].edits | map(.name) | join(" ")'; }
    is "$(first)" '"nvidia-cudnn-cu11 nvidia-cudnn-cu12"'
    sed -i s/cu12/cu11/ "$site"/engine*.dist-info/METADATA
    observed
    is "$(first)" '"nvidia-cudnn-cu12 nvidia-cudnn-cu11"'
}

# nvidia-cudnn-cu13 9.20 and a newer cuDNN of the system's (pytorch/pytorch#188892): the same release
# again does not bring the part.
@test "a part that came from the system, since the release has none: the nearest release that has it" {
    unshare -Urm true || skip "no namespaces of users here"
    local alone=(unshare -Urm sh -c 'mount --bind cache /etc/ld.so.cache && mount --bind /dev/null /etc/ld.so.conf && exec "$@"' sh)
    make_standin 9.20.0 "$site" --layout pip --distribution nvidia-cudnn-cu13 --build 48 \
        --probes graph=libcudnn_engines_tensor_ir.so.9
    make_standin 9.23.2 system --only engines_tensor_ir
    echo "$PWD/system" >conf
    ldconfig -C cache -f conf -X
    engine ''
    sed -i 's/cu12/cu13/' "$site"/engine*.dist-info/METADATA
    ran() {
        "${alone[@]}" "$CMD" run --quiet --log logs -- "$site/engine/host" version create
        "${alone[@]}" "$CMD" report --json logs >report.json || true
    }
    ran
    is "$(finding part-from-other-installation '.fix[0] | [.command, .checked]')" \
        "[\"pip install 'nvidia-cudnn-cu13>=9.21,<9.22'\",\"replayed\"]"
    never part-from-other-installation reinstall
    finding part-from-other-installation '.facts[].value' |
        grep -x '"cuDNN 9.20.0 looks for engines_tensor_ir, which its packages hold from 9.21 on"'
    # A pin that it breaks is said in the same line.
    sed -i 's/cu13/cu13==9.20.0.48/' "$site"/engine*.dist-info/METADATA
    "${alone[@]}" "$CMD" report --json logs >report.json || true
    is "$(finding part-from-other-installation '.fix[] | select(.command) | [.command, .checked]')" \
        "[\"pip install 'nvidia-cudnn-cu13>=9.21,<9.22'\",\"replayed\"]"
    "${alone[@]}" "$CMD" report -v logs | grep -q 'but engine 1.0 requires ==9.20.0.48'
    # Where a variable brought it, the release works as its package has it: without that part.
    rm logs/*
    local calls=create LD_LIBRARY_PATH=$PWD/system alone=(env)
    export LD_LIBRARY_PATH
    ran
    is "$(finding part-from-other-installation '.fix[0] | [.command, .checked]')" '["unset LD_LIBRARY_PATH","replayed"]'
    unset LD_LIBRARY_PATH
    rm -r "$site"/nvidia* logs/*
    make_standin 9.21.1 "$site" --layout pip --distribution nvidia-cudnn-cu13 --build 3 \
        --probes graph=libcudnn_engines_tensor_ir.so.9
    ran
    is "$(finding part-from-other-installation .id)" ""
}

@test "a name that is asked for is not taken away: a link, and no other name" {
    make_standin 8.9.2 lib
    engine '>=8.8,<9' "$PWD/lib"
    mv lib/libcudnn.so.8 lib/libcudnn.so.8.9.2
    observed
    link=$(jq -r '.findings[0].fix[] | select(.edits[0].edit == "link") | .command' report.json | head -n 1)
    is "$link" "ln -s libcudnn.so.8.9.2 $PWD/lib/libcudnn.so.8"
    run ! grep -E '"command": "mv ' report.json
    eval "$link"
    observed
    is "$output" "version 8902"
    is "$(jq '[.findings[] | select(.severity == "error")] | length' report.json)" 0
}

@test "no link says another release than it leads to" {
    make_standin 8.9.2 lib
    engine '>=8.8,<9' "$PWD/lib"
    mv lib/libcudnn.so.8 lib/libcudnn.so.8.9.2
    ln -s libcudnn.so.8.9.2 lib/libcudnn.so.8
    run "$CMD" run --quiet --log logs -- python3 -c "import ctypes; ctypes.CDLL('$PWD/lib/libcudnn.so.8.9.7')"
    "$CMD" report --json logs >report.json || true
    never library-not-found link
}

@test "a mere note takes nothing away that a working program needs" {
    wheel 8.9.2 26
    make_standin 8.5.0 module
    engine '>=8.0,<9'
    # It finds another library by that variable.
    mkdir plugins
    echo 'int plugin;' | "${CC:-gcc}" -shared -fPIC -x c - -o plugins/libplugin.so
    cat >main.py <<'END'
import ctypes, sys
ctypes.CDLL("libplugin.so")
ctypes.CDLL("libcudnn.so.8")
END
    rm -f logs/*
    run -0 env LD_LIBRARY_PATH="$PWD/module:$site/nvidia/cudnn/lib:$PWD/plugins" \
        "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding shadowed-copy .severity)" '"note"'
    run ! jq -e '.. | .command? | select(. == "unset LD_LIBRARY_PATH")' report.json
    played
}

@test "diff and check say the repair of what a side has" {
    wheel 8.9.2 26
    make_standin 8.5.0 module
    engine '>=8.8,<9'
    observed
    "$CMD" lock -o stack.lock logs
    cp -r logs good
    observed LD_LIBRARY_PATH="$PWD/module"
    run -1 --separate-stderr "$CMD" diff good logs
    grep -qxF "         fix unset LD_LIBRARY_PATH" <<<"$output"
    run -1 --separate-stderr "$CMD" diff --json good logs
    is "$(jq -c '.a.fix, (.b.fix[0] | [.command, .checked])' <<<"$output")" '[]
["unset LD_LIBRARY_PATH","replayed"]'
    run -1 --separate-stderr "$CMD" check stack.lock logs
    grep -qxF "         fix unset LD_LIBRARY_PATH" <<<"$output"
    run -1 --separate-stderr "$CMD" check --json stack.lock logs
    is "$(jq -c '.processes[0].now.fix[0] | [.command, .checked]' <<<"$output")" '["unset LD_LIBRARY_PATH","replayed"]'
}

@test "a log of another computer: no command, and why" {
    wheel 8.9.2 26
    make_standin 8.5.0 module
    engine '>=8.8,<9'
    observed LD_LIBRARY_PATH="$PWD/module"
    sed -i 's/"node":"[^"]*"/"node":"elsewhere"/' logs/*
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '[.findings[0].fix[] | [.checked, .command]] | unique' report.json)" '[["no",null]]'
    is "$(jq -r '.findings[0].fix[0].why' report.json)" "the program ran on another machine"
}

@test "functions of a copy that was opened for itself alone: no path brings them, it is preloaded" {
    wheel 8.9.2 26
    echo 'int cudnnCreate(void **); int start(void **h) { return cudnnCreate(h); }' |
        "${CC:-gcc}" -shared -fPIC -z now -x c - -o "$site/engine/_engine.so"
    cat >main.py <<END
import ctypes
ctypes.CDLL("$site/nvidia/cudnn/lib/libcudnn.so.8")
ctypes.CDLL("$site/engine/_engine.so")
END
    "$CMD" run --quiet --log logs -- python3 main.py || true
    "$CMD" report --json logs >report.json || true
    is "$(finding missing-symbols '[.fix[] | [.command, .checked]]')" \
        "[[\"export LD_PRELOAD=$site/nvidia/cudnn/lib/libcudnn.so.8\",\"replayed\"]]"
    rm -f logs/*
    LD_PRELOAD=$site/nvidia/cudnn/lib/libcudnn.so.8 run -0 "$CMD" run --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(jq '[.. | .severity? | select(. == "error")] | length' report.json)" 0
}

@test "nothing is written to where nobody can write" {
    [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || skip "needs a mount of its own"
    wheel 8.5.0 96
    make_standin 8.9.2 newer
    engine '>=8.8,<9'
    observed
    [[ $(edits runtime-too-old) == *install* ]]
    unshare -m sh -c "mount --bind venv venv && mount -o remount,ro,bind venv && '$CMD' report --json logs" >report.json || true
    [[ $(finding runtime-too-old '[.fix[].command] | join(" ")') == *" --target $PWD/cudnn-8."* ]]
    [[ $(finding runtime-too-old '[.fix[].command] | join(" ")') != *"$site"* ]]
    unshare -m sh -c "mount --bind . . && mount -o remount,ro,bind . && cd '$PWD' && '$CMD' report --json logs" >report.json || true
    is "$(finding runtime-too-old '[.fix[].command] | all(. == null)')" true # nor beside it
    never runtime-too-old reinstall
    played
}

@test "who may not write to an environment is told the repair, and no command that would fail" {
    local as=()
    [ "$(id -u)" -ne 0 ] || as=(setpriv --bounding-set -dac_override --inh-caps -dac_override)
    wheel 8.5.0 96
    engine '>=8.8,<9'
    observed
    [[ $(jq -r '.findings[0].fix[0].command' report.json) == "pip install "* ]]
    chmod a-w "$site"
    "${as[@]}" "$CMD" report --json logs >report.json || true
    chmod u+w "$site"
    is "$(jq -c '.findings[0].fix[0] | [.command, .checked, .edits[0].edit]' report.json)" '[null,"replayed","install"]'
}

# The program itself leaves no word of how it ended, the command that it was of does.
@test "a note of what a script has run well changes nothing that it got" {
    make_standin 9.1.0 one
    make_standin 9.8.0 other
    echo 'import ctypes; ctypes.CDLL("libcudnn.so.9").cudnnGetVersion()' >main.py
    printf '#!/bin/sh\npython3 main.py\n:\n' >job.sh
    chmod +x job.sh
    run -0 env LD_LIBRARY_PATH="$PWD/one:$PWD/other" "$CMD" run --quiet --log logs -- ./job.sh
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '.. | objects | select(.id? == "shadowed-copy") | [.severity, .fix[].command]' report.json)" '["note",null]'
}

@test "to silence a note nothing is put into a variable" {
    wheel 8.9.2 26
    make_standin 8.9.2 download --create-status 0
    echo 'int cudnnCreate(void **); int start(void **h) { return cudnnCreate(h); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$site/engine/_engine.so" -L "$site/nvidia/cudnn/lib" -l:libcudnn.so.8 \
            -Wl,-rpath,"$site/nvidia/cudnn/lib"
    cat >main.py <<END
import ctypes
ctypes.CDLL("$PWD/download/libcudnn.so.8")
ctypes.CDLL("$site/engine/_engine.so").start(ctypes.byref(ctypes.c_void_p()))
END
    run -0 "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding already-loaded-by-soname .severity)" '"note"'
    is "$(jq -c '[.. | .command? | strings]' report.json)" '[]'
    played
}

# Its cuDNN would have asked for libcublas, had it come so far.
@test "of a program that failed early no directory is taken away that has CUDA's libraries" {
    make_standin 9.1.0 one
    make_standin --empty libcublas.so.12 one
    make_standin 9.8.0 other
    echo 'import ctypes, sys; sys.exit(ctypes.CDLL("libcudnn.so.9").cudnnGetVersion() < 90800)' >main.py
    run -1 env LD_LIBRARY_PATH="$PWD/one:$PWD/other" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding shadowed-copy '[.fix[].command]')" "[\"export LD_LIBRARY_PATH=$PWD/other:$PWD/one\"]"
    rm -f logs/*
    run -0 env LD_LIBRARY_PATH="$PWD/other:$PWD/one" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '[.. | .command? | strings]' report.json)" '[]'
}

@test "a child that asked a copy of LD_LIBRARY_PATH for its version and gave up explains its program's end" {
    make_standin 9.1.0 old --create-status 0
    make_standin 9.8.0 own
    echo 'import ctypes, sys; sys.exit(ctypes.CDLL("libcudnn.so.9").cudnnGetVersion() < 90800)' >child.py
    cat >main.py <<'END'
import os, subprocess, sys
env = dict(os.environ, LD_LIBRARY_PATH=sys.argv[1])
sys.exit(subprocess.run([sys.executable, "child.py"], env=env, capture_output=True).returncode)
END
    run -1 "$CMD" run --log logs -- python3 main.py "$PWD/old:$PWD/own"
    [[ $output == *"warning[shadowed-copy]"*"fix       let line 2 of $PWD/main.py start the process"* ]]
    [[ $output != *unexplained* ]]
    run -0 "$CMD" run --log logs -- python3 main.py "$PWD/own:$PWD/old"
    [[ $output != *fix* ]]
    # One that used it is not known to have failed because of it.
    echo 'ctypes.CDLL("libcudnn.so.9").cudnnCreate(ctypes.byref(ctypes.c_void_p())); sys.exit(1)' >>child.py
    sed -i '1s/sys.exit(\(.*\) < 90800)/\1/' child.py
    run -1 "$CMD" run --log logs -- python3 main.py "$PWD/old:$PWD/own"
    [[ $output == *unexplained*"note[shadowed-copy]"* ]]
}

@test "packages in a folder of pip install --target: a command for that folder, which does" {
    local command site=$PWD/pkgs
    make_standin 9.1.0 "$site" --layout pip --build 70
    mkdir -p "$site/engine" "$site/nvidia/cublas/lib" "$site/nvidia_cublas_cu12-12.8.4.1.dist-info"
    touch "$site/nvidia/cublas/lib/libcublas.so.12"
    printf 'Name: nvidia-cublas-cu12\n' >"$site/nvidia_cublas_cu12-12.8.4.1.dist-info/METADATA"
    engine '>=9.8,<10'
    observed
    command="pip install --no-deps --upgrade --target cudnn-wheels 'nvidia-cudnn-cu12>=9.8,<10' && rm -r $site/nvidia_cudnn_cu12-9.1.0.70.dist-info && cp -a --remove-destination cudnn-wheels/. $site"
    is "$(finding runtime-too-old '.fix[0] | [.checked, .command]')" "[\"replayed\",\"$command\"]"
    # As pip would, which replaces folders in what it is given, and leaves what was there under other names.
    make_standin 9.9.0 cudnn-wheels --layout pip --build 52
    bash -c "${command#* && }"
    observed
    is "$(jq -c '[.findings[] | select(.severity != "note") | .id]' report.json)" '[]'
    [ -e "$site/nvidia/cublas/lib/libcublas.so.12" ]
    # One that is of no list of packages is not of that folder.
    rm -r "$site"/*.dist-info
    observed
    [[ $(jq -r '[.findings[].fix[].command] | tostring' report.json) != *pip* ]]
}

# compiler NUMBER DIRECTORY: an nvrtc of that number.
compiler() {
    mkdir -p "$2"
    echo 'int nvrtcCompileProgram(void) { return 0; }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$2/libnvrtc.so.$1" -Wl,-soname,"libnvrtc.so.$1"
}

finalized() { # [NAME=VALUE]...: with no compiler of this computer's
    if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then skip "needs a mount of its own"; fi
    rm -f logs/*
    printf '%s\n' 'import ctypes, sys' 'cudnn = ctypes.CDLL("libcudnn.so.8")' \
        'sys.exit(cudnn.cudnnCreate(ctypes.byref(ctypes.c_void_p())) or cudnn.cudnnBackendFinalize(None))' >main.py
    # shellcheck disable=SC2016  # the inner shell's
    run unshare -m sh -c 'mount --bind /dev/null /etc/ld.so.cache && mount --bind /dev/null /etc/ld.so.conf; env "$2" "$1" run --quiet --log logs -- python3 main.py
        status=$?; "$1" report --json logs >report.json; exit $status' sh "$CMD" "$@"
}

# It was a request of which no more is known than that nothing came in.
@test "the plain name of a compiler that is there under a number: a link" {
    make_standin 8.9.2 lib --create-status 0 --compiles libnvrtc.so --needs ops_infer=libcublas.so.12
    make_standin --empty libcublas.so.12 lib
    compiler 12 lib
    finalized LD_LIBRARY_PATH="$PWD/lib"
    is "$(finding wrong-name '.fix[0] | [.command, .checked]')" "[\"ln -s libnvrtc.so.12 $PWD/lib/libnvrtc.so\",\"replayed\"]"
    never wrong-name place
    ln -s libnvrtc.so.12 lib/libnvrtc.so
    finalized LD_LIBRARY_PATH="$PWD/lib"
    is "$status" 0
}

@test "a cuDNN for another CUDA that no package manages: the same release for the host's is copied there" { # NVIDIA/TensorRT#3010
    make_standin 8.9.1 opt --layout toolkit --asks libcublasLt.so.12:cublasLtCreate
    make_standin --empty libcublas.so.11 opt/lib64
    make_standin --empty libcublasLt.so.11 opt/lib64
    echo 'int cudnnCreate(void **); int main(void) { void *h; return cudnnCreate(&h); }' |
        "${CC:-gcc}" -o host -x c - -x none -Wl,--no-as-needed opt/lib64/libcudnn.so.8 opt/lib64/libcublas.so.11
    LD_LIBRARY_PATH=$PWD/opt/lib64 run ! "$CMD" run --quiet --log logs -- ./host
    "$CMD" report --json logs >report.json || true
    is "$(finding cuda-major-differs '.fix[0] | [.text, .checked]')" \
        "[\"copy all of cuDNN 8.9.1 for CUDA 11 into $PWD/opt/lib64\",\"replayed\"]"
    [[ $(finding cuda-major-differs '.fix[0].command') == *nvidia-cudnn-cu11==8.9.1* ]]
}

@test "a compiler of another CUDA by its plain name: the variable that brought it, no cuDNN anew" {
    make_standin 8.9.2 lib --create-status 0 --compiles libnvrtc.so --needs ops_infer=libcublas.so.12
    make_standin --empty libcublas.so.12 lib
    compiler 12 lib
    ln -s libnvrtc.so.12 lib/libnvrtc.so
    mkdir old
    echo 'int nvrtcCompileProgram_8(void) { return 0; }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o old/libnvrtc.so.8.0 -Wl,-soname,libnvrtc.so.8.0
    ln -s libnvrtc.so.8.0 old/libnvrtc.so
    finalized LD_LIBRARY_PATH="$PWD/old:$PWD/lib"
    [ "$status" -ne 0 ]
    is "$(finding cuda-major-differs '.fix[0] | [.command, .checked]')" "[\"export LD_LIBRARY_PATH=$PWD/lib\",\"replayed\"]"
    never cuda-major-differs restore
    never cuda-major-differs place
    finalized LD_LIBRARY_PATH="$PWD/lib"
    is "$status" 0
}

@test "a file that is mounted over another one is replaced by nobody" {
    if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then skip "needs a mount of its own"; fi
    local part=$site/nvidia/cudnn/lib/libcudnn_ops_infer.so.8
    wheel 8.9.2 26
    make_standin 8.5.0 computer
    engine '>=8.8,<9'
    calls=cudnnOpsInferVersionCheck
    cp "$part" kept
    cp computer/libcudnn_ops_infer.so.8 "$part"
    observed
    [[ $(jq -r '.findings[0].fix[0].command' report.json) == "pip install --force-reinstall "* ]]
    cp kept "$part"
    # shellcheck disable=SC2016  # the inner shell's
    run unshare -m sh -c 'mount --bind "$1" "$2"; rm -f logs/*
        LD_PRELOAD="$3" WHICHCUDNN_LOG=$PWD/logs WHICHCUDNN_STDERR=off "$4" version cudnnOpsInferVersionCheck
        "$5" report --json logs >report.json' sh "$PWD/computer/libcudnn_ops_infer.so.8" "$part" "$SHIM" "$site/engine/host" "$CMD"
    is "$(jq -c '[.findings[].fix[].command | strings]' report.json)" '[]'
}

@test "a major that another package requires is not replaced by another" {
    wheel 9.8.0 87
    make_standin 8.9.2 built
    echo 'int cudnnCreate(void **); int start(void **h) { return cudnnCreate(h); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$site/engine/_engine.so" -L built -l:libcudnn.so.8 -Wl,-rpath,"$site/nvidia/cudnn/lib"
    rm -r built
    echo "import ctypes; ctypes.CDLL('$site/engine/_engine.so')" >main.py
    run -1 "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding library-not-found '.fix[0].command')" "\"pip install 'nvidia-cudnn-cu12>=8,<9'\""
    mkdir "$site/other-1.0.dist-info"
    printf 'Metadata-Version: 2.1\nName: other\nVersion: 1.0\nRequires-Dist: nvidia-cudnn-cu12==9.8.0.87; python_version > "3"\n' \
        >"$site/other-1.0.dist-info/METADATA"
    "$CMD" report --json logs >report.json || true
    [[ $(jq -r '[.findings[].fix[].command | strings] | join(" ")' report.json) == *" --target $PWD/cudnn-8."* ]]
    mkdir cudnn-8.9.7.29 # that folder is taken
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '[.findings[].fix[].command | strings]' report.json)" '[]'
}

# cupy-cuda12x, whose extension needs cuDNN 8, in an environment without any of NVIDIA's wheels.
@test "which CUDA a host is for its own package says where no wheel of NVIDIA's does" {
    make_standin 8.9.2 built
    echo 'int cudnnCreate(void **); int start(void **h) { return cudnnCreate(h); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$site/engine/_engine.so" -L built -l:libcudnn.so.8
    rm -r built
    echo "import ctypes; ctypes.CDLL('$site/engine/_engine.so')" >main.py
    mkdir "$site/engine_cuda12x-1.0.dist-info"
    printf 'Metadata-Version: 2.1\nName: engine-cuda12x\nVersion: 1.0\n' >"$site/engine_cuda12x-1.0.dist-info/METADATA"
    run -1 "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding library-not-found '.fix[0] | [.command, .checked]')" \
        "[\"pip install 'nvidia-cudnn-cu12>=8,<9' && export LD_LIBRARY_PATH=$site/nvidia/cudnn/lib\",\"replayed\"]"
}

@test "an empty directory in the place of a library: it goes first" {
    make_standin 8.9.2 lib
    engine '>=8.8,<9' "$PWD/lib"
    mv lib/libcudnn.so.8 lib/libcudnn.so.8.9.2
    mkdir lib/libcudnn.so.8
    observed
    run -0 jq -r '.findings[0].fix[].command | strings | select(startswith("rmdir"))' report.json
    is "$output" "rmdir $PWD/lib/libcudnn.so.8 && ln -s libcudnn.so.8.9.2 $PWD/lib/libcudnn.so.8"
    never bad-file restore
    eval "$output"
    observed
    is "$output" "version 8902"
}

@test "what cuDNN needs of another maker comes with no cuDNN" {
    local library
    for library in libnuma_x.so.1 libnvJitLink.so.12; do
        rm -rf lib
        make_standin 8.9.2 lib --needs "$library"
        engine '>=8.8,<9' "$PWD/lib"
        observed
        never dependency-missing restore
        [[ $(edits dependency-missing) != *reinstall* ]]
        is "$(finding dependency-missing '[.fix[].edits[] | select(.name == "cudnn")] | length')" 0
    done
}

@test "a cuDNN that was copied next to the directory that is searched" {
    make_standin 8.9.2 cuda/lib64/lib64
    echo 'import ctypes; print(ctypes.CDLL("libcudnn.so.8").cudnnGetVersion())' >main.py
    run -1 env LD_LIBRARY_PATH="$PWD/cuda/lib64" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding library-not-found '.fix[0] | [.command, .checked]')" \
        "[\"export LD_LIBRARY_PATH=$PWD/cuda/lib64/lib64:$PWD/cuda/lib64\",\"replayed\"]"
    run -0 env LD_LIBRARY_PATH="$PWD/cuda/lib64/lib64:$PWD/cuda/lib64" python3 main.py
    is "$output" 8902
}

# Where all of a CUDA is missing, one library of it brings the next that is missing.
@test "one library of CUDA's is put where others of that CUDA are" {
    make_standin 8.9.2 lib
    make_standin --empty libcublas.so.11 lib
    echo 'import ctypes; ctypes.CDLL("libcudart.so.12"); ctypes.CDLL("libcudnn.so.8")' >main.py
    run -1 env LD_LIBRARY_PATH="$PWD/lib" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '[.findings[].fix[].edits[] | select(.name == "libcudart.so.12")] | length' report.json)" 0
    make_standin --empty libcublas.so.12 lib
    "$CMD" report --json logs >report.json || true
    [ "$(jq -c '[.findings[].fix[].edits[] | select(.name == "libcudart.so.12")] | length' report.json)" -gt 0 ]
}

@test "a library of CUDA that another toolkit beside the one in the path has" {
    local path=$PWD/local/cuda/lib64 of=$PWD/local/cuda-11.1/targets/here/lib
    make_standin 8.9.2 local/cuda-11.2/lib64
    ln -s cuda-11.2 local/cuda
    make_standin --empty libnvrtc.so.11.1 "$of"
    echo 'import ctypes; ctypes.CDLL("libnvrtc.so.11.1"); ctypes.CDLL("libcudnn.so.8")' >main.py
    run -1 env LD_LIBRARY_PATH="$path" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding cuda-dependency-differs '.fix[0] | [.command, .checked]')" \
        "[\"export LD_LIBRARY_PATH=$of:$path\",\"replayed\"]"
    run -0 env LD_LIBRARY_PATH="$of:$path" python3 main.py
}

packaged() { # NAME VERSION FILE: that file is of that package
    mkdir -p "$site/${1//-/_}-$2.dist-info"
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$1" "$2" >"$site/${1//-/_}-$2.dist-info/METADATA"
    printf '%s,,\n' "$3" >"$site/${1//-/_}-$2.dist-info/RECORD"
}

@test "an import that brings another cuBLAS comes last" {
    local name=libcublasLt.so.12
    make_standin 8.9.2 "$site" --layout pip --build 26 --asks "$name:cublasLtCreate"
    mkdir -p "$site/nvidia/cublas/lib" "$site/imagekit.libs" "$site/imagekit"
    make_standin --empty "$name" "$site/nvidia/cublas/lib"
    make_standin --empty "$name" "$site/imagekit.libs"
    packaged imagekit 3.1 "imagekit.libs/$name"
    packaged nvidia-cublas-cu12 12.4.127 "nvidia/cublas/lib/$name"
    echo "import ctypes; ctypes.CDLL('$site/imagekit.libs/$name')" >"$site/imagekit/__init__.py"
    echo 'int cudnnCreate(void **); int start(void **h) { return cudnnCreate(h); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$site/engine/_engine.so" -Wl,--no-as-needed -L "$site/nvidia/cublas/lib" -l:"$name" \
            -L "$site/nvidia/cudnn/lib" -l:libcudnn.so.8 -Wl,-rpath,"$site/nvidia/cudnn/lib:$site/nvidia/cublas/lib"
    echo "import ctypes; ctypes.CDLL('$site/engine/_engine.so').start(None)" >"$site/engine/__init__.py"
    printf 'import imagekit\nimport engine\n' >main.py
    run env PYTHONPATH="$site" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding cuda-dependency-differs '.fix[0] | [.text, .edits[0].edit, .checked]')" \
        '["import engine before imagekit","import-first","no"]' # by ctypes
    is "$("$CMD" fix --json --check 'import engine first' logs | jq -c '[.findings[] | select(.id == "cuda-dependency-differs").checked.verdict]')" '["unknown"]'
}

# Of its import alone it is not known that it comes early enough.
@test "a cuDNN before that of an import that opens it at its first use: the other is there at the start" {
    local name=libcudnn.so.9
    make_standin 9.8.0 "$site" --layout pip --build 87
    make_standin 9.1.0 "$site/imagekit"
    mkdir -p "$site/engine"
    echo "import ctypes; ctypes.CDLL('$site/imagekit/$name')" >"$site/imagekit/__init__.py"
    packaged engine 1.0 engine/_engine.so
    echo 'Requires-Dist: nvidia-cudnn-cu12>=9.8' >>"$site/engine-1.0.dist-info/METADATA"
    echo 'unsigned long cudnnGetVersion(void); int release(void) { return cudnnGetVersion(); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$site/engine/_engine.so" \
            -L "$site/nvidia/cudnn/lib" -l:$name -Wl,-rpath,"$site/nvidia/cudnn/lib"
    printf '%s\n' 'import ctypes, sys' 'def start():' "    sys.exit(ctypes.CDLL('$site/engine/_engine.so').release() < 90800)" \
        >"$site/engine/__init__.py"
    printf 'import imagekit\nimport engine\nengine.start()\n' >main.py
    run -1 env PYTHONPATH="$site" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding runtime-too-old '.fix[] | [.text, .checked]')" \
        "[\"set LD_PRELOAD to $site/nvidia/cudnn/lib/$name\",\"replayed\"]
[\"import engine before imagekit\",\"no\"]"
    run -0 env PYTHONPATH="$site" LD_PRELOAD="$site/nvidia/cudnn/lib/$name" python3 main.py
    printf 'import engine\nimport imagekit\nengine.start()\n' >main.py
    run -1 env PYTHONPATH="$site" python3 main.py
}

@test "a copy nearby, for what is opened by a path of a variable, or by one from the working directory" {
    make_standin 8.9.2 opt/cudnn/lib
    mkdir -p opt/cuda/lib64 app
    printf '%s\n' 'import ctypes, os' 'cudnn = os.environ["CUDA_HOME"] + "/lib64/libcudnn.so.8"' \
        'assert ctypes.CDLL(cudnn).cudnnGetVersion() == 8902' >main.py
    export CUDA_HOME=$PWD/opt/cuda
    run -1 "$CMD" run --quiet --log logs -- python3 main.py
    run -0 jq -r '.findings[0].fix[0] | .checked, .command' <("$CMD" report --json logs)
    is "$output" "replayed
ln -s $PWD/opt/cudnn/lib/libcudnn.so.8 $PWD/opt/cuda/lib64/libcudnn.so.8 && export LD_LIBRARY_PATH=$PWD/opt/cudnn/lib"
    eval "${lines[1]}"
    run -0 python3 main.py
    unset LD_LIBRARY_PATH CUDA_HOME
    rm logs/*
    echo 'unsigned long cudnnGetVersion(void); int release(void) { return cudnnGetVersion(); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o app/libglue.so -Wl,--no-as-needed -L opt/cudnn/lib -l:libcudnn.so.8 \
            -Wl,-rpath,"$PWD/elsewhere/lib"
    echo 'import ctypes; assert ctypes.CDLL("app/libglue.so").release() == 8902' >main.py
    run -1 "$CMD" run --quiet --log logs -- python3 main.py
    run -0 jq -r '.findings[0].fix[0] | .checked, .command' <("$CMD" report --json logs)
    is "$output" "replayed"$'\n'"export LD_LIBRARY_PATH=$PWD/opt/cudnn/lib"
    eval "${lines[1]}"
    run -0 python3 main.py
}

@test "a copy nearby, for one on a file system that lets nothing be executed" {
    if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then skip "needs a mount of its own"; fi
    make_standin 8.9.2 copy/lib
    mkdir closed
    echo 'unsigned long cudnnGetVersion(void); int main(void) { return cudnnGetVersion() != 8902; }' |
        "${CC:-gcc}" -x c - -o program -Wl,--no-as-needed -L copy/lib -l:libcudnn.so.8
    # shellcheck disable=SC2016  # the inner shell's
    run unshare -m sh -c 'mount -t tmpfs -o noexec none closed && cp -a copy/lib/. closed && export LD_LIBRARY_PATH="$PWD/closed"
        "$0" run --quiet --log logs -- ./program; echo $?; "$0" report --json logs >report.json
        eval "$(jq -r ".findings[0].fix[0].command" report.json)" && ./program; echo $?' "$CMD"
    is "${lines[-2]} ${lines[-1]}" "127 0"
    is "$(finding refused-by-system '.fix[0].checked')" '"replayed"'
}

@test "a host that requires cuDNN for another CUDA than it got" {
    make_standin 8.9.2 "$site" --layout pip --build 26
    packaged engine 1.0 engine/_engine.so
    echo 'Requires-Dist: nvidia-cudnn-cu11>=8.9' >>"$site/engine-1.0.dist-info/METADATA"
    echo 'unsigned long cudnnGetVersion(void); int release(void) { return cudnnGetVersion(); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$site/engine/_engine.so" -Wl,--no-as-needed \
            -L "$site/nvidia/cudnn/lib" -l:libcudnn.so.8 -Wl,-rpath,"$site/nvidia/cudnn/lib"
    printf '%s\n' 'import ctypes, sys' "ctypes.CDLL('$site/engine/_engine.so').release()" 'sys.exit(int(sys.argv[1]))' >main.py
    run -1 env PYTHONPATH="$site" "$CMD" run --quiet --log logs -- python3 main.py 1
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0] | .id, .severity, .title' report.json)" "cuda-major-differs
error
libcudnn.so.8 is made for CUDA 12, engine 1.0 is of CUDA 11"
    # It may be as well, where it ended well.
    rm logs/*
    run -0 env PYTHONPATH="$site" "$CMD" run --quiet --log logs -- python3 main.py 0
    is "$("$CMD" report --json logs | jq -r '.findings[] | select(.id == "cuda-major-differs").severity')" note
    # Of options for several CUDAs none is known to be meant.
    echo 'Requires-Dist: nvidia-cudnn-cu13>=8.9' >>"$site/engine-1.0.dist-info/METADATA"
    rm logs/*
    run -1 env PYTHONPATH="$site" "$CMD" run --quiet --log logs -- python3 main.py 1
    is "$("$CMD" report --json logs | jq '[.findings[] | select(.id == "cuda-major-differs")] | length')" 0
}

@test "copies in no package, each for a CUDA: the one for the CUDA that is there" {
    local cuda
    for cuda in 11 12; do
        make_standin 8.9.2 of-$cuda --asks libcublas.so.$cuda:cublasCreate_v2
    done
    make_standin --empty libcublas.so.12 cuda
    build_host lazy of-11 host --no-rpath
    run ! env LD_LIBRARY_PATH="$PWD/of-11:$PWD/cuda" "$CMD" run --quiet --log logs -- ./host version create
    "$CMD" report --json logs >report.json || true
    is "$(finding cuda-dependency-differs '.fix[0] | [.command, .checked]')" \
        "[\"export LD_LIBRARY_PATH=$PWD/of-12:$PWD/of-11:$PWD/cuda\",\"replayed\"]"
    # Not one that would ask for what is missing.
    rm -r logs cuda
    make_standin --empty libcublas.so.11 cuda
    run ! env LD_LIBRARY_PATH="$PWD/of-11:$PWD/cuda" WHICHCUDNN_EXPECT='>=8.9.3' "$CMD" run --quiet --log logs -- ./host version create
    make_standin 8.9.7 of-12 --asks libcublas.so.12:cublasCreate_v2
    "$CMD" report --json logs >report.json || true
    [[ $(finding expectation-not-met '.fix[0].text') != *of-12* ]]
    is "$(finding expectation-not-met '[.rejected[] | select(.text == "set LD_LIBRARY_PATH to '"$PWD/of-12:$PWD/of-11:$PWD/cuda"'").because]')" \
        '["a library that is found now would not be found"]'
}

@test "a host whose DT_RPATH leads to another release, by what it printed and beside a warning" {
    make_standin 9.1.0 old
    make_standin 9.8.0 new
    echo 'int puts(const char *); unsigned long cudnnGetVersion(void);
        int main(void) { return cudnnGetVersion() >= 90800 ? 0 :
            (puts("Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.8.0."), 1); }' |
        "${CC:-gcc}" -x c - -o program -Wl,--no-as-needed -L new -l:libcudnn.so.9 -Wl,--disable-new-dtags,-rpath,"$PWD/old:$PWD/new"
    "$CMD" run --quiet --log logs -- ./program >printed 2>&1 || is $? 1
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0].id' report.json)" runtime-too-old
}

@test "a host that is linked with no cuDNN, in a process that has loaded none" {
    local command status alone=(unshare -m sh -c 'mount --bind /dev/null /etc/ld.so.cache && mount --bind /dev/null /etc/ld.so.conf && exec "$@"' sh)
    make_standin 9.8.0 lib
    echo 'unsigned long cudnnGetVersion(void); int release(void) { return cudnnGetVersion(); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o libengine.so
    echo 'int release(void); int main(void) { return release() != 90800; }' |
        "${CC:-gcc}" -x c - -o program -Wl,--no-as-needed -L. -lengine -Wl,-rpath,"$PWD" -Wl,--unresolved-symbols=ignore-all
    echo "import ctypes; assert ctypes.CDLL('$PWD/libengine.so').release() == 90800" >main.py
    export LD_LIBRARY_PATH=$PWD/lib
    for command in ./program "env LD_BIND_NOW=1 ./program" "python3 main.py"; do
        rm -f logs/*
        status=127
        [[ $command == *program ]] || status=1
        # shellcheck disable=SC2086
        run -$status "$CMD" run --quiet --log logs -- $command
        "$CMD" report --json logs >report.json || true
        run -0 jq -r '.findings[0] | .id, .title, .fix[0].checked, .fix[0].command' report.json
        [[ $output == missing-symbols$'\n'"libengine.so imports "*"is linked with no cuDNN; none was loaded"* ]]
        is "${lines[2]} ${lines[3]}" "replayed export LD_PRELOAD=libcudnn.so.9"
        # shellcheck disable=SC2086
        run -0 env LD_PRELOAD=libcudnn.so.9 $command
    done
    unset LD_LIBRARY_PATH
    rm logs/*
    if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then return; fi # needs a mount of its own
    run -127 "${alone[@]}" "$CMD" run --quiet --log logs -- ./program
    is "$("${alone[@]}" "$CMD" report --json logs | jq -r '.findings[0].fix[0] | [.checked, .text] | join(" ")')" \
        "no link libengine.so with cuDNN, or load one for all before it: by LD_PRELOAD, or by the import of a package that does"
}

@test "a directory whose name has a colon: a link that has none" {
    make_standin 8.9.2 run-12:30/lib
    echo 'import ctypes; print(ctypes.CDLL("libcudnn.so.8").cudnnGetVersion())' >main.py
    run -1 env LD_LIBRARY_PATH="$PWD/run-12:30/lib" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    run -0 jq -r '.findings[0] | .id, .fix[0].checked, .fix[0].command' report.json
    is "$output" "library-not-found
replayed
ln -s run-12:30 $PWD/run-12-30 && export LD_LIBRARY_PATH=$PWD/run-12-30/lib"
    eval "${lines[2]}"
    rm logs/*
    run -0 "$CMD" run --quiet --log logs -- python3 main.py
    is "$output" 8902
    is "$("$CMD" report --json logs | jq '.findings | length')" 0
}

@test "what a shell or an editor has left in a path variable goes, and the directories stay" {
    local value
    make_standin 8.9.2 lib
    mkdir other
    echo 'import ctypes; print(ctypes.CDLL("libcudnn.so.8").cudnnGetVersion())' >main.py
    for value in "$PWD/lib"$'\r:'"$PWD/other"$'\r' "\"$PWD/lib\":\"$PWD/other\"" "$PWD/lib, $PWD/other" \
        "$PWD/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"; do
        rm -f logs/*
        run -1 env LD_LIBRARY_PATH="$value" "$CMD" run --quiet --log logs -- python3 main.py
        "$CMD" report --json logs >report.json || true
        run -0 jq -r '.findings[0] | .id, .fix[0].checked, .fix[0].command' report.json
        [[ $output == "library-not-found
replayed
export LD_LIBRARY_PATH=$PWD/lib"* ]]
        eval "${lines[2]}"
        run -0 python3 main.py
        unset LD_LIBRARY_PATH
    done
}

# needing LIBRARY...: a module that needs them, the first of cuDNN, and searches its wheels alone.
needing() {
    local library linked=(-L built)
    for library; do
        [ "$library" = libcudnn.so.8 ] || make_standin --empty "$library" built
        linked+=(-l:"$library")
    done
    make_standin 8.9.2 built
    echo 'int cudnnCreate(void **); int start(void **h) { return cudnnCreate(h); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$site/engine/_engine.so" -Wl,--no-as-needed "${linked[@]}" \
            -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib:\$ORIGIN/../nvidia/cuda_runtime/lib:\$ORIGIN/../engine.libs"
    rm -r built
    packaged engine 1.0 engine/_engine.so
    printf 'Requires-Dist: nvidia-cudnn-cu12>=8.9,<9\n' >>"$site/engine-1.0.dist-info/METADATA"
    echo "import ctypes; ctypes.CDLL('$site/engine/_engine.so')" >main.py
}

@test "a wheel that lets the loader come to the next library that is missing repairs nothing" {
    needing libcudnn.so.8
    run -1 "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(edits library-not-found | head -1)" install
    rm logs/*
    needing libcudnn.so.8 libcudart.so.12 libnvrtc.so.12
    run -1 "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(edits library-not-found | head -1)" "install install install install set" # all that is missing
    run -1 grep -x install <(edits library-not-found) # none of them by itself
}

@test "packages whose libraries were all left out of an image come back by one command" {
    local package library linked=(-L built) searched="$site/nvidia/cudnn/lib" wanted=() line
    make_standin 8.9.2 "$site" --layout pip --build 26
    while read -r package line library; do
        make_standin --empty "$library" built
        linked+=(-l:"$library")
        packaged "nvidia-${package//_/-}-cu12" "$line" "nvidia/$package/lib/$library"
        searched+=":$site/nvidia/$package/lib"
        wanted+=("nvidia-${package//_/-}-cu12==$line")
    done <<'END'
cuda_runtime 12.4.127 libcudart.so.12
cublas 12.4.5.8 libcublasLt.so.12
cuda_nvrtc 12.4.127 libnvrtc.so.12
cufft 11.2.1.3 libcufft.so.11
curand 10.3.5.147 libcurand.so.10
cusparse 12.3.1.170 libcusparse.so.12
nvjitlink 12.4.127 libnvJitLink.so.12
END
    echo 'int cudnnCreate(void **); int start(void **h) { return cudnnCreate(h); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$site/engine/_engine.so" -Wl,--no-as-needed "${linked[@]}" \
            -L "$site/nvidia/cudnn/lib" -l:libcudnn.so.8 -Wl,-rpath,"$searched"
    rm -r built
    packaged engine 1.0 engine/_engine.so
    echo "import ctypes; ctypes.CDLL('$site/engine/_engine.so')" >main.py
    run -1 "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    line=$(jq -r '.findings[0].fix[0] | select(.checked == "replayed").command' report.json)
    is "${line%% nvidia-*}" "pip install --force-reinstall --no-deps"
    is "$(tr ' ' '\n' <<<"$line" | grep '==' | sort)" "$(printf '%s\n' "${wanted[@]}" | sort)"
}

@test "what a package requires and nobody has installed comes with that package, installed once more" {
    needing libcudnn.so.8 libcudart.so.12
    printf 'Requires-Dist: %s\n' nvidia-cuda-runtime-cu12==12.4.127 filelock >>"$site/engine-1.0.dist-info/METADATA"
    run -1 "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding library-not-found '.fix[0] | [.edits[0].edit, .edits[0].name, .edits[0].value, .checked]')" \
        '["install","engine","==1.0","replayed"]'
}

@test "a wheel whose own cuDNN was not copied with it is put back" {
    local name=libcudnn-a2b758a6.so.8.9.2
    make_standin 8.9.2 "$site/engine.libs" --soname "$name" --node libcudnn.so.8
    echo 'int cudnnCreate(void **); int start(void **h) { return cudnnCreate(h); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$site/engine/_engine.so" -L "$site/engine.libs" -l:"$name" \
            -Wl,-rpath,"\$ORIGIN/../engine.libs"
    packaged engine 1.0 engine/_engine.so
    (cd "$site" && printf '%s,,\n' engine.libs/*) >>"$site/engine-1.0.dist-info/RECORD"
    rm -r "$site/engine.libs"
    echo "import ctypes; ctypes.CDLL('$site/engine/_engine.so')" >main.py
    run -1 "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding library-not-found '.fix[0] | [.edits[0].edit, .edits[0].name, .checked]')" \
        '["reinstall","engine","replayed"]'
}

@test "a facade that a package has brought alone: the parts of its very release, and the variable leads there" {
    local name=libcudnn-a2b758a6.so.8.9.2
    make_standin 8.9.2 "$site/engine.libs" --only facade --soname "$name" --node libcudnn.so.8
    echo 'int cudnnCreate(void **); int start(void **h) { return cudnnCreate(h); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$site/engine/_engine.so" -L "$site/engine.libs" -l:"$name" \
            -Wl,-rpath,"\$ORIGIN/../engine.libs"
    packaged engine 1.0 engine/_engine.so
    packaged nvidia-cublas-cu12 12.4.5.8 nvidia/cublas/lib/libcublas.so.12
    make_standin --empty libcublas.so.12 "$site/nvidia/cublas/lib"
    make_standin --empty libcublasLt.so.12 "$site/nvidia/cublas/lib"
    echo "import ctypes; h = ctypes.c_void_p(); ctypes.CDLL('$site/engine/_engine.so').start(ctypes.byref(h))" >main.py
    run ! "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding part-missing '.fix[0] | [.edits[0].name, .edits[0].value, .edits[1].value, .checked]')" \
        "$(jq -cn '$ARGS.positional' --args nvidia-cudnn-cu12 ==8.9.2.26 "$site/nvidia/cudnn/lib" replayed)"
    # Where a host in the process pins another major, which stays as it is: next to the environment.
    make_standin 9.1.0 "$site" --layout pip --build 70
    echo 'Requires-Dist: nvidia-cudnn-cu12==9.1.0.70' >>"$site/engine-1.0.dist-info/METADATA"
    rm logs/*
    run ! "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding part-missing '.fix[0] | [.command, .checked, .gives]')" \
        "$(jq -cn '$ARGS.positional' --args "pip install --no-deps --target $PWD/cudnn-8.9.2.26 nvidia-cudnn-cu12==8.9.2.26 && export LD_LIBRARY_PATH=$PWD/cudnn-8.9.2.26/nvidia/cudnn/lib" replayed "8.9.2 from $site/engine.libs")"
}

@test "a facade that a package has brought alone, beside the wheel of another, which opened fewer parts" {
    unshare -Urm true || skip "no namespaces of users here"
    local name=libcudnn-a2b758a6.so.9.1.0
    make_standin 9.1.0 "$site/engine.libs" --only facade --soname "$name" --node libcudnn.so.9
    echo 'int cudnnOpsVersionCheck(void); int start(void) { return cudnnOpsVersionCheck(); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$site/engine/_engine.so" -L "$site/engine.libs" -l:"$name" \
            -Wl,--disable-new-dtags,-rpath,"\$ORIGIN/../engine.libs"
    packaged engine 1.0 engine/_engine.so
    wheel 9.8.0 87
    packaged lead 1.0 lead/__init__.py # whose pin keeps that release
    echo 'Requires-Dist: nvidia-cudnn-cu12==9.8.0.87' >>"$site/lead-1.0.dist-info/METADATA"
    echo "import ctypes; ctypes.CDLL('$site/nvidia/cudnn/lib/libcudnn.so.9').cudnnGetVersion(); print('checked', ctypes.CDLL('$site/engine/_engine.so').start())" >main.py
    # The machine's own cuDNN would be found by the loader's cache.
    printf 'mount --bind /dev/null /etc/ld.so.cache\n"$CMD" run --quiet --log logs -- python3 main.py\n"$CMD" report --json logs >report.json\n' >in
    CMD=$CMD run ! unshare -Urm sh in
    is "$(finding part-missing '[.fix[] | select(.command == "export LD_LIBRARY_PATH='"$site"'/nvidia/cudnn/lib").checked]')" '["replayed"]'
}

@test "a cuDNN in no package that a package refuses: the wheel, for the CUDA of its host; one that is assumed is not replayed" {
    make_standin 8.5.0 module
    engine() { # CODE
        echo "$1"' int puts(const char *); unsigned long cudnnGetVersion(void);
            int start(void) { return cudnnGetVersion() < 8902 ? (puts("Loaded runtime CuDNN library: 8.5.0 but source was compiled with: 8.9.2."), 1) : 0; }' |
            "${CC:-gcc}" -shared -fPIC -x c - -o "$site/engine/_engine.so" -L module -l:libcudnn.so.8
    }
    engine ''
    packaged engine 1.0 engine/_engine.so
    echo "import ctypes, sys; sys.exit(ctypes.CDLL('$site/engine/_engine.so').start())" >main.py
    told() { # FINDING
        rm -f logs/*
        LD_LIBRARY_PATH=$PWD/module "$CMD" run --quiet --log logs -- python3 main.py >printed 2>&1 || true
        "$CMD" report --json logs >report.json || true
        finding "$1" '.fix[0] | [.edits[0].name, .edits[0].value, .edits[1].value, .checked, .why]'
    }
    wheel() { # CUDA SPEC CHECKED [WHY]
        echo "[\"nvidia-cudnn-cu$1\",\"$2\",\"$site/nvidia/cudnn/lib:$PWD/module\",\"$3\",${4:-null}]"
    }
    is "$(told runtime-too-old)" "$(wheel 12 '>=8.9,<9' no '"CUDA 12 is assumed: nothing says for which the program was built"')"
    # By a library's name among its constants, unless there are names of several CUDAs.
    engine 'const char opened[] = "libcublas.so.11";'
    is "$(told runtime-too-old)" "$(wheel 11 '>=8.9,<9' replayed)"
    engine 'const char opened[] = "libcublas.so.11", other[] = "libcublas.so.12";'
    is "$(told runtime-too-old)" "$(wheel 12 '>=8.9,<9' no '"CUDA 12 is assumed: nothing says for which the program was built"')"
    # Where none is there, what a host needs besides, which did not come to be loaded, says its CUDA.
    rm module/*
    make_standin --empty libcublas.so.11 module
    make_standin 8.9.2 of-8
    "${CC:-gcc}" -shared -fPIC -x c /dev/null -o "$site/engine/_engine.so" -Wl,--no-as-needed -L of-8 -l:libcudnn.so.8 -L module -l:libcublas.so.11
    rm -r of-8
    is "$(told library-not-found)" "$(wheel 11 '>=8,<9' replayed)"
}

@test "who stands before dlopen and calls it in turn: he goes, or a variable leads to where cuDNN would look" {
    "${CC:-gcc}" -shared -fPIC -o turn.so -x c - -ldl <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
void *dlopen(const char *name, int flags) {
    static void *(*next)(const char *, int);
    if (!next)
        next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    void *volatile handle = next(name, flags);
    return handle;
}
END
    make_standin 8.9.2 lib
    build_host lazy lib host
    with() { # PRELOAD [NAME=VALUE]...
        rm -f logs/*
        run env "${@:2}" LD_PRELOAD="$SHIM:$1" WHICHCUDNN_LOG="$PWD/logs" WHICHCUDNN_STDERR=off ./host version
        "$CMD" report --json logs >report.json || true
    }
    with "$PWD/turn.so"
    is "$(jq -r '.findings[0] | .id, (.fix[] | "\(.command), \(.checked)")' report.json)" "part-missing
unset LD_PRELOAD, replayed
export LD_LIBRARY_PATH=$PWD/lib, replayed"
    with ""
    is "$(jq '.findings | length' report.json)" 0
    with "$PWD/turn.so" LD_LIBRARY_PATH="$PWD/lib"
    is "$(jq '.findings | length' report.json)" 0
    # NVRTC will ask for its builtins through him, too.
    mkdir rtc
    make_standin --empty libnvrtc.so.12 rtc
    build_host lazy lib host -Wl,--no-as-needed rtc/libnvrtc.so.12 -Wl,-rpath,"$PWD/lib:$PWD/rtc"
    with "$PWD/turn.so"
    edits part-missing | grep -x set
    make_standin --empty libnvrtc-builtins.so.12.4 rtc
    with "$PWD/turn.so"
    is "$(jq -r '[.findings[0].fix[].command] | .[1:] | .[] | select(endswith("/lib"))' report.json)" ""
    rm lib/libcudnn_ops_infer.so* # what is not there is found by nobody
    with "$PWD/turn.so"
    never part-missing unset
    never part-missing set
}

@test "what is bound at once and refused for a function has the repair of the function that is missing" {
    make_standin 9.8.0 built
    make_standin 9.1.0 lib
    echo 'int cudnnBackendPopulateCudaGraph(void); int main(int n, char **a) { (void)a; return n > 8 ? cudnnBackendPopulateCudaGraph() : 0; }' |
        "${CC:-gcc}" -x c - -o program -L built -l:libcudnn.so.9 -Wl,-rpath,"$PWD/lib" -Wl,-z,lazy
    rm -r built
    LD_BIND_NOW=1 run -127 "$CMD" run --quiet --log logs -- ./program
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0].id' report.json)" symbol-version-not-found
    edits symbol-version-not-found | grep -qxE 'place|copy' # of what this computer may have
    played
}

@test "a library of CUDA that the loader refuses is put back by the package that has it in its list" {
    needing libcudnn.so.8 libcudart.so.12
    local directory=$site/nvidia/cuda_runtime/lib
    local file=$directory/libcudart.so.12
    make_standin 8.9.2 "$site" --layout pip --build 26
    for fault in misaligned cut; do
        mkdir -p "$directory"
        make_standin --empty libcudart.so.12 "$directory"
        packaged nvidia-cuda-runtime-cu12 12.4.127 nvidia/cuda_runtime/lib/libcudart.so.12
        run -0 python3 main.py
        if [ "$fault" = cut ]; then
            truncate -s 4096 "$file"
        else
            python3 - "$file" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, = struct.unpack_from("<Q", data, 32)
for i in range(data[56]):
    kind, _, offset = struct.unpack_from("<IIQ", data, at + 56 * i)
    if kind == 1 and offset:
        struct.pack_into("<Q", data, at + 56 * i + 8, offset + 8)
open(sys.argv[1], "wb").write(data)
END
        fi
        rm -f logs/*
        run ! "$CMD" run --quiet --log logs -- python3 main.py
        "$CMD" report --json logs >report.json || true
        is "$(finding bad-file '.fix[0] | [.edits[0].edit, .edits[0].name, .edits[0].value, .checked]')" \
            '["reinstall","nvidia-cuda-runtime-cu12","12.4.127","replayed"]'
        run "$CMD" scan venv
        [[ $output == *"error[bad-file]"*"  fix  "*"nvidia-cuda-runtime-cu12"*"replayed"* ]]
    done
}

@test "a folder that has a part of a set by links leads to the whole set behind them" {
    make_standin 8.9.2 whole/lib
    make_standin --empty libcudart.so.12 whole/lib
    mkdir graphics
    for file in whole/lib/libcudnn_*.so.8; do
        ln -s "$PWD/$file" graphics
    done
    engine '>=8.8,<9' "$PWD/whole/lib" --no-rpath
    observed LD_LIBRARY_PATH="$PWD/graphics"
    is "$(finding library-not-found '.fix[0] | [.command, .checked]')" \
        "[\"export LD_LIBRARY_PATH=$PWD/whole/lib:$PWD/graphics\",\"replayed\"]"
    observed LD_LIBRARY_PATH="$PWD/whole/lib:$PWD/graphics"
    is "$(finding library-not-found .id)" ""
}

# The driver of another system in front of the machine's own (NVIDIA/cuml#6218, in WSL), which lies where no
# loader looks.
@test "a libcuda of another driver than the kernel's: the machine's own is put before it" {
    unshare -Urm true || skip "no namespaces of users here"
    make_standin 8.9.2 cudnn
    mkdir foreign own
    make_standin --empty libcuda.so.1 foreign
    mv foreign/libcuda.so.1 foreign/libcuda.so.535.54.03
    ln -s libcuda.so.535.54.03 foreign/libcuda.so.1
    make_standin --empty libcuda.so.1 own
    LD_LIBRARY_PATH=$PWD/foreign run -0 "$CMD" run --quiet --log logs -- python3 -c "import ctypes
ctypes.CDLL('$PWD/cudnn/libcudnn.so.8'); ctypes.CDLL('libcuda.so.1')"
    "$CMD" report --json logs | jq -r '.sources[0].path' >path
    for driver in WSL 550.54.14; do
        [ "$driver" = WSL ] || { mv own/libcuda.so.1 "own/libcuda.so.$driver"
            ln -s "libcuda.so.$driver" own/libcuda.so.1; }
        sed "s/\"kind\":\"machine\",/&\"driver\":\"$driver\",/" "$(cat path)" >other.jsonl
        # shellcheck disable=SC2016
        unshare -Urm sh -c 'mount -t tmpfs none /run && mkdir -p /run/opengl-driver && cp -a own /run/opengl-driver/lib &&
            exec "$@"' sh "$CMD" report --json other.jsonl >report.json || true
        is "$(finding driver-mixed '.fix[0] | [.command, .checked]')" \
            "[\"export LD_LIBRARY_PATH=/run/opengl-driver/lib:$PWD/foreign\",\"replayed\"]"
        "$CMD" report --json other.jsonl >report.json || true
        is "$(finding driver-mixed '.fix[0].checked')" '"no"'
    done
}

@test "a directory of the search path with what nothing else leads to is kept, behind the one that repairs" {
    wheel 8.9.2 26
    make_standin 8.5.0 module
    engine '>=8.8,<9'
    make_standin --empty libnpps.so.12 module
    observed LD_LIBRARY_PATH="$PWD/module"
    is "$(finding runtime-too-old '.fix[:2] | [.[].command]')" \
        "[\"export LD_LIBRARY_PATH=$site/nvidia/cudnn/lib:$PWD/module\",\"unset LD_LIBRARY_PATH\"]"
    # Of a library that the loader finds elsewhere nothing is lost, nor by whom all was asked for.
    rm module/libnpps*
    make_standin --empty libz.so.1 module
    observed LD_LIBRARY_PATH="$PWD/module"
    is "$(finding runtime-too-old '.fix[0].command')" '"unset LD_LIBRARY_PATH"'
    make_standin --empty libnpps.so.12 module
    calls=create observed LD_LIBRARY_PATH="$PWD/module"
    is "$(finding runtime-too-old '.fix[0].command')" '"unset LD_LIBRARY_PATH"'
}

@test "a directory with a library that the system has, too: what else gets that one is told" {
    wheel 8.9.2 26
    make_standin 8.5.0 module
    engine '>=8.8,<9'
    make_standin --empty libz.so.1 "$site/nvidia/cudnn/lib"
    observed LD_LIBRARY_PATH="$PWD/module"
    is "$(finding runtime-too-old '[.fix[] | select(.command | startswith("export")) | .but]')" \
        '["all that the program loads or starts gets libz.so.1 from there, too"]'
    rm "$site/nvidia/cudnn/lib/libz.so.1"
    observed LD_LIBRARY_PATH="$PWD/module"
    is "$(finding runtime-too-old '[.fix[] | select(.but) | .but]')" '[]'
}

@test "a variable that begins the name that is asked for is set to the place that has it" {
    local c='#include <dlfcn.h>
        #include <stdio.h>
        #include <stdlib.h>
        int main(void) { char name[4096];
            snprintf(name, sizeof(name), "%s/lib64/libcudnn.so.8", getenv(VARIABLE));
            return !dlopen(name, RTLD_NOW) && puts(dlerror()); }' variable to
    for variable in CUDA_HOME CUDNN_ROOT CONDA_PREFIX; do
        cc -x c - -DVARIABLE="\"$variable\"" -o app -ldl <<<"$c"
        for to in toolkits/12.6 toolkits/12.1/x toolkits; do # next to it, in it, above it
            rm -rf logs toolkits
            make_standin 8.9.2 "$to/lib64"
            run -1 env "$variable=$PWD/toolkits/12.1" "$CMD" run --quiet --log logs -- ./app
            "$CMD" report --json logs >report.json || true
            is "$(finding library-not-found '.fix[0] | [.command, .checked]')" "[\"export $variable=$PWD/$to\",\"replayed\"]"
            run -0 env "$variable=$PWD/$to" ./app
        done
    done
    # The caller lies there itself, it has the name of its own place: no variable, only a link helps.
    rm -rf logs && mkdir own
    cc -x c - -DVARIABLE='"HOME"' -o own/app -ldl <<<"$c"
    run -1 env CUDA_HOME="$PWD/own" HOME="$PWD/own" "$CMD" run --quiet --log logs -- own/app
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '[.findings[].fix[] | select(.checked == "replayed") | .edits[].edit]' report.json)" '["link"]'
}

@test "no variable is named for a path that is asked for: the loader searches for none" {
    mkdir -p proj/scripts
    make_standin 8.9.2 proj/lib
    echo 'import ctypes; ctypes.CDLL("./lib/libcudnn.so.8")' >proj/scripts/main.py
    run -1 env -C proj/scripts "$CMD" run --quiet --log "$PWD/logs" -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding library-not-found '.fix[0].text')" '"put the library at ./lib/libcudnn.so.8, or start the program so that it asks for a path that is there: LD_LIBRARY_PATH does not count for a path"'
}

@test "a module search path that shadows the environment's own package loses that element" {
    wheel 8.9.2 26
    make_standin 8.5.0 nfs --layout pip --build 96
    packaged engine 1.0 engine/_engine.so
    echo 'Requires-Dist: nvidia-cudnn-cu12>=8.8,<9' >>"$site/engine-1.0.dist-info/METADATA"
    echo 'unsigned long cudnnGetVersion(void); int start(void) { return cudnnGetVersion(); }' |
        cc -shared -fPIC -x c - -o "$site/engine/_engine.so" -L nfs/nvidia/cudnn/lib -l:libcudnn.so.8
    echo "import ctypes, os, nvidia.cudnn
ctypes.CDLL(list(nvidia.cudnn.__path__)[0] + '/lib/libcudnn.so.8', mode=ctypes.RTLD_GLOBAL)
print(ctypes.CDLL(os.path.dirname(__file__) + '/_engine.so').start())" >"$site/engine/__init__.py"
    run env PYTHONPATH="$PWD/nfs:$site" "$CMD" run --quiet --log logs -- python3 -c 'import engine'
    "$CMD" report --json logs >report.json || true
    is "$(finding runtime-too-old '.fix[0] | [.command, .checked]')" "[\"export PYTHONPATH=$site\",\"replayed\"]"
    run -0 env PYTHONPATH="$site" python3 -c 'import engine'
    is "$output" 8902
    # What only that element has is not lost.
    touch nfs/other.py
    "$CMD" report --json logs >report.json || true
    is "$(finding runtime-too-old '.fix[0] | [.command, .checked]')" "[\"export PYTHONPATH=$site:$PWD/nfs:$site\",\"replayed\"]"
    run -0 env PYTHONPATH="$site:$PWD/nfs:$site" python3 -c 'import engine, other'
    is "$output" 8902
}

@test "a repair whose program is not in PATH is printed, and says so" {
    local env=$PWD/env
    make_standin 9.8.0 env/lib
    mkdir env/conda-meta env/bin
    jq -n '{name: "cudnn", version: "9.8.0.87", build: "h81d5506_1", channel: "conda-forge",
        files: [inputs | "lib/" + .], paths_data: {paths_version: 1, paths: []}}' \
        <(cd env/lib && printf '"%s"\n' libcudnn*.so*) >env/conda-meta/cudnn-9.8.0.87-h81d5506_1.json
    touch env/conda-meta/history
    build_host dlopen "$env/lib" "$env/bin/host"
    rm env/lib/libcudnn_graph.so.9*
    for path in /usr/bin:/bin "$PWD/tools:/usr/bin:/bin"; do
        CONDA_PREFIX=$env PATH=$path run "$CMD" run -- env/bin/host version
        output=$(tr -s ' \n' ' ' <<<"$output")
        [[ $output == *" fix conda install -p $env"*"--force-reinstall cudnn=9.8.0.87"* ]]
        [ -e tools/conda ] || [[ $output == *" replayed: gives 9.8.0 from "*"env/lib; but conda is not in PATH"* ]]
        install -D /bin/true tools/conda
    done
    [[ $output != *"not in PATH"* ]]
}

@test "cuDNN 7 is one library for whichever CUDA: conda takes another minor release of it" {
    local env=$PWD/env
    mkdir -p env/conda-meta
    make_standin --layout flat 7.6.5 env/lib
    build_host lazy "$env/lib" host
    printf '{"name":"cudnn","version":"7.6.5","build":"cuda9.0_0","files":["lib/libcudnn.so.7"]}' \
        >env/conda-meta/cudnn-7.6.5-cuda9.0_0.json
    WHICHCUDNN_EXPECT='>=7.1.2,<7.2' run "$CMD" run --quiet --log logs -- ./host version
    "$CMD" report --json logs >report.json || true
    is "$(finding expectation-not-met '.fix[0] | [.command, .checked]')" \
        "[\"conda install -p $env 'cudnn>=7.1.2,<7.2'\",\"replayed\"]"
    # None of it is there, as yet: onnxruntime#3632.
    rm env/conda-meta/cudnn-* env/lib/libcudnn*
    rm -r logs
    CONDA_PREFIX=$env run "$CMD" run --quiet --log logs -- ./host version
    "$CMD" report --json logs >report.json || true
    is "$(finding library-not-found '.fix[0] | [.command, .checked]')" \
        "[\"conda install -p $env 'cudnn>=7,<8'\",\"replayed\"]"
}

@test "of a package whose RECORD is gone, too, the command is one that pip accepts" {
    engine_of() { wheel 8.9.2 26; [ -e "$site/engine/host" ] || engine '>=8,<9'; rm "$site"/nvidia_cudnn_cu12-8.9.2.26.dist-info/RECORD; }
    local lib=$site/nvidia/cudnn/lib damage
    for damage in 'rm libcudnn.so.8' 'rm libcudnn_ops_infer.so.8' 'truncate -s 3000 libcudnn.so.8'; do
        engine_of
        (cd "$lib" && $damage)
        calls=create observed
    is "$(jq -r '.findings[0].fix[0] | "\(.command), \(.checked)"' report.json)" \
            "pip install --ignore-installed --no-deps nvidia-cudnn-cu12==8.9.2.26, replayed"
    done
}

@test "a library whose release another package pins is installed as that package requires it" {
    local nvidia=$site/nvidia
    mkdir -p "$nvidia"/{cusparse,nvjitlink}/lib newer "$site/torch"
    echo 'libnvJitLink.so.12 { global: *; };' >map
    local linker=(cc -shared -fPIC -Wl,--version-script=map -Wl,-soname,libnvJitLink.so.12 -x c)
    "${linker[@]}" -o newer/libnvJitLink.so.12 - <<<'int __nvJitLinkComplete_12_4(void) { return 0; }'
    "${linker[@]}" -o "$nvidia/nvjitlink/lib/libnvJitLink.so.12" /dev/null
    echo 'int __nvJitLinkComplete_12_4(void); int start(void) { return __nvJitLinkComplete_12_4(); }' |
        cc -shared -fPIC -o "$nvidia/cusparse/lib/libcusparse.so.12" -x c - -L newer -l:libnvJitLink.so.12 \
            -Wl,-soname,libcusparse.so.12 -Wl,-rpath,"\$ORIGIN/../../nvjitlink/lib"
    cc -shared -fPIC -o "$site/torch/libtorch.so" -x c /dev/null -Wl,--no-as-needed -L "$nvidia/cusparse/lib" -l:libcusparse.so.12 \
        -Wl,--allow-shlib-undefined -Wl,-rpath,"\$ORIGIN/../nvidia/cusparse/lib"
    packaged nvidia-cusparse-cu12 12.3.1.170 nvidia/cusparse/lib/libcusparse.so.12
    echo 'Requires-Dist: nvidia-nvjitlink-cu12' >>"$site/nvidia_cusparse_cu12-12.3.1.170.dist-info/METADATA"
    packaged nvidia-nvjitlink-cu12 12.1.105 nvidia/nvjitlink/lib/libnvJitLink.so.12
    local pin
    for pin in '==12.4.127' '<12.7,>=12.4' '~=12.4.0' '!=12.1.*'; do
        packaged torch 2.5.1 torch/libtorch.so
        echo "Requires-Dist: nvidia-nvjitlink-cu12$pin" >>"$site/torch-2.5.1.dist-info/METADATA"
        rm -f logs/*
        run -1 "$CMD" run --quiet --log logs -- python3 -c "import ctypes; ctypes.CDLL('$site/torch/libtorch.so')"
        "$CMD" report --json logs >report.json || true
        is "$(finding symbol-version-not-found '.fix[0] | [.text, .checked]')" "[\"install nvidia-nvjitlink-cu12$pin, which torch 2.5.1 requires\",\"replayed\"]"
    done
    # Where none does, the function says it.
    packaged torch 2.5.1 torch/libtorch.so
    rm -f logs/*
    run -1 "$CMD" run --quiet --log logs -- python3 -c "import ctypes; ctypes.CDLL('$site/torch/libtorch.so')"
    "$CMD" report --json logs >report.json || true
    is "$(finding symbol-version-not-found '.fix[0] | [.text, .checked]')" '["install nvidia-nvjitlink-cu12>=12.4","replayed"]'
    cp newer/libnvJitLink.so.12 "$nvidia/nvjitlink/lib"
    run -0 python3 -c "import ctypes; ctypes.CDLL('$site/torch/libtorch.so')"
}

@test "a link to the next major of CUDA: the library itself is wanted, no directory goes" {
    local major
    mkdir lib
    for major in 11 12; do
        echo "libcublas.so.$major { global: *; };" >map
        cc -shared -fPIC -Wl,--version-script=map -Wl,-soname,libcublas.so.$major -x c \
            -o lib/libcublas.so.$major - <<<'int cublasCreate_v2(void) { return 0; }'
        [ $major = 12 ] || echo 'int cublasCreate_v2(void); int cudnnCreate(void **); int start(void) { return cublasCreate_v2(); }' |
            cc -shared -fPIC -o host.so -x c - -L lib -l:libcublas.so.11
    done
    ln -sfn libcublas.so.12 lib/libcublas.so.11
    LD_LIBRARY_PATH=$PWD/lib run -1 "$CMD" run --quiet --log logs -- python3 -c \
        "import ctypes; ctypes.CDLL('libcublas.so.12'); ctypes.CDLL('$PWD/host.so')"
    "$CMD" report --json logs >report.json || true
    is "$(finding symbol-version-not-found '.fix[0].text')" \
        "\"install libcublas.so.11: what was found under that name is $PWD/lib/libcublas.so.12\""
}

@test "a library that the path leads to, after an older one was loaded by another host: it is preloaded" {
    mkdir old new
    echo 'libcudart.so.77 { global: *; };' >map
    local linker=(cc -shared -fPIC -Wl,--version-script=map -Wl,-soname,libcudart.so.77 -x c) i
    "${linker[@]}" -o old/libcudart.so.77 - <<<'int cudaMalloc(void) { return 0; }'
    "${linker[@]}" -o new/libcudart.so.77 - <<<'int cudaMalloc(void) { return 0; } int cudaMallocAsync(void) { return 0; }'
    for i in first:old:cudaMalloc second:new:cudaMallocAsync; do
        IFS=: read -r host at function <<<"$i"
        echo "int cudnnCreate(void **); int $function(void); int start(void) { return $function(); }" |
            cc -shared -fPIC -o "$host.so" -x c - -L "$at" -l:libcudart.so.77
    done
    patchelf --force-rpath --set-rpath "$PWD/old" first.so
    printf 'import ctypes\nctypes.CDLL("%s/first.so")\nctypes.CDLL("%s/second.so")\n' "$PWD" "$PWD" >main.py
    LD_LIBRARY_PATH=$PWD/new run -1 "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding symbol-version-not-found '.fix[0] | [.command, .checked]')" \
        "[\"export LD_PRELOAD=$PWD/new/libcudart.so.77\",\"replayed\"]"
    LD_PRELOAD=$PWD/new/libcudart.so.77 run -0 python3 main.py
}

@test "of a release that another package pins, the reason has that package and its pin" {
    wheel 9.8.0 87
    engine '>=9.1,<9.2'
    packaged torch 2.0.1 torch/__init__.py
    echo 'Requires-Dist: nvidia-cudnn-cu12==9.8.0.87' >>"$site/torch-2.0.1.dist-info/METADATA"
    mkdir cudnn-9.1.1.17 # no folder of its own
    observed
    is "$(finding runtime-too-new '.fix[0].why')" \
        '"another package requires what it removes: torch 2.0.1 requires nvidia-cudnn-cu12==9.8.0.87"'
    run -5 "$CMD" fix --check 'pip install nvidia-cudnn-cu12==9.1.0.70' logs
    [[ $output == *"requires nvidia-cudnn-cu12==9.8.0.87"* ]]
}

@test "texts that stand where links belong become links, one or all of them" {
    local lib=$PWD/opt/lib64 text target targets
    make_standin 8.9.7 other --layout toolkit # of another release, to which a variable would lead
    for text in "$lib/libcudnn.so.8" "$lib/libcudnn_ops_infer.so.8" all; do
        rm -rf opt
        make_standin 8.9.2 opt --layout toolkit
        if [ "$text" = all ]; then targets=("$lib"/*.so.8); else targets=("$text"); fi
        for target in "${targets[@]}"; do
            echo "$(basename "$target").9.2" >text
            rm "$target"
            mv text "$target"
        done
        [ -e host ] || build_host dlopen "$lib" host
        rm -f logs/*
        run ! env LD_LIBRARY_PATH="$lib" CUDA_HOME="$PWD/other" "$CMD" run --quiet --log logs -- ./host version create
        "$CMD" report --json logs >report.json || true
        is "$(finding bad-file '.fix[0].checked')" '"replayed"'
        [[ $(finding bad-file '.fix[0].command') != *LD_LIBRARY_PATH* ]]
        eval "$(jq -r '.findings[0].fix[0].command' report.json)"
        LD_LIBRARY_PATH="$lib" run -0 ./host version create
    done
}

@test "a link that leads to the wrong one of several that lie there is made anew" {
    local lib=$PWD/cu/lib64 row
    make_standin --layout toolkit 8.9.2 cu # no machine of the tests has cuDNN 8
    build_host lazy "$lib" host
    make_standin --layout toolkit 9.1.0 cu
    for row in wrong-name:libcudnn.so.9 wrong-name:libcudnn_ops_infer.so.8; do
        ln -sfn "${row#*:}" "$lib/libcudnn.so.8"
        rm -f logs/*
        run ! "$CMD" run --quiet --log logs -- ./host version
        "$CMD" report --json logs >report.json || true
        is "$(finding "${row%:*}" '.fix[0] | [.command, .checked]')" \
            "[\"ln -sfn libcudnn.so.8.9.2 $lib/libcudnn.so.8\",\"replayed\"]"
        eval "$(jq -r '.findings[0].fix[0].command' report.json)"
        run -0 ./host version
    done
}

@test "a call that fails with an older cuDNN than the header beside it: to the release of the header" {
    local lib=$PWD/cu/lib64
    make_standin --layout toolkit 7.1.2 cu
    make_standin --layout toolkit 7.4.1 cu
    build_host lazy "$lib" host
    ln -sfn libcudnn.so.7.1.2 "$lib/libcudnn.so.7"
    "$CMD" run --quiet --log logs -- sh -c './host version && echo CUDNN_STATUS_EXECUTION_FAILED && exit 1' &>text &&
        false
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '[.findings[] | "\(.id) \(.explained_by)"] | join(", ")' report.json)" \
        'runtime-too-old null, call-failed runtime-too-old'
    is "$(finding runtime-too-old '.fix[0] | [.command, .checked]')" \
        "[\"ln -sfn libcudnn.so.7.4.1 $lib/libcudnn.so.7\",\"replayed\"]"
}

@test "a damaged library of an archive: all of its release, from the wheel where its CUDA is known" {
    local lib=$PWD/cuda-12.4/lib64
    make_standin --layout toolkit 9.1.0 cuda-12.4
    build_host lazy "$lib" host -Wl,--disable-new-dtags,-rpath,"$lib"
    truncate -s 1000 "$lib/libcudnn_graph.so.9.1.0"
    pip() { # install --no-deps --upgrade --target FOLDER PACKAGE: with the libraries that it has
        is "$1 $5 $6" "install cudnn-wheels nvidia-cudnn-cu12==9.1.0.70"
        make_standin --layout pip --build 70 9.1.0 cudnn-wheels
    }
    told() {
        rm -f logs/*
        run ! "$CMD" run --quiet --log logs -- ./host version create
        "$CMD" report --json logs >report.json || true
        finding bad-file '.fix[0] | [.text, .checked]'
    }
    is "$(told)" "[\"copy all of cuDNN 9.1.0 for CUDA 12 into $lib\",\"replayed\"]"
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    run ./host version create
    [[ $output == *"version 90100"* ]]
    run -0 test -e "$lib/libcudnn.so" -a -e "$lib/libcudnn.so.9.1.0"
    # The name without a number stays with the other major that it leads to.
    make_standin --layout toolkit 8.9.2 cuda-12.4
    truncate -s 1000 "$lib/libcudnn_graph.so.9"
    told >/dev/null
    [[ $(jq -r '.findings[0].fix[0].command' report.json) != *"$lib/libcudnn.so "* ]]
    # What is in that folder already would be copied, too.
    [[ $(jq -r '.findings[0].fix[0].command' report.json) == *"cp -a cudnn-wheels-2/"* ]]
    rm -r cudnn-wheels
    told >/dev/null
    [[ $(jq -r '.findings[0].fix[0].command' report.json) == *"cp -a cudnn-wheels/"* ]]
    # What runs no command of a manager leaves the user's own files to the user.
    run -5 "$CMD" fix --apply --yes logs
    # What the names next to it say of another major is not its release.
    rm -r cuda-12.4
    make_standin --layout toolkit 8.9.2 cuda-12.4
    make_standin --layout toolkit 9.1.0 cuda-12.4
    truncate -s 1000 "$lib"/libcudnn*.so.9.1.0
    is "$(told)" "[\"copy all of cuDNN 9.1.0 for CUDA 12 into $lib\",\"replayed\"]"
}

@test "a library that is opened by its whole path is found there by a link" {
    local lib=$PWD/app/lib directory file
    make_standin 8.9.2 "$lib"
    build_host dlopen-path - app/host
    ln -s "$PWD/nowhere" dangling
    for directory in app/lib64 dangling; do # one that does not exist, and a link to such a one
        rm -f logs/*
        run -1 "$CMD" run --quiet --log logs -- app/host "$PWD/$directory/libcudnn.so.8" version create
        "$CMD" report --json logs >report.json || true
        [[ $(finding library-not-found '.fix[0] | [.command, .checked]') == '["ln -s'*" $lib $PWD/$directory\",\"replayed\"]" ]]
        eval "$(jq -r '.findings[0].fix[0].command' report.json)"
        run -0 app/host "$PWD/$directory/libcudnn.so.8" version create
    done
    # In a directory that is there a link of the facade alone leaves its parts behind.
    mkdir empty
    rm -f logs/*
    run -1 "$CMD" run --quiet --log logs -- app/host "$PWD/empty/libcudnn.so.8" version create
    "$CMD" report --json logs >report.json || true
    is "$(finding library-not-found '.fix[0] | [.command, .checked]')" \
        "[\"ln -s $lib/libcudnn.so.8 $PWD/empty/libcudnn.so.8 && export LD_LIBRARY_PATH=$lib\",\"replayed\"]"
    (eval "$(jq -r '.findings[0].fix[0].command' report.json)" && app/host "$PWD/empty/libcudnn.so.8" version create)
    # So is one that the loader refuses, by the set nearby, before all that is copied.
    for file in "" "of another system"; do
        rm -f logs/*
        rm empty/libcudnn.so.8
        printf %s "$file" >empty/libcudnn.so.8
        run -1 "$CMD" run --quiet --log logs -- app/host "$PWD/empty/libcudnn.so.8" version create
        "$CMD" report --json logs >report.json || true
        is "$(finding bad-file '.fix[0] | [.command, .checked]')" \
            "[\"ln -sfn $lib/libcudnn.so.8 $PWD/empty/libcudnn.so.8 && export LD_LIBRARY_PATH=$lib\",\"replayed\"]"
        (eval "$(jq -r '.findings[0].fix[0].command' report.json)" && app/host "$PWD/empty/libcudnn.so.8" version create)
    done
    # A path in the working directory is the user's.
    rm -f logs/*
    run -1 "$CMD" run --quiet --log logs -- app/host lib/libcudnn.so.8 version create
    "$CMD" report --json logs >report.json || true
    [[ $(finding library-not-found '.fix[0].text') == '"put the library at '* ]]
}

@test "a library that is opened by its whole path and refused: a whole copy that is known takes its place" {
    local old=$PWD/app/lib new=$PWD/work/cudnn-archive/lib
    mkdir work
    make_standin 8.5.0 app/lib
    make_standin 8.9.2 work/cudnn-archive/lib
    echo '#include <dlfcn.h>
        int puts(const char *);
        int main(int n, char **v) {
            void *h = dlopen(v[1], RTLD_NOW);
            unsigned long (*release)(void) = h ? dlsym(h, "cudnnGetVersion") : 0;
            return release && release() < 8902 ? (puts("Loaded runtime CuDNN library: 8.5.0 but source was compiled with: 8.9.2."), 1) : !release; }' |
        "${CC:-gcc}" -x c - -o work/program -ldl
    told() { # NAME [NAME=VALUE]
        rm -f logs/*
        env -C work "${@:2}" "$CMD" run --quiet --log "$PWD/logs" -- ./program "$1" >printed 2>&1 && return 1
        "$CMD" report --json logs >report.json || true
        finding runtime-too-old '.fix[0] | .command, .checked' | jq -r . | paste -sd " "
    }
    # A copy that somebody fetches: by which command, is known where a toolkit says its CUDA.
    placed() {
        told "$@" >/dev/null
        finding runtime-too-old '.fix[0] | [.edits[0].edit, .checked]'
    }
    # By its name the variable leads to what is unpacked where the program works.
    is "$(told libcudnn.so.8 LD_LIBRARY_PATH="$old")" "export LD_LIBRARY_PATH=$new:$old replayed"
    is "$(told "$old/libcudnn.so.8")" "cp -a --remove-destination $new/libcudnn* $old replayed"
    # Not of a half, and nothing of the old release stays beside it.
    mv "$new/libcudnn_cnn_infer.so.8" .
    is "$(placed "$old/libcudnn.so.8")" '["place","replayed"]'
    mv libcudnn_cnn_infer.so.8 "$new"
    # Nor of links that lead nowhere from there.
    mkdir -p far/away
    mv "$new"/* far/away
    ln -rs -t "$new" far/away/*
    is "$(placed "$old/libcudnn.so.8")" '["place","replayed"]'
    rm "$new"/*
    mv far/away/* "$new"
    cp "$old/libcudnn_cnn_infer.so.8" "$old/libcudnn_older.so.8"
    is "$(placed "$old/libcudnn.so.8")" '["place","replayed"]'
    rm "$old/libcudnn_older.so.8"
    told "$old/libcudnn.so.8"
    is "$("$CMD" fix --check "$(jq -r '.findings[0].fix[0].command' report.json)" --json logs | jq -r '.findings[0].checked.verdict')" repairs
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    env -C work ./program "$old/libcudnn.so.8"
}

@test "of a release that is excluded, the next one is installed, not the newest of all" {
    wheel 9.10.2 21
    local row
    for row in '!=9.10.* 9.11.1.4' '>=9.8,!=9.10.2.21 9.11.1.4' '<9.11,!=9.10.* 9.9.0.52'; do
        engine "${row% *}"
        observed
        [[ $(edits runtime-too-old; edits runtime-too-new) == *install* ]]
        jq -e --arg command "pip install nvidia-cudnn-cu12==${row#* }" \
            'any(.findings[0].fix[]; .command == $command and .checked == "replayed")' report.json
    done
    engine '!=9.10.*,>=9.12' # refused by more than the exclusion
    observed
    jq -e 'any(.findings[0].fix[]; .command == "pip install '"'nvidia-cudnn-cu12!=9.10.*,>=9.12'"'")' report.json
}

@test "a facade that may not be read, without a package: it is of the release of the parts next to it" {
    [ "$(id -u)" -eq 0 ] || skip "needs root, which gives the file to another user"
    [ "${COVERAGE:-}" != 1 ] || skip "gcov prints which of its files another user cannot open"
    local as=(setpriv --reuid=65534 --regid=65534 --clear-groups env "LD_LIBRARY_PATH=$PWD/lib")
    chmod 755 . "$BATS_RUN_TMPDIR" "$(dirname "$BATS_RUN_TMPDIR")" "$(dirname "$PWD")"
    chown 65534 logs
    make_standin 8.5.0 lib # not the newest, which an unknown release counts as
    build_host lazy "$PWD/lib" host --no-rpath
    cp "$CMD" "$SHIM" .
    local facade
    facade=$(realpath lib/libcudnn.so.8)
    [ "$facade" = "$PWD/lib/libcudnn.so.8" ] || mv "$facade" lib/libcudnn.so.8
    chmod 600 lib/libcudnn.so.8
    run ! "${as[@]}" ./whichcudnn run --quiet --log logs -- ./host version
    "${as[@]}" ./whichcudnn report --json logs >report.json || true
    validate_report report.json
    is "$(finding refused-by-system '.fix[0] | [.text, .checked]')" \
        "$(jq -cn '[$ARGS.positional[], "replayed"]' --args "let all users read $PWD/lib/libcudnn.so.8, as its owner or root: chmod a+r $PWD/lib/libcudnn.so.8")"
    # A command within a sentence is one for a shell, too.
    mv lib 'my lib' && rm logs/*
    run ! "${as[@]/%lib/my lib}" ./whichcudnn run --quiet --log logs -- ./host version
    "${as[@]}" ./whichcudnn report --json logs >report.json || true
    [[ $(finding refused-by-system '.fix[0].text') == *": chmod a+r '$PWD/my lib/libcudnn.so.8'\"" ]]
    # What only root may do is said.
    chmod 644 'my lib/libcudnn.so.8'
    mv 'my lib' lib && rm logs/*
    mv lib/libcudnn.so.8 lib/libcudnn.so.8.5.0 && ln -s nowhere lib/libcudnn.so.8
    run ! "${as[@]}" ./whichcudnn run --log logs -- ./host version
    [[ $(tr -s ' \n' ' ' <<<"$output") == *" fix ln "*"; but only its owner, or root, may write to $PWD/lib "* ]]
    # What lies behind a closed directory may be closed, too.
    mv -T lib/libcudnn.so.8.5.0 lib/libcudnn.so.8 && mkdir above && mv lib above && rm logs/*
    chmod 700 above above/lib
    run ! "${as[@]/%\/lib/\/above\/lib}" ./whichcudnn run --log logs -- ./host version
    [[ $(tr -s ' \n' ' ' <<<"$output") == *" not replayed: what is below $PWD/above cannot be seen, and may be closed, too "* && $output != *"  fix  "* ]]
    chmod 755 above/lib && mv above/lib 'my lib' && rm logs/*
    # All of it was copied as root has it.
    chmod 600 'my lib'/*.so.* && mv 'my lib' lib
    LD_LIBRARY_PATH=$PWD/lib run ! "$CMD" run --log logs/ -- "${as[@]:0:4}" ./host version
    [[ $output == *"fix       chmod a+rx $PWD/lib && chmod a+r"*"$PWD/lib/libcudnn*"*replayed:* ]]
    chmod a+rx lib && chmod a+r lib/libcudnn*
    run -0 "${as[@]}" ./host version
}

@test "a framework in lib64 whose wheels, which are pure, went to lib: the variable leads there" { # YanWenKun/ComfyUI-Docker#56
    wheel 8.9.2 26
    local pure=$site
    site=$PWD/venv/lib64/python3.12/site-packages
    engine '==8.9.2.26' "$pure/nvidia/cudnn/lib" "-Wl,-rpath,\$ORIGIN/../nvidia/cudnn/lib"
    observed
    is "$(jq -r '.findings[0].id' report.json)" library-not-found
    is "$(jq -r '.findings[0].fix[0] | "\(.command), \(.checked)"' report.json)" \
        "export LD_LIBRARY_PATH=$pure/nvidia/cudnn/lib, replayed"
    observed LD_LIBRARY_PATH="$pure/nvidia/cudnn/lib"
    is "$(jq '.findings | length' report.json)" 0
}

@test "what pip left when it was interrupted is not searched: the package is installed" {
    wheel 8.9.2 26
    engine '>=8.8,<9'
    mv "$site/nvidia/cudnn" "$site/nvidia/~udnn"
    mv "$site"/nvidia_cudnn_cu12-8.9.2.26.dist-info "$site/~vidia_cudnn_cu12-8.9.2.26.dist-info"
    observed
    jq -e '.findings[0].fix[0] | .command | contains("install") and contains("nvidia-cudnn-cu12")' report.json
    [[ $(jq -c '[.findings[].fix[].text, .findings[].rejected[]?.text]' report.json) != *'~'* ]]
}

@test "a directory that ld.so.conf names and the loader's cache does not list: ldconfig" {
    unshare -Urm true || skip "no namespaces of users here"
    local bound=(unshare -Urm sh -c 'mount --bind "$0" /etc/ld.so.conf && mount --bind "$1" /etc/ld.so.cache && shift && exec "$@"'
        "$PWD/conf") name
    echo "include $PWD/*.conf" >conf
    echo "$PWD/lib" >cudnn.conf
    make_standin 8.9.2 lib
    echo 'int other(void) { return 0; }' | "${CC:-cc}" -shared -fPIC -x c - -Wl,-soname,libother.so.3 -o lib/libother.so.3.1
    make_standin 8.9.2 own
    build_host lazy "$PWD/lib" host --no-rpath
    build_host opened-lazy "$PWD/own" other -Wl,--no-as-needed "$PWD/lib/libother.so.3.1"
    build_host lazy "$PWD/own" direct -Wl,--no-as-needed "$PWD/lib/libother.so.3.1" # needed by the program itself
    PATH=$PATH:/sbin ldconfig -X -C old -f /dev/null
    for name in host other direct; do
        rm -f logs/*
        run ! "${bound[@]}" "$PWD/old" "$CMD" run --quiet --log logs -- "./$name" version
        "${bound[@]}" "$PWD/old" "$CMD" report --json logs >report.json || true
        validate_report report.json
        is "$(jq -c '.findings[0].fix[0] | [.command, .checked]' report.json)" '["/sbin/ldconfig","replayed"]'
    done
    PATH=$PATH:/sbin ldconfig -C new -f cudnn.conf # which makes the link of libother, too
    for name in host other direct; do
        run -0 "${bound[@]}" "$PWD/new" "./$name" version
    done
    echo "$PWD/none" >cudnn.conf
    "${bound[@]}" "$PWD/old" "$CMD" report --json logs >report.json || true
    never "$(jq -r '.findings[0].id' report.json)" cache
}

@test "a script, or a file that it reads, sets the variable: its line is changed" {
    local lib=$PWD/good old=$PWD/old line
    make_standin 8.9.2 "$lib"
    make_standin 8.5.0 "$old"
    build_host dlopen "$lib" host
    for line in "export LD_LIBRARY_PATH=$old:\$LD_LIBRARY_PATH" "  LD_LIBRARY_PATH=\"$old\${A:+:\$A}\"; export LD_LIBRARY_PATH" \
        ". conf/env.sh"; do
        mkdir -p conf
        echo "export LD_LIBRARY_PATH=$old" >conf/env.sh
        printf '#!/bin/sh\n# LD_LIBRARY_PATH=old\n%s\n./host version\n' "$line" >run.sh
        rm -rf logs
        mkdir logs
        WHICHCUDNN_EXPECT='>=8.8' run "$CMD" run --quiet --log logs -- sh run.sh
        "$CMD" report --json logs >report.json || true
        is "$(jq -c '.findings[0].fix[0].checked' report.json)" '"replayed"'
        eval "$(jq -r '.findings[0].fix[0].command' report.json)"
        WHICHCUDNN_EXPECT='>=8.8' run -0 sh run.sh
        is "$output" "version 8902"
    done
    # A line that only says the variable has no value.
    printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s\n: "with LD_LIBRARY_PATH=${LD_LIBRARY_PATH}"\nfor h in host; do ./$h version; done\n' "$old" >run.sh
    rm -f logs/*
    WHICHCUDNN_EXPECT='>=8.8' run "$CMD" run --quiet --log logs -- sh run.sh
    "$CMD" report --json logs >report.json || true
    [[ $(jq -r '.findings[0].fix[0].command' report.json) == "sed -i '2s#"* ]]
    # What is not one word, what more than one line sets, or one that only a shell can read, is set
    # anew on the line of the program.
    for line in "eval export LD_LIBRARY\\_PATH=$old"$'\n'"LD_LIBRARY_PATH=/x true" "export LD_LIBRARY_PATH='$old':/x" "export LD_LIBRARY_PATH=$old"$'\n'"LD_LIBRARY_PATH=$old:/x" \
        "export LD_LIBRARY_PATH=/x; export LD_LIBRARY_PATH=$old"; do
        printf '#!/bin/sh\n%s\n./host version\n' "$line" >run.sh
        rm -f logs/*
        WHICHCUDNN_EXPECT='>=8.8' run "$CMD" run --quiet --log logs -- sh run.sh
        "$CMD" report --json logs >report.json || true
        eval "$(jq -r '.findings[0].fix[0].command' report.json)"
        WHICHCUDNN_EXPECT='>=8.8' run -0 sh run.sh
        is "$output" "version 8902"
    done
}

@test "what the command starts sets or drops the variable: the line is found through the files that it names" {
    local lib=$PWD/good old=$PWD/old
    make_standin 8.9.2 "$lib"
    make_standin 8.5.0 "$old"
    build_host dlopen "$lib" host
    mkdir bin
    repaired() { # COMMAND...
        rm -f logs/*
        WHICHCUDNN_EXPECT='>=8.8' "$CMD" run --quiet --log logs -- "$@" || true
        "$CMD" report --json logs >report.json || true
        is "$(jq -c '.findings[0].fix[0].checked' report.json)" '"replayed"'
        eval "$(jq -r '.findings[0].fix[0].command' report.json)"
        WHICHCUDNN_EXPECT='>=8.8' run -0 "$@"
        [[ $output == *"version 8902" ]]
    }
    # A Python program starts a script, which names one beside itself.
    printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s:$LD_LIBRARY_PATH\necho "LD_LIBRARY_PATH=$LD_LIBRARY_PATH"\nexec "$@"\n' "$old" >bin/env.sh
    printf '#!/bin/sh\n"$(dirname "$0")"/env.sh "$@"\n' >bin/launch
    chmod +x bin/*
    printf 'import subprocess, sys\nsys.exit(subprocess.call(["bin/launch", "./host", "version"]))\n' >main.py
    repaired python3 main.py
    # A line of Python, or of JSON, that has it as one text.
    printf 'import os, subprocess, sys\nos.environ["LD_LIBRARY_PATH"] = "%s"\nsys.exit(subprocess.call(["./host", "version"]))\n' "$old" >main.py
    repaired python3 main.py
    printf '{"argv": ["./host"],\n "env": {"LD_LIBRARY_PATH": "%s"}}\n' "$old" >kernel.json
    printf 'import json, os, sys\nos.environ.update(json.load(open(sys.argv[1]))["env"])\nos.execv("./host", ["./host", "version"])\n' >main.py
    repaired python3 main.py kernel.json
    # What a line of Python makes it of its owner knows how to change.
    printf 'import os, subprocess, sys\nos.environ["LD_LIBRARY_PATH"] = "%s" + ":/x"\nsys.exit(subprocess.call(["./host", "version"]))\n' "$old" >main.py
    rm -f logs/*
    WHICHCUDNN_EXPECT='>=8.8' run "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '.findings[0].fix[0] | [.command, .text]' report.json)" \
        "[null,\"let line 2 of $PWD/main.py start the process with LD_LIBRARY_PATH=/x\"]"
    # A Makefile that exports what it makes of another variable.
    printf 'CUDNN := %s\nexport LD_LIBRARY_PATH := $(CUDNN)\nrun: ; @./host version\n' "$old" >Makefile
    repaired make -s run
    # A recipe, which a shell runs.
    printf 'run:\n\t@LD_LIBRARY_PATH=%s ./host version && true\n' "$old" >Makefile
    repaired make -s run
    rm Makefile
    # A file in a folder beside the script, which takes the value from a variable's default.
    mkdir bin/conf
    printf '#!/bin/sh\n. "$(dirname "$0")/conf/gpu.sh"\n./host version\n' >bin/start
    printf ': "${CUDNN:=%s}"\nexport LD_LIBRARY_PATH=$CUDNN\n' "$old" >bin/conf/gpu.sh
    repaired sh bin/start
    # The script names the file, or the program, by its own variables.
    mkdir -p conf/gpu home/.local/share/jupyter/kernels/gpu
    echo "export LD_LIBRARY_PATH=$old" >conf/gpu/env.sh
    printf '#!/bin/sh\nROOT=%s\nCONF="$ROOT/conf"\n. $CONF/gpu/env.sh\nexec $ROOT/host version\n' "$PWD" >bin/start
    repaired sh bin/start
    is "$(tail -n 1 bin/start)" 'exec $ROOT/host version'
    local word
    for word in '$ROOT/host' '"${ROOT}/host"' "\"$PWD/host\""; do
        printf '#!/bin/sh\nROOT=/none\nexport ROOT=%s\neval export LD_LIBRARY\\_PATH=%s\nexec %s version\n' "$PWD" "$old" "$word" >bin/start
        repaired sh bin/start
        is "$(tail -n 1 bin/start)" "exec env LD_LIBRARY_PATH= $word version"
    done
    # Jupyter starts a program as its kernel.json says.
    printf '{"argv": ["./host"],\n "env": {"LD_LIBRARY_PATH": "%s"}}\n' "$old" >home/.local/share/jupyter/kernels/gpu/kernel.json
    printf 'import glob, json, os, sys\nos.environ.update(json.load(open(glob.glob(os.path.expanduser("~/.local") + "/*/*/*/*/*.json")[0]))["env"])\nos.execv("./host", ["./host", "version"])\n' >main.py
    HOME=$PWD/home repaired python3 main.py
    mkdir -p env/bin && cp host env/bin/ && mv home/.local/share env/ && sed -i "s#LD_LIBRARY_PATH\": \"[^\"]*#LD_LIBRARY_PATH\": \"$old#" env/share/jupyter/kernels/gpu/kernel.json
    printf 'import glob, json, os, sys\nhere = os.getcwd() + "/env"\nos.environ.update(json.load(open(glob.glob(here + "/*/*/*/*/*.json")[0]))["env"])\nos.execv(here + "/bin/host", [here + "/bin/host", "version"])\n' >main.py
    HOME=$PWD/home repaired python3 main.py
    # A script by its name alone; a value that a command prints.
    printf '#!/bin/sh\nexport LD_LIBRARY_PATH=`echo %s`\nexec "$@"\n' "$old" >bin/by-name
    chmod +x bin/by-name
    PATH=$PWD/bin:$PATH repaired by-name ./host version
    # One that begins with an empty environment drops what the command was given.
    build_host lazy "$lib" linked --no-rpath
    printf '#!/bin/sh\nexec env -i PATH="$PATH" "$@"\n' >as-root
    chmod +x as-root
    LD_LIBRARY_PATH=$lib repaired ./as-root ./linked version
    # What only a shell can tell: the line is changed, where there is one.
    printf 'export LD_LIBRARY_PATH=%s\\${LD_LIBRARY_PATH:+:}\n' "$lib" >bin/gpu.sh
    printf '#!/bin/sh\n. bin/gpu.sh\nexec ./linked version\n' >bin/start
    LD_LIBRARY_PATH=$lib repaired sh bin/start
    printf '#!/bin/sh\nfor v in LD_LIBRARY_PATH; do unset $v; done\nexec ./linked version\n' >bin/start
    LD_LIBRARY_PATH=$lib repaired sh bin/start
    cp linked bin/
    printf '#!/bin/sh\nfor v in LD_LIBRARY_PATH; do unset $v; done\nexec bin/linked version\n' >bin/start
    LD_LIBRARY_PATH=$lib repaired sh bin/start
    printf '#!/bin/sh\nfor v in LD_LIBRARY_PATH; do unset $v; done\nexec "$@"\n' >bin/start
    rm logs/*
    LD_LIBRARY_PATH=$lib "$CMD" run --quiet --log logs -- sh bin/start ./linked version 2>said || true
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '.findings[0].fix[0] | [.checked, .why, .command]' report.json)" \
        '["no","what LD_LIBRARY_PATH the script gives the program is not known",null]'
    # A launcher that keeps it to itself: on the line that names the program behind it.
    printf '#!/bin/sh\nshift 2\nexec env -u LD_LIBRARY_PATH "$@"\n' >bin/mpirun
    printf '#!/bin/sh\nmpirun -np 2 ./linked version\n' >start
    chmod +x bin/mpirun start
    LD_LIBRARY_PATH=$lib PATH=$PWD/bin:$PATH repaired ./start
    grep -q "^mpirun -np 2 env LD_LIBRARY_PATH=$lib ./linked" start
    # A line that goes on, or a list; but no other mention of the program.
    for line in $'mpirun -np 2 \\\n  ./linked version' $'A=(mpirun -np 2\n./linked version)\n"${A[@]}"'; do
        printf '#!/bin/bash\n%s\n' "$line" >start
        LD_LIBRARY_PATH=$lib PATH=$PWD/bin:$PATH repaired ./start
    done
    echo "import ctypes; ctypes.CDLL('libcudnn.so.8').cudnnGetVersion()" >opens.py
    for line in $'A=opens.py\nmpirun -np 2 python3 $A' $'test -f opens.py || exit 3\nA=opens; mpirun -np 2 python3 $A.py' \
        'for p in opens.py; do mpirun -np 2 python3 $p; done' 'case x in python3\ opens.py) ;; *) mpirun -np 2 python3 open[s].py;; esac' \
        $'true\t# python3 opens.py\nA=opens; mpirun -np 2 python3 $A.py' $'for p in \\\nopens.py \\\n; do mpirun -np 2 python3 $p; done'; do
        printf '#!/bin/sh\n%s\n' "$line" >start
        rm -f logs/*
        LD_LIBRARY_PATH=$lib PATH=$PWD/bin:$PATH run -1 "$CMD" run --quiet --log logs -- ./start
        "$CMD" report --json logs >report.json || true
        is "$(jq '.findings[0] | .id, .fix[0].command' report.json)" '"library-not-found"
null'
    done
    # A value of which a variable is a part; the first line is a shell's, whatever it runs.
    printf 'X=$(true python)\nexport LD_LIBRARY_PATH=$CONDA_PREFIX/lib:$LD_LIBRARY_PATH\n' >bin/gpu.sh
    printf '#!/bin/sh\nexport CONDA_PREFIX=%s/conda\nfor f in bin/gpu*; do . ./$f; done\n. bin/gpu.sh\n./host version\n' "$PWD" >start
    mkdir conda
    ln -s ../old conda/lib
    repaired ./start
    grep -q '^export LD_LIBRARY_PATH=' bin/gpu.sh
    # One that drops this variable alone.
    printf '#!/bin/sh\nexec env -u LD_LIBRARY_PATH "$@"\n' >as-root
    LD_LIBRARY_PATH=$lib repaired ./as-root ./linked version
    # A path is no part of a longer one: line 2 sets what the process has, line 3 does not.
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s\nOTHER_LD_LIBRARY_PATH=%s-12\nexport LD_LIBRARY_PATH\nexec "$@"\n' "$old" "$old" >as-root
    repaired ./as-root ./host version
    # One that removes it, in a file that it reads, or for the one program.
    printf '#!/bin/sh\n. "$(dirname "$0")/common.sh"\nexec env -u HOME "$@"\n' >bin/launch
    printf '# unset LD_LIBRARY_PATH\nunset LD_LIBRARY_PATH LD_RUN_PATH # of the user\n' >bin/common.sh
    LD_LIBRARY_PATH=$lib repaired bin/launch ./linked version
    is "$(sed -n '2,$p' bin/common.sh)" "unset LD_LIBRARY_PATH LD_RUN_PATH # of the user
export LD_LIBRARY_PATH=$lib"
    printf '#!/bin/sh\nexec env -u LD_LIBRARY_PATH "$@"\n' >bin/launch
    LD_LIBRARY_PATH=$lib repaired bin/launch ./linked version
    # What more than one word depends on is named; what is not removed is not.
    printf '#!/bin/sh\nunset LD_LIBRARY_PATH; exec "$@"\n' >bin/launch
    rm logs/*
    LD_LIBRARY_PATH=$lib run -127 "$CMD" run --quiet --log logs -- bin/launch ./linked version
    "$CMD" report --json logs >report.json || true
    [[ $(jq -r '.findings[0].fix[0].text' report.json) == "let line 2 of $PWD/bin/launch start the process with "* ]]
    printf '#!/bin/sh\nunset LD_LIBRARY_PATH_OF_MINE\nexec "$@"\n' >bin/launch
    LD_LIBRARY_PATH=$lib run -0 "$CMD" run --log logs -- bin/launch ./linked version
    [[ $output != *error* ]]
}

@test "a script that sets another LD_PRELOAD is named: what it starts is not watched" {
    make_standin 8.5.0 old
    build_host dlopen "$PWD/old" host
    printf '#!/bin/sh\nexport LD_PRELOAD=%s\n./host version\nexit 3\n' "$PWD/old/libcudnn.so.8" >run.sh
    run "$CMD" run --log logs -- sh run.sh
    [[ $output == *"line 2 of $PWD/run.sh sets another LD_PRELOAD"* ]]
    sed -i '2s#=.*#=/nowhere:$LD_PRELOAD#' run.sh
    run "$CMD" run --log logs -- sh run.sh
    [[ $output != *"another LD_PRELOAD"* ]]
    # Its files say something by themselves: still it was not watched.
    make_standin 9.8.0 part --needs graph=libz.so.1
    : >part/libz.so.1
    printf '#!/bin/sh\nexport LD_PRELOAD=%s\n./host version\nexit 3\n' "$PWD/part/libcudnn_graph.so.9" >run.sh
    run "$CMD" run --log logs -- sh run.sh
    echo "$output"
    [[ $output == *"a script changes LD_PRELOAD, and what it started was not watched"* ]]
    # Of a Python file's text only what is Python counts.
    printf '"""Start it with LD_PRELOAD=/usr/lib/libjemalloc.so"""\nraise SystemExit(1)\n' >main.py
    run "$CMD" run --log logs -- "$PY" main.py
    [[ $output != *"another LD_PRELOAD"* ]]
    sed -i "1s#.*#env = dict(LD_PRELOAD='/usr/lib/libjemalloc.so', A=1)#; s#dict(#dict( #" main.py
    run "$CMD" run --log logs -- "$PY" main.py
    [[ $output == *"line 1 of $PWD/main.py sets another LD_PRELOAD"* ]]
}

@test "a part whose own need is a bad file: the file is named, and no later name of the part is played" {
    make_standin 9.8.0 lib --needs graph=libz.so.1
    mkdir module other
    : >module/libz.so.1
    build_host dlopen "$PWD/lib" host
    LD_LIBRARY_PATH=$PWD/module:$PWD/other "$CMD" run --quiet --log logs -- ./host version || true
    make_standin 9.1.0 new
    mv new/libcudnn_graph.so.9 other/libcudnn_graph.so # which only the last of the four names finds
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0] | .id, .title' report.json)" "bad-file
libcudnn_graph.so.9 needs libz.so.1, which is empty"
    is "$(jq -r '.findings[0].fix[0] | .command, .checked' report.json)" "export LD_LIBRARY_PATH=$PWD/other
replayed"
    LD_LIBRARY_PATH=$PWD/other run -0 ./host version
}

@test "a copy that DT_RPATH keeps behind another one is there from the start by LD_PRELOAD" {
    make_standin 7.4.1 old
    make_standin 7.6.5 new
    build_host lazy "$PWD/old" host -Wl,-rpath,"$PWD/old" -Wl,--disable-new-dtags
    rm -f logs/*
    LD_LIBRARY_PATH=$PWD/new WHICHCUDNN_EXPECT='>=7.6' "$CMD" run --quiet --log logs -- ./host version || true
    "$CMD" report --json logs >report.json || true
    is "$(finding expectation-not-met '.fix[0] | [.command, .checked]')" \
        "[\"export LD_PRELOAD=$PWD/new/libcudnn.so.7\",\"replayed\"]"
    run -0 env LD_PRELOAD="$PWD/new/libcudnn.so.7" ./host version
    is "$output" "version 7605"
}

@test "where a shell, or an environment as it is activated, sets the variable again, that line is named" {
    local lib=$PWD/good old=$PWD/old file
    make_standin 8.9.2 "$lib"
    make_standin 8.5.0 "$old"
    build_host dlopen "$lib" host
    mkdir -p home conda/etc/conda/activate.d conda/conda-meta parts
    export HOME=$PWD/home
    told() {
        rm -f logs/*
        CONDA_PREFIX=$PWD/conda LD_LIBRARY_PATH=$old WHICHCUDNN_EXPECT='>=8.8' "$CMD" run --quiet --log logs -- ./host version >/dev/null || true
        "$CMD" report --json logs | jq -r '.findings[0].fix[0] | [.command, .checked, .but] | join("|")'
    }
    is "$(told)" "unset LD_LIBRARY_PATH|replayed|"
    for file in home/.bashrc conda/etc/conda/activate.d/cudnn.sh conda/conda-meta/state parts/cuda.sh; do
        printf '# nothing\nexport LD_LIBRARY_PATH=/x:%s\nexport LD_LIBRARY_PATH=/other:$LD_LIBRARY_PATH\n' "$old" >"$file"
        [ "$file" != parts/cuda.sh ] || echo ". $PWD/parts/cuda.sh" >home/.profile
        is "$(told)" "unset LD_LIBRARY_PATH|replayed|line 2 of $PWD/$file sets it again"
        rm "$file"
    done
}

@test "a file of all users sets the variable for a login shell: its line is changed, which is said" {
    unshare -Urm true || skip "no namespaces of users here"
    make_standin 8.9.2 good
    make_standin 8.5.0 old
    build_host dlopen "$PWD/good" host
    mkdir parts
    printf 'export LD_LIBRARY_PATH=%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n' "$PWD/old" >parts/cuda.sh
    cat >in <<'S'
mount --bind parts /etc/profile.d
"$CMD" run --quiet --log logs -- sh -lc 'exec ./host version' || true
"$CMD" report --json logs >report.json || true
sh -c "$(jq -r '.findings[0].fix[0].command' report.json)"
sh -lc 'exec ./host version'
S
    HOME=$PWD CMD=$CMD WHICHCUDNN_EXPECT='>=8.8' run -0 unshare -Urm sh in
    [[ $output == *"version 8500"*"version 8902" ]]
    is "$(jq -c '.findings[0].fix[0] | [.checked, .but]' report.json)" '["replayed","all users of this machine get it, too"]'
    # What a user needs more is not for all: the line of the program has it.
    rm logs/* && build_host dlopen "$PWD/good" host --no-rpath && mkdir none
    printf 'export LD_LIBRARY_PATH=%s\n' "$PWD/none" >parts/cuda.sh
    printf './host version\n' >run.sh
    sed -i "s#sh -lc 'exec ./host version'#sh -l run.sh#" in
    HOME=$PWD CMD=$CMD run -0 unshare -Urm sh in
    [[ $output == *"version 8902" ]]
    is "$(cat run.sh)" "env LD_LIBRARY_PATH=$PWD/good:$PWD/none ./host version"
}

@test "a script that reads a file, changes the directory, or is a program's list of variables: its line is changed" {
    local name
    make_standin 8.9.2 "$PWD/dist/lib"
    build_host lazy "$PWD/dist/lib" dist/host --no-rpath
    mkdir -p jobs/7
    repaired() { # COMMAND...
        rm -f logs/*
        "$CMD" run --quiet --log logs -- "$@" || true
        "$CMD" report --json logs >report.json || true
        is "$(jq -c '.findings[0] | [.id, .fix[0].checked]' report.json)" '["library-not-found","replayed"]'
        eval "$(jq -r '.findings[0].fix[0].command' report.json)"
        run -0 "$@"
        [[ $output == *"version 8902" ]]
    }
    printf 'export LD_LIBRARY_PATH=dist/lib\ncd jobs/7\nexec ../../dist/host version\n' >job.sh
    mkdir notes && echo 'a text' >notes/readme
    repaired sh job.sh notes/readme
    printf 'export LD_LIBRARY_PATH=/opt/vendor/lib,%s\n' "$PWD/dist/lib" >modules.sh # a comma separates nothing
    printf '. ./modules.sh\nexec dist/host version\n' >job.sh
    repaired sh job.sh
    # As docker --env-file: what stands there is the value, quotes and all.
    printf 'LD_LIBRARY_PATH="%s"\n' "$PWD/dist/lib" >serve.env
    cat >envrun.py <<'P'
import os, sys
for line in open(sys.argv[1]):
    name, _, value = line.rstrip("\n").partition("=")
    os.environ[name] = value
os.execvp(sys.argv[2], sys.argv[2:])
P
    repaired "$PY" envrun.py serve.env dist/host version
    # As YAML: nothing there is none, which no environment takes.
    printf 'LD_LIBRARY_PATH: %s\n' "$PWD/old" >serve.yaml
    make_standin 8.5.0 old
    cat >envrun.py <<'P'
import os, sys
for line in open(sys.argv[1]):
    name, _, value = line.rstrip("\n").partition(": ")
    os.environ[name] = value.strip('"') if value else None
os.execvp(sys.argv[2], sys.argv[2:])
P
    build_host dlopen "$PWD/dist/lib" dist/host
    rm -f logs/*
    export WHICHCUDNN_EXPECT='>=8.8'
    "$CMD" run --quiet --log logs -- "$PY" envrun.py serve.yaml dist/host version || true
    "$CMD" report --json logs >report.json || true
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    is "$(cat serve.yaml)" 'LD_LIBRARY_PATH: ""'
    run -0 "$PY" envrun.py serve.yaml dist/host version
    is "$output" "version 8902"
}

@test "an environment's own script sets the variable as it is activated: its line is changed" {
    local lib=$PWD/good old=$PWD/old
    make_standin 8.9.2 "$lib"
    make_standin 8.5.0 "$old"
    build_host dlopen "$lib" host
    mkdir -p conda/etc/conda/activate.d
    printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s\n' "$old" >conda/etc/conda/activate.d/vars.sh
    printf 'export CONDA_PREFIX=%s\nfor f in conda/etc/conda/activate.d/*.sh; do . $f; done\n./host version\n' "$PWD/conda" >run.sh
    WHICHCUDNN_EXPECT='>=8.8' "$CMD" run --quiet --log logs -- sh run.sh || true
    "$CMD" report --json logs >report.json || true
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    run -0 sh run.sh
    is "$output" "version 8902"
}

@test "an archive that is unpacked below /opt is found for what no package manages" {
    unshare -Urm true || skip "no namespaces of users here"
    export archive=$BATS_FILE_TMPDIR/archive
    make_standin 8.9.2 "$archive/cudnn-8.9/lib"
    build_host lazy "$archive/cudnn-8.9/lib" host --no-rpath
    cat >in <<'S'
mount --bind "$archive" /opt
"$CMD" run --quiet --log logs -- "$@" || true
"$CMD" report --json logs >report.json || true
S
    CMD=$CMD unshare -Urm sh in ./host version
    is "$(jq -c '.findings[0].fix[0] | [.command, .checked]' report.json)" '["export LD_LIBRARY_PATH=/opt/cudnn-8.9/lib","replayed"]'
    for directory in own cuda-12.2/lib64; do # the second one is the toolkit's
        rm -rf logs/*
        make_standin 8.5.0 "$directory"
        build_host dlopen "$PWD/$directory" opened
        CMD=$CMD WHICHCUDNN_EXPECT='>=8.8' unshare -Urm sh in ./opened version
        is "$(finding expectation-not-met '.fix[0] | [.command, .checked]')" '["export LD_LIBRARY_PATH=/opt/cudnn-8.9/lib","replayed"]'
    done
}

@test "a place that a variable names for builds, or for others, is looked at" {
    local named=$BATS_RUN_TMPDIR/named/too/deep/to/be/seen
    make_standin 8.9.2 "$named/lib"
    build_host lazy "$named/lib" host --no-rpath
    told() { # [NAME=VALUE]
        rm -rf logs
        env "$@" "$CMD" run --quiet --log logs -- ./host version || true
        "$CMD" report --json logs >report.json || true
        finding library-not-found '.fix[0] | [.command, .checked]'
    }
    is "$(told)" '[null,"no"]'
    for variable in CUDNN_PATH="$named" CUDA_HOME="$named" LIBRARY_PATH="/usr/lib:$named/lib"; do
        is "$(told "$variable")" "[\"export LD_LIBRARY_PATH=$named/lib\",\"replayed\"]"
    done
    mv "$named/lib" "$named/stubs"
    is "$(told LIBRARY_PATH="$named/stubs")" '[null,"no"]'
    rm -r "$BATS_RUN_TMPDIR/named"
}

@test "what another host excludes is in the command, and what the user's constraints refuse is lifted" {
    wheel 8.9.2 26
    engine '>=8.5,<8.9.2' # a site with another host
    mkdir -p "$site/other-1.0.dist-info"
    printf 'Metadata-Version: 2.1\nName: other\nVersion: 1.0\nRequires-Dist: nvidia-cudnn-cu12!=8.9.1.*,>=8.5\n' >"$site/other-1.0.dist-info/METADATA"
    observed
    [[ $(jq -r '[.findings[].fix[].command] | first' report.json) == *"'nvidia-cudnn-cu12>=8.5,<8.9.2,!=8.9.1.*'" ]]
    printf 'numpy<2\nNVIDIA_cudnn_cu12==8.9.2.26\n' >constraint.txt
    PIP_CONSTRAINT=constraint.txt "$CMD" report --json logs >report.json || true
    [[ $(jq -r '[.findings[].fix[].command] | first' report.json) == "env PIP_CONSTRAINT=/dev/null "* ]]
    printf '[install]\nconstraint = constraint.txt\n' >venv/pip.conf
    "$CMD" report --json logs >report.json || true
    [[ $(jq -r '[.findings[].fix[].command] | first' report.json) == "env PIP_CONSTRAINT=/dev/null "* ]]
    PIP_CONFIG_FILE=/dev/null "$CMD" report --json logs >report.json || true
    [[ $(jq -r '[.findings[].fix[].command] | first' report.json) != *PIP_CONSTRAINT* ]]
    rm venv/pip.conf
    # What would send pip elsewhere is not heeded either.
    PIP_TARGET=$PWD/elsewhere PIP_USER=1 "$CMD" report --json logs >report.json || true
    [[ $(jq -r '[.findings[].fix[].command] | first' report.json) == "env -u PIP_TARGET -u PIP_USER "*pip* ]]
    PIP_DRY_RUN=1 PIP_PYTHON=/usr/bin/python3 "$CMD" report --json logs >report.json || true
    [[ $(jq -r '[.findings[].fix[].command] | first' report.json) == "env -u PIP_PYTHON -u PIP_DRY_RUN "*pip* ]]
    PYTHONPATH=$PWD/elsewhere "$CMD" report --json logs >report.json || true # which may have another pip
    [[ $(jq -r '[.findings[].fix[].command] | first' report.json) == "env -u PYTHONPATH "*pip* ]]
    printf '[install]\nprefix = /elsewhere\n' >venv/pip.conf
    "$CMD" report --json logs >report.json || true
    [[ $(jq -r '[.findings[].fix[].command] | first' report.json) == "env PIP_CONFIG_FILE=/dev/null "*pip* ]]
    rm venv/pip.conf
    echo 'numpy<2' >constraint.txt
    PIP_CONSTRAINT=constraint.txt "$CMD" report --json logs >report.json || true
    [[ $(jq -r '[.findings[].fix[].command] | first' report.json) != *PIP_CONSTRAINT* ]]
}

@test "a script's look for a cuDNN that others then load is no error where all ended well" {
    make_standin 8.9.2 lib
    cat >main.py <<'P'
import ctypes
for name in ("libcudnn.so.5", "/nowhere/libcudnn.so.8"):
    try:
        ctypes.CDLL(name)
    except OSError:
        pass
ctypes.CDLL("lib/libcudnn.so.8", ctypes.RTLD_GLOBAL)
P
    run -0 "$CMD" run --quiet --log logs -- python3 main.py
    run -0 "$CMD" report --json logs
    is "$(jq -r '[.findings[] | select(.severity == "error")] | length' <<<"$output")" 0
}

@test "what the command installs before each start is changed in the line that asks for it" {
    wheel 8.9.2 26
    engine '>=8.5,<8.9.2'
    printf 'numpy<2\n# nvidia-cudnn-cu12==8.9.2.26\nnvidia-cudnn-cu12==8.9.2.26  # as tested\n' >requirements.txt
    printf '#!/bin/sh\n# pip install -r requirements.txt\nexec "%s/engine/host" version\n' "$site" >start.sh
    local pin="sed -i '3s#nvidia-cudnn-cu12==8.9.2.26#nvidia-cudnn-cu12>=8.5,<8.9.2#' $PWD/requirements.txt && "
    first() { # the first fix after a run: an expression
        rm -f logs/*
        "$CMD" run --quiet --log logs -- sh start.sh >/dev/null || true
        "$CMD" report --json logs >report.json || true
        validate_report report.json
        jq -r "[.findings[].fix[]] | first | $1" report.json
    }
    [[ $(first .command) == "$pin"* ]]
    # However the name is written.
    sed -i '3s/.*/NVIDIA_cudnn-cu12 == 8.9.2.26/' requirements.txt
    [[ $(first .command) == "sed -i '3s#NVIDIA_cudnn-cu12 == 8.9.2.26#nvidia-cudnn-cu12>=8.5,<8.9.2#' $PWD/requirements.txt && "* ]]
    # Whatever stands around it: a list's comma, a tab, the shell's signs.
    local around
    for around in '\tnvidia-cudnn-cu12==8.9.2.26,' '[nvidia-cudnn-cu12==8.9.2.26]' '(pip install nvidia-cudnn-cu12==8.9.2.26&&true)'; do
        printf 'numpy<2\n%b\n' "$around" >requirements.txt
        [[ $(first .command) == "${pin/3s/2s}"* ]]
    done
    printf 'numpy<2\n\nNVIDIA_cudnn-cu12 == 8.9.2.26\n' >requirements.txt
    # Two of them: which one counts their owner knows.
    echo 'nvidia-cudnn-cu12==8.9.2.26' >>requirements.txt
    is "$(first '.command, .text')" "null
let line 4 of $PWD/requirements.txt ask for nvidia-cudnn-cu12>=8.5,<8.9.2, then install nvidia-cudnn-cu12>=8.5,<8.9.2"
    # Another release, or another package, is none.
    printf 'nvidia-cudnn-cu12==8.9.2.260\nnot-nvidia-cudnn-cu12==8.9.2.26\n' >requirements.txt
    [[ $(first .command) != *sed* ]]
    # A hash is that of the release.
    echo 'nvidia-cudnn-cu12==8.9.2.26 --hash=sha256:0' >requirements.txt
    is "$(first .command)" null
    # To a shell "<" names a file.
    rm requirements.txt
    echo 'pip install nvidia-cudnn-cu12==8.9.2.26' >>start.sh # which exec keeps from running
    [[ $(first .command) == "sed -i '4s#nvidia-cudnn-cu12==8.9.2.26#\"nvidia-cudnn-cu12>=8.5,<8.9.2\"#' $PWD/start.sh && "* ]]
    sed -i "4s/.*/sh -c 'pip install nvidia-cudnn-cu12==8.9.2.26'/" start.sh
    is "$(first .command)" null
}

@test "of a script that starts several programs the variable is set on the line of the one" {
    make_standin 8.9.2 good
    make_standin 8.5.0 old
    build_host dlopen "$PWD/good" two
    cp two one
    fix() { # LINE: the first fix of a script that ends behind it, before it starts another one
        printf '#!/bin/sh\nD=.\n%s\nexit\n./one version # not ./two\n' "$1" >run.sh
        rm -f logs/*
        WHICHCUDNN_EXPECT='>=8.8' LD_LIBRARY_PATH=$PWD/old "$CMD" run --quiet --log logs -- sh run.sh >/dev/null || true
        "$CMD" report --json logs >report.json || true
        validate_report report.json
        jq -r 'if type == "array" then .[0] else . end | .findings[0].fix[0] | .command, .but' report.json
    }
    repaired() { # LINE
        is "$(fix "$1")" "sed -i '3s#\./two#env LD_LIBRARY_PATH= &#' $PWD/run.sh"$'\n'null
        eval "$(jq -r '.findings[0].fix[0].command' report.json)"
        LD_LIBRARY_PATH=$PWD/old run -0 sh run.sh
        is "$output" "version 8902"
    }
    repaired "./two version"
    repaired "	./two version"
    repaired "cd . && ./two version"
    repaired "if ! nice ./two version; then exit 1; fi"
    # Where no line can be changed, all of them get it.
    for line in './two version; ./two version' $'./two version\n./two version' '"$D"/two version' "eval './two' version"; do
        is "$(fix "$line")" "unset LD_LIBRARY_PATH
each program that $PWD/run.sh starts gets it"
    done
    # Tried, and kept.
    fix "./two version"
    WHICHCUDNN_EXPECT='>=8.8' LD_LIBRARY_PATH=$PWD/old run -0 "$CMD" fix --try -- sh run.sh
    [[ $output == *"tried: status 0, "*"no finding"* ]]
    grep -qx './two version' run.sh
    WHICHCUDNN_EXPECT='>=8.8' run -0 "$CMD" fix --apply --yes logs
    grep -qx 'env LD_LIBRARY_PATH= ./two version' run.sh
    # It is the only one.
    fix "exec ./two version"$'\n''D=./one # ./one'
    sed -i '/^exit/,$d' run.sh
    rm logs/*
    WHICHCUDNN_EXPECT='>=8.8' LD_LIBRARY_PATH=$PWD/old "$CMD" run --quiet --log logs -- sh run.sh
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '.findings[0].fix[0] | [.command, .but]' report.json)" '["unset LD_LIBRARY_PATH",null]'
}

@test "a repair leaves the other programs of the command what they need" {
    make_standin 8.9.2 good
    make_standin 8.5.0 old
    build_host dlopen "$PWD/good" two
    build_host lazy "$PWD/old" one --no-rpath
    repaired() { # ASSIGNMENT: of what the script starts; the first fix repairs `two`, and `one` works as before
        rm -f logs/*
        "$CMD" run --quiet --log logs -- sh run.sh >/dev/null || true
        "$CMD" report --json logs >report.json || true
        validate_report report.json
    is "$(jq -r '[.[].findings[].fix[]] | first | .checked, .but' report.json)" $'replayed\nnull'
        eval "$(jq -r '[.[].findings[].fix[]] | first | .command' report.json)"
        run -0 sh run.sh
        is "$output" $'version 8500\nversion 8902'
    }
    # The line that both have it from stays: the variable is set where the one is started.
    printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s\n./one version\nWHICHCUDNN_EXPECT=">=8.8" ./two version\n' "$PWD/old" >run.sh
    repaired
    is "$(sed -n 2p run.sh)" "export LD_LIBRARY_PATH=$PWD/old"
    # Where no line can be changed, a value with which both work.
    local both="./one version; WHICHCUDNN_EXPECT='>=8.8' ./two version"
    rm logs/*
    LD_LIBRARY_PATH=$PWD/old "$CMD" run --quiet --log logs -- sh -c "$both"
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '[.[].findings[]?.fix[]] | first | .command' report.json)" "export LD_LIBRARY_PATH=$PWD/good:$PWD/old"
    # None does where the other one needs its own.
    rm logs/*
    LD_LIBRARY_PATH=$PWD/old "$CMD" run --quiet --log logs -- sh -c "WHICHCUDNN_EXPECT='<8.8' ./one version; ${both#*; }"
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '[.[].findings[]?.fix[]] | first | .text, .command, .checked' report.json)" \
        "let the line of two start the process without LD_LIBRARY_PATH"$'\nnull\nreplayed'
    # Nor is a link that both follow.
    rm logs/* && mkdir both && cp old/* both && mv both/libcudnn.so.8 both/libcudnn.so.8.5.0
    cp good/libcudnn.so.8 both/libcudnn.so.8.9.2 && ln -s libcudnn.so.8.5.0 both/libcudnn.so.8 && rm -r good
    printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s\nWHICHCUDNN_EXPECT="<8.8" ./one version\nWHICHCUDNN_EXPECT=">=8.8" ./two version\n' "$PWD/both" >run.sh
    "$CMD" run --quiet --log logs -- sh run.sh
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '[.[].findings[]?.fix[] | .checked]' report.json)" '["no"]'
    [[ $(jq '[.[].findings[]?.rejected[].text]' report.json) == *"make $PWD/both/libcudnn.so.8 a link to libcudnn.so.8.9.2"* ]]
    # Of a fault that two have, what repairs both; else the other one is told.
    first() {
        rm -f logs/*
        "$CMD" run --quiet --log logs -- sh run.sh >said || true
        "$CMD" report --json logs >report.json || true
        jq -r '[.[].findings[]?.fix[]] | first | .command, .but' report.json
    }
    make_standin 8.9.2 good
    cp two three
    printf '#!/bin/sh\nexport WHICHCUDNN_EXPECT=">=8.8"\nLD_LIBRARY_PATH=%s ./two version\nLD_LIBRARY_PATH=%s ./three version\n' "$PWD/old" "$PWD/old/" >run.sh
    is "$(first)" "cp -a --remove-destination $PWD/good/libcudnn* $PWD/old"$'\n'null
    make_standin 8.5.0 older
    sed -i "4s#old/#older#" run.sh
    is "$(first)" "sed -i '3s#LD_LIBRARY_PATH=[^ ;&|]*#LD_LIBRARY_PATH=#' $PWD/run.sh"$'\n'"three of the same command still has it"
}

@test "a line whose value the script needs later stays: the variable is set where the program is started" {
    make_standin 8.9.2 good
    make_standin 8.5.0 old
    build_host dlopen "$PWD/good" host
    export WHICHCUDNN_EXPECT='>=8.8'
    printf '#!/bin/sh\nset -eu\nexport LD_LIBRARY_PATH=%s\nls "${LD_LIBRARY_PATH:?}/libcudnn.so.8" >listed\n./host version\n' "$PWD/old" >run.sh
    "$CMD" run --quiet --log logs -- sh run.sh
    "$CMD" report --json logs >report.json || true
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    grep -qx 'env LD_LIBRARY_PATH= ./host version' run.sh
    run -0 sh run.sh
    is "$output" "version 8902"
    # Where no line starts it by its name, that line is only named.
    printf '#!/bin/sh\nset -eu\nexport LD_LIBRARY_PATH=%s\nls "${LD_LIBRARY_PATH:?}/libcudnn.so.8" >listed\n"$@"\n' "$PWD/old" >run.sh
    rm logs/*
    "$CMD" run --quiet --log logs -- sh run.sh ./host version
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0].fix[0] | .text, .command' report.json)" "let line 3 of $PWD/run.sh start the process without LD_LIBRARY_PATH
null"
}

@test "a variable that a script reads is emptied, not unset" {
    make_standin 8.9.2 good
    make_standin 8.5.0 old
    build_host dlopen "$PWD/good" host
    export WHICHCUDNN_EXPECT='>=8.8' LD_LIBRARY_PATH=$PWD/old
    for reads in 'echo "$LD_LIBRARY_PATH" >seen' :; do
        printf '#!/bin/sh\nset -eu\n%s\nexec ./host version\n' "$reads" >run.sh
        rm -f logs/*
        "$CMD" run --quiet --log logs -- sh run.sh
        "$CMD" report --json logs >report.json || true
        is "$(finding expectation-not-met '.fix[0].command')" \
            "\"$([ "$reads" = : ] && echo unset LD_LIBRARY_PATH || echo "export LD_LIBRARY_PATH=''")\""
        (eval "$(jq -r '.findings[0].fix[0].command' report.json)" && sh run.sh >out)
        is "$(cat out)" "version 8902"
    done
}

@test "an environment without its python: there is no pip that would reinstall anything in it" {
    wheel 8.9.2 26
    engine '>=8.8,<9'
    echo 'home = /usr/bin' >venv/pyvenv.cfg
    rm "$site/nvidia/cudnn/lib/libcudnn.so.8" venv/bin/python*
    ln -s /nowhere/python3.12 venv/bin/python
    observed
    is "$(finding installation-incomplete '.fix[0] | [.command, .but]')" "[null,\"$PWD/venv/bin/python is not there\"]"
    ln -sf "$(command -v python3)" venv/bin/python
    observed
    [[ $(finding installation-incomplete '.fix[0].command') == *" install "*nvidia-cudnn-cu12==8.9.2.26* ]]
}

@test "a variable that is the whole name of the library leads to another one" {
    make_standin 8.9.2 good
    printf 'import ctypes, os\nprint(ctypes.CDLL(os.environ["CUDNN_PATH"]).cudnnGetVersion())\n' >main.py
    for CUDNN_PATH in "$PWD/good" "$PWD/good/libcudnn.so.7"; do
        export CUDNN_PATH
        rm -f logs/*
        "$CMD" run --quiet --log logs -- "$PY" main.py || true
        "$CMD" report --json logs >report.json || true
        is "$(jq -c '.findings[0].fix[0] | [.command, .checked]' report.json)" "[\"export CUDNN_PATH=$PWD/good/libcudnn.so.8\",\"replayed\"]"
    done
    # Where another program sets it there is none.
    export CUDNN_PATH=$PWD/none/libcudnn.so.7
    rm -f logs/*
    "$CMD" run --quiet --log logs -- "$PY" main.py || true
    "$CMD" report --json logs >report.json || true
    never library-not-found set
}

@test "a directory whose other library lacks what the program imports of its own one is not searched first" {
    make_standin 8.9.2 good
    make_standin 8.5.0 old
    mkdir own
    other() { # FILE FUNCTION
        echo "int $2(void) { return 0; }" | "${CC:-cc}" -shared -fPIC -x c - -Wl,-soname,libother.so.3 -o "$1"
    }
    other own/libother.so.3 of_own
    other good/libother.so.3 of_another
    echo 'extern int of_own(void); int uses(void) { return of_own(); }' |
        "${CC:-cc}" -shared -fPIC -x c - -x none -Wl,-soname,libuses.so -o own/libuses.so own/libother.so.3 -Wl,-rpath,"\$ORIGIN" -Wl,--enable-new-dtags
    build_host lazy "$PWD/old" "$site/engine/host" --no-rpath -Wl,--no-as-needed "$PWD/own/libuses.so" -Wl,-rpath,"$PWD/own"
    observed LD_LIBRARY_PATH="$PWD/old" WHICHCUDNN_EXPECT='>=8.8'
    never expectation-not-met set
    is "$(finding expectation-not-met '[.rejected[] | select(.text | contains("LD_LIBRARY_PATH to")) | .because] | unique[]')" '"a library that is found now would not be found"'
    # One that has it is.
    other good/libother.so.3 of_own
    observed LD_LIBRARY_PATH="$PWD/old" WHICHCUDNN_EXPECT='>=8.8'
    is "$(finding expectation-not-met '.fix[0].command')" "\"export LD_LIBRARY_PATH=$PWD/good:$PWD/old\""
}

@test "a variable brings the parts of a cuDNN for another CUDA: it goes, and that facade is no way out" {
    make_standin 9.8.0 own --probes graph=libcuda.so.1
    make_standin 9.12.0 module --probes engines_precompiled=libcublasLt.so.13
    make_standin --empty libcublas.so.12 own
    echo 'int cudnnCreate(void **); int main(void) { void *h; return cudnnCreate(&h) ? 0 : 1; }' |
        "${CC:-gcc}" -o host -x c - -x none -Wl,--no-as-needed own/libcudnn.so.9 own/libcublas.so.12 \
            -Wl,--disable-new-dtags,-rpath,"$PWD/own"
    LD_LIBRARY_PATH=$PWD/module run ! "$CMD" run --quiet --log logs -- sh -c './host; exit 1'
    "$CMD" report --json logs >report.json || true
    is "$(finding facade-and-parts-differ '.fix[0] | [.command, .checked]')" '["unset LD_LIBRARY_PATH","replayed"]'
    is "$(finding facade-and-parts-differ '.rejected[] | select(.text | startswith("set LD_PRELOAD")) | .because')" \
        '"it is built for another CUDA"'
}

@test "what a variable or a copy leads to: for the CUDA of the process, another, or with a part of another major" {
    local of first
    make_standin 9.1.0 old
    make_standin 8.9.7 eight --probes ops_infer=libcublasLt.so.11
    for of in 12 13; do
        rm -rf good logs && mkdir logs
        make_standin 9.8.0 good --probes engines_precompiled=libcublasLt.so.$of
        cp eight/libcudnn_ops_infer.so.8 good
        make_standin --empty libcudart.so.11.0 good
        make_standin --empty libcublas.so.12 good
        echo 'int cudnnCreate(void **); int main(void) { void *h; return cudnnCreate(&h) ? 0 : 1; }' |
            "${CC:-gcc}" -o host -x c - -x none -Wl,--no-as-needed good/libcu{dart.so.11.0,dnn.so.9,blas.so.12} \
                -Wl,--enable-new-dtags,-rpath,"$PWD/good"
        WHICHCUDNN_EXPECT=9.8 LD_LIBRARY_PATH=$PWD/old "$CMD" run --quiet --log logs -- ./host || true
        "$CMD" report --json logs >report.json || true
        first=$(finding expectation-not-met '.fix[0] | [.command, .checked]')
        if [ $of = 12 ]; then
            is "$first" '["unset LD_LIBRARY_PATH","replayed"]'
        else
            [[ $first != *unset* && $first != *"/good/"* ]]
        fi
    done
}

@test "a host opens a part of its own cuDNN before the facade of another has opened any" {
    make_standin 8.5.0 system
    make_standin 8.9.2 own
    shared() { # NAME FLAGS...: of standard input
        "${CC:-cc}" -shared -fPIC -x c - -x none -o "lib$1.so" "${@:2}"
    }
    echo 'int first(void) { return 1; }' |
        shared first -Wl,--no-as-needed system/libcudnn.so.8 -Wl,--enable-new-dtags,-rpath,"$PWD/system"
    shared second -Wl,--no-as-needed system/libcudnn.so.8 -Wl,--disable-new-dtags,-rpath,"$PWD/own" <<'C'
#include <dlfcn.h>
int cudnnCreate(void **handle);
int second(void) { void *h; dlopen("libcudnn_cnn_infer.so.8", RTLD_NOW); return cudnnCreate(&h); }
C
    printf 'import ctypes, sys\nctypes.CDLL("./libfirst.so")\nctypes.CDLL("./libsecond.so").second()\nsys.exit(1)\n' >main.py
    "$CMD" run --quiet --log logs -- "$PY" main.py || true
    "$CMD" report --json logs >report.json || true
    is "$(finding facade-and-parts-differ '.fix[0] | [.command, .checked]')" "[\"export LD_LIBRARY_PATH=$PWD/own\",\"replayed\"]"
}

@test "of another CUDA a library came before the one beside what opened it" {
    mkdir -p own other
    shared() { # FILE SONAME TEXT FLAGS...
        "${CC:-cc}" -shared -fPIC -x c - -o "$1" -Wl,-soname,"$2" "${@:4}" <<<"$3"
    }
    shared own/libnvrtc.so.10.2 libnvrtc.so.10.2 '#include <dlfcn.h>
        int compile(void) { return !dlsym(dlopen("libnvrtc-builtins.so", RTLD_NOW), "of_10_2"); }' -Wl,--enable-new-dtags,-rpath,"\$ORIGIN"
    shared own/libnvrtc-builtins.so libnvrtc-builtins.so 'int of_10_2;'
    shared other/libnvrtc-builtins.so libnvrtc-builtins.so.11.6 'int of_11_6;'
    printf 'import ctypes, sys\nsys.exit(ctypes.CDLL("%s").compile())\n' "$PWD/own/libnvrtc.so.10.2" >main.py
    LD_LIBRARY_PATH=$PWD/other "$CMD" run --quiet --log logs -- "$PY" main.py || true
    "$CMD" report --json logs >report.json || true
    [[ $(finding cuda-dependency-differs .title) == *"libnvrtc-builtins.so, used by libnvrtc.so.10.2, comes from another installation: $PWD/other"* ]]
    is "$(finding cuda-dependency-differs '.fix[0] | [.command, .checked]')" '["unset LD_LIBRARY_PATH","replayed"]'
    # A program that works may mean it.
    shared other/libnvrtc-builtins.so libnvrtc-builtins.so.11.6 'int of_10_2;'
    rm logs/*
    LD_LIBRARY_PATH=$PWD/other run -0 "$CMD" run --log logs/ -- "$PY" main.py
    [[ $output != *cuda-dependency-differs* ]]
}

@test "CUDA's own words say that libcuda is of another driver: what brings it in is changed" {
    [ ! -e /proc/driver/nvidia/version ] || skip "a driver of this computer's"
    mkdir old new
    for release in old/libcuda.so.390.77 new/libcuda.so.460.39; do
        "${CC:-cc}" -shared -fPIC -x c - -o "$release" -Wl,-soname,libcuda.so.1 <<<"int cuInit(void) { return '${release:0:1}' == 'o' ? 803 : 0; }"
    done
    ln -s libcuda.so.460.39 new/libcuda.so.1
    "${CC:-cc}" -x c - -o miner -Wl,-rpath,"$PWD/new" <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    int (*init)(void) = (int (*)(void))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuInit");
    if (!init())
        return puts("mines"), 0;
    fprintf(stderr, "CUDA error 803: system has unsupported display driver / cuda driver combination\n");
    return 1;
}
C
    printf '#!/bin/sh\nexport LD_PRELOAD=%s${LD_PRELOAD:+:$LD_PRELOAD}\n./miner\n' "$PWD/old/libcuda.so.390.77" >run.sh
    "$CMD" run --quiet --log logs -- sh run.sh 2>said || true
    "$CMD" report --json logs >report.json || true
    [[ $(finding driver-mixed .title) == *"libcuda is of driver 390.77"* ]]
    is "$(finding driver-mixed '.fix[0].checked')" '"replayed"'
    sh -c "$(jq -r '.findings[] | select(.id == "driver-mixed") | .fix[0].command' report.json)"
    is "$(sed -n 2p run.sh)" 'export LD_PRELOAD=${LD_PRELOAD:+:$LD_PRELOAD}'
    run -0 sh run.sh
    is "$output" mines
    # A stub in front of it; where none is left the program itself may need it.
    mkdir stubs && cp old/libcuda.so.390.77 stubs/libcuda.so.1
    for _ in real none; do
        rm -f logs/*
        LD_LIBRARY_PATH=$PWD/stubs "$CMD" run --quiet --log logs -- ./miner 2>said || true
        "$CMD" report --json logs | jq -r '.findings[] | select(.id == "driver-missing") | .fix[0].checked' >>checked
        mv new/libcuda.so.1 kept || true
    done
    is "$(head -n 1 checked)" replayed
    [ "$(sed -n 2p checked)" != replayed ]
}

@test "a library of CUDA is asked for by names without its number, the last in vain as well: a link" {
    unshare -Urm true || skip "no namespaces of users here"
    mkdir cuda
    echo "$PWD/cuda" >conf
    echo 'int cublasCreate_v2(void) { return 0; }' | "${CC:-cc}" -shared -fPIC -x c - -Wl,-soname,libcublas.so.12 -o cuda/libcublas.so.12
    "${CC:-cc}" -x c - -o asks <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    if (dlopen("libcublas.so", 2) || dlopen("libcublas64_12.so", 2) || dlopen("libcublas64_12_5.so", 2))
        return puts("found"), 0;
    return 101;
}
C
    PATH=$PATH:/sbin ldconfig -X -C cache -f /dev/null
    local bound=(unshare -Urm sh -c 'mount --bind conf /etc/ld.so.conf && mount --bind cache /etc/ld.so.cache && mount --bind empty /usr/local && exec "$@"' bound)
    mkdir empty
    run ! "${bound[@]}" "$CMD" run --quiet --log logs -- ./asks
    "${bound[@]}" "$CMD" report --json logs >report.json || true
    is "$(finding cuda-dependency-differs '.fix[0].command')" "\"ln -s libcublas.so.12 $PWD/cuda/libcublas.so && export LD_LIBRARY_PATH=$PWD/cuda\""
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    run -0 "${bound[@]}" ./asks
    is "$output" found
}

@test "a damaged library of CUDA that a package of conda's lists is installed again" {
    mkdir -p env/conda-meta env/lib/python3.11/site-packages/torch/lib
    ln -s libcufft.so.10.3 env/lib/libcufft.so.10
    "${CC:-cc}" -shared -fPIC -x c - -Wl,-soname,libcufft.so.10 -o env/lib/libcufft.so.10.3 <<<'int cufftPlan1d(void) { return 0; }'
    "${CC:-cc}" -shared -fPIC -x c - -x none env/lib/libcufft.so.10.3 -Wl,--disable-new-dtags,-rpath,"\$ORIGIN/../../../.." \
        -o env/lib/python3.11/site-packages/torch/lib/libtorch_global_deps.so <<<'int cufftPlan1d(void); int torch(void) { return cufftPlan1d(); }'
    printf '{"name": "cudatoolkit", "version": "11.1.1", "build": "h6406543_8", "files": ["lib/libcufft.so.10", "lib/libcufft.so.10.3"]}\n' \
        >env/conda-meta/cudatoolkit-11.1.1-h6406543_8.json
    head -c 4096 /dev/zero | dd of=env/lib/libcufft.so.10.3 conv=notrunc status=none
    printf 'import ctypes\nctypes.CDLL("%s")\n' "$PWD/env/lib/python3.11/site-packages/torch/lib/libtorch_global_deps.so" >main.py
    "$CMD" run --quiet --log logs -- "$PY" main.py 2>said || true
    "$CMD" report --json logs >report.json || true
    is "$(finding bad-file '.fix[0] | [.text, .checked]')" '["reinstall cudatoolkit 11.1.1","replayed"]'
    # No package lists it.
    sed -i 's/libcufft.so.10.3/libcufft.so.10.4/' env/conda-meta/*.json
    rm logs/*
    "$CMD" run --quiet --log logs -- "$PY" main.py 2>said || true
    "$CMD" report --json logs >report.json || true
    never bad-file reinstall
}

# A host that opens its own set by path, and then a name that this set does not have (koharu#694).
@test "a name without a number leads to a facade that uses the parts of another set: a link in that set" {
    make_standin 9.21.0 own --create-status 0
    mkdir other
    "${CC:-cc}" -shared -fPIC -xc - -Wl,-soname,libcudnn.so.9 -o other/libcudnn.so.9 -ldl <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
size_t cudnnGetVersion(void) { return 92200; }
int cudnnCreate(void **handle) {
    void *part = dlopen("libcudnn_graph.so.9", RTLD_NOW), *create = part ? dlsym(part, "cudnnCreate") : handle;
    Dl_info info;
    return part && dladdr(create, &info) && strstr(info.dli_fname, "/other/") ? 0 : 1002;
}
C
    ln -s libcudnn.so.9 other/libcudnn.so
    "${CC:-cc}" -xc - -o opens -ldl <<'C'
#include <dlfcn.h>
int main(void) {
    void *handle, *part = dlopen("own/libcudnn_graph.so.9", RTLD_NOW), *facade = dlopen("own/libcudnn.so.9", RTLD_NOW);
    void *library = dlopen("libcudnn.so", RTLD_NOW);
    int (*create)(void **) = library ? (int (*)(void **))dlsym(library, "cudnnCreate") : 0;
    return !part || !facade || !create || create(&handle);
}
C
    export LD_LIBRARY_PATH=$PWD/own:$PWD/other
    run -1 "$CMD" run --quiet --log logs/ -- ./opens
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0] | .id, .fix[0].checked, .fix[0].command' report.json)" "parts-differ
replayed
ln -s libcudnn.so.9 $PWD/own/libcudnn.so"
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    run -0 ./opens
}

@test "a link on the way to a path leads to the wrong one of several directories: it is turned" {
    make_standin 8.5.0 cuda-12.0/lib64
    make_standin 8.9.2 cuda-12.4/lib64
    mkdir -p cuda-12.1/lib64 # in which there is none
    ln -s cuda-12.0 cuda
    printf '#include <dlfcn.h>\n#include <stdio.h>\nint main(void) {\n    void *library = dlopen("%s/cuda/lib64/libcudnn.so.8", RTLD_NOW);\n    return printf("version %%zu\\n", ((size_t (*)(void))dlsym(library, "cudnnGetVersion"))()) < 0;\n}\n' "$PWD" |
        "${CC:-cc}" -xc - -o opens -ldl
    export WHICHCUDNN_EXPECT='>=8.8,<9'
    "$CMD" run --quiet --log logs/ -- ./opens
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '.findings[0].fix[0] | [.command, .checked]' report.json)" "[\"ln -sfn cuda-12.4 $PWD/cuda\",\"replayed\"]"
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    run -0 ./opens
    is "$output" "version 8902"
    # A directory that is none is not replaced.
    rm cuda && cp -r cuda-12.0 cuda && rm logs/*
    "$CMD" run --quiet --log logs/ -- ./opens
    "$CMD" report --json logs >report.json || true
    run ! jq -e '.findings[].fix[] | select(.command) | .command | contains("ln -sfn cuda-12")' report.json
}

@test "a line that may not have been reached is not the one to change" {
    make_standin 8.9.2 good
    make_standin 8.5.0 old
    build_host dlopen "$PWD/good" host
    printf '#!/bin/sh\nx=\n[ -n "$x" ] && export LD_LIBRARY_PATH=$x\neval "export LD_LIBRARY\\_PATH=%s"\n./host version\n' "$PWD/old" >run.sh
    export WHICHCUDNN_EXPECT='>=8.8'
    "$CMD" run --quiet --log logs -- sh run.sh
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0].fix[0].command' report.json)" "sed -i '5s#\./host#env LD_LIBRARY_PATH= &#' $PWD/run.sh"
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    run -0 sh run.sh
    is "$output" "version 8902"
}

@test "the line that is changed runs, and nothing else needs it as it is" {
    local script
    make_standin 8.9.2 good
    make_standin 8.5.0 old
    build_host dlopen "$PWD/good" host
    export WHICHCUDNN_EXPECT='>=8.8'
    watched() { # SCRIPT
        printf '#!/bin/sh\n%b\n' "$1" >run.sh
        chmod +x run.sh
        rm -f logs/*
        "$CMD" run --quiet --log logs -- ./run.sh || true
        "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0].fix[0].checked' report.json)" replayed
    }
    repaired() { # SCRIPT
        watched "$1"
        eval "$(jq -r '.findings[0].fix[0].command' report.json)"
        run -0 timeout 10 ./run.sh
        [[ $output == *"version 8902" ]]
    }
    # A library that it opens only after a check stays where it is found.
    echo 'int plugin;' | "${CC:-cc}" -shared -fPIC -x c - -o old/libplugin.so
    printf 'import ctypes\nif ctypes.CDLL("libcudnn.so.8").cudnnGetVersion() > 8800: print(ctypes.CDLL("libplugin.so"), "version 8902")\n' >main.py
    LD_LIBRARY_PATH=$PWD/old:$PWD/good repaired "$PY main.py"
    rm old/libplugin.so
    unset LD_LIBRARY_PATH
    # The user's shell has what the script sets all the same.
    for script in "export LD_LIBRARY_PATH=$PWD/old" "export LD_LIBRARY_PATH=\${X:-$PWD/old}" "LD_LIBRARY_PATH=$PWD/old:\$LD_LIBRARY_PATH"; do
        LD_LIBRARY_PATH=$PWD/old repaired "$script\n./host version"
        LD_LIBRARY_PATH=$PWD/old run -0 ./run.sh
        [[ $output == *"version 8902" ]]
    done
    # A variable that is not the loader's.
    mkdir -p a/lib64 b/lib64 && cp old/* a/lib64 && cp good/* b/lib64
    printf 'import ctypes, os\nprint("version", ctypes.CDLL(os.environ["CUDA_HOME"] + "/lib64/libcudnn.so.8").cudnnGetVersion())\n' >main.py
    repaired "export CUDA_HOME=$PWD/a\n$PY main.py"
    # A line that a program of no cuDNN needs; one that begins anew where there is no value.
    printf '#!/bin/sh\ntest -n "$LD_LIBRARY_PATH" && echo tool\n' >run.sh.tool
    chmod +x run.sh.tool
    repaired "export LD_LIBRARY_PATH=$PWD/old\n./run.sh.tool || exit 1\n./host version"
    [[ $output == tool* ]]
    repaired "if [ -z \"\$LD_LIBRARY_PATH\" ]; then export LD_LIBRARY_PATH=$PWD/old; exec \"\$0\"; fi\n./host version"
    # No line of a text runs, nor one of a log or a page.
    repaired "cat <<'USAGE'\nunset LD_LIBRARY_PATH, then\n./host version\nUSAGE\nexport LD_LIBRARY_PATH=$PWD/old\n./host version"
    echo "LD_LIBRARY_PATH=$PWD/old" | tee job.log README.md >/dev/null
    repaired "eval export LD_LIBRARY\\\\_PATH=$PWD/old\n: job.log README.md\n./host version"
    is "$(cat job.log README.md)" "LD_LIBRARY_PATH=$PWD/old"$'\n'"LD_LIBRARY_PATH=$PWD/old"
    # Between options of env nothing can be set.
    build_host lazy "$PWD/good" linked --no-rpath
    LD_LIBRARY_PATH=$PWD/good watched "set -- ./linked version\nexec env -u LD_LIBRARY_PATH -u FOO \"\$@\""
    is "$(jq -r '.findings[0].fix[0].command' report.json)" null
    # A directory in which this user may make no file: sed makes one.
    mkdir closed && echo "export LD_LIBRARY_PATH=$PWD/old" >closed/env.sh && chmod 777 closed/env.sh && chmod 555 closed
    is "$(id -u)" 0 || watched ". closed/env.sh\n\"\$H\" version"
}

@test "a line of a script, or of a .pth file, that opens another cuDNN is changed" {
    make_standin 7.6.5 old
    make_standin 8.9.2 good
    repaired() { # COMMAND...
        rm -f logs/*
        WHICHCUDNN_EXPECT='>=8.8,<9' "$CMD" run --quiet --log logs -- "$@" || true
        "$CMD" report --json logs >report.json || true
        validate_report report.json
        is "$(jq -c '.findings[0].fix[0].checked' report.json)" '"replayed"'
        jq -r '.findings[0].fix[0].command' report.json >typed
        sh typed
        run -0 "$@"
        is "$output" 8902
    }
    export LD_LIBRARY_PATH=$PWD/old:$PWD/good
    local line
    for line in 'find_library("cudnn")' "'libcudnn.so.7'" "\"$PWD/old/libcudnn.so.7\""; do
        printf '# %s\nfrom ctypes import CDLL\ndef find_library(name): return "lib%%s.so.%%d" %% (name, 7)\nprint(CDLL(%s).cudnnGetVersion())\n' "$line" "$line" >main.py
        repaired "$PY" main.py
        is "$(cut -d' ' -f4 typed)" "$PWD/main.py"
    done
    # Two lines, or one that has the name elsewhere, where sed would change it: which one its owner knows.
    for line in 'print(CDLL("%s").cudnnGetVersion(),\n    CDLL("%s"))\n' \
        'all = {"lib" + name: CDLL("lib" + name) for name in ("cudnn.so.7",)}\nprint(all["%s"].cudnnGetVersion())\n' \
        'all = {"%s": CDLL("%s")}\nprint(all["lib" + "cudnn.so.7"].cudnnGetVersion())\n' \
        'libcudnn_so_7 = CDLL("%s")\nprint(libcudnn_so_7.cudnnGetVersion())\n' \
        'name = "lib" + "cudnn.so.7" # as CDLL("%s")\nprint(CDLL(name).cudnnGetVersion())\n' \
        'def my_CDLL(name): return {"lib" + "cudnn.so.7": CDLL(name)}[name]\nprint(my_CDLL("%s").cudnnGetVersion())\n' \
        '"""\nCDLL("%s")\n"""\nprint(CDLL("lib" + "cudnn.so.7").cudnnGetVersion())\n' \
        "'''\nCDLL('%s')\n'''\nprint(CDLL('lib' + 'cudnn.so.7').cudnnGetVersion())\n" \
        'find_library = lambda name: "lib" + name + ".so.7"\nprint(find_library("m"), CDLL(find_library("cudnn")).cudnnGetVersion())\n'; do
        printf 'from ctypes import CDLL\n%b' "${line//%s/libcudnn.so.7}" >main.py
        rm logs/*
        WHICHCUDNN_EXPECT='>=8.8,<9' "$CMD" run --quiet --log logs -- "$PY" main.py
        "$CMD" report --json logs >report.json || true
        [[ $(jq '[.findings[].fix[].edits[].edit]' report.json) != *open* ]]
    done
    printf 'from ctypes import CDLL\nfind_library = str\nprint(CDLL("libcudnn.so.7").cudnnGetVersion(), find_library("m"))\n' >main.py
    rm logs/*
    WHICHCUDNN_EXPECT='>=8.8,<9' "$CMD" run --quiet --log logs -- "$PY" main.py
    is "$("$CMD" report --json logs | jq -r '.findings[0].fix[0].command')" "sed -i '3s#libcudnn.so.7#libcudnn.so.8#' $PWD/main.py"
    # Whether a line within others runs is not known.
    printf 'from ctypes import CDLL\ndef main():\n    print(CDLL("libcudnn.so.7").cudnnGetVersion())\nmain()\n' >main.py
    rm logs/*
    WHICHCUDNN_EXPECT='>=8.8,<9' "$CMD" run --quiet --log logs -- "$PY" main.py
    "$CMD" report --json logs | jq -c '.findings[0].fix[] | select(.edits[0].edit == "open") | [.checked, .why, .command != null]' >open.json
    is "$(cat open.json)" '["no","whether that line is what opened it is not known",true]'
    # What Python runs as it starts opens none then.
    "$PY" -m venv --without-pip v
    local site
    site=$(echo "$PWD"/v/lib/python*/site-packages)
    make_standin 8.5.0 early
    make_standin 8.9.2 "$site" --layout pip
    printf '/nowhere\nimport ctypes; ctypes.CDLL("%s", ctypes.RTLD_GLOBAL)\n' "$PWD/early/libcudnn.so.8" >"$site/early.pth"
    echo 'import ctypes; print(ctypes.CDLL("libcudnn.so.8").cudnnGetVersion())' >main.py
    LD_LIBRARY_PATH=$site/nvidia/cudnn/lib repaired v/bin/python main.py
    is "$(cat typed)" "sed -i '2d' $site/early.pth"
    # What else a line does stays.
    printf 'import sys, ctypes; ctypes.CDLL("%s", ctypes.RTLD_GLOBAL); sys.dont_write_bytecode = True\n' "$PWD/early/libcudnn.so.8" >"$site/early.pth"
    rm logs/*
    LD_LIBRARY_PATH=$site/nvidia/cudnn/lib WHICHCUDNN_EXPECT='>=8.8,<9' "$CMD" run --quiet --log logs -- v/bin/python main.py
    "$CMD" report --json logs >report.json || true
    [[ $(jq '[.findings[].fix[].edits[].edit]' report.json) != *open* ]]
    # By its path: that of the environment, which no search leads to.
    rm "$site/early.pth"
    printf 'import ctypes, nvidia.cudnn\nprint(ctypes.CDLL("%s").cudnnGetVersion())\n' "$PWD/early/libcudnn.so.8" >main.py
    touch "$site/nvidia/cudnn/__init__.py"
    LD_LIBRARY_PATH='' repaired v/bin/python main.py
    is "$(cat typed)" "sed -i '2s#$PWD/early/libcudnn.so.8#$site/nvidia/cudnn/lib/libcudnn.so.8#' $PWD/main.py"
    # A module that Python imports at each start.
    printf 'import ctypes\nctypes.CDLL("%s", mode=ctypes.RTLD_GLOBAL)\n' "$PWD/old/libcudnn.so.7" >"$site/sitecustomize.py"
    printf 'import ctypes\nprint(ctypes.CDLL("%s").cudnnGetVersion())\n' "$site/nvidia/cudnn/lib/libcudnn.so.8" >main.py
    LD_LIBRARY_PATH='' repaired v/bin/python main.py
    is "$(cut -d' ' -f4 typed)" "$site/sitecustomize.py"
    mkdir modules && mv "$site/sitecustomize.py" modules && sed -i "s#CDLL(.*, m#CDLL(\"$PWD/old/libcudnn.so.7\", m#" modules/sitecustomize.py
    PYTHONPATH=$PWD/modules LD_LIBRARY_PATH='' repaired v/bin/python main.py
    is "$(cut -d' ' -f4 typed)" "$PWD/modules/sitecustomize.py"
}

@test "a wheel that may not go into the environment, or that a package there refuses, goes into a folder of its own" {
    wheel 8.9.2 26
    engine '>=8.5,<8.9.2'
    mkdir -p "$site/other-1.0.dist-info"
    printf 'Metadata-Version: 2.1\nName: other\nVersion: 1.0\nRequires-Dist: nvidia-cudnn-cu12==8.9.2.26\n' >"$site/other-1.0.dist-info/METADATA"
    observed
    local folder command
    command=$(finding runtime-too-new '.fix[0].command' | jq -r .)
    folder=${command#* --target }
    folder=${folder%% *}
    [[ $folder == "$PWD"/cudnn-8.9.* ]]
    is "$command" "pip install --no-deps --target $folder 'nvidia-cudnn-cu12>=8.5,<8.9.2' && export LD_LIBRARY_PATH=$folder/nvidia/cudnn/lib"
    is "$(finding runtime-too-new '.fix[0] | [.checked, .text]' | jq -r .[1])" \
        "install nvidia-cudnn-cu12>=8.5,<8.9.2 into $folder, then set LD_LIBRARY_PATH to $folder/nvidia/cudnn/lib"
    # A user's, too, is read so; in a folder of another name; and it is of no use without the variable.
    checked() { "$CMD" fix --check "$1" --json logs | jq -r '.findings[] | select(.id == "runtime-too-new").checked.verdict'; }
    is "$(checked "$command")" repairs
    is "$(checked "pip install -t mine 'nvidia-cudnn-cu12<8.9.2,>=8.5' && export LD_LIBRARY_PATH=$PWD/mine/nvidia/cudnn/lib")" repairs
    is "$(checked "${command%% && *}")" nothing
    is "$(checked "${command/--target $folder/--target $PWD}")" unknown
    make_standin 8.9.1 "$folder" --layout pip --build 23
    observed LD_LIBRARY_PATH="$folder/nvidia/cudnn/lib"
    is "$(finding runtime-too-new .id)" ""
    # What nobody there refuses goes into the environment.
    rm -r "$folder" "$site/other-1.0.dist-info"
    observed
    [[ $(finding runtime-too-new '.fix[0].command') != *--target* ]]
}

@test "a CUDA library that an application's own lacks is copied to its others, not next to its cuDNN" {
    local libs=$PWD/app/libs one
    make_standin 8.9.2 "$libs/cudnn"
    for one in libcublas.so.12 libcufft.so.11 libcurand.so.77; do
        make_standin --empty "$one" "$libs/cuda"
    done
    echo 'int cudnnCreate(void **); int start(void **h) { return cudnnCreate(h); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o app/provider.so -Wl,--no-as-needed -L "$libs/cuda" -L "$libs/cudnn" \
            -l:libcublas.so.12 -l:libcufft.so.11 -l:libcurand.so.77 -l:libcudnn.so.8
    rm "$libs/cuda/libcurand.so.77"
    echo "import ctypes; ctypes.CDLL('$PWD/app/provider.so')" >main.py
    run -1 env LD_LIBRARY_PATH="$libs/cudnn:$libs/cuda" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    # This computer may have a toolkit, too.
    is "$(finding dependency-missing '[.fix[] | select(.edits[0].path | contains("/libs/")) |
        [.text, .checked]]')" "[[\"copy libcurand.so.77 into $libs/cuda\",\"replayed\"]]"
}

@test "a library that auditwheel renamed answers its plain name by a link" {
    make_standin --empty libcudart.so.77 app
    echo 'int start(void) { return 0; }' | "${CC:-gcc}" -shared -fPIC -x c - -o app/engine.so \
        -Wl,--no-as-needed,-rpath,"\$ORIGIN" -L app -l:libcudart.so.77
    mv app/libcudart.so.77 app/libcudart-c3a75b33.so.77
    echo "import ctypes; ctypes.CDLL('$PWD/app/engine.so')" >main.py
    run -1 "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    is "$(readlink app/libcudart.so.77)" libcudart-c3a75b33.so.77
    run -0 python3 main.py
}

@test "a CUDA library that another package has written over is put back" {
    local nccl=$site/nvidia/nccl/lib
    mkdir -p "$nccl" "$site/engine" new
    echo 'int ncclCommRegister(void) { return 0; } char more[4096] = {1};' | "${CC:-gcc}" -shared -fPIC -x c - -Wl,-soname,libnccl.so.2 \
        -o "$nccl/libnccl.so.2"
    cp "$nccl/libnccl.so.2" new
    echo 'int ncclCommRegister(void); int start(void) { return ncclCommRegister(); }' | "${CC:-gcc}" -shared -fPIC -x c - \
        -o "$site/engine/_engine.so" -L "$nccl" -l:libnccl.so.2 -Wl,-rpath,"\$ORIGIN/../nvidia/nccl/lib"
    packaged engine 1.0 engine/_engine.so
    for one in 11-2.14.3 12-2.19.3; do
        mkdir "$site/nvidia_nccl_cu$one.dist-info"
        printf 'Name: nvidia-nccl-cu%s\nVersion: %s\n' "${one%-*}" "${one#*-}" >"$site/nvidia_nccl_cu$one.dist-info/METADATA"
        echo pip >"$site/nvidia_nccl_cu$one.dist-info/INSTALLER"
        [ "$one" = 12-2.19.3 ] ||
            echo 'int ncclInit(void) { return 0; }' | "${CC:-gcc}" -shared -fPIC -x c - -Wl,-soname,libnccl.so.2 -o "$nccl/libnccl.so.2"
        echo "nvidia/nccl/lib/libnccl.so.2,,$(stat -c %s "$([ "$one" = 12-2.19.3 ] && echo new || echo "$nccl")/libnccl.so.2")" \
            >"$site/nvidia_nccl_cu$one.dist-info/RECORD"
    done
    echo "import ctypes; ctypes.CDLL('$site/engine/_engine.so', 2)" >main.py
    run -1 "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding symbol-version-not-found '.fix[0] | [.text, .checked]')" '["reinstall nvidia-nccl-cu12 2.19.3","replayed"]'
    cp new/libnccl.so.2 "$nccl"
    run -0 python3 main.py
    # Where it is the package's own file, nothing that is put back would have the function.
    echo 'int ncclInit(void) { return 0; }' | "${CC:-gcc}" -shared -fPIC -x c - -Wl,-soname,libnccl.so.2 -o "$nccl/libnccl.so.2"
    echo "nvidia/nccl/lib/libnccl.so.2,,$(stat -c %s "$nccl/libnccl.so.2")" >"$site/nvidia_nccl_cu12-2.19.3.dist-info/RECORD"
    rm logs/*
    run -1 "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    never symbol-version-not-found reinstall
}

@test "a call of a function that no library has ended the process: a script's child, too, and a scan foretells it" {
    make_standin 9.1.0 whole
    make_standin 9.1.0 frontend --node none --without-function cudnnConvolutionForward
    build_host lazy "$PWD/whole" app --no-rpath
    # shellcheck disable=SC2016  # for the script
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s:%s; export LD_LIBRARY_PATH\n"$PWD/app" version create conv\nexit 3\n' \
        "$PWD/frontend" "$PWD/whole" >start.sh
    chmod +x start.sh
    run -3 "$CMD" run --quiet --log logs -- ./start.sh
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0].title' report.json)" \
        "app imports cudnnConvolutionForward, which libcudnn.so.9 9.1.0 does not have"
    is "$(finding missing-symbols '.fix[0].checked')" '"replayed"'
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    run -3 ./start.sh
    [[ $output != *"symbol lookup error"* ]]
    "$CMD" scan --json --ld-library-path "$PWD/frontend:$PWD/whole" app >scan.json || true
    is "$(jq -c '.reports[0].findings[0] | [.id, .fix[0].edits[0].value]' scan.json)" "[\"missing-symbols\",\"$PWD/whole\"]"
    # It is in the file: the call ended in the library, or did not end.
    "$CMD" scan --json --ld-library-path "$PWD/whole:$PWD/frontend" app >scan.json || true
    is "$(jq '.reports[0].findings | map(select(.id == "missing-symbols")) | length' scan.json)" 0
}

@test "parts that a facade asks for by names that it puts together are asked for again" {
    local sp=$site/nvidia/cudnn/lib n dir
    for n in 9.5.1:$sp 9.1.0:$PWD/image; do
        dir=${n#*:}
        mkdir -p "$dir"
        echo "int cudnnGetLibConfig(void) { return 0; }" >part.c
        [ "${n%%:*}" = 9.5.1 ] || echo "int cudnnOther(void) { return 0; }" >part.c
        "${CC:-gcc}" -shared -fPIC part.c -Wl,-soname,libcudnn_graph.so.9 -o "$dir/libcudnn_graph.so.9"
        cat >facade.c <<C
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static const char *const parts[] = {"graph"};
int cudnnCreate(void **h) {
    char name[64];
    void *part = NULL;
    static const char *const forms[] = {"libcudnn_%s.so.${n%%:*}", "libcudnn_%s.so.9"};
    for (int i = 0; i < 2 && !part; i++) {
        snprintf(name, sizeof name, forms[i], parts[0]);
        part = dlopen(name, RTLD_NOW);
    }
    if (!part || !dlsym(part, "cudnnGetLibConfig"))
        abort();
    return h == 0;
}
C
        "${CC:-gcc}" -shared -fPIC facade.c -Wl,-soname,libcudnn.so.9,-rpath,"\$ORIGIN" -o "$dir/libcudnn.so.9" -ldl
        [ "$dir" != "$sp" ] || packaged nvidia_cudnn_cu12 9.5.1.17 nvidia/cudnn/lib/libcudnn.so.9
        [ "$dir" != "$sp" ] || echo nvidia/cudnn/lib/libcudnn_graph.so.9,, >>"$site/nvidia_cudnn_cu12-9.5.1.17.dist-info/RECORD"
    done
    echo 'int cudnnCreate(void **); int start(void) { void *h; return cudnnCreate(&h); }' | "${CC:-gcc}" -shared -fPIC -x c - \
        -o "$site/engine/_engine.so" -L "$sp" -l:libcudnn.so.9 -Wl,--disable-new-dtags,-rpath,"\$ORIGIN/../nvidia/cudnn/lib"
    packaged engine 1.0 engine/_engine.so
    echo "import ctypes; ctypes.CDLL('$site/engine/_engine.so').start()" >main.py
    mv image/libcudnn_graph.so.9 image/libcudnn_graph.so.9.1.0
    ln -s libcudnn_graph.so.9.1.0 image/libcudnn_graph.so.9
    run -134 env LD_LIBRARY_PATH="$PWD/image" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0] | "\(.id): \(.fix[0].command), \(.fix[0].checked)"' report.json)" \
        "facade-and-parts-differ: unset LD_LIBRARY_PATH, replayed"
    run -0 python3 main.py
}

@test "a copy where people unpack archives is one to lead to" {
    local home=$PWD/home/ada downloaded
    downloaded=$home/Downloads/cudnn-9.0-linux-x64-v7/cuda/lib64
    make_standin 7.0.5 "$downloaded"
    make_standin 7.3.1 cuda/lib64
    mkdir -p "$home/bin"
    build_host dlopen "$PWD/cuda/lib64" "$home/bin/app" --no-rpath
    run -1 env LD_LIBRARY_PATH="$PWD/cuda/lib64" WHICHCUDNN_EXPECT=7.0 "$CMD" run --quiet --log logs -- sh -c "$home/bin/app version; exit 1"
    "$CMD" report --json logs >report.json || true
    [[ $(jq -c '[.findings[0].fix[] | select(.checked == "replayed") | .command]' report.json) == \
        *"export LD_LIBRARY_PATH=$downloaded:$PWD/cuda/lib64"* ]]
    # So is one of the release of a file that was cut, of which there is no wheel.
    rm -r cuda
    make_standin 7.0.5 cut --layout toolkit
    : >cut/lib64/libcudnn.so.7.0.5
    rm logs/*
    echo "import ctypes; ctypes.CDLL('$home/engine.so')" >main.py
    build_host library-lazy "$downloaded" "$home/engine" --no-rpath
    run -1 env LD_LIBRARY_PATH="$PWD/cut/lib64" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(finding bad-file '.fix[0].command')" "\"export LD_LIBRARY_PATH=$downloaded:$PWD/cut/lib64\""
    # Of another release nothing says that it serves.
    make_standin 7.3.1 cut --layout toolkit
    : >cut/lib64/libcudnn.so.7.3.1
    rm logs/*
    run -1 env LD_LIBRARY_PATH="$PWD/cut/lib64" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    [[ $(finding bad-file '[.fix[].command]') != *Downloads* ]]
}

@test "a program that did not start starts with its repair: what it had found stays found" {
    # A link that was copied as its text, into a toolkit that no package manager knows.
    make_standin --empty libcublasLt.so.11 cuda-11.6/lib64
    mv cuda-11.6/lib64/libcublasLt.so.11 cuda-11.6/lib64/libcublasLt.so.11.9.2.110
    ln -s libcublasLt.so.11.9.2.110 cuda-11.6/lib64/libcublasLt.so.11
    mkdir rt
    echo 'int build(void) { return 0; }' | "${CC:-gcc}" -shared -fPIC -x c - -Wl,-soname,librt_infer.so.8,--no-as-needed \
        -o rt/librt_infer.so.8 -L cuda-11.6/lib64 -l:libcublasLt.so.11
    echo 'int build(void); int main(void) { return build(); }' | "${CC:-gcc}" -x c - -o app -L rt -l:librt_infer.so.8 \
        -Wl,--allow-shlib-undefined
    rm cuda-11.6/lib64/libcublasLt.so.11
    echo -n libcublasLt.so.11.9.2.110 >cuda-11.6/lib64/libcublasLt.so.11
    run -127 env LD_LIBRARY_PATH="$PWD/rt:$PWD/cuda-11.6/lib64" "$CMD" run --quiet --log logs -- ./app
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '[.findings[0].fix[] | select(.checked == "replayed") | .edits[] | .path // .value]' report.json)" \
        "[\"$PWD/cuda-11.6/lib64/libcublasLt.so.11\",\"$PWD/cuda-11.6/lib64/libcublasLt.so.11\"]"
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    run -0 env LD_LIBRARY_PATH="$PWD/rt:$PWD/cuda-11.6/lib64" ./app
}

@test "the link of the SONAME leads to an older one of several there: it is turned" {
    make_standin 7.0.5 old
    make_standin 7.2.1 set --layout toolkit
    mv old/libcudnn.so.7 set/lib64/libcudnn.so.7.0.5
    build_host library-now "$PWD/set/lib64" host --no-rpath
    ln -sfn libcudnn.so.7.0.5 set/lib64/libcudnn.so.7
    # It requires a function that came with 7.1.
    echo 'int cudnnGetRNNDataDescriptor(void); int f(void) { return cudnnGetRNNDataDescriptor(); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o host.so -Wl,-z,now -L set/lib64 -l:libcudnn.so.7.2.1
    echo "import ctypes; ctypes.CDLL('$PWD/host.so')" >main.py
    run -1 env LD_LIBRARY_PATH="$PWD/set/lib64" "$CMD" run --quiet --log logs -- python3 main.py
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0].fix[0] | "\(.command), \(.checked)"' report.json)" \
        "ln -sfn libcudnn.so.7.2.1 $PWD/set/lib64/libcudnn.so.7, replayed"
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    run -0 env LD_LIBRARY_PATH="$PWD/set/lib64" python3 main.py
}

@test "a plain name that is asked for by its path is a link to what the search path has under its SONAME" {
    make_standin 8.1.1 system --layout flat
    mkdir -p cuda/lib64
    build_host dlopen-path - app
    cat >start.sh <<END
#!/bin/sh
exec "$PWD/app" "$PWD/cuda/lib64/libcudnn.so" version
END
    chmod +x start.sh
    run -1 env LD_LIBRARY_PATH="$PWD/system" "$CMD" run --quiet --log logs -- ./start.sh
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0].fix[0] | "\(.command), \(.checked)"' report.json)" \
        "ln -s $PWD/system/libcudnn.so.8 $PWD/cuda/lib64/libcudnn.so, replayed"
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    run -0 env LD_LIBRARY_PATH="$PWD/system" ./start.sh
}

@test "a variable that is the whole name of a file leads to one that the loader would find" {
    make_standin 7.6.5 new
    make_standin 5.1.10 old
    cat >th.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    void *library = dlopen(getenv("CUDNN_PATH"), RTLD_NOW);
    size_t (*version)(void) = dlsym(library, "cudnnGetVersion");
    if (version() < 6000)
        return 0;
    fprintf(stderr, "These bindings are for CUDNN 5.x (5005 <= cudnn.version > 6000) , "
                    "while the loaded CuDNN is version: %zu\n", version());
    return 1;
}
C
    "${CC:-gcc}" th.c -o th -ldl
    export LD_LIBRARY_PATH=$PWD/old CUDNN_PATH=$PWD/new/libcudnn.so.7
    "$CMD" run --quiet --log logs -- ./th 2>err || true
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0].fix[0] | "\(.command), \(.checked)"' report.json)" \
        "export CUDNN_PATH=$PWD/old/libcudnn.so.5, replayed"
    eval "$(jq -r '.findings[0].fix[0].command' report.json)"
    run -0 ./th
}

@test "links that give cuDNN 9 the names of cuDNN 8: the release with those names replaces it" {
    local lib=$site/nvidia/cudnn/lib name
    wheel 8.9.2 26
    build_host library-lazy "$lib" "$site/engine/_engine"
    rm -r "$site"/nvidia*
    wheel 9.8.0 87
    for name in libcudnn libcudnn_ops_infer libcudnn_cnn_infer; do ln -s libcudnn.so.9 "$lib/$name.so.8"; done
    run -1 "$CMD" run --quiet --log logs/ -- python3 -c "import ctypes; ctypes.CDLL('$site/engine/_engine.so')"
    "$CMD" report --json logs >report.json || true
    is "$(jq -r '.findings[0].id' report.json)" wrong-name
    is "$(finding wrong-name '.fix[0] | [.text, .checked]')" '["install nvidia-cudnn-cu12>=8,<9","replayed"]'
}

# dlib#457: RPATH names the folder of the older CUDA first, and LD_LIBRARY_PATH comes behind that.
@test "an older copy whose call fails: the newer one that the same search path has behind it" {
    local row
    for row in old:5.0.5:3 new:5.1.10:0; do
        IFS=: read -r d version status <<<"$row"
        mkdir "$d"
        echo "int cudnnSetFilter4dDescriptor(void *d) { return d ? 0 : $status; } unsigned long cudnnGetVersion(void) { return 5005; }" |
            "${CC:-gcc}" -shared -fPIC -Wl,-soname,libcudnn.so.5 -o "$d/libcudnn.so.$version" -x c -
        ln -s "libcudnn.so.$version" "$d/libcudnn.so.5"
    done
    "${CC:-gcc}" -o host -x c - -x none new/libcudnn.so.5 -Wl,--disable-new-dtags,-rpath,"$PWD/old:$PWD/new" <<'C'
#include <stdio.h>
int cudnnSetFilter4dDescriptor(void *d);
int main(void) { return cudnnSetFilter4dDescriptor(0) ? fputs("reason: CUDNN_STATUS_BAD_PARAM\n", stderr), 1 : 0; }
C
    run -1 "$CMD" run --quiet --text --log logs/ -- ./host
    "$CMD" report --json logs >report.json || true
    is "$(jq -c '[.findings[].id]' report.json)" '["call-failed","shadowed-copy"]'
    is "$(finding shadowed-copy '.fix[0] | [.command, .checked]')" \
        "[\"export LD_PRELOAD=$PWD/new/libcudnn.so.5.1.10\",\"replayed\"]"
    LD_PRELOAD=$PWD/new/libcudnn.so.5.1.10 run -0 ./host
}

@test "what unpacks its libraries and removes them at its end: what it missed is played without them" {
    make_standin 8.9.7 opt
    mkdir app
    echo 'int cudnnCreate(void **); int start(void **h) { return cudnnCreate(h); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o app/engine.so -L opt -l:libcudnn.so.8
    "${CC:-gcc}" -x c - -o boot -ldl <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* As ONNX Runtime for Java does (onnxruntime#23208). */
int main(void) {
    if (system("cp -r app unpacked"))
        return 2;
    const int failed = !dlopen("unpacked/engine.so", RTLD_NOW) && fprintf(stderr, "%s\n", dlerror());
    return system("rm -r unpacked") || failed;
}
END
    run -1 "$CMD" run --log logs -- ./boot
    "$CMD" report --json logs >report.json || true
    is "$(finding library-not-found '[.fix[] | [.command, .checked, .why]][0]')" \
        "[\"export LD_LIBRARY_PATH=$PWD/opt\",\"no\",\"unpacked/engine.so is gone, and may need more\"]"
    LD_LIBRARY_PATH=$PWD/opt run -0 ./boot
}
