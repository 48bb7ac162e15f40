"""How a method is run on data: settings that are known to work, shipped with the package or from a file."""

from chebnet2d.recipes.build import build_model
from chebnet2d.recipes.preset_files import Preset, load_preset, write_preset

__all__ = ["Preset", "build_model", "load_preset", "write_preset"]
