# SPDX-License-Identifier: Apache-2.0
# What the tests of places share: `load ../e2e/helpers`, `load places`.
# shellcheck shell=bash
# shellcheck disable=SC2034 # variables of the files that load this

examples=$WC_ROOT/examples
PLACES=${WC_PLACES:-$WC_BUILD/venv-places/bin}

# ./train.py loads a cuDNN whose facade and parts are of two releases.
make_training() {
    make_standin 9.1.0 set --only facade
    make_standin 9.5.0 set --without facade
    cat >train.py <<END
import ctypes
cudnn = ctypes.CDLL("$PWD/set/libcudnn.so.9")
print("version", cudnn.cudnnGetVersion(), "create", cudnn.cudnnCreate(ctypes.byref(ctypes.c_void_p())), flush=True)
END
    trained='version 90500 create 1001'
}

# That is told in the one log of this directory, which is whole.
told_in() { # [DIRECTORY]
    local log
    log=$(the_log "${1:-.}") && validate_log "$log" || return
    is "$(records finding "$log" | jq -r .id | head -n 1)" facade-and-parts-differ
}
