#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn fix: the plan, what is tried without touching anything of the user's, what is done for good.

bats_require_minimum_version 1.5.0
load helpers

# wheel VERSION BUILD [CUDA]: a stand-in of NVIDIA's wheel, into the wheelhouse.
wheel() {
    local tree=$BATS_FILE_TMPDIR/tree-$1${3:-} info
    make_standin "$1" "$tree" --layout pip --build "$2" --distribution "nvidia-cudnn-${3:-cu12}"
    info=$(basename "$tree"/*.dist-info)
    printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n' >"$tree/$info/WHEEL"
    (cd "$tree" && find . -type f -printf '%P,,\n' >"$info/RECORD" &&
        "$PY" -m zipfile -c "$BATS_FILE_TMPDIR/wheels/${info%.dist-info}-py3-none-any.whl" ./*)
}

setup_file() {
    mkdir "$BATS_FILE_TMPDIR/wheels"
    wheel 8.9.2 26
    wheel 8.9.2 26 cu11
    wheel 8.5.0 96
    build_host dlopen "$BATS_FILE_TMPDIR/tree-8.9.2/nvidia/cudnn/lib" "$BATS_FILE_TMPDIR/host" \
        -Wl,-rpath,'$ORIGIN/../nvidia/cudnn/lib'
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset CUDA_HOME CUDA_PATH
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

# The same without times, which --apply leaves other than they were in directories.
content() {
    find venv -name __pycache__ -prune -o -printf '%p %m %u %l\n' | sort | sha256sum
    find venv -name __pycache__ -prune -o -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum
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
for_namespaces() { # VERSION: of cuDNN in an environment; before: its sum
    unshare -Urm true || skip "no namespaces of users here"
    environment "$1"
    before=$(sum)
}
install="pip --python $BATS_TEST_TMPDIR/venv/bin/python install 'nvidia-cudnn-cu12>=8.8,<9'"

@test "the plan of a log: each finding with its repairs, the cheapest first, and how far they were checked" {
    environment 8.9.2.26
    make_standin 8.5.0 module
    LD_LIBRARY_PATH=$PWD/module "$CMD" run --quiet --log logs/ -- "${host[@]}"
    run -1 --separate-stderr fix logs
    is "${lines[0]}" "error[runtime-too-old]: engine 1.0 got cuDNN 8.5.0, requires >=8.8,<9"
    is "${lines[1]}" "  1  unset LD_LIBRARY_PATH"
    is "${lines[2]}" "     replayed: gives 8.9.2 from $site/nvidia/cudnn/lib"
    is "${lines[3]}" "  2  export LD_LIBRARY_PATH=$site/nvidia/cudnn/lib:$PWD/module"
    is "$stderr" ""
    newest=$(WHICHCUDNN_LOG=$PWD/logs "$CMD" fix) || true
    is "$newest" "$output"
    run -1 --separate-stderr fix --json logs
    is "$(jq -c '[.findings[].id, .findings[0].fix[0].command, .findings[0].fix[0].checked, .tried, .applied]' <<<"$output")" \
        '["runtime-too-old","unset LD_LIBRARY_PATH","replayed",[],null]'
}

@test "a user's command is read and replayed: it repairs, does nothing, breaks, or is unknown" {
    environment 8.9.2.26
    make_standin 8.5.0 module
    LD_LIBRARY_PATH=$PWD/module "$CMD" run --quiet --log logs/ -- "${host[@]}"
    before=$(sum)
    while IFS='|' read -r status verdict text; do
        run "-$status" --separate-stderr fix --check "$text" --json logs
        is "$stderr$(jq -r '.checked.verdict' <<<"$output")" "$verdict"
        echo "$output" >"document-$verdict"
    done <<END
0|repairs|unset LD_LIBRARY_PATH
0|repairs|export LD_LIBRARY_PATH=$site/nvidia/cudnn/lib:\$LD_LIBRARY_PATH
0|repairs|env -u LD_LIBRARY_PATH host train
0|repairs|LD_LIBRARY_PATH= ./host
0|repairs|rm -r $PWD/module
0|repairs|ln -sf $site/nvidia/cudnn/lib/libcudnn.so.8 $PWD/module/libcudnn.so.8 && unset LD_LIBRARY_PATH
0|repairs|pip install nvidia-cudnn-cu12; unset LD_LIBRARY_PATH
0|repairs|unset LD_LIBRARY_PATH >/dev/null 2>&1
0|repairs|lib=$site/nvidia/cudnn/lib; export LD_LIBRARY_PATH=\$lib
0|repairs|cd $PWD && rm -r module
1|nothing|$(printf 'unset LD_PRELOAD; %.0s' {1..40})
4|unknown|export LD_LIBRARY_PATH=\$NOWHERE/lib
4|unknown|cp ~/libcudnn.so.8 $PWD/module
4|unknown|chmod a+r $PWD/module/libcudnn.so.8
1|nothing|pip install 'nvidia-cudnn-cu12>=8.8,<9'
1|nothing|pip install --force-reinstall nvidia-cudnn-cu12==8.9.2.26
1|nothing|uv pip install -U 'nvidia_cudnn_cu12==8.9.2.26'
1|nothing|export LD_LIBRARY_PATH=$PWD/module:$site/nvidia/cudnn/lib
1|nothing|unset LD_PRELOAD
1|nothing|rm $PWD/absent
1|nothing|ln -s /etc/passwd $PWD/module/libcudnn.so.8
4|unknown|rm $site/engine/host
5|breaks|unset LD_LIBRARY_PATH; pip uninstall -y nvidia-cudnn-cu12
4|unknown|pip install nvidia-cudnn-cu12==8.9.2.99
4|unknown|pip install --extra-index-url https://example.org nvidia-cudnn-cu12
4|unknown|pip install torch
4|unknown|sudo pip install nvidia-cudnn-cu12
4|unknown|/elsewhere/bin/pip install nvidia-cudnn-cu12
4|unknown|export CUDA_HOME=/usr/local/cuda
4|unknown|LD_LIBRARY_PATH=/tmp
4|unknown|apt install libcudnn8
4|unknown|conda install cudnn=8.9
4|unknown|import torch first
4|unknown|unset LD_LIBRARY_PATH | tee log
4|unknown|ln -sf libcudnn.so.9 libcudnn.so.8
4|unknown|source venv/bin/activate
4|unknown|unset LD_LIBRARY_PATH; export PATH=\$(touch ran)
4|unknown|unset LD_LIBRARY_PATH; \`touch ran\`
4|unknown|unset LD_LIBRARY_PATH; pip install "unclosed
END
    "$WC_PYTHON" "$WC_ROOT/tests/schema/validate.py" fix document-*
    is "$(sum)" "$before"
    [ ! -e ran ]
    run -1 --separate-stderr fix --check 'export LD_LIBRARY_PATH=/absent:$LD_LIBRARY_PATH' logs
    is "${lines[0]}" "nothing: the finding remains"
    is "${lines[1]}" "error[runtime-too-old]: engine 1.0 got cuDNN 8.5.0, requires >=8.8,<9"
    run -0 --separate-stderr fix --check 'unset LD_LIBRARY_PATH' logs
    is "${lines[0]}" "repairs: unset LD_LIBRARY_PATH"
    run -2 fix --check x --try -- "${host[@]}"
    run -2 fix --scan venv
}

@test "a user's command sets a variable that a script sets, too: what the script makes of it is unknown" {
    environment 8.9.2.26
    make_standin 8.5.0 module
    # shellcheck disable=SC2016  # for the script
    printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s%s\nexec "$@"\n' "$PWD/module" '${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}' >start
    chmod +x start
    "$CMD" run --quiet --log logs/ -- ./start "${host[@]}"
    run -4 --separate-stderr fix --check "export LD_LIBRARY_PATH=$site/nvidia/cudnn/lib" logs
    is "${lines[0]}" "unknown: what a script makes of that variable is unknown"
    sed -i 's/\${.*}//' start
    rm logs/*
    "$CMD" run --quiet --log logs/ -- ./start "${host[@]}"
    run -1 --separate-stderr fix --check "export LD_LIBRARY_PATH=$site/nvidia/cudnn/lib" logs
    is "${lines[0]}" "nothing: something else sets that variable for the process"
}

@test "a user's command is checked of an environment that is scanned, and of a command that is run" {
    environment 8.5.0.96
    run -0 --separate-stderr fix --check "pip install nvidia-cudnn-cu12==8.9.2.26" --scan venv
    is "${lines[0]}" "repairs: install nvidia-cudnn-cu12==8.9.2.26"
    run -1 --separate-stderr fix --check "unset LD_LIBRARY_PATH" --scan venv
    run -0 --separate-stderr fix --check "pip install nvidia-cudnn-cu12==8.9.2.26" -- "${host[@]}"
    is "$output" "version 8500"
    run -2 --separate-stderr fix --check x --scan absent
}

@test "of a user's command nothing is started and no file is changed" {
    command -v strace || skip "no strace here"
    environment 8.5.0.96
    "$CMD" run --quiet --log logs/ -- "${host[@]}"
    text="sudo rm -rf $site; pip uninstall -y engine; ln -sf /a $PWD/b; cp $site/engine/host $PWD/c; touch d"
    strace -f -o trace -e trace=%process,%file -- "$CMD" fix --check "$text" logs || true
    is "$(grep -c execve trace)" 1
    run ! grep -E '(fork|clone|unlink|rename|symlink|mkdir|O_CREAT)[^"]*"[^"]*/(venv|a|b|c|d)' trace
    run ! grep -E '^[0-9]+ +(v?fork|clone3?)\(' trace
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
    [[ $stderr == "whichcudnn: cuDNN 8.9.2 from"*"(nvidia-cudnn-cu12) for engine 1.0"$'\nwhichcudnn: ok' ]]
    empty
}

@test "shims of a version manager, written anew after an installation: not in the try" {
    environment 8.5.0.96
    mkdir shims
    printf '#!/bin/sh\n"%s" -m pip "$@" && : >"$(dirname "$0")/.lock"\n' "$PY" >shims/pip
    chmod +x shims/pip
    PATH=$PWD/shims:$PATH run -0 --separate-stderr fix --try -- "${host[@]}"
    is "${stderr_lines[-1]}" "whichcudnn: tried: status 0, cuDNN 8.9.2, no finding. To keep it: $install"
    is "$(ls -A shims)" pip
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
    for_namespaces 8.5.0.96
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

# ---- code of other users ----

need_root() { [ "$(id -u)" -eq 0 ] || skip "needs root to have files of another user"; }
# spied: an environment whose interpreter leaves its process's status in $proof, and logs/ of a process in it.
spied() {
    environment 8.5.0.96
    proof=$PWD/proof/python
    mkdir -p proof "$site/pip"
    "$CMD" run --quiet --log logs/ -- "${host[@]}"
    rm venv/bin/python
    printf '#!/bin/sh\ncat /proc/$$/status >%s\nexit 1\n' "$proof" >venv/bin/python
    chmod +x venv/bin/python
    chmod 777 proof
}
# is_refused PATH [ARGUMENT...]: fix --apply does not run the interpreter
is_refused() {
    rm -f "$proof"
    run -2 --separate-stderr fix --apply --yes "${@:2}" logs
    [[ $stderr == *"whichcudnn: not run: "*"$1"* ]] || { echo "$stderr" && return 1; }
    [ ! -e "$proof" ]
}
is_run() {
    rm -f "$proof"
    run -2 --separate-stderr fix --apply --yes "$@" logs
    [ -s "$proof" ] || { echo "$stderr" && return 1; }
}

@test "--apply: another user's environment and log are refused; --as-owner has it with that user's rights alone" {
    need_root
    spied
    is_run # the twin: all of it is root's
    is "$(awk '/^Uid/ { print $2 }' "$proof")" 0
    chown -R 65534:65534 venv
    is_refused "$PWD/venv belongs to user nobody (uid 65534), not to you or root; --as-owner runs it"
    SUDO_UID=65534 is_refused "$PWD/venv belongs to user nobody"
    chown 0:0 venv venv/bin
    is_refused "venv/bin/python belongs to user nobody"
    chown -R 0:0 venv && chown -R 65534 logs
    is_refused "$PWD/logs belongs to user nobody"
    chown 0 logs
    is_refused "$PWD/$(the_log logs) belongs to user nobody"
    run -2 --separate-stderr fix --apply --yes - <"$(the_log logs)"
    [[ $stderr == *"$(the_log logs) belongs to user nobody"* && ! -e $proof ]]
    # That user has to be able to reach it.
    chown -R 65534 venv
    local directory=$PWD
    while [ "$directory" != /tmp ] && [ "$directory" != / ]; do
        chmod a+x "$directory"
        directory=${directory%/*} && directory=${directory:-/}
    done
    is_run --as-owner
    is "$(awk '/^[UG]id/ { print $2, $3, $4, $5 }' "$proof" | sort -u)" "65534 65534 65534 65534"
    is "$(awk '/^Groups/ { print $2 }' "$proof")" ""
    is "$(awk '/^Cap/ { print $2 }' "$proof" | sort -u)" 0000000000000000
    is "$(awk '/^NoNewPrivs/ { print $2 }' "$proof")" 1
    # The user in question cannot become anybody else.
    run -2 --separate-stderr setpriv --reuid=65533 --regid=65533 --clear-groups "$CMD" fix --apply --yes --as-owner logs
    [[ $stderr == *"not run: "*"belongs to user nobody (uid 65534), not to you or root" ]]
}

@test "--apply: each part of an environment, and each directory on the way" {
    need_root
    spied
    chmod g+w "$site" && chgrp 65534 "$site"
    is_refused "other users may write to $site"
    chgrp 0 "$site"
    is_run
    touch "$site/evil.pth" && chown 65534 "$site/evil.pth"
    is_refused "$site/evil.pth belongs"
    rm "$site/evil.pth"
    chmod 777 venv
    is_refused "all users may write to $PWD/venv"
    chmod 755 venv
    mkdir theirs && mv venv/bin/python theirs && ln -s ../../theirs/python venv/bin
    is_run
    chown 65534 theirs
    is_refused "$PWD/venv/bin/../../theirs belongs"
    chown 0 theirs
    # `python -m pip` imports what is called pip from where it is started.
    chmod 1777 .
    is_refused "all users may write to $PWD"
    chmod 755 .
    is_run
}

@test "--try: the repair runs nothing of another user's, and none of it goes into the command" {
    need_root
    spied
    chown -R 65534 venv
    rm -f "$proof"
    run -2 --separate-stderr fix --try -- "${host[@]}"
    [[ $stderr == *"whichcudnn: not tried: "*"venv"*" belongs to user nobody (uid 65534), not to you or root" ]]
    [ ! -e "$proof" ]
    run -2 --separate-stderr fix --try logs -- "${host[@]}"
    [ ! -e "$proof" ]
    chown -R 65534 logs
    run -2 --separate-stderr fix --try logs -- touch ran
    [[ $stderr == "whichcudnn: not run: "*"logs belongs to user nobody"* && ! -e ran ]]
}

@test "--apply: a log that was found, as in a repository, is named, and what it names is not run unasked" {
    spied
    cp "$(the_log logs)" . && chmod 600 "$(the_log .)"
    unset WHICHCUDNN_LOG
    run -2 --separate-stderr fix --apply </dev/null
    [[ $stderr == *"no LOG was named; the newest of yours is ./whichcudnn-"*"  $PWD/venv/bin/python -m pip install"*"cannot ask"* ]]
    [ ! -e "$proof" ]
    run -2 --separate-stderr fix --apply --yes
    [[ $stderr == *"no LOG was named"* && -s $proof ]]
    rm "$proof"
    run -2 --separate-stderr fix --apply --yes logs
    [[ $stderr != *"no LOG was named"* && -s $proof ]]
    # Another user's is none of one's own.
    [ "$(id -u)" -eq 0 ] || skip "needs root to have files of another user"
    chown 65534 "$(the_log .)" && rm -f "$proof"
    run --separate-stderr fix --apply --yes
    [[ $stderr != *"./whichcudnn-"* && ! -e $proof ]]
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
        env --default-signal=HUP "$CMD" fix --try -- ./slow >out 2>&1 & # nohup may be around us
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
    mkdir -p bin home/.cache
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho $$ >%s\ntouch %s\nsleep 60\n' "$PWD/home/.cache/pid" "$site/half" >bin/pip
    chmod +x bin/pip
    for signal in TERM KILL; do
        rm -f home/.cache/pid
        PATH=$PWD/bin:$PATH "$CMD" fix --try -- "${host[@]}" >out 2>&1 &
        fixing=$!
        for ((i = 0; i < 100; i++)); do [ ! -s home/.cache/pid ] || break; sleep 0.1; done
        [ -s home/.cache/pid ]
        kill -$signal $fixing
        wait $fixing || status=$?
        echo "$signal $status" && cat out
        is "$status" $((128 + $(kill -l $signal)))
        is "$(sum)" "$before"
        empty
    done
}

@test "no room, and none to write in: what and where" {
    for_namespaces 8.5.0.96
    # shellcheck disable=SC2016
    run -2 --separate-stderr unshare -Urm sh -c 'mount -t tmpfs -o size=256k none tmp && exec "$@"' \
        sh "$CMD" fix --try -- "${host[@]}"
    [[ $stderr == *"hardly any room left for the try (TMPDIR says where"* ]]
    is "$(sum)" "$before"
}

@test "where nothing can be written" {
    for_namespaces 8.5.0.96
    # shellcheck disable=SC2016
    run --separate-stderr unshare -Urm sh -c 'for d in /tmp /dev/shm "$TMPDIR" "$PWD"; do
        mount --rbind "$d" "$d" && mount -o remount,bind,ro "$d" || exit 99; done; cd .; exec "$@"' \
        sh "$CMD" fix --try -- "${host[@]}"
    [ "$status" -ne 99 ] || skip "its mounts cannot be made read-only here"
    is "$status" 2
    is "$stderr" "whichcudnn: no temporary directory can be made: Read-only file system"
    is "$(sum)" "$before"
}

@test "pip is told to put packages elsewhere: it cannot, and a cache is all that it writes" {
    environment 8.5.0.96
    before=$(sum)
    mkdir -p elsewhere cache bin home/.cache
    # What a variable says is not heeded.
    PIP_TARGET=$PWD/elsewhere run -0 --separate-stderr fix --try -- "${host[@]}"
    is "$output" $'version 8500\nversion 8902'
    is "$(ls elsewhere)" ""
    printf '#!/bin/sh\nexec "%s" -m pip "$@" --target "%s"\n' "$PY" "$PWD/elsewhere" >bin/pip
    chmod +x bin/pip
    PATH=$PWD/bin:$PATH run -2 --separate-stderr fix --try -- "${host[@]}"
    [[ ${stderr_lines[-1]} == "whichcudnn: not tried: $install: status "*"Read-only file system"* ]]
    is "$(ls elsewhere)" ""
    # What a try of it leaves is what its cache is for.
    cat >bin/pip <<END
#!/bin/sh
for file in home/.cache/wheel cache/wheel elsewhere/other home/other tmp/other; do touch "$PWD/\$file"; done
touch "\$TMPDIR/other" && exec '$PY' -m pip "\$@"
END
    chmod +x bin/pip
    PATH=$PWD/bin:$PATH PIP_CACHE_DIR=$PWD/cache run -0 --separate-stderr fix --try -- "${host[@]}"
    is "$output" $'version 8500\nversion 8902'
    # rustc, which pip asks for its version, keeps a file of its own.
    is "$(find home cache elsewhere -type f ! -path 'home/.rustup/*' | sort | xargs)" "cache/wheel home/.cache/wheel"
    is "$(sum)" "$before"
    empty
}

# ---- more than one, and none ----

# The repair of pip's is there, but its program does nothing.
@test "a repair that does not hold is told, and the next one is tried; where none does, status 5" {
    environment 8.9.2.26
    make_standin 8.5.0 module
    before=$(sum)
    cat >job <<END
#!/bin/sh
[ "\${LD_LIBRARY_PATH:-}" != "" ] || exit 1 # it wants that variable for something else
exec ${host[*]}
END
    chmod +x job
    LD_LIBRARY_PATH=$PWD/module run -0 --separate-stderr fix --try -- ./job
    [[ $stderr == *"trying: export LD_LIBRARY_PATH=''"*"whichcudnn: tried: status 1, no cuDNN, no finding: it does not hold"* ]]
    [[ $stderr == *"trying: export LD_LIBRARY_PATH="*"tried: status 0, cuDNN 8.9.2, no finding. To keep it: export LD_LIBRARY_PATH="* ]]
    LD_LIBRARY_PATH=$PWD/module run -0 --separate-stderr fix --try --json -- ./job
    is "$(grep -v ^version <<<"$output" | jq -c '[.tried[].cures], [.findings[0].fix[].checked]')" \
        $'[false,true]\n["replayed","tried","replayed"]'
    sed -i '2s/.*/[ ! -e once ] || exit 1; touch once/' job
    LD_LIBRARY_PATH=$PWD/module run -5 --separate-stderr fix --try --apply --yes -- ./job
    is "$(grep -c "it does not hold" <<<"$stderr")" 2
    is "${stderr_lines[-1]}" "whichcudnn: none of what was tried holds"
    is "$(sum)" "$before"
}

@test "several names: the last one that was not found, or any of them for a process that went on without" {
    environment 8.9.2.26
    "${CC:-gcc}" -x c - -o "$site/engine/names" -ldl <<'END'
#include <dlfcn.h>
int main(int argc, char **argv) {
    void *library = 0;
    for (int i = 2; i < argc; i++)
        if (!(library = dlopen(argv[i], RTLD_NOW)))
            dlerror();
    return argv[1][0] == 'f' && !library;
}
END
    local words
    for words in 'fails libcudnn.so.7 libcudnn.so.8' 'ends libcudnn.so.8 libcudnn.so.7'; do
        read -ra words <<<"$words"
        run -1 --separate-stderr fix -- "$site/engine/names" "${words[@]}"
        [[ $stderr == *"asked for libcudnn.so.8, which was not found"*"  1  export LD_LIBRARY_PATH=$site/nvidia/cudnn/lib"* ]]
    done
}

# launcher asks for cuDNN 7 in passing, and starts worker, which needs cuDNN 8; each ends with 1 where it fails.
@test "what was caught before is left, and no reason to reject what repairs the command" {
    environment 8.9.2.26
    lib=$site/nvidia/cudnn/lib
    cat >asks.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
int main(void) {
    void *library = dlopen(NAME, RTLD_NOW);
    if (!library)
        dlerror();
    return START ? system(START) != 0 : !library;
}
END
    "${CC:-gcc}" -DNAME='"libcudnn.so.8"' -DSTART='(char *)0' asks.c -o "$site/engine/worker" -ldl
    "${CC:-gcc}" -DNAME='"libcudnn.so.7"' -DSTART="\"$site/engine/worker\"" asks.c -o launcher -ldl
    run -1 --separate-stderr "$CMD" run --log job/ -- ./launcher
    is "$(grep -oE '^whichcudnn: [a-z]+\[[a-z-]+\]: .* asked for [^,]*' <<<"$stderr")" \
        'whichcudnn: error[library-not-found]: worker asked for libcudnn.so.8
whichcudnn: warning[library-not-found]: launcher asked for libcudnn.so.7'
    run -0 --separate-stderr fix --try -- ./launcher
    is "${stderr_lines[-1]}" \
        "whichcudnn: tried: status 0, cuDNN 8.9.2, error[library-not-found] is left. To keep it: export LD_LIBRARY_PATH=$lib"
}

@test "the next cause: its repair on top of the first" {
    environment 8.5.0.96
    make_standin 8.9.2 lib
    build_host dlopen "$PWD/lib" "$PWD/other"
    mv lib/libcudnn.so.8 lib/libcudnn.so.8.9.2
    printf '#!/bin/sh\n[ "$(%s)" = "version 8902" ] && exec ./other version\n' "${host[*]}" >job
    chmod +x job
    before=$(sum; ls lib)
    run -0 --separate-stderr fix --try --json -- ./job
    is "$(grep -v ^version <<<"$output" | jq -c '.tried[-1] | .cures, .status, .rounds, (.steps | map(.kind))')" \
        $'true\n0\n2\n["command","command"]'
    is "$(grep -v ^version <<<"$output" | jq -r '.tried[-1].keep')" \
        "$install, then ln -s libcudnn.so.8.9.2 $PWD/lib/libcudnn.so.8"
    is "$(sum; ls lib)" "$before"
}

@test "what a framework loads for itself when it is asked to, and what has to be imported first" {
    unshare -Urm true || skip "no namespaces of users here"
    environment
    make_standin 9.8.0 "$site" --layout pip --build 87
    mkdir -p "$site"/onnxruntime/capi "$site"/onnxruntime_gpu-1.25.0.dist-info
    build_host library-dlopen "$site/nvidia/cudnn/lib" "$site/onnxruntime/capi/provider" --no-rpath
    printf 'Metadata-Version: 2.1\nName: onnxruntime-gpu\nVersion: 1.25.0\nRequires-Dist: nvidia-cudnn-cu12~=9.0\n' \
        >"$site/onnxruntime_gpu-1.25.0.dist-info/METADATA"
    printf 'onnxruntime/capi/provider.so,,\n' >"$site/onnxruntime_gpu-1.25.0.dist-info/RECORD"
    cat >"$site/onnxruntime/__init__.py" <<'END'
import ctypes, os
here = os.path.dirname(__file__)
def preload_dlls():
    ctypes.CDLL(here + "/../nvidia/cudnn/lib/libcudnn.so.9")
def run():
    words = (ctypes.c_char_p * 3)(b"host", b"version", None)
    return ctypes.CDLL(here + "/capi/provider.so").host_run(2, words)
END
    cat >main.py <<'END'
import os, sys, onnxruntime
print("LD_LIBRARY_PATH" in os.environ, flush=True)
sys.exit(3 if "LD_LIBRARY_PATH" in os.environ else onnxruntime.run()) # that it cannot do with
END
    echo 'print("of the user", flush=True)' >"$site/sitecustomize.py"
    before=$(sum)
    # A toolkit of this computer's would be taken.
    # shellcheck disable=SC2016
    alone=(unshare -Urm sh -c 'mount --bind /dev/null /etc/ld.so.cache && mount --bind /dev/null /etc/ld.so.conf && exec "$@"' sh)
    run -0 --separate-stderr "${alone[@]}" "$CMD" fix --try -- venv/bin/python main.py
    echo "$output" "$stderr"
    # A Python of the system's may have a sitecustomize of its own, which comes first.
    [[ $output == *"$(venv/bin/python -c pass)"$'\nFalse\nversion 90800' ]]
    [[ ${stderr_lines[-1]} == "whichcudnn: tried: status 0, cuDNN 9.8.0, no finding. To keep it: call onnxruntime.preload_dlls()"* ]]
    run -1 --separate-stderr "${alone[@]}" "$CMD" fix --try --apply --yes -- venv/bin/python main.py
    [[ $stderr == *"whichcudnn: for you to do: call onnxruntime.preload_dlls() before the first use"* ]]
    is "$(sum)" "$before"
    rm "$site/sitecustomize.py"
    run -0 --separate-stderr "${alone[@]}" "$CMD" fix --try -- venv/bin/python main.py
    [[ $stderr == *"tried: status 0"* && $stderr != *sitecustomize* ]]
    # 1.20 has no such function.
    run "${alone[@]}" "$CMD" run -- venv/bin/python main.py
    [[ $output == *preload_dlls* ]]
    mv "$site"/onnxruntime_gpu-1.2{5,0}.0.dist-info
    run "${alone[@]}" "$CMD" run -- venv/bin/python main.py
    [[ $output == *library-not-found* && $output != *preload_dlls* ]]
    mv "$site"/onnxruntime_gpu-1.2{0,5}.0.dist-info
}

@test "what another package of the environment has: by its directory, or by its import before" {
    environment
    make_standin 9.8.0 "$site" --layout pip --build 87
    mkdir -p "$site"/engine/lib "$site"/extension
    gcc -shared -fPIC -Wl,-soname,libengine_core.so -o "$site/engine/lib/libengine_core.so" -x c - \
        <<<'int engine(void) { return 1; }'
    gcc -shared -fPIC -o "$site/extension/_C.so" -x c - -L"$site/engine/lib" -lengine_core \
        <<<'int engine(void); int extension(void) { return engine(); }'
    echo 'import ctypes, os; ctypes.CDLL(os.path.dirname(__file__) + "/lib/libengine_core.so")' >"$site/engine/__init__.py"
    echo 'import ctypes, os; ctypes.CDLL(os.path.dirname(__file__) + "/_C.so")' >"$site/extension/__init__.py"
    printf 'import ctypes\nctypes.CDLL("%s")\nimport extension\n' "$site/nvidia/cudnn/lib/libcudnn.so.9" >main.py
    run -1 --separate-stderr "$CMD" run --log "$PWD/log" -- venv/bin/python main.py
    [[ $stderr == *"error[dependency-missing]: _C.so could not be loaded: it needs libengine_core.so"* ]]
    is "$("$CMD" report --json log | jq -r '.findings[0].fix[] | .checked + " " + .text')" \
        "replayed set LD_LIBRARY_PATH to $site/engine/lib"$'\nreplayed import engine before extension'
    # As it is told, so it is.
    run -0 env LD_LIBRARY_PATH="$site/engine/lib" venv/bin/python main.py
    sed -i 's/^import extension/import engine, extension/' main.py
    run -0 venv/bin/python main.py
}

@test "a repair that another package's requirement refuses says so in its line" {
    environment 8.5.0.96
    run --separate-stderr "$CMD" run -- "${host[@]}"
    [[ $stderr == *"error[runtime-too-old]"*"replayed: gives 8.9."* && $stderr != *"; but "* ]]
    mkdir "$site/torch-1.13.0.dist-info"
    printf 'Metadata-Version: 2.1\nName: torch\nVersion: 1.13.0\nRequires-Dist: nvidia-cudnn-cu12==8.5.0.96\n' \
        >"$site/torch-1.13.0.dist-info/METADATA"
    run --separate-stderr "$CMD" run -- "${host[@]}"
    local folder
    folder=$PWD/$(grep -o -m 1 'cudnn-8[.0-9]*' <<<"$stderr" | head -n 1)
    [[ $stderr == *" --target "* && $stderr == *"replayed: gives 8.9."* && $stderr != *"; but "* ]]
    # Where that folder is taken, it is for the user to decide.
    mkdir "$folder"
    run --separate-stderr "$CMD" run -- "${host[@]}"
    [[ $(tr -s ' \n' ' ' <<<"$stderr") == *"replayed: gives 8.9."*"; but torch 1.13.0 requires ==8.5.0.96"* ]]
}

@test "no link gives a cuDNN the name of another release" {
    make_standin 9.8.0 lib
    printf 'import ctypes\nctypes.CDLL("libcudnn.so.9")\nctypes.CDLL("libcudnn.so.9.99.0")\n' >main.py
    run -1 --separate-stderr env LD_LIBRARY_PATH="$PWD/lib" "$CMD" run --log "$PWD/log" -- "$PY" main.py
    [[ $stderr == *"error[library-not-found]: "*"asked for"*"libcudnn.so.9.99.0"* ]]
    is "$("$CMD" report --json log | jq '[.. | objects | select(.edit? == "link")] | length')" 0
    # Who only looks, and ends well, is healthy.
    printf 'import ctypes\nctypes.CDLL("libcudnn.so.9").cudnnGetVersion()\ntry: ctypes.CDLL("libcudnn.so.9.99.0")\nexcept OSError: pass\n' >main.py
    run -0 --separate-stderr env LD_LIBRARY_PATH="$PWD/lib" "$CMD" run --log "$PWD/log" -- "$PY" main.py
    [[ $stderr != *unexplained* && $stderr != *9.99* ]]
    # A library of CUDA has in its SONAME what the linker asks for, which a major may not be (mxnet#20279).
    mkdir cuda
    "${CC:-cc}" -shared -xc /dev/null -Wl,-soname,libnvrtc.so.11.1 -o cuda/libnvrtc.so.11.1.74
    local asked
    for asked in 11.2 11.1; do
        printf 'import ctypes\nctypes.CDLL("libcudnn.so.9")\nctypes.CDLL("libnvrtc.so.%s")\n' "$asked" >main.py
        run -1 --separate-stderr env LD_LIBRARY_PATH="$PWD/lib:$PWD/cuda" "$CMD" run --log "$PWD/nvrtc-$asked" -- "$PY" main.py
        is "$asked $("$CMD" report --json "nvrtc-$asked" | jq '[.. | objects | select(.edit? == "link")] | length > 0')" \
            "$asked $([ "$asked" = 11.1 ] && echo true || echo false)"
    done
}

# ---- doing it ----

# A project of uv's, and a uv that does what it has to.
project() {
    [ -d venv ] || environment 8.5.0.96
    mkdir -p project bin
    mv venv project/.venv && ln -s project/.venv venv
    site=${site/venv/project/.venv} host=("$site/engine/host" version)
    echo uv >"$site/nvidia_cudnn_cu12-8.5.0.96.dist-info/INSTALLER"
    printf '[project]\nname = "p"\ndependencies = []\n' >project/pyproject.toml
    echo 'version = 1' >project/uv.lock
    cat >bin/uv <<END
#!/bin/sh
[ "\$1" = add ] || exit 9
shift \$((\$# - 1))
echo "# \$1" | tee -a '$PWD/project/pyproject.toml' >>'$PWD/project/uv.lock'
'$PY' -m pip --python '$PWD/project/.venv/bin/python' install -q "\$1"
END
    chmod +x bin/uv
    PATH=$PWD/bin:$PATH
}

@test "a project of uv's: its own command, and the project's files are as they were" {
    project
    before=$(sum; sha256sum project/*.*)
    cd project
    run -0 --separate-stderr fix --try -- "${host[@]}"
    is "${stderr_lines[-1]}" \
        "whichcudnn: tried: status 0, cuDNN 8.9.2, no finding. To keep it: uv add 'nvidia-cudnn-cu12>=8.8,<9'"
    cd "$BATS_TEST_TMPDIR"
    is "$(sum; sha256sum project/*.*)" "$before"
    before=$(content; sha256sum project/*.*)
    cp bin/uv uv && echo 'exit 1' >>bin/uv
    run -2 --separate-stderr fix --apply --yes -- "${host[@]}"
    [[ $stderr == *"put back what was there"* ]]
    is "$(content; sha256sum project/*.*)" "$before"
    mv uv bin
    run -0 --separate-stderr fix --apply --yes -- "${host[@]}"
    [[ $stderr == *"+ env -C $PWD/project uv add 'nvidia-cudnn-cu12>=8.8,<9'"* ]]
    grep -qF '# nvidia-cudnn-cu12>=8.8,<9' project/pyproject.toml
    is "$("${host[@]}")" "version 8902"
}

# on_terminal ANSWER COMMAND...: its output, and its status in a line of its own
on_terminal() {
    local answer=$1
    shift
    printf '%s\n' "$answer" | script -qec "$(printf '%q ' "$@"); echo status \$?" /dev/null | tr -d '\r'
}

@test "it asks on a terminal, and does nothing without one or without a y" {
    command -v script || skip "no script(1)"
    environment 8.5.0.96
    before=$(sum)
    "$CMD" run --quiet --log logs/ -- "${host[@]}"
    run -2 --separate-stderr fix --apply logs </dev/null
    [[ $stderr == *"cannot ask: standard input is not a terminal; --yes does it without asking"* ]]
    for no in n '' yesterday; do
        run on_terminal "$no" "$CMD" fix --apply logs
        echo "$output"
        [[ $output == *"  $install"*"Do that? [y/N] "*"nothing was done"*"status 2"* ]]
        is "$(sum)" "$before"
    done
    run on_terminal y "$CMD" fix --apply logs
    [[ $output == *"whichcudnn: done"*"status 0"* ]]
    is "$("${host[@]}")" "version 8902"
}

# Two wheels own the same files: a warning, and the host runs. One has to go, which takes the files of both.
two_wheels() {
    environment 8.9.2.26
    cp -r "$site"/nvidia_cudnn_cu12-8.9.2.26.dist-info "$site"/nvidia_cudnn_cu11-8.9.2.26.dist-info
    sed -i s/cu12/cu11/ "$site"/nvidia_cudnn_cu11-8.9.2.26.dist-info/{METADATA,RECORD}
    "$CMD" run --quiet --log logs/ -- "${host[@]}"
    before=$(content)
}

unharmed() {
    is "$(content)" "$before"
    is "$("${host[@]}")" "version 8902"
    is "$(find venv logs -name '*undo*')" ""
    empty
}

@test "two wheels own the same files and the index is away: nothing is removed" {
    two_wheels
    run -2 --separate-stderr env -u PIP_NO_INDEX -u PIP_FIND_LINKS PIP_INDEX_URL=http://127.0.0.1:9/ PIP_RETRIES=0 \
        "$CMD" fix --apply --yes logs
    [[ $stderr == *"failed with status 1: pip --python "*" download --no-deps "*"put back what was there" ]]
    unharmed
    # What is pasted does the same.
    run -1 --separate-stderr fix logs
    pasted=$(grep -m 1 -o 'pip .*' <<<"$output")
    run env -u PIP_NO_INDEX -u PIP_FIND_LINKS PIP_INDEX_URL=http://127.0.0.1:9/ PIP_RETRIES=0 bash -c "$pasted"
    [ "$status" -ne 0 ]
    unharmed
}

@test "two wheels own the same files, the index does not answer, and a signal comes: all is as it was" {
    two_wheels
    cat >index.py <<'END'
import os, socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(5)
print(s.getsockname()[1], file=open("port.new", "w"), flush=True)
os.rename("port.new", "port")
kept = s.accept()
open("asked", "w").close()
s.accept()
END
    "$PY" index.py 3>&- &
    index=$!
    for ((i = 0; i < 300; i++)); do [ ! -e port ] || break; sleep 0.1; done
    env --default-signal=INT -u PIP_NO_INDEX -u PIP_FIND_LINKS PIP_INDEX_URL="http://127.0.0.1:$(<port)/" \
        PIP_RETRIES=0 "$CMD" fix --apply --yes logs >out 2>&1 3>&- &
    fixing=$!
    for ((i = 0; i < 600; i++)); do [ ! -e asked ] || break; sleep 0.1; done
    kill -INT $fixing
    wait $fixing || status=$?
    kill $index
    cat out
    is "$status" 130
    [ -e asked ]
    unharmed
}

# A repair that SIGKILL has cut off after the removal: $journal.
cut_off() {
    two_wheels
    mkdir bin
    cat >bin/pip <<END
#!/bin/sh
case " \$* " in *" install --no-index "*) kill -KILL \$PPID; exec sleep 60 ;; esac
exec '$PY' -m pip "\$@"
END
    chmod +x bin/pip
    PATH=$PWD/bin:$PATH run -137 "$CMD" fix --apply --yes logs
    [ ! -e "$site/nvidia/cudnn/lib/libcudnn.so.8" ]
    journal=$site/.whichcudnn-undo/journal.json
    is "$(readlink logs/whichcudnn-undo-*.json)" "$journal"
}

@test "--undo: what SIGKILL left half done is as it was; --apply does not go on top of it" {
    cut_off
    cp -a venv broken
    is "$(jq -c '[.version, (.paths | keys), (.steps | map(.changes | length))]' "$journal")" \
        "[1,[\"$PWD/venv/bin\",\"$site\"],[0,2,2]]"
    run -2 --separate-stderr fix --apply --yes logs
    [[ ${stderr_lines[-1]} == "whichcudnn: nothing was done: an earlier repair was cut off: whichcudnn fix --undo logs/whichcudnn-undo-"* ]]
    run -2 --separate-stderr fix --undo --apply
    is "$stderr" "whichcudnn: --undo takes no other option, and one journal or log at most"
    run -0 --separate-stderr fix --undo logs/whichcudnn-undo-*.json
    is "$stderr" "whichcudnn: as it was: $site"
    unharmed
    run -2 --separate-stderr fix --undo logs
    is "$stderr" "whichcudnn: nothing was undone: no journal of a repair that was cut off"
    run -2 --separate-stderr fix --undo "$journal"
    is "$stderr" "whichcudnn: nothing was undone: $journal: No such file or directory"
    # By the journal, the environment, the log, its directory, and by no name. What was found is asked about.
    again() { rm -rf venv && cp -a broken venv && ln -sfn "$journal" 'logs/whichcudnn-undo-1.json'; }
    mv logs 'logs [1]'
    ln -s 'logs [1]' logs
    for where in "$journal" "$site" logs/whichcudnn-*.jsonl 'logs [1]' ''; do
        again
        case $where in
            "$journal" | "$site") ;;
            *)
                before_undo=$(content)
                WHICHCUDNN_LOG=$PWD/logs/ run -2 --separate-stderr fix --undo ${where:+"$where"} </dev/null
                is "${stderr_lines[0]}" "whichcudnn: found $journal, which puts back:"
                is "${stderr_lines[*]:1:2}" "  $site   $PWD/venv/bin"
                [[ ${stderr_lines[3]} == *"cannot ask: "* ]]
                is "$(content)" "$before_undo"
                set -- --yes
                ;;
        esac
        WHICHCUDNN_LOG=$PWD/logs/ run -0 --separate-stderr fix --undo "$@" ${where:+"$where"} </dev/null
        rm -f logs/whichcudnn-undo-1.json # the journal names another one
        unharmed
    done
    again
    rm -r "$site/.whichcudnn-undo/1"
    broken=$(content)
    run -2 --separate-stderr fix --undo "$site" # and nothing is changed before that is seen
    is "$stderr" "whichcudnn: nothing was undone: $site/.whichcudnn-undo/1: No such file or directory"
    is "$(content)" "$broken"
}

@test "--undo: what is killed as soon as its journal is there is found from its logs" {
    command -v strace >/dev/null || skip "no strace here"
    two_wheels
    strace -o /dev/null -e inject=syncfs:signal=KILL:when=2 "$CMD" fix --apply --yes logs >out 2>&1 || status=$?
    is "$status" 137
    [ -e "$site/.whichcudnn-undo/journal.json" ]
    run -0 --separate-stderr fix --undo --yes logs
    is "${stderr_lines[-1]}" "whichcudnn: as it was: $site"
    unharmed
}

@test "--undo: a journal is data, which a repository may hold: it names its own environment or nothing is done" {
    cut_off
    mkdir precious elsewhere
    echo key >precious/key
    left() { find venv precious -name .whichcudnn-undo -prune -o -printf '%p %m %s %l\n' | sort; }
    broken=$(left)
    # forged TEXT FILTER: the journal, as that filter of jq makes it, is refused with TEXT.
    cp "$journal" real.json
    forged() {
        jq --arg here "$PWD" --arg site "$site" "$2" real.json >"$journal"
        run -2 --separate-stderr fix --undo "$journal"
        is "$stderr" "whichcudnn: nothing was undone: $journal: no journal of a repair$1"
        is "$(left)" "$broken"
    }
    other=": a repair of $site does not change"
    mkdir "$site/.whichcudnn-undo/2"
    forged "$other $PWD/precious" '.paths[$here + "/precious"] = true'
    forged "$other $site/../precious" '.paths[$site + "/../precious"] = true'
    forged "$other $PWD/pyproject.toml" '.paths[$here + "/pyproject.toml"] = true'
    forged "" '.paths = {($here + "/precious"): true}'
    forged "" '.paths = {($here + "/venv/bin"): true, ($site): true}'
    forged "" '.paths = {}'
    forged "" '.paths = [$site]'
    forged "" '[1]'
    # Damaged, of another kind, or elsewhere.
    for bad in '' '{"version":1,"paths":{' '{"paths":{"/":true}}'; do
        printf '%s' "$bad" >"$journal"
        run -2 --separate-stderr fix --undo "$journal"
        is "$stderr" "whichcudnn: nothing was undone: $journal: no journal of a repair"
    done
    cp real.json "$journal"
    cp real.json elsewhere/other.json
    run -2 --separate-stderr fix --undo elsewhere/other.json
    is "$stderr" "whichcudnn: nothing was undone: $PWD/elsewhere/other.json: no journal of a repair"
    rm elsewhere/other.json && mkfifo elsewhere/whichcudnn-undo-1.json
    run -2 --separate-stderr timeout 60 env -C elsewhere "$CMD" fix --undo
    is "$stderr" "whichcudnn: nothing was undone: $PWD/elsewhere/whichcudnn-undo-1.json: no journal of a repair"
    # Where bin is of no environment it is others'.
    mv venv/pyvenv.cfg .
    run -2 --separate-stderr fix --undo "$journal"
    is "$stderr" "whichcudnn: nothing was undone: $journal: no journal of a repair$other $PWD/venv/bin"
    mv pyvenv.cfg venv
    chmod 777 venv/bin
    run -2 --separate-stderr fix --undo "$journal"
    is "$stderr" "whichcudnn: not run: all users may write to $PWD/venv/bin"
    chmod 755 venv/bin
    run -0 --separate-stderr fix --undo "$journal"
    unharmed
}

@test "--undo: another user's journal is refused; --as-owner puts it back with that user's rights" {
    need_root
    cut_off
    chown -R 65534:65534 venv
    broken=$(content)
    for where in "$journal" "$site" logs; do
        run -2 --separate-stderr fix --undo --yes "$where"
        is "$stderr" "whichcudnn: not run: $PWD/venv belongs to user nobody (uid 65534), not to you or root; --as-owner runs it with that user's rights"
        is "$(content)" "$broken"
    done
    run -2 --separate-stderr setpriv --reuid=65533 --regid=65533 --clear-groups "$CMD" fix --undo --as-owner "$journal"
    [[ $stderr == *"whichcudnn: "*"$(basename "$journal")"*"Permission denied" || $stderr == *"not run: "* ]]
    local directory=$PWD
    while [ "$directory" != /tmp ] && [ "$directory" != / ]; do
        chmod a+x "$directory"
        directory=${directory%/*} && directory=${directory:-/}
    done
    # A link of another user's, even to what is one's own.
    mkdir planted && chmod 755 planted && ln -s "$journal" planted/whichcudnn-undo-1.json
    chown -R 0:0 venv
    chown -h 65534 planted/whichcudnn-undo-1.json
    run -2 --separate-stderr fix --undo --yes planted
    [[ $stderr == "whichcudnn: not run: $PWD/planted/whichcudnn-undo-1.json belongs to user nobody"* ]]
    chown -R 65534:65534 venv
    run -0 --separate-stderr fix --undo --as-owner "$journal"
    is "$stderr" "whichcudnn: as it was: $site"
    is "$("${host[@]}")" "version 8902"
    [ ! -e "$site/.whichcudnn-undo" ]
}

@test "--apply is not for what could not be put back, nor where nothing can be written or there is no room" {
    environment 8.5.0.96
    "$CMD" run --quiet --log logs/ -- "${host[@]}"
    before=$(content)
    if unshare -Urm true; then
        # shellcheck disable=SC2016
        run -2 --separate-stderr unshare -Urm sh -c 'mount --rbind venv/bin venv/bin &&
            mount -o remount,bind,ro venv/bin && exec "$@"' sh "$CMD" fix --apply --yes logs
        is "${stderr_lines[-1]}" "whichcudnn: nothing was done: $PWD/venv/bin: Read-only file system"
        # shellcheck disable=SC2016
        run -2 --separate-stderr unshare -Urm sh -c 'mount -t tmpfs -o size=8m none tmp && exec "$@"' \
            sh "$CMD" fix --apply --yes logs
        is "${stderr_lines[-1]}" "whichcudnn: nothing was done: $PWD/tmp: less than 16 MiB are free"
    fi
    exec 4<"$site"
    flock 4
    run -2 --separate-stderr fix --apply --yes logs
    is "${stderr_lines[-1]}" "whichcudnn: nothing was done: $site/.whichcudnn-undo: another repair is still at work there"
    exec 4<&-
    is "$(content)" "$before"
    project
    mv project/uv.lock project/poetry.lock
    echo poetry >"$site/nvidia_cudnn_cu12-8.5.0.96.dist-info/INSTALLER"
    "$CMD" run --quiet --log other/ -- "${host[@]}"
    run -2 --separate-stderr fix --apply --yes other
    [[ $stderr == *"nothing was done: what \`poetry add\` changes could not be put back"*"for you to do: env -C $PWD/project poetry add "* ]]
}

@test "a command that fails, one that is not there, and an environment that is another's" {
    environment 8.5.0.96
    before=$(content)
    "$CMD" run --quiet --log logs/ -- "${host[@]}"
    PIP_FIND_LINKS=$PWD run -2 --separate-stderr fix --apply --yes logs
    [[ ${stderr_lines[-2]} == "whichcudnn: failed with status 1: $install" ]]
    is "${stderr_lines[-1]}" "whichcudnn: put back what was there"
    PIP_FIND_LINKS=$PWD run -2 --separate-stderr fix --try -- "${host[@]}"
    [[ ${stderr_lines[-1]} == "whichcudnn: not tried: $install: status 1: ERROR: "* ]]
    run -2 --separate-stderr env PATH=/nowhere "$CMD" fix --apply --yes logs
    [[ ${stderr_lines[-2]} == "whichcudnn: failed with status 127: $install (is that program there?)" ]]
    run -2 --separate-stderr env PATH=/nowhere "$CMD" fix --try -- "${host[@]}"
    [[ ${stderr_lines[-1]} == "whichcudnn: not tried: $install: status 127: "*"not found"* ]]
    is "$(content)" "$before"
}

@test "wrong options, no log, nothing to repair" {
    run -2 --separate-stderr fix --try
    is "$stderr" "whichcudnn: --try requires a command: whichcudnn fix --try -- COMMAND"
    run -2 --separate-stderr fix --yes
    is "$stderr" "whichcudnn: --yes goes with --apply or --undo"
    run -2 --separate-stderr fix --
    is "$stderr" "whichcudnn: a command is expected after --"
    run -2 --separate-stderr fix no-such-log
    is "$stderr" "whichcudnn: no-such-log: No such file or directory"
    if unshare -rm true; then # this computer's /tmp may hold some
        # shellcheck disable=SC2016
        run -3 --separate-stderr unshare -rm sh -c 'mount -t tmpfs none tmp && cp "$1" tmp/command &&
            mount --bind tmp /tmp && exec /tmp/command fix' sh "$CMD" # which may lie in /tmp itself
        [[ $stderr == "whichcudnn: not observed: no log of yours in "* ]]
    fi
    run -3 --separate-stderr fix --try -- true
    [[ $stderr == "whichcudnn: not observed: "* ]]
    run -127 --separate-stderr fix --try -- no-such-program
    run -2 --separate-stderr fix --try /no/such/log -- true
    is "$stderr" "whichcudnn: /no/such/log: No such file or directory"
    empty
}

# A command of what was not played would change whatever environment pip finds.
@test "a finding whose repairs were not played: nothing is made; status 5, by --apply and --try too" {
    mkdir bin
    printf '#!/bin/sh\ntouch %s\n' "$PWD/called" >bin/pip
    chmod +x bin/pip
    PATH=$PWD/bin:$PATH
    stack 9.1.0 >part
    grep -v '"kind":"package"' part | make_log whichcudnn-n-1-1.jsonl
    run -1 --separate-stderr fix whichcudnn-n-1-1.jsonl
    [[ $output == "error[runtime-too-old]: "*"not replayed: "* ]]
    run -5 --separate-stderr fix --apply --yes whichcudnn-n-1-1.jsonl
    is "$stderr" "whichcudnn: no repair is known that could be made"
    run -2 --separate-stderr fix --try --apply --yes whichcudnn-n-1-1.jsonl -- true
    [[ $stderr == *"whichcudnn: not tried: it is not known where that package would go"* ]]
    [ ! -e called ]
}

@test "ldconfig is tried over a cache that goes away, and applied to the one that stays" {
    unshare -Urm true || skip "no namespaces of users here"
    local within=(unshare -Urm sh -c 'mount --bind etc /etc && { ! [ -d /var/cache/ldconfig ] || mount --bind cache /var/cache/ldconfig; } &&
        exec "$@"' sh)
    mkdir etc cache
    cp /etc/passwd /etc/group etc
    echo "$PWD/lib" >etc/ld.so.conf
    : >etc/ld.so.cache
    make_standin 8.9.2 lib
    build_host lazy "$PWD/lib" alone --no-rpath
    run -0 --separate-stderr "${within[@]}" "$CMD" fix --try -- ./alone version
    is "$output" "version 8902"
    [[ ${stderr_lines[-1]} == *"tried: status 0, "*", no finding. To keep it: /sbin/ldconfig" ]]
    is "$(wc -c <etc/ld.so.cache)" 0
    run -0 "${within[@]}" "$CMD" fix --apply --yes -- ./alone version
    run -0 "${within[@]}" ./alone version
    is "$output" "version 8902"
    empty
}

@test "two commands in one are both run where they are applied" {
    environment 8.5.0.96
    rm "$site"/nvidia_cudnn_cu12-8.5.0.96.dist-info/RECORD # pip cannot uninstall it
    "$CMD" run --quiet --log logs -- "${host[@]}" || true
    "$CMD" report --json logs | jq -r '[.findings[].fix[] | .command | select(. != null)] | first' >commands || true
    [[ $(<commands) == "rm -r "*" && "* ]]
    run -0 fix --apply --yes -- "${host[@]}"
    run -0 "${host[@]}"
    is "$output" "version 8902"
}
