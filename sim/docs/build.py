"""Gather the pages, make the others, draw the gallery, and let MkDocs make HTML of all of it."""

import contextlib
import io
import logging
import shlex
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from isa.errors import UserError
from sim.docs import pages
from sim.gpus.loader import load, names
from sim.report import opcodes
from sim.report.gpus import page


def build(output: Path, figures: bool = True) -> Path:
    """Write the site into `output` and return it. Raises UserError without the extra `docs`, and for a link that leads nowhere."""
    try:
        from mkdocs.commands.build import build as make
        from mkdocs.config import load_config
        from mkdocs.exceptions import MkDocsException
    except ImportError:
        raise UserError("the site needs MkDocs", hint="pip install 'simtlab[docs]'") from None
    with TemporaryDirectory() as folder:
        gather(Path(folder), figures)
        logging.getLogger("mkdocs").addHandler(logging.StreamHandler())  # what is wrong with which link
        config = load_config(str(Path(__file__).with_name("mkdocs.yml")), docs_dir=folder, site_dir=str(output), strict=True)
        config.nav = [*(config.nav or []), *rest(str(config.nav))]
        try:
            make(config)
        except MkDocsException as error:
            raise UserError(f"the site was not built: {error}") from None
    return output


def rest(nav: str) -> list[dict[str, list[str]]]:
    """Return a last section with the pages that the navigation does not name."""
    others = [str(name) for name in pages.kept() if name.suffix == ".md" and f"'{name}'" not in nav]
    return [{"More": others}] if others else []


def gather(folder: Path, figures: bool) -> None:
    """Copy the pages of the repository to where MkDocs looks, add those that are made."""
    kept = pages.kept()
    for name in kept:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(pages.ROOT / name, folder / name)
        if name.suffix == ".md":
            (folder / name).write_text(pages.on_site(name, kept), encoding="utf-8")
    for made, text in (
        ("glossary.md", pages.glossary()),
        ("api.md", pages.api()),
        ("gallery.md", pages.gallery(figures)),
        ("fields.md", page()),
        ("opcodes.md", opcodes.page({name: load(name) for name in names()})),
    ):
        (folder / made).write_text(text, encoding="utf-8")
    shutil.copy(Path(__file__).with_name("site.css"), folder)
    if figures:
        (folder / "figures").mkdir()
        for one in pages.pictures():
            draw(one, folder / "figures" / f"{one['name']}.png")


def draw(picture: dict[str, str], file: Path) -> None:
    """Run the command of a picture. Raises UserError as the command does."""
    from sim.cli import app

    words = [str(pages.ROOT / word) if word.startswith("programs/") else word for word in shlex.split(picture["command"])]
    with contextlib.redirect_stdout(io.StringIO()):
        app([*words, picture["option"], str(file)], standalone_mode=False)
    if not file.exists():
        raise UserError(f"{file.name} was not drawn by: simtlab {picture['command']}")
