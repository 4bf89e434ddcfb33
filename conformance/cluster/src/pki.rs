//! Keys and certificates of a test's cluster, made anew for each.

use anyhow::Context;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

/// Who signs the certificates that clients of this cluster trust.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

/// A certificate for a server on this machine and its key, both as PEM.
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

impl Authority {
    /// A new one.
    ///
    /// # Errors
    /// When no key can be made.
    pub fn new() -> anyhow::Result<Self> {
        let key = KeyPair::generate().context("cannot make a key")?;
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        params
            .distinguished_name
            .push(DnType::CommonName, "cluster tests");
        let certificate = params.self_signed(&key).context("cannot sign")?.pem();
        Ok(Self {
            issuer: Issuer::new(params, key),
            certificate,
        })
    }

    /// Its own certificate as PEM, which clients are given to trust.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// A certificate for `localhost` and `127.0.0.1`.
    ///
    /// # Errors
    /// When no key can be made.
    pub fn server(&self) -> anyhow::Result<Identity> {
        let key = KeyPair::generate().context("cannot make a key")?;
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).context("cannot name a server")?;
        params.distinguished_name.push(DnType::CommonName, "localhost");
        let certificate = params.signed_by(&key, &self.issuer).context("cannot sign")?;
        Ok(Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

/// The two halves of a key that service account tokens are signed with: private, then public, as PEM.
///
/// # Errors
/// When no key can be made.
pub fn token_key() -> anyhow::Result<(String, String)> {
    let key = KeyPair::generate().context("cannot make a key")?;
    Ok((key.serialize_pem(), key.public_key_pem()))
}
