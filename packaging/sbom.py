# SPDX-License-Identifier: Apache-2.0
"""sbom.py VERSION ARCHITECTURE < MACROS: what is in a release, as CycloneDX 1.6.

Standard input is what `cc -E -dM` says of the headers of the libraries that the command holds: the release
that is named is the one that was compiled in.
"""

import datetime
import json
import os
import re
import sys
import uuid

# name, licence, macro of its release, where it comes from
LIBRARIES = [
    ("jansson", "MIT", "JANSSON_VERSION", "https://github.com/akheron/jansson"),
    ("zlib", "Zlib", "ZLIB_VERSION", "https://zlib.net"),
    ("uthash", "BSD-1-Clause", "UTHASH_VERSION", "https://troydhanson.github.io/uthash"),
]


def main():
    version, architecture = sys.argv[1:]
    macros = dict(re.findall(r"^#define (\w+) (.+)$", sys.stdin.read(), re.MULTILINE))
    when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    own = f"pkg:pypi/whichcudnn@{version}"
    components = []
    for name, licence, macro, site in LIBRARIES:
        release = macros[macro].strip('"')
        components.append({
            "type": "library", "bom-ref": f"pkg:generic/{name}@{release}", "name": name, "version": release,
            "licenses": [{"license": {"id": licence}}], "purl": f"pkg:generic/{name}@{release}",
            "externalReferences": [{"type": "website", "url": site}],
        })
    json.dump({
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{own}?arch={architecture}&date={when}')}",
        "metadata": {
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "bom-ref": own, "name": "whichcudnn", "version": version,
                          "licenses": [{"license": {"id": "Apache-2.0"}}], "purl": own,
                          "properties": [{"name": "architecture", "value": architecture}]},
        },
        "components": components,
        "dependencies": [{"ref": own, "dependsOn": [c["bom-ref"] for c in components]}],
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
