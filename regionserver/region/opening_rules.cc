#include "regionserver/region/opening_rules.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/model/cell_codec.h"
#include "regionserver/region/region_errors.h"

namespace ratchet::regionserver {
namespace {

// A table may have its own limit, as in HBase.
std::uint64_t MaxCellBytes(const OpenParams& params) {
  const std::optional<std::int64_t> own = params.table->Number("hbase.server.keyvalue.maxsize");
  return own ? static_cast<std::uint64_t>(std::max<std::int64_t>(*own, 0)) : params.settings->max_cell_bytes;
}

}  // namespace

OpeningRules::OpeningRules(OpenParams the_params)
    : params(std::move(the_params)),
      encoded_name(params.info.encoded_name()),
      order{params.info.IsMeta() ? RowOrder::kMeta : RowOrder::kPlain},
      max_cell_bytes(MaxCellBytes(params)) {}

Status OpeningRules::CheckRow(std::string_view row) const {
  if (row.empty()) return DoNotRetry(Code::kInvalidArgument, "the row key is empty");
  if (row.size() > kMaxRowLength)
    return DoNotRetry(Code::kInvalidArgument,
                      fmt::format("the row key has {} bytes, more than {}", row.size(), kMaxRowLength));
  if (params.info.IsMeta() || params.info.Contains(row)) return Ok();
  return MakeError(Code::kInvalidArgument, fmt::format("the row lies outside region {}", params.info.name()),
                   rpc::exception::kWrongRegion);
}

const FamilyRules* OpeningRules::RulesFor(std::string_view family) const {
  const auto found = families().find(family);
  return found == families().end() ? nullptr : &found->second;
}

Status OpeningRules::CheckCellSize(const CellView& cell) const {
  const std::uint64_t size = EncodedCellSize(cell);
  if (max_cell_bytes == 0 || size <= max_cell_bytes || RATCHET_MUTANT("region.any_cell_size")) return Ok();
  return DoNotRetry(
      Code::kInvalidArgument,
      fmt::format("Cell with size {} exceeds limit of {} bytes (hbase.server.keyvalue.maxsize) in region {}", size,
                  max_cell_bytes, params.info.name()));
}

Status OpeningRules::CheckColumns(const ColumnSelection& columns) const {
  for (const auto& [family, qualifiers] : columns)
    if (RulesFor(family) == nullptr)
      return MakeError(Code::kInvalidArgument,
                       fmt::format("column family {} does not exist in region {}", family, params.info.name()),
                       rpc::exception::kNoSuchColumnFamily);
  return Ok();
}

}  // namespace ratchet::regionserver
