#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What make dist made, installed in one line into clean userlands: there the command says of a host what is
# wrong with its cuDNN, and what is removed leaves nothing. `make release-check` runs this.
# shellcheck disable=SC2154  # variables of release.bash

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load release

setup_file() {
    gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -static -o "$BATS_FILE_TMPDIR/enter" \
        "$WC_ROOT/tests/neutrality/enter.c"
    make_demo "$BATS_FILE_TMPDIR/demo" gcc "$WC_BUILD/portable-x86_64/floor"
    "$WC_ROOT/tests/setup/venv" "$WC_BUILD/venv-release" requirements.release.txt >&2
    # What a clean root gets from elsewhere: uv, pipx with the pip that it wants, and a YAML reader for tests/release/steps.py.
    mkdir "$BATS_FILE_TMPDIR/python"
    cp "$WC_BUILD/venv/bin/uv" "$BATS_FILE_TMPDIR/uv"
    cp -r "$WC_BUILD"/venv-release/lib/python3.*/site-packages/. "$WC_BUILD"/venv/lib/python3.*/site-packages/yaml \
        "$BATS_FILE_TMPDIR/python"
    "$WC_BUILD/venv-release/bin/python" -m pip download -q --disable-pip-version-check -d "$BATS_FILE_TMPDIR/wheels" pip
    make_demo "$BATS_FILE_TMPDIR/demo-aarch64" aarch64-linux-gnu-gcc "$WC_BUILD/portable-aarch64/floor"
}

setup() {
    ulimit -c 0
    cd "$BATS_TEST_TMPDIR"
    demo=$BATS_FILE_TMPDIR/demo
}

# copy NAME: a userland of one's own, in $root; what belongs to its package manager is no trace, nor are the
# directories of documents that every system has.
copy() {
    root=$BATS_TEST_TMPDIR/root
    rm -rf "$root"
    cp -a "$("$WC_ROOT/tests/setup/userland" "$1")" "$root"
    # pip of Debian 13 asks for the certificates, also where it fetches nothing.
    mkdir -p "$root"/var/{lib/apt/lists,cache/apt/archives,log/apt}/partial "$root/etc/ssl/certs" "$root/srv"
    cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
    inside true
}
traces() { listing "$root" | grep -vE ' \./(var/(lib/(dpkg|apt|rpm)|cache|log)|dev|proc|tmp)(/| )|ld\.so\.cache|usr/share/(doc|man(/man.)?) '; }

# inside COMMAND...: there, as root, with the folders of this test and of what is shipped.
inside() {
    "$BATS_FILE_TMPDIR/enter" "$root" --with "$BATS_RUN_TMPDIR" --with "$DIST" --with "$WC_ROOT" -- /usr/bin/env -i \
        HOME=/root TMPDIR=/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"
}

# tells COMMAND...: `run` of that command over the demonstration has its output and says what is wrong.
tells() {
    run -0 --separate-stderr "$@" run --log "$PWD/logs/" -- "$demo/host"
    echo "$stderr"
    [[ $output == 'version '* ]] && says_mixed "$stderr"
}

by_deb() {
    traces >before
    inside apt-get -qq -o APT::Sandbox::User=root install -y "$(shipped '*_amd64.deb')" >apt 2>&1 || { cat apt && return 1; }
    [ -e "$root/usr/lib/x86_64-linux-gnu/whichcudnn/libwhichcudnn.so" ]
    tells inside whichcudnn
    inside whichcudnn install /tmp >/dev/null
    inside apt-get -qq purge -y whichcudnn >apt 2>&1 || { cat apt && return 1; }
    traces | diff before -
}

by_wheel() {
    traces >before
    inside python3 -m venv /srv/v
    inside /srv/v/bin/pip install -q --no-index --disable-pip-version-check "$(shipped '*_x86_64.whl')"
    tells inside /srv/v/bin/whichcudnn
    inside sh -c "cd '$PWD' && /srv/v/bin/python -B -W error '$WC_ROOT/tests/release/check_api.py' '$demo' /srv/v/bin/whichcudnn"
    inside /srv/v/bin/pip uninstall -q -y whichcudnn
    [ -z "$(find "$root/srv/v" -name '*whichcudnn*')" ]
    rm -r "$root/srv/v"
    traces | diff before -
}

by_tarball() {
    traces >before
    inside tar -C /srv -xzf "$(shipped 'whichcudnn-*-linux-x86_64.tar.gz')"
    mv "$root"/srv/whichcudnn-* "$root/srv/elsewhere"
    tells inside /srv/elsewhere/bin/whichcudnn
    rm -r "$root/srv/elsewhere"
    traces | diff before -
}

