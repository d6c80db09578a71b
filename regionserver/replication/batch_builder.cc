#include "regionserver/replication/batch_builder.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/mutant.h"
#include "common/model/cell_tags.h"
#include "common/model/replication_peer.h"

namespace ratchet::regionserver {
namespace {

client::Mutation NewMutation(client::MutationKind kind, const std::string& row, const std::string& passed,
                             std::optional<std::int64_t> ttl_ms) {
  client::Mutation mutation = client::Mutation::Put(row);
  mutation.kind = kind;
  mutation.attributes.emplace_back(std::string(kClusterIdsAttribute), passed);
  if (ttl_ms) mutation.attributes.emplace_back(std::string(kTtlAttribute), EncodeInt64(*ttl_ms));
  return mutation;
}

std::string Lines(const std::vector<std::string>& ids, const std::string& own_id) {
  std::string lines;
  for (const std::string& id : ids) {
    if (id != own_id) lines += id + '\n';
  }
  return lines + own_id;
}

auto KeyOf(const Cell& cell) { return std::tuple(cell.row, cell.family, cell.qualifier, cell.timestamp); }

}  // namespace

void BatchBuilder::DropEarlier(Group& group, const Cell& cell) {
  const auto earlier = group.puts.find(KeyOf(cell));
  if (earlier == group.puts.end()) return;
  std::vector<Cell>& cells = group.shipment.mutations[earlier->second.mutation].cells;
  const std::size_t hole = earlier->second.cell;
  group.puts.erase(earlier);
  if (hole + 1 < cells.size()) {
    cells[hole] = std::move(cells.back());
    group.puts.at(KeyOf(cells[hole])).cell = hole;
  }
  cells.pop_back();
}

void BatchBuilder::AddCell(Group& group, const LoggedCell& logged) const {
  const Cell& cell = logged.cell;
  auto& mutations = group.shipment.mutations;
  const bool put = cell.type == CellType::kPut;
  const auto kind = put ? client::MutationKind::kPut : client::MutationKind::kDelete;
  if (put) {
    const auto earlier = group.puts.find(KeyOf(cell));
    if (earlier != group.puts.end() && earlier->second.ttl_ms == logged.ttl_ms) {
      mutations[earlier->second.mutation].cells[earlier->second.cell] = cell;
      return;
    }
    DropEarlier(group, cell);  // all cells of a mutation have one time to live
  }
  const bool goes_on = !mutations.empty() && mutations.back().row == cell.row && mutations.back().kind == kind &&
                       group.last_ttl == logged.ttl_ms;
  if (!goes_on) {
    mutations.push_back(NewMutation(kind, cell.row, Lines(group.shipment.cluster_ids, own_id_), logged.ttl_ms));
    group.last_ttl = logged.ttl_ms;
  }
  mutations.back().cells.push_back(cell);
  if (put) group.puts[KeyOf(cell)] = {mutations.size() - 1, mutations.back().cells.size() - 1, logged.ttl_ms};
}

bool IsSelected(const hbase::pb::ReplicationPeer& config, const ShippedPart& shipped) {
  const auto table = TableName::Parse(shipped.table);
  return table.ok() && std::any_of(shipped.families.begin(), shipped.families.end(),
                                   [&](const std::string& family) { return GoesToPeer(config, *table, family); });
}

bool BatchBuilder::MayFollow(const LogEntry& entry) const {
  const auto table = TableName::Parse(entry.shipped.table);
  return !table.ok() || std::all_of(groups_.begin(), groups_.end(), [&](const auto& group) {
    return group.first.first != *table || group.first.second == entry.shipped.cluster_ids;
  });
}

void BatchBuilder::Add(const LogEntry& entry) {
  if (entry.shipped.table.empty()) return;
  const auto table = TableName::Parse(entry.shipped.table);
  if (!table.ok()) return;  // this program wrote it from a validated name
  const std::set<std::string_view> shipped(entry.shipped.families.begin(), entry.shipped.families.end());
  Group* group = nullptr;
  for (const LoggedCell& logged : entry.cells) {
    if (!shipped.contains(logged.cell.family) || !GoesToPeer(config_, *table, logged.cell.family)) continue;
    if (group == nullptr) {
      group = &groups_[{*table, entry.shipped.cluster_ids}];
      group->shipment.table = *table;
      group->shipment.cluster_ids = entry.shipped.cluster_ids;
    }
    AddCell(*group, logged);
    ++cells_;
    bytes_ += LoggedSize(logged.cell);
  }
  if (group != nullptr && (oldest_ms_ == 0 || entry.shipped.written_ms < oldest_ms_))
    oldest_ms_ = entry.shipped.written_ms;
}

std::vector<Shipment> BatchBuilder::Take(const std::string& peer_id) {
  std::vector<Shipment> taken;
  cells_ = 0;  // reset the counts of the batch that was taken
  for (auto& [key, group] : groups_) {
    const auto& passed = group.shipment.cluster_ids;
    const auto has_passed = [&passed](const std::string& id) {
      return std::find(passed.begin(), passed.end(), id) != passed.end();
    };
    if (has_passed(peer_id) && !RATCHET_MUTANT("replication.ship_back")) continue;
    if (has_passed(own_id_) && !RATCHET_MUTANT("replication.ship_returned")) {
      // The mutation began at this cluster or has passed it, and was shipped then. A replication cycle that is longer
      // than the list of ids ends here too.
      returned_ += group.shipment.mutations.size();
      continue;
    }
    auto& mutations = group.shipment.mutations;
    mutations.erase(std::remove_if(mutations.begin(), mutations.end(),
                                   [](const client::Mutation& mutation) { return mutation.cells.empty(); }),
                    mutations.end());
    for (const client::Mutation& mutation : mutations) cells_ += mutation.cells.size();
    taken.push_back(std::move(group.shipment));
  }
  groups_.clear();
  return taken;
}

}  // namespace ratchet::regionserver
