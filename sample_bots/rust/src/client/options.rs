//! Who the bot is and where it plays, as the environment says.

use std::fs;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use tonic::transport::{Certificate, ClientTlsConfig, Identity};

const DEFAULT_REFEREE: &str = "127.0.0.1:8710";
const CA: &str = "ARENA_TLS_CA";
const CERTIFICATE: &str = "ARENA_TLS_CLIENT_CERTIFICATE";
const KEY: &str = "ARENA_TLS_CLIENT_KEY";

/// Who the bot is, and where it plays.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What `arena bot register` printed.
    pub token: String,
    /// Addresses, "host:port"; those that a welcome names are added.
    pub referees: Vec<String>,
    /// `None` for connections without TLS.
    pub tls: Option<Tls>,
    /// How many sessions the bot plays at once; `None` leaves it to the referees.
    pub max_sessions: Option<u32>,
    /// Whether a strategy's panic ends the bot; else the referee is told, and the session goes on.
    pub is_strict: bool,
}

/// What the bot needs for connections with TLS.
#[derive(Clone, Debug)]
pub struct Tls {
    /// For gRPC.
    pub(crate) config: ClientTlsConfig,
    /// The same, to find out why a connection fails.
    pub(crate) probe: Arc<ClientConfig>,
}

impl Options {
    /// Reads the variables `ARENA_TOKEN`, `ARENA_REFEREE` (addresses with commas between them), `ARENA_STRICT`, and
    /// the names of PEM files `ARENA_TLS_CA` (or "system", for the authorities that the system trusts),
    /// `ARENA_TLS_CLIENT_CERTIFICATE` and `ARENA_TLS_CLIENT_KEY`.
    ///
    /// # Errors
    ///
    /// A variable is missing or wrong; the message begins with its name.
    pub fn from_environment() -> Result<Self, String> {
        Self::from_variables(|name| std::env::var(name).unwrap_or_default())
    }

    fn from_variables(variable: impl Fn(&str) -> String) -> Result<Self, String> {
        let token = variable("ARENA_TOKEN").trim().to_owned();
        if token.is_empty() {
            return Err("ARENA_TOKEN: not set; it is the token that `arena bot register` printed".into());
        }
        Ok(Self {
            token,
            referees: addresses(&variable("ARENA_REFEREE")).map_err(|why| format!("ARENA_REFEREE: {why}"))?,
            tls: tls_from_files(&variable(CA), &variable(CERTIFICATE), &variable(KEY))?,
            max_sessions: None,
            is_strict: !variable("ARENA_STRICT").is_empty(),
        })
    }
}

fn addresses(text: &str) -> Result<Vec<String>, String> {
    if text.is_empty() {
        return Ok(vec![DEFAULT_REFEREE.into()]);
    }
    let mut found = Vec::new();
    for address in text.split(',').map(str::trim).filter(|address| !address.is_empty()) {
        if !is_address(address) {
            return Err(format!(
                "{address:?} is not an address: it takes a host and a port, such as {DEFAULT_REFEREE}"
            ));
        }
        found.push(address.to_owned());
    }
    if found.is_empty() { Err("names no address".into()) } else { Ok(found) }
}

fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let is_bracketed = host.starts_with('[') && host.ends_with(']');
    let is_port =
        port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
    is_port && !host.is_empty() && (is_bracketed || !host.contains(':'))
}

