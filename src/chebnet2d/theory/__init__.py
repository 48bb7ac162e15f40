"""The paper's claims about what a graph convolution can construct, as something to run.

``construct`` finds the best parameters for a target and certifies what it can; ``report`` tries every claim.
"""

from chebnet2d._figures import save_figure
from chebnet2d.theory.bounds import Bound
from chebnet2d.theory.claim import VERDICTS, Claim
from chebnet2d.theory.complexity import Cost, Count, convolution_costs, count
from chebnet2d.theory.construction import Construction, construct
from chebnet2d.theory.degree import DegreeCurve, degree_curve
from chebnet2d.theory.figure import degree_figure
from chebnet2d.theory.reporting import TheoryReport, report
from chebnet2d.theory.sharing import construct_shared, separate, toeplitz

__all__ = [
    "VERDICTS",
    "Bound",
    "Claim",
    "Construction",
    "Cost",
    "Count",
    "DegreeCurve",
    "TheoryReport",
    "construct",
    "construct_shared",
    "convolution_costs",
    "count",
    "degree_curve",
    "degree_figure",
    "report",
    "save_figure",
    "separate",
    "toeplitz",
]
