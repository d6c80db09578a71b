// The stored half of a procedure as plain values, and its encoding (record.proto). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/author/lock_request.h"
#include "procedure/author/procedure.h"
#include "procedure/record/inspect.h"

namespace ratchet::procedure {

// Never changes after the insert.
struct Identity {
  ProcId pid;
  ProcId parent;  // invalid for a root
  ProcId root;
  std::string type;
  std::uint32_t data_version = 1;
  std::string owner;
  std::uint64_t nonce_group = 0;
  std::uint64_t nonce = 0;
  std::int64_t submitted_ms = 0;
  std::uint32_t child_round = 0;
};

// The newest steps of a procedure in their stored form, since they are copied and stored with every step and looked at
// seldom.
class StepHistory {
 public:
  // Keeps the newest `bound`; returns how many went.
  std::size_t Add(const StepHistoryEntry& entry, std::size_t bound);
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::vector<StepHistoryEntry> Entries() const;  // step names are not stored
  // As they stand in the record, tags included.
  [[nodiscard]] const std::string& encoded() const { return encoded_; }

 private:
  std::string encoded_;
  std::size_t size_ = 0;
};

// Changes with every record.
struct Durable {
  ProcState state = ProcState::kRunnable;
  StepNo step = 0;
  std::string data;
  std::vector<LockRequest> locks;  // granted, in the order of granting; not what ancestors cover
  std::vector<UndoEntry> undo;     // rising order
  std::optional<Error> error;
  std::string result;
  std::uint64_t version = 0;
  std::int64_t updated_ms = 0;
  StepHistory history;
  std::uint32_t history_dropped = 0;
  bool past_no_return = false;
  std::string parked;
  bool bypassed = false;
  std::vector<VerbEntry> verbs;
  std::uint32_t spawn_round = 0;
  std::uint32_t resumed_round = 0;
  // How many records of children there are, whatever their state: a load that finds another number has lost or kept
  // what it must not. Not known: a record of a version that did not count.
  std::optional<std::uint32_t> children = 0;
};

// Deterministic: equal values give equal bytes.
[[nodiscard]] std::string EncodeRecord(const Identity& identity, const Durable& durable);

struct DecodedRecord {
  Identity identity;
  Durable durable;
};
// kCorruption when the bytes are no such record or carry values that no version of this code writes.
[[nodiscard]] Result<DecodedRecord> DecodeRecord(std::string_view bytes);

// Adds an entry and keeps the newest `bound`.
void AddHistory(Durable& durable, const StepHistoryEntry& entry, std::size_t bound);
// The same of what operators did.
void AddVerb(Durable& durable, VerbEntry entry);

}  // namespace ratchet::procedure
