#!/usr/bin/env python3
"""Makes the stand-in HBaseTestingUtility of HBase's own source, which Maven brings at run time.

Usage: make_testing_utility.py HBASE_SOURCE STAND_IN_SOURCE

Methods that start, stop or look into a cluster in the JVM get other bodies: the cluster runs outside (ExternalCluster).
A method that is not where this program expects it ends it with an error.
"""
import pathlib
import sys

NOT_APPLICABLE = 'throw new NotApplicable("%s");'
START = """ExternalCluster.start(this, !miniClusterRunning);
    this.hbaseCluster = ClusterStandIn.of(this);
    miniClusterRunning = true;
    return (MiniHBaseCluster) this.hbaseCluster;"""
CLUSTER = "return hbaseCluster == null ? ClusterStandIn.of(this) : %shbaseCluster;"
FLUSH_ALL = """for (TableName table : getAdmin().listTableNames()) {
      if (getAdmin().isTableEnabled(table)) { flush(table); }
    }"""
# A mini cluster flushes regions inside its servers; from outside that is AdminService.FlushRegion for each region.
FLUSH_TABLE = """for (RegionInfo region : getAdmin().getRegions(tableName)) {
      getAdmin().flushRegion(region.getRegionName());
    }"""
COMPACT_ALL = """for (TableName table : getAdmin().listTableNames()) {
      if (getAdmin().isTableEnabled(table)) { compact(table, major); }
    }"""
# A mini cluster's compact ends with the compaction; a client's asks for it.
COMPACT_TABLE = """if (major) { getAdmin().majorCompact(tableName); } else { getAdmin().compact(tableName); }
    long end = System.currentTimeMillis() + 30000;
    while (getAdmin().getCompactionState(tableName) != org.apache.hadoop.hbase.client.CompactionState.NONE && System.currentTimeMillis() < end) {
      Threads.sleep(20);
    }"""
MOVE = """getAdmin().move(destRegion.getEncodedNameAsBytes(), destServer);
    long end = System.currentTimeMillis() + 30000;
    while (System.currentTimeMillis() < end) {
      try (RegionLocator locator = getConnection().getRegionLocator(destRegion.getTable())) {
        HRegionLocation found = locator.getRegionLocation(destRegion.getStartKey(), true);
        if (found != null && destServer.equals(found.getServerName())) { return; }
      }
      Thread.sleep(50);
    }
    throw new IOException("the region did not arrive");"""
NO_TRANSITION = """return new ExplainingPredicate<IOException>() {
      @Override public String explainFailure() throws IOException {
        return "in transition: " + getAdmin().getClusterMetrics().getRegionStatesInTransition();
      }
      @Override public boolean evaluate() throws IOException {
        return getAdmin().getClusterMetrics().getRegionStatesInTransition().isEmpty();
      }
    };"""
NO_DFS = "StandIn.refusing(MiniDFSCluster.class);"

# How a method's declaration begins, as in the source with its line breaks, and its body here.
BODIES = [
    ("public MiniHBaseCluster startMiniCluster(StartMiniClusterOption option) throws Exception {", START),
    ("public MiniHBaseCluster startMiniHBaseCluster(StartMiniClusterOption option)\n"
     "    throws IOException, InterruptedException {", START),
    ("public void restartHBaseCluster(StartMiniClusterOption option)\n    throws IOException, InterruptedException {",
     NOT_APPLICABLE % "restartHBaseCluster"),
    ("public MiniHBaseCluster getMiniHBaseCluster() {", CLUSTER % "(MiniHBaseCluster) "),
    ("public HBaseCluster getHBaseClusterInterface() {", CLUSTER % ""),
    ("public void shutdownMiniCluster() throws IOException {", "shutdownMiniHBaseCluster(); miniClusterRunning = false;"),
    ("public void shutdownMiniHBaseCluster() throws IOException {",
     "closeConnection(); this.hbaseCluster = null;\n"
     "    if (zooKeeperWatcher != null) { zooKeeperWatcher.close(); zooKeeperWatcher = null; }"),
    ("public void killMiniHBaseCluster() throws IOException {", NOT_APPLICABLE % "killMiniHBaseCluster"),
    ("public MiniDFSCluster startMiniDFSCluster(int servers, final String racks[], String hosts[])\n"
     "    throws Exception {", "this.dfsCluster = " + NO_DFS + " return this.dfsCluster;"),
    ("public void shutdownMiniDFSCluster() throws IOException {", ""),
    ("public MiniDFSCluster getDFSCluster() {", "return " + NO_DFS),
    ("public void invalidateConnection() throws IOException {", "closeConnection();"),
    ("public FileSystem getTestFileSystem() throws IOException {", NOT_APPLICABLE % "getTestFileSystem"),
    ("public String explainTableAvailability(TableName tableName) throws IOException {",
     "return explainTableState(tableName, TableState.State.ENABLED);"),
    ("public boolean ensureSomeRegionServersAvailable(final int num) throws IOException {", "return false;"),
    ("public boolean ensureSomeNonStoppedRegionServersAvailable(final int num) throws IOException {", "return false;"),
    ("public void flush() throws IOException {", FLUSH_ALL),
    ("public void flush(TableName tableName) throws IOException {", FLUSH_TABLE),
    ("public void compact(boolean major) throws IOException {", COMPACT_ALL),
    ("public void compact(TableName tableName, boolean major) throws IOException {", COMPACT_TABLE),
    ("public void moveRegionAndWait(RegionInfo destRegion, ServerName destServer)\n"
     "    throws InterruptedException, IOException {", MOVE),
    ("public ExplainingPredicate<IOException> predicateNoRegionsInTransition() {", NO_TRANSITION),
]
# Never starts a ZooKeeper.
ADDED = """
  @Override
  public org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster startMiniZKCluster(int servers, int... ports)
    throws Exception {
    ExternalCluster.configure(conf);
    return null;
  }

  @Override
  public void shutdownMiniZKCluster() throws IOException {
  }
}
"""


def position(source, text, begin=0):
    found = source.find(text, begin)
    if found < 0:
        sys.exit(f"make_testing_utility: HBase's source has no: {text}")
    return found


def with_body(source, declaration, body):
    """The source with another body of the method whose declaration, its opening brace included, is given."""
    opening = position(source, declaration) + declaration.rindex("{")
    depth = 0
    for end in range(opening, len(source)):
        depth += {"{": 1, "}": -1}.get(source[end], 0)
        if depth == 0:
            return source[:opening] + "{ " + body + " }" + source[end + 1:]
    sys.exit(f"make_testing_utility: no end of: {declaration}")


def configured(source):
    """The constructor that does the work ends with the addresses of the cluster outside."""
    begin = position(source, "public HBaseTestingUtility(@Nullable Configuration conf) {")
    last = position(source, "LocalHBaseCluster.ASSIGN_RANDOM_PORTS, true", begin)
    end = position(source, "  }", last)
    return source[:end] + "    ExternalCluster.configure(this.conf);\n" + source[end:]


def main():
    source = configured(pathlib.Path(sys.argv[1]).read_text())
    for declaration, body in BODIES:
        source = with_body(source, declaration, body)
    source = source.replace("getMiniHBaseCluster().flushcache(TableName.META_TABLE_NAME);", "")
    source = source.replace("getMiniHBaseCluster().flushcache(table.getName());", "flush(table.getName());")
    pathlib.Path(sys.argv[2]).write_text(source[:source.rindex("}")] + ADDED)


main()
