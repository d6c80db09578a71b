#include "regionserver/process/options.h"

namespace ratchet::regionserver {
namespace {

void BindPlace(Settings& settings, ServerOptions& options) {
  settings.AddText({"root", "Directory that all processes of the cluster share.", {"hbase.rootdir"}}, &options.root,
                   Presence::kRequired);
  settings.AddText({"zookeeper", "ZooKeeper's servers, host:port,[IPv6 address]:port.", {"hbase.zookeeper.quorum"}},
                   &options.zookeeper, Presence::kRequired);
  settings.AddText({"zk-parent", "Node below which the cluster registers.", {"zookeeper.znode.parent"}},
                   &options.zk_parent);
  settings.AddMillis({"zk-session-ms",
                      "How long ZooKeeper waits for a silent server before it declares the server dead.",
                      {"zookeeper.session.timeout"}},
                     &options.zk_session, Millis(200), Millis(600'000));
  settings.AddMillis({"zk-connect-timeout-ms", "Time limit for the first connection to ZooKeeper.", {}},
                     &options.zk_connect_timeout, Millis(100), Millis(3'600'000));
}

void BindAddress(Settings& settings, ServerOptions& options) {
  settings.AddText(
      {"host",
       "Name or address at which others reach this server. It listens on all addresses of this name, unless "
       "--bind is set.",
       {"hbase.regionserver.hostname"}},
      &options.host);
  settings.AddText(
      {"bind",
       "Addresses or names to listen on, separated by commas; 0.0.0.0 and :: are all addresses. Empty: every "
       "address of --host.",
       {"hbase.regionserver.ipc.address"}},
      &options.bind);
  settings.AddInt(
      {"port", "Port at which others reach this server, and on which it listens.", {"hbase.regionserver.port"}},
      &options.port, {1, 65'535});
  settings.AddInt({"listen-port", "Port to listen on when others connect through a proxy at --port; 0: --port.", {}},
                  &options.listen_port, {0, 65'535});
  settings.AddInt(
      {"info-port",
       "Port of the page and of /metrics; 0: any free port, shown in the log and by GetServerInfo; -1: none.",
       {"hbase.regionserver.info.port"}},
      &options.info_port, {-1, 65'535});
  settings.AddText({"info-host",
                    "Address to listen on for the page and /metrics, which change nothing.",
                    {"hbase.regionserver.info.bindAddress"}},
                   &options.info_host);
  settings.AddText({"info-names",
                    "Further names in addresses of the page, separated by commas; *: every name. The page answers for "
                    "addresses, localhost, the machine's name, --host and --info-host, and refuses other names (421).",
                    {}},
                   &options.info_names);
}

void BindProcess(Settings& settings, ServerOptions& options) {
  settings.AddText({"log-file", "Path of the log file; empty: standard error.", {}}, &options.log_file);
  settings.AddText({"log-level", "Lowest level that is logged.", {}}, &options.log_level, Presence::kOptional,
                   {"debug", "info", "warn", "error"});
  settings.AddText({"storage-client",
                    "Name of this process's storage client, which a master may evict (CephFS: client.NAME); "
                    "empty: none.",
                    {}},
                   &options.storage_client);
  settings.AddText(
      {"storage-proof",
       "When to verify the look-up of a name by a round trip to the storage (S101): detect (FUSE and CephFS, whose "
       "clients cache names), always, never.",
       {}},
      &options.storage_proof, Presence::kOptional, {"detect", "always", "never"});
  settings.AddText(
      {"member-proof",
       "Whether processes of versions before 0.3, which send the key of cluster.key in clear, are members: accept; "
       "required (never); auto (only if that key was made by such a version).",
       {}},
      &options.member_proof, Presence::kOptional, {"auto", "accept", "required"});
}

// The settings of common's parts.
void BindAccess(Settings& settings, ServerOptions& options) {
  tls::TlsOptions::Bind(settings, options.tls);
  identity::IdentityOptions::Bind(settings, options.identity);
  kerberos::KerberosOptions::Bind(settings, options.kerberos);
  audit::AuditOptions::Bind(settings, options.audit);
  rights::RightsOptions::Bind(settings, options.rights);
  page::PageAccess::Bind(settings, options.page_access);
  options.data.BindRights(settings);
}

void BindStart(Settings& settings, ServerOptions& options) {
  settings.AddBool(
      {"start-again",
       "Restart automatically, as a new server, after a lost session, a fence or hanging storage; false if a "
       "supervisor restarts the process.",
       {}},
      &options.start_again);
  settings.AddBool(
      {"allow-fault-points",
       "Allow RATCHET_FAULTS to arm fault points in this process, for tests and chaos; `ratchet status` shows it.",
       {}},
      &options.allow_fault_points);
  settings.AddMillis({"start-timeout-ms",
                      "At the start: how long to wait until the first master has written cluster.id and cluster.key.",
                      {}},
                     &options.start_timeout, Millis(100), Millis(3'600'000));
}

// The settings of the region server's parts.
void BindParts(Settings& settings, ServerOptions& options) {
  options.heartbeat.Bind(settings);
  options.storage.Bind(settings);
  options.listen.Bind(settings);
  options.lanes.Bind(settings);
  options.regions.region.BindCompaction(settings);
  options.disk_room.Bind(settings);
  options.scanners.BindLease(settings);
  options.data.Bind(settings);
  options.slow_log.Bind(settings);
  options.scanners.BindLimits(settings);
  options.regions.region.Bind(settings);
  options.memstores.Bind(settings);
  options.block_cache.Bind(settings);
  options.regions.wal.Bind(settings);
  options.stop.Bind(settings);
}

}  // namespace

// The order is the one of --help.
void BindOptions(Settings& settings, ServerOptions& options) {
  BindPlace(settings, options);
  BindAddress(settings, options);
  BindProcess(settings, options);
  BindAccess(settings, options);
  BindStart(settings, options);
  BindParts(settings, options);
}

}  // namespace ratchet::regionserver
