"""Waiting for units that others hold: only as long as nobody knows whether they live."""

import time
from collections.abc import Callable, Mapping

from chebnet2d.study.claims import Claim

POLL = 1.0


def wait_for_claims(read: Callable[[], Mapping[str, Claim]], notice: Callable[[str], None]) -> bool:
    """True as soon as one of the claims has ended, so that its unit may be free; False when all owners are known to live.

    A process of this machine is seen to live; one of another machine is known to if it renews its lease. Neither takes longer
    than a lease.
    """
    first, told = read(), False
    while True:
        now = read()
        if any(unit not in now for unit in first):
            return True
        unknown = [claim for unit, claim in now.items() if not _lives(claim, first.get(unit))]
        if not unknown:
            return False
        if not told:
            seconds = max(claim.until for claim in unknown) - time.time()
            notice(f"waiting up to {seconds:.0f} s for {describe_claims(unknown)}: it may have ended without a word")
            told = True
        time.sleep(POLL)


def describe_claims(claims: list[Claim]) -> str:
    """2 units of process 7 on a, 1 unit of process 8 on b."""
    owners = [str(claim.owner) for claim in claims]
    counts = {owner: owners.count(owner) for owner in dict.fromkeys(owners)}
    return ", ".join(f"{count} unit{'s' if count > 1 else ''} of {owner}" for owner, count in counts.items())


def _lives(claim: Claim, first: Claim | None) -> bool:
    return claim.owner.is_here or first is None or claim.until > first.until
