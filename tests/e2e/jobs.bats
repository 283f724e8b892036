#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# One job, one answer: what `run` and `report` say of commands that are several processes or several
# programs one after the other. Each with all well, and with one fault that all of it has.

bats_require_minimum_version 1.5.0
load helpers

# A torch in a wheel that wants the cuDNN of another wheel; and an older cuDNN to come before that.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    local site=$PWD/site-packages
    make_standin 9.1.0 "$site" --layout pip --build 70
    make_standin 9.0.0 old
    mkdir -p "$site/torch/lib" "$site/torch-2.4.1.dist-info"
    build_host library-now "$site/nvidia/cudnn/lib" "$site/torch/lib/libtorch_cuda" \
        -Wl,-rpath,"\$ORIGIN/../../nvidia/cudnn/lib" -Wl,--enable-new-dtags
    printf 'Metadata-Version: 2.1\nName: torch\nVersion: 2.4.1\nRequires-Dist: nvidia-cudnn-cu12==9.1.0.70\n' \
        >"$site/torch-2.4.1.dist-info/METADATA"
    printf '%s,,\n' torch/lib/libtorch_cuda.so torch/__init__.py >"$site/torch-2.4.1.dist-info/RECORD"
    cat >"$site/torch/__init__.py" <<'END'
import ctypes, os
library = ctypes.CDLL(os.path.dirname(__file__) + "/lib/libtorch_cuda.so")
def use(*what):
    words = [b"host", *(what or [b"version"])]
    library.host_run(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None))
END
    printf 'import torch\ntorch.use()\n' >train.py
    cat >pool.py <<'END'
import multiprocessing, sys, time
def work(i):
    import torch
    torch.use()
    time.sleep(0.3)
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(10) as pool:
        pool.map(work, range(int(sys.argv[2])), 1)
END
    cat >loader.py <<'END'
import multiprocessing, torch
def work(queue, i):
    torch.use()
    queue.put(i)
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    torch.use()
    for epoch in range(3):
        queue = context.Queue()
        workers = [context.Process(target=work, args=(queue, i), daemon=True) for i in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            queue.get()
        for worker in workers:
            worker.join()
END
    cat >ranks.py <<'END'
import os, subprocess, sys
def start(rank):
    mine = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2"}
    return subprocess.Popen([sys.executable, "train.py"], env=mine)
sys.exit(max(rank.wait() for rank in [start(0), start(1)]))
END
    cat >daemon.py <<'END'
import os, sys, time
end, ready = os.pipe()
if os.fork():
    os.close(ready)
    os.read(end, 1)
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
if sys.argv[1] == "now":
    import torch
    torch.use()
os.dup2(os.open(os.devnull, os.O_RDWR), 1)
os.dup2(1, 2)
os.write(ready, b".")
os.close(ready)
for i in range(300):
    time.sleep(0.1)
    if os.path.exists("end"):
        break
END
    # shellcheck disable=SC2016 # for make
    printf 'jobs := a b c d e f g h i j\nall: $(jobs)\n$(jobs):\n\t@$(PYTHON) train.py\n' >Makefile
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cp "$BATS_FILE_TMPDIR"/{*.py,Makefile} .
    export TMPDIR=$PWD PYTHONPATH=$BATS_FILE_TMPDIR/site-packages
    PYTHON=$("$PY" -c 'import os, sys; print(os.path.realpath(sys.executable))')
    export PYTHON
    old=$BATS_FILE_TMPDIR/old
    ok="cuDNN 9.1.0 from $BATS_FILE_TMPDIR/site-packages/nvidia/cudnn/lib (nvidia-cudnn-cu12) for torch 2.4.1"
    train="(${PYTHON##*/} train.py)"
}

teardown() { : >end; }

