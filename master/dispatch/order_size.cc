#include "master/dispatch/order_size.h"

#include "common/model/descriptor_size.h"

namespace ratchet::master {
namespace {

constexpr std::size_t kFields = 128;   // numbers, names of servers
constexpr std::size_t kAttribute = 8;  // overhead of two strings

std::size_t SizeOf(const RegionInfo& region) {
  return kFields + region.table.ToString().size() + region.start_key.size() + region.end_key.size();
}

std::size_t SizeOf(const TableDescriptor* schema) { return schema == nullptr ? 0 : RoughSize(*schema); }

struct SizeOfOrder {
  std::size_t operator()(const OpenOrder& order) const {
    return SizeOf(order.region) + order.table_directory.size() + SizeOf(order.schema.get());
  }
  std::size_t operator()(const OpenBatchOrder& order) const {
    std::size_t size = 0;
    for (const OpenOrder& open : order.opens) size += operator()(open);
    return size;
  }
  std::size_t operator()(const BuildOrder& order) const {
    std::size_t size = order.table_directory.size() + SizeOf(order.schema.get());
    for (const RegionInfo& parent : order.parents) size += SizeOf(parent);
    for (const RegionInfo& child : order.children) size += SizeOf(child);
    return size;
  }
  std::size_t operator()(const CopyOrder& order) const {
    return SizeOf(order.source) + SizeOf(order.target) + order.snapshot.size() + order.table_directory.size() +
           SizeOf(order.schema.get());
  }
  std::size_t operator()(const CloseOrder& order) const { return SizeOf(order.region); }
  std::size_t operator()(const FlushOrder& order) const {
    std::size_t size = SizeOf(order.flushed);
    for (const std::string& family : order.families) size += family.size() + kAttribute;
    return size;
  }
  std::size_t operator()(const CompactOrder& order) const { return SizeOf(order.compacted); }
  std::size_t operator()(const RefreshPeersOrder& order) const { return kFields + order.list.size(); }
  std::size_t operator()(const TakeRightsOrder& order) const {
    return kFields + (order.image == nullptr ? 0 : order.image->size());
  }
  std::size_t operator()(const SplitLogOrder& order) const {
    std::size_t size = kFields + order.path.size();
    for (const SplitRegionHint& hint : order.regions) {
      size += hint.encoded_region.size() + hint.region_directory.size() + 2 * kAttribute;
    }
    return size;
  }
};

}  // namespace

std::size_t RoughSize(const Order& order) { return std::visit(SizeOfOrder{}, order); }

}  // namespace ratchet::master
