package ratchet.load;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HConstants;

/**
 * How often HBase's client can have sent a request. Before each repetition it waits for hbase.client.pause times
 * HConstants.RETRY_BACKOFF at least; the asynchronous client shortens a wait that would exceed the operation's timeout,
 * and makes its last attempt a millisecond before it.
 */
final class Pauses {
  private static final long LAST_ATTEMPT_MS = 10;

  private final long pauseNs;
  private final long lastAttemptNs;

  Pauses(long pauseMs, long operationMs) {
    pauseNs = TimeUnit.MILLISECONDS.toNanos(pauseMs);
    lastAttemptNs = TimeUnit.MILLISECONDS.toNanos(operationMs - LAST_ATTEMPT_MS);
  }

  /** The largest number of attempts within this time. */
  int mostAttempts(long tookNs) {
    int attempts = tookNs < lastAttemptNs ? 1 : 2;
    long begin = 0;
    for (int factor : HConstants.RETRY_BACKOFF) {
      begin += pauseNs * factor;
      if (begin > tookNs) {
        break;
      }
      attempts++;
    }
    return attempts;
  }
}
