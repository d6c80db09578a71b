#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "chaos/report/phase_table.h"
#include "chaos/report/render.h"
#include "chaos/report/summary.h"
#include "chaos/verdict/guards.h"

namespace ratchet::chaos {
namespace {

class Json {
 public:
  void Key(const char* key) { writer_.Key(key); }
  void Add(const char* key, const std::string& value) {
    writer_.Key(key);
    Text(value);
  }
  void Add(const char* key, const char* value) { Add(key, std::string(value)); }
  void Add(const char* key, std::int64_t value) {
    writer_.Key(key);
    writer_.Int64(value);
  }
  void Add(const char* key, std::uint64_t value) {
    writer_.Key(key);
    writer_.Uint64(value);
  }
  void Add(const char* key, bool value) {
    writer_.Key(key);
    writer_.Bool(value);
  }
  void Add(const char* key, double value) {
    writer_.Key(key);
    writer_.Double(value);
  }
  void Add(const char* key, const std::optional<std::int64_t>& value) {
    if (value) Add(key, *value);  // absent: not seen
  }
  void Text(const std::string& value) { writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size())); }
  template <class Body>
  void Object(Body&& body) {
    writer_.StartObject();
    body();
    writer_.EndObject();
  }
  template <class Items, class Body>
  void Array(const char* key, const Items& items, Body&& body) {
    writer_.Key(key);
    writer_.StartArray();
    for (const auto& item : items) body(item);
    writer_.EndArray();
  }
  [[nodiscard]] std::string Take() const { return buffer_.GetString(); }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

void AddFault(Json& json, const FaultLine& fault) {
  json.Object([&] {
    json.Add("kind", fault.kind);
    json.Array("victims", fault.victims, [&](const std::string& victim) { json.Text(victim); });
    json.Add("evidence", fault.evidence);
    if (!fault.error.empty()) json.Add("error", fault.error);
    json.Add("injected_ms", fault.injected_ms);
    json.Add("healed_ms", fault.healed_ms);
    json.Add("settled_ms", fault.settled_ms);
    json.Add("traffic_before", fault.traffic_before);
    json.Add("kills_master", fault.kills_master);
    json.Add("resumed_pid", fault.resumed_pid);
    json.Add("detect", fault.phases.detect);
    json.Add("fence", fault.phases.fence);
    json.Add("split", fault.phases.split);
    json.Add("assign", fault.phases.assign);
    json.Add("first_success", fault.phases.first_success);
    json.Add("gap", fault.gap_ms);
    json.Array("met", fault.met, [&](const PhaseHit& hit) {
      json.Object([&] {
        json.Add("kind", hit.kind);
        json.Add("phase", hit.phase);
      });
    });
  });
}

std::string ColumnKey(std::string name) {
  for (char& letter : name) {
    if (letter == ' ') letter = '_';
  }
  return name;
}

void AddSummary(Json& json, const KindSummary& row) {
  json.Object([&] {
    json.Add("kind", row.kind);
    json.Add("injected", static_cast<std::uint64_t>(row.injected));
    json.Add("failed", static_cast<std::uint64_t>(row.failed));
    for (const auto& column : SummaryColumns()) {
      const Percentiles& values = row.*column.values;
      json.Key(ColumnKey(column.name).c_str());
      json.Object([&] {
        json.Add("count", static_cast<std::uint64_t>(values.count));
        if (values.count == 0) return;
        json.Add("p50", values.p50);
        json.Add("p99", values.p99);
        json.Add("max", values.max);
      });
    }
  });
}

void AddWorkload(Json& json, const WorkloadLine& workload) {
  json.Object([&] {
    json.Add("name", workload.name);
    json.Add("ok", workload.counters.ok);
    json.Add("failed", workload.counters.failed);
    json.Add("unknown", workload.counters.unknown);
    json.Add("longest_gap_ms", static_cast<std::int64_t>(workload.counters.longest_gap.count()));
  });
}

void AddDeaths(Json& json, const DeathFigures& deaths) {
  json.Key("deaths");
  json.Object([&] {
    json.Array("servers_expired", deaths.by_reason, [&](const auto& reason) {
      json.Object([&] {
        json.Add("reason", reason.first);
        json.Add("count", reason.second);
      });
    });
    json.Add("early", deaths.early);
    json.Add("early_of_masters", deaths.early_of_masters);
    json.Add("excused", deaths.excused);
    json.Add("false", deaths.false_findings);
    json.Add("not_judged", deaths.not_judged);
  });
}

}  // namespace

std::string RenderJson(const RunRecord& run) {
  Json json;
  const PhaseTable phases = CountPhases(run.faults);
  json.Object([&] {
    json.Add("verdict", VerdictName(run.verdict));
    json.Add("scenario", run.scenario);
    json.Add("target", run.target);
    json.Add("interrupted", run.interrupted);
    json.Add("seed", run.seed);
    json.Add("command", run.command);
    json.Add("session_timeout_ms", run.session_timeout_ms);
    json.Add("started_ms", run.started_ms);
    json.Add("ended_ms", run.ended_ms);
    json.Array("summary", Summarize(run.faults), [&](const KindSummary& row) { AddSummary(json, row); });
    json.Array("workloads", run.workloads, [&](const WorkloadLine& workload) { AddWorkload(json, workload); });
    if (run.deaths) AddDeaths(json, *run.deaths);
    json.Array("guards", run.guards, [&](const Guard& guard) {
      json.Object([&] {
        json.Add("held", guard.held);
        json.Add("text", guard.text);
      });
    });
    json.Array("findings", run.findings, [&](const Finding& finding) {
      json.Object([&] {
        json.Add("good", finding.good);
        json.Add("text", finding.text);
      });
    });
    json.Array("skipped", run.skipped, [&](const auto& skipped) {
      json.Object([&] {
        json.Add("kind", skipped.first);
        json.Add("why", skipped.second);
      });
    });
    json.Array("faults", run.faults, [&](const FaultLine& fault) { AddFault(json, fault); });
    json.Add("phase_pairs", static_cast<std::uint64_t>(phases.cells));
    json.Add("phase_pairs_covered", static_cast<std::uint64_t>(phases.covered));
    json.Array("fault_points", run.fault_points, [&](const auto& point) {
      json.Object([&] {
        json.Add("name", point.first);
        json.Add("acted", point.second);
      });
    });
    json.Add("fault_points_known", static_cast<std::uint64_t>(run.fault_points_known));
    json.Array("events", run.events, [&](const RunEvent& event) {
      json.Object([&] {
        json.Add("at_ms", event.at_ms);
        json.Add("what", event.what);
        json.Add("detail", event.detail);
      });
    });
    if (!run.bundle.empty()) json.Add("bundle", run.bundle);
  });
  return json.Take();
}

}  // namespace ratchet::chaos
