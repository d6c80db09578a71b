// The possible cells of a table whose families are added and dropped. Pure apart from its mutex.
//
// Each row has one writer, whose numbers rise; a cell's value and timestamp are the number of its write, so that a late
// write hides no newer one. The first family always exists: a read returns at least the last acknowledged number, and
// at most the last requested one. Another family follows this rule while it exists. Cells of a dropped family never
// return when a family of its name is added (S49: re-added family is new). While no family of the name exists, a read
// returns no cell of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/workloads/load.h"
#include "common/base/mutex.h"
#include "common/client/operations.h"

namespace ratchet::chaos {

// Thread-safe.
class FamilyLedger {
 public:
  static constexpr const char* kColumn = "n";

  // `others` are families that do not exist yet.
  FamilyLedger(std::vector<std::string> keys, const std::vector<std::string>& others);
  [[nodiscard]] std::size_t rows() const { return keys_.size(); }
  [[nodiscard]] const std::string& key(std::size_t row) const { return keys_[row]; }

  // One write of a row: of the first family, and of the other families that exist now.
  struct Write {
    std::size_t row = 0;
    std::uint64_t number = 0;
    std::map<std::string, std::uint64_t> changes;  // by family: how often it was added or dropped
    client::Mutation put;
  };
  [[nodiscard]] Write Begin(std::size_t row);
  void Acknowledge(const Write& write);
  // For a write that was refused because a family is missing. Returns the error if all of its families existed all the
  // time.
  [[nodiscard]] std::optional<std::string> RefusedForFamily(const Write& write) const;

  // Call around a change of the other families: their cells are not judged in between.
  void BeginChange(const std::string& family);
  enum class Now : std::uint8_t { kThere, kGone };
  void EndChange(const std::string& family, Now now);  // its outcome is known

  // A read of a row; begin it before it is sent.
  struct Read {
    std::size_t row = 0;
    std::map<std::string, std::uint64_t> changes;
    std::map<std::string, std::uint64_t> least;
  };
  [[nodiscard]] Read BeginRead(std::size_t row) const;
  // Returns the error in a read row, or nullopt.
  [[nodiscard]] std::optional<std::string> Observe(const Read& read, const client::Row& found) const;

  // Returns "<row> <asked>, <family> <acknowledged>, ...", one per line.
  [[nodiscard]] std::string ToText() const;

 private:
  enum class Stage : std::uint8_t { kThere, kChanging, kGone };
  struct Cells {
    std::uint64_t acknowledged = 0;  // since the family exists
    std::uint64_t dead = 0;          // the last number that was acknowledged before the drop
  };
  struct Family {
    Stage stage = Stage::kGone;
    bool was_there = false;     // before the change in progress
    std::uint64_t changes = 0;  // changes begun or ended
    std::vector<Cells> cells;   // by row
  };
  [[nodiscard]] std::string Judge(const Read& read, const std::string& name, const Family& family,
                                  std::optional<std::string_view> value) const REQUIRES(mutex_);
  const std::vector<std::string> keys_;
  mutable Mutex mutex_;
  std::vector<std::uint64_t> asked_ GUARDED_BY(mutex_);  // by row
  std::map<std::string, Family> families_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::chaos
