"""The paper's claims about what a graph convolution can construct, as something to run.

``construct`` finds the best parameters for a target and certifies what it can; ``report`` tries every claim.
"""

from chebnet2d._figures import save_figure
from chebnet2d.theory.approximation import ellipse_bound, lebesgue_constant, variation_bound
from chebnet2d.theory.bounds import Bound
from chebnet2d.theory.claim import VERDICTS, Claim
from chebnet2d.theory.complexity import Cost, Count, convolution_costs, count
from chebnet2d.theory.construction import Construction, construct
from chebnet2d.theory.degree import DegreeCurve, degree_curve
from chebnet2d.theory.effective import Effective, effective_numbers
from chebnet2d.theory.generalisation import Gap, complexities, gap_bound, measure_gaps
from chebnet2d.theory.pictures import PICTURES, degree_figure, picture_files, save_pictures
from chebnet2d.theory.reporting import TheoryReport, report
from chebnet2d.theory.sharing import construct_shared, division, separate, toeplitz
from chebnet2d.theory.stability import stability_constant

__all__ = [
    "PICTURES",
    "VERDICTS",
    "Bound",
    "Claim",
    "Construction",
    "Cost",
    "Count",
    "DegreeCurve",
    "Effective",
    "Gap",
    "TheoryReport",
    "complexities",
    "construct",
    "construct_shared",
    "convolution_costs",
    "count",
    "degree_curve",
    "degree_figure",
    "division",
    "effective_numbers",
    "ellipse_bound",
    "gap_bound",
    "lebesgue_constant",
    "measure_gaps",
    "picture_files",
    "report",
    "save_figure",
    "save_pictures",
    "separate",
    "stability_constant",
    "toeplitz",
    "variation_bound",
]
