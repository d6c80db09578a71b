// Runs the fuzz targets in an ordinary test: from well-formed inputs, with mutations from a printed seed. libFuzzer
// searches deeper; this test runs everywhere, every time.
#include <algorithm>

#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "common/rpc/protobuf_log.h"
#include "tests/fuzz/targets.h"

namespace ratchet::fuzz {
namespace {

std::string Changed(const std::vector<std::string>& seeds, Prng& prng) {
  std::string bytes = seeds[prng.Below(seeds.size())];
  for (std::uint64_t edits = prng.Below(8); edits > 0; --edits) {
    const std::size_t at = prng.Below(bytes.size() + 1);
    const std::size_t length = std::min<std::size_t>(prng.Below(40), bytes.size() - at);
    switch (prng.Below(5)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(prng.Next());
        break;
      case 1: bytes.erase(at, length); break;
      case 2: bytes.insert(at, bytes.substr(prng.Below(bytes.size() + 1), length)); break;
      case 3: bytes.insert(at, length, static_cast<char>(prng.Chance(1, 2) ? 0xff : 0x80)); break;
      default: bytes += seeds[prng.Below(seeds.size())]; break;
    }
  }
  return bytes;
}

class FuzzTest : public testing::TestWithParam<const Target*> {};

TEST_P(FuzzTest, AnyBytesAreSurvived) {
  rpc::QuietProtobuf();
  const Target& target = *GetParam();
  const std::uint64_t seed = RandomSeed();
  RecordProperty("seed", std::to_string(seed));
  std::fprintf(stderr, "%s: seed %llu\n", std::string(target.name).c_str(), static_cast<unsigned long long>(seed));
  Prng prng(seed);
  const std::vector<std::string> seeds = target.seeds();
  target.feed({});
  for (const std::string& whole : seeds) target.feed(whole);
  for (int round = 0; round < target.rounds; ++round) target.feed(Changed(seeds, prng));
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzTest,
                         testing::Values(&kFrames, &kMembers, &kDigests, &kLogins, &kRecords, &kPayloads, &kSplits,
                                         &kManifests, &kOrders, &kMetaRows, &kTls),
                         [](const auto& target) { return std::string(target.param->name); });

}  // namespace
}  // namespace ratchet::fuzz
