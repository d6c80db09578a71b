#include "common/tools/cli/sql_tables.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "common/model/codec.h"
#include "common/model/proto/history.pb.h"
#include "common/ops/trace/otlp.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/sql_settings.h"
#include "common/tools/cli/targets.h"

namespace ratchet::cli {
namespace {

using sql::SqlSink;
using sql::SqlValue;

// A limit above the number of events that a master keeps. The answer shows when it is cut, and then the query fails.
constexpr std::uint32_t kAll = 10'000'000;
// Maximum number of the newest history entries that one query sees.
constexpr std::uint32_t kMostOfHistory = 100'000;

SqlValue Known(bool has, std::uint64_t number) { return has ? WholeOf(number) : SqlValue(); }
std::string ServerText(const hbase::pb::ServerName& name) {
  return fmt::format("{},{},{}", name.host_name(), name.port(), name.start_code());
}
SqlValue Seconds(std::int64_t ms) { return static_cast<double>(ms) / 1000.0; }
SqlValue SecondsOr(bool has, std::uint64_t ms) { return has ? Seconds(static_cast<std::int64_t>(ms)) : SqlValue(); }

std::string Join(const auto& texts) { return fmt::format("{}", fmt::join(texts, ", ")); }

}  // namespace

class SqlSource::Answers {
 public:
  // `steps`, `past_steps`: of procedures in memory, and of ended ones.
  Answers(Session& session, bool steps, bool past_steps) : session_(session), steps_(steps), past_steps_(past_steps) {}

  [[nodiscard]] Session& session() { return session_; }

  Status Procedures(const SqlSink& sink) {
    RATCHET_TRY(AskForProcedures());
    for (const auto& info : procedures_->procedure()) {
      const auto submitted = static_cast<std::int64_t>(info.submitted_wall_ms());
      const auto updated = static_cast<std::int64_t>(info.updated_wall_ms());
      sink({WholeOf(info.pid()),
            info.has_parent() ? WholeOf(info.parent()) : SqlValue(),
            info.type(),
            info.state(),
            TextOf(info.step()),
            TextOf(info.text()),
            TextOf(info.owner()),
            WholeOf(info.attempt()),
            TextOf(info.waits_for()),
            TextOf(info.last_error()),
            AgeOf(info),
            Seconds(Since(updated)),
            submitted,
            updated,
            Flag(info.finished()),
            Flag(info.parked()),
            Flag(info.bypassed()),
            TextOf(info.paused()),
            TextOf(info.error_class()),
            TextOf(info.error()),
            TextOf(info.peer()),
            TextOf(info.method())});
    }
    return Ok();
  }

  Status Steps(const SqlSink& sink) {
    RATCHET_TRY(AskForProcedures());
    for (const auto& info : procedures_->procedure()) SinkSteps(info, sink);
    return Ok();
  }

  Status Waits(const SqlSink& sink) {
    RATCHET_TRY(AskForProcedures());
    for (const auto& info : procedures_->procedure()) {
      if (info.finished() || info.waits_for().empty()) continue;
      sink({WholeOf(info.pid()), info.type(), TextOf(info.step()), info.waits_for(),
            Seconds(Since(static_cast<std::int64_t>(info.updated_wall_ms()))),
            SecondsOr(info.has_next_try_ms(), info.next_try_ms())});
    }
    return Ok();
  }

  // Adds the recoveries in memory, then those that are only in the history.
  Status Recoveries(const SqlSink& sink) {
    RATCHET_TRY(AskForRecoveries());
    for (const auto& info : recoveries_) {
      sink({WholeOf(info.pid()), std::string(trace::ServerOf(info)), info.state(), TextOf(info.step()), AgeOf(info),
            Flag(info.finished())});
    }
    return Ok();
  }

  Status RecoverySteps(const SqlSink& sink) {
    RATCHET_TRY(AskForRecoveries());
    for (const auto& info : recoveries_) SinkSteps(info, sink);
    return Ok();
  }

