#include "master/cluster/region_directory.h"

#include <algorithm>
#include <utility>

#include "common/base/mutant.h"
#include "common/base/part_lock.h"

namespace ratchet::master {

RegionNode* RegionDirectory::FindLocked(std::string_view encoded) {
  const auto it = nodes_.find(encoded);
  return it == nodes_.end() ? nullptr : &it->second;
}

namespace {

constexpr std::size_t kChangesKept = 1U << 16;

bool IsClosed(RegionState state) { return state == RegionState::kClosed || IsSplitOrMerged(state); }

bool IsUnsettled(const RegionNode& node) {
  return node.unplaced || !IsAtRest(node.state) || node.state == RegionState::kOffline;
}

}  // namespace

std::uint64_t RegionDirectory::Changed(const std::string& encoded) {
  changes_.push_back({++version_, encoded});
  if (changes_.size() > kChangesKept) changes_.pop_front();
  return version_;
}

void RegionDirectory::Put(RegionNode node) {
  if (node.encoded.empty()) node.encoded = node.info.encoded_name();
  node.reserved = std::max(node.reserved, node.transition);
  if (const auto it = nodes_.find(node.encoded); it != nodes_.end()) {
    node.reserved = std::max(node.reserved, it->second.reserved);
    Unindex(it->second);
  }
  node.version = Changed(node.encoded);
  Index(node);
  std::string encoded = node.encoded;
  nodes_.insert_or_assign(std::move(encoded), std::move(node));
}

void RegionDirectory::Index(const RegionNode& node) {
  OfOneTable& table = by_table_[node.info.table];
  table.names.insert(node.encoded);
  if (!IsClosed(node.state)) ++table.not_closed;
  if (node.location) by_server_[*node.location].insert(node.encoded);
  if (node.owner.valid()) owned_.insert(node.encoded);
  if (IsUnsettled(node)) unsettled_.insert(node.encoded);
  if (IsSplitOrMerged(node.state) || !node.merged_from.empty()) remains_.insert(node.encoded);
}

void RegionDirectory::Unindex(const RegionNode& node) {
  owned_.erase(node.encoded);
  unsettled_.erase(node.encoded);
  remains_.erase(node.encoded);
  if (const auto it = by_table_.find(node.info.table); it != by_table_.end()) {
    if (it->second.names.erase(node.encoded) > 0 && !IsClosed(node.state)) --it->second.not_closed;
    if (it->second.names.empty()) by_table_.erase(it);
  }
  if (!node.location) return;
  if (const auto it = by_server_.find(*node.location); it != by_server_.end()) {
    it->second.erase(node.encoded);
    if (it->second.empty()) by_server_.erase(it);
  }
}

const RegionNode& RegionDirectory::CopyOf(const std::string& encoded) const {
  ++copied_;
  return nodes_.find(encoded)->second;
}

std::optional<RegionNode> RegionDirectory::Get(std::string_view encoded) const {
  const PartLock lock(mutex_);
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
    const PartLock lock(mutex_);
    const auto it = by_table_.find(table);
    if (it == by_table_.end()) return found;
    for (const std::string& encoded : it->second.names) found.push_back(CopyOf(encoded));
  }
  std::sort(found.begin(), found.end(),
            [](const RegionNode& a, const RegionNode& b) { return a.info.start_key < b.info.start_key; });
  return found;
}

std::vector<RegionNode> RegionDirectory::OnServer(const ServerName& server) const {
  const PartLock lock(mutex_);
  std::vector<RegionNode> found;
  const auto it = by_server_.find(server);
  if (it == by_server_.end()) return found;
  found.reserve(it->second.size());
  for (const std::string& encoded : it->second) found.push_back(CopyOf(encoded));
  return found;
}

std::vector<RegionNode> RegionDirectory::InTransition() const {
  const PartLock lock(mutex_);
  Names names = owned_;
  for (const std::string& encoded : unsettled_) {
    if (!IsAtRest(nodes_.find(encoded)->second.state)) names.insert(encoded);
  }
  std::vector<RegionNode> found;
  for (const std::string& encoded : names) found.push_back(CopyOf(encoded));
  return found;
}

