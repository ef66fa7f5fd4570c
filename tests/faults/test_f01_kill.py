"""F1: four writers on one folder are killed at a random moment, again and again."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import count

ROUNDS = count(test=50, soak=1_000)
PROJECT = Path(__file__).parents[2]


@pytest.mark.promise("F1", tries=ROUNDS)
def test_no_acknowledged_turn_is_lost_or_doubled_by_a_kill(tmp_path: Path, seed: int) -> None:
    program = [sys.executable, "-m", "tests.faults.kill_rounds", str(tmp_path), str(seed), str(ROUNDS)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(PROJECT / "src"), str(PROJECT)))}
    result = subprocess.run(program, capture_output=True, text=True, cwd=PROJECT, env=environment, check=False)
    rounds = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.returncode == 0, result.stderr
    assert [one for one in rounds if one["problems"]] == []
    assert len(rounds) == ROUNDS
    assert sum(one["acknowledged"] > 0 for one in rounds) > ROUNDS / 2, "the writers hardly wrote anything"
