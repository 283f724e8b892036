#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What people reach the command by, besides the installers of tests/release/userlands.bats: pre-commit and conda, from
# fresh folders and without a network. `make release-check` runs this.

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load release

setup_file() { "$WC_ROOT/tests/setup/venv" "$WC_BUILD/venv-release" requirements.release.txt >&2; }

setup() {
    cd "$BATS_TEST_TMPDIR"
    tools=$WC_BUILD/venv-release/bin
    export HOME=$PWD/home PIP_NO_INDEX=1 VIRTUALENV_NO_PERIODIC_UPDATE=1
    mkdir home
    git config --global user.email a@b.c
    git config --global user.name a
    git config --global init.defaultBranch main
}

# What an environment of a project holds: a host, and a cuDNN of one release (good) or two (bad); or nothing.
make_project() { # bad|good|empty
    rm -rf .venv && mkdir -p .venv/lib
    [ "$1" != empty ] || return 0
    make_standin 9.1.0 .venv/lib
    [ "$1" = good ] || make_standin 9.5.0 .venv/lib --without facade
    build_host lazy .venv/lib .venv/host
}

# This repository at a release, as far as pre-commit reads it.
make_hook_repository() {
    mkdir -p hook/packaging
    (cd "$WC_ROOT" && cp -r .pre-commit-hooks.yaml pyproject.toml Makefile "$BATS_TEST_TMPDIR/hook" &&
        cp -r packaging/hook "$BATS_TEST_TMPDIR/hook/packaging")
    git -C hook init -q && git -C hook add . && git -C hook commit -qm released && git -C hook tag v0.1.0
}

@test "pre-commit/pre-commit-config.yaml: the hook stops a commit for an error, and no other; clean leaves nothing" {
    local installed=$PWD/installed config
    make_hook_repository
    "$tools/pre-commit" validate-manifest "$WC_ROOT/.pre-commit-hooks.yaml"
    sed "s:OWNER/whichcudnn:$PWD/hook:; s:///DIRECTORY/WHEEL://$(shipped '*_x86_64.whl'):" \
        "$WC_ROOT/examples/pre-commit/pre-commit-config.yaml" >with-wheel.yaml
    sed /additional_dependencies/d with-wheel.yaml >with-command.yaml
    mkdir "$installed" && ln -s "$CMD" "$installed/whichcudnn"
    for config in with-wheel with-command; do
        echo "$config"
        [ $config = with-wheel ] || PATH=$installed:$PATH
        git init -q project
        cd project
        echo .venv >.gitignore
        cp "../$config.yaml" .pre-commit-config.yaml
        "$tools/pre-commit" install
        make_project bad
        git add .gitignore .pre-commit-config.yaml
        git commit -qm 'nothing that was installed'
        echo torch >requirements.txt
        git add requirements.txt
        run -1 git commit -qm bad
        [[ $output == *'cuDNN fits who uses it'*Failed*'error['*parts-differ\]* ]]
        make_project good
        run -0 git commit -m good
        [[ $output == *'cuDNN fits who uses it'*Passed* ]]
        make_project empty
        echo jax >requirements.txt
        git add requirements.txt
        run -0 git commit -m empty
        [[ $output == *'cuDNN fits who uses it'*Passed* ]]
        "$tools/pre-commit" uninstall
        "$tools/pre-commit" clean
        cd "$BATS_TEST_TMPDIR"
        is "$(find home project/.git/hooks -path '*whichcudnn*')" ""
        rm -rf project
    done
}

@test "conda/recipe.yaml: rattler-build makes a package of each tarball, with the bytes of the release, and tests it" {
    local arch tarball
    for arch in x86_64:linux-64 aarch64:linux-aarch64; do
        tarball=$(shipped "whichcudnn-*-linux-${arch%:*}.tar.gz")
        WHICHCUDNN_TARBALL=file://$tarball WHICHCUDNN_SHA256=$(sha256sum <"$tarball" | cut -d ' ' -f 1) \
            "$tools/python" "$WC_ROOT/tests/release/build_conda.py" "$WC_ROOT/packaging/conda/recipe.yaml" "${arch#*:}" "$PWD/out" >said ||
            { cat said && return 1; }
        cat said
        grep -x "${arch#*:} __glibc >=2.17 Apache-2.0 AND MIT AND Zlib AND BSD-1-Clause" said
        tar -xzf "$tarball"
        rm -rf conda && mkdir conda
        (cd conda && unzip -q ../out/"${arch#*:}"/*.conda && tar --zstd -xf pkg-*.tar.zst)
        cmp conda/bin/whichcudnn whichcudnn-*-"${arch%:*}"/bin/whichcudnn
        cmp conda/lib/libwhichcudnn.so whichcudnn-*-"${arch%:*}"/lib/libwhichcudnn.so
        grep -x 'tests: 1 passed, 0 failed' said || [ "${arch%:*}" != "$(uname -m)" ]
    done
    # A tarball with another checksum is none.
    WHICHCUDNN_TARBALL=file://$tarball WHICHCUDNN_SHA256=$(printf '%064d' 0) run ! "$tools/python" \
        "$WC_ROOT/tests/release/build_conda.py" "$WC_ROOT/packaging/conda/recipe.yaml" linux-64 "$PWD/another"
    [[ $output == *hecksum* ]]
}
