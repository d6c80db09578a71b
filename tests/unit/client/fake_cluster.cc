#include "tests/unit/client/fake_cluster.h"

#include <algorithm>

#include "common/base/fault_point.h"
#include "common/model/codec.h"
#include "common/model/meta_row.h"
#include "common/model/proto/procedure.pb.h"
#include "common/model/proto/registry.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_meta_service.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/methods/master_service.h"

namespace ratchet::client {

namespace pb = hbase::pb;

FakeCluster::FakeCluster(int servers) {
  for (int i = 0; i < servers; ++i) {
    rpc::ServerOptions options;
    options.name = "rs" + std::to_string(i);
    servers_.push_back(std::make_unique<rpc::RpcServer>(options));
    servers_.back()->Add(MakeClientService(i));
    RATCHET_CHECK(servers_.back()->Start().ok(), "server {}", i);
  }
  master_ = std::make_unique<rpc::RpcServer>(rpc::ServerOptions{.name = "master"});
  master_->Add(MakeMasterService());
  master_->Add(MakeRegistry());
  RATCHET_CHECK(master_->Start().ok(), "master");
  rpc::RpcServer gone({});
  RATCHET_CHECK(gone.Start().ok(), "port");
  unused_port_ = gone.port();
}

FakeCluster::~FakeCluster() {
  FaultPoints::Instance().DisarmAll();
  master_->Stop();
  for (const auto& server : servers_) server->Stop();
}

std::string FakeCluster::master() const { return "127.0.0.1:" + std::to_string(master_->port()); }

ServerName FakeCluster::NameOf(std::size_t server) const { return {"127.0.0.1", servers_[server]->port(), 1 + server}; }

void FakeCluster::AddTable(const TableName& table, const std::vector<std::string>& split_keys) {
  MutexLock lock(mutex_);
  states_[table] = TableState::kEnabled;
  std::vector<std::string> edges = split_keys;
  edges.insert(edges.begin(), "");
  edges.push_back("");
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    RegionInfo info;
    info.table = table;
    info.start_key = edges[i];
    info.end_key = edges[i + 1];
    info.region_id = ++last_id_;
    regions_.push_back({info, i % servers_.size()});
  }
}

void FakeCluster::SetState(const TableName& table, TableState state) {
  MutexLock lock(mutex_);
  states_[table] = state;
}

FakeCluster::Region& FakeCluster::Find(const TableName& table, const std::string& row) {
  const auto found = std::find_if(regions_.begin(), regions_.end(), [&](const Region& region) {
    return region.info.table == table && region.info.Contains(row) && !region.info.split;
  });
  RATCHET_CHECK(found != regions_.end(), "no region of {} for '{}'", table.ToString(), row);
  return *found;
}

void FakeCluster::Move(const TableName& table, const std::string& row, std::size_t server) {
  MutexLock lock(mutex_);
  Region& region = Find(table, row);
  std::erase_if(scanners_, [&](const auto& open) { return open.second.region == region.info.encoded_name(); });
  region.server = server;
}

void FakeCluster::Split(const TableName& table, const std::string& row, std::size_t server) {
  MutexLock lock(mutex_);
  Region& parent = Find(table, row);
  std::erase_if(scanners_, [&](const auto& open) { return open.second.region == parent.info.encoded_name(); });
  RegionInfo low = parent.info;
  low.region_id = ++last_id_;
  low.end_key = row;
  RegionInfo high = parent.info;
  high.region_id = last_id_;
  high.start_key = row;
  parent.info.offline = parent.info.split = true;
  regions_.push_back({low, server});
  regions_.push_back({high, server});
}

void FakeCluster::SetFault(Fault fault) {
  MutexLock lock(mutex_);
  fault_ = std::move(fault);
}

void FakeCluster::LoseAnswers(const std::string& method, int count) {
  FaultSpec spec;
  spec.action = FaultAction::kFail;
  spec.match = method;
  spec.times = static_cast<std::uint64_t>(count);
  FaultPoints::Instance().Arm("rpc.before_reply", spec);
}

std::size_t FakeCluster::OpenScanners() {
  MutexLock lock(mutex_);
  return scanners_.size();
}

