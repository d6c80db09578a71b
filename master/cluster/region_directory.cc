#include "master/cluster/region_directory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/mutant.h"
#include "common/base/part_lock.h"

namespace ratchet::master {

RegionNode* RegionDirectory::FindLocked(std::string_view encoded) const {
  const auto it = by_name_.find(encoded);
  return it == by_name_.end() ? nullptr : *it;
}

namespace {

// A server whose log of changes is too short has all its regions checked, which costs about as much.
constexpr std::size_t kChangesOfServer = 4'096;
constexpr std::size_t kSpareLogs = 64;

bool IsClosed(RegionState state) { return state == RegionState::kClosed || IsSplitOrMerged(state); }

bool IsUnsettled(const RegionNode& node) {
  return node.unplaced || !IsAtRest(node.state) || node.state == RegionState::kOffline;
}

}  // namespace

std::uint64_t RegionDirectory::Changed(const std::string& encoded, const std::optional<ServerName>& before,
                                       const std::optional<ServerName>& now) {
  ++version_;
  if (before && !RATCHET_MUTANT("master.forget_the_left_server")) Log(*before, encoded);
  if (now && now != before) Log(*now, encoded);
  return version_;
}

void RegionDirectory::Log(const ServerName& server, const std::string& encoded) {
  ChangeLog& log = changes_[server];
  log.changes.push_back({version_, encoded});
  if (log.changes.size() > kChangesOfServer) {
    log.forgotten = log.changes.front().version;
    log.changes.pop_front();
  }
  if (changes_.size() <= 2 * by_server_.size() + kSpareLogs) return;
  for (auto each = changes_.begin(); each != changes_.end();)
    each = each->first == server || by_server_.contains(each->first) ? std::next(each) : changes_.erase(each);
  logs_forgotten_ = version_;
}

void RegionDirectory::Put(RegionNode node) {
  if (node.encoded.empty()) node.encoded = node.info.encoded_name();
  node.reserved = std::max(node.reserved, node.transition);
  RegionNode* known = FindLocked(node.encoded);
  Places before;
  if (known != nullptr) {
    node.reserved = std::max(node.reserved, known->reserved);
    before = PlacesOf(*known);
  }
  node.version = Changed(node.encoded, before.server, node.location);
  if (known != nullptr) {
    *known = std::move(node);
  } else {
    known = nodes_.insert(std::make_unique<RegionNode>(std::move(node))).first->get();
    by_name_.insert(known);
  }
  Index(*known, before, PlacesOf(*known));
}

RegionDirectory::Places RegionDirectory::PlacesOf(const RegionNode& node) {
  return {/*known=*/true,
          IsClosed(node.state),
          node.owner.valid(),
          IsUnsettled(node),
          IsSplitOrMerged(node.state) || !node.merged_from.empty(),
          node.location};
}

void RegionDirectory::Index(const RegionNode& node, const Places& before, const Places& after) {
  const auto move = [&node](Nodes& nodes, bool was, bool is) {
    if (was && !is) nodes.erase(&node);
    if (is && !was) nodes.insert(&node);
  };
  move(owned_, before.owned, after.owned);
  move(unsettled_, before.unsettled, after.unsettled);
  move(remains_, before.remains, after.remains);
  if (before.known != after.known || before.closed != after.closed) {
    OfOneTable& table = by_table_[node.info.table];
    move(table.nodes, before.known, after.known);
    if (before.known && !before.closed) --table.not_closed;
    if (after.known && !after.closed) ++table.not_closed;
    if (table.nodes.empty()) by_table_.erase(node.info.table);
  }
  if (before.server == after.server) return;
  if (after.server) by_server_[*after.server].insert(&node);
  if (!before.server) return;
  if (const auto it = by_server_.find(*before.server); it != by_server_.end()) {
    it->second.erase(&node);
    if (it->second.empty()) by_server_.erase(it);
  }
}

std::vector<RegionNode> RegionDirectory::Copies(const Nodes& nodes) const {
  std::vector<RegionNode> found;
  found.reserve(nodes.size());
  for (const RegionNode* node : nodes) found.push_back(*node);
  copied_ += found.size();
  return found;
}

std::optional<RegionNode> RegionDirectory::Get(std::string_view encoded) const {
  const PartLock lock(mutex_);
  const RegionNode* const node = FindLocked(encoded);
  if (node == nullptr) return std::nullopt;
  return *node;
}

void RegionDirectory::Look(std::string_view encoded, const std::function<void(const RegionNode*)>& look) const {
  const PartLock lock(mutex_);
  look(FindLocked(encoded));
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
    found = Copies(it->second.nodes);
  }
  std::sort(found.begin(), found.end(),
            [](const RegionNode& a, const RegionNode& b) { return a.info.start_key < b.info.start_key; });
  return found;
}

