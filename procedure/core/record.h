// The stored half of a procedure as plain values, and its encoding (record.proto). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/api/lock_request.h"
#include "procedure/api/procedure.h"
#include "procedure/api/views.h"

namespace ratchet::procedure {

// Never changes after the insert.
struct Identity {
  ProcId pid;
  ProcId parent;  // invalid for a root
  ProcId root;
  std::string type;
  std::uint32_t data_version = 1;
  std::string owner;
  std::string peer;  // root only, like the next one; printable ASCII
  std::string method;
  std::uint64_t nonce_group = 0;
  std::uint64_t nonce = 0;
  std::int64_t submitted_ms = 0;
  std::uint32_t child_round = 0;
  std::uint64_t deadline_ms = 0;  // root only; 0: none
};

// The newest steps of a procedure in their stored form, because they are copied and stored with every step and rarely
// read.
class StepHistory {
 public:
  // Keeps `bound` entries: the oldest `first` and the newest. Returns how many were dropped.
  std::size_t Add(const StepHistoryEntry& entry, std::size_t bound, std::size_t first = 0);
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::vector<StepHistoryEntry> Entries() const;  // step names are not stored
  // The bytes as in the record, tags included.
  [[nodiscard]] const std::string& encoded() const { return encoded_; }

 private:
  [[nodiscard]] std::size_t EndOf(std::size_t begin) const;
  [[nodiscard]] std::size_t OffsetOf(std::size_t index) const;

  std::string encoded_;
  std::size_t size_ = 0;
};

// Changes with every record.
struct Durable {
  ProcState state = ProcState::kRunnable;
  StepNo step = 0;
  std::string data;
  std::vector<LockRequest> locks;  // granted, in the order of granting; without locks that ancestors cover
  std::vector<UndoEntry> undo;     // rising order
  std::optional<Error> error;
  std::string result;
  std::uint64_t version = 0;
  std::int64_t updated_ms = 0;
  StepHistory history;
  std::uint32_t history_dropped = 0;  // entries that were left out after the first `history_first`
  std::uint32_t history_first = 0;
  bool past_no_return = false;
  std::string parked;
  bool bypassed = false;
  std::vector<VerbEntry> verbs;
  std::uint32_t spawn_round = 0;
  std::uint32_t resumed_round = 0;
  // Number of child records in the store, whatever their state. If recovery finds a different number, records were lost
  // or wrongly kept. nullopt: the record is of a version that did not count.
  std::optional<std::uint32_t> children = 0;
};

// Deterministic: equal values give equal bytes.
[[nodiscard]] std::string EncodeRecord(const Identity& identity, const Durable& durable);

struct DecodedRecord {
  Identity identity;
  Durable durable;
};
// kCorruption when the bytes are not such a record or carry values that no version of this code writes.
[[nodiscard]] Result<DecodedRecord> DecodeRecord(std::string_view bytes);

// Adds an entry and keeps the newest `bound`.
void AddHistory(Durable& durable, const StepHistoryEntry& entry, std::size_t bound);
// Adds a verb of an operator and keeps the newest ones.
void AddVerb(Durable& durable, VerbEntry entry);

}  // namespace ratchet::procedure
