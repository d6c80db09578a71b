package org.apache.hadoop.hbase;

import java.lang.reflect.Method;
import java.util.Set;
import org.mockito.Mockito;

/** Objects in the place of those inside a server: what a client can learn is answered, anything else is not applicable. */
final class StandIn {
  /** Given by an answerer for a method that it does not answer. */
  static final Object NO_ANSWER = new Object();

  private static final Set<String> TRUE = Set.of("isAlive", "isInitialized", "isActiveMaster", "isOnline");
  private static final Set<String> FALSE = Set.of("isStopped", "isAborted", "isStopping");

  private StandIn() {}

  interface Answerer {
    Object answer(Method method, Object[] arguments) throws Throwable;
  }

  static <T> T of(Class<T> type, Answerer answerer) {
    return Mockito.mock(type, Mockito.withSettings().stubOnly().defaultAnswer(call -> {
      String name = call.getMethod().getName();
      if (name.equals("toString")) {
        return "External" + type.getSimpleName();
      }
      if (TRUE.contains(name) || FALSE.contains(name)) {
        return TRUE.contains(name);
      }
      Object answer = answerer.answer(call.getMethod(), call.getArguments());
      if (answer == NO_ANSWER) {
        throw new NotApplicable(type.getSimpleName() + "." + name);
      }
      return answer;
    }));
  }

  /** Does nothing where nothing is asked for, and is not applicable in all other methods. */
  static <T> T refusing(Class<T> type) {
    return of(type, (method, arguments) -> method.getReturnType() == void.class ? null : NO_ANSWER);
  }
}
