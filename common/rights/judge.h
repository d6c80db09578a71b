// Judge: decides whether a caller may do something.
//
// A process has one. It judges with the process's image of rights and its settings of superusers and groups. In the
// mode `log` it allows everything and logs what it would refuse. S128 (no image, no user): without an image a call that
// needs a right is refused, except for members and superusers. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/rights/need.h"
#include "common/rights/rights_holder.h"
#include "common/rights/users.h"

namespace ratchet::rights {

// A caller of a method. `user` belongs to the connection (CallContext), never to the request.
struct Caller {
  std::string_view user;
  bool member = false;  // one of the cluster's own processes: may do everything
};

class Judge {
 public:
  Judge(const ImageSource& images, std::shared_ptr<const Users> users) : images_(images), users_(std::move(users)) {}

  // False: every caller may do everything, and nothing needs to be asked.
  [[nodiscard]] bool judges() const { return users_->mode() != Mode::kOff; }
  // True if a caller without a right is refused, so that answers are filtered.
  [[nodiscard]] bool enforces() const { return users_->mode() == Mode::kEnforce; }

  // AccessDeniedException for the first demand that the caller does not meet. `what`: the method, for the log and
  // the counters; empty: neither.
  [[nodiscard]] Status Check(const Caller& caller, const Demands& demands, std::string_view what) const;
  [[nodiscard]] Status Check(const Caller& caller, const Demand& demand, std::string_view what) const;
  // For lists: true if the caller may see an object with this demand. It counts and logs nothing.
  [[nodiscard]] bool Sees(const Caller& caller, const Demand& demand) const;
  // Judges without the mode and without effects: what kEnforce answers.
  [[nodiscard]] Status Verdict(const Caller& caller, const Demand& demand) const;
  // Applies the mode to the verdict of a caller's rights that was found elsewhere (reads with partial rights).
  [[nodiscard]] Status Apply(Status verdict, std::string_view what) const;

  // True if the caller passes every demand: a member or a superuser.
  [[nodiscard]] bool IsAbove(const Caller& caller) const;
  // True for the name of a superuser, and for "@group" if its members are superusers.
  [[nodiscard]] bool IsSuperuser(std::string_view grantee) const;
  // The names in the setting of superusers, groups as "@group", users first.
  [[nodiscard]] std::vector<std::string> Superusers() const;
  // Rises with each change of superusers, groups or the mode.
  [[nodiscard]] std::uint64_t changes() const { return users_->changes(); }
  // Null: none yet.
  [[nodiscard]] std::shared_ptr<const RightsImage> image() const { return images_.image(); }
  [[nodiscard]] Subject SubjectOf(std::string_view user) const;

  [[nodiscard]] std::uint64_t refused() const { return refused_; }
  [[nodiscard]] std::uint64_t would_be_refused() const { return would_be_refused_; }

 private:
  void Note(const Error& refusal, std::string_view what, bool enforced) const;

  const ImageSource& images_;
  const std::shared_ptr<const Users> users_;
  mutable std::atomic<std::uint64_t> refused_{0};
  mutable std::atomic<std::uint64_t> would_be_refused_{0};
  mutable std::atomic<std::int64_t> logged_second_{0};
  mutable std::atomic<std::uint32_t> logged_{0};  // lines in that second
};

// The error of a refusal, with HBase's text.
[[nodiscard]] Error AccessDenied(std::string_view user, const Demand& demand);

}  // namespace ratchet::rights
