"""The most common mistakes of a user in one table: the command line, the exit code, and the whole text of the error.

A text is compared as a whole. `$name` is a name of this run (NAMES says which), `<word>` is any text of one line that
differs between runs. `python3 test_mistakes.py --list` prints the table, so that a reader can read all texts at once.
"""

import json
import os
import re
import shlex
import string
import subprocess
import sys
import tempfile
import unittest

OK, FAILED, USAGE, UNREACHABLE, UNKNOWN, NOT_FOUND = range(6)
NO_ROOT = 10  # a server whose root directory does not exist
BIN = os.environ.get("RATCHET_BIN", "")
PATIENCE = 180
NOBODY = "127.0.0.1:1"  # nothing listens at this port

NAMES = {
    "on": "an enabled table with two regions and the family f", "off": "a disabled table",
    "region": "the first region of the enabled table", "pid": "a finished procedure, which is not a lock",
    "server": "address of a live region server", "standby": "address of the standby master",
    "zookeeper": "address of ZooKeeper", "dir": "a directory with the files of FILES",
}
FILES = {
    "no-equals": "root\n", "unknown": "colour = red\n", "no-number": "port = abc\n", "range": "port = 70000\n",
    "not-a-cluster/file": "",
}

# The program refuses these command lines before it asks a cluster.
TYPED = [
    # verbs and arguments
    ("", USAGE, "no command is given (see: ratchet --help)"),
    ("frobnicate", USAGE, "'frobnicate' is not a command (see: ratchet --help)"),
    ("sttaus", USAGE, "'sttaus' is not a command; did you mean 'status'? (see: ratchet --help)"),
    ("get t", USAGE, "get: the argument 'row' is missing (see: ratchet get --help)"),
    ("create t", USAGE, "create: the argument 'family' is missing (see: ratchet create --help)"),
    ("drop", USAGE, "drop: the argument 'table' is missing (see: ratchet drop --help)"),
    ("put t r", USAGE, "put: the argument 'value' is missing (see: ratchet put --help)"),
    ("rerun 17", USAGE, "rerun: the option '--step' is missing (see: ratchet rerun --help)"),
    ("merge a", USAGE, "merge: 'regions' needs at least 2 values, not 1 (see: ratchet merge --help)"),
    ("pause a b c", USAGE, "pause: 'what' takes at most 2 values, not 3 (see: ratchet pause --help)"),
    ("list extra", USAGE, "list: unexpected argument 'extra' (see: ratchet list --help)"),
    # options
    ("--nosuch status", USAGE, "status: there is no option '--nosuch' (see: ratchet status --help)"),
    ("scan t --limt 3", USAGE,
     "scan: there is no option '--limt'; did you mean '--limit'? (see: ratchet scan --help)"),
    ("why --limit", USAGE, "why: the option '--limit' has no value (see: ratchet why --help)"),
    ("--timeout-ms", USAGE, "the option '--timeout-ms' has no value (see: ratchet --help)"),
    ("scan t --limit 1 --limit 2", USAGE,
     "scan: '--limit' is given 2 times; give it once (see: ratchet scan --help)"),
    ("scan t --prefix a --start b", USAGE,
     "scan: give either '--start' or '--prefix', not both (see: ratchet scan --help)"),
    (f"--zookeeper {NOBODY} --master {NOBODY} status", USAGE,
     "give either '--zookeeper' or '--master', not both (see: ratchet --help)"),
    # numbers and choices
    ("create t f --regions 0", USAGE,
     "create: --regions: '0' must be an integer from 1 to 100000 (see: ratchet create --help)"),
    ("procedure abc", USAGE, "procedure: 'abc' must be an integer >= 1 (see: ratchet procedure --help)"),
    ("--timeout-ms 5s list", USAGE,
     "--timeout-ms: '5s' must be an integer from 1 to 86400000 (see: ratchet --help)"),
    ("create t f --regions 4 --split octal", USAGE,
     "create: --split: 'octal' must be one of hex, uniform (see: ratchet create --help)"),
    ("balancer perhaps", USAGE, "balancer: 'perhaps' must be one of on, off (see: ratchet balancer --help)"),
    ("switch splt off", USAGE,
     "switch: 'splt' must be one of balancer, split, merge, normalizer, catalog-janitor, cleaner, "
     "snapshot-cleanup, peer-modification, rpc-throttle; did you mean 'split'? (see: ratchet switch --help)"),
    ("completion tcsh", USAGE,
     "completion: 'tcsh' must be one of bash, zsh, fish (see: ratchet completion --help)"),
    # the cluster
    ("status", USAGE,
     "no cluster is named: give --zookeeper HOST:PORT or --master HOST:PORT, or set RATCHET_ZOOKEEPER"),
    ("--master 127.0.0.1 status", USAGE, "master '127.0.0.1': expected host:port or [IPv6 address]:port"),
    (f"--master {NOBODY} --nonce 77 list", USAGE, "--nonce: expected GROUP:NONCE, as it was printed"),
]

