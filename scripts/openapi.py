"""Writes the service's OpenAPI description to standard output: what clients in other languages are generated from.

python scripts/openapi.py > openapi.json
"""

from __future__ import annotations

import json
import sys

from hitherto import Hitherto
from hitherto.deliver.http import create_app
from hitherto.settings import Settings


def main() -> None:
    described = create_app(Hitherto("unopened"), Settings()).openapi()
    sys.stdout.write(json.dumps(described, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
