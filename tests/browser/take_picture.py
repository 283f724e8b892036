#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""take_picture.py PAGE FILE.png: what a screen shows of a page, down to its list of findings."""

import pathlib
import sys

import browser

WIDTH = 1200


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    page, picture = map(pathlib.Path, sys.argv[1:])
    with browser.Browser() as b:
        b.open(page.resolve(), WIDTH)
        height = b.run("() => { const list = [...document.querySelectorAll('h2')]"
                       ".find(h => h.textContent.startsWith('Findings'));"
                       " return Math.floor(list.getBoundingClientRect().top); }")
        b.open(page.resolve(), WIDTH, height)
        b.screenshot(picture)


if __name__ == "__main__":
    main()
