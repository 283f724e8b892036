#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Damaged cuDNN files, offered to a host that opens them and to one that is linked to them: both end
# as bare, and the log names the file (damaged.py says by which record).
# shellcheck disable=SC2154  # faults.bash sets work and cudnn

bats_require_minimum_version 1.5.0
load faults

SEED=20260

setup_file() { build_faults; }
setup() { enter_faults; }

# A host linked to the file of that very path: no search comes between.
build_linked() { # FILE OUT
    mkdir -p "$(dirname "$1")"
    echo 'libcudnn.so.9 { global: *; };' >map
    gcc -shared -fPIC -o "$1" -Wl,--version-script=map -xc - <<<'
        unsigned long cudnnGetVersion(void) { return 0; }
        int cudnnCreate(void **handle) { return !handle; }'
    gcc -O1 -DLINKED -o "$2" "$WC_ROOT/tests/faults/offered.c" -Wl,--no-as-needed "$1" -Wl,-z,now
    rm "$1"
}

offer() { # FACADE CUTS FLIPS
    build_linked "$work/offer/set/libcudnn.so.9" linked
    "$PY" "$WC_ROOT/tests/faults/damaged.py" "$SHIM" "${FAULTS_BESIDE:-}" "$FAULTS/offered" \
        "$work/linked" "$1" "$work/offer" "$2" "$3" "$SEED" >offer.out ||
        { cat offer.out && return 1; }
    sed 's/^/# /' offer.out >&3
}

real() { echo "$(fetch_cudnn "$1" --print lib)/libcudnn.so.9"; }

@test "damaged: a stand-in" {
    offer "$cudnn" "$(long 5 10 50)" "$(long 20 100 500)"
}

@test "damaged: the facade of 9.10.2" {
    offer "$(real 9.10.2)" "$(long 5 10 50)" "$(long 20 100 500)"
}

@test "damaged: the facade of 9.28" {
    offer "$(real 9.28.0)" "$(long 5 10 50)" "$(long 20 100 500)"
}
