package import HTTPTypes
internal import Wire

/// The head of one HTTP/1.1 request, read strictly (RFC 9112 sections 2 to 6).
///
/// Strict: a head that two parsers might understand differently is a fault, even where RFC 9112 permits a recipient to repair it, so that a
/// proxy in front of the gateway never sees other requests than the gateway does ("request smuggling"). This is the only reader of what a
/// client wrote: libwebsockets gets `forLibrary` in its place.
package struct RequestHead: Hashable, Sendable {
    package let method: HTTPRequest.Method
    /// Percent-decoded, without the query. Begins with `/`, and has no segment `.` or `..`.
    package let path: String
    package let query: Query
    /// All fields in order, without blanks around values. Of names that matter (`KnownField`) there is at most one
    /// field, unless the value is a list. An empty value counts as one.
    package let fields: HTTPFields
    /// The server's name and port as the client knows them; nil only with HTTP/1.0.
    package let host: String?
    package let body: Body
    /// Requests an upgrade to WebSocket, with everything that RFC 6455 section 4.2.1 requires.
    package let upgrades: Bool
    /// The connection ends after the response: `Connection: close`, or HTTP/1.0.
    package let isLast: Bool
    /// `subprotocols` contains the gateway's.
    private let offersSubprotocol: Bool

    package enum Body: Hashable, Sendable {
        case none
        /// In bytes.
        case length(Int)
        case chunked
    }

    /// The longest head that is accepted, in bytes, and its greatest number of fields.
    package static let bytesMax = 16_384
    package static let fieldsMax = 100

    /// - Parameter bytes: a head up to and including its blank line.
    package init(_ bytes: [UInt8]) throws(RequestFault) {
        var collector = HeadCollector()
        var rest = bytes[...]
        guard try collector.take(from: &rest) == .complete, rest.isEmpty else { throw .requestLine }
        try self.init(checked: collector.bytes)
    }

    /// - Parameter bytes: a whole head that `HeadCollector` has accepted, so that each CR is followed by LF.
    init(checked bytes: [UInt8]) throws(RequestFault) {
        var rest = bytes[...]
        let request = try RequestLine(Self.nextLine(of: &rest))
        let target = try RequestTarget(request.target)
        var fields = RequestFields()
        while case let line = Self.nextLine(of: &rest), !line.isEmpty { try fields.read(line) }
        try Self.checkHost(of: fields, isRequired: request.isVersion11)
        body = try Self.body(of: fields, mayBeChunked: request.isVersion11)
        upgrades = try Self.upgrades(request, fields, body)
        method = request.method
        path = target.path
        query = target.query
        self.fields = fields.all
        host = fields[.host].map { String(decoding: $0, as: UTF8.self) }
        isLast = fields.closes || !request.isVersion11
        offersSubprotocol = fields.offersSubprotocol
    }

    private static func nextLine(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let end = rest.firstIndex(of: .carriageReturn) ?? rest.endIndex
        defer { rest = rest[end...].dropFirst(2) }
        return rest[..<end]
    }

    /// The items of `Sec-WebSocket-Protocol`, in the client's order.
    package var subprotocols: [Substring] { HeaderList.items(of: fields[.secWebSocketProtocol] ?? "") }

    // MARK: Fields that decide where a request ends, and whether it upgrades

    /// RFC 9112 section 3.2.
    private static func checkHost(of fields: RequestFields, isRequired: Bool) throws(RequestFault) {
        guard let host = fields[.host] else {
            if isRequired { throw .host }
            return
        }
        guard !host.isEmpty, host.allSatisfy(\.isOfHost) else { throw .host }
    }

    /// RFC 9112 section 6.
    private static func body(of fields: RequestFields, mayBeChunked: Bool) throws(RequestFault) -> Body {
        if let coding = fields[.transferEncoding] {
            guard coding.isEqual("chunked"), fields[.contentLength] == nil, mayBeChunked else { throw .transferEncoding }
            return .chunked
        }
        guard let digits = fields[.contentLength] else { return .none }
        guard digits.count <= 19, digits.allSatisfy(\.isDigit), let length = Int(String(decoding: digits, as: UTF8.self)) else {
            throw .length
        }
        return .length(length)
    }

    /// RFC 6455 section 4.2.1.
    private static func upgrades(_ request: RequestLine, _ fields: RequestFields, _ body: Body) throws(RequestFault) -> Bool {
        guard let upgrade = fields[.upgrade] else { return false }
        guard upgrade.isEqual("websocket") else { throw .otherUpgrade }
        guard request.method == .get, request.isVersion11, body == .none || body == .length(0), fields.upgrades else { throw .handshake }
        // 16 bytes are 22 characters and two of padding.
        guard let key = fields[.webSocketKey], key.count == 24, key.suffix(2).elementsEqual("==".utf8),
            key.dropLast(2).allSatisfy(\.isOfBase64)
        else { throw .handshake }
        guard let version = fields[.webSocketVersion], version.elementsEqual("13".utf8) else { throw .webSocketVersion }
        return true
    }

    // MARK: The request for libwebsockets

    /// The request that libwebsockets gets in place of this one. It knows every name in it: behind a name that is the beginning of a known one,
    /// it would overlook the next field.
    ///
    /// A plain request is always the same, whatever its method, target and body: the response is ours, and libwebsockets only frames it. Of an
    /// upgrade, only the key is the client's.
    package var forLibrary: [UInt8] {
        var head = Array("GET / HTTP/1.1\r\nHost: patchbay\r\n".utf8)
        if upgrades, let key = fields[.secWebSocketKey] {
            head += "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ".utf8
            head += key.utf8
            // Without it the upgrade is refused before libwebsockets would look for it.
            if offersSubprotocol {
                head += "\r\nSec-WebSocket-Protocol: ".utf8
                head += ProtocolLimits.subprotocol.utf8
            }
            head += "\r\n".utf8
        } else if isLast {
            head += "Connection: close\r\n".utf8
        }
        head += "\r\n".utf8
        return head
    }
}

