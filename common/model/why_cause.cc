#include "common/model/why_cause.h"

namespace ratchet {

std::string_view WhyCauseText(WhyCause cause) {
  switch (cause) {
    case WhyCause::kActiveElsewhere: return "ACTIVE_ELSEWHERE";
    case WhyCause::kBackoff: return "BACKOFF";
    case WhyCause::kClock: return "CLOCK";
    case WhyCause::kConnection: return "CONNECTION";
    case WhyCause::kDamagedFile: return "DAMAGED_FILE";
    case WhyCause::kDifference: return "DIFFERENCE";
    case WhyCause::kDisk: return "DISK";
    case WhyCause::kFailedOpen: return "FAILED_OPEN";
    case WhyCause::kGoesOn: return "GOES_ON";
    case WhyCause::kGone: return "GONE";
    case WhyCause::kHeldLock: return "HELD_LOCK";
    case WhyCause::kLimit: return "LIMIT";
    case WhyCause::kMasterRefused: return "MASTER_REFUSED";
    case WhyCause::kNoActiveMaster: return "NO_ACTIVE_MASTER";
    case WhyCause::kNoProcedure: return "NO_PROCEDURE";
    case WhyCause::kNoServer: return "NO_SERVER";
    case WhyCause::kNotAMember: return "NOT_A_MEMBER";
    case WhyCause::kOutside: return "OUTSIDE";
    case WhyCause::kParked: return "PARKED";
    case WhyCause::kPaused: return "PAUSED";
    case WhyCause::kReplication: return "REPLICATION";
    case WhyCause::kRing: return "RING";
    case WhyCause::kRunning: return "RUNNING";
    case WhyCause::kServerDead: return "SERVER_DEAD";
    case WhyCause::kSilentServer: return "SILENT_SERVER";
    case WhyCause::kSpace: return "SPACE";
    case WhyCause::kStarting: return "STARTING";
    case WhyCause::kStopping: return "STOPPING";
    case WhyCause::kStore: return "STORE";
    case WhyCause::kStrangerNode: return "STRANGER_NODE";
    case WhyCause::kUnanswered: return "UNANSWERED";
    case WhyCause::kUndoFails: return "UNDO_FAILS";
    case WhyCause::kZooKeeper: return "ZOOKEEPER";
  }
  return "";
}

}  // namespace ratchet
