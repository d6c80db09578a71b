#include "procedure/ops/why/subject.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/base/host_port.h"

namespace ratchet::host {
namespace {

using Kind = WhySubject::Kind;

struct KindWord {
  std::string_view word;
  Kind kind;
};
constexpr std::array<KindWord, 4> kWords{
    {{"pid ", Kind::kProcedure}, {"table ", Kind::kTable}, {"region ", Kind::kRegion}, {"server ", Kind::kServer}}};

bool IsNumber(const std::string& text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
}

// Accepts "host,port,startcode" and "host:port".
std::vector<std::string> ServersNamed(const WhyFacts& facts, const std::string& text) {
  const auto split = SplitHostPort(text);
  const std::string address = split.has_value() ? fmt::format("{},{}", split->host, split->port) : text;
  std::vector<std::string> found;
  for (const auto& [name, server] : facts.servers) {
    if (name == text || name.starts_with(address + ",")) found.push_back(name);
  }
  return found;
}

std::vector<std::string> RegionsNamed(const WhyFacts& facts, const std::string& text) {
  const auto slash = text.rfind('/');
  std::string begin = slash == std::string::npos ? text : text.substr(slash + 1);
  if (begin.ends_with('.') && begin.size() > 33) begin = begin.substr(begin.size() - 33, 32);
  std::vector<std::string> found;
  for (auto at = facts.regions.lower_bound(begin); at != facts.regions.end() && at->first.starts_with(begin); ++at)
    found.push_back(at->first);
  return found;
}

Result<WhySubject> TheOne(Kind kind, const std::vector<std::string>& found, const std::string& text) {
  if (found.size() == 1) return WhySubject{kind, found.front()};
  return Error(
      Code::kInvalidArgument,
      fmt::format("'{}' may be any of {}: {}{}", text, found.size(),
                  fmt::join(found.begin(), found.begin() + std::min<std::ptrdiff_t>(5, std::ssize(found)), " "),
                  found.size() > 5 ? " ..." : ""));
}

}  // namespace

std::string WhySubject::ToString() const {
  switch (kind) {
    case Kind::kCluster: return "cluster";
    case Kind::kProcedure: return "pid " + name;
    case Kind::kTable: return "table " + name;
    case Kind::kRegion: return "region " + name;
    case Kind::kServer: return "server " + name;
  }
  return name;
}

Result<WhySubject> FindSubject(const WhyFacts& facts, const std::string& text) {
  if (text.empty() || text == "cluster") return WhySubject{};
  std::string name = text;
  Kind wanted = Kind::kCluster;
  for (const KindWord& each : kWords) {
    if (!text.starts_with(each.word)) continue;
    wanted = each.kind;
    name = text.substr(each.word.size());
  }
  const auto may_be = [wanted](Kind kind) { return wanted == Kind::kCluster || wanted == kind; };
  if (may_be(Kind::kProcedure) && IsNumber(name)) return WhySubject{Kind::kProcedure, name};
  if (may_be(Kind::kTable)) {
    const std::string plain = name.starts_with("default:") ? name.substr(8) : name;
    if (facts.tables.contains(plain)) return WhySubject{Kind::kTable, plain};
  }
  if (may_be(Kind::kServer)) {
    if (const auto found = ServersNamed(facts, name); !found.empty()) return TheOne(Kind::kServer, found, name);
  }
  if (may_be(Kind::kRegion) && !name.empty()) {
    if (const auto found = RegionsNamed(facts, name); !found.empty()) return TheOne(Kind::kRegion, found, name);
  }
  if (!facts.has_servers)
    return Error(Code::kNotFound, fmt::format("'{}' is not a pid; 'ratchet procedures' lists them", text));
  return Error(
      Code::kNotFound,
      fmt::format("'{}' is not a pid, table, region or server of this cluster (ratchet procedures, tables, regions, "
                  "servers list them)",
                  text));
}

}  // namespace ratchet::host
