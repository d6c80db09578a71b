#include "regionserver/rpc/scanner_table.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/base/printable.h"

namespace ratchet::regionserver {

namespace {

constexpr std::size_t kLeastReserve = 16;

std::size_t IndexOf(ScannerOwner::Kind kind) { return static_cast<std::size_t>(kind); }

}  // namespace

// Shared with the timers' callbacks, which may come after the table is destroyed.
struct ScannerTable::State : std::enable_shared_from_this<ScannerTable::State> {
  struct Entry {
    std::shared_ptr<ScanSession> session;
    bool in_use = false;
    TimePoint lease_ends;
    std::uint64_t bytes = 0;
    ScannerOwner owner;
    bool orphan = false;  // the client's connection has ended
  };
  using Entries = std::map<std::uint64_t, Entry>;
  struct Held {
    std::set<std::uint64_t> ids;
    std::uint64_t bytes = 0;
  };
  using Sessions = std::vector<std::shared_ptr<ScanSession>>;  // destroyed outside the mutex

  State(Clock& clock_in, Timers& timers_in, std::uint32_t id_base, ScannerTableOptions options_in)
      : clock(clock_in), timers(timers_in), options(options_in), last_id((std::uint64_t{id_base} & 0x7FFFFFFF) << 32) {}

  void Watch(std::uint64_t id, Millis delay) {
    timers.After(delay, [weak = weak_from_this(), id] {
      if (auto self = weak.lock()) self->CheckLease(id);
    });
  }

  void CheckLease(std::uint64_t id) {
    std::shared_ptr<ScanSession> expired;  // destroyed outside the mutex
    Millis again{0};
    {
      MutexLock lock(mutex);
      const auto found = entries.find(id);
      if (found == entries.end()) return;
      const TimePoint now = clock.Now();
      if (found->second.in_use) {
        again = options.lease;
      } else if (found->second.lease_ends > now) {
        again = std::chrono::ceil<Millis>(found->second.lease_ends - now);
      } else {
        expired = std::move(found->second.session);
        Erase(found);
      }
    }
    if (expired == nullptr) Watch(id, again);
  }

  void Release(std::uint64_t id) {
    MutexLock lock(mutex);
    const auto found = entries.find(id);
    if (found == entries.end()) return;
    Entry& entry = found->second;
    entry.in_use = false;
    entry.lease_ends =
        clock.Now() + (entry.orphan ? std::min(options.keep_orphans, options.lease.Get()) : options.lease.Get());
  }

  void Remove(std::uint64_t id, bool finished) {
    MutexLock lock(mutex);
    if (const auto found = entries.find(id); found != entries.end())
      Erase(found);  // the calling Use keeps the session alive
    if (!finished) return;
    if (!finished_ids.insert(id).second) return;
    finished_order.push_back(id);
    if (finished_order.size() <= options.max_finished) return;
    finished_ids.erase(finished_order.front());
    finished_order.pop_front();
  }

  void Insert(std::uint64_t id, Entry entry) REQUIRES(mutex) {
    const ScannerOwner& owner = entry.owner;
    bytes += entry.bytes;
    ++of_user[owner.user];
    if (owner.connection != 0) JoinConnection(owner.connection, id, entry.bytes);
    entries.emplace(id, std::move(entry));
  }

  void Erase(Entries::iterator entry) REQUIRES(mutex) {
    const ScannerOwner& owner = entry->second.owner;
    bytes -= entry->second.bytes;
    if (--of_user[owner.user] == 0) of_user.erase(owner.user);
    LeaveConnection(entry);
    orphans.erase(entry->first);
    entries.erase(entry);
  }

  void LeaveConnection(Entries::iterator entry) REQUIRES(mutex) {
    const auto connection = of_connection.find(entry->second.owner.connection);
    if (connection == of_connection.end()) return;
    if (connection->second.ids.erase(entry->first) > 0) connection->second.bytes -= entry->second.bytes;
    if (connection->second.ids.empty()) of_connection.erase(connection);
  }

  void JoinConnection(std::uint64_t connection, std::uint64_t id, std::uint64_t with_bytes) REQUIRES(mutex) {
    Held& held = of_connection[connection];
    held.ids.insert(id);
    held.bytes += with_bytes;
  }

  // The client has connected again: moves the scanner to the new connection.
  void Adopt(Entries::iterator entry, std::uint64_t connection) REQUIRES(mutex) {
    if (connection == 0 || entry->second.owner.connection == connection) return;
    LeaveConnection(entry);
    entry->second.owner.connection = connection;
    entry->second.orphan = false;
    orphans.erase(entry->first);
    JoinConnection(connection, entry->first, entry->second.bytes);
  }

