#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The same sources, built again in another folder without what a compiler's cache keeps: the same bytes. And
# what holds of each file: its size, the floor of glibc, its checksum, its SBOM.

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load release

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "built again in another folder, every file is the same" {
    local source="$BATS_TEST_TMPDIR/another folder's name/source" out=$BATS_TEST_TMPDIR/out
    source=${source// /-}
    source=${source//\'/}
    mkdir -p "$source" "$out"
    (cd "$WC_ROOT" && git ls-files -z -co --exclude-standard | xargs -0 -I{} sh -c '[ ! -e "$1" ] || echo "$1"' - {} |
        cpio -pdm --quiet "$source")
    ln -s "$WC_BUILD/venv" "$out/venv"
    [ ! -d "$WC_BUILD/headers" ] || ln -s "$WC_BUILD/headers" "$out/headers"
    CCACHE_DISABLE=1 make -s -C "$source" O="$out" CACHE="$WC_CACHE" DIST="$out/dist" COMMIT="$WC_COMMIT" \
        SOURCE_DATE_EPOCH="$WC_DATE" dist >&2
    diff "$DIST/SHA256SUMS" "$out/dist/SHA256SUMS"
}

@test "no file says where it was built; one that does is noticed" {
    local file
    for file in "$WC_BUILD"/portable-*/whichcudnn "$WC_BUILD"/portable-*/libwhichcudnn.so; do
        echo "$file"
        run ! grep -aqF -e "$WC_ROOT" -e "$WC_BUILD" -e "$WC_CACHE" "$file"
    done
    gcc -g -o says -xc - <<<'int main(void) { return 0; }'
    grep -aqF "$PWD" says
}

@test "the checksums are those of the files" { cd "$DIST" && sha256sum -c --quiet --strict SHA256SUMS && is "$(wc -l <SHA256SUMS)" 10; }

@test "each file that is shipped needs glibc 2.17 and nothing else" {
    local file
    for file in "$DIST"/*linux-*64.tar.gz; do tar -xzf "$file"; done
    is "$(printf '%s\n' whichcudnn-*/bin/whichcudnn whichcudnn-*/lib/*.so | wc -l)" 4
    "$WC_ROOT/packaging/check-floor" whichcudnn-*/bin/whichcudnn whichcudnn-*/lib/*.so
}

@test "sizes: the library at most 352 KiB, a wheel at most 1 MiB" { have_sizes; }

@test "the SBOM is CycloneDX, and names what is linked in with its release" {
    local file
    for file in "$WC_BUILD"/portable-*/stage/whichcudnn.cdx.json; do
        "$WC_PYTHON" - "$file" <<'END'
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
text = open(sys.argv[1], encoding="utf-8").read()
check = JsonStrictValidator(SchemaVersion.V1_6)
assert check.validate_str(text) is None, check.validate_str(text)
assert check.validate_str(text.replace('"library"', '"liberry"')) is not None
END
        is "$(jq -r '.components[] | select(.version | test("^[0-9.]+$")) | .name' "$file" | tr '\n' ' ')" \
            'jansson zlib uthash '
    done
}
