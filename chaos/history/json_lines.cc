#include "chaos/history/json_lines.h"

#include <fstream>

#include <fmt/core.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace ratchet::chaos {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

// Byte n becomes code point n, so that any bytes survive.
std::string ToUtf8(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0U | (byte >> 6U));
      text += static_cast<char>(0x80U | (byte & 0x3fU));
    }
  }
  return text;
}

std::optional<std::string> FromUtf8(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes += text[i];
    } else if ((lead == 0xc2 || lead == 0xc3) && i + 1 < text.size()) {
      bytes += static_cast<char>(((lead & 0x03U) << 6U) | (static_cast<unsigned char>(text[++i]) & 0x3fU));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

void Put(Writer& out, const char* name, const std::string& text) {
  out.Key(name);
  const std::string utf8 = ToUtf8(text);
  out.String(utf8.data(), static_cast<rapidjson::SizeType>(utf8.size()));
}

void Put(Writer& out, const char* name, const Value& value) {
  if (value) return Put(out, name, *value);
  out.Key(name);
  out.Null();
}

bool IsConditional(OperationKind kind) {
  return kind == OperationKind::kCheckAndPut || kind == OperationKind::kCheckAndDelete;
}
bool HasArgument(OperationKind kind) {
  return kind != OperationKind::kGet && kind != OperationKind::kDelete && kind != OperationKind::kCheckAndDelete;
}
bool HasObserved(OperationKind kind) {
  return kind == OperationKind::kGet || kind == OperationKind::kAppend || kind == OperationKind::kIncrement;
}

// Reads the fields of one line; remembers the first one that is missing or of the wrong type.
class Fields {
 public:
  explicit Fields(const rapidjson::Document& line) : line_(line) {}

  std::string Text(const char* name) {
    const auto* field = Find(name);
    if (field == nullptr || !field->IsString()) return Wrong(name, "a string"), std::string();
    auto bytes = FromUtf8({field->GetString(), field->GetStringLength()});
    if (!bytes) return Wrong(name, "a string of code points up to U+00FF"), std::string();
    return *bytes;
  }
  Value TextOrNull(const char* name) {
    const auto* field = Find(name);
    if (field != nullptr && field->IsNull()) return std::nullopt;
    return Text(name);
  }
  std::int64_t Number(const char* name) {
    const auto* field = Find(name);
    if (field != nullptr && field->IsInt64()) return field->GetInt64();
    Wrong(name, "an integer");
    return 0;
  }
  bool Bool(const char* name) {
    const auto* field = Find(name);
    if (field != nullptr && field->IsBool()) return field->GetBool();
    Wrong(name, "true or false");
    return false;
  }
  [[nodiscard]] bool Has(const char* name) const { return Find(name) != nullptr; }
  void Wrong(const char* name, const char* wanted) {
    if (error_.empty()) error_ = fmt::format("field \"{}\" must be {}", name, wanted);
  }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  [[nodiscard]] const rapidjson::Value* Find(const char* name) const {
    const auto found = line_.FindMember(name);
    return found == line_.MemberEnd() ? nullptr : &found->value;
  }
  const rapidjson::Document& line_;
  std::string error_;
};

}  // namespace

std::string ToJsonLine(const Operation& op) {
  rapidjson::StringBuffer buffer;
  Writer out(buffer);
  out.StartObject();
  out.Key("client");
  out.Uint(op.client);
  Put(out, "key", op.key);
  Put(out, "op", std::string(KindName(op.kind)));
  if (HasArgument(op.kind)) Put(out, "value", op.argument);
  if (IsConditional(op.kind)) Put(out, "expected", op.expected);
  out.Key("invoke");
  out.Int64(op.invoked_ns);
  out.Key("return");
  out.Int64(op.returned_ns);
  Put(out, "outcome", std::string(OutcomeName(op.outcome)));
  if (op.outcome == OperationOutcome::kOk) {
    if (HasObserved(op.kind)) Put(out, "observed", op.observed);
    if (IsConditional(op.kind)) {
      out.Key("applied");
      out.Bool(op.applied);
    }
  }
  out.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

Result<Operation> FromJsonLine(std::string_view line) {
  rapidjson::Document document;
  document.Parse(line.data(), line.size());
  if (document.HasParseError() || !document.IsObject()) {
    return Error(Code::kCorruption, "the line is not a JSON object");
  }
  Fields fields(document);
  Operation op;
  const std::int64_t client = fields.Number("client");
  if (client < 0 || client > UINT32_MAX) fields.Wrong("client", "a number >= 0");
  op.client = static_cast<std::uint32_t>(client);
  op.key = fields.Text("key");
  const auto kind = KindFromName(fields.Text("op"));
  if (!kind) fields.Wrong("op", "one of get, put, delete, append, increment, check-and-put, check-and-delete");
  op.kind = kind.value_or(OperationKind::kGet);
  const auto outcome = OutcomeFromName(fields.Text("outcome"));
  if (!outcome) fields.Wrong("outcome", "ok, failed or unknown");
  op.outcome = outcome.value_or(OperationOutcome::kUnknown);
  if (HasArgument(op.kind)) op.argument = fields.Text("value");
  if (IsConditional(op.kind)) op.expected = fields.TextOrNull("expected");
  op.invoked_ns = fields.Number("invoke");
  op.returned_ns = fields.Number("return");
  if (op.returned_ns < op.invoked_ns) fields.Wrong("return", "at or after \"invoke\"");
  if (op.outcome == OperationOutcome::kOk) {
    if (op.kind == OperationKind::kGet || (HasObserved(op.kind) && fields.Has("observed"))) {
      op.observed = fields.TextOrNull("observed");
    }
    if (IsConditional(op.kind)) op.applied = fields.Bool("applied");
  }
  if (!fields.error().empty()) return Error(Code::kCorruption, fields.error());
  return op;
}

Status WriteHistory(const std::filesystem::path& file, const History& history) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  for (const auto& operation : history) out << ToJsonLine(operation) << '\n';
  out.close();
  if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", file.string()));
  return Ok();
}

Result<History> ReadHistory(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return Error(Code::kNotFound, fmt::format("{}: cannot be read", file.string()));
  History history;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    auto operation = FromJsonLine(line);
    if (!operation.ok()) return operation.error().Annotate(fmt::format("{} line {}", file.string(), number));
    history.push_back(std::move(*operation));
  }
  return history;
}

}  // namespace ratchet::chaos
