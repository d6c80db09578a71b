#include "regionserver/process/start_code.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/io/fenced_directory.h"
#include "common/model/name_rules.h"

namespace ratchet::regionserver {

Result<std::uint64_t> ChooseStartCode(io::Directory& wals, const std::string& host, std::uint16_t port,
                                      std::int64_t now_ms) {
  RATCHET_ASSIGN(const auto names, wals.List());
  const std::string prefix = fmt::format("{},{},", host, port);
  auto start_code = static_cast<std::uint64_t>(std::max<std::int64_t>(now_ms, 1));
  if (RATCHET_MUTANT("regionserver.clock_start_code")) return start_code;
  for (std::string_view name : names) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    if (name.ends_with(io::kSplittingSuffix)) name.remove_suffix(std::string_view(io::kSplittingSuffix).size());
    std::uint64_t known = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), known);
    if (error != std::errc{} || end != name.data() + name.size()) continue;  // not a server's directory
    // not a valid start code; it must not bar the address
    if (known >= kMaxStartCode) continue;
    start_code = std::max(start_code, known + 1);
  }
  return start_code;
}

}  // namespace ratchet::regionserver
