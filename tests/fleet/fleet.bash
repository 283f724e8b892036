# SPDX-License-Identifier: Apache-2.0
# What the tests of a fleet share: `load fleet`.
# shellcheck shell=bash

# shellcheck source=../e2e/helpers.bash
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/helpers.bash"

export FLEET=$WC_ROOT/tests/fleet EXAMPLES=$WC_ROOT/examples/fleet

draw() { "$PY" "$FLEET/draw_fleet.py" "$@" ${WC_SEED:+--seed "$WC_SEED"}; }
ask() { "$PY" "$FLEET/ask.py" "$@"; }
compare() { "$PY" "$FLEET/compare.py" "$@"; }

# Out of Debian's package, which is not installed: it starts a server. Kept in the cache; prints where.
fetch_promtool() {
    local to=$WC_CACHE/promtool
    [ -x "$to" ] || (
        cd "$BATS_TEST_TMPDIR"
        apt-get download -qq prometheus >&2
        dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xO ./usr/bin/promtool >"$to.new"
        chmod +x "$to.new"
        mv "$to.new" "$to"
    )
    echo "$to"
}

# The counts over a drawn fleet, whatever they say of what is damaged.
report() { "$CMD" report "$@" 2>/dev/null || true; }

# metrics TRUTH COUNTS: processes and findings by what they are.
metrics() {
    jq -r '.metrics | (.processes[] | "whichcudnn_processes{version=\"\(.[0])\",source=\"\(.[1])\"} \(.[2])"),
        (.findings[] | "whichcudnn_findings{id=\"\(.[0])\",severity=\"\(.[1])\"} \(.[2])")' "$1" | sort |
        diff - <(grep -E '^whichcudnn_(processes|findings)\{' "$2" | sort)
}
