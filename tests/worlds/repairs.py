# SPDX-License-Identifier: Apache-2.0
"""Each fix that is printed with a command, played bare in a world of its own: is the broken run as its twin then, does
what works still work, and does a second run print another fix?"""
import base64
import json
import re
import shlex
from collections import Counter
from functools import lru_cache

import judge
import stock
from world import World, deb_packages

ROUNDS = 4
LOOKS = re.compile(r"^(nvidia-smi|ldd |whichcudnn |readelf |export CUDNN_LOG|cat |ls |findmnt|pip (list|check|show))")
TORN = ("parts-differ", "facade-and-parts-differ", "part-from-other-installation")
BAD = ("no cure", "harmful", "tells on", "loop")


def inside(path):
    """A path of the stock, as it is seen from within a world."""
    return str(path).replace(str(stock.BUILD / "worlds"), "/opt/stock", 1)


def packed(files):
    out = {}
    for path, source in files.items():
        if isinstance(source, bytes):
            out[path] = "b64:" + base64.b64encode(source).decode()
        elif isinstance(source, str):
            out[path] = "link:" + source
        else:
            out[path] = inside(source)
    return out


def archive(files, version):
    """As NVIDIA's archives have them: full names, and links."""
    laid = {}
    for name, source in files.items():
        laid.update(World.versioned("", name, source, version))
    return {path.lstrip("/"): source for path, source in laid.items()}


def searching(version):
    return (stock.SEARCHING,) if "8.5" <= version < "9" else ()


def released(version, cuda, files=None):
    """Of 8.5 and newer the parts have the search path of NVIDIA's (tools/knowledge/wheel_files.def): those that lie in a
    world lost it, or are of whoever repacked them. files: as a world has them; what is the stock's is replaced."""
    plain = World.cudnn_files(version, cuda) if files is None or version in stock.RELEASES else {}
    whole = World.cudnn_files(version, cuda, *searching(version)) if plain else {}
    return {name: whole[name] if source == plain.get(name, 0) else source for name, source in (files or plain).items()}


def newest():
    """(version, its fourth number, cuda) of the newest releases that the tables know: what a fix may ask for."""
    found = {}
    for row in re.findall(r'CUDNN_RELEASE\("(\d+\.\d+\.\d+)\.?(\d*)", (\d), (\d), (\d)\)',
                          (stock.ROOT / "tools/knowledge/wheel_files.def").read_text()):
        found.update({(row[0].split(".")[0], cuda): row[:2] for cuda, has in zip(("11", "12", "13"), row[2:]) if has == "1"})
    return [(*version, cuda) for (_, cuda), version in found.items()]


def add_release(to, version, cuda, files):
    """As packages of conda and apt, and as an archive."""
    laid = {"files": packed({f"lib/{n}": p for n, p in files.items()})}
    for name in ("cudnn", "libcudnn"):  # as conda-forge and others have it
        to["conda"].setdefault(name, {})[f"{stock.wheel_version(version)} cuda{cuda}_0"] = laid
    to["archive"].setdefault("cudnn", {})[f"{version} {cuda}"] = {"files": packed(archive(files, version))}
    for name, apt_version, laid in deb_packages(version, cuda, files):
        to["apt"].setdefault(name, {})[apt_version] = {"files": packed(laid)}