/// Why the head of a request is refused. The connection ends after the refusal, because the next bytes may not be a request.
package enum RequestFault: Error, CaseIterable, Sendable {
    case requestLine, method, unknownMethod, version, target, encoding, dotSegment
    case lineEnd, folding, field, tooManyFields, repeatedField
    case host, length, transferEncoding
    case otherUpgrade, handshake, webSocketVersion

    /// The cause, for the client.
    package var explanation: String {
        switch self {
        case .requestLine: "the request line is not of the form `GET /path HTTP/1.1`"
        case .method: "methods are written in capital letters"
        case .unknownMethod: "the gateway does not know this method"
        case .version: "this port speaks HTTP/1.1 and WebSocket"
        case .target: "the target must be a path that starts with `/`, in visible ASCII characters"
        case .encoding:
            """
            a path or query must be valid UTF-8 once it is decoded, must not contain line ends or NUL, encoded or not, and has two \
            hexadecimal digits behind each `%`
            """
        case .dotSegment: "a path must not contain the segments `.` and `..`, encoded or not; resolve them before sending the request"
        case .lineEnd: "lines end with CR LF, and control characters are not allowed"
        case .folding: "a field must not continue on the next line"
        case .field: "a line of the head is not of the form `Name: value`"
        case .tooManyFields: "a head has at most \(RequestHead.fieldsMax) fields"
        case .repeatedField: "the head has more than one field of a name that may occur once only, such as Authorization or Origin"
        case .host: "the head needs exactly one valid Host field"
        case .length: "the head has more than one Content-Length, or one that is not a decimal number of at most 19 digits"
        case .transferEncoding: "the only Transfer-Encoding is `chunked`, once, with HTTP/1.1 and without Content-Length"
        case .otherUpgrade: "this port speaks HTTP/1.1 and WebSocket"
        case .handshake:
            """
            a WebSocket upgrade is a GET with `Connection: Upgrade`, a Sec-WebSocket-Key of 16 bytes in base64, and no body \
            (RFC 6455 section 4.2.1)
            """
        case .webSocketVersion: "this port speaks version 13 of WebSocket only"
        }
    }
}

/// RFC 9112 section 3.
private struct RequestLine {
    let method: HTTPRequest.Method
    let target: ArraySlice<UInt8>
    let isVersion11: Bool

    private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete, .options, .head]

    init(_ line: ArraySlice<UInt8>) throws(RequestFault) {
        let words = line.split(separator: .space, omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(\.isOfToken) else { throw .requestLine }
        isVersion11 = words[2].elementsEqual("HTTP/1.1".utf8)
        guard isVersion11 || words[2].elementsEqual("HTTP/1.0".utf8) else { throw .version }
        guard let method = Self.methods.first(where: { words[0].elementsEqual($0.rawValue.utf8) }) else {
            throw words[0].contains { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 } ? RequestFault.method : .unknownMethod
        }
        self.method = method
        target = words[1]
    }
}
