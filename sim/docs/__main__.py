"""`python -m sim.docs`: build the site; exit status 2 with one message when that cannot be done."""

import argparse
import sys
from pathlib import Path

from isa.errors import UserError
from sim.docs.build import build

parser = argparse.ArgumentParser(prog="python -m sim.docs", description="Build the documentation site from the pages of the repository.")
parser.add_argument("--output", type=Path, default=Path(".simtlab/site"), metavar="FOLDER", help="where the site goes")
parser.add_argument("--no-figures", dest="figures", action="store_false", help="leave the gallery's figures out")
options = parser.parse_args()
try:
    site = build(options.output.resolve(), options.figures)
except UserError as error:
    sys.stderr.write(f"error: {error}\n")
    sys.exit(2)
sys.stdout.write(f"site: {site / 'index.html'}\n")
