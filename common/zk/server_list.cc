#include "common/zk/server_list.h"

#include <algorithm>
#include <string>

#include "common/base/host_port.h"

namespace ratchet::zk {

std::optional<ServerList> ParseServerList(std::string_view servers) {
  const std::size_t slash = std::min(servers.find('/'), servers.size());
  auto members = SplitHostPorts(servers.substr(0, slash));
  if (!members.has_value()) return std::nullopt;
  return ServerList{*std::move(members), std::string(servers.substr(slash))};
}

std::string ServerList::Numeric(const std::map<std::string, std::vector<std::string>>& addresses) const {
  std::vector<std::string> texts;
  for (const HostPort& member : members) {
    const auto found = addresses.find(member.host);
    if (found == addresses.end()) continue;
    for (const std::string& address : found->second) {
      // libzookeeper treats the text after the last colon as the port, and does not accept brackets.
      std::string text = address + ':' + std::to_string(member.port);
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
    }
  }
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ",") + text;
  return list.empty() ? list : list + root;
}

}  // namespace ratchet::zk
