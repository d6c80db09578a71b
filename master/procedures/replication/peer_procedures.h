// AddPeer, RemovePeer, EnablePeer, DisablePeer, UpdatePeerConfig: change a peer's system record, then its in-memory
// state, then every region server.
//
//   PRE_PEER_MODIFICATION   checks the change; the only step that can fail
//   UPDATE_PEER_STORAGE     writes the record, durable in the batch of this step
//   REFRESH_PEER_ON_RS      updates memory, from where heartbeats carry the list, and sends it to every online server
//                           (RefreshPeer); a server that registers later gets it with its first heartbeat
//   POST_PEER_MODIFICATION
//
// Lock: the exclusive lock of the peer, held from the first step to the end.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "common/model/proto/replication.pb.h"
#include "master/procedures/core/remote_order.h"
#include "master/procedures/replication/peer_change.h"
#include "master/procedures/replication/peer_data.pb.h"

namespace ratchet::master {

// Returns why the change is impossible with the current peers. The function is called before the submission too.
[[nodiscard]] Status CheckPeerChange(const MasterEnv& env, PeerChange change, const pb::PeerData& data);
// Returns why the configuration itself is invalid. Only the procedure checks this: HBase's clients expect the error in
// its result.
[[nodiscard]] Status CheckPeerSettings(PeerChange change, const pb::PeerData& data);
[[nodiscard]] Status CheckPeerData(PeerChange change, const pb::PeerData& data);
// Returns the new record; nullopt if it is removed. `present`: the current record.
[[nodiscard]] std::optional<std::string> PeerRecord(PeerChange change, const pb::PeerData& data,
                                                    const std::optional<std::string>& present);
[[nodiscard]] std::string PeerRecordKey(const pb::PeerData& data);
[[nodiscard]] std::optional<std::string> PeerRecordNow(StepContext& ctx, const std::string& key);
void ShowPeer(StepContext& ctx, const pb::PeerData& data);
void LogPeerChange(StepContext& ctx, std::string_view type, const pb::PeerData& data);
[[nodiscard]] std::vector<ProcedurePtr> RefreshEverywhere(StepContext& ctx, pb::PeerData& data);

// RefreshPeer: sends the current list of replication peers to one region server. Ends when the server has answered or
// is no longer online. The list is built at each send, so that a resent order never carries an old list (the list's
// number decides, see PeerDirectory).
class RefreshPeer final : public RemoteOrder<RefreshPeer, pb::RefreshPeerData> {
 public:
  static constexpr std::string_view kTypeName = "RefreshPeer";
  using RemoteOrder::RemoteOrder;
  static ProcedurePtr Make(const std::string& peer, const std::string& server);
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] Acted<Result<RefreshPeersOrder>> MakeOrder(StepContext& ctx) const;
  void Log(StepContext& ctx, std::string_view event) const;
};

template <class P, PeerChange kChange>
class PeerProcedure : public MasterProcedure<P, pb::PeerData> {
  using Base = MasterProcedure<P, pb::PeerData>;

 public:
  using Base::Base;
  static constexpr ClaimKinds kClaims = kClaimsPeers;
  static constexpr auto Steps() {
    return std::array{
        Base::template On<&P::Pre>(1, "PRE_PEER_MODIFICATION", Base::kNothingToUndo,
                                   Given("the peer is locked; nothing has changed")),
        Base::template On<&P::UpdateStorage>(2, "UPDATE_PEER_STORAGE", Base::kNoReturn,
                                             Given("the change was checked under the lock")),
        Base::template On<&P::Refresh>(3, "REFRESH_PEER_ON_RS", Base::kNoReturn, Spawns<RefreshPeer>(),
                                       Given("the change of the peer's system record is durable")),
        Base::template On<&P::Post>(4, "POST_PEER_MODIFICATION", Base::kNoReturn,
                                    Given("every online server has the new list of peers")),
    };
  }
  static ProcedurePtr Make(pb::PeerData data) { return std::make_unique<P>(std::move(data)); }

  [[nodiscard]] procedure::LockSet Locks() const override {
    return {procedure::Exclusive(procedure::ResourceKey::Peer(this->data_.peer()))};
  }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckInitial() const override { return CheckPeerData(kChange, this->data_); }
  [[nodiscard]] procedure::Description Describe() const override {
    return procedure::Description().Add("peer", this->data_.peer());
  }

 protected:
  StepOutcome Pre(StepContext& ctx) {
    if (Status fine = CheckPeerSettings(kChange, this->data_); !fine.ok()) return Fail{fine.error()};
    if (Status may = CheckPeerChange(EnvOf(ctx), kChange, this->data_); !may.ok()) return Fail{may.error()};
    return Base::template GoTo<&P::UpdateStorage>();
  }
  StepOutcome UpdateStorage(StepContext& ctx) {
    const std::string key = PeerRecordKey(this->data_);
    const auto record = PeerRecord(kChange, this->data_, PeerRecordNow(ctx, key));
    if (record) {
      ctx.PutSystemRecord(key, *record);
    } else {
      ctx.DeleteSystemRecord(key);
    }
    return Base::template GoTo<&P::Refresh>();
  }
  StepOutcome Refresh(StepContext& ctx) {
    ShowPeer(ctx, this->data_);
    return Base::template SpawnThen<&P::Post>(RefreshEverywhere(ctx, this->data_));
  }
  StepOutcome Post(StepContext& ctx) {
    LogPeerChange(ctx, P::kTypeName, this->data_);
    return Done{};
  }
};

class AddPeer final : public PeerProcedure<AddPeer, PeerChange::kAdd> {
 public:
  static constexpr std::string_view kTypeName = "AddPeer";
  using PeerProcedure::PeerProcedure;
  friend class PeerProcedure<AddPeer, PeerChange::kAdd>;
};
class RemovePeer final : public PeerProcedure<RemovePeer, PeerChange::kRemove> {
 public:
  static constexpr std::string_view kTypeName = "RemovePeer";
  using PeerProcedure::PeerProcedure;
  friend class PeerProcedure<RemovePeer, PeerChange::kRemove>;
};
class EnablePeer final : public PeerProcedure<EnablePeer, PeerChange::kEnable> {
 public:
  static constexpr std::string_view kTypeName = "EnablePeer";
  using PeerProcedure::PeerProcedure;
  friend class PeerProcedure<EnablePeer, PeerChange::kEnable>;
};
class DisablePeer final : public PeerProcedure<DisablePeer, PeerChange::kDisable> {
 public:
  static constexpr std::string_view kTypeName = "DisablePeer";
  using PeerProcedure::PeerProcedure;
  friend class PeerProcedure<DisablePeer, PeerChange::kDisable>;
};
class UpdatePeerConfig final : public PeerProcedure<UpdatePeerConfig, PeerChange::kUpdate> {
 public:
  static constexpr std::string_view kTypeName = "UpdatePeerConfig";
  using PeerProcedure::PeerProcedure;
  friend class PeerProcedure<UpdatePeerConfig, PeerChange::kUpdate>;
};

}  // namespace ratchet::master