  Status History(const SqlSink& sink) {
    RATCHET_TRY(AskForHistory());
    for (const auto& ended : history_->procedure()) {
      const auto& info = ended.procedure();
      sink({WholeOf(info.pid()), info.has_parent() ? WholeOf(info.parent()) : SqlValue(), WholeOf(ended.root()),
            info.type(), info.state(), TextOf(info.text()), TextOf(info.owner()),
            static_cast<std::int64_t>(info.submitted_wall_ms()), static_cast<std::int64_t>(info.updated_wall_ms()),
            AgeOf(info), WholeOf(ended.epoch()), TextOf(ended.master()), TextOf(info.error_class()),
            TextOf(info.error())});
    }
    return Ok();
  }

  Status HistorySteps(const SqlSink& sink) {
    RATCHET_TRY(AskForHistory());
    for (const auto& ended : history_->procedure()) SinkSteps(ended.procedure(), sink);
    return Ok();
  }

  Status Failovers(const SqlSink& sink) {
    pb::ListHistoryRequest request;
    request.set_limit(0);
    request.set_failovers(true);
    RATCHET_ASSIGN(const auto answer, Ask(methods::kListHistory, request));
    for (const auto& failover : answer.failover()) {
      std::int64_t number = 0;
      for (const auto& step : failover.step()) {
        sink({WholeOf(failover.epoch()), TextOf(failover.master()), failover.elected_wall_ms(), ++number, step.name(),
              WholeOf(step.started_ms()), step.has_took_ms() ? WholeOf(step.took_ms()) : SqlValue(),
              TextOf(step.detail())});
      }
    }
    return Ok();
  }

  Status Locks(const SqlSink& sink) {
    RATCHET_ASSIGN(const auto answer, Ask(methods::kListLocks, pb::ListLocksRequest()));
    for (const auto& lock : answer.lock()) {
      for (const auto pid : lock.exclusive_holder()) sink({lock.resource(), "holder", "exclusive", WholeOf(pid)});
      for (const auto pid : lock.shared_holder()) sink({lock.resource(), "holder", "shared", WholeOf(pid)});
      for (int i = 0; i < lock.waiter_size(); ++i)
        sink({lock.resource(), "waiter", i < lock.waiter_mode_size() ? lock.waiter_mode(i) : "",
              WholeOf(lock.waiter(i))});
    }
    return Ok();
  }

  Status Regions(const SqlSink& sink) {
    RATCHET_ASSIGN(const auto answer, Ask(methods::kListRegions, pb::ListRegionsRequest()));
    for (const auto& row : answer.region()) {
      const auto info = FromProto(row.region());
      if (!info.ok()) return info.error();
      sink({row.encoded_name(), info->table.ToString(), ToText(info->start_key), ToText(info->end_key), row.state(),
            row.has_server() ? SqlValue(ServerText(row.server())) : SqlValue(), WholeOf(row.open_number()),
            row.has_procedure() ? WholeOf(row.procedure()) : SqlValue(), SecondsOr(row.has_since_ms(), row.since_ms()),
            Known(row.has_store_files(), row.store_files()), Known(row.has_store_mib(), row.store_mib()),
            Known(row.has_memstore_mib(), row.memstore_mib())});
    }
    return Ok();
  }

  Status Tables(const SqlSink& sink) {
    RATCHET_ASSIGN(const auto tables, session_.admin.ListTables(true));
    for (const TableName& name : tables) {
      const auto state = session_.admin.State(name);
      const auto table = session_.admin.Describe(name);
      std::vector<std::string> families;
      if (table.ok()) {
        for (const auto& family : table->families) families.push_back(family.name);
      }
      sink({name.ToString(), name.ns, state.ok() ? SqlValue(std::string(TableStateText(*state))) : SqlValue(),
            TextOf(Join(families))});
    }
    return Ok();
  }

