# SPDX-License-Identifier: Apache-2.0
"""Names the machine that the wheel is for: nothing in it depends on the Python."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeTag(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = os.environ["WHEEL_TAG"]
