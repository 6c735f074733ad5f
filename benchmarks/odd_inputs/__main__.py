"""Print every odd input with what it raises, and how often each type of error came."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from itertools import chain
from pathlib import Path

from benchmarks.odd_inputs.case import outcome
from benchmarks.odd_inputs.groups import groups


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.odd_inputs", description=__doc__)
    parser.add_argument("--bad", action="store_true", help="print only what should not be")
    only_bad = parser.parse_args().bad
    kinds: Counter[str] = Counter()
    n_bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in chain(*groups(Path(folder)).values()):
            kind, message, good = outcome(case)
            kinds[kind] += 1
            n_bad += not good
            if not only_bad or not good:
                first_line = next(iter(message.splitlines()), "")
                print(f"{'' if good else 'BAD '}{case.name} | {kind} | {first_line[:150]}")
    print(f"\n{kinds.total():,} inputs: " + ", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common()))
    sys.exit(f"{n_bad} raised what they should not" if n_bad else 0)


if __name__ == "__main__":
    main()
