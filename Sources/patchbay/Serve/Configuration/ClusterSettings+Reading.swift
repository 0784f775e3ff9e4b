import Cluster
import Foundation
import Gateway
import Identity
import Sockets

extension ClusterSettings {
    /// - Parameter masterKey: the store's, from which the key of snapshots is derived.
    /// - Returns: nil for a gateway that runs alone.
    /// - Throws: `UsageError`.
    init?(_ reader: SettingsReader, masterKey: @autoclosure () throws -> MasterKey) throws {
        guard let servers = try reader.texts(ifSet: "cluster.nats"), !servers.isEmpty else { return nil }
        guard let text = try reader.text(ifSet: "cluster.address"), let address = NodeAddress(text) else {
            throw UsageError("cluster.address: set the address at which other nodes reach this one, with a numeric host: 10.0.0.1:7899")
        }
        let place = EdgeSettings.Place(
            host: try reader.text("cluster.host"), port: try reader.number(ifSet: "cluster.port") ?? address.port)
        guard Listener.isAddress(place.host) else {
            throw UsageError("cluster.host: \"\(place.host)\" is not a numeric address; use 0.0.0.0 or :: for all interfaces")
        }
        let networks = try (reader.texts(ifSet: "cluster.trusted_nodes") ?? []).map { text in
            do { return try IPNetwork(text) } catch { throw UsageError("cluster.trusted_nodes: \(error)") }
        }
        guard !networks.isEmpty else {
            throw UsageError("cluster.trusted_nodes: name the addresses or networks of all nodes, such as [\"10.0.0.0/24\"]")
        }
        var nats = NATSSettings(servers: servers, bucket: try reader.text("cluster.bucket"), subjects: [])
        nats.replicas = try reader.number("cluster.replicas")
        nats.credentials = try Self.credentials(reader)
        nats.tls = try Self.tls(reader)
        nats.clientName = "patchbay \(try reader.text(ifSet: "node") ?? ProcessInfo.processInfo.hostName)"
        do { try nats.check() } catch { throw UsageError("cluster: \(error)") }
        let authority = try reader.text(ifSet: "cluster.ca_file")
        if let authority, !FileManager.default.isReadableFile(atPath: authority) {
            throw UsageError("cluster.ca_file: \(authority) cannot be read")
        }
        self.init(
            node: try reader.text(ifSet: "node") ?? ProcessInfo.processInfo.hostName, place: place, networks: networks, address: address,
            url: try reader.text(ifSet: "cluster.url"), nats: nats, key: try masterKey().key,
            trust: authority.map { .authority(path: $0) } ?? .system)
        serverName = try reader.text(ifSet: "cluster.server_name")
    }

    private static func credentials(_ reader: SettingsReader) throws -> NATSSettings.Credentials {
        let user = try reader.text(ifSet: "cluster.nats_user")
        let token = try reader.text(ifSet: "cluster.nats_token_file")
        let file = try reader.text(ifSet: "cluster.nats_credentials_file")
        guard [user, token, file].count(where: { $0 != nil }) <= 1 else {
            throw UsageError("cluster: set only one of `nats_user`, `nats_token_file` and `nats_credentials_file`")
        }
        if let user {
            guard let path = try reader.text(ifSet: "cluster.nats_password_file") else {
                throw UsageError("cluster.nats_password_file: missing; it has the password of `cluster.nats_user`")
            }
            return .user(user, password: try secret(path, of: "cluster.nats_password_file"))
        }
        if let token { return .token(try secret(token, of: "cluster.nats_token_file")) }
        return file.map { .file($0) } ?? .none
    }

    private static func secret(_ path: String, of key: String) throws -> String {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw UsageError("\(key): cannot read \(path); check the path, and that the user of the gateway may read it")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func tls(_ reader: SettingsReader) throws -> NATSSettings.TLS? {
        guard let authorities = try reader.text(ifSet: "cluster.nats_ca_file") else { return nil }
        let certificate = try reader.text(ifSet: "cluster.nats_certificate_file")
        let key = try reader.text(ifSet: "cluster.nats_key_file")
        guard (certificate == nil) == (key == nil) else {
            throw UsageError("cluster.nats_key_file: a certificate and its key are set together, or neither")
        }
        return NATSSettings.TLS(authorities: authorities, certificate: certificate.flatMap { path in key.map { (path, $0) } })
    }
}
