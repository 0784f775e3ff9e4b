package import HTTPTypes
internal import Wire

extension HTTPField.Name {
    /// How often a request was forwarded from one node to another.
    package static let patchbayHops = HTTPField.Name("Patchbay-Hops")!
    /// Names the node that has forwarded an upgrade.
    package static let patchbayNode = HTTPField.Name("Patchbay-Node")!
    /// Names the node that is the home of the room, in the response to a forwarded request.
    package static let patchbayElsewhere = HTTPField.Name("Patchbay-Elsewhere")!
}

// MARK: The request
extension ReceivedRequest {
    /// How often a request may be forwarded. A node that is not the home of the room either says so in its response.
    package static let hopsMax = 1

    /// How often the request was forwarded from one node to another.
    ///
    /// Counts only in requests from a trusted peer, because clients may send the field, too. A proxy passes on a client's field, so this
    /// proves nothing about the sender: it only keeps nodes from forwarding in a circle.
    package var hops: Int {
        guard source.isTrusted, source.entrance == .proxies || source.entrance == .nodes, let value = head.fields[.patchbayHops] else {
            return 0
        }
        return UInt8(value).map(Int.init) ?? Self.hopsMax
    }

    /// The node that has forwarded the upgrade to this one; nil for a client's own connection.
    package var forwarder: String? {
        source.isTrusted && source.entrance == .nodes ? head.fields[.patchbayNode] : nil
    }

    /// The request for another node: method, target and fields as this node has read them. The client's address is the one that this node has
    /// found, because the other one trusts it as a proxy.
    ///
    /// - Parameter added: further fields, in place of the client's of the same names.
    func forwardedHead(adding added: HTTPFields) -> [UInt8] {
        var text = "\(head.method.rawValue) \(head.target) HTTP/1.1\r\n"
        for field in forwardedFields(adding: added) { text += "\(field.name.rawName): \(field.value)\r\n" }
        return Array((text + "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n").utf8)
    }

    /// The fields of a request for another node, without those of the connection.
    package func forwardedFields(adding added: HTTPFields = [:]) -> HTTPFields {
        let unwanted = head.hopByHopNames.union(added.map(\.name))
        var fields = HTTPFields(head.fields.filter { !unwanted.contains($0.name) } + added)
        fields[.forwardedFor] = source.address
        fields[.patchbayHops] = "\(hops + 1)"
        return fields
    }
}

extension RequestHead {
    /// The path and query as they are in a request line. The path is encoded anew where it must be.
    package var target: String {
        var bytes: [UInt8] = []
        for byte in path.utf8 {
            if 0x21...0x7E ~= byte, byte != UInt8(ascii: "%"), byte != UInt8(ascii: "?"), byte != UInt8(ascii: "#") {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), Self.hexDigits[Int(byte >> 4)], Self.hexDigits[Int(byte & 15)]]
            }
        }
        if !query.encoded.isEmpty { bytes += [UInt8(ascii: "?")] + query.encoded }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    /// Fields about one connection (RFC 9110 section 7.6.1), and those that a node sets itself.
    ///
    /// A name in `Connection` counts, unless the gateway reads the field: both nodes judge by the same ones.
    fileprivate var hopByHopNames: Set<HTTPField.Name> {
        let listed = HeaderList.items(of: fields[.connection] ?? "").compactMap { item in
            KnownField(Array(item.utf8)[...]) == nil ? HTTPField.Name(String(item)) : nil
        }
        return Self.hopByHopNames.union(listed)
    }

    private static let hopByHopNames = HTTPField.Name.hopByHop.union([.expect, .forwardedFor, .patchbayHops])
}

extension HTTPField.Name {
    fileprivate static let hopByHop: Set<HTTPField.Name> = Set(
        [
            "Connection", "Upgrade", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "TE", "Trailer",
            "Transfer-Encoding", "Content-Length", "HTTP2-Settings",
        ].compactMap { HTTPField.Name($0) })
}

// MARK: The response

/// The head of another node's response to a forwarded request, read as strictly as a request's.
struct ForwardedResponse {
    let status: Int
    private let phrase: String
    private let fields: RequestFields
    /// Of the body, in bytes.
    let length: Int?

    /// - Parameter bytes: a whole head that `HeadCollector` has accepted.
    init(checked bytes: [UInt8]) throws(RequestFault) {
        var lines = bytes[...]
        let first = Self.nextLine(of: &lines)
        let version = Array("HTTP/1.1 ".utf8)
        let rest = first.dropFirst(version.count)
        let digits = rest.prefix(3)
        guard first.starts(with: version), digits.count == 3, digits.allSatisfy(\.isDigit),
            rest.count == 3 || rest.dropFirst(3).first == .space,
            let status = Int(String(decoding: digits, as: UTF8.self))
        else { throw .requestLine }
        self.status = status
        phrase = String(decoding: rest.dropFirst(4), as: UTF8.self)
        var fields = RequestFields()
        while case let line = Self.nextLine(of: &lines), !line.isEmpty { try fields.read(line) }
        self.fields = fields
        guard let digits = fields[.contentLength] else {
            length = nil
            return
        }
        guard digits.count <= 9, digits.allSatisfy(\.isDigit), let length = Int(String(decoding: digits, as: UTF8.self)) else {
            throw .length
        }
        self.length = length
    }

    private static func nextLine(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let end = rest.firstIndex(of: .carriageReturn) ?? rest.endIndex
        defer { rest = rest[end...].dropFirst(2) }
        return rest[..<end]
    }

    var isInChunks: Bool { fields[.transferEncoding] != nil }
    var elsewhere: String? { fields.all[.patchbayElsewhere] }
    var errorCode: String? { fields.all[.patchbayError] }

    /// Whether this is the upgrade that a client has requested (RFC 6455 section 4.1).
    func accepts(_ head: RequestHead) -> Bool {
        guard fields[.upgrade]?.isEqual("websocket") == true, fields.upgrades, length == nil, !isInChunks,
            let key = head.fields[.secWebSocketKey], fields.all[.secWebSocketAccept] == WebSocketAcceptance.value(for: key)
        else { return false }
        guard let subprotocol = fields.all[.secWebSocketProtocol] else { return true }
        return head.subprotocols.contains { $0 == subprotocol }
    }

    private var passedFields: HTTPFields { HTTPFields(fields.all.filter { !HTTPField.Name.hopByHop.contains($0.name) }) }

    /// The head of the upgrade, for the client.
    var switchingProtocols: [UInt8] {
        var text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        for field in passedFields {
            // Simple clients look for this name as it is usually written.
            let name = field.name == .secWebSocketAccept ? "Sec-WebSocket-Accept" : field.name.rawName
            text += "\(name): \(field.value)\r\n"
        }
        return Array((text + "\r\n").utf8)
    }

    func passedOn(_ body: [UInt8]) -> HTTPServerResponse {
        HTTPServerResponse(status: HTTPResponse.Status(code: status, reasonPhrase: phrase), fields: passedFields, body: body)
    }
}
