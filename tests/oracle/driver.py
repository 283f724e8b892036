# SPDX-License-Identifier: Apache-2.0
"""Asking the driver (compat_driver.c) and comparing its answers."""

import os
import random
import subprocess
import sys


def seeded():
    seed = int(os.environ.get("WC_SEED") or random.SystemRandom().randrange(1 << 31))
    print(f"# WC_SEED={seed}")
    return random.Random(seed)


def compare(driver, questions, least):
    """questions: (tuple of fields, expected word). Ends the program: 0 if all answers are right."""
    questions = list(dict.fromkeys(questions))
    asked = "".join("\t".join(fields) + "\n" for fields, _ in questions)
    answers = subprocess.run([driver], input=asked, text=True, check=True,
                             stdout=subprocess.PIPE).stdout.splitlines()
    if len(answers) != len(questions):
        sys.exit(f"{len(questions)} questions, {len(answers)} answers")
    wrong = [(f, want, got) for (f, want), got in zip(questions, answers) if want != got]
    for fields, want, got in wrong[:20]:
        print(f"{' '.join(fields)}: expected {want}, got {got}")
    print(f"{len(questions)} questions, {len(wrong)} wrong answers")
    if len(questions) < least:
        sys.exit(f"at least {least} questions were meant to be asked")
    sys.exit(1 if wrong else 0)
