// DataRights: the rights of users on the rows of a region.
//
// A read with rights on some families or columns only is narrowed to them before any filter sees a cell, S131 (partial
// rights narrow the request): it answers like a table that has nothing else. Pure except for the judge. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/rights/judge.h"
#include "common/rpc/call.h"
#include "regionserver/region/region.h"
#include "regionserver/region/requests.h"

namespace ratchet::regionserver {

class DataRights {
 public:
  // `judge`: null if every user may do everything.
  explicit DataRights(const rights::Judge* judge) : judge_(judge) {}

  enum class Read : std::uint8_t { kWhole, kNarrowed };
  // Narrows `spec` to what the caller may read. AccessDeniedException if that is nothing.
  [[nodiscard]] Result<Read> Narrow(const rpc::CallContext& call, const Region& region, ReadSpec& spec) const;
  // True if the caller may read the whole table, which needs no judgement family by family. It logs nothing.
  [[nodiscard]] bool ReadsWhole(const rpc::CallContext& call, const Region& region) const;
  // An error if the caller may not apply the whole unit, or may not see its conditions.
  [[nodiscard]] Status CheckWrite(const rpc::CallContext& call, const Region& region, const AtomicMutation& unit) const;
  // The group under which a nonce of this caller is known. A nonce belongs to its user: another user's nonce with the
  // same numbers is another nonce.
  [[nodiscard]] std::uint64_t NonceGroup(const rpc::CallContext& call, std::uint64_t group) const;

  // True if calls of this user are refused or narrowed.
  [[nodiscard]] bool Judges(const rpc::CallContext& call) const {
    return judge_ != nullptr && !call.member && judge_->judges();
  }
  [[nodiscard]] bool enforces() const { return judge_ != nullptr && judge_->enforces(); }
  // A judgement is based on this: after a change of it, the judgement is made again.
  struct Basis {
    rights::ImageNumber image;  // zeros: none
    std::uint64_t users = 0;    // Judge::changes
    bool operator==(const Basis&) const = default;
  };
  [[nodiscard]] Basis basis() const;

 private:
  [[nodiscard]] Status CheckMutation(const rights::Caller& caller, const rpc::CallContext& call, const Region& region,
                                     const Mutation& mutation) const;
  [[nodiscard]] Status CheckCondition(const rights::Caller& caller, const rpc::CallContext& call, const Region& region,
                                      const Condition& condition, bool writes) const;

  const rights::Judge* const judge_;
};

}  // namespace ratchet::regionserver
