// What is fed to the parsers of bytes from outside: a target must come back for any input, and checks what it can about
// what came out. Used by libFuzzer (RATCHET_FUZZERS) and by a seeded loop in the ordinary tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ratchet::fuzz {

struct Target {
  std::string_view name;
  void (*feed)(std::string_view bytes);  // ends the process when a check fails
  std::vector<std::string> (*seeds)();   // well-formed inputs to start from
};

// A client's bytes, cut into frames in segments of any size, and their headers.
extern const Target kFrames;
// A log file of any kind: records, damage, seals; and what procedure store, server log and recovered edits put into
// records.
extern const Target kRecords;
// The payloads alone, without the checksums that guard them.
extern const Target kPayloads;
// Records with good checksums around any values: a server's log under the splitter, a region's manifest.
extern const Target kSplits;
extern const Target kManifests;
// A batch of orders of a master, and what the queue makes of it.
extern const Target kOrders;
// A row of hbase:meta, and system records of the procedure store.
extern const Target kMetaRows;

}  // namespace ratchet::fuzz
