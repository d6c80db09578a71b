// Reads a procedure store's directory: which segments count, how far, and what lives in them (rules S7, S10, S11).
//
// The newest segment with a valid start is the head. Its start names every older segment that counts, with the length
// that was accepted; nothing else is read, so a zombie's later writes and its new segments change no reader's view. In
// the head itself a torn tail is cut. Anything bad below an accepted length, a missing segment, or a version that does
// not follow is damage.
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
  kSkip,  // drop only what is bad, go on at the next valid record (repair)
};

struct ReadOptions {
  Epoch below;  // only segments of older epochs; 0: all
  OnDamage on_damage = OnDamage::kStop;
  RecordOrder order = RecordOrder::kStrict;
  bool sync = false;                // make durable what was read (S8)
  std::set<std::string> leave_out;  // repair: segments to treat as empty
};

// An error only when the disk fails; damage is reported in the contents. Takes memory for what lives, whatever lengths
// the segments have.
[[nodiscard]] Result<StoreContents> ReadStore(io::Directory& directory, const ReadOptions& options);

}  // namespace ratchet::procedure
