package import HTTPTypes
internal import Wire

/// The fields of a head (RFC 9110 section 5), read line by line.
///
/// Of names that decide how a request is read, or who may do what, a second field is a fault: two readers could choose different ones.
struct RequestFields {
    /// In order, with values without blanks around them. Bytes over 0x7F (`obs-text`, RFC 9110 section 5.5) have no
    /// meaning to the gateway; those that are not UTF-8 become U+FFFD.
    private(set) var all = HTTPFields()
    /// The value of each known field that may occur only once.
    private var values = [ArraySlice<UInt8>?](repeating: nil, count: KnownField.allCases.count)
    /// Options of Connection.
    private(set) var closes = false
    private(set) var upgrades = false
    /// Sec-WebSocket-Protocol offers the gateway's subprotocol.
    private(set) var offersSubprotocol = false

    subscript(field: KnownField) -> ArraySlice<UInt8>? { values[field.rawValue] }

    mutating func read(_ line: ArraySlice<UInt8>) throws(RequestFault) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .field }
        let (name, value) = (line[..<colon], line[(colon + 1)...].trimmed)
        guard all.count < RequestHead.fieldsMax else { throw .tooManyFields }
        guard let known = KnownField(name) else {
            let name = HTTPField.Name(parsed: String(decoding: name.map(\.lowercased), as: UTF8.self))
            // Not a token: empty, for example, or with a blank before the colon (RFC 9112 section 5.1).
            guard let name else { throw .field }
            return add(name, value)
        }
        if let fault = known.faultIfRepeated {
            guard values[known.rawValue] == nil else { throw fault }
            values[known.rawValue] = value
        }
        add(known.name, value)
        switch known {
        case .connection:
            for option in ListItems(value) {
                if option.isEqual("close") { closes = true }
                if option.isEqual("upgrade") { upgrades = true }
            }
        case .webSocketProtocol:
            for item in ListItems(value) where item.elementsEqual(ProtocolLimits.subprotocol.utf8) { offersSubprotocol = true }
        default: break
        }
    }

    private mutating func add(_ name: HTTPField.Name, _ value: ArraySlice<UInt8>) {
        all.append(HTTPField(name: name, value: String(decoding: value, as: UTF8.self)))
    }
}

/// The items of a list (RFC 9110 section 5.6.1), without blanks around them.
private struct ListItems: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ value: ArraySlice<UInt8>) { rest = value }

    mutating func next() -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
        defer { rest = rest[end...].dropFirst() }
        return rest[..<end].trimmed
    }
}

/// The fields that the gateway reads. They are found by their bytes, without making a string of the name.
enum KnownField: Int, CaseIterable {
    case host, contentLength, transferEncoding, upgrade, webSocketKey, webSocketVersion
    case authorization, origin, contentType, range, ifNoneMatch, idempotencyKey, requestID, accessControlRequestMethod, secFetchSite, expect
    case connection, forwardedFor, webSocketProtocol, accept, acceptEncoding

    var name: HTTPField.Name { row.name }
    /// Why a head with two of these fields is refused; nil for lists, which may be spread over several fields (RFC 9110 section 5.3).
    var faultIfRepeated: RequestFault? { row.faultIfRepeated }

    private var row: (name: HTTPField.Name, faultIfRepeated: RequestFault?) {
        switch self {
        case .host: (.hostField, .host)
        case .contentLength: (.contentLength, .length)
        case .transferEncoding: (.transferEncoding, .transferEncoding)
        case .upgrade: (.upgrade, .otherUpgrade)
        case .webSocketKey: (.secWebSocketKey, .handshake)
        case .webSocketVersion: (.secWebSocketVersion, .webSocketVersion)
        case .authorization: (.authorization, .repeatedField)
        case .origin: (.origin, .repeatedField)
        case .contentType: (.contentType, .repeatedField)
        case .range: (.range, .repeatedField)
        case .ifNoneMatch: (.ifNoneMatch, .repeatedField)
        case .idempotencyKey: (.idempotencyKey, .repeatedField)
        case .requestID: (.requestID, .repeatedField)
        case .accessControlRequestMethod: (.accessControlRequestMethod, .repeatedField)
        case .secFetchSite: (.secFetchSite, .repeatedField)
        case .expect: (.expect, .repeatedField)
        case .connection: (.connection, nil)
        case .forwardedFor: (.forwardedFor, nil)
        case .webSocketProtocol: (.secWebSocketProtocol, nil)
        case .accept: (.accept, nil)
        case .acceptEncoding: (.acceptEncoding, nil)
        }
    }

    /// By the length of the name.
    private static let names: [[(field: KnownField, bytes: [UInt8])]] = {
        let names = allCases.map { (field: $0, bytes: Array($0.name.canonicalName.utf8)) }
        return (0...names.map(\.bytes.count).max()!).map { length in names.filter { $0.bytes.count == length } }
    }()

    init?(_ name: ArraySlice<UInt8>) {
        guard name.count < Self.names.count, let found = Self.names[name.count].first(where: { name.isEqual(lowercased: $0.bytes) })
        else { return nil }
        self = found.field
    }
}

extension HTTPField.Name {
    /// The addresses that a request has passed through. Each proxy appends the one that it received the request from.
    package static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
    /// `HTTPTypes` has a name for it too, but for use as HTTP/2's `:authority` only.
    fileprivate static let hostField = HTTPField.Name("Host")!
}

/// Header fields whose value is a list (RFC 9110 section 5.6.1).
package enum HeaderList {
    /// The items without surrounding blanks.
    package static func items(of text: String) -> [Substring] {
        // By bytes, because tokens are long and searching characters is slow.
        text.utf8.split(separator: UInt8(ascii: ",")).map { item in
            var item = item
            while let first = item.first, first.isBlank { item.removeFirst() }
            while let last = item.last, last.isBlank { item.removeLast() }
            return Substring(item)
        }
    }
}
