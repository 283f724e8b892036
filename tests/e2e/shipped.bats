#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What make dist makes, as far as this machine and a short time allow: `make release-check` has the rest.

bats_require_minimum_version 1.5.0
load helpers
load ../release/release

setup_file() {
    make_dist x86_64 aarch64
    make_demo "$BATS_FILE_TMPDIR/demo" gcc "$WC_BUILD/portable-x86_64/floor"
    python3 -m venv "$BATS_FILE_TMPDIR/venv"
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    venv=$BATS_FILE_TMPDIR/venv demo=$BATS_FILE_TMPDIR/demo
    wheel=$(shipped '*_x86_64.whl')
}

installed() { "$venv/bin/pip" install -q --no-index --force-reinstall --disable-pip-version-check "$wheel"; }

@test "the floor: what asks for a newer glibc, or for another library, is noticed and does not link" {
    local floor=$WC_BUILD/portable-x86_64/floor
    unzip -q "$wheel"
    "$WC_ROOT/packaging/check-floor" whichcudnn-*.data/scripts/whichcudnn whichcudnn/libwhichcudnn.so
    printf '#include <sys/random.h>\nint main(void) { char c; return getrandom(&c, 1, 0) != 1; }\n' >new.c
    gcc -o new new.c
    run -1 "$WC_ROOT/packaging/check-floor" new
    [[ $output == *"new: asks for GLIBC_2.25: getrandom@GLIBC_2.25"* ]]
    gcc -Wl,--no-as-needed -o other -x c - -ljansson <<<'int main(void) { return 0; }'
    run -1 "$WC_ROOT/packaging/check-floor" other
    [[ $output == *"needs libjansson.so.4"* ]]
    run -1 gcc -L"$floor" -o new new.c
    [[ $output == *"undefined reference to"*getrandom* ]]
    printf 'extern char **environ;\nint main(void) { return !environ[0]; }\n' >old.c
    gcc -L"$floor" -o old old.c
    "$WC_ROOT/packaging/check-floor" old
    # The program's copy of `environ` is libc's __environ, too: older ones set it later than they copy it.
    readelf -W --dyn-syms old | grep -E 'WEAK.* environ@'
    readelf -W --dyn-syms old | grep -E 'GLOBAL.* __environ@'
    ./old
}

