#include "common/ops/page/shared_metrics.h"

#include <string>
#include <utility>
#include <vector>

#include "common/audit/audit_log.h"
#include "common/identity/certificate_callers.h"
#include "common/io/sync_watch.h"

namespace ratchet::page {
namespace {

using metrics::MetricsText;

// Methods that were never called are left out of the histograms, which are long; their counters are included.
struct MethodSample {
  std::string service;
  std::string method;
  LatencySnapshot took;
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;
};

std::vector<MethodSample> Sample(const rpc::RpcServer& server) {
  std::vector<MethodSample> samples;
  server.VisitMethods([&samples](const std::string& service, const std::string& method, const rpc::MethodStats& stats) {
    MethodSample sample{service, method, stats.took.Look(), 0, stats.errors.load()};
    for (const std::uint64_t count : sample.took.counts) sample.calls += count;
    samples.push_back(std::move(sample));
  });
  return samples;
}

}  // namespace

void AddBuild(MetricsText& text, const std::string& program, const std::string& version) {
  text.Gauge("build_info", "Always 1; the labels identify the program.");
  text.Value(std::uint64_t{1}, {{"program", program}, {"version", version}});
}

void AddSecurity(MetricsText& text) {
  const auto callers = identity::CertificateCallers::OfProcess();
  text.Gauge("insecure",
             "1: others reach this process, and it does not refuse clients that prove nothing (--insecure).",
             std::uint64_t{callers != nullptr && callers->exposed() ? 1U : 0U});
  const auto log = audit::AuditLog::OfProcess();
  if (log == nullptr) return;
  text.Counter("audit_lines_total", "Lines of the audit log that are durable.", log->lines());
  text.Counter("audit_lost_total", "Events that the audit log could not write.", log->lost());
}

void AddRpc(MetricsText& text, const rpc::RpcServer& server) {
  const auto samples = Sample(server);
  text.Counter("rpc_calls_total", "Calls that were answered, by method; exceptions included.");
  for (const auto& sample : samples) text.Value(sample.calls, {{"service", sample.service}, {"method", sample.method}});
  text.Counter("rpc_errors_total", "Calls that were answered with an exception, by method.");
  for (const auto& sample : samples)
    text.Value(sample.errors, {{"service", sample.service}, {"method", sample.method}});
  text.Histogram("rpc_duration_seconds", "Time from a whole request to its answer, of methods that were called.");
  for (const auto& sample : samples) {
    if (sample.calls > 0) text.Durations(sample.took, {{"service", sample.service}, {"method", sample.method}});
  }
  const rpc::ServerStats stats = server.stats();
  text.Gauge("rpc_queued_calls", "Calls that wait for a thread, by the class of their queue.");
  for (std::size_t i = 0; i < stats.queued.size(); ++i)
    text.Value(static_cast<std::uint64_t>(stats.queued[i]), {{"queue", rpc::kQueueClassNames[i]}});
  text.Histogram("rpc_queue_duration_seconds", "Time for which calls have waited for a thread.");
  text.Durations(stats.queue_time);
  text.Counter("rights_refused_total", "Demands of calls that were refused because the user lacks a right.",
               stats.rights_refused);
  text.Counter("rights_would_refuse_total", "Demands that --rights enforce would refuse, and --rights log allows.",
               stats.rights_would_refuse);
  text.Counter("rpc_calls_refused_total", "Calls that were refused because a queue was full.", stats.calls_refused);
  text.Counter("rpc_calls_at_once_total", "Calls that an I/O thread has answered itself.", stats.calls_at_once);
  text.Counter("rpc_calls_expired_total", "Calls whose deadline had passed in the queue.", stats.calls_expired);
  text.Gauge("rpc_connections", "Connections that are open.", static_cast<double>(stats.connections_open));
  text.Gauge("rpc_client_connections", "Connections that are open, by the version that the client names.");
  for (const auto& [version, count] : stats.client_versions) text.Value(count, {{"version", version}});
  std::uint64_t plain = 0;
  for (const auto& [address, count] : stats.plain_peers) plain += count;
  text.Gauge("rpc_plain_connections", "Connections of clients that are open and not encrypted.",
             static_cast<double>(plain));
  text.Counter("rpc_connections_refused_total", "Connections that were refused because the limit was reached.",
               stats.connections_refused);
  text.Counter("rpc_bad_connections_total", "Connections that were closed because they sent invalid data.",
               stats.bad_connections);
  text.Gauge("rpc_request_bytes", "Bytes of requests that have no answer yet.", static_cast<double>(stats.call_bytes));
  text.Gauge("rpc_unsent_bytes", "Bytes of answers that clients have not received.",
             static_cast<double>(stats.unsent_bytes));
}

void AddStorage(MetricsText& text) {
  const io::SyncWatch& watch = io::SyncWatch::OfProcess();
  text.Histogram("storage_sync_duration_seconds", "Syncs of files and directories that have ended.");
  text.Durations(watch.Syncs());
  const auto oldest = watch.OldestUnfinished();
  text.Gauge("storage_oldest_operation_seconds", "Age of the oldest write or sync that has not ended; 0 means none.",
             oldest.has_value() ? static_cast<double>(oldest->count()) / 1000.0 : 0);
}

void AddZooKeeper(MetricsText& text, zk::SessionState state) {
  text.Gauge("zookeeper_connected", "1 while the ZooKeeper session is connected, else 0.",
             state == zk::SessionState::kConnected ? 1 : 0);
}

void AddHttp(MetricsText& text, const http::HttpStats& stats) {
  text.Gauge("page_connections", "Connections to the page that are open.", static_cast<double>(stats.connections_open));
  text.Gauge("page_followers", "Followers of events on the page.", static_cast<double>(stats.streams_open));
  text.Counter("page_requests_total", "Requests to the page and for metrics.", stats.requests);
  text.Counter("page_refused_total",
               "Requests and connections to the page that were refused because a limit was reached.", stats.refused);
}

}  // namespace ratchet::page