@lru_cache(None)
def index():
    """All releases of the stock, as packages of pip, conda and apt."""
    found = {"pip": {}, "conda": {}, "apt": {}, "archive": {"cudnn": {}}}
    for version, (_, cudas) in stock.RELEASES.items():
        major = version.split(".")[0]
        for cuda in cudas:
            files = released(version, cuda)
            if major > "7":
                name, full, wheel, requires = World.cudnn_wheel(version, cuda, *searching(version))
                found["pip"].setdefault(name, {})[full] = {"files": packed(wheel), "requires": requires}
            add_release(found, version, cuda, files)
    for version, build, cuda in (*newest(), ("8.9.4", "25", "12")):  # that is what TensorFlow 2.15 requires
        if version not in stock.RELEASES:
            name, _, wheel, requires = World.cudnn_wheel(version, cuda, *searching(version), build=build)
            found["pip"][name][f"{version}.{build}"] = {"files": packed(wheel), "requires": requires}
    for version, _, cuda in (*newest(), ("8.1.1", "33", "11")):  # that is what MXNet 1.9.1 was built with
        files = released(version, cuda)
        found["archive"]["cudnn"].setdefault(f"{version} {cuda}", {"files": packed(archive(files, version))})
    for cuda in stock.TOOLKITS:
        for name, version, files, _ in World.cuda_wheels(cuda):
            found["pip"].setdefault(name, {})[version] = {"files": packed(files), "requires": ()}
        names = stock.companion_names(cuda)
        for part, name in names.items():
            source = {name: stock.companion(part, cuda)}
            found["archive"][name] = {f"{stock.FULL[cuda]} {cuda}": {"files": packed(source)}}
        for name, parts in (("libcublas", ("cublas", "cublasLt")), ("cuda-cudart", ("cudart",)),
                            ("cuda-nvrtc", ("nvrtc", "builtins"))):
            found["conda"].setdefault(name, {})[f"{stock.FULL[cuda]} 0"] = {
                "files": packed({f"lib/{names[p]}": stock.companion(p, cuda) for p in parts})}
    return json.dumps(found)


def stand_ins(w):
    """pip and the others, in front of PATH and in the environments."""
    w.at("/tmp").chmod(0o1777)  # who types it may not be root
    w.put(stock.HERE / "installers.py", "/usr/local/lib/world/installers.py")
    w.write("/usr/local/lib/world/index.json", index())
    own = {"pip": {}, "conda": {}, "apt": {}, "archive": {}}
    for name, versions in w.index.items():
        own["pip"][name] = {v: {"files": packed(f), "requires": list(r)} for v, (f, r) in versions.items()}
    for (version, cuda), files in w.releases.items():
        add_release(own, version, cuda, released(version, cuda, files))
    w.write("/usr/local/lib/world/world.json", json.dumps(own))
    call = "#!/bin/bash\n{}exec /usr/bin/python3 -I -S /usr/local/lib/world/installers.py {} \"$@\"\n"
    for command, does in (("pip", "pip"), ("pip3", "pip"), ("conda", "conda"), ("mamba", "conda"), ("apt-get", "apt"),
                          ("apt", "apt"), ("place", "place"), ("git", "git")):
        w.write(f"/usr/local/bin/{command}", call.format("", does), 0o755)
    w.write("/usr/local/bin/sudo", "#!/bin/bash\nexec \"$@\"\n", 0o755)
    w.write("/usr/local/bin/uv", "#!/bin/bash\n[ \"$1\" = pip ] || exit 77\nexec \"$@\"\n", 0o755)
    w.link("/usr/local/bin/ldconfig", "/usr/sbin/ldconfig")
    for prefix in {w.env.get("VIRTUAL_ENV"), w.env.get("CONDA_PREFIX")} - {None}:
        if w.exists(prefix):
            w.write(f"{prefix}/bin/pip", call.format(f"export WORLD_PREFIX={prefix}\n", "pip"), 0o755)


def typed(fix):
    """What is done for it, as a command: its own, or that of a person who puts an archive into a directory, and may
    let a variable lead there."""
    ways = {"place": lambda e: ("place", e["name"], e["value"] or "", e["path"], *filter(None, (e["target"],))),
            "set": lambda e: ("export", f"{e['name']}={e['value']}")}
    ways["restore"] = ways["place"]
    edits = fix.get("edits") or []
    by_hand = any(e["edit"] in ("place", "restore") for e in edits)
    if fix.get("command") or not by_hand or any(e["edit"] not in ways or e.get("by") for e in edits):
        return fix.get("command")
    return " && ".join(shlex.join(ways[e["edit"]](e)) for e in edits)


