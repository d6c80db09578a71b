// When a region is split because it has grown: HBase's split policies, by their class names. Pure.
//
// | policy | splits a region above |
// |---|---|
// | ConstantSizeRegionSplitPolicy | the largest size |
// | IncreasingToUpperBoundRegionSplitPolicy, BusyRegionSplitPolicy | initial size x n^3, at most the largest size; n:
// regions of the table on the region's server | | SteppingSplitPolicy | the initial size where it is the table's only
// region on its server, else the largest size | | DisabledRegionSplitPolicy, KeyPrefixRegionSplitPolicy,
// DelimitedKeyPrefixRegionSplitPolicy | never by itself |
//
// The policies by prefix keep rows of one prefix together, which a split point that is taken from the data would not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/live.h"
#include "common/model/table_descriptor.h"

namespace ratchet::master {

// For tables that do not say otherwise. A table says: SPLIT_POLICY (or hbase.regionserver.region.split.policy),
// MAX_FILESIZE, MEMSTORE_FLUSHSIZE, hbase.increasing.policy.initial.size.
struct SplitPolicyOptions {
  std::string policy = "SteppingSplitPolicy";    // with or without its package
  Live<std::uint64_t> max_bytes{10ULL << 30};    // hbase.hregion.max.filesize
  Live<std::uint64_t> initial_bytes{0};          // 0: twice the size at which memory is flushed
  Live<std::uint64_t> flush_bytes{64ULL << 20};  // hbase.hregion.memstore.flush.size
};

// "SteppingSplitPolicy" of any spelling of a class; empty: none that is known here.
[[nodiscard]] std::string_view KnownSplitPolicy(std::string_view class_name);
// The table's, else the default; of an unknown one the default (table_sanity.h refuses those, unless it is told not
// to).
[[nodiscard]] std::string_view SplitPolicyOf(const TableDescriptor& table, const SplitPolicyOptions& options);

// Bytes of store files above which a region of the table is split, where `regions_on_server` of its regions, itself
// included, are on its server. Nothing: never. Never falls when the number of regions rises.
[[nodiscard]] std::optional<std::uint64_t> SplitSize(const TableDescriptor& table, const SplitPolicyOptions& options,
                                                     std::size_t regions_on_server);

}  // namespace ratchet::master
