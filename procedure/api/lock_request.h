// The locks of a procedure: resources, modes, and the total order in which locks are granted, S15 (total lock order).
//
// A procedure declares its locks (Procedure::Locks) and never takes them by hand. Locks are hierarchical: a lock on a
// region implies a shared lock on its table, a lock on a table a shared one on its namespace. A descendant of a holder
// may use what the holder has locked. Beyond that it may request only keys that come later in the order than every key
// that its ancestors hold.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::procedure {

// Listed in the total order of S15. The numbers are stored.
enum class ResourceKind : std::uint8_t {
  kCluster = 1,
  kPeer = 2,
  kServer = 3,
  kMeta = 4,
  kNamespace = 5,
  kTable = 6,
  kRegion = 7,
};
[[nodiscard]] std::string_view ResourceKindName(ResourceKind kind);

// One lockable resource. Keys are granted in the order of (kind, name).
struct ResourceKey {
  ResourceKind kind = ResourceKind::kCluster;
  std::string name;

  auto operator<=>(const ResourceKey&) const = default;

  static ResourceKey Cluster() { return {ResourceKind::kCluster, ""}; }
  static ResourceKey Peer(std::string id) { return {ResourceKind::kPeer, std::move(id)}; }
  static ResourceKey Server(std::string name) { return {ResourceKind::kServer, std::move(name)}; }
  static ResourceKey Meta() { return {ResourceKind::kMeta, ""}; }
  static ResourceKey Namespace(std::string name) { return {ResourceKind::kNamespace, std::move(name)}; }
  // `full_name`: "namespace:qualifier", or "qualifier" alone for the namespace "default".
  static ResourceKey Table(std::string full_name) { return {ResourceKind::kTable, std::move(full_name)}; }
  // `table`: as above; `encoded`: the region's encoded name.
  static ResourceKey Region(std::string_view table, std::string_view encoded) {
    std::string name(table);
    return {ResourceKind::kRegion, name.append("/").append(encoded)};
  }

  // The resource that a lock on this one also locks in shared mode: a region's table, a table's namespace. Other kinds
  // have no parent.
  [[nodiscard]] std::optional<ResourceKey> Parent() const;
  // "table t", "region t/56f9", "meta"
  [[nodiscard]] std::string ToString() const;
};

enum class LockMode : std::uint8_t { kShared = 1, kExclusive = 2 };

struct LockRequest {
  ResourceKey key;
  LockMode mode = LockMode::kShared;
  bool operator==(const LockRequest&) const = default;
};

[[nodiscard]] inline LockRequest Exclusive(ResourceKey key) { return {std::move(key), LockMode::kExclusive}; }
[[nodiscard]] inline LockRequest Shared(ResourceKey key) { return {std::move(key), LockMode::kShared}; }

// All locks that one procedure needs at once; they are granted together or not at all.
class LockSet {
 public:
  LockSet() = default;
  LockSet(std::initializer_list<LockRequest> requests) : requests_(requests) {}
  void Add(LockRequest request) { requests_.push_back(std::move(request)); }
  [[nodiscard]] bool empty() const { return requests_.empty(); }
  [[nodiscard]] const std::vector<LockRequest>& requests() const { return requests_; }
  // Adds every implied lock. Sorted in the order of granting, one entry per key (the stronger mode wins).
  [[nodiscard]] std::vector<LockRequest> Expanded() const;

 private:
  std::vector<LockRequest> requests_;
};

}  // namespace ratchet::procedure

template <>
struct std::hash<ratchet::procedure::ResourceKey> {
  std::size_t operator()(const ratchet::procedure::ResourceKey& key) const noexcept {
    return std::hash<std::string>{}(key.name) * 8 + static_cast<std::size_t>(key.kind);
  }
};
