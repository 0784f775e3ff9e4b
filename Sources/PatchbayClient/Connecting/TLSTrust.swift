internal import Sockets

/// Whose word a client takes for a gateway's certificate.
public enum TLSTrust: Sendable, Hashable {
    /// The system's authorities.
    case system
    /// The system's, and those in this PEM file.
    case authority(path: String)
    /// Anybody's, and for any name: for experiments with self-signed certificates only.
    case anybody

    var settings: ClientTrust {
        switch self {
        case .system: .system
        case .authority(let path): .authority(path: path)
        case .anybody: .anybody
        }
    }
}
