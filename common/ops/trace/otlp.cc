#include "common/ops/trace/otlp.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/json_quote.h"

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

std::string Nanos(std::uint64_t ms, std::uint64_t us = 0) { return fmt::format("\"{}\"", ms * 1'000'000 + us * 1'000); }

class Attributes {
 public:
  Attributes& Text(std::string_view key, std::string_view value) {
    if (!value.empty()) Add(key, fmt::format("{{\"stringValue\":{}}}", JsonQuote(value)));
    return *this;
  }
  Attributes& Whole(std::string_view key, std::uint64_t value) {
    Add(key, fmt::format("{{\"intValue\":\"{}\"}}", value));
    return *this;
  }
  Attributes& Flag(std::string_view key, bool value) {
    Add(key, fmt::format("{{\"boolValue\":{}}}", value));
    return *this;
  }
  [[nodiscard]] const std::string& json() const { return json_; }

 private:
  void Add(std::string_view key, const std::string& value) {
    json_ += fmt::format("{}{{\"key\":{},\"value\":{}}}", json_.empty() ? "" : ",", JsonQuote(key), value);
  }
  std::string json_;
};

struct Span {
  std::string id;
  std::string parent;  // empty: none
  std::string name;
  std::string begin;
  std::string end;
  std::string attributes;
  std::string status;
};

std::string ToJson(const std::string& trace, const Span& span) {
  return fmt::format(
      "{{\"traceId\":\"{}\",\"spanId\":\"{}\",{}\"name\":{},\"kind\":{},\"startTimeUnixNano\":{},\"endTimeUnixNano\":{}"
      ","
      "\"attributes\":[{}],\"status\":{{{}}}}}",
      trace, span.id, span.parent.empty() ? "" : fmt::format("\"parentSpanId\":\"{}\",", span.parent),
      JsonQuote(span.name), kInternal, span.begin, span.end, span.attributes, span.status);
}

std::string StatusOf(bool finished, bool failed, const std::string& message) {
  if (failed) return fmt::format("\"code\":{},\"message\":{}", kStatusError, JsonQuote(message));
  return finished ? fmt::format("\"code\":{}", kStatusOk) : "";
}

void AddSpans(const Source& source, const pb::EndedProcedure& ended, std::vector<std::string>& spans) {
  const pb::ProcedureInfo& info = ended.procedure();
  const std::uint64_t root = ended.has_root() ? ended.root() : info.pid();
  const std::string trace = TraceId(source.cluster_id, root);
  const std::string own = SpanId(source.cluster_id, info.pid(), 0);
  const std::string server(ServerOf(info));
  const bool failed = info.finished() && info.state() != "SUCCESS";
  Attributes attributes;
  attributes.Whole("ratchet.pid", info.pid())
      .Whole("ratchet.root_pid", root)
      .Text("ratchet.type", info.type())
      .Text("ratchet.text", info.text())
      .Text("ratchet.state", info.state())
      .Text("ratchet.owner", info.owner())
      .Text("ratchet.server", server)
      .Flag("ratchet.finished", info.finished());
  std::uint64_t end_ms = std::max(info.submitted_wall_ms(), info.updated_wall_ms());
  std::uint64_t number = 0;
  std::vector<std::string> steps;
  for (const auto& step : info.history()) {
    Attributes of_step;
    std::string master;
    if (const auto known = source.masters.find(step.epoch()); known != source.masters.end()) master = known->second;
    if (master.empty() && step.epoch() == ended.epoch()) master = ended.master();
    of_step.Whole("ratchet.pid", info.pid())
        .Text("ratchet.step", step.step())
        .Whole("ratchet.epoch", step.epoch())
        .Whole("ratchet.worker", step.worker())
        .Text("ratchet.master", master)
        .Text("ratchet.server", server)
        .Text("ratchet.outcome", step.outcome())
        .Text("ratchet.detail", step.detail());
    end_ms = std::max(end_ms, step.at_wall_ms());
    const bool step_failed = step.outcome() == "fail";
    steps.push_back(ToJson(trace, {SpanId(source.cluster_id, info.pid(), ++number), own, step.step(),
                                   Nanos(step.began_wall_ms()), Nanos(step.began_wall_ms(), step.took_us()),
                                   of_step.json(), StatusOf(true, step_failed, step.detail())}));
  }
  spans.push_back(
      ToJson(trace, {own, info.has_parent() ? SpanId(source.cluster_id, info.parent(), 0) : "", info.type(),
                     Nanos(info.submitted_wall_ms()), Nanos(end_ms), attributes.json(),
                     StatusOf(info.finished(), failed, info.error().empty() ? info.state() : info.error())}));
  for (std::string& step : steps) spans.push_back(std::move(step));
}

}  // namespace

std::string_view ServerOf(const pb::ProcedureInfo& info) {
  for (const pb::ProcedureField& field : info.field()) {
    if (field.key() == "server") return field.value();
  }
  return {};
}

std::string TraceId(std::string_view cluster_id, std::uint64_t root) {
  const std::string text = fmt::format("{}/{}", cluster_id, root);
  return fmt::format("{:016x}{:016x}", Hash(1, text), Hash(2, text));
}

std::string SpanId(std::string_view cluster_id, std::uint64_t pid, std::uint64_t step) {
  return fmt::format("{:016x}", Hash(3, fmt::format("{}/{}/{}", cluster_id, pid, step)));
}

std::string ToOtlp(const Source& source, const std::vector<pb::EndedProcedure>& procedures) {
  std::vector<std::string> spans;
  for (const pb::EndedProcedure& ended : procedures) AddSpans(source, ended, spans);
  Attributes resource;
  resource.Text("service.name", "ratchet").Text("ratchet.cluster_id", source.cluster_id);
  return fmt::format(
      "{{\"resourceSpans\":[{{\"resource\":{{\"attributes\":[{}]}},\"scopeSpans\":[{{\"scope\":{{\"name\":"
      "\"ratchet.procedures\"}},\"spans\":[{}]}}]}}]}}",
      resource.json(), fmt::join(spans, ","));
}

}  // namespace ratchet::trace
