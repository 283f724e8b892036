# SPDX-License-Identifier: Apache-2.0
def play_all(*_): return []
def summary(_): return []
