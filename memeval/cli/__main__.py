"""``python -m memeval.cli``: the command line."""

from __future__ import annotations

import sys

from memeval.cli import main

if __name__ == "__main__":
    sys.exit(main())
