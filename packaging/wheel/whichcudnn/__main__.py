# SPDX-License-Identifier: Apache-2.0
"""python -m whichcudnn: the command."""

import os
import sys

from . import NotAvailable, command

try:
    program = command()
except NotAvailable as e:
    sys.exit(f"whichcudnn: {e}")
os.execv(program, ["whichcudnn", *sys.argv[1:]])
