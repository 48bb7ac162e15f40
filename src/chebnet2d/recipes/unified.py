"""The unified architecture: whatever differs between methods besides their filters is made the same."""

from dataclasses import replace

from chebnet2d.data.catalogue import CATALOGUE
from chebnet2d.recipes.recipe import NO_TRANSFORM, Recipe

FOR_WORDS = "row-normalize"
"""What is done to counts of words, and to no other features."""
_MLP = {"hidden_channels": 64, "dropout": 0.5}  # with the usual two layers


def unified(recipe: Recipe) -> Recipe:
    """Learning rates, weight decays and filter are the method's own. Features, MLP and optimiser, which the authors of methods
    chose differently, are the same for all methods.
    """
    model = {**{name: value for name, value in recipe.model.items() if name != "num_layers"}, **_MLP}
    settings = {name: value for name, value in recipe.settings.items() if name != "optimizer"}
    transform = FOR_WORDS if counts_words(recipe.dataset) else NO_TRANSFORM
    return replace(recipe, variant="unified", transform=transform, model=model, settings=settings)


def counts_words(dataset: str) -> bool:
    return dataset in CATALOGUE and CATALOGUE[dataset].words
