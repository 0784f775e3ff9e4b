/// The head of an HTTP/1.1 request, checked before libwebsockets parses it (RFC 9112 sections 2 to 6).
///
/// Strict: a head that two parsers might understand differently is a fault, even where RFC 9112 permits a recipient to repair it.
/// libwebsockets accepts bare line ends, lengths such as `+16`, folded fields and more, so that a proxy in front of the gateway might see
/// other requests than the gateway does ("request smuggling").
package struct RequestHead: Hashable, Sendable {
    package private(set) var body = Body.none
    /// Requests an upgrade to WebSocket, with everything that RFC 6455 section 4.2.1 requires.
    package private(set) var upgrades = false

    package enum Body: Hashable, Sendable {
        case none
        /// In bytes; a length that does not fit into `Int` counts as `Int.max`.
        case length(Int)
        case chunked
    }

    /// - Parameter bytes: a head up to and including its blank line.
    package init(_ bytes: [UInt8]) throws(RequestFault) {
        var finder = HeadEndFinder()
        guard try finder.find(in: bytes[...]) == bytes.count else { throw .requestLine }
        try self.init(checked: bytes)
    }

    /// - Parameter bytes: a head that `HeadEndFinder` has accepted, so that each LF follows a CR.
    init(checked bytes: [UInt8]) throws(RequestFault) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map { $0.dropLast() }.filter { !$0.isEmpty }
        guard let first = lines.first else { throw .requestLine }
        let request = try RequestLine(first)
        var fields = Fields()
        for line in lines.dropFirst() { try fields.read(line) }
        try fields.checkHost(isRequired: request.isVersion11)
        body = try fields.body(mayBeChunked: request.isVersion11)
        guard let upgrade = fields[.upgrade] else { return }
        guard upgrade.count == 1, upgrade[0].isEqual("websocket") else { throw .otherUpgrade }
        guard request.isGet, request.isVersion11, body == .none || body == .length(0) else { throw .handshake }
        try fields.checkHandshake()
        upgrades = true
    }
}

/// Why a request is refused before libwebsockets sees it. The raw value is part of the path under which the refusal is requested
/// (`RequestGate`).
package enum RequestFault: String, Error, CaseIterable, Sendable {
    case requestLine, method, unknownMethod, version, target, encoding, lineEnd, folding, field, host, length, transferEncoding
    case otherUpgrade, handshake, webSocketVersion

    /// The cause, for the client.
    package var explanation: String {
        switch self {
        case .requestLine: "the request line is not of the form `GET /path HTTP/1.1`"
        case .method: "methods are written in capital letters"
        case .unknownMethod: "the gateway does not know this method"
        case .version: "this port speaks HTTP/1.1 and WebSocket"
        case .target: "the target must be a path that starts with `/`, in visible ASCII characters"
        case .encoding: "a path or query must not contain line ends or NUL, encoded or not, nor `%` without two hexadecimal digits"
        case .lineEnd: "lines end with CR LF, and control characters are not allowed"
        case .folding: "a field must not continue on the next line"
        case .field: "a line of the head is not of the form `Name: value`"
        case .host: "the head needs exactly one valid Host field"
        case .length: "the head has more than one Content-Length, or one that is not a decimal number"
        case .transferEncoding: "Transfer-Encoding needs HTTP/1.1 and no Content-Length"
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

/// Finds the end of a head whose bytes arrive in pieces, and checks each byte once: no control characters, and no line end but CR LF.
package struct HeadEndFinder: Sendable {
    private enum Position {
        /// Before the request line. Blank lines there are skipped (RFC 9112 section 2.2).
        case start, startCR
        case line, lineCR
        /// At the start of a line other than the first.
        case next, nextCR
    }

    private var position = Position.start

    package init() {}

    /// - Returns: the number of these bytes that belong to the head; nil if all do and the head is incomplete.
    package mutating func find(in bytes: ArraySlice<UInt8>) throws(RequestFault) -> Int? {
        for (offset, byte) in bytes.enumerated() {
            if try ends(with: byte) { return offset + 1 }
        }
        return nil
    }

    private mutating func ends(with byte: UInt8) throws(RequestFault) -> Bool {
        switch (position, byte) {
        case (.start, Self.cr): position = .startCR
        case (.startCR, Self.lf): position = .start
        case (.line, Self.cr): position = .lineCR
        case (.lineCR, Self.lf): position = .next
        case (.next, Self.cr): position = .nextCR
        case (.nextCR, Self.lf): return true
        case (.startCR, _), (.lineCR, _), (.nextCR, _): throw .lineEnd
        case (.next, Self.space), (.next, Self.tab): throw .folding
        case (_, Self.tab): position = .line
        case (_, 0..<0x20), (_, 0x7F): throw .lineEnd
        default: position = .line
        }
        return false
    }

    private static let (tab, lf, cr, space) = (UInt8(9), UInt8(10), UInt8(13), UInt8(32))
}

/// RFC 9112 section 3.
private struct RequestLine {
    let isGet: Bool
    let isVersion11: Bool

    /// The methods that libwebsockets supports.
    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]

    init(_ line: ArraySlice<UInt8>) throws(RequestFault) {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(\.isOfToken) else { throw .requestLine }
        isVersion11 = words[2].elementsEqual("HTTP/1.1".utf8)
        guard isVersion11 || words[2].elementsEqual("HTTP/1.0".utf8) else { throw .version }
        let method = words[0]
        if !Self.methods.contains(where: { method.elementsEqual($0.utf8) }) {
            throw method.contains { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 } ? RequestFault.method : .unknownMethod
        }
        isGet = method.elementsEqual("GET".utf8)
        try Self.check(target: words[1])
    }

    private static func check(target: ArraySlice<UInt8>) throws(RequestFault) {
        guard target.first == UInt8(ascii: "/"), target.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "#") }) else { throw .target }
        var rest = target
        while let percent = rest.firstIndex(of: UInt8(ascii: "%")) {
            let digits = rest[(percent + 1)...].prefix(2)
            guard digits.count == 2, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), digits.allSatisfy(\.isHexDigit),
                ![0, 10, 13].contains(value)
            else { throw .encoding }
            rest = rest[(percent + 3)...]
        }
    }
}

