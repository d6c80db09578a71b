#include "master/process/master_config.h"

namespace ratchet::master {
namespace {

void BindPlace(Settings& settings, MasterConfig& config) {
  settings.AddText({"root", "Root directory that all processes of the cluster share.", {"hbase.rootdir"}},
                   &config.root);
  settings.AddText({"zookeeper", "Addresses of ZooKeeper's servers: host:port,host:port.", {"hbase.zookeeper.quorum"}},
                   &config.zookeeper);
  settings.AddText({"zk-parent", "ZooKeeper node below which the cluster registers.", {"zookeeper.znode.parent"}},
                   &config.zk_parent);
  settings.AddText({"zk-acl",
                    "Who may change the cluster's nodes in ZooKeeper: open (all clients), set (processes that know the "
                    "cluster's key; all clients may read). The active master writes it to all nodes.",
                    {}},
                   &config.zk_acl, Presence::kOptional, {"open", "set"});
  settings.AddMillis({"zk-session-ms",
                      "ZooKeeper session time-out: a standby replaces a master that is silent for longer.",
                      {"zookeeper.session.timeout"}},
                     &config.zk_session, Millis(200), Millis(600'000));
  settings.AddMillis({"zk-connect-timeout-ms", "How long to retry the connection to ZooKeeper at the start.", {}},
                     &config.zk_connect_timeout, Millis(100), Millis(3'600'000));
}

void BindAddress(Settings& settings, MasterConfig& config) {
  settings.AddText({"host",
                    "Name or address at which other processes reach this master. It listens on all addresses of this "
                    "name, unless --bind is set.",
                    {"hbase.master.hostname"}},
                   &config.host);
  settings.AddText({"bind",
                    "Addresses or names to listen on, separated by commas; 0.0.0.0 and :: mean all addresses. Empty: "
                    "every address of --host.",
                    {"hbase.master.ipc.address"}},
                   &config.bind);
  settings.AddInt(
      {"port", "Port at which other processes reach this master, and on which it listens.", {"hbase.master.port"}},
      &config.port, {1, 65'535});
  settings.AddInt(
      {"listen-port", "Port to listen on if other processes connect through a proxy at --port; 0: --port.", {}},
      &config.listen_port, {0, 65'535});
  settings.AddInt(
      {"info-port",
       "Port of the page and of /metrics; 0: any free port, which the log and the cluster's status show; -1: no page.",
       {"hbase.master.info.port"}},
      &config.info_port, {-1, 65'535});
  settings.AddText({"info-host",
                    "Address on which the page listens. It is read-only; with --rights enforce it shows only what its "
                    "reader may see.",
                    {"hbase.master.info.bindAddress"}},
                   &config.info_host);
  settings.AddText({"info-names",
                    "Further names in addresses of the page, separated by commas; *: every name. The page answers for "
                    "addresses, localhost, the machine's name, --host and --info-host, and refuses other names (421).",
                    {}},
                   &config.info_names);
  settings.AddMillis({"refused-page-ms",
                      "Time for which the page of a master whose start is refused (exit code 16) shows the cause "
                      "before the process ends; 0: none.",
                      {}},
                     &config.refused_page, Millis(0), Millis(600'000));
}

void BindProcess(Settings& settings, MasterConfig& config) {
  settings.AddText({"log-file", "Log file; empty: standard error.", {}}, &config.log_file);
  settings.AddText({"log-level", "Minimum level of log lines.", {}}, &config.log_level, Presence::kOptional,
                   {"debug", "info", "warn", "error"});
  settings.AddText(
      {"storage-client",
       "Name of this process's own storage client, which a later master may evict (CephFS: client.NAME); empty: none.",
       {}},
      &config.storage_client);
  config.fence.Bind(settings);
  settings.AddText({"storage-proof",
                    "When to confirm a name lookup by a round trip to the storage (S101): detect (FUSE and CephFS, "
                    "whose clients cache names), always, never.",
                    {}},
                   &config.storage_proof, Presence::kOptional, {"detect", "always", "never"});
  settings.AddText(
      {"member-proof",
       "Whether processes of versions before 0.3, which send the key of cluster.key in clear, are members: accept; "
       "required (never); auto (only if that key was made by such a version).",
       {}},
      &config.member_proof, Presence::kOptional, {"auto", "accept", "required"});
}

// The settings of common's parts.
void BindAccess(Settings& settings, MasterConfig& config) {
  tls::TlsOptions::Bind(settings, config.tls);
  identity::IdentityOptions::Bind(settings, config.identity);
  kerberos::KerberosOptions::Bind(settings, config.kerberos);
  audit::AuditOptions::Bind(settings, config.audit);
  rights::RightsOptions::Bind(settings, config.rights);
  page::PageAccess::Bind(settings, config.page_access);
}

void BindStart(Settings& settings, MasterConfig& config) {
  settings.AddBool({"start-again",
                    "Restart automatically, as a new master, after a lost session, a fence or hanging storage; false "
                    "if a supervisor restarts it.",
                    {}},
                   &config.start_again);
  settings.AddBool({"allow-fault-points",
                    "Allow fault injection by RATCHET_FAULTS in this process, for tests and the chaos driver; shown by "
                    "`ratchet status`.",
                    {}},
                   &config.allow_fault_points);
  settings.AddBool({"publish-client-znodes",
                    "Publish meta-region-server in ZooKeeper for clients that can find meta only there.",
                    {}},
                   &config.publish_client_znodes);
  settings.AddBool({"early-detection",
                    "Recover a region server, or replace the active master, before its ZooKeeper session ends, when "
                    "its connection has ended and its address refuses connections of this master and of another "
                    "server.",
                    {}},
                   &config.early_detection);
  settings.AddBool({"silence-detection",
                    "Recover a region server before its ZooKeeper session ends, when it answers neither this master "
                    "nor two other servers: its process is stopped, or its network is cut. Needs --early-detection.",
                    {}},
                   &config.silence_detection);
  settings.AddBool({"adopt-zookeeper",
                    "Assign this ZooKeeper node to the cluster of --root although it has another cluster's id, or "
                    "none, after a loss of ZooKeeper. Use it once, then omit it.",
                    {}},
                   &config.adopt_zookeeper);
  settings.AddBool({"start-paused",
                    "Start with every procedure paused, crash handling included, until `ratchet resume everything`.",
                    {}},
                   &config.start_paused);
  settings.AddBool({"list-steps", "Print every procedure type with its steps, and exit.", {}}, &config.list_steps);
  settings.AddBool({"check-root",
                    "Print every check of --root that can prevent a start, one per line, and exit. Changes nothing, "
                    "also while the cluster runs. Exit code 16: a start would be refused.",
                    {}},
                   &config.check_root);
  settings.AddText({"replay",
                    "Print the procedures of the store in this directory (a root, or its 'procedures') that this "
                    "program could not resume, and exit. Use it before an upgrade; it changes nothing. Exit code 3: at "
                    "least one procedure; 2: the store cannot be read.",
                    {}},
                   &config.replay);
  settings.AddBool({"json", "Print the output of --list-steps or --replay as JSON.", {}}, &config.json);
}

void BindServers(Settings& settings, MasterConfig& config) {
  config.clocks.BindRefused(settings);
  settings.AddText({"oldest-server-version", "Minimum version of region servers; an older one cannot register.", {}},
                   &config.oldest_server_version, Presence::kOptional);
  config.clocks.BindWarning(settings);
  settings.AddMillis({"remote-lock-timeout-ms",
                      "Time after which a client's lock without a heartbeat is released.",
                      {"hbase.master.procedure.remote.locks.timeout.ms"}},
                     &config.remote_lock_timeout, Millis(100), Millis(3'600'000));
}

void BindStorage(Settings& settings, MasterConfig& config) {
  settings.AddMillis({"sync-timeout-ms",
                      "If a write or sync is unfinished for this long and the storage answers region servers, the "
                      "active master hands over to a standby; 0: never.",
                      {"hbase.regionserver.wal.sync.timeout"}},
                     &config.storage.limit, Millis(0), Millis(3'600'000));
}

// The settings of the master's parts.
void BindParts(Settings& settings, MasterConfig& config) {
  config.procedures.BindWorkers(settings);
  config.rpc.Bind(settings);
  config.meta.Bind(settings);
  config.procedures.BindMeasuring(settings);
  config.procedures.BindRetry(settings);
  config.cleaner.Bind(settings);
  BindServers(settings, config);
  config.procedures.BindStore(settings);
  config.trace.Bind(settings);
  BindStorage(settings, config);
  config.procedures.BindResults(settings);
  config.logic.Bind(settings);
  config.history.Bind(settings);
  config.dispatch.Bind(settings);
}

}  // namespace

// The order is the one of --help.
void BindMaster(Settings& settings, MasterConfig& config) {
  BindPlace(settings, config);
  BindAddress(settings, config);
  BindProcess(settings, config);
  BindAccess(settings, config);
  BindStart(settings, config);
  BindParts(settings, config);
}

}  // namespace ratchet::master
