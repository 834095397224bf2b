package bigtwo.client;

/** Plays one session. */
@FunctionalInterface
public interface Strategy {
    /**
     * Returns one of the turn's legal plays, or no cards for a pass. It is called for the kinds of turns that are known
     * here, for one turn of the session at a time, on a thread of its own; the thread is interrupted when the answer
     * comes too late.
     *
     * @throws Exception for any reason: the referee is told, and the session goes on
     */
    Cards choose(Turn turn) throws Exception;
}