# job [OPTION]... -- COMMAND: what run says of it, and that it is one answer.
job() {
    rm -rf logs
    mkdir logs
    run -0 --separate-stderr "$CMD" run --log logs "$@"
    # Of what took more than three seconds and was told then, the end has the title.
    # shellcheck disable=SC2154 # of bats
    is "$(grep '^whichcudnn: ' <<<"$stderr" | grep -v '^whichcudnn: cuDNN' | sort -u | wc -l)" 1
    [ "$(grep -c '^whichcudnn: cuDNN' <<<"$stderr")" -le 1 ]
    # shellcheck disable=SC2154
    [ "${#stderr_lines[@]}" -le 15 ]
    is "$(grep -v '^whichcudnn: error' <<<"$stderr" | sort | uniq -d)" ""
    is "$(find logs -type f ! -name '*.jsonl')" ""
    find logs -type f -exec "$PY" "$WC_ROOT/tests/schema/validate.py" log {} +
}

# well WHO -- COMMAND, with what is said behind `ok`.
well() {
    local who=$1
    shift
    job "$@"
    is "${stderr_lines[0]}" "whichcudnn: $ok"
    is "${stderr_lines[1]}" "whichcudnn: ok$who"
    is "${#stderr_lines[@]}" 3
    agrees
}

# ill WHO -- COMMAND: all of it gets the other cuDNN.
ill() {
    local who=$1
    shift
    LD_LIBRARY_PATH=$old job "$@"
    [[ $stderr == *"whichcudnn: error"*"torch"*"9.0.0"*"9.1.0"* ]]
    is "$(grep -c 'unset LD_LIBRARY_PATH' <<<"$stderr")" 1
    grep -Eq "^ *process.* .*$who" <<<"$stderr"
    [[ ${stderr_lines[0]} != "whichcudnn: cuDNN "* ]] || agrees
}

# Of several processes the report of the place says the same first.
agrees() {
    local expected logs=(logs/*)
    [ "${#logs[@]}" -gt 1 ] || return 0
    expected=$(sed 's/^whichcudnn: //; /^ *log /d' <<<"$stderr")
    run --separate-stderr "$CMD" report -v logs
    is "$(head -n "$(wc -l <<<"$expected")" <<<"$output")" "$expected"
}

# ---- one process ----

# What pyenv puts into PATH: programs that give way to others.
make_shim() {
    mkdir -p bin
    cat >bin/python <<'END'
#!/usr/bin/env bash
home=$(echo ~root)
exec bash bin/exec "$PYTHON" "$@"
END
    cat >bin/exec <<'END'
home=$(echo ~root)
exec env "$@"
END
    chmod +x bin/python
}

@test "python of pyenv, which is scripts that give way to others" {
    make_shim
    well '' -- bin/python train.py
    the_log logs
    well '' --expect 9.1 -- bin/python train.py
    the_log logs
    ill '' -- bin/python train.py
    the_log logs
}

@test "a shell's command, which may give way to it or not" {
    # shellcheck disable=SC2016 # for the child's shell
    well '' -- bash -c '"$PYTHON" train.py'
    # shellcheck disable=SC2016
    job -- bash -c '"$PYTHON" train.py; true'
    [[ "${stderr_lines[0]} ${stderr_lines[1]}" == "whichcudnn: $ok whichcudnn: ok in process "*" $train" ]]
    # shellcheck disable=SC2016
    ill '' -- bash -c '"$PYTHON" train.py; true'
}

@test "a program that starts itself anew: what counts is the last" {
    cat >anew.py <<'END'
import os, sys, torch
torch.use()
if "LD_LIBRARY_PATH" in os.environ:
    del os.environ["LD_LIBRARY_PATH"]
    os.execv(sys.executable, [sys.executable, *sys.argv])
END
    LD_LIBRARY_PATH=$old job -- "$PYTHON" anew.py
    is "${stderr_lines[0]} ${stderr_lines[1]}" "whichcudnn: $ok whichcudnn: ok"
    run -0 --separate-stderr "$CMD" report --json logs
    is "$(jq -r .verdict <<<"$output")" ok
    LD_LIBRARY_PATH=$old job --expect 9.1 --fail-on=error -- "$PYTHON" anew.py
}

@test "lock and check of a command that gives way to others: of its last program" {
    make_shim
    job -- bin/python train.py
    "$CMD" lock logs >locked
    WHICHCUDNN_EXPECT=9.1 run -0 "$CMD" check locked -- bin/python train.py
    is "$(grep -c 'as locked' <<<"$output")" 1
    [[ $output != *drifted* ]]
    LD_LIBRARY_PATH=$old WHICHCUDNN_EXPECT=9.1 run -1 "$CMD" check locked -- bin/python train.py
    is "$(grep -c '^drifted' <<<"$output")" 1
}

# ---- several ----

@test "make -j8" {
    well " in 10 processes $train: all exited" -- make -j8
    ill "10.*train.py\): all exited" -- make -j8
}

@test "a pool that is forked" {
    well " in 10 processes (${PYTHON##*/} pool.py): all by _exit" -- "$PYTHON" pool.py fork 10
    ill "10.*pool.py\): all by _exit" -- "$PYTHON" pool.py fork 10
}

