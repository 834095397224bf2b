"""How values in exports are written."""

import re

HEX_32 = re.compile(r"[0-9a-f]{64}")
"""32 bytes."""