  Status Servers(const SqlSink& sink) {
    RATCHET_TRY(AskForServers());
    for (const auto& row : servers_->server()) {
      sink({ServerText(row.server()), row.state(), TextOf(row.version()), WholeOf(row.regions()),
            Flag(row.carries_meta()), SecondsOr(row.has_last_report_ms(), row.last_report_ms()),
            row.has_crash_procedure() ? WholeOf(row.crash_procedure()) : SqlValue(),
            SecondsOr(row.has_storage_hangs_ms(), row.storage_hangs_ms()), WholeOf(row.descriptors_used()),
            WholeOf(row.descriptor_limit()), WholeOf(row.came_again()), Known(row.has_log_files(), row.log_files()),
            Known(row.has_store_mib(), row.store_mib()), Known(row.has_memstore_mib(), row.memstore_mib()),
            Known(row.has_disk_free_bytes(), row.disk_free_bytes())});
    }
    return Ok();
  }

  Status Orders(const SqlSink& sink) {
    RATCHET_TRY(AskForServers());
    for (const auto& row : servers_->server()) {
      if (row.dispatch_queued() == 0 && row.dispatch_attempt() == 0 && row.dispatch_last_error().empty()) continue;
      sink({ServerText(row.server()), WholeOf(row.dispatch_queued()), WholeOf(row.dispatch_attempt()),
            TextOf(row.dispatch_last_error())});
    }
    return Ok();
  }

  Status Events(const SqlSink& sink) {
    std::uint64_t after = 0;
    std::optional<std::uint64_t> epoch;
    while (true) {
      pb::ListEventsRequest request;
      if (epoch.has_value()) request.set_epoch(*epoch);
      request.set_after(after);
      RATCHET_ASSIGN(const auto answer, Ask(methods::kListEvents, request));
      if (answer.event_size() == 0 || (epoch.has_value() && answer.epoch() != *epoch)) return Ok();
      for (const auto& event : answer.event()) {
        sink({WholeOf(event.sequence()), event.at_wall_ms(), event.kind(),
              event.has_pid() ? WholeOf(event.pid()) : SqlValue(),
              event.has_root() ? WholeOf(event.root()) : SqlValue(), TextOf(event.type()), TextOf(event.step()),
              TextOf(event.detail())});
      }
      epoch = answer.epoch();
      after = answer.last();
    }
  }

  Status Pauses(const SqlSink& sink) {
    RATCHET_ASSIGN(const auto answer, Ask(methods::kListPauses, pb::ListPausesRequest()));
    for (const auto& row : answer.pause()) sink({row.what(), TextOf(row.who()), TextOf(row.why()), row.at_wall_ms()});
    return Ok();
  }

  Status Store(const SqlSink& sink) {
    RATCHET_TRY(AskForMetrics());
    sink({WholeOf(metrics_->store_batches()), WholeOf(metrics_->store_records()), WholeOf(metrics_->store_syncs()),
          WholeOf(metrics_->store_bytes()), WholeOf(metrics_->store_segments()),
          WholeOf(metrics_->store_live_records()), WholeOf(metrics_->store_in_flight())});
    return Ok();
  }

  Status Metrics(const SqlSink& sink) {
    RATCHET_TRY(AskForMetrics());
    for (const auto& type : metrics_->type()) {
      sink({type.type(), WholeOf(type.submitted()), WholeOf(type.succeeded()), WholeOf(type.failed()),
            WholeOf(type.hook_errors())});
    }
    return Ok();
  }

