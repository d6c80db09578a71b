// Clang's thread-safety attributes; nothing for g++. The clang-analysis preset turns violations into errors.
#pragma once

#if defined(__clang__)
#define RATCHET_ATTRIBUTE(x) __attribute__((x))
#else
#define RATCHET_ATTRIBUTE(x)
#endif

#define CAPABILITY(name) RATCHET_ATTRIBUTE(capability(name))
#define SCOPED_CAPABILITY RATCHET_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(mutex) RATCHET_ATTRIBUTE(guarded_by(mutex))
#define PT_GUARDED_BY(mutex) RATCHET_ATTRIBUTE(pt_guarded_by(mutex))
#define ACQUIRED_BEFORE(...) RATCHET_ATTRIBUTE(acquired_before(__VA_ARGS__))
#define ACQUIRED_AFTER(...) RATCHET_ATTRIBUTE(acquired_after(__VA_ARGS__))
#define REQUIRES(...) RATCHET_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define REQUIRES_SHARED(...) RATCHET_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define ACQUIRE(...) RATCHET_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) RATCHET_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...) RATCHET_ATTRIBUTE(release_capability(__VA_ARGS__))
#define RELEASE_SHARED(...) RATCHET_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define RELEASE_GENERIC(...) RATCHET_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) RATCHET_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define EXCLUDES(...) RATCHET_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define ASSERT_CAPABILITY(x) RATCHET_ATTRIBUTE(assert_capability(x))
#define RETURN_CAPABILITY(x) RATCHET_ATTRIBUTE(lock_returned(x))
#define NO_THREAD_SAFETY_ANALYSIS RATCHET_ATTRIBUTE(no_thread_safety_analysis)