# The cluster cannot be reached: no process listens, ZooKeeper is down, a name or a port is wrong.
UNREACHED = [
    ("--zookeeper 127.0.0.1 status", USAGE,
     "INVALID_ARGUMENT: ZooKeeper servers '127.0.0.1': expected host:port,[IPv6 address]:port"),
    (f"--zookeeper {NOBODY} --timeout-ms 500 list", UNREACHABLE,
     f"UNAVAILABLE: ListTables: gave up after 500 ms and <n>: ZooKeeper at {NOBODY} does not answer: "
     "no connection to ZooKeeper within <n> ms (see: ratchet why)"),
    (f"--master {NOBODY} --timeout-ms 500 list", UNREACHABLE,
     f"UNAVAILABLE: ListTables: gave up after 500 ms and <n>: master {NOBODY}: <cause> "
     "(see: ratchet why)"),
    ("--zookeeper no-such.invalid:2181 --timeout-ms 500 list", UNREACHABLE,
     "UNAVAILABLE: ListTables: gave up after 500 ms and <n>: ZooKeeper servers 'no-such.invalid:2181': no address is "
     "known for any of these names <cause> (see: ratchet why)"),
]

# Needs the cluster of NAMES.
ASKED = [
    # tables
    ("create $on f", FAILED, "ALREADY_EXISTS: table $on exists (see: ratchet list)"),
    ("enable $on", FAILED, "FAILED_PRECONDITION: table $on is not disabled (ratchet disable TABLE disables it)"),
    ("drop $on", FAILED, "FAILED_PRECONDITION: table $on is not disabled (ratchet disable TABLE disables it)"),
    ("truncate $on", FAILED, "FAILED_PRECONDITION: table $on is not disabled (ratchet disable TABLE disables it)"),
    ("disable $off", FAILED, "FAILED_PRECONDITION: table $off is not enabled (ratchet enable TABLE enables it)"),
    ("get $off r", FAILED, "FAILED_PRECONDITION: table $off is disabled (ratchet enable TABLE enables it)"),
    ("flush $off", FAILED, "FAILED_PRECONDITION: table $off is not enabled (ratchet enable TABLE enables it)"),
    ("drop nosuch", NOT_FOUND, "NOT_FOUND: table nosuch does not exist (see: ratchet list)"),
    ("scan mis_onn", NOT_FOUND,
     "NOT_FOUND: table mis_onn does not exist; did you mean 'mis_on'? (see: ratchet list)"),
    ("create 'bad name' f", USAGE,
     "INVALID_ARGUMENT: illegal table name 'bad name': letters, digits, '_', '-' and '.', not starting with '-' or "
     "'.'"),
    ("create hbase:x f", USAGE, "INVALID_ARGUMENT: table hbase:x: the namespace hbase is the system's"),
    ("create nons:x f", NOT_FOUND,
     "NOT_FOUND: namespace nons does not exist: create it first (ratchet create-namespace)"),
    ("create x f --split-keys b,a", FAILED, "REFUSED: split keys must rise: 'a' follows 'b'"),
    ("create x f --split-keys a,b,b", FAILED, "REFUSED: split keys must be unique: 'b' is given twice"),
    ("create x f --regions 4 --split-keys a", USAGE,
     "INVALID_ARGUMENT: give either --split-keys or --regions, not both"),
    # families
    ("create x f f", USAGE, "INVALID_ARGUMENT: family 'f' is given twice"),
    ("create x f:VERSIONS=none", USAGE,
     "INVALID_ARGUMENT: family f: VERSIONS = 'none' is not a number from 1 to 2147483647"),
    ("create x f:COLOUR=red", USAGE,
     "INVALID_ARGUMENT: family 'f:COLOUR=red': there is no attribute 'COLOUR' (VERSIONS, MIN_VERSIONS, TTL, "
     "KEEP_DELETED_CELLS, COMPRESSION, BLOOMFILTER, REPLICATION_SCOPE)"),
    ("create x f:COMPRESSION=LZO", USAGE,
     "INVALID_ARGUMENT: family 'f:COMPRESSION=LZO': COMPRESSION is NONE, SNAPPY, LZ4, GZ or ZSTD, not 'LZO'"),
    ("alter $on", USAGE, "INVALID_ARGUMENT: nothing to change: give --add, --set or --drop"),
    ("alter $on --set g:VERSIONS=2", USAGE, "INVALID_ARGUMENT: table $on has no family 'g'"),
    ("alter $on --add f", USAGE, "INVALID_ARGUMENT: table $on has a family 'f' already"),
    ("alter $on --drop f", USAGE, "INVALID_ARGUMENT: table $on must have at least one column family"),
    ("put $on r g:q=v", NOT_FOUND,
     "NOT_FOUND: column family g does not exist in region <region> (see: ratchet describe TABLE)"),
    # rows
    ("put $on r nocolon", USAGE, "INVALID_ARGUMENT: 'nocolon': expected family:qualifier=value"),
    ("put $on 'r\\xZ' f:q=v", USAGE,
     "INVALID_ARGUMENT: 'r\\xZ': a backslash must start \\xHH (two hex digits) or be doubled"),
    ("scan $on --columns :q", USAGE, "INVALID_ARGUMENT: column ':q': expected family:qualifier"),
    ("scan $on --filter 'Nothing()'", USAGE,
     "INVALID_ARGUMENT: --filter: 'Nothing' is not a filter; known filters: <names>"),
    ("""scan $on --filter "PrefixFilter('b" """, USAGE, "INVALID_ARGUMENT: --filter: a quote is not closed"),
    ("scan $on --filter 'PrefixFilter(b)'", USAGE,
     "INVALID_ARGUMENT: --filter: 'b' is not an argument; use a text in quotes, a number, true, false or an operator"),
    ("import $on /no/such --columns row,f:q", USAGE, "INVALID_ARGUMENT: cannot read the file '/no/such'"),
    ("import $on - --columns f:q", USAGE, "INVALID_ARGUMENT: exactly one of the columns must be 'row'"),
    ("import $on /etc/passwd --separator : --columns row,f:q", USAGE,
     "INVALID_ARGUMENT: 0 rows are stored; the import stopped (a new run stores them again): line 1: more than the 2 "
     "fields that --columns names"),
    # regions
    ("move zzzz", NOT_FOUND,
     "NOT_FOUND: region 'zzzz' is not known: no encoded name begins so (see: ratchet regions)"),
    ("assign " + "0" * 32, NOT_FOUND, "NOT_FOUND: region " + "0" * 32 + " is not known (see: ratchet regions)"),
    (f"move $region {NOBODY}", NOT_FOUND, f"NOT_FOUND: no live server at '{NOBODY}' (see: ratchet servers)"),
    ("split $region --at zz", FAILED,
     "REFUSED: split key 'zz' is not inside region $region: it must be above its start key '' and below its end key "
     "'80000000'"),
    ("merge $region $region", FAILED, "REFUSED: region $region is named twice"),
    ("give-up $region", USAGE,
     "INVALID_ARGUMENT: the rows of region $region will be lost: its files go to the folder quarantine of the root, "
     "and an empty region takes its place: repeat with --yes if that is meant"),
    # servers
    ("drain nohost", NOT_FOUND, "NOT_FOUND: no live server at 'nohost' (see: ratchet servers)"),
    ("drain a,b,c", USAGE, "INVALID_ARGUMENT: 'a,b,c' is not a server name (host,port,startcode)"),
    ("undrain $server", FAILED,
     "REFUSED: server <server> is not decommissioned ('ratchet drained' lists decommissioned servers)"),
    # procedures
    ("procedure 999999", NOT_FOUND,
     "NOT_FOUND: procedure 999999 is not known (see: ratchet procedures --all, ratchet history)"),
    ("abort $pid", FAILED, "FAILED_PRECONDITION: pid $pid has finished (see: ratchet procedure $pid)"),
    ("unlock 999999", NOT_FOUND,
     "NOT_FOUND: procedure 999999 is not known (see: ratchet procedures --all, ratchet history)"),
    ("unlock $pid", FAILED,
     "FAILED_PRECONDITION: pid $pid is not a lock: it is a CreateTable procedure (see: ratchet locks)"),
    ("pause table", USAGE, "INVALID_ARGUMENT: 'table' needs a name: give table NAME"),
    ("pause tabel t", USAGE,
     "INVALID_ARGUMENT: 'tabel' cannot be paused; did you mean 'table'? (use a pid, everything, ordinary, type NAME, "
     "or table, region, namespace, server, peer NAME, meta, cluster)"),
    ("pause type CreateTabel", NOT_FOUND,
     "NOT_FOUND: unknown procedure type 'CreateTabel'; known types: <types>"),
    ("pause server nosuch,1,1", NOT_FOUND,
     "NOT_FOUND: unknown server nosuch,1,1 (format: host,port,startcode; see 'ratchet servers')"),
    ("resume table $on", NOT_FOUND, "NOT_FOUND: table $on is not paused"),
    ("lock nosuch", NOT_FOUND, "NOT_FOUND: table nosuch does not exist (see: ratchet list)"),
    ("lock nosuch --namespace", NOT_FOUND,
     "NOT_FOUND: namespace nosuch does not exist: create it first (ratchet create-namespace)"),
    ("pause namespace nosuch", NOT_FOUND,
     "NOT_FOUND: namespace nosuch does not exist: create it first (ratchet create-namespace)"),
    ("why nosuch", NOT_FOUND,
     "NOT_FOUND: 'nosuch' is not a pid, table, region or server of this cluster (ratchet procedures, tables, regions, "
     "servers list them)"),
    # namespaces and their quotas
    ("create-namespace mis_full", FAILED, "ALREADY_EXISTS: namespace mis_full exists (see: ratchet namespaces)"),
    ("create-namespace a-b", USAGE, "INVALID_ARGUMENT: illegal namespace 'a-b': letters, digits and '_' only"),
    ("drop-namespace mis_full", FAILED,
     "FAILED_PRECONDITION: namespace mis_full has 1 tables: only an empty one can be deleted, drop them first"),
    ("describe-namespace nosuch", NOT_FOUND,
     "NOT_FOUND: namespace nosuch does not exist: create it first (ratchet create-namespace)"),
    ("create mis_full:u f", FAILED,
     "FAILED_PRECONDITION: table mis_full:u cannot be created: namespace mis_full has a limit of 1 tables, and has 1 "
     "(hbase.namespace.quota.maxtables)"),
    ("create-namespace q hbase.namespace.quota.maxtables=abc", USAGE,
     "INVALID_ARGUMENT: namespace q: hbase.namespace.quota.maxtables is 'abc', and must be a whole number above 0; "
     "leave it out for no limit"),
    ("create-namespace q x", USAGE, "INVALID_ARGUMENT: 'x': expected KEY=VALUE"),
    # peers
    ("describe-peer nosuch", NOT_FOUND, "NOT_FOUND: replication peer nosuch does not exist (see: ratchet peers)"),
    ("add-peer mis_peer whatever", FAILED,
     "REFUSED: Invalid cluster key: whatever, the format is host1,host2:port:/parent-of-znodes"),
    ("add-peer a-b 127.0.0.1:1:/x", FAILED, "REFUSED: Found invalid peer name: a-b"),
    # snapshots
    ("snapshot $on mis_snap", FAILED,
     "ALREADY_EXISTS: Snapshot 'mis_snap' already stored on the filesystem. (see: ratchet snapshots)"),
    ("delete-snapshot nosuch", NOT_FOUND,
     "NOT_FOUND: Snapshot 'nosuch' doesn't exist on the filesystem (see: ratchet snapshots)"),
    ("restore-snapshot nosuch", NOT_FOUND, "NOT_FOUND: there is no snapshot nosuch (see: ratchet snapshots)"),
    ("clone-snapshot mis_snap $on", FAILED,
     "ALREADY_EXISTS: table $on exists: ratchet restore-snapshot mis_snap --table $on replaces it, once it is "
     "disabled"),
    ("export-snapshot mis_snap /tmp/x", FAILED,
     "REFUSED: exports and imports of snapshots are disabled: set --snapshot-export-dir of the masters to a "
     "directory"),
    # views
    ("sql 'delete from regions'", USAGE,
     "INVALID_ARGUMENT: sql: only a SELECT is possible: nothing is changed by a query"),
    ("sql 'select * from region'", USAGE,
     "INVALID_ARGUMENT: sql: no such table: region; .schema lists tables and columns"),
    ("sql selec", USAGE, 'INVALID_ARGUMENT: sql: near "selec": syntax error'),
    ("history --since soon", USAGE,
     "INVALID_ARGUMENT: 'soon' is not a time; use 90s, 5m, 2h or 1d ago, or 2026-01-31T12:30:00 (UTC)"),
    # switches
    ("normalize", FAILED,
     "FAILED_PRECONDITION: the normalizer did nothing: it is switched off (ratchet switch normalizer), "
     "operations in progress continue, or a dead server is being recovered (ratchet why)"),
    # an address of another process
    ("--master $standby --timeout-ms 1500 list", UNREACHABLE,
     "UNAVAILABLE: ListTables: gave up after 1500 ms and <n>: master $standby: <server> is a standby, not the active "
     "master (see: ratchet why)"),
    ("--master $server --timeout-ms 1500 list", FAILED,
     "UNSUPPORTED: server $server: RatchetService (not served at this address; give the address of a master)"),
    ("--zookeeper $zookeeper --znode-parent /nosuch --timeout-ms 1500 list", UNREACHABLE,
     "UNAVAILABLE: ListTables: gave up after 1500 ms and <n>: no master is active (see: ratchet why)"),
]

