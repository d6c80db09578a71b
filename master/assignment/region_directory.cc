#include "master/assignment/region_directory.h"

#include <algorithm>
#include <utility>

#include "common/base/mutant.h"

namespace ratchet::master {

RegionNode* RegionDirectory::FindLocked(std::string_view encoded) {
  const auto it = nodes_.find(encoded);
  return it == nodes_.end() ? nullptr : &it->second;
}

void RegionDirectory::Put(RegionNode node) {
  const std::string encoded = node.info.encoded_name();
  node.taken = std::max(node.taken, node.transition);
  if (const auto it = nodes_.find(encoded); it != nodes_.end()) {
    node.taken = std::max(node.taken, it->second.taken);
    Unindex(it->second);
  }
  by_table_[node.info.table].insert(encoded);
  if (node.location) by_server_[*node.location].insert(encoded);
  nodes_.insert_or_assign(encoded, std::move(node));
}

void RegionDirectory::Unindex(const RegionNode& node) {
  const std::string encoded = node.info.encoded_name();
  if (const auto it = by_table_.find(node.info.table); it != by_table_.end()) {
    it->second.erase(encoded);
    if (it->second.empty()) by_table_.erase(it);
  }
  if (!node.location) return;
  if (const auto it = by_server_.find(*node.location); it != by_server_.end()) {
    it->second.erase(encoded);
    if (it->second.empty()) by_server_.erase(it);
  }
}

std::optional<RegionNode> RegionDirectory::Get(std::string_view encoded) const {
  const MutexLock lock(mutex_);
  const auto it = nodes_.find(encoded);
  if (it == nodes_.end()) return std::nullopt;
  return it->second;
}

std::optional<RegionNode> RegionDirectory::Find(std::string_view name) const {
  if (auto node = Get(name)) return node;
  const auto encoded = EncodedNameOf(name);
  if (!encoded.ok()) return std::nullopt;
  return Get(*encoded);
}

std::vector<RegionNode> RegionDirectory::OfTable(const TableName& table) const {
  std::vector<RegionNode> found;
  {
    const MutexLock lock(mutex_);
    const auto it = by_table_.find(table);
    if (it == by_table_.end()) return found;
    for (const std::string& encoded : it->second) found.push_back(nodes_.find(encoded)->second);
  }
  std::sort(found.begin(), found.end(),
            [](const RegionNode& a, const RegionNode& b) { return a.info.start_key < b.info.start_key; });
  return found;
}

std::vector<RegionNode> RegionDirectory::OnServer(const ServerName& server) const {
  const MutexLock lock(mutex_);
  std::vector<RegionNode> found;
  const auto it = by_server_.find(server);
  if (it == by_server_.end()) return found;
  for (const std::string& encoded : it->second) found.push_back(nodes_.find(encoded)->second);
  return found;
}

std::vector<RegionNode> RegionDirectory::Collect(const std::function<bool(const RegionNode&)>& wanted) const {
  const MutexLock lock(mutex_);
  std::vector<RegionNode> found;
  for (const auto& [encoded, node] : nodes_) {
    if (wanted(node)) found.push_back(node);
  }
  return found;
}

std::vector<RegionNode> RegionDirectory::InTransition() const {
  return Collect([](const RegionNode& node) { return node.owner.valid() || !IsAtRest(node.state); });
}

std::vector<RegionNode> RegionDirectory::All() const {
  return Collect([](const RegionNode&) { return true; });
}

std::size_t RegionDirectory::size() const {
  const MutexLock lock(mutex_);
  return nodes_.size();
}

std::map<ServerName, std::size_t> RegionDirectory::CountByServer() const {
  const MutexLock lock(mutex_);
  std::map<ServerName, std::size_t> counts;
  for (const auto& [server, regions] : by_server_) counts[server] = regions.size();
  return counts;
}

std::optional<ServerName> RegionDirectory::MetaLocation() const {
  const auto meta = Get(kMetaEncodedName);
  if (!meta || meta->state != RegionState::kOpen) return std::nullopt;
  return meta->location;
}

bool RegionDirectory::Own(std::string_view encoded, ProcId procedure) {
  const TimePoint now = clock_.Now();
  const MutexLock lock(mutex_);
  RegionNode* node = FindLocked(encoded);
  if (node == nullptr) return false;
  if (node->owner.valid() && node->owner != procedure) return false;
  if (node->owner != procedure) node->last_update = now;
  node->owner = procedure;
  return true;
}

void RegionDirectory::Disown(std::string_view encoded, ProcId procedure) {
  const TimePoint now = clock_.Now();
  const MutexLock lock(mutex_);
  RegionNode* node = FindLocked(encoded);
  if (node == nullptr || node->owner != procedure) return;
  node->owner = ProcId();
  node->last_update = now;
}

bool RegionDirectory::Update(std::string_view encoded, const std::function<void(RegionNode&)>& change) {
  const TimePoint now = clock_.Now();
  const MutexLock lock(mutex_);
  const RegionNode* old = FindLocked(encoded);
  if (old == nullptr) return false;
  RegionNode changed = *old;
  change(changed);
  RegionState state = old->state;
  MoveState(state, changed.state, std::string(encoded).c_str());
  changed.last_update = now;
  Put(std::move(changed));
  return true;
}

void RegionDirectory::Want(std::string_view encoded, ProcId procedure) {
  const MutexLock lock(mutex_);
  if (FindLocked(encoded) != nullptr) wanted_[std::string(encoded)] = procedure;
}

ProcId RegionDirectory::WantedBy(std::string_view encoded) const {
  const MutexLock lock(mutex_);
  const auto it = wanted_.find(encoded);
  return it == wanted_.end() ? ProcId() : it->second;
}

void RegionDirectory::Take(std::string_view encoded, std::uint64_t transition) {
  const MutexLock lock(mutex_);
  RegionNode* node = FindLocked(encoded);
  if (node != nullptr && !RATCHET_MUTANT("master.forget_taken")) node->taken = std::max(node->taken, transition);
}

void RegionDirectory::Restore(RegionNode node) {
  node.last_update = clock_.Now();
  const MutexLock lock(mutex_);
  Put(std::move(node));
}

void RegionDirectory::Add(const RegionRow& row) {
  const TimePoint now = clock_.Now();
  const MutexLock lock(mutex_);
  if (RegionNode* known = FindLocked(row.region.encoded_name()); known != nullptr && known->owner.valid()) {
    known->taken = std::max(known->taken, row.transition);
    return;
  }
  RegionNode node;
  node.info = row.region;
  node.state = row.state;
  node.last_host = row.location;
  // While a region is being opened or closed info:sn names the server: it may have been opened there without a row that says so,
  // where an operator ended the opening. In all other states the last one that had it open does.
  const bool under_way = row.state == RegionState::kOpening || (row.state == RegionState::kClosing && row.target.has_value());
  if (NeedsServer(row.state)) node.location = under_way ? row.target : row.location;
  if (NeedsServer(row.state) && !node.location) {
    node.state = RegionState::kAbnormallyClosed;
    node.unplaced = true;
  }
  node.open_sequence = row.open_sequence;
  node.transition = row.transition;
  node.last_update = now;
  Put(std::move(node));
}

bool RegionDirectory::Place(std::string_view encoded, const ServerName& server, std::uint64_t open_seq) {
  const MutexLock lock(mutex_);
  const RegionNode* known = FindLocked(encoded);
  if (known == nullptr || !known->unplaced || known->owner.valid()) return false;
  RegionNode node = *known;
  node.state = RegionState::kOpen;
  node.location = server;
  node.last_host = server;
  node.open_order = ProcId(open_seq);
  node.unplaced = false;
  node.last_update = clock_.Now();
  Put(std::move(node));
  return true;
}

void RegionDirectory::Remove(std::string_view encoded) {
  const MutexLock lock(mutex_);
  const auto it = nodes_.find(encoded);
  if (it == nodes_.end()) return;
  Unindex(it->second);
  nodes_.erase(it);
  if (const auto wanted = wanted_.find(encoded); wanted != wanted_.end()) wanted_.erase(wanted);
}

}  // namespace ratchet::master
