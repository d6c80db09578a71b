#include "common/cli/sql_tables.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "common/cli/bytes_text.h"
#include "common/cli/targets.h"
#include "common/model/codec.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::cli {
namespace {

using sql::SqlSink;
using sql::SqlValue;

// More than a master keeps; the answer says when it is cut, and then the query fails.
constexpr std::uint32_t kAll = 10'000'000;

SqlValue Whole(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::string ServerText(const hbase::pb::ServerName& name) {
  return fmt::format("{},{},{}", name.host_name(), name.port(), name.start_code());
}
SqlValue Flag(bool flag) { return std::int64_t{flag ? 1 : 0}; }
SqlValue TextOf(const std::string& text) { return text.empty() ? SqlValue() : SqlValue(text); }
SqlValue Seconds(std::int64_t ms) { return static_cast<double>(ms) / 1000.0; }
SqlValue SecondsOr(bool has, std::uint64_t ms) { return has ? Seconds(static_cast<std::int64_t>(ms)) : SqlValue(); }

std::string Join(const auto& texts) { return fmt::format("{}", fmt::join(texts, ", ")); }

}  // namespace

class SqlSource::Answers {
 public:
  Answers(Session& session, bool history) : session_(session), history_(history) {}

  Status Procedures(const SqlSink& sink) {
    RATCHET_TRY(AskForProcedures());
    for (const auto& info : procedures_->procedure()) {
      const auto submitted = static_cast<std::int64_t>(info.submitted_wall_ms());
      const auto updated = static_cast<std::int64_t>(info.updated_wall_ms());
      sink({Whole(info.pid()),
            info.has_parent() ? Whole(info.parent()) : SqlValue(),
            info.type(),
            info.state(),
            TextOf(info.step()),
            TextOf(info.text()),
            TextOf(info.owner()),
            Whole(info.attempt()),
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
            TextOf(info.error())});
    }
    return Ok();
  }

  Status Steps(const SqlSink& sink) {
    RATCHET_TRY(AskForProcedures());
    for (const auto& info : procedures_->procedure()) {
      std::int64_t number = 0;
      for (const auto& step : info.history()) {
        sink({Whole(info.pid()), ++number, step.step(), step.outcome(), Whole(step.epoch()), Whole(step.worker()),
              Whole(step.began_wall_ms()), Whole(step.at_wall_ms()), Whole(step.took_us()), TextOf(step.detail())});
      }
    }
    return Ok();
  }

  Status Waits(const SqlSink& sink) {
    RATCHET_TRY(AskForProcedures());
    for (const auto& info : procedures_->procedure()) {
      if (info.finished() || info.waits_for().empty()) continue;
      sink({Whole(info.pid()), info.type(), TextOf(info.step()), info.waits_for(),
            Seconds(Since(static_cast<std::int64_t>(info.updated_wall_ms()))),
            SecondsOr(info.has_next_try_ms(), info.next_try_ms())});
    }
    return Ok();
  }

  Status Recoveries(const SqlSink& sink) {
    RATCHET_TRY(AskForProcedures());
    for (const auto& info : procedures_->procedure()) {
      if (info.type() != "ServerCrash") continue;
      std::string server = info.text();
      if (const auto at = server.find("server="); at != std::string::npos) server = server.substr(at + 7);
      server.resize(std::min(server.size(), server.find_first_of(" ;")));
      if (server.ends_with(',')) server.pop_back();
      sink({Whole(info.pid()), server, info.state(), TextOf(info.step()), AgeOf(info), Flag(info.finished())});
    }
    return Ok();
  }

  Status Locks(const SqlSink& sink) {
    RATCHET_ASSIGN(const auto answer, Ask(methods::kListLocks, pb::ListLocksRequest()));
    for (const auto& lock : answer.lock()) {
      for (const auto pid : lock.exclusive_holder()) sink({lock.resource(), "holder", "exclusive", Whole(pid)});
      for (const auto pid : lock.shared_holder()) sink({lock.resource(), "holder", "shared", Whole(pid)});
      for (int i = 0; i < lock.waiter_size(); ++i)
        sink(
            {lock.resource(), "waiter", i < lock.waiter_mode_size() ? lock.waiter_mode(i) : "", Whole(lock.waiter(i))});
    }
    return Ok();
  }