# The other programs; the texts have the program's name before them too. Several log before they end: the last line
# counts.
PROGRAMS = [
    ("ratchet-master", USAGE, "--root and --zookeeper are required"),
    ("ratchet-master --nosuch", USAGE,
     "The following argument was not expected: --nosuch (try ratchet-master --help)"),
    ("ratchet-master --config /no/such", USAGE, "setting config: cannot read '/no/such'"),
    ("ratchet-master --config $dir/not-a-cluster", USAGE,
     "setting config: '$dir/not-a-cluster' is a directory; name a file with settings"),
    ("ratchet-master --config $dir/no-equals", USAGE, "$dir/no-equals:1: expected 'name = value'"),
    ("ratchet-master --config $dir/unknown", USAGE, "$dir/unknown:1: ratchet-master has no setting 'colour'"),
    ("ratchet-master --config $dir/no-number", USAGE,
     "setting port from $dir/no-number:1: 'abc': expected a whole number (allowed: 1 to 65535)"),
    ("ratchet-master --config $dir/range", USAGE,
     "setting port from $dir/range:1: '70000': not in the range (allowed: 1 to 65535)"),
    ("ratchet-master --log-level loud", USAGE,
     "setting log-level from --log-level: 'loud': not in the range (allowed: debug | info | warn | error)"),
    (f"ratchet-master --root /no/such --zookeeper {NOBODY}", NO_ROOT,
     "--root /no/such: NOT_FOUND: directory /no/such does not exist; create it first, if the name is right"),
    ("ratchet-master --replay $dir/not-a-cluster", USAGE, "--replay: $dir/not-a-cluster has no procedure store"),
    ("ratchet-regionserver --port x", USAGE,
     "setting port from --port: 'x': expected a whole number (allowed: 1 to 65535)"),
    ("ratchet-cluster status --dir $dir/none", FAILED, "$dir/none holds no cluster (no cluster.state)"),
    ("ratchet-cluster up --dir $dir/not-a-cluster", FAILED,
     "$dir/not-a-cluster is not empty and holds no cluster; choose another --dir"),
    ("ratchet-cluster up --dir $dir/none --servers 0", USAGE,
     "setting servers from --servers: '0': not in the range (allowed: 1 to 50)"),
    ("ratchet-cluster up --dir $dir/none --masters 0", USAGE,
     "setting masters from --masters: '0': not in the range (allowed: 1 to 9)"),
    ("ratchet-cluster up --dir $dir/none --zookeepers 0", USAGE,
     "setting zookeepers from --zookeepers: '0': not in the range (allowed: 1 to 5)"),
    ("ratchet-cluster up", USAGE, "setting dir is required: directory of the cluster"),
]


