"""One module per command. Each imports only typer and the standard library until it runs, so that ``--help`` answers at once."""