 private:
  template <class Request, class Response>
  Result<Response> Ask(const rpc::Method<Request, Response>& method, const Request& request) {
    return session_.admin.Call(method, request);
  }
  Status AskForProcedures() {
    if (procedures_.has_value()) return Ok();
    pb::ListProceduresRequest request;
    request.set_include_finished(true);
    request.set_limit(kAll);
    request.set_include_history(steps_);
    RATCHET_ASSIGN(procedures_, Ask(methods::kListProcedures, request));
    asked_ms_ = SystemClock().WallMillis();
    return Ok();
  }
  static void SinkSteps(const pb::ProcedureInfo& info, const SqlSink& sink) {
    std::int64_t number = 0;
    for (const auto& step : info.history()) {
      sink({WholeOf(info.pid()), ++number, step.step(), step.outcome(), WholeOf(step.epoch()), WholeOf(step.worker()),
            WholeOf(step.began_wall_ms()), WholeOf(step.at_wall_ms()), WholeOf(step.took_us()), TextOf(step.detail())});
    }
  }
  Status AskForHistory() {
    if (history_.has_value()) return Ok();
    pb::ListHistoryRequest request;
    request.set_limit(kMostOfHistory);
    request.set_steps(past_steps_);
    RATCHET_ASSIGN(history_, Ask(methods::kListHistory, request));
    return Ok();
  }
  Status AskForRecoveries() {
    if (asked_for_recoveries_) return Ok();
    RATCHET_TRY(AskForProcedures());
    std::set<std::uint64_t> known;
    for (const auto& info : procedures_->procedure()) {
      if (info.type() == "ServerCrash" && known.insert(info.pid()).second) recoveries_.push_back(info);
    }
    pb::ListHistoryRequest request;
    request.set_type("ServerCrash");
    request.set_steps(true);
    RATCHET_ASSIGN(auto past, Ask(methods::kListHistory, request));
    for (auto& ended : *past.mutable_procedure()) {
      if (known.insert(ended.procedure().pid()).second) recoveries_.push_back(std::move(*ended.mutable_procedure()));
    }
    asked_for_recoveries_ = true;
    return Ok();
  }
  Status AskForServers() {
    if (servers_.has_value()) return Ok();
    RATCHET_ASSIGN(servers_, Ask(methods::kListServers, pb::ListServersRequest()));
    return Ok();
  }
  Status AskForMetrics() {
    if (metrics_.has_value()) return Ok();
    RATCHET_ASSIGN(metrics_, Ask(methods::kGetMetrics, pb::GetMetricsRequest()));
    return Ok();
  }
  [[nodiscard]] std::int64_t Since(std::int64_t wall_ms) const {
    return std::max<std::int64_t>(0, asked_ms_ - wall_ms);
  }
  [[nodiscard]] SqlValue AgeOf(const pb::ProcedureInfo& info) const {
    const auto submitted = static_cast<std::int64_t>(info.submitted_wall_ms());
    const auto ended = static_cast<std::int64_t>(info.updated_wall_ms());
    return Seconds(info.finished() ? std::max<std::int64_t>(0, ended - submitted) : Since(submitted));
  }

  Session& session_;
  const bool steps_;
  const bool past_steps_;
  std::optional<pb::ListProceduresResponse> procedures_;
  std::vector<pb::ProcedureInfo> recoveries_;
  bool asked_for_recoveries_ = false;
  std::optional<pb::ListHistoryResponse> history_;
  std::int64_t asked_ms_ = 0;
  std::optional<pb::ListServersResponse> servers_;
  std::optional<pb::GetMetricsResponse> metrics_;
};

SqlSource::SqlSource(Session& session, const std::set<std::string>& tables)
    : answers_(std::make_unique<Answers>(session, tables.contains("steps") || tables.contains("recovery_steps"),
                                         tables.contains("history_steps"))) {}
SqlSource::~SqlSource() = default;

Status SqlSource::Fill(const std::string& table, const SqlSink& sink) {
  using Filler = Status (Answers::*)(const SqlSink&);
  static const std::map<std::string, Filler> fillers = {
      {"procedures", &Answers::Procedures}, {"steps", &Answers::Steps},
      {"waits", &Answers::Waits},           {"recoveries", &Answers::Recoveries},
      {"locks", &Answers::Locks},           {"regions", &Answers::Regions},
      {"tables", &Answers::Tables},         {"servers", &Answers::Servers},
      {"orders", &Answers::Orders},         {"events", &Answers::Events},
      {"pauses", &Answers::Pauses},         {"store", &Answers::Store},
      {"metrics", &Answers::Metrics},       {"recovery_steps", &Answers::RecoverySteps},
      {"history", &Answers::History},       {"history_steps", &Answers::HistorySteps},
      {"failovers", &Answers::Failovers}};
  const auto found = fillers.find(table);
  if (found == fillers.end()) return FillSettings(answers_->session(), table, sink);
  return (*answers_.*(found->second))(sink);
}

}  // namespace ratchet::cli