def environment(place=None):
    """Without the settings of the caller's shell, which would replace the mistake."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("RATCHET_")}
    return {**env, "RATCHET_ZOOKEEPER": place} if place else env


def run(program, arguments, place=None, stdout=subprocess.PIPE):
    """Without a terminal, so that no verb asks for confirmation; --quiet: a slow machine adds no line."""
    quiet = ["--quiet"] if program == "ratchet" else []
    done = subprocess.run([os.path.join(BIN, program), *quiet, *arguments], stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, text=True, timeout=PATIENCE, env=environment(place))
    return done.returncode, done.stdout, done.stderr


def pattern(text):
    """The regular expression of an expected text."""
    return "".join(".+" if re.fullmatch(r"<\w+>", part) else re.escape(part) for part in re.split(r"(<\w+>)", text))


class MistakeTest(unittest.TestCase):
    maxDiff = None

    def check(self, program, arguments, code, text, place=None):
        got, out, err = run(program, arguments, place)
        line = err.splitlines()[-1] if err and program != "ratchet" else err.removesuffix("\n")
        self.assertEqual(got, code, f"{out}{err}")
        if not re.fullmatch(pattern(f"{program}: {text}"), line):
            self.assertEqual(line, f"{program}: {text}")  # shows the difference

    def check_all(self, rows, names=None, place=None, program="ratchet"):
        for typed, code, text in rows:
            with self.subTest(typed=typed):
                words = [string.Template(word).safe_substitute(names or {}) for word in shlex.split(typed)]
                name, words = (program, words) if program else (words[0], words[1:])
                self.check(name, words, code, string.Template(text).safe_substitute(names or {}), place)


class TypedTest(MistakeTest):
    def test_wrong_command_lines_are_refused_with_one_sentence(self):
        self.check_all(TYPED)

    def test_an_unreachable_cluster_is_named(self):
        self.check_all(UNREACHED)

    def test_the_other_programs_name_the_wrong_setting(self):
        with tempfile.TemporaryDirectory() as directory:
            for name, content in FILES.items():
                path = os.path.join(directory, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(content)
            self.check_all(PROGRAMS, {"dir": directory}, program=None)

    def test_the_table_is_complete_and_each_text_is_one_sentence(self):
        rows = TYPED + UNREACHED + ASKED + PROGRAMS
        self.assertGreaterEqual(len(rows), 40)
        typed = [row[0] for row in rows]
        self.assertEqual(len(typed), len(set(typed)), "a mistake has one row")
        for line, code, text in rows:
            self.assertNotEqual(code, OK, line)
            self.assertNotIn("\n", text, line)
            self.assertFalse(text.endswith("."), line)
        used = set(re.findall(r"\$(\w+)", " ".join(typed)))
        self.assertEqual(used, set(NAMES), "each name is explained, and used")


class AskedTest(MistakeTest):
    """Mistakes that the cluster of RATCHET_ZOOKEEPER answers."""

    @classmethod
    def ok(cls, line):
        code, out, err = run("ratchet", ["--json", *shlex.split(line)], cls.place)
        if code != OK:
            raise AssertionError(f"{line}: {code} {err}")
        return json.loads(out)

    @classmethod
    def setUpClass(cls):
        cls.place = os.environ["RATCHET_ZOOKEEPER"]
        pid = cls.ok("create mis_on f --regions 2")["pid"]
        cls.ok("create mis_off f")
        cls.ok("disable mis_off")
        cls.ok("create-namespace mis_full hbase.namespace.quota.maxtables=1")
        cls.ok("create mis_full:t f")
        cls.ok("snapshot mis_on mis_snap")
        status = cls.ok("status")
        cls.names = {"on": "mis_on", "off": "mis_off", "pid": str(pid), "zookeeper": cls.place,
                     "region": next(row["region"] for row in cls.ok("regions mis_on") if not row["start"]),
                     "server": ":".join(status["live_servers"][0].split(",")[:2]),
                     "standby": ":".join(status["backup_masters"][0].split(",")[:2])}

    @classmethod
    def tearDownClass(cls):
        cls.ok("delete-snapshot mis_snap")
        for table in ("mis_on", "mis_full:t"):
            cls.ok(f"disable {table}")
        for table in ("mis_on", "mis_off", "mis_full:t"):
            cls.ok(f"drop {table}")
        cls.ok("drop-namespace mis_full")

    def test_the_cluster_refuses_with_one_sentence(self):
        before = [self.ok(view) for view in ("list", "namespaces", "peers", "snapshots", "pauses", "regions mis_on")]
        self.check_all(ASKED, self.names, self.place)
        after = [self.ok(view) for view in ("list", "namespaces", "peers", "snapshots", "pauses", "regions mis_on")]
        self.assertEqual([len(view) for view in after], [len(view) for view in before], "a mistake changes nothing")

    def test_a_full_disk_below_the_output_is_an_error(self):
        for view in ("list", "scan mis_on"):
            with open("/dev/full", "w", encoding="utf-8") as full:
                code, _, err = run("ratchet", shlex.split(view), self.place, stdout=full)
            self.assertEqual((code, err), (FAILED, "ratchet: the output could not be written to the standard output; "
                                           "free space on its disk, or redirect it to another file\n"))

    def test_an_unfinished_procedure_is_named_with_the_way_to_wait_for_it(self):
        self.ok("pause table mis_on")
        try:
            code, _, err = run("ratchet", ["--timeout-ms", "1500", "disable", "mis_on"], self.place)
        finally:
            self.ok("resume table mis_on")
        self.assertEqual(code, UNKNOWN, err)
        found = re.fullmatch(
            r"ratchet: TIMEOUT: waiting for procedure (\d+): not finished after 1500 ms; it continues\n"
            r"ratchet: pid (\d+) continues in the cluster; to wait for its end: ratchet wait (\d+)\n", err)
        self.assertIsNotNone(found, err)
        self.assertEqual(len(set(found.groups())), 1, err)
        self.ok(f"wait {found[1]}")
        self.ok("enable mis_on")


def print_table():
    for title, rows in (("typed", TYPED), ("unreached", UNREACHED), ("asked", ASKED), ("programs", PROGRAMS)):
        print(f"\n{title}")
        for typed, code, text in rows:
            print(f"  {code}  {typed}\n      {text}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print_table()
    else:
        unittest.main()