void RegionDirectory::Visit(const std::function<void(const RegionNode&)>& visit) const {
  std::string last;
  for (bool more = true; more;) {
    const PartLock lock(mutex_);
    auto it = last.empty() ? nodes_.begin() : nodes_.upper_bound(last);
    for (std::size_t i = 0; i < kVisitedAtOnce && it != nodes_.end(); ++i, ++it) {
      visit(it->second);
      if (i + 1 == kVisitedAtOnce) last = it->first;
    }
    more = it != nodes_.end();
  }
}

std::vector<RegionNode> RegionDirectory::Select(const std::function<bool(const RegionNode&)>& wanted) const {
  std::vector<RegionNode> found;
  Visit([&found, &wanted](const RegionNode& node) {
    if (wanted(node)) found.push_back(node);
  });
  const PartLock lock(mutex_);
  copied_ += found.size();
  return found;
}

std::vector<RegionNode> RegionDirectory::Slice(const Names& names, std::string* after, std::size_t most) const {
  std::vector<RegionNode> found;
  for (auto it = names.upper_bound(*after); it != names.end(); ++it) {
    if (found.size() == most) {
      *after = found.back().encoded;
      return found;
    }
    found.push_back(CopyOf(*it));
  }
  after->clear();
  return found;
}

std::vector<RegionNode> RegionDirectory::Owned(std::string* after, std::size_t most) const {
  const PartLock lock(mutex_);
  return Slice(owned_, after, most);
}

std::vector<RegionNode> RegionDirectory::Unsettled(std::string* after, std::size_t most) const {
  const PartLock lock(mutex_);
  return Slice(unsettled_, after, most);
}

std::vector<RegionNode> RegionDirectory::Remains(std::string* after, std::size_t most) const {
  const PartLock lock(mutex_);
  return Slice(remains_, after, most);
}

std::vector<std::string> RegionDirectory::NamesOnServer(const ServerName& server, const std::string& after,
                                                        std::size_t most) const {
  const PartLock lock(mutex_);
  std::vector<std::string> found;
  const auto it = by_server_.find(server);
  if (it == by_server_.end()) return found;
  for (auto name = it->second.upper_bound(after); name != it->second.end() && found.size() < most; ++name)
    found.push_back(*name);
  return found;
}

std::vector<ServerName> RegionDirectory::Locations() const {
  const PartLock lock(mutex_);
  std::vector<ServerName> found;
  for (const auto& [server, names] : by_server_) found.push_back(server);
  return found;
}

std::size_t RegionDirectory::NotClosedOf(const TableName& table) const {
  const PartLock lock(mutex_);
  const auto it = by_table_.find(table);
  return it == by_table_.end() ? 0 : it->second.not_closed;
}

bool RegionDirectory::ChangedSince(std::uint64_t* version, std::vector<std::string>* changed) const {
  const PartLock lock(mutex_);
  const std::uint64_t since = std::exchange(*version, version_);
  const std::uint64_t oldest = version_ - changes_.size();  // older changes are forgotten
  if (since == 0 || since < oldest) return false;
  for (std::size_t i = since - oldest; i < changes_.size(); ++i) changed->push_back(changes_[i].encoded);
  return true;
}

std::uint64_t RegionDirectory::copied() const {
  const PartLock lock(mutex_);
  return copied_;
}

std::size_t RegionDirectory::size() const {
  const PartLock lock(mutex_);
  return nodes_.size();
}

std::map<ServerName, std::size_t> RegionDirectory::CountByServer() const {
  const PartLock lock(mutex_);
  std::map<ServerName, std::size_t> counts;
  for (const auto& [server, regions] : by_server_) counts[server] = regions.size();
  return counts;
}

std::optional<ServerName> RegionDirectory::MetaLocation() const {
  const auto meta = Get(kMetaEncodedName);
  if (!meta || meta->state != RegionState::kOpen) return std::nullopt;
  return meta->location;
}

bool RegionDirectory::Own(std::string_view encoded, ProcId procedure, ProcId from) {
  const TimePoint now = clock_.Now();
  const PartLock lock(mutex_);
  RegionNode* node = FindLocked(encoded);
  if (node == nullptr) return false;
  if (node->owner.valid() && node->owner != procedure && node->owner != from) return false;
  if (node->owner != procedure) SetOwner(*node, procedure, now);
  return true;
}

