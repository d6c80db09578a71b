// The operations whose costs tests/costs/check measures and compares with costs.json. Keys, values and order are fixed,
// so that every run does the same work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ratchet::costs {

// Operations in one run of a call or a commit.
inline constexpr std::size_t kRound = 200;

struct Operation {
  std::string name;
  std::size_t count = 0;      // operations that one call of `run` does
  std::function<void()> run;  // owns what the operation needs
};

// A get of a row in a store file with cached blocks, a put that is synced, and a cell of a scan: a region without
// network.
std::vector<Operation> RegionOperations();
// A durable step of a procedure, without the thread of the store; and a commit of the store on real files in `dir`,
// without its sync, because the context switches of a sync depend on the disk.
Operation DurableStep();
Operation StoreCommit(const std::string& dir);
// Get and put of a client through a connection, one at a time.
std::vector<Operation> CallOperations();

// Bytes of the heap for each region that a region server has open without data, with files in `dir`.
std::uint64_t ServerBytesARegion(const std::string& dir);
// Bytes of the heap of a master for each open region.
struct MasterBytes {
  std::uint64_t region = 0;  // its state
  std::uint64_t load = 0;    // its load and its rate of requests
};
MasterBytes MasterBytesARegion();

}  // namespace ratchet::costs
