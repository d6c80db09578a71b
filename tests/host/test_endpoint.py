"""Verbs, JSON, page and metrics of a host that is no master."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

PATIENCE = 60


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        got = condition()
        if got:
            return got
        time.sleep(0.02)
    raise AssertionError(f"not within {PATIENCE} s: {what}")


class Host:
    """One site_server; its world outlives it."""

    def __init__(self, directory, port=0):
        self.program = subprocess.Popen([os.environ["SITE_SERVER"], directory, str(port), "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env={**os.environ, "RATCHET_LOG_LEVEL": "error"})
        self.lines = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        told = wait_for("the ports", lambda: next((re.search(r"verbs at 127.0.0.1:(\d+), page at port (-?\d+)", line) for line in self.lines
                                                   if line.startswith("verbs")), None) or self.program.poll() is not None)
        if told is True:
            raise AssertionError(f"it has ended with {self.program.returncode}")
        self.port, self.info_port = int(told[1]), int(told[2])

    def read(self):
        for line in self.program.stdout:
            if line.startswith(("pid ", "refused: ", "verbs at ")):
                self.lines.append(line.rstrip("\n"))

    def publish(self, name, replicas):
        seen = len(self.lines)
        self.program.stdin.write(f"publish {name} {replicas}\n")
        self.program.stdin.flush()
        answer = wait_for("an answer", lambda: self.lines[seen] if len(self.lines) > seen else None)
        if not answer.startswith("pid "):
            raise AssertionError(answer)
        return int(answer.split()[1])

    def run(self, *arguments):
        return subprocess.run([os.environ["RATCHET"], "--master", f"127.0.0.1:{self.port}", "--json", *arguments], capture_output=True, text=True,
                              timeout=PATIENCE)

    def ratchet(self, *arguments, code=0):
        done = self.run(*arguments)
        if done.returncode != code:
            raise AssertionError(f"ratchet {arguments} ends with {done.returncode}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout) if done.stdout else None

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.info_port}{path}", timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def view(self, path):
        status, text = self.get("/api/v1/" + path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {text}")
        return json.loads(text)

    def stop(self):
        self.program.stdin.close()
        code = self.program.wait(PATIENCE)
        self.reader.join()
        self.program.stdout.close()
        return code


class EndpointTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="ratchet-host-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.start()

    def start(self):
        self.host = Host(self.directory)
        self.addCleanup(lambda host: host.program.poll() is None and host.stop(), self.host)

    def test_verbs_hold_explain_and_let_go(self):
        host = self.host
        host.ratchet("pause", "type", "PublishSite", "--who", "ann", "--why", "night shift")
        pid = host.publish("blog", 2)
        row = next(row for row in host.ratchet("procedures") if row["pid"] == pid)
        self.assertEqual((row["type"], row["text"]), ("PublishSite", "site=blog, replicas=2"))
        why = host.ratchet("why", str(pid), code=6)
        self.assertEqual(why["chains"][0]["cause"], "PAUSED")
        self.assertEqual(why["chains"][0]["verb"], "ratchet resume type PublishSite")
        self.assertTrue(why["answered_by"].startswith("host "))
        self.assertIn("night shift", host.ratchet("pauses")[0]["reason"])
        status = host.ratchet("status")
        self.assertEqual(status["procedures_unfinished"], 1)
        self.assertRegex(status["why"], r"paused by [^,]+, says to be ann")
        self.assertNotIn("regions", status)
        self.assertFalse(any("region server" in str(value) for value in status.values()))
        host.ratchet("resume", "type", "PublishSite")
        self.assertEqual(host.ratchet("wait", str(pid))["succeeded"], True)
        self.assertEqual(host.ratchet("why")["verdict"], "nothing waits")
        self.assertEqual(sorted(os.listdir(os.path.join(self.directory, "world"))), ["blog-address", "blog-live", "blog-replica-1", "blog-replica-2"])
        events = [event["event"] for event in host.ratchet("events", "-n", "1000")]
        self.assertIn("ended", events)
        counts = host.ratchet("metrics")
        self.assertTrue(counts)

    def test_a_parked_procedure_goes_on_and_an_aborted_one_leaves_nothing(self):
        host = self.host
        host.ratchet("pause", "everything")
        parked, aborted = host.publish("one", 1), host.publish("two", 1)
        host.ratchet("park", str(parked), "--who", "ann", "--why", "look")
        host.ratchet("abort", str(aborted))
        host.ratchet("resume", "everything")
        host.run("wait", str(aborted))
        self.assertEqual(host.ratchet("why", str(parked), code=6)["chains"][0]["cause"], "PARKED")
        self.assertEqual(host.ratchet("procedure", str(aborted))["state"].split(":")[0], "ROLLEDBACK")
        host.ratchet("unpark", str(parked))
        host.ratchet("wait", str(parked))
        self.assertEqual([verb["verb"] for verb in host.ratchet("procedure", str(parked))["verbs"]], ["park", "unpark"])
        self.assertEqual(sorted(os.listdir(os.path.join(self.directory, "world"))), ["one-address", "one-live", "one-replica-1"])

    def test_a_pause_survives_the_process(self):
        self.host.ratchet("pause", "everything", "--who", "ann")
        pid = self.host.publish("blog", 1)
        epoch = self.host.ratchet("status")["epoch"]
        self.assertEqual(self.host.stop(), 0)
        self.start()
        self.assertEqual(self.host.ratchet("status")["epoch"], epoch + 1)
        self.assertEqual(self.host.ratchet("why", str(pid), code=6)["chains"][0]["cause"], "PAUSED")
        self.host.ratchet("resume", "everything")
        self.host.ratchet("wait", str(pid))

    def test_it_answers_while_all_workers_are_stuck(self):
        host = self.host
        names = [f"stuck{i}" for i in range(6)]  # more than it has workers
        fifos = [os.path.join(self.directory, "world", name + "-address") for name in names]
        for fifo in fifos:
            os.mkfifo(fifo)  # to write into it waits for a reader
        pids = [host.publish(name, 1) for name in names]
        wait_for("a step that runs", lambda: host.run("why", str(pids[0])).returncode == 6)
        cluster = host.view("cluster")["data"]
        self.assertEqual(cluster["procedures_unfinished"], len(pids))
        shown = host.view("procedures")["data"]
        self.assertEqual(sorted(row["pid"] for row in shown), pids)
        self.assertEqual({row["state"] for row in shown}, {"RUNNABLE:RESERVE"})
        self.assertEqual(host.view(f"why?subject={pids[0]}")["data"]["chains"][0]["cause"], "RUNNING")
        self.assertIn(f"ratchet_procedures_unfinished {len(pids)}", host.get("/metrics")[1])
        host.ratchet("pause", "everything", "--wait-ms", "100", code=4)  # those that run still do
        host.ratchet("resume", "everything")
        readers = [os.open(fifo, os.O_RDONLY | os.O_NONBLOCK) for fifo in fifos]
        for pid in pids:
            host.ratchet("wait", str(pid))
        for reader in readers:
            os.close(reader)

    def test_what_does_not_fit_is_refused(self):
        host = self.host
        pid = host.publish("blog", 1)
        host.ratchet("wait", str(pid))
        self.assertIn("no procedure type Nosuch", host.run("pause", "type", "Nosuch").stderr)
        self.assertNotEqual(host.run("abort", str(pid)).returncode, 0)
        self.assertIn("'t' is not a pid", host.run("why", "t").stderr)
        self.assertNotEqual(host.run("why", "t").returncode, 0)
        self.assertNotEqual(host.run("servers").returncode, 0)
        taken = subprocess.run([os.environ["SITE_SERVER"], os.path.join(self.directory, "other"), str(host.port), "0"], capture_output=True, text=True,
                               stdin=subprocess.DEVNULL, timeout=PATIENCE)
        self.assertEqual(taken.returncode, 2)
        self.assertIn(str(host.port), taken.stderr)

    def test_the_page_offers_what_the_host_has(self):
        host = self.host
        pid = host.publish("blog", 3)
        host.ratchet("wait", str(pid))
        self.assertIn("<title>Ratchet</title>", host.get("/")[1])
        offered = {view["path"] for view in host.view("")["data"]}
        for name in ("cluster", "procedures", "locks", "events", "store", "why"):
            self.assertIn("/api/v1/" + name, offered)
        for name in ("servers", "tables", "regions", "timeline", "history"):
            self.assertNotIn("/api/v1/" + name, offered)
            self.assertEqual(host.get("/api/v1/" + name)[0], 404)
        cluster = host.view("cluster")
        self.assertEqual((cluster["role"], cluster["data"]["cluster"]), ("host", "site_server"))
        one = host.view(f"procedure/{pid}")["data"]
        self.assertEqual([step["step"] for step in one["history"]], ["RESERVE", "START_REPLICAS", "GO_LIVE"])
        self.assertEqual(one["tree"][0]["pid"], pid)
        self.assertEqual([table["type"] for table in host.view("steps")["data"]], ["PublishSite", "StartReplica"])
        spans = host.view(f"trace/{pid}")["data"]["resourceSpans"][0]["scopeSpans"][0]["spans"]
        self.assertIn("GO_LIVE", [span["name"] for span in spans])
        self.assertEqual(host.view("settings")["data"], [])

    def test_metrics_have_procedures_store_and_rpc(self):
        host = self.host
        pid = host.publish("blog", 3)
        host.ratchet("wait", str(pid))
        status, text = host.get("/metrics")
        self.assertEqual(status, 200)
        samples = dict(re.findall(r"^(\S+) (\S+)$", text, re.MULTILINE))
        self.assertEqual(samples['ratchet_build_info{program="site_server",version="1"}'], "1")
        self.assertEqual(samples['ratchet_procedures_finished_total{type="StartReplica",outcome="success"}'], "3")
        self.assertEqual(samples["ratchet_procedures_unfinished"], "0")
        self.assertGreater(float(samples["ratchet_store_batches_total"]), 2)
        self.assertIn("process_open_fds", samples)
        for line in text.splitlines():
            self.assertRegex(line, r"^(# (HELP|TYPE) \S+ .+|[a-z_]+(\{[^}]*\})? \S+)$")


if __name__ == "__main__":
    unittest.main()
