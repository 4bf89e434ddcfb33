//! Ports on the host.

use mco_model::spec::HostPort;

/// The address that stands for all addresses of the host; its IPv6 sibling is an address like any other here.
const ALL: &str = "0.0.0.0";

/// A port of one pod cannot be had beside a port of the other.
#[must_use]
pub fn clash(wanted: &[HostPort], used: &[HostPort]) -> bool {
    used.iter()
        .any(|used| wanted.iter().any(|wanted| same(wanted, used)))
}

/// A pod with these ports takes one of the host.
#[must_use]
pub fn takes_any(ports: &[HostPort]) -> bool {
    ports.iter().any(|port| port.port > 0)
}

fn same(left: &HostPort, right: &HostPort) -> bool {
    left.port == right.port
        && left.port > 0
        && left.protocol == right.protocol
        && (left.ip == right.ip || &*left.ip == ALL || &*right.ip == ALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(ip: &str, protocol: &str, port: i64) -> HostPort {
        HostPort {
            ip: ip.into(),
            protocol: protocol.into(),
            port,
        }
    }

    #[test]
    fn number_protocol_and_address_must_meet() {
        let cases = [
            (port("0.0.0.0", "TCP", 80), port("0.0.0.0", "TCP", 80), true),
            (port("0.0.0.0", "TCP", 80), port("0.0.0.0", "UDP", 80), false),
            (port("0.0.0.0", "TCP", 80), port("0.0.0.0", "TCP", 81), false),
            (port("10.0.0.1", "TCP", 80), port("0.0.0.0", "TCP", 80), true),
            (port("0.0.0.0", "TCP", 80), port("10.0.0.1", "TCP", 80), true),
            (port("10.0.0.1", "TCP", 80), port("10.0.0.2", "TCP", 80), false),
            (port("::", "TCP", 80), port("10.0.0.1", "TCP", 80), false),
            (port("::", "TCP", 80), port("::", "TCP", 80), true),
            (port("junk", "TCP", 80), port("junk", "TCP", 80), true),
            (port("0.0.0.0", "TCP", -1), port("0.0.0.0", "TCP", -1), false),
            (port("0.0.0.0", "TCP", 70000), port("0.0.0.0", "TCP", 70000), true),
        ];
        for (wanted, used, expected) in cases {
            assert_eq!(
                clash(std::slice::from_ref(&wanted), std::slice::from_ref(&used)),
                expected,
                "{wanted:?} beside {used:?}"
            );
        }
    }

    #[test]
    fn a_pod_does_not_clash_with_itself() {
        let twice = [port("0.0.0.0", "TCP", 80), port("0.0.0.0", "TCP", 80)];
        assert!(!clash(&twice, &[]));
        assert!(takes_any(&twice) && !takes_any(&[port("0.0.0.0", "TCP", -1)]));
    }
}
