#include "common/zk/server_list.h"

#include <charconv>
#include <cstdint>
#include <string>

namespace ratchet::zk {

bool LooksLikeServerList(std::string_view servers) {
  for (std::string_view rest = servers.substr(0, servers.find('/'));;) {
    const auto comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    const auto colon = one.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    std::uint16_t port = 0;
    const char* const end = one.data() + one.size();
    const auto parsed = std::from_chars(one.data() + colon + 1, end, port);
    if (parsed.ec != std::errc() || parsed.ptr != end || port == 0) return false;
    if (one.find_first_of(" \t") != std::string_view::npos) return false;
    if (comma == std::string_view::npos) return true;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace ratchet::zk
