package bigtwo.client;

/** Says that the strategy of a strict bot failed. */
public final class StrategyFailed extends Exception {
    private static final long serialVersionUID = 1;

    StrategyFailed(String where, Throwable cause) {
        super(where, cause);
    }
}
