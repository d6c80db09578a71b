// The functions of HBase's AggregateService over the cells of one region: maximum, minimum and sum of values, row
// counts, and the parts from which clients compute averages, standard deviations and medians of all regions.
//
// An interpreter, a Java class that clients name, decodes the values: integers of 8 bytes (LongColumnInterpreter),
// floating-point numbers of 8 bytes (DoubleColumnInterpreter), or decimal numbers of any length
// (BigDecimalColumnInterpreter). Values of another length are ignored. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/cell.h"
#include "common/model/proto/aggregate.pb.h"

namespace ratchet::regionserver {

class Aggregate {
 public:
  virtual ~Aggregate() = default;
  virtual void Add(const CellView& cell) = 0;
  virtual void EndRow() = 0;
  [[nodiscard]] virtual hbase::pb::AggregateResponse Answer() const = 0;
  // True when only the existence of a cell in a row matters.
  [[nodiscard]] virtual bool only_rows() const { return false; }
  // Returns the error in a value; then there is no answer.
  [[nodiscard]] const Status& problem() const { return problem_; }

 protected:
  Status problem_ = Ok();
};

// UnknownProtocolException: unknown method. DoNotRetryIOException: unknown interpreter. `weights` is the column with a
// median's weights; empty: all rows have the same weight.
[[nodiscard]] Result<std::unique_ptr<Aggregate>> MakeAggregate(const std::string& method,
                                                               const std::string& interpreter,
                                                               const std::string& weights);

}  // namespace ratchet::regionserver
