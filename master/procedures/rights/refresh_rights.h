// RefreshRights: gives the image of all rights to one region server. Ends when the server has it, or when it is fenced
// and its logs are split: then it serves no user (S135: a change is answered when every server has it).
//
// The image is made at each send, so an order that is sent again never carries an old one. The server takes it by its
// own number, S127 (images only rise). A server that cannot take an image, because its version is too old, is waited
// for until it is gone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "master/procedures/core/remote_order.h"
#include "master/procedures/rights/rights_data.pb.h"

namespace ratchet::master {

class RefreshRights final : public RemoteOrder<RefreshRights, pb::RefreshRightsData> {
 public:
  static constexpr std::string_view kTypeName = "RefreshRights";
  // It moves no region, but it is settled as if it did: never by time, nor by a session that has ended.
  static constexpr bool kOwnsRegion = true;
  static constexpr pb::OrderOutcome kBad = pb::DONE;  // a refusal does not end the order
  using RemoteOrder::RemoteOrder;
  static ProcedurePtr Make(const std::string& server);
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] Acted<Result<TakeRightsOrder>> MakeOrder(StepContext& ctx) const;
};

// One order for each server that may serve users now. Call it after the change is shown in RightsBook: a server that
// registers later gets the image with the answer.
[[nodiscard]] std::vector<ProcedurePtr> TellRights(StepContext& ctx);

}  // namespace ratchet::master
