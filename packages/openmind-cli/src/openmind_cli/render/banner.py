"""What `openmind setup` begins with."""

from openmind_cli.render.lines import BLANK, Span, line, print_lines

BANNER = r"""
   ___                   __  __ _           _
  / _ \ _ __   ___ _ __ |  \/  (_)_ __   __| |
 | | | | '_ \ / _ \ '_ \| |\/| | | '_ \ / _` |
 | |_| | |_) |  __/ | | | |  | | | | | | (_| |
  \___/| .__/ \___|_| |_|_|  |_|_|_| |_|\__,_|
       |_|
"""


def print_banner() -> None:
    """Print the name, large, and what it stands for."""
    print_lines([*(line(Span(row, "bold cyan")) for row in BANNER.strip("\n").splitlines())])
    print_lines([line("  A local memory over the folders you approve."), BLANK])
