#!/usr/bin/env python3
"""Run a file of tests, by its name or path: run.py test_limit [TEST...], as unittest has it.

Exits 0, 1 on a failure, or 77 when every test in it was skipped (the reasons are printed)."""
import pathlib
import sys
import unittest

program = unittest.main(module=pathlib.Path(sys.argv[1]).stem, argv=sys.argv[1:], exit=False, verbosity=2)
result = program.result
for test, reason in result.skipped:
    print(f"skipped {test.id()}: {reason}")
if not result.wasSuccessful():
    sys.exit(1)
sys.exit(77 if result.skipped and len(result.skipped) == result.testsRun else 0)
