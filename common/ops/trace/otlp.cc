#include "common/ops/trace/otlp.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/json_writer.h"

namespace ratchet::trace {
namespace {

constexpr int kInternal = 1;     // SpanKind
constexpr int kStatusOk = 1;     // StatusCode
constexpr int kStatusError = 2;  // StatusCode

// FNV-1a, with the bits mixed at the end so that numbers that differ by one do not look alike.
std::uint64_t Hash(std::uint64_t seed, std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL ^ seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  hash ^= hash >> 31;
  return hash == 0 ? 1 : hash;
}

std::string Nanos(std::uint64_t ms, std::uint64_t us = 0) { return std::to_string(ms * 1'000'000 + us * 1'000); }

class Attributes {
 public:
  explicit Attributes(JsonWriter& out) : out_(out) { out_.Key("attributes").BeginArray(); }
  ~Attributes() { out_.EndArray(); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  Attributes& Text(std::string_view key, std::string_view value) {
    return value.empty() ? *this : Add(key, "stringValue", value);
  }
  Attributes& Whole(std::string_view key, std::uint64_t value) { return Add(key, "intValue", std::to_string(value)); }
  Attributes& Flag(std::string_view key, bool value) { return Add(key, "boolValue", value); }

 private:
  template <class Value>
  Attributes& Add(std::string_view key, std::string_view kind, const Value& value) {
    out_.BeginObject().Add("key", key).Key("value").BeginObject().Add(kind, value).EndObject().EndObject();
    return *this;
  }
  JsonWriter& out_;
};

struct Span {
  std::string id;
  std::string parent;  // empty: none
  std::string name;
  std::string begin;
  std::string end;
  int status = 0;  // 0: it has not ended
  std::string message;
};

// Writes the span without its attributes, which follow.
void Begin(JsonWriter& out, const std::string& trace, const Span& span) {
  out.BeginObject().Add("traceId", trace).Add("spanId", span.id);
  if (!span.parent.empty()) out.Add("parentSpanId", span.parent);
  out.Add("name", span.name).Add("kind", kInternal).Add("startTimeUnixNano", span.begin);
  out.Add("endTimeUnixNano", span.end).Key("status").BeginObject();
  if (span.status != 0) out.Add("code", span.status);
  if (span.status == kStatusError) out.Add("message", span.message);
  out.EndObject();
}

void AddSpans(const Source& source, const pb::EndedProcedure& ended, JsonWriter& out) {
  const pb::ProcedureInfo& info = ended.procedure();
  const std::uint64_t root = ended.has_root() ? ended.root() : info.pid();
  const std::string trace = TraceId(source.cluster_id, root);
  const std::string own = SpanId(source.cluster_id, info.pid(), 0);
  const std::string server(ServerOf(info));
  const bool failed = info.finished() && info.state() != "SUCCESS";
  std::uint64_t end_ms = std::max(info.submitted_wall_ms(), info.updated_wall_ms());
  for (const auto& step : info.history()) end_ms = std::max(end_ms, step.at_wall_ms());
  Begin(out, trace,
        {own, info.has_parent() ? SpanId(source.cluster_id, info.parent(), 0) : "", info.type(),
         Nanos(info.submitted_wall_ms()), Nanos(end_ms),
         failed            ? kStatusError
         : info.finished() ? kStatusOk
                           : 0,
         info.error().empty() ? info.state() : info.error()});
  Attributes(out)
      .Whole("ratchet.pid", info.pid())
      .Whole("ratchet.root_pid", root)
      .Text("ratchet.type", info.type())
      .Text("ratchet.text", info.text())
      .Text("ratchet.state", info.state())
      .Text("ratchet.owner", info.owner())
      .Text("ratchet.server", server)
      .Flag("ratchet.finished", info.finished());
  out.EndObject();
  std::uint64_t number = 0;
  for (const auto& step : info.history()) {
    Begin(out, trace,
          {SpanId(source.cluster_id, info.pid(), ++number), own, step.step(), Nanos(step.began_wall_ms()),
           Nanos(step.began_wall_ms(), step.took_us()), step.outcome() == "fail" ? kStatusError : kStatusOk,
           step.detail()});
    Attributes(out)
        .Whole("ratchet.pid", info.pid())
        .Text("ratchet.step", step.step())
        .Whole("ratchet.epoch", step.epoch())
        .Whole("ratchet.worker", step.worker())
        .Text("ratchet.master", MasterOf(source, ended, step.epoch()))
        .Text("ratchet.server", server)
        .Text("ratchet.outcome", step.outcome())
        .Text("ratchet.detail", step.detail());
    out.EndObject();
  }
}

}  // namespace

std::string_view ServerOf(const pb::ProcedureInfo& info) {
  for (const pb::ProcedureField& field : info.field()) {
    if (field.key() == "server") return field.value();
  }
  return {};
}

std::string MasterOf(const Source& source, const pb::EndedProcedure& ended, std::uint64_t epoch) {
  const auto known = source.masters.find(epoch);
  if (known != source.masters.end() && !known->second.empty()) return known->second;
  return epoch == ended.epoch() ? ended.master() : std::string();
}

std::string TraceId(std::string_view cluster_id, std::uint64_t root) {
  const std::string text = fmt::format("{}/{}", cluster_id, root);
  return fmt::format("{:016x}{:016x}", Hash(1, text), Hash(2, text));
}

std::string SpanId(std::string_view cluster_id, std::uint64_t pid, std::uint64_t step) {
  return fmt::format("{:016x}", Hash(3, fmt::format("{}/{}/{}", cluster_id, pid, step)));
}

std::string ToOtlp(const Source& source, const std::vector<pb::EndedProcedure>& procedures) {
  JsonWriter out;
  out.BeginObject().Key("resourceSpans").BeginArray().BeginObject().Key("resource").BeginObject();
  Attributes(out).Text("service.name", "ratchet").Text("ratchet.cluster_id", source.cluster_id);
  out.EndObject().Key("scopeSpans").BeginArray().BeginObject();
  out.Key("scope").BeginObject().Add("name", "ratchet.procedures").EndObject().Key("spans").BeginArray();
  for (const pb::EndedProcedure& ended : procedures) AddSpans(source, ended, out);
  out.EndArray().EndObject().EndArray().EndObject().EndArray().EndObject();
  return out.text();
}

}  // namespace ratchet::trace