@test "each line that installs names one file, also where those of both processors lie" {
    local words word
    mapfile -t words < <(grep -ohE 'whichcudnn[-_]\*(\$\([^)]*\)|[^` ,])*' "$WC_ROOT"/{README.md,docs/installing.md})
    [ ${#words[@]} -ge 4 ]
    cd "$DIST"
    for word in "${words[@]}"; do
        echo "$word"
        is "$(eval "printf '%s\n' $word" | grep -c "$(uname -m)\|_$(dpkg --print-architecture)")" 1
        is "$(eval "printf '%s\n' $word" | wc -l)" 1
    done
}

@test "the wheel: its names, licences, SBOM; pip installs and removes it without a trace" {
    [[ $wheel == *-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl ]]
    listing "$venv" >before
    installed
    is "$("$venv/bin/whichcudnn" --version)" "$("$WC_BUILD/portable-x86_64/whichcudnn" --version)"
    local info
    info=$(echo "$venv"/lib/python3*/site-packages/whichcudnn-*.dist-info)
    is "$(cd "$info/licenses" && find . -type f | sort | tr '\n' ' ')" \
        './LICENSE ./licenses/jansson.txt ./licenses/uthash.txt ./licenses/zlib.txt '
    is "$(jq -r '.components[].name' "$info"/sboms/*.cdx.json | tr '\n' ' ')" 'jansson zlib uthash '
    "$venv/bin/python" -m whichcudnn --version
    "$venv/bin/pip" uninstall -q -y whichcudnn
    listing "$venv" | diff before -
}

@test "the wheel: uvx runs it without installing; a program that is named by its path is the one outside" {
    export UV_OFFLINE=1 UV_CACHE_DIR=$PWD/cache
    local uvx=("$WC_BUILD/venv/bin/uvx" -q --from "$wheel" whichcudnn run --log "$PWD/")
    run -0 --separate-stderr "${uvx[@]}" -- "$demo/host"
    says_mixed "$stderr"
    run -0 --separate-stderr "${uvx[@]}" -q -- "$(command -v "$venv/bin/python")" -c 'import sys; print(sys.prefix)'
    is "$output" "$venv"
    # What the docs say of the name alone.
    PATH=$venv/bin:$PATH run -0 --separate-stderr "${uvx[@]}" -q -- python -c 'import sys; print(sys.prefix)'
    [[ $output == "$UV_CACHE_DIR"/* ]]
}

@test "github/issue-form.yaml: its lines, as they are typed, give a report for a form, with no name in it" {
    local form=$WC_ROOT/examples/github/issue-form.yaml home=$PWD/home/quentin
    [ "$(wc -l <"$form")" -le 60 ]
    "$PY" -c 'import re, sys, yaml
print(re.search("```sh\n(.*?)```", yaml.safe_load(open(sys.argv[1]))[0]["attributes"]["description"], re.S)[1])' "$form" |
        sed "s:WHEEL:$wheel:" >lines
    mkdir -p "$home"
    cp -r "$demo" "$home/app"
    printf 'import subprocess\nsubprocess.run(["%s/app/host"])\n' "$home" >"$home/your_script.py"
    run -1 --separate-stderr env -C "$home" -u WHICHCUDNN_LOG UV_OFFLINE=1 UV_CACHE_DIR="$PWD/cache" HOME="$home" PATH="$venv/bin:$WC_BUILD/venv/bin:$PATH" \
        CUDA_HOME=/cuda CUDA_VISIBLE_DEVICES=0 CUDNN_LOGLEVEL_DBG=1 VIRTUAL_ENV="$venv" MINE=secret bash "$BATS_TEST_TMPDIR/lines"
    is "$(head -n 1 <<<"${output#*'```'}")$(tail -n 1 <<<"$output")" '```'
    says_mixed "$output"
    # What cudnn-frontend's collect_env asks of system and environment, as far as a machine without a GPU has it.
    local fact
    for fact in '"executable": "/' '"operating_system": "' '"glibc": "' '"kernel": "' '"architecture": "' '"container": ' '"driver": ' \
        '"gpus": ' '"CUDA_HOME=/cuda"' '"CUDA_VISIBLE_DEVICES=0"' '"CUDNN_LOGLEVEL_DBG=1"' '"VIRTUAL_ENV=' '"LD_PRELOAD=' \
        '"version": "9.1.0"' '"version": "9.5.0"' '"installation_kind": ' '"packages": '; do
        grep -qF "$fact" "$home/cudnn-report.md" || { echo "no $fact" && return 1; }
    done
    run ! grep -E "$(uname -n)|quentin|secret" "$home/cudnn-report.md"
    run ! grep -E "$(uname -n)|quentin|secret" <<<"$output"
}

@test "the wheel: run finds its library from wherever it lies, and says what is wrong" {
    installed
    run -0 --separate-stderr "$venv/bin/whichcudnn" run --log "$PWD/" -- "$demo/host"
    says_mixed "$stderr"
    ln -s "$venv/bin/whichcudnn" link
    run -0 --separate-stderr ./link run --log "$PWD/" -- "$demo/host"
    says_mixed "$stderr"
    "$venv/bin/pip" install -q --no-index --disable-pip-version-check --target flat "$wheel"
    run -0 --separate-stderr flat/bin/whichcudnn run --log "$PWD/" -- "$demo/host"
    says_mixed "$stderr"
    is "$(PYTHONPATH=flat "$venv/bin/python" -c 'import whichcudnn as w; print(w.library(), w.command())')" \
        "$PWD/flat/whichcudnn/libwhichcudnn.so $PWD/flat/bin/whichcudnn"
}

# ---- action.yml, played as the code host's runner plays it (tests/release/steps.py) ----

# steps FILE [NAME=VALUE]...: the release is that of ./server, the project is ./project.
steps() {
    rm -rf summary artifacts && mkdir artifacts && : >summary
    (cd project && SERVER=file://${BATS_TEST_TMPDIR} SUMMARY=$BATS_TEST_TMPDIR/summary \
        ARTIFACTS=$BATS_TEST_TMPDIR/artifacts PATH=$PWD/bin:$PATH "$PY" "$WC_ROOT/tests/release/steps.py" "$@")
}

# What a project installed: a host, and a cuDNN of two releases (bad) or of one (good).
make_project() { # bad|good
    rm -rf project && mkdir -p project/.venv
    make_demo project/.venv/app gcc "$WC_BUILD/portable-x86_64/floor"
    [ "$1" = bad ] || make_standin 9.1.0 project/.venv/app/cudnn --create-status 0
    : >project/requirements.txt
    # Stands for the one of a project.
    printf 'import subprocess\nsubprocess.run([".venv/app/host"], check=True)\nprint("1 passed")\n' >project/pytest.py
}

# A release as the code host keeps it.
make_release() {
    local version=${wheel##*/whichcudnn-}
    release=OWNER/whichcudnn/releases/download/v${version%%-*}
    mkdir -p "$release"
    cp "$wheel" "$release"
    (cd "$release" && sha256sum ./*.whl | sed 's:\./::' >SHA256SUMS)
}

@test "github/workflow.yaml: the release's wheel is installed; an error fails the job, with annotation, summary, logs" {
    local workflow=$WC_ROOT/examples/github/workflow.yaml
    make_release
    make_project bad
    # A virtual environment that is there already, in place of seconds.
    mkdir bin
    printf '#!/bin/sh\n[ "$2" != venv ] || exec cp -a "%s/." "$3"\nexec "%s" "$@"\n' "$venv" "$(command -v python3)" >bin/python3
    chmod +x bin/python3
    run -1 --separate-stderr steps "$workflow"
    is "$(grep -c '^::error file=requirements.txt,title=cuDNN::error' <<<"$output")" 2
    [[ $output == *'1 passed'* ]]
    is "$(grep -c '^ *error\[.*parts-differ\]' summary)" 2
    run ! grep -w "$(uname -n)" summary
    validate_log artifacts/whichcudnn-logs/whichcudnn-*.jsonl
    make_project good
    run -0 --separate-stderr steps "$WC_ROOT/action.yml" scan=.venv run="python3 -m pytest"
    is "$(grep -cE '^::(error|warning) ' <<<"$output")" 0
    [[ $output == *'##[output]verdict=ok'* ]]
    # Nothing of it is left in the project.
    is "$(cd project && printf '%s ' .venv* *)" '.venv pytest.py requirements.txt '
}

@test "action.yml: what fails a step, which file is annotated, the command's own status" {
    local action=$WC_ROOT/action.yml
    make_project bad
    cp "$wheel" .
    local given=(wheel="$wheel" sha256="$(sha256sum <"$wheel" | cut -d ' ' -f 1)")
    run -0 --separate-stderr steps "$action" "${given[@]}" scan=.venv run=.venv/app/host fail-on=none annotate=a:b,c
    is "$(grep -c '^::error file=a%3Ab%2Cc,title=cuDNN::error' <<<"$output")" 2
    run -1 --separate-stderr steps "$action" "${given[@]}" scan=.venv artifact=
    is "$(ls artifacts)" ""
    # What has nothing to do with cuDNN has no annotation, and its status is the step's.
    run -1 --separate-stderr steps "$action" "${given[@]}" run='echo "::error::mine"; exit 7'
    is "$(grep ^:: <<<"$output")" '::error::mine'
    run -0 --separate-stderr steps "$action" "${given[@]}" run=true fail-on=none
    run -1 --separate-stderr steps "$action" "${given[@]}"
    [[ $output == *'::error::nothing to do'* ]]
    # What a file is called is no command for the runner, which takes some from within a line, too; nor does it end
    # the summary's block.
    mv project/.venv 'project/```##[error]planted'
    run -1 --separate-stderr steps "$action" "${given[@]}" scan=.
    [[ $output == *planted* ]]
    is "$(awk '/^::stop-commands::/ { end = substr($0, 18) } !end; $0 == end "::" { end = "" }' <<<"$output" | grep -c planted)" 0
    run ! grep '^```' summary
}

@test "action.yml: a wheel with another checksum, or none, is not installed" {
    local action=$WC_ROOT/action.yml
    make_release
    make_project good
    echo >>"$release/${wheel##*/}"
    run -1 --separate-stderr steps "$action" scan=.venv
    [[ $stderr == *'::error::'*' has the checksum '* ]]
    [[ $output != *'scan of'* ]]
    run -1 --separate-stderr steps "$action" scan=.venv wheel="$wheel" sha256="$(printf '%064d' 0)"
    [[ $stderr == *' has the checksum '* ]]
    rm "$release/SHA256SUMS"
    run -1 --separate-stderr steps "$action" scan=.venv
    [[ $stderr == *'SHA256SUMS could not be read'* ]]
    : >"$release/SHA256SUMS"
    run -1 --separate-stderr steps "$action" scan=.venv
    [[ $stderr == *'does not name'* ]]
}

@test "sizes: the library at most 352 KiB, a wheel at most 1 MiB" { have_sizes; }

# The Pythons that are here; the oldest that is served is 3.9.
pythons() {
    local python
    for python in /usr/bin/python3.[0-9]* "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
        [[ $python != *-config ]] && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null &&
            echo "$python"
    done
}

@test "in Python: library, env, inspect of this very process, in each Python that is here" {
    local python seen=0
    installed
    "$venv/bin/python" -W error "$WC_ROOT/tests/release/check_api.py" "$demo" "$venv/bin/whichcudnn"
    "$venv/bin/pip" install -q --no-index --disable-pip-version-check --target flat "$wheel"
    while read -r python; do
        "$python" -I -W error -c 'import runpy, sys
sys.path.insert(0, "flat")
sys.argv[:] = sys.argv[1:]
runpy.run_path(sys.argv[0])' "$WC_ROOT/tests/release/check_api.py" "$demo" "$PWD/flat/bin/whichcudnn"
        seen=$((seen + 1))
    done < <(pythons)
    [ "$seen" -ge 1 ]
}

@test "aarch64 under qemu: the library in a host, and the command that says what is wrong" {
    local root floor=$WC_BUILD/portable-aarch64/floor
    root=$("$WC_ROOT/tests/setup/userland-aarch64")
    make_demo demo aarch64-linux-gnu-gcc "$floor"
    unzip -q "$(shipped '*_aarch64.whl')"
    "$WC_ROOT/packaging/check-floor" whichcudnn-*.data/scripts/whichcudnn whichcudnn/libwhichcudnn.so
    WHICHCUDNN_LOG=$PWD/ WHICHCUDNN_STDERR=off qemu-aarch64 -L "$root" \
        -E LD_PRELOAD="$PWD/whichcudnn/libwhichcudnn.so" demo/host
    run -1 qemu-aarch64 -L "$root" whichcudnn-*.data/scripts/whichcudnn report .
    says_mixed "$output"
}