  [[nodiscard]] std::size_t MaxOpen() const { return static_cast<std::size_t>(options.max_open.Get()); }
  [[nodiscard]] std::size_t AtMostHalf(std::int64_t limit) const {
    return std::max<std::size_t>(1, std::min(static_cast<std::size_t>(limit), MaxOpen() / 2));
  }
  // Limits on scanners and their bytes when a scanner of this kind is added; all kinds count together.
  [[nodiscard]] std::size_t RoomFor(ScannerOwner::Kind kind) const {
    const std::size_t reserves = RATCHET_MUTANT("scan.no_room_for_meta") ? 0 : IndexOf(kind);
    return MaxOpen() + reserves * std::max(MaxOpen() / 10, kLeastReserve);
  }
  [[nodiscard]] std::uint64_t BytesFor(ScannerOwner::Kind kind) const {
    return options.max_bytes + IndexOf(kind) * (options.max_bytes / 4);
  }

  // Closes an idle scanner: one whose connection has ended, or, for a system table, the oldest one of the connection
  // that has the most scanners of system tables. Returns false when there is none.
  bool CloseOne(const ScannerOwner& owner, Sessions& closed) REQUIRES(mutex) {
    if (CloseOrphanOf(nullptr, closed)) return true;
    if (owner.kind != ScannerOwner::Kind::kSystemTable) return false;
    const auto victim = OldestOfLargest();
    if (victim == entries.end()) return false;
    Close(victim, closed);
    return true;
  }

  // `user` is null for any user.
  bool CloseOrphanOf(const std::string* user, Sessions& closed) REQUIRES(mutex) {
    for (const std::uint64_t id : orphans) {
      const auto found = entries.find(id);
      if (found->second.in_use || (user != nullptr && found->second.owner.user != *user)) continue;
      Close(found, closed);
      return true;
    }
    return false;
  }

  void Close(Entries::iterator entry, Sessions& closed) REQUIRES(mutex) {
    closed.push_back(std::move(entry->second.session));
    Erase(entry);
  }

  Entries::iterator OldestOfLargest() REQUIRES(mutex) {
    // by connection: number of scanners, and the oldest
    std::map<std::uint64_t, std::pair<std::size_t, Entries::iterator>> idle;
    auto largest = idle.end();
    for (auto it = entries.begin(); it != entries.end(); ++it) {
      if (it->second.in_use || it->second.owner.kind != ScannerOwner::Kind::kSystemTable) continue;
      const auto held = idle.try_emplace(it->second.owner.connection, 0, it).first;
      ++held->second.first;
      if (largest == idle.end() || held->second.first > largest->second.first) largest = held;
    }
    return largest == idle.end() ? entries.end() : largest->second.second;
  }

  // Checks the limits of one connection and one user.
  std::string WhyNotOwn(const ScannerOwner& owner, std::uint64_t more, Sessions& closed) REQUIRES(mutex) {
    const auto connection = of_connection.find(owner.connection);
    const Held* held = connection == of_connection.end() ? nullptr : &connection->second;
    if (held != nullptr && !RATCHET_MUTANT("scan.one_connection_takes_all")) {
      if (held->ids.size() >= AtMostHalf(options.max_of_connection)) {
        return fmt::format(
            "the connection from {} (user {}) has {} scanners open, the limit of one connection; close some, "
            "or raise --max-scanners-per-connection",
            owner.peer, Shown(owner.user), held->ids.size());
      }
      if (held->bytes + more > options.max_bytes / 2) {
        return fmt::format(
            "the open scanners of the connection from {} (user {}) hold {} bytes of rows and columns that "
            "their requests named, the limit of one connection: close some, or name fewer",
            owner.peer, Shown(owner.user), held->bytes);
      }
    }
    const auto user = of_user.find(owner.user);
    const std::size_t of_this = user == of_user.end() ? 0 : user->second;
    if (of_this < AtMostHalf(options.max_of_user) || CloseOrphanOf(&owner.user, closed)) return "";
    return fmt::format(
        "user {} has {} scanners open, the limit of one user; close some, or raise --max-scanners-per-user",
        Shown(owner.user), of_this);
  }

  // Returns why one more scanner does not fit, or an empty string. Closes idle scanners where that is allowed.
  std::string WhyNot(const ScannerOwner& owner, std::uint64_t more, Sessions& closed) REQUIRES(mutex) {
    if (owner.kind != ScannerOwner::Kind::kMember && owner.connection != 0) {
      if (std::string own = WhyNotOwn(owner, more, closed); !own.empty()) return own;
    }
    while (entries.size() >= RoomFor(owner.kind)) {
      if (!CloseOne(owner, closed))
        return fmt::format("{} scanners are open, the limit of this server; close some, or raise --max-scanners",
                           entries.size());
    }
    while (bytes + more > BytesFor(owner.kind)) {
      if (!CloseOne(owner, closed)) {
        return fmt::format(
            "open scanners hold {} bytes of rows and columns that their requests named, the limit is {}: close some, "
            "or name fewer",
            bytes, BytesFor(owner.kind));
      }
    }
    return "";
  }

  static std::string Shown(const std::string& user) {
    constexpr std::size_t kMost = 64;
    return user.empty() ? "without a name" : PrintableText(std::string_view(user).substr(0, kMost));
  }

