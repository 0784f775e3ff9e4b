import Foundation
import Gateway
import Sockets

extension EdgeSettings {
    /// Reads ports, proxies, origins, and whether there are web pages.
    ///
    /// - Parameters:
    ///   - shardCount: nil if the number of processors decides.
    ///   - isDevelopment: allows free ports and any origin, on loopback addresses only.
    /// - Throws: `UsageError`, also for settings without effect.
    init(_ reader: SettingsReader, origins: [String], shardCount: Int?, isDevelopment: Bool) throws {
        self.init()
        shardPorts = try Self.shardPorts(try reader.text(ifSet: "shard_ports"), shardCount: shardCount, isDevelopment: isDevelopment)
        plain = try Self.place("plain", reader, isDevelopment: isDevelopment)
        operations = try Self.place("metrics", reader, isDevelopment: isDevelopment)
        publishesOperations = try reader.flag(ifSet: "public_metrics") ?? (operations == nil)
        proxies = try Self.proxies(reader, plain)
        for origin in origins {
            if let fault = Self.fault(ofOrigin: origin) { throw UsageError("allowed_origins: \(fault)") }
        }
        allowedOrigins = origins
        admitsAnyOrigin = isDevelopment && origins.isEmpty
        servesPages = try reader.flag("pages")
    }

    // MARK: Ports

    /// `NAME_port` and `NAME_host`.
    private static func place(_ name: String, _ reader: SettingsReader, isDevelopment: Bool) throws -> Place? {
        guard let port = try reader.number(ifSet: "\(name)_port") else { return nil }
        guard port > 0 || isDevelopment else {
            throw UsageError("\(name)_port: 0, any free port, is for --dev only, because clients could not know it; choose a port")
        }
        let place = Place(host: try reader.text("\(name)_host"), port: port)
        guard Listener.isAddress(place.host) else {
            throw UsageError("\(name)_host: \"\(place.host)\" is not a numeric address; use 127.0.0.1, or 0.0.0.0 for all interfaces")
        }
        guard place.isLoopback || !isDevelopment else {
            throw UsageError("\(name)_host: --dev listens on loopback addresses only, because its key is public; omit --dev or the host")
        }
        return place
    }

    /// `off`, a first port, or a range such as `7881-7888`.
    private static func shardPorts(_ text: String?, shardCount: Int?, isDevelopment: Bool) throws -> ShardPorts {
        guard let text else { return isDevelopment ? .free : .off }
        // YAML reads an unquoted `off` as a boolean.
        if ["off", "false"].contains(text) { return .off }
        let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard 1...2 ~= bounds.count, bounds.allSatisfy({ 0...65_535 ~= $0 }), bounds[0] <= bounds[bounds.count - 1] else {
            throw UsageError("shard_ports: \"\(text)\" must be the first port, a range such as 7881-7888, or off")
        }
        if bounds[0] == 0 {
            guard isDevelopment, bounds.count == 1 else {
                throw UsageError(
                    "shard_ports: 0, free ports, is for --dev only, because firewalls and clients could not know them; "
                        + "set a range such as 7881-7888, or off")
            }
            return .free
        }
        if shardCount == 1 { throw UsageError("shard_ports: has no effect with `shards: 1`; remove it, or set more shards") }
        let count = shardCount ?? Processors.usable
        let last = bounds.count == 2 ? bounds[1] : 65_535
        guard last - bounds[0] + 1 >= count else {
            throw UsageError(
                "shard_ports: \(text) has \(last - bounds[0] + 1) ports for \(count) shards; choose a larger range, or fewer `shards`")
        }
        return .from(bounds[0])
    }

    /// - Throws: if two listeners would have the same port.
    func checkPorts(besides main: Place, shardCount: Int) throws {
        let ports = ports(besides: main, shardCount: shardCount).filter { $0.place.port != 0 }
        for (index, (name, place)) in ports.enumerated() {
            guard let other = ports[..<index].first(where: { $0.place.overlaps(place) }) else { continue }
            throw UsageError("\(name): port \(place.port) is also used by `\(other.name)`; choose another one")
        }
    }

    /// All ports to bind, with the settings' names.
    func ports(besides main: Place, shardCount: Int) -> [(name: String, place: Place)] {
        var ports = [(name: "port", place: main)]
        if shardCount > 1, case .from(let first) = shardPorts {
            ports += (0..<shardCount).map { ("shard_ports", Place(host: main.host, port: first + $0)) }
        }
        if let plain { ports.append(("plain_port", plain)) }
        if let operations { ports.append(("metrics_port", operations)) }
        return ports
    }

    // MARK: Proxies and origins

    private static func proxies(_ reader: SettingsReader, _ plain: Place?) throws -> ProxyTrust {
        let listed = try reader.texts(ifSet: "trusted_proxies")
        let usesHeader = try reader.flag("proxy_protocol")
        guard let plain else { return ProxyTrust(networks: loopback) }
        guard let listed else {
            guard plain.isLoopback else {
                throw UsageError(
                    "plain_host: by default only proxies on this machine are trusted, and no others may connect; "
                        + "list the proxies' addresses in `trusted_proxies`")
            }
            return ProxyTrust(networks: loopback, usesProxyProtocol: usesHeader)
        }
        guard !listed.isEmpty else {
            throw UsageError("trusted_proxies: is empty, so nobody could use `plain_port`; list the proxies, or remove both")
        }
        let networks = try listed.map { text in
            do { return try IPNetwork(text) } catch { throw UsageError("trusted_proxies: \(error)") }
        }
        return ProxyTrust(networks: networks, usesProxyProtocol: usesHeader)
    }

    /// Browsers send scheme, host and, if it is not the scheme's default, the port (RFC 6454 section 6.2).
    private static func fault(ofOrigin text: String) -> String? {
        if text == "*" { return nil }
        guard let parts = URLComponents(string: text), let scheme = parts.scheme, let host = parts.host, !host.isEmpty else {
            return "\"\(text)\" is no origin; write it as https://app.example, or * for all"
        }
        let isDefaultPort = parts.port == ["https": 443, "http": 80][scheme.lowercased()]
        let port = isDefaultPort ? "" : parts.port.map { ":\($0)" } ?? ""
        let origin = "\(scheme.lowercased())://\(host.lowercased())\(port)"
        return origin == text ? nil : "browsers would never send \"\(text)\"; write \(origin)"
    }

    /// Questionable settings, one sentence each.
    var warnings: [String] {
        guard plain != nil, proxies.networks.contains(where: \.isEverything) else { return [] }
        return ["trusted_proxies: everybody is trusted, so every client may state any address; list the proxies only"]
    }
}

extension EdgeSettings.Place {
    var isLoopback: Bool { IPAddress(host).map { address in EdgeSettings.loopback.contains { $0.contains(address) } } ?? false }
    var text: String { "\(host):\(port)" }

    private var isWildcard: Bool { host == "0.0.0.0" || host == "::" }

    fileprivate func overlaps(_ other: Self) -> Bool {
        port == other.port && (isWildcard || other.isWildcard || IPAddress(host) == IPAddress(other.host))
    }
}

extension EdgeSettings.ShardPorts {
    var text: String {
        switch self {
        case .off: "off"
        case .free: "0"
        case .from(let first): "\(first)"
        }
    }
}

extension GatewaySettings {
    var ports: [(name: String, place: EdgeSettings.Place)] {
        edge.ports(besides: EdgeSettings.Place(host: host, port: port), shardCount: shardCount)
    }
}
