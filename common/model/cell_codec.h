// Cells on the wire: cell blocks (HBase's KeyValueCodec, without and with tags) and protobuf cells.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/cell.h"

namespace hbase::pb {
class Cell;
class MutationProto;
class Result;
}  // namespace hbase::pb

namespace ratchet {

inline constexpr std::string_view kKeyValueCodecClass = "org.apache.hadoop.hbase.codec.KeyValueCodec";
inline constexpr std::string_view kKeyValueCodecWithTagsClass = "org.apache.hadoop.hbase.codec.KeyValueCodecWithTags";

// The form in which a connection wants cells: in a cell block, with or without their tags; as protobuf cells, which
// have no tags, when `block` is null.
struct CellTarget {
  CellTarget(std::string* the_block, bool with_tags = false)  // NOLINT(google-explicit-constructor)
      : block(the_block), tags(with_tags) {}
  std::string* block = nullptr;
  bool tags = false;
};

// Appends one cell in cell-block form. The cell must be within the limits of CheckCell.
void AppendCell(const CellView& cell, std::string& block, bool with_tags = false);
// For the form with tags.
[[nodiscard]] std::size_t EncodedCellSize(const CellView& cell);
// kInvalidArgument when row, family or tags are too long.
[[nodiscard]] Status CheckCell(const CellView& cell);

// Reads cells one by one, with the tags that they have; views point into the block.
class CellBlockReader {
 public:
  explicit CellBlockReader(std::string_view block) : rest_(block) {}
  [[nodiscard]] bool AtEnd() const { return rest_.empty(); }
  // kInvalidArgument when the bytes are not a cell, or at the end.
  [[nodiscard]] Result<CellView> Next();
  // The next `count` cells, owned.
  [[nodiscard]] Result<std::vector<Cell>> Take(std::size_t count);

 private:
  std::string_view rest_;
};

void ToProto(const CellView& cell, hbase::pb::Cell& out);
// Missing fields read as empty, timestamp as latest, type as Put; kInvalidArgument for an unknown type.
[[nodiscard]] Result<Cell> FromProto(const hbase::pb::Cell& cell);

// Writes a result in the connection's form: appended to the block (and counted), or as protobuf cells.
void FillResult(const std::vector<Cell>& cells, CellTarget target, hbase::pb::Result& out);
// The cells of a result: its protobuf cells, then associated_cell_count cells of the block.
[[nodiscard]] Result<std::vector<Cell>> ReadResult(const hbase::pb::Result& result, CellBlockReader& block);
// All cells of a mutation, from column_value and from the block, typed as they apply (puts, appends and increments as
// kPut; deletes by their kind). A missing timestamp is kLatestTimestamp. A delete of a whole row yields no cells.
[[nodiscard]] Result<std::vector<Cell>> ReadMutationCells(const hbase::pb::MutationProto& mutation,
                                                          CellBlockReader& block);

}  // namespace ratchet