std::vector<RegionNode> RegionDirectory::OnServer(const ServerName& server) const {
  const PartLock lock(mutex_);
  const auto it = by_server_.find(server);
  return it == by_server_.end() ? std::vector<RegionNode>() : Copies(it->second);
}

std::vector<RegionNode> RegionDirectory::InTransition() const {
  const PartLock lock(mutex_);
  Nodes nodes = owned_;
  for (const RegionNode* node : unsettled_) {
    if (!IsAtRest(node->state)) nodes.insert(node);
  }
  return Copies(nodes);
}

void RegionDirectory::Visit(const std::function<void(const RegionNode&)>& visit) const {
  std::string last;
  for (bool more = true; more;) {
    const PartLock lock(mutex_);
    auto it = last.empty() ? nodes_.begin() : nodes_.upper_bound(last);
    for (std::size_t i = 0; i < kVisitedAtOnce && it != nodes_.end(); ++i, ++it) {
      visit(**it);
      if (i + 1 == kVisitedAtOnce) last = (*it)->encoded;
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

std::vector<RegionNode> RegionDirectory::Slice(const Nodes& nodes, std::string* after, std::size_t most) const {
  std::vector<RegionNode> found;
  for (auto it = nodes.upper_bound(std::string_view(*after)); it != nodes.end(); ++it) {
    if (found.size() == most) {
      *after = found.back().encoded;
      return found;
    }
    found.push_back(**it);
    ++copied_;
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
  const Nodes& nodes = it->second;
  for (auto node = nodes.upper_bound(std::string_view(after)); node != nodes.end() && found.size() < most; ++node)
    found.push_back((*node)->encoded);
  return found;
}

std::vector<ServerName> RegionDirectory::Locations() const {
  const PartLock lock(mutex_);
  std::vector<ServerName> found;
  for (const auto& [server, nodes] : by_server_) found.push_back(server);
  return found;
}

std::size_t RegionDirectory::NotClosedOf(const TableName& table) const {
  const PartLock lock(mutex_);
  const auto it = by_table_.find(table);
  return it == by_table_.end() ? 0 : it->second.not_closed;
}

bool RegionDirectory::ChangedSince(const ServerName& server, std::uint64_t* version,
                                   std::vector<std::string>* changed) const {
  const PartLock lock(mutex_);
  const std::uint64_t since = std::exchange(*version, version_);
  if (since == 0 || since < logs_forgotten_) return false;
  const auto log = changes_.find(server);
  if (log == changes_.end()) return true;
  if (since < log->second.forgotten) return false;
  const auto& changes = log->second.changes;
  auto first = std::partition_point(changes.begin(), changes.end(),
                                    [since](const Change& change) { return change.version <= since; });
  for (; first != changes.end(); ++first) changed->push_back(first->encoded);
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

std::vector<std::size_t> RegionDirectory::CountsAt(const std::vector<ServerName>& servers) const {
  std::vector<std::size_t> counts;
  counts.reserve(servers.size());
  const PartLock lock(mutex_);
  for (const ServerName& server : servers) {
    const auto regions = by_server_.find(server);
    counts.push_back(regions == by_server_.end() ? 0 : regions->second.size());
  }
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
  node.version = Changed(node.encoded, node.location, node.location);
  if (owner.valid()) {
    owned_.insert(&node);
  } else {
    owned_.erase(&node);
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

bool RegionDirectory::Show(RegionNode shown) {
  const std::string encoded = shown.encoded = shown.info.encoded_name();
  return Update(encoded, [&](RegionNode& node) {
    shown.merged_from = std::move(node.merged_from);
    node = std::move(shown);
  });
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
  RegionNode& node = **it;
  Changed(node.encoded, node.location, std::nullopt);
  Index(node, PlacesOf(node), {});
  by_name_.erase(&node);
  nodes_.erase(it);
  if (const auto wanted = wanted_.find(encoded); wanted != wanted_.end()) wanted_.erase(wanted);
}

}  // namespace ratchet::master
