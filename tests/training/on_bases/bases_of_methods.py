"""Which of the stored bases a method wants."""

OPERATOR = {"gprgnn": "P~", "specgn": "P~"}


def bases_for(stored, method):
    return stored["orthonormal"] if method == "optbasis" else stored[OPERATOR.get(method, "L_hat")]
