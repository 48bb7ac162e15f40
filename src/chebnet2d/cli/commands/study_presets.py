"""study presets: what a study's search has chosen, for train."""

from pathlib import Path
from typing import Annotated

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("study presets", order=250)
def presets(
    out: Annotated[Path, typer.Option(help="Folder to write to: a file METHOD.toml for each method.")],
    store: options.StudyRuns = options.DEFAULT_STORE,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """The settings that the search of a study has chosen, as preset files, with a table for each dataset.

    ``train --preset FOLDER/METHOD.toml`` takes them.

    Example: chebnet2d study presets --store results/table2.parquet --out presets
    """
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.recipes import check_recipe_folder, write_recipes
    from chebnet2d.study import read_rows
    from chebnet2d.study.presets import presets_of

    found = {out / f"{name.replace(':', '-')}.toml": recipes for name, recipes in presets_of(read_rows(store)).items()}
    check_recipe_folder("study presets", "out", out, found, force=force)
    out.mkdir(parents=True, exist_ok=True)
    for path, recipes in found.items():
        write_recipes(path, recipes, {"written by": f"chebnet2d study presets --store {store.name}"})
    if json:
        print_json({str(path): [recipe.to_json() for recipe in recipes] for path, recipes in found.items()})
    say(f"{len(found)} preset files written to {out}", quiet=json)
