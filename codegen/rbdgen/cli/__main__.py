"""`python -m rbdgen.cli`."""

import sys

from rbdgen.cli.command import main

sys.exit(main())
