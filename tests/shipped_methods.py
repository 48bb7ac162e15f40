"""The methods of the package itself, whatever else is registered."""

from chebnet2d.models import MODELS

OURS = [name for name, model in MODELS.items() if model.__module__.startswith("chebnet2d.")]