# What an installer keeps for itself lies in the home: nothing there or elsewhere has the package's name, but for
# pipx's lock.
leaves_nothing() {
    traces | grep -v ' \./root/' | diff before -
    is "$(find "$root/root" -name '*whichcudnn*' -not -name .whichcudnn.lock)" ""
}

by_uv() {
    local uv=(inside UV_OFFLINE=1 "$BATS_FILE_TMPDIR/uv")
    traces | grep -v ' \./root/' >before
    "${uv[@]}" tool install -q "$(shipped '*_x86_64.whl')"
    tells inside sh -c 'exec "$HOME/.local/bin/whichcudnn" "$@"' sh
    "${uv[@]}" tool uninstall -q whichcudnn
    # uvx is short for it. Ahead in PATH is a Python of its own there, so that a program is named by its path.
    tells "${uv[@]}" tool run -q --from "$(shipped '*_x86_64.whl')" whichcudnn
    run -0 --separate-stderr "${uv[@]}" tool run -q --from "$(shipped '*_x86_64.whl')" whichcudnn run -q -- \
        "$(inside sh -c 'command -v python3')" -c 'import sys; print(sys.prefix)'
    is "$output" /usr
    "${uv[@]}" cache clean -q
    leaves_nothing
}

by_pipx() {
    local pipx=(inside PIP_NO_INDEX=1 PIP_FIND_LINKS="$BATS_FILE_TMPDIR/wheels" PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$BATS_FILE_TMPDIR/python" python3 -m pipx)
    traces | grep -v ' \./root/' >before
    "${pipx[@]}" install "$(shipped '*_x86_64.whl')"
    tells inside sh -c 'exec "$HOME/.local/bin/whichcudnn" "$@"' sh
    "${pipx[@]}" uninstall whichcudnn
    leaves_nothing
}

by_action() {
    mkdir project
    traces >before
    run -1 --separate-stderr inside sh -c "cd '$PWD/project' && exec env WC_ROOT='$WC_ROOT' SUMMARY='$PWD/summary' ARTIFACTS='$PWD' \
        PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='$BATS_FILE_TMPDIR/python' python3 '$WC_ROOT/tests/release/steps.py' '$WC_ROOT/action.yml' \
        wheel='$(shipped '*_x86_64.whl')' scan='$demo' run='$demo/host'"
    echo "$stderr"
    is "$(grep -c '^::error file=requirements.txt,title=cuDNN::error' <<<"$output")" 2
    [ -d whichcudnn-logs ]
    traces | diff before -
}

everything() { # USERLAND GLIBC
    copy "clean-$1"
    inside python3 -c 'import platform; print(platform.libc_ver()[1])' | grep -xE "$2"
    by_deb
    by_wheel
    by_tarball
}

@test "Debian 11: deb, wheel, tarball" { everything bullseye 2.31; }
@test "Debian 12: deb, wheel, tarball" { everything bookworm 2.36; }
@test "Debian 13: deb, wheel, tarball" { everything trixie 2.41; }
@test "Debian sid: deb, wheel, tarball" { everything sid '2.4[2-9]'; }

@test "Debian 13: uv tool, uvx, pipx, the steps of action.yml" {
    copy clean-trixie
    by_uv
    by_pipx
    by_action
}

@test "rpm: into a root of its own, and out of it" {
    local rpm
    rpm=$(shipped '*.x86_64.rpm')
    rpm -qp --requires "$rpm" | grep -x 'glibc >= 2.17'
    is "$(rpm -qp --qf '%{NAME} %{ARCH} %{LICENSE}' "$rpm")" 'whichcudnn x86_64 Apache-2.0'
    copy clean-bookworm
    traces >before
    # Its own list of packages knows no glibc: it is Debian's.
    rpm --root "$root" --dbpath /var/lib/rpm --nodeps -i "$rpm"
    [ -e "$root/usr/lib64/whichcudnn/libwhichcudnn.so" ]
    tells inside whichcudnn
    rpm --root "$root" --dbpath /var/lib/rpm -e whichcudnn
    traces | diff before -
}

@test "rpm: by dnf into a root of its own, and out of it" {
    local yum=(dnf -q -y --installroot="$PWD/root" --releasever=1 --disablerepo='*' --setopt=tsflags=noscripts)
    # What is wanted of glibc, and nothing in it.
    printf '%s\n' 'name: glibc' 'arch: amd64' 'version: 2.17' 'maintainer: nobody' 'provides: [rpm]' >glibc.yaml
    "$WC_BUILD/venv/bin/nfpm" package --config glibc.yaml --packager rpm --target "$PWD/" >/dev/null
    mkdir root
    run -1 "${yum[@]}" install "$(shipped '*.x86_64.rpm')"
    [[ $output == *'nothing provides glibc >= 2.17'* ]]
    "${yum[@]}" install ./glibc-*.rpm
    run ! grep whichcudnn <(listing root)
    "${yum[@]}" install "$(shipped '*.x86_64.rpm')"
    tells root/usr/bin/whichcudnn
    "${yum[@]}" remove whichcudnn
    run ! grep whichcudnn <(listing root)
}

# In a namespace where the kernel gives programs of aarch64 to qemu: those that a program starts, too.
aarch64() { # COMMAND...
    # shellcheck disable=SC2016  # for the shell there
    QEMU_LD_PREFIX=$("$WC_ROOT/tests/setup/userland-aarch64") unshare -Urm bash -c '
        mkdir -p formats && mount -t binfmt_misc none formats || exit 125
        printf "%s" ":aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:" \
            "\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:" \
            /usr/bin/qemu-aarch64-static:F >formats/register || exit 125
        "$@"' - "$@"
}

# trace DIR: whether the package, or a file of it, is there.
trace() { listing "$1" | grep -E 'whichcudnn' | grep -vE ' \./(usr/lib/sysimage|var/(lib/(dpkg|rpm)|log|cache))/'; }

@test "aarch64 under qemu: deb, rpm, wheel, tarball; and out again" {
    demo=$BATS_FILE_TMPDIR/demo-aarch64
    mkdir -p deb/var/lib/dpkg/{info,updates} && touch deb/var/lib/dpkg/{status,available}
    local dpkg=(dpkg --root="$PWD/deb" --log=/dev/null --force-architecture --force-depends --force-not-root --force-bad-path)
    "${dpkg[@]}" -i "$(shipped '*_arm64.deb')" >said 2>&1 || { cat said && return 1; }
    tells aarch64 deb/usr/bin/whichcudnn
    mkdir shared
    is "$(aarch64 deb/usr/bin/whichcudnn install shared)" "$PWD/shared/libwhichcudnn.so"
    "${dpkg[@]}" --purge whichcudnn:arm64 >said 2>&1 || { cat said && return 1; }
    run ! trace deb
    mkdir rpm
    local rpm=(rpm --root "$PWD/rpm" --dbpath /var/lib/rpm --nodeps)
    "${rpm[@]}" --ignorearch -i "$(shipped '*.aarch64.rpm')"
    tells aarch64 rpm/usr/bin/whichcudnn
    "${rpm[@]}" -e whichcudnn
    run ! trace rpm
    # An installer removes what RECORD lists.
    "$WC_PYTHON" -m pip install -q --no-index --disable-pip-version-check --platform manylinux2014_aarch64 \
        --only-binary=:all: --no-compile --target wheel "$(shipped '*_aarch64.whl')"
    tells aarch64 wheel/bin/whichcudnn
    diff <(cd wheel && find . -type f -printf '%P\n' | sort) \
        <(cut -d , -f 1 wheel/whichcudnn-*.dist-info/RECORD | sed 's|^\(\.\./\)*||' | sort)
    tar -xzf "$(shipped 'whichcudnn-*-linux-aarch64.tar.gz')"
    tells aarch64 whichcudnn-*-linux-aarch64/bin/whichcudnn
}

@test "musl: the library sleeps" {
    root=$("$WC_ROOT/tests/setup/userland" musl)
    tar -xzf "$(shipped 'whichcudnn-*-linux-x86_64.tar.gz')"
    printf '#include <stdio.h>\n#include <dlfcn.h>\nint main(void) { return puts(dlopen("libcudnn.so.9", RTLD_NOW) ? "there" : "not there") < 0; }\n' >asks.c
    musl-gcc -o asks asks.c
    mkdir logs
    run -0 --separate-stderr "$BATS_FILE_TMPDIR/enter" "$root" --with "$BATS_RUN_TMPDIR" \
        --set LD_PRELOAD="$(echo "$PWD"/whichcudnn-*/lib/libwhichcudnn.so)" --set WHICHCUDNN_LOG="$PWD/logs/" -- "$PWD/asks"
    is "$output" 'not there'
    is "$stderr" ''
    is "$(ls -A logs)" ''
}

@test "lintian has no error to tell of the deb, and has one of a deb without licences" {
    local lint=(lintian --allow-root --fail-on error --tag-display-limit 0)
    run -0 "${lint[@]}" "$(shipped '*_amd64.deb')"
    dpkg-deb -R "$(shipped '*_amd64.deb')" deb
    rm deb/usr/share/doc/whichcudnn/copyright
    dpkg-deb -b deb planted.deb
    run -2 "${lint[@]}" planted.deb
    [[ $output == *'E: whichcudnn: no-copyright-file'* ]]
}