def commands(telling):
    """(finding, number of the fix, fix) of each that can be done, each command once, in the order of telling."""
    seen = set()
    for finding in telling.findings():
        for n, fix in enumerate(finding.get("fixes") or finding.get("fix") or []):
            command = typed(fix)
            if command and command not in seen:
                seen.add(command)
                yield finding, n, {**fix, "command": command}


def apply(w, command):
    """Does what a shell in which the command is typed would do; None, or why it was not done."""
    if re.search(r"[<>]\w+>|\.\.\.|…", command):
        return "not playable", "has a gap that a person must fill"
    status, out, err = w.play(["/bin/bash", "-c", command + "\nstatus=$?\nenv -0 >/tmp/after\nexit $status"], seconds=30)
    if status == 77:
        return "not playable", err.strip().splitlines()[-1] if err.strip() else "not in the local index"
    if status == 127 and re.search(r"(\S+): command not found", err):
        return "not playable", re.search(r"(\S+): command not found", err).group(1) + " is not here"
    if status:
        return "no cure", f"the command fails: {err.strip().splitlines()[-1] if err.strip() else status}"
    after = dict(pair.split("=", 1) for pair in w.read("/tmp/after").decode().split("\0") if "=" in pair)
    for name in ("_", "SHLVL", "PWD", "OLDPWD"):
        after.pop(name, None)
    w.env = after
    limit = re.search(r"\bulimit [^&;]*", command)
    if limit:
        w.limits = "; ".join(filter(None, (w.limits, limit.group(0))))
    return None


def without_version(text):
    return re.sub(r"^version \d+$", "version", text, flags=re.M)


def same(one, other, exact):
    (status, out), (want, text) = judge.outcome(one), judge.outcome(other)
    return status == want and (out == text if exact else without_version(out) == without_version(text))


def cause(telling):
    finding = next(iter(telling.findings()), None)
    return finding and (finding["id"], finding["title"])


def repairs_of(telling):
    return [f for f in commands(telling) if not LOOKS.match(f[2]["command"])]


def is_another(finding, next_, truths):
    """Is now told what the first finding did not name, and was planted, too?"""
    def planted(title):
        return {g for t in truths for g in t.guilty if g in title}
    return judge.judge(next_, truths) == "right" and bool(planted(cause(next_)[1]) - planted(finding["title"]))


def play_one(make, finding, fix, truths, good, now, of_twin):
    """What became of one fix, in a world of its own. of_twin: the findings that the healthy twin is told to repair."""
    w = make()
    stand_ins(w)
    broken = judge.outcome(good) != judge.outcome(now)
    # Where the release alone tells the twins apart, another release is no cure, but of a set that is not of one piece.
    exact = broken and same(good, now, False) and finding["id"] not in TORN
    done, command = [], fix["command"]
    for round_ in range(1, ROUNDS + 1):
        refused = apply(w, command)
        if refused:
            return *refused, round_
        done.append(command)
        bare = w.bare()
        if not broken and not same(bare, now, False):
            return "harmful", f"{judge.outcome(now)} became {judge.outcome(bare)}", round_
        if same(bare, good, exact):
            told = judge.tell(w)
            again = repairs_of(told)
            if not again:
                return ("cured" if broken else "harmless"), "", round_
            if broken and {f["id"] for f, _, _ in again} <= of_twin:
                return "next cause", again[0][0]["id"], round_  # it is as its twin, which has that, too
            if len(truths) > 1 and judge.judge(told, truths) == "right" and cause(told) != (finding["id"], finding["title"]):
                return "next cause", told.first[1], round_  # of a world with two
            return "tells on", f"{again[0][0]['id']}: {again[0][2]['command']}", round_
        next_ = judge.tell(w)
        more = [f for f in repairs_of(next_) if f[0]["severity"] == "error"
                or not next_.first or next_.first[0] != "error"]
        if len(truths) > 1 and judge.judge(next_, truths) == "right" and cause(next_) != (finding["id"], finding["title"]):
            return "next cause", next_.first[1], round_
        if not more and is_another(finding, next_, truths):
            return "next cause", next_.first[1], round_  # of one fault that left several libraries missing
        if not more:
            return "no cure", f"{judge.outcome(bare)[0]}, told {cause(next_)}", round_
        if more[0][2]["command"] in done:
            return "loop", more[0][2]["command"], round_
        if more[0][0]["id"] == finding["id"] and more[0][0]["title"] == finding["title"]:
            return "no cure", f"{judge.outcome(bare)[0]}, told the same once more", round_
        command = more[0][2]["command"]
    return "no cure", "no end of fixes", ROUNDS


