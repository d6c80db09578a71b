// The functions of HBase's AggregateService over the cells of one region: greatest, least and sum of values, numbers of
// rows, and the parts from which clients make averages, standard deviations and medians of all regions.
//
// What a value means is said by an interpreter, a Java class that clients name: numbers of 8 bytes, whole
// (LongColumnInterpreter) or with a point (DoubleColumnInterpreter), or decimal ones of any length
// (BigDecimalColumnInterpreter). Values of another length count as none. Pure.
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
  // Only whether a row has a cell matters.
  [[nodiscard]] virtual bool only_rows() const { return false; }
  // What was wrong with a value; then there is no answer.
  [[nodiscard]] const Status& problem() const { return problem_; }

 protected:
  Status problem_ = Ok();
};

// UnknownProtocolException: no such method. DoNotRetryIOException: no such interpreter. `weights`: the column whose
// values are a median's weights; empty: the rows have the same.
[[nodiscard]] Result<std::unique_ptr<Aggregate>> MakeAggregate(const std::string& method,
                                                               const std::string& interpreter,
                                                               const std::string& weights);

}  // namespace ratchet::regionserver
