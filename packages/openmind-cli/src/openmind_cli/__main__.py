"""`python -m openmind_cli` is the `openmind` command."""

import sys

from openmind_cli.main import main

if __name__ == "__main__":
    sys.exit(main())
