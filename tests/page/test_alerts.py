"""The alert rules, checked by promtool and by a Prometheus that watches a cluster being broken."""

import json
import os
import re
import socket
import subprocess
import tempfile
import unittest
import urllib.request

from cluster import Cluster, wait_for

RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging", "prometheus")


def tool(*arguments):
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, cwd=RULES)
    return done.returncode, done.stdout + done.stderr


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RulesTest(unittest.TestCase):
    def test_rules_and_configuration_are_sound(self):
        for arguments in (("check", "rules", "ratchet.rules.yml"), ("check", "config", "prometheus.yml"), ("check", "config", "compose.yml"), ("test", "rules", "ratchet.rules.test.yml")):
            code, text = tool(*arguments)
            self.assertEqual(code, 0, text)

    def test_each_alert_is_tested(self):
        with open(os.path.join(RULES, "ratchet.rules.yml")) as file:
            alerts = set(re.findall(r"- alert: (\w+)", file.read()))
        with open(os.path.join(RULES, "ratchet.rules.test.yml")) as file:
            text = file.read()
        self.assertGreater(len(alerts), 15)
        fired = set(re.findall(r"alertname: (\w+)\s+exp_alerts:\s+- exp_labels", text))
        self.assertEqual(alerts - fired, set(), "each fires in a test")

    def test_metrics_follow_the_conventions(self):
        cluster = Cluster("--masters", "1", "--servers", "1")
        self.addCleanup(cluster.close)
        for process in ("master-1", "rs-1"):
            _, text = cluster.get(process, "/metrics")
            done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), process)


class LivePrometheusTest(unittest.TestCase):
    """Real rules, but for the time for which a condition must hold."""

    def setUp(self):
        self.cluster = Cluster("--masters", "1", "--servers", "2")
        self.addCleanup(self.cluster.close)
        self.cluster.ratchet("create", "t", "f", "--regions", "4")
        self.folder = tempfile.mkdtemp(prefix="ratchet-prometheus-", dir=self.cluster.root)
        with open(os.path.join(RULES, "ratchet.rules.yml")) as file:
            rules = re.sub(r"for: \w+", "for: 1s", file.read())
        with open(os.path.join(self.folder, "rules.yml"), "w") as file:
            file.write(rules)
        self.targets()
        self.port = free_port()
        with open(os.path.join(self.folder, "prometheus.yml"), "w") as file:
            json.dump({"global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}, "rule_files": ["rules.yml"],
                       "scrape_configs": [{"job_name": "ratchet", "file_sd_configs": [{"files": ["targets.json"], "refresh_interval": "1s"}]}]}, file)
        self.log = open(os.path.join(self.folder, "log"), "w")
        self.prometheus = subprocess.Popen(["prometheus", "--config.file=" + os.path.join(self.folder, "prometheus.yml"), "--storage.tsdb.path=" + os.path.join(self.folder, "data"),
                                            f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)
        self.addCleanup(self.log.close)
        self.addCleanup(self.prometheus.wait)
        self.addCleanup(self.prometheus.kill)

    def targets(self):
        addresses = [self.cluster.page(process).replace("http://", "") for process in ("master-1", "rs-1", "rs-2")]
        with open(os.path.join(self.folder, "targets.json.new"), "w") as file:
            json.dump([{"targets": addresses}], file)
        os.rename(os.path.join(self.folder, "targets.json.new"), os.path.join(self.folder, "targets.json"))

    def ask(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=10) as answer:
            return json.load(answer)["data"]

    def firing(self):
        return {alert["labels"]["alertname"] for alert in self.ask("alerts")["alerts"] if alert["state"] == "firing"}

    def await_alert(self, name, fires):
        def there():
            self.targets()  # a process that came again may have another port
            return (name in self.firing()) == fires
        wait_for(f"{name} to {'fire' if fires else 'clear'}", there, every=0.5)

    def test_alerts_fire_and_clear(self):
        wait_for("the targets", lambda: len([t for t in self.ask("targets")["activeTargets"] if t["health"] == "up"]) == 3)
        self.await_alert("RatchetNoActiveMaster", False)
        with self.subTest("a server dies, and the other one after it: hbase:meta has no place"):
            self.cluster.tool("kill", "rs-1")
            self.await_alert("RatchetProcessDown", True)
            self.cluster.tool("kill", "rs-2")
            self.await_alert("RatchetMetaOffline", True)
            self.await_alert("RatchetServerCrashed", True)
            self.cluster.tool("start", "rs-1")
            self.cluster.tool("start", "rs-2")
            for name in ("RatchetProcessDown", "RatchetMetaOffline", "RatchetServerCrashed"):
                self.await_alert(name, False)
        with self.subTest("a parked procedure and a pause"):
            self.cluster.ratchet("pause", "table", "t", "--why", "alert")
            self.await_alert("RatchetPausedForLong", True)
            self.cluster.ratchet("resume", "table", "t")
            self.await_alert("RatchetPausedForLong", False)
        with self.subTest("the master dies"):
            self.cluster.tool("kill", "master-1")
            self.await_alert("RatchetNoActiveMaster", True)
            self.cluster.tool("start", "master-1")
            self.await_alert("RatchetNoActiveMaster", False)


if __name__ == "__main__":
    unittest.main()