  Status Regions(const SqlSink& sink) {
    RATCHET_ASSIGN(const auto answer, Ask(methods::kListRegions, pb::ListRegionsRequest()));
    for (const auto& row : answer.region()) {
      const auto info = FromProto(row.region());
      if (!info.ok()) return info.error();
      sink({row.encoded_name(), info->table.ToString(), ToText(info->start_key), ToText(info->end_key), row.state(),
            row.has_server() ? SqlValue(ServerText(row.server())) : SqlValue(), Whole(row.open_seq()),
            row.has_procedure() ? Whole(row.procedure()) : SqlValue(), SecondsOr(row.has_since_ms(), row.since_ms())});
    }
    return Ok();
  }

  Status Tables(const SqlSink& sink) {
    client::Admin admin(session_.connection, session_.timeout);
    RATCHET_ASSIGN(const auto tables, admin.ListTables(true));
    for (const TableName& name : tables) {
      const auto state = admin.State(name);
      const auto table = admin.Describe(name);
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
      sink({ServerText(row.server()), row.state(), TextOf(row.version()), Whole(row.regions()),
            Flag(row.carries_meta()), SecondsOr(row.has_last_report_ms(), row.last_report_ms()),
            row.has_crash_procedure() ? Whole(row.crash_procedure()) : SqlValue(),
            SecondsOr(row.has_storage_hangs_ms(), row.storage_hangs_ms()), Whole(row.descriptors_used()),
            Whole(row.descriptor_limit()), Whole(row.came_again())});
    }
    return Ok();
  }

  Status Orders(const SqlSink& sink) {
    RATCHET_TRY(AskForServers());
    for (const auto& row : servers_->server()) {
      if (row.dispatch_queued() == 0 && row.dispatch_attempt() == 0 && row.dispatch_last_error().empty()) continue;
      sink({ServerText(row.server()), Whole(row.dispatch_queued()), Whole(row.dispatch_attempt()),
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
        sink({Whole(event.sequence()), event.at_wall_ms(), event.kind(),
              event.has_pid() ? Whole(event.pid()) : SqlValue(), event.has_root() ? Whole(event.root()) : SqlValue(),
              TextOf(event.type()), TextOf(event.step()), TextOf(event.detail())});
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
    sink({Whole(metrics_->store_batches()), Whole(metrics_->store_records()), Whole(metrics_->store_syncs()),
          Whole(metrics_->store_bytes()), Whole(metrics_->store_segments()), Whole(metrics_->store_live_records()),
          Whole(metrics_->store_in_flight())});
    return Ok();
  }

  Status Metrics(const SqlSink& sink) {
    RATCHET_TRY(AskForMetrics());
    for (const auto& type : metrics_->type()) {
      sink({type.type(), Whole(type.submitted()), Whole(type.succeeded()), Whole(type.failed()),
            Whole(type.hook_errors())});
    }
    return Ok();
  }

 private:
  template <class Request, class Response>
  Result<Response> Ask(const rpc::Method<Request, Response>& method, const Request& request) {
    return client::Admin(session_.connection, session_.timeout).Call(method, request);
  }
  Status AskForProcedures() {
    if (procedures_.has_value()) return Ok();
    pb::ListProceduresRequest request;
    request.set_include_finished(true);
    request.set_limit(kAll);
    request.set_include_history(history_);
    RATCHET_ASSIGN(procedures_, Ask(methods::kListProcedures, request));
    asked_ms_ = SystemClock().WallMillis();
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
  const bool history_;
  std::optional<pb::ListProceduresResponse> procedures_;
  std::int64_t asked_ms_ = 0;
  std::optional<pb::ListServersResponse> servers_;
  std::optional<pb::GetMetricsResponse> metrics_;
};

SqlSource::SqlSource(Session& session, const std::set<std::string>& tables)
    : answers_(std::make_unique<Answers>(session, tables.contains("steps"))) {}
SqlSource::~SqlSource() = default;

Status SqlSource::Fill(const std::string& table, const SqlSink& sink) {
  using Filler = Status (Answers::*)(const SqlSink&);
  static const std::map<std::string, Filler> fillers = {
      {"procedures", &Answers::Procedures}, {"steps", &Answers::Steps},     {"waits", &Answers::Waits},
      {"recoveries", &Answers::Recoveries}, {"locks", &Answers::Locks},     {"regions", &Answers::Regions},
      {"tables", &Answers::Tables},         {"servers", &Answers::Servers}, {"orders", &Answers::Orders},
      {"events", &Answers::Events},         {"pauses", &Answers::Pauses},   {"store", &Answers::Store},
      {"metrics", &Answers::Metrics}};
  const auto found = fillers.find(table);
  if (found == fillers.end()) return Error(Code::kNotFound, fmt::format("there is no table {}", table));
  return (*answers_.*(found->second))(sink);
}

}  // namespace ratchet::cli
