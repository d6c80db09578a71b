#include "tests/cluster/meta_behind.h"

#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "common/io/cluster_key.h"
#include "common/io/disk.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/member_identity.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/meta/rpc_meta_table.h"

namespace ratchet::chaos {

Status ChangeRowBehind(client::Admin admin, const std::filesystem::path& root, const std::string& encoded,
                       const std::function<void(master::MetaEdit&)>& change) {
  RATCHET_ASSIGN(const auto status, admin.Call(methods::kGetStatus, pb::GetStatusRequest()));
  RATCHET_ASSIGN(const auto directory, io::PosixDisk().Open(root));
  rpc::ChannelPoolOptions member;
  RATCHET_ASSIGN(const auto keys, io::ReadClusterKeys(*directory));
  const auto identity = std::make_shared<rpc::MemberIdentity>(rpc::MemberRole::kMaster, keys);
  identity->SetName({"meta-behind", 1, 1});
  member.member = identity;
  rpc::ChannelPool pool(std::move(member));
  master::RpcMetaTable table(pool, {});
  const auto& at = status.meta_server();
  const ServerName host{at.host_name(), static_cast<std::uint16_t>(at.port()), at.start_code()};
  table.Begin(Epoch(status.epoch()), {[] { return Ok(); }, [host] { return host; }});
  const auto read = std::make_shared<std::promise<Result<master::MetaContents>>>();
  table.Scan([read](Result<master::MetaContents> contents) { read->set_value(std::move(contents)); });
  RATCHET_ASSIGN(const master::MetaContents contents, read->get_future().get());
  const auto row = std::find_if(contents.regions.begin(), contents.regions.end(),
                                [&](const master::RegionRow& one) { return one.region.encoded_name() == encoded; });
  if (row == contents.regions.end()) return Error(Code::kNotFound, "hbase:meta has no region " + encoded);
  master::MetaEdit edit;
  edit.region = *row;
  change(edit);
  const auto written = std::make_shared<std::promise<Status>>();
  table.Write({edit}, [written](Status done) { written->set_value(std::move(done)); });
  return written->get_future().get();
}

}  // namespace ratchet::chaos
