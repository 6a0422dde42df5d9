"""For the tests that run tools and look at their exit status and what they print: counts what passed.

    checks = ToolChecks(bin_folder, cwd)
    checks.check("a missing file", checks.run("relayc", "no.relay"), 1, "cannot open")
    sys.exit(checks.finish())
"""
import os
import subprocess


class ToolChecks:
    def __init__(self, bin_folder, cwd):
        self.bin_folder, self.cwd = bin_folder, cwd
        self.passed = self.failed = 0

    def run(self, tool, *args):
        done = subprocess.run([os.path.join(self.bin_folder, tool), *args], capture_output=True, text=True, cwd=self.cwd)
        return done.returncode, done.stdout, done.stderr

    def check(self, what, outcome, status, *texts):
        code, out, err = outcome
        missing = [t for t in texts if t not in out + err]
        self.count(code == status and not missing,
                   f"{what}: status {code} (expected {status}), without {missing}\n{out}{err}")

    def count(self, is_good, failure):
        if is_good:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {failure}")

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return int(self.failed > 0)
