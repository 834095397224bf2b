package bigtwo.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/** Says in plain words why nobody can be reached at an address: gRPC only repeats what the last layer said. */
final class Unreached {
    /** How long somebody at an address may take to show who is there, in milliseconds. */
    private static final int PROBE_MS = 1000;
    /** How HTTP/2 begins, with empty settings; gRPC is spoken over that. */
    private static final byte[] GREETING =
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0".getBytes(StandardCharsets.ISO_8859_1);
    private static final String PAGES = "HTTP/";

    private Unreached() { }

    /** Returns why, or null where that does not show. */
    static String why(String address, Options.Tls tls) {
        try (Socket socket = connect(address)) {
            if (tls != null) {
                return whyNotTrusted(address, socket, tls);
            }
            if (usesTls(address, socket)) {
                return "it uses TLS, and this side does not: set ARENA_TLS_CA to a file with its authority";
            }
        } catch (UnknownHostException unknown) {
            return "host name not found";
        } catch (ConnectException refused) {
            return "nothing listens there";
        } catch (SocketTimeoutException silent) {
            return "no answer; does a firewall let the bot out?";
        } catch (IOException unclear) {
            return null;
        }
        return answersAsPages(address)
            ? "something other than a referee answers there (is that the port of the pages?)" : null;
    }

    private static Socket connect(String address) throws IOException {
        InetSocketAddress resolved = new InetSocketAddress(Options.host(address), Options.port(address));
        if (resolved.isUnresolved()) {
            throw new UnknownHostException(address);
        }
        Socket socket = new Socket();
        socket.connect(resolved, PROBE_MS);
        socket.setSoTimeout(PROBE_MS);
        return socket;
    }

    private static boolean usesTls(String address, Socket socket) {
        try {
            // Nothing is sent on this connection, so it does not matter whose certificate is shown.
            handshake(address, socket, new TrustManager[] {new Trusting()}, "");
            return true;
        } catch (IOException | GeneralSecurityException plain) {
            return false;
        }
    }

    private static boolean answersAsPages(String address) {
        try (Socket socket = connect(address)) {
            socket.getOutputStream().write(GREETING);
            InputStream answer = socket.getInputStream();
            return new String(answer.readNBytes(PAGES.length()), StandardCharsets.ISO_8859_1).equals(PAGES);
        } catch (IOException silent) {
            return false;
        }
    }

    private static String whyNotTrusted(String address, Socket socket, Options.Tls tls) {
        try {
            handshake(address, socket, trusted(tls), "HTTPS");
            return null;
        } catch (SSLException wrong) {
            return whyNotTrusted(wrong);
        } catch (IOException | GeneralSecurityException unclear) {
            return null;
        }
    }

    private static String whyNotTrusted(SSLException wrong) {
        Throwable cause = wrong;
        boolean onPath = false; // from an authority to the certificate
        while (cause.getCause() != null) {
            cause = cause.getCause();
            onPath |= cause instanceof CertPathBuilderException || cause instanceof CertPathValidatorException;
        }
        String text = String.valueOf(cause.getMessage());
        if (cause instanceof CertificateExpiredException || cause instanceof CertificateNotYetValidException) {
            return "its certificate is not valid: " + text;
        }
        if (onPath) {
            return "its certificate comes from no authority that ARENA_TLS_CA names";
        }
        if (text.contains("subject alternative") || text.startsWith("No name matching")) {
            return "its certificate is not for this address: " + text;
        }
        if (text.startsWith("Unsupported or unrecognized SSL message")) {
            return "it does not use TLS, and this side does: leave ARENA_TLS_CA out for a connection without TLS";
        }
        return null;
    }

    /** Returns what trusts the authorities of a file; null for what Java trusts. */
    private static TrustManager[] trusted(Options.Tls tls) throws IOException, GeneralSecurityException {
        if (tls.authorities() == null) {
            return null;
        }
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (InputStream file = Files.newInputStream(tls.authorities())) {
            int number = 0;
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
                store.setCertificateEntry("authority-" + number++, each);
            }
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    private static void handshake(String address, Socket socket, TrustManager[] trusted, String checked)
        throws IOException, GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trusted, null);
        SSLSocket secure = (SSLSocket) context.getSocketFactory()
            .createSocket(socket, Options.host(address), Options.port(address), false);
        SSLParameters parameters = secure.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {"h2"});
        parameters.setEndpointIdentificationAlgorithm(checked);
        secure.setSSLParameters(parameters);
        secure.startHandshake();
    }

    /** Trusts everybody. */
    private static final class Trusting implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind) { }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind) { }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
