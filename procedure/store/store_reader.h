// Reads a procedure store's directory: which segments count, up to which length, and which records are live (S7: seal
// before acting; S10: low-water record before removal; S11: one commit per pid).
//
// The newest segment with a valid start is the head. Its start names every older segment that counts, with the length
// that was accepted. The reader reads no other file, so later writes and new segments of a deposed owner change no
// reader's view. In the head itself a torn tail is cut. Damage is: anything bad below an accepted length, a missing
// segment, or a version that does not follow.
#pragma once

#include <set>
#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/record_log.h"
#include "procedure/store/store_contents.h"

namespace ratchet::procedure {

enum class OnDamage : std::uint8_t {
  kStop,  // stop at the first damage (the store itself)
  kCut,   // drop what follows it in that segment (repair)
  kSkip,  // drop only the bad record, continue at the next valid one (repair)
};

struct ReadOptions {
  Epoch below;  // only segments of older epochs; 0: all
  OnDamage on_damage = OnDamage::kStop;
  RecordOrder order = RecordOrder::kStrict;
  bool sync = false;                // make durable what was read (S8: act only on durable records)
  std::set<std::string> leave_out;  // repair: segments to treat as empty
};

// Returns an error only when the disk fails; damage is reported in the contents. Takes memory for live records only,
// whatever lengths the segments have.
[[nodiscard]] Result<StoreContents> ReadStore(io::Directory& directory, const ReadOptions& options);

}  // namespace ratchet::procedure
