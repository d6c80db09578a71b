"""The page and the metrics of a cluster with HTTPS, enforced rights and users from certificates, as a browser and
Prometheus read them: by a password, a token and a certificate."""
import base64
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

BIN = os.environ["RATCHET_BIN"]
PATIENCE = 60
SUPERUSER, READER, STRANGER = "operator", "reader", "stranger"


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.dir = os.path.join(cls.folder.name, "cluster")
        cls.logins = os.path.join(cls.folder.name, "logins")
        cls.groups = os.path.join(cls.folder.name, "groups")
        cls.write(cls.groups, "ops: olga\n")
        lines = [cls.login("password", user, "-", user + " password") for user in (SUPERUSER, READER, STRANGER)]
        cls.token_file = os.path.join(cls.folder.name, "token")
        lines.append(cls.login("token", READER, cls.token_file))
        with open(cls.token_file) as file:
            cls.token = file.read().strip()
        cls.write(cls.logins, "".join(lines))
        cls.env = {name: value for name, value in os.environ.items() if not name.startswith("RATCHET_")}
        cls.env.update(RATCHET_INFO_TLS="require", RATCHET_INFO_LOGINS=cls.logins, RATCHET_RIGHTS="enforce",
                       RATCHET_SUPERUSERS=f"admin,{SUPERUSER}", RATCHET_GROUPS_FILE=cls.groups,
                       RATCHET_TLS_USER_FROM="cn", RATCHET_AUDIT_DIR="", RATCHET_BALANCER_PERIOD_MS="0")
        subprocess.run([f"{BIN}/ratchet-cluster", "up", "--tls", "--dir", cls.dir, "--servers", "2"], env=cls.env,
                       check=True, stdout=subprocess.DEVNULL)
        certificates = os.path.join(cls.dir, "certificates")
        cls.authority = os.path.join(certificates, "ca.pem")
        cls.admin = os.path.join(certificates, "admin.pem")
        port = re.search(r"^zookeeper\S*\s+\S+\s+\S+\s+(\d+)", cls.cluster("status"), re.M).group(1)
        cls.env.update(RATCHET_ZOOKEEPER="127.0.0.1:" + port, RATCHET_TLS_CONNECT="true",
                       RATCHET_TLS_CERTIFICATE=cls.admin, RATCHET_TLS_TRUST=cls.authority)
        cls.ratchet("grant", READER, "R")
        cls.pages = {name: cls.page_port(name) for name in ("master-1", "master-2", "rs-1")}

    @classmethod
    def tearDownClass(cls):
        subprocess.run([f"{BIN}/ratchet-cluster", "down", "--erase", "--dir", cls.dir], check=False,
                       stdout=subprocess.DEVNULL, env=cls.env)
        cls.folder.cleanup()

    @staticmethod
    def write(path, text):
        with open(path + ".next", "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(text)
        os.rename(path + ".next", path)

    @staticmethod
    def login(kind, user, file, password=""):
        made = subprocess.run([f"{BIN}/ratchet", "page-login", kind, user, "--secret-file", file], input=password + "\n",
                              text=True, stdout=subprocess.PIPE, check=True)
        return made.stdout

    @classmethod
    def cluster(cls, *words):
        return subprocess.run([f"{BIN}/ratchet-cluster", *words, "--dir", cls.dir], env=cls.env, check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    @classmethod
    def ratchet(cls, *words):
        return subprocess.run([f"{BIN}/ratchet", *words], env=cls.env, check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    @classmethod
    def page_port(cls, name):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with open(os.path.join(cls.dir, "logs", name + ".log")) as log:
                found = re.search(r"page at https://127\.0\.0\.1:(\d+)/", log.read())
            if found:
                return int(found.group(1))
        raise AssertionError(name + " has no page")

    def get(self, process, path, headers=None, certificate=None, host=None):
        context = ssl.create_default_context(cafile=self.authority)
        if certificate:
            context.load_cert_chain(certificate)
        connection = http.client.HTTPSConnection("127.0.0.1", self.pages[process], context=context, timeout=PATIENCE)
        try:
            fields = dict(headers or {})
            if host:
                fields["Host"] = host
            connection.request("GET", path, headers=fields)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def test_each_kind_of_login_scrapes_the_metrics(self):
        for process in self.pages:
            for headers, certificate in ((basic(SUPERUSER, SUPERUSER + " password"), None), (None, self.admin)):
                status, text = self.get(process, "/metrics", headers, certificate)
                self.assertEqual(status, 200, (process, text[:200]))
                self.assertIn("ratchet_build_info", text)
        for headers in ({"Authorization": "Bearer " + self.token}, basic(READER, READER + " password")):
            self.assertEqual(self.get("rs-1", "/metrics", headers)[0], 200)

    def test_readers_without_a_login_or_a_right_see_nothing(self):
        for process in self.pages:
            for path in ("/", "/metrics", "/api/v1/", "/api/v1/settings", "/api/v1/procedures",
                         "/api/v1/events/stream"):
                self.assertEqual(self.get(process, path)[0], 401, (process, path))
                for headers in (basic(SUPERUSER, "wrong"), basic("", ""), {"Authorization": "Bearer x"}):
                    status, text = self.get(process, path, headers)
                    self.assertIn(status, (401, 429), (process, path, text[:200]))
        active = next(name for name in ("master-1", "master-2") if "(active)" in self.line_of(name))
        for process in (active, "rs-1"):
            for path in ("/metrics", "/api/v1/settings", "/api/v1/procedures", "/api/v1/events/stream"):
                status, text = self.get(process, path, basic(STRANGER, STRANGER + " password"))
                self.assertEqual(status, 403, (process, path, text[:200]))
                self.assertIn("Insufficient permissions", text)

    # A standby has no rights, so it can judge superusers only.
    def test_a_standby_shows_nothing_to_whom_it_cannot_judge(self):
        standby = next(name for name in ("master-1", "master-2") if "(active)" not in self.line_of(name))
        self.assertEqual(self.get(standby, "/metrics", basic(SUPERUSER, SUPERUSER + " password"))[0], 200)
        for user in (STRANGER, READER):
            login = basic(user, user + " password")
            status, text = self.get(standby, "/metrics", login)
            self.assertEqual(status, 503)
            self.assertRegex(text, r"^[^\n]* is a standby, not the active master\n$")
            for path in ("settings", "procedures", "status", "events/stream", "table/t", "why?subject=t"):
                status, text = self.get(standby, "/api/v1/" + path, login)
                self.assertEqual(status, 503, (path, text[:200]))
                answer = json.loads(text)
                self.assertRegex(answer.pop("message"), r"^[^\n]* is a standby, not the active master$")
                self.assertEqual(answer, {"error": "NO_RIGHTS_YET"})

    def test_whoami(self):
        who = json.loads(self.ratchet("--json", "whoami"))
        self.assertRegex(who.pop("address"), r"^127\.0\.0\.1:\d+$")
        self.assertNotEqual(who.pop("claimed"), "admin", "the user of the operating system, who counts for nothing")
        self.assertEqual(who, {"user": "admin", "by": "certificate", "real_user": None, "groups": [],
                               "superuser": True, "member": False})

    def line_of(self, name):
        return next(line for line in self.cluster("status").splitlines() if line.startswith(name))

    def test_views_need_no_certificate_rule_for_the_page_itself(self):
        for process in self.pages:
            status, text = self.get(process, "/api/v1/procedures", basic(SUPERUSER, SUPERUSER + " password"))
            self.assertEqual(status, 200, (process, text[:300]))
            self.assertIn("data", json.loads(text))

    def test_foreign_hosts_and_foreign_pages_are_refused(self):
        login = basic(SUPERUSER, SUPERUSER + " password")
        self.assertEqual(self.get("rs-1", "/metrics", login, host="evil.example")[0], 421)
        self.assertEqual(self.get("rs-1", "/metrics", {**login, "X-Forwarded-For": "10.0.0.1"})[0], 200)
        self.assertEqual(self.get("rs-1", "/api/v1/settings", {**login, "Sec-Fetch-Site": "cross-site"})[0], 403)
        self.assertEqual(self.get("rs-1", "/api/v1/settings", {**login, "Origin": "https://evil.example"})[0], 403)
        own = f"https://127.0.0.1:{self.pages['rs-1']}"
        self.assertEqual(self.get("rs-1", "/api/v1/settings", {**login, "Origin": own})[0], 200)

    def test_plain_text_is_refused(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.pages["rs-1"], timeout=PATIENCE)
        connection.request("GET", "/metrics")
        self.assertEqual(connection.getresponse().status, 400)
        connection.close()

    def test_bad_files_are_problems_and_change_nothing(self):
        with open(self.logins) as file:
            good = file.read()
        self.write(self.logins, "password half")
        self.write(self.groups, "no colon\n")
        try:
            self.reload()
            self.await_status("the previous logins remain in use", True)
            self.await_status("the earlier superusers and groups stay", True)
            login = basic(SUPERUSER, SUPERUSER + " password")
            self.assertEqual(self.get("rs-1", "/metrics", login)[0], 200)
        finally:
            self.write(self.logins, good)
            self.write(self.groups, "ops: olga\n")
            self.reload()
        self.await_status("the previous logins remain in use", False)
        self.await_status("the earlier superusers and groups stay", False)

    def reload(self):
        for line in self.cluster("status").splitlines():
            words = line.split()
            if words and re.fullmatch(r"(master|rs)-\d+", words[0]):
                os.kill(int(words[2]), 1)

    def await_status(self, text, shown):
        end = time.monotonic() + PATIENCE
        while (text in self.ratchet("status")) != shown:
            self.assertLess(time.monotonic(), end, f"status {'lacks' if shown else 'still has'}: {text}")


class PageStartTest(unittest.TestCase):
    def test_a_page_for_others_needs_https_and_logins(self):
        with tempfile.TemporaryDirectory() as root:
            for program in ("ratchet-master", "ratchet-regionserver"):
                ended = subprocess.run([f"{BIN}/{program}", "--root", root + "/root", "--zookeeper", "127.0.0.1:1",
                                        "--info-tls", "require"], text=True, stderr=subprocess.PIPE, check=False)
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertIn("--info-tls needs a certificate", ended.stderr)

    def test_a_page_at_a_foreign_address_without_https_and_logins_ends_the_process(self):
        with tempfile.TemporaryDirectory() as folder:
            common = ["--root", folder + "/root", "--zookeeper", os.environ["RATCHET_ZOOKEEPER"],
                      "--zk-parent", "/page-start", "--info-host", "0.0.0.0", "--info-port", "0"]
            env = {name: value for name, value in os.environ.items() if not name.startswith("RATCHET_")}
            os.mkdir(folder + "/root")
            # The master writes the files of the root that a region server waits for.
            for program in ("ratchet-master", "ratchet-regionserver"):
                ended = subprocess.run([f"{BIN}/{program}", *common], text=True, env=env, timeout=PATIENCE, check=False,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(ended.returncode, 2, ended.stdout)
                self.assertIn("--info-host is reached by others: give --info-tls require with --info-logins",
                              ended.stdout)
            # The check precedes everything that may take long while the page is open: here, an address that is taken.
            with socket.create_server(("127.0.0.1", 0)) as taken:
                port = str(taken.getsockname()[1])
                ended = subprocess.run([f"{BIN}/ratchet-regionserver", *common, "--port", port], text=True, env=env,
                                       timeout=PATIENCE, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(ended.returncode, 2, ended.stdout)


if __name__ == "__main__":
    unittest.main()
