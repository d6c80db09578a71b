#include "procedure/api/pause_scope.h"

#include <fmt/format.h>

#include "procedure/api/record.pb.h"

namespace ratchet::procedure {

std::string PauseScope::ToString() const {
  switch (kind) {
    case Kind::kEverything: return "everything";
    case Kind::kOrdinary: return "everything but crash handling";
    case Kind::kType: return "type " + type;
    case Kind::kResource: return resource.ToString();
    case Kind::kProcedure: return fmt::format("pid={}", pid);
  }
  return "?";
}

std::string PauseInfo::ToString() const {
  return fmt::format("{} paused by {}{}{}", scope.ToString(), who, why.empty() ? "" : ": ", why);
}

Result<ResourceKey> ParseResource(std::string_view text) {
  const auto space = text.find(' ');
  const std::string_view kind_name = text.substr(0, space);
  const std::string name(space == std::string_view::npos ? std::string_view() : text.substr(space + 1));
  for (std::uint8_t number = 1; number <= static_cast<std::uint8_t>(ResourceKind::kRegion); ++number) {
    const auto kind = static_cast<ResourceKind>(number);
    if (ResourceKindName(kind) != kind_name) continue;
    const bool nameless = kind == ResourceKind::kCluster || kind == ResourceKind::kMeta;
    if (nameless != name.empty()) {
      return Error(Code::kInvalidArgument,
                   fmt::format("'{}': a {} has {} name", text, kind_name, nameless ? "no" : "a"));
    }
    if (kind == ResourceKind::kRegion && name.find('/') == std::string::npos) {
      return Error(Code::kInvalidArgument, fmt::format("'{}': a region is named table/encoded-name", text));
    }
    return ResourceKey{kind, name};
  }
  return Error(
      Code::kInvalidArgument,
      fmt::format("'{}' is not a resource; use table, region, namespace, server or peer with a name, meta or cluster",
                  text));
}

std::string PauseRecordKey(const PauseScope& scope) { return std::string(kPauseRecordPrefix) + scope.ToString(); }

std::string EncodePause(const PauseInfo& pause) {
  pb::PauseRecord record;
  record.set_scope(static_cast<std::uint32_t>(pause.scope.kind));
  if (!pause.scope.type.empty()) record.set_type(pause.scope.type);
  if (pause.scope.kind == PauseScope::Kind::kResource) {
    record.set_resource_kind(static_cast<std::uint32_t>(pause.scope.resource.kind));
    record.set_resource_name(pause.scope.resource.name);
  }
  if (pause.scope.pid.valid()) record.set_pid(pause.scope.pid.value());
  record.set_who(pause.who);
  record.set_why(pause.why);
  record.set_at_ms(pause.at_ms);
  return record.SerializeAsString();
}

Result<PauseInfo> DecodePause(std::string_view bytes) {
  pb::PauseRecord record;
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || record.scope() < 1 ||
      record.scope() > 5) {
    return Error(Code::kCorruption, "not the record of a pause");
  }
  PauseInfo pause;
  pause.scope.kind = static_cast<PauseScope::Kind>(record.scope());
  pause.scope.type = record.type();
  if (pause.scope.kind == PauseScope::Kind::kResource) {
    if (record.resource_kind() < 1 || record.resource_kind() > 7) {
      return Error(Code::kCorruption,
                   fmt::format("a pause of an unknown kind of resource, {}", record.resource_kind()));
    }
    pause.scope.resource = {static_cast<ResourceKind>(record.resource_kind()), record.resource_name()};
  }
  pause.scope.pid = ProcId(record.pid());
  pause.who = record.who();
  pause.why = record.why();
  pause.at_ms = record.at_ms();
  return pause;
}

std::string EncodePauseLog(const std::vector<PauseLogEntry>& log) {
  pb::PauseLogRecord record;
  for (const PauseLogEntry& entry : log) {
    pb::PauseChangeRecord& change = *record.add_change();
    if (entry.resume) change.set_resume(true);
    change.set_what(entry.what);
    change.set_who(entry.who);
    change.set_why(entry.why);
    change.set_at_ms(entry.at_ms);
  }
  return record.SerializeAsString();
}

Result<std::vector<PauseLogEntry>> DecodePauseLog(std::string_view bytes) {
  pb::PauseLogRecord record;
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Error(Code::kCorruption, "not the record of pauses");
  }
  std::vector<PauseLogEntry> log;
  for (const pb::PauseChangeRecord& change : record.change()) {
    log.push_back({change.resume(), change.what(), change.who(), change.why(), change.at_ms()});
  }
  return log;
}

}  // namespace ratchet::procedure
