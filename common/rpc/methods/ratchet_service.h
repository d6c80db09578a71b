// RatchetService: requests of Ratchet's own command line and tools to a master.
#pragma once

#include "common/model/proto/balance.pb.h"
#include "common/model/proto/history.pb.h"
#include "common/model/proto/operator.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/proto/why.pb.h"
#include "common/rpc/method.h"

namespace ratchet::methods {

inline constexpr std::string_view kRatchetService = "RatchetService";

inline constexpr rpc::Method<pb::GiveUpRegionRequest, pb::MendTableResponse> kGiveUpRegion{kRatchetService,
                                                                                           "GiveUpRegion"};
inline constexpr rpc::Method<pb::CompactTableRequest, pb::CompactTableResponse> kCompactTable{kRatchetService,
                                                                                              "CompactTable"};
inline constexpr rpc::Method<pb::FillHolesRequest, pb::MendTableResponse> kFillHoles{kRatchetService, "FillHoles"};
inline constexpr rpc::Method<pb::PutBackEditsRequest, pb::MendTableResponse> kPutBackEdits{kRatchetService,
                                                                                           "PutBackEdits"};
inline constexpr rpc::Method<pb::ReconcileRequest, pb::ReconcileResponse> kReconcile{kRatchetService, "Reconcile"};
inline constexpr rpc::Method<pb::PauseRequest, pb::PauseResponse> kPause{kRatchetService, "Pause"};
inline constexpr rpc::Method<pb::ResumeRequest, pb::ResumeResponse> kResume{kRatchetService, "Resume"};
inline constexpr rpc::Method<pb::ProcedureVerbRequest, pb::ProcedureVerbResponse> kProcedureVerb{kRatchetService,
                                                                                                 "ProcedureVerb"};
inline constexpr rpc::Method<pb::ListPausesRequest, pb::ListPausesResponse> kListPauses{kRatchetService, "ListPauses",
                                                                                        rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::ListEventsRequest, pb::ListEventsResponse> kListEvents{kRatchetService, "ListEvents",
                                                                                        rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::GetMetricsRequest, pb::GetMetricsResponse> kGetMetrics{kRatchetService, "GetMetrics",
                                                                                        rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::GetStatusRequest, pb::GetStatusResponse> kGetStatus{kRatchetService, "GetStatus",
                                                                                     rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::ListRegionsRequest, pb::ListRegionsResponse> kListRegions{
    kRatchetService, "ListRegions", rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::ListServersRequest, pb::ListServersResponse> kListServers{
    kRatchetService, "ListServers", rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::ListTablesRequest, pb::ListTablesResponse> kListTables{kRatchetService, "ListTables",
                                                                                        rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::ListProceduresRequest, pb::ListProceduresResponse> kListProcedures{
    kRatchetService, "ListProcedures", rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::GetProcedureRequest, pb::GetProcedureResponse> kGetProcedure{
    kRatchetService, "GetProcedure", rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::ListHistoryRequest, pb::ListHistoryResponse> kListHistory{
    kRatchetService, "ListHistory", rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::ListLocksRequest, pb::ListLocksResponse> kListLocks{kRatchetService, "ListLocks",
                                                                                     rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::PlanBalanceRequest, pb::PlanBalanceResponse> kPlanBalance{
    kRatchetService, "PlanBalance", rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::WhyRequest, pb::WhyResponse> kWhy{kRatchetService, "Why", rpc::Effect::kQueries};
inline constexpr rpc::Method<pb::TransitRegionRequest, pb::TransitRegionResponse> kTransitRegion{kRatchetService,
                                                                                                 "TransitRegion"};

}  // namespace ratchet::methods
