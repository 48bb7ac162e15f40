"""A protocol and a preset with which a study takes a moment."""

from chebnet2d.study import Protocol

PRESET = """
[default]
origin = "a test"
model = { hidden_channels = 8, degree = 3, dropout = 0.3 }
settings = { lr = 0.02 }
"""


def small(preset, **changes):
    options = {
        "datasets": ("csbm", "digits"),
        "splits": 3,
        "inits": 2,
        "epochs": 12,
        "width": 1,
        "presets": {"chebnet2d": preset},
    }
    return Protocol(("chebnet2d",), **{**options, **changes})
