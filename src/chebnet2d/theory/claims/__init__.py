"""The lines of the report, a file for each part of the paper. Every function yields ``Claim`` records."""
