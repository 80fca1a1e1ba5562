#!/usr/bin/env python3
"""python3 with PYTHONMALLOC=malloc: a program that makes all its objects through malloc."""
import os
import unittest

import lab

PYTHON = "/usr/bin/python3"
PROGRAM = """
import json, threading
data = [{"number": i, "text": str(i) * 5, "list": list(range(i % 10))} for i in range(20000)]
text = json.dumps(data)
again = json.loads(text)
assert again == data
threads = [threading.Thread(target=lambda: json.loads(text)) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len(text), sum(len(d["list"]) for d in again))
"""


@unittest.skipUnless(os.access(PYTHON, os.X_OK), f"no {PYTHON}")
class Python(lab.Lab):
    def test_record_convert_replay(self):
        settings = {"env": {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}}
        plain = lab.run([PYTHON, "-c", PROGRAM], **settings)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        with open(self.place / "said", "wb") as out:
            recording = self.record(PYTHON, "-c", PROGRAM, stdout=out, **settings)
        self.assertEqual((self.place / "said").read_bytes(), plain.stdout)
        info = self.info(recording)
        self.assert_whole(info)
        self.assertEqual(info["threads"], 4)
        self.assertGreater(info["events"], 1_000_000)
        self.replay_everywhere(self.convert(recording))


if __name__ == "__main__":
    lab.main()
