#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>

#include <google/protobuf/util/json_util.h>

#include "common/base/json_writer.h"
#include "procedure/api/record.pb.h"
#include "procedure/store/tool/wal_tool.h"

namespace ratchet::procedure::tool {

std::string FormatTime(std::int64_t wall_millis) {
  const std::time_t seconds = wall_millis / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, wall_millis % 1000);
}

Result<std::int64_t> ParseTime(const std::string& text) {
  std::int64_t millis = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), millis);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return millis;
  for (const char* format : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
    std::tm parts{};
    const char* const rest = strptime(text.c_str(), format, &parts);
    if (rest == nullptr || (*rest != '\0' && std::string_view(rest) != "Z")) continue;
    return std::int64_t{timegm(&parts)} * 1000;
  }
  return Error(Code::kInvalidArgument,
               "'" + text + "' is not a time: give milliseconds since 1970 or YYYY-MM-DD[THH:MM[:SS]] in UTC");
}

std::string_view StateName(std::uint32_t state) {
  // HBase's numbers (reference: wire model of procedures), shown by name here because the tool must not depend on the
  // framework.
  static constexpr std::array<std::string_view, 8> kNames = {
      "?", "INITIALIZING", "RUNNABLE", "WAITING", "WAITING_TIMEOUT", "ROLLEDBACK", "SUCCESS", "FAILED"};
  return state < kNames.size() ? kNames[state] : kNames[0];
}

namespace {

bool Parse(std::string_view bytes, pb::ProcedureRecord* record) {
  return record->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && record->has_type();
}

}  // namespace

std::string ProcedureJson(std::string_view bytes) {
  pb::ProcedureRecord record;
  std::string text;
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  if (Parse(bytes, &record) && google::protobuf::util::MessageToJsonString(record, &text, options).ok()) return text;
  JsonWriter json;
  json.BeginObject().Add("undecoded_bytes", bytes.size()).EndObject();
  return json.text();
}

std::string DescribeProcedure(std::string_view bytes) {
  pb::ProcedureRecord record;
  if (!Parse(bytes, &record)) return fmt::format("({} bytes, not a procedure)", bytes.size());
  std::string text = fmt::format("state={}; {} step={}", StateName(record.state()), record.type(), record.step());
  if (record.has_parent()) text = fmt::format("ppid={}, {}", record.parent(), text);
  if (!record.owner().empty()) text += ", owner=" + record.owner();
  if (!record.peer().empty()) text += ", peer=" + record.peer();
  if (!record.method().empty()) text += ", method=" + record.method();
  for (const auto& lock : record.locks()) {
    text += fmt::format(", {} lock {}:{}", lock.exclusive() ? "exclusive" : "shared", lock.kind(), lock.name());
  }
  if (record.has_error()) text += ", error=" + record.error().message();
  if (record.has_parked()) text += ", parked: " + record.parked();
  return text;
}

}  // namespace ratchet::procedure::tool
