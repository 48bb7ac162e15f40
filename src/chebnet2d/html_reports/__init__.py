"""Reports of models and studies as one HTML file, which needs no network."""

from chebnet2d.html_reports.pages import report

__all__ = ["report"]
