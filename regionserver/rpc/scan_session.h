// One client's open scan of one region, between its calls. It belongs to one opening of the region (S30: scan belongs
// to one opening). ScannerTable makes sure that one call at a time uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "common/base/result.h"
#include "common/model/proto/client.pb.h"
#include "regionserver/region/region.h"
#include "regionserver/rpc/read_ahead.h"

namespace ratchet::regionserver {

class ScanSession {
 public:
  ScanSession(std::shared_ptr<Region> region_in, std::unique_ptr<Scanner> scanner_in, const ::hbase::pb::Scan& scan,
              std::shared_ptr<AheadBudget> budget)
      : ahead(std::move(budget)),
        region(std::move(region_in)),
        scanner(std::move(scanner_in)),
        wanted_bytes(scan.max_result_size()),
        need_cursor(scan.need_cursor_result()) {}

  // Clients that number their calls start at 0. kStale when this is not the next number.
  [[nodiscard]] Status CheckSequence(std::uint64_t sequence) {
    if (sequence != next_sequence_) {
      return Error(Code::kStale, fmt::format("expected next_call_seq {}, got {}", next_sequence_, sequence));
    }
    ++next_sequence_;
    return Ok();
  }

  ReadAhead ahead;
  std::size_t block_bytes = 0;           // size of the previous reply: the next one is likely as large
  std::uint32_t full_replies = 0;        // number of full replies so far
  const std::shared_ptr<Region> region;  // outlives the scanner
  const std::unique_ptr<Scanner> scanner;
  const std::uint64_t wanted_bytes;  // 0: the server decides
  const bool need_cursor;

 private:
  std::uint64_t next_sequence_ = 0;
};

}  // namespace ratchet::regionserver
