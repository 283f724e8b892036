#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_page.py REPORT.json PAGE.html [SCREENS]: is the page, shown by a browser, what the JSON says?

Verdict, findings, nodes, edges, every fact; details by mouse and by keyboard; without a script; at
1280 and 390 pixels, light and dark, on paper; no request, no complaint, no element that is not ours.
SCREENS: a prefix; screenshots become SCREENS-1280.png and so on. Says what is wrong, and fails then.
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "schema"))

from browser import Browser
from check_report import OBEYED, facts, spelled

OWN_TAGS = set(re.findall(r"\w+", """html head meta title style body main aside footer script noscript
section article div header h1 h2 h3 p span dl dt dd ol ul li pre table thead tbody tr th td details
summary button a select option label svg path circle text
strong"""))

COLLECT = """() => [...document.querySelectorAll("article")].map((a) => ({
  verdict: a.dataset.verdict, classes: a.querySelector(".verdict").className,
  title: a.querySelector("h1").textContent,
  findings: [...a.querySelectorAll(".finding")].map((f) => ({
    title: f.querySelector("h3").textContent,
    facts: [...f.querySelectorAll(".facts dt")].map((d) => d.textContent),
    values: [...f.querySelectorAll(".facts dd")].map((d) => d.textContent),
    fixes: [...f.querySelectorAll(".fix li > span")].map((d) => d.textContent),
    commands: [...f.querySelectorAll(".fix pre")].map((d) => d.textContent)})),
  data: JSON.parse(a.querySelector(".everything pre").textContent),
}))"""

PICTURE = """(i) => { const a = document.querySelectorAll("article")[i];
  const box = (e) => { const r = e.getBoundingClientRect();
                       return [r.left, r.top, r.right, r.bottom].map(Math.round); };
  return {
    shown: !a.hidden, others: document.querySelectorAll("article:not([hidden])").length,
    nodes: [...a.querySelectorAll(".node")].map((n) => n.dataset.node),
    boxes: [...a.querySelectorAll(".node")].map(box),
    lost: [...a.querySelectorAll(".node.lost")].map((n) => n.dataset.node),
    letters: [...a.querySelectorAll(".installations text")].map((t) => t.textContent),
    rules: [...a.querySelectorAll(".rule")].map((t) => [t.textContent, box(t)]),
    edges: [...a.querySelectorAll(".edge[data-kind]")].map((e) =>
      [e.dataset.kind, e.dataset.from, e.dataset.to])}; }"""

CLICK = """(i, k) => {
  const n = document.querySelectorAll("article")[i].querySelectorAll(".node")[k];
  n.click();
  const d = document.getElementById("details");
  const told = [...d.querySelectorAll("dd, dd li")].map((e) => e.textContent);
  const open = !d.hidden && n.getAttribute("aria-expanded") === "true";
  n.click();
  return {open, told, closed: d.hidden}; }"""

ALIEN = """() => [...document.querySelectorAll("*")].filter((e) =>
  [...e.attributes].some((a) => /^on|^style$|^(src|srcset|action|formaction|data)$/.test(a.name) &&
    !(a.name === "style" && e.closest("button, li, div, svg"))) ||
  (e.hasAttribute("href") && !/^#p[0-9]+$/.test(e.getAttribute("href")))).map((e) => e.outerHTML)"""


class Expected:
    """Nodes and edges, from the JSON alone."""

    def __init__(self, stack):
        self.stack, self.objects = stack, stack["objects"]
        self.numbers = {o["object"] for o in self.objects if o["object"] is not None}
        self.searches = {}
        for search in stack["searches"]:
            self.searches.setdefault(search["search"], search)

    def name(self, i):
        number = self.objects[i]["object"]
        return f"object {number}" if number is not None else f"object without a number {i}"

    def node(self, number, path):
        """Of an object: its number, else the first with that path; of another its path."""
        if number in self.numbers:
            return f"object {number}"
        for i, o in enumerate(self.objects):
            if path and path in (o["path"], o["real_path"]):
                return self.name(i)
        return f"caller {path}" if path else None

    def nodes(self):
        yield from map(self.name, range(len(self.objects)))
        yield from (f"file {i}" for i, _ in enumerate(self.stack["files"]))
        yield from self.candidates()
        if self.stack["machine"]:
            yield "driver"

    def candidates(self):
        for c in self.stack["candidates"]:
            search = self.searches.get(c["search"])
            beside = "undefined"
            if search:
                beside = (f"missing {search['name'] or 'null'}" if search["object"] is None
                          else f"object {search['object']}")
            yield f"candidate {beside} {c['real_path'] or c['path'] or 'null'}"

    def missing(self):
        """(those that must be there, those that may: of several names of a part one is enough)"""
        must = {f"missing {s['name'] or 'null'}" for s in self.stack["searches"]
                if s["object"] not in self.numbers}
        must |= {"missing no library" for b in self.stack["bindings"] if b["how"] == "undefined"
                 and b["target"] not in self.numbers and self.node(b["host"], b["host_path"])}
        return must, must | {f"missing {f['function'] or f['name'] or 'null'}"
                             for f in self.stack["failures"]}

    def bound(self):
        for b in self.stack["bindings"]:
            host = self.node(b["host"], b["host_path"])
            if host and b["target"] in self.numbers:
                yield "bound", host, f"object {b['target']}"

    def found(self):
        for i, o in enumerate(self.objects):
            asker = self.node(o["asked_by_object"], o["asked_by"])
            if asker:
                yield "found", asker, self.name(i)
        for s in self.stack["searches"]:
            asker = self.node(s["caller_object"], s["caller"])
            if asker and s["object"] in self.numbers:
                yield "found", asker, f"object {s['object']}"


