#include "procedure/api/lock_request.h"

#include <algorithm>

namespace ratchet::procedure {

std::string_view ResourceKindName(ResourceKind kind) {
  switch (kind) {
    case ResourceKind::kCluster: return "cluster";
    case ResourceKind::kPeer: return "peer";
    case ResourceKind::kServer: return "server";
    case ResourceKind::kMeta: return "meta";
    case ResourceKind::kNamespace: return "namespace";
    case ResourceKind::kTable: return "table";
    case ResourceKind::kRegion: return "region";
  }
  return "unknown";
}

std::optional<ResourceKey> ResourceKey::Parent() const {
  if (kind == ResourceKind::kRegion) return Table(name.substr(0, name.rfind('/')));
  if (kind == ResourceKind::kTable) {
    const auto colon = name.find(':');
    return Namespace(colon == std::string::npos ? "default" : name.substr(0, colon));
  }
  return std::nullopt;
}

std::string ResourceKey::ToString() const {
  std::string text(ResourceKindName(kind));
  if (!name.empty()) text.append(" ").append(name);
  return text;
}

std::vector<LockRequest> LockSet::Expanded() const {
  std::vector<LockRequest> all = requests_;
  std::optional<ResourceKey> last;  // many regions have one table: most parents are that of the request before
  for (std::size_t i = 0; i < all.size(); ++i) {  // `all` grows while the loop runs: parents of parents
    auto parent = all[i].key.Parent();
    if (!parent || parent == last) continue;
    last = *parent;
    all.push_back(Shared(*std::move(parent)));
  }
  // Sorts the stronger mode of a key first, so that unique() keeps it.
  std::sort(all.begin(), all.end(), [](const LockRequest& a, const LockRequest& b) {
    if (a.key != b.key) return a.key < b.key;
    return a.mode > b.mode;
  });
  const auto same_key = [](const LockRequest& a, const LockRequest& b) { return a.key == b.key; };
  all.erase(std::unique(all.begin(), all.end(), same_key), all.end());
  return all;
}

}  // namespace ratchet::procedure
