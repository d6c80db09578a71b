"""The command line as a user types it: every verb, with --json, with wrong arguments, and with nobody there."""

import hashlib
import json
import os
import pwd
import pty
import re
import signal
import subprocess
import tempfile
import time
import unittest

OK, FAILED, USAGE, UNREACHABLE, UNKNOWN, NOT_FOUND, WAITS = range(7)
RATCHET = os.path.join(os.environ.get("RATCHET_BIN", ""), "ratchet")
PATIENCE = 180


def run(*arguments, env=None):
    done = subprocess.run([RATCHET, *arguments], capture_output=True, text=True, timeout=PATIENCE, env=env)
    return done.returncode, done.stdout, done.stderr


def run_tool(*arguments):
    done = subprocess.run([RATCHET + "-cluster", *arguments], capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


def system_user():
    if os.geteuid() == 0 and os.environ.get("SUDO_USER"):
        return os.environ["SUDO_USER"]
    return pwd.getpwuid(os.geteuid()).pw_name


class CommandLineTest(unittest.TestCase):
    def ok(self, *arguments):
        code, out, err = run(*arguments)
        told = [line for line in err.splitlines() if not re.match(r"pid \d+ (waits|goes on): |still ", line)]  # a busy machine
        self.assertEqual((code, told), (OK, []), arguments)
        return out

    def json(self, *arguments):
        return json.loads(self.ok("--json", *arguments))

    def fails(self, code, *arguments, says=""):
        got, out, err = run(*arguments)
        self.assertEqual(got, code, f"{arguments}: {out}{err}")
        self.assertIn(says, err)
        self.assertNotIn("org.apache", err, "a sentence, not a stack trace")
        self.assertNotIn("\n\tat ", err)
        return err

    def table_like(self, source, name, *arguments):
        self.ok("clone-schema", source, name, *arguments)
        self.addCleanup(lambda: (run("disable", name), self.ok("drop", name)))

    def table(self, name, *arguments):
        self.ok("create", name, "f", *arguments)
        self.addCleanup(lambda: (run("disable", name), self.ok("drop", name)))


class VerbTest(CommandLineTest):
    def test_logins_of_the_page_need_no_cluster(self):
        with tempfile.TemporaryDirectory() as folder:
            secret = folder + "/token"
            line = self.ok("page-login", "token", "prometheus", "--secret-file", secret)
            self.assertRegex(line, r"^token prometheus sha256:[0-9a-f]{64}\n$")
            self.assertEqual(os.stat(secret).st_mode & 0o777, 0o600)
            self.assertNotIn(open(secret).read().strip(), line)
            self.fails(USAGE, "page-login", "token", "prometheus", "--secret-file", secret, says="cannot write a new file")
            with open(folder + "/password", "w") as file:
                file.write("short\n")
            self.fails(USAGE, "page-login", "password", "alice", "--secret-file", folder + "/password", says="8 to 1024")
            self.fails(USAGE, "page-login", "token", "@ops", "--secret-file", folder + "/new", says="@ops")

    def test_certificates_need_no_cluster(self):
        with tempfile.TemporaryDirectory() as directory:
            here = os.path.join(directory, "certs")
            lines = self.ok("certificates", "init", here, "--hosts", "a.example+10.0.0.1,b.example").splitlines()
            self.assertEqual([os.path.basename(line) for line in lines],
                             ["ca.pem", "ca-key.pem", "admin.pem", "a.example.pem", "b.example.pem"])
            self.assertEqual({os.stat(line).st_mode & 0o777 for line in lines}, {0o600})
            self.fails(FAILED, "certificates", "init", here, "--hosts", "a.example", says="exists")
            files = self.json("certificates", "init", here + "2", "--hosts", "localhost")["files"]
            self.assertEqual(len(files), 4)
            self.fails(USAGE, "certificates", "init", here + "3", "--hosts", "a/b", says="a/b")
            self.fails(USAGE, "--master", "127.0.0.1:1", "--tls-connect", "--tls-trust", "/nowhere.pem", "status", says="/nowhere.pem")

    def test_audit_verify_needs_no_cluster(self):
        with tempfile.TemporaryDirectory() as directory:
            lines, previous = [], "0" * 64
            for number in range(1, 4):
                lines.append(f'{{"n":{number},"prev":"{previous}","t_ms":{number},"event":"change","user":"alice"}}\n')
                previous = hashlib.sha256(lines[-1].encode()).hexdigest()
            path = os.path.join(directory, "audit.0000000000000001.jsonl")

            def write(text):
                with open(path, "w", encoding="ascii") as file:
                    file.write(text)
            write("".join(lines))
            self.assertIn(f"3 lines in 1 files, from 1 to 3; 0 lines are lost by 0 gaps; last hash {previous}",
                          self.ok("audit", "verify", directory))
            self.assertEqual(self.json("audit", "verify", path)["problems"], [])
            write("".join(lines).replace("alice", "mally", 1))
            code, out, _ = run("audit", "verify", directory)
            self.assertEqual(code, FAILED)
            self.assertIn("was changed", out)
            write(lines[0] + lines[2])
            self.assertIn("number 3 follows number 1", run("audit", "verify", directory)[1])
            self.fails(NOT_FOUND, "audit", "verify", directory + "/nowhere", says="nowhere")

    def test_cluster(self):
        status = self.json("status")
        self.assertEqual(len(status["live_servers"]), 3)
        self.assertEqual((status["dead_servers"], status["activation"]), ([], "complete"))
        self.assertEqual(status["problems"], [])
        text = self.ok("status")
        self.assertTrue(text.startswith("No problems."))
        shown = dict(re.split(r":\s+", line, maxsplit=1) for line in text.splitlines() if re.match(r"[a-z ]+:\s", line))
        self.assertEqual([shown[name] for name in ("paused", "fault injection", "automatic restarts")], ["none", "off", "none"])
        self.assertEqual([status[name] for name in ("paused", "fault_injection", "automatic_restarts")], [None, None, None])
        self.assertRegex(shown["descriptors"], r"^\d+ of \d+ at \S+, the most of 4 processes$")
        self.assertEqual(len(status["descriptors"]), 4, "the active master and three region servers")
        self.assertGreater(status["uptime_ms"], 0)
        servers = self.json("servers")
        self.assertEqual(sorted(server["server"] for server in servers), sorted(status["live_servers"]))
        self.assertEqual([server["meta"] for server in servers].count(True), 1)
        self.assertIsInstance(servers[0]["last_report_ms"], int)
        before = self.json("procedures", "--all"), self.json("list")
        self.assertTrue(self.json("health")["healthy"])
        after = self.json("procedures", "--all"), self.json("list")
        self.assertEqual([len(part) for part in before], [len(part) for part in after], "a check leaves nothing behind")
        for standby in status["backup_masters"]:
            host, port, _ = standby.split(",")
            code, out, _ = run("--master", f"{host}:{port}", "--json", "status",
                               env={k: v for k, v in os.environ.items() if k != "RATCHET_ZOOKEEPER"})
            self.assertEqual((code, json.loads(out)["role"], json.loads(out)["problems"]), (OK, "standby", []))

    def test_why(self):
        self.table("cli_why", "--regions", "1")
        self.addCleanup(lambda: run("resume", "table", "cli_why"))
        self.ok("pause", "table", "cli_why", "--why", "to look")
        pid = str(self.json("disable", "cli_why", "--no-wait")["pid"])
        code, out, _ = run("--json", "why", pid)
        told = json.loads(out)
        self.assertEqual((code, told["waits"], told["subject"]), (WAITS, True, "pid " + pid))
        self.assertEqual([chain["cause"] for chain in told["chains"]], ["PAUSED"])
        self.assertEqual(told["chains"][0]["verb"], "ratchet resume table cli_why")
        self.assertEqual(told["links"][0]["kind"], "procedure")
        self.ok("resume", "table", "cli_why")
        self.ok("wait", pid)
        self.assertIs(self.json("why", pid)["waits"], False)
        self.fails(NOT_FOUND, "why", "no-such-thing", says="is not a pid, table, region or server")

    def test_sql(self):
        self.table("asked", "--regions", "4")
        rows = self.json("sql", "select table_name, count(*) as n, sum(state = 'OPEN') as open from regions where table_name = 'asked'")
        self.assertEqual(rows, [{"table_name": "asked", "n": 4, "open": 4}])
        created = self.json("sql", "select type, count(distinct s.step) > 3 as walked, max(s.ended_ms) >= p.submitted_ms as after "
                            "from procedures p join steps s using (pid) where p.type = 'CreateTable' and p.text like '%asked%'")
        self.assertEqual(created, [{"type": "CreateTable", "walked": 1, "after": 1}])
        self.assertEqual(self.ok("sql", "--csv", "select state, families from tables where name = 'asked'"), "state,families\nENABLED,f\n")
        for table in {row["table"] for row in self.json("sql", ".schema")}:  # each has as many values as its schema says
            columns = [row["column"] for row in self.json("sql", f".schema {table}") if row["column"]]
            head = self.ok("sql", "--csv", f"select * from {table} limit 1").splitlines()[0]
            self.assertEqual(head.split(","), columns)
        self.assertEqual(self.json("sql", "select is_on from switches where switch = 'balancer'"), [{"is_on": 1}])
        self.assertEqual(self.json("sql", "select max_tables from namespaces where namespace = 'default'"), [{"max_tables": None}])
        for empty in ("drains", "peers"):
            self.assertEqual(self.json("sql", f"select count(*) as n from {empty}"), [{"n": 0}], empty)
        listed = next(row for row in self.json("procedures", "--all") if row["type"] == "CreateTable")
        self.assertTrue(listed["owner"])
        self.assertRegex(listed["submitted"], r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
        servers = self.json("sql", "select count(*) as n, min(version is not null) as told from servers where state = 'ONLINE'")
        self.assertEqual(servers, [{"n": 3, "told": 1}])
        self.fails(USAGE, "sql", "delete from regions", says="only a SELECT")
        self.fails(USAGE, "sql", "select * from region", says="no such table: region; .schema")
        self.fails(USAGE, "sql", "selec", says="syntax error")

    def test_history_and_trace(self):
        self.table("remembered", "--regions", "3")
        ended = [row for row in self.json("history", "--type", "CreateTable", "--table", "remembered", "--since", "1h")]
        self.assertEqual([row["state"] for row in ended], ["SUCCESS"])
        pid = str(ended[0]["pid"])
        self.assertEqual(self.json("history", "--type", "CreateTable", "--table", "remembered", "--outcome", "failed"), [])
        asked = self.json("sql", "select h.type, count(distinct s.step) > 3 as walked, h.root = h.pid as own, h.epoch >= 1 as led "
                          f"from history h join history_steps s using (pid) where h.pid = {pid}")
        self.assertEqual(asked, [{"type": "CreateTable", "walked": 1, "own": 1, "led": 1}])
        led = self.json("sql", "select count(*) > 3 as steps, max(started_ms) is not null as timed from failovers")
        self.assertEqual(led, [{"steps": 1, "timed": 1}])
        trace = json.loads(self.ok("trace", pid))
        spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"]
        self.assertEqual(len({span["traceId"] for span in spans}), 1)
        self.assertEqual(len({span["spanId"] for span in spans}), len(spans))
        root = [span for span in spans if "parentSpanId" not in span]
        self.assertEqual([span["name"] for span in root], ["CreateTable"])
        opened = [span for span in spans if span["name"] == "OpenRegion"]
        self.assertEqual(len(opened), 3, "its children are in it")
        for span in spans:
            self.assertRegex(span["traceId"], "^[0-9a-f]{32}$")
            self.assertRegex(span["spanId"], "^[0-9a-f]{16}$")
            self.assertLessEqual(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))
            if "parentSpanId" in span:
                self.assertIn(span["parentSpanId"], {other["spanId"] for other in spans})
        chrome = json.loads(self.ok("trace", pid, "--format", "chrome"))["traceEvents"]
        names = [event["args"]["name"] for event in chrome if event["name"] == "thread_name"]
        self.assertEqual(names[0], f"{pid} CreateTable")
        self.assertEqual(len([name for name in names if name.endswith(" OpenRegion")]), 3)
        self.assertEqual(len([event for event in chrome if event["ph"] == "X"]), len(spans), "a slice for each span")
        self.fails(USAGE, "trace", pid, "--format", "svg")
        self.fails(NOT_FOUND, "trace", "999999999", says="not known")
        self.fails(USAGE, "history", "--outcome", "fine")
        self.fails(USAGE, "history", "--since", "soon")

    def test_balance(self):
        self.table("spread", "--regions", "7")
        plan = self.json("balance", "--dry-run")
        self.assertEqual((plan["balancer"], plan["moves_begun"]), ("simple", 0))
        self.assertEqual(len(plan["moves"]), plan["moves_planned"])
        self.assertEqual({part["part"] for part in plan["cost"]}, {"total", "regions", "tables", "requests", "bytes", "moves"})
        until = time.monotonic() + PATIENCE
        planned = 1
        while planned > 0:  # a part of a table at a time
            done = self.json("balance")
            planned = done["moves_planned"]
            self.assertGreaterEqual(done["moves_begun"], min(planned, 1))
            while self.json("status")["regions_in_transition"] > 0:
                self.assertLess(time.monotonic(), until, "regions are moved for ever")
        self.assertEqual(self.json("balancer", "off"), {"balancer": "off"})
        self.fails(FAILED, "balance", says="switched off")
        self.assertEqual(self.json("balancer", "on"), {"balancer": "on"})
        self.assertEqual(self.json("balancer"), {"balancer": "on"})
        self.fails(USAGE, "balancer", "perhaps")

    def test_tokens(self):
        self.assertEqual(self.json("token", "list"), [])
        self.assertEqual(self.json("token", "revoke", "--user", "nobody-here"), {"revoked": 0})
        self.fails(FAILED, "token", "revoke", "--user", "nobody-here", "--number", "1", says="has no token with the number 1")
        self.fails(USAGE, "token", "revoke", "--number", "0")

    def test_connections(self):
        listed = self.json("connections")
        self.assertEqual((listed["left_out"], listed["silent"]), (0, []))
        own = [each for each in listed["connections"] if each["service"] in ("AdminService", "RatchetService") and each["by"] == "simple"]
        self.assertTrue(own, listed)
        self.assertEqual({each["tls"] for each in own}, {None})
        self.assertEqual(len({each["process"] for each in listed["connections"]}), 5, "two masters and three region servers")
        self.assertIn("member", {each["by"] for each in listed["connections"]})
        self.assertEqual(self.json("connections", "--user", "nobody-here")["connections"], [])
        self.assertEqual({each["closed"] for each in self.json("connections", "--close", "--user", "nobody-here", "--yes")["closed"]}, {0})
        self.fails(USAGE, "connections", "--close", says="--user or --address")
        self.fails(USAGE, "connections", "--process", "nowhere", says="HOST:PORT")
        self.fails(USAGE, "connections", "--close", "--plaintext")

    def test_switches(self):
        everything = {each["switch"]: each["state"] for each in self.json("switch")}
        self.assertEqual(everything, {"balancer": "on", "split": "on", "merge": "on", "normalizer": "off",
                                      "catalog-janitor": "on", "cleaner": "on", "snapshot-cleanup": "on", "peer-modification": "on",
                                      "rpc-throttle": "on"})
        for name in everything:
            for state in ("off", "on", everything[name]):
                self.assertEqual(self.json("switch", name, state), [{"switch": name, "state": state}])
        self.table("unsplit")
        region = self.json("regions", "unsplit")[0]["region"]
        self.json("switch", "split", "off", "--wait")
        self.fails(FAILED, "split", region, "--at", "m", says="splits are switched off")
        self.json("switch", "split", "on")
        self.fails(USAGE, "switch", "perhaps")
        self.fails(USAGE, "switch", "split", "perhaps")

    def test_rights(self):
        self.table("orders")
        self.assertEqual(self.json("grant", "alice", "WR", "orders")["scope"], "orders")
        self.addCleanup(run, "revoke", "alice", "all", "orders")
        self.ok("grant", "@ops", "C", "@default")
        self.addCleanup(run, "revoke", "@ops", "all", "@default")
        listed = [(each["user"], each["scope"], each["actions"]) for each in self.json("rights")]
        self.assertEqual(listed, [("@ops", "@default", "C"), ("alice", "orders", "RW")])
        self.ok("revoke", "alice", "W", "orders")
        self.assertEqual([each["actions"] for each in self.json("rights", "alice")], ["R"])
        self.fails(USAGE, "grant", "alice", "RZ", says="expected some of the letters")
        self.fails(NOT_FOUND, "grant", "alice", "R", "no_such_table")

    def test_whoami(self):
        who = self.json("whoami")
        self.assertEqual({**who, "address": None},
                         {"user": system_user(), "by": "simple", "real_user": None, "claimed": None, "groups": [],
                          "superuser": False, "member": False, "address": None})
        self.assertRegex(who["address"], r"^127\.0\.0\.1:\d+$")
        self.assertIn("simple", self.ok("whoami"))

    def test_peers(self):
        key = "127.0.0.1:1:/nowhere"  # nobody answers there, and nobody minds
        self.assertEqual(self.json("add-peer", "backup", key, "--table", "orders=f,g", "--disabled")["added"], "peer backup")
        self.addCleanup(run, "remove-peer", "backup")
        self.fails(FAILED, "add-peer", "backup", key, says="already exists")
        self.fails(FAILED, "add-peer", "a-b", key, says="invalid peer name")
        self.fails(FAILED, "add-peer", "other", "whatever", says="Invalid cluster key")
        self.assertEqual([(peer["peer"], peer["state"]) for peer in self.json("peers")], [("backup", "DISABLED")])
        self.assertEqual(self.json("sql", "select peer, cluster_key, enabled, lag_ms from peers"),
                         [{"peer": "backup", "cluster_key": key, "enabled": 0, "lag_ms": 0}])
        self.ok("enable-peer", "backup")
        self.fails(FAILED, "enable-peer", "backup", says="already been enabled")
        self.ok("alter-peer", "backup", "--all", "--bandwidth", "1000", "--serial")
        self.assertEqual(self.json("peers")[0]["serial"], True)
        shown = self.json("describe-peer", "backup")
        self.assertEqual(shown["serial"], True)
        self.ok("alter-peer", "backup", "--no-serial")
        self.assertEqual(self.json("describe-peer", "backup")["serial"], False)
        self.assertEqual((shown["all_tables"], shown["bandwidth"], shown["tables"]), (True, 1000, []))
        self.ok("disable-peer", "backup")
        self.ok("remove-peer", "backup")
        self.fails(NOT_FOUND, "describe-peer", "backup", says="does not exist")

    def test_namespaces(self):
        limits = ("hbase.namespace.quota.maxtables=1", "owner=sales team")
        self.assertEqual(self.json("create-namespace", "sales", *limits)["created"], "namespace sales")
        self.fails(FAILED, "create-namespace", "sales", says="exists")
        self.fails(USAGE, "create-namespace", "bad-name", says="illegal namespace")
        self.fails(USAGE, "create-namespace", "none", "hbase.namespace.quota.maxregions=0", says="whole number above 0")
        self.assertIn({"namespace": "sales", "max_tables": 1, "max_regions": None}, self.json("namespaces"))
        self.names_in_table_become({"default", "hbase", "sales"})
        self.ok("create", "sales:orders", "f")
        self.fails(FAILED, "create", "sales:more", "f", says="has a limit of 1 tables")
        self.fails(NOT_FOUND, "create", "missing:t", "f", says="namespace missing does not exist")
        self.json("alter-namespace", "sales", "--unset", "owner", "--set", "hbase.namespace.quota.maxregions=9")
        shown = self.json("describe-namespace", "sales")
        self.assertEqual(shown["tables"], 1)
        self.assertEqual(shown["properties"], [
            {"property": "hbase.namespace.quota.maxregions", "value": "9"},
            {"property": "hbase.namespace.quota.maxtables", "value": "1"}])
        self.fails(FAILED, "drop-namespace", "sales", says="has 1 tables")
        self.json("disable", "sales:orders")
        self.json("drop", "sales:orders")
        self.json("drop-namespace", "sales")
        self.fails(NOT_FOUND, "describe-namespace", "sales", says="does not exist")
        self.names_in_table_become({"default", "hbase"})

    # hbase:namespace follows within a few seconds.
    def names_in_table_become(self, wanted):
        until = time.monotonic() + PATIENCE
        while True:
            code, out, _ = run("--json", "scan", "hbase:namespace")
            found = {row["row"] for row in json.loads(out)} if code == 0 else None
            if found is not None and wanted <= found and ("sales" in wanted) == ("sales" in found):
                return
            self.assertLess(time.monotonic(), until, f"hbase:namespace has {found}, wanted {wanted}")

    def test_table_life(self):
        self.table("cli_t", "--regions", "4")
        self.assertIn(("cli_t", "ENABLED"), [(row["table"], row["state"]) for row in self.json("list")])
        self.assertIn({"family": "f", "attribute": "VERSIONS", "value": "1"}, self.json("describe", "cli_t"))
        self.assertEqual(len(self.json("regions", "cli_t")), 4)
        self.fails(FAILED, "create", "cli_t", "f", says="exists")
        self.fails(FAILED, "drop", "cli_t", says="not disabled")
        self.fails(FAILED, "enable", "cli_t", says="not disabled")
        self.json("alter", "cli_t", "--add", "late:VERSIONS=3")
        self.assertIn("late", {row["family"] for row in self.json("describe", "cli_t")})
        status = self.json("alter-status", "cli_t")
        self.assertEqual(status["updated"], status["regions"])
        self.fails(USAGE, "alter", "cli_t", "--set", "late:VERSIONS=many", says="VERSIONS")
        self.fails(USAGE, "alter", "cli_t", "--set", "late:COLOUR=red", says="COLOUR")
        self.json("put", "cli_t", "row", "late:q=old")
        self.json("flush", "cli_t")
        self.assertIn("compacted", self.json("compact", "cli_t", "--major")["done"])
        self.json("compact", "cli_t", "--no-wait")
        self.json("alter", "cli_t", "--drop", "late", "--yes")
        self.json("alter", "cli_t", "--add", "late")
        self.fails(NOT_FOUND, "get", "cli_t", "row")
        self.json("put", "cli_t", "row", "late:q=new")
        self.assertEqual(self.json("count", "cli_t")["rows"], 1)
        self.assertEqual(self.json("count", "cli_t", "--start", "rowx")["rows"], 0)
        self.table_like("cli_t", "cli_copy", "--preserve-splits")
        self.assertEqual([row["start"] for row in self.json("regions", "cli_copy")], [row["start"] for row in self.json("regions", "cli_t")])
        self.assertEqual(self.json("describe", "cli_copy"), self.json("describe", "cli_t"))
        first = next(row["region"] for row in self.json("regions", "cli_t") if not row["start"])
        self.assertEqual(self.json("locate", "cli_t", "")["region"], first)
        self.assertIn(self.json("locate", "cli_t", "row")["server"], self.json("status")["live_servers"])
        self.fails(NOT_FOUND, "locate", "cli_nosuch", "row")
        self.fails(FAILED, "split", first, "--at", "zz", says="is not inside region")
        self.assertEqual(self.json("split", first, "--at", "0000")["split"], first)
        halves = [row["region"] for row in self.json("regions", "cli_t") if row["end"] == "0000" or row["start"] == "0000"]
        self.json("merge", *halves)
        whole = self.json("locate", "cli_t", "")["region"]  # a parent of the split may still be listed
        self.assertEqual(self.json("truncate-region", whole)["truncated"], whole)
        self.fails(NOT_FOUND, "truncate-region", whole)
        fresh = self.json("locate", "cli_t", "")["region"]
        self.fails(FAILED, "merge", fresh, fresh)
        self.fails(FAILED, "truncate", "cli_t", says="not disabled")
        self.assertEqual(self.json("snapshot", "cli_t", "cli_s")["snapshot"], "cli_s")
        self.fails(FAILED, "snapshot", "cli_t", "cli_s", says="already stored")
        self.assertEqual([row["table"] for row in self.json("snapshots") if row["name"] == "cli_s"], ["cli_t"])
        self.json("clone-snapshot", "cli_s", "cli_c")
        self.fails(FAILED, "clone-snapshot", "cli_s", "cli_c", says="exists")
        self.fails(FAILED, "restore-snapshot", "cli_s", "--yes", says="not disabled")
        self.json("disable", "cli_c")
        self.json("restore-snapshot", "cli_s", "--table", "cli_c", "--yes")
        self.json("drop", "cli_c", "--yes")
        self.fails(FAILED, "export-snapshot", "cli_s", "/tmp/cli_s", says="--snapshot-export-dir")
        self.fails(FAILED, "import-snapshot", "/tmp/cli_s", says="--snapshot-export-dir")
        self.json("delete-snapshot", "cli_s", "--yes")
        self.fails(NOT_FOUND, "delete-snapshot", "cli_s", "--yes")
        self.json("disable", "cli_t")
        self.json("truncate", "cli_t", "--preserve-splits", "--yes")
        self.assertIn(("cli_t", "ENABLED"), [(row["table"], row["state"]) for row in self.json("list")])
        self.assertEqual(len(self.json("regions", "cli_t")), 4)
        self.fails(NOT_FOUND, "get", "cli_t", "row")
        self.json("put", "cli_t", "row", "late:q=new")
        self.json("disable", "cli_t")
        self.json("alter", "cli_t", "--drop", "late", "--yes")
        self.json("alter", "cli_t", "--add", "late")
        self.json("enable", "cli_t")
        self.fails(NOT_FOUND, "get", "cli_t", "row")
        self.json("disable", "cli_t")
        for verb in (("get", "cli_t", "r"), ("put", "cli_t", "r", "f:q=v"), ("scan", "cli_t")):
            self.fails(FAILED, *verb, says="is disabled")
        self.fails(FAILED, "disable", "cli_t", says="not enabled")
        self.json("enable", "cli_t")

    def test_rows(self):
        self.table("cli_rows")
        self.json("put", "cli_rows", "r\\x00", "f:q=v", "f:other=w")
        rows = self.json("get", "cli_rows", "r\\x00")
        self.assertEqual([(row["row"], row["column"], row["value"]) for row in rows],
                         [("r\\x00", "f:other", "w"), ("r\\x00", "f:q", "v")])
        self.json("delete", "cli_rows", "r\\x00", "f:other")
        self.assertEqual(len(self.json("scan", "cli_rows")), 1)
        self.assertEqual(run("--json", "get", "cli_rows", "none")[:2], (NOT_FOUND, "[]\n"))
        self.fails(NOT_FOUND, "put", "cli_rows", "r", "nofamily:q=v", says="nofamily")
        self.fails(USAGE, "put", "cli_rows", "r", "no-colon", says="family:qualifier=value")

    def test_import(self):
        self.table("cli_import", "--split-keys", "5")
        with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
            file.write("".join(f"{i}\tname {i}\n" for i in range(1000)))
            file.flush()
            self.assertEqual(self.json("import", "cli_import", file.name, "--columns", "row,f:name")["rows"], 1000)
            error = self.fails(NOT_FOUND, "import", "cli_import", file.name, "--columns", "row,g:name", says="row '")
            self.assertIn("500 rows of a batch of 500 failed", error)
        self.assertEqual(len(self.json("scan", "cli_import", "--limit", "7")), 7)
        self.fails(FAILED, "import", "cli_import", "/", "--columns", "row,f:q", says="cannot be read after line 0")
        self.fails(USAGE, "import", "cli_import", "/no/such/file", "--columns", "row,f:q", says="/no/such/file")

    def test_regions(self):
        self.table("cli_moves")
        region = self.json("regions", "cli_moves")[0]
        others = [s["server"] for s in self.json("servers") if s["server"] != region["server"]]
        self.json("move", region["region"], others[0])
        self.assertEqual(self.json("regions", "cli_moves")[0]["server"], others[0])
        self.json("unassign", region["region"])
        self.assertEqual(self.json("regions", "cli_moves")[0]["state"], "CLOSED")
        self.json("assign", region["region"])
        self.assertEqual(self.json("regions", "cli_moves")[0]["state"], "OPEN")
        self.fails(NOT_FOUND, "move", "0" * 32, says="not known")
        self.fails(NOT_FOUND, "move", region["region"], "127.0.0.1:1", says="no live server")

    def test_procedures(self):
        code, out, _ = run("--json", "create", "cli_procedure", "f", "--no-wait")
        self.assertEqual(code, OK)
        pid = str(json.loads(out)["pid"])
        self.addCleanup(lambda: (run("disable", "cli_procedure"), self.ok("drop", "cli_procedure")))
        self.assertTrue(self.json("wait", pid)["succeeded"])
        shown = self.json("procedure", pid)
        self.assertEqual((shown["type"], shown["state"].split(":")[0]), ("CreateTable", "SUCCESS"))
        self.assertEqual(shown["wait_chain"], [], "nothing is in its way")
        self.assertTrue(all(step["epoch"] >= 1 for step in shown["history"]))
        self.assertEqual([member["pid"] for member in shown["tree"]][0], int(pid))
        self.assertIn(int(pid), [row["pid"] for row in self.json("procedures", "--all")])
        self.assertEqual(self.json("locks")["cycles"], [])
        self.fails(FAILED, "abort", pid, says="finished")
        for verb in ("procedure", "wait", "abort", "park", "unpark", "bypass"):
            self.fails(NOT_FOUND, verb, "999999", says="999999 is not known")
        for verb in ("procedure", "wait", "abort"):
            self.fails(USAGE, verb, "abc")

    def test_who_and_why_are_shown(self):
        self.json("pause", "type", "CreateTable", "--who", "ann", "--why", "to look")
        try:
            pid = str(self.json("create", "cli_verbs", "f", "--no-wait")["pid"])
            self.addCleanup(lambda: (run("disable", "cli_verbs"), run("drop", "cli_verbs")))
            self.assertRegex(self.json("procedure", pid)["paused"], r"paused by [^,]+, says to be ann: to look")
            self.json("park", pid, "--who", "bob", "--why", "later")
            self.assertRegex(self.json("procedure", pid)["waits_for"], r"parked by [^,]+, says to be bob: later")
        finally:
            self.json("resume", "type", "CreateTable")
        self.json("unpark", pid, "--who", "cid", "--why", "now")
        self.json("wait", pid)
        shown = self.json("procedure", pid)
        user = shown["owner"]
        self.assertEqual(shown["method"], "MasterService.CreateTable")
        self.assertRegex(shown["peer"], r"^127\.0\.0\.1:\d+$")
        self.assertEqual([(v["verb"], v["operator"], v["reason"]) for v in shown["verbs"]],
                         [("park", f"{user}, says to be bob", "later"), ("unpark", f"{user}, says to be cid", "now")])
        self.assertIn("Operators:", self.ok("procedure", pid))

    def test_locks_name_holder_waiter_and_chain(self):
        self.table("cli_locked")
        holder = subprocess.Popen([RATCHET, "--json", "lock", "cli_locked", "--why", "backup"], stdout=subprocess.PIPE, text=True)
        try:
            pid = json.loads(holder.stdout.readline())["pid"]
            waiter = self.json("disable", "cli_locked", "--no-wait")["pid"]
            chain = self.json("procedure", str(waiter))["wait_chain"]
            self.assertTrue(chain[0].startswith(f"{waiter} -lock table cli_locked-> {pid} ("), chain)
            locks = self.json("locks")
            row = [lock for lock in locks["locks"] if lock["resource"] == "table cli_locked"][0]
            self.assertEqual((row["exclusive"], row["waiting"]), (pid, str(waiter)))
            self.assertIn(chain, [[c] for c in locks["wait_chains"]])
            self.assertIn(chain[0], self.ok("procedure", str(waiter)))
        finally:
            self.ok("unlock", str(pid))
            holder.wait(PATIENCE)
            holder.stdout.close()
        self.json("wait", str(waiter))
        self.json("enable", "cli_locked")

    def test_what_is_not_finished_in_time_goes_on(self):
        self.json("pause", "everything", "--why", "a test")
        try:
            self.assertEqual([pause["reason"] for pause in self.json("pauses")], ["a test"])
            self.fails(UNKNOWN, "--timeout-ms", "1500", "create", "cli_slow", "f", says="it continues")
        finally:
            self.json("resume", "everything")
        self.addCleanup(lambda: (run("disable", "cli_slow"), self.ok("drop", "cli_slow")))
        pid = [row["pid"] for row in self.json("procedures", "--all") if "table=cli_slow" in row["text"]][0]
        self.json("wait", str(pid))
        self.assertEqual(self.json("scan", "cli_slow"), [])

    def test_unknown_tables(self):
        for verb in (("describe",), ("enable",), ("disable",), ("drop",), ("regions",), ("scan",)):
            self.fails(NOT_FOUND, *verb, "cli_none", says="cli_none does not exist")
        for verb in (("get", "cli_none", "r"), ("put", "cli_none", "r", "f:q=v"), ("delete", "cli_none", "r")):
            self.fails(NOT_FOUND, *verb, says="cli_none does not exist")


def on_terminal(answer, *arguments):
    """Runs the command line with a terminal for standard input; types `answer` when it asks.
    Answers the code and what the terminal showed."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([RATCHET, *arguments], stdin=follower, stdout=follower, stderr=follower, close_fds=True)
    os.close(follower)
    shown = b""
    asked = False
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:  # the last end of it is closed
            break
        if not piece:
            break
        shown += piece
        if b"[y/N]" in shown and not asked:
            asked = True
            os.write(leader, answer.encode() + b"\n")
    os.close(leader)
    return process.wait(PATIENCE), shown.decode()


class InputTest(CommandLineTest):
    """What is mistyped is refused with a sentence, before anything happens."""

    def test_numbers(self):
        for arguments in (("scan", "t", "--limit", "-1"), ("procedure", "-1"), ("procedure", "1.5"), ("wait", "-7"), ("unlock", "-1"),
                          ("get", "t", "r", "--versions", "-1"), ("create", "t", "f", "--regions", "-4"), ("events", "-n", "-1"),
                          ("put", "t", "r", "f:q=v", "--timestamp", "-5"), ("--timeout-ms", "-1", "status")):
            code, _, _ = run(*arguments)
            self.assertEqual(code, USAGE, arguments)

    def test_slips(self):
        self.table("cli_slips")
        self.fails(USAGE, "sttaus", says="did you mean 'status'?")
        self.fails(USAGE, "scan", "cli_slips", "--limt", "3", says="did you mean '--limit'?")
        for verb in (("scan",), ("describe",), ("disable",), ("regions",), ("lock",), ("pause", "table")):
            self.fails(NOT_FOUND, *verb, "cli_silps", says="cli_silps does not exist; did you mean 'cli_slips'?")
        self.fails(NOT_FOUND, "put", "cli_slip", "r", "f:q=v", says="did you mean 'cli_slips'?")
        self.fails(USAGE, "create", "cli_y", "f:VERSION=3", says="did you mean 'VERSIONS'?")
        self.fails(USAGE, "create", "cli_y", "f:BLOCKSIZE=1024", says="would have no effect")
        self.fails(USAGE, "create", "cli_y", "f:BLOOMFILTER=YES", says="NONE, ROW or ROWCOL")
        self.fails(USAGE, "create", "cli_y", "f:COMPRESSION=LZO", says="SNAPPY, LZ4, GZ or ZSTD")
        self.fails(USAGE, "create", "cli_y", "f:VERSIONS=0", says="VERSIONS")
        self.fails(USAGE, "create", "hbase:x", "f", says="the system's")
        self.fails(NOT_FOUND, "describe", "cli_y")

    def test_output_that_cannot_be_written_is_no_success(self):
        for arguments in (["list", "--system"], ["--json", "servers"], ["--json", "why"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([RATCHET, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, FAILED, arguments)
            self.assertIn("could not be written", done.stderr)

    def test_a_terminal_is_not_commanded_by_the_texts_of_others(self):
        self.addCleanup(lambda: run("resume", "type", "CreateTable"))
        self.ok("pause", "type", "CreateTable", "--who", "m\x1b[2Jallory", "--why", b"\x1b]0;owned\x07 \xff two\nlines")
        for arguments in (["pauses"], ["why"], ["status"]):
            code, out, err = run(*arguments)
            self.assertIn(code, (OK, WAITS), err)
            self.assertNotIn("\x1b", out, arguments)
            self.assertIn("\\x1B]0;owned\\x07", out, arguments)
        pauses = self.json("pauses")  # is UTF-8, which this parser insists on
        self.assertIn("owned\x07 \ufffd two\nlines", pauses[0]["reason"])

    def test_pauses_of_what_is_not_there(self):
        self.fails(NOT_FOUND, "pause", "type", "CreateTabel", says="CreateTable")
        self.fails(NOT_FOUND, "pause", "namespace", "nosuch", says="nosuch does not exist")
        self.json("create-namespace", "cli_empty")
        self.json("pause", "namespace", "cli_empty")
        self.json("resume", "namespace", "cli_empty")
        self.json("drop-namespace", "cli_empty")
        self.fails(NOT_FOUND, "pause", "server", "nosuch,1,1", says="ratchet servers")
        self.fails(NOT_FOUND, "pause", "region", "zzzz", says="not known")
        self.fails(USAGE, "pause", "tabel", "t", says="did you mean 'table'?")
        self.assertEqual(self.json("pauses"), [])
        self.fails(NOT_FOUND, "unlock", "999999", says="999999 is not known")

    def test_one_error_has_one_code(self):
        pid = str(self.json("procedures", "--all")[0]["pid"])
        for verb in (("abort",), ("park",), ("unpark",), ("bypass",)):
            self.fails(FAILED, *verb, pid, says=f"FAILED_PRECONDITION: pid {pid} has finished")
        self.fails(FAILED, "unlock", pid, says="is not a lock")

    def test_master_wins_over_the_environment(self):
        host, port, _ = self.json("status")["active_master"].split(",")
        code, out, err = run("--master", f"{host}:{port}", "--json", "status", env={**os.environ, "RATCHET_ZOOKEEPER": "127.0.0.1:1"})
        self.assertEqual((code, err), (OK, ""))
        self.assertEqual(json.loads(out)["active_master"].split(",")[1], port)
        self.fails(USAGE, "--master", f"{host}:{port}", "--zookeeper", "127.0.0.1:1", "status", says="not both")

    def test_regions_by_their_beginning(self):
        self.table("cli_short", "--regions", "4")
        regions = self.json("regions", "cli_short")
        self.assertEqual([r["start"] for r in regions], sorted(r["start"] for r in regions))
        every = [r["region"] for r in self.json("regions")]
        whole = regions[0]["region"]
        short = next(whole[:n] for n in range(1, 33) if sum(r.startswith(whole[:n]) for r in every) == 1)
        self.json("unassign", short)
        self.assertEqual(next(r for r in self.json("regions", "cli_short") if r["region"] == whole)["state"], "CLOSED")
        self.json("assign", short)
        self.json("pause", "region", short)
        self.assertEqual(self.json("pauses")[0]["paused"], f"region cli_short/{whole}")
        self.json("resume", "region", short)

    def test_questions_on_a_terminal(self):
        self.table("cli_asked")
        self.json("disable", "cli_asked")
        code, shown = on_terminal("n", "drop", "cli_asked")
        self.assertEqual(code, FAILED, shown)
        self.assertIn("Drop table cli_asked with all its rows? [y/N]", shown)
        self.assertIn("nothing was done", shown)
        self.assertIn("cli_asked", [t["table"] for t in self.json("list")])
        code, shown = on_terminal("n", "bypass", "999999")
        self.assertEqual(code, FAILED, shown)
        code, shown = on_terminal("", "bypass", "999999", "--yes")
        self.assertEqual(code, NOT_FOUND, shown)
        self.assertNotIn("[y/N]", shown)
        code, shown = on_terminal("y", "drop", "cli_asked")
        self.assertEqual(code, OK, shown)
        self.assertNotIn("cli_asked", [t["table"] for t in self.json("list")])
        self.ok("create", "cli_asked", "f")  # for the clean-up

    def test_who_is_the_user_of_the_system(self):
        self.json("pause", "type", "CreateTable")
        try:
            self.assertEqual(self.json("pauses")[0]["operator"], system_user())
        finally:
            self.json("resume", "type", "CreateTable")


class WaitTest(CommandLineTest):
    """A client that waits says what for."""

    def test_a_paused_table_is_named_with_user_and_reason(self):
        self.table("cli_waits")
        self.json("pause", "table", "cli_waits", "--who", "ann", "--why", "night shift")
        try:
            code, _, err = run("--timeout-ms", "6000", "disable", "cli_waits")
            self.assertEqual(code, UNKNOWN, err)
            self.assertRegex(err, r"(?m)^pid \d+ waits: table cli_waits paused by [^,]+, says to be ann: night shift$")
            self.assertRegex(err, r"pid \d+ continues in the cluster; to wait for its end: ratchet wait \d+")
        finally:
            self.json("resume", "table", "cli_waits")
        self.json("wait", re.search(r"ratchet wait (\d+)", err).group(1))

    def test_an_interrupted_command_names_its_procedure(self):
        self.table("cli_interrupted")
        self.json("pause", "table", "cli_interrupted")
        try:
            process = subprocess.Popen([RATCHET, "disable", "cli_interrupted"], stderr=subprocess.PIPE, text=True)
            pid = re.match(r"pid (\d+) waits", process.stderr.readline()).group(1)
            process.send_signal(signal.SIGINT)
            self.assertIn(f"pid {pid} continues in the cluster", process.stderr.read())
            self.assertEqual(process.wait(PATIENCE), -signal.SIGINT)
            process.stderr.close()
        finally:
            self.json("resume", "table", "cli_interrupted")
        self.json("wait", pid)

    def test_the_same_nonce_is_the_same_request(self):
        first = self.json("--nonce", "77:1234567", "create", "cli_nonce", "f")["pid"]
        self.addCleanup(lambda: (run("disable", "cli_nonce"), self.ok("drop", "cli_nonce")))
        self.assertEqual(self.json("--nonce", "77:1234567", "create", "cli_nonce", "f")["pid"], first)
        self.fails(USAGE, "--nonce", "77", "list", says="GROUP:NONCE")

    def test_an_unreachable_cluster_is_told_of(self):
        env = {k: v for k, v in os.environ.items() if k != "RATCHET_ZOOKEEPER"}
        for place, says in ((("--zookeeper", "127.0.0.1:1"), "still asking ZooKeeper at 127.0.0.1:1 for the active master"),
                            (("--master", "127.0.0.1:1"), "still asking the master at 127.0.0.1:1")):
            code, _, err = run(*place, "--timeout-ms", "4000", "list", env=env)
            self.assertEqual(code, UNREACHABLE)
            self.assertIn(says, err)
            _, _, err = run(*place, "--quiet", "--timeout-ms", "4000", "list", env=env)
            self.assertNotIn("still", err)


class DeadServersTest(CommandLineTest):
    """States are derived from the servers that live; a cluster of its own, whose only server dies."""

    def tool(self, *arguments):
        done = subprocess.run([RATCHET + "-cluster", *arguments, "--dir", self.directory], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, OK, done.stderr)
        return done.stdout

    def status(self):
        code, out, err = run("--zookeeper", self.place, "--json", "status")
        self.assertEqual(code, OK, err)
        return json.loads(out)

    def wait_for(self, what, condition):
        until = time.monotonic() + PATIENCE
        while not condition(self.status()):
            self.assertLess(time.monotonic(), until, f"{what}: {self.status()}")

    def test_status_begins_with_what_is_wrong(self):
        with tempfile.TemporaryDirectory() as directory:
            self.directory = os.path.join(directory, "cluster")
            self.tool("up", "--masters", "1", "--servers", "1")
            try:
                lines = [line.split() for line in self.tool("status").splitlines()]
                self.place = "127.0.0.1:" + next(line[3] for line in lines if line and line[0] == "zookeeper")
                self.assertEqual(run("--zookeeper", self.place, "create", "t", "f", "--regions", "3")[0], OK)
                healthy = self.status()
                self.assertEqual((healthy["problems"], healthy["regions_open"]), ([], healthy["regions"]))
                code, _, err = run_tool("up", "--servers", "5", "--dir", self.directory)
                self.assertEqual(code, FAILED)
                self.assertIn("was made with 1 region servers, not 5", err)
                self.tool("kill", "rs-1")
                self.wait_for("the death", lambda status: status["live_servers"] == [])
                dead = self.status()
                self.assertEqual(dead["regions_open"], 0, dead)
                self.assertFalse(dead["meta"].startswith("OPEN"), dead)
                problems = "\n".join(dead["problems"])
                for part in (r"hbase:meta is offline \(for \d+ s\)", "no region server is alive", r"is dead \(silent for \d+ s\)"):
                    self.assertRegex(problems, part)
                _, out, _ = run("--zookeeper", self.place, "status")
                self.assertTrue(out.startswith("PROBLEMS ("), out)
                self.tool("start", "rs-1")
                self.wait_for("recovery", lambda status: status["problems"] == [] and status["regions_open"] == status["regions"])
            finally:
                self.tool("down", "--erase")


class StreamTest(CommandLineTest):
    """Long answers come row by row."""

    def progress_of_a_scan_into_a_file(self):
        """On a terminal, of rows that go into a file; not of rows that go through a pipe, nor with --quiet."""
        def said(*arguments, to):
            leader, follower = pty.openpty()
            done = subprocess.run([RATCHET, *arguments], stdout=to, stderr=follower, timeout=PATIENCE)
            os.write(follower, b"end")
            os.close(follower)
            text = b""
            while not text.endswith(b"end"):
                text += os.read(leader, 4096)
            os.close(leader)
            self.assertEqual(done.returncode, OK)
            return text.decode()
        with tempfile.TemporaryFile() as file:
            self.assertRegex(said("scan", "cli_many", to=file), r"60000 rows, 2 of 2 regions, [0-9]+ rows/s")
            self.assertEqual(said("--quiet", "scan", "cli_many", to=file), "end")
            self.assertRegex(said("scan", "cli_many", "--limit", "10", to=file), r"10 rows, ")
        self.assertEqual(said("scan", "cli_many", to=subprocess.DEVNULL), "end")
        self.assertRegex(said("scan", "cli_many", "--count", to=subprocess.DEVNULL), r"60000 rows, 2 of 2 regions")

    def test_rows_come_as_they_are_read(self):
        self.table("cli_many", "--split-keys", "5")
        data = "".join(f"{i:06}\t{'x' * 200}\n" for i in range(60000))
        done = subprocess.run([RATCHET, "import", "cli_many", "-", "--columns", "row,f:v", "--quiet"], input=data, text=True,
                              capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, OK, done.stderr)
        reader = subprocess.Popen(["/usr/bin/env", "bash", "-c", f"set -o pipefail; {RATCHET} scan cli_many | head -3"],
                                  stdout=subprocess.PIPE, text=True)
        out, _ = reader.communicate(timeout=PATIENCE)
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["ROW", "000000", "000001"])
        self.assertEqual(len(self.json("scan", "cli_many")), 60000)
        self.progress_of_a_scan_into_a_file()
        process = subprocess.Popen([RATCHET, "scan", "cli_many"], stdout=subprocess.PIPE, text=True)
        lines, highest = 0, 0
        for _ in process.stdout:
            lines += 1
            if lines % 10000 == 0:
                with open(f"/proc/{process.pid}/status") as status:
                    highest = max([highest] + [int(line.split()[1]) for line in status if line.startswith("VmHWM")])
        process.stdout.close()
        self.assertEqual((process.wait(PATIENCE), lines), (OK, 60002))
        self.assertGreater(highest, 0)
        self.assertLess(highest, 40 * 1024, "in KiB: a few answers of a server, not the table")

    def test_filters(self):
        self.table("cli_filter", "--split-keys", "b")
        for row in ("a1", "a2", "b1"):
            self.ok("put", "cli_filter", row, f"f:q=is {row}", "f:other=x")
        rows = lambda text, *more: [(row["row"], row["column"]) for row in self.json("scan", "cli_filter", "--filter", text, *more)]
        self.assertEqual(rows("ValueFilter(=, 'substring:a2')"), [("a2", "f:q")])
        self.assertEqual(rows("PrefixFilter('b') OR (RowFilter(=, 'binary:a1') AND ColumnPrefixFilter('o'))"),
                         [("a1", "f:other"), ("b1", "f:other"), ("b1", "f:q")])
        self.assertEqual(self.json("count", "cli_filter", "--filter", "RowFilter(>=, 'binary:a2')")["rows"], 2)
        self.fails(USAGE, "scan", "cli_filter", "--filter", "Nothing()", says="'Nothing' is not a filter")

    def test_prefix(self):
        self.table("cli_prefix")
        for row in ("a", "ab", "ab\\xFF", "ab\\xFFz", "ac", "\\xFF", "\\xFF\\xFF"):
            self.ok("put", "cli_prefix", row, "f:q=v")
        for prefix, rows in (("ab", ["ab", "ab\\xFF", "ab\\xFFz"]),
                             ("ab\\xFF", ["ab\\xFF", "ab\\xFFz"]), ("\\xFF", ["\\xFF", "\\xFF\\xFF"]), ("b", [])):
            self.assertEqual([row["row"] for row in self.json("scan", "cli_prefix", "--prefix", prefix)], rows)
            self.assertEqual([row["row"] for row in self.json("scan", "cli_prefix", "--prefix", prefix, "--reversed")], rows[::-1])
        self.fails(USAGE, "scan", "cli_prefix", "--prefix", "a", "--start", "a", says="not both")

    def test_pipes_and_timestamps(self):
        self.table("cli_pipe")
        for name in ("-", "/dev/stdin"):
            done = subprocess.run([RATCHET, "--json", "import", "cli_pipe", name, "--columns", "row,f:v"],
                                  input=f"{name}\tv\n", text=True, capture_output=True, timeout=PATIENCE)
            self.assertEqual((done.returncode, json.loads(done.stdout or "{}").get("rows")), (OK, 1), done.stderr)
        self.ok("put", "cli_pipe", "r", "f:q=old", "--timestamp", "1000")
        self.assertEqual(self.json("get", "cli_pipe", "r")[0]["timestamp"], 1000)

    def test_events_begin_where_they_are_asked_to(self):
        self.table("cli_events")
        self.assertEqual(len(json.loads(self.ok("--json", "events", "-n", "3"))), 3)
        last = json.loads(self.ok("--json", "events", "-n", "1"))[0]["no"]
        lines = [json.loads(line) for line in self.ok("--json", "events").splitlines()]
        self.assertEqual(lines[-1][-1]["no"], last)
        self.assertEqual(json.loads(self.ok("--json", "events", "--since", "2100-01-01")), [])
        self.assertGreater(len(self.ok("events", "--since", "1h").splitlines()), 3)
        self.fails(USAGE, "events", "--since", "yesterday", says="5m")
        # A follower without events gets no message that the master does not answer.
        follower = subprocess.Popen([RATCHET, "events", "--follow", "-n", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(follower.stdout.readline().startswith("NO"))
        with self.assertRaises(subprocess.TimeoutExpired):
            follower.wait(2.5)
        follower.terminate()
        self.assertEqual(follower.communicate(timeout=PATIENCE)[1], "")
        with open("/dev/full", "w") as full:
            self.assertEqual(subprocess.run([RATCHET, "events", "--follow"], stdout=full, stderr=subprocess.DEVNULL, timeout=PATIENCE).returncode, FAILED)


class CompletionTest(CommandLineTest):
    def complete(self, *words):
        return self.ok("__complete", "--", *words).splitlines()

    def test_the_cluster_is_asked_for_names(self):
        self.table("cli_complete", "--regions", "2")
        self.assertEqual(self.complete("scan", "cli_comp"), ["cli_complete"])
        self.assertEqual(self.complete("disable", "cli_comp"), ["cli_complete"])
        self.assertIn("hbase:meta", self.complete("--json", "scan", "hb"))
        region = self.json("regions", "cli_complete")[0]
        self.assertEqual(self.complete("move", region["region"][:12]), [region["region"]])
        self.assertIn(region["server"], self.complete("move", region["region"], ""))
        self.json("pause", "table", "cli_complete")
        try:
            pid = self.json("disable", "cli_complete", "--no-wait")["pid"]
            for verb in ("procedure", "abort", "park", "wait", "pause"):
                self.assertIn(str(pid), self.complete(verb, str(pid)[:1]))
        finally:
            self.json("resume", "table", "cli_complete")
        self.json("wait", str(pid))
        self.assertEqual(self.complete("pause", "table", "cli_c"), ["cli_complete"])

    def test_bash_takes_the_script(self):
        self.table("cli_bash")
        script = self.ok("completion", "bash")
        ask = ('COMP_LINE="ratchet scan cli_ba" COMP_POINT=19 COMP_CWORD=2; COMP_WORDS=(ratchet scan cli_ba); _ratchet; '
               'echo "${COMPREPLY[@]}"')
        path = os.path.dirname(os.path.abspath(RATCHET)) + ":" + os.environ["PATH"]
        done = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "PATH": path})
        self.assertEqual(done.stdout.split(), ["cli_bash"], done.stderr)
        for shell in ("zsh", "fish"):
            self.assertIn("__complete", self.ok("completion", shell))


class VersionTest(CommandLineTest):
    def test_every_program_says_what_it_is(self):
        folder = os.path.dirname(os.path.abspath(RATCHET))
        for program in ("ratchet", "ratchet-master", "ratchet-regionserver", "ratchet-cluster", "ratchet-wal"):
            path = os.path.join(folder, program)
            if program == "ratchet-wal" and not os.path.exists(path):
                continue  # not among what these checks need
            done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, OK, done.stderr)
            version = r"\d+\.\d+(~(git\d{8}\.[0-9a-f]{8}\+?|unknown))?"
            self.assertRegex(done.stdout, rf"^{program} {version} \(commit ([0-9a-f]{{12}}\+?|unknown), [A-Z]\w+( \w+)*\)\n$")


class StepListTest(unittest.TestCase):
    def test_every_step_shows_what_holds_when_it_begins(self):
        for flags in ([], ["--json"]):
            done = subprocess.run([RATCHET + "-master", "--list-steps", *flags], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stderr)
            if flags:
                steps = [step for kind in json.loads(done.stdout) for step in kind["steps"]]
                given = [step["given"] for step in steps]
            else:
                given = [line.partition("; given: ")[2] for line in done.stdout.splitlines() if line.startswith(" ")]
            self.assertGreater(len(given), 150)
            for text in given:
                self.assertRegex(text, r"^[a-z][^\n]{9,79}$")


class ReplayTest(unittest.TestCase):
    def test_what_is_no_store_is_named(self):
        with tempfile.TemporaryDirectory() as directory:
            for path, says in ((directory, f"{directory} has no procedure store"), (os.path.join(directory, "none"), "none")):
                done = subprocess.run([RATCHET + "-master", "--replay", path], capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual(done.returncode, USAGE, done.stderr)
                self.assertIn(says, done.stderr)


class ClusterToolTest(unittest.TestCase):
    @staticmethod
    def tool(*arguments):
        done = subprocess.run([RATCHET + "-cluster", *arguments], capture_output=True, text=True, timeout=PATIENCE)
        return done.returncode, done.stderr

    def test_touches_no_directory_of_somebody_else(self):
        with tempfile.TemporaryDirectory() as directory:
            own = os.path.join(directory, "own data")
            open(own, "w").close()
            code, err = self.tool("up", "--dir", directory)
            self.assertEqual(code, FAILED)
            self.assertIn("is not empty and holds no cluster", err)
            for verb in ("down", "status", "logs"):
                code, err = self.tool(verb, "--erase", "--dir", directory)
                self.assertEqual(code, FAILED)
                self.assertIn("holds no cluster", err)
            self.assertEqual(os.listdir(directory), ["own data"])


class UsageTest(CommandLineTest):
    def test_help_everywhere(self):
        words = [line.split()[0] for line in self.ok("--help").split("Subcommands:")[1].split("\n\n")[0].splitlines()
                 if line.startswith("  ") and not line.startswith("   ")]
        self.assertGreater(len(words), 30)
        for word in words:
            self.assertIn("Exit codes", self.ok(word, "--help"), word)
        script = self.ok("completion", "bash")
        check = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, timeout=PATIENCE)
        self.assertEqual((check.returncode, check.stderr), (0, ""))
        self.assertLessEqual(set(words), set(self.ok("__complete", "--", "").splitlines()))

    def test_wrong_arguments(self):
        for arguments in ((), ("frobnicate",), ("--nosuch", "status"), ("get", "t"), ("create", "t"),
                          ("create", "bad name", "f"), ("create", "t", "f", "--regions", "0"),
                          ("--timeout-ms", "0", "list")):
            self.fails(USAGE, *arguments)
        self.fails(USAGE, "create", "t", "f:VERSIONS=none", says="VERSIONS = 'none' is not a number")
        self.fails(USAGE, "frobnicate", says="'frobnicate' is not a command")

    def test_nobody_there(self):
        env = {key: value for key, value in os.environ.items() if not key.startswith("RATCHET_Z")}
        for place in (("--zookeeper", "127.0.0.1:1"), ("--master", "127.0.0.1:1"), ("--zookeeper", "no-such.invalid:2181")):
            code, out, err = run(*place, "--timeout-ms", "500", "--json", "status", env=env)
            self.assertEqual(code, UNREACHABLE, err)
            self.assertIn(place[1], err)
            self.assertEqual(json.loads(out)["error"], "UNAVAILABLE")
        self.assertEqual(run("status", env=env)[0], USAGE)
        self.assertEqual(run("--zookeeper", "127.0.0.1", "status", env=env)[0], USAGE)


if __name__ == "__main__":
    unittest.main()