class Check:
    def __init__(self, browser, reports, page, screens):
        self.browser, self.reports, self.page, self.screens = browser, reports, page, screens
        self.errors = []

    def same(self, what, got, expected):
        if got != expected:
            self.errors.append(f"{what}: {str(got)[:300]!r}, not {str(expected)[:300]!r}")

    def true(self, what, value):
        if not value:
            self.errors.append(what)

    def cut(self):
        """Of many processes some reports alone are there, and a sentence says of how many."""
        self.ids = self.browser.evaluate("[...document.querySelectorAll('article')].map((a) => a.id)")
        sentences = self.browser.evaluate(
            "[...document.querySelectorAll('.processes .cut')].map((p) => p.textContent)")
        told = [s for s in sentences if f"{len(self.ids)} of {len(self.reports)} processes" in s]
        self.same("sentences about what is left out", len(told), int(len(self.ids) < len(self.reports)))
        self.same("articles twice", len(set(self.ids)), len(self.ids))
        self.reports = [self.reports[int(name[1:]) - 1] for name in self.ids]

    def words(self):
        articles = self.browser.run(COLLECT)
        self.same("articles", len(articles), len(self.reports))
        for got, report in zip(articles, self.reports):
            self.same("verdict", got["classes"].split(), ["verdict", report["verdict"]])
            first = {"not-observed": "not observed: ", "unexplained": "unexplained: ",
                     "ok": "ok: "}.get(report["verdict"]) or report["findings"][0]["title"]
            self.true(f"no {first!r} first", spelled(first) in got["title"])
            self.same("findings", len(got["findings"]), len(report["findings"]))
            for shown, finding in zip(got["findings"], report["findings"]):
                self.finding(shown, finding)
            for key in report.keys() | got["data"].keys():
                self.same(f"data, {key}", got["data"].get(key), report.get(key))

    def finding(self, shown, finding):
        self.true(f"no {finding['title']!r}", spelled(finding["title"]) in shown["title"])
        self.true(f"no {finding['id']}", finding["id"] in shown["title"])
        self.true(f"no severity of {finding['id']}", f" {finding['severity']}: " in shown["title"])
        self.same("facts", shown["facts"], [spelled(f["name"]) for f in finding["facts"]])
        for text, fact in zip(shown["values"], finding["facts"]):
            wanted = spelled(fact["value"] if fact["value"] is not None else "not known")
            if fact["source"]:
                wanted += spelled(f" ({fact['source']})")
            self.same("a fact", text, wanted)
        self.same("fixes", shown["fixes"],
                  [spelled(("suggestion" if f["checked"] == "no" else "fix") + f": {f['text'] or f['action']}")
                   for f in finding["fix"]])
        self.same("commands", shown["commands"],
                  [spelled(f["command"]) for f in finding["fix"] if f["command"] is not None])

    def picture(self, i, report):
        if len(self.reports) > 1:
            self.browser.run("(id) => { location.hash = id; }", self.ids[i])
            self.browser.settle()
        got = self.browser.run(PICTURE, i)
        expected = Expected(report["stack"])
        self.true(f"process {i} is not shown alone", got["shown"] and got["others"] == 1)
        nodes = [n for n in got["nodes"] if not n.startswith(("caller ", "missing "))]
        self.same("nodes", sorted(nodes), sorted(set(expected.nodes())))
        missing = {n for n in got["nodes"] if n.startswith("missing ")}
        must, may = expected.missing()
        self.same("names in vain that are lacking", must - missing, set())
        self.same("names in vain", missing - may, set())
        lost = [n for n in got["lost"] if n.startswith("candidate ")]
        self.same("losers", sorted(lost), sorted(set(expected.candidates())))
        for kind, wanted in ("bound", expected.bound()), ("found", expected.found()):
            edges = {tuple(e) for e in got["edges"] if e[0] == kind and e[2] != "driver"}
            self.same(f"edges {kind}", sorted(edges), sorted(set(wanted)))
        self.true("two installations have one letter", len(set(got["letters"])) == len(got["letters"]))
        self.apart("node", got["boxes"])
        return got

    def apart(self, what, boxes):
        for k, (l, t, r, b) in enumerate(boxes):
            self.true(f"a {what} without room: {(l, t, r, b)}", r - l > 5 and b - t > 5)
            for left, top, right, bottom in boxes[k + 1:]:
                overlap = l < right - 1 and left < r - 1 and t < bottom - 1 and top < b - 1
                self.true(f"{what}s over each other: {(l, t, r, b)}", not overlap)

    def clicks(self, i, report, got):
        name = Expected(report["stack"]).name
        objects = {name(k): o for k, o in enumerate(report["stack"]["objects"])}
        for k, name in enumerate(got["nodes"]):
            answer = self.browser.run(CLICK, i, k)
            self.true(f"{name}: no details, or not closed again", answer["open"] and answer["closed"])
            if name in objects:
                told = set(answer["told"])
                lacking = [(key, value) for key, value in facts(objects[name]) if value not in told]
                self.same(f"lacking in the details of {name}", lacking, [])

    def keyboard(self):
        focused = "document.activeElement.dataset.node || document.activeElement.id"
        shut = "document.getElementById('details').hidden"
        first = self.browser.evaluate(
            "(() => { const n = document.querySelector('article:not([hidden]) .node');"
            " n.focus(); return n.dataset.node; })()")
        self.browser.press("Enter")
        self.same("Enter opens the details", [self.browser.evaluate(shut),
                                              self.browser.evaluate(focused)], [False, "details"])
        self.browser.press("Tab")
        self.same("Tab leads to", self.browser.evaluate("document.activeElement.className"), "close")
        self.browser.press("Escape")
        self.same("Escape leads back", [self.browser.evaluate(shut), self.browser.evaluate(focused)],
                  [True, first])

    def harmless(self, script=True):
        self.same("requests", self.browser.requests(), [])
        self.same("complaints", list(self.browser.complaints()), [])
        tags = set(self.browser.evaluate(
            "[...document.querySelectorAll('*')].map((e) => e.localName)"))
        self.same("tags that are not ours", tags - OWN_TAGS, set())
        self.same("elements that are not ours", self.browser.run(ALIEN), [])
        self.same("scripts", self.browser.evaluate("document.scripts.length"), 1)
        text = self.browser.evaluate("document.body.innerText") if script else ""
        bad = [c for line in text.split("\n") for c in OBEYED.findall(line) if c != "\t"]
        self.same("marks that reorder text", bad, [])

    def shape(self, width, dark):
        self.browser.open(self.page, width=width, dark=dark)
        self.browser.settle()
        self.same(f"width of {width}", self.browser.evaluate("document.documentElement.scrollWidth"),
                  width)
        shown = self.browser.evaluate(
            "[...document.querySelectorAll('article')].findIndex((a) => !a.hidden)")
        got = self.browser.run(PICTURE, shown)
        self.apart(f"node at {width}", got["boxes"])
        for text, (left, _, right, _) in got["rules"]:
            self.true(f"at {width} {text!r} is cut", left >= 0 and right <= width)
        # Their boxes are higher than their letters: of these a pixel or two may touch.
        labels = [(l, t + 2, r, b - 2) for _, (l, t, r, b) in got["rules"]]
        self.apart(f"label at {width}", labels + got["boxes"])
        self.harmless()
        if self.screens:
            self.browser.screenshot(pathlib.Path(f"{self.screens}-{width}{'-dark' * dark}.png"),
                                    whole=True)

    def without_script(self):
        self.browser.open(self.page, script=False)
        page = self.browser.run(COLLECT)
        seen = self.browser.evaluate(
            "[...document.querySelectorAll('h1, .finding h3')].map((e) => e.offsetHeight > 0)")
        self.same("findings without a script", [len(a["findings"]) for a in page],
                  [len(r["findings"]) for r in self.reports])
        self.true("without a script something is not seen", seen and all(seen))
        self.harmless(script=False)

    def all(self):
        self.browser.open(self.page)
        self.harmless()
        self.cut()
        self.words()
        for i, report in enumerate(self.reports):
            self.clicks(i, report, self.picture(i, report))
        self.keyboard()
        self.harmless()
        for width, dark in (1280, False), (390, False), (1280, True), (390, True):
            self.shape(width, dark)
        self.true("nothing on paper", self.browser.print_pages()[:4] == b"%PDF")
        self.without_script()


def main():
    document = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    reports = document if isinstance(document, list) else [document]
    with Browser() as browser:
        check = Check(browser, reports, pathlib.Path(sys.argv[2]).resolve(), (sys.argv + [None])[3])
        try:
            check.all()
        except (RuntimeError, TimeoutError) as error:
            check.errors.append(f"the rest could not be looked at: {error}")
    for error in check.errors[:30]:
        print(error.encode("ascii", "backslashreplace").decode())
    sys.exit(bool(check.errors))


if __name__ == "__main__":
    main()
