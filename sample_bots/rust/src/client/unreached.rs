//! Why nobody can be reached, in plain words.

use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::options::Tls;

/// How long somebody at an address may take to show who is there.
const PROBE_WITHIN: Duration = Duration::from_secs(1);
/// How HTTP/2 begins, with empty settings; gRPC is spoken over that.
const GREETING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
const FIREWALL: &str = "no answer; does a firewall let the bot out?";

/// Says in plain words why nobody can be reached at an address; `None` where that does not show. `tls` is that of
/// this side. gRPC only repeats what the last layer said.
pub(crate) async fn why_unreached(address: &str, tls: Option<&Tls>) -> Option<String> {
    if let Err(error) = lookup_host(address).await {
        let text = error.to_string();
        let is_unknown = ["not known", "No such host", "No address"].iter().any(|part| text.contains(part));
        return is_unknown.then(|| "host name not found".into());
    }
    let connection = match timeout(PROBE_WITHIN, TcpStream::connect(address)).await {
        Err(_) => return Some(FIREWALL.into()),
        Ok(Err(error)) => {
            return (error.kind() == ErrorKind::ConnectionRefused).then(|| "nothing listens there".into());
        }
        Ok(Ok(connection)) => connection,
    };
    let probe = tls.map_or_else(trusting_nobody, |tls| tls.probe.clone());
    let answer = timeout(PROBE_WITHIN, handshake(address, connection, probe)).await;
    let error = answer.ok()?.err();
    if tls.is_some() {
        return why_not_trusted(error?.get_ref()?.downcast_ref()?);
    }
    // Who shows a certificate uses TLS, whether or not it can be trusted.
    let is_tls = error.is_none_or(|error| {
        let error = error.get_ref().and_then(|inner| inner.downcast_ref());
        matches!(error, Some(rustls::Error::InvalidCertificate(_)))
    });
    if is_tls {
        return Some(
            "it uses TLS, and this side does not: set ARENA_TLS_CA to a file with its authority".into(),
        );
    }
    let is_site =
        timeout(PROBE_WITHIN, answers_as_pages(address)).await.is_ok_and(|answer| answer.unwrap_or(false));
    is_site.then(|| "something other than a referee answers there (is that the port of the pages?)".into())
}

fn trusting_nobody() -> Arc<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has what the default versions take")
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    Arc::new(config)
}

async fn handshake(address: &str, connection: TcpStream, config: Arc<ClientConfig>) -> Result<(), Error> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
    let name =
        ServerName::try_from(host.to_owned()).map_err(|error| Error::new(ErrorKind::InvalidInput, error))?;
    TlsConnector::from(config).connect(name, connection).await.map(drop)
}

/// Whether a server answers there that speaks HTTP/1 alone, as one of web pages may.
async fn answers_as_pages(address: &str) -> Result<bool, Error> {
    let mut connection = TcpStream::connect(address).await?;
    connection.write_all(GREETING).await?;
    let mut first = [0; 5];
    connection.read_exact(&mut first).await?;
    Ok(&first == b"HTTP/")
}

/// What is wrong where a handshake failed.
fn why_not_trusted(error: &rustls::Error) -> Option<String> {
    Some(match error {
        rustls::Error::InvalidMessage(_) => {
            "it does not use TLS, and this side does: leave ARENA_TLS_CA out for a connection without TLS"
                .into()
        }
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "its certificate comes from no authority that ARENA_TLS_CA names".into()
        }
        rustls::Error::InvalidCertificate(
            why @ (CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }),
        ) => format!("its certificate is not for this address: {why}"),
        rustls::Error::InvalidCertificate(why) => format!("its certificate is not valid: {why}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::why_unreached;
    use crate::client::options::tls_from_files;

    /// An address at which everybody is told `answer` after a first word.
    async fn answering(answer: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                let _ = connection.read(&mut [0; 1000]).await;
                let _ = connection.write_all(answer).await;
            }
        });
        address
    }

    #[tokio::test]
    async fn the_reason_is_said_in_plain_words() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let nobody = listener.local_addr().unwrap().to_string();
        drop(listener);
        assert_eq!(why_unreached(&nobody, None).await.unwrap(), "nothing listens there");
        let pages = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        assert!(
            why_unreached(&pages, None)
                .await
                .unwrap()
                .starts_with("something other than a referee answers there")
        );
        let plain = answering(b"\0\0\0\x04\0\0\0\0\0").await;
        assert_eq!(why_unreached(&plain, None).await, None);
        let tls = tls_from_files("system", "", "").unwrap();
        assert!(why_unreached(&plain, tls.as_ref()).await.unwrap().starts_with("it does not use TLS"));
    }
}