  void EndConnection(std::uint64_t connection) {
    std::vector<std::uint64_t> ids;
    {
      MutexLock lock(mutex);
      const auto found = of_connection.find(connection);
      if (found == of_connection.end()) return;
      const TimePoint ends = clock.Now() + options.keep_orphans;
      for (const std::uint64_t id : found->second.ids) {
        Entry& entry = entries.at(id);
        entry.orphan = true;
        entry.lease_ends = std::min(entry.lease_ends, ends);
        orphans.insert(id);
        ids.push_back(id);
      }
      of_connection.erase(found);
    }
    timers.After(options.keep_orphans, [weak = weak_from_this(), ids = std::move(ids)] {
      if (auto self = weak.lock()) self->CloseOrphans(ids);
    });
  }

  // Closes those of `ids` whose client has not returned. A scanner in use by a call ends with its lease.
  void CloseOrphans(const std::vector<std::uint64_t>& ids) {
    Sessions closed;
    MutexLock lock(mutex);
    for (const std::uint64_t id : ids) {
      const auto found = entries.find(id);
      if (found == entries.end() || !found->second.orphan || found->second.in_use) continue;
      if (found->second.lease_ends > clock.Now()) continue;
      Close(found, closed);
    }
  }

  Clock& clock;
  Timers& timers;
  const ScannerTableOptions options;
  mutable Mutex mutex;
  std::uint64_t last_id GUARDED_BY(mutex);
  Entries entries GUARDED_BY(mutex);
  std::uint64_t bytes GUARDED_BY(mutex) = 0;
  std::map<std::string, std::size_t> of_user GUARDED_BY(mutex);
  std::map<std::uint64_t, Held> of_connection GUARDED_BY(mutex);
  std::set<std::uint64_t> orphans GUARDED_BY(mutex);
  std::set<std::uint64_t> finished_ids GUARDED_BY(mutex);
  std::deque<std::uint64_t> finished_order GUARDED_BY(mutex);
};

ScannerTable::ScannerTable(Clock& clock, Timers& timers, std::uint32_t id_base, ScannerTableOptions options)
    : state_(std::make_shared<State>(clock, timers, id_base, options)) {}

ScannerTable::~ScannerTable() { CloseAll(); }

Millis ScannerTable::lease() const { return state_->options.lease; }

Result<ScannerTable::Use> ScannerTable::Add(std::shared_ptr<ScanSession> session, std::uint64_t bytes,
                                            const ScannerOwner& owner) {
  std::uint64_t id = 0;
  std::string why;
  State::Sessions closed;
  {
    MutexLock lock(state_->mutex);
    why = state_->WhyNot(owner, bytes, closed);
    if (why.empty()) {
      id = ++state_->last_id;
      state_->Insert(id, {session, true, state_->clock.Now() + state_->options.lease.Get(), bytes, owner, false});
    }
  }
  if (!why.empty()) {
    if (state_->options.refused) state_->options.refused(why);
    return Error(Code::kResourceExhausted, std::move(why));
  }
  state_->Watch(id, state_->options.lease);
  return Use(this, id, std::move(session));
}

void ScannerTable::ConnectionEnded(std::uint64_t connection) { state_->EndConnection(connection); }

Result<ScannerTable::Use> ScannerTable::Find(std::uint64_t id, std::uint64_t connection, const std::string* user) {
  MutexLock lock(state_->mutex);
  const auto found = state_->entries.find(id);
  const bool foreign = found != state_->entries.end() && user != nullptr && found->second.owner.user != *user &&
                       !RATCHET_MUTANT("rights.scanner_of_any_user");
  if (found == state_->entries.end() || foreign) {
    if (state_->finished_ids.contains(id)) return Error(Code::kAborted, fmt::format("scanner {} is finished", id));
    return Error(Code::kNotFound, fmt::format("scanner {} is unknown: closed, or its lease of {} ms has ended", id,
                                              state_->options.lease.Get().count()));
  }
  State::Entry& entry = found->second;
  if (entry.in_use) return Error(Code::kFailedPrecondition, fmt::format("scanner {} is in use by another call", id));
  entry.in_use = true;
  state_->Adopt(found, connection);
  return Use(this, id, entry.session);
}

void ScannerTable::CloseAll() {
  State::Entries closed;  // destroyed outside the mutex
  MutexLock lock(state_->mutex);
  closed.swap(state_->entries);
  state_->bytes = 0;
  state_->of_user.clear();
  state_->of_connection.clear();
  state_->orphans.clear();
}

std::uint64_t ScannerTable::bytes() const {
  MutexLock lock(state_->mutex);
  return state_->bytes;
}

std::size_t ScannerTable::open() const {
  MutexLock lock(state_->mutex);
  return state_->entries.size();
}

ScannerTable::Use::~Use() {
  if (table_ != nullptr) table_->state_->Release(id_);
}

void ScannerTable::Use::Finish() {
  if (table_ != nullptr) std::exchange(table_, nullptr)->state_->Remove(id_, true);
}

void ScannerTable::Use::Close() {
  if (table_ != nullptr) std::exchange(table_, nullptr)->state_->Remove(id_, false);
}

}  // namespace ratchet::regionserver
