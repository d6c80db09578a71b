// Exit codes of the servers and tools; the table for humans is in docs/operations.md.
//
// A supervisor distinguishes three cases: 0 is a requested stop; after kUsage and kPortTaken to 19 an operator must
// act; after any other code it restarts the server, also after kRootUnusable, because the root may be mounted late.
#pragma once

namespace ratchet::exit_code {

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;        // a command line tool: the request failed; a demo or test: the verdict is FAIL
inline constexpr int kUsage = 2;         // wrong flag, wrong setting, wrong arguments
inline constexpr int kInconclusive = 3;  // a chaos run: nothing failed, but too little happened to call it a pass
inline constexpr int kRootUnusable = 10;  // --root is missing, not writable, or on a file system that is refused
inline constexpr int kPortTaken = 11;     // the address to listen on is in use, or its use is not permitted
inline constexpr int kWrongCluster = 12;  // --root and peers do not belong to the same cluster.id
inline constexpr int kStoreDamaged = 13;  // the procedure store needs ratchet-wal and an operator's decision
// --root and the place in ZooKeeper do not belong together (S72: root and ZooKeeper node belong together)
inline constexpr int kWrongPlace = 14;
// a region server's clock is too far from the master's (S74: clock skew limit)
inline constexpr int kClockOff = 15;
// --root lacks a part of its past, or holds an older copy of it (S114: no start without the past)
inline constexpr int kWentBack = 16;
inline constexpr int kZooKeeperUnreachable = 20;  // no session within --zk-connect-timeout-ms
inline constexpr int kSessionExpired = 21;        // ZooKeeper expired the session: another process may own our work
inline constexpr int kFenced = 22;                // a successor's mark or claim was found, S2 (check is positive)
// the master considers this server dead or too old (S5: rising start code)
inline constexpr int kRefusedByMaster = 23;
inline constexpr int kOutOfMemory = 24;  // an allocation failed (resource_failure.h)
// its storage does not answer, but answers other processes (S76: withdraw with permission)
inline constexpr int kStorageHangs = 25;
// a region's owner is unknown, or it was not closed: the log is split (S50: give up only on proof)
inline constexpr int kOwnerUnknown = 26;
inline constexpr int kNoDescriptors = 27;  // no file or connection could be opened: the process's or the system's limit
inline constexpr int kMountIsDead = 28;    // the mount below --root is permanently gone: mount again first
                                           // (dead_mount.h)
inline constexpr int kNoRoom = 29;         // the disk below --root is full: nothing could be written at the start
inline constexpr int kNoAddress = 30;      // the names to listen on have no address of this machine now
inline constexpr int kInternal = 70;       // a broken invariant that was caught
// 85: died at a fault point (fault_point.h); 86: a failed sync (S6: failed sync ends the process; common/io)
inline constexpr int kFailedSync = 86;

}  // namespace ratchet::exit_code
