#include "common/audit/audit_line.h"

#include <openssl/sha.h>

#include <array>
#include <charconv>
#include <limits>

#include <fmt/ranges.h>

#include "common/base/json_writer.h"
#include "common/base/printable.h"

namespace ratchet::audit {
namespace {

constexpr std::string_view kNumberKey = R"({"n":)";
constexpr std::string_view kHashKey = R"(,"prev":")";
constexpr std::string_view kHashEnd = R"(",)";

}  // namespace

std::string SafeText(std::string_view text) {
  std::string safe = PrintableText(text.substr(0, kMostTextBytes), "\\");
  if (text.size() > kMostTextBytes) safe += fmt::format("... ({} bytes)", text.size());
  return safe;
}

std::string LineBody(const AuditLine& line, std::string_view host, std::string_view process) {
  JsonWriter json;
  json.BeginObject().Add("t_ms", line.t_ms).Add("host", SafeText(host)).Add("process", SafeText(process));
  const auto add = [&json](std::string_view key, std::string_view text) {
    if (!text.empty()) json.Add(key, SafeText(text));
  };
  add("event", line.event);
  add("user", line.user);
  add("real_user", line.real_user);
  add("claimed", line.claimed);
  add("by", line.by);
  add("peer", line.peer);
  if (!line.tls.empty()) {
    json.Key("tls").BeginObject().Add("session", SafeText(line.tls));
    add("serial", line.serial);
    json.EndObject();
  }
  add("service", line.service);
  add("method", line.method);
  add("target", line.target);
  add("outcome", line.outcome);
  add("why", line.why);
  if (line.pids.size() == 1) json.Add("pid", line.pids.front());
  if (line.pids.size() > 1) json.Add("pids", fmt::format("{}", fmt::join(line.pids, " ")));
  if (line.count > 0) json.Add("count", line.count);
  json.EndObject();
  return json.text();
}

std::string WholeLine(std::uint64_t number, std::string_view prev, std::string_view body) {
  return fmt::format("{}{}{}{}{}{}\n", kNumberKey, number, kHashKey, prev, kHashEnd, body.substr(1));
}

std::string ChainHash(std::string_view line) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(line.data()), line.size(), hash.data());
  std::string text;
  for (const unsigned char byte : hash) text += fmt::format("{:02x}", byte);
  return text;
}

std::string NoHash() { return std::string(kHashBytes, '0'); }

bool ReadLine(std::string_view line, std::uint64_t& number, std::string_view& prev) {
  if (!line.starts_with(kNumberKey)) return false;
  line.remove_prefix(kNumberKey.size());
  const auto read = std::from_chars(line.data(), line.data() + line.size(), number);
  if (read.ec != std::errc() || number == 0 || number == std::numeric_limits<std::uint64_t>::max()) return false;
  line.remove_prefix(static_cast<std::size_t>(read.ptr - line.data()));
  if (!line.starts_with(kHashKey)) return false;
  line.remove_prefix(kHashKey.size());
  prev = line.substr(0, kHashBytes);
  return line.size() > kHashBytes && line.substr(kHashBytes).starts_with(kHashEnd) && line.ends_with("}\n");
}

}  // namespace ratchet::audit
