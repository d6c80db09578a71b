// Applies the entries of frames, oldest first, to StoreContents, and refuses what cannot have been written, S11 (one
// commit per pid).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <roaring/roaring64map.hh>

#include "procedure/store/store_contents.h"

namespace ratchet::procedure {

// The reason why an entry was not applied.
struct Refused {
  std::string reason;
  DamageKind kind = DamageKind::kBytes;
};

class Replay {
 public:
  Replay(StoreContents& contents, RecordOrder order) : contents_(contents), order_(order) {}

  // `segment`: index into contents.chain; `in_head`: it is the last one. If it returns false, `why` describes the error
  // in the entry.
  bool Apply(const FrameEntry& entry, std::uint32_t segment, bool in_head, Refused* why);
  // Removes what the head deleted; call once, at the end.
  void Finish();

 private:
  [[nodiscard]] bool MayFollow(const FrameEntry& entry, const LoadedRecord& known) const;
  bool Upsert(const FrameEntry& entry, std::uint32_t segment, bool in_head, Refused* why);
  bool Delete(ProcId pid, bool in_head, Refused* why);

  StoreContents& contents_;
  const RecordOrder order_;
  Roaring64Map deleted_;
  Roaring64Map in_older_;  // pids with a record in a segment before the head
  std::set<std::string> system_in_older_;
  std::set<std::string> system_deleted_in_head_;
  std::vector<ProcId> deleted_in_head_;
};

}  // namespace ratchet::procedure