pub(crate) fn tls_from_files(ca: &str, certificate: &str, key: &str) -> Result<Option<Tls>, String> {
    if ca.is_empty() {
        if certificate.is_empty() && key.is_empty() {
            return Ok(None);
        }
        return Err(format!("{CA}: not set, though a certificate or a key is"));
    }
    if certificate.is_empty() != key.is_empty() {
        return Err(format!("{CERTIFICATE} and {KEY}: only one of them is set"));
    }
    let mut config = ClientTlsConfig::new();
    let mut roots = RootCertStore::empty();
    if ca == "system" {
        config = config.with_native_roots();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    } else {
        let pem = read(CA, ca)?;
        roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem).flatten());
        if roots.is_empty() {
            return Err(format!("{CA}: no certificate in {ca}"));
        }
        config = config.ca_certificate(Certificate::from_pem(pem));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has what the default versions take")
        .with_root_certificates(roots);
    let mut probe = if certificate.is_empty() {
        builder.with_no_client_auth()
    } else {
        let (certificate, key) = (read(CERTIFICATE, certificate)?, read(KEY, key)?);
        let wrong = |why: String| format!("{CERTIFICATE}, {KEY}: {why}");
        let chain = CertificateDer::pem_slice_iter(&certificate).collect::<Result<Vec<_>, _>>();
        let secret = PrivateKeyDer::from_pem_slice(&key);
        config = config.identity(Identity::from_pem(&certificate, &key));
        builder
            .with_client_auth_cert(
                chain.map_err(|error| wrong(error.to_string()))?,
                secret.map_err(|error| wrong(error.to_string()))?,
            )
            .map_err(|error| wrong(error.to_string()))?
    };
    probe.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Some(Tls { config, probe: Arc::new(probe) }))
}

fn read(variable: &str, file: &str) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| format!("{variable}: {file}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn options(variables: &[(&str, &str)]) -> Result<Options, String> {
        Options::from_variables(|name| {
            variables.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value).into()
        })
    }

    #[test]
    fn options_are_read_from_the_environment() {
        let told = options(&[
            ("ARENA_TOKEN", " secret "),
            ("ARENA_REFEREE", "a:1, [::1]:2,"),
            ("ARENA_STRICT", "1"),
        ])
        .unwrap();
        assert_eq!((told.token.as_str(), told.is_strict, told.tls.is_none()), ("secret", true, true));
        assert_eq!(told.referees, ["a:1", "[::1]:2"]);
        let left = options(&[("ARENA_TOKEN", "secret")]).unwrap();
        assert_eq!((left.referees, left.is_strict), (vec!["127.0.0.1:8710".to_owned()], false));
    }

    #[test]
    fn options_that_cannot_be_used_are_named() {
        let folder = env!("CARGO_MANIFEST_DIR");
        let (none, empty) = (format!("{folder}/none"), format!("{folder}/Cargo.toml"));
        for (name, value, wanted) in [
            ("ARENA_TOKEN", " ", "ARENA_TOKEN: not set"),
            ("ARENA_REFEREE", "a:1,b", "ARENA_REFEREE: \"b\" is not an address: it takes a host and a port"),
            ("ARENA_REFEREE", "b:", "ARENA_REFEREE: \"b:\" is not an address"),
            ("ARENA_REFEREE", "b:x", "ARENA_REFEREE: \"b:x\" is not an address"),
            ("ARENA_REFEREE", "b:0", "ARENA_REFEREE: \"b:0\" is not an address"),
            ("ARENA_REFEREE", "::1:2", "ARENA_REFEREE: \"::1:2\" is not an address"),
            ("ARENA_REFEREE", ",", "ARENA_REFEREE: names no address"),
            ("ARENA_TLS_CA", &none, "ARENA_TLS_CA: "),
            ("ARENA_TLS_CA", &empty, "ARENA_TLS_CA: no certificate in "),
            ("ARENA_TLS_CLIENT_KEY", &empty, "ARENA_TLS_CA: not set"),
        ] {
            let error = options(&[(name, value), ("ARENA_TOKEN", "secret")]).unwrap_err();
            assert!(error.starts_with(wanted), "{error}");
        }
        let half = [("ARENA_TOKEN", "secret"), ("ARENA_TLS_CA", "system"), ("ARENA_TLS_CLIENT_KEY", &empty)];
        assert!(options(&half).unwrap_err().contains("only one of them is set"));
        let wrong = [half[0], half[1], half[2], ("ARENA_TLS_CLIENT_CERTIFICATE", &empty)];
        assert!(
            options(&wrong).unwrap_err().starts_with("ARENA_TLS_CLIENT_CERTIFICATE, ARENA_TLS_CLIENT_KEY: ")
        );
    }
}
