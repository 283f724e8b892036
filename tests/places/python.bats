#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Ray, Dask, Jupyter and pytest themselves, started as examples/ say.

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load places

setup() {
    cd "$BATS_TEST_TMPDIR"
    mkdir logs
    export WHICHCUDNN_LOG=$PWD/logs HOME=$PWD
    make_training
}

@test "ray/watched.py: a worker is watched, the driver is not; its output and exceptions come through" {
    export WHICHCUDNN_SHIM=$SHIM RAY_USAGE_STATS_ENABLED=0 RAY_AUTH_MODE=disabled
    # Ray's sockets lie below it, and their names are short.
    RAY_TMPDIR=$(mktemp -d /tmp/ray.XXXXXX)
    export RAY_TMPDIR
    echo 'raise KeyError("of mine")' >>train.py
    run -1 "$PLACES/python" "$examples/ray/watched.py" train.py
    rm -rf "$RAY_TMPDIR"
    [[ $output == *"$trained"* ]]
    [[ $output == *"KeyError: 'of mine'"* ]]
    told_in logs
    # As the comment says.
    [[ $output != *facade-and-parts-differ* ]]
}

@test "dask/whichcudnn.yaml: a worker is watched; the error is on its standard error" {
    mkdir config
    sed "s:/usr/local/lib/libwhichcudnn.so:$SHIM:" "$examples/dask/whichcudnn.yaml" >config/whichcudnn.yaml
    cat >job.py <<'END'
import runpy
from distributed import Client, LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.submit(runpy.run_path, "train.py", run_name="__main__").exception()
        print(type(client.submit(lambda: 1 // 0).exception()).__name__)
END
    DASK_CONFIG=$PWD/config run -0 --separate-stderr "$PLACES/python" job.py
    is "$output" "$trained"$'\nZeroDivisionError'
    [[ $stderr == *'error[facade-and-parts-differ]'* ]]
    told_in logs
    # Another key is no way.
    rm logs/*
    edit -o config/whichcudnn.yaml examples/dask/whichcudnn.yaml pre-spawn-environ: environ:
    DASK_CONFIG=$PWD/config run -0 --separate-stderr "$PLACES/python" job.py
    is "$output|$(ls logs)" "$trained"$'\nZeroDivisionError|'
}

# notebook CELL...: executed by that kernel; prints what the cells print.
notebook() {
    "$PLACES/python" - "$@" <<'END'
import sys
import nbclient
import nbformat
cells = [nbformat.v4.new_code_cell(source) for source in sys.argv[1:]]
nbclient.NotebookClient(nbformat.v4.new_notebook(cells=cells), kernel_name="watched", timeout=120).execute()
for cell in cells:
    print("".join(output["text"] for output in cell["outputs"]), end="")
END
}

@test "jupyter/kernel.json: the kernel is watched, and a cell tells the verdict" {
    mkdir -p jupyter/kernels/watched
    export JUPYTER_PATH=$PWD/jupyter
    sed "s:/usr/local/lib/libwhichcudnn.so:$SHIM:; s:\"python3\":\"$PLACES/python\":" "$examples/jupyter/kernel.json" \
        >jupyter/kernels/watched/kernel.json
    run -0 --separate-stderr notebook "$(cat train.py)" "!$CMD report"
    [[ $output == "$trained"* ]]
    [[ $output == *'error[facade-and-parts-differ]'* ]]
    told_in logs
    # In a cell it is too late.
    rm logs/*
    jq 'del(.env)' jupyter/kernels/watched/kernel.json >plain.json
    mv plain.json jupyter/kernels/watched/kernel.json
    run -0 --separate-stderr notebook "%env LD_PRELOAD=$SHIM" "$(cat train.py)"
    [[ $output == *"$trained"* ]]
    is "$(ls logs)" ""
}

# session: pytest beside that conftest.py
session() {
    "$PLACES/python" -m pytest -p no:cacheprovider -q "$@"
}

@test "pytest/conftest.py: an error fails a session that passed, and only such a one" {
    export WHICHCUDNN=$CMD
    cp "$examples/pytest/conftest.py" .
    echo 'def test_that(): pass' >test_without.py
    { sed 's/^/    /; 1i def test_this():' train.py && echo '    assert cudnn'; } >test_train.py
    run -0 session test_without.py
    [[ $output == *'= cuDNN ='*'not observed: no cuDNN was loaded'*'1 passed'* ]]
    run -1 session
    [[ $output == *'= cuDNN ='*'error[facade-and-parts-differ]'*'2 passed'* ]]
    # A status of its own stays; so does that of a session where the command is not there.
    cp train.py test_none.py
    run -5 session test_none.py
    [[ $output == *'error[facade-and-parts-differ]'* ]]
    WHICHCUDNN=nowhere run -0 session
    [[ $output == *"No such file or directory: 'nowhere'"* ]]
}