@test "a pool that is spawned" {
    job -- "$PYTHON" pool.py spawn 30
    [[ "${stderr_lines[0]} ${stderr_lines[1]}" == "whichcudnn: $ok whichcudnn: ok in "*" processes"* ]]
    agrees
    ill '\(.*\): ' -- "$PYTHON" pool.py spawn 30
}

@test "a pool of a forkserver" {
    job -- "$PYTHON" pool.py forkserver 30
    [[ "${stderr_lines[0]} ${stderr_lines[1]}" == "whichcudnn: $ok whichcudnn: ok in "*" processes"*"all by _exit" ]]
    agrees
    ill '\(.*\): all by _exit' -- "$PYTHON" pool.py forkserver 30
}

@test "a loader with 4 workers, in 3 epochs" {
    well " in 13 processes: 1 ended normally, 12 exited" -- "$PYTHON" loader.py
    ill '13.*: 1 ended normally, 12 exited' -- "$PYTHON" loader.py
}

@test "two ranks" {
    well " in ranks 0, 1 $train: all exited" -- "$PYTHON" ranks.py
    ill 'ranks 0, 1 .*train.py\): all exited' -- "$PYTHON" ranks.py
}

@test "a pipeline" {
    # shellcheck disable=SC2016
    job -- bash -o pipefail -c '"$PYTHON" train.py | sort | tail -n 1'
    [[ $stderr == "whichcudnn: $ok"$'\nwhichcudnn: ok in process '* && $output == "version 90100"* ]]
    # shellcheck disable=SC2016
    ill '' -- bash -o pipefail -c '"$PYTHON" train.py | sort | tail -n 1'
}

@test "a daemon: it still runs, with cuDNN or without as yet" {
    job -- "$PYTHON" daemon.py now
    [[ "${stderr_lines[0]} ${stderr_lines[1]}" == "whichcudnn: $ok whichcudnn: ok in process "*": still running" ]]
    ill 'still running' -- "$PYTHON" daemon.py now
    job -- "$PYTHON" daemon.py later
    [[ $stderr == "whichcudnn: not observed: no cuDNN was loaded or asked for so far; "*" still run"* ]]
}

@test "who has nothing to do with cuDNN is not told of" {
    cat >some.py <<'END'
import subprocess, sys
others = [subprocess.Popen([sys.executable, "-c", "import ctypes, json"]) for i in range(5)]
sys.exit(subprocess.call([sys.executable, "train.py"]) or max(p.wait() for p in others))
END
    job -- "$PYTHON" some.py
    [[ "${stderr_lines[0]} ${stderr_lines[1]}" == "whichcudnn: $ok whichcudnn: ok in process "*" $train" ]]
    the_log logs
}

@test "some are well and one is not: worst first, then who was fine" {
    cat >mixed.py <<'END'
import os, subprocess, sys
def start(i):
    mine = dict(os.environ, LD_LIBRARY_PATH=os.environ["OLD"]) if i == 2 else None
    return subprocess.Popen([sys.executable, "train.py"], env=mine)
sys.exit(max(p.wait() for p in [start(i) for i in range(4)]))
END
    mkdir logs
    OLD=$old run -0 --separate-stderr "$CMD" run --log logs --verdict-file verdict -- "$PYTHON" mixed.py
    [[ ${stderr_lines[0]} == "whichcudnn: cuDNN 9.0.0 "* && ${stderr_lines[1]} == "whichcudnn: error"*"9.0.0"* ]]
    grep -q '^process  .* train.py, exited$' <<<"$stderr"
    is "$(grep -A1 "^whichcudnn: $ok" <<<"$stderr")" \
        "whichcudnn: $ok"$'\n'"whichcudnn: ok in 3 processes $train: all exited"
    is "$(grep -c '^whichcudnn: ' <<<"$stderr")" 4
    [[ $(cat verdict) == "cuDNN 9.0.0 "*"; error: "*"9.0.0"*"; in process "*"; fix: let "*" start the process without LD_LIBRARY_PATH; log: "*"logs (4 logs)" ]]
}

