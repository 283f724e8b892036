#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# In a process that has nothing to do with cuDNN the shim changes nothing and leaves nothing.

bats_require_minimum_version 1.5.0
load helpers

neutrality=$WC_ROOT/tests/neutrality
built=$BUILD/neutrality

setup_file() {
    mkdir -p "$built"
    gcc -O2 -Wall -Wextra -shared -fPIC "$neutrality/empty.c" -o "$built/empty.so" \
        -Wl,-z,relro,-z,now
}

# A coverage build writes its counts when any process ends: that is not what users get.
programs() {
    [ "${COVERAGE:-}" != 1 ] || SHIM=$("$neutrality/shim-variant" O2 2>/dev/null)
    "$PY" "$neutrality/random_programs.py" --shim "$SHIM" --empty "$built/empty.so" "$@"
}

@test "100 random programs: same output and status, no file left or written, no page changed" {
    run programs --count 100 ${WC_SEED:+--seed "$WC_SEED"}
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"100 programs of "*", 10 of them traced"* ]]
}

@test "Python with a dozen extension modules" {
    run programs "$PY" -B -c '
import importlib
files = 0
for name in ("_asyncio _bz2 _codecs_jp _codecs_kr _contextvars _ctypes _curses _decimal _hashlib "
             "_json _lsprof _lzma _multiprocessing _opcode _posixshmem _queue _sqlite3 _ssl _uuid "
             "_zoneinfo mmap readline resource termios").split():
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        print(error)
        continue
    print(name, module.__spec__.origin, len(dir(module)))
    files += (module.__spec__.origin or "").endswith(".so")
import ctypes, decimal, hashlib, json, sqlite3
print(ctypes.CDLL(None).strlen(b"four"), decimal.Decimal(1) / 7, hashlib.sha256(b"").hexdigest(),
      json.dumps([1.5]), sqlite3.connect(":memory:").execute("select 6 * 7").fetchall())
try:
    ctypes.CDLL("libnothing-of-that-name.so")
except OSError as error:
    print(error)
assert files >= 12, files'
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"1 programs of 1, 1 of them traced"* ]]
}

@test "the comparison notices a file, a word, an mprotect, a file opened for writing" {
    cd "$BATS_TEST_TMPDIR"
    cat >bad.c <<'END'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void) {
#ifdef LEAVES
    close(open("left", O_RDONLY | O_CREAT, 0600));
#elif defined(SAYS)
    if (write(2, "bad\n", 4)) {}
#elif defined(PROTECTS)
    static _Alignas(4096) char page[4096];
    mprotect(page, sizeof page, PROT_READ);
#elif defined(OPENS)
    close(open("/dev/null", O_WRONLY));
#endif
}
END
    local what words
    while read -r what words; do
        gcc -shared -fPIC "-D$what" bad.c -o bad.so
        SHIM=$PWD/bad.so run programs /bin/echo hello
        echo "$what: $output"
        [ "$status" -eq 1 ]
        [[ $output == *"$words"* ]]
    done <<'END'
LEAVES left ['left']
SAYS b'bad
PROTECTS more of mprotect
OPENS opens /dev/null for writing
END
    # And a program that cannot run bare is not counted.
    run programs /bin/nothing-of-that-name
    [ "$status" -ne 0 ]
}
