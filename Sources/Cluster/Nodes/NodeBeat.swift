internal import Wire

/// A process of the gateway in a cluster. After a restart it is another node with the same name.
package struct NodeIdentity: Hashable, Sendable {
    /// From the configuration; unique among the nodes that run at the same time.
    package let name: String
    /// Random, drawn at the start of the process.
    package let incarnation: UInt64

    package init(name: String, incarnation: UInt64) {
        (self.name, self.incarnation) = (name, incarnation)
    }
}

extension NodeIdentity: CustomStringConvertible {
    package var description: String { "\(name)/\(incarnation.hex)" }

    init?(_ text: String?) {
        guard let text, let slash = text.lastIndex(of: "/"), let incarnation = UInt64(hex: text[text.index(after: slash)...]) else {
            return nil
        }
        self.init(name: String(text[..<slash]), incarnation: incarnation)
    }
}

/// A heartbeat: the state that a node publishes several times a second.
package struct NodeBeat: Hashable, Sendable {
    package var node: NodeIdentity
    /// Grows with each beat, so that repeated and reordered ones are recognized.
    package var number: UInt64
    /// The version of the node's program.
    package var build: String
    /// Where clients reach the node itself; nil if only a load balancer does.
    package var url: String?
    /// The address to which other nodes forward connections: `10.0.0.1:7899`; nil for a node that takes none.
    package var address: String?
    /// The node takes no new rooms.
    package var isDraining: Bool
    package var load: NodeLoad

    package init(
        node: NodeIdentity, number: UInt64, build: String, url: String? = nil, address: String? = nil, isDraining: Bool = false,
        load: NodeLoad = NodeLoad()
    ) {
        (self.node, self.number, self.build, self.isDraining, self.load) = (node, number, build, isDraining, load)
        (self.url, self.address) = (url, address)
    }
}

/// The load of a node.
package struct NodeLoad: Hashable, Sendable {
    /// The node's busiest shard, from 0 to 1.
    package var busiest: Double
    /// The numbers of open rooms and participants; nil for a node of an earlier version, which does not report them.
    package var rooms: Int?
    package var participants: Int?

    package init(busiest: Double = 0, rooms: Int? = nil, participants: Int? = nil) {
        (self.busiest, self.rooms, self.participants) = (busiest, rooms, participants)
    }
}

/// JSON. Fields that are unknown, as those of later versions, are ignored.
extension NodeBeat {
    package var bytes: [UInt8] {
        var members: [JSONValue.Member] = [
            .init("node", .string(node.description)), .init("number", .string(number.hex)), .init("build", .string(build)),
            .init("draining", .boolean(isDraining)), .init("load", .integer(Int64((load.busiest * 1_000).rounded()))),
        ]
        if let rooms = load.rooms { members.append(.init("rooms", .integer(Int64(rooms)))) }
        if let participants = load.participants { members.append(.init("participants", .integer(Int64(participants)))) }
        if let url { members.append(.init("url", .string(url))) }
        if let address { members.append(.init("address", .string(address))) }
        return JSONValue.object(members).bytes
    }

    /// - Returns: nil for bytes that are no beat.
    package init?(_ bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes, depthMax: 8), let node = NodeIdentity(json["node"]?.text),
            let number = json["number"]?.text.flatMap({ UInt64(hex: $0[...]) }), case .integer(let load)? = json["load"],
            case .boolean(let isDraining)? = json["draining"], let build = json["build"]?.text
        else { return nil }
        self.init(
            node: node, number: number, build: build, url: json["url"]?.text, address: json["address"]?.text, isDraining: isDraining,
            load: NodeLoad(
                busiest: min(max(Double(load) / 1_000, 0), 1), rooms: json["rooms"]?.count, participants: json["participants"]?.count))
    }
}

extension JSONValue {
    var text: String? { if case .string(let text) = self { text } else { nil } }
    fileprivate var count: Int? { if case .integer(let number) = self { max(Int(number), 0) } else { nil } }

    var bytes: [UInt8] {
        // Every number in a message of the cluster is an integer.
        (try? JSON.encode(self, names: .asDeclared)) ?? []
    }
}

extension UInt64 {
    var hex: String { String(self, radix: 16) }

    init?(hex text: Substring) {
        guard (1...16).contains(text.count), text.utf8.allSatisfy({ $0.isDigit || ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "f")) })
        else { return nil }
        self.init(text, radix: 16)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
}
