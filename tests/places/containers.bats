#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Containers, by buildah, podman and podman-compose, of a Debian that tests/setup/userland unpacks. No
# network, and no registry: your/image is an image of that Debian with a small host in /app.

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load places
load ../release/release

# inside COMMAND...: where podman finds one sort of cgroups (this machine may have both), and its files
# in this directory
inside() {
    CONTAINERS_CONF=$BATS_FILE_TMPDIR/containers.conf CONTAINERS_STORAGE_CONF=$BATS_FILE_TMPDIR/storage.conf \
        unshare --mount --propagation private sh -c '
            if [ "$(stat -fc %T /sys/fs/cgroup)" != cgroup2fs ]; then
                umount -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
            fi
            exec "$@"' sh "$@" 3>&-
}

setup_file() {
    [ "$(id -u)" -eq 0 ] || return 0
    cd "$BATS_FILE_TMPDIR"
    # Sockets lie below it, whose names must be short, or each container waits for 20 seconds.
    SOCKETS=$(mktemp -d /tmp/podman.XXXXXX)
    export SOCKETS
    cat >containers.conf <<'END'
[containers]
cgroups = "disabled"
netns = "none"
default_ulimits = ["nofile=999:999", "nproc=999:999"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "crun"
events_logger = "file"
END
    cat >storage.conf <<END
[storage]
driver = "vfs"
graphroot = "$PWD/graph"
runroot = "$SOCKETS"
END
    make_standin 9.1.0 app --only facade
    make_standin 9.5.0 app --without facade
    build_host lazy app app/host -Wl,-rpath,"\$ORIGIN"
    {
        echo FROM scratch
        echo 'COPY root /'
        echo 'COPY app /app'
    } >Dockerfile
    mkdir context
    mv app Dockerfile context
    cp -a "$("$WC_ROOT/tests/setup/userland" container)" context/root
    inside buildah bud --isolation chroot -q -t your/image context
    mkdir watched
    cp "$examples/containers/Dockerfile" "$examples/entrypoint.sh" "$SHIM" "$CMD" watched
    inside buildah bud --isolation chroot -q --build-arg BASE=localhost/your/image -t watched watched
    make_dist x86_64
    mkdir image
    cp "$WC_ROOT/packaging/Dockerfile" "$DIST"/*_amd64.deb image
    inside buildah bud --isolation chroot -q --build-arg BASE=localhost/your/image -t whichcudnn image
}

teardown_file() { [ -z "${SOCKETS:-}" ] || rm -rf "$SOCKETS"; }

setup() {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    cd "$BATS_TEST_TMPDIR"
    mkdir logs
}

podman() { inside podman run --rm "$@"; }

@test "containers/Dockerfile and entrypoint.sh: what the container runs is watched, its status is the container's" {
    run -0 --separate-stderr podman -v "$PWD/logs:/var/log/whichcudnn" watched /app/host version
    is "$output" "version 90500"
    [[ $stderr == *'error[facade-and-parts-differ]'* ]]
    told_in logs
    run -7 podman watched sh -c 'exit 7'
    # Nothing but the entrypoint sets it.
    is "$(inside buildah inspect --type image watched | grep -c LD_PRELOAD)" 0
    run podman watched
    [[ $output == *preload*ok* || $output == *ok*preload* ]]
}

@test "containers/compose.yaml: an image as it is, watched, with the files next to it" {
    cp "$examples/containers/compose.yaml" "$examples/entrypoint.sh" "$SHIM" .
    cat >here.yaml <<'END'
services:
  train:
    image: localhost/your/image
    command: ["sh", "-c", "/app/host version; exit 7"]
    network_mode: none
END
    PATH=$PLACES:$PATH run -7 inside "$PLACES/podman-compose" --in-pod=false -f compose.yaml -f here.yaml \
        up --exit-code-from train
    [[ $output == *'version 90500'* ]]
    [[ $output == *'error[facade-and-parts-differ]'* ]]
    told_in logs
}

@test "packaging/Dockerfile: an image that installs the library as nobody, and has the command" {
    mkdir shared
    run ! podman -v "$PWD/shared:/whichcudnn" whichcudnn
    chmod 777 shared
    run -0 podman -v "$PWD/shared:/whichcudnn" whichcudnn
    is "$output" /whichcudnn/libwhichcudnn.so
    cmp shared/libwhichcudnn.so "$WC_BUILD/portable-x86_64/stage/libwhichcudnn.so"
    is "$(stat -c %u shared/libwhichcudnn.so)" 65534
    run -0 podman whichcudnn --version
}

# pod COMMAND...: the containers of pod.yaml one after the other, each image in place of its own, the
# volumes as directories; of the last one COMMAND is run. What it prints is what that container prints.
pod() {
    "$PLACES/python" - "$examples/kubernetes/pod.yaml" "$@" >commands <<'END'
import json, os, shlex, sys
import yaml
with open(sys.argv[1]) as file:
    spec = yaml.safe_load(file)["spec"]
volumes = {v["name"] for v in spec["volumes"]}
for container in spec["initContainers"] + spec["containers"]:
    command = container["command"] if container in spec["initContainers"] else sys.argv[2:]
    words = ["--entrypoint", json.dumps(command[:1])]
    for mount in container["volumeMounts"]:
        assert mount["name"] in volumes
        os.makedirs(mount["name"], exist_ok=True)
        os.chmod(mount["name"], 0o777)  # as an emptyDir is
        words += ["-v", f"{os.getcwd()}/{mount['name']}:{mount['mountPath']}" + (":ro" if mount.get("readOnly") else "")]
    for variable in container.get("env", []):
        words += ["-e", f"{variable['name']}={variable['value']}"]
    print(shlex.join([*words, "localhost/" + container["image"], *command[1:]]))
END
    eval "podman $(head -n 1 commands)" >init.out 2>&1 || { cat init.out && return 125; }
    eval "podman $(tail -n 1 commands)"
}

@test "kubernetes/pod.yaml: valid, strictly, and what is planted is not" {
    run -0 "$PLACES/kubernetes-validate" --strict "$examples/kubernetes/pod.yaml"
    sed s/emptyDir/emptydir/ "$examples/kubernetes/pod.yaml" >planted.yaml
    run ! "$PLACES/kubernetes-validate" --strict planted.yaml
    [[ $output == *emptydir* ]]
}

@test "kubernetes/pod.yaml: the library comes by a volume; the end of the output has the error" {
    run -7 pod sh -c '/app/host version; exit 7'
    [[ $output == *'version 90500'* ]]
    # So much of it is the termination message.
    grep -qx ' *terminationMessagePolicy: FallbackToLogsOnError' "$examples/kubernetes/pod.yaml"
    [[ $(tail -n 80 <<<"$output" | tail -c 2048) == *'error[facade-and-parts-differ]'* ]]
    told_in logs
}
