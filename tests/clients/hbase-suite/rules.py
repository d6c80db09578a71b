"""Why a test of HBase's suite does not pass. The first rule that fits counts; change one only with a reason.

A test is not applicable (NA) only when it needs objects inside an HBase server: cluster objects, coprocessors, classes of
servers, servers in its own JVM.
"""

NA, FAIL = "NA", "FAIL"

# (pattern of Class.test, pattern of the text or None, verdict, reason)
RULES = [
    # Rules by the text alone.
    (r"", r"NOT-APPLICABLE", NA, "object inside a server"),
    (r"", r"coprocessor org\.apache\.hadoop\.hbase\.coprocessor\.MultiRowMutationEndpoint: coprocessors are not",
     FAIL, "a table that names MultiRowMutationEndpoint is refused, though each region serves it"),
    (r"", r"coprocessor \S+: coprocessors are not supported", NA, "coprocessor of the test"),
    (r"", r"filter org\.apache\.hadoop\.hbase\.\S+ is not offered", NA, "filter class of the test, on the servers"),
    (r"", r"only masters of this cluster write to hbase:meta", NA, "class of a server that writes hbase:meta"),
    # Servers in the JVM of the test.
    (r"TestClientScannerTimeouts\.", None, NA, "region server class of the test"),
    (r"TestAdmin1\.testCompactRegionWithTableName", r"metaRegion. is null", NA, "object inside a server"),
    (r"TestIllegalTableDescriptor\.", r"Wanted but not invoked", NA, "logger of a class inside the server"),
    (r"TestFuzzyRowFilterEndToEndLarge\.", r"Interrupted", FAIL, "loads for longer than the limit of a test, 60 s"),
    (r"TestMetaTableAccessor\.testRetrying", None, NA, "kills servers in its JVM"),
    (r"TestConnectionImplementation\.testConnectionCut", None, NA, "filter class of the test, on the servers"),
    (r"TestAsyncAdminBuilder\.|TestEnableTable\.", None, NA, "coprocessor of the master"),
    (r"TestClientOperationInterrupt\.|TestAsyncRegionLocator\.testTimeout|TestCISleep\.", None, NA,
     "coprocessor of the test, by the servers' configuration"),
    (r"TestAsyncClusterAdminApi\.<class>|TestUpdateConfiguration\.<class>", r"hbase-site\.xml", NA,
     "servers in the test's JVM, which read its hbase-site.xml"),
    (r"TestRequestTooBigException\.|TestBootstrapNodeUpdate\.", None, NA, "servers with the test's configuration"),
    (r"TestFilterListOrOperatorWithBlkCnt\.", r"expected:<\d+> but was:<0>", NA,
     "counter of HFile in the servers' JVM"),
    (r"testExecProcedureWithRet", r"procedure is not registered: \S*", NA, "procedure manager of the test, in the server"),
    # Rights of users (classes-rights.txt).
    (r"", r"superUsers. is null|Super users/super groups lists have not been initialized", NA, "class of a server that knows its superusers"),
    (r"TestTablePermissions\.", r"Insufficient permissions for user '\w+' \(global, action=ADMIN\)", NA,
     "class of a server that writes hbase:acl"),
    (r"TestRpcAccessChecks\.", r"UnsupportedOperationException: Exec(Master|RegionServer)Service", NA,
     "coprocessor of the test, by the servers' configuration"),
    (r"TestRpcAccessChecks\.testExecProcedureWithRet", r"returns no data", NA, "procedure manager of the test, in the server"),
    (r"TestAccessControlFilter\.|TestWithDisabledAuthorization\.", r"Insufficient|Expected action to pass|expected:<|cells are not", NA,
     "servers with the test's configuration"),
    (r"", r"access lists of cells are not supported|CELL_AUTHORIZATION capability is missing", FAIL, "access lists of cells"),
    (r"TestUnloadAccessController\.", None, NA, "coprocessor of the servers, which the test removes"),
    (r"", r"to pass for user 'owner'|from action for user 'owner'|\(user=owner, |Owner should have all", FAIL,
     "rights of the owner that a table's descriptor names"),
    (r"TestAccessController\.testAccessControllerUserPermsRegexHandling", r"expected:<5> but was:<0>", FAIL,
     "rights for everything, asked for as the rights in hbase:acl"),
    (r"TestAccessController2\.testACLTableAccess|TestAccessController\.testRemoteLocks", r"does not exist", FAIL, "rights in a table that does not exist yet"),
    # Features that Ratchet does not have.
    (r"", r"REGION_REPLICATION => \d+: region replicas", FAIL, "replicas of regions"),
    (r"Replica(?!tion)", None, FAIL, "replicas of regions"),
    (r"TestAdmin1\.testTruncateRegions", None, FAIL, "replicas of regions"),
    (r"", r"Cannot alter hbase:meta", FAIL, "replicas of hbase:meta"),
    (r"", r"IS_MOB => true", FAIL, "MOB"),
    (r"", r"UnsupportedOperationException: \w*(Replication|Peer)", FAIL, "replication peers"),
    (r"", r"UnsupportedOperationException: \w*Snapshot", FAIL, "snapshots"),
    (r"", r"UnsupportedOperationException: \w*StoreFileTracker", FAIL, "store file trackers"),
    (r"", r"UnsupportedOperationException: \w*(Decommission|Recommission)", FAIL, "decommissioning"),
    (r"", r"UnsupportedOperationException: TruncateRegion", FAIL, "TruncateRegion"),
    (r"", r"UnsupportedOperationException: ExecProcedure", FAIL, "ExecProcedure"),
    (r"", r"UnsupportedOperationException: \w*(Janitor|CatalogScan)", FAIL, "switch and run of the catalog janitor"),
    (r"", r"UnsupportedOperationException: \w*Normaliz", FAIL, "normalizer"),
    (r"", r"UnsupportedOperationException: \w*Cleaner", FAIL, "switch and run of the cleaner"),
    (r"", r"UnsupportedOperationException: \w*Log", FAIL, "slow log"),
    (r"", r"UnsupportedOperationException: \w*MajorCompaction", FAIL, "time of the last major compaction"),
    (r"", r"UnsupportedOperationException: \w*Namespace", FAIL, "namespaces"),
    (r"", r"UnsupportedOperationException: (?P<call>\w+)", FAIL, "refused call: {call}"),
    (r"", r"KeyValueCodecWithTags", FAIL, "cell codec with tags"),
    (r"FsReadTimeMetric", None, FAIL, "scan metric FS_READ_TIME"),
    # Known differences.
    (r"TestMultiVersions\.testScanMultipleVersions", None, FAIL,
     "VERSIONS bounds what exists, whatever a time range says (docs/wire-compatibility.md)"),
    (r"TestPartialResultsFromClientSide\.testExpectedNumberOfCells", None, FAIL,
     "size of a cell in maxResultSize: not the Java object's"),
    (r"TestAdmin\.testCreateTableWithRegions", r"numRS=", FAIL, "spread of a new table's regions"),
    (r"Test(Raw)?AsyncTableScan\.", r"SpanKind", FAIL, "parent of a span of the client's trace (not in every run)"),
    (r"TestAsyncTableScan\.", r"InterruptedException|ThreadDeath|exit code 124|rc 124", FAIL,
     "hangs in the client (not in every run): no request is open at a server"),
]
