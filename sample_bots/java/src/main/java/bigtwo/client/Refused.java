package bigtwo.client;

/** Says that a referee will not have the bot, and another attempt cannot change that. */
public final class Refused extends Exception {
    private static final long serialVersionUID = 1;

    private final String reason;

    Refused(String referee, Failure failure) {
        super("referee " + referee + " refuses the bot: " + failure);
        reason = failure.reason();
    }

    /** Returns the name of an ErrorReason without its prefix. */
    public String reason() {
        return reason;
    }
}
