package bigtwo.client;

/** Makes the strategies. */
@FunctionalInterface
public interface Maker {
    /**
     * Returns the strategy for a session, when its first decision is asked: also for one that is met again after a lost
     * connection, and for one whose strategy has not answered in time.
     *
     * @throws Exception for any reason: it is told of each turn
     */
    Strategy make(Session session) throws Exception;
}
