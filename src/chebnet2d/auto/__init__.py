"""Which method is best on a graph, how sure that is, what the graph adds, and a predictor: within a budget."""

from chebnet2d.auto.best_of_few import FEW, Chosen, best_of_few
from chebnet2d.auto.loop import AutoProgress
from chebnet2d.auto.portfolio import PORTFOLIO, make_portfolio
from chebnet2d.auto.predictor import NodePredictor

__all__ = ["FEW", "PORTFOLIO", "AutoProgress", "Chosen", "NodePredictor", "best_of_few", "make_portfolio"]
