// RightsAdmin: submits changes of rights, and answers when they are done. Same conventions as TableAdmin.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/rights/rights_entry.h"
#include "master/cluster/rights_book.h"
#include "master/requests/submit_asked.h"

namespace ratchet::master {

struct MasterEnv;

class RightsAdmin {
 public:
  // Called when every region server has the change or is fenced, S135 (a change is answered when every server has it).
  using Done = std::function<void(Status)>;
  explicit RightsAdmin(MasterEnv& env) : env_(env) {}

  // `merge`: adds to what the user has in exactly this scope; otherwise replaces it.
  void Grant(const rights::RightsEntry& entry, bool merge, RequestContext context, Done done);
  // Takes the actions from what the user has in exactly this scope; without actions, all of it.
  void Revoke(const rights::RightsEntry& entry, RequestContext context, Done done);
  // Makes another key for tokens. `done` gets Ok when tokens are signed by it, and those of withdrawn keys are refused.
  void ReplaceKey(const TokenKeyOrder& order, RequestContext context, Done done);
  // Records the token, whose number is the pid, or revokes tokens. `done` gets the pid and the result of the procedure.
  using TokensDone = std::function<void(Result<ProcId>, const std::string& result)>;
  void IssueToken(const IssuedToken& token, RequestContext context, TokensDone done);
  void RevokeTokens(const std::string& user, std::optional<std::int64_t> sequence, RequestContext context,
                    TokensDone done);

 private:
  MasterEnv& env_;
};

}  // namespace ratchet::master