std::string FakeCluster::Value(const TableName& table, const std::string& row) {
  MutexLock lock(mutex_);
  return data_[table][row];
}

int FakeCluster::Calls(const std::string& method) {
  MutexLock lock(mutex_);
  return calls_[method];
}

std::vector<std::uint64_t> FakeCluster::CreateNonces() {
  MutexLock lock(mutex_);
  return create_nonces_;
}

void FakeCluster::FinishProcedure(std::optional<Error> error) {
  MutexLock lock(mutex_);
  finished_ = true;
  procedure_error_ = std::move(error);
}

template <class Response, class Work>
void FakeCluster::Run(const std::string& method, int server, const rpc::Responder<Response>& responder, Work work) {
  Fault fault;
  {
    MutexLock lock(mutex_);
    fault = fault_;
  }
  if (fault) {
    if (const auto error = fault(method, server)) {
      responder.Fail(*error);
      return;
    }
  }
  Result<Response> result = [&] {
    MutexLock lock(mutex_);
    ++calls_[method];
    return work();
  }();
  responder.ReplyOrFail(result);
}

std::shared_ptr<rpc::Service> FakeCluster::MakeClientService(int server) {
  auto service = std::make_shared<rpc::Service>(methods::kClientService);
  service->On(methods::kGet, [this, server](const auto&, const auto& request, auto, const auto& responder) {
    Run("Get", server, responder, [&]() NO_THREAD_SAFETY_ANALYSIS { return Get(server, request); });
  });
  service->On(methods::kMutate, [this, server](const auto&, const auto& request, auto, const auto& responder) {
    Run("Mutate", server, responder, [&]() NO_THREAD_SAFETY_ANALYSIS { return Mutate(server, request); });
  });
  service->On(methods::kMulti, [this, server](const auto&, const auto& request, auto, const auto& responder) {
    Run("Multi", server, responder, [&]() NO_THREAD_SAFETY_ANALYSIS { return Multi(server, request); });
  });
  service->On(methods::kScan, [this, server](const auto&, const auto& request, auto, const auto& responder) {
    Run("Scan", server, responder, [&]() NO_THREAD_SAFETY_ANALYSIS { return Scan(server, request); });
  });
  return service;
}

std::shared_ptr<rpc::Service> FakeCluster::MakeMasterService() {
  auto service = std::make_shared<rpc::Service>(methods::kMasterService);
  service->On(methods::kCreateTable, [this](const auto&, const auto& request, auto, const auto& responder) {
    Run("CreateTable", -1, responder, [&]() NO_THREAD_SAFETY_ANALYSIS {
      create_nonces_.push_back(request.nonce());
      pb::CreateTableResponse response;
      response.set_proc_id(7);
      return Result<pb::CreateTableResponse>(response);
    });
  });
  service->On(methods::kGetProcedureResult, [this](const auto&, const auto& request, auto, const auto& responder) {
    Run("getProcedureResult", -1, responder, [&]() NO_THREAD_SAFETY_ANALYSIS {
      using Response = pb::GetProcedureResultResponse;
      Response response;
      response.set_state(request.proc_id() != 7 ? Response::NOT_FOUND
                         : finished_            ? Response::FINISHED
                                                : Response::RUNNING);
      if (finished_ && procedure_error_) rpc::FillForeign(*procedure_error_, "master", *response.mutable_exception());
      return Result<Response>(response);
    });
  });
  return service;
}

std::shared_ptr<rpc::Service> FakeCluster::MakeRegistry() {
  auto service = std::make_shared<rpc::Service>(methods::kClientMetaService);
  service->On(methods::kGetMetaRegionLocations, [this](const auto&, const auto&, auto, const auto& responder) {
    Run("GetMetaRegionLocations", -1, responder, [&] {
      pb::GetMetaRegionLocationsResponse response;
      auto* location = response.add_meta_locations();
      ToProto(MetaRegionInfo(), *location->mutable_region_info());
      ToProto(NameOf(0), *location->mutable_server_name());
      location->set_seq_num(1);
      return Result<pb::GetMetaRegionLocationsResponse>(response);
    });
  });
  return service;
}

}  // namespace ratchet::client
