#include "master/process/store_replay.h"

#include <memory>

#include <fmt/format.h>

#include "common/base/json_writer.h"
#include "master/procedures/register.h"
#include "procedure/api/lock_procedure.h"
#include "procedure/api/procedure_registry.h"

namespace ratchet::master {

Result<procedure::ReplayReport> ReplayStore(const std::string& path) {
  RATCHET_ASSIGN(const std::unique_ptr<io::Directory> directory, procedure::OpenStoreDirectory(path));
  RATCHET_ASSIGN(const procedure::OfflineStore store, procedure::ReadOfflineStore(*directory));
  if (!store.damage.empty())
    return Error(Code::kCorruption,
                 fmt::format("{}: {} (ratchet-wal verify)", directory->path(), store.damage.front()));
  if (!store.found) return Error(Code::kNotFound, fmt::format("{} has no procedure store", directory->path()));
  procedure::ProcedureRegistry registry;
  RegisterMasterProcedures(registry);
  registry.Register<procedure::LockProcedure>();
  return procedure::ReplayRecords(registry, store);
}

namespace {

std::string AsJson(const procedure::ReplayReport& report) {
  JsonWriter json;
  json.BeginObject().Add("records", report.records).Add("unfinished", report.unfinished).Add("steps", report.steps);
  json.Add("would_be_parked", report.parked).Add("told_wrongly", report.told_wrongly).Key("findings").BeginArray();
  for (const procedure::ReplayFinding& finding : report.findings) {
    json.BeginObject().Add("pid", finding.pid.value()).Add("type", finding.type);
    json.Add("would_be_parked", finding.would_park).Add("why", finding.why).EndObject();
  }
  return json.EndArray().EndObject().text() + "\n";
}

}  // namespace

std::string ToText(const procedure::ReplayReport& report, ReplayFormat format) {
  if (format == ReplayFormat::kJson) return AsJson(report);
  std::string text;
  for (const procedure::ReplayFinding& finding : report.findings) {
    text += fmt::format("pid={} {}: {}{}\n", finding.pid, finding.type.empty() ? "(unreadable)" : finding.type,
                        finding.would_park ? "would be parked: " : "", finding.why);
  }
  const std::size_t all = report.parked + report.told_wrongly;
  if (all > report.findings.size()) text += fmt::format("... and {} more\n", all - report.findings.size());
  text += fmt::format("{} records ({} unfinished) with {} steps: ", report.records, report.unfinished, report.steps);
  if (all == 0) return text + "this program can resume all of them\n";
  return text + fmt::format("{} would be parked, {} would be reported wrongly\n", report.parked, report.told_wrongly);
}

}  // namespace ratchet::master
