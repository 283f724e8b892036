#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What does not match is in the log before the call that it may break goes on to cuDNN. The
# stand-in's cudnnCreate opens the log from inside and ends the process with 77 if no finding is
# there.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir logs
    export WHICHCUDNN_LOG=$PWD/logs WHICHCUDNN_STDERR=off
}

# A facade of one release over the parts of another. The facade's file name tells its release; in 8
# nothing inside would.
make_mixed() { # FACADE_VERSION PARTS_VERSION DIR
    make_standin "$1" "$3" --layout toolkit --only facade --reads-log
    make_standin "$2" "$3/lib64" --without facade --reads-log
}

@test "the callee finds the finding in the log, however the host is bound" {
    local mode
    make_mixed 9.1.0 9.10.0 nine
    make_mixed 8.6.0 8.9.2 eight
    for mode in lazy now no-plt address no-pic no-pic-address dlopen library-lazy opened-lazy \
        opened-dlopen; do
        for set in nine eight; do
            build_host $mode $set/lib64 host
            run ./host create
            is "$status" 77 # without the shim there is no log
            run env LD_PRELOAD="$SHIM" ./host create
            echo "$mode, $set: status $status, $output"
            [[ $status -eq 0 && $output == "create 1"* ]]
            validate_log "$(the_log logs)"
            is "$(records finding logs/* | jq -r .id | head -n 1)" facade-and-parts-differ
            rm logs/*
        done
    done
}

@test "what was expected and is not met stands in the log before the call, in a set that fits" {
    make_standin 9.1.0 set --reads-log
    build_host lazy set host
    WHICHCUDNN_EXPECT='>=9.8' run env LD_PRELOAD="$SHIM" ./host create
    is "$status $output" "0 create 1001"
    is "$(records finding logs/* | jq -r .id | head -n 1)" expectation-not-met
    rm logs/*
    # The healthy twin has nothing to tell, and so the callee finds nothing.
    WHICHCUDNN_EXPECT='>=9.0' run env LD_PRELOAD="$SHIM" ./host create
    is "$status" 77
    is "$(records call logs/* | jq -r '.function + " " + .phase')" "cudnnCreate before"
}

@test "the order of system calls: the finding is written, then cudnnCreate makes its first one" {
    make_mixed 9.1.0 9.10.0 set
    build_host dlopen set/lib64 host
    strace -o trace -s 300 -e trace=write,openat env LD_PRELOAD="$SHIM" ./host create
    # Only the stand-in's cudnnCreate opens the folder of the log.
    run awk '
        /^write\(.*\\"kind\\":\\"finding\\"/ && !finding { finding = NR }
        /^write\(.*\\"kind\\":\\"call\\".*\\"phase\\":\\"before\\"/ && !call { call = NR }
        /^openat\(.*O_DIRECTORY/ && index($0, "\"'"$WHICHCUDNN_LOG"'\"") && !inside { inside = NR }
        /^write\(.*\\"kind\\":\\"call\\".*\\"phase\\":\\"after\\"/ && !after { after = NR }
        END { print finding, call, inside, after
              exit !(finding && call && inside && after &&
                     finding < inside && call < inside && inside < after) }
    ' trace
    echo "lines of the finding, the call, the marker, the return: $output"
    [ "$status" -eq 0 ]
}

@test "each record is written in one write, to the log that was opened for it" {
    make_mixed 9.1.0 9.10.0 set
    build_host now set/lib64 host
    strace -o trace -s 100000 -e trace=openat,write,close env LD_PRELOAD="$SHIM" ./host create
    run awk '
        /^openat\(.*\/logs\/.*O_WRONLY/ && !/O_CREAT/ { opened++; at = NR }
        /^write\(.*[^\\]\\n", [0-9]+\) = [0-9]+$/ && NR == at + 1 { written++ }
        /^close\(/ && at && NR == at + 2 { closed++ }
        END { print opened, written, closed }
    ' trace
    n=$(cat logs/* | wc -l)
    is "$output" "$n $n $n"
    [ "$n" -ge 10 ]
}

@test "a finding that comes before a crash is there after it" {
    make_standin 9.11.0 set --only facade
    make_standin 9.1.0 set --without facade --without-function cudnnCreate
    build_host lazy set host
    run env LD_PRELOAD="$SHIM" ./host create
    is "$status" 134
    validate_log "$(the_log logs)"
    is "$(records finding logs/* | jq -r .id | head -n 1)" facade-and-parts-differ
    is "$(tail -n 1 logs/* | jq -r .kind)" finding
}
