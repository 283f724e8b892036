# SPDX-License-Identifier: Apache-2.0
"""Whether the judges can say no: of findings, of healthy twins, of fixes, and the installers that fixes call."""
import random
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[1] / "cases"))
sys.dont_write_bytecode = True

import installers_check  # noqa: E402
import judge  # noqa: E402
import judgements  # noqa: E402
import kinds  # noqa: E402
import repairs  # noqa: E402
import stock  # noqa: E402
from scene import Scene  # noqa: E402
from world import World  # noqa: E402

TRUTH = kinds.truth("bad-file", "libcudnn.so.9", "libcudnn", "cause", "symptom")


def telling(text, findings=(), status=1):
    first = judge.TOLD.search(text)
    verdict = "findings" if first else "ok" if "whichcudnn: ok" in text else "unexplained" if "unexplained" in text \
        else "not observed"
    found = [{"id": i, "severity": s, "title": t, "facts": [], "fix": []} for s, i, t in findings]
    return judge.Telling(status, "", text, first and first.groups(), verdict, [{"findings": found}])


class Judge(unittest.TestCase):
    def test_right_is_the_cause_and_what_is_guilty(self):
        said = telling("whichcudnn: error[bad-file]: h asked for libcudnn.so.9, which is empty\n",
                       [("error", "bad-file", "libcudnn.so.9 is empty")])
        self.assertEqual(judge.judge(said, [TRUTH]), "right")

    def test_another_cause_is_wrong(self):
        said = telling("whichcudnn: error[part-missing]: libcudnn.so.9 found no graph part\n",
                       [("error", "part-missing", "libcudnn.so.9 found no graph part")])
        self.assertEqual(judge.judge(said, [TRUTH]), "wrong")

    def test_the_cause_of_another_library_is_wrong(self):
        said = telling("whichcudnn: error[bad-file]: libcublas.so.12 is empty\n",
                       [("error", "bad-file", "libcublas.so.12 is empty")])
        self.assertEqual(judge.judge(said, [TRUTH]), "wrong")

    def test_the_cause_behind_another_is_wrong(self):
        said = telling("whichcudnn: error[call-failed]: x\nwhichcudnn: error[bad-file]: libcudnn.so.9 is empty\n",
                       [("error", "bad-file", "libcudnn.so.9 is empty"), ("error", "call-failed", "x")])
        self.assertEqual(judge.judge(said, [TRUTH]), "wrong")

    def test_ok_over_a_broken_run(self):
        self.assertEqual(judge.judge(telling("whichcudnn: ok: cuDNN 9.1.0 for h\n"), [TRUTH]), "ok on broken")
        said = telling("whichcudnn: ok: cuDNN 9.1.0 for h\nwhichcudnn: note[search-path-suspect]: x\n",
                       [("note", "search-path-suspect", "x")])
        self.assertEqual(judge.judge(said, [TRUTH]), "ok on broken")

    def test_unexplained(self):
        self.assertEqual(judge.judge(telling("whichcudnn: unexplained: it ended with status 1\n"), [TRUTH]), "unexplained")
        self.assertEqual(judge.judge(telling("whichcudnn: not observed: x\n"), [TRUTH]), "unexplained")

    def test_healthy(self):
        self.assertEqual(judge.judge_healthy(telling("whichcudnn: ok: x\n", status=0), (0, "", "")), "fine")
        self.assertEqual(judge.judge_healthy(telling("whichcudnn: ok: x\n", status=1), (0, "", "")), "changed")
        said = telling("whichcudnn: error[bad-file]: x\n", [("error", "bad-file", "x")], 0)
        self.assertEqual(judge.judge_healthy(said, (0, "", "")), "error on healthy")

    def test_the_next_cause_is_planted_and_was_not_named(self):
        truth = kinds.truth("not-found-nor-cuda", ("libcudnn.so.9", "libcudart.so.12"), "libcudnn", "cause")
        first = {"id": "library-not-found", "title": "h needs libcudnn.so.9, which was not found"}
        for title, planted, another in (("h asked for libcudart.so.12, which was not found", truth, True),
                                        ("h asked for libcufft.so.11, which was not found", truth, False),
                                        (first["title"], truth, False),
                                        ("h asked for libcudart.so.12, which was not found", TRUTH, False)):
            said = telling(f"whichcudnn: error[cuda-dependency-differs]: {title}\n",
                           [("error", "cuda-dependency-differs", title)])
            self.assertIs(repairs.is_another(first, said, [planted]), another, title)

    def test_each_label_names_findings_that_are_explained(self):
        import json
        import subprocess
        known = {f["id"] for f in json.loads(subprocess.run([str(stock.BUILD / "whichcudnn"), "explain", "--json"],
                                                            capture_output=True, text=True, check=True).stdout)}
        for label, ids in kinds.LABELS.items():
            self.assertLessEqual(ids, known, label)

    def test_there_are_enough_kinds(self):
        self.assertGreaterEqual(len(kinds.KINDS), 40)
        self.assertGreaterEqual(len(kinds.GROUPS), 10)
        self.assertTrue(set(kinds.KEPT) < set(kinds.GROUPS))


