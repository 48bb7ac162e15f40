"""How a run is trained: numbers only, so that they can be stored, searched and compared."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chebnet2d._checks import InputError, integer, one_of, real

MONITORS = ("accuracy", "loss")
OPTIMIZERS = ("adam", "adamw")
CLASS_WEIGHTS = ("none", "balanced")


@dataclass(frozen=True)
class Group:
    """Learning rate and weight decay of one optimiser group."""

    lr: float
    weight_decay: float


@dataclass(frozen=True)
class Settings:
    """Settings of one run.

    ``lr`` and ``weight_decay`` hold for the group "weights" and for every group of the model that ``groups`` does not name.
    ``monitor``: what early stopping and the choice of the best epoch look at on the validation nodes: "accuracy" (the dataset's
    own metric; ties go to the lower loss) or "loss". Training ends after ``patience`` epochs without improvement.
    ``class_weight``: "balanced" weighs each training node by N / (C N_c) in the loss, so that all classes weigh the same.
    """

    lr: float = 0.01
    weight_decay: float = 5e-4
    groups: Mapping[str, Group] = field(default_factory=dict)
    epochs: int = 2000
    patience: int = 200
    monitor: str = "accuracy"
    optimizer: str = "adam"
    class_weight: str = "none"

    def __post_init__(self) -> None:
        numbers = {"": Group(self.lr, self.weight_decay)} | {f"{name}_": group for name, group in self.groups.items()}
        for prefix, group in numbers.items():
            real("Settings", f"{prefix}lr", group.lr, 0)
            real("Settings", f"{prefix}weight_decay", group.weight_decay, 0)
        integer("Settings", "epochs", self.epochs, 1)
        integer("Settings", "patience", self.patience, 1)
        one_of("Settings", "monitor", self.monitor, MONITORS)
        one_of("Settings", "optimizer", self.optimizer, OPTIMIZERS)
        one_of("Settings", "class_weight", self.class_weight, CLASS_WEIGHTS)

    @classmethod
    def of(cls, **values: Any) -> "Settings":
        """From flat names: ``filter_lr`` and ``filter_weight_decay`` make the group "filter", and so for every group.

        A value of None is as good as not given; a group that has one of the two takes the other from ``weights``.
        """
        values = {name: value for name, value in values.items() if value is not None}
        plain = {name: values.pop(name) for name in list(values) if name in cls.__dataclass_fields__}
        names: dict[str, dict[str, float]] = {}
        for name, value in values.items():
            for ending in ("_lr", "_weight_decay"):
                if name.endswith(ending) and name != ending:
                    names.setdefault(name.removesuffix(ending), {})[ending[1:]] = value
                    break
            else:
                known = ", ".join([*cls.__dataclass_fields__, "<group>_lr", "<group>_weight_decay"])
                raise InputError("Settings", "every name", f"one of {known}", name)
        base = Group(plain.get("lr", cls.lr), plain.get("weight_decay", cls.weight_decay))
        groups = {group: Group(**{"lr": base.lr, "weight_decay": base.weight_decay, **given}) for group, given in names.items()}
        return cls(**{**plain, "groups": {**plain.get("groups", {}), **groups}})

    def group(self, name: str) -> Group:
        return self.groups.get(name, Group(self.lr, self.weight_decay))
