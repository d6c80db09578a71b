// Exit codes of the servers and tools; the table for humans is in docs/operations.md.
//
// A supervisor needs only three answers: 0 is a requested stop, kUsage to kClockOff will happen again until
// an operator changes something, and everything else may simply be started again.
#pragma once

namespace ratchet::exit_code {

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;        // a command line tool: the request failed; a demo or test: the verdict is FAIL
inline constexpr int kUsage = 2;         // wrong flag, wrong setting, wrong arguments
inline constexpr int kInconclusive = 3;  // a chaos run: nothing failed, but too little happened to call it a pass
inline constexpr int kRootUnusable = 10;  // --root is missing, not writable, or on a file system that is refused
inline constexpr int kPortTaken = 11;     // the address to listen on is in use
inline constexpr int kWrongCluster = 12;  // --root and peers do not belong to the same cluster.id
inline constexpr int kStoreDamaged = 13;  // the procedure store needs ratchet-wal and an operator's decision
inline constexpr int kWrongPlace = 14;    // --root and the place in ZooKeeper do not belong together (S72)
inline constexpr int kClockOff = 15;      // a region server's clock is too far from the master's (S74)
inline constexpr int kZooKeeperUnreachable = 20;  // no session within --zk-connect-timeout-ms
inline constexpr int kSessionExpired = 21;        // ZooKeeper gave the session up: another process may own our work
inline constexpr int kFenced = 22;                // a successor's mark or claim was found (rule S2)
inline constexpr int kRefusedByMaster = 23;       // the master says that this server is dead or too old (rule S5)
inline constexpr int kOutOfMemory = 24;           // an allocation failed (without_resources.h)
inline constexpr int kStorageHangs = 25;          // its storage does not answer, and others are better off (S76)
inline constexpr int kOwnerUnknown =
    26;  // a region's owner cannot be told, or it was not closed: the log is split (S50)
inline constexpr int kNoDescriptors = 27;  // no file or connection could be opened: the process's or the system's limit
inline constexpr int kMountIsDead = 28;    // the mount below --root is gone for good: mount anew first (dead_mount.h)
inline constexpr int kNoRoom = 29;         // the disk below --root is full: nothing could be written at the start
inline constexpr int kInternal = 70;       // a broken invariant that was caught
// 85: died at a fault point (fault_point.h); 86: a failed sync (rule S6, common/io)
inline constexpr int kFailedSync = 86;

}  // namespace ratchet::exit_code
