// Fuzz targets for the parsers of external bytes: a target must return for any input, and checks its output as far as
// possible. Used by libFuzzer (RATCHET_FUZZERS) and by a seeded loop in the ordinary tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ratchet::fuzz {

struct Target {
  std::string_view name;
  void (*feed)(std::string_view bytes);  // ends the process if a check fails
  std::vector<std::string> (*seeds)();   // well-formed inputs to start from
  int rounds = 20'000;                   // of the ordinary tests; fewer if an input costs much
};

// A client's bytes in segments of any size, split into frames with headers.
extern const Target kFrames;
// The units by which members prove that they are ones, in both directions.
extern const Target kMembers;
// A client's messages of DIGEST-MD5.
extern const Target kDigests;
// A client's messages of a login by Kerberos, and the protected units after it.
extern const Target kLogins;
// A log file of any kind: records, damage, seals; and the record contents of procedure store, server log and recovered
// edits.
extern const Target kRecords;
// The payloads without their checksums.
extern const Target kPayloads;
// Records with valid checksums and arbitrary values: a server's log under the splitter, a region's manifest.
extern const Target kSplits;
extern const Target kManifests;
// A batch of a master's orders, and its processing by the queue.
extern const Target kOrders;
// A row of hbase:meta, and system records of the procedure store.
extern const Target kMetaRows;
// Records of a TLS peer: the first ones of either side, and those after the handshake.
extern const Target kTls;

}  // namespace ratchet::fuzz
