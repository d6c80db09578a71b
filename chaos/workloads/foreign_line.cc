#include "chaos/workloads/foreign_line.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/core.h>
#include <rapidjson/document.h>

#include "chaos/history/json_lines.h"

namespace ratchet::chaos {
namespace {

constexpr std::uint32_t kMostAttempts = 16;

// A request is ASCII without tabs: the driver makes all rows and values itself.
bool HasConditionField(OperationKind kind) {
  return kind == OperationKind::kCheckAndPut || kind == OperationKind::kCheckAndDelete;
}

bool CarriesNonce(OperationKind kind) { return kind == OperationKind::kAppend || kind == OperationKind::kIncrement; }

Result<std::uint64_t> WholeNumber(const rapidjson::Document& line, const char* name) {
  const auto found = line.FindMember(name);
  if (found != line.MemberEnd() && found->value.IsUint64()) return found->value.GetUint64();
  return Error(Code::kCorruption, fmt::format("field \"{}\" must be a whole number", name));
}

}  // namespace

std::string ToForeignRequest(std::uint64_t id, const RegisterName& name, const Operation& operation) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", id, operation.client, name.row, name.qualifier(),
                     KindName(operation.kind), operation.argument, operation.expected.value_or(""));
}

Result<ForeignAnswer> FromForeignAnswer(std::string_view line) {
  RATCHET_ASSIGN(Operation operation, FromJsonLine(line));
  rapidjson::Document document;
  document.Parse(line.data(), line.size());
  ForeignAnswer answer;
  answer.operation = std::move(operation);
  RATCHET_ASSIGN(answer.id, WholeNumber(document, "id"));
  RATCHET_ASSIGN(const std::uint64_t attempts, WholeNumber(document, "attempts"));
  if (attempts == 0 || attempts > kMostAttempts) {
    return Error(Code::kCorruption, fmt::format("field \"attempts\" must be from 1 to {}", kMostAttempts));
  }
  answer.attempts = static_cast<std::uint32_t>(attempts);
  return answer;
}

Result<std::string> FromForeignGreeting(std::string_view line) {
  rapidjson::Document document;
  document.Parse(line.data(), line.size());
  if (!document.HasParseError() && document.IsObject()) {
    const rapidjson::Document& read = document;
    const auto found = read.FindMember("ready");
    if (found != read.MemberEnd() && found->value.IsString()) {
      return std::string(found->value.GetString(), found->value.GetStringLength());
    }
  }
  return Error(Code::kCorruption, "the first line must be an object with a text \"ready\"");
}

Status CheckForeignAnswer(const Operation& asked, const Operation& answered, std::int64_t sent_ns,
                          std::int64_t received_ns) {
  const auto identity = [](const Operation& op) { return std::tie(op.client, op.key, op.kind, op.argument); };
  const bool same_condition =
      !HasConditionField(asked.kind) || asked.expected.value_or("") == answered.expected.value_or("");
  if (identity(asked) != identity(answered) || !same_condition) {
    return Error(Code::kCorruption, fmt::format("it answers another operation: asked was {}", ToText(asked, sent_ns)));
  }
  if (answered.invoked_ns < sent_ns || answered.returned_ns > received_ns) {
    return Error(Code::kCorruption,
                 fmt::format("its times {} to {} are not between the request at {} and the answer at {}: the client "
                             "does not use this machine's monotonic clock",
                             answered.invoked_ns, answered.returned_ns, sent_ns, received_ns));
  }
  return Ok();
}

History SplitAttempts(Operation& operation, std::uint32_t attempts) {
  if (operation.kind == OperationKind::kGet || operation.outcome == OperationOutcome::kFailed) return {};
  if (CarriesNonce(operation.kind)) {
    // The answer to a repeated request is the value at that time, perhaps with later changes.
    if (attempts > 1) operation.observed.reset();
    return {};
  }
  // An earlier attempt may have found the condition true, or may still do so.
  const bool conditional = HasConditionField(operation.kind);
  if (attempts > 1 && conditional && operation.outcome == OperationOutcome::kOk && !operation.applied) {
    operation.outcome = OperationOutcome::kUnknown;
  }
  Operation repeat = operation;
  repeat.outcome = OperationOutcome::kUnknown;
  repeat.applied = false;
  return History(attempts - 1, repeat);
}

Status LineCutter::Take(std::string_view bytes, std::vector<std::string>& lines) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    if (rest_.size() + end > longest_) {
      return Error(Code::kCorruption, fmt::format("line {} is longer than {} bytes", cut_ + 1, longest_));
    }
    rest_.append(bytes.substr(0, end));
    if (end == bytes.size()) return Ok();
    ++cut_;
    lines.push_back(std::exchange(rest_, {}));
    bytes.remove_prefix(end + 1);
  }
  return Ok();
}

}  // namespace ratchet::chaos
