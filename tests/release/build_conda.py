# SPDX-License-Identifier: Apache-2.0
"""build_conda.py RECIPE PLATFORM DIRECTORY: what `rattler-build build --target-platform PLATFORM` does, by its
library, with DIRECTORY as the only channel. Prints platform, requirements and licence of the package; if it is for
this machine, its tests run, too."""

import platform
import sys

from rattler_build import Package, PlatformConfig, RenderConfig, Stage0Recipe

recipe, target, directory = sys.argv[1:]
render = RenderConfig(platform=PlatformConfig(target_platform=target))
(built,) = Stage0Recipe.from_file(recipe).run_build(channels=[], output_dir=directory, render_config=render)
package = Package.from_file(built.packages[0])
print(package.subdir, *package.depends, package.license)
if target == {"x86_64": "linux-64", "aarch64": "linux-aarch64"}.get(platform.machine()):
    results = package.run_tests(channel=[f"file://{directory}"])
    for result in results:
        print("\n".join(result.output))
    passed = sum(result.success for result in results)
    print(f"tests: {passed} passed, {len(results) - passed} failed")
    sys.exit(passed != len(results))
