#include "master/rpc/region_list.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/model/codec.h"
#include "master/cluster/errors.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

// Position of a region in the list.
struct Place {
  TableName table;
  std::string start_key;
  std::string encoded;
  bool operator<(const Place& other) const {
    return std::tie(table, start_key, encoded) < std::tie(other.table, other.start_key, other.encoded);
  }
};
bool StandsBefore(const RegionNode& node, const Place& place) {
  return std::tie(node.info.table, node.info.start_key, node.encoded) <
         std::tie(place.table, place.start_key, place.encoded);
}

// Selects a page by table and start key. Keeps only the positions of the regions up to the end of the page, and copies
// only the regions on the page.
template <class Wanted>
ListedRegions PageOf(const RegionDirectory& regions, const Wanted& wanted, std::uint64_t offset, std::uint64_t limit) {
  constexpr std::uint64_t kFarthest = 1ULL << 40;  // longer than any list
  const std::uint64_t end = std::min(offset, kFarthest) + limit;
  std::vector<Place> first;  // a heap with the last position on top
  std::uint64_t total = 0;
  regions.Visit([&](const RegionNode& node) {
    if (!wanted(node)) return;
    ++total;
    if (first.size() >= end) {
      if (first.empty() || !StandsBefore(node, first.front())) return;
      std::pop_heap(first.begin(), first.end());
      first.pop_back();
    }
    first.push_back({node.info.table, node.info.start_key, node.encoded});
    std::push_heap(first.begin(), first.end());
  });
  std::sort_heap(first.begin(), first.end());
  ListedRegions list;
  list.total = total;
  for (std::size_t i = std::min<std::size_t>(offset, first.size()); i < first.size(); ++i) {
    if (auto node = regions.Get(first[i].encoded)) list.nodes.push_back(*std::move(node));
  }
  return list;
}

}  // namespace

Result<ListedRegions> ChooseRegions(const ActiveParts& parts, const ::ratchet::pb::ListRegionsRequest& request) {
  std::optional<ServerName> server;
  if (request.has_server()) {
    RATCHET_ASSIGN(server, FromProto(request.server()));
  }
  const auto wanted = [&](const RegionNode& node) {
    return (!server.has_value() || node.location == server) && (!request.in_transition_only() || node.owner.valid());
  };
  std::optional<TableName> table;
  if (request.has_table()) {
    RATCHET_ASSIGN(table, FromProto(request.table()));
    if (!parts.logic->tables.Exists(*table)) return TableNotFound(*table);
  }
  if (request.has_limit()) {
    const auto listed = [&](const RegionNode& node) {
      return (!table.has_value() || node.info.table == *table) && wanted(node);
    };
    return PageOf(parts.logic->regions, listed, request.offset(), request.limit());
  }
  ListedRegions list;
  if (table.has_value()) {
    list.nodes = parts.logic->regions.OfTable(*table);
    std::erase_if(list.nodes, [&wanted](const RegionNode& node) { return !wanted(node); });
  } else {
    list.nodes = parts.logic->regions.Select(wanted);
    std::sort(list.nodes.begin(), list.nodes.end(), [](const RegionNode& a, const RegionNode& b) {
      return std::tie(a.info.table, a.info.start_key) < std::tie(b.info.table, b.info.start_key);
    });
  }
  return list;
}

}  // namespace ratchet::master
