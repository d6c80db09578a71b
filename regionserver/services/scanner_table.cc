#include "regionserver/services/scanner_table.h"

#include <set>

#include <fmt/core.h>

namespace ratchet::regionserver {

// Shared with the timers' callbacks, which may come after the table has gone.
struct ScannerTable::State : std::enable_shared_from_this<ScannerTable::State> {
  struct Entry {
    std::shared_ptr<ScanSession> session;
    bool in_use = false;
    TimePoint lease_ends;
    std::uint64_t bytes = 0;
  };

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
    found->second.in_use = false;
    found->second.lease_ends = clock.Now() + options.lease.Get();
  }

  void Remove(std::uint64_t id, bool finished) {
    MutexLock lock(mutex);
    if (const auto found = entries.find(id); found != entries.end())
      Erase(found);  // the session lives on in the Use that calls this
    if (!finished) return;
    if (!finished_ids.insert(id).second) return;
    finished_order.push_back(id);
    if (finished_order.size() <= options.max_finished) return;
    finished_ids.erase(finished_order.front());
    finished_order.pop_front();
  }

  void Erase(std::map<std::uint64_t, Entry>::iterator entry) REQUIRES(mutex) {
    bytes -= entry->second.bytes;
    entries.erase(entry);
  }

  Clock& clock;
  Timers& timers;
  const ScannerTableOptions options;
  mutable Mutex mutex;
  std::uint64_t last_id GUARDED_BY(mutex);
  std::map<std::uint64_t, Entry> entries GUARDED_BY(mutex);
  std::uint64_t bytes GUARDED_BY(mutex) = 0;
  std::set<std::uint64_t> finished_ids GUARDED_BY(mutex);
  std::deque<std::uint64_t> finished_order GUARDED_BY(mutex);
};

ScannerTable::ScannerTable(Clock& clock, Timers& timers, std::uint32_t id_base, ScannerTableOptions options)
    : state_(std::make_shared<State>(clock, timers, id_base, options)) {}

ScannerTable::~ScannerTable() { CloseAll(); }

Millis ScannerTable::lease() const { return state_->options.lease; }

Result<ScannerTable::Use> ScannerTable::Add(std::shared_ptr<ScanSession> session, std::uint64_t bytes) {
  std::uint64_t id = 0;
  {
    MutexLock lock(state_->mutex);
    if (state_->entries.size() >= static_cast<std::size_t>(state_->options.max_open.Get())) {
      return Error(Code::kResourceExhausted,
                   fmt::format("{} scanners are open; close some, or raise --max-scanners", state_->entries.size()));
    }
    if (state_->bytes + bytes > state_->options.max_bytes) {
      return Error(
          Code::kResourceExhausted,
          fmt::format(
              "open scanners hold {} bytes of rows and columns that their requests named, at most {}: close some, or "
              "name fewer",
              state_->bytes, state_->options.max_bytes));
    }
    state_->bytes += bytes;
    id = ++state_->last_id;
    state_->entries.emplace(id, State::Entry{session, true, state_->clock.Now() + state_->options.lease.Get(), bytes});
  }
  state_->Watch(id, state_->options.lease);
  return Use(this, id, std::move(session));
}

Result<ScannerTable::Use> ScannerTable::Find(std::uint64_t id) {
  MutexLock lock(state_->mutex);
  const auto found = state_->entries.find(id);
  if (found == state_->entries.end()) {
    if (state_->finished_ids.contains(id)) return Error(Code::kAborted, fmt::format("scanner {} is finished", id));
    return Error(Code::kNotFound, fmt::format("scanner {} is unknown: closed, or its lease of {} ms has ended", id,
                                              state_->options.lease.Get().count()));
  }
  State::Entry& entry = found->second;
  if (entry.in_use) return Error(Code::kFailedPrecondition, fmt::format("scanner {} is used by another call", id));
  entry.in_use = true;
  return Use(this, id, entry.session);
}

void ScannerTable::CloseAll() {
  std::map<std::uint64_t, State::Entry> closed;  // destroyed outside the mutex
  MutexLock lock(state_->mutex);
  closed.swap(state_->entries);
  state_->bytes = 0;
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
