#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn fix: the plan, what is tried without touching anything of the user's, what is done for good.

bats_require_minimum_version 1.5.0
load helpers

# wheel VERSION BUILD: a stand-in of NVIDIA's wheel, into the wheelhouse.
wheel() {
    local tree=$BATS_FILE_TMPDIR/tree-$1 info
    make_standin "$1" "$tree" --layout pip --build "$2"
    info=$(basename "$tree"/*.dist-info)
    printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n' >"$tree/$info/WHEEL"
    (cd "$tree" && find . -type f -printf '%P,,\n' >"$info/RECORD" &&
        "$PY" -m zipfile -c "$BATS_FILE_TMPDIR/wheels/${info%.dist-info}-py3-none-any.whl" ./*)
}

setup_file() {
    mkdir "$BATS_FILE_TMPDIR/wheels"
    wheel 8.9.2 26
    wheel 8.5.0 96
    build_host dlopen "$BATS_FILE_TMPDIR/tree-8.9.2/nvidia/cudnn/lib" "$BATS_FILE_TMPDIR/host" \
        -Wl,-rpath,'$ORIGIN/../nvidia/cudnn/lib'
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    ! ldconfig -p | grep -q 'libcudnn\.so\.8 ' || skip "a cuDNN 8 of this computer's would fill the gaps"
    export HOME=$PWD/home TMPDIR=$PWD/tmp PIP_NO_INDEX=1 PIP_FIND_LINKS=$BATS_FILE_TMPDIR/wheels
    export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
    mkdir home tmp
}

# environment [VERSION]: a virtual environment with the package engine, which wants a cuDNN >=8.8,<9, and
# that release of cuDNN.
environment() {
    "$PY" -m venv --without-pip venv
    site=$(echo "$PWD"/venv/lib/python3*/site-packages)
    mkdir -p "$site/engine" "$site/engine-1.0.dist-info"
    cp "$BATS_FILE_TMPDIR/host" "$site/engine/host"
    printf 'Metadata-Version: 2.1\nName: engine\nVersion: 1.0\nRequires-Dist: nvidia-cudnn-cu12>=8.8,<9\n' \
        >"$site/engine-1.0.dist-info/METADATA"
    printf 'engine/host,,\n' >"$site/engine-1.0.dist-info/RECORD"
    [ $# -eq 0 ] || "$PY" -m pip --python venv/bin/python install -q --no-deps "nvidia-cudnn-cu12==$1"
    PATH=$(dirname "$PY"):$PATH
    host=("$site/engine/host" version)
}

# Of all that the environment is: names, modes, times, links, content.
sum() {
    find venv -printf '%p %m %u %T@ %l\n' | sort | sha256sum
    find venv -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum
}

empty() { # nothing is left of what was thrown away; it goes in a process of its own
    local i
    for ((i = 0; i < 50; i++)); do
        [ "$(ls -A tmp)" != "" ] || return 0
        sleep 0.1
    done
    ls -lR tmp
    return 1
}

fix() { "$CMD" fix "$@"; }
install="pip --python $BATS_TEST_TMPDIR/venv/bin/python install 'nvidia-cudnn-cu12>=8.8,<9'"

@test "the plan of a log: each finding with its repairs, the cheapest first, and how far they were checked" {
    environment 8.9.2.26
    make_standin 8.5.0 module
    LD_LIBRARY_PATH=$PWD/module "$CMD" run --quiet --log logs/ -- "${host[@]}"
    run -1 --separate-stderr fix logs
    is "${lines[0]}" "error[runtime-too-old]: engine 1.0 got cuDNN 8.5.0, requires >=8.8,<9"
    is "${lines[1]}" "  1  unset LD_LIBRARY_PATH"
    is "${lines[2]}" "     replayed: gives 8.9.2 from $site/engine/../nvidia/cudnn/lib"
    is "${lines[3]}" "  2  export LD_LIBRARY_PATH=$site/engine/../nvidia/cudnn/lib:$PWD/module"
    is "$stderr" ""
    newest=$(WHICHCUDNN_LOG=$PWD/logs fix) || true
    is "$newest" "$output"
    run -1 --separate-stderr fix --json logs
    is "$(jq -c '[.findings[].id, .findings[0].fix[0].command, .findings[0].fix[0].checked, .tried, .applied]' <<<"$output")" \
        '["runtime-too-old","unset LD_LIBRARY_PATH","replayed",[],null]'
}

@test "of a command that is run for it" {
    environment 8.9.2.26
    make_standin 8.5.0 module
    LD_LIBRARY_PATH=$PWD/module run -1 --separate-stderr fix -- "${host[@]}"
    is "$output" "version 8500"
    [[ $stderr == "whichcudnn: error[runtime-too-old]: engine 1.0 got"*"  1  unset LD_LIBRARY_PATH"* ]]
    empty
}

@test "a variable is tried in the environment of the command alone" {
    environment 8.9.2.26
    make_standin 8.5.0 module
    before=$(sum)
    LD_LIBRARY_PATH=$PWD/module run -0 --separate-stderr fix --try -- "${host[@]}"
    is "$output" $'version 8500\nversion 8902'
    is "${stderr_lines[-1]}" \
        "whichcudnn: tried: status 0, cuDNN 8.9.2, no finding. To keep it: unset LD_LIBRARY_PATH"
    is "$(sum)" "$before"
    LD_LIBRARY_PATH=$PWD/module run -0 --separate-stderr fix --try --json -- "${host[@]}"
    is "$(tail -n +3 <<<"$output" | jq -c '[.findings[0].fix[].checked, (.tried[] | .cures, .status, .cudnn, .left)]')" \
        '["tried","replayed","replayed",true,0,"8.9.2",[]]'
    LD_LIBRARY_PATH=$PWD/module run -1 --separate-stderr fix --try --apply --yes -- "${host[@]}"
    [[ $stderr == *"to be typed in your shell, whose variables are its own: unset LD_LIBRARY_PATH"* ]]
    is "$(sum)" "$before"
    empty
}

@test "a package is tried in an overlay, and what was tried is what --apply gives" {
    environment 8.5.0.96
    before=$(sum)
    run -0 --separate-stderr fix --try -- "${host[@]}"
    is "$output" $'version 8500\nversion 8902'
    is "${stderr_lines[-1]}" "whichcudnn: tried: status 0, cuDNN 8.9.2, no finding. To keep it: $install"
    is "$(sum)" "$before"
    run -0 --separate-stderr fix --try --apply --yes -- "${host[@]}"
    [[ $output == *"Successfully installed nvidia-cudnn-cu12-8.9.2.26"* ]]
    [[ $stderr == *"whichcudnn: done"*"to see that it holds: whichcudnn run -- ${host[*]}" ]]
    [ "$(sum)" != "$before" ]
    is "$("${host[@]}")" "version 8902"
    run -0 --separate-stderr fix --try -- "${host[@]}"
    is "$stderr" "whichcudnn: ok: cuDNN 8.9.2 (nvidia-cudnn-cu12) for engine 1.0"
    empty
}

@test "files: a link that is missing, tried and made" {
    environment 8.9.2.26
    mv "$site"/nvidia/cudnn/lib/libcudnn.so.8 "$site"/nvidia/cudnn/lib/libcudnn.so.8.9.2
    sed -i 's/libcudnn\.so\.8,/libcudnn.so.8.9.2,/' "$site"/nvidia_cudnn_cu12-8.9.2.26.dist-info/RECORD
    before=$(sum)
    run -0 --separate-stderr fix --try -- "${host[@]}"
    link="ln -s libcudnn.so.8.9.2 $site/engine/../nvidia/cudnn/lib/libcudnn.so.8"
    is "${stderr_lines[-1]}" "whichcudnn: tried: status 0, cuDNN 8.9.2, no finding. To keep it: $link"
    is "$(sum)" "$before"
    run -0 --separate-stderr fix --apply --yes -- "${host[@]}"
    [[ $stderr == *"+ $link"*"whichcudnn: done"* ]]
    is "$("${host[@]}")" "version 8902"
}

# ---- what is not in every system ----

# as_user COMMAND...: without a right that root has; bare COMMAND...: where no namespace can be made.
as_user() {
    if [ "$(id -u)" -eq 0 ]; then setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$@"; else "$@"; fi
}
bare() {
    unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_mnt_namespaces && echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' \
        sh "$@"
}

@test "a user without rights: the same, by a namespace of users" {
    as_user unshare -Urm true || skip "no namespaces of users here"
    environment 8.5.0.96
    before=$(sum)
    run -0 --separate-stderr as_user "$CMD" fix --try -- "${host[@]}"
    is "$output" $'version 8500\nversion 8902'
    is "${stderr_lines[-1]}" "whichcudnn: tried: status 0, cuDNN 8.9.2, no finding. To keep it: $install"
    is "$(sum)" "$before"
    empty
}

@test "no namespaces: a copy in front; what has a whole path is not in it, which is told" {
    unshare -Ur true || skip "no namespaces of users here"
    environment 8.5.0.96
    before=$(sum)
    run -0 --separate-stderr bare "$CMD" fix --try -- "${host[@]}"
    is "$output" $'version 8500\nversion 8902'
    [[ ${stderr_lines[-1]} == "whichcudnn: tried: status 0, cuDNN 8.9.2, no finding (with a copy in front"*": $install" ]]
    is "$(sum)" "$before"
    empty
    ln -s "${host[0]}" program # a name outside of the environment leads into it
    run -5 --separate-stderr bare "$CMD" fix --try -- ./program version
    [[ $stderr == *"error[runtime-too-old] is left (with a copy in front: what has a whole path is not in it): it does not hold"* ]]
    is "$(sum)" "$before"
}

@test "no overlay upon overlays: a copy over the environment" {
    unshare -Urm true || skip "no namespaces of users here"
    environment 8.5.0.96
    before=$(sum)
    mkdir -p over/{1,2}/{u,w}
    # shellcheck disable=SC2016
    run -0 --separate-stderr unshare -Urm sh -c 'for i in 1 2; do
        mount -t overlay none -o "userxattr,lowerdir=venv,upperdir=over/$i/u,workdir=over/$i/w" venv || exit 99
        cd .; done; ! mount -t overlay none -o lowerdir=venv:over venv 2>/dev/null || exit 98; exec "$@"' \
        sh "$CMD" fix --try -- "${host[@]}"
    is "$output" $'version 8500\nversion 8902'
    [[ ${stderr_lines[-1]} == "whichcudnn: tried: status 0, cuDNN 8.9.2, no finding. To keep it: "* ]]
    is "$(find over/2/u -type f)" ""
    is "$(sum)" "$before"
    empty
}

@test "the temporary directory is in the environment" {
    environment 8.5.0.96
    mkdir venv/tmp
    before=$(sum)
    TMPDIR=$PWD/venv/tmp run -0 --separate-stderr fix --try -- "${host[@]}"
    is "$output" $'version 8500\nversion 8902'
    sleep 0.3
    touch -d "$(stat -c %y venv/bin)" venv/tmp
    is "$(find venv/tmp -mindepth 1)" ""
}

# ---- what ends it, what is in its way ----

@test "a signal to it, or to all: nothing is left, and the environment is as it was" {
    environment 8.5.0.96
    before=$(sum)
    cat >slow <<END
#!/bin/sh
${host[*]}
[ ! -e again ] || { echo \$\$ >pid; exec sleep 60; }
touch again
END
    chmod +x slow
    for signal in TERM HUP KILL; do
        rm -f again pid
        "$CMD" fix --try -- ./slow >out 2>&1 &
        fixing=$!
        for ((i = 0; i < 100; i++)); do [ ! -s pid ] || break; sleep 0.1; done
        [ -s pid ]
        kill -$signal $fixing
        wait $fixing || status=$?
        echo "$signal $status" && cat out
        if [ $signal = KILL ]; then
            is $status 137
        else
            is "$status" $((128 + $(kill -l $signal)))
            run ! grep "none of what was tried" out
            grep -q "stopped: status 1[24][0-9], cuDNN 8.9.2, no finding; nothing was kept" out
        fi
        for ((i = 0; i < 50; i++)); do [ -d /proc/"$(<pid)" ] || break; sleep 0.1; done
        [ ! -d /proc/"$(<pid)" ]
        is "$(sum)" "$before"
        empty
    done
}

@test "a signal while the package is installed" {
    environment 8.5.0.96
    before=$(sum)
    mkdir bin
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho $$ >%s\ntouch %s\nsleep 60\n' "$PWD/pid" "$site/half" >bin/pip
    chmod +x bin/pip
    for signal in TERM KILL; do
        rm -f pid
        PATH=$PWD/bin:$PATH "$CMD" fix --try -- "${host[@]}" >out 2>&1 &
        fixing=$!
        for ((i = 0; i < 100; i++)); do [ ! -s pid ] || break; sleep 0.1; done
        kill -$signal $fixing
        wait $fixing || status=$?
        echo "$signal $status" && cat out
        is "$status" $((128 + $(kill -l $signal)))
        is "$(sum)" "$before"
        empty
    done
}

@test "no room, and none to write in: what and where" {
    unshare -Urm true || skip "no namespaces of users here"
    environment 8.5.0.96
    before=$(sum)
    # shellcheck disable=SC2016
    run -2 --separate-stderr unshare -Urm sh -c 'mount -t tmpfs -o size=256k none tmp && exec "$@"' \
        sh "$CMD" fix --try -- "${host[@]}"
    echo "$stderr"
    [[ $stderr == *"hardly any room left for the try (TMPDIR says where"* ]]
    is "$(sum)" "$before"
}
