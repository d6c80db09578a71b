#include "chaos/verdict/owners.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "common/model/region_info.h"

namespace ratchet::chaos {
namespace {

constexpr std::size_t kShownRegions = 5;

// Returns the error of one region, or an empty string.
std::string Wrong(const std::string& name, const OwnerViews::Known& known, const OwnerViews& views) {
  const auto found = views.open.find(name);
  const std::vector<std::string> open = found == views.open.end() ? std::vector<std::string>() : found->second;
  const auto meta = views.meta.find(name);
  if (name != kMetaEncodedName && meta == views.meta.end()) return fmt::format("region {} is not in meta", name);
  if (known.state != "OPEN" && known.state != "CLOSED") return fmt::format("region {} is {}", name, known.state);
  if (known.state == "CLOSED") {
    return open.empty() ? "" : fmt::format("region {} is closed, but open on {}", name, fmt::join(open, " and "));
  }
  if (open.size() != 1) {
    return fmt::format("region {} is open on {} servers{}{}", name, open.size(), open.empty() ? "" : ": ",
                       fmt::join(open, " and "));
  }
  if (open.front() != known.server)
    return fmt::format("region {} is open on {}, the master names {}", name, open.front(), known.server);
  if (meta != views.meta.end() && meta->second != known.server)
    return fmt::format("region {} is open on {}, meta names {}", name, known.server, meta->second);
  return {};
}

}  // namespace

Finding CompareOwners(const OwnerViews& views) {
  std::vector<std::string> wrong;
  std::size_t open = 0;
  for (const auto& [name, known] : views.master) {
    if (auto text = Wrong(name, known, views); !text.empty()) wrong.push_back(std::move(text));
    if (known.state == "OPEN") ++open;
  }
  for (const auto& [name, servers] : views.open) {
    if (views.master.contains(name)) continue;
    wrong.push_back(
        fmt::format("region {}, open on {}, is not known to the master", name, fmt::join(servers, " and ")));
  }
  for (const auto& [name, server] : views.meta) {
    if (!views.master.contains(name))
      wrong.push_back(fmt::format("region {} of meta is not known to the master", name));
  }
  if (wrong.empty() && open > 0) {
    return {true, fmt::format("{} regions, {} of them open, each on exactly the one server that master and meta name",
                              views.master.size(), open)};
  }
  std::string text = fmt::format("{} of {} regions are not owned as they should", wrong.size(), views.master.size());
  for (std::size_t i = 0; i < wrong.size() && i < kShownRegions; ++i) text += "\n  " + wrong[i];
  return {false, text};
}

}  // namespace ratchet::chaos
