"""What scripts/sources and scripts/lint share: the C++ files, those that changed recently, and checks until a time is over."""
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("common", "procedure", "master", "regionserver", "chaos", "tests")


def lines(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def configure(build, *arguments):
    """Runs cmake with the arguments, and makes the generated headers. Returns the failed step's output, or None."""
    (ROOT / "build").mkdir(exist_ok=True)
    ran = subprocess.run(["cmake", *arguments, "-B", build], cwd=ROOT, capture_output=True, text=True)
    if ran.returncode:
        return ran.stdout[-3000:] + ran.stderr[-3000:]
    targets = lines("ninja", "-C", build, "-t", "targets", "all")
    generated = [found[1] for found in (re.match(r"(generated/.*\.h):", line) for line in targets) if found]
    ran = subprocess.run(["ninja", "-C", build, "ratchet_version_stamp", *generated], cwd=ROOT, capture_output=True, text=True)
    return ran.stdout[-3000:] if ran.returncode else None


def tracked():
    found = lines("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.cc", "*.h")
    return [name for name in found if name.split("/")[0] in FOLDERS and (ROOT / name).exists()]


def recent(files):
    """The files that differ from the newest commit that is six hours older than HEAD, and the files that include them."""
    head = int(lines("git", "log", "-1", "--format=%ct")[0])
    older = lines("git", "rev-list", "-1", f"--before={head - 6 * 3600}", "HEAD")
    if not older:
        return list(files), []
    changed = set(lines("git", "diff", "--name-only", older[0])) | set(lines("git", "ls-files", "--others", "--exclude-standard"))
    changed = [name for name in files if name in changed]
    includers = collections.defaultdict(set)
    for name in files:
        for included in re.findall(r'^#include "([^"]+)"', (ROOT / name).read_text(), re.M):
            includers[included].add(name)
    reached, queue = set(changed), list(changed)
    while queue:
        for name in includers[queue.pop()]:
            if name not in reached:
                reached.add(name)
                queue.append(name)
    return changed, sorted(reached - set(changed))


def shuffled(groups, seed):
    """One list: the first group comes first, and each group is in random order. Prints the seed of the order."""
    if seed is None:
        seed = random.SystemRandom().randrange(1 << 31)
    order = random.Random(seed)
    result = []
    for group in groups:
        group = list(group)
        order.shuffle(group)
        result += group
    return result, seed


def check_all(program, names, check, seconds=None):
    """Calls check(name), which returns messages or None, on all processors. Begins no further one after `seconds`.
    Returns the number of checked names, and the failed names with their messages, which it prints as they come."""
    started, told, checked, failed = time.monotonic(), 0.0, 0, {}
    todo = iter(names)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {}
        while True:
            late = seconds is not None and time.monotonic() - started > seconds
            while len(running) < os.cpu_count() and not late:
                name = next(todo, None)
                if name is None:
                    break
                running[pool.submit(check, name)] = name
            if not running:
                return checked, failed
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for each in done:
                name, messages = running.pop(each), each.result()
                checked += 1
                if messages:
                    failed[name] = messages
                    print(f"{program}: {name}:\n{messages[:4000]}", file=sys.stderr, flush=True)
            if time.monotonic() - told > 60:
                told = time.monotonic()
                print(f"{program}: {checked} of {len(names)}, {int(told - started)} s", flush=True)
