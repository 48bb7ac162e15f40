"""The search for settings: validation nodes alone decide."""

from chebnet2d.search.budget import Budget
from chebnet2d.search.search import SearchProgress, SearchResult, Trial, search
from chebnet2d.search.space import Axis, Space, make_space

__all__ = ["Axis", "Budget", "SearchProgress", "SearchResult", "Space", "Trial", "make_space", "search"]
