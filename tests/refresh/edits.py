# SPDX-License-Identifier: Apache-2.0
"""The tables as texts, and the edits by which they take in what is new. What no edit can say is
left to people: notes, each a sentence.
"""

import csv
import os
import re

from index import key
import tables
import watch

EXPORTS = "tests/real/exports.tsv"
SYMBOLS = "core/data/cudnn_symbols.tsv"
KNOWLEDGE = "core/data/cudnn_knowledge.tsv"
WHEELS = "tools/knowledge/wheel_files.def"
PINS = "core/knowledge/built_with.def"
RULES = "core/knowledge/rules.def"
PARTS = "core/knowledge/parts.def"


class Tables:
    def __init__(self, root):
        self.root, self.notes = root, []
        self.old = {name: self.read(name) for name in (KNOWLEDGE, SYMBOLS, WHEELS, PINS, RULES, PARTS)}
        self.new = dict(self.old)
        self.left_out = {line.split("\t")[0] for line in self.read(EXPORTS).splitlines()}

    def read(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8", newline="") as file:
            return file.read()

    def note(self, sentence):
        if sentence not in self.notes:
            self.notes.append(sentence)

    def rows(self, name, *macros):
        return [row[1:] for row in tables.rows_of_text(self.new[name], *macros)]

    def write(self):
        """Each whole or not at all, after all of them could be written."""
        changed = [name for name in self.new if self.new[name] != self.old[name]]
        for name in changed:
            with open(f"{self.root}/{name}.new", "w", encoding="utf-8", newline="") as file:
                file.write(self.new[name])
        for name in changed:
            os.replace(f"{self.root}/{name}.new", f"{self.root}/{name}")

    # ---- what is known ----

    def knowledge(self):
        return dict(csv.reader(self.new[KNOWLEDGE].splitlines(), delimiter="\t"))

    def know(self, what, newest):
        text, found = re.subn(rf"^{re.escape(what)}\t.*$", f"{what}\t{newest}", self.new[KNOWLEDGE],
                              flags=re.M)
        self.new[KNOWLEDGE] = text if found else f"{text}{what}\t{newest}\n"

    # ---- functions ----

    def symbols(self):
        lines = self.new[SYMBOLS].splitlines()[1:]
        return {name: rest for name, *rest in (line.split("\t") for line in lines)}

    def learn_functions(self, surfaces):
        """surfaces: Releases, oldest first, no known release between them left out."""
        known = self.symbols()
        for name in sorted(set(known).union(*(one.functions for one in surfaces)) - self.left_out):
            row = self.dated(name, known.get(name), surfaces)
            if row:
                known[name] = row
        head = self.new[SYMBOLS].splitlines()[0]
        lines = ["\t".join([name, *known[name]]) for name in sorted(known)]
        self.new[SYMBOLS] = "\n".join([head, *lines]) + "\n"

    def dated(self, name, row, surfaces):
        """[first, last, note] of a function; None: nothing is known of it."""
        have = [one for one in surfaces if name in one.functions]
        if not have:
            if row and not row[1] and key(row[0]) <= key(surfaces[0].name):
                self.note(f"{name}: {SYMBOLS} has it, and none of the releases read; which was the "
                          "last?")
            return row
        end = begin = surfaces.index(have[-1])
        while begin > 0 and surfaces[begin - 1] in have:
            begin -= 1
        before = surfaces[begin - 1] if begin else None
        behind = surfaces[end + 1] if end + 1 < len(surfaces) else None
        begin, end = surfaces[begin], surfaces[end]
        if not row:
            if not any(name in one.declared() for one in have):
                self.note(f"{name}: exported by {begin.name}, declared in no header: a row in "
                          f"{EXPORTS}, or in {SYMBOLS}")
                return None
            row = [begin.name, "", self.bounds(begin, before)]
        elif not (key(row[0]) <= key(begin.name) and
                  (not before or key(before.name) < key(row[0]))):
            row = [begin.name, row[1], self.bounds(begin, before)]
        if behind and not (row[1] and key(end.name) <= last(row[1]) < key(behind.name)):
            row = [row[0], end.name, f"{row[2]}; gone <={behind.name}, last seen {end.name}"]
        if not behind and row[1] and last(row[1]) < key(end.name):
            self.note(f"{name}: gone after {row[1]} in {SYMBOLS}, and exported by {end.name}")
        return row

    @staticmethod
    def bounds(begin, before):
        return f"exports: <={begin.name} >{before.name}" if before else f"exports: <={begin.name}"

    # ---- releases of cuDNN ----

    def has_release(self, distribution, version):
        cuda = re.fullmatch(r"nvidia-cudnn-cu(\d+)", distribution)
        has = {row[0]: row[1:] for row in self.rows(WHEELS, "CUDNN_RELEASE")}
        return bool(cuda and has.get(version, (0, 0, 0))[int(cuda[1]) - 11])

    def add_release(self, release):
        column = int(re.fullmatch(r"nvidia-cudnn-cu(\d+)", release.distribution)[1]) - 11
        rows = {row[0]: list(row[1:]) for row in self.rows(WHEELS, "CUDNN_RELEASE")}
        rows.setdefault(release.version, [0, 0, 0])[column] = 1
        text = "".join(f'CUDNN_RELEASE("{version}", {", ".join(map(str, rows[version]))})\n'
                       for version in sorted(rows, key=watch.fields))
        self.new[WHEELS] = re.sub(r"^CUDNN_RELEASE\(.*\)\n(CUDNN_RELEASE\(.*\)\n)*", lambda _: text,
                                  self.new[WHEELS], count=1, flags=re.M)

    def from_where(self, version):
        """ "9.29" of the first release of 9.29, else "9.29.1"."""
        others = [row[0] for row in self.rows(WHEELS, "CUDNN_RELEASE")]
        first = all(key(other) >= key(version) for other in others
                    if key(other)[:2] == key(version)[:2])
        return ".".join(map(str, key(version)[:2 if first else 3]))

    def of(self, macro, release):
        """The values of the rows that hold for a release."""
        number = watch.fields(release.version)
        return [row[3:] for row in self.rows(WHEELS, macro) if row[0] == release.distribution
                and (not row[1] or watch.fields(row[1]) <= number)
                and (not row[2] or number < watch.fields(row[2]))]

    def learn_parts(self, release):
        """Which parts it looks for that no older release had, and from when on wheels hold them."""
        number, since = watch.fields(release.version), self.from_where(release.version)
        for part in sorted(release.asked()):
            there = part in release.parts()
            row = next((row for row in self.rows(PARTS, "ADDED_PART") if row[0] == part), None)
            is_old = any(held[3].endswith(f"/libcudnn_{part}.so.9") and watch.fields(held[1] or "0") < number
                         for held in self.rows(WHEELS, "WHEEL_FILE"))
            old, new = "/* clang-format on */", ""
            if row and not row[2] and there:
                old, new = f'("{part}", "{row[1]}", "")', f'("{part}", "{row[1]}", "{since}")'
            elif not row and not is_old:
                new = f'ADDED_PART("{part}", "{since}", "{since if there else ""}")\n{old}'
            self.new[PARTS] = self.new[PARTS].replace(old, new or old)

    def learn_wheel(self, release, newest):
        """What a wheel holds, and what its files need and look for. newest: of all releases."""
        known = dict((row[0], sorted(row[1].split())) for row in self.of("WHEEL_FILE", release))
        for file in sorted(set(known) | set(release.sizes)):
            path = release.files.get(file)
            needs = sorted(watch.needed(path)) if path else known.get(file)
            if file in release.sizes and needs is None:
                self.note(f"{release}: {file} is new and {release.sizes[file] >> 20} MB: LIMIT= "
                          "reads what it needs")
            elif file not in release.sizes or known.get(file) != needs:
                gone = file not in release.sizes
                self.put_file(release, file, None if gone else needs, newest)
            if path:
                self.put_path(release, path, newest)
        for other, wanted in self.requirements_that_differ(release):
            self.put_requirement(release, other, wanted, newest)

    def check_wheel(self, release):
        """Of CUDA's wheels the table has the libraries that matter, not all of them."""
        second = watch.fields(release.version)[1]
        known = {row[0].replace("%m", str(second)) for row in self.of("WHEEL_FILE", release)}
        for file in sorted(known - set(release.sizes)):
            self.note(f"{release}: no {file}, unlike {WHEELS}: a row by hand")
        for other, wanted in self.requirements_that_differ(release):
            self.note_requirement(release, other, wanted)

    def requirements_that_differ(self, release):
        """[(distribution, is it required)], of those with libraries that matter."""
        held = {row[0] for row in self.of("WHEEL_REQUIRES", release)}
        matter = {row[0] for row in self.rows(WHEELS, "WHEEL_FILE")}
        return [(other, other not in held)
                for other in sorted((held ^ release.required()) & matter)]

    def note_requirement(self, release, other, wanted):
        self.note(f"{release}: {'requires' if wanted else 'does not require'} {other}, unlike "
                  f"{WHEELS}: a row by hand")

    def put_file(self, release, file, needs, newest):
        """A row from this release on, in place of the one that held; needs None: none."""
        part = re.fullmatch(r"nvidia/cudnn(_jit)?/lib/libcudnn(\w*)\.so\.9", file)
        if not newest or not part:
            self.note(f"{release}: {file} needs {needs}, unlike {WHEELS}: a row by hand")
            return
        macro, since = "CUDNN_JIT" if part[1] else "CUDNN_9", self.from_where(release.version)
        lines, done = [], needs is None
        new = f'{macro}("{since}", "", "{part[2]}", {literal(needs or [])})'
        rows = [n for n, line in enumerate(self.new[WHEELS].splitlines())
                if re.match(rf'{macro}\("', line)]
        for n, line in enumerate(self.new[WHEELS].splitlines()):
            held = n in rows and re.match(rf'{macro}\("([^"]*)", "", "{part[2]}", ', line)
            if not held:
                lines.append(line)
            elif held[1] != since:
                lines.append(ended(line, since))
            if not done and (held or (n == rows[-1])):
                lines.append(new)
                done = True
        self.new[WHEELS] = "\n".join(lines) + "\n"

    def put_path(self, release, path, newest):
        """How a file finds what it needs: the first row that fits counts, so a new one is first."""
        name = os.path.basename(path)
        facade = path == release.facade
        held = [row[1:] for row in self.of("WHEEL_PATH", release) if row[0] in ("", name)][:1]
        found = watch.search_path(path)
        if held == found:
            return
        if not newest or not found:
            self.note(f"{release}: {name} looks in {found}, {WHEELS} has {held}: a row by hand")
            return
        row = (f'WHEEL_PATH("{release.distribution}", "{self.from_where(release.version)}", "", '
               f'"{name if facade else ""}", {found[0][0]}, "{found[0][1]}")\n')
        before = "CUDNN_FACADE_PATH" if facade else "CUDNN_9_PATH"
        self.new[WHEELS] = re.sub(rf"^(?={before}\()", lambda _: row, self.new[WHEELS], count=1,
                                  flags=re.M)

    def put_requirement(self, release, other, wanted, newest):
        since = self.from_where(release.version)
        row = rf'^WHEEL_REQUIRES\("{release.distribution}", "([^"]*)", "", "{other}"\)\n'
        if not newest:
            self.note_requirement(release, other, wanted)
        elif wanted:
            new = f'WHEEL_REQUIRES("{release.distribution}", "{since}", "", "{other}")\n'
            self.new[WHEELS] = re.sub(r"^(?=WHEEL_REQUIRES\()", lambda _: new, self.new[WHEELS],
                                      count=1, flags=re.M)
        else:
            self.new[WHEELS] = re.sub(
                row, lambda found: "" if found[1] == since else ended(found[0], since),
                self.new[WHEELS], flags=re.M)

    # ---- what hosts require ----

    def pins(self, package):
        return [row for row in self.rows(PINS, "PINS") if row[0] == package]

    def learn_pins(self, package, release, required, before):
        """required: {(wheel, releases, extra)}; before: the release before it, of the index."""
        number, rows = watch.fields(release), self.pins(package)
        held = [row for row in rows if watch.fields(row[2]) <= number < watch.fields(row[3])]
        same = {(row[4], frozenset(row[5].split(",")), row[1]): row for row in held}
        since = release if watch.fields(release)[2:] not in ((), (0,)) else minor(release)
        for pin in [pin for pin in same if pin not in required]:
            self.close_pin(same[pin], since)
        for wheel, releases, extra in sorted(required - set(same), key=str):
            spec = ",".join(sorted(releases, reverse=True))
            open_row = next((row for row in rows if (row[4], row[1]) == (wheel, extra)
                             and frozenset(row[5].split(",")) == releases and before
                             and watch.fields(row[2]) <= watch.fields(before)
                             < watch.fields(row[3]) <= number), None)
            if open_row:
                self.close_pin(open_row, following(release))
            else:
                self.add_pin(package, extra, since, following(release), wheel, spec)
            if not re.fullmatch(r"nvidia-cudnn-cu1[123]", wheel):
                self.note(f"{package} {release} requires {wheel}, of which no table has releases")

    def look_for_build(self, package, release, before):
        """Of what the last release was built with there is a row: is there one of this?"""
        jax = re.fullmatch(r"jax-cuda(\d+)-plugin", package)
        framework, cuda = ("jax", jax[1]) if jax else (package, "")
        rows = [row[1:3] for row in self.rows(PINS, "BUILT_WITH")
                if (row[0], row[3]) == (framework, cuda)]

        def covered(one):
            return any(watch.fields(since) <= watch.fields(one) < watch.fields(end)
                       for since, end in rows)
        if before and covered(before) and not covered(release):
            self.note(f"{package} {release}: what is it built with? BUILT_WITH in {PINS} ends "
                      "before it")

    def close_pin(self, row, to):
        """Ends or prolongs a row; one that would end where it begins goes."""
        package, extra, since, end, wheel, _ = row
        values = rf'PINS\("{package}", "{extra}", +"{re.escape(since)}",( +)"{re.escape(end)}",' \
                 rf'\s+"{wheel}",[^)]*\)\n'

        def changed(found):
            return "" if since == to else found[0].replace(f',{found[1]}"{end}"',
                                                           f',{found[1]}"{to}"', 1)
        self.new[PINS] = re.sub(values, changed, self.new[PINS], count=1)

    def add_pin(self, package, extra, since, to, wheel, spec):
        row = f'PINS("{package}", "{extra}", "{since}", "{to}", "{wheel}", "{spec}")\n'
        if len(row) > 101:
            row = row.replace(f' "{spec}"', f'\n     "{spec}"')
        end = max(found.end() for found in re.finditer(
            rf'^PINS\("{package}",[^)]*\)\n', self.new[PINS], flags=re.M))
        self.new[PINS] = self.new[PINS][:end] + row + self.new[PINS][end:]


def ended(row, since):
    """An open row that now ends."""
    return row.replace('", "", "', f'", "{since}", "', 1)


def last(text):
    """The newest release that a `last` covers."""
    return (watch.fields(text) + (999, 999))[:3]


def minor(text):
    return ".".join(text.split(".")[:2])


def following(text):
    """ "2.17" of "2.16.1"."""
    number = watch.fields(text)
    return f"{number[0]}.{number[1] + 1}"


def literal(needs):
    """As the table writes it, by its macros."""
    rest, prefix = list(needs), ""
    if {"libcudnn_ops.so.9", "libcudnn_graph.so.9"} <= set(rest):
        prefix = "OPS"
        rest.remove("libcudnn_ops.so.9")
        rest.remove("libcudnn_graph.so.9")
    elif "libcudnn_graph.so.9" in rest:
        prefix = "GRAPH"
        rest.remove("libcudnn_graph.so.9")
    if not prefix:
        return f'"{" ".join(rest)}"'
    return f'{prefix} " {" ".join(rest)}"' if rest else prefix
