package bigtwo.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.grpc.ServerCredentials;
import io.grpc.TlsServerCredentials;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of connections with TLS, and of what is told where nobody is reached. */
final class TlsTest {
    /** A certificate for 127.0.0.1 that is its own authority, and another one. */
    private static Options.Tls ours;
    private static Options.Tls others;

    @BeforeAll
    static void makeCertificates(@TempDir Path folder) throws Exception {
        ours = certificate(Files.createDirectory(folder.resolve("ours")));
        others = certificate(Files.createDirectory(folder.resolve("others")));
    }

    private static Options.Tls certificate(Path folder)
        throws IOException, GeneralSecurityException, InterruptedException {
        Path store = folder.resolve("store.p12");
        Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair", "-alias", "key", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=test",
            "-ext", "san=ip:127.0.0.1", "-storetype", "PKCS12", "-keystore", store.toString(), "-storepass", "secret")
            .redirectErrorStream(true).start();
        String printed = new String(keytool.getInputStream().readAllBytes());
        assertEquals(0, keytool.waitFor(), printed);
        KeyStore opened = KeyStore.getInstance("PKCS12");
        try (InputStream file = Files.newInputStream(store)) {
            opened.load(file, "secret".toCharArray());
        }
        Path certificate = pem(folder, "CERTIFICATE", opened.getCertificate("key").getEncoded());
        Key key = opened.getKey("key", "secret".toCharArray());
        return new Options.Tls(certificate, certificate, pem(folder, "PRIVATE KEY", key.getEncoded()));
    }

    private static Path pem(Path folder, String kind, byte[] der) throws IOException {
        String text = Base64.getMimeEncoder(64, "\n".getBytes()).encodeToString(der);
        return Files.writeString(folder.resolve(kind + ".pem"),
            "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(kind, text, kind));
    }

    private static ServerCredentials server(boolean asks) throws IOException {
        TlsServerCredentials.Builder builder = TlsServerCredentials.newBuilder()
            .keyManager(ours.certificate().toFile(), ours.key().toFile());
        if (asks) {
            builder.trustManager(ours.authorities().toFile()).clientAuth(TlsServerCredentials.ClientAuth.REQUIRE);
        }
        return builder.build();
    }

    private static Options with(Options.Tls tls, String address) {
        return RunningBot.options(options -> new Options("secret", options.referees(), tls, 0, false), address);
    }

    @Test
    void botConnectsWithTlsAndItsOwnCertificate() throws IOException {
        try (FakeReferee referee = new FakeReferee(server(true));
            RunningBot bot = new RunningBot(RunningBot::first, with(ours, referee.address))) {
            referee.stream();
        }
    }

    @Test
    void botNamesTlsOnOneSideOnly() throws IOException {
        Options.Tls trusting = new Options.Tls(ours.authorities(), null, null);
        try (FakeReferee encrypted = new FakeReferee(server(false)); FakeReferee plain = new FakeReferee();
            RunningBot one = new RunningBot(encrypted.address);
            RunningBot other = new RunningBot(RunningBot::first, with(trusting, plain.address))) {
            one.told(encrypted.address, "it uses TLS, and this side does not: set ARENA_TLS_CA");
            other.told(plain.address, "it does not use TLS, and this side does: leave ARENA_TLS_CA out");
        }
    }

    @Test
    void reasonIsFoundWhereNobodyIsReached() throws IOException {
        Options.Tls trusting = new Options.Tls(ours.authorities(), null, null);
        Options.Tls elsewhere = new Options.Tls(others.authorities(), null, null);
        Options.Tls system = new Options.Tls(null, null, null);
        HttpServer pages = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        pages.start();
        try (FakeReferee encrypted = new FakeReferee(server(false)); FakeReferee plain = new FakeReferee()) {
            assertEquals("nothing listens there", Unreached.why(FakeReferee.nowhere(), null));
            assertEquals("host name not found", Unreached.why("nowhere.invalid:8710", null));
            String unknown = "its certificate comes from no authority that ARENA_TLS_CA names";
            assertEquals(unknown, Unreached.why(encrypted.address, elsewhere));
            assertEquals(unknown, Unreached.why(encrypted.address, system));
            String name = Unreached.why(encrypted.local(), trusting);
            assertTrue(name.startsWith("its certificate is not for this address: "), name);
            String page = Unreached.why("127.0.0.1:" + pages.getAddress().getPort(), null);
            assertEquals("something other than a referee answers there (is that the port of the pages?)", page);
            assertNull(Unreached.why(plain.address, null));
            assertNull(Unreached.why(encrypted.address, trusting));
        } finally {
            pages.stop(0);
        }
    }

    @Test
    void botThatReachesNobodySaysSoOnce() throws IOException {
        BlockingQueue<Boolean> attempts = new LinkedBlockingQueue<>();
        try (ServerSocket mute = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread accepting = new Thread(() -> {
                try {
                    while (true) {
                        mute.accept().close();
                        attempts.add(true);
                    }
                } catch (IOException closed) {
                    // The test is over.
                }
            });
            accepting.start();
            try (RunningBot bot = new RunningBot("127.0.0.1:" + mute.getLocalPort())) {
                bot.told("not connected, trying again");
                for (int attempt = 0; attempt < 6; attempt++) {
                    FakeReferee.receive(attempts);
                }
                assertEquals(0, bot.untold().size());
            }
        }
    }
}