@test "warnings are told once, too" {
    make_standin 9.10.0 "$PWD/bad" # a release with a known defect
    cat >bare.py <<'END'
import ctypes, subprocess, sys
def child():
    return subprocess.Popen([sys.executable, "bare.py"])
if len(sys.argv) > 1:
    sys.exit(max(p.wait() for p in [child() for i in range(3)]))
ctypes.CDLL("bad/libcudnn.so.9").cudnnGetVersion()
END
    job -- "$PYTHON" bare.py parent
    [[ $stderr == "whichcudnn: cuDNN 9.10.0 "*" for bare.py"$'\n'"whichcudnn: warning"*"9.10.0"*"processes   3 ("* ]]
    agrees
}

@test "of what was told while the job ran the end has the title" {
    cat >long.py <<'END'
import subprocess, sys
child = "import torch, time; torch.use(); time.sleep(4.5)"
sys.exit(max(p.wait() for p in [subprocess.Popen([sys.executable, "-c", child]) for i in range(3)]))
END
    mkdir logs
    LD_LIBRARY_PATH=$old run -0 --separate-stderr "$CMD" run --log logs -- "$PYTHON" long.py
    is "$(grep -c 'torch.*9\.0\.0.*9\.1\.0' <<<"$stderr")" 2
    is "$(grep -c 'unset LD_LIBRARY_PATH' <<<"$stderr")" 1
    [[ $stderr == *"whichcudnn: cuDNN 9.0.0 "*$'\nwhichcudnn: error[runtime-too-old]: '*$'\n  processes  3 ('* ]]
}

# ---- ends that are not good ----

@test "a worker that dies within a call did not end by _exit" {
    make_standin 9.1.0 "$PWD/dies" --asks libcublasLt.so.77:cublasLtCreate
    cat >worker.py <<'END'
import ctypes, os, subprocess, sys
if len(sys.argv) == 1:
    subprocess.call([sys.executable, "worker.py", "child"])
    sys.exit(0)
library = ctypes.CDLL("libcudnn.so.9")
library.cudnnCreate(ctypes.byref(ctypes.c_void_p()))
END
    LD_LIBRARY_PATH=$PWD/dies run -0 --separate-stderr "$CMD" run -- "$PYTHON" worker.py
    [[ $stderr == *"whichcudnn: error"*", killed"* && $stderr != *"whichcudnn: ok"* && $stderr != *"by _exit"* ]]
}

@test "a command that fails: nobody of it is called well" {
    # shellcheck disable=SC2016
    run -3 --separate-stderr "$CMD" run -- bash -c '"$PYTHON" pool.py fork 10; exit 3'
    [[ $stderr == "whichcudnn: cuDNN "*$'\nwhichcudnn: unexplained: '* && $stderr != *"whichcudnn: ok"* ]]
    is "$(grep -c '^whichcudnn: ' <<<"$stderr")" 2
}

@test "a worker that fails and whose parent takes another way is no error of the command" {
    cat >backends.py <<'END'
import ctypes, multiprocessing, sys
def gpu():
    ctypes.CDLL("libcudnn.so.7")
def processor():
    pass
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    for work in gpu, processor:
        worker = context.Process(target=work)
        worker.start()
        worker.join()
    sys.exit(worker.exitcode if sys.argv[2:] == [] else 1)
END
    local way
    for way in spawn fork; do
        run -0 --separate-stderr "$CMD" run --fail-on=error -- "$PYTHON" backends.py "$way"
        [[ $stderr == *"whichcudnn: warning[library-not-found]: "*" asked for libcudnn.so.7"* ]]
        run -1 --separate-stderr "$CMD" run -- "$PYTHON" backends.py "$way" fails
        [[ $stderr == *"whichcudnn: error[library-not-found]: "* ]]
    done
}