def play_all(make, telling, sound, truths, good, now):
    """Each fix that this run printed with a command. sound: what the healthy twin was told; good: that, now: this
    world, bare."""
    results = []
    broken = judge.outcome(good) != judge.outcome(now)
    of_twin = {f["id"] for f, _, _ in repairs_of(sound)}
    findings = telling.findings()
    if broken and findings:
        fixes = findings[0].get("fixes") or findings[0].get("fix") or []
        first = fixes[0] if fixes else None
        edit = bool(first and (first.get("edits") or first.get("command") and not LOOKS.match(first["command"])))
        results.append({"result": "first", "edit": edit, "id": findings[0]["id"], "text": first and first["text"]})
    for finding, n, fix in commands(telling):
        entry = {"id": finding["id"], "severity": finding["severity"], "number": n, "command": fix["command"],
                 "action": fix.get("action"), "checked": fix.get("checked"), "broken": broken}
        if LOOKS.match(fix["command"]):
            entry.update(result="looks", why="", rounds=0)
        else:
            result, why, rounds = play_one(make, finding, fix, truths, good, now, of_twin)
            entry.update(result=result, why=why, rounds=rounds)
        results.append(entry)
    return results


def summary(results):
    """Prints what became of the fixes; the bars that were missed."""
    fixes = [{**f, "kind": r["kind"], "seed": r["seed"], "place": r["place"]} for r in results for f in r["fixes"]]
    first = [f for f in fixes if f["result"] == "first"]
    played = [f for f in fixes if f["result"] not in ("first", "looks")]
    count = Counter(f["result"] for f in played)
    edits = sum(f["edit"] for f in first)
    print(f"\nfixes that can be done: {len(played)} played ({sum(f['result'] == 'looks' for f in fixes)} only look); "
          + ", ".join(f"{count[k]} {k}" for k in ("cured", "next cause", "harmless", "tells on", "no cure", "loop",
                                                  "harmful", "not playable")))
    print("rounds of the cured: " + ", ".join(f"{n}: {c}" for n, c in sorted(Counter(
        f["rounds"] for f in played if f["result"] == "cured").items())))
    for checked in sorted({str(f["checked"]) for f in played if f["checked"]}):
        some = Counter(f["result"] for f in played if f["checked"] == checked)
        print(f"checked: {checked}: " + ", ".join(f"{n} {k}" for k, n in some.most_common()))
    print(f"of the first fixes {edits} of {len(first)} are edits, {100 * edits / max(1, len(first)):.0f} % (bar 80 %)")
    prose = Counter((f["id"], f["kind"], f["place"]) for f in first if not f["edit"])
    for (id_, kind, place), n in sorted(prose.items()):
        print(f"{n:5} prose: {id_}: {kind} in {place}")
    by = Counter((f["result"], f["id"], re.sub(r"/\S+", "P", re.sub(r"[\d.]+\d", "N", f["command"]))[:60],
                  re.sub(r"/\S+", "P", f["why"])[:70]) for f in played if f["result"] in (*BAD, "not playable"))
    for (result, id_, command, why), n in sorted(by.items()):
        print(f"{n:5} {result}: {id_}: {command} ({why})")
    missed = []
    unplayed = count["not playable"]
    if any(count[k] for k in BAD):
        missed.append("fixes that cure")
    if unplayed > 0.1 * len(played):
        missed.append("fixes that can be played")
    if edits < 0.8 * len(first):
        missed.append("first fixes that are edits")
    return missed

