package bigtwo.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the environment. */
final class OptionsTest {
    @Test
    void environmentIsRead() {
        assertEquals(new Options("t", List.of("127.0.0.1:8710"), null, 0, false),
            Options.of(Map.of("ARENA_TOKEN", " t\n")));
        assertEquals(new Options("t", List.of("a.example:1", "[::1]:2"), new Options.Tls(null, null, null), 0, true),
            Options.of(Map.of("ARENA_TOKEN", "t", "ARENA_REFEREE", "a.example:1, [::1]:2,", "ARENA_STRICT", "1",
                "ARENA_TLS_CA", "system")));
    }

    @ParameterizedTest
    @CsvSource({
        "ARENA_TOKEN, ' '", "ARENA_REFEREE, here", "ARENA_REFEREE, :1", "ARENA_REFEREE, here:0",
        "ARENA_REFEREE, here:65536", "ARENA_REFEREE, ::1:8710", "ARENA_REFEREE, ','",
        "ARENA_TLS_CA, /nowhere", "ARENA_TLS_CA, /dev/null",
    })
    void errorNamesTheVariable(String variable, String value) {
        Map<String, String> environment = new HashMap<>(Map.of("ARENA_TOKEN", "t"));
        environment.put(variable, value);
        String told = assertThrows(IllegalArgumentException.class, () -> Options.of(environment)).getMessage();
        assertTrue(told.startsWith(variable + ": ") && !told.contains("\n"), told);
    }

    @Test
    void keyWithoutACertificateOrAnAuthorityIsAnError() {
        assertThrows(IllegalArgumentException.class,
            () -> Options.of(Map.of("ARENA_TOKEN", "t", "ARENA_TLS_CLIENT_KEY", "k")));
        assertThrows(IllegalArgumentException.class,
            () -> Options.of(Map.of("ARENA_TOKEN", "t", "ARENA_TLS_CA", "system", "ARENA_TLS_CLIENT_KEY", "k")));
    }
}
