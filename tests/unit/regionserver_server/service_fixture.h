// A region server's data side in one process: a host of regions on a disk double, the services on a loopback port, and
// connections to it with and without cell blocks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/clock.h"
#include "common/io/fenced_directory.h"
#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/model/proto/client.pb.h"
#include "common/rpc/call_audit.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/server.h"
#include "regionserver/host/region_host.h"
#include "regionserver/rpc/data_service.h"
#include "regionserver/rpc/read_ahead.h"
#include "regionserver/rpc/throttles.h"
#include "tests/support/members.h"
#include "tests/support/sim_disk.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

class InlineLanes final : public Lanes {
 public:
  void Run(Lane /*lane*/, std::function<void()> work) override { work(); }
};

class ServiceFixture : public testing::Test {
 protected:
  static constexpr const char* kTableDir = "default/t.7";
  static constexpr const char* kMetaDir = "hbase/meta.1";

  // The storage as this server sees it.
  virtual io::Disk& Storage() { return *disk_; }

  void SetUp() override {
    root_ = *Storage().OpenOrMake("/root");
    for (const char* directory :
         {"wals", "data", "data/default", "data/default/t.7", "data/hbase", "data/hbase/meta.1"}) {
      ASSERT_TRUE(disk_->OpenOrMake(std::string("/root/") + directory).ok());
    }
    auto wals = *root_->OpenDir("wals");
    log_directory_ = *io::FencedDirectory::Make(*wals, "host,1,100");
    HostOptions options;
    options.wal.prepare_next = false;
    host_ = std::make_unique<RegionHost>(*root_, clock_, lanes_, options, [this](int code, const std::string& why) {
      deaths_.push_back({code, why});
    });
    ASSERT_TRUE(host_->wals.UseDirectory(*log_directory_).ok());
    scanners_ = std::make_unique<ScannerTable>(clock_, *timers_, 5, ScannerTableOptions{Millis(60'000), 100, 100});
    rpc::ServerOptions listen;
    listen.at_once_per_turn = gets_at_once_;
    const auto own = MakeMember({"the key"});
    listen.member = own;
    listen.judge = &judge_;
    listen.audit = audit_;
    server_ = std::make_unique<rpc::RpcServer>(std::move(listen));
    DataServiceParts parts{[this](const std::string& name) { return host_->regions.Find(name); }, [] { return Ok(); },
                           epochs_, *scanners_, *call_clock_};
    parts.throttles = &throttles_;
    parts.cluster_id = "this-cluster";
    parts.ahead = ahead_;
    parts.judge = &judge_;
    parts.options.exec_checks = exec_checks_;
    parts.master = master_;
    parts.prove_epoch = [this](Epoch claimed) {
      return claimed <= claimed_ ? Ok() : Status(Error(Code::kStale, "no master has claimed it"));
    };
    server_->Add(MakeDataService(parts));
    ASSERT_TRUE(server_->Start().ok());
    NameMember(*own, *server_);
    rpc::ChannelPoolOptions plain;
    plain.cell_blocks = false;  // and a client's; `blocks_` is a master's
    blocks_ = std::make_unique<rpc::ChannelPool>(MemberPool("the key"));
    plain_ = std::make_unique<rpc::ChannelPool>(plain);
  }
  void TearDown() override {
    blocks_->Stop();
    plain_->Stop();
    server_->Stop();
    scanners_->CloseAll();
    for (const auto& region : host_->regions.All()) region->Abandon();
    host_->wals.Stop();
  }

  static RegionInfo TableRegion(const std::string& start = "", const std::string& end = "") {
    RegionInfo region;
    region.table = TableName("default", "t");
    region.start_key = start;
    region.end_key = end;
    region.region_id = 1234;
    return region;
  }

  // Makes the region's directory as the master would, and opens it here. `families`: those of a user's table.
  OrderAnswer OpenRegion(const RegionInfo& region, std::uint64_t open_number = 1,
                         const std::vector<std::string>& families = {"f"}) {
    const std::string table_dir = region.IsMeta() ? kMetaDir : kTableDir;
    EXPECT_TRUE(disk_->OpenOrMake("/root/data/" + table_dir + "/" + region.encoded_name()).ok());
    TableDescriptor table = MetaTableDescriptor();
    if (!region.IsMeta()) {
      table = TableDescriptor();
      table.name = region.table;
      for (const std::string& family : families) {
        table.families.push_back(DefaultFamily(family));
        table.families.back().attributes["VERSIONS"] = "3";
      }
    }
    OpenOrder order;
    order.pid = ProcId(++last_pid_);
    order.encoded_name = region.encoded_name();
    ToProto(region, order.region);
    order.open_number = open_number;
    order.table_dir = table_dir;
    ToProto(table, order.schema);
    return host_->orders.Open(order);
  }

  template <class Request, class Response>
  Result<rpc::Reply<Response>> Call(const rpc::Method<Request, Response>& method,
                                    const std::type_identity_t<Request>& request, std::string cells = {},
                                    bool cell_blocks = true) {
    auto& pool = cell_blocks ? *blocks_ : *plain_;
    rpc::CallOptions options;
    options.timeout = Millis(20'000);
    options.cells = std::move(cells);
    return pool.CallSync(method, {"127.0.0.1", server_->port()}, request, options);
  }

  static pb::RegionSpecifier Specify(const RegionInfo& region) {
    pb::RegionSpecifier specifier;
    SpecifyRegion(region, specifier);
    return specifier;
  }

  static pb::MutationProto PutProto(const std::string& row, const std::string& qualifier, const std::string& value,
                                    const std::string& family = "f") {
    pb::MutationProto put;
    put.set_row(row);
    put.set_mutate_type(pb::MutationProto::PUT);
    auto* column = put.add_column_value();
    column->set_family(family);
    auto* cell = column->add_qualifier_value();
    cell->set_qualifier(qualifier);
    cell->set_value(value);
    return put;
  }

  Result<rpc::Reply<pb::MutateResponse>> Put(const RegionInfo& region, const std::string& row,
                                             const std::string& qualifier, const std::string& value) {
    pb::MutateRequest request;
    *request.mutable_region() = Specify(region);
    *request.mutable_mutation() = PutProto(row, qualifier, value);
    return Call(methods::kMutate, request);
  }

  Result<rpc::Reply<pb::GetResponse>> Get(const RegionInfo& region, const std::string& row, bool cell_blocks = true) {
    pb::GetRequest request;
    *request.mutable_region() = Specify(region);
    request.mutable_get()->set_row(row);
    return Call(methods::kGet, request, {}, cell_blocks);
  }

  // "q=v q2=v2" from a result in any form.
  static std::string Text(const pb::Result& result, const std::string& block) {
    CellBlockReader reader(block);
    auto cells = ReadResult(result, reader);
    EXPECT_TRUE(cells.ok());
    std::string text;
    for (const Cell& cell : *cells) {
      if (!text.empty()) text += ' ';
      text += cell.qualifier + "=" + cell.value;
    }
    return text;
  }

  Live<std::int64_t> gets_at_once_{64};
  Live<bool> exec_checks_{false};
  MasterCalls* master_ = nullptr;          // set it before SetUp
  std::shared_ptr<rpc::CallAudit> audit_;  // likewise
  SystemClock clock_;
  Clock* call_clock_ = &clock_;  // by which calls get their time; set it before SetUp
  rights::RightsHolder rights_;
  std::shared_ptr<rights::Users> users_ = std::make_shared<rights::Users>();  // rights are off
  rights::Judge judge_{rights_, users_};
  Throttles throttles_{clock_};
  Live<std::uint64_t> ahead_bytes_{1U << 20U};
  std::shared_ptr<AheadBudget> ahead_ = std::make_shared<AheadBudget>(ahead_bytes_, 4);
  std::unique_ptr<Timers> timers_ = MakeThreadTimers();
  io::SimDisk sim_;
  std::unique_ptr<io::SimDisk::Process> disk_ = sim_.NewProcess();
  std::unique_ptr<io::Directory> root_;
  std::unique_ptr<io::FencedDirectory> log_directory_;
  InlineLanes lanes_;
  EpochGuard epochs_;
  const Epoch claimed_{1000};  // the epochs that masters have claimed
  std::vector<std::pair<int, std::string>> deaths_;
  std::unique_ptr<RegionHost> host_;
  std::unique_ptr<ScannerTable> scanners_;
  std::unique_ptr<rpc::RpcServer> server_;
  std::unique_ptr<rpc::ChannelPool> blocks_;
  std::unique_ptr<rpc::ChannelPool> plain_;
  std::uint64_t last_pid_ = 10;
};

}  // namespace ratchet::regionserver
