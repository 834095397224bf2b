package bigtwo.bot;

import bigtwo.client.Client;
import bigtwo.client.Options;
import bigtwo.client.Refused;
import bigtwo.client.StrategyFailed;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** Plays Big Two in an arena; see README.md. */
public final class Main {
    private static final Logger GRPC = Logger.getLogger("io.grpc");

    private Main() { }

    /** Runs the bot that the environment describes, and ends with status 0, or 1 after an error. */
    public static void main(String[] arguments) throws InterruptedException {
        System.exit(status());
    }

    private static int status() throws InterruptedException {
        GRPC.setLevel(Level.OFF); // the client tells what matters
        try {
            Client client = new Client(Options.of(System.getenv()), Planner::new, Main::log);
            onSignals(client);
            client.run();
            return 0;
        } catch (IllegalArgumentException | Refused wrong) {
            System.err.println(wrong.getMessage());
        } catch (StrategyFailed failed) {
            System.err.println(failed.getMessage());
            failed.getCause().printStackTrace();
        }
        return 1;
    }

    /** Finishes at the first signal, leaves at the second, and lets the third end the program. */
    private static void onSignals(Client client) {
        SignalHandler handler = new SignalHandler() {
            private boolean finishing;

            @Override
            public synchronized void handle(Signal signal) {
                if (finishing) {
                    Signal.handle(new Signal("INT"), SIG_DFL);
                    Signal.handle(new Signal("TERM"), SIG_DFL);
                    client.leave();
                } else {
                    finishing = true;
                    client.finish();
                }
            }
        };
        Signal.handle(new Signal("INT"), handler);
        Signal.handle(new Signal("TERM"), handler);
    }

    private static void log(String line) {
        System.err.println(Instant.now().truncatedTo(ChronoUnit.SECONDS) + " " + line);
    }
}
