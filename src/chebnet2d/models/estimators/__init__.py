"""Methods that are fitted by scikit-learn or by counting, not by gradient steps. A module in this folder is found by itself."""

from chebnet2d._registry import import_modules
from chebnet2d.models.estimators.estimator import Estimator

import_modules(__name__)

__all__ = ["Estimator"]
