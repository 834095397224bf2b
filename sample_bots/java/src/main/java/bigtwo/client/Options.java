package bigtwo.client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Who the bot is, and where it plays.
 *
 * @param token what `arena bot register` printed
 * @param referees addresses, "host:port"; those that a welcome names are added
 * @param tls null for connections without it
 * @param maxSessions how many sessions the bot plays at once; 0 leaves it to the referees
 * @param strict whether a strategy that fails ends the program; else the referee is told, and the session goes on
 */
public record Options(String token, List<String> referees, Tls tls, int maxSessions, boolean strict) {
    private static final String DEFAULT_REFEREE = "127.0.0.1:8710";
    private static final int LAST_PORT = 65_535;

    /**
     * PEM files.
     *
     * @param authorities those to trust; null for those that Java trusts
     * @param certificate the bot's own, or null
     * @param key that of the certificate (PKCS #8), or null
     */
    public record Tls(Path authorities, Path certificate, Path key) { }

    /**
     * Reads the variables ARENA_TOKEN, ARENA_REFEREE (addresses with commas between them), ARENA_STRICT, and the names
     * of PEM files ARENA_TLS_CA (or "system", for the authorities that Java trusts), ARENA_TLS_CLIENT_CERTIFICATE and
     * ARENA_TLS_CLIENT_KEY. Throws IllegalArgumentException, whose message names the variable.
     */
    public static Options of(Map<String, String> environment) {
        String token = environment.getOrDefault("ARENA_TOKEN", "").strip();
        if (token.isEmpty()) {
            throw new IllegalArgumentException(
                "ARENA_TOKEN: not set; it is the token that `arena bot register` printed");
        }
        boolean strict = !environment.getOrDefault("ARENA_STRICT", "").isEmpty();
        List<String> referees = addresses(environment.getOrDefault("ARENA_REFEREE", ""));
        return new Options(token, referees, tls(environment), 0, strict);
    }

    private static List<String> addresses(String text) {
        if (text.isEmpty()) {
            return List.of(DEFAULT_REFEREE);
        }
        List<String> found = new ArrayList<>();
        for (String part : text.split(",")) {
            String address = part.strip();
            if (address.isEmpty()) {
                continue;
            }
            if (!isAddress(address)) {
                throw new IllegalArgumentException("ARENA_REFEREE: \"" + address
                    + "\" is not an address: it takes a host and a port, such as " + DEFAULT_REFEREE);
            }
            found.add(address);
        }
        if (found.isEmpty()) {
            throw new IllegalArgumentException("ARENA_REFEREE: names no address");
        }
        return found;
    }

    private static boolean isAddress(String text) {
        if (!text.matches("(\\[[0-9A-Fa-f:.]+\\]|[^:\\[\\]\\s/]+):[0-9]{1,5}")) {
            return false;
        }
        int port = port(text);
        return port > 0 && port <= LAST_PORT;
    }

    /** Returns the host of an address, without brackets. */
    static String host(String address) {
        return address.substring(0, address.lastIndexOf(':')).replaceAll("[\\[\\]]", "");
    }

    static int port(String address) {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    private static Tls tls(Map<String, String> environment) {
        String authorities = environment.getOrDefault("ARENA_TLS_CA", "");
        String certificate = environment.getOrDefault("ARENA_TLS_CLIENT_CERTIFICATE", "");
        String key = environment.getOrDefault("ARENA_TLS_CLIENT_KEY", "");
        if (authorities.isEmpty()) {
            if (!certificate.isEmpty() || !key.isEmpty()) {
                throw new IllegalArgumentException("ARENA_TLS_CA: not set, though a certificate or a key is");
            }
            return null;
        }
        if (certificate.isEmpty() != key.isEmpty()) {
            throw new IllegalArgumentException(
                "ARENA_TLS_CLIENT_CERTIFICATE and ARENA_TLS_CLIENT_KEY: only one of them is set");
        }
        return new Tls(
            authorities.equals("system") ? null : pem("ARENA_TLS_CA", authorities, "CERTIFICATE"),
            certificate.isEmpty() ? null : pem("ARENA_TLS_CLIENT_CERTIFICATE", certificate, "CERTIFICATE"),
            key.isEmpty() ? null : pem("ARENA_TLS_CLIENT_KEY", key, "PRIVATE KEY")
        );
    }

    private static Path pem(String variable, String name, String kind) {
        Path path = Path.of(name);
        String text;
        try {
            text = Files.readString(path);
        } catch (IOException unreadable) {
            throw new IllegalArgumentException(variable + ": cannot read " + name, unreadable);
        }
        if (!text.contains("-----BEGIN " + kind + "-----")) {
            throw new IllegalArgumentException(variable + ": no " + kind.toLowerCase() + " (PEM) in " + name);
        }
        return path;
    }
}