@test "a look for other majors that the process outlives is no finding, whoever ends it" {
    local line='import ctypes, os, sys, torch
for name in "libcudnn.so.8", "libcudnn.so.7":
    try: ctypes.CDLL(name)
    except OSError: pass
'
    run -0 --separate-stderr "$CMD" run -- "$PYTHON" -c "${line}torch.use()"
    [[ $stderr == *"whichcudnn: ok"* && $stderr != *"libcudnn.so.8"* ]]
    run -137 --separate-stderr "$CMD" run -- "$PYTHON" -c "${line}torch.use(); os.kill(os.getpid(), 9)"
    [[ $stderr == *"whichcudnn: unexplained: it was ended by SIGKILL"* && $stderr != *"libcudnn.so.8"* ]]
    # By then nothing of cuDNN was used, and the process failed by itself.
    run -3 --separate-stderr "$CMD" run -- "$PYTHON" -c "${line}sys.exit(3)"
    [[ $stderr == *"whichcudnn: error[library-not-found]: "*"libcudnn.so.8"* ]]
}

@test "a parent that fails with its child is no row of its own beside the error of the child" {
    cat >starts.py <<'END'
import os, subprocess, sys, torch
torch.use()
if sys.argv[2:]:
    print("Loaded runtime CuDNN library: 90000 but source was compiled with: 90100", file=sys.stderr)
    sys.exit(1)
os.environ["LD_LIBRARY_PATH"] = sys.argv[1]
subprocess.run([sys.executable, __file__, sys.argv[1], "worker"], check=True)
END
    "$CMD" run -- "$PYTHON" starts.py "$old" 2>words || is "$?" 1
    grep '^whichcudnn: ' words >lines
    is "$(grep -v '^whichcudnn: cuDNN' lines | cut -d ' ' -f 1,2)" "whichcudnn: error[runtime-too-old]:"
    # The child is well: nothing explains the end of its parent.
    "$CMD" run -- "$PYTHON" starts.py "$BATS_FILE_TMPDIR/nowhere" 2>words || is "$?" 1
    grep -q '^whichcudnn: unexplained: ' words
}

@test "what a shell or a script starts may die while they go on: nobody calls that well" {
    make_standin 9.1.0 sound --create-status 0
    build_host lazy "$PWD/sound" host
    # shellcheck disable=SC2016
    local starts='import subprocess; subprocess.call(["./host", "version", "signal:11"])' line
    for line in '"$PYTHON" -c "$STARTS"' 'perl -e "system(q(./host version signal:11)); exit 0"'; do
        STARTS=$starts run -0 --separate-stderr "$CMD" run -- bash -c "$line"
        [[ $stderr == *"whichcudnn: not observed: how it ended is not known"* ]]
        [[ $stderr == *"by _exit, or killed"* && $stderr != *"whichcudnn: ok"* ]]
    done
    # The last program has the pid of the shell.
    run -0 --separate-stderr "$CMD" run -- bash -c './host version signal:11 || :; ./host version'
    [[ $stderr == *"whichcudnn: not observed: how it ended is not known"* ]]
    [[ $stderr == *"whichcudnn: cuDNN 9.1.0 "*" for host"$'\n'*"whichcudnn: ok in process "* ]]
}

@test "a command that fails: its processes, and no part that came by its other name" {
    make_standin 9.1.0 sound --create-status 0
    build_host lazy "$PWD/sound" host
    mkdir logs
    run -3 --separate-stderr "$CMD" run --log logs/ -- bash -c './host; ./host; exit 3'
    [[ $stderr == "whichcudnn: cuDNN "*$'\nwhichcudnn: unexplained: '*$'\n'"  processes  2 (host): all exited"* ]]
    grep -qF '"libcudnn_graph.so.9.1"' logs/*
    [[ $stderr != *"libcudnn_graph"* && $stderr != *"//"* ]]
    [[ $stderr == *"  log      $PWD/logs (2 logs)" ]]
}