class Fixes(unittest.TestCase):
    """Of a world in which a part was not copied."""

    def play(self, command, faulty=True, severity="error", of_twin=frozenset()):
        base = stock.BUILD / "worlds"
        base.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=base) as directory:
            count = iter(range(100))

            def make(broken=faulty):
                w = World(Path(directory) / str(next(count)), random.Random(7), broken)
                s = Scene(w, {"place": ("toolkit",), "host": ("named",), "search": ("llp",), "era": (9,), "cuda": ("12",)})
                self.lib, self.version = s.lib, s.version
                if broken:
                    kinds.lose(s, "libcudnn_graph.so.9")
                    w.copy_of_cudnn("/opt/whole", s.version, s.cuda)
                s.finish()
                return w
            good, now = make(False).bare(), make().bare()
            self.assertEqual(good[0], 0)
            told = next(iter(judge.tell(make()).findings()), {"id": "part-missing", "title": "x"})
            finding = {**told, "severity": severity}
            return repairs.play_one(make, finding, {"command": command.replace("{lib}", self.lib)}, [TRUTH], good, now,
                                    of_twin)[0]

    def test_what_cures(self):
        self.assertEqual(self.play("cp /opt/whole/libcudnn_graph.so.9 {lib}/"), "cured")

    def test_a_variable_that_cures(self):
        self.assertIn(self.play("export LD_LIBRARY_PATH=/opt/whole:$LD_LIBRARY_PATH"), ("cured", "tells on"))

    def test_what_does_nothing(self):
        self.assertEqual(self.play("true"), "no cure")

    def test_what_fails(self):
        self.assertEqual(self.play("rm /nowhere"), "no cure")

    def test_what_cannot_be_typed(self):
        self.assertEqual(self.play("frobnicate --all"), "not playable")

    def test_what_breaks_a_working_program(self):
        self.assertEqual(self.play("unset LD_LIBRARY_PATH", faulty=False, severity="note"), "harmful")

    def test_what_does_no_harm(self):
        self.assertEqual(self.play("export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/nowhere", faulty=False, severity="note"),
                         "harmless")


Installers = installers_check.Installers

def said(found=None, edit=None, verdict="errors", objects=()):
    """A report with that finding, and with that repair."""
    fix = {"checked": "replayed" if edit else "no", "why": "why",
           "edits": [{"edit": edit, "name": None, "value": None, "path": None, "by": None}] if edit else []}
    findings = [{"id": found, "severity": "error", "title": f"a {found}", "fix": [fix]}] if found else []
    return [{"findings": findings, "verdict": verdict, "sources": [{"type": "log"}],
             "stack": {"objects": list(objects), "failures": [], "outcome": None}}]


class OneJudgement(unittest.TestCase):
    def test_the_same_agrees(self):
        self.assertEqual(judgements.compare(said("bad-file", "set"), said("bad-file", "set")), (True, None))

    def test_another_finding_or_repair_or_ok_differs(self):
        for other in (said("parts-differ", "set"), said("bad-file", "unset"), said("bad-file"), said(verdict="ok")):
            self.assertFalse(judgements.compare(said("bad-file", "set"), other)[0])
            self.assertFalse(judgements.compare(other, said("bad-file", "set"))[0])

    def test_what_a_run_alone_can_know_has_a_reason(self):
        for run, other in ((said("driver-missing"), said(verdict="ok")),
                           (said("bad-file"), said(verdict="not-observed"))):
            agrees, reason = judgements.compare(run, other)
            self.assertTrue(agrees and reason)

    def test_the_share_is_of_those_that_may_not_differ(self):
        rows = [("scan", True, None)] * 3 + [("scan", True, "a reason"), ("scan", False, "a difference")]
        self.assertEqual(judgements.share(rows), 0.75)


if __name__ == "__main__":
    unittest.main()
