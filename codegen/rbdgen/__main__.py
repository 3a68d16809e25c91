"""`python -m rbdgen`: the command line."""

import sys

from rbdgen.cli.command import main

if __name__ == "__main__":
    sys.exit(main())
