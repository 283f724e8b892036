# SPDX-License-Identifier: Apache-2.0
"""Is each exception of the cases' closed lists still needed?"""

import concurrent.futures
import dataclasses
import fnmatch
import pathlib

from . import targets
from .check import RowRun, Tap


class Exceptions:
    """A case that would pass in the rows that it is tried in makes an exception stale. Not tried is what
    is true at times alone, or takes long; the reason says so at its beginning."""
    ROWS = 3
    NOT_TRIED = ("at times: ", "slow: ")
    LIMIT = 20

    def __init__(self, rows, all_cases, scratch, options):
        self.rows = [row for row in rows if fnmatch.fnmatch(row.name, options.row)]
        self.cases = [case for case in all_cases if case.excepted]
        self.scratch, self.options = scratch, options
        self.everything = not options.target and options.row == "*"
        self.prepared = {}

    def candidates(self, case, word):
        """Rows that the word keeps the case from, those first that no other word does."""
        def others(row):
            return len(row.words & set(case.excepted))
        return sorted((row for row in self.rows if word in row.words and not row.lacks(case) and
                       row.target.takes(case, "all")), key=others)

    def in_row(self, row):
        if row not in self.prepared:
            self.prepared[row] = RowRun(row, self.cases, self.scratch, self.options)
            self.prepared[row].prepare()
        return self.prepared[row]

    def stale(self, case, word):
        """(what is wrong, notes)"""
        reason = case.excepted[word]
        if reason.startswith(self.NOT_TRIED):
            return "", [f"{word}, not tried: {reason}"]
        found = self.candidates(case, word)
        if not found:
            return f"{word}: no row is called so" if self.everything else "", []
        short = dataclasses.replace(case, limit=min(case.limit, self.LIMIT))
        # One of each host first: what a word for several of them says may be true of one.
        hosts = list({row.host: row for row in reversed(found)}.values())[::-1]
        tried = [*hosts, *(row for row in found if row not in hosts)][:self.ROWS]
        for row in tried:
            if (self.in_row(row).check(short) or [True])[0]:
                return "", [f"{word}: {reason}"]
        return f"{word}: not needed in {', '.join(row.name for row in tried)}: {reason}", []

    def run(self):
        tap = Tap(pathlib.Path(f"{self.options.prefix}-exceptions.tap"), self.options.verbose)
        print("# exceptions", flush=True)

        def one(case):
            answers = [self.stale(case, word) for word in case.excepted]
            return ("\n".join(wrong for wrong, _ in answers if wrong),
                    [note for _, notes in answers for note in notes])
        try:
            for row in {row for case in self.cases for word in case.excepted
                        for row in self.candidates(case, word)}:
                self.in_row(row)
            with concurrent.futures.ThreadPoolExecutor(max_workers=self.options.jobs) as pool:
                for case, result in zip(self.cases, pool.map(one, self.cases)):
                    tap.result(case.name, *result)
        except targets.Unavailable as error:
            tap.result("the rows can be run", str(error))
        tap.write()
        return [tap] if tap.count else []
