// Split sizes of regions: HBase's split policies, by their class names. Pure.
//
// | policy | splits a region above |
// |---|---|
// | ConstantSizeRegionSplitPolicy | the largest size |
// | IncreasingToUpperBoundRegionSplitPolicy, BusyRegionSplitPolicy | initial size x n^3, at most the largest size; n:
// regions of the table on the region's server | | SteppingSplitPolicy | the initial size if it is the table's only
// region on its server, else the largest size | | DisabledRegionSplitPolicy, KeyPrefixRegionSplitPolicy,
// DelimitedKeyPrefixRegionSplitPolicy | never by itself |
//
// The prefix policies keep rows of one prefix together, which a split point chosen from the data would not do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/live.h"
#include "common/model/table_descriptor.h"

namespace ratchet::master {

// Defaults. A table can override them by SPLIT_POLICY (or hbase.regionserver.region.split.policy), MAX_FILESIZE,
// MEMSTORE_FLUSHSIZE, hbase.increasing.policy.initial.size.
struct SplitPolicyOptions {
  std::string policy = "SteppingSplitPolicy";    // with or without the Java package
  Live<std::uint64_t> max_bytes{10ULL << 30};    // hbase.hregion.max.filesize
  Live<std::uint64_t> initial_bytes{0};          // 0: twice the size at which memory is flushed
  Live<std::uint64_t> flush_bytes{64ULL << 20};  // hbase.hregion.memstore.flush.size
};

// Returns the short name, such as "SteppingSplitPolicy", of a class in any spelling; empty for an unknown class.
[[nodiscard]] std::string_view KnownSplitPolicy(std::string_view class_name);
// Returns the table's policy, else the default. The default also replaces an unknown policy, which table_sanity.h
// refuses unless its checks are off.
[[nodiscard]] std::string_view SplitPolicyOf(const TableDescriptor& table, const SplitPolicyOptions& options);

// Returns the bytes of store files above which a region of the table is split; nullopt for never. `regions_on_server`:
// the table's regions on the region's server, itself included. The size never falls when this number rises.
[[nodiscard]] std::optional<std::uint64_t> SplitSize(const TableDescriptor& table, const SplitPolicyOptions& options,
                                                     std::size_t regions_on_server);

}  // namespace ratchet::master
