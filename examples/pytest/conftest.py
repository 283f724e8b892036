# SPDX-License-Identifier: Apache-2.0
"""Which cuDNN did the tests run with? At the end of a session, read from the process itself: it need
not have been started in any way.

Error: a section of pytest's own summary. Exit status: 1 where the tests passed and an error is found
in what they loaded. Logs: none; `whichcudnn run --log logs -- pytest` leaves them.
"""

import os
import subprocess

import pytest

told = pytest.StashKey[str]()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    command = [os.environ.get("WHICHCUDNN", "whichcudnn"), "inspect", "--color=never", str(os.getpid())]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        session.config.stash[told] = str(error)
        return
    session.config.stash[told] = answer.stdout + answer.stderr
    if answer.returncode == 1 and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    terminalreporter.section("cuDNN")
    terminalreporter.line(config.stash.get(told, "").rstrip())
