"""The lines of the report, one file per part of the paper. ``claims(bench)`` of each yields ``Claim`` records."""