void RegionDirectory::Disown(std::string_view encoded, ProcId procedure) {
  const TimePoint now = clock_.Now();
  const PartLock lock(mutex_);
  RegionNode* node = FindLocked(encoded);
  if (node == nullptr || node->owner != procedure) return;
  SetOwner(*node, ProcId(), now);
}

void RegionDirectory::SetOwner(RegionNode& node, ProcId owner, TimePoint now) {
  node.owner = owner;
  node.last_update = now;
  node.version = Changed(node.encoded);
  if (owner.valid()) {
    owned_.insert(node.encoded);
  } else {
    owned_.erase(node.encoded);
  }
}

bool RegionDirectory::Update(std::string_view encoded, const std::function<void(RegionNode&)>& change) {
  const TimePoint now = clock_.Now();
  const PartLock lock(mutex_);
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

void RegionDirectory::RequestRelease(std::string_view encoded, ProcId procedure) {
  const PartLock lock(mutex_);
  if (FindLocked(encoded) != nullptr) wanted_[std::string(encoded)] = procedure;
}

ProcId RegionDirectory::ReleaseRequestedBy(std::string_view encoded) const {
  const PartLock lock(mutex_);
  const auto it = wanted_.find(encoded);
  return it == wanted_.end() ? ProcId() : it->second;
}

void RegionDirectory::Reserve(std::string_view encoded, std::uint64_t transition) {
  const PartLock lock(mutex_);
  RegionNode* node = FindLocked(encoded);
  if (node != nullptr && !RATCHET_MUTANT("master.forget_reserved"))
    node->reserved = std::max(node->reserved, transition);
}

void RegionDirectory::Restore(RegionNode node) {
  node.last_update = clock_.Now();
  const PartLock lock(mutex_);
  Put(std::move(node));
}

void RegionDirectory::Add(const RegionRow& row) {
  const TimePoint now = clock_.Now();
  std::string encoded = row.region.encoded_name();
  const PartLock lock(mutex_);
  if (RegionNode* known = FindLocked(encoded); known != nullptr && known->owner.valid()) {
    known->reserved = std::max(known->reserved, row.transition);
    if (!row.merged_from.empty()) {
      RegionNode named = *known;
      named.merged_from = row.merged_from;
      Put(std::move(named));
    }
    return;
  }
  RegionNode node;
  node.info = row.region;
  node.encoded = std::move(encoded);
  node.state = row.state;
  node.last_host = row.location;
  // While a region is being opened or closed, info:sn names the server, which may have opened the region without a row
  // if an operator ended the opening. In all other states the column names the last server that had it open.
  const bool under_way =
      row.state == RegionState::kOpening || (row.state == RegionState::kClosing && row.target.has_value());
  if (NeedsServer(row.state)) node.location = under_way ? row.target : row.location;
  if (NeedsServer(row.state) && !node.location) {
    node.state = RegionState::kAbnormallyClosed;
    node.unplaced = true;
  }
  node.open_sequence = row.open_sequence;
  node.schema_number = row.schema_number;
  node.build_number = row.build_number;
  node.issued = row.issued;
  node.served = row.served;
  node.flushed = row.flushed;
  node.merged_from = row.merged_from;
  node.transition = row.transition;
  node.last_update = now;
  Put(std::move(node));
}

bool RegionDirectory::Place(std::string_view encoded, const ServerName& server, std::uint64_t open_number,
                            TimePoint now) {
  const PartLock lock(mutex_);
  const RegionNode* known = FindLocked(encoded);
  if (known == nullptr || !known->unplaced || known->owner.valid()) return false;
  RegionNode node = *known;
  node.state = RegionState::kOpen;
  node.location = server;
  node.last_host = server;
  node.open_number = ProcId(open_number);
  node.schema_number = 0;  // the row without a server was not written by this opening
  node.issued = 0;         // for the same reason (S118: older copy stays closed)
  node.unplaced = false;
  node.last_update = now;
  Put(std::move(node));
  return true;
}

void RegionDirectory::Remove(std::string_view encoded) {
  const PartLock lock(mutex_);
  const auto it = nodes_.find(encoded);
  if (it == nodes_.end()) return;
  Changed(it->second.encoded);
  Unindex(it->second);
  nodes_.erase(it);
  if (const auto wanted = wanted_.find(encoded); wanted != wanted_.end()) wanted_.erase(wanted);
}

}  // namespace ratchet::master