/// The fields that decide where a request ends and whether it upgrades (RFC 9112 sections 3.2, 5 and 6; RFC 6455 section 4.2.1).
private struct Fields {
    enum Name: String, CaseIterable {
        case host = "host"
        case contentLength = "content-length"
        case transferEncoding = "transfer-encoding"
        case connection = "connection"
        case upgrade = "upgrade"
        case webSocketKey = "sec-websocket-key"
        case webSocketVersion = "sec-websocket-version"
    }

    /// Each value of a field that occurs more than once, in order.
    private var values: [Name: [ArraySlice<UInt8>]] = [:]

    subscript(name: Name) -> [ArraySlice<UInt8>]? { values[name] }

    mutating func read(_ line: ArraySlice<UInt8>) throws(RequestFault) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .field }
        let name = line[..<colon]
        // Also refuses a blank before the colon (RFC 9112 section 5.1).
        guard !name.isEmpty, name.allSatisfy(\.isOfToken) else { throw .field }
        guard let known = Name.allCases.first(where: { name.isEqual($0.rawValue) }) else { return }
        values[known, default: []].append(line[(colon + 1)...].trimmed)
    }

    func checkHost(isRequired: Bool) throws(RequestFault) {
        guard let hosts = values[.host] else {
            if isRequired { throw .host }
            return
        }
        guard hosts.count == 1, !hosts[0].isEmpty, hosts[0].allSatisfy(\.isOfHost) else { throw .host }
    }

    func body(mayBeChunked: Bool) throws(RequestFault) -> RequestHead.Body {
        let lengths = values[.contentLength] ?? []
        if values[.transferEncoding] != nil {
            guard lengths.isEmpty, mayBeChunked else { throw .transferEncoding }
            return .chunked
        }
        guard let length = lengths.first else { return .none }
        guard lengths.count == 1, !length.isEmpty, length.allSatisfy(\.isDigit) else { throw .length }
        return .length(Int(String(decoding: length, as: UTF8.self)) ?? .max)
    }

    func checkHandshake() throws(RequestFault) {
        let options = (values[.connection] ?? []).flatMap { $0.split(separator: UInt8(ascii: ",")) }
        guard options.contains(where: { $0.trimmed.isEqual("upgrade") }) else { throw .handshake }
        // 16 bytes are 22 characters and two of padding.
        guard let keys = values[.webSocketKey], keys.count == 1, keys[0].count == 24, keys[0].suffix(2).elementsEqual("==".utf8),
            keys[0].dropLast(2).allSatisfy(\.isOfBase64)
        else { throw .handshake }
        guard let versions = values[.webSocketVersion], versions.count == 1, versions[0].elementsEqual("13".utf8) else {
            throw .webSocketVersion
        }
    }
}

// MARK: Characters

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    fileprivate var isHexDigit: Bool { isDigit || UInt8(ascii: "a")...UInt8(ascii: "f") ~= lowercased }
    private var isLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= lowercased }
    /// Of ASCII letters.
    fileprivate var lowercased: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
    /// RFC 9110 section 5.6.2.
    fileprivate var isOfToken: Bool { isDigit || isLetter || "!#$%&'*+-.^_`|~".utf8.contains(self) }
    /// Names, IP addresses and ports (RFC 3986 section 3.2.2), without characters that only a registered name of another kind may have.
    fileprivate var isOfHost: Bool { isDigit || isLetter || "-._~:[]%".utf8.contains(self) }
    fileprivate var isOfBase64: Bool { isDigit || isLetter || self == UInt8(ascii: "+") || self == UInt8(ascii: "/") }
}

extension ArraySlice<UInt8> {
    /// Without blanks around it.
    fileprivate var trimmed: ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        return ArraySlice(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }

    /// Compares with a text in lower case.
    fileprivate func isEqual(_ text: String) -> Bool { count == text.utf8.count && zip(self, text.utf8).allSatisfy { $0.lowercased == $1 } }
}
