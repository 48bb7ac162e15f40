"""The search for settings of a method: validation nodes alone decide."""

from chebnet2d.search.budget import Budget
from chebnet2d.search.loop import SearchProgress
from chebnet2d.search.plan import SearchPlan
from chebnet2d.search.result import SearchResult, Trial
from chebnet2d.search.search import search
from chebnet2d.search.space import Axis, Space, make_space
from chebnet2d.search.trainer import Halving

__all__ = ["Axis", "Budget", "Halving", "SearchPlan", "SearchProgress", "SearchResult", "Space", "Trial", "make_space", "search"]
