"""`hitherto demo --open`: the story served, its address printed and opened, the key never sent."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

from tests.architecture.source import SOURCE


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def test_the_demo_opens_in_a_browser(tmp_path: Path) -> None:
    opened, program, port = tmp_path / "opened", tmp_path / "browser", free_port()
    program.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    program.chmod(0o700)
    command = "import sys; from hitherto.deliver.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["demo", "--open", "--port", str(port), "--data", str(tmp_path / "memories")]
    process = subprocess.Popen(
        [sys.executable, "-c", command, *arguments],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "BROWSER": f"{program} %s"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        until = time.monotonic() + 90
        while not opened.exists() or not opened.read_text().strip():
            assert process.poll() is None, process.stdout and process.stdout.read()
            assert time.monotonic() < until
            time.sleep(0.1)
        address = opened.read_text().strip()
        found = re.fullmatch(rf"http://127\.0\.0\.1:{port}/#key=(rck_\w{{12}}_[\w-]{{43}})", address)
        assert found
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
            assert "Sign in" in http.get("/", follow_redirects=True).text
            http.cookies.set("hitherto_key", found[1])
            seen = http.get("/inspect/conversation?user=ana")
            assert "Lea sent me flights" in seen.text
    finally:
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert address in said
